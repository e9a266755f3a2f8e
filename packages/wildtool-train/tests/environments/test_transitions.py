"""Whole episodes: what each message led to, and what a policy is shown."""

from functools import cache

import pytest

from wildtool.errors import UsageError
from wildtool_train.core import (
    UnitEnvironment,
)
from wildtool_train.sources import ItemUnits, benchmark_units

CLARIFY, MIXED, CHAT = "wild_mini_0/2", "wild_mini_0/0", "wild_mini_2/0"
"""A unit that begins with a question, one with three steps of calls, one without a call."""


@cache
def units() -> ItemUnits:
    return benchmark_units("wild-mini", evaluation=True)


def test_the_default_profile_is_fixed_or_the_first():
    assert UnitEnvironment(units()).profile == "fixed"
    assert UnitEnvironment(units(), "official").profile == "official"
    environment = UnitEnvironment(units())
    assert not environment.is_open
    environment.open(CHAT)
    assert (environment.is_open, environment.name, environment.is_over) == (True, CHAT, False)
    assert environment.fields["task_type"] == "Chat"
    with pytest.raises(UsageError) as caught:
        UnitEnvironment(units(), judged=["fixed", "strict"])
    assert str(caught.value) == "wild-mini has no profile 'strict'; it has official, fixed, paper"
