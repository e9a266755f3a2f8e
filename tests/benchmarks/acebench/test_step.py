"""What one reply is worth for training, in calls, messages and episodes of ACEBench."""

# ruff: noqa: E501 - each reason stands on one line

from typing import Any

import pytest

from benchmarks.acebench.reply_build import item, normal, special, tool
from benchmarks.acebench.test_whole_traces import BOTH, LOGIN, MISSING, TEXT, TWO, WIFI, episode
from wildtool.benchmark import StepCheck
from wildtool.benchmarks.acebench import ACEBENCH
from wildtool.benchmarks.acebench.episode.base import END_MARK
from wildtool.types import Item


@pytest.mark.parametrize(
    ("of", "profile", "messages", "expected"),
    [
        (
            TWO,
            "official",
            ["[f(a=1, b='x'), f(a=2, b='y'), g()]"],
            StepCheck(
                components={"format": 1.0, "name": 1.0, "arguments": 0.0}, fault="no arguments", progress=None
            ),
        ),
        (
            TWO,
            "fixed",
            ["[f(a=1, b='x'), f(a=2, b='y'), g()]"],
            StepCheck(components={"format": 1.0, "name": 1.0, "arguments": 1.0}, fault=None, progress=None),
        ),
        (
            TWO,
            "official",
            ["words"],
            StepCheck(components={"format": 0.0}, fault="not a list of calls but Name", progress=None),
        ),
        (
            TWO,
            "fixed",
            ["words"],
            StepCheck(components={"format": 0.0}, fault="not a call but Name", progress=None),
        ),
        (
            TWO,
            "official",
            ["[h(), g(), g()]"],
            StepCheck(components={"format": 1.0, "name": 0.0}, fault="not expected: 'h'", progress=None),
        ),
        (
            TWO,
            "fixed",
            ["[h(), g(), g()]"],
            StepCheck(
                components={"format": 1.0, "name": 0.0}, fault="expected 2 calls of 'f', got 0", progress=None
            ),
        ),
        (
            TWO,
            "official",
            ["[f(a=1, b='x'), g()]"],
            StepCheck(
                components={"format": 1.0, "name": 0.0}, fault="expected 3 calls, got 2", progress=None
            ),
        ),
        (
            TWO,
            "fixed",
            ["[f(a=1, b='x'), g()]"],
            StepCheck(
                components={"format": 1.0, "name": 0.0}, fault="expected 3 calls, got 2", progress=None
            ),
        ),
        (
            normal({"f": {"b": "x"}}, functions=(tool(b=TEXT),)),
            "official",
            ["[f(b='q')]"],
            StepCheck(
                components={"format": 1.0, "name": 1.0, "arguments": 0.0},
                fault="argument b: 'q' does not contain 'x'",
                progress=None,
            ),
        ),
        (
            normal({"f": {"b": "x"}}, functions=(tool(b=TEXT),)),
            "fixed",
            ["[f(b='q')]"],
            StepCheck(
                components={"format": 1.0, "name": 1.0, "arguments": 0.0},
                fault="b: 'q' does not mean 'x' (short text)",
                progress=None,
            ),
        ),
        (
            normal({"f": {"b": "x"}}, functions=(tool(b=TEXT),)),
            "official",
            ["[f(b=1)]"],
            StepCheck(
                components={"format": 1.0, "name": 1.0, "arguments": 0.0},
                fault="argument b: expected string like 'x', got 1",
                progress=None,
            ),
        ),
        (
            normal({"f": {"b": "x"}}, functions=(tool(b=TEXT),)),
            "fixed",
            ["[f(b=1)]"],
            StepCheck(
                components={"format": 1.0, "name": 1.0, "arguments": 0.0},
                fault="b: 1 is not 'x' (type)",
                progress=None,
            ),
        ),
        (
            normal({"f": {"b": "x"}}, functions=(tool(b=TEXT),)),
            "official",
            ["[f()]"],
            StepCheck(
                components={"format": 1.0, "name": 1.0, "arguments": 0.0}, fault="no arguments", progress=None
            ),
        ),
        (
            normal({"f": {"b": "x"}}, functions=(tool(b=TEXT),)),
            "fixed",
            ["[f()]"],
            StepCheck(
                components={"format": 1.0, "name": 1.0, "arguments": 0.0},
                fault="b: 'x' is missing",
                progress=None,
            ),
        ),
        (
            special(f=["a"]),
            "official",
            [MISSING],
            StepCheck(components={"refusal": 1.0}, fault=None, progress=None),
        ),
        (
            special(f=["a"]),
            "fixed",
            [MISSING],
            StepCheck(components={"refusal": 1.0}, fault=None, progress=None),
        ),
        (
            special(f=["a"]),
            "official",
            ["no"],
            StepCheck(
                components={"refusal": 0.0},
                fault="the reply does not say 'Missing necessary parameters'",
                progress=None,
            ),
        ),
        (
            special(f=["a"]),
            "fixed",
            ["no"],
            StepCheck(
                components={"refusal": 0.0},
                fault="the reply does not say 'Missing necessary parameters'",
                progress=None,
            ),
        ),
        (
            special(f=["a"]),
            "official",
            ['["Missing necessary parameters (b) for the api (f)"]'],
            StepCheck(components={"refusal": 1.0}, fault=None, progress=None),
        ),
        (
            special(f=["a"]),
            "fixed",
            ['["Missing necessary parameters (b) for the api (f)"]'],
            StepCheck(
                components={"refusal": 1.0, "arguments": 0.0},
                fault="the reply does not name 'a'",
                progress=None,
            ),
        ),
        (
            episode(WIFI),
            "official",
            [WIFI],
            StepCheck(components={"format": 1.0, "name": 1.0, "arguments": 1.0}, fault=None, progress=None),
        ),
        (
            episode(WIFI),
            "fixed",
            [WIFI],
            StepCheck(components={"format": 1.0, "name": 1.0, "arguments": 1.0}, fault=None, progress=None),
        ),
        (
            episode(WIFI),
            "official",
            [LOGIN],
            StepCheck(components={"format": 1.0, "name": 1.0, "arguments": 1.0}, fault=None, progress=None),
        ),
        (
            episode(WIFI),
            "fixed",
            [LOGIN],
            StepCheck(components={"format": 1.0, "name": 0.0}, fault=None, progress=None),
        ),
        (
            episode(WIFI),
            "official",
            [BOTH],
            StepCheck(components={"format": 1.0, "name": 1.0, "arguments": 1.0}, fault=None, progress=None),
        ),
        (
            episode(WIFI),
            "fixed",
            [BOTH],
            StepCheck(components={"format": 1.0, "name": 0.0, "arguments": 1.0}, fault=None, progress=None),
        ),
        (
            episode(WIFI),
            "official",
            ["[gone(), turn_on_wifi()]"],
            StepCheck(components={"format": 1.0, "name": 0.0, "arguments": 1.0}, fault=None, progress=None),
        ),
        (
            episode(WIFI),
            "fixed",
            ["[gone(), turn_on_wifi()]"],
            StepCheck(components={"format": 1.0, "name": 0.0, "arguments": 1.0}, fault=None, progress=None),
        ),
        (
            episode(WIFI),
            "official",
            ["[turn_on_wifi(x=1)]"],
            StepCheck(components={"format": 1.0, "name": 1.0, "arguments": 0.0}, fault=None, progress=None),
        ),
        (
            episode(WIFI),
            "fixed",
            ["[turn_on_wifi(x=1)]"],
            StepCheck(components={"format": 1.0, "name": 1.0, "arguments": 0.0}, fault=None, progress=None),
        ),
        (
            episode(WIFI),
            "official",
            ["[turn_on_wifi("],
            StepCheck(components={"format": 0.0}, fault=None, progress=None),
        ),
        (episode(WIFI), "fixed", ["[turn_on_wifi("], StepCheck(components={}, fault=None, progress=None)),
        (episode(WIFI), "official", ["words"], StepCheck(components={}, fault=None, progress=None)),
        (episode(WIFI), "fixed", ["words"], StepCheck(components={}, fault=None, progress=None)),
        (episode(WIFI), "official", [WIFI, "words"], StepCheck(components={}, fault=None, progress=None)),
        (episode(WIFI), "fixed", [WIFI, "words"], StepCheck(components={}, fault=None, progress=None)),
        (
            episode(WIFI),
            "official",
            [WIFI, END_MARK],
            StepCheck(
                components={},
                fault="all expected calls were made, but the state differs: wrong number of class",
                progress=1.0,
            ),
        ),
        (
            episode(WIFI),
            "fixed",
            [WIFI, END_MARK],
            StepCheck(
                components={},
                fault="all expected calls were made, but the state differs: classes: expected [], found ['BaseApi', 'FoodPlatform', 'MessageApi', 'ReminderApi']",
                progress=1.0,
            ),
        ),
        (
            episode(WIFI),
            "official",
            ["words", END_MARK],
            StepCheck(components={}, fault="the episode ended before turn_on_wifi ran", progress=0.0),
        ),
        (
            episode(WIFI),
            "fixed",
            ["words", END_MARK],
            StepCheck(components={}, fault="the episode ended before turn_on_wifi ran", progress=0.0),
        ),
        (episode(WIFI), "official", [], StepCheck(components={}, fault=None, progress=None)),
        (episode(WIFI), "fixed", [], StepCheck(components={}, fault=None, progress=None)),
        (
            episode(
                WIFI,
                involved_classes=("BaseApi",),
                end_state=({"BaseApi": {"wifi": True, "logged_in": True}},),
            ),
            "official",
            [WIFI, END_MARK],
            StepCheck(components={}, fault=None, progress=1.0),
        ),
        (
            episode(
                WIFI,
                involved_classes=("BaseApi",),
                end_state=({"BaseApi": {"wifi": True, "logged_in": True}},),
            ),
            "fixed",
            [WIFI, END_MARK],
            StepCheck(components={}, fault=None, progress=1.0),
        ),
    ],
)
def test_what_the_last_reply_is_worth(
    of: Any, profile: str, messages: list[Any], expected: StepCheck
) -> None:
    unit = of if isinstance(of, Item) else item(of)
    rules = ACEBENCH.rules(profile)
    played = rules.episode(unit, "0")
    for message in messages:
        played.request()
        played.advance({"role": "assistant", "content": message})
    assert rules.step(played, unit, "0") == expected
