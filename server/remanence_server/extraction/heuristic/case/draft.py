"""A run in four fields: intent, numbered steps, quality from its signals, and its turning point."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from remanence_server.domain.messages import MemoryCell
from remanence_server.extraction.heuristic.case.outcome import (
    Outcome,
    arguments_of,
    outcome_of,
    reads_only,
)
from remanence_server.extraction.heuristic.case.trajectory import (
    Step,
    Trajectory,
    trajectory_of,
)
from remanence_server.extraction.heuristic.informative import is_question, weight
from remanence_server.extraction.heuristic.sentences import clip, split_sentences
from remanence_server.extraction.heuristic.words import one_line
from remanence_server.extraction.interface import CaseDraft, CaseSkipped

_INTENT_CHARACTERS = 300
_INSIGHT_CHARACTERS = 300
_REMARK_CHARACTERS = 120
# "Fixed." is no outcome that a reader learns from.
_TELLING_CHARACTERS = 60
# More steps than this are a log: the first and the last tell what was done.
_MAXIMUM_STEPS = 40

_CAUSE = re.compile(
    r"\b(?:because|root\s+cause|turned\s+out|turns\s+out|the\s+(?:problem|issue|cause|reason|culprit|fix|"
    r"trick|key|solution)\s+(?:was|is)|due\s+to|caused\s+by|instead\s+of|was\s+missing|had\s+to|"
    r"already\s+(?:held|bound|used|in\s+use|taken|running|existed)|needed\s+to|wrong|missing)\b|"
    r"因为|原因|问题是|原因は|ため|ので|때문|원인",
    re.IGNORECASE,
)
_CLAIMS_SUCCESS = re.compile(
    r"\b(?:fixed|done|resolved|solved|completed?|works?\s+now|is\s+working|succeeded|successful(?:ly)?|"
    r"all\s+(?:\d+\s+)?(?:tests?|checks?)\s+pass(?:ed)?|passes|deployed|finished|created|updated|merged|"
    r"renamed|installed|configured)\b|完成|修好|解决|已修复|完了|直りました|修正しました|완료|해결",
    re.IGNORECASE,
)
_CLAIMS_FAILURE = re.compile(
    r"\b(?:could\s+not|couldn['’]t|was\s+unable|am\s+unable|unable\s+to|cannot|can['’]t|failed\s+to|"
    r"did\s+not\s+(?:work|succeed)|didn['’]t\s+(?:work|succeed)|gave\s+up|unresolved|still\s+fail(?:s|ing)?|"
    r"not\s+(?:fixed|solved|resolved|possible))\b|无法|没能|できません|못했",
    re.IGNORECASE,
)
_THANKS = re.compile(
    r"\b(?:thanks|thank\s+you|thx|great|perfect|excellent|awesome|works|brilliant|nice\s+work|well\s+done)\b|"
    r"谢谢|太好了|ありがとう|助かり|감사|고마",
    re.IGNORECASE,
)
_CORRECTION = re.compile(
    r"^(?:no\b|nope|wrong|stop|wait)|\b(?:that['’]s\s+(?:not|wrong)|not\s+what\s+I|doesn['’]t\s+work|does\s+not\s+"
    r"work|didn['’]t\s+work|still\s+(?:fails|failing|broken|wrong)|you\s+(?:broke|forgot|missed)|undo|revert|"
    r"incorrect|instead|I\s+meant)\b|不对|错了|不是这样|違います|まだ|아니|틀렸",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Done:
    """A step with its outcome, and how many times in a row it was taken."""

    step: Step
    shown: str
    outcome: Outcome
    times: int = 1


def draft_case(cell: MemoryCell, agent_id: str) -> CaseDraft | CaseSkipped:
    """The case of an agent's run in the cell, or why it is none."""
    run = trajectory_of(cell, agent_id)
    if isinstance(run, CaseSkipped):
        return run
    done = _merged([_done(step) for step in run.steps])
    return CaseDraft(
        task_intent=_intent(run),
        approach=_approach(done, run.conclusion),
        quality_score=_quality(run, done),
        key_insight=_insight(run, done),
    )


def _intent(run: Trajectory) -> str:
    """The request in its own words: the sentences that tell, greetings and code left out."""
    for request in run.requests:
        sentences = [one_line(sentence) for sentence in split_sentences(request.text)]
        telling = [
            sentence
            for sentence in sentences
            if weight(sentence, frozenset(), to_assistant=True) >= 2.0
        ]
        if telling:
            intent = telling[0]
            for sentence in telling[1:]:
                if len(intent) + len(sentence) >= _INTENT_CHARACTERS:
                    break
                intent = f"{intent} {sentence}"
            return clip(intent, _INTENT_CHARACTERS)
    return clip(one_line(run.requests[0].text), _INTENT_CHARACTERS)


