"""Recorded replies are read again as if their run had been made in another tool format."""

from dataclasses import replace
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


def test_a_reply_is_read_from_its_text_as_it_came_with_its_own_changes():
    raw = f"<think>Hm</think>\n{HERMES}"
    parsed = {
        "content": None,
        "raw_content": raw,
        "reasoning_content": "Hm",
        "tool_calls": [{"id": "x", "function": {"name": "get_time", "arguments": "{}"}}],
    }
    changes = ("merged-messages", "format:hermes", "repair:trailing-comma", "renamed")
    (entry,) = again(logged(**parsed, changes=changes), format="react")
    message = {"role": "assistant", "content": HERMES, "raw_content": raw, "reasoning_content": "Hm"}
    assert entry.reply == Reply(message, "{}", "stop", changes=("merged-messages", "renamed", "format:react"))
    # What no format has read is a key of the message like any other.
    (entry,) = again(logged("a", raw_content=HERMES))
    assert (entry.reply.message["content"], entry.reply.changes) == ("a", ("format:hermes",))
    (entry,) = again(logged(HERMES.replace("{}}", "{},}")))
    assert entry.reply.changes == ("format:hermes", "repair:trailing-comma")


def test_ids_of_calls_have_no_meaning():
    (read,) = again(logged(HERMES))
    calls = [{**call, "id": "other"} for call in read.reply.message["tool_calls"]]
    other = replace(read, reply=replace(read.reply, message={**read.reply.message, "tool_calls": calls}))
    assert len(again(other, logged("It is noon."))) == 2


def test_steps_are_read_in_their_order_and_units_each_by_itself():
    plain = logged("It is noon.")
    log: ItemLog = {"0": {2: plain, 1: logged(HERMES), 0: plain}, "1": {0: plain}, "2": {0: logged(HERMES)}}
    # Of a step without a request nothing is known to read it by.
    asked = {("0", step): ASKED for step in range(3)} | {("1", 0): ASKED}
    read = read_again(log, asked, CALL_FORMATS["hermes"])
    assert {unit: [*steps] for unit, steps in read.items()} == {"0": [0, 1], "1": [0], "2": [0]}
    assert read["2"] == log["2"]
