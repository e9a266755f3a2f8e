"""Reasoning behind the calls of a training file: asking for it, what makes it fit to be learned from, writing it."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from wildtool.alter.hints.added_text import with_text
from wildtool.alter.hints.reasoning import with_heading
from wildtool.stats.describe import share_metric
from wildtool.toolcall.text.json_in_text import objects_in
from wildtool.toolcall.text.mentions import mention, value_words
from wildtool.training.procedures.agreement import agreement
from wildtool.training.procedures.records import named_records
from wildtool.training.procedures.supervised import SupervisedTurn, supervised_turns
from wildtool.training.record import AssistantTurn, TrainingRecord, TrainingTurn, UserTurn
from wildtool.training.tokens import word_tokens
from wildtool.training.writers.options import WriteOptions
from wildtool.types import Item, Message, Metric, Request, Role
from wildtool_data.make.core.files import YIELD_FILE, write_metrics
from wildtool_data.make.core.parsing import reply_text
from wildtool_data.make.core.roles import RoleCoroutine
from wildtool_data.make.training.audit_files import AUDIT_FILE, LineWriter, line_writer
from wildtool_data.make.training.maker import TrainingMaker, role_instruction
from wildtool_data.prepare.writers.forms import TRAINING_FORMS

CHECKER = "check"
_SHORT_THOUGHTS, _LONG_THOUGHTS = 100, 400
"""Words of reasoning, for estimates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RationaleSpec:
    """Which reasoning is wanted."""

    file: Path
    min_tokens: int
    """Tokens that it must have."""
    check: bool
    """Whether a model must reach the record's calls by the reasoning alone."""


@dataclass(frozen=True, slots=True)
class RecordTurn:
    """A turn of a named record."""

    record: str
    turn: SupervisedTurn


@dataclass(frozen=True, slots=True)
class Reasoning:
    """What a model thought before a turn."""

    text: str
    fault: str = ""
    """Why it is left out; empty if it is fit to be learned from."""
    checked: str = ""
    """What the check found, in words; empty without one."""


class RationaleMaker(TrainingMaker[Reasoning]):
    """An item is a turn with calls."""

    name = "rationales"
    title = "Reasoning before the calls of a training file"
    nothing = "no turn to reason about: no conversation has a reply with a call, and pairs are not read"

    def __init__(self, spec: RationaleSpec) -> None:
        super().__init__([spec.file])
        self.spec = spec
        self.roles: Mapping[str, Role] = (
            {CHECKER: Role("replies with the reasoning at hand", "")} if spec.check else {}
        )

    def settings(self) -> Sequence[Any]:
        """See TrainingMaker."""
        return [self.spec.min_tokens, self.spec.check]

    def planned(self) -> Iterator[Item]:
        """See TrainingMaker. Preference records have no turn to reason about."""
        for name, record in named_records(self.spec.file):
            if record.kind == "preference":
                continue
            for turn in supervised_turns(record, "calls"):
                place = RecordTurn(name, turn)
                yield Item(f"{name}, turn {turn.place}", (self.unit,), place, roles=tuple(self.roles))

    def script(self, item: Item) -> RoleCoroutine[Reasoning]:
        """See TrainingMaker."""
        return _reasoning_script(item.data.turn, self.spec)

    def why_lost(self, outcome: Reasoning) -> tuple[str, str] | None:
        """See TrainingMaker."""
        return (outcome.fault.partition(":")[0], outcome.fault) if outcome.fault else None

    def assumed_reply(self, item: Item, request: Request, *, most: bool) -> Message:
        """See TrainingMaker. Long reasoning makes the check's prompt long, too."""
        if request.role == CHECKER:
            return item.data.turn.gold_message
        words = _LONG_THOUGHTS if most else max(self.spec.min_tokens, _SHORT_THOUGHTS)
        return {"content": "1. a\n2. b\n3. c\n" + "thought " * words}


