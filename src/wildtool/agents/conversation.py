"""One agent in one conversation: what its user says is given to it, what it asks its model is answered, and so is what it
asks its tools, all in the order in which the benchmark goes on."""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import takewhile
from typing import Any

from wildtool.agents.agent import AgentFailedError, LiveAgent, ToolAnswer, Traits, TurnEnd
from wildtool.agents.harness import HarnessNotes
from wildtool.agents.messages import (
    is_repeated,
    same_conversation,
    with_ids,
    with_names,
    without_calls,
)
from wildtool.agents.steps import CallStep, StepCall
from wildtool.agents.tool_names import AnswerTool, offered_names
from wildtool.agents.wires import WIRE_FORMATS
from wildtool.agents.wires.base import Asked, WireAnswer
from wildtool.alter.tool_answers import NO_RESULT
from wildtool.episode import written_text
from wildtool.errors import CallError
from wildtool.json_codec import as_object, as_objects, canonical_json
from wildtool.models.token_usage import summed_usage
from wildtool.reply_ends import End, end_of
from wildtool.shapes import tool_name
from wildtool.shapes.keys import FUNCTION
from wildtool.types import HARNESS, Message, Reply, Tool

MOST_OWN_STEPS = 50
"""Steps of its own that an agent makes for one reply; one that makes more is in a loop."""
STOPPED_TEXT = "…"
"""What ends a turn of the agent where the benchmark says no more, but the user goes on."""
_THE_MODELS_ENDS = (End.CUT, End.FILTERED, End.REFUSED, End.MALFORMED)
"""Ends of replies at which agents report a failed endpoint, although the endpoint did not fail."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What the model said."""

    reply: Reply
    is_ours: bool = False
    """Whether its calls have the benchmark's names, and not those by which the agent offers its tools."""
    as_is: WireAnswer | None = None
    """The answer to the byte, where it is in the agent's own wire."""


AskModel = Callable[[Asked], Awaitable[Answered]]
"""Answers what the agent asks its model."""


class DiffersError(AgentFailedError):
    """An agent that is to live through an earlier conversation goes another way."""


class ToolsMissingError(AgentFailedError):
    """An agent asks its model without some tools of the conversation."""


@dataclass(slots=True)
class PendingAsk:
    """A question to the model that is not answered yet."""

    question: Asked
    digest: bytes
    """Of its body: equal ones are the same question, sent again."""
    answer: "asyncio.Future[WireAnswer]"


