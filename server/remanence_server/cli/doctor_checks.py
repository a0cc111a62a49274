"""What `remanence doctor` looks at. Each check answers; none raises."""

from __future__ import annotations

import asyncio
import platform
import shutil
import socket
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from remanence_server.cli.connection import reachable, running_server
from remanence_server.runtime.addresses import Address
from remanence_server.runtime.errors import ServiceError
from remanence_server.runtime.root import STATE_FILE
from remanence_server.runtime.settings import Settings

Status = Literal["ok", "warn", "fail"]

_GIBIBYTE = 1024**3
_WARN_FREE_BYTES = _GIBIBYTE
_FAIL_FREE_BYTES = _GIBIBYTE // 10
_HEALTH_TIMEOUT_SECONDS = 5.0
_SHOWN_PROBLEMS = 10


@dataclass(frozen=True, slots=True)
class Check:
    """One finding; `hint` says what to do about it."""

    name: str
    status: Status
    detail: str
    hint: str = ""


def check_python() -> Check:
    """The interpreter."""
    detail = f"{platform.python_implementation()} {platform.python_version()}"
    if (3, 12) <= sys.version_info[:2] < (3, 15):
        return Check("python", "ok", detail)
    return Check("python", "fail", detail, "install Python 3.12, 3.13 or 3.14")


def check_root(root: Path) -> Check:
    """Whether the root can be written, and how much space is left."""
    # A root that is not there yet is made by the first start, if its parent allows.
    existing = next(folder for folder in (root, *root.parents) if folder.exists())
    if not existing.is_dir():
        return Check("root", "fail", f"{existing} is a file", "choose a folder with --root")
    try:
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        detail = f"{existing} cannot be written: {error.strerror}"
        return Check("root", "fail", detail, "change its permissions, or choose another --root")
    free_bytes = shutil.disk_usage(existing).free
    missing = "" if existing == root else ", made at the first start"
    detail = f"{root}{missing}; {free_bytes / _GIBIBYTE:.1f} GiB free"
    if free_bytes < _FAIL_FREE_BYTES:
        return Check("root", "fail", detail, "free some disk space: writes are about to fail")
    if free_bytes < _WARN_FREE_BYTES:
        return Check("root", "warn", detail, "free some disk space")
    return Check("root", "ok", detail)


def check_state(root: Path) -> list[Check]:
    """Whether the work that is not Markdown yet can be read; nothing to say of a root without."""
    from remanence_server.state.integrity import is_sound

    path = root / STATE_FILE
    if not path.exists():
        return []
    try:
        if is_sound(path):
            return [Check("state", "ok", STATE_FILE)]
    except OSError:
        return [Check("state", "fail", f"{path} cannot be read", "change its permissions")]
    hint = "restore a backup of it, or move it away: what was not extracted yet is lost then"
    return [Check("state", "fail", f"{path} is damaged", hint)]


def check_lexical(settings: Settings) -> Check:
    """Whether Java starts and Lucene loads."""
    from remanence_server.index.jvm import JvmOptions, find_java_home, java_thread
    from remanence_server.index.lexical.lucene_types import lucene_types

    options = JvmOptions(heap_megabytes=settings.lexical.heap_megabytes)
    try:
        java_home = find_java_home(options)
        java_thread(options).submit(lucene_types).result()
    except ServiceError as error:
        hint = "reinstall remanence with its dependencies; JAVA_HOME names a Java runtime of yours"
        return Check("lexical index", "fail", error.message, hint)
    return Check("lexical index", "ok", f"Lucene loads, Java from {java_home}")


