"""Dates, times, spans and amounts in every spelling: one value is always the same, another one never."""

from datetime import date, time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.toolcall.text.equivalence import differing_rule
from wildtool.toolcall.text.spellings import respelled

DAYS = st.dates(min_value=date(1950, 1, 1), max_value=date(2090, 12, 31))
CLOCKS = st.times().map(lambda moment: time(moment.hour, moment.minute))
AMOUNTS = st.integers(1, 10**9)


def of_day(day: date) -> list[str]:
    month, short = f"{day:%B}", f"{day:%b}"
    return [
        day.isoformat(),
        f"{day.year}/{day.month}/{day.day}",
        f"{month} {day.day}, {day.year}",
        f"{day.day} {short} {day.year}",
        f"{day.year}年{day.month}月{day.day}日",
    ]


def of_month_day(day: date) -> list[str]:
    return [
        f"{day:%B} {day.day}",
        f"{day.day} {day:%b}",
        f"{day.month}月{day.day}日",
        f"the {day.day} of {day:%B}",
    ]


def of_clock(clock: time) -> list[str]:
    half = "AM" if clock.hour < 12 else "PM"
    return [f"{clock:%H:%M}", f"{clock.hour}:{clock:%M}", f"{clock.hour % 12 or 12}:{clock:%M} {half}"]


def of_money(amount: int) -> list[str]:
    return [f"${amount}", f"${amount:,}", f"{amount} dollars", f"{amount:,} USD", f"USD {amount}"]


def of_weight(amount: int) -> list[str]:
    return [f"{amount} kg", f"{amount:,}kg", f"{amount} kilograms", f"{amount}公斤"]


@given(st.data())
def test_every_spelling_of_a_value_is_the_same_and_none_of_another_one(data: st.DataObject):
    kinds = [
        (of_day, DAYS),
        (of_month_day, DAYS),
        (of_clock, CLOCKS),
        (of_money, AMOUNTS),
        (of_weight, AMOUNTS),
    ]
    spell, values = data.draw(st.sampled_from(kinds))
    one, other = data.draw(values), data.draw(values)
    gold = data.draw(st.sampled_from(spell(one)))
    said = data.draw(st.sampled_from(spell(one)))
    wrong = data.draw(st.sampled_from(spell(other)))
    assert differing_rule(gold, said) is None, (gold, said)
    is_same = spell(one)[0] == spell(other)[0]
    assert (differing_rule(gold, wrong) is None) == is_same, (gold, wrong)


@given(st.data())
def test_a_span_has_two_ends_in_their_order(data: st.DataObject):
    spell, values = data.draw(st.sampled_from([(of_day, DAYS), (of_clock, CLOCKS)]))
    one, other = data.draw(values), data.draw(values)
    style = data.draw(st.sampled_from(["{} to {}", "from {} to {}", "{}到{}", "{} - {}", "{} through {}"]))

    def said(start: date | time, end: date | time) -> str:
        start_text, end_text = (data.draw(st.sampled_from(spell(side))) for side in (start, end))
        return style.format(start_text, end_text)

    gold = " to ".join(spell(side)[0] for side in (one, other))
    assert differing_rule(gold, said(one, other)) is None
    if spell(one)[0] != spell(other)[0]:
        assert differing_rule(gold, said(other, one)) is not None
        assert differing_rule(gold, said(one, one)) is not None


PIECES = [
    "5",
    "1,000",
    "12:30",
    "May",
    "noon",
    "third",
    "第三",
    "三千",
    "万",
    "$",
    "km",
    "A",
    "a",
    "到",
    "-",
    "to",
    " ",
    "年",
    "_",
    "的",
]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join) | st.text(max_size=60))
def test_any_text_is_read_and_means_what_it_says(text: str):
    assert respelled(text) == respelled(text)
    assert differing_rule(text, text) is None
    assert differing_rule(text, f" {text}\n") is None or not text.strip()


def test_a_whole_text_without_separators_or_with_points_is_a_date():
    assert {respelled(text) for text in ("20250304", "2025.03.04", "2025-03-04")} == {
        respelled("4 March 2025")
    }
    assert respelled("2025.13.04") != respelled("4 March 2025")


