"""Traces of ACEBench whole: gold calls, steps with their notes, and differences, under each profile."""

# ruff: noqa: E501 - each step and each difference stands on one line

from dataclasses import replace
from typing import Any

import pytest

from benchmarks.acebench.reply_build import item, normal, special, tool
from benchmarks.acebench.sandbox_build import edition, record
from benchmarks.acebench.test_judge import calling, transcript
from wildtool.benchmarks.acebench import ACEBENCH
from wildtool.benchmarks.acebench.episode.base import END_MARK
from wildtool.trace import Trace
from wildtool.types import Item

WIFI, LOGIN = "[turn_on_wifi()]", "[login_device()]"
BOTH = "[turn_on_wifi(), login_device()]"
TEXT = {"type": "string"}
TWO = normal(
    {"f_1": {"a": 1, "b": "x"}, "f_2": {"a": 2, "b": "y"}, "g": {}},
    functions=(tool(a={"type": "integer"}, b=TEXT), tool("g")),
)
EITHER = normal({"f": {"b": "x"}, "g": {}}, {"f": {"b": "y"}}, functions=(tool(b=TEXT), tool("g")))
MISSING = '["Missing necessary parameters (a) for the api (f)"]'
CLASSES = "['BaseApi', 'FoodPlatform', 'MessageApi', 'ReminderApi']"


def episode(*milestones: str, **changed: Any) -> Item:
    return item(replace(record(*milestones), **changed), edition=edition())


def lines(trace: Trace) -> list[str]:
    """Gold calls, steps and differences, one a line."""
    return [
        *(f"gold {call.name} {call.arguments!r} after {call.deps}: {call.status}" for call in trace.gold),
        *(f"step of {step.role} {step.fulfilled}: {step.note}" for step in trace.steps),
        *(f"{d.where}: {d.expected!r}, not {d.found!r}: {d.rule}" for d in trace.differences),
    ]


def traced(of: Any, messages: list[Any], profile: str, mode: str = "text") -> Trace:
    unit = of if isinstance(of, Item) else item(of)
    return ACEBENCH.in_mode(mode).rules(profile).trace(unit, "0", transcript(*messages))


