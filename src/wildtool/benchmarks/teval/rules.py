"""What a profile of T-Eval makes of an answer, gold answers, and mistakes in them that it must catch."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from wildtool.benchmark import Benchmark, Check, Mutant, Rules, accepts
from wildtool.benchmarks.teval.data import TevalRecord
from wildtool.benchmarks.teval.reading import (
    Step,
    read_answer_object,
    read_plan_steps,
    step_arguments,
    without_finish,
)
from wildtool.benchmarks.teval.scores import EVALUATORS, AnswerScores, Toleap
from wildtool.data.embeddings import Encoder, chosen_encoder
from wildtool.episode import SingleReply, written_text
from wildtool.json_codec import as_object
from wildtool.types import Item, Message, Request

ENOUGH = 0.5
"""Similarity from which a thought counts as right, as ToLeaP sorts its bad cases."""
NOT_PARSED = "not parsed"
_PARTS: Mapping[str, Mapping[str, str]] = {
    "instruct": {"format": "wrong format", "arguments": "wrong action or arguments"},
    "plan": {"f1": "wrong plan"},
    "reason": {"thought": "other thought"},
    "retrieve": {"name": "wrong API"},
    "understand": {"args": "wrong arguments"},
    "rru": {"thought": "other thought", "name": "wrong API", "args": "wrong arguments"},
    "review": {"quality": "wrong letter"},
}
"""Scores that an ability is measured by, with the error where one is too low."""
TEVAL_ERRORS = (NOT_PARSED, *dict.fromkeys(error for parts in _PARTS.values() for error in parts.values()))


@dataclass(frozen=True, slots=True)
class TevalRules(Rules):
    """One profile with one encoder."""

    evaluator: Toleap

    def episode(self, item: Item, unit: str) -> SingleReply:
        record: TevalRecord = item.data
        return SingleReply(
            lambda: Request(record.messages, gold=lambda style: _message(right_answer(record)))
        )

    def verdict(self, episode: Any, item: Item, unit: str) -> Check:
        record: TevalRecord = item.data
        scores = self.evaluator.score(written_text(episode.reply or {}), record)
        parts = _PARTS[record.test.ability]
        values = {name: scores.values.get(name, 0.0) for name in parts}
        low = [name for name, value in values.items() if value < (ENOUGH if name == "thought" else 1 - 1e-4)]
        error = None if not low else parts[low[0]] if scores.parsed else NOT_PARSED
        columns = {**scores.values, "parsed": scores.parsed, "encoder": self._encoder(record)}
        if scores.raised:
            columns["reference_error"] = scores.raised
        return Check(
            error is None, error, _reason(scores, values), sum(values.values()) / len(values), columns
        )

    def unfinished(self, episode: Any, item: Item, unit: str) -> Check:
        return Check(False, fields={"encoder": self._encoder(item.data)})

    def _encoder(self, record: TevalRecord) -> str | None:
        """The encoder that the scores of a record depend on."""
        return self.evaluator.encoder.name if record.test.ability in self.evaluator.by_meaning else None

    def mutants(self, item: Item) -> Iterator[Mutant]:
        """The gold answer with one mistake; none where the rules refuse the gold answer itself."""
        record: TevalRecord = item.data
        gold = right_answer(record)
        if not accepts(self, item, "0", [_message(gold)]):
            return
        yield Mutant("0", "empty reply", (_message(""),), "no text")
        for kind, text in _mistakes(record, gold):
            if text != gold:
                yield Mutant("0", kind, (_message(text),), text[:80])

    def explain(self, item: Item, mutant: Mutant) -> str:
        if mutant.kind == "other thought":
            return "the thought is compared by the words or the meaning that it shares with gold"
        if self.evaluator.is_corrected:
            return ""
        if mutant.kind == "other API":
            return (
                "Q1: a step that is matched with nothing counts for one, so that any plan of one step gets 1"
            )
        if mutant.kind.startswith(_OF_PLAN):
            return "Q4: a step that is alike enough to be matched counts in full"
        return "O counts only the gold arguments: others are free" if mutant.kind == "argument added" else ""

    def explain_gold(self, item: Item, unit: str) -> str:
        record: TevalRecord = item.data
        if record.set == "plan_str":
            return (
                "Q5: the line is compared with the arguments, so that an API with few or none is not matched"
            )
        if record.test.ability == "plan":
            steps = without_finish(read_plan_steps(record.gold))
            repeated = len({(step.name, step.args) for step in steps}) < len(steps)
            return "Q3: steps of equal weight are matched in any order" if repeated else ""
        if record.test.ability == "instruct":
            return "Q6: the template is taken as a pattern, so that signs in it have another meaning"
        if record.test.ability == "rru" and self.evaluator.is_smoothed:
            return "a small number in the denominator keeps the score of arguments below 1"
        return ""


def _reason(scores: AnswerScores, values: Mapping[str, float]) -> str:
    if scores.raised:
        return f"the published evaluator raises {scores.raised}"
    listing = ", ".join(f"{name} {value:.3g}" for name, value in values.items())
    return listing if scores.parsed else f"not in the form that was asked for; {listing}"


def rules(benchmark: Benchmark, profile: str) -> TevalRules:
    """The rules of a profile with the encoder at hand. Raises UsageError where the one that is named cannot be used."""
    return _rules(profile, chosen_encoder())


@cache
def _rules(profile: str, encoder: Encoder) -> TevalRules:
    return TevalRules(EVALUATORS[profile](encoder))


# Gold ------------------------------------------------------------------------------------------------


def _message(text: str) -> Message:
    return {"role": "assistant", "content": text}


def right_answer(record: TevalRecord) -> str:
    """A right answer in the form that was asked for."""
    gold = record.gold
    match record.test.ability:
        case "instruct":
            return _instruct(record, gold["action"], gold["args"])
        case "plan":
            return _plan(record, read_plan_steps(gold))
        case "review":
            return f"Answer: {gold['answer']}"
        case _:
            return _step(record, read_answer_object(gold) or {})


def _instruct(record: TevalRecord, action: str, args: Mapping[str, Any]) -> str:
    parts = ("This is the call that was asked for.", action)
    names = record.template
    if record.form != "string":
        values = dict(zip(("thought", "action", "args"), (*parts, args), strict=True))
        return json.dumps({names[part]: value for part, value in values.items()}, ensure_ascii=False)
    return "".join(
        names[f"{part}_start"] + value + names[f"{part}_end"]
        for part, value in zip(("thought", "action", "args"), (*parts, repr(args)), strict=True)
    )


def _plan(record: TevalRecord, steps: list[Step]) -> str:
    if record.test.form == "json":
        rows = [{"id": step.id, "name": step.name, "args": step.args} for step in steps]
        return json.dumps(rows, ensure_ascii=False)
    # A full stop and a blank would end the line.
    return "\n".join(f"{step.name} {step.args}".replace(". ", ".").replace("\n", " ") for step in steps)


def _step(record: TevalRecord, gold: Mapping[str, Any]) -> str:
    part = {"reason": "thought", "retrieve": "name", "understand": "args"}.get(record.test.ability)
    if record.form == "str" and part:
        return str(gold.get(part, ""))
    parts = {name: gold.get(name, "") for name in ("thought", "name", "args")}
    return json.dumps(parts, ensure_ascii=False)


# Mistakes --------------------------------------------------------------------------------------------

_OTHER, _ADDED = "Zzyzx.quuxly", "zzyzx"
_OF_PLAN = "plan: "
"""Begins the names of mistakes in the arguments of a plan."""


def _mistakes(record: TevalRecord, gold: str) -> Iterator[tuple[str, str]]:
    yield "other text", "zzyzx quuxly"
    ability = record.test.ability
    if ability == "instruct":
        action, args = record.gold["action"], record.gold["args"]
        yield "other action", _instruct(record, _OTHER, args)
        for name in list(args)[:1]:
            yield "argument left out", _instruct(record, action, {k: v for k, v in args.items() if k != name})
            yield "value changed", _instruct(record, action, {**args, name: _ADDED})
    elif ability == "plan":
        steps = read_plan_steps(record.gold)
        yield "first step left out", _plan(record, steps[1:])
        yield "step added", _plan(record, [*steps[:1], *steps])
        yield "other API", _plan(record, [Step(0, _OTHER, "{}"), *steps[1:]])
        yield "no step right", _plan(record, [Step(n, _OTHER, "{}") for n, _ in enumerate(steps)])
        # In lines, steps of one API are the same step.
        if len(steps) > 3 and (record.test.form == "json" or steps[0].name != steps[1].name):
            yield "first steps swapped", _plan(record, _renumbered([steps[1], steps[0], *steps[2:]]))
        if record.test.form == "json":  # lines are not asked for arguments
            yield from _argument_mistakes(record, steps)
    elif ability == "review":
        yield from (("other letter", f"Answer: {letter}") for letter in "ABCDE")
    else:
        yield from _step_mistakes(record, as_object(read_answer_object(record.gold)))


def _argument_mistakes(record: TevalRecord, steps: list[Step]) -> Iterator[tuple[str, str]]:
    """Plans with the right APIs, whose steps or whose first step with arguments have others."""
    place = next((place for place, step in enumerate(steps) if step_arguments(step)), None)
    if place is None:
        return
    args = step_arguments(steps[place])
    key = next(iter(args))
    rest = {name: value for name, value in args.items() if name != key}
    for kind, other in (
        ("argument left out", rest),
        ("argument renamed", {_ADDED: args[key], **rest}),
        ("value changed", {**args, key: _ADDED}),
        ("argument added", {**args, _ADDED: 1}),
    ):
        yield (
            _OF_PLAN + kind,
            _plan(record, [*steps[:place], replace(steps[place], args=repr(other)), *steps[place + 1 :]]),
        )
    nonsense = repr({_ADDED: "quuxly"})
    yield f"{_OF_PLAN}all arguments nonsense", _plan(record, [replace(step, args=nonsense) for step in steps])


def _renumbered(steps: list[Step]) -> list[Step]:
    return [replace(step, id=number) for number, step in enumerate(steps)]


def _step_mistakes(record: TevalRecord, gold: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, other in (("thought", "Zzyzx quuxly."), ("name", _OTHER)):
        yield f"other {name}", _step(record, {**gold, name: other})
    if isinstance(gold.get("args"), dict):
        args: dict[str, Any] = gold["args"]
        yield "argument added", _step(record, {**gold, "args": {**args, _ADDED: 1}})
        for key in list(args)[:1]:
            rest = {name: value for name, value in args.items() if name != key}
            yield "argument left out", _step(record, {**gold, "args": rest})
            yield "value changed", _step(record, {**gold, "args": {**args, key: _ADDED}})
    else:
        yield "value changed", _step(record, {**gold, "args": _ADDED})
