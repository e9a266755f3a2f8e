"""Messages in OpenAI's shape as records: every key has its place, and what is none says why."""

from typing import Any

import pytest

from training.record_forms import call, calls, read, record, refusal, tool, turns
from wildtool.sets.prepare.readers.openai import is_prompt_completion
from wildtool.sets.prepare.record import AssistantTurn, ObservedResult, ResultTurn, TrainingCall, UserTurn

TOOL = {"type": "function", "function": {"name": "rain", "parameters": {"town": {"type": "str"}}}}
RAIN = tool("rain", "town", town={"type": "string"})
CALL = {"id": "x", "type": "function", "function": {"name": "rain", "arguments": '{"town":"Kiel"}'}}
ASK, ASKED = {"role": "user", "content": "Rain?"}, UserTurn("Rain?")


def test_every_part_of_a_conversation_has_its_place():
    messages = [
        {"role": "developer", "content": "Be brief.", "cache": 1},
        {
            "role": "user",
            "content": [{"type": "text", "text": "Rain "}, {"type": "text", "text": "in Kiel?"}],
        },
        {"role": "assistant", "content": "I look.", "tool_calls": [CALL], "name": "a"},
        {"role": "tool", "tool_call_id": "x", "content": "0 mm", "name": "rain"},
        {"role": "assistant", "content": "None.", "weight": 0, "reasoning_content": "Dry."},
        {"from": "user", "value": "Thanks.", "mood": "good"},
        {"role": "assistant", "content": "Fine.", "weight": 1, "tool_calls": None},
    ]
    row = {"messages": messages, "tools": [TOOL], "system": "unused", "id": 5, "topic": "rain"}
    assert read(row, "openai") == record(
        UserTurn("Rain in Kiel?"),
        calls(call("rain", "x", '{"town":"Kiel"}', town="Kiel"), text="I look.", extras={"name": "a"}),
        ResultTurn((ObservedResult("0 mm", {"name": "rain"}),)),
        AssistantTurn("None.", learned=False, extras={"reasoning_content": "Dry."}),
        UserTurn("Thanks.", {"mood": "good"}),
        AssistantTurn("Fine."),
        tools=(RAIN,),
        system="Be brief.",
        system_extras={"cache": 1},
        id="5",
        columns={"id": 5, "topic": "rain"},
    )


def test_a_system_column_is_taken_where_no_message_says_it():
    talk = [ASK, {"role": "assistant", "content": "No."}]
    both = ASKED, AssistantTurn("No.")
    assert read({"messages": talk, "system": "Be brief."}, "openai") == record(*both, system="Be brief.")
    assert read({"messages": talk, "system": ""}, "openai") == record(*both)
    empty = [{"role": "system", "content": ""}, *talk]
    assert read({"messages": empty, "system": "Be brief."}, "openai") == record(*both)


@pytest.mark.parametrize(
    ("weight", "learned"), [(0, False), (0.0, False), (1, True), (False, True), (None, True)]
)
def test_only_the_number_zero_takes_a_reply_out(weight: Any, learned: bool):
    row = {"messages": [ASK, {"role": "assistant", "content": "No.", "weight": weight}]}
    assert read(row, "openai") == record(ASKED, AssistantTurn("No.", learned=learned))


@pytest.mark.parametrize(
    ("message", "turn"),
    [
        ({"content": None, "tool_calls": [CALL]}, calls(call("rain", "x", '{"town":"Kiel"}', town="Kiel"))),
        ({"content": "", "tool_calls": [CALL]}, calls(call("rain", "x", '{"town":"Kiel"}', town="Kiel"))),
        ({"tool_calls": [{"name": "f", "arguments": {"a": 1}}]}, calls(call("f", a=1))),
        ({"tool_calls": [{"name": "f", "arguments": '{"a": 1}'}]}, calls(call("f", 1, '{"a": 1}', a=1))),
        ({"function_call": {"name": "f", "arguments": "{}"}}, calls(call("f", 1, "{}"))),
        ({"tool_calls": [], "function_call": {"name": "f"}}, calls(call("f"))),
        (
            {"tool_calls": [CALL], "function_call": {"name": "f"}},
            calls(call("rain", "x", '{"town":"Kiel"}', town="Kiel")),
        ),
        (
            {"tool_calls": [{"name": "f"}, {"name": "g", "id": ""}, {"name": "h", "id": 3}]},
            calls(call("f"), call("g", 2), call("h", 3)),
        ),
        ({"content": "No.", "function_call": None}, AssistantTurn("No.")),
    ],
)
def test_calls_are_read_in_every_form(message: dict[str, Any], turn: AssistantTurn):
    assert read({"messages": [ASK, {"role": "assistant", **message}]}, "openai") == record(ASKED, turn)


