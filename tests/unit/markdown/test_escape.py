"""Any text goes into Markdown and comes back as it was."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from remanence_server.markdown.escape import (
    decode_block,
    decode_line,
    decode_quote,
    encode_block,
    encode_line,
    encode_quote,
)
from remanence_server.markdown.values import (
    as_list,
    as_text,
    decode_attributes,
    decode_value,
    decode_values,
    encode_attributes,
    encode_value,
    encode_values,
)

_NASTY = [
    "<!-- entry:ep_20260528_00000001 -->",
    "<!-- /entry:ep_20260528_00000001 -->",
    "\\<!--",
    "### Content",
    "\\### Content",
    "## heading",
    "---",
    "**timestamp**: 1",
    "&#13;",
    "&amp;#13;",
    "&",
    "\r",
    "\r\n",
    "\n",
    "\n\n",
    "  \n",
    " ",
    "\t",
    "\x00",
    "\x85",
    "\u2028",
    "\ufeff",
    "> ",
    "- ",
    "```",
    "-->",
    "~~",
    "\\",
    "é",
    "你好",
    "\U0001f600",
    "word",
]
texts = st.one_of(
    st.lists(st.sampled_from(_NASTY), max_size=12).map("".join),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=60),
)


@given(texts)
@example("\n")
@example(" ")
@example("a  \nb")
@example("\\\\### x\n<!-- /entry:x -->")
def test_a_section_gives_its_text_back(text: str) -> None:
    encoded = encode_block(text)
    # As an editor leaves it: blank lines around, Windows line ends.
    written = f"\n\n{encoded}\n \n".replace("\n", "\r\n").replace("\r\n", "\n")
    assert decode_block(written) == text
    assert decode_block(encode_block(text, all_headings=True), all_headings=True) == text
    assert not any(line.startswith(("### ", "<!--")) for line in encoded.split("\n"))
    assert "\r" not in encoded
    assert "\x00" not in encoded


@given(texts)
def test_a_quote_gives_its_text_back(text: str) -> None:
    encoded = encode_quote(text)
    assert decode_quote(encoded.split("\n")) == text
    assert all(line.startswith(">") for line in encoded.split("\n"))


@given(texts)
def test_a_line_stays_one_line_and_gives_its_text_back(text: str) -> None:
    encoded = encode_line(text)
    assert decode_line(f" {encoded}  ") == text
    assert len(f"-{encoded}-".splitlines()) == 1
    assert not encoded.startswith("<!--")
    assert " <!--" not in encoded


@given(texts, st.lists(texts, max_size=4))
def test_values_give_any_text_back(text: str, others: list[str]) -> None:
    assert decode_value(encode_value(text)) == text
    assert decode_values(encode_values(others)) == tuple(others)
    assert len(f"{encode_value(text)}.".splitlines()) == 1
    written = encode_attributes({"session": text, "messages": tuple(others)})
    assert not set(written) & set("<>\n\r")
    assert "--" not in written
    attributes = decode_attributes(written)
    assert as_text(attributes["session"]) == text
    assert as_list(attributes.get("messages")) == tuple(others)


def test_ordinary_values_are_written_as_they_are() -> None:
    assert encode_value("weekly chat 7") == "weekly chat 7"
    assert encode_values(("alice", "bob@x.org")) == "alice, bob@x.org"
    assert encode_attributes({"session": "s-1", "messages": ("m1", "m2")}) == (
        "session=s-1 messages=m1,m2"
    )


@pytest.mark.parametrize("text", ['"half', "[half", "[1", '"a"b'])
def test_a_hand_written_value_that_is_not_json_is_taken_as_it_stands(text: str) -> None:
    assert decode_value(text) == text


def test_lines_of_a_dialogue_stay_lines_when_rendered() -> None:
    dialogue = "Alice: hello\nBob: hi\n\nAlice: bye"
    for encoded in (encode_block(dialogue), encode_quote(dialogue)):
        html = MarkdownIt().render(encoded)
        assert html.count("<br") == 1
        assert html.count("<p>") == 2


def test_escaped_text_is_rendered_as_its_author_wrote_it() -> None:
    html = MarkdownIt().render(encode_block("### Content\n<!-- hidden -->\n&#13;"))
    assert "### Content" in html
    assert "&lt;!-- hidden --&gt;" in html
    assert "&amp;#13;" in html
    assert "<h3>" not in html


def test_ordinary_markdown_is_left_alone() -> None:
    text = "# Title\n\n- one\n\n```py\nx = 1 # & <b>\n```"
    assert encode_block(text).replace("  \n", "\n") == text
