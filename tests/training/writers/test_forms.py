"""Records as rows of every form, and what a form has no place for."""

import json
from dataclasses import replace
from typing import Any

import pytest

from training.record_forms import call, calls, results, tool
from wildtool.sets.prepare.record import (
    AssistantTurn,
    ObservedResult,
    ResultTurn,
    RowError,
    TrainingCall,
    TrainingRecord,
    UserTurn,
)
from wildtool.sets.prepare.writers.forms import TRAINING_FORMS
from wildtool.sets.prepare.writers.options import WriteOptions
from wildtool.sets.prepare.writers.sharegpt import flat_row

Q, R = UserTurn("q"), AssistantTurn("r")
F, G = call("f", "x", '{"a":1}', a=1), call("g", 2)
TOOLS = (tool("f", "a", a={"type": "integer"}),)
TALK = TrainingRecord(
    turns=(
        UserTurn("q", {"mood": "good"}),
        calls(F, G, text="I look.", extras={"reasoning_content": "Hm."}),
        ResultTurn((ObservedResult("5", {"cost": 1}), ObservedResult("é"))),
        AssistantTurn("r", learned=False, extras={"k": 1}),
        Q,
        R,
    ),
    tools=TOOLS,
    system="S",
    system_extras={"cache": 2},
    row=7,
)
PLAIN = TrainingRecord(turns=(Q, R), row=7)
PAIR = TrainingRecord(
    kind="preference", turns=(Q,), chosen=calls(G, text="t"), rejected=AssistantTurn("r", learned=False)
)


def written(record: TrainingRecord, form: str, **options: Any) -> Any:
    return TRAINING_FORMS[form].write(record, WriteOptions(**options))


def losses(record: TrainingRecord, form: str, **options: Any) -> list[str]:
    return list(TRAINING_FORMS[form].lost(record, WriteOptions(**options)))


def function(name: str, arguments: Any, own_id: str) -> dict[str, Any]:
    return {"id": own_id, "type": "function", "function": {"name": name, "arguments": arguments}}


MESSAGES = [
    {"role": "system", "content": "S", "cache": 2},
    {"role": "user", "content": "q", "mood": "good"},
    {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": [function("f", '{"a":1}', "x"), function("g", "{}", "call_2")],
        "reasoning_content": "Hm.",
    },
    {"role": "tool", "tool_call_id": "x", "content": "5", "cost": 1},
    {"role": "tool", "tool_call_id": "call_2", "content": "é"},
    {"role": "assistant", "content": "r", "weight": 0, "k": 1},
    {"role": "user", "content": "q"},
    {"role": "assistant", "content": "r"},
]


def test_openai_rows_have_everything():
    assert written(TALK, "openai") == {"messages": MESSAGES, "tools": list(TOOLS)}
    assert list(written(TALK, "openai")["messages"][2]) == [
        "role",
        "content",
        "tool_calls",
        "reasoning_content",
    ]
    plain = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "r"}]
    assert written(PLAIN, "openai") == {"messages": plain, "tools": []}
    assert written(PLAIN, "openai", for_upload=True) == {"messages": plain}
    assert written(TALK, "openai", for_upload=True)["tools"] == list(TOOLS)
    better = {"role": "assistant", "content": "t", "tool_calls": [function("g", "{}", "call_2")]}
    assert written(PAIR, "openai") == {
        "input": {"messages": plain[:1], "tools": []},
        "preferred_output": [better],
        "non_preferred_output": [{"role": "assistant", "content": "r", "weight": 0}],
    }
    assert written(PAIR, "openai", for_upload=True)["input"] == {"messages": plain[:1]}
    assert losses(TALK, "openai") == losses(PAIR, "openai") == []


TRL = [
    *MESSAGES[:2],
    {
        "role": "assistant",
        "content": "I look.",
        "reasoning_content": "Hm.",
        "tool_calls": [function("f", {"a": 1}, "x"), function("g", {}, "call_2")],
    },
    {"role": "tool", "tool_call_id": "x", "content": "5", "cost": 1, "name": "f"},
    {"role": "tool", "tool_call_id": "call_2", "content": "é", "name": "g"},
    {"role": "assistant", "content": "r", "k": 1},
    *MESSAGES[6:],
]