def test_a_result_of_any_form_is_text():
    one = {"role": "assistant", "tool_calls": [{"name": "f"}]}
    for content, text in (
        (None, ""),
        ("5", "5"),
        ([{"type": "text", "text": "6"}], "6"),
        ({"a": 1}, '{"a": 1}'),
        (7, "7"),
    ):
        row = {"messages": [ASK, one, {"role": "function", "content": content, "tool_call_id": 5}, ASK, one]}
        assert read(row, "openai") == record(
            ASKED, calls(call("f")), ResultTurn((ObservedResult(text),)), ASKED, calls(call("f", 2))
        )


def test_results_are_ordered_by_their_ids():
    both = {"role": "assistant", "tool_calls": [{"name": "f", "id": "a"}, {"name": "g", "id": "b"}]}
    told = [{"role": "tool", "content": name, "tool_call_id": name} for name in "ba"]
    row = {"messages": [ASK, both, *told, ASK, both]}
    assert turns(row, "openai")[2] == ResultTurn((ObservedResult("a"), ObservedResult("b")))


PAIR = {
    "chosen": [{"role": "assistant", "content": "Yes."}],
    "rejected": [{"role": "assistant", "content": "No."}],
}


@pytest.mark.parametrize(
    "row",
    [
        {"prompt": [ASK], **PAIR, "tools": [TOOL]},
        {"messages": [ASK], **PAIR, "tools": [TOOL]},
        {"messages": [ASK], "tools": [TOOL], **{side: reply[0] for side, reply in PAIR.items()}},
        {
            "input": {"messages": [ASK], "tools": [TOOL]},
            "preferred_output": PAIR["chosen"],
            "non_preferred_output": PAIR["rejected"],
        },
        {
            "input": {"messages": [ASK]},
            "preferred_output": PAIR["chosen"],
            "non_preferred_output": PAIR["rejected"],
            "tools": [TOOL],
            "prompt": [],
            **PAIR,
        },
    ],
)
def test_pairs_are_read_in_every_form(row: dict[str, Any]):
    assert read(row, "openai") == record(
        ASKED, kind="preference", chosen=AssistantTurn("Yes."), rejected=AssistantTurn("No."), tools=(RAIN,)
    )


def test_both_calls_of_a_pair_have_the_same_number():
    one, other = ({"role": "assistant", "tool_calls": [{"name": name}, {"name": name}]} for name in "fg")
    history = [ASK, {"role": "assistant", "tool_calls": [{"name": "e"}]}, ASK]
    assert read({"prompt": history, "chosen": one, "rejected": other}, "openai") == record(
        ASKED,
        calls(call("e")),
        ASKED,
        kind="preference",
        chosen=calls(call("f", 2), call("f", 3)),
        rejected=calls(call("g", 2), call("g", 3)),
    )


def test_of_a_prompt_with_its_completion_the_completion_alone_is_learned():
    row = {"prompt": [ASK, {"role": "assistant", "content": "Where?"}, ASK], "completion": PAIR["chosen"]}
    assert read(row, "openai") == record(
        ASKED, AssistantTurn("Where?", learned=False), ASKED, AssistantTurn("Yes.")
    )
    told = {**row, "messages": [ASK, *PAIR["rejected"]]}
    assert read(told, "openai") == record(ASKED, AssistantTurn("No."))


@pytest.mark.parametrize(
    ("row", "holds"),
    [
        ({"prompt": [ASK], "completion": PAIR["chosen"]}, True),
        ({"prompt": [ASK], "completion": [ASK, *PAIR["chosen"]]}, True),
        ({"prompt": [ASK], "completion": [ASK]}, False),
        ({"prompt": [], "completion": PAIR["chosen"]}, False),
        ({"prompt": [ASK]}, False),
    ],
)
def test_a_prompt_and_a_reply_are_a_layout(row: dict[str, Any], holds: bool):
    assert is_prompt_completion(row) is holds


PANDORA = [
    {"role": "system", "content": "S"},
    {"role": "human", "content": "q"},
    {"role": "gpt", "content": "r"},
    {"role": "user", "content": "q"},
    {"role": "tool call", "content": '{"name": "f", "arguments": {"a": 1}}', "weight": 0, "k": 1},
    {"role": "tool response", "content": 5},
    {"role": "assistant", "content": "r"},
]


