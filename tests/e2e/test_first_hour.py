"""The screens of docs/first-hour.md are those that the commands leave today."""

import runpy
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "first-hour.md"


def test_the_screens_of_the_first_hour_are_todays():
    scenes = runpy.run_path(str(PAGE.with_name("first_hour.py")))
    page = PAGE.read_text(encoding="utf-8")
    assert scenes["written"](page, scenes["screens"]()) == page
