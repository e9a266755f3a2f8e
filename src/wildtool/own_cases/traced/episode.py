"""The episode of a turn that an agent played with its own tools."""

from collections.abc import Sequence
from math import inf
from typing import Any

from wildtool.json_codec import as_object, as_objects
from wildtool.own_cases.episode import CaseEpisode
from wildtool.own_cases.records import CaseUnit
from wildtool.types import Message, Transcript

TRACES = "traces"
"""The mode of a run that was not played: its replies are those of an agent's traces."""
AROUND = "trace"
"""Key of a reply under which a run of traces keeps what the trace has around it: what the model saw `before` the first
reply of a turn, the `results` of the reply's calls, and whether it `ends` the turn."""


class TracedEpisode(CaseEpisode):
    """A turn until the agent answers without a call, or the trace has no more of it. All that it called is judged,
    also after results that the case does not record."""

    most_replies = inf

    def __init__(self, unit: CaseUnit, transcript: Transcript) -> None:
        super().__init__(unit)
        first = transcript.replies[0].message if transcript.replies else {}
        self.before = as_objects(as_object(first.get(AROUND)).get("before")) or unit.messages

    def _shown_results(self, reply: Message, sent: Sequence[Message], first: int) -> list[Message] | None:
        around = as_object(reply.get(AROUND))
        if around.get("ends"):
            self.unrecorded = "" if around.get("results") else self.calls[first][0]
            return None
        results: list[Any] = as_objects(around.get("results"))
        return results
