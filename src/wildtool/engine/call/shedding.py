"""Tells an endpoint that drops a call now and then from one that is asked too much, by what it does with the others."""

import sys
from enum import Enum

FIRST_OWN_PAUSE_S = 0.5
LONGEST_PAUSE_S = 8.0
"""Bounds of the pause of a call that is dropped alone; it doubles from one to the other."""
MORE_REFUSED = 10
"""How many more of the latest calls are refused than not, where refusals slow down all."""
HOLD_SHARE = 1 / 3
"""Share of refused calls among the latest above which no call takes the place of a refused one for `HOLD_S`."""
HOLD_S = 0.25
LATEST_CALLS = 64
"""How many calls count as the latest ones, older ones less and less."""
LOOK_CALLS = 64
"""Calls after which the share of refused ones is looked at; at least `SHARE_LOOK_S` lie between two looks."""
SLOW_LOOK_CALLS = 512
"""The same where all calls are slowed down, so that the refusals which led to it weigh little."""
SHARE_LOOK_S = 1.0
LEAST_SHARE = 0.2
"""Share of refused calls above which it is tried whether fewer calls help; near a quota it is a twelfth."""
HELP = 0.25
"""To which part of what it was the share falls where fewer calls help."""
MOST_SHARE = 0.5
"""Share of refused calls up to which all may be slowed down in vain: far above a quota, more are refused."""


class Mode(Enum):
    """What a refusal without `Retry-After` means for other calls."""

    FREE = "free"
    """Nothing: its own call waits."""
    TRIAL = "trial"
    """The same, but for a moment fewer calls are made, to see whether fewer of them are refused."""
    SLOW = "slow"
    """All calls slow down."""


class Shedding:
    """Tells for one endpoint whether a refusal without `Retry-After` is meant for all calls or only for its own.

    A quota refuses nearly all calls beyond it, so fewer calls lower the share of refused ones. A busy server drops any
    call now and then, where fewer calls would only take longer. While most calls are answered, a refused one therefore
    waits alone. If more than a few are refused, fewer calls are tried; if that does not help, it is not tried again soon.
    All times are seconds on one clock.
    """

    def __init__(self) -> None:
        self.mode = Mode.FREE
        self._latest = self._latest_refused = 0.0
        """The latest calls, and those of them that were refused. A refusal comes at once and an answer late, so calls
        count when they are sent."""
        self._sent = self._refused = 0
        """Calls sent since the last look, and those of them that were refused."""
        self._looked_at = float("-inf")
        self._full_at: float | None = None
        """When enough calls for a look were sent; it waits for the end of a call that is sent later."""
        self._look_calls = {Mode.FREE: LOOK_CALLS, Mode.TRIAL: LOOK_CALLS, Mode.SLOW: SLOW_LOOK_CALLS}
        """Calls before a look, by the mode; more after each change that was found to be wrong."""
        self._share_before = 0.0
        """Share of refused calls before fewer were made."""

    @property
    def latest_share(self) -> float:
        """Share of refused calls among the latest; not less than of one call."""
        return max(1.0, self._latest_refused) / max(1.0, self._latest)

    def on_sent(self, now: float) -> None:
        """A call is sent."""
        decay = 1 - 1 / LATEST_CALLS
        self._latest = self._latest * decay + 1
        self._latest_refused *= decay
        if self._full_at is not None:
            return
        if not self._sent:
            self._looked_at = max(self._looked_at, now)
        self._sent += 1
        if self._sent >= self._look_calls[self.mode] and now - self._looked_at >= SHARE_LOOK_S:
            self._full_at = now

    def on_answer(self, sent_at: float) -> None:
        """A call was answered that was sent then."""
        self._look(sent_at)

    def on_refusal(self, sent_at: float) -> None:
        """A call that was sent then was refused without a word on when to come back."""
        self._latest_refused += 1
        self._refused += self._looked_at <= sent_at and (self._full_at is None or sent_at <= self._full_at)
        if self.mode != Mode.SLOW and 2 * self._latest_refused - self._latest >= MORE_REFUSED:
            # Where calls were set free before, this was wrong.
            self._look_calls[Mode.SLOW] *= 2 if self._share_before else 1
            self._enter(Mode.SLOW, sent_at)
        self._look(sent_at)

    def on_named_wait(self) -> None:
        """A call was refused with the time to come back, which is meant for all calls, from now on."""
        self.mode = Mode.SLOW
        self._look_calls[Mode.SLOW] = sys.maxsize

    def _look(self, sent_at: float) -> None:
        """Changes the mode where enough calls were sent, and one that was sent after them has ended."""
        if self._full_at is not None and sent_at > self._full_at:
            self._enter(self._next_mode(self._refused / self._sent), sent_at)

    def _next_mode(self, share: float) -> Mode:
        """What follows from the share of refused calls since the last look."""
        if self.mode == Mode.FREE:
            return Mode.TRIAL if share > LEAST_SHARE else Mode.FREE
        if self.mode == Mode.SLOW:
            return Mode.FREE if LEAST_SHARE < share < MOST_SHARE else Mode.SLOW
        if share <= HELP * self._share_before:
            return Mode.SLOW
        self._look_calls[Mode.FREE] *= 2
        return Mode.FREE

    def _enter(self, mode: Mode, now: float) -> None:
        if self.mode == Mode.FREE:
            self._share_before = self._refused / max(1, self._sent)
        self.mode = mode
        self._sent, self._refused, self._looked_at, self._full_at = 0, 0, now, None


def pause_s(times: int, jitter: float) -> float:
    """Seconds that a call waits which was dropped alone.

    Args:
        times: how often that happened to it, from 1.
        jitter: from 0 to 1.
    """
    return min(LONGEST_PAUSE_S, FIRST_OWN_PAUSE_S * 2 ** min(times - 1, 16)) * (0.5 + jitter / 2)
