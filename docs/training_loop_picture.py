"""Draws docs/images/training-loop.svg from the table of docs/training-loop.md: `python docs/training_loop_picture.py`."""

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

HERE = Path(__file__).parent
PICTURE = HERE / "images" / "training-loop.svg"
HEADING = "### At the end of a training"
LEFT, PANEL, GAP, TOP, ROW = 220, 240, 60, 56, 26
PANELS = (("calls right", 3, 0.25), ("texts without a call", 5, 1.0))
"""Name, cell of the table, and the share at the right end."""
CELL = re.compile(r"(\d+) of (\d+)(?: \((\d+) to (\d+) %\))?")


def rows() -> Iterator[list[str]]:
    """The cells of each row of the table."""
    section = (HERE / "training-loop.md").read_text(encoding="utf-8").partition(HEADING)[2]
    table = section.partition("\nIntervals")[0]
    lines = [line for line in table.splitlines() if line.startswith("|")]
    for line in lines[2:]:
        yield [cell.strip() for cell in line.strip("|").split("|")]


def text(x: float, y: float, words: str, anchor: str = "start") -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(words)}</text>'


def mark(cell: str, start: float, most: float, y: float) -> Iterator[str]:
    """A share with its interval, and its number beside it."""
    found = CELL.fullmatch(cell)
    if found is None:
        raise ValueError(f"{cell!r} is no share; expected like '4 of 61 (2 to 13 %)'")
    right, of, low, high = (None if part is None else int(part) for part in found.groups())
    assert right is not None and of is not None

    def place(share: float) -> float:
        return round(start + PANEL * share / most, 1)

    if low is not None and high is not None:
        yield f'<path d="M{place(low / 100):g} {y:g}H{place(high / 100):g}" stroke="#4c78a8" stroke-width="3"/>'
    yield f'<circle cx="{place(right / of):g}" cy="{y:g}" r="5" fill="#1f3f66"/>'


def drawing() -> str:
    table = list(rows())
    width, height = LEFT + 2 * PANEL + GAP + 30, TOP + ROW * len(table) + 30
    parts: list[str] = []
    for number, (name, cell, most) in enumerate(PANELS):
        start = LEFT + number * (PANEL + GAP)
        parts.append(text(start, 24, name))
        for tick in range(6):
            x, end = start + PANEL * tick / 5, TOP + ROW * len(table) - 8
            parts.append(f'<path d="M{x:g} {TOP - 12}V{end}" stroke="#ddd"/>')
            parts.append(text(x, end + 18, f"{100 * most * tick / 5:g} %", "middle"))
        for row, cells in enumerate(table):
            parts.extend(mark(cells[cell], start, most, TOP + ROW * row))
    for row, (name, seed, steps, *_) in enumerate(table):
        label = f"{name}, seed {seed}, {steps} steps" if seed else name
        parts.append(text(LEFT - 14, TOP + ROW * row + 4, label, "end"))
    about = "; ".join(f"{cells[0]} {cells[1]}: {cells[3]} calls, {cells[5]} texts" for cells in table)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{escape(about)}" font-family="sans-serif" font-size="13">'
        f'<rect width="100%" height="100%" fill="white"/>{"".join(parts)}</svg>\n'
    )


if __name__ == "__main__":
    PICTURE.write_text(drawing(), encoding="utf-8")
