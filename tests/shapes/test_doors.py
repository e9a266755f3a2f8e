"""Doors and shapes, from one table: each door reads the same of every shape as every other door, or refuses it by name.
`docs/shapes.md` shows the table."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from typer.testing import CliRunner

import wildtool as wt
from shapes.written import AGE, ANSWERS, CALLS, RECORDS, TALK, TOOLS, Call, ToolText, messages_of
from wildtool.cli import app
from wildtool.errors import WildtoolError
from wildtool.models.function import CallableModel
from wildtool.tools.sources.named import ToolSource
from wildtool.tools.sources.tool_files import named_tools, tools_of_file
from wildtool.training.writers.openai import openai_row
from wildtool.training.writers.options import DEFAULT_WRITING
from wildtool.types import Request
from wildtool_data.prepare.check.file import FileCheck, check_training_file
from wildtool_train.core import UnitEnvironment
from wildtool_train.rollouts import judge_rollouts
from wildtool_train.sources import benchmark_units

PAGE = Path(__file__).parents[2] / "docs" / "shapes.md"
VENDORS = ("openai", "responses", "anthropic", "gemini", "mcp", "langchain")
"""Shapes that every door reads at which they can occur."""


@dataclass(frozen=True)
class Refusal:
    """A shape that a door does not take."""

    words: str
    """What its error says."""
    reason: str


@dataclass(frozen=True)
class Door:
    """A way into wildtool."""

    name: str
    shapes: Mapping[str, Any]
    """What can be given to it, by shape."""
    read: Callable[[Sequence[str]], Mapping[str, Any]]
    """What it reads of each of some shapes, in a form that all doors of one kind share. Raises WildtoolError."""
    refused: Mapping[str, Refusal]


# Answers ----------------------------------------------------------------------------------------------

ITEM, UNIT = "wild_mini_0", "0"
UNITS = benchmark_units("wild-mini", evaluation=True)


@cache
def gold() -> list[Any]:
    """A right answer for each step, two calls at once among them."""
    return wt.load("wild-mini")[ITEM].gold[UNIT]


def written(shape: str, *, wrong: bool = False) -> list[Any]:
    """The right answers in a shape; `wrong`: with another value of one argument."""
    answers: list[Any] = []
    for message in gold():
        functions = [call["function"] for call in message.get("tool_calls") or ()]
        calls = [
            Call(f"c{n}", each["name"], json.loads(each["arguments"])) for n, each in enumerate(functions)
        ]
        if wrong:
            calls = [replace(call, arguments=dict.fromkeys(call.arguments, "?")) for call in calls]
        answers.append(ANSWERS[shape](message.get("content"), calls))
    return answers


def both(judge: Callable[[list[Any]], bool], shapes: Sequence[str]) -> dict[str, Any]:
    """Verdicts on right and on wrong answers of each shape."""
    return {shape: (judge(written(shape)), judge(written(shape, wrong=True))) for shape in shapes}


def by_judge(answers: Sequence[Any]) -> bool:
    return (
        wt.judge(item=wt.load("wild-mini")[ITEM], replies=answers, unit=UNIT, profile="fixed").outcome
        == "correct"
    )


def by_function(answers: Sequence[Any]) -> bool:
    """The answers of a function that is a model, as messages that are judged."""

    async def messages() -> list[Any]:
        request = Request([{"role": "user", "content": "?"}], [])
        return [
            (await CallableModel(lambda _messages, _tools, answer=answer: answer).complete(request)).message
            for answer in answers
        ]

    return by_judge(asyncio.run(messages()))


def by_score(shapes: Sequence[str]) -> dict[str, Any]:
    """All shapes in one file of replies, as models."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        rows = [
            {"item": ITEM, "model": shape, "repeat": int(wrong), "units": {UNIT: written(shape, wrong=wrong)}}
            for shape in shapes
            for wrong in (False, True)
        ]
        (folder / "replies.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        command("score --data wild-mini --profile fixed --replies replies.jsonl --out runs", folder)
        verdicts = {
            (run.model, row["repeat"]): row["correct"]
            for run in map(wt.Run, (folder / "runs").iterdir())
            for row in run.verdicts().rows()
            if (row["item"], row["unit"]) == (ITEM, UNIT)
        }
        return {shape: (verdicts[shape, 0], verdicts[shape, 1]) for shape in shapes}


def by_step(answers: Sequence[Any]) -> bool:
    environment = UnitEnvironment(UNITS)
    environment.open(f"{ITEM}/{UNIT}")
    for answer in answers:
        if not environment.is_over:
            environment.step(answer)
    return environment.steps[-1].get("verdict") == 1


def by_rollout(answers: Sequence[Any]) -> bool:
    with TemporaryDirectory() as name:
        path = Path(name, "rollouts.jsonl")
        # Between the answers the results of their calls, which are not judged.
        messages = [
            part for answer in answers for part in (*messages_of(answer), {"role": "user", "content": "-"})
        ]
        path.write_text(json.dumps({"unit": f"{ITEM}/{UNIT}", "messages": messages}), "utf-8")
        (rollout,) = judge_rollouts(UNITS, path)
        assert not rollout.problem, rollout.problem
        return bool(rollout.verdict)


# Calls ------------------------------------------------------------------------------------------------


def by_check(shapes: Sequence[str]) -> dict[str, Any]:
    call = TALK.calls[0]
    other = replace(call, arguments={"born": "1901-01-01"})
    tool = TOOLS["openai"]([AGE])[0]
    return {
        shape: (
            wt.check_call(tool=tool, gold=CALLS["openai"](call), call=CALLS[shape](call)).correct,
            wt.check_call(tool=tool, gold=CALLS["openai"](call), call=CALLS[shape](other)).correct,
        )
        for shape in shapes
    }


# Conversations ----------------------------------------------------------------------------------------


def said(messages: Sequence[Any]) -> list[Any]:
    """Calls and texts of a conversation, without ids."""
    return [
        [
            message["content"] or "",
            *(
                (call["function"]["name"], json.loads(call["function"]["arguments"]))
                for call in message.get("tool_calls") or ()
            ),
        ]
        for message in messages
        if message["role"] == "assistant"
    ]


def parameters(tools: Sequence[Any]) -> dict[str, Any]:
    """By name of a tool its parameters; a list of required ones that is empty is none."""
    schemas = {tool["function"]["name"]: dict(tool["function"].get("parameters") or {}) for tool in tools}
    for schema in schemas.values():
        if not schema.get("required"):
            schema.pop("required", None)
    return schemas


def command(line: str, folder: Path, status: int = 0) -> str:
    """What a command prints, run in a folder. Raises WildtoolError where it refuses."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        ended = CliRunner().invoke(app, line.split())
    if ended.exit_code != status:
        raise WildtoolError(ended.output)
    return ended.output


def file_of(shapes: Sequence[str], folder: Path) -> Path:
    """A file of records, each of another shape, each with a request of its own."""
    rows = [RECORDS[shape](replace(TALK, request=f"{TALK.request} ({shape})")) for shape in shapes]
    path = folder / "records.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def by_convert(shapes: Sequence[str]) -> dict[str, Any]:
    with TemporaryDirectory() as name:
        file_of(shapes, Path(name))
        command("data convert records.jsonl --to openai -o out", Path(name))
        rows = [json.loads(line) for line in Path(name, "out").read_text("utf-8").splitlines()]
    return {
        shape: [said(row["messages"]), parameters(row["tools"])]
        for shape, row in zip(shapes, rows, strict=True)
    }


def by_lint(shapes: Sequence[str]) -> dict[str, Any]:
    """The records that a check reads, and that are without an error of their own."""
    with TemporaryDirectory() as name:
        path = file_of(shapes, Path(name))
        records: list[Any] = []
        findings = [*check_training_file(path, FileCheck(), take=records.append)]
    errors = [each for each in findings if each.level == "error" and "F02" not in each.rule]
    assert not errors
    rows = [openai_row(record, DEFAULT_WRITING) for record in records]
    return {
        shape: [said(row["messages"]), parameters(row["tools"])]
        for shape, row in zip(shapes, rows, strict=True)
    }


def by_training(shapes: Sequence[str]) -> dict[str, Any]:
    with TemporaryDirectory() as name:
        bench = wt.load("training", data=file_of(shapes, Path(name)))
        return {
            shape: [
                said([reply for unit in item.units for reply in item.gold[unit]]),
                parameters(item.tools),
            ]
            for shape, item in zip(shapes, bench, strict=True)
        }


def by_import(shapes: Sequence[str]) -> dict[str, Any]:
    with TemporaryDirectory() as name:
        file_of(shapes, Path(name))
        command(
            "review import records.jsonl --from openai --to sessions --keep-names -o drafts.jsonl", Path(name)
        )
        drafts = [json.loads(line) for line in Path(name, "drafts.jsonl").read_text("utf-8").splitlines()]
    found: dict[str, Any] = {}
    for shape, draft in zip(shapes, drafts, strict=True):
        *calls, answer = draft["english_answer_list"][0]
        actions = [(node["action"]["name"], node["action"]["arguments"]) for node in calls]
        # A draft keeps no text beside calls.
        found[shape] = [
            [[TALK.before, *actions], [answer["observation"]]],
            parameters(draft["english_tools"]),
        ]
    return found


# Tools ------------------------------------------------------------------------------------------------


def of_file(read: Callable[[Path], Sequence[Any]]) -> Callable[[Sequence[str]], dict[str, Any]]:
    def read_all(shapes: Sequence[str]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        with TemporaryDirectory() as name:
            for shape in shapes:
                path = Path(name, f"{shape.replace(' ', '_')}.json")
                path.write_text(json.dumps(TOOLS[shape](TALK.tools)), "utf-8")
                found[shape] = parameters(read(path))
        return found

    return read_all


def one_tool(shape: str, tool: ToolText) -> Any:
    """One definition, as somebody has it who has one tool."""
    tools = TOOLS[shape]([tool])
    return tools[0] if isinstance(tools, list) else tools


def by_checked_tool(shapes: Sequence[str]) -> dict[str, Any]:
    """Whether the types of the tool's parameters are known: gold `"2"` means 2 where an integer is expected."""
    call = {"name": "age_of", "arguments": {"born": "1991-02-03", "days": 2}}
    like = {"name": "age_of", "arguments": {"born": "1991-02-03", "days": "2"}}
    return {shape: wt.check_call(tool=one_tool(shape, AGE), gold=like, call=call).correct for shape in shapes}


NO_OBJECT = Refusal("assistant message", "a reply is one object; give the whole message")
LISTS = Refusal("has no `name`", "the argument is one definition; give one entry of the list")
DOORS = [
    Door("a function as model", ANSWERS, lambda shapes: both(by_function, shapes), {}),
    Door("wt.judge", ANSWERS, lambda shapes: both(by_judge, shapes), {}),
    Door("score --replies", ANSWERS, by_score, {"anthropic blocks": NO_OBJECT}),
    Door("environment step", ANSWERS, lambda shapes: both(by_step, shapes), {"anthropic blocks": NO_OBJECT}),
    Door(
        "rollouts of others",
        ANSWERS,
        lambda shapes: both(by_rollout, shapes),
        {"anthropic blocks": Refusal("expected an object", "a conversation is a list of messages")},
    ),
    Door("wt.check_call, the call", CALLS, by_check, {}),
    Door("data convert", RECORDS, by_convert, {}),
    Door("data lint", RECORDS, by_lint, {}),
    Door("run training", RECORDS, by_training, {}),
    Door("review import", RECORDS, by_import, {}),
    Door("generate --tools", TOOLS, of_file(named_tools), {}),
    Door("--among-tools", TOOLS, of_file(tools_of_file), {}),
    Door("tools lint", TOOLS, of_file(lambda path: ToolSource(name=str(path)).tools(print)), {}),
    Door(
        "wt.check_call, the tool",
        TOOLS,
        by_checked_tool,
        {"mcp result": LISTS, "bedrock": LISTS},
    ),
]


@pytest.mark.long
@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.name)
def test_a_door_reads_the_same_of_every_shape(door: Door):
    shapes = [shape for shape in door.shapes if shape not in door.refused]
    found = door.read(shapes)
    assert list(found) == shapes
    for shape in shapes:
        assert found[shape] == found["openai"], shape


