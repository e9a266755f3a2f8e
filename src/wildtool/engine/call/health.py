"""Whether a model answers at all, and when to give it up."""

from collections import Counter

from wildtool.engine.observer import Observer
from wildtool.engine.record.writer import PendingRow
from wildtool.errors import CallError, InfraError, UsageError, WildtoolError
from wildtool.models.http.failures import BLOCKED_PROMPT

MAX_FAILED_CALLS = 8
"""Failures of one kind without any answer after which a model is given up."""
GIVE_UP_AFTER_S = 10.0
"""How long tries that may be made again must have failed by then: a server may just be starting."""
RATE_LIMITED_GIVE_UP_AFTER_S = 120.0
"""The same where an endpoint asks for fewer calls, which most do for a minute."""
NOT_RECORDED = "not recorded"
"""Kind of a call that asks a record for a reply which it does not hold: final, but no fault of a key or a name."""


class GivenUpError(WildtoolError):
    """A model that never answered and is asked no more."""

    exit_status = 3

    def __init__(self, reason: str, advice: str) -> None:
        super().__init__(f"{reason}{advice}")
        self.reason = reason


class AllRefusedError(GivenUpError, UsageError):
    """The same where the key, the model's name or the endpoint is wrong."""

    exit_status = 2


class RefusedError(InfraError):
    """A call that failed in a way that another try cannot mend: a wrong key, an unknown model."""


class Health:
    """Follows the tries of one model until the first is answered.

    A model that never answers is given up, and only once no try is under way: a quick refusal must not overtake a slow
    good answer.
    """

    def __init__(self, observer: Observer | None = None, *, give_up_after_s: float = GIVE_UP_AFTER_S) -> None:
        """Args:
        observer: is told of each try.
        patience_s: how long tries may fail that are made again.
        """
        self.has_answered = False
        """Whether it has ever answered."""
        self.given_up: str | None = None
        """Why no more calls are made, where others of the run go on without them."""
        self.unrecorded: list[tuple[PendingRow, InfraError]] = []
        """Calls that failed before it ever answered, which are recorded once it is clear that it does."""
        self._observer = observer or Observer()
        self._give_up_after_s = give_up_after_s
        self._in_flight = 0
        self._failed_attempts: Counter[str] = Counter()
        """Failed tries by kind."""
        self._failed_calls: Counter[str] = Counter()
        """Calls that failed for good, by kind."""
        self._since: float | None = None
        """When the first of the failed tries was sent."""

    def on_attempt(self) -> None:
        """A try goes out."""
        self._in_flight += 1
        self._observer.attempt_started()

    def on_attempt_end(self, problem: CallError | None = None, *, answered: bool = False) -> None:
        """A try is over: answered, failed, or (neither) cut off."""
        self._in_flight -= 1
        # Who refuses a prompt for what it says has let the key, the model's name and the request's form pass.
        if answered or (problem is not None and problem.kind == BLOCKED_PROMPT):
            self.has_answered = True
        self._observer.attempt_ended(problem, answered=answered)

    def on_error(
        self, error: CallError, sent_at: float, now: float, *, lost: bool, rate_limited: bool = False
    ) -> None:
        """Judges the whole after a failed try.

        Args:
            entered: when it was sent.
            lost: whether its call is not made again.
            turned_away: whether it was told to come back later.

        Raises GivenUpError where that is enough.
        """
        if self.has_answered or error.kind == NOT_RECORDED:
            return
        self._since = sent_at if self._since is None else min(self._since, sent_at)
        self._failed_attempts[error.kind] += 1
        self._failed_calls[error.kind] += lost
        if self._in_flight:
            return
        waited = now - self._since
        if error.final and self._failed_calls[error.kind] >= MAX_FAILED_CALLS:
            raise all_refused(error)
        patience = RATE_LIMITED_GIVE_UP_AFTER_S if rate_limited else self._give_up_after_s
        enough = rate_limited or self._failed_attempts[error.kind] >= MAX_FAILED_CALLS
        if self._failed_calls[error.kind] >= MAX_FAILED_CALLS or (enough and waited >= patience):
            raise self._no_answer(error, waited)

    def _no_answer(self, error: CallError, waited: float) -> GivenUpError:
        tries = self._failed_attempts.total()
        within = f" within {waited:.0f} s" if waited >= 1 else ""
        return GivenUpError(
            f"the model never answered: all {tries} tries failed{within}, the last by {error.kind} ({error})",
            ". Nothing is counted as a result; once the endpoint answers, run the same command again",
        )


def all_refused(error: CallError | InfraError) -> AllRefusedError:
    """What to tell of a model that refused every call."""
    return AllRefusedError(
        f"every call was refused ({error.kind}: {error})",
        "; check the key, the model's name and the endpoint, then run the same command again",
    )
