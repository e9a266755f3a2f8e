"""Reads recorded replies again in another tool format, as if the run had been made with it."""

from collections.abc import Mapping
from dataclasses import replace

from wildtool.engine.record.reader import ItemLog, LoggedReply, LoggedRequest
from wildtool.json_codec import as_list, as_object
from wildtool.models.prompted import parse_message
from wildtool.tool_formats import CallFormat
from wildtool.types import FORMAT_CHANGE, REPAIR_CHANGE, Message, Reply, Request


def read_again(
    log: ItemLog, requests: Mapping[tuple[str, int], LoggedRequest], format: CallFormat
) -> ItemLog:
    """The log of an item with the replies of the model under test read in a format.

    A unit ends behind the first reply that now reads otherwise: what was recorded next answers another history.

    Args:
        requests: what each step was asked, by unit and step.
    """
    again: ItemLog = {}
    for unit, steps in log.items():
        again[unit] = {}
        for step, entry in sorted(steps.items()):
            asked = requests.get((unit, step))
            if not isinstance(entry, LoggedReply) or entry.role != "agent" or asked is None:
                again[unit][step] = entry
                continue
            reply = _read_reply(entry.reply, Request(asked.messages, asked.tools), format)
            again[unit][step] = replace(entry, reply=reply)
            if _meaning(reply.message) != _meaning(entry.reply.message):
                break
    return again


def _read_reply(reply: Reply, request: Request, format: CallFormat) -> Reply:
    in_text = any(change.startswith(FORMAT_CHANGE) for change in reply.changes)
    message, repairs = parse_message(
        _as_received(reply.message) if in_text else reply.message, format, request
    )
    earlier = (each for each in reply.changes if not each.startswith((FORMAT_CHANGE, REPAIR_CHANGE)))
    changes = (*earlier, f"{FORMAT_CHANGE}{format.name}", *(f"{REPAIR_CHANGE}{name}" for name in repairs))
    return replace(reply, message=message, changes=changes)


def _as_received(message: Message) -> Message:
    """A message before a format read calls and reasoning from its text."""
    if "raw_content" not in message:
        return message
    fields = {key: value for key, value in message.items() if key not in ("tool_calls", "reasoning_content")}
    return {**fields, "content": fields.pop("raw_content")}


def _meaning(message: Message) -> object:
    """What the benchmark reads of a reply, without the ids of calls."""
    calls = [as_object(call).get("function") for call in as_list(message.get("tool_calls"))]
    return calls or message.get("content")
