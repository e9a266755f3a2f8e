"""RoTBench's rules: how each profile reads a reply, how far a call goes right, and the mistakes that are planted."""

import json
from typing import Any

import pytest

from benchmarks.rotbench.reply_build import calling
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


def test_an_episode_without_a_reply_has_no_output() -> None:
    item = Item("x", ("clean",), {"clean": record(HOURS)})
    rules = ROTBENCH.rules("fixed")
    for reply in ([], [{"content": None}]):
        episode: Any = rules.episode(item, "clean")
        for message in reply:
            episode.advance(message)
        assert rules.verdict(episode, item, "clean").error == "No Output Error"


# Mistakes --------------------------------------------------------------------------------------------


def text(name: str, arguments: dict[str, Any]) -> str:
    return f"Thought:\nAction: {name}\nAction Input: {json.dumps(arguments, ensure_ascii=False)}"
