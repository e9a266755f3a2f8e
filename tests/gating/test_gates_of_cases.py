"""`wildtool gate` on own cases: what must pass, floors, newly broken and flaky ones, edited ones, and a baseline file."""

import json
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import junitparser
import pytest
from typer.testing import CliRunner

import wildtool as wt
from wildtool.cli import app
from wildtool.engine import benchmark_file
from wildtool.errors import DataError, UsageError

TOOLS = [{"name": "get_order", "parameters": {"type": "object", "properties": {"id": {"type": "string"}}}}]
Model = Callable[[Any, Any], Any]


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    for name in list(benchmark_file.BY_NAME):
        monkeypatch.delitem(benchmark_file.BY_NAME, name)


def case(name: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "input": f"Where is {name}?", "expect": {"get_order": {"id": name}}, **more}


CASES = [case(f"A-{number}", tags=["even" if number % 2 == 0 else "odd"]) for number in range(20)]


def write(cases: list[dict[str, Any]], **defaults: Any) -> None:
    lines = [{"defaults": {"tools": TOOLS, **defaults}}, *cases]
    Path("shop.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")


def knows(*wrong: str) -> Model:
    """A model that looks up the order of the last message, but for some."""

    def answers(messages: Any, tools: Any) -> Any:
        order = messages[-1]["content"].removeprefix("Where is ").rstrip("?")
        given = {"id": "B-0" if order in wrong else order}
        call = {"type": "function", "function": {"name": "get_order", "arguments": json.dumps(given)}}
        return {"role": "assistant", "content": None, "tool_calls": [{"id": "c", **call}]}

    return answers


def play(out: str, model: Model, **keywords: Any) -> None:
    wt.run("shop.jsonl", model=model, out=out, **keywords)


def gate(line: str, **environment: str) -> tuple[int, str]:
    ended = CliRunner().invoke(app, ["gate", *shlex.split(line)], prog_name="wildtool", env=environment)
    return ended.exit_code, " ".join(ended.output.split())


def document(line: str) -> Mapping[str, Any]:
    """What the gate writes as JSON."""
    gate(f"{line} --json gate.json")
    return json.loads(Path("gate.json").read_text("utf-8"))


def test_five_newly_broken_of_twenty_are_named_and_no_silent_pass():
    write(CASES)
    play("old", knows())
    play("new", knows("A-1", "A-2", "A-3", "A-4", "A-5"))
    status, text = gate("new --against old")
    assert status == 0
    assert "Newly broken, 5 of 20: A-1: other arguments" in text
    assert text.endswith("Newly broken: 5.")
    assert gate("new --against old --newly-broken 4")[0] == 1
    assert gate("new --against old --newly-broken 5")[0] == 0


def test_a_loss_that_only_the_table_calls_worse_is_explained():
    write(CASES)
    play("old", knows(*(f"A-{number}" for number in range(4))))
    play("new", knows(*(f"A-{number}" for number in range(4, 17))))
    found = document("new --against old")
    assert 0.04 <= found["lines"][0]["p"] < 0.05
    assert found["exit_status"] == 0
    assert any("the table says worse" in remark for remark in found["remarks"])
    play("newer", knows(*(f"A-{number}" for number in range(4, 18))))
    assert not [remark for remark in document("newer --against old")["remarks"] if "table" in remark]


def test_a_case_that_must_pass_fails_alone_whatever_the_mean_says():
    write([case("A-0", must=True), *CASES[1:]])
    play("old", knows())
    play("new", knows("A-0"))
    status, text = gate("new --against old --worse-than 50")
    assert status == 1
    assert "failed: A-0 must pass and does not" in text
    assert gate("new")[0] == 1, "without a baseline, too"


@pytest.mark.long
@pytest.mark.parametrize(
    ("floors", "status"),
    [
        ("--at-least 0.9", 0),
        ("--at-least 0.91", 1),
        ("--at-least even:0.8", 0),
        ("--at-least 0.9 --at-least even:0.81", 1),
        ("--at-least 90", 2),
        ("--at-least evn:0.5", 2),
    ],
)
def test_floors_are_of_all_units_or_of_a_tag(floors: str, status: int):
    write(CASES)
    play("new", knows("A-2", "A-4"))
    assert gate(f"new {floors}")[0] == status


@pytest.mark.long
@pytest.mark.parametrize("margin", ["nan", "-1", "101"])
def test_a_margin_is_a_number_of_points(margin: str):
    write(CASES[:2])
    for name in ("old", "new"):
        play(name, knows())
    assert gate(f"new --against old --worse-than {margin}")[0] == 2
    with pytest.raises(UsageError, match=f"worse_than= is {margin}; it must be a number of points"):
        wt.gate("new", against="old", worse_than=float(margin))


