"""How an entry is put to a model in each mode, what its reply decodes to, and what the rules decide."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from wildtool.benchmark import Check, Mutant, Rules
from wildtool.benchmarks.bfcl.categories import Language
from wildtool.benchmarks.bfcl.checker import SYNTAXES, UNREADABLE_ENTRY, Fault, check_calls, dict_error
from wildtool.benchmarks.bfcl.decode import (
    DecodeError,
    decode_native,
    decode_python,
    is_call_list,
    native_result,
    text_to_decode,
)
from wildtool.benchmarks.bfcl.gold import (
    DECODERS,
    PlainCall,
    fc_message,
    first_accepted_calls,
    written_message,
)
from wildtool.benchmarks.bfcl.originals import hinted, openai_tools, original_texts
from wildtool.benchmarks.bfcl.prompt_forms import DEFAULT_FORM, PromptForm, with_system
from wildtool.benchmarks.bfcl.records import AcceptedCall, BfclEntry
from wildtool.episode import SingleReply, written_text
from wildtool.json_codec import as_list, as_object
from wildtool.toolcall.mutations import ArgumentMutation, value_mutants
from wildtool.trace import SaidCall, said_calls
from wildtool.types import Episode, FieldValue, Item, Message, Request

NOT_DECODED, NOT_CALLS = "ast_decoder:decoder_failed", "ast_decoder:decoder_wrong_output_format"
CALLED, NOT_CALLED = "irrelevance_error:decoder_success", "relevance_error:decoder_failed"
CHECKER_RAISED = "the original's checker raises"
"""Error classes: the original's own names, and one for entries that it cannot judge."""
_CALLS_AS_TEXT: Mapping[str, tuple[str, str]] = {
    "call without brackets": ("", ""),
    "call in a fence": ("```python\n", "\n```"),
    "call after a sentence": ("I will look it up.\n\n", ""),
    "call in JSON": ("", ""),
    "call in JSON in a tag": ("<tool_call>", "</tool_call>"),
}
"""Forms of a call that is not made as asked for, with what comes before and behind it."""
MUTANTS_EXPLAINED: Mapping[str, str] = {
    "empty text": "Q1: the mark of what may be left out is accepted as a value",
    "element dropped": "Q1: the mark of what may be left out is accepted as an empty list",
    **dict.fromkeys(_CALLS_AS_TEXT, "Q12: only what the decoder reads is a call"),
    "other enum member": "Q4: case does not count, even where it tells members apart",
}
"""Mistakes that the published rules let pass, with the card's number."""


@dataclass(frozen=True, slots=True)
class NativeCalls:
    """Native tools and calls."""

    native: bool = True
    """Whether calls are native ones, so that names of functions have underscores in place of dots."""
    prompt_form: None = None
    """The form of prompts, where calls are written."""

    def request(self, record: BfclEntry) -> Request:
        tools = openai_tools(hinted(record.functions, record.language))
        return Request(
            list(record.messages),
            tools,
            gold=lambda _style: fc_message(first_accepted_calls(record, native=True)),
        )

    def decode(self, reply: Message, language: Language) -> Any:
        """The calls of a reply. Raises DecodeError."""
        return decode_native(native_result(reply))

    def message(self, calls: Sequence[PlainCall], language: Language) -> Message:
        """A reply that makes these calls."""
        return fc_message(calls)


@dataclass(frozen=True, slots=True)
class WrittenCalls:
    """Functions in the system prompt, calls as text."""

    prompt_form: PromptForm = DEFAULT_FORM
    hints: int = 1
    """How often each function says in which language its values are: twice in format sensitivity, as in the original."""
    native: bool = False

    def request(self, record: BfclEntry) -> Request:
        documents: Sequence[dict[str, Any]] = record.functions
        for _ in range(self.hints):
            documents = hinted(documents, record.language)
        text = original_texts().system_prompt(documents, self.prompt_form)
        return Request(
            with_system(record.messages, text),
            gold=lambda _style: self.message(first_accepted_calls(record, native=False), record.language),
        )

    def decode(self, reply: Message, language: Language) -> Any:
        text = text_to_decode(reply)
        return self.prompt_form.decode(text) if language == "python" else DECODERS[language](text)

    def message(self, calls: Sequence[PlainCall], language: Language) -> Message:
        return self.prompt_form.message(calls) if language == "python" else written_message(calls, language)


