"""What tells one training record from another: its digest, its prompt, its tools; and numbers drawn from a seed."""

import hashlib
from collections.abc import Sequence
from typing import Any

from wildtool import json_codec
from wildtool.training.record import ResultTurn, TrainingRecord, TrainingTurn, UserTurn
from wildtool.training.tokens import word_tokens

_SEPARATOR = "\x1f"


def record_digest(record: TrainingRecord) -> bytes:
    """SHA-256 of a record in canonical JSON: conversation, replies of a pair, tools, and a system text if it has one.

    The form in which a record is written makes no difference: arguments are read first, ids are left out.
    """
    form: dict[str, Any] = {
        "conversations": [_turn(turn) for turn in record.turns],
        "tools": record.functions,
        **{name: _turn(reply) for name, reply in record.pair.items()},
    }
    if record.system:
        form["system"] = record.system
    return hashlib.sha256(json_codec.canonical_json(form)).digest()


def _turn(turn: TrainingTurn) -> dict[str, Any]:
    if isinstance(turn, UserTurn):
        return {"from": "human", "value": turn.text}
    if isinstance(turn, ResultTurn):
        return {"from": "observation", "value": [result.text for result in turn.results]}
    if not turn.calls:
        return {"from": "gpt", "value": turn.text}
    calls = [{"name": call.name, "arguments": call.arguments} for call in turn.calls]
    return {"from": "function_call", "value": calls, **({"text": turn.text} if turn.text else {})}


def prompt_key(record: TrainingRecord) -> bytes:
    """16 bytes that are equal for records with the same one user text, as tokens, and the same set of tools.

    A conversation of several requests is equal to itself alone: many begin with the same greeting.
    """
    if len(record.user_texts) != 1:
        return record_digest(record)[:16]
    return _short_digest([word_tokens(record.user_texts[0]), sorted(set(record.tool_names))])


def tools_key(record: TrainingRecord) -> bytes:
    """16 bytes that are equal for records with the same set of tool names."""
    return _short_digest(sorted(set(record.tool_names)))


def _short_digest(value: Any) -> bytes:
    return hashlib.blake2b(json_codec.canonical_json(value), digest_size=16).digest()


def drawn_number(seed: str, key: str) -> int:
    """A number below 2**64 that looks random and depends only on the seed and the key."""
    text = f"{seed}{_SEPARATOR}{key}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")


def split_of(seed: str, group: str, shares: Sequence[tuple[str, float]]) -> str:
    """The split of a group: the first whose cumulated share exceeds the group's number; the last takes rounding rests."""
    unit, reached = drawn_number(seed, group) / 2**64, 0.0
    for name, share in shares:
        reached += share
        if unit < reached:
            return name
    return shares[-1][0]
