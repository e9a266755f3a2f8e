"""What came between a model and its numbers is said wherever they are shown, and failed calls decide nothing."""

import csv
import io
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from e2e.command import playing, wildtool
from faults.server import FAILURES, Answer, Behaviour, Call, FaultServer, http
from wildtool.advice import Advice

FEW = 4
"""Items of the embedded set; each has four units."""


def replies(finish: str = "stop", after: int = 1 << 30, served: int = 1, **message: Any) -> Behaviour:
    """One and the same message.

    Args:
        after: number of calls after which the server is dead.
        served: number of models that take turns behind the name.
    """
    asked: list[Call] = []

    def behave(call: Call) -> Answer:
        asked.append(call)
        if len(asked) > after:
            return FAILURES["500"]
        choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
        body = {
            "id": "1", "object": "chat.completion", "model": f"m-{len(asked) % served}", "choices": [choice],
            "usage": {"prompt_tokens": 3, "completion_tokens": 1},
        }  # fmt: skip
        return Answer(http(200, json.dumps(body).encode()))

    return behave


def calling(call: Call) -> Answer:
    """A call of the first tool, written as text."""
    name = call.body["tools"][0]["function"]["name"]
    text = f'<tool_call>\n{{"name": "{name}", "arguments": {{}}}}\n</tool_call>'
    return replies(content=text)(call)


@pytest.fixture
async def server() -> AsyncIterator[FaultServer]:
    async with FaultServer("ok") as server:
        yield server


async def play(server: FaultServer, behave: Behaviour, out: Path, *more: object, limit: int = FEW) -> str:
    """Runs the embedded set against the server; gives what was printed, on one line."""
    server.behave = behave
    ended = await wildtool(*playing(server, out, *more, limit=limit), cwd=out.parent)
    assert ended.status in (0, 3), ended
    return " ".join((ended.err + ended.out).split())


async def as_json(folder: Path, *words: object) -> Any:
    return json.loads((await wildtool(*words, "--json", cwd=folder)).out)


async def test_a_server_that_dies_after_a_third_decides_no_comparison(server: FaultServer, tmp_path: Path):
    await play(server, replies(content="Fine."), tmp_path / "whole", limit=32)
    await play(server, replies(content="Fine.", after=43), tmp_path / "dead", limit=32)
    ended = await wildtool("compare", "whole", "dead", cwd=tmp_path, COLUMNS="80")
    missing = (await as_json(tmp_path, "show", "dead"))["runs"][0]["evidence"]["failed"]
    assert missing > 64
    assert f"no finding: {missing} of 128 units without a verdict" in " ".join(ended.out.split())
    (found,) = (await as_json(tmp_path, "compare", "whole", "dead"))["comparisons"]
    assert (found["finding"], found["p_holm"], found["whole"]["missing"]) == ("no finding", 1.0, missing)
    assert found["flips"] == []
    for line in ended.out.splitlines():
        assert len(line) <= 80, line


async def test_every_table_and_file_of_a_run_with_failed_calls_has_the_range_that_they_leave_open(
    server: FaultServer, tmp_path: Path
):
    await play(server, replies(content="Fine.", after=10), tmp_path / "dead-7b")
    (run,) = (await as_json(tmp_path, "show", "dead-7b"))["runs"]
    number = run["metrics"][0]
    assert (number["low"], number["high"]) == (None, None)
    possible = f"{100 * number['least']:.1f} to {100 * number['most']:.1f}"
    (tmp_path / "sizes.csv").write_text("model,size\nm,7\n")
    await wildtool(
        "run", "wild-mini", "-q", "--model", "baseline/chat", "--limit", FEW, "-o", "chat", cwd=tmp_path
    )
    curve = ("compare", "dead-7b", "--curve", "size", "--sizes", "sizes.csv", "-o", "drawn")
    for words in (("show", "dead-7b"), ("compare", "dead-7b", "chat"), curve):
        assert possible in (await wildtool(*words, cwd=tmp_path)).out, words
    shown = (await wildtool("show", "dead-7b", "--csv", cwd=tmp_path)).out
    for text in (shown, (tmp_path / "drawn/model_sizes.csv").read_text()):
        first = next(csv.DictReader(io.StringIO(text)))
        assert (float(first["least"]), float(first["most"])) == (number["least"], number["most"])


