"""Damaged answers of every protocol are replies or named failures; `fuzz_streams.py` runs as long as one likes."""

import random

import pytest

from faults.fuzz_streams import KINDS, fuzz
from long import a_fiftieth_of


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_answer_is_a_reply_or_a_named_failure(kind: str):
    outcomes, faults = fuzz(kind, random.Random(11), a_fiftieth_of(4_000))
    assert faults == []
    assert 0 < outcomes["reply"] < outcomes.total()
