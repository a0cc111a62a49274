"""Write requirements.lock from the two pyproject files: every dependency pinned, with hashes.

Run by `make lock`, in a throw-away environment that holds uv. The resolution is universal: one
lock for Linux and macOS, each supported Python. Packages named in `[tool.remanence.lock]` are
pinned without what they depend on. The lock names no index: pip takes whichever it is told.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from packaging.markers import Marker

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.lock"
OWN = {"remanence", "remanence-client"}
HEADER = """\
# Every dependency of Remanence, development included, pinned with hashes.
# Written by `make lock` from the pyproject files; do not edit.
# Complete: install with `pip install --no-deps --require-hashes -r requirements.lock`.
"""


def distribution(requirement: str) -> str:
    """Return the normalised name of the distribution that a requirement names."""
    match = re.match(r"[A-Za-z0-9._-]+", requirement)
    if match is None:
        raise SystemExit(f"not a requirement: {requirement!r}")
    return re.sub(r"[-_.]+", "-", match.group()).lower()


def read_requirements() -> tuple[list[str], list[str]]:
    """Return the direct requirements, and those to be pinned without their dependencies."""
    root = tomllib.loads((ROOT / "pyproject.toml").read_text())
    client = tomllib.loads((ROOT / "clients/python/pyproject.toml").read_text())
    alone = {
        distribution(name) for name in root["tool"]["remanence"]["lock"]["without-dependencies"]
    }
    every = [
        *root["project"]["dependencies"],
        *client["project"]["dependencies"],
        *root["dependency-groups"]["dev"],
    ]
    foreign = [line for line in every if distribution(line) not in OWN]
    return (
        [line for line in foreign if distribution(line) not in alone],
        [line for line in foreign if distribution(line) in alone],
    )


def environment() -> dict[str, str]:
    """Return the environment for uv, told of the index and certificates that pip is told of."""
    env = dict(os.environ)
    config = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True
    ).stdout
    pip = dict(re.findall(r"^(?:global|install|:env:)\.([a-z-]+)='(.*)'$", config, re.MULTILINE))
    for option, variable in (
        ("index-url", "UV_DEFAULT_INDEX"),
        ("extra-index-url", "UV_INDEX"),
        ("cert", "SSL_CERT_FILE"),
    ):
        if option in pip:
            env.setdefault(variable, pip[option].replace("\\n", " "))
    return env


def compile_pins(requirements: list[str], *options: str) -> str:
    """Return the pins for the requirements, in the format of a requirements file.

    Pins that are in the lock already stay, unless an option says otherwise.
    """
    with tempfile.TemporaryDirectory() as folder:
        source, output = Path(folder, "requirements.in"), Path(folder, "requirements.lock")
        source.write_text("\n".join(requirements) + "\n")
        if LOCK.exists():
            output.write_text(LOCK.read_text())
        command = [
            *(sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal"),
            *("--no-config", "--python-version", "3.12", "--generate-hashes"),
            *("--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links"),
            *("--output-file", str(output), *options, str(source)),
        ]
        done = subprocess.run(command, env=environment(), stdout=subprocess.DEVNULL, check=False)
        if done.returncode != 0:
            raise SystemExit("the dependencies could not be resolved; nothing written")
        return output.read_text()


def is_wanted(block: str) -> bool:
    """Tell whether a pin applies to any system we support; its marker may say that it does not."""
    _, _, marker = block.splitlines()[0].rstrip(" \\").partition(" ; ")
    return not marker or any(
        Marker(marker).evaluate(
            {"sys_platform": system, "platform_system": name, "os_name": "posix"}
        )
        for system, name in (("linux", "Linux"), ("darwin", "Darwin"))
    )


def main() -> None:
    """Resolve, check that nothing private slipped in, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions")
    upgrade = ["--upgrade"] if parser.parse_args().upgrade else []
    complete, alone = read_requirements()
    pins = compile_pins(complete, *upgrade) + compile_pins(alone, "--no-deps", *upgrade)
    if "://" in pins:
        raise SystemExit("the lock would name an address; nothing written")
    blocks = [
        block for block in re.findall(r"^\w.*\n(?: .*\n)*", pins, re.MULTILINE) if is_wanted(block)
    ]
    LOCK.write_text(HEADER + "".join(sorted(blocks)))
    print(f"requirements.lock: {len(blocks)} packages")


if __name__ == "__main__":
    main()
