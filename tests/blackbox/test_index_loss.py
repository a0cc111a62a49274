"""The index is a by-product: deleted, cut short or scribbled over, it comes back by itself."""

from __future__ import annotations

import contextlib
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.blackbox.conftest import eventually, said
from tests.blackbox.surfaces import GrpcSurface, HttpSurface, Surface
from tests.support.server_process import ServerProcess, start_server

HASHING = {"REMANENCE_EMBEDDINGS__PROVIDER": "hashing"}
EPISODES = 30
METHODS = ("keyword", "vector", "hybrid")


def _remember(surface: Surface, user: str, number: int) -> None:
    message = said(f"{user} planted plum tree number {number:02d}.", user, number)
    session = f"{user}-{number}"
    body = {"session_id": session, "messages": [message], "defer_extraction": True}
    assert surface.call("add", body).data is not None
    assert surface.call("flush", {"session_id": session}).data is not None


def _search(surface: Surface, user: str, method: str) -> list[str]:
    """Sessions of what is found; every search must be answered."""
    body = {"user_id": user, "query": "plum tree", "method": method, "top_k": 100}
    return [str(episode["session_id"]) for episode in surface.call("search", body).ok["episodes"]]


def _total(surface: Surface, user: str) -> int:
    body = {"user_id": user, "memory_type": "episode"}
    return int(surface.call("get", body).ok["total_count"])


def _is_complete(surface: Surface, user: str, count: int) -> bool:
    found = [len(set(_search(surface, user, method))) for method in METHODS]
    return found == [count] * 3 and _total(surface, user) == count


@contextlib.contextmanager
def _searching(server: ServerProcess) -> Iterator[list[str]]:
    """Searches on both surfaces without a pause; yields what went wrong."""
    done, wrong = threading.Event(), list[str]()

    def search(surface: Surface) -> None:
        count = 0
        while not done.is_set() or count < 25:
            count += 1
            for user in ("dag", "eve"):
                body = {"user_id": user, "query": "plum tree", "method": METHODS[count % 3]}
                answer = surface.call("search", body)
                if answer.data is None:
                    wrong.append(f"{answer.status} {answer.error}")
                elif any(
                    not str(episode["session_id"]).startswith(user)
                    for episode in answer.data["episodes"]
                ):
                    wrong.append(f"{user} got somebody else's memory")

    surfaces: tuple[Surface, ...] = (HttpSurface(server.http), GrpcSurface(server.grpc))
    threads = [threading.Thread(target=search, args=(surface,)) for surface in surfaces]
    for thread in threads:
        thread.start()
    try:
        yield wrong
    finally:
        done.set()
        for thread in threads:
            thread.join()


def _health(surface: HttpSurface) -> Any:
    return surface.client.get("/health").json()


