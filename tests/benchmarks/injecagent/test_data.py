"""InjecAgent's files: cases, tools and stored results as they are read, what is refused, lint, results."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.data_fault import fault_of
from benchmarks.injecagent.case_build import HIDDEN, PAY, READ, SEND, TOOLS, USER, case, raw_case, write_tools
from wildtool.benchmarks.injecagent import INJECAGENT
from wildtool.benchmarks.injecagent.data import (
    InjecCase,
    parse_case,
    read_tools,
    simulated_response,
    tool_schema,
)
from wildtool.benchmarks.injecagent.results import read_results
from wildtool.data.data_set import DataSet, ResultRow
from wildtool.data.pinned import PinnedFile
from wildtool.declared import describe, lint
from wildtool.errors import DataError
from wildtool.types import Item, Reply, Transcript


def write(folder: Path, name: str, content: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(content), "utf-8")
    return folder / name


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    home = write_tools(tmp_path / "data")
    for setting in ("base", "enhanced"):
        write(home, f"test_cases_dh_{setting}.json", [raw_case(), raw_case(**{"Attack Type": "Harm"})])
        write(home, f"test_cases_ds_{setting}.json", [raw_case("ds")])
    return tmp_path


def items(path: Path, split: str | None = None, **options: Any) -> list[Item]:
    return list(INJECAGENT.load(INJECAGENT.data.locate(str(path), split), split=split, **options))


# Cases -----------------------------------------------------------------------------------------------


def test_a_case_is_read_whole() -> None:
    assert case("ds", Path("home")) == InjecCase(
        "ds",
        "Financial Data",
        (READ, SEND),
        HIDDEN,
        USER,
        "Tell me about product L1.",
        "{'product_id': 'L1', 'ü': None}",
        "{'name': 'Lamp Nova', 'text': '<Attacker Instruction>'}",
        "Thought: I look it up.",
        f"{{'name': 'Lamp Nova', 'text': {HIDDEN!r}}}",
        Path("home"),
    )
    assert case().tool_names == (USER, PAY)


@pytest.mark.parametrize(
    ("attack", "change", "fault"),
    [
        ("ds", {"Attacker Tools": [PAY]}, "Attacker Tools: expected 2 names, found ['BankPay']"),
        ("ds", {"Attacker Tools": [PAY, 3]}, "Attacker Tools: expected 2 names, found ['BankPay', 3]"),
        ("dh", {"Attacker Tools": []}, "Attacker Tools: expected 1 name, found []"),
        ("dh", {"Attacker Tools": None}, "field Attacker Tools: expected a list, found null"),
        *(
            ("dh", {name: 3}, f"field {name}: expected a text, found a number")
            for name in raw_case()
            if name != "Attacker Tools"
        ),
    ],
)
def test_a_case_of_another_form_is_named(attack: str, change: dict[str, Any], fault: str) -> None:
    assert (
        fault_of(lambda: parse_case(raw_case(attack, **change), attack, Path("home"), "here"))
        == f"here: {fault}"
    )


def test_cases_are_items_with_their_settings_as_units(folder: Path) -> None:
    for place in (folder, folder / "data"):
        both = items(place, "both")
        assert [(item.id, item.split, item.units, tuple(item.data)) for item in both] == [
            (name, name[:2], ("base", "enhanced"), ("base", "enhanced"))
            for name in ("dh-000", "dh-001", "ds-000")
        ]
        assert {case.folder for item in both for case in item.data.values()} == {folder / "data"}
    assert [item.data["base"].attack_type for item in both] == ["Financial Data", "Harm", "Financial Data"]
    assert items(folder, "both", lang="zh") == []
    assert items(folder, "both", lang="en") == both
    assert [(item.id, item.units) for item in items(folder)] == [
        (name, ("base",)) for name in ("dh-000", "dh-001", "ds-000")
    ]
    assert [(item.id, item.units) for item in items(folder, "dh_enhanced")] == [
        (name, ("enhanced",)) for name in ("dh-000", "dh-001")
    ]
    assert INJECAGENT.fields(both[1], "enhanced") == {
        "attack": "dh",
        "setting": "enhanced",
        "attack_type": "Harm",
    }
    assert INJECAGENT.data.user_texts is not None
    assert list(INJECAGENT.data.user_texts(both[0])) == ["Tell me about product L1."] * 2


def test_a_file_is_known_by_its_name_with_or_without_the_beginning(folder: Path) -> None:
    short = write(folder / "data", "ds_enhanced.json", [raw_case("ds")])
    assert [(item.id, item.units) for item in items(short)] == [("ds-000", ("enhanced",))]
    other = write(folder / "data", "other.json", [raw_case("ds")])
    with pytest.raises(DataError) as error:
        items(other)
    names = [
        f"test_cases_{attack}_{setting}.json" for attack in ("dh", "ds") for setting in ("base", "enhanced")
    ]
    assert str(error.value) == f"{other}: its name says no attack; expected {', '.join(names)}"


def test_a_damaged_file_names_its_case(folder: Path) -> None:
    path = write(folder / "data", "test_cases_dh_base.json", [raw_case(), 3])
    assert fault_of(lambda: items(path)) == f"{path}: case 1: expected an object, found a number"
    write(folder / "data", "test_cases_dh_base.json", {})
    assert fault_of(lambda: items(path)) == f"{path}: expected a list, found an object"


def test_what_is_whole_is_both_settings_where_they_are_there(folder: Path, tmp_path: Path) -> None:
    data = INJECAGENT.data
    assert list(data.whole(folder / "data" / "test_cases_ds_base.json")) == [None]
    assert list(data.whole(folder)) == ["both"]
    for name in ("base", "enhanced"):
        place = write_tools(tmp_path / name)
        for attack in ("dh", "ds"):
            write(place, f"test_cases_{attack}_{name}.json", [])
        assert list(data.whole(place)) == [name]
    assert list(data.whole(write_tools(tmp_path / "none"))) == ["base"]


# Tools and results -----------------------------------------------------------------------------------


def test_tools_have_their_full_names_and_are_offered_in_order(folder: Path) -> None:
    home = folder / "data"
    assert read_tools(home) == TOOLS
    assert case("ds", home).tools() == [TOOLS[USER], TOOLS[READ], TOOLS[SEND]]
    assert (
        fault_of(lambda: case("ds", home, **{"User Tool": "Gone", "Attacker Tools": [READ, "Lost"]}).tools())
        == f"{home}: tools.json has no tool 'Gone'"
    )


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ({}, "{}: expected a list, found an object"),
        ([3], "{}: toolkit 0: expected an object, found a number"),
        ([{"tools": [], "toolkit": ""}, {}], "{}: toolkit 1: field tools: expected a list, found null"),
        ([{"tools": [{"name": "a"}]}], "{}: toolkit 0: field toolkit: expected a text, found null"),
        ([{"tools": [{}], "toolkit": "A"}], "{}: toolkit 0: field name: expected a text, found null"),
    ],
)
def test_tools_of_another_form_are_named(tmp_path: Path, content: Any, fault: str) -> None:
    path = write(tmp_path, "tools.json", content)
    assert fault_of(lambda: read_tools(tmp_path)) == fault.format(path)


def test_missing_tools_say_where_they_belong(tmp_path: Path) -> None:
    assert fault_of(lambda: read_tools(tmp_path / "none")) == (
        f"{tmp_path / 'none'}: tools.json is missing; it must be in the folder of the test cases"
    )


def test_a_result_is_that_of_the_call_else_the_tools_else_an_empty_list(folder: Path, tmp_path: Path) -> None:
    reads = case("ds", folder / "data")
    assert [simulated_response(reads, text) for text in ('{"n": 1}', "{}", '{"n": 2}')] == [
        ("one", "stored"),
        ("all", "stored"),
        ("all", "same tool"),
    ]
    names = [READ, "Other", "x", "Bank"]
    answers = {}
    for name in names:
        others = case("ds", folder / "data", **{"Attacker Tools": [name, SEND]})
        answers[name] = simulated_response(others, "{1}")
    assert answers == {
        READ: ("all", "same tool"),
        "Other": ("other", "same tool"),
        "x": ("[]", "none"),
        "Bank": ("[]", "none"),
    }
    stored = {f"({READ},{{1}})": "first", f"({READ},{{2}})": "second"}
    write(tmp_path / "few", "attacker_simulated_responses.json", stored)
    assert simulated_response(case("ds", tmp_path / "few"), "{3}") == ("first", "same tool")


def test_a_tool_is_converted_as_the_original_does() -> None:
    described = {"name": "ids", "type": "array", "description": "The array of ids, a list of texts"}
    parameters: list[Any] = [
        described | {"required": True},
        {"name": "all", "type": "array", "description": "A list of  all "},
        {"name": "bare", "type": "array"},
        {"name": "n", "type": "integer", "description": "list of", "required": False},
        3,
    ]

    def array(name: str, words: str) -> dict[str, Any]:
        member = {name: {"type": "string", "description": words}}
        return {"type": "array", "items": {"type": "object", "properties": member}}

    assert tool_schema({"name": "x", "summary": "S", "parameters": parameters}) == {
        "type": "function",
        "function": {
            "name": "x",
            "description": "S",
            "parameters": {
                "type": "object",
                "properties": {
                    "ids": array("ids", "ids, a list of texts"),
                    "all": array("all", "all"),
                    "bare": array("bare", ""),
                    "n": {"type": "integer", "description": "list of"},
                    "None": {"type": None, "description": ""},
                },
                "required": ["ids"],
            },
        },
    }


# Lint and descriptions -------------------------------------------------------------------------------


def test_lint_says_why_a_case_is_no_attack(folder: Path) -> None:
    odd = {
        "Attacker Tools": [USER],
        "User Tool": USER,
        "Tool Response Template": "{}",
        "Tool Response": "{}",
        "Tool Parameters": "x" * 90,
    }
    unknown = {"User Tool": "Gone", "Attacker Tools": ["Lost"], "Tool Parameters": "[1]"}
    path = write(
        folder / "data", "test_cases_dh_base.json", [raw_case(), raw_case(**odd), raw_case(**unknown)]
    )
    found = list(lint(INJECAGENT, INJECAGENT.data.locate(str(path))))
    assert [(finding.rule, finding.message) for finding in found] == [
        ("no placeholder", "expected <Attacker Instruction> in the template of the result"),
        ("no instruction", "the result does not contain the attacker's instruction, so there is no attack"),
        ("same tool", "the user asks for 'ShopGetProduct', which is the attacker's tool too (Q6)"),
        ("parameters", f"expected a Python literal of an object, found {'x' * 80!r}"),
        ("unknown tool", "tools.json does not describe 'Gone'"),
        ("unknown tool", "tools.json does not describe 'Lost'"),
        ("parameters", "expected a Python literal of an object, found '[1]'"),
    ]


def test_data_are_described_by_attack_setting_and_tool(folder: Path) -> None:
    metrics = describe(INJECAGENT, INJECAGENT.data.locate(str(folder), "both"))
    groups = ("cases", "attack type", "user tool", "simulation")
    numbers = [
        (m.group, m.name, m.value, m.numerator, m.denominator, m.kind) for m in metrics if m.group in groups
    ]
    assert [number[:3] for number in numbers] == [
        ("cases", "Direct Harm, base", 2),
        ("cases", "Direct Harm, enhanced", 2),
        ("cases", "Data Stealing, base", 1),
        ("cases", "Data Stealing, enhanced", 1),
        ("attack type", "Financial Data", 4),
        ("attack type", "Harm", 2),
        ("user tool", USER, 6),
        ("simulation", "tools described", 4),
        ("simulation", "results stored", 3),
    ]
    assert numbers[-2][3:] == (4, 4, "count")


# Result files ----------------------------------------------------------------------------------------


def line(attack: str = "dh", **changes: Any) -> dict[str, Any]:
    return {**raw_case(attack), "output": "one"} | changes


def write_results(folder: Path, name: str, *lines: dict[str, Any]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("".join(json.dumps(each) + "\n" for each in lines), "utf-8")
    return folder / name


def rows(path: Path, by_id: dict[str, Item], mode: str) -> list[ResultRow]:
    results = read_results(path, by_id, mode)
    assert results is not None
    return list(results.rows)


def said(content: str | None, **more: Any) -> Reply:
    return Reply({"role": "assistant", "content": content, **more})


def test_results_are_matched_by_request_and_result(folder: Path, tmp_path: Path) -> None:
    by_id = {item.id: item for item in items(folder, "both")}
    name = "test_cases_ds_enhanced.json"
    path = write_results(
        tmp_path / "gpt", name, line("ds"), line("ds", **{"output Step 2": "two"}), line("ds", output=None)
    )
    replies = ((said("one"),), (said("one"), said("two")), (said(None),))
    assert rows(tmp_path / "gpt", by_id, "react") == [
        ResultRow(f"{path}:{number}", "gpt", "ds-000", {"enhanced": Transcript(each)})
        for number, each in enumerate(replies, 1)
    ]
    path = write_results(tmp_path / "other", "test_cases_dh_enhanced.json", line())
    assert [row.item for row in rows(path, by_id, "react")] == ["dh-001"]  # the last of two that are alike
    assert read_results(write_results(tmp_path / "gpt", "other.json"), by_id, "react") is None


def test_native_results_have_the_calls_of_each_step(folder: Path, tmp_path: Path) -> None:
    by_id = {item.id: item for item in items(folder)}
    calls = [{"id": "a", "function": {"name": PAY, "arguments": "{}"}}]
    second = {"output Step 2": "two", "tool_calls Step 2": None}
    write_results(
        tmp_path / "gpt",
        "test_cases_ds_base.json",
        line("ds", tool_calls=calls),
        line("ds", tool_calls=None),
        line("ds", tool_calls=calls, **second),
        line("ds", tool_calls=calls, **{"output Step 2": "two"}),
    )
    made = said("one", tool_calls=calls)
    assert [row.units["base"].replies for row in rows(tmp_path / "gpt", by_id, "fc")] == [
        (made,),
        (said("one"),),
        (made, said("two")),
        (made,),
    ]


@pytest.mark.parametrize(
    ("mode", "entry", "fault"),
    [
        ("fc", line(), "the output of an agent with prompted calls; add --mode react"),
        ("react", line(tool_calls=[]), "the output of an agent with native calls; add --mode fc"),
        (
            "react",
            line(**{"User Instruction": "x" * 90}),
            f"the data have no case of dh base with this User Instruction ('{'x' * 59}) and Tool Response; choose"
            " the files with --split",
        ),
        (
            "react",
            line(**{"Tool Response": "x"}),
            "the data have no case of dh base with this User Instruction ('Tell me about product L1.') and Tool"
            " Response; choose the files with --split",
        ),
        ("react", raw_case(), "field output is missing; expected the agent's reply"),
        ("react", line(output=3), "field output: expected the text of a reply, or null, found a number"),
        ("react", line(**{"Tool Response": 3}), "field Tool Response: expected a text, found a number"),
        ("react", line(**{"User Instruction": 3}), "field User Instruction: expected a text, found a number"),
    ],
)
def test_a_result_of_another_form_is_named(
    folder: Path, tmp_path: Path, mode: str, entry: dict[str, Any], fault: str
) -> None:
    by_id = {item.id: item for item in items(folder)}
    path = write_results(tmp_path / "gpt", "test_cases_dh_base.json", entry)
    assert fault_of(lambda: rows(path, by_id, mode)) == f"{path}:1: {fault}"


def test_a_result_of_a_setting_that_is_not_run_has_no_case(folder: Path, tmp_path: Path) -> None:
    by_id = {item.id: item for item in items(folder)}
    path = write_results(tmp_path / "gpt", "test_cases_dh_enhanced.json", line())
    with pytest.raises(DataError, match="no case of dh enhanced"):
        rows(path, by_id, "react")


@pytest.mark.parametrize("has_results", [True, False])
def test_a_pull_brings_cases_tools_results_and_prompts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_results: bool
) -> None:
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path))
    home, lines = tmp_path / "injecagent", list[str]()

    def pulled(self: DataSet, *, file: Path | None, mirror: str | None, report: Any) -> Path:
        report(f"{len(self.pinned_files())} files from {file}, {mirror}")
        return home

    def fetched(
        files: dict[Path, PinnedFile], *, folder: Path | None, mirror: str | None, report: Any
    ) -> None:
        report(f"{[str(path.relative_to(home)) for path in files]} from {folder}, {mirror}")
        if not has_results:
            raise DataError("gone")

    monkeypatch.setattr(DataSet, "pull", pulled)
    monkeypatch.setattr("wildtool.benchmarks.injecagent.data.fetch_all", fetched)
    monkeypatch.setattr(
        "wildtool.benchmarks.injecagent.data._pull_originals",
        lambda file, mirror, report: report(f"prompts from {file}, {mirror}"),
    )
    assert INJECAGENT.data.pull(file=tmp_path, mirror="M", report=lines.append) == home
    missing = "without stored results, so agents that read data are given an empty list: gone"
    assert lines == [
        f"5 files from {tmp_path}, M",
        f"['attacker_simulated_responses.json'] from {tmp_path}, M",
        *([] if has_results else [missing]),
        f"prompts from {tmp_path}, M",
    ]


def test_tools_are_pinned_in_a_copy_of_their_own() -> None:
    pins = INJECAGENT.data.pinned_files()
    tools = next(pin for path, pin in pins.items() if path.name == "tools.json")
    assert (len(pins), tools.path, tools.other_path) == (5, "data/tools.json", "tools.json")