CallForm = NativeCalls | WrittenCalls
"""How models are asked and how their replies are read; one for each mode."""


@dataclass(frozen=True, slots=True)
class SingleTurnRules(Rules):
    """The published rules of all entries that are answered by one reply."""

    form: CallForm

    def episode(self, item: Item, unit: str) -> Episode:
        return SingleReply(lambda: self.form.request(self.record(item)))

    def verdict(self, episode: Any, item: Item, unit: str) -> Check:
        return self.check(self.record(item), episode.reply or {})

    def record(self, item: Item) -> BfclEntry:
        """The entry as these rules read it."""
        return item.data

    def decode(self, record: BfclEntry, reply: Message) -> Any:
        """The calls of a reply. Raises DecodeError."""
        return self.form.decode(reply, record.language)

    def is_relevant(self, record: BfclEntry, calls: Sequence[Mapping[str, Any]]) -> bool:
        """Whether calls are right where any call is."""
        return bool(calls)

    def check(self, record: BfclEntry, reply: Message) -> Check:
        """What the rules decide about one reply. Pure; never raises."""
        try:
            decoded, fault = self.decode(record, reply), None
        except DecodeError as error:
            decoded, fault = None, Fault(NOT_DECODED, str(error))
        calls = decoded if fault is None and is_call_list(decoded) else None
        columns: dict[str, FieldValue] = {"decoded_calls": None if calls is None else len(calls)}
        match record.category.kind:
            case "irrelevance":
                fault = Fault(CALLED, "a call, where no function fits") if calls else None
            case "relevance":
                right = calls is not None and self.is_relevant(record, calls)
                fault = None if right else Fault(NOT_CALLED, "no call, where a function fits")
            case _ if calls is None:
                fault = fault or Fault(NOT_CALLS, "the reply is no list of calls")
            case _:
                try:
                    fault = self.compare(record, calls)
                except UNREADABLE_ENTRY as error:
                    raised = f"{type(error).__name__}: {error}"[:200]
                    columns["reference_error"] = raised
                    fault = Fault(CHECKER_RAISED, raised)
        if fault is not None:
            return Check(False, fault.error, fault.message, fields=columns)
        return Check(True, reason="as expected", fields=columns)

    def compare(self, record: BfclEntry, calls: Sequence[Mapping[str, Any]]) -> Fault | None:
        """Why decoded calls are not the expected ones; None if they are. Raises `UNREADABLE_ENTRY`."""
        return check_calls(
            record.category, record.functions, record.answers, calls, underscores=self.form.native
        )

    def explain(self, item: Item, mutant: Mutant) -> str:
        if item.id == "simple_java_64":
            return "Q14: an empty map passes, and in mode prompt every map is read as an empty one (Q3)"
        return MUTANTS_EXPLAINED.get(mutant.kind, "")

    def explain_gold(self, item: Item, unit: str) -> str:
        record: BfclEntry = item.data
        if item.id == "simple_java_64":
            return "Q14"
        if record.language == "java":
            return "Q3: lists of texts keep quotes, maps lose their content"
        if self.form.prompt_form is not None and self.form.prompt_form.calls == "json":
            return "F1: a list of objects in an argument ends the calls"
        return "Q2: no call fulfils this entry"

    def said(self, reply: Message) -> Iterable[SaidCall]:
        if self.form.native:
            return said_calls(reply)
        try:
            calls = decode_python(written_text(reply) or "")
        except DecodeError:
            calls = []  # a text for the user
        return [(name, arguments) for call in calls for name, arguments in call.items()] or said_calls(reply)

    # The audit ----------------------------------------------------------------------------------------

    def mutants(self, item: Item) -> Iterator[Mutant]:
        record = self.record(item)
        calls = first_accepted_calls(record, native=self.form.native)
        message = self.form.message(calls, record.language)
        if not self.check(record, message).correct:
            return
        for kind, mutated, note in _mistakes(record, calls):
            yield Mutant("0", kind, (self.form.message(mutated, record.language),), note)
        texts = {"only words": "Done."} if calls else _called_as_text(record)
        for kind, text in texts.items():
            yield Mutant("0", kind, ({"role": "assistant", "content": text},), text)