async def test_a_finding_stands_that_failed_calls_could_not_reverse(server: FaultServer, tmp_path: Path):
    assert (
        await wildtool("run", "wild-mini", "-q", "--model", "baseline/gold", "--out", "gold", cwd=tmp_path)
    ).status == 0
    await play(server, replies(content="Fine.", after=160), tmp_path / "dead", limit=32)
    ended = await wildtool("compare", "dead", "gold", cwd=tmp_path)
    assert "units without a verdict would be." in " ".join(ended.out.split())
    assert (await as_json(tmp_path, "compare", "dead", "gold"))["comparisons"][0]["finding"] == "better"


async def test_calls_written_as_text_are_said_at_once_and_below_the_table(
    server: FaultServer, tmp_path: Path
):
    said = await play(server, calling, tmp_path / "m")
    assert "writes <tool_call> as text: `wildtool score" in said
    assert (
        "have calls written as text that no format read; 2 units with them count as right: `wildtool score"
        in said
    )
    (run,) = (await as_json(tmp_path, "show", "m"))["runs"]
    assert run["evidence"]["unread"] == 4 * FEW
    (option,) = [remark["option"] for remark in run["trust"]]
    assert "--tool-format hermes` reads them" in option
    assert Advice.RUN_IN_FORMAT.format(format="hermes") in option
    assert run["metrics"][0]["evidence"]["unread"] == 4 * FEW


async def test_the_named_option_corrects_it(server: FaultServer, tmp_path: Path):
    def calling_again(call: Call) -> Answer:
        return calling(Call({"tools": [{"function": {"name": "get_weather"}}]}, call.digest, 0, "", 0))

    said = await play(server, calling_again, tmp_path / "m", "--tool-format", "hermes")
    assert "as text that no format read" not in said and "no call in" not in said


@pytest.mark.long
@pytest.mark.parametrize(
    ("behave", "sentence", "option"),
    [
        (replies("length", content="It is"), "replies cut off at a token limit", "--max-tokens"),
        (replies(content=""), "replies empty", "wildtool view"),
        (replies("content_filter", content="It"), "replies filtered by the provider", ""),
        (replies(content="Fine.", served=2), "2 models answered (m-", ""),
        (
            replies(content="Fine."),
            "replies, although tools were offered",
            Advice.RUN_IN_AUTO_FORMAT,
        ),
    ],
)
async def test_what_a_server_does_to_replies_is_said_with_what_corrects_it(
    server: FaultServer, tmp_path: Path, behave: Behaviour, sentence: str, option: str
):
    said = await play(server, behave, tmp_path / "m")
    assert sentence in said and option in said.partition(sentence)[2]
    remarks = (await as_json(tmp_path, "show", "m"))["runs"][0]["trust"]
    assert any(sentence in remark["text"] and option in remark["option"] for remark in remarks)


async def test_nothing_is_said_of_a_run_that_went_well(tmp_path: Path):
    words = ("run", "wild-mini", "--model", "baseline/gold", "--limit", FEW, "--out", "gold")
    assert (await wildtool(*words, cwd=tmp_path)).status == 0
    (run,) = (await as_json(tmp_path, "show", "gold"))["runs"]
    assert run["trust"] == []
    assert run["evidence"] == {"units": 16, "failed": 0, "unplayed": 0, "cut_off": 0, "unread": 0}


async def test_every_place_that_shows_numbers_marks_an_incomplete_run(server: FaultServer, tmp_path: Path):
    await play(server, replies(content="Fine.", after=9), tmp_path / "m")
    await play(server, replies(content="Fine."), tmp_path / "n")
    missing = "of 16 units failed (http 500)"
    for words in (
        ("show", "m", "n"),
        ("show", "m", "--all"),
        ("show", "m", "--group", "task type"),
        ("compare", "n", "m"),
        ("report", "m", "n", "--format", "md"),
    ):
        out = " ".join((await wildtool(*words, cwd=tmp_path)).out.split())
        assert missing in out and "(incomplete)" in out, words
    (row, *_) = csv.DictReader(io.StringIO((await wildtool("show", "m", "--csv", cwd=tmp_path)).out))
    assert (row["units"], row["failed"] != "0") == ("16", True)
    (row, *_) = csv.DictReader(io.StringIO((await wildtool("compare", "n", "m", "--csv", cwd=tmp_path)).out))
    assert (row["finding"], row["missing"] != "0") == ("no finding", True)
    assert (
        await wildtool("report", "m", "n", "--format", "latex", "--out", "t.tex", cwd=tmp_path)
    ).status == 3
    assert "(incomplete)" in (tmp_path / "t.tex").read_text()
    assert (await wildtool("export", "m", "--format", "hf-card", "--out", "card", cwd=tmp_path)).status == 0
    assert "(incomplete)" in (tmp_path / "card" / "README.md").read_text()


