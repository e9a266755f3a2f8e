"""Counts what happens in a run, and puts it into one line."""

import math
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wildtool.advice import in_folder
from wildtool.engine.observer import Observer
from wildtool.engine.score.formatting import counted, format_duration
from wildtool.errors import RATE_LIMITED_KINDS, CallError, LimitError, LimitOf
from wildtool.models.token_usage import token_usage
from wildtool.sanitize import ellipsize, single_line
from wildtool.types import Reply, Verdict

CHANGED_EVERY_S = 10.0
"""Between two plain lines at least."""
SILENT_S = 14.0
"""Between two plain lines at most, also where nothing has changed."""
IDLE_EVERY_S = 600.0
"""The same while only a batch is pending."""
FIRST_REPLY_QUIET_S = 5.0
"""Seconds without any first reply after which the line says so."""
QUIET_S = 30.0
"""The same after the first reply."""
RATE_LIMITED_S = 60.0
"""For how long after a rejected attempt the line says that the rate of calls is limited."""
MAX_PROBLEM_CHARACTERS = 200
LONGEST_LABEL = 60
SEPARATOR = " · "
DROPPED_FIRST = ("tokens", "replayed", "pace", "retries", "correct")
"""Parts of the line that a narrow terminal drops, the least important first."""
_LIMITS = {
    "--deadline": "the deadline",
    "--max-cost": "the cost limit",
    "--max-tokens-total": "the token limit",
    "no quota left": "the end of the quota",
}
"""Limits as the line names them, by what the reason says."""
_ADDRESS = re.compile(r"https?://\S+: ")


