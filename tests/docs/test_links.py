"""Links lead somewhere, and nothing of the machine it was written on is in the pages."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.docs.pages import PAGES, REPOSITORY, anchors, links, name_of

# Who may be linked to or shown in an example. A package index is nobody's business but pip's.
_HOSTS = frozenset(
    {"127.0.0.1", "localhost", "example.com", "keepachangelog.com", "semver.org", "github.com"}
)
_URL = re.compile(r"\b(?:https?|grpc)://([\w-]+(?:\.[\w-]+)*)")
_MACHINE_PATH = re.compile(r"(?<![\w.~<-])/(?:work|tmp|root|home|Users|workspace|mnt)/[\w.]+")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_leads_somewhere(page: Path) -> None:
    broken = []
    for target in links(page):
        parts = urlsplit(target)
        if parts.scheme:
            continue
        path = (page.parent / parts.path).resolve() if parts.path else page
        there = path.exists() and path.is_relative_to(REPOSITORY)
        if not there or (parts.fragment and parts.fragment not in anchors(path)):
            broken.append(target)
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_page_names_a_registry_or_a_path_of_a_machine(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert set(_URL.findall(text)) - _HOSTS == set()
    assert _MACHINE_PATH.findall(text) == []


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached = {REPOSITORY / "README.md"}
    waiting = list(reached)
    while waiting:
        page = waiting.pop()
        for target in links(page):
            path = (page.parent / urlsplit(target).path).resolve()
            if path.suffix == ".md" and path.exists() and path not in reached:
                reached.add(path)
                waiting.append(path)
    assert set(PAGES) - reached == set()