Mistake = tuple[str, list[PlainCall], str]


def _called_as_text(record: BfclEntry) -> Mapping[str, str]:
    """Replies with a call where none is right, by form; none for an entry without functions."""
    name = record.functions[0]["name"] if record.functions else ""
    call_text = json.dumps({"name": name, "arguments": {"value": 1}})
    return {
        kind: f"{before}{call_text if 'JSON' in kind else f'{name}(value=1)'}{after}"
        for kind, (before, after) in _CALLS_AS_TEXT.items()
        if name
    }


def _mistakes(record: BfclEntry, calls: Sequence[PlainCall]) -> Iterator[Mistake]:
    """Kind, calls and note of the gold calls with one mistake each."""
    if record.category.kind == "relevance":
        return  # any call is right
    if not calls:
        if record.functions:
            name = record.functions[0]["name"]
            yield "call instead of text", [(name, {})], name
        return
    yield "call repeated", [*calls, calls[-1]], calls[-1][0]
    constants = {
        document["name"]: tool["function"]["parameters"]
        for document, tool in zip(record.functions, openai_tools(record.functions), strict=True)
    }

    def values(place: int) -> Iterator[ArgumentMutation]:
        name, arguments = calls[place]
        parameters = as_object(constants.get(name))
        if record.language != "python":
            parameters = {"required": parameters.get("required", [])}
            yield from _other_letters(record, place, arguments)
        required = as_list(parameters.get("required"))
        for mutation in value_mutants(arguments, parameters):
            if not _is_accepted(mutation[1], arguments, record.answers[place], required):
                yield mutation

    yield from call_mistakes(calls, tuple(constants), values)


def _other_letters(record: BfclEntry, place: int, arguments: Mapping[str, Any]) -> Iterator[ArgumentMutation]:
    """Names of variables, in place of values that are no texts, in other letters (Java and JavaScript)."""
    ((name, accepted),) = record.answers[place].items()
    document = next((each for each in record.functions if each["name"] == name), record.functions[0])
    for key, text in arguments.items():
        word = document["parameters"]["properties"].get(key, {}).get("type")
        other = text.swapcase()
        if (
            SYNTAXES[record.language].types.get(word) is not str
            and text.strip('"') in accepted[key]
            and other != text
        ):
            yield "other letters in a name", {**arguments, key: other}, f"{key}: {other} for {text}"


def call_mistakes(
    calls: Sequence[PlainCall], names: Sequence[str], values: Callable[[int], Iterable[ArgumentMutation]]
) -> Iterator[Mistake]:
    """Each call left out, renamed, and with other values.

    Args:
        names: of functions; a call is also renamed to the first other one.
        values: gives the mistakes in the values of a call by its place.
    """
    for place, (name, arguments) in enumerate(calls):
        before, after = list(calls[:place]), list(calls[place + 1 :])
        if before or after:
            yield "call left out", [*before, *after], name
        for other in [f"{name}_v2", *(other for other in names if other != name)][:2]:
            yield "call renamed", [*before, (other, arguments), *after], f"{other} for {name}"
        for kind, mutated, note in values(place):
            yield kind, [*before, (name, mutated), *after], f"{name}: {note}"


def _is_accepted(
    mutated: Mapping[str, Any], arguments: Mapping[str, Any], answer: AcceptedCall, required: Sequence[str]
) -> bool:
    """Whether what was changed in arguments is no mistake, as the answer accepts it too."""
    accepted = next(iter(answer.values()))
    for key in {*mutated, *arguments}:
        options: Any = accepted.get(key)
        options = cast(list[Any], options) if isinstance(options, list) else [options]
        if key not in mutated:
            return False  # only what is required is left out
        if key not in arguments or json.dumps(mutated[key]) != json.dumps(arguments[key]):
            value = mutated[key]
            if value == "" and key not in required:
                return False
            if isinstance(value, dict) and dict_error(cast(dict[str, Any], value), options) is None:
                continue
            if json.dumps(value) not in map(json.dumps, options):
                return False
    return True
