"""The calls of one reply at both doors: what the model said, what was executed, and what the model was shown of it."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from wildtool.agents.agent import ToolAnswer
from wildtool.alter.tool_answers import NO_RESULT
from wildtool.episode import written_text
from wildtool.json_codec import as_object, canonical_json, loads, values_inside
from wildtool.shapes.keys import FUNCTION
from wildtool.types import Message

Fate = Literal["as said", "altered", "answered by the agent", "never arrived", "discarded"]
"""What became of a call: executed as said, with another tool or other arguments, answered by the agent itself, neither
executed nor answered, or executed although its reply was thrown away."""
MOST_SHOWN = 2_000
"""Characters that a record keeps of a result that the model was shown otherwise, and of a call that nobody asked for."""


@dataclass(slots=True)
class StepCall:
    """One call of a reply."""

    name: str
    """Of the tool, as the benchmark has it; of one that does not exist as the model said it."""
    arguments: str
    """As the model said them."""
    agent_id: str
    """Its id as the agent knows it."""
    id: str
    """Its id as the benchmark knows it."""
    result: "asyncio.Future[ToolAnswer]"
    arrived: int = 0
    """How often the tool door was asked for it."""
    executed: Any = None
    """The arguments with which it was executed, where they are others; of another tool with its name."""
    is_altered: bool = False

    def fate(self, shown: Mapping[str, str]) -> dict[str, Any]:
        """What a record says of it. Args: shown: by id the results that the model was shown."""
        said: dict[str, Any] = {"id": self.id, "name": self.name}
        result = shown.get(self.agent_id)
        if not self.arrived:
            said["fate"] = "never arrived" if result is None else "answered by the agent"
        else:
            said["fate"] = "altered" if self.is_altered else "as said"
            if self.is_altered:
                said["arguments"] = self.executed
            if self.arrived > 1:
                said["executions"] = self.arrived
            if self.result.done() and not self.result.cancelled() and self.result.result().text == result:
                result = None
        return said if result is None else {**said, "result": kept_text(result)}


@dataclass(slots=True)
class CallStep:
    """The calls of a reply that are the benchmark's, in order."""

    calls: list[StepCall] = field(default_factory=list[StepCall])

    def find(self, name: str, arguments: Any, meta: Mapping[str, Any]) -> StepCall | None:
        """The call that arrives at the tool door: by the id that the agent hands on, else by name and arguments, else by
        its name alone where only one call has it. A call that arrived before is found again if nothing else fits."""
        ids = {value for value in values_inside(dict(meta)) if isinstance(value, str)}
        by_id = [call for call in self.calls if call.agent_id in ids]
        if by_id:
            return by_id[0]
        named = [call for call in self.calls if call.name == name]
        equal = [call for call in named if _same(call.arguments, arguments)]
        for among in (equal, named):
            waiting = [call for call in among if not call.arrived]
            if waiting and (among is equal or len(waiting) == 1):
                return waiting[0]
        return equal[0] if equal else None

    def arrive(self, call: StepCall, name: str, arguments: Any) -> None:
        """Notes that a call is executed. Args: name: of the tool that is executed."""
        call.arrived += 1
        # Of a tool that does not exist, an agent may cut off what it puts before names.
        if not call.name.endswith(name):
            call.is_altered, call.executed = True, {"name": name, "arguments": arguments}
        elif not _same(call.arguments, arguments):
            call.is_altered, call.executed = True, arguments

    def take_ids(self, calls: Sequence[Mapping[str, Any]]) -> None:
        """Takes the ids that the benchmark's history gives the calls; those that it leaves out keep theirs."""
        free = list(self.calls)
        for said in calls:
            function = as_object(said.get(FUNCTION))
            named = [call for call in free if call.name == function.get("name")]
            equal = [call for call in named if call.arguments == function.get("arguments")]
            own = next(iter([*equal, *named]), None)
            if own is not None:
                own.id = str(said.get("id"))
                free.remove(own)

    def give(self, message: Message) -> None:
        """Gives a result of the benchmark to the call that it belongs to."""
        waiting = [call for call in self.calls if not call.result.done()]
        own = next((call for call in waiting if call.id == message.get("tool_call_id")), None)
        # Results without the id of a call come in the order of the calls.
        call = own or next(iter(waiting), None)
        if call is not None:
            call.result.set_result(ToolAnswer(written_text(message) or ""))

    def close(self) -> None:
        """Answers what still waits, since nothing more comes from the benchmark."""
        for call in self.calls:
            if not call.result.done():
                call.result.set_result(ToolAnswer(NO_RESULT, is_error=True))


def kept_text(text: str) -> str:
    """What a record keeps of a text that may have any length; it ends with … where it is cut."""
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"


def _same(said: str, arguments: Any) -> bool:
    """Whether arguments as a model said them are those of an execution, which may be a text or an object."""
    if isinstance(arguments, str) and arguments == said:
        return True
    try:
        first = loads(said or "{}")
        second = loads(arguments or "{}") if isinstance(arguments, str) else arguments
        return canonical_json(first) == canonical_json(second)
    except ValueError:
        return False