def test_trl_rows_have_arguments_as_objects_and_named_results():
    assert written(TALK, "trl") == {"messages": TRL, "tools": list(TOOLS)}
    as_text = json.dumps(TOOLS, ensure_ascii=False)
    assert written(TALK, "trl", tools_as_text=True) == {"messages": TRL, "tools": as_text}
    assert written(TALK, "trl", prompt_completion=True) == {
        "prompt": TRL[:-1],
        "completion": TRL[-1:],
        "tools": list(TOOLS),
    }
    better = {"role": "assistant", "content": "t", "tool_calls": [function("g", {}, "call_2")]}
    assert written(replace(PAIR, chosen=calls(G)), "trl", prompt_completion=True) == {
        "prompt": [{"role": "user", "content": "q"}],
        "chosen": [{**better, "content": ""}],
        "rejected": [{"role": "assistant", "content": "r"}],
        "tools": [],
    }


UNLEARNED = AssistantTurn("r", learned=False)


@pytest.mark.parametrize(
    ("turns", "whole", "completion"),
    [
        ((Q, R), [], []),
        ((Q, R, Q, R), [], ["learned replies before the last"]),
        ((Q, UNLEARNED, Q, R), ["weight 0"], []),
        ((Q, R, Q, UNLEARNED), ["weight 0"], ["learned replies before the last", "weight 0"]),
        ((Q, UNLEARNED), ["weight 0"], ["weight 0"]),
    ],
)
def test_trl_cannot_say_which_replies_are_learned(turns: Any, whole: list[str], completion: list[str]):
    record = TrainingRecord(turns=turns)
    assert losses(record, "trl") == whole
    assert losses(record, "trl", prompt_completion=True) == completion
    assert losses(PAIR, "trl", prompt_completion=True) == ["weight 0"]
    assert losses(replace(PAIR, rejected=R), "trl", prompt_completion=True) == []


CALLS = '[{"name": "f", "arguments": {"a": 1}}, {"name": "g", "arguments": {}}]'
SHAREGPT = {
    "conversations": [
        {"from": "human", "value": "q"},
        {"from": "function_call", "value": CALLS},
        {"from": "observation", "value": '["5", "é"]'},
        {"from": "gpt", "value": "r"},
        {"from": "human", "value": "q"},
        {"from": "gpt", "value": "r"},
    ],
    "system": "S",
    "tools": json.dumps([TOOLS[0]["function"]], ensure_ascii=False),
}


def test_sharegpt_rows_are_what_llamafactory_reads():
    assert written(TALK, "sharegpt") == written(TALK, "llamafactory") == SHAREGPT
    assert written(PLAIN, "sharegpt") == {
        "conversations": SHAREGPT["conversations"][-2:],
        "system": "",
        "tools": "",
    }
    assert written(PAIR, "sharegpt") == {
        "conversations": [{"from": "human", "value": "q"}],
        "system": "",
        "tools": "",
        "chosen": {"from": "function_call", "value": '{"name": "g", "arguments": {}}'},
        "rejected": {"from": "gpt", "value": "r"},
    }


def test_a_flat_row_has_users_and_replies_alone():
    flat = {
        "conversations": [
            {"from": "human", "value": "q"},
            {"from": "gpt", "value": CALLS},
            {"from": "human", "value": '["5", "é"]'},
            *SHAREGPT["conversations"][3:],
        ],
        "system": f"Savailable tools:\n{SHAREGPT['tools']}",
    }
    assert written(TALK, "sharegpt", flat=True) == flat_row(SHAREGPT) == flat
    assert written(PLAIN, "sharegpt", flat=True) == {
        "conversations": SHAREGPT["conversations"][-2:],
        "system": "",
    }
    assert written(PAIR, "sharegpt", flat=True) == {
        "conversations": [{"from": "human", "value": "q"}],
        "system": "",
        "chosen": {"from": "gpt", "value": '{"name": "g", "arguments": {}}'},
        "rejected": {"from": "gpt", "value": "r"},
    }
    assert flat_row({"conversations": [], "system": None, "chosen": {"from": "gpt", "value": ""}}) == {
        "conversations": [],
        "system": "",
        "chosen": {"from": "gpt", "value": ""},
    }


G_CALL = '{"name": "g", "arguments": {}}'