def test_without_anything_asked_there_is_no_pass():
    write(CASES)
    play("new", knows())
    status, text = gate("new")
    assert (status, "nothing is asked" in text) == (2, True)


@pytest.mark.long
def test_tries_that_disagree_are_flaky_and_not_newly_broken():
    write([case("A-0"), case("A-1")], repeat=4)
    play("old", knows())
    times = iter([0, 1, 0, 0])

    def flaky(messages: Any, tools: Any) -> Any:
        is_wrong = "A-0" in messages[-1]["content"] and next(times) == 0
        return knows("A-0", "A-1")(messages, tools) if is_wrong else knows("A-1")(messages, tools)

    play("new", flaky)
    found = document("new --against old")
    assert (found["newly_broken"], found["flaky"]) == (["A-1"], ["A-0"])
    assert found["units"][0]["judged"] == 4


def test_a_case_passes_with_the_share_of_tries_that_it_asks_for():
    write([case("A-0", must=True, at_least=0.5)], repeat=4)
    times = iter(range(4))
    play("new", lambda messages, tools: knows("A-0" if next(times) % 2 else "")(messages, tools))
    assert gate("new")[0] == 0
    assert gate("new --at-least 0.6")[0] == 1


@pytest.mark.long
def test_repeats_estimate_the_false_alarms_of_this_gate():
    write(CASES)
    play("old", knows(), repeats=2)
    play("new", knows("A-1"), repeats=2)
    assert document("new --against old --burn-in 50")["false_alarms"] == {
        "draws": 50,
        "alarms": 0,
        "units": 20,
    }


def test_edited_and_new_cases_are_counted_and_not_paired():
    write(CASES)
    play("old", knows())
    edited = case("A-1", also=["get_order"])
    write([case("A-0"), edited, {**case("A-2"), "id": "renamed"}, *CASES[3:19], case("A-30")])
    play("new", knows())
    status, text = gate("new --against old")
    assert status == 0
    assert "not compared, since the cases differ: 1 edited, 1 new, 1 gone" in text
    (line,) = document("new --against old")["lines"]
    assert line["items"] == 18


@pytest.mark.long
@pytest.mark.parametrize(
    "change", [{"system": "Be short."}, {"tools": [{**TOOLS[0], "description": "Find it."}]}]
)
def test_the_same_cases_with_another_prompt_or_other_tools_are_paired_and_that_is_said(change: Any):
    write(CASES)
    play("old", knows())
    write(CASES, **change)
    play("new", knows())
    status, text = gate("new --against old")
    assert status == 0
    assert "20 cases compared with another prompt or other tools" in text


def test_a_baseline_is_one_file_and_is_only_replaced_on_a_pass():
    write(CASES)
    play("old", knows())
    assert gate("old --against base.json")[0] == 2
    assert gate("old --against base.json --update-baseline")[0] == 0
    first = Path("base.json").read_bytes()
    play("worse", knows(*(f"A-{number}" for number in range(10))))
    status, text = gate("worse --against base.json --update-baseline")
    assert (status, Path("base.json").read_bytes()) == (1, first)
    assert "lost 50.0 points" in text
    play("new", knows("A-3"))
    assert gate("new --against base.json --update-baseline")[0] == 0
    assert Path("base.json").read_bytes() != first
    assert document("old --against base.json")["lines"] == document("old --against new")["lines"]
    assert gate("old --against new --update-baseline")[0] == 2


@pytest.mark.long
def test_a_pass_that_is_undecided_does_not_replace_the_baseline():
    write(CASES)
    play("old", knows())
    gate("old --against base.json --update-baseline")
    first = Path("base.json").read_bytes()
    play("new", knows("A-3"))
    status, text = gate("new --against base.json --worse-than 1 --allow-undecided --update-baseline")
    assert (status, Path("base.json").read_bytes()) == (0, first)
    assert "base.json stays as it was" in text


@pytest.mark.long
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"baseline": 1', '"baseline": 2'),
        ('"right": 1', '"right": 2'),
        ('"right": 1', '"right": "1"'),
        ('"item": "A-0"', '"item": 7'),
        ('"item": "A-1"', '"item": "A-0"'),
        ('"agent"', '"agents"'),
        ('"at_least": 1.0', '"at_least": "all"'),
        ('"runs"', '"run"'),
        ('"runs": [', '"runs": [], "earlier": ['),
        ('"units"', '"unit"'),
        ('"weights": {}', '"weights": []'),
        ('"kinds": {', '"kinds": 1, "earlier": {'),
    ],
)
def test_a_baseline_that_is_none_is_refused_by_name(old: str, new: str):
    write(CASES[:2])
    play("new", knows())
    gate("new --against base.json --update-baseline")
    Path("base.json").write_text(Path("base.json").read_text("utf-8").replace(old, new, 1), "utf-8")
    status, text = gate("new --against base.json --at-least 0")
    assert (status, "base.json" in text) == (2, True)


