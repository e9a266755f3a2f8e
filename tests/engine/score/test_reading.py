"""Recorded replies are read again as if their run had been made in another tool format."""

from typing import Any

from wildtool.engine.record.reader import ItemLog, LoggedFailure, LoggedReply, LoggedRequest
from wildtool.engine.score.reading import read_again
from wildtool.tool_formats import CALL_FORMATS
from wildtool.types import Reply

TOOL = {"type": "function", "function": {"name": "get_time", "parameters": {"type": "object"}}}
ASKED = LoggedRequest([{"role": "user", "content": "What time is it?"}], [TOOL], 0.0)
HERMES = '<tool_call>\n{"name": "get_time", "arguments": {}}\n</tool_call>'


def logged(content: Any, role: str = "agent", changes: tuple[str, ...] = (), **message: Any) -> LoggedReply:
    reply = Reply({"role": "assistant", "content": content, **message}, "{}", "stop", changes=changes)
    return LoggedReply(role, "r", reply)


def again(*steps: LoggedReply | LoggedFailure, format: str = "hermes") -> list[Any]:
    log: ItemLog = {"0": dict(enumerate(steps))}
    asked = {("0", step): ASKED for step in range(len(steps))}
    return list(read_again(log, asked, CALL_FORMATS[format])["0"].values())


def names(entry: LoggedReply) -> list[str]:
    return [call["function"]["name"] for call in entry.reply.message.get("tool_calls") or ()]


def test_a_call_that_was_left_in_a_text_is_read_and_ends_its_unit():
    (entry,) = again(logged(HERMES), logged("It is noon."))
    assert names(entry) == ["get_time"]
    assert entry.reply.changes == ("format:hermes",)


def test_replies_that_read_alike_go_on():
    assert len(again(logged("Which city?"), logged("It is noon."))) == 2


def test_the_same_format_reads_the_same():
    (first,) = again(logged(HERMES))
    assert again(first, logged("It is noon."))[0].reply == first.reply
    assert len(again(first, logged("It is noon."))) == 2


def test_a_call_of_another_format_becomes_a_text_again():
    (read,) = again(logged(HERMES))
    (entry,) = again(read, logged("It is noon."), format="react")
    assert names(entry) == []
    assert entry.reply.message["content"] == HERMES
    assert "tool_calls" not in entry.reply.message


def test_native_calls_other_roles_and_failures_stay():
    native = logged(None, tool_calls=[{"id": "1", "function": {"name": "f", "arguments": "{}"}}])
    user = logged(HERMES, role="user")
    failed = LoggedFailure("agent", "r", "network", "gone", 6)
    entries = again(native, user, failed)
    assert [names(entries[0]), entries[1], entries[2]] == [["f"], user, failed]
