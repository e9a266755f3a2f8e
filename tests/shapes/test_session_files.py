"""Session files of coding agents: one conversation for what one model saw, and everything else counted."""

from typing import Any

from wildtool.shapes import Reading, read_record, records_of


def line(number: int, kind: str, content: Any, **fields: Any) -> dict[str, Any]:
    """A line of a session, which follows the one before unless it says otherwise."""
    parent = f"u{number - 1}" if number > 1 else None
    message = {"role": kind, "content": content}
    return {
        "type": kind,
        "sessionId": "s",
        "uuid": f"u{number}",
        "parentUuid": parent,
        "message": message,
        **fields,
    }


def conversations(*rows: dict[str, Any]) -> tuple[list[list[str]], dict[str, int]]:
    """What each conversation says, and what was left out."""
    reading = Reading("session.jsonl")
    records = records_of([(reading, row) for row in rows], reading)
    talks = [read_record(record, place).messages for place, record in records]
    return [[str(message["content"]) for message in messages] for messages in talks], dict(reading.lost)


def test_lines_of_unknown_types_are_counted_and_hide_no_conversation():
    rows = [line(1, "user", "Hi"), {"type": "progress", "sessionId": "s"}, line(2, "assistant", "Hello")]
    assert conversations(*rows) == ([["Hi", "Hello"]], {"line of type progress": 1})
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]}
    rollout = [{"type": "response_item", "payload": item}, {"type": "world_state", "payload": {}}]
    assert conversations(*rollout) == ([["Hi"]], {"line of type world_state": 1})


def test_a_failed_call_is_no_answer():
    failed = line(2, "assistant", "API Error: 529", isApiErrorMessage=True)
    assert conversations(line(1, "user", "Hi"), failed) == ([["Hi"]], {"failed call of a model": 1})


def test_a_request_that_was_taken_back_is_left_out_with_all_that_followed_it():
    rows = [
        line(1, "user", "Hi"),
        line(2, "assistant", "Hello"),
        line(3, "user", "Where is A-1?"),
        line(4, "assistant", "Lost."),
        line(5, "user", "Where is A-2?", parentUuid="u2"),
        line(6, "assistant", "Here."),
    ]
    talks, counts = conversations(*rows)
    assert talks == [["Hi", "Hello", "Where is A-2?", "Here."]]
    assert counts == {"message that the user took back": 2}


def test_results_of_calls_made_at_once_take_nothing_back():
    calls = [{"type": "tool_use", "id": name, "name": "f", "input": {}} for name in "ab"]
    results = [{"type": "tool_result", "tool_use_id": name, "content": name} for name in "ab"]
    rows = [
        line(1, "user", "Go"),
        line(2, "assistant", calls),
        line(3, "user", results[:1]),
        line(4, "user", results[1:], parentUuid="u2"),
        line(5, "assistant", "Done."),
    ]
    assert conversations(*rows) == ([["Go", "None", "a", "b", "Done."]], {})


def test_each_side_conversation_is_one_of_its_own():
    rows = [line(1, "user", "Go")]
    for number, name in ((2, "one"), (4, "two")):
        request = line(number, "user", name, isSidechain=True, parentUuid=None)
        rows += [request, line(number + 1, "assistant", f"{name}!", isSidechain=True)]
    rows.append(line(6, "assistant", "Done.", parentUuid="u1"))
    assert conversations(*rows)[0] == [["Go", "Done."], ["one", "one!"], ["two", "two!"]]
