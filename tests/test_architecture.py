"""The page about the architecture says what the code is."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_the_picture_is_drawn_from_todays_imports(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "path", [str(ROOT / "docs"), *sys.path])
    import architecture_picture

    drawn = architecture_picture.PICTURE.read_text(encoding="utf-8")
    assert drawn == architecture_picture.picture(), "run `python docs/architecture_picture.py`"


@pytest.mark.parametrize("place", sorted(set(re.findall(r"`((?:src|tests|docs)/[\w./]+)`", PAGE))))
def test_places_that_the_page_names_are_there(place: str):
    assert (ROOT / place).exists()
