"""The table of what the papers describe has every row that `bench/papers.py` plays, as it printed it."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
MOST_REASONS = 8


def test_the_page_has_each_row_of_the_script_and_none_that_fails():
    played = re.findall(
        r"^    Row\(\s*(\d+),", (ROOT / "bench" / "papers.py").read_text("utf-8"), re.MULTILINE
    )
    page = (ROOT / "docs" / "published.md").read_text("utf-8").partition("## What the papers describe")[2]
    shown = re.findall(r"^\| (\d+) \|.*\| (\w+) \|$", page, re.MULTILINE)
    assert [number for number, _ in shown] == played
    verdicts = [verdict for _, verdict in shown]
    assert set(verdicts) == {"works", "reason"}
    assert verdicts.count("reason") <= MOST_REASONS
