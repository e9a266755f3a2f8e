"""Each part of the line about a run: when it is said, in which words, and what a narrow terminal drops."""

from typing import Any

import pytest

from wildtool.cli.output.progress import ProgressObserver, RunProgress
from wildtool.types import Reply, Verdict

WHOLE: dict[str, Any] = {
    "total": 40,
    "done": 10,
    "units": 8,
    "correct": 6,
    "calls": 90,
    "replayed": 1_000,
    "tokens": 12_300,
    "failed": 2,
    "retries": 1,
    "started_at": 70.0,
    "done_before": 4,
}


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        (
            {},
            "10/40 tasks · 75.0 % correct of 8 · 3.0 calls/s · 1.0k replayed · 12.3k tokens · 2 errors · 1 retry"
            " · 2:30 left",
        ),
        (
            {"noun": "turns", "right": "sound", "units": 10, "replayed": 0, "retries": 0},
            "10/40 turns · 60.0 % sound · 3.0 calls/s · 12.3k tokens · 2 errors · 2:30 left",
        ),
        (
            {"stopped": "the deadline", "problem": "no answer", "replayed": 0, "units": 0},
            "10/40 tasks, stopped at the deadline · 3.0 calls/s · 12.3k tokens · 2 errors · 1 retry",
        ),
        (
            {"batch": "batch 1", "replayed": 999, "tokens": 10**6, "units": 0},
            "10/40 tasks · batch 1 · 999 replayed · 1.0M tokens · 2 errors · 1 retry",
        ),
        (
            {"started_at": 100.0, "tokens": 10**9, "failed": 1, "replayed": 0, "units": 0, "retries": 2},
            "10/40 tasks · 1.0G tokens · 1 error · 2 retries",
        ),
        (
            {"done": 40, "units": 0, "replayed": 0, "tokens": 0, "failed": 0, "retries": 0},
            "40/40 tasks · 3.0 calls/s · 0 tokens · 0 errors",
        ),
        (
            {"done_before": 10, "units": 0, "replayed": 0, "retries": 0, "rate_limited_at": 40.5},
            "10/40 tasks · 3.0 calls/s (rate limited) · 12.3k tokens · 2 errors",
        ),
        (
            {"done_before": 10, "units": 0, "replayed": 0, "retries": 0, "rate_limited_at": 40.0},
            "10/40 tasks · 3.0 calls/s · 12.3k tokens · 2 errors",
        ),
        (
            {"started_at": None, "units": 0, "replayed": 0, "retries": 0, "problem": "refused"},
            "10/40 tasks · 12.3k tokens · 2 errors · refused",
        ),
        (
            {"total": 10_000, "done_before": 9, "units": 0, "replayed": 0, "retries": 0, "failed": 0},
            "10/10000 tasks · 3.0 calls/s · 12.3k tokens · 0 errors · 83:15:00 left",
        ),
    ],
)
def test_the_line_has_a_part_for_all_that_happened(changes: dict[str, Any], line: str) -> None:
    assert RunProgress(**{**WHOLE, **changes}).line(100.0) == line


def quiet_line(**changes: Any) -> str:
    fields: dict[str, Any] = {"total": 4, "in_flight": 1, "quiet_since": 70.0, "calls": 1, **changes}
    return RunProgress(**fields).line(100.0).removeprefix("0/4 tasks · ").removeprefix("0 tokens · 0 errors")


def test_a_silence_is_told_after_a_while_and_sooner_before_the_first_reply() -> None:
    assert quiet_line() == " · no reply yet for 30 s"
    assert quiet_line(quiet_since=70.5) == ""
    assert quiet_line(calls=0, quiet_since=95.0) == " · no reply yet for 5 s"
    assert quiet_line(calls=0, quiet_since=95.5) == ""
    assert quiet_line(in_flight=0) == ""
    assert quiet_line(batch="b") == "b · 0 tokens · 0 errors"
    assert quiet_line(problem="refused") == " · no reply yet for 30 s · refused"


def test_a_rejected_attempt_is_told_with_the_time_of_the_next() -> None:
    assert (
        quiet_line(in_flight=0, next_try=101.5, problem="slow") == " · rate limited, next try in 2 s (slow)"
    )
    assert quiet_line(in_flight=0, next_try=100.0, problem="slow") == " · rate limited (slow)"