class AgentConversation:
    """See the module. Calls of `play` come one after another."""

    def __init__(
        self, name: str, tools: Sequence[Tool], traits: Traits, patience_s: float, model: str = ""
    ) -> None:
        """Args:
        name: of the agent, for messages.
        model: the name by which the agent asks for its model.
        patience_s: seconds that it may take between two things that it does.
        """
        self.name = name
        self.tools = list(tools)
        self.traits = traits
        self.model = model
        self.lived: list[Message] = []
        """The benchmark's messages that it has lived through."""
        self.unit = ""
        """The unit that plays in it."""
        self.closed = False
        self._patience_s = patience_s
        self._live: LiveAgent | None = None
        self._turn: asyncio.Task[TurnEnd] | None = None
        self._asks: deque[PendingAsk] = deque()
        self._uninvited: deque[StepCall] = deque()
        """Calls at the tool door that belong to no reply, of an agent whose model is not seen."""
        self._executed = 0
        """How many such calls there were."""
        self._happened = asyncio.Event()
        self._names: dict[str, str] | None = None
        """By a tool's own name the one that the agent offers it by; None before its first question."""
        self._own_tools: frozenset[str] = frozenset()
        self._answer_tool: AnswerTool | None = None
        """The agent's own tool by which it ends a turn; None where a text ends it."""
        self._own_answer: str | None = None
        """The answer in the last call of that tool, where the last reply has one."""
        self._said: Message | None = None
        """The last reply of the model, which the benchmark's next messages repeat."""
        self._step = CallStep()
        self._notes = HarnessNotes()
        self._answered: dict[bytes, WireAnswer] = {}
        """By digest the answer to the last question."""
        self._refusal = ""
        """Why its last question was refused, in words."""
        self._kept_back: Reply | None = None
        """What the model said since the last reply of the benchmark, and the agent kept to itself."""
        self._model_s = 0.0

    # What the benchmark asks ---------------------------------------------------------------------

    async def begin(self, live: LiveAgent, instructions: Sequence[Message]) -> None:
        """Takes the agent that was started for it."""
        self._live = live
        self.lived = list(instructions)

    def continues(self, messages: Sequence[Message], tools: Sequence[Tool]) -> bool:
        """Whether messages go on from what it has lived through, with the same tools."""
        if self.closed or self._live is None or list(tools) != self.tools:
            return False
        if not same_conversation(self.lived, messages[: len(self.lived)]):
            return False
        repeated = messages[len(self.lived) : len(self.lived) + 1]
        return self._said is None or not repeated or is_repeated(repeated[0], self._said)

    @property
    def is_in_turn(self) -> bool:
        """Whether the agent has not ended its turn."""
        return self._turn is not None

    async def play(self, messages: Sequence[Message], answer: AskModel) -> Reply:
        """Goes on to the end of some messages, and gives what the model says next.

        Args:
            messages: the whole conversation as the benchmark has it.

        Raises AgentFailedError, CallError where the model could not be asked (the same call then goes on), DiffersError.
        """
        start = time.monotonic()
        self._model_s = 0.0
        await self._play_in(messages)
        reply = await self._next_reply(answer)
        notes = self._notes.take(max(0.0, time.monotonic() - start - self._model_s))
        return replace(reply, message={**reply.message, HARNESS: notes})

    async def close(self) -> None:
        """Ends the agent."""
        self.closed = True
        self._step.close()
        for ask in self._asks:
            ask.answer.cancel()
        if self._turn is not None:
            self._turn.cancel()
        if self._live is not None:
            await self._live.close()
        if self._turn is not None:
            await asyncio.gather(self._turn, return_exceptions=True)
            self._turn = None

    # What arrives at the doors --------------------------------------------------------------------

    async def ask_model(self, question: Asked, *, is_retry: bool) -> WireAnswer:
        """Waits for the answer to a question to the model; one without tools of the conversation is answered at once."""
        if self.closed:
            return WIRE_FORMATS[question.wire].error(503, "the conversation is over")
        if self.tools and not offered_names(self.tools, question.tools):
            self._notes.side_requests += 1
            return WIRE_FORMATS[question.wire].write(
                {"role": "assistant", "content": "OK"}, question, {}, "stop"
            )
        digest = sha256(canonical_json(dict(question.body))).digest()
        if is_retry:
            self._notes.retries += 1
            if digest in self._answered:
                return self._answered[digest]
        ask = PendingAsk(question, digest, asyncio.get_running_loop().create_future())
        self._asks.append(ask)
        self._happened.set()
        try:
            return await ask.answer
        finally:
            # A client that went away is not answered.
            if ask in self._asks:
                self._asks.remove(ask)

    async def call_tool(self, name: str, arguments: Any, meta: Mapping[str, Any]) -> ToolAnswer:
        """Executes a call: what the benchmark has for it is the answer, as soon as it goes on."""
        if self.closed:
            return ToolAnswer("the conversation is over", is_error=True)
        if not self.traits.asks_model:
            self._executed += 1
            call = self._new_call(name, arguments, f"call_{self._executed}")
            self._uninvited.append(call)
            self._happened.set()
            return await asyncio.shield(call.result)
        call = self._step.find(name, arguments, meta)
        if call is None:
            self._notes.uninvited(name, arguments)
            return ToolAnswer(NO_RESULT, is_error=True)
        self._step.arrive(call, name, arguments)
        return await asyncio.shield(call.result)

    def answers_by(self, tool: str, argument: str) -> None:
        """Learns that a turn ends by a call of one of the agent's own tools."""
        self._answer_tool = AnswerTool(tool, argument)

    def asked_beside(self) -> None:
        self._notes.side_requests += 1

    def asked_wrongly(self, problem: str) -> None:
        """Notes a question that could not be read, for what is said if the agent ends by it."""
        self._refusal = f"; its question was refused here: {problem}"

    # Playing in ------------------------------------------------------------------------------------

    async def _play_in(self, messages: Sequence[Message]) -> None:
        """Lives through messages up to their end."""
        while len(self.lived) < len(messages):
            message = messages[len(self.lived)]
            match message.get("role"):
                case "user":
                    said = [*_users_at_once(messages[len(self.lived) :])]
                    await self._begin_turn("\n\n".join(map(self._user_text, said)))
                    self.lived += said
                    continue
                case "assistant":
                    await self._say_again(message)
                case "tool":
                    self._step.give(message)
                case role:
                    raise CallError(
                        "unsendable request",
                        f"{self.name} cannot be given a message of the role {role!r} in the middle of a conversation",
                        final=True,
                    )
            self.lived.append(message)
            if message.get("role") == "tool" and not _is_result(messages, len(self.lived)):
                # The benchmark has no more for this step.
                self._step.close()

    async def _begin_turn(self, text: str) -> None:
        """Gives the agent what the user says, after its turn before."""
        await self._end_turn()
        assert self._live is not None, "started before"
        self._said = None
        self._step = CallStep()
        self._turn = asyncio.create_task(self._live.turn(text))
        self._turn.add_done_callback(lambda _: self._happened.set())

    def _user_text(self, message: Message) -> str:
        """What the user says. Raises CallError where it is more than text."""
        kinds = {str(part.get("type")) for part in as_objects(message.get("content"))} - {"text"}
        if kinds:
            raise CallError(
                "unsendable request",
                f"{self.name} is given texts, and the user says a part {min(kinds)!r}",
                final=True,
            )
        return written_text(message) or ""

    async def _end_turn(self) -> None:
        """Waits until the agent has ended its turn, which the benchmark has ended."""
        self._step.close()
        for _ in range(MOST_OWN_STEPS):
            if self._turn is None:
                return
            if not await self._ask_or_end():
                self._finish_turn()
            elif self._uninvited:
                self._uninvited.popleft().result.set_result(ToolAnswer(NO_RESULT, is_error=True))
            else:
                self._say(self._asks[0], {"role": "assistant", "content": STOPPED_TEXT})
        raise AgentFailedError(f"{self.name} does not end its turn, however often its model does")

    async def _say_again(self, message: Message) -> None:
        """Answers in the model's place what it said before; nothing where it just did."""
        if self._said is not None:
            self._step.take_ids(as_objects(message.get("tool_calls")))
            self._said = None
            return
        if not self.traits.asks_model:
            raise DiffersError(
                f"{self.name}: its model is not asked here, so it cannot be given earlier turns"
            )
        if not await self._ask_or_end():
            end = self._finish_turn()
            raise DiffersError(
                f"{self.name} ended its turn ({end.kind}: {end.text or end.detail}), and the earlier conversation does "
                "not end there"
            )
        ask, message = self._asks[0], with_ids(message)
        self._look_at_first(ask.question)
        self._begin_step(message)
        self._say(ask, message)
        if not message.get("tool_calls"):
            await self._until_end()

    async def _until_end(self) -> None:
        """Waits for the end of a turn whose last text was said again."""
        if await self._ask_or_end():
            raise DiffersError(f"{self.name} asks its model again after a text that ended the turn before")
        self._finish_turn()

    # What comes next ---------------------------------------------------------------------------------

    async def _next_reply(self, answer: AskModel) -> Reply:
        """The next reply that is the benchmark's."""
        for _ in range(MOST_OWN_STEPS):
            if not await self._ask_or_end():
                return self._reply_of_end()
            if self._uninvited:
                return self._reply_of_call(self._uninvited.popleft())
            ask = self._asks[0]
            self._notes.note_question(ask.question, self._step)
            self._look_at_first(ask.question)
            answered = await self._timed(answer(ask.question))
            reply = answered.reply
            message = with_ids(reply.message)
            sent = self._as_it_expects(message) if answered.is_ours else message
            self._own_answer = self._answer_tool and self._answer_tool.answer_in(sent)
            own = with_names(without_calls(sent, self._own_tools), self._own_names)
            self._kept_back = _together(self._kept_back, replace(reply, message=own))
            self._begin_step(own)
            self._deliver(ask, sent, reply.usage, reply.finish_reason, answered.as_is)
            if own.get("tool_calls"):
                self._said = own
                return self._given(self._kept_back)
            # A text is the end of the turn, unless the agent thinks otherwise.
            is_end = self._own_answer is not None or not sent.get("tool_calls")
            if is_end and not await self._ask_or_end():
                return self._reply_of_end()
            self._notes.own_step(as_objects(sent.get("tool_calls")), reply.usage)
        return await self._reply_of_stopped_turn()

    async def _reply_of_stopped_turn(self) -> Reply:
        """The reply of a turn in which its model went on and on with steps of its own: it has no answer, and is judged.

        The agent is ended, and what comes next is played by a new one.
        """
        await self.close()
        last = self._kept_back
        assert last is not None, "each step has a reply"
        end = TurnEnd("limit", detail=f"stopped after {MOST_OWN_STEPS} own steps in a row")
        self._notes.turn_ended(end, written_text(last.message) or "")
        return self._given(replace(last, message={"role": "assistant", "content": ""}))

    async def _timed(self, answering: Awaitable[Answered]) -> Answered:
        """An answer of the model, whose time is not the agent's."""
        start = time.monotonic()
        try:
            return await answering
        finally:
            self._model_s += time.monotonic() - start

    def _given(self, reply: Reply) -> Reply:
        """A reply that is given to the benchmark, with all that its model took."""
        self._kept_back = None
        return reply

    @property
    def usage(self) -> Mapping[str, Any]:
        """What the model took since the last reply of the benchmark."""
        return self._kept_back.usage if self._kept_back else {}

    def _reply_of_end(self) -> Reply:
        """The reply that the end of a turn is: the agent's last text."""
        if self.traits.asks_model:
            self._notes.ended(self._step)
        end, last = self._finish_turn(), self._kept_back
        if last is not None and end_of(last) in _THE_MODELS_ENDS:
            # Its model's reply was cut off or declined, and is judged as that of a bare model would be.
            end = replace(end, kind="limit", text=written_text(last.message) or "")
        words = f"{end.detail or end.text or 'it said nothing'}{self._refusal}"
        if end.kind in ("endpoint", "failed"):
            raise AgentFailedError(f"{self.name} ended its turn by {end.kind}: {words}")
        if self.traits.asks_model and self._names is None and self.tools:
            raise AgentFailedError(
                f"{self.name} never asked its model with the tools of the conversation: {words}"
            )
        reply = last or Reply({"role": "assistant", "content": ""})
        said = self._own_answer or written_text(reply.message) or ""
        self._notes.turn_ended(end, said if self.traits.asks_model else end.text)
        message = {key: value for key, value in reply.message.items() if key != "tool_calls"}
        self._said = {**message, "role": "assistant", "content": end.text}
        return self._given(replace(reply, message=self._said))

    def _reply_of_call(self, call: StepCall) -> Reply:
        """The reply that a call at the tool door is, where its model is not seen."""
        self._step.calls.append(call)
        said = {
            "id": call.id,
            "type": "function",
            FUNCTION: {"name": call.name, "arguments": call.arguments},
        }
        self._said = {"role": "assistant", "content": None, "tool_calls": [said]}
        return Reply(self._said)

    # Parts ---------------------------------------------------------------------------------------------

    async def _ask_or_end(self) -> bool:
        """Waits until the agent asks its model (True; also for a call of one whose model is not seen), or has ended its
        turn (False). Raises AgentFailedError where it does neither for too long."""
        deadline = time.monotonic() + self._patience_s
        while True:
            self._happened.clear()
            if self._asks or self._uninvited:
                return True
            if self._turn is None or self._turn.done():
                return False
            try:
                async with asyncio.timeout(deadline - time.monotonic()):
                    await self._happened.wait()
            except TimeoutError:
                raise AgentFailedError(
                    f"{self.name} neither asked its model nor ended its turn within {self._patience_s:.0f} s"
                ) from None

    def _finish_turn(self) -> TurnEnd:
        """The end of the turn. Raises AgentFailedError where the agent failed in it."""
        turn, self._turn = self._turn, None
        if turn is None:
            raise AgentFailedError(f"{self.name} has no turn that could end")
        try:
            return turn.result()
        except AgentFailedError as error:
            raise AgentFailedError(f"{error}{self._refusal}") from error

    def _say(self, ask: PendingAsk, message: Message) -> None:
        """Answers a question by a message of the benchmark."""
        self._deliver(ask, self._as_it_expects(message), {}, None)

    def _deliver(
        self,
        ask: PendingAsk,
        message: Message,
        usage: Mapping[str, Any],
        reason: str | None,
        as_is: WireAnswer | None = None,
    ) -> None:
        """Answers a question, and all that ask the same; whoever went away meanwhile gets the answer if it asks again.

        Args: as_is: the bytes of the answer, where there are some.
        """
        answer = as_is or WIRE_FORMATS[ask.question.wire].write(message, ask.question, usage, reason)
        self._answered = {ask.digest: answer}
        self._notes.changes(answer.changes)
        same = [each for each in self._asks if each.digest == ask.digest]
        for each in same:
            self._asks.remove(each)
            if not each.answer.done():
                each.answer.set_result(answer)

    def _look_at_first(self, question: Asked) -> None:
        """Learns from the first question how the agent offers the tools. Raises AgentFailedError if one is missing."""
        if self._names is not None:
            return
        names = offered_names(self.tools, question.tools)
        missing = [name for tool in self.tools if (name := tool[FUNCTION]["name"]) not in names]
        if missing:
            raise ToolsMissingError(
                f"{self.name} asks its model without {len(missing)} of the {len(self.tools)} tools: "
                f"{', '.join(missing[:5])}. Nothing can be judged so"
            )
        self._names = names
        offered = {tool[FUNCTION]["name"] for tool in question.tools}
        self._own_tools = frozenset(offered - set(names.values()))
        self._notes.tools_offered(self.tools, question.tools, names)

    def _begin_step(self, message: Message) -> None:
        """Begins the step of a reply."""
        self._step.close()
        self._step = CallStep()
        for call in as_objects(message.get("tool_calls")):
            arguments = as_object(call.get(FUNCTION)).get("arguments")
            self._step.calls.append(self._new_call(tool_name(call), arguments, str(call.get("id"))))

    def _new_call(self, name: str, arguments: Any, id_: str) -> StepCall:
        text = arguments if isinstance(arguments, str) else canonical_json(arguments).decode()
        return StepCall(name, text, id_, id_, asyncio.get_running_loop().create_future())

    def _as_it_expects(self, message: Message) -> Message:
        """A message of the benchmark as the agent's model would say it: with its names of the tools, and an answer by the
        tool that is for it."""
        if message.get("tool_calls") or self._answer_tool is None:
            return with_names(message, self._names or {})
        return self._answer_tool.saying(written_text(message) or "")

    @property
    def _own_names(self) -> Mapping[str, str]:
        """By the name that the agent offers the tool's own one."""
        return {offered: own for own, offered in (self._names or {}).items()}


def _users_at_once(messages: Sequence[Message]) -> Iterator[Message]:
    """The first messages, as long as they are the user's."""
    return takewhile(lambda message: message.get("role") == "user", messages)


def _is_result(messages: Sequence[Message], place: int) -> bool:
    return place < len(messages) and messages[place].get("role") == "tool"


def _together(earlier: Reply | None, reply: Reply) -> Reply:
    """A reply with what the ones before it took, which the agent kept to itself."""
    if earlier is None:
        return reply
    return replace(
        reply,
        usage=summed_usage(earlier.usage, reply.usage),
        latency_s=earlier.latency_s + reply.latency_s,
        changes=tuple(dict.fromkeys((*earlier.changes, *reply.changes))),
        requests=earlier.requests + reply.requests,
    )
