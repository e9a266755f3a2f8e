"""Conversations as training data: what the model saw, what it said, and nothing else."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from export.export_build import ITEM, json_lines, play, written
from wildtool.benchmarks.wildtoolbench import WILD_MINI
from wildtool.engine.record.reader import LoggedReply, LogReader
from wildtool.engine.replies import import_replies
from wildtool.export import openai
from wildtool.export.conversations import ExportedConversation
from wildtool.export.sharegpt import conversation_row
from wildtool.types import Address

CALLS = [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}]


def test_a_unit_is_a_line_with_all_that_was_sent_and_the_last_reply(tmp_path: Path):
    folder = play(tmp_path / "run")
    rows = json_lines(written("openai", folder, tmp_path))
    with LogReader(folder) as reader:
        steps = reader.log(ITEM, 0)["0"]
        last = steps[len(steps) - 1]
        asked = reader.request(Address(ITEM, 0, "0", len(steps) - 1))
    assert isinstance(last, LoggedReply)
    assert [(row["item"], row["unit"], row["part"]) for row in rows] == [(ITEM, str(n), 0) for n in range(4)]
    assert rows[0]["messages"] == [*asked["messages"], last.reply.message]
    assert json.loads(rows[0]["tools"]) == asked["tools"]
    assert (rows[0]["model"], rows[0]["outcome"]) == ("baseline/gold", "correct")


def test_the_replies_of_this_unit_are_told_from_those_that_the_benchmark_put_there(tmp_path: Path):
    row = json_lines(written("openai", play(tmp_path / "run"), tmp_path))[1]
    assistants = [n for n, message in enumerate(row["messages"]) if message["role"] == "assistant"]
    assert row["replies"] == assistants[-2:]
    assert len(assistants) > 2


def test_only_correct_leaves_out_what_is_wrong(tmp_path: Path):
    folder = play(tmp_path / "run", "baseline/chat", ids=(), limit=4)
    every = json_lines(written("openai", folder, tmp_path))
    right = json_lines(written("openai", folder, tmp_path, only="correct"))
    assert right == [row for row in every if row["outcome"] == "correct"]
    assert 0 < len(right) < len(every)


def test_another_profile_gives_its_own_outcomes(tmp_path: Path):
    folder = play(tmp_path / "run")
    rows = json_lines(written("openai", folder, tmp_path, profile="fixed"))
    assert {row["profile"] for row in rows} == {"fixed"}


def test_a_result_file_without_requests_is_exported_with_those_it_would_have_got(tmp_path: Path):
    folder = play(tmp_path / "run")
    with LogReader(folder) as reader:
        log = reader.log(ITEM, 0)
    said = [
        [s.reply.message for _, s in sorted(log[unit].items()) if isinstance(s, LoggedReply)] for unit in log
    ]
    file = tmp_path / "replies.jsonl"
    file.write_text(json.dumps({"item": ITEM, "model": "m", "tasks": said}))
    (imported,) = import_replies(WILD_MINI, WILD_MINI.data.locate(None), file, tmp_path / "imported")
    played = [row["messages"] for row in json_lines(written("openai", folder, tmp_path))]
    again = [row["messages"] for row in json_lines(written("openai", imported, tmp_path))]
    assert again == played


def test_sharegpt_has_turns_that_alternate(tmp_path: Path):
    row = json_lines(written("sharegpt", play(tmp_path / "run"), tmp_path))[0]
    speakers = [turn["from"] for turn in row["conversations"]]
    assert set(speakers[::2]) == {"human", "observation"}
    assert set(speakers[1::2]) == {"function_call", "gpt"}
    assert row["system"].startswith("Current Date")
    assert json.loads(row["tools"])[0]["name"] == "list_accounts"


def test_sharegpt_makes_calls_at_once_one_turn_and_their_results_one():
    calls = [{**CALLS[0], "id": "a"}, {**CALLS[0], "id": "b"}]
    said = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "a", "content": "1"},
        {"role": "tool", "tool_call_id": "b", "content": "2"},
    ]
    turns = conversation_row(ExportedConversation(said, [], ()))["conversations"]
    assert [turn["from"] for turn in turns] == ["human", "function_call", "observation"]
    assert json.loads(turns[1]["value"]) == [{"name": "f", "arguments": {"a": 1}}] * 2
    assert json.loads(turns[2]["value"]) == ["1", "2"]


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
ARGUMENTS = st.dictionaries(TEXTS, st.integers() | TEXTS | st.booleans() | st.none(), max_size=3)
CALL = st.builds(
    lambda call, name, arguments: {
        "id": call,
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)},
    },
    TEXTS,
    TEXTS,
    ARGUMENTS,
)
MESSAGE = st.one_of(
    st.fixed_dictionaries({"role": st.just("user"), "content": TEXTS}),
    st.fixed_dictionaries(
        {"role": st.just("assistant"), "content": TEXTS | st.none()}, optional={"reasoning_content": TEXTS}
    ),
    st.fixed_dictionaries(
        {"role": st.just("assistant"), "content": TEXTS | st.none(), "tool_calls": st.lists(CALL, min_size=1)}
    ),
    st.fixed_dictionaries({"role": st.just("tool"), "tool_call_id": TEXTS, "content": TEXTS}),
)
SYSTEM = st.fixed_dictionaries({"role": st.just("system"), "content": st.text("abc", min_size=1)})


ROLES = {"system": "system", "human": "user", "gpt": "assistant"}


def row_to_messages(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The messages that a row was made of."""
    said: list[dict[str, Any]] = [{"role": "system", "content": row["system"]}] if row["system"] else []
    for each in row["conversations"]:
        turn = {**each, **json.loads(each.get("more") or "{}")}
        more = turn.get("message", {})
        if turn["from"] == "observation":
            said += [{"role": "tool", **rest, "content": text} for rest, text in results_of(turn)]
        elif turn["from"] == "function_call":
            said.append({"role": "assistant", "content": None, "tool_calls": calls_of(turn), **more})
        else:
            said.append({"role": ROLES.get(turn["from"], turn["from"]), "content": turn["value"], **more})
    return said


