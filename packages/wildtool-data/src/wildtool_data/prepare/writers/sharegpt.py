"""Writes ShareGPT's shape as LLaMA-Factory reads it. Turns have `from` and `value` and nothing else.

With `lossless` one more column, `wildtool`, keeps as JSON text what the shape has no place for; trainers ignore it.
"""

from collections.abc import Iterator
from typing import Any

from wildtool.training.record import (
    AssistantTurn,
    ResultTurn,
    TrainingRecord,
    TrainingTurn,
    UserTurn,
    spaced_json,
)
from wildtool.training.writers.kept import kept_parts
from wildtool.training.writers.options import WriteOptions
from wildtool.types import REASONING_KEYS

REASONING = "reasoning"
"""What is lost where reasoning is neither written nor kept."""
FLAT_LABEL = "available tools:\n"
"""The text before the tools in the system text of ToLeaP's flat variant."""
_FLAT_ROLES = {"function_call": "gpt", "observation": "human"}


def sharegpt_row(record: TrainingRecord, options: WriteOptions) -> dict[str, Any]:
    """A record as a line of a file for LLaMA-Factory."""
    row: dict[str, Any] = {
        "conversations": [_turn(turn, options) for turn in record.turns],
        "system": record.system or "",
        "tools": spaced_json(record.functions) if record.tools else "",
        **{name: _turn(reply, options) for name, reply in record.pair.items()},
    }
    if options.flat:
        return flat_row(row)
    if options.lossless:
        row["wildtool"] = kept_parts(record, row)
    return row


def flat_row(row: dict[str, Any]) -> dict[str, Any]:
    """ToLeaP's flat variant of a row: only `human` and `gpt` turns, the tools at the end of the system text."""
    tools = row.get("tools")
    flat = {key: value for key, value in row.items() if key != "tools"}
    flat["conversations"] = [_flat_turn(turn) for turn in row["conversations"]]
    flat |= {side: _flat_turn(row[side]) for side in ("chosen", "rejected") if side in row}
    flat["system"] = (row.get("system") or "") + (f"{FLAT_LABEL}{tools}" if tools else "")
    return flat


def _flat_turn(turn: dict[str, Any]) -> dict[str, Any]:
    return {**turn, "from": _FLAT_ROLES.get(turn["from"], turn["from"])}


def _turn(turn: TrainingTurn, options: WriteOptions) -> dict[str, str]:
    match turn:
        case UserTurn():
            return {"from": "human", "value": turn.text}
        case ResultTurn():
            texts = [result.text for result in turn.results]
            return {"from": "observation", "value": texts[0] if len(texts) == 1 else spaced_json(texts)}
        case AssistantTurn():
            if turn.calls:
                return {"from": "function_call", "value": _calls(turn, options)}
            return {
                "from": "gpt",
                "value": _thoughts(reasoning_to_write(turn, options), options) + (turn.text or ""),
            }


def _calls(turn: AssistantTurn, options: WriteOptions) -> str:
    objects = [{"name": call.name, "arguments": call.arguments} for call in turn.calls]
    calls = _without_marks(spaced_json(objects[0] if len(objects) == 1 else objects), options)
    text = text_to_write(turn, options)
    if options.text_with_calls == "think":
        thoughts = "\n".join(filter(None, (reasoning_to_write(turn, options), text)))
        return _thoughts(thoughts, options) + calls
    if not text:
        return calls
    opening, closing = options.call_words
    return f"{text}\n{opening}\n{calls}\n{closing}"


def _without_marks(calls: str, options: WriteOptions) -> str:
    """Calls as JSON in which no text has a mark of calls or thoughts, between which a trainer would look for them."""
    for mark in (*options.call_words, *options.think_words, "<tool_call>", "</tool_call>"):
        if mark in calls and mark[0] not in '"\\{}[],:':
            calls = calls.replace(mark, f"\\u{ord(mark[0]):04x}{mark[1:]}")
    return calls


def _thoughts(text: str, options: WriteOptions) -> str:
    opening, closing = options.think_words
    return f"{opening}\n{text}\n{closing}\n\n" if text else ""


def reasoning_to_write(turn: AssistantTurn, options: WriteOptions) -> str:
    """The reasoning that is written as thinking; empty where it is kept elsewhere or could not be told from the rest."""
    reasoning = turn.reasoning.strip()
    is_kept = options.text_with_calls != "think" or options.lossless
    marks = (*options.think_words, "<think>", "</think>")
    return "" if is_kept or any(mark in reasoning for mark in marks) else reasoning


def text_to_write(turn: AssistantTurn, options: WriteOptions) -> str:
    """The text beside calls that is written; empty where there is none, or no reader could tell it from the calls."""
    text = (turn.text or "").strip()
    words = options.think_words if options.text_with_calls == "think" else options.call_words
    marks = (*words, "<tool_call>", "</tool_call>", "<think>", "</think>")
    return "" if options.text_with_calls == "drop" or any(mark in text for mark in marks) else text


def lost_in_sharegpt(record: TrainingRecord, options: WriteOptions) -> Iterator[str]:
    """What of a record ShareGPT's shape has no place for."""
    text = reasoning = unlearned = keys = ids = False
    numbered = 0
    for turn in (*record.turns, *record.pair.values()):
        if isinstance(turn, ResultTurn):
            keys = keys or any(result.extras for result in turn.results)
            continue
        if isinstance(turn, UserTurn):
            keys = keys or bool(turn.extras)
        else:
            keys = keys or not turn.extras.keys() <= {*REASONING_KEYS}
            reasoning = reasoning or bool(turn.reasoning.strip() and not reasoning_to_write(turn, options))
            unlearned = unlearned or not turn.learned
            if turn.calls:
                text = text or bool(turn.text and turn.text.strip() and not text_to_write(turn, options))
                for call in turn.calls:
                    numbered += 1
                    ids = ids or call.id != f"call_{numbered}"
    if text:
        yield "text beside calls"
    if reasoning:
        yield REASONING
    if unlearned:
        yield "weight 0"
    if keys:
        yield "further keys of messages"
    if ids and record.chosen is None:
        yield "ids of calls"
