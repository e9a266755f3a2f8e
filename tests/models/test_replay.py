"""A replay answers by address from what was said before, and fails for good where nothing was."""

import pytest

from wildtool.episode import EMPTY_REPLY
from wildtool.errors import CallError
from wildtool.models.replay import ReplayModel
from wildtool.types import Address, Reply, Request, Transcript

HELLO, BYE = Reply({"content": "hello"}, raw="{}", latency_s=2.0), Reply({"content": "bye"})


async def answer(transcript: Transcript, step: int, *, repeat: int = 0, unit: str = "task 1") -> Reply:
    """What a replay of this transcript of item s, repeat 0, task 1 says at an address of item s."""
    said = {("s", 0): {"task 1": transcript}}
    model = ReplayModel("replay:x", lambda item, number: said.get((item, number)))
    return await model.complete(Request([], address=Address("s", repeat, unit, step)))


async def test_it_answers_by_the_requests_address():
    assert await answer(Transcript((HELLO, BYE)), 1) is BYE


async def test_past_the_end_of_a_script_it_says_nothing():
    assert await answer(Transcript((HELLO,), scripted=True), 1) == Reply(EMPTY_REPLY)


async def test_past_the_end_of_a_record_the_call_fails_for_good():
    with pytest.raises(
        CallError, match="item 's', repeat 0, unit 'task 1', step 1: its record stops"
    ) as caught:
        await answer(Transcript((HELLO,)), 1)
    assert (caught.value.kind, caught.value.final) == ("not recorded", True)


async def test_a_call_that_failed_then_says_why_it_did():
    with pytest.raises(CallError, match="HTTP 500"):
        await answer(Transcript((HELLO,), infra_error="HTTP 500"), 1)


@pytest.mark.parametrize("place", [{"repeat": 1}, {"unit": "task 2"}])
async def test_where_nothing_was_recorded_the_call_fails(place: dict[str, object]):
    with pytest.raises(CallError, match="replay:x holds no reply"):
        await answer(Transcript((HELLO,)), 0, **place)  # pyright: ignore[reportArgumentType]
