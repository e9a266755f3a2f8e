"""Reads recorded replies again in another tool format, as if the run had been made with it."""

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace

from wildtool.engine.record.reader import ItemLog, LoggedFailure, LoggedReply, LoggedRequest
from wildtool.json_codec import as_list, as_object
from wildtool.models.prompted import has_calls, parse_message
from wildtool.tool_formats import CallFormat
from wildtool.types import FORMAT_CHANGE, REPAIR_CHANGE, Episode, Message, Reply, Request

FROM_TEXT, NATIVE, WITH_TOOLS, REPLIES = "calls from text", "native calls", "with tools", "replies"
"""What is counted of replies that are read again: those in whose text the format found calls, those that have native
calls, those that were offered tools, and all."""


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


def read_imported(log: ItemLog, episode_of: Callable[[str, ItemLog], Episode], format: CallFormat) -> ItemLog:
    """The log of an item whose replies came from elsewhere, read in a format; nobody recorded what they answered.

    All of a unit's replies are read: they were given in a history that had the results of their calls, whoever read them.

    Args:
        episode_of: gives the episode of a unit at its beginning, from what is read of the item so far. It says what each
            reply was offered.
    """
    again: ItemLog = {}
    for unit, steps in log.items():
        requests = _Requests(lambda unit=unit: episode_of(unit, again))
        read: dict[int, LoggedReply | LoggedFailure] = {}
        for step, entry in sorted(steps.items()):
            request = requests.next()
            if isinstance(entry, LoggedReply) and request.role == "agent":
                entry = replace(entry, reply=_read_reply(entry.reply, request, format))
            read[step] = entry
            if isinstance(entry, LoggedReply):
                requests.answered(entry.reply.message)
        again[unit] = read
    return again


class _Requests:
    """What a unit asks, step by step; once it ends, or where a benchmark fails, what it asked last."""

    def __init__(self, begin: Callable[[], Episode]) -> None:
        self._episode: Episode | None = None
        self._last = Request(())
        with suppress(Exception):  # a faulty benchmark is reported by its judge
            self._episode = begin()

    def next(self) -> Request:
        with suppress(Exception):
            request = None if self._episode is None else self._episode.request()
            self._last = request or self._last
        return self._last

    def answered(self, message: Message) -> None:
        if self._episode is None or self._episode.done:
            return
        try:
            self._episode.advance(message)
        except Exception:  # noqa: BLE001 - a faulty benchmark is reported by its judge
            self._episode = None


def count_readings(before: ItemLog, after: ItemLog) -> Counter[str]:
    """How many replies of the model under test were read again, and what they hold."""
    counts: Counter[str] = Counter()
    for unit, steps in after.items():
        for step, entry in steps.items():
            old = before[unit][step]
            if (
                not isinstance(entry, LoggedReply)
                or not isinstance(old, LoggedReply)
                or entry.role != "agent"
            ):
                continue
            native = bool(old.reply.message.get("tool_calls")) and not _read_from_text(old.reply)
            counts[REPLIES] += 1
            counts[WITH_TOOLS] += native or _read_from_text(entry.reply)
            counts[NATIVE] += native
            counts[FROM_TEXT] += bool(entry.reply.message.get("tool_calls")) and not native
    return counts


def text_as_received(reply: Reply) -> str | None:
    """The text of a reply before a format read calls from it; None for one with native calls or without a text."""
    message = _as_received(reply.message) if _read_from_text(reply) else reply.message
    content: object = message.get("content")
    return content if isinstance(content, str) and not message.get("tool_calls") else None


def _read_from_text(reply: Reply) -> bool:
    return any(change.startswith(FORMAT_CHANGE) for change in reply.changes)


def _read_reply(reply: Reply, request: Request, format: CallFormat) -> Reply:
    if not request.tools and not any(map(has_calls, request.messages)):
        # A run in a format sends such a request unchanged: where calls are due, the benchmark reads them in its own text.
        return reply
    received = _as_received(reply.message) if _read_from_text(reply) else reply.message
    message, repairs = parse_message(received, format, request)
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
