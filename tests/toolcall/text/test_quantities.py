"""Texts that name a quantity or an hour of a named day; examples stand in docs/fixed-values.md, too."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.toolcall.text.quantities import same_amount
from wildtool.toolcall.text.units import unit_of

SAME = [
    ("5km", "5.0 KM"),
    ("2-hour", "2 hours"),
    ("20 dollars", "$20.00"),
    ("US$ 1,250.50", "1250.5 usd"),
    ("tomorrow at 9 AM", "09:00 tomorrow"),
    ("9 am on friday", "Friday, 9:00"),
    ("明天上午9点", "明天 9:00"),
    ("25 摄氏度", "25 °C"),
]
DIFFERENT = [
    ("5 m", "5 min"),
    ("5 G", "5 g"),
    ("-5 °C", "5 °C"),
    ("5 °C", "5 °F"),
    ("5 pounds", "£5"),
    ("1,5 km", "15 km"),
    ("9 AM tomorrow", "9 PM tomorrow"),
    ("9 AM tomorrow", "tomorrow"),
    ("5", "5 km"),
]


@pytest.mark.parametrize(("left", "right"), SAME)
def test_one_amount_in_two_spellings_is_the_same(left: str, right: str):
    assert same_amount(left, right)
    assert same_amount(right, left)


@pytest.mark.parametrize(("left", "right"), DIFFERENT)
def test_another_number_unit_or_day_is_not(left: str, right: str):
    assert not same_amount(left, right)
    assert not same_amount(right, left)


PREFIXES = {
    "p": -12,
    "n": -9,
    "µ": -6,
    "u": -6,
    "μ": -6,
    "m": -3,
    "c": -2,
    "": 0,
    "k": 3,
    "M": 6,
    "G": 9,
    "T": 12,
}
"""Powers of ten; the micro sign and the Greek letter look alike."""


def test_every_prefix_is_the_power_of_ten_that_it_stands_for():
    units = {
        (prefix, base): unit_of(prefix + base) for prefix in PREFIXES for base in ("m", "g", "s", "W", "J")
    }
    powers = {key: unit.factor for key, unit in units.items() if unit and unit.base == key[1]}
    assert powers == {key: Decimal(10) ** PREFIXES[key[0]] for key in powers}
    assert {prefix for prefix, _ in powers} == {*PREFIXES} - {"p"}


PIECES = st.lists(st.sampled_from(["5", "1,000", ".", "km", "$", "tomorrow", "9 AM", " ", "-", "°C", "½"]))


@given(left=PIECES.map("".join) | st.text(max_size=45), right=PIECES.map("".join) | st.text(max_size=45))
def test_any_two_texts_are_compared_alike_from_both_sides(left: str, right: str):
    assert same_amount(left, right) == same_amount(right, left)
