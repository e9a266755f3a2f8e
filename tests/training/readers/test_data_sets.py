"""Which set a row could belong to, and what `--from auto` says of a file."""

from pathlib import Path
from typing import Any

import pytest

from wildtool.errors import DataError, UsageError
from wildtool.sets.prepare.files import FileRow
from wildtool.sets.prepare.readers.data_sets import DATA_SETS, fitting_sets
from wildtool.sets.prepare.reading import chosen_set, sampled_rows

TAGS = {"from": "system", "value": "<tools>"}
TAGGED = {"role": "system", "content": "<tools>"}
REPLY = [{"role": "assistant", "content": "r"}]


def talk(*roles: str, **more: Any) -> dict[str, Any]:
    return {"conversations": [{"from": role, "value": "x"} for role in roles], **more}


@pytest.mark.parametrize(
    ("row", "name"),
    [
        ({"query": 1, "answers": 1, "tools": 1}, "xlam"),
        ({"query": 1, "answers": 1}, ""),
        ({"function_description": "", "conversations": [], "system": ""}, "glaive-chatml"),
        ({"function_description": ""}, ""),
        ({"question": "", "toolcalls": [], "answer": ""}, "gsm8k-toolcalls"),
        ({"tool_call_accepted": "", "tool_call_rejected": ""}, "roborovski-dpo"),
        ({"tool_call_accepted": ""}, ""),
        ({"question": "", "answer": ""}, "glaive-code"),
        ({"question": "", "answer": "", "row": 5}, "glaive-code"),
        ({"question": "", "answer": "", "topic": "rain"}, ""),
        ({"question": ""}, ""),
        ({"func_name": "", "tools": "", "conversation": ""}, "python-tools"),
        ({"conversation": "", "tools": ""}, "bitagent"),
        ({"conversation": ""}, ""),
        ({"messages": [TAGGED]}, "hermes"),
        ({"messages": [{"role": "user", "content": "<tools>"}]}, "openai"),
        ({"messages": [{"role": "system", "content": "tools"}]}, "openai"),
        ({"messages": [{"role": "user"}, TAGGED]}, "openai"),
        ({"messages": []}, "openai"),
        ({"prompt": "", "chosen": "", "rejected": ""}, "openai"),
        ({"prompt": "", "chosen": ""}, ""),
        ({"input": "", "preferred_output": ""}, "openai"),
        ({"input": ""}, ""),
        ({"prompt": [{}], "completion": REPLY}, "openai"),
        ({"prompt": [], "completion": REPLY}, "hermes-prompts"),
        ({"prompt": "", "completion": ""}, "hermes-prompts"),
        ({"conversations": [{"content": ""}]}, "toolgen"),
        ({"conversations": [TAGS]}, "hermes"),
        (talk("user", "tool", tools=""), "hermes"),
        (talk("user", "gpt", tools=""), "sharegpt"),
        (talk("user", "tool"), "sharegpt"),
        ({"conversations": [{"from": "user", "value": ""}, TAGS]}, "sharegpt"),
        (talk("system", "user"), "sharegpt"),
        (talk("human", id="Step 1: x"), "toolbench"),
        (talk("human", id=" Step 1"), "sharegpt"),
        ({"id": "Step 1: x"}, ""),
        (talk("user", system=""), "toolace"),
        (talk("assistant", system=""), "toolace"),
        (talk("human", "gpt", system=""), "sharegpt"),
        ({"system": "", "conversations": []}, ""),
        (talk("human"), "sharegpt"),
        (talk("gpt"), "sharegpt"),
        (talk("user"), "sharegpt"),
        (talk("assistant"), "sharegpt"),
        (talk("system"), ""),
        ({"conversations": [{"from": "human"}]}, ""),
    ],
)
def test_the_keys_of_a_row_tell_its_set(row: dict[str, Any], name: str):
    assert fitting_sets([row]) == ([name] if name else [])


def test_rows_of_one_set_tell_one_and_of_several_each_once():
    code, chat = {"question": "", "answer": ""}, {"messages": []}
    assert fitting_sets([]) == []
    assert fitting_sets([{}, code, {"a": 1}, code, chat, code]) == ["glaive-code", "openai"]


def test_sets_say_what_they_read_and_are_partly_of_one_family():
    assert {
        name: (entry.family, entry.has_licence, entry.is_guessed) for name, entry in DATA_SETS.items()
    } == {
        "sharegpt": ("", True, False),
        "openai": ("", True, False),
        "hermes": ("hermes", False, False),
        "hermes-prompts": ("hermes", False, False),
        "xlam": ("apigen", True, False),
        "glaive-chatml": ("glaive", True, False),
        "glaive-code": ("", True, False),
        "glaive-toolcall": ("glaive", True, False),
        "toolace": ("", True, False),
        "toolbench": ("toolbench", True, False),
        "toolgen": ("toolbench", False, False),
        "bitagent": ("bitagent", False, False),
        "pandora": ("glaive", True, True),
        "roborovski-dpo": ("", False, False),
        "gsm8k-toolcalls": ("", False, True),
        "python-tools": ("apigen", True, False),
    }


FILE = Path("f.jsonl")


def rows(*values: Any) -> list[FileRow]:
    return [FileRow(number, value, "" if value else "no JSON") for number, value in enumerate(values, 3)]


def test_a_name_is_taken_and_auto_takes_the_one_that_fits():
    assert chosen_set(FILE, "xlam", rows({"messages": []})) is DATA_SETS["xlam"]
    assert chosen_set(FILE, "auto", rows(None, {"messages": []}, {"a": 1})) is DATA_SETS["openai"]


NAMES = ", ".join(DATA_SETS)


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ((None, None), "f.jsonl:3: no JSON; expected training records"),
        (
            (None, dict.fromkeys("abcdefghijklmn", 1)),
            f"f.jsonl: fits no set (keys: a, b, c, d, e, f, g, h, i, j, k, l); name the set with --from ({NAMES})",
        ),
        (({},), f"f.jsonl: fits no set (keys: none); name the set with --from ({NAMES})"),
        (
            ({"messages": []}, {"question": "", "answer": ""}),
            f"f.jsonl: fits openai, glaive-code; name the set with --from ({NAMES})",
        ),
    ],
)
def test_what_auto_cannot_tell_it_says(values: tuple[Any, ...], problem: str):
    with pytest.raises(DataError) as refused:
        chosen_set(FILE, "auto", rows(*values))
    assert str(refused.value) == problem


def test_names_that_are_no_set_are_refused():
    with pytest.raises(UsageError) as refused:
        chosen_set(FILE, "default-prompts", [])
    assert str(refused.value) == "default-prompts are two prompt templates, not records"
    with pytest.raises(UsageError, match=r"unknown set 'xlan'.*did you mean 'xlam'"):
        chosen_set(FILE, "xlan", [])


def test_the_first_twenty_rows_tell_the_set_and_none_is_lost():
    sample, every = sampled_rows(FILE, iter(range(23)))
    assert (sample, list(every)) == (list(range(20)), list(range(23)))
    with pytest.raises(DataError, match=r"^f\.jsonl: holds no row$"):
        sampled_rows(FILE, iter(()))