@pytest.mark.parametrize(
    "doors",
    [
        [door for door in DOORS if door.shapes is shapes and "the tool" not in door.name]
        for shapes in (ANSWERS, RECORDS, TOOLS)
    ],
    ids=["answers", "conversations", "tools"],
)
def test_every_door_reads_what_every_other_reads(doors: list[Door]):
    first, *others = doors
    expected = first.read(["openai"])
    for door in others:
        assert door.read(["openai"]) == expected, door.name


def test_right_answers_are_right_and_wrong_ones_wrong():
    assert both(by_judge, ["openai"]) == {"openai": (True, False)}
    assert by_check(["openai"]) == {"openai": (True, False)}
    assert by_checked_tool(["openai"]) == {"openai": True}
    assert by_convert(["openai"])["openai"][0] == [
        [TALK.before, *((call.name, dict(call.arguments)) for call in TALK.calls)],
        [TALK.answer],
    ]


@pytest.mark.parametrize(
    ("door", "shape"),
    [(door, shape) for door in DOORS for shape in door.refused],
    ids=lambda part: getattr(part, "name", part),
)
def test_a_refusal_names_what_is_wrong(door: Door, shape: str):
    with pytest.raises(WildtoolError, match=door.refused[shape].words):
        door.read([shape])


@pytest.mark.parametrize("shape", VENDORS)
def test_the_large_vendors_are_read_at_every_door_where_they_occur(shape: str):
    assert [door.name for door in DOORS if shape in door.refused] == []


