"""Texts that name a quantity or an hour of a named day; examples stand in docs/fixed-values.md, too."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wildtool.toolcall.text.quantities import respell_amounts, respell_numbers, same_amount

SAME = [
    ("5km", "5.0 KM"),
    ("2-hour", "2 hours"),
    ("20 dollars", "$20.00"),
    ("US$ 1,250.50", "1250.5 usd"),
    ("tomorrow at 9 AM", "09:00 tomorrow"),
    ("9 am on friday", "Friday, 9:00"),
    ("明天上午9点", "明天 9:00"),
    ("25 摄氏度", "25 °C"),
    ("¥5", "5 CNY"),
    ("¥5", "5 JPY"),
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


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("a hundred and five men", "105 men"),
        ("an hour", "1 hour"),
        ("one", "one"),
        ("two one", "2 1"),
        ("hundred men", "hundred men"),
        ("a dozen eggs", "12 eggs"),
        ("2 dozen eggs", "24 eggs"),
        ("dozen", "dozen"),
        ("half a dozen", "6"),
        ("两打鸡蛋", "24个鸡蛋"),
        ("一打鸡蛋", "12个鸡蛋"),
        ("百分之五", "5%"),
        ("三", "3"),
        ("一公里", "1公里"),
        ("一人", "一人"),
        ("两三人", "两三人"),
        ("二十个", "20个"),
        ("五六个", "五六个"),
        ("3 and a half hours", "3.5 hours"),
        ("三个半小时", "3.5小时"),
        ("三分之二", "2/3"),
        ("one hour and a half", "1.5 hours"),
        ("a quarter of an hour", "15 minutes"),
        ("twenty-one two", "21 2"),
        ("two hundred hundred", "two hundred hundred"),
        ("a two", "a two"),
        ("3个半小时", "3.5小时"),
        ("3公里半", "3.5公里"),
        ("三公里半", "3.5公里"),
        ("nineteen eighty four", "19 84"),
    ],
)
def test_number_words_become_digits(text: str, digits: str):
    assert respell_numbers(text) == digits


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("5 percent", "5 %"),
        ("$5 million", "5000000 USD"),
        ("USD 5", "5 USD"),
        ("5 km", "5000 m"),
        ("5-7 days", "432000 s-604800 s"),
        ("2 h 30 m", "9000 s"),
        ("1小时5分", "3900 s"),
        ("6 ft 2 in", "74 inch"),
        ("2 kg 300 g", "2300 g"),
        # A part as large as the whole is no part of it.
        ("1 kg 999 g", "1999 g"),
        ("1 kg 1000 g", "1000 g 1000 g"),
        ("2 h 90 m", "7200 s 90 m"),
        ("at 2 h 30 m", "at 7200 s 30 m"),
        ("5公里跑步", "5000 m跑步"),
        ("3 lbs.", "48 oz."),
        ("3 lbs. more", "48 oz more"),
        ("5 unknown", "5 unknown"),
    ],
)
def test_amounts_have_one_unit_of_their_kind(text: str, plain: str):
    assert respell_amounts(text) == plain


@example("1一个半小时")
@given(st.text("1一两十半个小时米天.dozen ", max_size=12))
def test_any_mixture_of_numbers_is_respelled_without_an_error(text: str):
    assert isinstance(respell_numbers(text), str)
