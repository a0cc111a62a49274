"""Where sessions are cut: silence, size, tool runs, the final call."""

from __future__ import annotations

import pytest

from remanence_server.domain.messages import Message, Role, ToolCall
from remanence_server.ingest.boundary import (
    BoundaryLimits,
    HeuristicBoundaryDetector,
    estimate_tokens,
)

T0 = 1_767_225_600_000
MINUTE = 60_000
HOUR = 60 * MINUTE


def user(index: int, text: str = "I like plums", *, at: int | None = None) -> Message:
    return Message(f"m{index}", "ada", Role.USER, T0 + (index * MINUTE if at is None else at), text)


def helper(index: int, text: str = "Noted.", *, at: int | None = None) -> Message:
    moment = T0 + (index * MINUTE if at is None else at)
    return Message(f"m{index}", "helper", Role.ASSISTANT, moment, text)


def call(index: int, *call_ids: str) -> Message:
    calls = tuple(ToolCall(call_id, "shell", '{"cmd":"ls"}') for call_id in call_ids)
    return Message(f"m{index}", "helper", Role.ASSISTANT, T0 + index * MINUTE, "", tool_calls=calls)


def result(index: int, call_id: str, text: str = "ok") -> Message:
    moment = T0 + index * MINUTE
    return Message(f"m{index}", "shell", Role.TOOL, moment, text, tool_call_id=call_id)


def detector(**limits: int) -> HeuristicBoundaryDetector:
    return HeuristicBoundaryDetector(BoundaryLimits(**limits))


async def test_no_messages_give_no_cuts_even_when_final() -> None:
    assert await detector().detect([], final=True) == ()


async def test_a_short_conversation_stays_open_until_the_final_call() -> None:
    messages = [user(0), helper(1), user(2)]
    assert await detector().detect(messages, final=False) == ()
    assert await detector().detect(messages, final=True) == (3,)


async def test_a_long_silence_closes_what_came_before_it() -> None:
    messages = [user(0), helper(1), user(2, at=8 * HOUR), user(3, at=8 * HOUR + 1)]
    assert await detector().detect(messages, final=False) == (2,)
    assert await detector().detect(messages, final=True) == (2, 4)


async def test_a_silence_just_under_the_gap_does_not_cut() -> None:
    limit = 6 * HOUR
    messages = [user(0, at=0), user(1, at=limit - 1)]
    assert await detector().detect(messages, final=False) == ()
    messages = [user(0, at=0), user(1, at=limit)]
    assert await detector().detect(messages, final=False) == (1,)


async def test_timestamps_that_run_backwards_are_no_silence() -> None:
    messages = [user(0, at=9 * HOUR), user(1, at=0), user(2, at=9 * HOUR + 1)]
    assert await detector().detect(messages, final=False) == ()


async def test_without_a_user_row_messages_only_accumulate() -> None:
    messages = [helper(0), helper(1, at=9 * HOUR), helper(2, at=20 * HOUR)]
    assert await detector().detect(messages, final=False) == ()
    assert await detector().detect(messages, final=True) == (3,)


async def test_without_a_user_row_the_size_limit_still_holds() -> None:
    messages = [helper(index) for index in range(25)]
    cuts = await detector(maximum_messages=10).detect(messages, final=False)
    assert cuts
    assert all(end - start <= 10 for start, end in zip((0, *cuts), cuts, strict=False))


async def test_an_assistant_note_before_the_users_answer_hours_later_joins_its_cell() -> None:
    messages = [helper(0, at=0), user(1, at=8 * HOUR), helper(2, at=8 * HOUR + 1)]
    assert await detector().detect(messages, final=True) == (3,)


async def test_a_late_tail_without_user_belongs_to_the_cell_before_it() -> None:
    messages = [user(0), helper(1), helper(2, at=9 * HOUR)]
    assert await detector().detect(messages, final=True) == (3,)


