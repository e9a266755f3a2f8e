"""Replies from elsewhere with calls in their texts: read in the format that is named, or in the one that they are in."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from wildtool.benchmarks.wildtoolbench import WILD_MINI
from wildtool.cli import app
from wildtool.episode import gold_replies
from wildtool.models.prompted import message_as_text
from wildtool.tool_formats import CALL_FORMATS

Message = dict[str, Any]
Written = Callable[[int, Message], Message]


def replies_file(path: Path, written: Written, items: int = 2) -> Path:
    """The gold replies of the first items of wild-mini, each as `written` gives it for its place."""
    rules, place = WILD_MINI.rules("official"), 0
    lines: list[str] = []
    for item in list(WILD_MINI.load(WILD_MINI.data.locate(None)))[:items]:
        tasks: list[list[Message]] = []
        for unit in item.units:
            tasks.append([])
            for reply in gold_replies(rules.episode(item, unit), "parallel") or ():
                place += bool(reply.get("tool_calls"))
                tasks[-1].append(written(place, {"role": "assistant", **reply}))
        lines.append(json.dumps({"session": item.id, "model": "m", "tasks": tasks}))
    path.write_text("\n".join(lines))
    return path


def in_formats(*names: str) -> Written:
    """Calls in the texts, in these formats by turns."""
    return lambda place, reply: message_as_text(reply, CALL_FORMATS[names[place % len(names)]])


def score(*words: object) -> tuple[int, str]:
    ended = CliRunner().invoke(app, ["score", *map(str, words)], env={"COLUMNS": "300"})
    return ended.exit_code, " ".join(ended.output.split())


def scored(replies: Path, *words: str) -> str:
    status, text = score("--data", "wild-mini", "--replies", replies, *words)
    assert status == 0, text
    return text


def correct(text: str) -> int:
    return int(re.findall(r"accuracy: task [^/]*?(\d+)/8", text)[0])


COMMON = ("hermes", "mistral", "llama3-json", "pythonic", "qwen3-coder", "react")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in COMMON else pytest.mark.long) for name in CALL_FORMATS]
)
def test_replies_in_any_format_are_read_in_it_by_name_and_by_auto(name: str, tmp_path: Path):
    file = replies_file(tmp_path / "replies.jsonl", in_formats(name))
    before = scored(file)
    assert correct(before) < 8
    # The first remedy that is named reads what is recorded.
    (command,) = re.findall(r"`wildtool (score [^`]+)`", before)
    assert correct(score(*command.split()[1:])[1]) == 8
    after = scored(file, "--tool-format", name)
    assert correct(after) == 8 and "no format read" not in after
    assert correct(scored(file, "--tool-format", "auto")) == 8


def test_auto_names_the_format_that_it_takes(tmp_path: Path):
    text = scored(replies_file(tmp_path / "r.jsonl", in_formats("mistral")), "--tool-format", "auto")
    assert "--tool-format auto is mistral" in text and "replies read again as mistral" in text


def test_the_record_of_kept_replies_stays_as_it_was(tmp_path: Path):
    file = replies_file(tmp_path / "replies.jsonl", in_formats("hermes"))
    assert correct(scored(file, "--out", str(tmp_path / "runs"))) < 8
    run = tmp_path / "runs" / "m"
    held = {path.name: path.read_bytes() for path in run.iterdir()}
    status, text = score(run, "--tool-format", "hermes")
    assert (status, correct(text)) == (0, 8) and "replies read again as hermes" in text
    assert {path.name: path.read_bytes() for path in run.iterdir()} == held


def test_a_format_that_reads_half_says_which_reads_the_rest(tmp_path: Path):
    file = replies_file(tmp_path / "replies.jsonl", in_formats("hermes", "react"))
    text = scored(file, "--tool-format", "hermes")
    assert 0 < correct(text) < 8
    assert "that hermes did not read" in text and "--tool-format react` reads them" in text


def test_auto_is_refused_where_two_formats_read_as_many_calls_that_differ(tmp_path: Path):
    def two(place: int, reply: Message) -> Message:
        # One call in each format, whatever the gold has.
        calls = list(reply.get("tool_calls") or ())[:1]
        names = ("hermes", "react")
        if place > 2:
            return {"role": "assistant", "content": "Well."}
        return in_formats(*names)(place, {**reply, "tool_calls": calls} if calls else reply)

    status, text = score(
        "--data", "wild-mini", "--replies", replies_file(tmp_path / "r.jsonl", two), "--tool-format", "auto"
    )
    assert status == 2 and "hermes and react read 1 call each" in text


def native(place: int, reply: Message) -> Message:
    return reply


def plain(place: int, reply: Message) -> Message:
    return {"role": "assistant", "content": "I cannot."}


@pytest.mark.parametrize(
    ("written", "said"), [(native, "have native calls"), (plain, "has a call in hermes")]
)
def test_where_nothing_is_to_be_read_it_is_said(written: Written, said: str, tmp_path: Path):
    file = replies_file(tmp_path / "replies.jsonl", written)
    text = scored(file, "--tool-format", "hermes")
    assert "nothing was read again" in text and said in text
    assert correct(text) == correct(scored(file))
    status, text = score("--data", "wild-mini", "--replies", file, "--tool-format", "auto")
    assert status == 2 and "no reply has a call in its text" in text