@dataclass(slots=True)
class RunProgress:
    """What has happened so far in a run."""

    noun: str = "tasks"
    """What units are called."""
    right: str = "correct"
    """What units are called that break no rule."""
    total: int = 0
    """Units to run."""
    done: int = 0
    """Units that have all their replies, or failed."""
    units: int = 0
    """Units with a verdict that says something about the model."""
    correct: int = 0
    calls: int = 0
    """Replies received by this process."""
    replayed: int = 0
    tokens: int = 0
    failed: int = 0
    retries: int = 0
    started_at: float | None = None
    """When the first new reply arrived."""
    done_before: int = 0
    """Units done by then, most of them from the record."""
    stopped: str = ""
    """The limit that ended the run early."""
    batch: str = ""
    """The state of the pending batches."""
    in_flight: int = 0
    """Attempts in flight."""
    quiet_since: float = 0.0
    """When the last attempt ended, or the first of those in flight was sent."""
    problem: str = ""
    """The error of the last attempt; empty after a reply."""
    next_try: float | None = None
    """When the next attempt starts, if the endpoint rejected the last one."""
    answered: str = ""
    """Until when the endpoint answered, in words, while it is down."""
    waits_s: float = 0.0
    """How long calls wait for it in all."""
    waits_until: float = 0.0
    """When calls stop waiting for it."""
    rate_limited_at: float = -math.inf
    """When the endpoint last rejected an attempt for its rate limit or its load."""
    turned_away_as: str = "rate limited"
    """In words, why it did."""
    tallied: Counter[str] = field(default_factory=Counter[str])
    """What the run's alterations say of its units, by name."""

    @property
    def state(self) -> tuple[object, ...]:
        """A value that stays the same while nothing happens."""
        return (self.batch, self.done, self.calls, self.failed, self.retries, self.stopped)

    @property
    def is_going(self) -> bool:
        """Whether units are missing that this command still runs."""
        return self.done < self.total and not self.stopped

    def line(self, now: float, max_length: int | None = None) -> str:
        """All of it on one line; the least important parts are dropped until it fits."""
        parts, trouble = self._parts(now), self._warning(now)
        # A problem gets the largest part of a narrow line, the counts a third.
        room = max_length
        if room is not None and trouble:
            room = max(room - len(SEPARATOR + trouble), room // 3)
        for limit in DROPPED_FIRST:
            if room is None or len(SEPARATOR.join(parts.values())) <= room:
                break
            parts.pop(limit, None)
        line = SEPARATOR.join(filter(None, (*parts.values(), trouble)))
        return line if max_length is None or len(line) <= max_length else line[: max(max_length - 1, 0)] + "…"

    def _warning(self, now: float) -> str:
        """The current problem; empty if there is none."""
        if self.stopped:
            return ""
        problem = self.problem
        if self.next_try is not None:
            seconds = math.ceil(self.next_try - now)
            again = f", next try in {format_duration(seconds)}" if seconds > 0 else ""
            problem = f"{self.turned_away_as}{again} ({self.problem})"
        if self.answered:
            rest = format_duration(math.ceil(max(0.0, self.waits_until - now)))
            waiting = f"waiting up to {format_duration(self.waits_s)}, {rest} left"
            return f"{self.answered}, {waiting} ({self.problem})"
        quiet = now - self.quiet_since
        if self.in_flight and not self.batch and quiet >= (QUIET_S if self.calls else FIRST_REPLY_QUIET_S):
            problem = SEPARATOR.join(filter(None, (f"no reply yet for {format_duration(quiet)}", problem)))
        return problem

    def _parts(self, now: float) -> dict[str, str]:
        stopped = f", stopped at {self.stopped}" if self.stopped else ""
        parts = {"units": f"{self.done}/{self.total} {self.noun}{stopped}"}
        if self.batch:
            parts["batch"] = self.batch
        if self.units:
            of = f" of {self.units}" if self.units < self.done else ""
            parts["correct"] = f"{100 * self.correct / self.units:.1f} % {self.right}{of}"
        if self.tallied:
            parts["tallied"] = ", ".join(f"{name}: {count}" for name, count in self.tallied.items())
        # Replies of a batch arrive all together, so they show no pace.
        seconds = now - self.started_at if self.started_at is not None and not self.batch else 0.0
        if seconds > 0:
            limited = f" ({self.turned_away_as})" if now - self.rate_limited_at < RATE_LIMITED_S else ""
            parts["pace"] = f"{self.calls / seconds:.1f} calls/s{limited}"
        if self.replayed:
            parts["replayed"] = f"{_short(self.replayed)} replayed"
        parts["tokens"] = f"{_short(self.tokens)} tokens"
        parts["failed"] = counted(self.failed, "error")
        if self.retries:
            parts["retries"] = counted(self.retries, "retry", "retries")
        if seconds > 0 and self.is_going and not self.answered and (left := self._left(seconds)):
            parts["left"] = left
        return parts

    def _left(self, seconds: float) -> str:
        """The time left at the pace so far, in words; empty where nothing tells. Args: seconds: since the first call."""
        if self.done_before < self.done:
            pace = (self.done - self.done_before) / seconds
            return f"{_clock((self.total - self.done) / pace)} left"
        # Until a unit ends, nobody knows how many calls one takes: at least one, and each reply was of one unit.
        fewest = self.total - self.done - self.calls
        return f"at least {_clock(fewest * seconds / self.calls)} left" if self.calls and fewest > 0 else ""


class ProgressObserver(Observer):
    """Counts the events of a run, and puts them into words."""

    def __init__(
        self,
        label: str,
        clock: Callable[[], float] = time.monotonic,
        *,
        noun: str = "tasks",
        right: str = "correct",
        look: Callable[[Reply], Iterable[str]] = lambda reply: (),
        tally: Callable[[Verdict], Mapping[str, int]] = lambda verdict: {},
        folder: Path | None = None,
    ) -> None:
        """
        Args:
            folder: of the run, which remedies name; None for one that is no run to score.
            noun: what units are called.
            right: what those are called that break no rule.
            look: gives remarks on a new reply of an endpoint.
            tally: gives what the line says of a unit beside its verdict, by name; numbers are added up.
        """
        self.progress = RunProgress(noun=noun, right=right)
        self._label = label
        self._clock = clock
        self._look = look
        self._tally = tally
        self._folder = folder
        self.messages: list[str] = []
        """What is to be said above the line, once."""
        self._ended: Counter[tuple[str, int]] = Counter()
        """Units that have ended, by the item and the repeat that have not."""
        self._last_logged: tuple[tuple[object, ...], float] = ((), -math.inf)

    def started(self, units: int) -> None:
        self.progress.total = units

    def attempt_started(self) -> None:
        if not self.progress.in_flight:
            self.progress.quiet_since = self._clock()
        self.progress.in_flight += 1

    def attempt_ended(self, problem: CallError | None, *, answered: bool) -> None:
        tally = self.progress
        tally.in_flight -= 1
        if problem is None and not answered:
            return
        tally.quiet_since = self._clock()
        tally.next_try = None
        tally.answered = "" if answered else tally.answered
        # The line has no room for the address; the last lines of the run name it.
        tally.problem = (
            single_line(_ADDRESS.sub("", str(problem), count=1), MAX_PROBLEM_CHARACTERS) if problem else ""
        )

    def call_done(self, reply: Reply, *, replayed: bool) -> None:
        tally = self.progress
        if replayed:
            tally.replayed += 1
            return
        if tally.started_at is None:
            # Rates count from the start of the first call, not from its reply.
            tally.started_at = self._clock() - reply.latency_s
            tally.done_before = tally.done
        tally.calls += 1
        tokens = token_usage(reply.usage)
        tally.tokens += tokens.prompt + tokens.completion
        if reply.raw:
            for remark in self._look(reply):
                self.reply_noticed(remark)

    def reply_noticed(self, text: str) -> None:
        named = text if self._folder is None else in_folder(text, self._folder)
        notice = single_line(named, MAX_PROBLEM_CHARACTERS)
        self.messages.append(f"{ellipsize(self._label, LONGEST_LABEL)}: {notice}")

    def endpoint_down(self, answered: str, wait_s: float) -> None:
        self.progress.answered = answered
        self.progress.waits_s = wait_s
        self.progress.waits_until = self._clock() + wait_s

    def call_retried(self, kind: str, delay_s: float) -> None:
        self.progress.retries += 1
        if kind in RATE_LIMITED_KINDS:
            self.progress.rate_limited_at = self._clock()
            self.progress.next_try = self.progress.rate_limited_at + delay_s
            self.progress.turned_away_as = "rate limited" if kind == "http 429" else "overloaded"

    def call_failed(self, kind: str) -> None:
        self.progress.failed += 1

    def limit_reached(self, error: LimitError) -> None:
        limits = (limit for option, limit in _LIMITS.items() if option in str(error))
        other = "an endpoint that is down" if error.of == LimitOf.DOWN else "a limit of the endpoint"
        self.progress.stopped = next(limits, other)

    def batch_status_changed(self, state: str) -> None:
        self.progress.batch = state

    def unit_ended(self, item: str, repeat: int) -> None:
        self.progress.done += 1
        self._ended[item, repeat] += 1

    def item_done(self, item: str, repeat: int, verdicts: Sequence[Verdict]) -> None:
        units = sum(verdict.outcome != "unplayed" for verdict in verdicts)
        self.progress.done += units - self._ended.pop((item, repeat), 0)
        for verdict in verdicts:
            self.progress.units += verdict.outcome in ("correct", "wrong")
            self.progress.correct += verdict.outcome == "correct"
            self.progress.tallied.update(self._tally(verdict))

    def should_log(self) -> bool:
        """Whether a log should have a line now: after a change, and before it has been silent for long. A batch may be
        pending for a day, and is not reported as often."""
        now, state = self._clock(), self.progress.state
        logged, at = self._last_logged
        silent = IDLE_EVERY_S if self.progress.batch else SILENT_S
        if now - at < (silent if state == logged else 0.0 if self.progress.batch else CHANGED_EVERY_S):
            return False
        self._last_logged = (state, now)
        return True

    def text(self, room: int | None) -> str:
        """The run on one line, not longer than `room`."""
        if room is None:
            return f"{ellipsize(self._label, LONGEST_LABEL)}: {self.progress.line(self._clock())}"
        label = ellipsize(self._label, min(max(room // 3, 3), LONGEST_LABEL)) + ": "
        return (label + self.progress.line(self._clock(), room - len(label)))[:room]


def _short(number: int) -> str:
    """A number in at most four digits: 950, 12.3k, 4.6M."""
    for size, letter in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if number >= size:
            return f"{number / size:.1f}{letter}"
    return str(number)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