def _activity_counts(surface: HttpSurface) -> list[tuple[int, int]]:
    """What the rebuild has done and expects, as often as health was asked until it was over."""
    seen: list[tuple[int, int]] = []

    def is_over() -> bool:
        running = [a for a in _health(surface)["activities"] if a["name"] == "rebuild"]
        seen.extend((activity["done"], activity["total"]) for activity in running)
        return not running

    eventually(is_over)
    return seen


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root with thirty episodes of Dag and three of Eve, and a message that waits."""
    root = tmp_path_factory.mktemp("original") / "root"
    server = start_server(root, **HASHING)
    surface = HttpSurface(server.http)
    for number in range(EPISODES):
        _remember(surface, "dag", number)
    for number in range(3):
        _remember(surface, "eve", number)
    waiting = {"session_id": "pending talk", "messages": [said("I have yet to say more.", "dag")]}
    assert surface.call("add", {**waiting, "defer_extraction": True}).status == 200
    assert server.stop() == 0
    return root


@pytest.fixture
def root(original: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "root"
    shutil.copytree(original, copy)
    return copy


def _largest(folder: Path) -> Path:
    return max((p for p in folder.rglob("*") if p.is_file()), key=lambda p: p.stat().st_size)


def _only(folder: Path, pattern: str) -> Path:
    (path,) = folder.rglob(pattern)
    return path


def _delete_all(index: Path) -> None:
    shutil.rmtree(index)


def _halve_the_largest_file(index: Path) -> None:
    path = _largest(index)
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)


def _delete_the_catalogue(index: Path) -> None:
    for path in index.rglob("catalogue.db*"):
        path.unlink()


def _delete_the_vectors(index: Path) -> None:
    for path in index.rglob("embeddings.db*"):
        path.unlink()


def _delete_the_words(index: Path) -> None:
    shutil.rmtree(_only(index, "lexical"))


def _delete_a_file_of_the_words(index: Path) -> None:
    folder = _only(index, "lexical")
    # A file that is in no commit yet would only be written again.
    eventually(lambda: _newest(folder).name.startswith("segments_"))
    _largest(folder).unlink()


def _newest(folder: Path) -> Path:
    return max(
        (path for path in folder.iterdir() if path.name != "write.lock"),
        key=lambda path: path.stat().st_mtime_ns,
    )


def _scribble_over(path: Path) -> None:
    size = path.stat().st_size
    with path.open("r+b") as file:
        for start in range(8192, size, 16384):
            file.seek(start)
            file.write(b"\xfe\x01" * 1024)


def _scribble_over_the_catalogue(index: Path) -> None:
    _scribble_over(_only(index, "catalogue.db"))


def _scribble_over_the_vectors(index: Path) -> None:
    _scribble_over(_only(index, "embeddings.db"))


def _scribble_over_the_words(index: Path) -> None:
    path = _largest(_only(index, "lexical"))
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 64] = b"\xfe" * 64
    path.write_bytes(content)


LOSSES = [
    _delete_all,
    _halve_the_largest_file,
    _delete_the_catalogue,
    _delete_the_vectors,
    _delete_the_words,
    _delete_a_file_of_the_words,
    _scribble_over_the_catalogue,
    _scribble_over_the_vectors,
    _scribble_over_the_words,
]


@pytest.mark.parametrize("lose", LOSSES, ids=lambda lose: lose.__name__.strip("_"))
def test_what_was_lost_while_stopped_comes_back(root: Path, lose: Callable[[Path], None]) -> None:
    lose(root / ".index")
    server = start_server(root, **HASHING)
    surface = HttpSurface(server.http)
    with _searching(server) as wrong:
        _remember(surface, "dag", EPISODES)
        counts = _activity_counts(surface)
        eventually(lambda: _is_complete(surface, "dag", EPISODES + 1))
    assert wrong == []
    assert counts == sorted(counts)
    eventually(lambda: _health(surface)["status"] == "ok")
    assert _is_complete(surface, "eve", 3)
    assert server.stop() == 0
    assert server.log.count("index_damaged") <= 1


@pytest.mark.parametrize("also", [False, True], ids=["system.db alone", "the index as well"])
def test_messages_that_were_lost_with_the_state_are_told_by_the_name_of_their_session(
    root: Path, also: bool
) -> None:
    for path in root.glob("system.db*"):
        path.unlink()
    if also:
        shutil.rmtree(root / ".index")
    server = start_server(root, **HASHING)
    surface = HttpSurface(server.http)
    (lost,) = [reason for reason in _health(surface)["reasons"] if "system.db" in reason]
    assert "1 accepted message" in lost
    assert "pending talk" in lost
    assert "pending talk" in server.log
    _remember(surface, "dag", EPISODES)
    eventually(lambda: _is_complete(surface, "dag", EPISODES + 1))
    assert server.stop() == 0
    # Said once; and the second start has nothing to make anew.
    server = start_server(root, **HASHING)
    surface = HttpSurface(server.http)
    assert _activity_counts(surface) == []
    assert _is_complete(surface, "dag", EPISODES + 1)
    assert _health(surface)["status"] == "ok"
    assert server.stop() == 0


@pytest.fixture(scope="module")
def running(original: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    copy = tmp_path_factory.mktemp("running") / "root"
    shutil.copytree(original, copy)
    server = start_server(copy, **HASHING)
    yield server
    assert server.stop() == 0


@pytest.mark.parametrize(
    "lose",
    [
        _delete_all,
        _halve_the_largest_file,
        _delete_the_words,
        _delete_a_file_of_the_words,
    ],
    ids=lambda lose: lose.__name__.strip("_"),
)
def test_what_is_lost_while_it_runs_comes_back(
    running: ServerProcess, lose: Callable[[Path], None]
) -> None:
    surface, index = HttpSurface(running.http), running.root / ".index"
    count = _total(surface, "dag")
    assert _is_complete(surface, "dag", count)
    before = [path.name for path in index.iterdir()]
    assert len(before) == 1
    with _searching(running) as wrong:
        lose(index)
        _remember(surface, "dag", count)
        eventually(lambda: _is_complete(surface, "dag", count + 1))

        def is_replaced() -> bool:
            present = [path.name for path in index.iterdir()]
            return len(present) == 1 and present != before

        eventually(is_replaced)
        eventually(lambda: _health(surface)["status"] == "ok")
    assert wrong == []
    assert _is_complete(surface, "dag", count + 1)
    assert _is_complete(surface, "eve", 3)


def test_a_rebuild_that_is_asked_for_hides_nothing_and_shows_how_far_it_is(
    running: ServerProcess,
) -> None:
    surface, grpc_surface = HttpSurface(running.http), GrpcSurface(running.grpc)
    count = _total(surface, "dag")
    with _searching(running) as wrong:
        answers = [surface.client.post("/api/v2/cascade/rebuild")]
        answers.append(surface.client.post("/api/v2/cascade/rebuild"))
        # The index that was complete answers until the new one is.
        assert _is_complete(surface, "dag", count)
        counts = _activity_counts(surface)
    assert wrong == []
    assert [(answer.status_code, answer.json()) for answer in answers] == [
        (202, {"started": True}),
        (202, {"started": False}),
    ]
    assert counts == sorted(counts)
    assert all(done <= total for done, total in counts)
    assert _is_complete(surface, "dag", count)
    assert grpc_surface.rebuild().started
    _activity_counts(surface)
    assert _is_complete(surface, "eve", 3)
