"""Cases of an agent's runs: gates, intent, steps, quality, turning point."""

from __future__ import annotations

import json

import pytest

from remanence_server.domain.owners import Owner, Scope, Track
from remanence_server.extraction.heuristic.case.outcome import outcome_of
from remanence_server.extraction.interface import CaseDraft, CaseSkipped

ASK = "Hi! The deploy of the billing service fails on staging, please find out why."
DONE = "Fixed: the port 8443 was already bound, I moved the service to 9443 and all 41 tests pass."


def good_run(run):
    return (
        run.user(ASK)
        .step("c1", "run_tests", {"suite": "billing"}, "2 failed: port 8443 already bound")
        .step("c2", "read_file", {"path": "deploy.yaml"}, "port: 8443")
        .step("c3", "edit_file", {"path": "deploy.yaml", "port": 9443}, "ok")
        .step("c4", "run_tests", {"suite": "billing"}, "all 41 passed")
        .agent(DONE)
    )


async def test_a_run_becomes_a_case(run, extractor, agent):
    case = await extractor.extract_case(good_run(run).cell(), agent)
    assert case == CaseDraft(
        task_intent="The deploy of the billing service fails on staging, please find out why.",
        approach=(
            '1. run_tests(suite="billing") → failed: 2 failed: port 8443 already bound\n'
            '2. read_file(path="deploy.yaml") → port: 8443\n'
            '3. edit_file(path="deploy.yaml", port=9443) → ok\n'
            '4. run_tests(suite="billing") → all 41 passed\n'
            f"Outcome: {DONE}"
        ),
        quality_score=0.93,
        key_insight=DONE,
    )


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (lambda run: run.step("c1", "ls", {}, "a").agent("Done."), "no_user_request"),
        (lambda run: run.user(ASK), "no_agent_turn"),
        (lambda run: run.user(ASK).agent("Have you tried restarting?"), "too_few_tool_rounds"),
        (
            lambda run: (
                run.user(ASK).step("c1", "ls", {}, "a").step("c2", "ls", {}, "b").agent("Ok")
            ),
            "too_few_tool_rounds",
        ),
        (
            lambda run: (
                run.user(ASK)
                .step("c1", "ls", {}, "a")
                .step("c2", "ls", {}, "b")
                .step("c3", "ls", {}, "c")
            ),
            "not_closed",
        ),
        (lambda run: good_run(run).user("And now the invoice service?"), "not_closed"),
    ],
)
async def test_what_is_no_case_says_why(run, extractor, agent, build, reason):
    assert await extractor.extract_case(build(run).cell(), agent) == CaseSkipped(reason)


async def test_thanks_after_the_answer_close_the_run_and_raise_its_quality(run, extractor, agent):
    plain = await extractor.extract_case(good_run(run).cell(), agent)
    thanked = await extractor.extract_case(run.user("Thanks, that works!").cell(), agent)
    assert thanked.quality_score > plain.quality_score


async def test_rows_before_the_first_request_do_not_count(run, extractor, agent):
    early = run.step("c0", "warm_up", {}, "ready").agent("Good morning.")
    case = await extractor.extract_case(good_run(early).cell(), agent)
    assert case.approach.startswith("1. run_tests")
    assert case.task_intent.startswith("The deploy")


async def test_a_greeting_is_not_the_intent(run, extractor, agent):
    cell = good_run(run.user("Hello!").agent("Hello, what can I do?")).cell()
    case = await extractor.extract_case(cell, agent)
    assert case.task_intent.startswith("The deploy of the billing service")


async def test_parallel_results_find_their_calls_in_any_order(run, extractor, agent):
    cell = (
        run.user(ASK)
        .calls(("a", "read", {"path": "one"}), ("b", "read", {"path": "two"}))
        .result("b", "content of two")
        .result("a", "content of one")
        .result("a", "repeated")
        .step("c", "edit", {"path": "one"}, "ok")
        .step("d", "deploy", {}, "ok")
        .agent(DONE)
        .cell()
    )
    lines = (await extractor.extract_case(cell, agent)).approach.splitlines()
    assert lines[0] == '1. read(path="one") → content of one'
    assert lines[1] == '2. read(path="two") → content of two'


async def test_orphan_results_are_rounds_and_steps(run, extractor, agent):
    cell = run.user(ASK).result("x", "port in table").agent("Hm.").result("y", "ok").agent("Hm.")
    cell = cell.step("z", "deploy", {}, "ok").agent(DONE).cell()
    case = await extractor.extract_case(cell, agent)
    assert [line[:2] for line in case.approach.splitlines()[:3]] == ["1.", "2.", "3."]


async def test_a_call_without_result_is_shown_as_such(run, extractor, agent):
    cell = good_run(run.user("Deploy it.").calls(("lost", "ping", {}))).cell()
    assert "1. ping() → no result" in (await extractor.extract_case(cell, agent)).approach


async def test_the_same_step_again_is_shown_once_with_its_count(run, extractor, agent):
    cell = run.user(ASK)
    for number in range(3):
        cell = cell.step(f"p{number}", "poll", {"id": 7}, "still waiting for the queue")
    case = await extractor.extract_case(cell.agent(DONE).cell(), agent)
    assert "1. poll(id=7) ×3 → still waiting for the queue" in case.approach


