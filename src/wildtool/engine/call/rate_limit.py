"""Limits calls to an endpoint: per minute, and in flight, fewer of both while it is overloaded."""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any

from wildtool.engine.call.shedding import HOLD_S, HOLD_SHARE, Mode, Shedding
from wildtool.errors import BLOCKED_PROMPT, RATE_LIMITED_KINDS, CallError, LimitError, LimitOf
from wildtool.models.settings import Rates

OVERLOAD_KINDS = frozenset({"http 429", "http 503", "http 529", "timeout"})
"""Failures by which an endpoint says or shows that it is asked too much; a small server queues what it cannot answer."""
DOWN_KINDS = frozenset({"network", "http 503"})
"""Failures of an endpoint that is down, or loads its model."""
GATEWAY_KINDS = frozenset({"http 502", "http 504"})
"""Failures of a gateway before an endpoint that may be down, or fail at this call only."""
PROBE_S = 3.0
"""How long only the first calls to an endpoint are out, where none is answered before."""
PROBE_CONCURRENCY = 8
"""How many these are, and how many while all fail; once that many have failed, one at a time."""
FAILING_INTERVAL_S = 0.25
"""Between two calls from then on."""
FIRST_PAUSE_S = 0.5
LONGEST_OWN_PAUSE_S = 30.0
"""Where an endpoint turns calls away and does not say for how long."""
MAX_RATE_LIMITED = 32
"""Times that a call is turned away while later ones are answered, after which it is the call and not the crowd."""
LEAST_CHANCE = 1e-4
"""The same where most calls are answered: by chance a call would be turned away that often with a chance below this."""
QUOTA_GIVE_UP_S = 1800.0
"""How long an endpoint that has answered may turn every call away, such as for a quota that is used up."""
LONGEST_RETRY_AFTER_S = 60.0
"""The longest `Retry-After` that is obeyed: servers have been seen to ask for hours, and a run would look hung."""
SLACK_S = 0.1
"""How far calls may catch up with their pace after a timer that came late."""
MINUTE_S = 60.0
FIRST_PER_S = 0.5
"""Where an endpoint turns calls away before it has answered any; as much more with each answer."""
LEAST_PER_S = 1 / 30
"""However often it turns calls away."""
DECREASE_FACTOR = 0.8
INCREASE_FACTOR = 1.02
"""For each answer, so that the pace is found again within a dozen calls, whatever it is."""
CATCH_UP_FACTOR = 2.0
"""The same while it is far below what the endpoint took within the last minute."""
MAX_RATE_RATIO = 2.0
"""How far the pace may be from that."""
WINDOW_S = 60.0


class Pace:
    """A rate that falls when calls are turned away and grows with each answer; no bound until the first is turned away.

    All times are seconds on one clock.
    """

    def __init__(self) -> None:
        self.per_s: float | None = None
        """Calls per second; None: no limit."""
        self._answers: deque[float] = deque()
        """When each answer of the last minute came."""
        self._first = inf
        self._taken = 0.0
        """Answers a second within the minute before the last answer."""
        self._learned = False
        """Whether calls were turned away after some were answered; before, the pace is a mere guess."""

    def on_success(self, now: float) -> None:
        """A call got its answer."""
        self._first = min(self._first, now)
        self._answers.append(now)
        rate = self._taken = self._taken_per_s(now)
        if self.per_s is None:
            return
        if not self._learned:
            self.per_s += FIRST_PER_S
        else:
            grown = self.per_s * (CATCH_UP_FACTOR if self.per_s < rate / MAX_RATE_RATIO else INCREASE_FACTOR)
            # A pace that nothing is held back by would grow without any sense.
            self.per_s = max(self.per_s, min(grown, MAX_RATE_RATIO * rate))

    def on_rate_limited(self, now: float) -> None:
        """The endpoint turned a call away; to be called once for all that were in flight then.

        However often it does, the pace stays near what was answered before: a quota that is used up and an endpoint that
        is down say nothing of the rate that is right afterwards, and the pauses between calls grow meanwhile.
        """
        if not self._taken:
            self.per_s = FIRST_PER_S
            return
        self._learned = True
        base = min(self.per_s or self._taken, MAX_RATE_RATIO * self._taken_per_s(now) or self._taken)
        self.per_s = max(LEAST_PER_S, DECREASE_FACTOR * base, self._taken / MAX_RATE_RATIO)

    def lift(self) -> None:
        """Sets no limit again; what was answered within the last minute stays known."""
        self.per_s = None

    def _taken_per_s(self, now: float) -> float:
        """Answers a second within the last minute."""
        while self._answers and self._answers[0] < now - WINDOW_S:
            self._answers.popleft()
        return len(self._answers) / min(WINDOW_S, max(now - self._first, 1.0))


