"""Builds boards by the command, and reads their pages."""

import re
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

from typer.testing import CliRunner

from wildtool.cli import app


def command(*words: object) -> tuple[int, str]:
    """Exit status and output of a command. Raises AssertionError where it ends by an exception of its own."""
    ended = CliRunner().invoke(app, list(map(str, words)), prog_name="wildtool")
    assert ended.exception is None or isinstance(ended.exception, SystemExit), ended.exception
    return ended.exit_code, ended.output


def built(folder: Path) -> "tuple[Page, list[str]]":
    """The page of a board of a folder, and the lines that name what was refused."""
    status, output = command("board", "build", folder, "-o", folder / "site", "--force")
    *lines, page = output.splitlines()
    assert status == bool(lines)
    return Page(Path(page)), lines


@dataclass
class Entry:
    """One row of a board."""

    table: str
    """Title of its table."""
    label: str
    rank: str
    score: float | None
    mark: str


class Page(HTMLParser):
    """The rows of a board's page by the names of their submissions, and every tag of it."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.entries: dict[str, Entry] = {}
        self.tags: set[str] = set()
        self._heading = ""
        self._title: list[str] = []
        self._name = ""
        self._cells: list[tuple[dict[str, str | None], list[str]]] = []
        self.feed(page.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        values = dict(attrs)
        if tag == "h2":
            self._title, self._cells = [], []
        elif tag == "tr":
            self._name, self._cells = "", []
        elif tag in ("td", "th"):
            self._cells.append((values, []))
        elif tag == "a" and (
            match := re.fullmatch(r"files/.*-([a-z0-9]+)\.passport\.json", values["href"] or "")
        ):
            self._name = match[1]

    def handle_data(self, data: str) -> None:
        (self._cells[-1][1] if self._cells else self._title).append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "h2":
            self._heading = "".join(self._title).strip()
        if tag != "tr" or not self._name:
            return
        texts = ["".join(words).strip() for _, words in self._cells]
        score = self._cells[2][0]["data-value"]
        mark = next(text for text in texts if text.startswith(("recomputed", "as submitted")))
        label = texts[0].removesuffix("passport").strip()
        value = float(score) if score else None
        self.entries[self._name] = Entry(self._heading, label, texts[1], value, mark)
        self._name = ""
