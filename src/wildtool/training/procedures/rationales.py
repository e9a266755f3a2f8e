"""Reasoning before the calls of a training record: what makes it fit to be learned from, and the record with it."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from wildtool.toolcall.text.json_in_text import objects_in
from wildtool.toolcall.text.mentions import mention, value_words
from wildtool.training.procedures.supervised import SupervisedTurn
from wildtool.training.record import AssistantTurn, TrainingRecord, TrainingTurn, UserTurn
from wildtool.training.tokens import word_tokens

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
    shown = json.dumps([turn.messages, turn.tools], ensure_ascii=False).casefold()
    said = _STEP.sub("", text).casefold()
    for call in turn.gold.calls:
        for value in value_words(call.arguments):
            if _occurs(value, said) and not _occurs(value, shown):
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
