"""A scratch folder in which `papers.py` plays commands, the models that answer there, and what must have come out."""

import csv
import io
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loopback import ROOT

TESTS = ("tests", "packages/wildtool-data/tests", "packages/wildtool-review/tests")
"""Folders with the scripted models and terminals that are used here, too."""
here = sys.path.pop(0)
sys.path += [str(ROOT / place) for place in TESTS]
import review.terminals  # noqa: E402, F401 - while this folder, with a review.py of its own, is not on the path

sys.path.insert(0, here)

from cli.commands.players_endpoint import Gate, served  # noqa: E402
from generate.agents.test_agents import Writer  # noqa: E402
from generate.sessions.players import Players  # noqa: E402
from generate.tools.players import ApiPlayers  # noqa: E402
from jobs import serving  # noqa: E402

LIMIT_S = 600
"""Longest time of one command."""


_MANY_ROLES = re.compile(r"(?:--role-model (\w+)=\1 ){2,}")
"""Each role's own model, which a table need not list."""


class NotSeenError(Exception):
    """A command did not print or write what the row asks for."""


class NoDataError(Exception):
    """A row needs official data that are not at hand."""


@dataclass
class Scratch:
    """Plays commands in a folder, each once, and notes those that a row is shown with."""

    folder: Path
    official: Path
    """Holds official data by benchmark, as `wildtool data pull NAME --from` takes them."""
    addresses: dict[str, str]
    """By model of the scripted ones the address at which it answers."""
    asked: list[dict[str, Any]]
    """Bodies of all requests to them."""
    shown: list[str] = field(default_factory=list[str])
    """The commands of the row that is played now."""
    _done: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])

    def wildtool(self, line: str, *, status: int = 0, show: bool = True) -> str:
        """What `wildtool LINE` prints, with what it says on the side. The same line is played once.

        Args:
            line: an address of a model is written as its name in braces, such as `{sessions}`.
            show: whether it is part of the row; else it only prepares something.

        Raises NotSeenError for another exit status.
        """
        return "".join(self._played(line, status, show))

    def printed(self, line: str, *, show: bool = True) -> str:
        """As `wildtool`, without what is said on the side: a table as CSV or JSON."""
        return self._played(line, 0, show)[0]

    def _played(self, line: str, status: int, show: bool) -> tuple[str, str]:
        if show:
            written = line.format(**dict.fromkeys(self.addresses, "ADDRESS"))
            self.shown.append("wildtool " + _MANY_ROLES.sub("ROLES ", written))
        if line not in self._done:
            self._done[line] = self._play(line, status)
        return self._done[line]

    def _play(self, line: str, status: int) -> tuple[str, str]:
        words = shlex.split(line.format(**self.addresses))
        done = subprocess.run(
            [Path(sys.executable).with_name("wildtool"), *words],
            cwd=self.folder,
            env=self._environment(),
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        said = (done.stdout + done.stderr)[-400:]
        expect(done.returncode == status, f"exit status {done.returncode} of `wildtool {line}`: {said}")
        return done.stdout, done.stderr

    def _environment(self) -> dict[str, str]:
        """Without keys, data or settings of the user's own."""
        ours = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("OPENAI_", "AZURE_", "WILDTOOL_"))
        }
        own = {f"XDG_{kind}_HOME": str(self.folder / kind.lower()) for kind in ("DATA", "CACHE", "CONFIG")}
        return {**ours, **own, "COLUMNS": "160"}

    def write(self, name: str, content: Any) -> None:
        """Writes a file: a text as it is, a list of records as JSON lines, anything else as JSON."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not isinstance(content, str):
            lines = name.endswith(".jsonl")
            content = (
                "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in content)
                if lines
                else json.dumps(content, ensure_ascii=False)
            )
        path.write_text(content, encoding="utf-8")

    def text(self, name: str) -> str:
        """A file that a command wrote. Raises NotSeenError where there is none."""
        path = self.folder / name
        expect(path.is_file(), f"no file {name}")
        return path.read_text(encoding="utf-8")

    def records(self, name: str) -> list[Any]:
        """A file of JSON lines that a command wrote."""
        return [json.loads(line) for line in self.text(name).splitlines()]

    def rows(self, name: str) -> list[dict[str, str]]:
        """A CSV file that a command wrote."""
        return csv_rows(self.text(name))

    def official_file(self, name: str) -> Path:
        """A file or folder of official data. Raises NoDataError where there is none."""
        path = self.official / name
        if not path.exists():
            raise NoDataError(f"needs {name} below --official")
        return path


def expect(found: bool, otherwise: str) -> None:
    """Raises NotSeenError, with what was seen in its place, unless something was found."""
    if not found:
        raise NotSeenError(" ".join(otherwise.split()))


def line_with(said: str, words: str) -> str:
    """The first line of an output that holds some words, with single blanks. Raises NotSeenError where there is none."""
    found = next((line for line in said.splitlines() if words in line), None)
    expect(found is not None, f"no line with {words!r} in: {said[-300:]}")
    return " ".join(str(found).split())


def run_counts(scratch: Scratch, run: str) -> dict[str, int]:
    """How many units of a run have each outcome."""
    return json.loads(scratch.printed(f"show {run} --json", show=False))["runs"][0]["counts"]


def csv_rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@contextmanager
def scripted_models(asked: list[dict[str, Any]], answers: Path) -> Iterator[dict[str, str]]:
    """Models of the tests for each kind of generation, and the server of `jobs.py`; gives the address of each.

    Args:
        asked: takes the body of each request to the former.
        answers: the file of the latter.
    """
    models = {"sessions": Players(), "tools": ApiPlayers(), "agents": Writer()}
    with ExitStack() as open_:
        found = {name: open_.enter_context(served(each, asked, Gate())) for name, each in models.items()}
        yield {**found, "answers": f"{open_.enter_context(serving(answers))}/ok/v1"}


def role_models(roles: Sequence[str]) -> str:
    """Options that name each role's model, which is called by the role, as the scripted ones are."""
    return " ".join(f"--role-model {role}={role}" for role in roles)