@dataclass(slots=True)
class CallHistory:
    """What one call has met so far."""

    attempts: int = 0
    """How often it was sent."""
    counted: int = 0
    """Attempts that count as failed; those that the endpoint turned away because of its load do not."""
    waits: int = 0
    """Attempts that did not count since the endpoint was down for a moment."""
    admitted_at: float = float("-inf")
    """When it was last let in and then turned away by the endpoint."""
    turned_away: int = 0
    """How often that happened while later calls were answered."""
    dropped: int = 0
    """How often it was turned away alone, while the others go on; it then waits by itself. 0 while all calls wait."""
    down_since: float | None = None
    """Since when the endpoint was down when this call was last counted among those that met it so."""
    chance: float = 1.0
    """That an endpoint which drops calls at random would have turned this one away so often."""


class RateLimiter:
    """Admits calls to one endpoint: in the order they came, evenly spaced, and at most `width` at once.

    How many at once is halved when the endpoint is overloaded, at most once for all calls that were under way then,
    and grows by one for each round of answered calls, up to what the user allows. A `Retry-After` holds for the whole
    endpoint. An adaptive limiter learns from the calls that the endpoint turns away how many per second it takes; while
    it turns away a few at random, these wait alone (`Shedding`).
    """

    def __init__(
        self,
        width: int,
        rates: Rates | None = None,
        *,
        adaptive: bool = False,
        clock: Callable[[], float] | None = None,
        later: Callable[[float, Callable[[], None]], Any] | None = None,
    ) -> None:
        """Args:
        width: calls in flight at most.
        adaptive: whether it learns from calls that the endpoint turns away.
        clock, later: the time, and what calls a function after a number of seconds; the event loop's if not given.
        """
        self.rates = rates or Rates()
        self.width = float(width)
        """Calls in flight at most, at the moment; only whole ones count."""
        self.in_flight = 0
        self._most = width
        self.now = clock or (lambda: asyncio.get_running_loop().time())
        """The time in seconds, on the clock of this limiter."""
        self._later = later
        self._queue: deque[tuple[asyncio.Future[None], float]] = deque()
        self._timer = False
        self._due = self._tokens_due = self._paused_until = self._narrowed_at = float("-inf")
        self._closed: LimitError | None = None
        self._pace = Pace() if adaptive else None
        self._shedding = Shedding()
        self._pace_due = self._last_success = float("-inf")
        """When the next call may be let in, as learned; and when the last one was let in that was answered."""
        self._rejections_in_a_row = 0
        """Times in a row that the endpoint turned calls away and answered none."""
        self._rejecting_since = 0.0
        self._unanswered: int | None = None
        """Failed attempts while none was ever answered; None once one is, or if it does not matter."""
        self._probing = False
        """Whether the first calls are under way, and the others wait for what comes of them."""
        self._is_down = False
        """Whether one call at a time asks if the endpoint is back."""

    def probe(self) -> None:
        """Admits a handful of calls, for a moment or until one is answered; few after them while all of them fail."""
        if not self.in_flight:
            self._unanswered, self._probing = 0, True

    def end_probe(self) -> None:
        """Admits calls as usual again, whatever came of the first ones."""
        self._unanswered, self._probing = None, False
        self._admit()

    def hold_back(self) -> None:
        """Admits one call at a time until one meets an endpoint that is up."""
        self._is_down = True

    def widen(self, width: int, rates: Rates) -> None:
        """Adds another user of the endpoint: the larger width and the lower rates hold."""
        self._most = max(self._most, width)
        self.width = float(self._most)
        self.rates = self.rates.intersect(rates)

    async def acquire(self, tokens: float = 0.0) -> float:
        """Waits for its turn and returns its time. Each `acquire` is followed by one `release`.

        Args: tokens: that the call is expected to take.

        Raises LimitError once the limiter is closed.
        """
        if self._closed is not None:
            raise LimitError(str(self._closed), self._closed.of)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append((turn, tokens))
        self._admit()
        try:
            if not turn.done():
                await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                # It was let in and cancelled at the same moment.
                self.release()
            raise
        return self.now()

    def release(self) -> None:
        """A call is over, whatever came of it."""
        self.in_flight -= 1
        self._admit()

    @property
    def wait_s(self) -> float:
        """Seconds until the next call is let in, if there is room for it."""
        due = max(self._due, self._tokens_due, self._pace_due, self._paused_until)
        return max(0.0, due - self.now())

    def on_success(self, admitted_at: float = float("-inf")) -> None:
        """A call that was admitted then got its answer: the endpoint can take a little more."""
        self._unanswered, self._probing, self._rejections_in_a_row = None, False, 0
        self._is_down = False
        self._last_success = max(self._last_success, admitted_at)
        if self._pace is not None:
            before = self._shedding.mode
            self._shedding.on_answer(admitted_at)
            self._apply_mode(self._pace, before)
            self._pace.on_success(self.now())
        if self.width < self._most:
            self.width = min(self._most, self.width + 1 / self.width)

    def on_error(self, error: CallError, admitted_at: float, history: CallHistory | None = None) -> bool:
        """A call that was admitted then failed.

        Args: history: of this call.

        Returns whether the endpoint turned it away for its load, so that it goes back into the queue.
        """
        if error.kind == BLOCKED_PROMPT:
            self.on_success(admitted_at)
            return False
        self._is_down = self._is_down and error.kind in DOWN_KINDS | GATEWAY_KINDS
        self._unanswered = None if self._unanswered is None else self._unanswered + 1
        if self._is_down or (self._unanswered or 0) >= PROBE_CONCURRENCY:
            self._pace_due = max(self._pace_due, self.now() + FAILING_INTERVAL_S)
        if error.kind not in OVERLOAD_KINDS:
            return False
        turned_away = error.kind in RATE_LIMITED_KINDS or error.retry_after_s is not None
        pace = self._pace if turned_away else None
        history = history or CallHistory()
        share = self._shedding.latest_share
        if pace is not None and self._is_dropped_alone(error, pace, admitted_at):
            history.dropped += 1
            if self._others_were_answered(history):
                history.chance *= share
            history.admitted_at = admitted_at
            if self._shedding.latest_share > HOLD_SHARE:
                self._paused_until = max(self._paused_until, self.now() + HOLD_S)
            return history.chance >= LEAST_CHANCE
        history.dropped = 0
        wait = error.retry_after_s
        if admitted_at >= self._narrowed_at:
            self._narrowed_at = self.now()
            if pace is None:
                self.width = max(1.0, self.width / 2)
            else:
                own = self._slow_down(pace)
                wait = own if wait is None else wait
        if wait is not None:
            pause = min(LONGEST_RETRY_AFTER_S, max(wait, 0.0))
            self._paused_until = max(self._paused_until, self.now() + pause)
        return pace is not None and self._may_retry(error, admitted_at, history)

    def _is_dropped_alone(self, error: CallError, pace: Pace, admitted_at: float) -> bool:
        """Whether a call that is turned away is one of few, so that it waits alone."""
        before = self._shedding.mode
        if error.retry_after_s is None:
            self._shedding.on_refusal(admitted_at)
        else:
            self._shedding.on_named_wait()
        self._apply_mode(pace, before)
        return self._shedding.mode != Mode.SLOW

    def _apply_mode(self, pace: Pace, before: Mode) -> None:
        """Sets a pace where fewer calls are tried now, and ends one that was found to help nothing."""
        mode = self._shedding.mode
        if mode == before:
            return
        if mode == Mode.TRIAL:
            pace.on_rate_limited(self.now())
        elif mode == Mode.FREE:
            pace.lift()
            self._pace_due = float("-inf")

    def _slow_down(self, pace: Pace) -> float:
        """Seconds in which no call is let in where the endpoint does not say how long; none the first time."""
        now = self.now()
        pace.on_rate_limited(now)
        assert pace.per_s is not None, "it is known from the first call on that is turned away"
        self._pace_due = max(self._pace_due, now + 1 / pace.per_s)
        self._rejections_in_a_row += 1
        if self._rejections_in_a_row == 1:
            self._rejecting_since = now
            return 0.0
        return min(LONGEST_OWN_PAUSE_S, FIRST_PAUSE_S * 2 ** min(self._rejections_in_a_row - 2, 16))

    def _may_retry(self, error: CallError, admitted_at: float, history: CallHistory) -> bool:
        rejecting_s = self.now() - self._rejecting_since if self._rejections_in_a_row else 0.0
        if self._unanswered is None and rejecting_s >= QUOTA_GIVE_UP_S:
            message = f"for {QUOTA_GIVE_UP_S / 60:.0f} minutes every call was turned away ({error})"
            self.close(message, LimitOf.ENDPOINT)
        history.turned_away += self._others_were_answered(history)
        history.admitted_at = admitted_at
        return history.turned_away < MAX_RATE_LIMITED

    def _others_were_answered(self, history: CallHistory) -> bool:
        """Whether a call was answered that was let in after this one was turned away the last time."""
        return self._last_success > history.admitted_at > float("-inf")

    def adjust(self, expected: float, used: float, requests: int = 1) -> None:
        """Corrects for a call that took more or fewer tokens than expected, or several requests in place of one."""
        if self.rates.rpm is not None:
            self._due += (requests - 1) * (MINUTE_S + SLACK_S) / self.rates.rpm
        if self.rates.tpm is not None:
            self._tokens_due += (used - expected) * (MINUTE_S + SLACK_S) / self.rates.tpm

    def close(self, reason: str, of: LimitOf = LimitOf.USER) -> None:
        """Admits no more calls, and fails those that wait; calls in flight are not touched."""
        self._closed = LimitError(reason, of)
        while self._queue:
            turn, _ = self._queue.popleft()
            if not turn.done():
                # One each, since an exception grows where it is raised.
                turn.set_exception(LimitError(reason, of))

    def _has_room(self) -> bool:
        most = 1 if self._is_down else int(self.width)
        if self._unanswered or self._probing:
            # An attempt in flight may be a slow good answer: the next ones wait for it.
            most = min(most, PROBE_CONCURRENCY if (self._unanswered or 0) < PROBE_CONCURRENCY else 1)
        return self.in_flight < most

    def _count(self, tokens: float) -> None:
        """Books a call. Due times run at most SLACK_S behind, so that no minute gets more than the rate."""
        self.in_flight += 1
        self._shedding.on_sent(self.now())
        if self._probing and self.in_flight == 1:
            self._admit_in(PROBE_S, "_probing")
        if self._pace is not None and self._pace.per_s is not None:
            self._pace_due = max(self._pace_due, self.now()) + 1 / self._pace.per_s
        earliest = self.now() - SLACK_S
        if self.rates.rpm is not None:
            self._due = max(self._due, earliest) + (MINUTE_S + SLACK_S) / self.rates.rpm
        if self.rates.tpm is not None:
            self._tokens_due = (
                max(self._tokens_due, earliest) + tokens * (MINUTE_S + SLACK_S) / self.rates.tpm
            )

    def _admit(self) -> None:
        while self._queue and self._has_room():
            if self.wait_s > 0:
                if not self._timer:
                    self._timer = True
                    self._admit_in(self.wait_s, "_timer")
                return
            turn, tokens = self._queue.popleft()
            if not turn.done():
                self._count(tokens)
                turn.set_result(None)

    def _admit_in(self, seconds: float, state: str) -> None:
        """Admits calls after a time, when a state of the limiter is over."""

        def admit() -> None:
            setattr(self, state, False)
            self._admit()

        (self._later or asyncio.get_running_loop().call_later)(seconds, admit)