UNKNOWN: Mapping[str, Callable[[], object]] = {
    "a function as model": lambda: by_function([odd_answer()]),
    "wt.judge": lambda: by_judge([odd_answer()]),
    "score --replies": lambda: odd_score(),
    "environment step": lambda: by_step([odd_answer()]),
    "rollouts of others": lambda: by_rollout([odd_answer()]),
    "wt.check_call, the call": lambda: wt.check_call(
        tool=TOOLS["openai"]([AGE])[0], gold=CALLS["bare"](TALK.calls[0]), call=odd_call()
    ),
    "data convert": lambda: odd_record("data convert records.jsonl --to openai -o out"),
    "data lint": lambda: odd_record("data lint records.jsonl --benchmark training"),
    "run training": lambda: odd_record("run training --data records.jsonl --model baseline/gold"),
    "review import": lambda: odd_record("review import records.jsonl --from openai -o drafts.jsonl"),
    "generate --tools": lambda: odd_tools(named_tools),
    "--among-tools": lambda: odd_tools(tools_of_file),
    "tools lint": lambda: odd_tools(lambda path: ToolSource(name=str(path)).tools(print)),
    "wt.check_call, the tool": lambda: wt.check_call(
        tool={"name": "age_of", "schemer": AGE.schema},
        gold=CALLS["bare"](TALK.calls[0]),
        call=CALLS["bare"](TALK.calls[0]),
    ),
}
"""By door what is given to it under a key that no shape has."""