@pytest.mark.parametrize(
    ("turn", "dropped", "thinking", "tagged"),
    [
        (calls(G), G_CALL, G_CALL, G_CALL),
        (
            calls(G, text=" t "),
            G_CALL,
            f"<think>\nt\n</think>\n\n{G_CALL}",
            f"t\n<tool_call>\n{G_CALL}\n</tool_call>",
        ),
        (
            calls(G, text="t", extras={"reasoning_content": " Hm. "}),
            G_CALL,
            f"<think>\nHm.\nt\n</think>\n\n{G_CALL}",
            f"t\n<tool_call>\n{G_CALL}\n</tool_call>",
        ),
        (calls(G, text="a <think>"), G_CALL, G_CALL, G_CALL),
        (calls(G, text="a </tool_call>"), G_CALL, G_CALL, G_CALL),
        (calls(G, extras={"reasoning_content": "a </think>"}), G_CALL, G_CALL, G_CALL),
        (AssistantTurn("r", extras={"reasoning_content": "Hm."}), "r", "<think>\nHm.\n</think>\n\nr", "r"),
        (AssistantTurn("r", extras={"reasoning_content": "<think>"}), "r", "r", "r"),
    ],
)
def test_text_and_reasoning_beside_calls(turn: AssistantTurn, dropped: str, thinking: str, tagged: str):
    record = TrainingRecord(turns=(Q, turn))
    for mode, value in (("drop", dropped), ("think", thinking), ("tags", tagged)):
        assert written(record, "sharegpt", text_with_calls=mode)["conversations"][1]["value"] == value
    lossless = written(record, "sharegpt", text_with_calls="think", lossless=True)["conversations"][1][
        "value"
    ]
    has_text = turn.calls and turn.text and "<" not in turn.text
    assert lossless == (
        f"<think>\n{(turn.text or '').strip()}\n</think>\n\n{G_CALL}" if has_text else dropped
    )


def test_words_of_thinking_and_calls_can_be_others():
    words: dict[str, Any] = {"think_words": ("[T]", "[/T]"), "call_words": ("«", "»")}
    record = TrainingRecord(turns=(Q, calls(call("g", 1, a="«<tool_call>[T]<think>"), text="t")))
    text = '{"name": "g", "arguments": {"a": "\\u00ab\\u003ctool_call>[T]<think>"}}'
    for mode, value in (("think", f"[T]\nt\n[/T]\n\n{text}"), ("tags", f"t\n«\n{text}\n»"), ("drop", text)):
        row = written(record, "sharegpt", text_with_calls=mode, **words)
        assert row["conversations"][1]["value"] == value
    for said in ("a «", "a »"):
        odd = TrainingRecord(turns=(Q, calls(G, text=said)))
        assert (
            written(odd, "sharegpt", text_with_calls="tags", **words)["conversations"][1]["value"] == G_CALL
        )
    odd = TrainingRecord(turns=(Q, AssistantTurn("r", extras={"reasoning_content": "a [/T]"})))
    assert written(odd, "sharegpt", text_with_calls="think", **words)["conversations"][1]["value"] == "r"
    usual = TrainingRecord(turns=(Q, calls(call("g", 1, a="</tool_call></think>"))))
    text = '{"name": "g", "arguments": {"a": "\\u003c/tool_call>\\u003c/think>"}}'
    assert written(usual, "sharegpt")["conversations"][1]["value"] == text


NONE = {"drop": [], "think": [], "tags": []}
THOUGHT = {"reasoning_content": "Hm."}


