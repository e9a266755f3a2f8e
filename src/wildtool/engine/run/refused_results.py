"""Notices an endpoint that answers, but no request with the result of a tool in it or at its end, so that every second
step fails."""

from collections import Counter
from collections.abc import Callable, Mapping

from wildtool.advice import Advice
from wildtool.errors import CallError, InfraError
from wildtool.models.http.hints import REQUEST_STATUSES
from wildtool.reply_ends import lasting_refusal, names_remedy
from wildtool.types import Request

FEWEST = 4
"""Refused attempts after which it is said: one server in a hundred that fails every third time gets there by chance."""
_KINDS = frozenset(f"http {status}" for status in REQUEST_STATUSES)


def _has_results(request: Request) -> bool:
    return any(message.get("role") == "tool" for message in request.messages)


def _ends_in_result(request: Request) -> bool:
    return request.messages[-1].get("role") == "tool"


_SORTS: Mapping[str, Callable[[Request], bool]] = {
    "the endpoint refuses every request with a result of a tool": _has_results,
    "the endpoint refuses every request that ends in the result of a tool": _ends_in_result,
}
"""By cause what tells the requests that are refused; the widest first."""


class RefusedResults:
    """What became of the requests of one model, by whether a result of a tool is in them or at their end."""

    def __init__(self) -> None:
        self._answered = 0
        self._answered_of, self._refused_of = Counter[str](), Counter[str]()

    def on_answer(self, request: Request) -> None:
        """A request was answered."""
        self._answered += 1
        self._answered_of.update(_sorts_of(request))

    def on_failure(self, request: Request, error: CallError) -> None:
        """An attempt failed. A failure that has a remedy of its own says nothing about results."""
        if error.kind in _KINDS and not names_remedy(str(error)):
            self._refused_of.update(_sorts_of(request))

    def cause(self, request: Request) -> str:
        """Why a request is refused if requests of its sort never are answered, and others are; else empty."""
        if not self._refused_of:
            return ""
        for cause in _sorts_of(request):
            if self._refused_of[cause] >= FEWEST and not self._answered_of[cause] and self._answered:
                return cause
        return ""

    def remark(self, request: Request) -> str:
        """What to say while the run goes on; empty for nothing."""
        cause = self.cause(request)
        return f"{cause} so far: {Advice.RESULTS_AS_TEXT}" if cause else ""

    def explained(self, request: Request, error: InfraError) -> InfraError:
        """The error of a call with what is behind it."""
        cause = self.cause(request)
        if not cause or error.kind not in _KINDS or names_remedy(str(error)):
            return error
        message = f"{error}{lasting_refusal(cause, Advice.RESULTS_AS_TEXT)}"
        return InfraError(error.kind, message, attempts=error.attempts, usage=error.usage)


def _sorts_of(request: Request) -> list[str]:
    return [cause for cause, applies in _SORTS.items() if applies(request)]
