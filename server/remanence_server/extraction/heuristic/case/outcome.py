"""Tool results and arguments in a line: what matters of them, and whether they went well."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from remanence_server.domain.messages import ToolCall
from remanence_server.extraction.heuristic.sentences import clip
from remanence_server.extraction.heuristic.words import one_line

_OUTCOME_CHARACTERS = 160
_ARGUMENT_CHARACTERS = 80
_MAXIMUM_ARGUMENTS = 3
# A result is scanned for its telling line; past this it is a file, and its ends are enough.
_SCANNED_CHARACTERS = 40_000
_SCANNED_LINE_CHARACTERS = 1_000
_FAILURE = re.compile(
    r"\b(?:error|exception|traceback|failed|failure|failing|fatal|panic|denied|refused|unauthorized|"
    r"forbidden|not\s+found|no\s+such\s+(?:file|table|host|column)|timed?[\s-]?out|cannot|can['’]t|"
    r"could\s+not|couldn['’]t|unable|invalid|undefined|unexpected|conflict|segmentation\s+fault|"
    r"exit(?:ed)?\s+(?:with\s+)?(?:code|status)\s*:?\s*[1-9]\d*|returned\s+non-zero|killed|"
    r"already\s+(?:bound|in\s+use)|mismatch|unreachable|rejected)\b|(?<=\w)(?-i:Error|Exception)\b|"
    r"错误|失败|異常|エラー|失敗|오류|실패",
    re.IGNORECASE,
)
_NO_FAILURE = re.compile(
    r"\b(?:0|no|zero|without(?:\s+any)?)\s+(?:\w+\s+)?(?:errors?|failures?|failed|failing|exceptions?|"
    r"warnings?|conflicts?)\b|\b(?:errors?|failures?|failed)\s*[:=]\s*(?:0|none|null|false|\[\]|\"\")|"
    r"\bexit(?:ed)?\s+(?:with\s+)?(?:code|status)\s*:?\s*0\b",
    re.IGNORECASE,
)
_SUMMARY_LINE = re.compile(
    r"\b\d+\s+(?:tests?\s+)?(?:passed|failed|passing|failing|errors?|tests?|rows?|files?|matches|results?)"
    r"\b|\ball\s+(?:\d+\s+)?(?:tests?\s+)?pass|\bok\b|\bsuccess|\bdone\b|\bcreated\b|\bcomplete",
    re.IGNORECASE,
)
_TEST_PASS = re.compile(
    r"\ball\s+(?:\d+\s+)?(?:tests?\s+|checks?\s+)?pass(?:ed|ing)?\b|"
    r"\b[1-9]\d*\s+(?:tests?\s+)?pass(?:ed|ing)\b|"
    r"\btests?\s+pass(?:ed)?\b|\bbuild\s+(?:succeeded|successful)",
    re.IGNORECASE,
)
_READING_TOOL = re.compile(
    r"read|get|list|search|logs?$|^logs?|cat|grep|fetch|view|show|find|open|query", re.IGNORECASE
)
_READING_COMMAND = re.compile(
    r"^\W*(?:cmd|command)\W+(?:sudo\s+)?(?:cat|tail|head|less|grep|rg|ls|journalctl|"
    r"(?:docker|kubectl)\s+(?:logs|describe|get)|git\s+(?:log|diff|show|status))\b"
)
_BASE64 = re.compile(r"(?:data:[\w/+.-]+;base64,)?[A-Za-z0-9+/]{120,}={0,2}")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffd]")
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
# Arguments that say what a call is about come first.
_KEY_ARGUMENTS = (
    "command", "cmd", "query", "path", "file", "file_path", "filename", "url", "sql", "code",
    "name", "pattern", "suite", "test", "id", "action",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Outcome:
    """A result in short. `failed` is read from its words; `tests_passed` from a test summary."""

    text: str
    failed: bool
    tests_passed: bool


def outcome_of(result: str | None, *, reads: bool = False) -> Outcome:
    """What a result says; a call without one has no outcome and did not fail.

    A call that `reads` shows the errors of others: it failed itself only if that is all it says.
    """
    if result is None:
        return Outcome("no result", failed=False, tests_passed=False)
    cleaned = without_binaries(result)
    if not cleaned.strip():
        return Outcome("empty result", failed=False, tests_passed=False)
    structured = _structured(cleaned)
    if structured is not None:
        return structured
    lines = [
        _scanned(line.strip(), _SCANNED_LINE_CHARACTERS)
        for line in _scanned(cleaned, _SCANNED_CHARACTERS).splitlines()
        if line.strip()
    ]
    telling = [line for line in lines if _is_failure(line)]
    summaries = [line for line in lines if _SUMMARY_LINE.search(line)]
    passed = any(_TEST_PASS.search(line) and not _is_failure(line) for line in summaries)
    failed = bool(telling) and not (passed and _is_last(summaries, lines))
    complains = failed
    failed = failed and not (reads and len(lines) > 2)
    # The last complaint of a trace names the error; the last summary of a run its result.
    shown = ((telling if complains else summaries) or lines[:1])[-1]
    text = clip(one_line(shown), _OUTCOME_CHARACTERS)
    if len(lines) > 1:
        text = f"{text} [… {len(cleaned.splitlines())} lines]"
    return Outcome(text, failed, passed and not failed)


def reads_only(tool_name: str, arguments: str) -> bool:
    """Whether a call looks at something, by its name or its shell command."""
    return bool(_READING_TOOL.search(tool_name) or _READING_COMMAND.search(arguments[:200]))


def arguments_of(call: ToolCall) -> str:
    """The telling arguments of a call: `path="a.yaml", port=9443`."""
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return _shown(call.arguments) if call.arguments.strip() else ""
    if not isinstance(arguments, Mapping):
        return _shown(arguments)
    rank = {key: position for position, key in enumerate(_KEY_ARGUMENTS)}
    keys = sorted(arguments, key=lambda key: rank.get(key, len(rank)))
    shown = [f"{key}={_shown(arguments[key])}" for key in keys[:_MAXIMUM_ARGUMENTS]]
    if len(keys) > _MAXIMUM_ARGUMENTS:
        shown.append("…")
    return ", ".join(shown)


def without_binaries(text: str) -> str:
    """`text` with what is not text described instead of shown."""
    text = _ESCAPES.sub("", text)
    if len(_CONTROL.findall(text[:4_096])) > len(text[:4_096]) // 10:
        return f"[binary data, {len(text):,} characters]"
    text = _CONTROL.sub("", text)
    return _BASE64.sub(lambda match: f"[encoded data, {len(match.group()):,} characters]", text)


def _shown(value: Any) -> str:
    if isinstance(value, str):
        text = one_line(without_binaries(value))
        quoted = json.dumps(clip(text, _ARGUMENT_CHARACTERS), ensure_ascii=False)
        if len(text) > _ARGUMENT_CHARACTERS:
            return f"{quoted} [{len(value):,} characters]"
        return quoted
    text = json.dumps(value, ensure_ascii=False)
    return clip(text, _ARGUMENT_CHARACTERS)


def _structured(text: str) -> Outcome | None:
    """A result that is a JSON object saying itself whether it went well."""
    if not text.lstrip().startswith("{") or len(text) > _SCANNED_CHARACTERS:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, Mapping):
        return None
    error = value.get("error") or value.get("errors") or value.get("exception")
    status = str(value.get("status", "")).casefold()
    code = value.get("exit_code", value.get("returncode", 0))
    refused = any(value.get(key) is False for key in ("ok", "success", "passed"))
    failed = bool(error) or refused or status in {"error", "failed", "failure"}
    failed = failed or (isinstance(code, int) and code != 0)
    if error:
        shown = error if isinstance(error, str) else json.dumps(error, ensure_ascii=False)
    else:
        shown = ", ".join(f"{key}: {_plain(item)}" for key, item in value.items())
    text = clip(one_line(shown), _OUTCOME_CHARACTERS)
    return Outcome(text, failed, not failed and _TEST_PASS.search(shown) is not None)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _is_failure(line: str) -> bool:
    return _FAILURE.search(_NO_FAILURE.sub("", line)) is not None


def _is_last(summaries: list[str], lines: list[str]) -> bool:
    return bool(summaries) and summaries[-1] in lines[-3:]


def _scanned(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n{text[-half:]}"
