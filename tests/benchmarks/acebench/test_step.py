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

ONE_TEXT = normal({"f": {"b": "x"}}, functions=(tool(b=TEXT),))
ONE_MISSING = special(f=["a"])
EPISODE = episode(WIFI)
WHOLE_EPISODE = episode(
    WIFI, involved_classes=("BaseApi",), end_state=({"BaseApi": {"wifi": True, "logged_in": True}},)
)


def worth(components: str, fault: str | None = None, progress: float | None = None) -> StepCheck:
    """Args: components: each with its value, `format 1 name 0`."""
    names, values = components.split()[::2], components.split()[1::2]
    return StepCheck(dict(zip(names, map(float, values), strict=True)), fault, progress)


# Without a value for `fixed`, both profiles say the same.
@pytest.mark.parametrize(
    ("of", "messages", "official", "fixed"),
    [
        (
            TWO,
            ["[f(a=1, b='x'), f(a=2, b='y'), g()]"],
            worth("format 1 name 1 arguments 0", "no arguments"),
            worth("format 1 name 1 arguments 1"),
        ),
        (
            TWO,
            ["words"],
            worth("format 0", "no list in brackets"),
            worth("format 0", "not a call but Name"),
        ),
        (
            TWO,
            ["[h(), g(), g()]"],
            worth("format 1 name 0", "not expected: 'h'"),
            worth("format 1 name 0", "expected 2 calls of 'f', got 0"),
        ),
        (
            TWO,
            ["[f(a=1, b='q'), f(a=2, b='r'), g()]"],
            worth("format 1 arguments 0", "no call of f passes; the last is another"),
            worth("format 1 name 1 arguments 0", "b: 'q' does not mean 'x' (short text)"),
        ),
        (TWO, ["[f(a=1, b='x'), g()]"], worth("format 1 name 0", "expected 3 calls, got 2"), None),
        (
            ONE_TEXT,
            ["[f(b='q')]"],
            worth("format 1 name 1 arguments 0", "argument b: 'q' does not contain 'x'"),
            worth("format 1 name 1 arguments 0", "b: 'q' does not mean 'x' (short text)"),
        ),
        (
            ONE_TEXT,
            ["[f(b=1)]"],
            worth("format 1 name 1 arguments 0", "argument b: expected string like 'x', got 1"),
            worth("format 1 name 1 arguments 0", "b: 1 is not 'x' (type)"),
        ),
        (
            ONE_TEXT,
            ["[f()]"],
            worth("format 1 name 1 arguments 0", "no arguments"),
            worth("format 1 name 1 arguments 0", "b: 'x' is missing"),
        ),
        (ONE_MISSING, [MISSING], worth("refusal 1"), None),
        (
            ONE_MISSING,
            ["no"],
            worth("refusal 0", "the reply does not say 'Missing necessary parameters'"),
            None,
        ),
        (
            ONE_MISSING,
            ['["Missing necessary parameters (b) for the api (f)"]'],
            worth("refusal 1"),
            worth("refusal 1 arguments 0", "the reply does not name 'a'"),
        ),
        (EPISODE, [WIFI], worth("format 1 name 1 arguments 1"), None),
        (EPISODE, [LOGIN], worth("format 1 name 1 arguments 1"), worth("format 1 name 0")),
        (EPISODE, [BOTH], worth("format 1 name 1 arguments 1"), worth("format 1 name 0 arguments 1")),
        (EPISODE, ["[gone(), turn_on_wifi()]"], worth("format 1 name 0 arguments 1"), None),
        (EPISODE, ["[turn_on_wifi(x=1)]"], worth("format 1 name 1 arguments 0"), None),
        (EPISODE, ["[turn_on_wifi("], worth("format 0"), worth("")),
        (EPISODE, ["words"], worth(""), None),
        (EPISODE, [WIFI, "words"], worth(""), None),
        (
            EPISODE,
            [WIFI, END_MARK],
            worth("", "all expected calls were made, but the state differs: wrong number of class", 1.0),
            worth(
                "",
                "all expected calls were made, but the state differs: classes: expected [], found ['BaseApi', 'FoodPlatform', 'MessageApi', 'ReminderApi']",
                1.0,
            ),
        ),
        (EPISODE, ["words", END_MARK], worth("", "the episode ended before turn_on_wifi ran", 0.0), None),
        (EPISODE, [], worth(""), None),
        (WHOLE_EPISODE, [WIFI, END_MARK], worth("", None, 1.0), None),
    ],
)
def test_what_the_last_reply_is_worth(
    of: Any, messages: list[Any], official: StepCheck, fixed: StepCheck | None
) -> None:
    unit = of if isinstance(of, Item) else item(of)
    for profile, expected in (("official", official), ("fixed", fixed or official)):
        rules = ACEBENCH.rules(profile)
        played = rules.episode(unit, "0")
        for message in messages:
            played.request()
            played.advance({"role": "assistant", "content": message})
        assert rules.step(played, unit, "0") == expected, profile
