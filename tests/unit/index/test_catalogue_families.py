"""What belongs together in the catalogue, and that nothing of what was deleted is left."""

from __future__ import annotations

from pathlib import Path

from tests.support.workshop import ALICE, episode, transcript

from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.domain.records import AtomicFact, Kind, Record
from remanence_server.index.catalogue import SqliteCatalogue
from remanence_server.index.catalogue.changes import IndexedRecord, PassageDraft

BOB = Owner(Scope(), Track.USER, "bob")


def _catalogue(folder: Path) -> SqliteCatalogue:
    return SqliteCatalogue(folder, fingerprint="f", dimensions=4)


def _indexed(record: Record, text: str, path: str = "a.md") -> IndexedRecord:
    return IndexedRecord(record, path, text, (PassageDraft("episode", 0, text),))


def _fact(number: int, parent: int) -> AtomicFact:
    return AtomicFact(
        ALICE, f"af_20260528_{number:08d}", "s1", 1, f"fact {number}", f"ep_20260528_{parent:08d}"
    )


async def test_what_was_made_of_an_episode_is_known(tmp_path: Path) -> None:
    catalogue = _catalogue(tmp_path)
    made_of: list[Record] = [transcript("x", number=1), _fact(1, 1), _fact(2, 2)]
    records: list[Record] = [episode(1), episode(2), *made_of]
    await catalogue.upsert([_indexed(record, str(record)) for record in records], 1)

    made = await catalogue.descendants(ALICE, {"ep_20260528_00000001", "ep_unknown"})

    assert made == {
        Kind.ATOMIC_FACT: ["af_20260528_00000001"],
        Kind.TRANSCRIPT: ["tr_20260528_00000001"],
    }
    assert await catalogue.descendants(BOB, {"ep_20260528_00000001"}) == {
        Kind.ATOMIC_FACT: [],
        Kind.TRANSCRIPT: [],
    }
    await catalogue.close()


async def test_the_owners_of_a_session_and_the_files_of_an_owner_are_known(tmp_path: Path) -> None:
    catalogue = _catalogue(tmp_path)
    other_scope = Owner(Scope("other"), Track.USER, "alice")
    records = [
        _indexed(episode(1), "a", "b.md"),
        _indexed(episode(2), "b", "a.md"),
        _indexed(episode(1, owner=BOB), "c", "c.md"),
        _indexed(episode(1, owner=other_scope), "d", "d.md"),
    ]
    await catalogue.upsert(records, 1)

    assert await catalogue.owners_of_session(Scope(), "s1") == [ALICE, BOB]
    assert await catalogue.owners_of_session(Scope(), "s2") == []
    assert await catalogue.paths_of(ALICE) == ["a.md", "b.md"]
    await catalogue.close()


def _files_with(folder: Path, text: bytes) -> list[str]:
    return [path.name for path in folder.iterdir() if text in path.read_bytes()]


async def test_nothing_of_what_was_deleted_is_left_in_any_file(tmp_path: Path) -> None:
    catalogue = _catalogue(tmp_path)
    many = [_indexed(episode(n, content=f"secret {n} " + "x" * 900), f"t{n}") for n in range(200)]
    for item in many:
        await catalogue.upsert([item], 1)
    (tmp_path / "catalogue.db.damaged").write_text("secret")
    assert _files_with(tmp_path, b"secret")

    await catalogue.delete_records(
        ALICE, Kind.EPISODE, [f"ep_20260528_{number:08d}" for number in range(200)]
    )
    await catalogue.expunge()

    assert _files_with(tmp_path, b"secret") == []
    await catalogue.close()
