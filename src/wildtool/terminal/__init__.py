"""Writes to the terminal; hostile texts (model names, ids, reasons) arrive there as text and nothing else."""

import codecs
import csv
import os
import re
import shutil
import sys
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Any, TextIO, cast

from wildtool.redact import redacted_text
from wildtool.sanitize import csv_safe, ellipsize, escape_text, single_line, truncate_words

__all__ = [
    "BOLD",
    "PLAIN_LETTERS",
    "CappedMessages",
    "ask_trust",
    "ellipsize",
    "escape_text",
    "format_reason",
    "print_err",
    "print_out",
    "print_rows",
    "print_step",
    "print_wrapped",
    "redacted_output",
    "single_line",
    "supports_bold",
    "terminal_width",
    "wrap_text",
    "write_plain_letters",
]

PLAIN_LETTERS = "wildtool-plain-letters"
"""Name under which `write_plain_letters` is the error handler of a stream."""
_PLAIN = {
    "…": "...",
    "–": "-",
    "—": "-",
    "−": "-",
    "─": "-",
    "·": "-",
    "×": "x",
    "→": "->",
    "“": '"',
    "”": '"',
    "‘": "'",
    "’": "'",
    "≤": "<=",
    "≥": ">=",
    "±": "+-",
    "\u00a0": " ",
}
"""What is written of our own letters where an encoding lacks them."""


def write_plain_letters(error: UnicodeError) -> tuple[str, int]:
    """What a stream of an encoding other than UTF-8 writes for letters that it lacks: ours as ASCII, others as `?`."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(_PLAIN.get(letter, "?") for letter in error.object[error.start : error.end]), error.end


codecs.register_error(PLAIN_LETTERS, write_plain_letters)
PIPED_WIDTH = 100
"""Columns of an output that is no terminal."""
BOLD = ("\x1b[1m", "\x1b[0m")


class _RedactedStream:
    """A text stream that writes no known secret."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(redacted_text(text))
        return len(text)

    def writelines(self, texts: Iterable[str]) -> None:
        for text in texts:
            self.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def redacted_output() -> Generator[None]:
    """Meanwhile nothing is printed with a known secret in it, also by a library or of a traceback."""
    before = (sys.stdout, sys.stderr)
    during = tuple(cast(TextIO, _RedactedStream(stream)) for stream in before)
    sys.stdout, sys.stderr = during
    try:
        yield
    finally:
        # A stream whose reader is gone has been replaced, so that nothing is flushed into it at exit.
        if (sys.stdout, sys.stderr) == during:
            sys.stdout, sys.stderr = before


def terminal_width() -> int:
    """How many columns a table may take."""
    return shutil.get_terminal_size((PIPED_WIDTH, 24)).columns


def supports_bold() -> bool:
    """Whether the output is a terminal that can print bold."""
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("NO_COLOR")


def print_out(text: str = "") -> None:
    """Prints a result."""
    print(escape_text(text))


def print_wrapped(text: str) -> None:
    """Prints a sentence among the results, within the width of a table."""
    print_out("\n".join(_wrap_to(text, terminal_width())))


def print_err(text: str) -> None:
    """Prints a remark beside the results, to the error stream: on a terminal within its width, else a line as it is."""
    if sys.stderr.isatty():
        text = "\n".join(_wrap_to(escape_text(text), terminal_width()))
    print(escape_text(text), file=sys.stderr, flush=True)


_BLANK = "\ue000"
"""Stands for a blank at which no line ends; as wide as one, and of no text."""


def _wrap_to(text: str, room: int) -> list[str]:
    """The text wrapped at blanks, if possible at none of a command in backticks."""

    def unbroken(command: re.Match[str]) -> str:
        return command[0].replace(" ", _BLANK) if len(command[0]) < room else command[0]

    safe = re.sub("`[^`\n]+`", unbroken, text.replace(_BLANK, ""))
    return [line.replace(_BLANK, " ") for part in safe.split("\n") for line in wrap_text(part, room)]


def wrap_text(text: str, room: int, indent: str = "") -> list[str]:
    """The lines of a text that wraps at spaces; a word that is too long stays whole.

    Args: indent: start of every line except the first, after the spaces that the text itself starts with.
    """
    from rich.cells import cell_len  # most commands wrap nothing

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


def format_reason(text: str) -> str:
    """A reason on one line, whole unless it is of extreme length."""
    return single_line(truncate_words(text, 1_000), 2_000)


class CappedMessages:
    """Prints the first remarks of many; `close` says how many more there were."""

    def __init__(self, limit: int = 20) -> None:
        self._limit = limit
        self._count = 0

    def __call__(self, text: str) -> None:
        self._count += 1
        if self._count <= self._limit:
            print_err(format_reason(text))

    def close(self) -> None:
        if self._count > self._limit:
            print_err(f"… and {self._count - self._limit} more like these")


def print_step(text: str) -> None:
    """Shows on a terminal what is being done, on one line that the next text takes; an empty text clears it."""
    print(f"\r\x1b[K{single_line(text, 70)}", end="", file=sys.stderr, flush=True)


def ask_trust(statement: str) -> bool:
    """Shows on a terminal what something would do that nobody named, and asks whether it may."""
    print_step("")
    print_err(statement)
    question = "It was found, and you did not name it. Trust it, until it changes? [y/N] "
    print(question, end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def print_rows(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Prints rows as CSV, each text of them on one line and no formula to a spreadsheet."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow(
            csv_safe(single_line(value, 2_000) if isinstance(value, str) else value) for value in row
        )
