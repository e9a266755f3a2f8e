"""Gold runs with one mistake each, which a good profile must fail; and why the others let some pass."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, cast

from wildtool.benchmark import Mutant, Rules
from wildtool.benchmarks.wildtoolbench.data import GoldNode, Session
from wildtool.benchmarks.wildtoolbench.episode import WildToolBenchRules
from wildtool.benchmarks.wildtoolbench.fixed.episode import gold_differences
from wildtool.episode import gold_replies
from wildtool.json_codec import as_object
from wildtool.toolcall.call_mutants import calls_message, made_call
from wildtool.toolcall.compare import compare_arguments
from wildtool.toolcall.mutations import value_mutants
from wildtool.types import Item, Message, Tool

Replies = list[Message]


def mutants(rules: Rules, item: Item) -> Iterator[Mutant]:
    """All mutants of all tasks of a session, made from the run that plays every ready call at once."""
    session: Session = item.data
    for position, unit in enumerate(item.units):
        run = cast(Replies, gold_replies(rules.episode(item, unit)))  # every step has gold
        for kind, replies, note in _of_run(session, position, run):
            yield Mutant(unit, kind, tuple(replies), note)


def _of_run(session: Session, position: int, run: Replies) -> Iterator[tuple[str, Replies, str]]:
    for step, reply in enumerate(run):
        calls = reply.get("tool_calls")
        if calls:
            yield from _of_calls(session, position, run, step)
        else:
            yield from _of_words(session, run, step)
    yield from _of_order(run)


def _of_words(session: Session, run: Replies, step: int) -> Iterator[tuple[str, Replies, str]]:
    """Mistakes where a question or the answer is due."""
    question = step < len(run) - 1
    kind = "question" if question else "answer"
    for content in ("", " \n"):
        yield f"empty {kind}", _with(run, step, {"role": "assistant", "content": content}), repr(content)
    for tool in session.sent_tools[:1]:
        name = tool["function"]["name"]
        yield f"call instead of {kind}", _with(run, step, calls_message([made_call(name, "{}")])), name
        text = f"[{name}()]"
        yield (
            f"call in text instead of {kind}",
            _with(run, step, {"role": "assistant", "content": text}),
            text,
        )
        call = json.dumps({"name": name, "arguments": {}})
        both = f"{run[step].get('content')}\n\n{call}"
        yield f"call in text after {kind}", _with(run, step, {"role": "assistant", "content": both}), call
    virtual = "ask_user_for_required_parameters" if question else "prepare_to_answer"
    yield f"{kind} called as a tool", _with(run, step, calls_message([made_call(virtual, "{}")])), virtual
    if question:
        yield "question left out", run[:step] + run[step + 1 :], f"step {step}"
    else:
        yield "silent at the end", run[:step], "no answer"


def _of_calls(session: Session, position: int, run: Replies, step: int) -> Iterator[tuple[str, Replies, str]]:
    """Mistakes in a step of calls."""
    nodes = [node for node in session.tasks[position].nodes if node.alternatives]
    calls: list[dict[str, Any]] = run[step]["tool_calls"]
    names = {call["function"]["name"] for call in calls}
    text = {"role": "assistant", "content": "Done."}
    yield "text instead of calls", [*run[:step], text], f"step {step}"
    yield "empty reply instead of calls", [*run[:step], {**text, "content": ""}], f"step {step}"
    yield "step left out", run[:step] + run[step + 1 :], f"step {step}"
    yield "step repeated", run[: step + 1] + run[step:], f"step {step}"
    for number, call in enumerate(calls):
        rest = calls[:number] + calls[number + 1 :]
        name, arguments_text = call["function"]["name"], call["function"]["arguments"]

        def put(mutated: dict[str, Any], number: int = number) -> Replies:
            return _with(run, step, calls_message([*calls[:number], mutated, *calls[number + 1 :]]))

        other = next(
            (t["function"]["name"] for t in session.sent_tools if t["function"]["name"] not in names), None
        )
        if other:
            yield "wrong name", put(made_call(other, arguments_text, call)), f"{other} for {name}"
        yield "unknown name", put(made_call(f"{name}_v2", arguments_text, call)), f"{name}_v2 for {name}"
        if rest:
            yield "dropped call", _with(run, step, calls_message(rest)), name
        extra = calls_message([*calls, {**call, "id": "extra"}])
        yield "extra call", _with(run, step, extra), f"{name} twice"
        for kind, broken in (
            ("arguments not JSON", "{" + name),
            ("arguments null", None),
            ("arguments a list", "[]"),
        ):
            yield kind, put({**call, "function": {"name": name, "arguments": broken}}), name
        yield "call without id", put({key: value for key, value in call.items() if key != "id"}), name
        gold, parameters = json.loads(arguments_text), _parameters(session.sent_tools, name)
        node = next((node for node in nodes if node.name == name and node.arguments == gold), None)
        for kind, variant, note in value_mutants(gold, parameters):
            if node is not None and _is_accepted(node, variant, parameters):
                continue
            yield kind, put(made_call(name, json.dumps(variant, ensure_ascii=False), call)), f"{name}: {note}"


def _is_accepted(node: GoldNode, mutated: Any, parameters: Mapping[str, Any]) -> bool:
    """Whether a gold call accepts what was changed by an alternative alone; such a call is no mistake."""
    arguments = as_object(mutated)
    own = compare_arguments(node.arguments, arguments, parameters)
    return bool(own) and not gold_differences(node, arguments, parameters)


def _of_order(run: Replies) -> Iterator[tuple[str, Replies, str]]:
    """Steps of calls in the wrong order: gold runs make every call as early as it can be made."""
    for step, (first, second) in enumerate(pairwise(run)):
        if first.get("tool_calls") and second.get("tool_calls"):
            before, after, which = run[:step], run[step + 2 :], f"steps {step} and {step + 1}"
            if _functions(first) != _functions(second):
                yield "swapped steps", [*before, second, first, *after], which
            merged = calls_message([*first["tool_calls"], *second["tool_calls"]])
            yield "dependent calls at once", [*before, merged, *after], which


def _functions(reply: Message) -> list[Any]:
    """What a reply calls, without the ids."""
    return [call["function"] for call in reply["tool_calls"]]


def _with(run: Replies, step: int, reply: Message) -> Replies:
    return [*run[:step], reply, *run[step + 1 :]]


def _parameters(tools: Sequence[Tool], name: str) -> dict[str, Any]:
    match = next(
        (tool["function"].get("parameters") for tool in tools if tool["function"]["name"] == name), None
    )
    return as_object(match)


_BLANKS = frozenset({"empty answer", "empty question"})
_AS_TOOLS = frozenset({"answer called as a tool", "question called as a tool"})
_IN_TEXT = ("call in text instead of ", "call in text after ")
_OVERLOOKED = frozenset(
    {"invisible character in a word", "other unit of an amount", "case of a letter in code"}
)
_Reasons = Sequence[tuple[Callable[[Item, str], bool], str]]
_EVERY_TEXT: _Reasons = (
    (lambda _, kind: kind in _AS_TOOLS, "Q22 the virtual actions can be called like tools"),
    (
        lambda _, kind: kind.startswith(_IN_TEXT),
        "Q21 any non-empty text, even a call written as text, is a question or an answer",
    ),
    (lambda _, kind: kind in _BLANKS, "Q21 any non-empty text, even a blank, is a question or an answer"),
)
_REASONS: Mapping[str, _Reasons] = {
    "official": (
        *_EVERY_TEXT,
        (
            lambda item, kind: " text" in kind and item.lang == "zh",
            "Q44 one changed word in a Chinese sentence passes",
        ),
        (lambda _, kind: kind == "question left out", "Q20 an accepted text does not narrow the paths"),
        (
            lambda _, kind: " text" in kind or kind in _OVERLOOKED,
            "Q42 texts are compared by ROUGE-L over sets of words cut at full stops",
        ),
    ),
    "fixed": (),
    "paper": (
        *_EVERY_TEXT,
        (
            lambda _, kind: bool(kind),
            "taxonomy section 3: a call passes when its arguments reach a mean score of 0.7",
        ),
    ),
}


def explain(rules: WildToolBenchRules, item: Item, mutant: Mutant) -> str:
    """Which known fault of a profile lets this mutant pass, by the card's numbering; empty if none is known."""
    return next((reason for fits, reason in _REASONS[rules.name] if fits(item, mutant.kind)), "")
