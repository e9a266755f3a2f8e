"""What holds for every record: round trips, rows of any JSON, and that trainers accept what is written."""

import json
import re
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from long import a_fiftieth_of
from wildtool.training.files import FileRow
from wildtool.training.readers.data_sets import DATA_SETS
from wildtool.training.readers.options import DEFAULT_OPTIONS
from wildtool.training.reading import read_row
from wildtool.training.record import RejectedRow, RowError, TrainingRecord
from wildtool.training.writers.options import WriteOptions
from wildtool_data.prepare.check.rules import check_record
from wildtool_data.prepare.lines import training_line
from wildtool_data.prepare.writers.forms import TRAINING_FORMS

TEXTS = st.text(
    st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), min_size=1, max_size=12
).filter(str.strip)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)
"""JSON values."""
TOOL = {
    "type": "function",
    "function": {"name": "f", "description": "", "parameters": {"type": "object", "properties": {}}},
}


@st.composite
def talks(draw: st.DrawFn, *, for_trl: bool = False) -> dict[str, Any]:
    """A conversation in OpenAI's shape, or TRL's, as this program writes it."""
    messages: list[dict[str, Any]] = []
    if draw(st.booleans()):
        messages.append({"role": "system", "content": draw(TEXTS)})
    number = 0
    for _ in range(draw(st.integers(1, 2))):
        name = {"name": draw(TEXTS)} if draw(st.booleans()) else {}
        messages.append({"role": "user", "content": draw(TEXTS), **name})
        for _ in range(draw(st.integers(0, 2))):
            made: list[dict[str, Any]] = []
            for _ in range(draw(st.integers(1, 2))):
                number += 1
                arguments: Any = draw(st.dictionaries(TEXTS, VALUES, max_size=2))
                function = {
                    "name": draw(TEXTS),
                    "arguments": arguments if for_trl else json.dumps(arguments, ensure_ascii=False),
                }
                identity = f"id{number}" if draw(st.booleans()) else f"call_{number}"
                made.append({"id": identity, "type": "function", "function": function})
            # An empty text beside calls comes back as null.
            beside = draw(TEXTS | (st.just("") if for_trl else st.none()))
            messages.append({"role": "assistant", "content": beside, "tool_calls": made})
            for call in made:
                result = {"role": "tool", "tool_call_id": call["id"], "content": draw(TEXTS | st.just(""))}
                messages.append({**result, "name": call["function"]["name"]} if for_trl else result)
        weight = {"weight": 0} if not for_trl and draw(st.booleans()) else {}
        messages.append({"role": "assistant", "content": draw(TEXTS), **weight})
    tools = [{**TOOL, "function": {**TOOL["function"], "strict": True}}] if draw(st.booleans()) else []
    if for_trl:
        tools = []
    return {"messages": messages, "tools": tools}


def record_of(row: Any, data_set: str) -> TrainingRecord:
    found = read_row(FileRow(1, row), DATA_SETS[data_set], "file", DEFAULT_OPTIONS)
    assert isinstance(found, TrainingRecord), found
    return found


def written(record: TrainingRecord, form: str, options: WriteOptions | None = None) -> Any:
    return json.loads(training_line(TRAINING_FORMS[form].write(record, options or WriteOptions())))


def read_arguments(row: dict[str, Any]) -> dict[str, Any]:
    """A row with the arguments of calls as values: their spelling may change."""
    row = deepcopy(row)
    for message in row["messages"]:
        for call in message.get("tool_calls", ()):
            call["function"]["arguments"] = json.loads(call["function"]["arguments"])
    return row


@given(talks())
@settings(max_examples=a_fiftieth_of(1_000))
def test_lossless_sharegpt_gives_messages_and_tools_back(row: dict[str, Any]):
    kept = written(record_of(row, "openai"), "sharegpt", WriteOptions(lossless=True))
    assert read_arguments(written(record_of(kept, "sharegpt"), "openai")) == read_arguments(row)


