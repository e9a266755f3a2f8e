"""`data stats` with several data, and what tools are about by their own words."""

import csv
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from wildtool.cli import app
from wildtool.types import Tool
from wildtool_data.prepare.tool_domains import UNDECIDED, domain_by_words, domain_metrics

CASES = [
    {"id": "a", "messages": [{"role": "user", "content": "Two, please."}], "expect": [
        {"name": "weather", "arguments": {"city": "Oslo"}}, {"name": "weather", "arguments": {"city": "Bern"}}]},
    {"id": "b", "messages": [{"role": "user", "content": "Thanks!"}], "expect": "none"},
]  # fmt: skip


def type_(*words: str) -> Result:
    return CliRunner().invoke(app, ["data", "stats", *words], prog_name="wildtool")


def tool(name: str, description: str = "") -> Tool:
    return {"type": "function", "function": {"name": name, "description": description}}


def cases(folder: Path) -> Path:
    shown = [{**tool("weather"), "function": {"name": "weather", "parameters": {"type": "object", "properties": {
        "city": {"type": "string"}}}}}]  # fmt: skip
    file = folder / "cases.jsonl"
    file.write_text("".join(json.dumps({**case, "tools": shown}) + "\n" for case in CASES), "utf-8")
    return file


@pytest.mark.long
def test_benchmarks_are_compared_by_what_their_gold_answers_do(tmp_path: Path):
    done = type_("wild-mini", str(cases(tmp_path)), "-o", str(tmp_path / "out"))
    assert done.exit_code == 0, done.output
    rows = csv.DictReader((tmp_path / "out" / "comparison.csv").read_text("utf-8").splitlines())
    found = {(row["data"], row["number"]): (row["numerator"], row["denominator"]) for row in rows}
    assert found["wild-mini", "contextual"] == ("96", "128")
    assert found["wild-mini", "hidden information"] == ("96", "128")
    assert found["wild-mini", "transitions"] == ("72", "96")
    shapes = [float(found["wild-mini", shape][0]) for shape in ("parallel", "sequential", "mixed")]
    assert shapes == [11, 10, 11]
    assert found["cases.jsonl", "parallel"] == ("1", "2")
    assert found["cases.jsonl", "no call"] == ("1", "2")
    assert found["cases.jsonl", "arguments per call"] == ("2", "2")
    assert (tmp_path / "out" / "comparison.svg").exists()


def test_what_data_do_not_say_has_no_number(tmp_path: Path):
    done = type_("wild-mini", str(cases(tmp_path)), "--json")
    numbers = {each["name"]: each for each in json.loads(done.stdout)["cases.jsonl"]}
    assert numbers["hidden information"]["value"] is None
    assert numbers["transitions"]["value"] is None
    assert numbers["no call"]["value"] == 0.5


@pytest.mark.parametrize(
    ("words", "said"),
    [(("wild-mini", "wild-mini"), "once"), (("wild-mini", "-o", "x"), "another file or benchmark")],
)
def test_a_comparison_needs_different_data(words: tuple[str, ...], said: str):
    done = type_(*words)
    assert done.exit_code == 2
    assert said in done.output


def test_data_without_domains_have_tools_by_their_own_words():
    done = type_("wild-mini")
    assert done.exit_code == 0
    assert "by the tools' own words" in done.output and UNDECIDED in done.output


def test_a_word_of_the_name_counts_more_than_one_of_the_description():
    assert domain_by_words(tool("getWeatherForecast", "For a city")) == ("Location", "weather")
    assert domain_by_words(tool("lookup", "Weather at a place, by forecast")) == ("Location", "weather")


def test_a_tool_whose_words_fit_two_alike_is_undecided():
    assert domain_by_words(tool("weather_song")) is None


@given(st.text(max_size=30))
def test_a_tool_without_a_known_word_is_never_guessed(name: str):
    known = domain_by_words(tool(name))
    counts = {metric.name: metric.numerator for metric in domain_metrics([tool(name)])}
    assert counts.get(UNDECIDED, 0) == (known is None)
