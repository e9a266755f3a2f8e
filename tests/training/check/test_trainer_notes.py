"""What trainers do with a file and its rows, word by word."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from training.training_rows import TOOL, text_row, turn, write_rows
from wildtool.findings import Finding
from wildtool.sets.prepare.check.file import FileCheck, check_training_file
from wildtool.sets.prepare.check.rules import check_record, record_kind
from wildtool.sets.prepare.check.trainers import TRAINERS

HUMAN, GPT = turn("human", "a"), turn("gpt", "b")
CALL = turn("function_call", '{"name": "level", "arguments": {"station": "A"}}')
RESULT = turn("observation", "5")
TOOLS = json.dumps([TOOL])
OTHER = '{"name": "x", "arguments": {}}'


def line(finding: Finding) -> str:
    """A finding of a value as one text."""
    assert (finding.where, finding.id) == ("", "")
    return f"{finding.level} {finding.rule} {finding.field}: {finding.message}"


def talk(*turns: Any, **more: Any) -> dict[str, Any]:
    return {"conversations": list(turns), **more}


DROPS = "LLaMA-Factory drops this record"
STOPS = "LLaMA-Factory stops here"


def checked(path: Path, *rows: Any, **more: Any) -> tuple[list[str], FileCheck]:
    """The findings of a file as lines without its folder, and the counts."""
    file, result = write_rows(path / "f.jsonl", list(rows)), FileCheck()
    findings = list(check_training_file(file, result, **more))
    where = [f"{f.where} [{f.id}] {f.level} {f.rule} {f.field}: {f.message}" for f in findings]
    return [text.replace(f"{path}/", "") for text in where], result


def test_what_trainers_do_with_a_file_and_its_rows(tmp_path: Path):
    base = {"conversations": [HUMAN, GPT]}
    lengths = iter([10, 512, 513, 10])
    lines, result = checked(
        tmp_path,
        {**base, "system": "S"},
        {**base, "id": "r2"},
        {**talk(GPT, HUMAN), "id": "r3"},
        5,
        base,
        trainers=("axolotl", "trl", "llama-factory"),
        tokens=lambda text: next(lengths),
    )
    order = f"turn 1 is gpt, only human or observation can be here: {DROPS}"
    axolotl, trl = TRAINERS["axolotl"].of_form.message, TRAINERS["trl"].of_form.message
    assert [text for text in lines if " note " in text] == [
        "f.jsonl:1 [record 1] note trl changes system: the column system is not read",
        "f.jsonl:3 [r3] note axolotl drops : about 513 tokens, more than its default of 512: longer than sequence_len",
        f"f.jsonl:3 [r3] note llama-factory drops conversations[0]: {order}",
        f"f.jsonl [] note axolotl changes : every record: {axolotl}",
        f"f.jsonl [] note trl changes : every record: {trl}",
    ]
    assert result.trainers == {
        "axolotl": Counter(drops=1),
        "trl": Counter(changes=1),
        "llama-factory": Counter(drops=1),
    }


def message(role: str, content: Any = None, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


def calling(arguments: Any) -> dict[str, Any]:
    return message(
        "assistant", tool_calls=[{"type": "function", "function": {"name": "t", "arguments": arguments}}]
    )


WEIGHT = "note changes messages[1]: weight 0 is not read: the message is learned"
SEVERAL = (
    "several results in a row: each message is rendered alone, and templates that join results give other tokens then"
    " (unless ignore_input_ids_mismatch is set)"
)
TEXT_TOOLS = "tools is an empty text; leave the column out, or write []"
NO_LIST = "tools is no JSON text of a list; leave the column out, or write []"


@pytest.mark.parametrize(
    ("name", "form", "row", "notes"),
    [
        (
            "llama-factory",
            "messages",
            {"messages": [message("user", "q"), message("assistant", "r", weight=0)]},
            [WEIGHT],
        ),
        (
            "llama-factory",
            "sharegpt",
            talk(HUMAN, turn("function_call", "[]")),
            ["note changes conversations[1]: an empty list of calls teaches an empty call"],
        ),
        (
            "llama-factory",
            "sharegpt",
            talk(turn("system", "T"), HUMAN, GPT, system="S"),
            ["note changes system: the first turn replaces the column system"],
        ),
        (
            "llama-factory",
            "sharegpt",
            talk(HUMAN, chosen=GPT, rejected=RESULT),
            ["note changes rejected: trains on the words of observation as the reply"],
        ),
        (
            "llama-factory",
            "sharegpt",
            talk(HUMAN, chosen=GPT, rejected=turn("system", "b")),
            ["note changes rejected: trains on the words of system as the reply"],
        ),
        (
            "llama-factory",
            "sharegpt",
            talk(HUMAN, chosen=GPT, rejected=turn("x", "b")),
            ["note stops rejected: rejected must be one turn of gpt or function_call"],
        ),
        (
            "llama-factory",
            "sharegpt",
            talk(HUMAN, chosen="x", rejected=GPT),
            ["note drops chosen: chosen must be one turn of gpt or function_call"],
        ),
        (
            "llama-factory",
            "sharegpt",
            talk(HUMAN, turn("gpt", 5), HUMAN),
            [f"note drops conversations[2]: ends with human: nothing to learn after it; {DROPS}"],
        ),
        (
            "llama-factory",
            "sharegpt",
            talk(HUMAN, turn("gpt", 5)),
            ["note stops conversations[1]: turn 2: value is a number, not a text"],
        ),
        (
            "llama-factory",
            "sharegpt",
            talk(HUMAN, turn("function_call", '{"name": "level", "arguments": 5}'), tools=TOOLS),
            [
                'note changes conversations[1]: turn 2: arguments of "level" are a number: models learn to quote twice'
            ],
        ),
        ("llama-factory", "sharegpt", talk(HUMAN, CALL), []),
        (
            "trl",
            "sharegpt",
            {**text_row("a"), "system": "S"},
            ["note changes system: the column system is not read", f"note stops tools: {TEXT_TOOLS}"],
        ),
        ("trl", "messages", {"system": "S", "tools": "{}"}, [f"note stops tools: {NO_LIST}"]),
        ("trl", "messages", {"tools": "{"}, [f"note stops tools: {NO_LIST}"]),
        ("trl", "messages", {"tools": []}, []),
        (
            "trl",
            "messages",
            {"preferred_output": [], "chosen": [calling("{}")], "prompt": [message("user"), calling({})]},
            [
                "note stops preferred_output: expects prompt, chosen and rejected",
                "note changes chosen[0]: arguments are a text: most chat templates quote it again",
            ],
        ),
        ("verl", "sharegpt", {"tools": "[]", "messages": [{}]}, []),
        (
            "verl",
            "messages",
            {
                "tools": "[]",
                "messages": [
                    {"role": "user"},
                    message("assistant", weight=0),
                    message("tool"),
                    message("tool"),
                ],
                "rejected": [message("tool"), message("user"), message("user"), message("tool")],
            },
            [
                "note stops tools: tools is a text, expected is a list",
                WEIGHT,
                "note stops messages[0]: a message has no content; write null or an empty text",
                f"note stops messages[3]: {SEVERAL}",
                f"note stops rejected[0]: {SEVERAL}",
            ],
        ),
        (
            "axolotl",
            "messages",
            {
                "tools": "",
                "messages": [
                    calling("{"),
                    message("assistant", weight=0),
                    calling({}),
                    message("assistant", "r"),
                    message("user"),
                    calling("{}"),
                ],
            },
            [
                f"note stops tools: {TEXT_TOOLS}",
                WEIGHT,
                "note stops messages[0]: the arguments of a call are no JSON",
                "note changes messages[1]: an empty reply is not learned",
            ],
        ),
    ],
)
def test_what_a_trainer_does_with_a_row(name: str, form: Any, row: dict[str, Any], notes: list[str]):
    findings = check_record(row, record_kind(row)) if form == "sharegpt" else []
    assert list(map(line, TRAINERS[name].of_record(row, form, findings))) == notes


def test_what_trainers_do_with_every_record_of_a_form():
    effects = {
        (name, form, parquet): [note.rule for note in trainer.of_file(form, parquet)]
        for name, trainer in TRAINERS.items()
        for form in ("sharegpt", "messages")
        for parquet in (False, True)
    }
    assert {key: rules for key, rules in effects.items() if rules} == {
        ("llama-factory", "messages", False): ["changes"],
        ("llama-factory", "messages", True): ["changes"],
        **{
            (name, "sharegpt", parquet): ["changes"]
            for name in ("trl", "axolotl")
            for parquet in (False, True)
        },
        ("verl", "sharegpt", False): ["stops", "stops"],
        ("verl", "sharegpt", True): ["stops"],
        ("verl", "messages", False): ["stops"],
    }
    assert {name: (trainer.cutoff, line(trainer.too_long)) for name, trainer in TRAINERS.items()} == {
        "llama-factory": (2048, "note cuts : what is beyond the cut-off is left out, late calls first"),
        "trl": (1024, "note cuts : the end is cut off; a record without anything learned left is dropped"),
        "verl": (1024, "note stops : a record is longer than max_length (truncation: error)"),
        "axolotl": (512, "note drops : longer than sequence_len"),
    }
