"""Notices an endpoint that answers, but no request with the result of a tool in it, so that every second step fails."""

from wildtool.advice import Advice
from wildtool.errors import InfraError
from wildtool.models.http.hints import REQUEST_STATUSES
from wildtool.reply_ends import lasting_refusal, names_remedy
from wildtool.types import Request

FEWEST = 4
"""Refused attempts after which it is said: one server in a hundred that fails every third time gets there by chance."""
_KINDS = frozenset(f"http {status}" for status in REQUEST_STATUSES)
_CAUSE = "the endpoint refuses every request with a result of a tool"
REMARK = f"{_CAUSE} so far: {Advice.RESULTS_AS_TEXT}"


class RefusedResults:
    """What became of the requests of one model, by whether a result of a tool is in them."""

    def __init__(self) -> None:
        self._answered_others = self._answered_results = self._refused = 0

    def on_answer(self, request: Request) -> None:
        """A request was answered."""
        if has_results(request):
            self._answered_results += 1
        else:
            self._answered_others += 1

    def on_failure(self, request: Request, kind: str, message: str = "") -> None:
        """An attempt failed.

        Args: message: of the failure; one that has a remedy of its own says nothing about results.
        """
        if kind in _KINDS and has_results(request) and not names_remedy(message):
            self._refused += 1

    @property
    def is_seen(self) -> bool:
        """Whether other requests are answered and none with results is."""
        return self._refused >= FEWEST and not self._answered_results and self._answered_others > 0

    def explained(self, request: Request, error: InfraError) -> InfraError:
        """The error of a call with what is behind it."""
        if (
            not self.is_seen
            or error.kind not in _KINDS
            or not has_results(request)
            or names_remedy(str(error))
        ):
            return error
        message = f"{error}{lasting_refusal(_CAUSE, Advice.RESULTS_AS_TEXT)}"
        return InfraError(error.kind, message, attempts=error.attempts, usage=error.usage)


def has_results(request: Request) -> bool:
    """Whether the result of a tool is in a request."""
    return any(message.get("role") == "tool" for message in request.messages)