@pytest.mark.parametrize("column", ["messages", "conversations"])
def test_pandora_has_the_general_words_for_roles(column: str):
    assert read({column: PANDORA}, "pandora") == record(
        UserTurn("q"),
        AssistantTurn("r"),
        UserTurn("q"),
        calls(call("f", a=1), learned=False, extras={"k": 1}),
        ResultTurn((ObservedResult("5"),)),
        AssistantTurn("r"),
        system="S",
    )


def test_a_pair_may_be_of_calls_with_a_word_of_their_own():
    word = {"role": "function_call", "content": '{"name": "f"}'}
    row = {"messages": [ASK], "chosen": word, "rejected": {"from": "gpt", "value": "No."}}
    assert read(row, "pandora") == record(
        ASKED, kind="preference", chosen=calls(call("f")), rejected=AssistantTurn("No.")
    )


TWO = [*PAIR["chosen"], *PAIR["chosen"]]


@pytest.mark.parametrize(
    ("row", "data_set", "reason", "detail"),
    [
        ({"messages": [ASK, {"role": "robot"}]}, "openai", "unknown-role", "the role 'robot'"),
        ({"messages": [ASK, {"role": ["user"]}]}, "openai", "unknown-role", "the role ['user']"),
        ({"messages": [ASK, {"role": "x" * 200}]}, "openai", "unknown-role", "the role '" + "x" * 90),
        ({"messages": [{"role": "human", "content": "q"}]}, "openai", "unknown-role", "the role 'human'"),
        (
            {"messages": [ASK, {"role": "assistant", "tool_calls": {"name": "f"}}]},
            "openai",
            "unreadable-call",
            "tool_calls must be a list, found {'name': 'f'}",
        ),
        (
            {"messages": [ASK, {"role": "assistant", "tool_calls": "x" * 300}]},
            "openai",
            "unreadable-call",
            ("tool_calls must be a list, found '" + "x" * 300)[:200],
        ),
        (
            {"messages": [ASK, {"role": "assistant", "content": 5}]},
            "openai",
            "not-text",
            "expected text, found 5",
        ),
        ({"messages": [ASK, {"role": "assistant"}]}, "openai", "empty-reply", "turn 2 is blank"),
        (
            {"messages": [ASK], **PAIR, "chosen": TWO},
            "openai",
            "unknown-role",
            "chosen must be one assistant message",
        ),
        (
            {"messages": [ASK], **PAIR, "rejected": ASK},
            "openai",
            "unknown-role",
            "rejected must be one assistant message",
        ),
        (
            {"messages": [ASK], **PAIR, "rejected": []},
            "openai",
            "unknown-role",
            "rejected must be one assistant message",
        ),
        (
            {"messages": [ASK], **PAIR, "rejected": {"role": "assistant", "content": " "}},
            "openai",
            "empty-reply",
            "rejected is blank",
        ),
        (
            {"messages": [ASK], **PAIR, "rejected": PAIR["chosen"]},
            "openai",
            "same-pair",
            "chosen and rejected are equal",
        ),
        (
            {"a": 1, "b": 2, **dict.fromkeys("cdefghijklmn")},
            "pandora",
            "no-user",
            "expected a column messages or conversations, found a, b, c, d, e, f, g, h, i, j, k, l; the layout of this"
            " set is not known to us: please report these names",
        ),
        (
            {"messages": [ASK, {"role": "function_call", "content": '{"name": "f", "arguments": [1]}'}]},
            "pandora",
            "unreadable-call",
            "the arguments are no object: [1]",
        ),
        (
            {"messages": [ASK, {"role": "assistant", "tool_calls": [{"name": "f", "arguments": "[1]"}]}]},
            "pandora",
            "unreadable-call",
            'the arguments are no object: "[1]"',
        ),
    ],
)
def test_what_is_no_conversation_says_why(row: dict[str, Any], data_set: str, reason: str, detail: str):
    assert refusal(row, data_set) == (reason, detail)


def test_a_users_own_arguments_may_be_something_else():
    row = {"messages": [ASK, {"role": "assistant", "tool_calls": [{"name": "f", "arguments": "[1]"}]}]}
    assert turns(row, "openai")[1] == calls(TrainingCall("f", "[1]", "call_1", "[1]"))
