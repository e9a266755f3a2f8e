"""Lays out tables of text within a width: no word or number is broken, and what does not fit becomes a further table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rich.cells import cell_len

from wildtool.sanitize import ellipsize

COLUMN_GAP = 2
"""Blanks between two columns."""
MIN_NAME_WIDTH = 12
"""Characters that are left of a name at least where a terminal is too narrow for it and one number."""


@dataclass(frozen=True, slots=True)
class GridColumn:
    """What stands above a column and how its cells are set."""

    head: str = ""
    """May have several lines, and wraps at blanks where space is short."""
    align: Literal["left", "right"] = "right"
    wraps: bool = False
    """Whether cells may wrap at blanks: sentences, not names or numbers."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of texts; the lines of a cell are separated by newlines.

    Its first columns say what a row is about, and are repeated where the table has to be cut.
    """

    columns: Sequence[GridColumn]
    rows: Sequence[Sequence[str]]
    keys: int = 1
    """How many columns say what a row is about."""
    bold: frozenset[int] = frozenset()
    """Rows that are set off on a terminal."""
    legend: tuple[str, ...] = ()
    """What is said before the table of numbers that stand for names in it."""

    def tables(self, width: int, bold: tuple[str, str] = ("", "")) -> list[list[str]]:
        """The lines of the table, or of the tables that it has to be cut into to fit.

        Args:
            width: most columns of a line.
            bold: what begins and ends a row that is set off.
        """
        return [_render(self, columns, width, bold) for columns in self.split_columns(width)]

    def fits(self, width: int) -> bool:
        """Whether it can be cut so that no line is too long and no name is shortened."""
        narrow = self._minimum_widths()
        keys = sum(narrow[: self.keys]) + COLUMN_GAP * self.keys
        return all(keys + column <= width for column in narrow[self.keys :])

    def split_columns(self, width: int) -> list[list[int]]:
        """The columns of each table that fits, the keys in all of them."""
        every = list(range(len(self.columns)))
        if len(every) <= self.keys or sum(self._natural_widths()) + COLUMN_GAP * (len(every) - 1) <= width:
            return [every]
        narrow = self._minimum_widths()
        keys = every[: self.keys]
        tables: list[list[int]] = []
        for column in every[self.keys :]:
            wanted = [*(tables[-1] if tables else keys), column]
            if tables and sum(narrow[i] for i in wanted) + COLUMN_GAP * (len(wanted) - 1) <= width:
                tables[-1].append(column)
            else:
                tables.append([*keys, column])
        return tables

    def _natural_widths(self) -> list[int]:
        """Widths where nothing wraps."""
        return [max(map(_width, (column.head, *self._cells(i)))) for i, column in enumerate(self.columns)]

    def _minimum_widths(self) -> list[int]:
        """Widths where everything wraps that may."""
        return [
            max(
                _longest_word(column.head),
                *(_longest_word(cell) if column.wraps else _width(cell) for cell in self._cells(i)),
                0,
            )
            for i, column in enumerate(self.columns)
        ]

    def _cells(self, column: int) -> list[str]:
        return [row[column] for row in self.rows]

    def widths(self, columns: Sequence[int], width: int) -> list[int]:
        """Widths of some of the columns that are to stand in one table."""
        wide, narrow = self._natural_widths(), self._minimum_widths()
        found = [wide[i] for i in columns]
        room = width - COLUMN_GAP * (len(columns) - 1)
        while (over := sum(found) - room) > 0:
            able = [k for k, i in enumerate(columns) if found[k] > narrow[i]]
            if not able:
                break
            widest = max(able, key=lambda k: found[k])
            found[widest] -= min(over, max(1, (found[widest] - narrow[columns[widest]]) // 2))
        if (over := sum(found) - room) > 0:
            found[0] = max(found[0] - over, min(found[0], MIN_NAME_WIDTH))
        return found


def _render(grid: Grid, columns: Sequence[int], width: int, bold: tuple[str, str]) -> list[str]:
    widths = grid.widths(columns, width)
    lines: list[str] = []
    if any(grid.columns[i].head for i in columns):
        heads = [_wrapped(grid.columns[i].head, room) for i, room in zip(columns, widths, strict=True)]
        tallest = max(map(len, heads))
        low = [[""] * (tallest - len(head)) + head for head in heads]
        lines += _render_row(grid, columns, widths, low)
        lines.append("─" * (sum(widths) + COLUMN_GAP * (len(widths) - 1)))
    for number, row in enumerate(grid.rows):
        cells = [
            _wrapped(row[i], room) if grid.columns[i].wraps else _hard_wrap(row[i], room)
            for i, room in zip(columns, widths, strict=True)
        ]
        begin, end = bold if number in grid.bold else ("", "")
        lines += [f"{begin}{line}{end}" for line in _render_row(grid, columns, widths, cells)]
    return lines


def _render_row(
    grid: Grid, columns: Sequence[int], widths: Sequence[int], cells: Sequence[Sequence[str]]
) -> list[str]:
    """The lines of one row."""
    lines: list[str] = []
    for k in range(max(map(len, cells), default=0)):
        parts: list[str] = []
        for i, room, cell in zip(columns, widths, cells, strict=True):
            text = cell[k] if k < len(cell) else ""
            blanks = " " * (room - cell_len(text))
            parts.append(text + blanks if grid.columns[i].align == "left" else blanks + text)
        lines.append((" " * COLUMN_GAP).join(parts).rstrip())
    return lines


def _hard_wrap(text: str, room: int) -> list[str]:
    """The lines of a cell that does not wrap; only where a terminal is too narrow for it their middle is left out."""
    return [line if cell_len(line) <= room else ellipsize(line, room) for line in text.split("\n")]


def _wrapped(text: str, room: int) -> list[str]:
    return [part for line in text.split("\n") for part in wrap_text(line, room)]


def wrap_text(text: str, room: int, indent: str = "") -> list[str]:
    """The lines of a text that wraps at blanks; a word that is longer than the room stays whole.

    Args: indent: begins every line but the first, beyond the blanks that the text itself begins with.
    """
    first, *words = text.lstrip(" ").split(" ")
    lead = " " * (len(text) - len(text.lstrip(" ")))
    lines = [lead + first]
    for word in words:
        begun = f"{lines[-1]} {word}"
        if cell_len(begun.rstrip()) > room:
            lines.append(lead + indent + word)
        else:
            lines[-1] = begun
    return [line.rstrip() for line in lines]


def _width(text: str) -> int:
    return max(map(cell_len, text.split("\n")))


def _longest_word(text: str) -> int:
    return max(map(cell_len, text.split()), default=0)
