"""The parts of the lexical agent: conversations, kinds, values, members, days, recall, tools, texts."""

from datetime import date

from wildtool.models.baselines.lexical import (
    days,
)


def test_a_day_of_the_week_is_the_next_one():
    later = days("Monday, on Sunday, Wednesday", date(2024, 5, 8))
    assert later == ["2024-05-13", "2024-05-12", "2024-05-08"]
