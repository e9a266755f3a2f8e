"""The units of amounts: every name and symbol with its factor, and which of them a name is."""

from collections import defaultdict

import pytest

from golden_files import same_as_golden
from wildtool.toolcall.text import units
from wildtool.toolcall.text.units import unit_of


def test_every_name_has_its_factor() -> None:
    names: dict[str, list[str]] = defaultdict(list)
    for name, unit in [*units._SYMBOLS.items(), *units._WORDS.items()]:  # pyright: ignore[reportPrivateUsage]
        names[unit.base].append(f"{name}={unit.factor}")
    lines = [f"{base}: {' '.join(its)}\n" for base, its in names.items()]
    same_as_golden("units.txt", "".join(sorted(lines)))


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("KM", "1000 m"),
        ("mw", None),
        ("MW", "1000000 W"),
        ("Mw", None),
        ("kg.", "1000 g"),
        ("miles per hour", "1 mph"),
        ("miles/hour", "1 mph"),
        ("kilometers per hour", "1 km/h"),
        ("km per hour", "1 km/h"),
        ("degrees C", "1 °C"),
        ("Degree fahrenheit", "1 °F"),
        ("cubic meter", "1 m3"),
        ("square feet", "1 sqft"),
        ("METERS", "1 m"),
        ("us dollars", "1 USD"),
        ("xx", None),
        ("s", "1 s"),
        ("lbs", "16 oz"),
        ("KB/s", "1 kBps"),
        ("kbit/s", "1 kbps"),
        ("mb", None),
        ("glass", None),
    ],
)
def test_a_unit_is_read_in_its_case_and_number(name: str, unit: str | None) -> None:
    amount = unit_of(name)
    assert (amount and f"{amount.factor} {amount.base}") == unit
