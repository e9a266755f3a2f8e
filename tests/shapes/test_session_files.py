"""Session files of coding agents: one conversation for what one model saw, and everything else counted."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapes.written import SESSIONS, TALK
from wildtool.shapes import Reading, ShapeError, read_record
from wildtool.shapes.record_files import records_of


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


def event(text: str, run: str, **fields: Any) -> dict[str, Any]:
    """An event of a session of Google's ADK, as Python writes it."""
    author = "user" if text.endswith("?") else "helper"
    content = {"role": None, "parts": [{"text": text, "function_call": None, "thought": None}]}
    return {"author": author, "invocation_id": run, "content": content, "error_code": None, **fields}


def test_of_a_session_of_adk_what_was_rewound_failed_or_came_in_pieces_is_left_out():
    rows = [
        event("Where is A-1?", "i1"),
        event("Lost.", "i1"),
        event("", "i2", content=None, actions={"rewind_before_invocation_id": "i1"}),
        event("Where is A-2?", "i3"),
        event("He", "i3", partial=True),
        event("", "i3", content=None, error_code="429"),
        event("Here.", "i3"),
        event("", "i3", content=None, actions={"state_delta": {"seen": 1}}),
    ]
    talks, counts = conversations({"app_name": "app", "id": "s", "events": rows})
    assert talks == [["Where is A-2?", "Here."]]
    assert counts == {"message that the user took back": 1, "failed call of a model": 1}


def chat(*lines: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"sessionId": "s", "projectHash": "p"}, *lines]


def said(id_: str, text: str, kind: str = "user") -> dict[str, Any]:
    return {"id": id_, "type": kind, "content": text}


def test_lines_of_a_chat_of_gemini_cli_replace_messages_and_take_them_back():
    rows = chat(
        said("a", "Hi"),
        said("b", "Hel", "gemini"),
        said("b", "Hello", "gemini"),
        said("c", "Where is A-1?"),
        said("d", "Lost.", "gemini"),
        {"$rewindTo": "c"},
        said("e", "Tip: use /help", "info"),
        said("f", "Where is A-2?"),
    )
    talks, counts = conversations(*rows)
    assert talks == [["Hi", "Hello", "Where is A-2?"]]
    assert counts == {"message that the user took back": 2, "message of type info": 1}
    whole = {"$set": {"messages": [said("a", "Hi"), said("b", "Welcome", "gemini")]}}
    assert conversations(*rows, whole)[0] == [["Hi", "Welcome"]]


def test_a_result_that_a_chat_has_twice_is_one():
    records = records_of([(Reading(), row) for row in SESSIONS["gemini cli"](TALK)], Reading())
    messages = [read_record(record, place).messages for place, record in records]
    roles = [message["role"] for message in messages[0]]
    assert roles == ["system", "user", "assistant", "tool", "tool", "assistant"]


def test_results_whose_ids_come_again_in_a_later_turn_are_kept():
    def turn(name: str) -> list[dict[str, Any]]:
        result = {"functionResponse": {"id": "call_0", "name": "f", "response": {"output": name}}}
        call = {"id": "call_0", "name": "f", "args": {}, "result": [result]}
        asked = {**said(f"{name}1", "", "gemini"), "toolCalls": [call]}
        return [said(f"{name}0", f"{name}?"), asked, {**said(f"{name}2", ""), "content": [result]}]

    talks, _ = conversations(*chat(*turn("a"), *turn("b")))
    assert talks == [["a?", "", '{"output": "a"}', "b?", "", '{"output": "b"}']]


def test_each_sub_agent_of_a_trajectory_has_a_conversation():
    def steps(*texts: str) -> dict[str, Any]:
        sources = ("user", "agent") * len(texts)
        return {"steps": [{"source": s, "message": text} for s, text in zip(sources, texts, strict=False)]}

    whole = {
        "schema_version": "ATIF-v1.7",
        **steps("Go", "Done."),
        "subagent_trajectories": [steps("One", "1")],
    }
    reference = {"source_call_id": None, "subagent_trajectory_ref": [{"session_id": "x"}]}
    whole["steps"][1]["observation"] = {"results": [reference]}
    talks, counts = conversations(whole)
    assert talks == [["Go", "Done.", ""], ["One", "1"]]
    assert counts == {"what a sub-agent gave, kept elsewhere": 1}


