"""Writes chats of texts, also for verl: prompt and reply as a run with `--tool-format` sends and reads them."""

from collections.abc import Iterator
from typing import Any

from wildtool.models.prompted import message_as_text, plain_chat
from wildtool.tool_formats import CALL_FORMATS
from wildtool.training.record import RowError, TrainingRecord
from wildtool.training.writers.openai import record_messages, reply_message
from wildtool.training.writers.options import WriteOptions
from wildtool.types import Message, Request
from wildtool_data.prepare.writers.sharegpt import REASONING


def text_row(record: TrainingRecord, options: WriteOptions) -> dict[str, Any]:
    """A record as a line of a file for TRL's SFT or DPO trainer, without calls and tools for a chat template to write.

    The prompt is what a run sends in the same place; the completion is the last reply.
    """
    messages = list(record_messages(record, reply_message))
    replies = {name: reply_message(reply) for name, reply in record.pair.items()}
    if not replies:
        *messages, replies["completion"] = messages
    call_format = CALL_FORMATS[options.tool_format]
    prompt, _ = plain_chat(Request(messages, record.tools), call_format)
    return {
        "prompt": [_plain(message) for message in prompt],
        **{name: [_plain(message_as_text(reply, call_format))] for name, reply in replies.items()},
    }


VERL_COLUMNS = {"messages": "STRUCT(role VARCHAR, content VARCHAR)[]"}
"""The columns of Parquet files for verl. Its tools must be lists of objects, and in a column all objects have the keys of
each other: a tool would get the parameters of every other one, as null. So tools and calls are in the texts."""


def verl_row(record: TrainingRecord, options: WriteOptions) -> dict[str, Any]:
    """A whole conversation as a row of a file for verl's MultiTurnSFTDataset, which learns every reply.

    Raises:
        RowError: a reply has weight 0, and may not be learned.
    """
    if not options.drop_weights and not all(turn.learned for turn in record.replies):
        raise RowError(
            "weight-0",
            "a reply has weight 0, and verl learns every reply: add --drop-weights, or use --to text",
        )
    row = text_row(record, options)
    return {"messages": [*row["prompt"], *row["completion"]]}


def lost_in_verl(record: TrainingRecord, options: WriteOptions) -> Iterator[str]:
    """What of a record a row for verl cannot say: what the model thought, and that a reply is not learned."""
    if any(turn.reasoning for turn in record.replies):
        yield REASONING
    if not all(turn.learned for turn in record.replies):
        yield "weight 0"


def _plain(message: Message) -> Message:
    """Role and text: chat templates show nothing else, and a column that few rows have stops some loaders."""
    return {"role": message["role"], "content": message.get("content") or ""}


def lost_in_text(record: TrainingRecord, options: WriteOptions) -> Iterator[str]:
    """What of a record such a row cannot say: what the model thought, and that its last reply is not learned."""
    replies = list(record.replies)
    last = replies if record.kind == "preference" else replies[-1:]
    if any(turn.reasoning for turn in last):
        yield REASONING
    if not all(turn.learned for turn in last):
        yield "weight 0"
