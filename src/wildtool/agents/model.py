"""An agent with its model, as one model of the engine."""

import asyncio
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime
from itertools import takewhile
from pathlib import Path
from typing import Any

from wildtool.agents.agent import Agent, AgentFailedError, Place, Wire
from wildtool.agents.conversation import AgentConversation, Answered, DiffersError, ToolsMissingError
from wildtool.agents.doors import Doors
from wildtool.agents.messages import INSTRUCTION_ROLES
from wildtool.agents.wires import wire_of
from wildtool.agents.wires.base import Asked, WireAnswer
from wildtool.alter.agent.record import AGENT_DIFFERS, AGENT_FAILED
from wildtool.episode import written_text
from wildtool.errors import TOOLS_MISSING, CallError
from wildtool.models.http.streams import is_event_stream
from wildtool.models.providers.base import HttpModel
from wildtool.temporary import temporary_folder
from wildtool.types import Address, Message, Model, Reply, Request

AGENT_PATIENCE_S = 300.0
"""Seconds that an agent may take between two things that it does; some try a dead endpoint for over a minute."""
MOST_FAILURES = 2
"""How often an agent may fail at one step of a run before that counts as a failed call."""
_DAY_AND_TIME = re.compile(r"\b\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(?::\d{2})?\b")
_SCRIPTED = ("baseline/", "replay:")
"""Beginnings of names of models that answer the benchmark's request, whatever they are shown."""


class AgentModel:
    """Plays each conversation by an agent, whose own calls to its model another model answers.

    What the engine gets is what that model said, in the benchmark's names, with what the agent did around it under the
    key `harness`. The conversation of a step goes on where the agent lives already, else the agent is started anew and
    lives through what came before: earlier replies are said again in its model's place.
    """

    def __init__(self, inner: Model, agent: Agent, patience_s: float = AGENT_PATIENCE_S) -> None:
        """Args: inner: the model that the agent asks."""
        self.name = inner.name
        self._inner, self._agent = inner, agent
        self._patience_s = patience_s
        self._is_scripted = inner.name.startswith(_SCRIPTED)
        self._kept = ExitStack()
        self._doors: Doors | None = None
        self._folder = Path()
        self._opening = asyncio.Lock()
        self._started = 0
        self._conversations: dict[tuple[str, int], list[tuple[AgentConversation, str]]] = {}
        """By item and repeat, with the address of each."""
        self._busy: set[AgentConversation] = set()
        self._failures: Counter[Address] = Counter()

    def settings(self) -> Mapping[str, Any]:
        """Those of the model inside; the agent's own are an alteration of the run."""
        return self._inner.settings()

    async def complete(self, request: Request) -> Reply:
        """What the agent's model says next, and what the agent did around it. Raises CallError."""
        address = request.address
        assert address is not None, "set by the engine"
        conversation = None
        try:
            conversation = await self._conversation(request, address)
            return await conversation.play(request.messages, lambda question: self._answer(question, request))
        except (AgentFailedError, OSError) as error:
            await self._end(conversation, address)
            self._failures[address] += 1
            final = self._failures[address] >= MOST_FAILURES
            words = f"{error}; correct the agent or its command"
            failure = CallError(_kind(error), words, final=final, advised=True)
            failure.usage = conversation.usage if conversation is not None else {}
            raise failure from error
        finally:
            if conversation is not None:
                self._busy.discard(conversation)

    async def item_ended(self, item: str, repeat: int) -> None:
        """Ends the agents of an item."""
        for conversation, place in self._conversations.pop((item, repeat), ()):
            await self._close(conversation, place)

    async def close(self) -> None:
        """Ends all agents, the doors and the model inside."""
        for item, repeat in list(self._conversations):
            await self.item_ended(item, repeat)
        if self._doors is not None:
            await self._doors.close()
        self._kept.close()
        await self._inner.close()

    async def _answer(self, question: Asked, request: Request) -> Answered:
        if self._is_scripted:
            return Answered(await self._inner.complete(request), is_ours=True)
        own = Request(_with_one_system(question.messages), question.tools, address=request.address)
        inner = self._inner
        if isinstance(inner, HttpModel) and _takes_as_is(inner, question):
            reply = await inner.forward(question.raw, own)
            answer = reply.raw.encode()
            kind = "text/event-stream" if is_event_stream(answer) else "application/json"
            return Answered(reply, as_is=WireAnswer(answer, kind))
        return Answered(await inner.complete(own))

    async def _conversation(self, request: Request, address: Address) -> AgentConversation:
        """The conversation that a request goes on with, or a new one."""
        key = (address.item, address.repeat)
        for conversation, _ in self._conversations.get(key, ()):
            # In the middle of a turn it belongs to its unit, and others of the item may run at the same time.
            is_free = conversation not in self._busy
            is_free &= conversation.unit == address.unit or not conversation.is_in_turn
            if is_free and conversation.continues(request.messages, request.tools):
                conversation.unit = address.unit
                self._busy.add(conversation)
                return conversation
        for conversation, _ in list(self._conversations.get(key, ())):
            if conversation not in self._busy and not conversation.is_in_turn:
                # Nothing continues it, most likely; what does, begins anew.
                await self._end(conversation, address)
        return await self._begin(request, address)

    async def _begin(self, request: Request, its: Address) -> AgentConversation:
        doors = await self._open()
        instructions = _instructions(request.messages)
        model = self._inner.endpoint_name if isinstance(self._inner, HttpModel) else self._inner.name
        conversation = AgentConversation(
            self._agent.name, request.tools, self._agent.traits, self._patience_s, model
        )
        address = doors.admit(conversation)
        conversation.unit = its.unit
        self._busy.add(conversation)
        self._conversations.setdefault((its.item, its.repeat), []).append((conversation, address))
        self._started += 1
        folder = self._folder / str(self._started)
        for part in ("home", "work", "tmp"):
            (folder / part).mkdir(parents=True)
        place = Place(
            folder=folder,
            base_url=address,
            model=model,
            instructions="\n\n".join(written_text(each) or "" for each in instructions),
            tools=request.tools,
            answers_by=conversation.answers_by,
            call_tool=lambda name, arguments, id_: conversation.call_tool(name, arguments, {"id": id_}),
            socket=doors.socket,
            date=_date_in(instructions),
        )
        try:
            await conversation.begin(await self._agent.start(place), instructions)
        except BaseException:
            await self._end(conversation, its)
            raise
        return conversation

    async def _open(self) -> Doors:
        async with self._opening:
            if self._doors is None:
                self._folder = self._kept.enter_context(temporary_folder())
                doors = Doors(self._folder / "doors")
                await doors.open()
                self._doors = doors
        return self._doors

    async def _end(self, conversation: AgentConversation | None, address: Address) -> None:
        its = self._conversations.get((address.item, address.repeat), [])
        for each, place in [entry for entry in its if entry[0] is conversation]:
            its.remove((each, place))
            await self._close(each, place)

    async def _close(self, conversation: AgentConversation, place: str) -> None:
        await conversation.close()
        if self._doors is not None:
            self._doors.dismiss(place)


