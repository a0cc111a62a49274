"""Names that look like paths: refused by the name of their field, or kept exactly as they are."""

from __future__ import annotations

from datetime import UTC
from pathlib import Path

import pytest

from remanence_server.markdown.store import MarkdownStore
from tests.blackbox.conftest import said
from tests.blackbox.surfaces import Surface

NAMES = [
    "../../escape",
    "..",
    ".",
    "/etc/passwd",
    "C:\\temp\\x",
    "a/b",
    "CON",
    "nul.md",
    "x\u0000.md",
    "%2e%2e%2fq",
    "re\u0301sume\u0301",
    "é" * 255,
    "fix django",
    "fix_django",
    "Skill",
    "skill",
]


def _outside(root: Path) -> set[Path]:
    return {path for path in root.parent.rglob("*") if not path.is_relative_to(root)}


@pytest.mark.parametrize("field", ["sender_id", "session_id", "app_id", "project_id"])
def test_a_name_is_refused_by_its_field_or_comes_back_exactly(
    surface: Surface, root: Path, tag: str, field: str
) -> None:
    outside = _outside(root)
    kept = set[str]()
    for number, name in enumerate(NAMES):
        user, session, scope = f"u{tag}{number}", f"s{tag}{number}", dict[str, str]()
        if field == "sender_id":
            user = name
        elif field == "session_id":
            session = name
        else:
            scope = {field: name}
        message = said(f"The word of {tag}{number} is plum.", user)
        body = {"session_id": session, **scope, "messages": [message], "defer_extraction": True}
        added = surface.call("add", body)
        if added.data is None:
            assert added.code == "INVALID_INPUT", (name, added)
            assert field in (added.error or ""), (name, added)
            continue
        flushed = surface.call("flush", {"session_id": session, **scope})
        assert flushed.ok["status"] in ("extracted", "FLUSH_STATUS_EXTRACTED"), name
        listed = surface.call("get", {"user_id": user, "memory_type": "episode", **scope}).ok
        (episode,) = [e for e in listed["episodes"] if f"{tag}{number}" in e["episode"]]
        assert episode["user_id"] == user
        assert episode["session_id"] == session
        assert episode["sender_ids"] == [user]
        kept.add(name)
    assert {"fix django", "fix_django", "Skill", "skill", "%2e%2e%2fq"} & kept or field in (
        "app_id",
        "project_id",
    )
    assert _outside(root) == outside
    store = MarkdownStore(root, UTC)
    files = [path for path in root.rglob("*.md") if path.is_file()]
    assert all(store.identify(path) is not None for path in files)
    assert all(path.resolve().is_relative_to(root.resolve()) for path in files)
