"""Near duplicates: other names, other words, and a reason why they are of no use."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.alter.distractors.near import _renamed, _reworded, copies_per_tool, near_copies, valid_name
from wildtool.alter.noise.renames import LONGEST_NAME
from wildtool.alter.noise.tools import spare_tools

VALID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def tool(name: str, text: object = "Gets the weather of a city.") -> dict[str, Any]:
    return {
        "type": "function",
        "function": {"name": name, "description": text, "parameters": {"type": "object"}},
    }


@given(
    name=st.text(min_size=1, max_size=90) | st.from_regex(VALID, fullmatch=True),
    text=st.text() | st.none() | st.integers(),
    lang=st.sampled_from(["en", "zh"]),
)
def test_copies_of_any_tool_have_valid_names_of_their_own(name: str, text: object, lang: str):
    copies = list(near_copies(tool(name, text), lang))
    names = [copy["function"]["name"] for copy in copies]
    assert len(copies) == copies_per_tool()
    assert all(VALID.fullmatch(each) for each in names)
    assert name not in names


@pytest.mark.parametrize("name", ["getWeather", "get_weather", "get-weather", "weather", "x" * LONGEST_NAME])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_no_two_copies_are_alike(name: str, lang: str):
    copies = list(near_copies(tool(name), lang))
    assert len({copy["function"]["name"].lower() for copy in copies}) == copies_per_tool()
    assert len({copy["function"]["description"] for copy in copies}) == copies_per_tool()


def test_a_copy_has_the_style_of_the_name_and_the_parameters_of_the_tool():
    names = {copy["function"]["name"] for copy in near_copies(tool("getWeather"), "en")}
    assert {"getWeatherSandbox", "fetchWeatherSandbox", "sandboxFetchWeather", "dryRunFetchWeather"} <= names
    names = {copy["function"]["name"] for copy in near_copies(tool("get_weather"), "en")}
    assert {"get_weather_sandbox", "fetch_weather_dry_run"} <= names
    original = spare_tools("en")[0]
    for copy in near_copies(original, "en"):
        assert copy["function"]["parameters"] == original["function"]["parameters"]


def test_a_copy_says_in_other_words_what_the_tool_does_and_why_it_cannot():
    first = next(near_copies(tool("getWeather"), "en"))
    assert first["function"]["description"].startswith("Fetches the weather of a city. Runs in a sandbox")


# With the words behind, with another verb too, with the words before.
@pytest.mark.parametrize(
    ("name", "copies"),
    [
        ("getWeather", ["getWeatherDryRun", "fetchWeatherDryRun", "dryRunFetchWeather"]),
        ("HTTPGet2", ["http_get_2_dry_run", "do_http_get_2_dry_run", "dry_run_do_http_get_2"]),
        ("get_weather", ["get_weather_dry_run", "fetch_weather_dry_run", "dry_run_fetch_weather"]),
        ("get-weather", ["get-weather-dry-run", "fetch-weather-dry-run", "dry-run-fetch-weather"]),
        ("a-b_c", ["a_b_c_dry_run", "do_a_b_c_dry_run", "dry_run_do_a_b_c"]),
        ("query", ["query_dry_run", "look_up_dry_run", "dry_run_look_up"]),
        ("a getWeather", ["a_get_weather_dry_run", "do_a_get_weather_dry_run", "dry_run_do_a_get_weather"]),
        ("__", ["tool_dry_run", "do_tool_dry_run", "dry_run_do_tool"]),
        ("--", ["---dry-run", "do----dry-run", "dry-run-do---"]),
        ("x" * 56, ["x" * 56 + "_dry_run", *(f"{'x' * 54}_{frame}_dry_run" for frame in (1, 2))]),
        ("x" * 57, [f"{'x' * 54}_{frame}_dry_run" for frame in range(3)]),
    ],
)
def test_a_copy_is_called_by_the_words_of_its_restriction(name: str, copies: list[str]):
    assert [_renamed(name, ("dry", "run"), frame) for frame in range(3)] == copies


def test_a_copy_is_described_in_other_words_of_the_same_case():
    text = "Returns the list; gets a Thing. 查询信息 widget"
    assert _reworded(text) == "Gives back the show; fetches a Thing. 检索资料 widget"


def test_a_tool_without_a_name_has_no_copies():
    assert list(near_copies({"type": "function", "function": {"description": "x"}}, "en")) == []


def test_a_name_keeps_what_endpoints_take():
    names = ["a b", "查", "_a_", "x" * 70, "a..b-c", ""]
    assert [valid_name(name) for name in names] == ["a_b", "tool", "a", "x" * LONGEST_NAME, "a_b-c", "tool"]


@given(st.text(max_size=90))
def test_any_name_becomes_a_valid_one(name: str):
    assert VALID.fullmatch(valid_name(name))