def _kind(error: Exception) -> str:
    """The kind of a call that failed by its agent."""
    if isinstance(error, ToolsMissingError):
        return TOOLS_MISSING
    return AGENT_DIFFERS if isinstance(error, DiffersError) else AGENT_FAILED


def _instructions(messages: Sequence[Message]) -> list[Message]:
    """The messages at the beginning that are no turn of anybody."""
    return list(takewhile(lambda message: message.get("role") in INSTRUCTION_ROLES, messages))


def _date_in(instructions: Sequence[Message]) -> datetime | None:
    """When a conversation takes place, where its instructions have one day and time."""
    found = {
        match for message in instructions for match in _DAY_AND_TIME.findall(written_text(message) or "")
    }
    try:
        return datetime.fromisoformat(found.pop()) if len(found) == 1 else None
    except ValueError:
        return None


def _with_one_system(messages: Sequence[Message]) -> Sequence[Message]:
    """Messages with all system texts at the beginning in one, since many endpoints take no second."""
    first = _instructions(messages)
    if len(first) < 2:
        return messages
    text = "\n\n".join(written_text(message) or "" for message in first)
    return [{**first[0], "content": text}, *messages[len(first) :]]


def _takes_as_is(model: HttpModel, question: Asked) -> bool:
    """Whether an endpoint speaks the agent's wire, so that the agent's bytes go to it unchanged."""
    return (
        _wire(model) == question.wire
        and question.model == model.endpoint_name
        and model.takes_as_is(stream=question.stream)
    )


def _wire(model: HttpModel) -> Wire | None:
    """The wire that an endpoint speaks."""
    return wire_of(f"/v1beta/models{model.path}" if model.path.startswith("/{") else f"/v1{model.path}")
