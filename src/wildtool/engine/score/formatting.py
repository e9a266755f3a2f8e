"""Numbers as texts, the same in terminals, pages and files."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from wildtool.types import Direction, Metric


class MeasuredRate(Protocol):
    """A share with its 95 % interval, or the range that units without a verdict leave open; None for what it lacks."""

    @property
    def value(self) -> float | None: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...
    @property
    def least(self) -> float | None: ...
    @property
    def most(self) -> float | None: ...


def format_value(metric: "Metric") -> str:
    """The number itself, with its unit."""
    if metric.kind == "count":
        return f"{metric.numerator:,.10g}" + (f" of {metric.denominator:,.10g}" if metric.denominator else "")
    if metric.value is None or not math.isfinite(metric.value):
        return "–"
    if metric.kind == "rate":
        return f"{100 * metric.value:.1f} %"
    # Four digits are enough, but large numbers are written out rather than with an exponent.
    form = ",.0f" if abs(metric.value) >= 1000 else ".4g"
    return f"{metric.value:{form}} {metric.unit}".rstrip()


def format_share(share: float | None) -> str:
    """A share in percent; a dash for none."""
    return "–" if share is None else f"{100 * share:.1f} %"


def format_points(difference: float) -> str:
    """A difference of shares in points; what rounds to zero is not negative."""
    # Adding zero makes -0.0 positive.
    return f"{round(100 * difference, 1) + 0.0:+.1f}"


def format_range(low: float | None, high: float | None, *, signed: bool = False) -> str:
    """An interval of shares, or of their differences; empty for none."""
    if low is None or high is None:
        return ""
    if signed:
        return f"[{format_points(low)}, {format_points(high)}]"
    return f"[{100 * low:.1f}, {100 * high:.1f}]"


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number of things: 1 row, 2,000 rows.

    Args:
        noun: one of them.
        plural: several of them; empty for the noun with an s.
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def first_names(names: Sequence[str], most: int) -> str:
    """The first names of a list, and how many others there are: `a, b and 3 more`."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")


def format_interval(metric: "Metric") -> tuple[str, str] | None:
    """Both ends of its 95 % interval; None where none is given."""
    if metric.low is None or metric.high is None:
        return None
    factor, places = (100, 1) if metric.kind == "rate" else (1, 2)
    return f"{factor * metric.low:.{places}f}", f"{factor * metric.high:.{places}f}"


def format_open(rate: MeasuredRate) -> tuple[str, str] | None:
    """Both ends of the range that units without a verdict leave open of a rate; None where they leave nothing open."""
    if rate.least is None or rate.most is None or rate.least == rate.most:
        return None
    return f"{100 * rate.least:.1f}", f"{100 * rate.most:.1f}"


ENDS_HEAD = "95 % or possible"
"""Head of a column of such ends: of 95 % intervals, and of what is possible where units have no verdict."""


def format_rate_ends(rate: MeasuredRate) -> str:
    """The ends of a rate in a table of plain text: `[12.0, 35.9]` of its interval, `0.0 to 35.9` of the range that units
    without a verdict leave open; empty where it has neither."""
    if (open_ends := format_open(rate)) is not None:
        return " to ".join(open_ends)
    return format_range(rate.low, rate.high)


def format_possible(rate: MeasuredRate) -> str:
    """An accuracy in a table without intervals: `18.0 %`, or `18.0 to 55.5 %` where units without a verdict leave that
    open."""
    open_ends = format_open(rate)
    return format_share(rate.value) if open_ends is None else f"{' to '.join(open_ends)} %"


def format_ends(metric: "Metric", between: str = "–") -> str:
    """Its 95 % interval or, as `0.0 to 35.9`, the range that units without a verdict leave open; empty where neither is
    given. Args: between: what stands between the ends of an interval."""
    if (open_ends := format_open(metric)) is not None:
        return " to ".join(open_ends)
    return between.join(format_interval(metric) or ())


def format_counts(metric: "Metric") -> str:
    """What a rate was counted from."""
    if metric.kind != "rate":
        return ""
    right = metric.numerator
    # A sum of partial scores, such as the process accuracy of episodes, needs no ten digits.
    number = f"{right:,.10g}" if right == int(right) else f"{right:,.2f}"
    return f"{number}/{metric.denominator:,.10g}"


def format_target(metric: "Metric") -> tuple[str, str]:
    """What it is meant to be, and how far it is from that (a rate in percentage points); empty where nothing says so."""
    if metric.target is None:
        return "", ""
    factor, form, unit = (100, "+.1f", " %") if metric.kind == "rate" else (1, "+.2f", "")
    finite = metric.value is not None and math.isfinite(metric.value)
    away = (
        format(factor * (metric.value - metric.target), form) if finite and metric.value is not None else "–"
    )
    return f"{factor * metric.target:,.4g}{unit}", away


def format_direction(better: "Direction") -> str:
    """What the head of a number says of its direction; empty where more is better, or neither."""
    return "lower is better" if better == "less" else ""


def format_p(p: float) -> str:
    """The p of a test."""
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def format_test(p: float) -> str:
    """The p of a test in a sentence."""
    text = format_p(p)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def format_duration(seconds: float) -> str:
    """A time in words, roughly: 40 s, 3 min, 2.5 h."""
    for limit, size, unit in ((5400.0, 3600, "h"), (90.0, 60, "min")):
        if seconds >= limit:
            count = seconds / size
            return f"{count:.0f} {unit}" if count >= 10 else f"{count:.1f}".removesuffix(".0") + f" {unit}"
    return f"{seconds:.0f} s"