def _reasoning_script(turn: SupervisedTurn, spec: RationaleSpec) -> RoleCoroutine[Reasoning]:
    reply = yield Request(_shown_to_reasoner(turn))
    text = reply_text(reply.message)
    fault = "cut off" if reply.finish_reason == "length" else reasoning_fault(text, turn, spec.min_tokens)
    if fault or not spec.check:
        return Reasoning(text, fault)
    messages = with_text(turn.messages, with_heading(text))
    checked = yield Request(messages, turn.tools, role=CHECKER)
    outcome = agreement(checked.message, turn)
    return Reasoning(text, "" if outcome.right else "does not lead to the calls", outcome.reason)


def _shown_to_reasoner(turn: SupervisedTurn) -> list[Message]:
    material = {
        "tools": [tool["function"] for tool in turn.tools],
        "conversation": turn.messages,
        "calls": [{"name": call.name, "arguments": call.arguments} for call in turn.gold.calls],
    }
    return [
        {"role": "system", "content": role_instruction("reasoner")},
        {"role": "user", "content": json.dumps(material, ensure_ascii=False)},
    ]


MIN_STEPS = 3
"""Steps that reasoning must have."""
_STEP = re.compile(r"^\s*(?:#+\s*|\**\s*)(?:step\s+)?\d{1,2}\s*[.):]", re.IGNORECASE | re.MULTILINE)
_TAGS = re.compile(r"</?tool_call>|<functioncall>|\[TOOL_CALLS\]|<\|python_tag\|>|</?think>", re.IGNORECASE)


def reasoning_fault(text: str, turn: SupervisedTurn, min_tokens: int) -> str:
    """Why reasoning is not fit to be learned from; empty if it is.

    Args:
        turn: what it leads to.
        min_tokens: tokens that it must have (`training.tokens`).
    """
    if len(word_tokens(text)) < min_tokens:
        return f"fewer than {min_tokens} tokens"
    if len(_STEP.findall(text)) < MIN_STEPS:
        return f"fewer than {MIN_STEPS} steps"
    if _has_call(text, turn):
        return "call syntax"
    told = next(iter(told_values(text, turn)), None)
    return "" if told is None else f"tells a value that the prompt does not have: {told[:60]}"


def told_values(text: str, turn: SupervisedTurn) -> Iterator[str]:
    """Values of the gold calls that occur in reasoning and nowhere in what the model is shown.

    A model that learns from such reasoning learns to guess.
    """
    visible = json.dumps([turn.messages, turn.tools], ensure_ascii=False).casefold()
    spoken = _STEP.sub("", text).casefold()
    for call in turn.gold.calls:
        for value in value_words(call.arguments):
            if _occurs(value, spoken) and not _occurs(value, visible):
                yield value


def _has_call(text: str, turn: SupervisedTurn) -> bool:
    if _TAGS.search(text) or next(objects_in(text), None):
        return True
    names = (re.escape(name) for name in {*turn.record.tool_names, *(call.name for call in turn.gold.calls)})
    return any(re.search(rf"(?<!\w){name}\s*\(\s*(?:\w+\s*=|[\"'{{\[]|\))", text) for name in names)


def _occurs(value: str, text: str) -> bool:
    """Whether a text in lower case has a value, perhaps escaped as in JSON."""
    forms = {value, json.dumps(value, ensure_ascii=False)[1:-1]}
    return any(mention(form.casefold(), text) is not None for form in forms)


def with_reasoning(record: TrainingRecord, reasoning: Mapping[int, str]) -> TrainingRecord | None:
    """A record with reasoning beside its calls; it ends before its first call turn without any. None if nothing is left.

    Args:
        reasoning: by place of the turn.
    """
    turns: list[TrainingTurn] = []
    for place, turn in enumerate(record.turns):
        if isinstance(turn, AssistantTurn) and turn.calls and turn.learned:
            if place not in reasoning:
                break
            text = f"{reasoning[place]}\n\n{turn.text}" if turn.text else reasoning[place]
            turns.append(replace(turn, text=text))
        else:
            turns.append(turn)
    while turns and not isinstance(turns[-1], AssistantTurn):
        turns.pop()
    reasoned = any(isinstance(turn, AssistantTurn) and turn.calls for turn in turns)
    if not reasoned or not any(isinstance(turn, UserTurn) for turn in turns):
        return None
    return replace(record, turns=tuple(turns))