def test_a_narrow_terminal_drops_parts_one_by_one() -> None:
    tally = RunProgress(**WHOLE)
    whole = tally.line(100.0)
    parts = {
        len(whole)
        - 1: "10/40 tasks · 75.0 % correct of 8 · 3.0 calls/s · 1.0k replayed · 2 errors · 1 retry · 2:30 left",
        90: "10/40 tasks · 75.0 % correct of 8 · 3.0 calls/s · 2 errors · 1 retry · 2:30 left",
        75: "10/40 tasks · 75.0 % correct of 8 · 2 errors · 1 retry · 2:30 left",
        60: "10/40 tasks · 75.0 % correct of 8 · 2 errors · 2:30 left",
        50: "10/40 tasks · 2 errors · 2:30 left",
        20: "10/40 tasks · 2 err…",
        0: "…",
    }
    assert tally.line(100.0, len(whole)) == whole
    assert {width: tally.line(100.0, width) for width in parts} == parts


def test_a_problem_gets_the_larger_part_of_a_narrow_line() -> None:
    tally = RunProgress(total=40, done=10, units=8, correct=6, calls=90, tokens=12_300, problem="x" * 40)
    assert tally.line(100.0, 60) == f"10/40 tasks · 0 errors · {'x' * 34}…"
    assert tally.line(100.0, 100) == f"10/40 tasks · 75.0 % correct of 8 · 0 errors · {'x' * 40}"


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_events_are_counted() -> None:
    clock = Clock()
    observer = ProgressObserver("m" * 80, clock, look=lambda reply: ["one", "two\nthree"])
    observer.started(3)
    observer.attempt_started()
    clock.now = 101.0
    observer.attempt_started()
    assert (observer.progress.in_flight, observer.progress.quiet_since) == (2, 100.0)
    observer.attempt_ended(None, answered=False)
    assert (observer.progress.in_flight, observer.progress.quiet_since) == (1, 100.0)
    observer.attempt_ended(None, answered=True)
    assert (observer.progress.in_flight, observer.progress.quiet_since) == (0, 101.0)
    observer.call_retried("http 500", 5.0)
    assert (observer.progress.retries, observer.progress.next_try) == (1, None)
    observer.call_retried("http 429", 5.0)
    assert (observer.progress.next_try, observer.progress.rate_limited_at) == (106.0, 101.0)
    observer.call_failed("x")
    observer.call_done(
        Reply({}, raw="body", usage={"prompt_tokens": 3, "completion_tokens": 4}), replayed=False
    )
    observer.call_done(Reply({}, usage={"prompt_tokens": 3}), replayed=False)
    tally = observer.progress
    assert (tally.failed, tally.calls, tally.tokens, tally.replayed) == (1, 2, 10, 0)
    label = f"{'m' * 19}…{'m' * 40}"
    assert observer.messages == [f"{label}: one", f"{label}: two three"]
    outcomes = ("correct", "wrong", "infra_error", "unplayed")
    observer.item_done("i", 0, [Verdict("i", "0", outcome, 0.0, None, "", 1) for outcome in outcomes])
    assert (tally.done, tally.units, tally.correct) == (3, 2, 1)


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("--deadline 5 m is over", "the deadline"),
        ("--max-cost 1 USD", "the cost limit"),
        ("--max-tokens-total 5", "the token limit"),
        ("no quota left", "the end of the quota"),
        ("something else", "a limit of the endpoint"),
    ],
)
def test_the_limit_that_ended_a_run_is_named(reason: str, words: str) -> None:
    observer = ProgressObserver("m")
    observer.limit_reached(reason)
    assert observer.progress.stopped == words


def test_a_label_gets_a_third_of_the_line() -> None:
    observer = ProgressObserver("model-with-a-long-name")
    observer.started(4)
    assert observer.text(60) == "model-…h-a-long-name: 0/4 tasks · 0 tokens · 0 errors"
    assert observer.text(12) == "m…me: 0/4 t…"
    assert observer.text(None) == "model-with-a-long-name: 0/4 tasks · 0 tokens · 0 errors"