@pytest.mark.parametrize(
    ("text", "spelling"),
    [
        # A date that can be read in two ways is left as it is.
        ("on 12/11/2024", "on 12/11/2024"),
        ("on 1/12/2024", "on 1/12/2024"),
        ("on 13/12/2024", "on 2024.12.13"),
        ("on 12/13/2024", "on 2024.12.13"),
        ("on 12/12/2024", "on 2024.12.12"),
        ("on 13/13/2024", "on 13/13/2024"),
        ("on 31-04-2024", "on 31-04-2024"),
        ("on 30.04.2024", "on 2024.04.30"),
        # A weekday is left out where it is that day's.
        ("Mon, 2024-05-06", "2024.05.06"),
        ("Sunday 2024-05-12", "2024.05.12"),
        ("2024-05-12 (Sunday)", "2024.05.12"),
        ("2024-05-12周日", "2024.05.12"),
        ("星期一2024-05-06", "2024.05.06"),
        ("in 2024-12 it", "in 2024.12 it"),
        ("in 2024-1 it", "in 2024.01 it"),
        ("in December 2024 it", "in 2024.12 it"),
        ("May 3-5, 2024 x", "2024.05.03 → 2024.05.05 x"),
        ("3-5 May 2024 x", "2024.05.03 → 2024.05.05 x"),
        ("3-5 May x", "0000.05.03 → 0000.05.05 x"),
        ("2024年6月3日到9日", "2024.06.03 → 2024.06.09"),
        ("6月3日到9日", "0000.06.03 → 0000.06.09"),
        ("2024年1月至6月", "2024.01 → 2024.06"),
        ("eleventh, twelfth and thirteenth", "11th, 12th and 13th"),
        ("the twenty-first and second of it", "the 21st and 2nd of it"),
        ("a third of it", "a third of it"),
        ("second", "2"),
        ("the second", "the second"),
        ("second floor", "2nd floor"),
        ("in the second half", "in the 2nd half"),
        ("a second", "a second"),
        ("30second", "30 s"),
        ("thirteenth", "13"),
        ("one hundred and first", "100 and 1st"),
        ("third of May", "0000.05.03"),
        ("two thirds", "2/3"),
        ("the third road", "the 3rd road"),
        ("the 5th of May, 2024", "2024.05.05"),
        ("2024年5月8日15:00", "2024.05.08 15:00"),
        ("5月8日15:00", "0000.05.08 15:00"),
        ("1/13/2024", "2024.01.13"),
        ("13/1/2024", "2024.01.13"),
        ("20241308", "20241308"),
        ("Thursday, 2024-05-08", "Thursday, 2024.05.08"),
        ("2024-05-08 (Wed)", "2024.05.08"),
        ("周三 2024-05-08", "2024.05.08"),
        ("2024-05-08 周四", "2024.05.08 周四"),
        ("周天2024-05-05", "2024.05.05"),
        ("2024年5月", "2024.05"),
        ("5/2024", "5/2024"),
        ("2024.3.5", "2024.03.05"),
        ("2024.13.5", "2024.13.5"),
        ("twenty-ninth", "29"),
        ("the twenty-ninth floor", "the 29th floor"),
        ("twenty tenth", "20 tenth"),
        ("the twenty tenth", "the 20 tenth"),
        ("2024年13月", "2024年13月"),
        ("2024年0月", "2024年0月"),
        ("2024年12月", "2024.12"),
        ("first St", "1st St"),
        ("1/3 Third Street", "1/3 3rd Street"),
        ("Sunday, 2024-03-09", "Sunday, 2024.03.09"),
        ("5/6/2024", "5/6/2024"),
        ("between 5 May and 7 May", "0000.05.05 → 0000.05.07"),
        ("5 May and 7 May", "0000.05.05 and 0000.05.07"),
        ("Mon to Wednesday", "weekday mon → weekday wed"),
        ("March till may", "month 3 → month 5"),
        ("周天到周一", "周日 → 周一"),
        ("2020年到2021年", "2020 → 2021"),
        ("31 April", "31 April"),
        ("29 February", "0000.02.29"),
        ("at 13:30pm x", "at 13:30pm x"),
        ("at 0:30am x", "at 0:30am x"),
        ("下午13点", "下午13点"),
    ],
)
def test_a_text_has_this_spelling(text: str, spelling: str):
    assert respelled(text) == spelling