def test_a_step_of_nobody_is_refused_with_its_place():
    step = {"source": "narrator", "message": "Once"}
    with pytest.raises(ShapeError, match=r"session\.jsonl: message 1: the role 'narrator'"):
        conversations({"schema_version": "ATIF-v1.7", "steps": [step]})


def entry(id_: str, text: str, parent: str | None, role: str = "user", **fields: Any) -> dict[str, Any]:
    """A line of a session of pi."""
    message = {"role": role, "content": [{"type": "text", "text": text}] if text else [], **fields}
    return {"type": "message", "id": id_, "parentId": parent, "message": message}


def test_of_a_session_of_pi_the_branch_to_the_last_line_is_the_conversation():
    head = {"type": "session", "version": 3, "id": "s", "cwd": "/"}
    rows = [
        head,
        entry("a", "Hi", None),
        entry("b", "Hello", "a", "assistant"),
        entry("c", "Where is A-1?", "b"),
        entry("d", "Where is A-2?", "b"),
        entry("e", "", "d", "assistant", stopReason="error", errorMessage="429"),
        entry("f", "Here.", "e", "assistant", stopReason="stop"),
        {"type": "compaction", "id": "g", "parentId": "f", "summary": "short"},
    ]
    talks, counts = conversations(*rows)
    assert talks == [["Hi", "Hello", "Where is A-2?", "Here."]]
    taken_back = {"message that the user took back": 1, "failed call of a model": 1}
    assert counts == {**taken_back, "line of type compaction": 1}


def test_what_was_reverted_in_opencode_is_left_out():
    (whole,) = SESSIONS["opencode"](TALK)
    whole["info"]["revert"] = {"messageID": "m2"}
    talks, counts = conversations(whole)
    assert talks == [[TALK.request, TALK.before, *(call.result for call in TALK.calls)]]
    assert counts == {"message that the user took back": 1}


def test_a_reply_of_nothing_is_none_that_failed():
    (whole,) = SESSIONS["opencode"](TALK)
    last = whole["messages"][-1]
    last["parts"] = [{"type": "step-start"}, {"type": "step-finish"}]
    assert conversations(whole)[0][0][-1] == ""
    last["info"]["error"] = {"name": "APIError"}
    talks, counts = conversations(whole)
    assert len(talks[0]) == 4 and counts == {"failed call of a model": 1}


def test_a_tool_of_opencode_that_still_runs_has_no_result():
    (whole,) = SESSIONS["opencode"](TALK)
    whole["messages"][1]["parts"][-1]["state"] = {"status": "running", "input": {}}
    talks, _ = conversations(whole)
    assert talks == [[TALK.request, TALK.before, TALK.calls[0].result, TALK.answer]]


@pytest.mark.parametrize(
    ("session", "sign"),
    [
        ({"appName": "a", "events": [{"author": "user", "content": "Hi"}]}, "Hi"),
        ({"appName": "a", "events": ["Hi"]}, "event that is no object"),
        (
            {"schema_version": "ATIF-v1.7", "steps": [], "subagent_trajectories": {"value": []}},
            "trajectories of sub-agents that are no list",
        ),
    ],
)
def test_what_stands_in_another_form_is_read_or_counted(session: dict[str, Any], sign: str):
    talks, counts = conversations(session)
    assert sign in [*counts, *(text for talk in talks for text in talk)]


def test_what_is_observed_in_another_form_is_refused():
    step = {"source": "agent", "message": "Done.", "observation": ["a"]}
    with pytest.raises(ShapeError):
        conversations({"schema_version": "ATIF-v1.7", "steps": [step]})


def test_a_line_of_pi_without_an_id_is_counted():
    head = {"type": "session", "version": 3, "id": "s", "cwd": "/"}
    unnamed = {key: value for key, value in entry("b", "Hello", "a").items() if key != "id"}
    assert conversations(head, entry("a", "Hi", None), unnamed) == ([["Hi"]], {"line without an id": 1})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to all that is in a value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inside:
        yield (*path, key)
        yield from places(part, (*path, key))


@given(st.sampled_from(sorted(SESSIONS)), st.data(), JSON)
def test_any_value_in_a_session_is_read_or_refused(program: str, data: st.DataObject, value: Any):
    rows = deepcopy(SESSIONS[program](TALK))
    *steps, key = data.draw(st.sampled_from(list(places(rows))))
    holder: Any = rows
    for step in steps:
        holder = holder[step]
    holder[key] = value
    try:
        conversations(*rows)
    except ShapeError as error:
        assert str(error).startswith("session.jsonl: ")