def check_dense() -> Check:
    """Whether FAISS loads."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        import remanence_server.index.dense  # noqa: F401

        return Check("dense index", "ok", f"FAISS {version('faiss-cpu')}")
    except (ImportError, PackageNotFoundError) as error:
        return Check("dense index", "fail", str(error), "reinstall the package faiss-cpu")


def check_embeddings(settings: Settings) -> Check:
    """Whether the embedding model loads and answers."""
    from remanence_server.providers.embeddings import create_embedder

    name = "embeddings"
    provider = settings.embeddings.provider
    if provider == "hashing":
        hint = "set embeddings.provider to onnx: without a model, paraphrases are not found"
        return Check(name, "warn", "hashing, no model", hint)

    async def dimensions() -> int:
        embedder = create_embedder(settings.embeddings)
        try:
            return len(await embedder.embed_query("a question"))
        finally:
            await embedder.close()

    try:
        width = asyncio.run(dimensions())
    except ServiceError as error:
        hint = "reinstall remanence with its dependencies, or set embeddings.model_directory"
        return Check(name, "fail", error.message, hint)
    model = settings.embeddings.model_directory or "the bundled model"
    return Check(name, "ok", f"{provider}, {model}, {width} dimensions")


def check_extraction(settings: Settings, environment: Mapping[str, str]) -> Check:
    """Who will extract."""
    name = "extraction"
    if settings.extraction.provider == "heuristic":
        return Check(name, "ok", "heuristic, as configured: no key, no network")
    from remanence_server.extraction.claude import load_prompts
    from remanence_server.extraction.factory import KEY_VARIABLE, asks_claude, claude_key

    claude = settings.claude
    if not asks_claude(settings.extraction, claude):
        detail = "auto picks heuristic: claude.api_key is not set, none is needed"
        if environment.get(KEY_VARIABLE):
            detail += f" ({KEY_VARIABLE} counts with extraction.provider claude only)"
        return Check(name, "ok", detail)
    try:
        claude_key(settings.extraction, claude, environment)
        load_prompts(claude.prompts_directory)
    except ServiceError as error:
        return Check(name, "fail", error.message, "the section [claude] of the settings")
    where = claude.base_url or "Anthropic"
    return Check(name, "ok", f"{claude.model} by {where}; what is said is sent there")


def check_server(settings: Settings) -> list[Check]:
    """The server that runs on the root and how it is; else, whether its ports are free."""
    note = running_server(settings.root)
    if note is None:
        return [
            Check("server", "warn", "not running on this root", "start it: remanence serve"),
            _check_port("http port", settings.server.http_address),
            _check_port("grpc port", settings.server.grpc_address),
        ]
    from remanence_client import Client, RemanenceError

    try:
        with Client(reachable(note.grpc), timeout_seconds=_HEALTH_TIMEOUT_SECONDS) as client:
            health = client.health()
    except RemanenceError as error:
        return [Check("server", "fail", f"process {note.pid}: {error}", "look at its log, restart")]
    detail = f"{health.version} at http://{note.http} and grpc://{note.grpc}, {health.status}"
    if health.status == "ok":
        return [Check("server", "ok", detail)]
    reasons = "; ".join(health.reasons) or "see its /health"
    status: Status = "fail" if health.status == "unavailable" else "warn"
    return [Check("server", status, f"{detail}: {reasons}", "look at its log")]


def _check_port(name: str, address: Address) -> Check:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(tuple(address))
    except OSError as error:
        key = f"server.{name.split(maxsplit=1)[0]}"
        hint = f"stop what listens there, or set {key} (port 0 takes a free one)"
        return Check(name, "fail", f"{address}: {error.strerror}", hint)
    return Check(name, "ok", f"{address} is free")


def check_markdown(settings: Settings) -> list[Check]:
    """What of the Markdown cannot be read, and so is not remembered."""
    from remanence_server.markdown.paths import MemoryPaths
    from remanence_server.markdown.reader import parse_file
    from remanence_server.markdown.twins import TwinFinder

    root = settings.root
    if not root.is_dir():
        return [Check("markdown", "ok", "no files yet")]
    problems: list[str] = []
    twins = TwinFinder()
    read = 0
    try:
        files = MemoryPaths(root).files(
            lambda folder: problems.append(f"{folder.relative_to(root)}: cannot be listed")
        )
        for file in files:
            read += 1
            try:
                parsed = parse_file(file, settings.memory.zone)
            except (FileNotFoundError, ServiceError):
                problems.append(f"{file.path.relative_to(root)}: cannot be read")
            else:
                twins.look(parsed)
                problems += (
                    f"{flaw.path.relative_to(root)}:{flaw.line}: {flaw.reason}"
                    for flaw in parsed.problems
                )
    except ServiceError as error:
        return [Check("markdown", "fail", error.message, "check the permissions of the root")]
    problems += (
        f"{flaw.path.relative_to(root)}:{flaw.line}: {flaw.reason}" for flaw in twins.problems
    )
    if not problems:
        return [Check("markdown", "ok", f"{read} files, all of them readable")]
    hint = "repair it in an editor; until then this entry is not found"
    shown = [Check("markdown", "warn", text, hint) for text in problems[:_SHOWN_PROBLEMS]]
    if len(problems) > _SHOWN_PROBLEMS:
        rest = f"and {len(problems) - _SHOWN_PROBLEMS} more"
        shown.append(Check("markdown", "warn", rest, "repair those above first"))
    return shown