async def test_a_run_has_no_rank_while_anything_is_missing_nor_one_on_fewer_items(
    server: FaultServer, tmp_path: Path
):
    await play(server, replies(content="Fine.", after=9), tmp_path / "failed")
    await play(server, replies(content="Fine."), tmp_path / "whole")
    await play(server, replies(content="Fine."), tmp_path / "fewer", limit=2)
    out = (await wildtool("report", "failed", "whole", "fewer", "--format", "md", cwd=tmp_path)).out
    first = out[: out.index("<details>")]
    ranked = [line for line in first.splitlines() if line.startswith(("| 1 ", "| =1 "))]
    assert len(ranked) == 1 and "whole" in ranked[0]


async def test_a_context_that_overflows_names_what_corrects_it(server: FaultServer, tmp_path: Path):
    asked: list[Call] = []

    def behave(call: Call) -> Answer:
        asked.append(call)
        if len(asked) < 4:
            return replies(content="Fine.")(call)
        words = "This model's maximum context length is 2048 tokens. However, you requested 4000 tokens."
        return Answer(http(400, json.dumps({"error": {"message": words}}).encode()))

    said = await play(server, behave, tmp_path / "m")
    advice = said.partition("count as not right")[2]
    assert Advice.LONGER_CONTEXT in advice and Advice.FEWER_TOKENS in advice


async def test_calls_that_a_run_left_in_texts_are_read_again_offline(server: FaultServer, tmp_path: Path):
    assert "have calls written as text that no format read" in await play(server, calling, tmp_path / "m")
    table = (tmp_path / "m" / "verdicts-official.parquet").read_bytes()
    asked = server.received
    ended = await wildtool("score", "m", "--tool-format", "hermes", cwd=tmp_path, COLUMNS="80")
    out = " ".join(ended.out.split())
    assert ended.status == 0, ended.err
    assert "profile official, replies read again as hermes" in out
    assert "that no format read" not in out
    assert "not played" in out and Advice.RUN_IN_FORMAT.format(format="hermes") in out
    assert "these scores are not saved" in ended.err
    assert (tmp_path / "m" / "verdicts-official.parquet").read_bytes() == table
    assert server.received == asked
    found = await wildtool("score", "m", "--tool-format", "auto", cwd=tmp_path)
    assert found.status == 0 and "--tool-format auto is hermes" in found.err


async def test_a_format_that_is_unknown_is_refused_with_those_that_are_known(tmp_path: Path):
    ended = await wildtool("score", "m", "--tool-format", "hermit", cwd=tmp_path)
    assert ended.status == 2 and "hermes" in ended.err


async def test_any_benchmark_with_gold_calls_says_whether_the_model_calls_at_all(
    server: FaultServer, tmp_path: Path
):
    await wildtool("new", "benchmark", "my-benchmark", cwd=tmp_path)
    file = tmp_path / "my_benchmark.py"
    run = ("--model", "m", "--base-url", server.base_url, "--out", "run")
    server.behave = replies(content="Fine.")
    ended = await wildtool("run", file, *run, cwd=tmp_path)
    assert "no call in" in " ".join(ended.out.split()), ended
    shown = await as_json(tmp_path, "show", "run", "--group", "calls")
    rates = {metric["name"]: metric["value"] for metric in shown["runs"][0]["metrics"]}
    assert rates == {
        "called where a call was expected": 0,
        "first call right where a call was expected": 0,
        "text where a call was expected": 1,
    }


async def test_a_model_that_never_calls_is_named_where_its_reasoning_is_asked_first(
    server: FaultServer, tmp_path: Path
):
    text = await play(server, replies(content="Fine."), tmp_path / "run", "--rationale", "own", limit=1)
    assert "although tools were offered" in text
