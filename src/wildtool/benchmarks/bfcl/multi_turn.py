"""Multi-turn entries: turns of steps, whose calls run on simulated classes until a reply has none; the check of state and
results after every turn, and the mistakes of an audit."""

import ast
import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from wildtool.benchmark import Check, Mutant, Rules, accepts
from wildtool.benchmarks.bfcl.decode import (
    DecodedCall,
    DecodeError,
    call_texts,
    decode_python,
    native_call_texts,
    native_result,
    text_to_decode,
)
from wildtool.benchmarks.bfcl.gold import PlainCall, fc_message, written_message
from wildtool.benchmarks.bfcl.originals import hinted, openai_tools, original_texts
from wildtool.benchmarks.bfcl.prompt_forms import Documents, with_system
from wildtool.benchmarks.bfcl.records import MultiTurnRecord
from wildtool.benchmarks.bfcl.rules import Mistake, call_mistakes
from wildtool.benchmarks.bfcl.simulated import EXECUTION_ERROR, SimulatedApis
from wildtool.episode import fields_with_calls, provider_fields, written_text
from wildtool.json_codec import as_object, as_objects
from wildtool.toolcall.call_syntax import dotted_name, parse_expression
from wildtool.toolcall.mutations import ArgumentMutation, value_mutants
from wildtool.types import Episode, Item, Message, Request

FORCE_TERMINATED = "multi_turn:force_terminated"
EMPTY_TURN = "multi_turn:empty_turn_model_response"
STATE_MISMATCH = "multi_turn:instance_state_mismatch"
RESPONSE_MISMATCH = "multi_turn:execution_response_mismatch"
UNREAD_CALL = "multi_turn:unread_call"
"""Of profile `fixed` alone (M7)."""

TurnCalls = Sequence[Sequence[str]]
"""The calls of one turn, step by step, each as Python text."""

# Checking ---------------------------------------------------------------------------------------------


def check_turns(record: MultiTurnRecord, turns: Sequence[TurnCalls], *, strict: bool = False) -> Check:
    """Plays the model's calls and the expected ones on separate instances, and compares them after each turn.

    Source: sections 7.2 and 7.3 of the specification. Pure, and never raises.

    Args:
        turns: the decoded calls of each turn; steps without calls are left out.
        strict: as under `fixed`: forces are compared too, also after turns without expected calls (M1, M2), and a
            reading leaves later ids as they are (M4).
    """
    if len(turns) != len(record.ground_truth):
        reason = f"stopped: {len(turns)} turns, expected {len(record.ground_truth)}"
        return Check(False, FORCE_TERMINATED, reason)
    model, truth = record.instances(steady=strict), record.instances(steady=strict)
    results: Counter[str] = Counter()
    pairs = [
        ([call for step in steps for call in step], expected)
        for steps, expected in zip(turns, record.ground_truth, strict=True)
    ]
    for number, (actual, gold, differing) in enumerate(model.beside(truth, pairs, hidden=strict)):
        expected = record.ground_truth[number]
        results.update(actual)
        if not expected and not strict:
            continue  # what was called without a need counts by its effects, after the next turn
        place = {"turn": number}
        if expected and not actual:
            return Check(False, EMPTY_TURN, f"turn {number}: no call; expected {expected[0]}", detail=place)
        for name, attributes in differing:
            reason = f"turn {number}: other state of {name}: {', '.join(attributes)}"
            return Check(
                False, STATE_MISMATCH, reason, detail={**place, "class": name, "attributes": attributes}
            )
        missing = list((Counter(gold) - results).elements())
        if missing:
            reason = f"turn {number}: {len(missing)} expected results are missing, such as {missing[0][:200]}"
            return Check(False, RESPONSE_MISMATCH, reason, detail={**place, "missing": missing})
    return Check(True, reason="the state is right after every turn, and all expected results were seen")


def multi_turn_faults(record: MultiTurnRecord) -> Iterator[tuple[str, str]]:
    """For a check of the data: rule and message of each expected call that fails."""
    for call, result in zip(record.answers, record.instances().execute(record.answers), strict=True):
        if result.startswith((EXECUTION_ERROR, '{"error": ')):
            yield "expected call fails", f"{call}: {result}"


# Gold -------------------------------------------------------------------------------------------------


def plain_call(call: str, parameters: Mapping[str, Sequence[str]]) -> tuple[str, dict[str, Any]]:
    """An expected call as name and arguments by name: models cannot give arguments by position. Raises ValueError.

    Args:
        parameters: tool to the names of its parameters.
    """
    node = parse_expression(call)
    if not isinstance(node, ast.Call):
        raise ValueError(f"expected a call, found {call!r}")
    name = dotted_name(node.func)
    by_place = zip(parameters.get(name, ()), map(ast.literal_eval, node.args), strict=False)
    by_name = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in node.keywords}
    return name, {**dict(by_place), **by_name}


MAX_STEPS = 20
"""Steps with calls that a turn may have; after one more the whole entry is stopped."""


@dataclass(frozen=True, slots=True)
class WaitingStep:
    """A reply whose calls were not run yet."""

    reply: Message
    calls: list[str]


