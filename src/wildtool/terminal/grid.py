"""Lays out tables of text within a width: no word or number is broken, and columns that do not fit go to
another table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rich.cells import cell_len

from wildtool.terminal import ellipsize, wrap_text

COLUMN_GAP = 2
"""Spaces between two columns."""
MIN_NAME_WIDTH = 12
"""Minimum width of a name if a terminal is too narrow for it and one number."""


@dataclass(frozen=True, slots=True)
class GridColumn:
    """The head of a column, and how its cells are set."""

    head: str = ""
    """May have several lines, and wraps if space is short."""
    align: Literal["left", "right"] = "right"
    wraps: bool = False
    """Whether cells may wrap: sentences, not names or numbers."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of texts; the lines of a cell are separated by newlines.

    Its first columns identify a row, and are repeated if the table is split.
    """

    columns: Sequence[GridColumn]
    rows: Sequence[Sequence[str]]
    keys: int = 1
    """How many columns identify a row."""
    bold: frozenset[int] = frozenset()
    """Rows that are highlighted on a terminal."""
    captions: Sequence[str] = ()
    """A line above each row, of names that leave no room for numbers beside them; none for no such lines."""

    def tables(self, width: int, bold: tuple[str, str] = ("", "")) -> list[list[str]]:
        """The lines of the table, or of the tables that it is split into to fit.

        Args:
            width: maximum columns of a line.
            bold: start and end of a highlighted row.
        """
        return [_render(self, columns, width, bold) for columns in self.split_columns(width)]

    def fits(self, width: int) -> bool:
        """Whether it can be split so that no line is too long and no name is shortened."""
        narrow = self._minimum_widths()
        keys = sum(narrow[: self.keys]) + COLUMN_GAP * self.keys
        return all(keys + column <= width for column in narrow[self.keys :])

    def split_columns(self, width: int) -> list[list[int]]:
        """The columns of each table that fits, including the keys in each."""
        every = list(range(len(self.columns)))
        narrow = self._minimum_widths()
        keys, rest = every[: self.keys], every[self.keys :]
        tables = [keys + rest[:1]]
        for column in rest[1:]:
            extended = [*tables[-1], column]
            if sum(narrow[i] for i in extended) + COLUMN_GAP * (len(extended) - 1) <= width:
                tables[-1] = extended
            else:
                tables.append([*keys, column])
        return tables

    def _natural_widths(self) -> list[int]:
        """Widths if nothing wraps."""
        return [max(map(_width, (column.head, *self._cells(i)))) for i, column in enumerate(self.columns)]

    def _minimum_widths(self) -> list[int]:
        """Widths if everything wraps that may."""
        return [
            max(
                [
                    _longest_word(column.head),
                    *map(_longest_word if column.wraps else _width, self._cells(i)),
                ]
            )
            for i, column in enumerate(self.columns)
        ]

    def _cells(self, column: int) -> list[str]:
        return [row[column] for row in self.rows]

    def widths(self, columns: Sequence[int], width: int) -> list[int]:
        """Widths of columns that go into one table."""
        wide, narrow = self._natural_widths(), self._minimum_widths()
        shares = [wide[i] for i in columns]
        room = width - COLUMN_GAP * (len(columns) - 1)
        while (over := sum(shares) - room) > 0:
            able = [k for k, i in enumerate(columns) if shares[k] > narrow[i]]
            if not able:
                shares[0] = max(shares[0] - over, min(shares[0], MIN_NAME_WIDTH))
                break
            widest = max(able, key=lambda k: shares[k])
            shares[widest] -= min(over, max(1, (shares[widest] - narrow[columns[widest]]) // 2))
        return shares


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
        lines += grid.captions[number : number + 1]
        lines += [f"{begin}{line}{end}" for line in _render_row(grid, columns, widths, cells)]
    return lines


def _render_row(
    grid: Grid, columns: Sequence[int], widths: Sequence[int], cells: Sequence[Sequence[str]]
) -> list[str]:
    """The lines of one row."""
    lines: list[str] = []
    for k in range(max(map(len, cells))):
        parts: list[str] = []
        for i, room, cell in zip(columns, widths, cells, strict=True):
            text = cell[k] if k < len(cell) else ""
            blanks = " " * (room - cell_len(text))
            parts.append(text + blanks if grid.columns[i].align == "left" else blanks + text)
        lines.append((" " * COLUMN_GAP).join(parts).rstrip())
    return lines


def _hard_wrap(text: str, room: int) -> list[str]:
    """The lines of a cell that does not wrap; if a terminal is too narrow, their middle is left out."""
    return [line if cell_len(line) <= room else ellipsize(line, room) for line in text.split("\n")]


def _wrapped(text: str, room: int) -> list[str]:
    return [part for line in text.split("\n") for part in wrap_text(line, room)]


def _width(text: str) -> int:
    return max(map(cell_len, text.split("\n")))


def _longest_word(text: str) -> int:
    return max(map(cell_len, text.split()), default=0)
