"""RoTBench's files: records as items, what is refused and how, lint, descriptions, and result files."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.data_fault import fault_of
from wildtool.benchmarks.result_files import one_reply
from wildtool.benchmarks.rotbench import ROTBENCH
from wildtool.benchmarks.rotbench.data import Answer, RotRecord, parse_answer, parse_record
from wildtool.benchmarks.rotbench.results import read_results
from wildtool.data.data_set import ResultRow
from wildtool.declared import describe, lint
from wildtool.errors import DataError
from wildtool.findings import Finding
from wildtool.types import Item

TOOLS: list[dict[str, Any]] = [
    {"name": "hours", "parameters": {"properties": {"place": {}, "day": {}}}},
    {"name": "ask_to_user"},
    {"name": "finish"},
]
HOURS = 'Thought:\nAction: hours\nAction Input: {"place": "x"}'
SYSTEM = f"Use [these]:\n{json.dumps(TOOLS)}\n\nLet's Begin!"[10:]


def turn(role: str, value: Any) -> dict[str, Any]:
    return {"from": role, "value": value}


def record(id: str = "a", *answers: str, scenario: str = "PL", tools: Any = TOOLS, more: int = 0) -> Any:
    system = f"Use tools:\n{json.dumps(tools)}\n\nLet's Begin!"
    turns = [turn("system", system), turn("user", f"{id}?\nBegin!\n")]
    turns += [turn("assistant", "A"), turn("function", "F")][:more]
    turns.append(turn("assistant", list(answers or [HOURS])))
    return {"id": id, "scenario": scenario, "conversations": turns}


def write(folder: Path, name: str, *records: Any) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(records), "utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("clean", "union"):
        write(tmp_path, f"First_Turn/{name}.json", record("a"), record("b", scenario="TG"), record("a"))
    for name in ("slight", "medium", "heavy"):
        write(tmp_path, f"First_Turn/{name}.json", record("b"), record("a"), record("a"), record("b"))
    for name in ("clean", "slight", "medium", "heavy", "union"):
        write(tmp_path, f"Third_Turn/{name}.json", record("c", more=2), record("a", more=1))
    return tmp_path


def items(path: Path, split: str | None = None, **options: Any) -> list[Item]:
    return list(ROTBENCH.load(ROTBENCH.data.locate(str(path), split), split=split, **options))


def places(item: Item) -> dict[str, tuple[Any, ...]]:
    units = item.data.items()
    return {
        unit: (each.environment, each.noise, each.turn, each.scenario, each.position) for unit, each in units
    }


def test_records_of_one_id_and_turn_are_units_of_one_item(folder: Path) -> None:
    first, second = items(folder)
    assert (first.id, first.split, second.id, second.split) == ("first-000", "first", "first-001", "first")
    assert first.units == tuple(first.data) and second.units == tuple(second.data)
    assert places(first) == {
        "clean": ("clean", "none", "first", "PL", 0),
        "clean-2": ("clean", "none", "first", "PL", 2),
        "slight-tools": ("slight", "tools", "first", "PL", 1),
        "slight-parameters": ("slight", "parameters", "first", "PL", 2),
        "medium-tools": ("medium", "tools", "first", "PL", 1),
        "medium-parameters": ("medium", "parameters", "first", "PL", 2),
        "heavy-tools": ("heavy", "tools", "first", "PL", 1),
        "heavy-parameters": ("heavy", "parameters", "first", "PL", 2),
        "union": ("union", "both", "first", "PL", 0),
        "union-2": ("union", "both", "first", "PL", 2),
    }
    assert list(places(second).values())[:3] == [
        ("clean", "none", "first", "TG", 1),
        ("slight", "tools", "first", "PL", 0),
        ("slight", "parameters", "first", "PL", 3),
    ]
    assert items(folder, lang="en") == [first, second]
    assert items(folder, lang="zh") == []


def test_the_third_turns_have_numbers_of_their_own(folder: Path) -> None:
    third = items(folder, "third")
    assert [(item.id, item.split, len(item.units)) for item in third] == [
        ("third-000", "third", 5),
        ("third-001", "third", 5),
    ]
    (clean,) = {tuple(item.units) for item in items(folder, "third-clean")}
    assert clean == ("clean",)


def test_a_record_is_read_whole() -> None:
    parsed = parse_record(record("a", HOURS, "Action: \nAction Input: {}"), "heavy", 2, "here")
    system = f"Use tools:\n{json.dumps(TOOLS)}\n\nLet's Begin!"
    assert parsed == RotRecord(
        "heavy",
        "parameters",
        "first",
        "PL",
        (("system", system), ("user", "a?\nBegin!\n")),
        tuple(TOOLS),
        (Answer(HOURS, "hours", {"place": "x"}), Answer("Action: \nAction Input: {}", "", {})),
    )
    assert ROTBENCH.fields(Item("x", ("u",), {"u": parsed}), "u") == {
        "turn": "first",
        "environment": "heavy",
        "noise": "parameters",
        "scenario": "PL",
    }
    item = Item("x", ("u", "v"), {"u": parsed, "v": parse_record(record("b", more=2), "clean", 1, "here")})
    assert ROTBENCH.data.user_texts is not None
    assert list(ROTBENCH.data.user_texts(item)) == ["a?", "b?"]


def test_tools_end_with_the_text_where_nothing_follows_them() -> None:
    bare = record()
    bare["conversations"][0]["value"] = f"Use:\n{json.dumps(TOOLS)}"
    assert parse_record(bare, "clean", 1, "here").tools == tuple(TOOLS)


def changed(place: int, value: Any) -> Any:
    other = record()
    other["conversations"][place] = value
    return other


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        (record() | {"conversations": 3}, "field conversations: expected a list, found a number"),
        (changed(1, turn("user", 3)), "conversations[1]: field value: expected a text, found a number"),
        (changed(0, {"value": "x"}), "conversations[0]: field from: expected a text, found null"),
        (
            record() | {"conversations": record()["conversations"][1:]},
            "conversations: expected a system turn, the user's and the answers",
        ),
        (
            changed(0, turn("user", SYSTEM)),
            "conversations: expected a system turn, the user's and the answers",
        ),
        (changed(2, turn("assistant", "x")), "field value: expected a list, found a text"),
        (changed(2, turn("assistant", [])), "the last turn has no accepted answer"),
        (record(scenario=3), "field scenario: expected a text, found a number"),  # type: ignore[arg-type]
        (changed(0, turn("system", "none")), "expected a list of at least two tools in the system turn"),
        (record(tools=TOOLS[:1]), "expected a list of at least two tools in the system turn"),
        (record(tools=[TOOLS[0], {"name": 3}]), "tool 1: field name: expected a text, found a number"),
        (record("a", HOURS, 3), "answer 1: expected a text, found a number"),  # type: ignore[arg-type]
        (
            record("a", 'Action Input: {"a": 1}'),
            "answer 0: expected `Action: NAME` and `Action Input: OBJECT`",
        ),
        (
            record("a", "Action: x\nAction Input: [1]"),
            "answer 0: expected `Action: NAME` and `Action Input: OBJECT`",
        ),
    ],
)
def test_a_record_of_another_form_is_named(entry: Any, fault: str) -> None:
    assert fault_of(lambda: parse_record(entry, "clean", 1, "here")) == f"here: {fault}"


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        (changed(0, turn("system", "[x]")), "here: the tools in the system turn are not JSON ("),
        (record("a", "Action: x\nAction Input: x"), "here: answer 0: the action input is not JSON ("),
    ],
)
def test_what_is_no_json_is_named(entry: Any, fault: str) -> None:
    with pytest.raises(DataError) as error:
        parse_record(entry, "clean", 1, "here")
    assert str(error.value).startswith(fault)
    with pytest.raises(DataError, match=r"^answer: expected a text, found null$"):
        parse_answer(None)


def test_a_damaged_file_names_the_record_by_its_id(tmp_path: Path) -> None:
    path = write(tmp_path, "clean.json", record(), record("b" * 70) | {"scenario": None})
    assert fault_of(lambda: items(path)).endswith(
        f"(id '{'b' * 60}'): field scenario: expected a text, found null"
    )


def test_lint_says_what_the_tool_list_does_not_admit(tmp_path: Path) -> None:
    tools = [TOOLS[0], {"name": "x"}, TOOLS[0], {"name": "x"}, {"name": "finish"}]
    answers = (
        'Action: hours\nAction Input: {"z": 1, "place": 1, "hour": 2, "a": 3}',
        'Action: gone\nAction Input: {"a": 1}',
        'Action: hours\nAction Input: {"day": 1}',
    )
    path = write(
        tmp_path, "clean.json", record("a", *answers, tools=tools), record("b", "Action: x\nAction Input: {}")
    )
    findings = list(lint(ROTBENCH, ROTBENCH.data.locate(str(path))))
    assert [(finding.rule, finding.message) for finding in findings] == [
        ("repeated tool", "two tools are called 'hours'; rename one"),
        ("repeated tool", "two tools are called 'x'; rename one"),
        # In the order of the arguments.
        *(
            ("unknown parameter", f"answer 0 gives {name!r}; 'hours' declares place, day")
            for name in ("z", "hour", "a")
        ),
        ("unknown tool", "answer 1 calls 'gone', which is not offered"),
        ("unknown parameter", "answer 1 gives 'a'; 'gone' declares none"),
        ("unknown tool", "answer 0 calls 'x', which is not offered"),
        ("empty input", "every accepted answer has an empty input, which toleap and original refuse (Q1)"),
    ]
    assert {type(finding) for finding in findings} == {Finding}


def test_data_are_described_by_turn_environment_and_scenario(tmp_path: Path) -> None:
    clean = write(
        tmp_path,
        "First_Turn/clean.json",
        record("a", HOURS, HOURS),
        record("b", "Action: x\nAction Input: {}", scenario="TG"),
    )
    metrics = describe(ROTBENCH, ROTBENCH.data.locate(str(clean)))
    numbers = [(m.group, m.name, m.value) for m in metrics if m.group != "items"]
    assert numbers[:4] == [
        ("records", "first, clean", 2),
        ("tools offered", "first, clean", 6),
        ("accepted answers", "first, clean", 3),
        ("no accepted answer with parameters", "first, clean", 1),
    ]
    counts = {"TG": 1, "PL": 1}
    names = ("TG", "RS", "DU", "PL", "AM", "IR", "FT")
    assert numbers[4:] == [("scenario", name, counts.get(name, 0)) for name in names]


def test_result_files_are_read_in_the_order_of_the_data(folder: Path, tmp_path: Path) -> None:
    by_id = {item.id: item for item in items(folder, "slight")}
    results = tmp_path / "gpt"
    listed = write(results, "slight_results.json", "b1", "a1", None, {"conversations": [turn("x", "b2")]})
    plan = read_results(results, by_id, "chat")
    assert plan is not None
    expected = [
        ("first-000", "slight-tools", "b1"),
        ("first-001", "slight-tools", "a1"),
        ("first-001", "slight-parameters", None),
        ("first-000", "slight-parameters", "b2"),
    ]
    rows = list(plan.rows)
    assert rows == [
        ResultRow(f"{listed}: reply {number} ({item})", "gpt", item, {unit: one_reply(text, "")})
        for number, (item, unit, text) in enumerate(expected)
    ]
    assert read_results(tmp_path / "First_Turn" / "none", by_id, "chat") is None
