"""The progress of a run as somebody watching reads it."""

import io
import re
import threading
from itertools import pairwise

import pytest

from wildtool.engine.run.progress import ProgressObserver, RunProgress
from wildtool.errors import CallError, LimitError, LimitOf
from wildtool.terminal.progress import ProgressDisplay, StepLog
from wildtool.types import Reply, Verdict


class Clock:
    """A clock that is set by hand."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def verdict(outcome: str) -> Verdict:
    return Verdict("i", "0", outcome, 0.0, None, "", 1)  # type: ignore[arg-type]


def test_the_line_says_how_far_how_well_how_fast_and_how_long_still():
    tally = RunProgress(
        total=40, done=10, units=40, correct=30, calls=90, tokens=12_300, failed=1, retries=2, started_at=70.0
    )
    assert tally.line(100.0) == (
        "10/40 tasks · 75.0 % correct · 3.0 calls/s · 12.3k tokens · 1 error · 2 retries · 1:30 left"
    )


def test_a_narrow_line_drops_what_matters_least_and_never_the_time_left():
    tally = RunProgress(
        total=40, done=10, units=40, correct=30, calls=90, tokens=12_300, failed=1, retries=2, started_at=70.0
    )
    assert tally.line(100.0, 80) == (
        "10/40 tasks · 75.0 % correct · 3.0 calls/s · 1 error · 2 retries · 1:30 left"
    )
    assert tally.line(100.0, 35) == "10/40 tasks · 1 error · 1:30 left"


def test_on_80_columns_a_long_name_leaves_room_for_the_time_left(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "80")
    stream, clock = Terminal(), Clock()
    progress = ProgressObserver("organisation/a-model-with-a-very-long-name-indeed-32b", clock)
    with ProgressDisplay([progress], stream):
        progress.progress = RunProgress(
            total=400, done=100, units=400, correct=300, calls=900, tokens=12_300, retries=2, started_at=70.0
        )
    line = stream.getvalue().splitlines()[-1].rpartition("\x1b[K")[2]
    assert line.endswith("1:30 left")
    assert len(line) < 80


def test_time_left_counts_only_what_was_played_now():
    tally = RunProgress(total=40, done=30, done_before=20, replayed=80, started_at=90.0)
    assert tally.line(100.0).endswith("0:10 left")


def test_from_the_first_reply_on_the_line_says_what_time_is_left_at_least():
    assert "left" not in RunProgress(total=40, started_at=99.0).line(100.0)
    assert RunProgress(total=40, calls=4, started_at=98.0).line(100.0).endswith("at least 0:18 left")
    assert RunProgress(total=40, calls=4, done=4, started_at=98.0).line(100.0).endswith(" 0:18 left")


def test_of_long_units_nothing_is_promised_that_their_first_calls_do_not_tell():
    assert "left" not in RunProgress(total=4, calls=30, started_at=90.0).line(100.0)


def test_units_that_could_not_be_played_do_not_count_as_answers():
    progress = ProgressObserver("m")
    progress.item_done("i", 0, [verdict("correct"), verdict("infra_error"), verdict("unplayed")])
    assert (progress.progress.units, progress.progress.correct) == (1, 1)


def test_units_count_as_they_end_and_once():
    progress = ProgressObserver("m")
    progress.started(4)
    progress.unit_ended("i", 0)
    progress.unit_ended("i", 0)
    assert "2/4 tasks" in progress.text(None)
    progress.item_done("i", 0, [verdict("correct"), verdict("infra_error"), verdict("wrong")])
    assert "3/4 tasks" in progress.text(None)


def test_the_line_says_until_when_an_endpoint_answered_and_how_long_calls_wait_for_it():
    clock = Clock()
    progress = ProgressObserver("m", clock)
    progress.started(128)
    progress.attempt_started()
    progress.attempt_ended(CallError("network", "no answer: Connection refused"), answered=False)
    progress.endpoint_down("answered until 12:01:07", 60.0)
    clock.now += 10
    said = "answered until 12:01:07, waiting up to 60 s, 50 s left (no answer: Connection refused)"
    assert said in progress.text(None)
    progress.attempt_started()
    progress.attempt_ended(None, answered=True)
    assert "answered until" not in progress.text(None)
    progress.limit_reached(LimitError("nothing for 60 s", LimitOf.DOWN))
    assert "0/128 tasks, stopped at an endpoint that is down" in progress.text(None)


def test_calls_are_told_from_replays_and_tokens_are_added():
    clock = Clock()
    progress = ProgressObserver("m", clock)
    usage = {"prompt_tokens": 10, "completion_tokens": "many"}
    progress.call_done(Reply({}), replayed=True)
    progress.call_done(Reply({}, usage=usage, latency_s=4.0), replayed=False)
    tally = progress.progress
    assert (tally.calls, tally.replayed, tally.tokens, tally.started_at) == (1, 1, 10, 96.0)


def test_elsewhere_than_on_a_terminal_the_end_is_one_plain_line():
    stream = io.StringIO()
    progress = ProgressObserver("m\x1b[31m", noun="probes", right="sound")
    with ProgressDisplay([progress], stream):
        progress.started(2)
        progress.item_done("i", 1, [verdict("correct")])
    stamp, _, line = stream.getvalue().partition(" ")
    assert re.fullmatch(r"\d\d:\d\d:\d\d", stamp)
    assert line == "m\\x1b[31m: 1/2 probes · 100.0 % sound · 0 tokens · 0 errors\n"


def test_on_a_terminal_that_moves_no_cursor_the_end_is_a_plain_line_too(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TERM", "dumb")
    stream, progress = Terminal(), ProgressObserver("m")
    with ProgressDisplay([progress], stream):
        progress.started(2)
    assert stream.getvalue().endswith(" m: 0/2 tasks · 0 tokens · 0 errors\n")


def test_on_a_terminal_the_line_is_drawn_over_itself():
    stream = Terminal()
    runs = [ProgressObserver("m"), ProgressObserver("n"), ProgressObserver("never begun")]
    board = ProgressDisplay(runs, stream)
    with board:
        for run in runs[:2]:
            run.started(2)
    with ProgressDisplay([], stream):
        pass
    lines = "".join(f"\r\x1b[K{name}: 0/2 tasks · 0 tokens · 0 errors\n" for name in "mn")
    assert stream.getvalue().endswith(lines)
    before = stream.getvalue()
    board.__exit__(None, None, None)
    assert stream.getvalue() == before + "\x1b[2A" + lines


def test_a_run_that_never_began_has_no_progress():
    stream = io.StringIO()
    with ProgressDisplay([ProgressObserver("m")], stream):
        pass
    assert stream.getvalue() == ""


def test_a_terminal_that_is_gone_does_not_end_the_run():
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    progress = ProgressObserver("m")
    with ProgressDisplay([progress], Gone()):
        progress.started(1)
    assert progress.progress.total == 1


def test_a_log_says_once_that_a_batch_is_pending_until_something_changes():
    clock = Clock()
    progress = ProgressObserver("m", clock)
    progress.progress = RunProgress(total=4)
    progress.batch_status_changed("round 1: batch in_progress, 0/16 done")
    assert progress.text(None) == "m: 0/4 tasks · round 1: batch in_progress, 0/16 done · 0 tokens · 0 errors"
    drawn = [progress.should_log()]
    for seconds in (10, 10, 600):
        clock.now += seconds
        drawn.append(progress.should_log())
    progress.batch_status_changed("round 1: batch in_progress, 3/16 done")
    drawn.append(progress.should_log())
    assert drawn == [True, False, False, True, True]


def test_a_log_has_a_line_for_a_change_and_is_never_silent_for_long():
    clock = Clock()
    progress = ProgressObserver("m", clock)
    progress.started(4)
    logged: list[int] = []
    for second in range(60):
        if second == 21:
            progress.call_done(Reply({}, latency_s=1.0), replayed=False)
        if progress.should_log():
            logged.append(second)
        clock.now += 1
    assert logged[0] == 0
    assert 24 in logged, "ten seconds after the line before"
    assert max(later - sooner for sooner, later in pairwise(logged)) <= 15


def test_what_takes_long_is_said_in_a_log_until_it_is_over(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("wildtool.terminal.progress._SILENT_S", 0.001)
    said = threading.Event()

    class Log(io.StringIO):
        def write(self, text: str) -> int:
            said.set()
            return super().write(text)

    stream = Log()
    log = StepLog(stream)
    log("reading run 1 of 2\x1b[2J")
    assert said.wait(20)
    log("")
    assert re.match(r"\d\d:\d\d:\d\d reading run 1 of 2\\x1b\[2J\n", stream.getvalue())


REFUSED = CallError("network", "http://127.0.0.1:9/v1/chat/completions: no answer: Connection refused")
TOO_MUCH = CallError("http 429", "http://127.0.0.1:9/v1/chat/completions: HTTP 429: slow down")


def watching(clock: Clock) -> ProgressObserver:
    progress = ProgressObserver("m", clock)
    progress.started(128)
    progress.attempt_started()
    return progress


def test_the_line_counts_units_of_items_that_are_over():
    progress = watching(Clock())
    progress.item_done("i", 0, [verdict("correct"), verdict("wrong"), verdict("infra_error")])
    assert progress.text(None).startswith("m: 3/128 tasks")


def test_the_line_says_what_the_last_try_failed_by_until_one_is_answered():
    progress = watching(Clock())
    progress.attempt_ended(REFUSED, answered=False)
    assert progress.text(None).endswith(" · no answer: Connection refused")
    progress.attempt_started()
    assert "Connection refused" in progress.text(None)
    progress.attempt_ended(None, answered=True)
    assert "Connection refused" not in progress.text(None)


def test_a_try_that_is_cut_off_leaves_the_problem_where_it_is():
    progress = watching(Clock())
    progress.attempt_ended(REFUSED, answered=False)
    progress.attempt_started()
    progress.attempt_ended(None, answered=False)
    assert "Connection refused" in progress.text(None)


def test_the_line_says_when_an_endpoint_that_turned_a_call_away_is_asked_again():
    clock = Clock()
    progress = watching(clock)
    progress.attempt_ended(TOO_MUCH, answered=False)
    progress.call_retried("http 429", 40.0)
    assert progress.text(None).endswith(" · rate limited, next try in 40 s (HTTP 429: slow down)")
    clock.now += 25
    assert "next try in 15 s" in progress.text(None)
    clock.now += 15
    assert progress.text(None).endswith(" · rate limited (HTTP 429: slow down)")
    progress.attempt_started()
    progress.attempt_ended(None, answered=True)
    assert "rate limited" not in progress.text(None)


@pytest.mark.parametrize(
    ("calls", "seconds", "said"),
    [(0, 4.9, ""), (0, 10, "no reply yet for 10 s"), (0, 300, "no reply yet for 5 min"), (7, 29, "")],
)
def test_the_line_says_for_how_long_no_reply_came(calls: int, seconds: float, said: str):
    clock = Clock()
    progress = watching(clock)
    progress.progress.calls = calls
    clock.now += seconds
    assert progress.text(None).partition("no reply")[2] == said.partition("no reply")[2]


def test_where_nothing_is_under_way_no_reply_is_missed():
    clock = Clock()
    progress = ProgressObserver("m", clock)
    progress.started(2)
    clock.now += 1000
    assert "no reply" not in progress.text(None)


def test_the_line_says_for_a_minute_that_the_rate_of_calls_is_limited():
    clock = Clock()
    progress = watching(clock)
    progress.progress.calls, progress.progress.started_at = 8, clock.now - 10
    progress.call_retried("http 500", 1.0)
    assert "limited" not in progress.text(None)
    progress.call_retried("http 429", 1.0)
    progress.attempt_ended(None, answered=True)
    clock.now += 30
    assert "0.2 calls/s (rate limited)" in progress.text(None)
    clock.now += 31
    assert "limited" not in progress.text(None)


@pytest.mark.parametrize("columns", [20, 40, 79, 100, 300])
def test_what_is_wrong_is_on_the_line_however_narrow_it_is(columns: int):
    progress = watching(Clock())
    progress.progress.retries = 12
    progress.attempt_ended(
        CallError("network", "http://h/v1: no answer (start it, " + "x" * 500), answered=False
    )
    line = progress.text(columns)
    assert len(line) <= columns
    assert line.endswith("…")
    assert columns < 40 or "no answer" in line


def test_hostile_words_of_an_endpoint_reach_the_line_as_text():
    progress = watching(Clock())
    progress.attempt_ended(CallError("http 500", "http://h/v1: HTTP 500: \x1b[2J\nbye"), answered=False)
    assert "\x1b" not in progress.text(None)
    assert "\n" not in progress.text(None)