async def test_big_and_binary_texts_are_described(run, extractor, agent):
    log = "\n".join(f"line {number}" for number in range(500))
    cell = (
        run.user(ASK)
        .step("a", "read_log", {"note": "x" * 5_000}, log)
        .step("b", "screenshot", {}, "iVBORw0KGgo" * 2_000)
        .step("c", "dump", {}, "\x00\x01\x02" * 1_000)
        .agent(DONE)
        .cell()
    )
    approach = (await extractor.extract_case(cell, agent)).approach
    assert len(approach) < 1_500
    assert "line 0 [… 500 lines]" in approach
    assert "[encoded data, 22,000 characters]" in approach
    assert "[binary data, 3,000 characters]" in approach


@pytest.mark.parametrize("arguments", ["", "not json", "[1, 2", "[]", "null", '{"a": {"b": [1]}}'])
async def test_arguments_that_are_no_object_are_borne_with(run, extractor, agent, arguments):
    cell = good_run(run.user("Deploy it.").calls(("odd", "ping", arguments)).result("odd", "ok"))
    assert isinstance(await extractor.extract_case(cell.cell(), agent), CaseDraft)


async def test_a_failed_ending_scores_below_a_successful_one(run, extractor, agent):
    cell = (
        run.user(ASK)
        .step("c1", "deploy", {}, "error: connection refused")
        .step("c2", "deploy", {}, "error: connection refused")
        .step("c3", "deploy", {}, "error: no such host")
        .agent("I could not deploy the service, the host is unreachable.")
        .cell()
    )
    case = await extractor.extract_case(cell, agent)
    assert case.quality_score < 0.2
    assert case.key_insight is None


async def test_corrections_by_the_user_lower_the_score(run, extractor, agent):
    first = run.user(ASK).step("c1", "edit", {"port": 1}, "ok").agent("Moved to port 1.")
    cell = (
        first.user("No, that's wrong, use a port above 9000.")
        .step("c2", "edit", {"port": 9443}, "ok")
        .step("c3", "deploy", {}, "ok")
        .agent("The service listens on another port.")
        .cell()
    )
    case = await extractor.extract_case(cell, agent)
    assert case.quality_score < 0.6
    assert case.key_insight == "User corrected: No, that's wrong, use a port above 9000."


async def test_without_named_cause_the_steps_show_the_turning_point(run, extractor, agent):
    cell = (
        run.user(ASK)
        .step("c1", "deploy", {"to": "staging"}, "error: smoke test refused on 8443")
        .step("c2", "edit", {"path": "smoke.yaml"}, "ok: 1 replacement")
        .step("c3", "deploy", {"to": "staging"}, "ok: green")
        .agent("The deploy went through.")
        .cell()
    )
    assert (await extractor.extract_case(cell, agent)).key_insight == (
        'deploy(to="staging") failed (error: smoke test refused on 8443); '
        'after edit(path="smoke.yaml") it went well: ok: green'
    )


async def test_each_of_two_agents_has_its_own_run(run, extractor, agent):
    other = Owner(Scope(), Track.AGENT, "otherbot")
    cell = good_run(
        run.user("Check the disk.")
        .calls(("x1", "df", {}), sender_id="otherbot")
        .result("x1", "88% used")
        .agent("The disk is fine.", sender_id="otherbot")
    ).cell()
    mine = await extractor.extract_case(cell, agent)
    assert isinstance(mine, CaseDraft)
    assert "df(" not in mine.approach
    assert isinstance(await extractor.extract_case(cell, other), CaseSkipped)


@pytest.mark.parametrize(
    ("result", "failed"),
    [
        ("0 failed, 41 passed", False),
        ("2 failed, 39 passed", True),
        ("Traceback (most recent call last):\n  File x\nValueError: bad port", True),
        ('{"status": "ok", "error": null}', False),
        ('{"status": "error"}', True),
        ('{"exit_code": 1, "stdout": ""}', True),
        ("exit code: 0", False),
        ("exited with code 2", True),
        ("no errors found", False),
        ("错误：端口被占用", True),
        ("", False),
        (None, False),
    ],
)
def test_failure_is_read_from_the_result(result: str | None, failed: bool) -> None:
    assert outcome_of(result).failed is failed


def test_reading_about_an_error_is_no_failure() -> None:
    log = "starting\nlistening failed: port in use\nretrying\nstopped"
    assert outcome_of(log).failed
    assert not outcome_of(log, reads=True).failed
    assert outcome_of("error: file not found", reads=True).failed


async def test_a_run_of_hostile_size_is_quick(run, extractor, agent):
    cell = run.user(ASK)
    for number in range(200):
        arguments = json.dumps({"number": number, "command": "x" * 10_000})
        cell = cell.step(f"c{number}", "shell", arguments, "y_" * 10_000 + f"\n{number}")
    case = await extractor.extract_case(cell.agent(DONE).cell(), agent)
    assert "[… 160 steps]" in case.approach
