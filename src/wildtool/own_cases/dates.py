"""Dates relative to the day of a case: `today+1d`, `today-2w`, `now+3h`."""

import calendar
import re
from datetime import date, datetime, timedelta

_RELATIVE = re.compile(r"(today|now)(?:([+-]\d{1,5})(d|w|mo|y|h|min))?")
_DAYS = {"d": 1, "w": 7}
_MONTHS = {"mo": 1, "y": 12}
_MINUTES = {"h": 60, "min": 1}


def read_day(text: str) -> datetime | None:
    """The time of a text such as 2026-03-30 or 2026-03-30T09:00; None for any other."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def is_relative_date(text: str) -> bool:
    """Whether a text is a date as `$date` takes it."""
    return _RELATIVE.fullmatch(text) is not None


def resolved_date(text: str, today: datetime) -> str:
    """The date, or for hours and minutes the time, that a relative date means, as ISO writes it.

    Args:
        text: one for which `is_relative_date` holds.

    Raises ValueError where it is beyond the years of the calendar.
    """
    matched = _RELATIVE.fullmatch(text)
    assert matched is not None
    start, amount, unit = matched.groups()
    number = int(amount or 0)
    try:
        moved = _moved(today, number, unit)
    except OverflowError as error:
        raise ValueError(f"{text} is beyond the calendar") from error
    if unit in _MINUTES or start == "now":
        return moved.isoformat(timespec="minutes")
    return moved.date().isoformat()


def _moved(today: datetime, number: int, unit: str | None) -> datetime:
    if unit in _MINUTES:
        return today + timedelta(minutes=number * _MINUTES[unit])
    if unit in _MONTHS:
        months = today.year * 12 + today.month - 1 + number * _MONTHS[unit]
        year, month = months // 12, months % 12 + 1
        if not date.min.year <= year <= date.max.year:
            raise OverflowError
        return today.replace(year=year, month=month, day=min(today.day, calendar.monthrange(year, month)[1]))
    return today + timedelta(days=number * _DAYS.get(unit or "d", 1))
