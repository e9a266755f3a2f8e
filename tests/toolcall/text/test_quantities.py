"""Texts that name a quantity or an hour of a named day; examples stand in docs/fixed-values.md, too."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wildtool.toolcall.text.quantities import respell_numbers, same_amount

SAME = [
    ("5km", "5.0 KM"),
    ("2-hour", "2 hours"),
    ("20 dollars", "$20.00"),
    ("US$ 1,250.50", "1250.5 usd"),
    ("tomorrow at 9 AM", "09:00 tomorrow"),
    ("9 am on friday", "Friday, 9:00"),
    ("明天上午9点", "明天 9:00"),
    ("25 摄氏度", "25 °C"),
    ("50 cents", "0.5 EUR"),
    ("50 cents", "0.5 USD"),
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
    ("tomorrow 5 March 2024", "tomorrow 2024-03-05"),
    ("5", "5 km"),
    ("50p", "£0.5"),
    ("¥5", "5 USD"),
    ("5 cents", "5 USD"),
    ("tomorrow", "tomorrow"),
]


@pytest.mark.parametrize(("left", "right"), SAME)
def test_one_amount_in_two_spellings_is_the_same(left: str, right: str):
    assert same_amount(left, right)
    assert same_amount(right, left)


@pytest.mark.parametrize(("left", "right"), DIFFERENT)
def test_another_number_unit_or_day_is_not(left: str, right: str):
    assert not same_amount(left, right)
    assert not same_amount(right, left)


PIECES = st.lists(st.sampled_from(["5", "1,000", ".", "km", "$", "tomorrow", "9 AM", " ", "-", "°C", "½"]))


@given(left=PIECES.map("".join) | st.text(max_size=45), right=PIECES.map("".join) | st.text(max_size=45))
def test_any_two_texts_are_compared_alike_from_both_sides(left: str, right: str):
    assert same_amount(left, right) == same_amount(right, left)


@example("1一个半小时")
@given(st.text("1一两十半个小时米天.dozen ", max_size=12))
def test_any_mixture_of_numbers_is_respelled_without_an_error(text: str):
    assert isinstance(respell_numbers(text), str)
