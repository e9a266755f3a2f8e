"""How many calls a second an endpoint takes, learned from the ones that it turns away."""

from collections import deque

FIRST_PER_S = 0.5
"""Where an endpoint turns calls away before it has answered any."""
LEAST_PER_S = 1 / 30
"""However often it turns calls away."""
DECREASE_FACTOR = 0.8
INCREASE_FACTOR = 1.02
"""For each answer, so that the pace is found again within a dozen calls, whatever it is."""
CATCH_UP_FACTOR = 2.0
"""The same while it is far below what the endpoint took within the last minute."""
MAX_RATE_RATIO = 2.0
"""How far the pace may be from that."""
WINDOW_S = 60


class Pace:
    """A rate that falls when calls are turned away and grows with each answer; no bound until the first is turned away.

    All times are seconds on one clock.
    """

    def __init__(self) -> None:
        self.per_s: float | None = None
        """Calls a second; None: any number."""
        self._answers: deque[list[int]] = deque()
        """Seconds of the last minute with the answers that came in each."""
        self._count = 0
        self._first: float | None = None

    def on_success(self, now: float) -> None:
        """A call got its answer."""
        second = int(now)
        if self._first is None:
            self._first = now
        if not self._answers or self._answers[-1][0] != second:
            self._forget(now)
            self._answers.append([second, 0])
        self._answers[-1][1] += 1
        self._count += 1
        if self.per_s is not None:
            taken = self._taken_per_s(now)
            grown = self.per_s * (CATCH_UP_FACTOR if self.per_s < taken / MAX_RATE_RATIO else INCREASE_FACTOR)
            # A pace that nothing is held back by would grow without any sense.
            self.per_s = max(self.per_s, min(grown, MAX_RATE_RATIO * taken))

    def on_rate_limited(self, now: float) -> None:
        """A call was told that it is one too many; to be called once for all that were under way then."""
        taken = self._taken_per_s(now)
        base = taken or FIRST_PER_S
        if self.per_s is not None:
            base = min(self.per_s, MAX_RATE_RATIO * taken) if taken else self.per_s
        self.per_s = max(LEAST_PER_S, DECREASE_FACTOR * base)

    def _taken_per_s(self, now: float) -> float:
        """Answers a second within the last minute."""
        if self._first is None:
            return 0.0
        self._forget(now)
        return self._count / min(float(WINDOW_S), max(now - self._first, 1.0))

    def _forget(self, now: float) -> None:
        while self._answers and self._answers[0][0] < now - WINDOW_S:
            self._count -= self._answers.popleft()[1]
