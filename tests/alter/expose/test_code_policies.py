"""Policies of scripts spoil the gold script in one way each, and leave what they do not spoil."""

import ast

import pytest

from wildtool.alter.expose.code.policies import (
    ERRS,
    LOOPS,
    MISCOMPUTES,
    MISUSES,
    USES_REFUSED,
    WRITES_NONE,
    own_style,
    policy_script,
)

GOLD = "r1 = find(city='Oslo')\nr2 = book(hotel='Nord')\nprint(r1)\nprint(r2)"
ALL = [LOOPS, WRITES_NONE, USES_REFUSED, ERRS, MISUSES, MISCOMPUTES]


def test_a_style_that_is_no_policy_gives_the_gold_script():
    assert policy_script("parallel", GOLD, [], 3) == GOLD
    assert own_style("serial") == "serial" and {own_style(style) for style in ALL} == {"parallel"}


@pytest.mark.parametrize("style", ALL)
def test_a_policy_gives_up_after_its_first_script_unless_it_loops(style):
    assert (policy_script(style, GOLD, [GOLD], 1) is None) == (style != LOOPS)


@pytest.mark.parametrize("style", [USES_REFUSED, ERRS])
def test_what_stops_a_script_stands_before_its_calls(style):
    script = policy_script(style, GOLD, [], 0)
    assert script.endswith(GOLD) and script != GOLD
    ast.parse(script)


def test_a_result_is_misused_before_the_next_call():
    lines = policy_script(MISUSES, GOLD, [], 0).splitlines()
    assert policy_script(MISUSES, GOLD, [GOLD], 0) is None
    assert lines[0] == "r1 = find(city='Oslo')" and lines[1].startswith("r1[") and "book" in lines[2]


def test_the_last_call_is_computed_from_a_result_of_this_script_or_an_earlier_one():
    assert "book(hotel=str(r1)" in policy_script(MISCOMPUTES, GOLD, [], 0)
    alone = "r3 = book(hotel='Nord')"
    assert "book(hotel=str(r2)" in policy_script(MISCOMPUTES, alone, [GOLD], 0)
    assert policy_script(MISCOMPUTES, alone, [], 0) == alone
