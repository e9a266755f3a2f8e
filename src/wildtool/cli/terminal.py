"""Writes to the terminal; hostile texts (model names, ids, reasons) arrive there as text and nothing else."""

import csv
import os
import re
import shutil
import sys
from collections.abc import Iterable, Sequence

from wildtool.sanitize import as_cell, middle, one_line, plain, shortened

__all__ = [
    "BOLD",
    "Remarks",
    "bold",
    "columns",
    "duration",
    "middle",
    "note",
    "one_line",
    "plain",
    "print_rows",
    "reason",
    "remark",
    "say",
    "step",
]

PIPED = 100
"""Columns of an output that is no terminal."""
BOLD = ("\x1b[1m", "\x1b[0m")


def columns() -> int:
    """How many columns a table may take."""
    return shutil.get_terminal_size((PIPED, 24)).columns


def bold() -> bool:
    """Whether the output is a terminal that can print bold."""
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("NO_COLOR")


def say(text: str = "") -> None:
    """Prints a result."""
    print(plain(text))


def remark(text: str) -> None:
    """Prints a sentence among the results, within the width of a table."""
    say("\n".join(_folded(text, columns())))


def note(text: str) -> None:
    """Prints a remark beside the results, to the error stream: on a terminal within its width, else a line as it is."""
    if sys.stderr.isatty():
        text = "\n".join(_folded(plain(text), columns()))
    print(plain(text), file=sys.stderr, flush=True)


def _folded(text: str, room: int) -> list[str]:
    """The text wrapped at blanks, if possible at none of a command in backticks."""
    from wildtool.cli.output.grid import wrapped  # loads a library

    def kept(command: re.Match[str]) -> str:
        return command[0].replace(" ", "\0") if len(command[0]) < room else command[0]

    safe = re.sub("`[^`\n]+`", kept, text.replace("\0", ""))
    return [line.replace("\0", " ") for part in safe.split("\n") for line in wrapped(part, room)]


def duration(seconds: float) -> str:
    """A time in words, roughly: 40 s, 3 min, 2.5 h."""
    for least, size, unit in ((5400.0, 3600, "h"), (90.0, 60, "min")):
        if seconds >= least:
            count = seconds / size
            return f"{count:.0f} {unit}" if count >= 10 else f"{count:.1f}".removesuffix(".0") + f" {unit}"
    return f"{seconds:.0f} s"


def reason(text: str) -> str:
    """A reason on one line, whole unless it is of extreme length."""
    return one_line(shortened(text, 1_000), 2_000)


class Remarks:
    """Prints the first remarks of many; `close` says how many more there were."""

    def __init__(self, most: int = 20) -> None:
        self._most = most
        self._count = 0

    def __call__(self, text: str) -> None:
        self._count += 1
        if self._count <= self._most:
            note(reason(text))

    def close(self) -> None:
        if self._count > self._most:
            note(f"… and {self._count - self._most} more like these")


def step(text: str) -> None:
    """Shows on a terminal what is being done, on one line that the next text takes; an empty text clears it."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{one_line(text, 70)}", end="", file=sys.stderr, flush=True)


def print_rows(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Prints rows as CSV, each text of them on one line and no formula to a spreadsheet."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow(as_cell(one_line(value, 2_000) if isinstance(value, str) else value) for value in row)