@pytest.mark.parametrize(
    ("record", "lost"),
    [
        (PLAIN, NONE),
        (TrainingRecord(turns=(Q, calls(call("f")))), NONE),
        (TrainingRecord(turns=(Q, calls(call("f")), results("1"), calls(call("f", 2)))), NONE),
        (TrainingRecord(turns=(Q, calls(call("f"), text=" "))), NONE),
        (
            TrainingRecord(turns=(Q, calls(call("f"), text="t"), Q, R)),
            {"drop": ["text beside calls"], "think": [], "tags": []},
        ),
        (
            TrainingRecord(turns=(Q, calls(call("f"), text="<think>"), Q, R)),
            {key: ["text beside calls"] for key in NONE},
        ),
        (
            TrainingRecord(turns=(Q, AssistantTurn("r", extras=THOUGHT), Q, R)),
            {"drop": ["reasoning"], "think": [], "tags": ["reasoning"]},
        ),
        (TrainingRecord(turns=(Q, AssistantTurn("r", extras={"reasoning_content": " "}))), NONE),
        (TrainingRecord(turns=(Q, UNLEARNED, Q, R)), {key: ["weight 0"] for key in NONE}),
        (
            TrainingRecord(turns=(UserTurn("q", {"k": 1}), R, Q, R)),
            {key: ["further keys of messages"] for key in NONE},
        ),
        (
            TrainingRecord(turns=(Q, AssistantTurn("r", extras={"k": 1}), Q, R)),
            {key: ["further keys of messages"] for key in NONE},
        ),
        (TrainingRecord(turns=(Q, calls(call("f", 2)), Q, R)), {key: ["ids of calls"] for key in NONE}),
        (
            TrainingRecord(turns=(Q, calls(call("f", 2), call("f", 2)))),
            {key: ["ids of calls"] for key in NONE},
        ),
        (
            replace(TALK, system_extras={}),
            {
                "drop": [
                    "text beside calls",
                    "reasoning",
                    "weight 0",
                    "further keys of messages",
                    "ids of calls",
                ],
                "think": ["weight 0", "further keys of messages", "ids of calls"],
                "tags": ["reasoning", "weight 0", "further keys of messages", "ids of calls"],
            },
        ),
        (PAIR, {"drop": ["text beside calls", "weight 0"], "think": ["weight 0"], "tags": ["weight 0"]}),
        (
            replace(PAIR, chosen=AssistantTurn("s", extras={"k": 1}), rejected=R),
            {key: ["further keys of messages"] for key in NONE},
        ),
    ],
)
def test_what_sharegpt_has_no_place_for(record: TrainingRecord, lost: dict[str, list[str]]):
    assert {mode: losses(record, "sharegpt", text_with_calls=mode) for mode in NONE} == lost
    assert losses(record, "llamafactory") == lost["drop"]


def test_lossless_rows_keep_what_has_no_place():
    record = replace(
        TALK, given_tools=({"name": "f", "x": 1},), renamed={"f": "f f"}, columns={"id": 1}, id="1"
    )
    row = written(record, "sharegpt", lossless=True)
    kept = json.loads(row.pop("wildtool"))
    assert row == SHAREGPT
    assert (kept.pop("version"), len(kept.pop("sha256"))) == (1, 64)
    assert kept == {
        "messages": {
            "0": {"cache": 2},
            "1": {"mood": "good"},
            "2": {"reasoning_content": "Hm.", "content": "I look.", "tool_call_ids": ["x", "call_2"]},
            "3": {"cost": 1},
            "5": {"k": 1, "weight": 0},
        },
        "tools": [{"name": "f", "x": 1}],
        "renamed": {"f": "f f"},
        "columns": {"id": 1},
    }
    plain = json.loads(written(PLAIN, "sharegpt", lossless=True)["wildtool"])
    assert {name: part for name, part in plain.items() if name != "sha256"} == {"version": 1, "messages": {}}
    pair = json.loads(written(PAIR, "sharegpt", lossless=True)["wildtool"])
    assert pair["messages"] == {"1": {"content": "t", "tool_call_ids": ["call_2"]}, "2": {"weight": 0}}


def trajectory(*content: dict[str, Any], **details: Any) -> dict[str, Any]:
    return {"id": "7", "content": list(content), "details": details}


def seen(text: str, source: str = "user", **more: Any) -> dict[str, Any]:
    return {"class_": "text_observation", "content": text, "source": source, **more}


def action(name: str, description: str | None, /, *, own_id: str = "", **arguments: Any) -> dict[str, Any]:
    return {
        "class_": "api_action",
        "function": name,
        "kwargs": arguments,
        "description": description,
        **({"tool_call_id": own_id} if own_id else {}),
    }


SAID = {"class_": "message_action", "content": "r"}


def test_trajectories_have_actions_and_observations():
    assert written(TALK, "adp") == trajectory(
        seen("q"),
        action("f", "Hm.\nI look.", own_id="x", a=1),
        action("g", None, own_id="call_2"),
        seen("5", "environment", tool_call_id="x"),
        seen("é", "environment", tool_call_id="call_2"),
        SAID,
        seen("q"),
        SAID,
        system="S",
        tools=list(TOOLS),
    )
    assert written(replace(PLAIN, id="i", system=""), "adp") == {
        **trajectory(seen("q"), SAID, system=""),
        "id": "i",
    }
    last = TrainingRecord(turns=(Q, AssistantTurn(None), Q, calls(G)), row=7)
    blank = {"class_": "message_action", "content": ""}
    told = TrainingRecord(turns=(Q, calls(G), results("5")), row=7)
    assert written(told, "adp") == trajectory(
        seen("q"), action("g", None, own_id="call_2"), seen("5", "environment", tool_call_id="call_2")
    )
    assert written(last, "adp") == trajectory(seen("q"), blank, seen("q"), action("g", None))


