r"""Any text inside a Markdown entry, exactly, without breaking the entry.

Text is written as it is, so that it reads well and Markdown in it renders. Only what would be lost
or taken for structure is changed, and always into something that renders as the original:

- control characters, Unicode line ends and a byte order mark become `&#13;` and the like, as does
  white space at the ends of a text; text that already looks like that gets its `&` as `&amp;`;
- `<!--` becomes `\<!--`, so that only our own markers begin with it;
- a line that begins like one of our section headings gets a backslash;
- a line break inside a paragraph gets two spaces before it, which Markdown renders as a break.

Each rule adds one mark also to text that carries the mark already, so each can be undone exactly.
"""

from __future__ import annotations

import re

_ENTITY_CODES = r"(?:[0-9]|[12][0-9]|3[0-2]|12[7-9]|1[345][0-9]|8232|8233|65279)"
# A lone "&#13;" in a text is told from an escaped character by the "amp;" it gets.
_ENTITY_LIKE = re.compile(rf"&(?=(?:amp;)*#{_ENTITY_CODES};)")
_ENTITY = re.compile(rf"&(?:#({_ENTITY_CODES});|amp;(?=(?:amp;)*#{_ENTITY_CODES};))")
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]")
_COMMENT = re.compile(r"(\\*)<!--")
_ESCAPED_COMMENT = re.compile(r"\\(\\*<!--)")
# Sections of an entry are headings of the third level.
_SECTION_LIKE = re.compile(r"^(?=\\*### )", re.MULTILINE)
_ESCAPED_SECTION = re.compile(r"^\\(?=\\*### )", re.MULTILINE)
_HEADING_LIKE = re.compile(r"^(?=\\*#{1,6} )", re.MULTILINE)
_ESCAPED_HEADING = re.compile(r"^\\(?=\\*#{1,6} )", re.MULTILINE)
# Between two lines that are not blank; white space that is there already stays before the two.
_SOFT_BREAK = re.compile(r"(?<=[^ \t\n])([ \t]*)\n(?=[ \t]*[^ \t\n])")
_HARD_BREAK = re.compile(r"(?<=[^ \t\n])([ \t]*)  \n(?=[ \t]*[^ \t\n])")
_BLANK = " \t\n"


def _entity(match: re.Match[str]) -> str:
    return f"&#{ord(match[0])};"


def _character(match: re.Match[str]) -> str:
    return chr(int(match[1])) if match[1] else "&"


def escape_characters(text: str) -> str:
    """Escapes what no form of text may hold: control characters and comment openers."""
    if "&" in text:
        text = _ENTITY_LIKE.sub("&amp;", text)
    text = _UNSAFE.sub(_entity, text)
    return _COMMENT.sub(r"\\\1<!--", text) if "<!--" in text else text


def unescape_characters(text: str) -> str:
    """Undoes `escape_characters`."""
    if "<!--" in text:
        text = _ESCAPED_COMMENT.sub(r"\1", text)
    return _ENTITY.sub(_character, text) if "&" in text else text


def _guard_ends(text: str) -> str:
    if text and text[-1] in _BLANK:
        text = f"{text[:-1]}&#{ord(text[-1])};"
    if text and text[0] in _BLANK:
        text = f"&#{ord(text[0])};{text[1:]}"
    return text


def _add_breaks(text: str) -> str:
    return _SOFT_BREAK.sub(r"\1  \n", text) if "\n" in text else text


def _drop_breaks(text: str) -> str:
    return _HARD_BREAK.sub(r"\1\n", text) if "  \n" in text else text


def encode_block(text: str, *, all_headings: bool = False) -> str:
    """Text of a section: paragraphs between headings.

    `all_headings` keeps every heading in the text from being taken for structure, not only those
    of the third level.
    """
    text = _guard_ends(escape_characters(text))
    if "#" in text:
        text = (_HEADING_LIKE if all_headings else _SECTION_LIKE).sub(r"\\", text)
    return _add_breaks(text)


def decode_block(text: str, *, all_headings: bool = False) -> str:
    """Undoes `encode_block`; blank space around the text, as an editor leaves it, is dropped."""
    text = _drop_breaks(text.strip(_BLANK))
    if "#" in text:
        text = (_ESCAPED_HEADING if all_headings else _ESCAPED_SECTION).sub("", text)
    return unescape_characters(text)


def encode_quote(text: str) -> str:
    """Text as a block quote, which holds any line."""
    lines = _add_breaks(escape_characters(text)).split("\n")
    return "\n".join(f"> {line}" if line else ">" for line in lines)


def decode_quote(lines: list[str]) -> str:
    """Undoes `encode_quote`; lines without the sign of a quote are somebody's notes."""
    quoted = [line[2:] if line.startswith("> ") else line[1:] for line in lines if line[:1] == ">"]
    return unescape_characters(_drop_breaks("\n".join(quoted)))


def encode_line(text: str) -> str:
    """Text on a line of its own, such as a heading or a bullet."""
    return _guard_ends(escape_characters(text)).replace("\n", "&#10;")


def decode_line(text: str) -> str:
    """Undoes `encode_line`."""
    return unescape_characters(text.strip(_BLANK))