@given(talks(), st.sampled_from(["drop", "think", "tags"]))
@settings(max_examples=a_fiftieth_of(1_000))
def test_sharegpt_comes_back_from_openai_byte_for_byte(row: dict[str, Any], text: Any):
    options = WriteOptions(text_with_calls=text)
    first = written(record_of(row, "openai"), "sharegpt", options)
    between = written(record_of(first, "sharegpt"), "openai")
    again = written(record_of(between, "openai"), "sharegpt", options)
    assert training_line(again) == training_line(first)


@pytest.mark.parametrize("data_set", ["openai", "pandora"])
def test_an_empty_text_beside_calls_is_null(data_set: str):
    call = {"id": "x", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    said = {"role": "assistant", "content": "", "tool_calls": [call]}
    row = {"messages": [{"role": "user", "content": "q"}, said], "tools": [TOOL]}
    assert written(record_of(row, data_set), "openai")["messages"][1]["content"] is None


@given(talks(for_trl=True))
@settings(max_examples=a_fiftieth_of(500))
def test_trl_comes_back_from_openai(row: dict[str, Any]):
    between = written(record_of(row, "openai"), "openai")
    assert written(record_of(between, "openai"), "trl") == row


@given(talks())
@settings(max_examples=a_fiftieth_of(500))
def test_plain_sharegpt_loses_what_it_says_and_no_more(row: dict[str, Any]):
    record = record_of(row, "openai")
    back = written(record_of(written(record, "sharegpt"), "sharegpt"), "openai")
    expected, number = read_arguments(row), 0
    for message in expected["messages"]:
        message.pop("name", None)
        message.pop("weight", None)
        ids = {}
        for call in message.get("tool_calls", ()):
            number += 1
            ids[call["id"]] = call["id"] = f"call_{number}"
        if "tool_calls" in message:
            message["content"] = None
    names = [call["id"] for message in expected["messages"] for call in message.get("tool_calls", ())]
    for message in expected["messages"]:
        if message["role"] == "tool":
            message["tool_call_id"] = names.pop(0)
    assert read_arguments(back)["messages"] == expected["messages"]
    lost = set(TRAINING_FORMS["sharegpt"].lost(record, WriteOptions()))
    texts = any("tool_calls" in one and (one["content"] or "").strip() for one in row["messages"])
    assert ("text beside calls" in lost) == texts
    assert ("weight 0" in lost) == any("weight" in one for one in row["messages"])
    assert ("further keys of messages" in lost) == any("name" in one for one in row["messages"])


@st.composite
def pairs(draw: st.DrawFn) -> dict[str, Any]:
    """A preference record in OpenAI's shape."""
    messages: list[dict[str, Any]] = draw(talks())["messages"]
    number = sum(len(message.get("tool_calls", ())) for message in messages) + 1
    function = {
        "name": draw(TEXTS),
        "arguments": json.dumps(draw(st.dictionaries(TEXTS, VALUES, max_size=2))),
    }
    call = {"id": f"call_{number}", "type": "function", "function": function}
    better = {"role": "assistant", "content": draw(TEXTS | st.none()), "tool_calls": [call]}
    sides = [[better], [{"role": "assistant", "content": draw(TEXTS)}]]
    if draw(st.booleans()):
        sides.reverse()
    return {
        "input": {"messages": messages[:-1], "tools": [TOOL]},
        "preferred_output": sides[0],
        "non_preferred_output": sides[1],
    }


def pair_arguments(row: dict[str, Any]) -> list[Any]:
    parts = [row["input"]["messages"], row["preferred_output"], row["non_preferred_output"]]
    return [read_arguments({"messages": part}) for part in parts]


@given(pairs())
@settings(max_examples=a_fiftieth_of(500))
def test_pairs_come_back_from_sharegpt_and_from_trl(row: dict[str, Any]):
    record = record_of(row, "openai")
    kept = written(record, "sharegpt", WriteOptions(lossless=True))
    back = written(record_of(kept, "sharegpt"), "openai")
    assert pair_arguments(back) == pair_arguments(row)
    for text in ("drop", "think", "tags"):
        options: Any = WriteOptions(text_with_calls=text)
        first = written(record, "sharegpt", options)
        again = written(
            record_of(written(record_of(first, "sharegpt"), "openai"), "openai"), "sharegpt", options
        )
        assert again == first
    trl = written(record, "trl")
    assert written(record_of(written(record_of(trl, "openai"), "openai"), "openai"), "trl") == trl


CALL = '{"name": "f", "arguments": {"a": 1}}'
FUNCTIONS = '[{"name": "f", "description": "d", "parameters": {"a": {"type": "List[int], optional"}}}]'
TURNS = [
    {"from": "human", "value": "q"},
    {"from": "function_call", "value": CALL},
    {"from": "observation", "value": "1"},
    {"from": "gpt", "value": "r"},
]
SAMPLES: dict[str, dict[str, Any]] = {
    "sharegpt": {"conversations": TURNS, "system": "s", "tools": FUNCTIONS},
    "glaive-toolcall": {"conversations": TURNS, "tools": FUNCTIONS},
    "openai": {
        "messages": [
            {"role": "system", "content": "s"},
            {"role": "user", "content": [{"type": "text", "text": "q"}]},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "x", "function": json.loads(CALL)}]},
            {"role": "tool", "tool_call_id": "x", "content": "1"},
            {"role": "assistant", "content": "r", "weight": 0},
        ],
        "tools": [TOOL],
    },
    "pandora": {"messages": [{"role": "user", "content": "q"}, {"role": "function_call", "content": CALL}]},
    "hermes": {
        "conversations": [
            {"from": "system", "value": f"<tools>{FUNCTIONS}</tools>"},
            {"from": "human", "value": "q"},
            {"from": "gpt", "value": f"t <tool_call>{CALL}</tool_call>"},
            {"from": "tool", "value": "<tool_response>1</tool_response>"},
            {"from": "gpt", "value": "r"},
        ]
    },
    "hermes-prompts": {"prompt": [{"role": "user", "content": "q"}], "completion": f"[{CALL}]"},
    "xlam": {"query": "q", "answers": f"[{CALL}]", "tools": FUNCTIONS},
    "glaive-chatml": {
        "system_message": "s -",
        "function_description": FUNCTIONS,
        "conversations": [
            {"from": "human", "value": "q"},
            {"from": "function-call", "value": '{"name": "f", "arguments": \'{"a": 1}\'}'},
            {"from": "function-response", "value": "1"},
            {"from": "gpt", "value": "r"},
        ],
    },
    "glaive-code": {"question": "q", "answer": "a"},
    "toolace": {
        "system": f"You have {FUNCTIONS}. Go.",
        "conversations": [
            {"from": "user", "value": "q"},
            {"from": "assistant", "value": '[f(a=[1, "x"]), f()]'},
            {"from": "tool", "value": "[1, 2]"},
            {"from": "assistant", "value": "r"},
        ],
    },
    "toolbench": {
        "id": "Step 2: q",
        "conversations": [
            {"from": "system", "value": f"you have access to the following APIs: {FUNCTIONS}"},
            {"from": "user", "value": "\nq\nBegin!\n"},
            {"from": "assistant", "value": "Thought: t\nAction: f\nAction Input: {'a': 1}"},
            {"from": "function", "value": "1"},
            {
                "from": "assistant",
                "value": 'Action: Finish\nAction Input: {"return_type": "give_answer", "final_answer": "r"}',
            },
        ],
    },
    "toolgen": {"conversations": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "r"}]},
    "bitagent": {
        "conversation": f'[{{"role": "user", "content": "q"}}, {{"role": "tool call", "content": {CALL}}}]',
        "tools": FUNCTIONS,
    },
    "roborovski-dpo": {
        "tool": "{'name': 'f'}",
        "question": "q",
        "tool_call_accepted": "{'a': 1}",
        "tool_call_rejected": "{'a': 2}",
    },
    "gsm8k-toolcalls": {"question": "q", "answer": "<T>add(1, 2)=3", "toolcalls": ["<T>add(1, 2)=3"]},
    "python-tools": {"func_name": "f", "tools": FUNCTIONS},
}


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {"properties": value} if depth % 2 else [value]
    return value


