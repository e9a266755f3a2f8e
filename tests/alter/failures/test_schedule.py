"""What `--failures` takes, and which replies fail by it."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.alter.failures.failures import Failures
from wildtool.alter.failures.kinds import FAILURE_KINDS, RECOVERABLE
from wildtool.alter.failures.schedule import FailureSchedule
from wildtool.errors import RecordError, UsageError

RATES = st.floats(0.01, 1).map(lambda rate: f"flaky:{rate:.2f}")
FIRST = st.one_of(st.sampled_from(["first-call", "twice-then-well"]), RATES)
KINDS = st.lists(st.sampled_from(list(FAILURE_KINDS)), unique=True)
SCHEDULES = st.one_of(
    st.just("down"), st.builds(lambda first, kinds: ",".join([first, *kinds]), FIRST, KINDS)
)


@given(SCHEDULES)
def test_a_schedule_is_written_as_it_is_read(text: str):
    schedule = FailureSchedule.parse(text)
    assert FailureSchedule.parse(str(schedule)) == schedule


@given(SCHEDULES, st.integers(0, 99))
def test_a_run_names_its_schedule_and_seed(text: str, seed: int):
    failures = Failures(FailureSchedule.parse(text), seed)
    assert Failures.recorded(failures.identity()) == failures
    assert not set("".join(failures.folder_parts)) & set(':,/\\ *?"')


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("flakey:0.2", "did you mean 'flaky'?"),
        ("", "known: first-call, twice-then-well, flaky, down"),
        ("timeout", "begins with a schedule, not with a kind; write first-call,timeout"),
        ("first-call,timout", "did you mean 'timeout'?"),
        ("first-call,", "unknown kind of failure ''"),
        ("first-call,empty,empty", "names empty twice"),
        ("first-call:0.2", "first-call takes no rate"),
        ("down:1", "down takes no rate"),
        ("down,timeout", "down takes no kinds"),
        ("flaky", "has no rate; write flaky:0.2"),
        ("flaky:0", "a rate above 0 up to 1, found '0'"),
        ("flaky:1.5", "found '1.5'"),
        ("flaky:nan", "found 'nan'"),
        ("flaky:often", "found 'often'"),
    ],
)
def test_what_no_schedule_is_gets_a_reason(text: str, reason: str):
    with pytest.raises(UsageError) as error:
        FailureSchedule.parse(text)
    assert reason in str(error.value)


@pytest.mark.parametrize(
    "identity",
    [{"failures": 3}, {"failures": {"schedule": "often", "seed": 0}}, {"failures": {"schedule": None}}],
)
def test_a_damaged_identity_is_named(identity: dict[str, object]):
    with pytest.raises(RecordError, match=r"run\.json: identity\.failures is damaged"):
        Failures.recorded(identity)


@given(SCHEDULES, st.text(max_size=8), st.integers(0, 99))
def test_the_same_place_has_the_same_failures_in_any_order(text: str, place: str, seed: int):
    schedule = FailureSchedule.parse(text)
    numbers = list(range(6))
    in_order = {number: schedule.kind(place, number, 0) for number in numbers}
    Random(seed).shuffle(numbers)
    assert {number: schedule.kind(place, number, 0) for number in numbers} == in_order
    assert set(in_order.values()) <= {None, *schedule.kinds}


def test_without_kinds_only_failures_are_drawn_that_can_be_recovered_from():
    drawn = {FailureSchedule.parse("first-call").kind(f"place {number}", 0, 0) for number in range(200)}
    assert drawn == set(RECOVERABLE) == set(FAILURE_KINDS) - {"permission"}