class MultiTurnEpisode(ABC):
    """The state machine of one entry; subclasses know how calls are written and results are shown."""

    def __init__(self, record: MultiTurnRecord, apis: SimulatedApis | None = None) -> None:
        """Args: apis: on which calls run; None for fresh instances of the entry's classes."""
        self.turns: list[list[list[str]]] = []
        """The calls of each turn so far, step by step, each as Python text."""
        self.endings: list[Message] = []
        """The reply that ended each turn so far."""
        self._record = record
        self._apis = apis or record.instances()
        self._messages: list[Message | WaitingStep] = []
        self._done = False
        self.stopped = False
        """Whether a turn had more steps than it may have."""
        self._begin_turn()

    @property
    def done(self) -> bool:
        return self._done

    @property
    def calls(self) -> int:
        """Calls made so far."""
        return sum(len(step) for turn in self.turns for step in turn)

    def facts(self) -> Mapping[str, Any]:
        """Where its classes are now: the current folder, who is logged in, balances; by class and name."""
        self.settle()
        return self._apis.facts()

    def request(self) -> Request | None:
        return None if self._done else self._request(self.settle())

    def settle(self) -> list[Message]:
        """Runs the calls that wait, all at once, and returns the messages so far: a record is judged without them."""
        waiting = [step.calls for step in self._messages if isinstance(step, WaitingStep)]
        if waiting:
            results = iter(self._apis.execute([call for calls in waiting for call in calls]))
            settled = list[Message]()
            for step in self._messages:
                if isinstance(step, WaitingStep):
                    settled += self._answer(step.reply, step.calls, list(islice(results, len(step.calls))))
                else:
                    settled.append(step)
            self._messages = [*settled]
        return [step for step in self._messages if not isinstance(step, WaitingStep)]

    def advance(self, reply: Message) -> None:
        if self._done:
            return
        calls = self.calls_in(reply)
        if calls:
            self._messages.append(WaitingStep(reply, calls))
            self._end_step(calls)
        else:
            self._messages.append(_plain_entry(reply))
            self.endings.append(reply)
            self._begin_turn()

    def calls_in(self, reply: Message) -> list[str]:
        """The calls of a reply as Python text; none where it cannot be read as calls."""
        try:
            calls = self._calls(reply)
        except DecodeError:
            return []  # a text for the user ends the turn
        return [] if calls == [""] else calls

    def answered(self, reply: Message, calls: list[str], results: Sequence[str]) -> None:
        """Takes a reply whose calls gave these results."""
        self._messages.extend(self._answer(reply, calls, results))
        self._end_step(calls)

    def _end_step(self, calls: list[str]) -> None:
        self.turns[-1].append(calls)
        self.stopped = self._done = len(self.turns[-1]) > MAX_STEPS

    def _begin_turn(self) -> None:
        turn = len(self.turns)
        if turn == len(self._record.turns):
            self._done = True
            return
        self.turns.append([])
        self._messages.extend(self._record.turns[turn])
        if added := self._record.withheld.get(turn):
            self._messages.append({"role": "user", "content": self._notice(added)})

    def _gold(self, style: str) -> Message:
        expected = self._record.ground_truth[len(self.turns) - 1]
        count = len(self.turns[-1])
        remaining = expected[count : count + 1] if style == "serial" else expected if count == 0 else ()
        return self._message([plain_call(call, self._record.parameters) for call in remaining])

    @abstractmethod
    def _request(self, messages: list[Message]) -> Request: ...

    @abstractmethod
    def _notice(self, added: Documents) -> str:
        """What the user says when withheld functions are supplied."""

    @abstractmethod
    def _calls(self, reply: Message) -> list[str]:
        """The calls of a reply as Python text. Raises DecodeError."""

    @abstractmethod
    def _answer(self, reply: Message, calls: Sequence[str], results: Sequence[str]) -> list[Message]:
        """A reply with calls, and their results, as the model sees them afterwards."""

    @abstractmethod
    def _message(self, calls: Sequence[PlainCall]) -> Message:
        """A reply that makes these calls, or says that there is nothing to call."""


class NativeMultiTurn(MultiTurnEpisode):
    """Native tools and calls; each result is a separate message."""

    def _request(self, messages: list[Message]) -> Request:
        functions: list[Any] = hinted(self._record.functions, "python")
        for turn, added in self._record.withheld.items():
            # As in the original they come last, and say nothing about the language.
            functions += added if turn < len(self.turns) else ()
        return Request(messages, openai_tools(functions), gold=self._gold)

    def _notice(self, added: Documents) -> str:
        return original_texts().notice

    def _calls(self, reply: Message) -> list[str]:
        return native_call_texts(native_result(reply))

    def _answer(self, reply: Message, calls: Sequence[str], results: Sequence[str]) -> list[Message]:
        entry: Message = {
            "role": "assistant",
            "content": reply.get("content"),
            "tool_calls": reply["tool_calls"],
            **fields_with_calls(reply),
        }
        ids = [as_object(call).get("id") for call in as_objects(reply["tool_calls"])]
        answers = zip(ids, results, strict=False)
        return [entry, *({"role": "tool", "tool_call_id": id_, "content": text} for id_, text in answers)]

    def _message(self, calls: Sequence[PlainCall]) -> Message:
        return fc_message(calls)


