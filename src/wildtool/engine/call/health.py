"""Whether a model answers at all, and when to give it up."""

from collections import Counter

from wildtool.engine.observer import Observer
from wildtool.engine.record.writer import Sent
from wildtool.errors import CallError, InfraError, UsageError, WildtoolError
from wildtool.models.http.failures import BLOCKED

ENOUGH = 8
"""Failures of one kind without any answer after which a model is given up."""
PATIENCE_S = 10.0
"""How long tries that may be made again must have failed by then: a server may just be starting."""
TURNED_AWAY_S = 120.0
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

    def __init__(self, observer: Observer | None = None, *, patience_s: float = PATIENCE_S) -> None:
        """Args:
        observer: is told of each try.
        patience_s: how long tries may fail that are made again.
        """
        self.answers = False
        """Whether it has ever answered."""
        self.given_up: str | None = None
        """Why no more calls are made, where others of the run go on without them."""
        self.held: list[tuple[Sent, InfraError]] = []
        """Calls that failed before it ever answered, which are recorded once it is clear that it does."""
        self._observer = observer or Observer()
        self._patience_s = patience_s
        self._under_way = 0
        self._tried: Counter[str] = Counter()
        """Failed tries by kind."""
        self._lost: Counter[str] = Counter()
        """Calls that failed for good, by kind."""
        self._since: float | None = None
        """When the first of the failed tries was sent."""

    def sent(self) -> None:
        """A try goes out."""
        self._under_way += 1
        self._observer.try_sent()

    def over(self, problem: CallError | None = None, *, answered: bool = False) -> None:
        """A try is over: answered, failed, or (neither) cut off."""
        self._under_way -= 1
        # Who refuses a prompt for what it says has let the key, the model's name and the request's form pass.
        if answered or (problem is not None and problem.kind == BLOCKED):
            self.answers = True
        self._observer.try_over(problem, answered=answered)

    def failed(
        self, error: CallError, entered: float, now: float, *, lost: bool, turned_away: bool = False
    ) -> None:
        """Judges the whole after a failed try.

        Args:
            entered: when it was sent.
            lost: whether its call is not made again.
            turned_away: whether it was told to come back later.

        Raises GivenUpError where that is enough.
        """
        if self.answers or error.kind == NOT_RECORDED:
            return
        self._since = entered if self._since is None else min(self._since, entered)
        self._tried[error.kind] += 1
        self._lost[error.kind] += lost
        if self._under_way:
            return
        waited = now - self._since
        if error.final and self._lost[error.kind] >= ENOUGH:
            raise all_refused(error)
        patience = TURNED_AWAY_S if turned_away else self._patience_s
        enough = turned_away or self._tried[error.kind] >= ENOUGH
        if self._lost[error.kind] >= ENOUGH or (enough and waited >= patience):
            raise self._no_answer(error, waited)

    def _no_answer(self, error: CallError, waited: float) -> GivenUpError:
        tries = self._tried.total()
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