def results_of(turn: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    kept = turn["results"]
    texts = [turn["value"]] if len(kept) == 1 else json.loads(turn["value"])
    yield from zip(kept, texts, strict=True)


def calls_of(turn: Mapping[str, Any]) -> list[dict[str, Any]]:
    made = json.loads(turn["value"])
    functions = made if isinstance(made, list) else [made]
    return [
        {
            **kept,
            "function": {
                "name": function["name"],
                "arguments": a
                if isinstance(a := function["arguments"], str)
                else json.dumps(a, ensure_ascii=False),
            },
        }
        for kept, function in zip(turn["calls"], functions, strict=True)
    ]


@given(st.lists(SYSTEM, max_size=1), st.lists(MESSAGE, max_size=6))
def test_sharegpt_and_back_gives_the_same_messages(system: list[Any], said: list[Any]):
    talk = ExportedConversation([*system, *said], [], ())
    row = json.loads(json.dumps(conversation_row(talk, lossless=True)))
    assert row_to_messages(row) == [*system, *said]


CALL_TYPES = {"id": str, "type": str, "function": {"name": str, "arguments": str}}
MESSAGE_TYPES = {
    "role": str, "content": str, "reasoning_content": str, "name": str, "tool_call_id": str, "more": str,
    "tool_calls": [CALL_TYPES],
}  # fmt: skip


def fits(value: Any, shape: Any) -> bool:
    """Whether a value has the types of a column; a text may be missing."""
    if isinstance(shape, dict):
        return isinstance(value, dict) and all(key in shape and fits(value[key], shape[key]) for key in value)
    if isinstance(shape, list):
        return isinstance(value, list) and all(fits(each, shape[0]) for each in value)
    return type(value) is shape or (value is None and shape is str)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
ODD_MESSAGE = st.dictionaries(
    st.sampled_from(["content", "tool_calls", "reasoning_content", "provider_content", "name", "refusal"]),
    JSON,
).map(lambda message: {"role": "assistant", **message})


@given(st.lists(MESSAGE | ODD_MESSAGE, max_size=5))
def test_messages_of_stable_types_give_back_those_that_were_sent(said: list[Any]):
    rows = [json.loads(json.dumps(openai.message_row(message))) for message in said]
    assert fits(rows, [MESSAGE_TYPES])
    assert openai.row_messages({"messages": rows}) == said


@given(MESSAGE | ODD_MESSAGE)
def test_calls_whose_arguments_are_no_object_are_kept_apart_where_objects_are_asked_for(message: Any):
    row = openai.message_row(message, objects=True)
    arguments = [call["function"].pop("arguments") for call in row.get("tool_calls", [])]
    assert all(isinstance(each, dict) for each in arguments)
    places = [place for place in (row, json.loads(row.get("more", "{}"))) if "tool_calls" in place]
    assert len(places) == ("tool_calls" in message)


def test_arguments_are_objects_where_that_is_asked_for(tmp_path: Path):
    folder = play(tmp_path / "run")
    (row, *_) = json_lines(written("openai", folder, tmp_path, arguments="object"))
    arguments = [
        call["function"]["arguments"] for message in row["messages"] for call in message.get("tool_calls", [])
    ]
    assert arguments
    assert all(isinstance(each, dict) for each in arguments)


def test_a_chat_template_gets_objects_texts_and_a_list_of_tools(tmp_path: Path):
    row = json_lines(written("openai", play(tmp_path / "run"), tmp_path))[0]
    # As a loader gives it: what other rows have is there, and null.
    row["messages"] = [{"tool_calls": None, "more": None, **message} for message in row["messages"]]
    said = openai.for_template(row)
    calls = [call for message in said["conversation"] for call in message.get("tool_calls", [])]
    assert calls
    assert all(isinstance(call["function"]["arguments"], dict) for call in calls)
    assert all(isinstance(message["content"], str) for message in said["conversation"])
    assert said["tools"][0]["function"]["name"] == "list_accounts"


def test_a_tool_without_parameters_has_a_schema_for_trainers_that_need_one():
    tools = [{"type": "function", "function": {"name": "ping"}}]
    row = conversation_row(ExportedConversation([{"role": "user", "content": "q"}], tools, ()))
    assert json.loads(row["tools"]) == [{"name": "ping", "parameters": {"type": "object", "properties": {}}}]
