"""The episode of a turn that an agent played with its own tools."""

from collections.abc import Iterable, Sequence
from math import inf
from typing import Any

from wildtool.json_codec import as_object, as_objects
from wildtool.own_cases.episode import CaseEpisode
from wildtool.own_cases.records import CaseUnit
from wildtool.own_cases.traced.results import results_of_calls, with_own_results
from wildtool.types import AROUND_IN_TRACE, Message, Transcript

TRACES = "traces"
"""The mode of a run that was not played: its replies are those of an agent's traces. Each reply has under
`AROUND_IN_TRACE` what the model saw `before` the first one of a turn, the `results` of its calls, and whether it `ends`
the turn."""


class TracedEpisode(CaseEpisode):
    """A turn until the agent answers without a call, or the trace has no more of it. All that it called is judged,
    also after results that the case does not record."""

    most_replies = inf

    def __init__(self, unit: CaseUnit, transcript: Transcript, earlier: Iterable[CaseUnit] = ()) -> None:
        """Args: earlier: the turns of the case before this one."""
        replies = [reply.message for reply in transcript.replies]
        before = as_objects(_around(replies[0]).get("before")) if replies else []
        messages = list(before)
        for reply in replies:
            messages += [{"role": "assistant", **reply}, *as_objects(_around(reply).get("results"))]
        expecting, _ = with_own_results(unit, earlier, list(results_of_calls(messages)))
        super().__init__(expecting)
        self.before = before or unit.messages

    def _shown_results(self, reply: Message, sent: Sequence[Message], first: int) -> list[Message] | None:
        around = _around(reply)
        results = as_objects(around.get("results"))
        if around.get("ends"):
            expects_results = any(slot.returns for slot in self.unit.expectation.slots)
            self.unrecorded = self.calls[first][0] if expects_results and not results else ""
            return None
        return results


def _around(reply: Message) -> dict[str, Any]:
    return as_object(reply.get(AROUND_IN_TRACE))