@pytest.mark.long
def test_junit_is_read_by_its_own_package_and_holds_hostile_texts():
    name = "evil ]]>\x1b[31m\x00 <a> & ::error::"
    write([case("A-0"), {**case("A-1"), "id": name}])
    play("old", knows())
    hostile = json.dumps({"id": "]]> \x07 ::set-env name=x::y\n::error::z"})

    def says(messages: Any, tools: Any) -> Any:
        call = {"id": "c", "type": "function", "function": {"name": "get_order", "arguments": hostile}}
        good = knows()(messages, tools)
        return good if "A-0" in messages[-1]["content"] else {**good, "tool_calls": [call]}

    play("new", says)
    status, _ = gate("new --against old --junit gate.xml --markdown gate.md --newly-broken 0")
    assert status == 1
    (suite,) = list(junitparser.JUnitXml.fromfile("gate.xml"))
    assert (suite.tests, suite.failures, suite.errors) == (2, 1, 0)
    good, bad = list(suite)
    assert good.is_passed and good.name == "A-0"
    (failure,) = bad.result
    assert failure.type == "newly broken" and failure.message == "other arguments"
    printed = (
        CliRunner().invoke(app, ["gate", "new", "--against", "old"], env={"GITHUB_ACTIONS": "true"}).stdout
    )
    token = printed.partition("::stop-commands::")[2].partition("\n")[0]
    inside, _, after = printed.partition("\n")[2].partition(f"::{token}::\n")
    assert "set-env" in inside and "set-env" not in after
    assert not [line for line in after.splitlines() if not line.startswith("::")]
    assert "\x00" not in printed and "\x1b" not in printed


def test_a_failed_call_is_an_error_in_junit_and_no_wrong_answer():
    write(CASES[:3])
    play("old", knows())
    line = "run shop.jsonl --model m --base-url http://127.0.0.1:1/v1 --retries 0 --out dead --quiet"
    CliRunner().invoke(app, shlex.split(line), prog_name="wildtool")
    status, text = gate("dead --against old --junit gate.xml")
    assert status == 2
    assert "has no verdict on" in text or "incomplete" in text
    (suite,) = list(junitparser.JUnitXml.fromfile("gate.xml"))
    assert (suite.failures, suite.errors) == (0, 3)


def test_a_case_without_a_verdict_that_must_pass_is_named_on_one_line():
    write([case("A-0", must=True) | {"id": "A\n::error::x"}])
    line = "run shop.jsonl --model m --base-url http://127.0.0.1:1/v1 --retries 0 --out dead --quiet"
    CliRunner().invoke(app, shlex.split(line), prog_name="wildtool")
    ended = CliRunner().invoke(app, ["gate", "dead", "--only-played"], env={"GITHUB_ACTIONS": "true"})
    assert ended.exit_code == 2
    assert "A ::error::x must pass, and has no verdict" in ended.stderr
    assert not [each for each in ended.stderr.splitlines() if each.lstrip().startswith("::")]
    assert "--only-played" not in ended.stderr, "it is given"


@pytest.mark.long
def test_a_gate_in_python_asks_the_same():
    bench = wt.cases(CASES, defaults={"tools": TOOLS})
    old, new = (
        wt.run(bench, model=model, out=name)
        for name, model in (("old", knows()), ("new", knows("A-1", "A-2")))
    )
    passed = wt.gate(new, against=old, at_least=[0.9, "odd:0.9"])
    assert passed.passed and passed.status == 0
    assert [unit.name for unit in passed.newly_broken] == ["A-1", "A-2"]
    assert wt.gate(new, against=old, newly_broken=1).status == 1
    assert wt.gate(new, against=old, worse_than=3).status == 4
    with pytest.raises(UsageError, match=r"at_least=.*share from 0 to 1"):
        wt.gate(new, at_least=90)


def test_cases_from_a_list_are_checked_and_kept_in_a_file():
    bench = wt.cases([case("A-0")], defaults={"tools": TOOLS})
    assert len(bench) == 1
    assert wt.cases([case("A-0")], defaults={"tools": TOOLS}).name == bench.name, "the same list has one file"
    assert wt.run(bench, model=knows(), out="out").scores["right"].value == 1
    with pytest.raises(DataError, match=r"expects: .*did you mean 'expect'"):
        wt.cases([{"input": "x", "expects": []}])
    assert [path.name for path in Path().glob("cases-*.jsonl")] == [bench.source.path.name], (
        "none that is refused"
    )
    with pytest.raises(UsageError, match="is empty"):
        wt.cases([])
