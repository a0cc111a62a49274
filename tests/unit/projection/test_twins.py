"""One id in two files: the same one counts whatever was read first, and the other is reported."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.support.workshop import ALICE, Workshop, episode

from remanence_server.domain.records import Episode, Kind
from remanence_server.markdown.twins import TWIN, TwinFinder

EPISODES = "default_app/default_project/users/alice/episodes"
FIRST, SECOND = "episode-2026-05-28.md", "episode-2026-05-28.2.md"


async def _content(workshop: Workshop) -> str | None:
    found = await workshop.catalogue.get_records(ALICE, Kind.EPISODE, ["ep_20260528_00000001"])
    record = found.get("ep_20260528_00000001")
    assert record is None or isinstance(record, Episode)
    return None if record is None else record.content


async def _read(workshop: Workshop, *names: str) -> None:
    for name in names:
        workshop.projector.submit_file(workshop.root / EPISODES / name)
        await workshop.settle()


def _copy_with(root: Path, old: str, new: str, name: str = SECOND) -> Path:
    source, target = root / EPISODES / FIRST, root / EPISODES / name
    text = source.read_text().replace(old, new)
    target.write_text(text.replace("episode_2026-05-28\n", "episode_2026-05-28.2\n"))
    return target


@pytest.fixture
async def told(workshop: Workshop) -> Workshop:
    """An episode in the first file, another version of it in the second, neither read yet."""
    workshop.markdown.append([episode()])
    _copy_with(workshop.root, "Yosemite", "Patagonia")
    return workshop


@pytest.mark.parametrize("order", [(FIRST, SECOND), (SECOND, FIRST)], ids=["in order", "reversed"])
async def test_the_earlier_file_counts_and_the_later_is_reported(
    told: Workshop, order: tuple[str, str]
) -> None:
    before = {path: path.read_bytes() for path in (told.root / EPISODES).iterdir()}
    await _read(told, *order)
    assert "Yosemite" in (await _content(told) or "")
    assert (await told.catalogue.counts(ALICE))[Kind.EPISODE] == 1
    (problem,) = told.projector.problems.listed()
    assert problem.path == f"{EPISODES}/{SECOND}"
    assert problem.reason == TWIN
    assert (
        problem.line
        == (told.root / problem.path)
        .read_text()
        .split("\n")
        .index("<!-- entry:ep_20260528_00000001 -->")
        + 1
    )
    assert f"{problem.path}:{problem.line}" in told.projector.state().reasons[0]
    assert {path: path.read_bytes() for path in before} == before


async def test_when_the_earlier_gives_way_the_later_counts(told: Workshop) -> None:
    await _read(told, FIRST, SECOND)
    (told.root / EPISODES / FIRST).unlink()
    await _read(told, FIRST)
    assert "Patagonia" in (await _content(told) or "")
    assert told.projector.problems.listed() == []
    assert told.projector.state().reasons == []


async def test_when_the_later_is_mended_nothing_is_reported(told: Workshop) -> None:
    await _read(told, SECOND, FIRST)
    path = told.root / EPISODES / SECOND
    path.write_text(path.read_text().replace("ep_20260528_00000001", "ep_20260528_00000009"))
    await _read(told, SECOND)
    assert told.projector.problems.listed() == []
    assert (await told.catalogue.counts(ALICE))[Kind.EPISODE] == 2


async def test_a_file_that_was_moved_is_no_twin_and_needs_no_model(workshop: Workshop) -> None:
    await workshop.publisher.publish((episode(),))
    await workshop.settle()
    workshop.embedder.embedded.clear()
    path = _copy_with(workshop.root, "", "")
    (workshop.root / EPISODES / FIRST).unlink()
    # The watcher names both in no order.
    workshop.projector.submit_file(workshop.root / EPISODES / FIRST)
    workshop.projector.submit_file(path)
    await workshop.settle()
    assert "Yosemite" in (await _content(workshop) or "")
    assert workshop.projector.problems.listed() == []
    assert workshop.embedder.embedded == []


async def test_two_skills_of_one_name_are_twins(workshop: Workshop) -> None:
    skills = workshop.root / "default_app/default_project/agents/coder/skills"
    for name in ("skill_a", "skill_b"):
        (skills / name).mkdir(parents=True)
        text = f"---\nname: restart\ndescription: as {name} says\n---\n\nDo it.\n"
        (skills / name / "SKILL.md").write_text(text)
    for name in ("skill_b", "skill_a"):
        workshop.projector.submit_file(skills / name / "SKILL.md")
        await workshop.settle()
    (problem,) = workshop.projector.problems.listed()
    assert problem.path.endswith("skill_b/SKILL.md")
    shutil.rmtree(skills / "skill_a")
    workshop.projector.submit_file(skills / "skill_a" / "SKILL.md")
    await workshop.settle()
    assert workshop.projector.problems.listed() == []


@pytest.mark.parametrize("backwards", [False, True])
def test_the_finder_tells_the_later_file_whatever_it_is_shown_first(
    tmp_path: Path, backwards: bool
) -> None:
    from datetime import UTC

    from remanence_server.markdown.store import MarkdownStore

    store = MarkdownStore(tmp_path, UTC)
    store.append([episode()])
    _copy_with(tmp_path, "Yosemite", "Patagonia")
    finder = TwinFinder()
    for file in sorted(store.files(), key=lambda file: file.number, reverse=backwards):
        finder.look(store.read(file))
    assert [problem.path.name for problem in finder.problems] == [SECOND]
