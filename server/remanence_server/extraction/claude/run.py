"""An agent's run as text: what was asked, what was done, what came of it, at a bounded length."""

from __future__ import annotations

from remanence_server.extraction.heuristic.case.trajectory import Step, Trajectory
from remanence_server.extraction.heuristic.words import one_line

# Of a long output the head and the tail tell what it was and how it ended.
_LONGEST_OUTPUT_CHARACTERS = 2_000
_LONGEST_ARGUMENTS_CHARACTERS = 1_000
_SHORTEST_CHARACTERS = 100


def run_as_text(run: Trajectory, limit_characters: int) -> str:
    """The run; outputs are trimmed, with a marker that says so, until it fits.

    A run of more steps than fit even so loses steps in its middle.
    """
    output, arguments = _LONGEST_OUTPUT_CHARACTERS, _LONGEST_ARGUMENTS_CHARACTERS
    while True:
        text = _text(run, [_step(n, s, output, arguments) for n, s in enumerate(run.steps, 1)])
        if len(text) <= limit_characters:
            return text
        if output <= _SHORTEST_CHARACTERS:
            return trimmed(text, limit_characters)
        output, arguments = output // 2, max(arguments // 2, _SHORTEST_CHARACTERS)


def trimmed(text: str, limit_characters: int) -> str:
    """A text of at most about that many characters; what is cut out of its middle is counted."""
    if len(text) <= limit_characters:
        return text
    half = limit_characters // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters cut …]\n{text[-half:]}"


def _text(run: Trajectory, steps: list[str]) -> str:
    requests = [f"The user says: {request.text.strip()}" for request in run.requests]
    return "\n\n".join([*requests[:1], *steps, *requests[1:], f"The end: {run.conclusion}"])


def _step(number: int, step: Step, output_limit: int, arguments_limit: int) -> str:
    arguments = trimmed(step.call.arguments, arguments_limit) if step.call else ""
    remark = f" ({one_line(step.remark)})" if step.remark else ""
    result = "no result" if step.result is None else trimmed(step.result, output_limit)
    return f"Step {number}: {one_line(step.tool_name)}({arguments}){remark}\nResult: {result}"
