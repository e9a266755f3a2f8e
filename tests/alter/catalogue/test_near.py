"""Near duplicates: other names, other words, and a reason why they are of no use."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.alter.catalogue.near import copies_per_tool, near_copies, valid_name
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


@given(st.text(max_size=90))
def test_any_name_becomes_a_valid_one(name: str):
    assert VALID.fullmatch(valid_name(name))