class PromptMultiTurn(MultiTurnEpisode):
    """Functions in the system prompt, calls in brackets; the results of a step are one message of the user."""

    def __init__(
        self,
        record: MultiTurnRecord,
        apis: SimulatedApis | None = None,
        decode: Callable[[str, Documents], list[DecodedCall]] = lambda text, _: decode_python(text),
    ) -> None:
        """Creates the episode.

        Args:
            apis: on which calls run; None for fresh instances of the entry's classes.
            decode: gives the calls of a text, with the documents of all functions; raises DecodeError.
        """
        self._decode = decode
        super().__init__(record, apis)

    def _request(self, messages: list[Message]) -> Request:
        text = original_texts().system_prompt(hinted(self._record.functions, "python"))
        return Request(with_system(messages, text), gold=self._gold)

    def _notice(self, added: Documents) -> str:
        return original_texts().written_notice(added)

    def _calls(self, reply: Message) -> list[str]:
        return call_texts(self._decode(text_to_decode(reply), self._record.documents))

    def _answer(self, reply: Message, calls: Sequence[str], results: Sequence[str]) -> list[Message]:
        answers = [
            {"role": "tool", "name": call, "content": text} for call, text in zip(calls, results, strict=True)
        ]
        return [_plain_entry(reply), {"role": "user", "content": repr(answers)}]

    def _message(self, calls: Sequence[PlainCall]) -> Message:
        return written_message(calls, "python")


def _plain_entry(reply: Message) -> Message:
    return {"role": "assistant", "content": written_text(reply) or "", **provider_fields(reply)}


UNREAD_MISTAKE = "call in JSON in a tag at the end"
"""Kind of a mistake: the last reply has a call in a form that is not read."""


@dataclass(frozen=True, slots=True)
class MultiTurnRules(Rules):
    """State and results after every turn, natively or with calls in brackets."""

    native: bool

    def episode(self, item: Item, unit: str) -> Episode:
        return self.dialogue(item.data, item.data.instances())

    def dialogue(self, record: MultiTurnRecord, apis: SimulatedApis) -> MultiTurnEpisode:
        """The episode of a dialogue whose calls run on given instances."""
        if self.native:
            return NativeMultiTurn(record, apis)
        return PromptMultiTurn(record, apis)

    def verdict(self, episode: Any, item: Item, unit: str) -> Check:
        turns: MultiTurnEpisode = episode
        return replace(self.check(item.data, turns), fields={"decoded_calls": turns.calls})

    def facts(self, episode: Any, item: Item, unit: str) -> Mapping[str, Any]:
        turns: MultiTurnEpisode = episode
        return turns.facts()

    def check(self, record: MultiTurnRecord, episode: MultiTurnEpisode) -> Check:
        """What the rules decide about an episode that has ended."""
        return check_turns(record, episode.turns)

    def mutants(self, item: Item) -> Iterator[Mutant]:
        record: MultiTurnRecord = item.data
        gold = [[plain_call(call, record.parameters) for call in calls] for calls in record.ground_truth]
        if not accepts(self, item, "0", self._replies(gold)):
            return
        constants = {
            tool["function"]["name"]: tool["function"]["parameters"]
            for tool in openai_tools(record.documents)
        }
        for turn, calls in enumerate(gold):
            for kind, mutated, note in _mistakes(calls, constants):
                replies = self._replies([*gold[:turn], mutated, *gold[turn + 1 :]])
                yield Mutant("0", kind, tuple(replies), f"turn {turn}: {note}")
        *replies, last = self._replies(gold)
        for name in list(constants)[:1]:
            text = f"<tool_call>{json.dumps({'name': name, 'arguments': {}})}</tool_call>"
            yield Mutant("0", UNREAD_MISTAKE, (*replies, {**last, "content": text}), name)

    def explain(self, item: Item, mutant: Mutant) -> str:
        return (
            "M7" if mutant.kind == UNREAD_MISTAKE else "M3"
        )  # what is left out or refused had no other effect

    def _replies(self, turns: Sequence[Sequence[PlainCall]]) -> Iterator[Message]:
        """All calls of a turn at once, then a text."""
        for calls in turns:
            if calls:
                yield fc_message(calls) if self.native else written_message(calls, "python")
            yield fc_message(())


def _mistakes(calls: Sequence[PlainCall], constants: dict[str, Any]) -> Iterator[Mistake]:
    """Kind, calls and note of one turn's calls with one mistake each: of wrong values the first for each call."""

    def first_value(place: int) -> Iterator[ArgumentMutation]:
        name, arguments = calls[place]
        return islice(value_mutants(arguments, as_object(constants.get(name))), 1)

    if calls:
        yield "turn without calls", [], "no call"
    yield from call_mistakes(calls, (), first_value)
