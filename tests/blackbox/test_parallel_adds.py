"""Many callers at once on one session.

Among callers that do not wait for each other the order is that of acceptance, which nobody can
foresee; that of one caller is looked at in tests/crash.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC
from pathlib import Path

from remanence_server.domain.records import AtomicFact, Transcript
from remanence_server.markdown.store import MarkdownStore
from tests.blackbox.conftest import eventually, said
from tests.blackbox.surfaces import Surface

_COUNT = 50


def test_fifty_adds_at_once_with_flushes_among_them_are_each_remembered_once(
    surface: Surface, root: Path, tag: str
) -> None:
    user, session = f"ravi-{tag}", f"b05-{tag}"

    def add(number: int) -> Surface:
        text = f"Fact number {number:02d} is about the garden."
        message = said(text, user, number, message_id=f"m-{number:02d}")
        body = {"session_id": session, "messages": [message], "defer_extraction": number % 2 == 0}
        assert surface.call("add", body).data is not None
        return surface

    def flush(_: int) -> Surface:
        assert surface.call("flush", {"session_id": session}).data is not None
        return surface

    work: list[tuple[Callable[[int], Surface], int]] = [(add, number) for number in range(_COUNT)]
    for _ in range(4):
        work.insert(random.randrange(1, len(work)), (flush, 0))
    with ThreadPoolExecutor(len(work)) as pool:
        for done in [pool.submit(act, number) for act, number in work]:
            done.result()
    flush(0)

    store = MarkdownStore(root, UTC)
    wanted = {f"{number:02d}" for number in range(_COUNT)}

    def facts() -> Counter[str]:
        return Counter(
            number
            for file in store.files()
            if file.owner.owner_id == user
            for item in store.read(file).records
            if isinstance(item.record, AtomicFact)
            for number in re.findall(r"number (\d\d)", item.record.content)
        )

    eventually(lambda: facts().keys() == wanted)
    assert max(facts().values()) == 1
    cited: list[str] = []
    for file in store.files():
        if file.owner.owner_id != user:
            continue
        parsed = store.read(file)
        assert parsed.problems == ()
        for record in (item.record for item in parsed.records):
            if isinstance(record, Transcript):
                cited += [turn.message_id for turn in record.turns]
    assert sorted(cited) == sorted(f"m-{number}" for number in wanted)
    listed = surface.call("get", {"user_id": user, "memory_type": "episode", "page_size": 100}).ok
    told = Counter(
        number
        for episode in listed["episodes"]
        for number in set(re.findall(r"number (\d\d)", episode["episode"]))
    )
    assert told == dict.fromkeys(wanted, 1)
