"""Dates, times, spans and amounts in every spelling: one value is always the same, another one never."""

from datetime import date, time

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
