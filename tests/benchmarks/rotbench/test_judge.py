"""RoTBench's rules: how each profile reads a reply, how far a call goes right, and the mistakes that are planted."""

import json
from typing import Any

import pytest

from benchmarks.rotbench.reply_build import calling
from wildtool.benchmark import Mutant
from wildtool.benchmarks.rotbench import ROTBENCH
from wildtool.benchmarks.rotbench.data import RotRecord, parse_answer
from wildtool.benchmarks.rotbench.judge import (
    EvaluatorError,
    UnreadableError,
    read_by_lines,
    read_leniently,
    read_strictly,
)
from wildtool.types import Item


def tool(name: str, *parameters: str, required: tuple[str, ...] = ()) -> dict[str, Any]:
    properties = {parameter: {"type": "string"} for parameter in parameters}
    return {"name": name, "parameters": {"properties": properties, "required": list(required)}}


TOOLS = (
    tool("hours", "place", "day", required=("place",)),
    tool("joke"),
    tool("ask_to_user", "question"),
    tool("finish", "answer"),
)


def record(*answers: str, tools: tuple[dict[str, Any], ...] = TOOLS) -> RotRecord:
    turns = (("system", "S"), ("user", "U"), ("assistant", "A"), ("function", "F"))
    return RotRecord("clean", "none", "third", "PL", turns, tools, tuple(map(parse_answer, answers)))


HOURS = calling("hours", place="library", day="None")


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ('{"a":' * 100_000 + "1" + "}" * 100_000, "RecursionError"),
        ('{"a": ' + "9" * 5_000 + "}", "ValueError"),
    ],
)
def test_what_no_parser_takes_raises_in_the_published_ones_and_is_unreadable_under_fixed(
    value: str, error: str
) -> None:
    text = f"Action: f\nAction Input: {value}"
    for read in (read_leniently, read_strictly):
        with pytest.raises(EvaluatorError, match=f"^{error}$"):
            read(text)
    with pytest.raises(UnreadableError, match=rf"^the action input is not JSON \({error}\)$"):
        read_by_lines(text)


RENAMED = (tool("x"), tool("4sk", "question"), tool("f1nish", "answer"))


def test_an_episode_without_a_reply_has_no_output() -> None:
    item = Item("x", ("clean",), {"clean": record(HOURS)})
    rules = ROTBENCH.rules("fixed")
    for reply in ([], [{"content": None}]):
        episode: Any = rules.episode(item, "clean")
        for message in reply:
            episode.advance(message)
        assert rules.verdict(episode, item, "clean").error == "No Output Error"


# Mistakes --------------------------------------------------------------------------------------------


def planted(kind: str, note: str, content: str | None, unit: str = "heavy-tools") -> Mutant:
    return Mutant(unit, kind, ({"role": "assistant", "content": content},), note)


def text(name: str, arguments: dict[str, Any]) -> str:
    return f"Thought:\nAction: {name}\nAction Input: {json.dumps(arguments, ensure_ascii=False)}"


def test_an_answer_of_free_values_alone_and_without_other_tools_has_fewer_mistakes() -> None:
    tools = (tool("hours", "day"), tool("ask_to_user"), tool("finish"))
    item = Item("x", ("clean",), {"clean": record(calling("hours", day="None"), tools=tools)})
    assert [mutant.kind for mutant in ROTBENCH.rules("fixed").mutants(item)] == [
        "unknown tool",
        "extra parameter",
        "only words",
        "cut off",
        "no output",
    ]


def test_a_mistake_that_lives_and_an_answer_that_is_refused_have_their_quirk() -> None:
    rules = ROTBENCH.rules("toleap")
    units = {
        "ask": record(calling("4sk", question="a"), tools=RENAMED),
        "finish": record(calling("f1nish", answer="a"), tools=RENAMED),
        "other": record(calling("joke"), HOURS),
        "empty": record(calling("joke"), calling("x")),
    }
    item = Item("x", tuple(units), units)
    told = "Q2: what is said to the user is not compared"
    noise = "Q3: noise has named this tool like one whose values are not compared"
    cases = [
        ("ask", "empty value", told),
        ("finish", "other value", told),
        ("other", "other value", noise),
        ("other", "empty value", noise),
        ("other", "cut off", ""),
    ]
    for unit, kind, reason in cases:
        assert rules.explain(item, planted(kind, "", "", unit)) == reason, (unit, kind)
    assert [rules.explain_gold(item, unit) for unit in units] == [
        "",
        "",
        "",
        "Q1: the accepted answer has an empty input, which counts as unreadable",
    ]