LONG = "x" * 300


@pytest.mark.parametrize(
    ("turns", "reason", "detail"),
    [
        ((Q, calls(G), Q, R), "call-without-result", "calls are followed by the user, and have no results"),
        (
            (Q, calls(TrainingCall(LONG, [1], "c"))),
            "unreadable-call",
            f"the arguments of {LONG} are no object"[:200],
        ),
    ],
)
def test_what_a_trajectory_cannot_express_is_refused(turns: Any, reason: str, detail: str):
    with pytest.raises(RowError) as refused:
        written(TrainingRecord(turns=turns), "adp")
    assert (refused.value.reason, refused.value.detail) == (reason, detail)


@pytest.mark.parametrize(
    ("record", "lost"),
    [
        (TrainingRecord(turns=(Q, calls(call("f", "x"), text="t", extras=THOUGHT))), []),
        (
            TrainingRecord(turns=(Q, calls(G), results("1"), AssistantTurn("r", extras=THOUGHT))),
            ["reasoning"],
        ),
        (replace(TALK, tools=()), ["weight 0", "further keys of messages"]),
    ],
)
def test_what_a_trajectory_has_no_place_for(record: TrainingRecord, lost: list[str]):
    assert losses(record, "adp") == lost


def test_the_form_of_tools_has_no_conversation():
    assert (written(TALK, "tools"), written(PLAIN, "tools")) == (list(TOOLS), [])
    assert losses(TALK, "tools") == ["conversation"]
    assert losses(TrainingRecord(kind="tools", turns=()), "tools") == []


def test_texts_are_what_a_run_sends():
    record = TrainingRecord(
        turns=(Q, calls(F, text="t"), results("5"), AssistantTurn("r", extras=THOUGHT)), tools=TOOLS
    )
    row = written(record, "text", tool_format="pythonic")
    (system, *said), completion = row["prompt"], row["completion"]
    assert set(row) == {"prompt", "completion"}
    assert system["role"] == "system"
    assert json.dumps(TOOLS[0]["function"]["name"]) in system["content"]
    assert [set(message) for message in (system, *said, *completion)] == [{"role", "content"}] * 5
    assert said[0] == {"role": "user", "content": "q"}
    assert said[1] == {"role": "assistant", "content": "t\n[f(a=1)]"}
    assert completion == [{"role": "assistant", "content": "r"}]
    pair = written(replace(PAIR, tools=TOOLS, chosen=calls(G)), "text", tool_format="pythonic")
    assert (pair["chosen"], pair["rejected"]) == (
        [{"role": "assistant", "content": "[g()]"}],
        [{"role": "assistant", "content": "r"}],
    )
    assert [message["role"] for message in pair["prompt"]] == ["system", "user"]


@pytest.mark.parametrize(
    ("record", "lost"),
    [
        (PLAIN, []),
        (TrainingRecord(turns=(Q, AssistantTurn("r", (), False, THOUGHT), Q, R)), []),
        (TrainingRecord(turns=(Q, R, Q, AssistantTurn("r", (), False, THOUGHT))), ["reasoning", "weight 0"]),
        (PAIR, ["weight 0"]),
        (replace(PAIR, chosen=AssistantTurn("r", extras=THOUGHT), rejected=R), ["reasoning"]),
    ],
)
def test_what_texts_cannot_say(record: TrainingRecord, lost: list[str]):
    assert losses(record, "text") == lost


def test_forms_hold_kinds_of_records():
    both = frozenset({"sft", "preference"})
    assert {name: (form.kinds, form.folder) for name, form in TRAINING_FORMS.items()} == {
        "sharegpt": (both, False),
        "openai": (both, False),
        "trl": (both, False),
        "llamafactory": (both, True),
        "text": (both, False),
        "verl": (frozenset({"sft"}), False),
        "adp": (frozenset({"sft"}), False),
        "tools": (both | {"tools"}, False),
    }
