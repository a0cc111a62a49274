"""What is left on disk: right after a kill, and once a server has settled again."""

from __future__ import annotations

import re
import time
from collections import Counter, defaultdict
from datetime import UTC
from pathlib import Path

import apsw

from remanence_server.domain.records import AtomicFact, Episode, Transcript
from remanence_server.markdown.store import MarkdownStore
from tests.blackbox.conftest import eventually
from tests.blackbox.surfaces import HttpSurface
from tests.crash.ledger import Ledger
from tests.support.databases import assert_sound, copy_of

_ID = re.compile(r"\bk\d{7}\b")
_MARKER = re.compile(r"\bTown(k\d{7})\b")
# What may lie in a root, apart from Markdown, the index and the notes in `.run`.
_OWN_FILES = {"system.db", "system.db-wal", "system.db-shm"}
_SETTLING_SECONDS = 60.0
_INDEX_SECONDS = 20.0


def look_after_a_kill(root: Path, ledger: Ledger) -> None:
    """The databases are sound, and every acknowledged message is somewhere, in state only once."""
    assert_sound(root)
    with copy_of(root / "system.db") as database:
        places = _places_in_state(database)
    buffered, cut, queued = places["buffer"], places["cell"], places["inbox"]
    assert not buffered & cut, "in the buffer and in a cell"
    written = set()
    for path in root.rglob("*.md"):
        if ".transcripts" in path.parts:
            written.update(_ID.findall(path.read_text(encoding="utf-8", errors="replace")))
    lost = ledger.acknowledged.keys() - buffered - cut - queued - written
    assert not lost, f"acknowledged and nowhere: {sorted(lost)}"


def settle(surface: HttpSurface, ledger: Ledger, seconds: float = _SETTLING_SECONDS) -> None:
    """Flushes every session and waits until nothing is left to do."""
    eventually(lambda: not _health(surface)["memorize_queue"]["pending"], seconds)
    for session_id in sorted(ledger.open_sessions):
        answer = surface.call("flush", {"session_id": session_id})
        assert answer.status == 200, answer
    in_doubt = {batch.session_id for batch in ledger.in_doubt.values()}
    ledger.open_sessions &= in_doubt
    eventually(lambda: _is_idle(surface), seconds)
    health = _health(surface)
    assert health["status"] == "ok", health["reasons"]
    assert health["memorize_queue"]["failed"] == 0, health


def look_when_settled(root: Path, surface: HttpSurface, ledger: Ledger) -> None:
    """Every acknowledged message is remembered once, in order, in Markdown and in the index."""
    assert not ledger.failures, ledger.failures
    turns, facts, told = Counter[str](), Counter[str](), Counter[str]()
    entries, episodes = Counter[tuple[str, str]](), Counter[str]()
    order: dict[str, list[tuple[str, list[str]]]] = defaultdict(list)
    store = MarkdownStore(root, UTC)
    for file in store.files():
        parsed = store.read(file)
        assert parsed.problems == (), (file.path, parsed.problems)
        for record in (item.record for item in parsed.records):
            owner = record.owner.owner_id
            entries[owner, getattr(record, "entry_id", "profile")] += 1
            match record:
                case Transcript():
                    ids = [turn.message_id for turn in record.turns]
                    turns.update(ids)
                    order[record.session_id].append((record.entry_id, ids))
                case AtomicFact():
                    facts.update(_MARKER.findall(record.content))
                case Episode():
                    episodes[owner] += 1
                    told.update(set(_MARKER.findall(record.content)))
    acknowledged = set(ledger.acknowledged)
    doubled = [key for key, count in (*entries.items(), *turns.items()) if count != 1]
    assert not doubled, f"doubled: {doubled}"
    for name, found in (("transcripts", turns), ("facts", facts), ("episodes", told)):
        assert acknowledged <= found.keys(), (name, sorted(acknowledged - found.keys()))
        assert max(found.values(), default=1) == 1, (name, found.most_common(3))
    back = ledger.deleted & {*turns, *facts, *told}
    assert not back, f"deleted and there: {sorted(back)}"
    for path in root.rglob("*.md"):
        back = ledger.deleted & set(_MARKER.findall(path.read_text(encoding="utf-8")))
        assert not back, f"deleted and in {path.name}: {sorted(back)}"
    for session_id, parts in order.items():
        ids = [message_id for _, part in sorted(parts) for message_id in part]
        assert ids == sorted(ids), f"out of order: {session_id}"
    _look_at_the_index(surface, ledger, episodes)
    _look_for_stray_files(root)


def _look_at_the_index(surface: HttpSurface, ledger: Ledger, episodes: Counter[str]) -> None:
    """What a kill took from the index comes back by itself, a moment after the start."""
    wrong: list[str] = []

    def is_right() -> bool:
        wrong[:] = _index_troubles(surface, ledger, episodes)
        return not wrong

    deadline = time.monotonic() + _INDEX_SECONDS
    while not is_right():
        assert time.monotonic() < deadline, wrong
        time.sleep(0.2)


def _index_troubles(surface: HttpSurface, ledger: Ledger, episodes: Counter[str]) -> list[str]:
    wrong = []
    newest = {message.user: message for message in ledger.acknowledged.values()}
    for user, message in newest.items():
        body = {"user_id": user, "memory_type": "episode"}
        count = surface.call("get", body).ok["total_count"]
        if count != episodes[user]:
            wrong.append(f"{user} has {episodes[user]} episodes, get says {count}")
        text = message.body()["content"]
        for method in ("keyword", "vector", "hybrid"):
            query = {"user_id": user, "query": text, "method": method, "top_k": 100}
            found = surface.call("search", query).ok["episodes"]
            if sum(message.message_id in episode["episode"] for episode in found) != 1:
                wrong.append(f"{message.message_id} by {method}: {len(found)} found")
            if len({episode["id"] for episode in found}) != len(found):
                wrong.append(f"{message.message_id} by {method}: found twice")
    return wrong


def _look_for_stray_files(root: Path) -> None:
    for path in root.rglob("*"):
        assert path.suffix != ".tmp", path
        if path.is_dir() or {".index", ".run"} & set(path.relative_to(root).parts[:1]):
            continue
        if path.suffix == ".md":
            assert path.stat().st_size, path
        else:
            assert path.name in _OWN_FILES, path


def _places_in_state(database: apsw.Connection) -> dict[str, set[str]]:
    def ids(select: str) -> set[str]:
        return {found for (text,) in database.execute(select) for found in _ID.findall(str(text))}

    if not database.execute("SELECT count(*) FROM sqlite_master").get:
        return {"buffer": set(), "cell": set(), "inbox": set()}  # killed before its first commit
    return {
        "buffer": ids("SELECT message_id FROM unprocessed_buffer"),
        "cell": ids("SELECT messages_json FROM memory_cell"),
        "inbox": ids(
            "SELECT payload_json FROM memorize_inbox WHERE status IN ('queued', 'processing')"
        ),
    }


def _is_idle(surface: HttpSurface) -> bool:
    health = _health(surface)
    busy = health["jobs"]["pending"] or health["jobs"]["running"] or health["cascade"]["pending"]
    return not busy and not health["memorize_queue"]["pending"] and health["status"] == "ok"


def _health(surface: HttpSurface) -> dict:
    return surface.client.get("/health").json()