def odd_call() -> dict[str, Any]:
    return {"name": "age_of", "argz": {"born": "1991-02-03"}}


def odd_answer() -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": [odd_call()]}


def odd_score() -> str:
    with TemporaryDirectory() as name:
        row = {"item": ITEM, "model": "m", "units": {UNIT: [odd_answer()]}}
        Path(name, "replies.jsonl").write_text(json.dumps(row), "utf-8")
        return command("score --data wild-mini --replies replies.jsonl --out runs", Path(name))


def odd_record(line: str) -> str:
    """A conversation whose call has an unknown key, given to a command that may leave it out, but says so."""
    with TemporaryDirectory() as name:
        row = RECORDS["openai"](TALK)
        row["messages"][2]["tool_calls"] = [odd_call()]
        Path(name, "records.jsonl").write_text(json.dumps(row), "utf-8")
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(name)
            raise WildtoolError(CliRunner().invoke(app, line.split()).output)


def odd_tools(read: Callable[[Path], object]) -> object:
    with TemporaryDirectory() as name:
        path = Path(name, "tools.json")
        path.write_text(json.dumps([{"name": "age_of", "schemer": AGE.schema}]), "utf-8")
        return read(path)


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.name)
def test_a_key_that_no_shape_has_is_named_at_every_door(door: Door):
    with pytest.raises(WildtoolError, match=r"`(argz|schemer)`"):
        UNKNOWN[door.name]()


