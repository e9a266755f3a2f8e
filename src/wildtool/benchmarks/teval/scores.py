"""T-Eval's scores of one answer: as ToLeaP computes them, as its authors do, and with their faults corrected."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from wildtool.benchmarks.teval.data import Ability, TevalRecord
from wildtool.benchmarks.teval.reading import (
    FINISH_ACTION,
    Step,
    clean_output,
    read_answer,
    read_answer_object,
    read_letter,
    read_plan_lines,
    read_plan_steps,
    read_template_keys,
    read_template_text,
    step_arguments,
    text_of,
    without_finish,
)
from wildtool.data.embeddings import Encoder
from wildtool.json_codec import as_object
from wildtool.toolcall.assignment import PairWeights, heaviest_in_order, longest_ascent, max_weight_matching
from wildtool.toolcall.set_scores import Overlap
from wildtool.toolcall.text.json_in_text import objects_in

NAME_WEIGHT = 0.75
"""Weight of the names of two steps; the rest is that of their arguments."""
MATCHED_ABOVE = 0.8
"""Steps that are not more alike are not matched."""
# A word is entered at its beginning alone, so that a long one takes no longer than it is.
_DOTTED = re.compile(rf"(?<!\w)\w+\.\w+|{FINISH_ACTION}")
_QUOTES = "'\"` \n\t"


@dataclass(frozen=True, slots=True)
class AnswerScores:
    """What is found in one answer."""

    parsed: bool
    """Whether it has the form that was asked for."""
    values: Mapping[str, float] = field(default_factory=dict[str, float])
    """Score by column, from 0 to 1; one that is not there counts as 0."""
    raised: str = ""
    """What the published evaluator raises, which ends its run; empty where it does not."""


class Toleap:
    """As ToLeaP computes them: an answer that is missing counts as a wrong one."""

    by_meaning: frozenset[Ability] = frozenset({"plan", "reason", "rru"})
    """Abilities whose scores depend on the encoder."""
    is_corrected = False
    """Whether the known faults of the published scores are corrected."""
    is_smoothed = False
    """Whether a small number in denominators keeps scores of arguments below 1."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder

    def score(self, answer: str | None, record: TevalRecord) -> AnswerScores:
        """The scores of an answer.

        Args:
            answer: None where the model wrote no text.
        """
        match record.test.ability:
            case "instruct":
                return self.instruct(answer, record)
            case "plan":
                return self.plan(answer, record)
            case "review":
                return self.review(answer, record)
            case _:
                return self.step(answer, record)

    # Instruct: format, and the share of action and gold arguments that are right

    def instruct(self, answer: str | None, record: TevalRecord) -> AnswerScores:
        template = self.read_template(answer, record)
        if template is None:
            return AnswerScores(False, {"format": 0.0, "arguments": 0.0})
        action, args = template
        gold = record.gold["args"]
        right = sum(self.same_value(args.get(key, ""), value) for key, value in gold.items())
        share = (right + (action == record.gold["action"])) / (len(gold) + 1)
        return AnswerScores(True, {"format": 1.0, "arguments": share})

    def read_template(self, answer: str | None, record: TevalRecord) -> tuple[Any, dict[Any, Any]] | None:
        if record.form == "string":
            return None if answer is None else read_template_text(answer, record.template)
        return read_template_keys(answer, record.template)

    def same_value(self, value: Any, gold: Any) -> bool:
        return bool(value == gold)

    # Plan: steps in the order of the gold ones

    def plan(self, answer: str | None, record: TevalRecord) -> AnswerScores:
        if answer is None and record.test.form == "str":
            # Both split it into lines without asking whether it is there.
            return AnswerScores(False, raised="AttributeError")
        predicted = self.read_steps(answer, record)
        gold = read_plan_steps(record.gold)
        if not predicted or not gold:
            return AnswerScores(False, {"precision": 0.0, "recall": 0.0, "f1": 0.0})
        steps, gold_steps = without_finish(predicted), without_finish(gold)
        if not steps or not gold_steps:
            return self.only_finish(right=steps == gold_steps)
        right = self.right_steps(steps, gold_steps, record)
        sizes = len(steps), len(gold_steps)
        return AnswerScores(
            True, {"precision": right / sizes[0], "recall": right / sizes[1], "f1": 2 * right / sum(sizes)}
        )

    def read_steps(self, answer: str | None, record: TevalRecord) -> list[Step]:
        return (
            read_plan_steps(answer) if record.test.form == "json" else read_plan_lines(answer, record.names)
        )

    def only_finish(self, *, right: bool) -> AnswerScores:
        """The evaluators raise on an empty matrix (Q2)."""
        return AnswerScores(True, {"precision": 0.0, "recall": 0.0, "f1": 0.0}, "ValueError")

    def right_steps(self, steps: Sequence[Step], gold: Sequence[Step], record: TevalRecord) -> float:
        """Steps in the order of gold; a step that is matched with nothing counts for one too (Q1)."""
        matched = max_weight_matching(self.weights(steps, gold))
        return max(1, longest_ascent([matched[place] for place in sorted(matched)]))

    def weights(self, steps: Sequence[Step], gold: Sequence[Step]) -> PairWeights:
        """Likeness of each pair that may be matched, row by row, as the evaluators add them to their graph (Q3)."""
        names = self.encoder.cosines([step.name for step in steps], [step.name for step in gold])
        args = self.encoder.cosines([step.args for step in steps], [step.args for step in gold])
        alike = (
            ((i, j), NAME_WEIGHT * max(0.0, name) + (1 - NAME_WEIGHT) * max(0.0, arg))
            for i, (its_names, its_args) in enumerate(zip(names, args, strict=True))
            for j, (name, arg) in enumerate(zip(its_names, its_args, strict=True))
        )
        return {pair: weight for pair, weight in alike if weight > MATCHED_ABOVE}

    # Reason, retrieve, understand: the next step, whole or in part

    def step(self, answer: str | None, record: TevalRecord) -> AnswerScores:
        gold = read_answer_object(record.gold)
        values: dict[str, float] = {}
        step = self.read_step(answer, record)
        if not step or gold is None:
            return AnswerScores(False)
        if "thought" in step:
            values["thought"] = self.thought(step["thought"], str(gold.get("thought", "")))
        if "name" in step:
            name, target = step["name"], str(gold.get("name", ""))
            values["name"] = float(name is not None and self.same_name(name, target, record))
        if "args" in step:
            try:
                values["args"] = self.arguments(step["args"], gold.get("args", ""), record)
            except ValueError as error:  # a number with more digits than Python writes
                return AnswerScores(False, raised=type(error).__name__)
        return AnswerScores(True, values)

    def read_step(self, answer: str | None, record: TevalRecord) -> dict[str, Any]:
        """The parts of an answer that are scored; empty where it cannot be read."""
        ability = record.test.ability
        if record.form == "str":
            part = {"reason": "thought", "retrieve": "name", "understand": "args"}.get(ability)
            return {part: answer} if part else {}
        parsed = self.read_answer_object(answer)
        if parsed is None:
            return {}
        args = parsed.get("args", "")
        parts = {**{part: text_of(parsed.get(part, "")) for part in ("thought", "name")}, "args": args}
        return parts if ability == "rru" else {k: v for k, v in parts.items() if k in _PARTS[ability]}

    def read_answer_object(self, answer: str | None) -> dict[Any, Any] | None:
        return read_answer_object(answer)

    def thought(self, text: str | None, gold: str) -> float:
        if text is None:
            return 0.0
        return min(1.0, max(0.0, self.encoder.cosines([text], [gold])[0][0]))

    def same_name(self, predicted: str, gold: str, record: TevalRecord) -> bool:
        if record.test.form == "json":
            return predicted == gold
        return gold in predicted and all(name == gold for name in _DOTTED.findall(predicted))

    def arguments(self, arguments: Any, gold: Any, record: TevalRecord) -> float:
        if record.test.form == "json":
            predicted, expected = as_object(arguments), as_object(gold)
            hits = sum(
                key in predicted and str(predicted[key]) == str(value) for key, value in expected.items()
            )
            return self.share_of_arguments(Overlap(hits, len(predicted), len(expected)))
        return float(arguments is not None and self.unquoted(text_of(arguments)) == str(gold))

    def share_of_arguments(self, overlap: Overlap) -> float:
        return overlap.f1_or_equal

    def unquoted(self, text: str) -> str:
        return text.strip("'").strip('"')

    # Review: one letter

    def review(self, answer: str | None, record: TevalRecord) -> AnswerScores:
        letter = "" if answer is None else self.read_letter(answer)
        return AnswerScores(bool(letter), {"quality": float(letter == record.gold["answer"])})

    def read_letter(self, answer: str) -> str:
        return read_letter(answer)