def _done(step: Step) -> _Done:
    arguments = arguments_of(step.call) if step.call else ""
    reads = reads_only(step.tool_name, step.call.arguments if step.call else "")
    return _Done(
        step, f"{one_line(step.tool_name)}({arguments})", outcome_of(step.result, reads=reads)
    )


def _merged(done: Sequence[_Done]) -> list[_Done]:
    """The same call with the same outcome, several times in a row, is one step."""
    merged: list[_Done] = []
    for item in done:
        last = merged[-1] if merged else None
        if last is not None and (last.shown, last.outcome) == (item.shown, item.outcome):
            merged[-1] = _Done(last.step, last.shown, last.outcome, last.times + 1)
        else:
            merged.append(item)
    return merged


def _approach(done: Sequence[_Done], conclusion: str) -> str:
    lines = [_line(number, item) for number, item in enumerate(done, start=1)]
    if len(lines) > _MAXIMUM_STEPS:
        half = _MAXIMUM_STEPS // 2
        left_out = f"[… {len(lines) - 2 * half} steps]"
        lines = [*lines[:half], left_out, *lines[-half:]]
    return "\n".join([*lines, f"Outcome: {_ending(conclusion)}"])


def _ending(conclusion: str) -> str:
    """The first sentences of the conclusion, enough of them to say something."""
    ending = ""
    for sentence in split_sentences(conclusion) or (conclusion,):
        if ending and len(ending) + len(sentence) >= _INSIGHT_CHARACTERS:
            break
        ending = f"{ending} {one_line(sentence)}".strip()
        if len(ending) >= _TELLING_CHARACTERS:
            break
    return clip(ending, _INSIGHT_CHARACTERS)


def _line(number: int, item: _Done) -> str:
    times = f" ×{item.times}" if item.times > 1 else ""
    mark = "failed: " if item.outcome.failed else ""
    line = f"{number}. {item.shown}{times} → {mark}{item.outcome.text}"
    remark = next(iter(split_sentences(item.step.remark)), "")
    return f"{line} ({clip(one_line(remark), _REMARK_CHARACTERS)})" if remark else line


def _quality(run: Trajectory, done: Sequence[_Done]) -> float:
    """From the signals of the run, in [0, 1]: 0.5 is a run that tells neither way."""
    score = 0.5
    last = done[-1].outcome
    score += -0.25 if last.failed else 0.15
    # Only the tests after the last failure speak for the result.
    failures = [position for position, item in enumerate(done) if item.outcome.failed]
    after = done[failures[-1] + 1 :] if failures else done
    if any(item.outcome.tests_passed for item in after):
        score += 0.2
    score -= 0.1 * len(failures) / len(done)
    if _CLAIMS_FAILURE.search(run.conclusion):
        score -= 0.2
    elif _CLAIMS_SUCCESS.search(run.conclusion):
        score += 0.1
    elif is_question(run.conclusion):
        score -= 0.1
    reactions = run.requests[1:]
    corrections = sum(bool(_CORRECTION.search(reaction.text)) for reaction in reactions)
    score -= min(0.15 * corrections, 0.3)
    if reactions:
        final = reactions[-1].text
        if _THANKS.search(final) and not _CORRECTION.search(final):
            score += 0.15
    return round(min(max(score, 0.0), 1.0), 2)


def _insight(run: Trajectory, done: Sequence[_Done]) -> str | None:
    """The turning point: in the agent's words if they name a cause, else as the steps show it."""
    turning = _turning_point(done)
    sentences = [one_line(sentence) for sentence in split_sentences(run.conclusion)]
    named = [
        sentence
        for sentence in sentences
        if _CAUSE.search(sentence) and weight(sentence, frozenset()) >= 4.0
    ]
    if named:
        return clip(max(named, key=lambda text: weight(text, frozenset())), _INSIGHT_CHARACTERS)
    if turning is None:
        corrected = next(
            (request for request in run.requests[1:] if _CORRECTION.search(request.text)), None
        )
        if corrected is not None:
            return clip(f"User corrected: {one_line(corrected.text)}", _INSIGHT_CHARACTERS)
        return None
    failure, change, success = turning
    return clip(
        f"{failure.shown} failed ({failure.outcome.text}); "
        f"after {change.shown} it went well: {success.outcome.text}",
        _INSIGHT_CHARACTERS,
    )


def _turning_point(done: Sequence[_Done]) -> tuple[_Done, _Done, _Done] | None:
    """The last failure that was overcome, the last change before the success, and the success."""
    for position in range(len(done) - 1, -1, -1):
        failure = done[position]
        if not failure.outcome.failed:
            continue
        later = [item for item in done[position + 1 :] if not item.outcome.failed]
        if not later:
            return None
        again = [item for item in later if item.step.tool_name == failure.step.tool_name]
        success = again[-1] if again else later[-1]
        change = later[max(later.index(success) - 1, 0)]
        return failure, change, success
    return None
