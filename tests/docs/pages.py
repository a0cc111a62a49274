"""The documentation, taken apart: fenced blocks, tables, links, headings."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
PAGES = tuple(
    sorted(
        [
            *REPOSITORY.glob("*.md"),
            *(REPOSITORY / "docs").glob("*.md"),
            REPOSITORY / "clients" / "python" / "README.md",
        ]
    )
)

_FENCE = re.compile(r"^```(\w*)[ ]*\n(.*?)^```[ ]*$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6} +(.*?) *$", re.MULTILINE)
_INLINE_CODE = re.compile(r"`[^`\n]*`")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block and where it begins."""

    page: str
    line: int
    language: str
    text: str
    # What stands between the block before it and this one.
    lead: str

    @property
    def place(self) -> str:
        """For messages: page and line."""
        return f"{self.page}:{self.line}"


def name_of(page: Path) -> str:
    """The path of a page within the repository."""
    return page.relative_to(REPOSITORY).as_posix()


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    found = []
    end = 0
    for match in _FENCE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        found.append(Block(name_of(page), line, match[1], match[2], text[end : match.start()]))
        end = match.end()
    return found


def table(page: Path, first_header: str, under: str | None = None) -> list[list[str]]:
    """The rows of the table whose first column has this name, code marks taken off.

    `under` is the heading it stands below, where several tables have such a column.
    """
    lines = page.read_text(encoding="utf-8").splitlines()
    if under is not None:
        start = next(n for n, line in enumerate(lines) if re.fullmatch(rf"#+ {under}", line))
        lines = lines[start:]
    start = next(n for n, line in enumerate(lines) if line.startswith(f"| {first_header} |"))
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip().strip("|").split(" | ")])
    assert rows, f"{page}: the table of {first_header} is empty"
    return rows


def bare(cell: str) -> str:
    """A cell without its code marks."""
    return cell.strip("`")


def links(page: Path) -> Iterator[str]:
    """The targets of the links of a page; code is not looked at."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    yield from (match[1] for match in _LINK.finditer(_INLINE_CODE.sub("", text)))


def anchors(page: Path) -> set[str]:
    """The anchors that a page offers: its headings, as GitHub writes them."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    return {_anchor(match[1]) for match in _HEADING.finditer(text)}


def _anchor(heading: str) -> str:
    kept = (
        character
        for character in heading.lower()
        if character in " -_" or unicodedata.category(character)[0] in "LN"
    )
    return "".join(kept).replace(" ", "-")