_PARTS = {"reason": ("thought",), "retrieve": ("name",), "understand": ("args",)}


class Original(Toleap):
    """As its authors compute them: arguments that were not asked for are free, and a missing answer raises."""

    is_smoothed = True

    def score(self, answer: str | None, record: TevalRecord) -> AnswerScores:
        ability = record.test.ability
        if answer is None and record.form != "json" and ability != "plan":
            ends = "AttributeError" if ability in ("understand", "review") else "TypeError"
            return AnswerScores(False, raised=ends)
        return super().score(answer, record)

    def share_of_arguments(self, overlap: Overlap) -> float:
        return overlap.hits / (overlap.gold + 1e-5) if overlap.gold else float(not overlap.predicted)


class Fixed(Toleap):
    """With the known faults of both corrected; the numbers are those of the card."""

    by_meaning = frozenset({"reason", "rru"})
    is_corrected = True

    def score(self, answer: str | None, record: TevalRecord) -> AnswerScores:
        if answer is None or not (text := clean_output(answer)):
            return AnswerScores(False)  # Q12
        return super().score(text, record)

    def read_template(self, answer: str | None, record: TevalRecord) -> tuple[Any, dict[Any, Any]] | None:
        if record.form == "string":
            return read_template_text(answer or "", record.template, literal=True)  # Q6, Q7
        template = read_template_keys(answer, record.template)
        if template is not None:
            return template
        keys = record.template.values()
        inside = next((each for each in objects_in(answer or "") if all(key in each for key in keys)), None)
        return None if inside is None else read_template_keys(inside, record.template)  # Q11

    def same_value(self, value: Any, gold: Any) -> bool:
        return text_of(value) == text_of(gold)  # Q10

    def read_steps(self, answer: str | None, record: TevalRecord) -> list[Step]:
        if record.test.form == "str":
            return read_plan_lines(answer, (*record.names, FINISH_ACTION))
        return read_plan_steps(answer)

    def only_finish(self, *, right: bool) -> AnswerScores:
        return AnswerScores(True, dict.fromkeys(("precision", "recall", "f1"), float(right)))

    def right_steps(self, steps: Sequence[Step], gold: Sequence[Step], record: TevalRecord) -> float:
        """Steps of one API in the order of gold (Q1, Q3, Q5), each for the share of it that is right (Q4)."""
        if record.test.form == "str":  # lines are not asked for arguments
            return heaviest_in_order([[float(step.name == target.name) for target in gold] for step in steps])
        count = sum(
            1 for _ in takewhile(lambda pair: share_of_step(*pair) == 1, zip(steps, gold, strict=False))
        )
        rest = [[share_of_step(step, wanted) for wanted in gold[count:]] for step in steps[count:]]
        return count + heaviest_in_order(rest)

    def read_answer_object(self, answer: str | None) -> dict[Any, Any] | None:
        parsed = read_answer_object(answer)
        if parsed is not None and any(part in parsed for part in ("thought", "name", "args")):
            return parsed
        return next((inside for inside in objects_in(answer or "") if "name" in inside), None)  # Q11

    def same_name(self, predicted: str, gold: str, record: TevalRecord) -> bool:
        if record.test.form == "json":
            return predicted.strip(_QUOTES) == gold
        # A dotted word that the prompt does not have is no other API (Q8).
        prompt = "\n".join(message["content"] for message in record.messages)
        offered = set(_DOTTED.findall(prompt))
        return all(name == gold or name not in offered for name in _DOTTED.findall(predicted)) and bool(
            re.search(rf"(?<![\w.]){re.escape(gold)}(?!\.?\w)", predicted)
        )

    def unquoted(self, text: str) -> str:
        return text.strip(_QUOTES)  # Q13

    def arguments(self, arguments: Any, gold: Any, record: TevalRecord) -> float:
        expected: Any = self.unquoted(gold) if isinstance(gold, str) else gold
        try:
            return super().arguments(arguments, expected, record)
        except ValueError:
            return 0.0

    def read_letter(self, answer: str) -> str:
        return read_answer(answer)  # Q9


def share_of_step(step: Step, gold: Step) -> float:
    """F1 of what a step is made of: its API, and the name and the value of each argument; 0 with another API.

    Values are compared by the meaning of their text. They count beside names since most values of gold plans come out of
    calls and are in no prompt (58 % of 3,540).
    """
    if step.name != gold.name:
        return 0.0
    if step.args == gold.args:
        return 1.0
    predicted, expected = step_arguments(step), step_arguments(gold)
    names = [name for name in expected if name in predicted]
    values = sum(same_meaning(expected[name], predicted[name], name) for name in names)
    return (1 + len(names) + values) / (1 + len(predicted) + len(expected))


def same_meaning(gold: Any, value: Any, name: str) -> bool:
    """Whether two values of the argument of this name mean the same."""
    if gold == value:
        return True
    from wildtool.toolcall.text.equivalence import differing_rule  # wrong values alone need it

    return differing_rule(text_of(gold), text_of(value), name) is None


EVALUATORS: Mapping[str, type[Toleap]] = {"toleap": Toleap, "original": Original, "fixed": Fixed}
"""By profile."""