ODD_TOOL = {"name": "age_of", "schemer": AGE.schema}
ODD_ROW = {"messages": [{"role": "user", "content": "?"}, odd_answer()]}
LINES = {
    "score --replies": (
        {"item": ITEM, "model": "m", "units": {UNIT: [odd_answer()]}},
        "score --data wild-mini --replies FILE --out runs",
    ),
    "review import": (ODD_ROW, "review import FILE --from openai -o drafts.jsonl"),
    "catalogue": (ODD_TOOL, "catalogue FILE"),
    "generate --tools": (ODD_TOOL, "generate --model procedural --tools FILE --sessions 1 -o out.jsonl"),
}
"""By door what it refuses, and its command."""


@pytest.mark.parametrize("door", LINES)
@pytest.mark.parametrize(
    ("name", "rows", "place"), [("odd.jsonl", 1, "odd.jsonl:1:"), ("odd.jsonl", 2, "odd.jsonl:2:")]
)
def test_the_place_in_a_file_of_lines_is_its_line(door: str, name: str, rows: int, place: str):
    row, line = LINES[door]
    blank = "\n" * (rows - 1)
    with TemporaryDirectory() as folder:
        Path(folder, name).write_text(blank + json.dumps(row) + "\n", "utf-8")
        with pytest.raises(WildtoolError) as caught:
            command(line.replace("FILE", name), Path(folder))
    assert place in "".join(str(caught.value).split("\n"))


@pytest.mark.parametrize("door", ["review import", "catalogue", "generate --tools"])
def test_the_place_in_a_file_of_one_document_is_the_file(door: str):
    row, line = LINES[door]
    with TemporaryDirectory() as folder:
        Path(folder, "odd.json").write_text(json.dumps(row), "utf-8")
        with pytest.raises(WildtoolError, match=r"odd\.json: "):
            command(line.replace("FILE", "odd.json"), Path(folder))


def table() -> str:
    """The table of the page: shapes by door, with a number for each reason of a refusal."""
    reasons: dict[str, int] = {}
    rows: list[str] = []
    shapes = dict.fromkeys(shape for door in DOORS for shape in door.shapes)
    for shape in shapes:
        cells: list[str] = []
        for door in DOORS:
            if shape not in door.shapes:
                cells.append("")
            elif shape in door.refused:
                number = reasons.setdefault(door.refused[shape].reason, len(reasons) + 1)
                cells.append(f"no ({number})")
            else:
                cells.append("yes")
        rows.append(f"| {shape} | {' | '.join(cells)} |")
    head = f"| shape | {' | '.join(door.name for door in DOORS)} |"
    notes = [f"{number}. {reason[0].upper()}{reason[1:]}." for reason, number in reasons.items()]
    return "\n".join([head, "|---" * (len(DOORS) + 1) + "|", *rows, "", *notes])


def test_the_page_has_the_table_of_this_test():
    assert table() in PAGE.read_text("utf-8"), f"write it into {PAGE.name}:\n{table()}"