async def test_an_oversize_segment_is_cut_at_its_longest_pause_in_the_second_half() -> None:
    offsets = [index * MINUTE + (45 * MINUTE if index >= 7 else 0) for index in range(12)]
    messages = [user(index, at=offset) for index, offset in enumerate(offsets)]
    assert await detector(maximum_messages=10).detect(messages, final=False) == (7,)


async def test_without_a_pause_the_cut_is_before_a_user_turn() -> None:
    roles = [user, helper, helper, helper, helper, helper, user, helper, helper, helper, helper]
    messages = [make(index) for index, make in enumerate(roles)]
    assert await detector(maximum_messages=10).detect(messages, final=False) == (6,)


async def test_tokens_are_a_limit_too() -> None:
    messages = [user(index, "word " * 400) for index in range(10)]
    cuts = await detector(maximum_tokens=1_300).detect(messages, final=True)
    assert cuts[-1] == 10
    assert max(end - start for start, end in zip((0, *cuts), cuts, strict=False)) == 2


async def test_one_huge_message_is_its_own_cell() -> None:
    messages = [user(0), helper(1), user(2, "lorem ipsum dolor " * 20_000), user(3)]
    assert await detector().detect(messages, final=False) == (2, 3)
    assert await detector().detect(messages, final=True) == (2, 3, 4)


async def test_a_call_is_never_parted_from_its_results() -> None:
    messages = [user(0)]
    for turn in range(1, 40, 3):
        messages += [call(turn, f"a{turn}", f"b{turn}"), result(turn + 1, f"b{turn}")]
        messages += [result(turn + 2, f"a{turn}")]
    cuts = await detector(maximum_messages=3, idle_gap_ms=2).detect(messages, final=True)
    assert cuts[-1] == len(messages)
    assert len(cuts) > 1
    assert all(messages[cut].role is not Role.TOOL for cut in cuts[:-1])


async def test_a_result_that_comes_after_another_turn_still_belongs_to_its_call() -> None:
    messages = [user(0), call(1, "slow"), call(2, "fast"), result(3, "fast"), helper(4)]
    messages += [user(5), result(6, "slow"), *[user(index) for index in range(7, 20)]]
    cuts = await detector(maximum_messages=4).detect(messages, final=False)
    assert not set(range(2, 7)) & set(cuts)


async def test_a_tool_run_may_be_longer_than_a_chat() -> None:
    messages = [user(0)]
    for turn in range(1, 81, 2):
        messages += [call(turn, f"c{turn}"), result(turn + 1, f"c{turn}", "line\n" * 4_000)]
    messages += [helper(81, "Done: all tests pass.")]
    assert await detector().detect(messages, final=True) == (82,)


async def test_leading_tool_rows_are_part_of_the_first_cell() -> None:
    messages = [result(0, "lost"), result(1, "lost"), user(2), helper(3)]
    assert await detector().detect(messages, final=True) == (4,)
    assert await detector().detect(messages, final=False) == ()


async def test_orphan_tool_rows_are_bounded() -> None:
    messages = [user(0), *[result(index, "lost") for index in range(1, 400)]]
    cuts = await detector(maximum_messages=10).detect(messages, final=False)
    assert cuts
    assert all(end - start <= 40 for start, end in zip((0, *cuts), cuts, strict=False))


async def test_a_second_call_with_the_tail_gives_what_one_call_gave() -> None:
    messages = [user(index) for index in range(120)]
    whole = await detector().detect(messages, final=True)
    first = await detector().detect(messages, final=False)
    tail = await detector().detect(messages[first[-1] :], final=True)
    assert whole == (*first, *(first[-1] + cut for cut in tail))


@pytest.mark.parametrize("limit", ["maximum_messages", "maximum_tokens", "idle_gap_ms"])
def test_a_limit_of_zero_is_refused(limit: str) -> None:
    with pytest.raises(ValueError, match="positive"):
        BoundaryLimits(**{limit: 0})


def test_a_token_is_four_letters_or_one_ideograph() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens("abcde") == 2
    assert estimate_tokens("我喜欢爬山") == 5
    assert estimate_tokens("我 love") == 3