@pytest.mark.parametrize(
    ("of", "messages", "official", "fixed"),
    [
        (
            TWO,
            ["[f(a=1, b='x'), f(a=2, b='y'), g()]"],
            [
                "gold f {'a': 1, 'b': 'x'} after (): done",
                "gold f {'a': 2, 'b': 'y'} after (): done",
                "gold g {} after (): wrong",
                "step of agent (0, 1): no arguments",
            ],
            [
                "gold f {'a': 1, 'b': 'x'} after (): done",
                "gold f {'a': 2, 'b': 'y'} after (): done",
                "gold g {} after (): done",
                "step of agent (0, 1, 2): as expected",
            ],
        ),
        (
            TWO,
            ["[f(a=2, b='y'), f(a=1, b='z')]"],
            [
                "gold f {'a': 1, 'b': 'x'} after (): wrong",
                "gold f {'a': 2, 'b': 'y'} after (): done",
                "gold g {} after (): missed",
                "step of agent (1,): expected 3 calls, got 2",
                "f.b: 'x', not 'z': expected 3 calls, got 2",
            ],
            [
                "gold f {'a': 1, 'b': 'x'} after (): wrong",
                "gold f {'a': 2, 'b': 'y'} after (): done",
                "gold g {} after (): missed",
                "step of agent (1,): expected 3 calls, got 2",
                "f.b: 'x', not 'z': b: 'z' does not mean 'x' (short text)",
            ],
        ),
        (
            TWO,
            ["[g(), f(a=3, b='q'), f(a=1, b='x'), h()]"],
            [
                "gold f {'a': 1, 'b': 'x'} after (): done",
                "gold f {'a': 2, 'b': 'y'} after (): wrong",
                "gold g {} after (): wrong",
                "step of agent (0,): expected 3 calls, got 4",
                "f.a: 2, not 3: expected 3 calls, got 4",
                "f.b: 'y', not 'q': expected 3 calls, got 4",
            ],
            [
                "gold f {'a': 1, 'b': 'x'} after (): done",
                "gold f {'a': 2, 'b': 'y'} after (): wrong",
                "gold g {} after (): done",
                "step of agent (0, 2): expected 3 calls, got 4",
                "f.a: 2, not 3: a: 3 is not 2 (number)",
                "f.b: 'y', not 'q': b: 'q' does not mean 'y' (short text)",
            ],
        ),
        (
            TWO,
            ["words"],
            [
                "gold f {'a': 1, 'b': 'x'} after (): missed",
                "gold f {'a': 2, 'b': 'y'} after (): missed",
                "gold g {} after (): missed",
                "step of agent (): no list in brackets",
            ],
            [
                "gold f {'a': 1, 'b': 'x'} after (): missed",
                "gold f {'a': 2, 'b': 'y'} after (): missed",
                "gold g {} after (): missed",
                "step of agent (): not a call but Name",
            ],
        ),
        (
            TWO,
            [],
            [
                "gold f {'a': 1, 'b': 'x'} after (): missed",
                "gold f {'a': 2, 'b': 'y'} after (): missed",
                "gold g {} after (): missed",
            ],
            [
                "gold f {'a': 1, 'b': 'x'} after (): missed",
                "gold f {'a': 2, 'b': 'y'} after (): missed",
                "gold g {} after (): missed",
            ],
        ),
        (
            EITHER,
            ["[f(b='y'), g()]"],
            [
                "gold f {'b': 'y'} after (): done",
                "step of agent (0,): no call of f passes; the last is another",
            ],
            [
                "gold f {'b': 'x'} after (): wrong",
                "gold g {} after (): done",
                "step of agent (1,): b: 'y' does not mean 'x' (short text)",
                "f.b: 'x', not 'y': b: 'y' does not mean 'x' (short text)",
            ],
        ),
        (
            EITHER,
            ["[f(b='y')]"],
            ["gold f {'b': 'y'} after (): done", "step of agent (0,): as expected"],
            ["gold f {'b': 'y'} after (): done", "step of agent (0,): as expected"],
        ),
        (
            EITHER,
            ["[f(b='q')]"],
            [
                "gold f {'b': 'x'} after (): wrong",
                "gold g {} after (): missed",
                "step of agent (): expected 2 calls, got 1",
                "f.b: 'x', not 'q': expected 2 calls, got 1",
            ],
            [
                "gold f {'b': 'x'} after (): wrong",
                "gold g {} after (): missed",
                "step of agent (): b: 'q' does not mean 'y' (short text)",
                "f.b: 'x', not 'q': b: 'q' does not mean 'x' (short text)",
            ],
        ),
        (
            special(f=["a"]),
            [MISSING],
            [
                "gold message '[\"Missing necessary parameters (a) for the api (f)\"]' after (): done",
                "step of agent (0,): as expected",
            ],
            [
                "gold message '[\"Missing necessary parameters (a) for the api (f)\"]' after (): done",
                "step of agent (0,): as expected",
            ],
        ),
        (
            special(f=["a"]),
            ["I cannot."],
            [
                "gold message '[\"Missing necessary parameters (a) for the api (f)\"]' after (): wrong",
                "step of agent (): the reply does not say 'Missing necessary parameters'",
                "message: '[\"Missing necessary parameters (a) for the api (f)\"]', not 'I cannot.': the reply does not say 'Missing necessary parameters'",
            ],
            [
                "gold message '[\"Missing necessary parameters (a) for the api (f)\"]' after (): wrong",
                "step of agent (): the reply does not say 'Missing necessary parameters'",
                "message: '[\"Missing necessary parameters (a) for the api (f)\"]', not 'I cannot.': the reply does not say 'Missing necessary parameters'",
            ],
        ),
        (
            special(f=["a"]),
            [],
            ["gold message '[\"Missing necessary parameters (a) for the api (f)\"]' after (): missed"],
            ["gold message '[\"Missing necessary parameters (a) for the api (f)\"]' after (): missed"],
        ),
        (
            episode(WIFI, LOGIN),
            [WIFI, LOGIN, END_MARK],
            [
                "gold turn_on_wifi {} after (): done",
                "gold login_device {} after (0,): done",
                "step of agent (0,): turn_on_wifi: ok, the sandbox says {'status': True, 'message': 'BaseApi.turn_on_wifi.ok'}",
                "step of agent (1,): login_device: ok, the sandbox says {'status': True, 'message': 'BaseApi.login_device.ok'}",
                "step of agent (): all expected calls were made, but the state differs: wrong number of class",
            ],
            [
                "gold turn_on_wifi {} after (): done",
                "gold login_device {} after (0,): done",
                "step of agent (0,): turn_on_wifi: ok, the sandbox says {'status': True, 'message': 'BaseApi.turn_on_wifi.ok'}",
                "step of agent (1,): login_device: unknown tool, the sandbox says Error: there is no tool login_device here. The tools are: turn_on_wifi.",
                "step of agent (): login_device: unknown tool, and never made right",
                "classes: '[]', not \"['BaseApi', 'FoodPlatform', 'MessageApi', 'ReminderApi']\": the end state differs",
            ],
        ),
        (
            episode(WIFI, BOTH),
            [WIFI, BOTH, END_MARK],
            [
                "gold turn_on_wifi {} after (): done",
                "gold message '[turn_on_wifi(), login_device()]' after (0,): done",
                "step of agent (0,): turn_on_wifi: ok, the sandbox says {'status': True, 'message': 'BaseApi.turn_on_wifi.ok'}",
                "step of agent (1,): turn_on_wifi: ok, the sandbox says {'status': True, 'message': 'BaseApi.turn_on_wifi.ok'}; login_device: ok, the sandbox says {'status': True, 'message': 'BaseApi.login_device.ok'}",
                "step of agent (): all expected calls were made, but the state differs: wrong number of class",
            ],
            [
                "gold turn_on_wifi {} after (): done",
                "gold turn_on_wifi {} after (0,): done",
                "gold login_device {} after (1,): done",
                "step of agent (0,): turn_on_wifi: ok, the sandbox says {'status': True, 'message': 'BaseApi.turn_on_wifi.ok'}",
                "step of agent (1, 2): turn_on_wifi: ok, the sandbox says {'status': True, 'message': 'BaseApi.turn_on_wifi.ok'}; login_device: unknown tool, the sandbox says Error: there is no tool login_device here. The tools are: turn_on_wifi.",
                "step of agent (): login_device: unknown tool, and never made right",
                "classes: '[]', not \"['BaseApi', 'FoodPlatform', 'MessageApi', 'ReminderApi']\": the end state differs",
            ],
        ),
        (
            episode(WIFI, LOGIN, "words"),
            [LOGIN, "[gone(), turn_on_wifi()]", "[login_device(x=1)]", "I talk", END_MARK],
            [
                "gold turn_on_wifi {} after (): missed",
                "gold login_device {} after (0,): missed",
                "gold message 'words' after (1,): missed",
                "step of agent (): login_device: ok, the sandbox says {'status': True, 'message': 'BaseApi.login_device.ok'}",
                "step of agent (): gone: unknown tool, the sandbox says error: cannot access local variable 'func_call_result' where it is not associated with a value; turn_on_wifi: ok, the sandbox says {'status': True, 'message': 'BaseApi.turn_on_wifi.ok'}",
                "step of agent (): login_device: raised, the sandbox says error: BaseApi.login_device() got an unexpected keyword argument 'x'",
                "step of agent (): ",
                "step of agent (): login_device: raised, and never made right",
            ],
            [
                "gold turn_on_wifi {} after (): missed",
                "gold login_device {} after (0,): done",
                "gold message 'words' after (1,): missed",
                "step of agent (1,): login_device: unknown tool, the sandbox says Error: there is no tool login_device here. The tools are: turn_on_wifi.",
                "step of agent (): gone: unknown tool, the sandbox says Error: there is no tool gone here. The tools are: turn_on_wifi.; turn_on_wifi: ok, the sandbox says {'status': True, 'message': 'BaseApi.turn_on_wifi.ok'}",
                "step of agent (): login_device: unknown tool, the sandbox says Error: there is no tool login_device here. The tools are: turn_on_wifi.",
                "step of agent (): ",
                "step of agent (): login_device: unknown tool, and never made right",
                "classes: '[]', not \"['BaseApi', 'FoodPlatform', 'MessageApi', 'ReminderApi']\": the end state differs",
            ],
        ),
        (
            episode(WIFI, milestones=((LOGIN, WIFI), (WIFI,))),
            [WIFI, END_MARK],
            [
                "gold turn_on_wifi {} after (): done",
                "step of agent (0,): turn_on_wifi: ok, the sandbox says {'status': True, 'message': 'BaseApi.turn_on_wifi.ok'}",
                "step of agent (): all expected calls were made, but the state differs: wrong number of class",
            ],
            [
                "gold turn_on_wifi {} after (): done",
                "step of agent (0,): turn_on_wifi: ok, the sandbox says {'status': True, 'message': 'BaseApi.turn_on_wifi.ok'}",
                "step of agent (): all expected calls were made, but the state differs: classes: expected [], found ['BaseApi', 'FoodPlatform', 'MessageApi', 'ReminderApi']",
                "classes: '[]', not \"['BaseApi', 'FoodPlatform', 'MessageApi', 'ReminderApi']\": the end state differs",
            ],
        ),
        (
            episode(WIFI, end_state=({"BaseApi": {"wifi": False, "logged_in": True}}, {"MessageApi": {}})),
            [WIFI, END_MARK],
            [
                "gold turn_on_wifi {} after (): done",
                "step of agent (0,): turn_on_wifi: ok, the sandbox says {'status': True, 'message': 'BaseApi.turn_on_wifi.ok'}",
                "step of agent (): all expected calls were made, but the state differs: wrong number of class",
            ],
            [
                "gold turn_on_wifi {} after (): done",
                "step of agent (0,): turn_on_wifi: ok, the sandbox says {'status': True, 'message': 'BaseApi.turn_on_wifi.ok'}",
                "step of agent (): all expected calls were made, but the state differs: classes: expected ['BaseApi', 'MessageApi'], found ['BaseApi', 'FoodPlatform', 'MessageApi', 'ReminderApi']",
                "classes: \"['BaseApi', 'MessageApi']\", not \"['BaseApi', 'FoodPlatform', 'MessageApi', 'ReminderApi']\": the end state differs",
            ],
        ),
        (
            episode(WIFI),
            [WIFI],
            [
                "gold turn_on_wifi {} after (): done",
                "step of agent (0,): turn_on_wifi: ok, the sandbox says {'status': True, 'message': 'BaseApi.turn_on_wifi.ok'}; the record ends before this profile's episode does",
            ],
            [
                "gold turn_on_wifi {} after (): done",
                "step of agent (0,): turn_on_wifi: ok, the sandbox says {'status': True, 'message': 'BaseApi.turn_on_wifi.ok'}; the record ends before this profile's episode does",
            ],
        ),
        (
            episode(
                WIFI,
                involved_classes=("BaseApi",),
                end_state=({"BaseApi": {"wifi": False, "logged_in": True}},),
            ),
            [WIFI, END_MARK],
            [
                "gold turn_on_wifi {} after (): done",
                "step of agent (0,): turn_on_wifi: ok, the sandbox says {'status': True, 'message': 'BaseApi.turn_on_wifi.ok'}",
                "step of agent (): all expected calls were made, but the state differs: class(BaseApi) attributes(wifi) wrong, [expected: False, real: True]",
                "BaseApi.wifi: 'False', not 'True': the end state differs",
            ],
            [
                "gold turn_on_wifi {} after (): done",
                "step of agent (0,): turn_on_wifi: ok, the sandbox says {'status': True, 'message': 'BaseApi.turn_on_wifi.ok'}",
                "step of agent (): all expected calls were made, but the state differs: BaseApi.wifi: expected False, found True",
                "BaseApi.wifi: 'False', not 'True': the end state differs",
            ],
        ),
    ],
)
def test_a_trace_shows_gold_steps_and_differences(
    of: Any, messages: list[Any], official: list[str], fixed: list[str]
) -> None:
    assert [lines(traced(of, messages, profile)) for profile in ("official", "fixed")] == [official, fixed]


def test_a_trace_of_native_calls_reads_no_text() -> None:
    assert lines(traced(EITHER, [calling(arguments='{"b": "z"}')], "fixed", "fc")) == [
        "gold f {'b': 'x'} after (): wrong",
        "gold g {} after (): missed",
        "step of agent (): b: 'z' does not mean 'y' (short text)",
        "f.b: 'x', not 'z': b: 'z' does not mean 'x' (short text)",
    ]
    assert lines(traced(EITHER, ["[f(b='y')]"], "fixed", "fc")) == [
        "gold f {'b': 'x'} after (): missed",
        "gold g {} after (): missed",
        "step of agent (): the reply has no tool calls",
    ]


def test_a_trace_names_its_unit_its_tools_and_what_each_step_saw() -> None:
    trace = traced(TWO, ["words"], "fixed")
    assert (trace.unit, [tool["type"] for tool in trace.tools]) == ("0", ["function", "function"])
    assert [tool["function"] for tool in trace.tools] == list(TWO.functions)
    (step,) = trace.steps
    assert (step.reply["content"], [message["role"] for message in step.seen]) == (
        "words",
        ["system", "user"],
    )