REASONED_FILE = "reasoned.jsonl"
_REPEATED = "equal to the reasoning of another turn"


@dataclass(frozen=True, slots=True)
class WrittenRationales:
    """What came of all turns."""

    records: int
    turns: int
    """Turns that have reasoning in the written records."""
    asked: int
    unfinished: int
    metrics: tuple[Metric, ...]


def write_rationales(
    thought: Iterable[tuple[RecordTurn, Reasoning | None]],
    out: Path,
    form: str,
    writing: WriteOptions,
    benchmark_data: Sequence[str] = (),
) -> WrittenRationales:
    """Writes records with reasoning, and the audit file, into a folder, and the counts.

    Args:
        thought: the turns of each record together, in their order; None for an unfinished one.
        form: a form of training files.
        benchmark_data: names of benchmarks whose data are used, written into each line.

    Raises StorageError if the disk is full, UsageError if nothing may be written there.
    """
    counts, reasons, names = Counter[str](), Counter[str](), set[str]()

    def write_record(record: TrainingRecord, reasoning: dict[int, str], files: LineWriter) -> None:
        enriched = with_reasoning(record, reasoning)
        if enriched is not None:
            files.write_marked(REASONED_FILE, TRAINING_FORMS[form].write(enriched, writing))
            counts["records"] += 1
            counts["written"] += sum(place < len(enriched.turns) for place in reasoning)

    with line_writer(out, REASONED_FILE, AUDIT_FILE, benchmark_data=benchmark_data) as files:
        for record, turns in _by_record(thought):
            reasoning: dict[int, str] = {}
            for turn, thought_of_turn in turns:
                if thought_of_turn is None:
                    counts["unfinished"] += 1
                    continue
                counts["asked"] += 1
                key = " ".join(thought_of_turn.text.split()).casefold()
                fault = thought_of_turn.fault or (_REPEATED if key in names else "")
                names.add(key)
                if fault:
                    reasons[fault.partition(":")[0]] += 1
                else:
                    reasoning[turn.turn.place] = thought_of_turn.text
                files.write_marked(AUDIT_FILE, _audit_row(turn, thought_of_turn, fault))
            write_record(record, reasoning, files)
    metrics = tuple(_metrics(counts, reasons))
    write_metrics(out / YIELD_FILE, metrics)
    return WrittenRationales(
        counts["records"], counts["written"], counts["asked"], counts["unfinished"], metrics
    )


_Thought = tuple[RecordTurn, Reasoning | None]


def _by_record(thought: Iterable[_Thought]) -> Iterator[tuple[TrainingRecord, list[_Thought]]]:
    """The turns of each record, in order."""
    group: list[_Thought] = []
    for thought_of_turn in thought:
        if group and thought_of_turn[0].record != group[0][0].record:
            yield group[0][0].turn.record, group
            group = []
        group.append(thought_of_turn)
    if group:
        yield group[0][0].turn.record, group


def _metrics(counts: Counter[str], reasons: Counter[str]) -> Iterator[Metric]:
    total = counts["asked"]
    fit = total - reasons.total()
    for group, name, count, of in (
        ("turns", "fit", fit, total),
        ("turns", "in written records", counts["written"], total),
        *(("left out", reason, count, total) for reason, count in reasons.most_common()),
    ):
        yield share_metric(group, name, count, of)


def _audit_row(turn: RecordTurn, reasoning: Reasoning, fault: str) -> dict[str, Any]:
    return {
        "record": turn.record,
        "source": turn.turn.record.source,
        "row": turn.turn.record.row,
        "turn": turn.turn.place,
        "reply": reasoning.text,
        "check": reasoning.checked,
        "kept": not fault,
        "reason": fault or "breaks no rule",
    }