ODD = (
    st.sampled_from(
        [
            nested(240),
            "{'a': 0x" + "f" * 9000 + "}",
            nested(241),
            "[" * 900 + "]" * 900,
            "[" * 3000,
            "\ud800",
            "\0",
            "{",
            "]",
            "[f(a=1]",
            "[f(",
            "<tool_call>",
            "{'a': ",
            float("nan"),
            10**30,
            [[]],
            [None],
            {"name": 5},
            "<tools>x</tools>",
            "Action: f\nAction Input: [",
        ]
    )
    | VALUES
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place of a value, the value itself first."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, part in inside for place in places(part, (*path, key)))]


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    value = deepcopy(value)
    inner = value
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = new
    return value


@pytest.mark.parametrize("name", sorted(DATA_SETS))
def test_the_samples_themselves_are_read(name: str):
    assert record_of(SAMPLES[name], name).kind == {
        "roborovski-dpo": "preference",
        "python-tools": "tools",
    }.get(name, "sft")


@pytest.mark.parametrize("name", sorted(DATA_SETS))
@given(st.data())
@settings(max_examples=a_fiftieth_of(500))
def test_any_json_in_any_place_gives_a_good_record_or_a_reason(name: str, data: st.DataObject):
    row = SAMPLES[name]
    for _ in range(data.draw(st.integers(1, 2))):
        path = data.draw(st.sampled_from(places(row)[1:]))
        row = replaced(row, path, data.draw(ODD))
    found = read_row(FileRow(1, row), DATA_SETS[name], "file", DEFAULT_OPTIONS)
    if isinstance(found, RejectedRow):
        return
    for form_name, form in TRAINING_FORMS.items():
        if found.kind in form.kinds:
            text: Any = data.draw(st.sampled_from(["drop", "think", "tags"]))
            try:
                line = training_line(form.write(found, WriteOptions(text_with_calls=text)))
            except RowError:
                continue
            if form_name == "sharegpt":
                findings = check_record(
                    json.loads(line), "preference" if found.kind == "preference" else "sft"
                )
                assert not [finding for finding in findings if finding.level == "error"]


MARKS = (
    "<tool_call>",
    "</tool_call>",
    "<think>\n",
    "\n</think>\n\n",
    "None",
    "True",
    '"',
    "\\",
    "{",
    "]",
    "\u2028",
)
"""What a formatter may take for something else within a text."""


def loaded_by_llamafactory(content: str) -> list[tuple[str, Any]]:
    """Calls of a turn as LLaMA-Factory's formatter of functions finds them: between the first marks of calls if there are
    any, else in all but the first thought; then JSON."""
    between = re.search(r"<tool_call>(.*?)</tool_call>", content, re.DOTALL)
    thought = re.search(r"<think>\n(.*?)\n</think>\n\n", content, re.DOTALL)
    text = between[1] if between else content.replace(thought[0], "") if thought else content
    calls = json.loads(text)
    return [(call["name"], call["arguments"]) for call in (calls if isinstance(calls, list) else [calls])]


@given(
    st.dictionaries(
        TEXTS, VALUES | st.lists(st.sampled_from(MARKS) | TEXTS, max_size=5).map("".join), max_size=3
    ),
    st.sampled_from(["drop", "think", "tags"]),
    st.sampled_from([None, "I look.", "I think <think>"]),
    st.sampled_from([None, "Ask the gauge."]),
)
def test_every_argument_reaches_llamafactory(arguments: dict[str, Any], mode: Any, text: Any, thought: Any):
    function = {"name": "f", "arguments": json.dumps(arguments)}
    said = {"role": "assistant", "content": text, "tool_calls": [{"id": "x", "function": function}]}
    said |= {"reasoning_content": thought} if thought else {}
    row = {"messages": [{"role": "user", "content": "q"}, said], "tools": [TOOL]}
    turn = written(record_of(row, "openai"), "sharegpt", WriteOptions(text_with_calls=mode))["conversations"][
        1
    ]
    assert loaded_by_llamafactory(turn["value"]) == [("f", arguments)]
