"""The usual changes of CONTRIBUTING.md take the files that it names and nothing else.

Each change is made in a copy of the tree, as somebody new would make it, and the tests that it could affect run there:
one that is drawn, all by `make long`.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from random import Random

import pytest

from long import a_fiftieth_of

ROOT = Path(__file__).parents[2]
COPIED = ("src", "packages", "tests", "docs", "scripts", "bench", ".github", ".ci")
RULES_OF_THE_TREE = (
    "tests/test_weight.py",
    "tests/test_layers.py",
    "tests/test_names.py",
    "tests/test_words.py",
    "tests/test_architecture.py",
)
NAMES = "tests/e2e/test_stable_surface.py::test_names_stay"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One row of the table *Usual changes* in CONTRIBUTING.md, done."""

    row: str
    """How the row begins."""
    added: Mapping[str, tuple[str, str]]
    """By file the line before the new ones, and the new ones."""
    new: Mapping[str, str] = field(default_factory=dict[str, str])
    """New files with their text."""
    tests: tuple[str, ...]
    """What could be affected, beside the rules of the tree."""


BENCHMARK = '''"""The benchmark of a newcomer: one question, one answer."""

from collections.abc import Iterator
from pathlib import Path

from wildtool.benchmark import Check, SingleTurn
from wildtool.json_codec import read_json_lines
from wildtool.types import Item, Message, Request, Source


class Newcomer(SingleTurn):
    """Right is the reply that says the answer."""

    name = "newcomer"
    title = "newcomer: one question, one answer"
    data = Path(__file__).with_name("questions.jsonl")

    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        for number, (_, record) in enumerate(read_json_lines(source.path)):
            if lang in (None, "en") and split in (None, ""):
                yield Item(str(number), ("0",), record)

    def request(self, item: Item) -> Request:
        answer: Message = {"role": "assistant", "content": item.data["answer"]}
        return Request([{"role": "user", "content": item.data["question"]}], gold=lambda style: answer)

    def check(self, item: Item, reply: Message, profile: str) -> Check:
        if reply.get("content") == item.data["answer"]:
            return Check(True, reason="the answer")
        return Check(False, "wrong answer", "another text")


NEWCOMER = Newcomer()
'''
CHANGES = {
    "provider": Change(
        row="a provider of a known protocol",
        added={
            "src/wildtool/models/resolve.py": (
                '    "anthropic": Preset("https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", "messages"),',
                '    "newcomer": Preset("https://api.newcomer.example/v1", "NEWCOMER_API_KEY"),',
            ),
            "docs/models.md": (
                "| `anthropic/claude-sonnet-4-5` | messages | `https://api.anthropic.com/v1` | `ANTHROPIC_API_KEY` |",
                "| `newcomer/large` | chat completions | `https://api.newcomer.example/v1` | `NEWCOMER_API_KEY` |",
            ),
        },
        tests=(
            "tests/models/test_presets.py",
            "tests/models/test_choice.py",
            "tests/cli/commands/test_list_models.py",
        ),
    ),
    "column": Change(
        row="a column of verdicts",
        added={
            "src/wildtool/benchmarks/rotbench/__init__.py": (
                '        "level": "INTEGER",',
                '        "words": "INTEGER",',
            ),
            "src/wildtool/benchmarks/rotbench/judge.py": (
                '        columns = {"level": level, "reference_error": None}',
                '        columns |= {"words": len((text or "").split())}',
            ),
        },
        tests=("tests/benchmarks/rotbench",),
    ),
    "rule": Change(
        row="a rule that reviews, lint and the generator apply",
        added={
            "src/wildtool/benchmarks/wildtoolbench/lint/rules.py": (
                '"""Rules that only `strict` asks for."""',
                '\n\n@SESSION_RULES.rule("newcomer")\n'
                "def check_newcomer(case: LintedSession) -> Iterator[SchemaFault]:\n"
                '    """No task has the text of a newcomer."""\n'
                "    for t, task in enumerate(case.session.tasks):\n"
                '        if task.text == "newcomer":\n'
                '            yield f"{case.prefix}_tasks[{t}]", "the text of a newcomer"',
            ),
        },
        tests=(
            "tests/benchmarks/wildtoolbench/test_lint.py",
            "packages/wildtool-data/tests/generate/sessions/test_rules.py",
            "packages/wildtool-data/tests/formats/test_formats.py",
        ),
    ),
    "benchmark": Change(
        row="a benchmark",
        added={
            "src/wildtool/benchmarks/__init__.py": (
                '    "ledger": "wildtool.benchmarks.ledger:LEDGER",',
                '    "newcomer": "wildtool.benchmarks.newcomer:NEWCOMER",',
            ),
        },
        new={
            "src/wildtool/benchmarks/newcomer/__init__.py": BENCHMARK,
            "src/wildtool/benchmarks/newcomer/questions.jsonl": '{"question": "2 + 2?", "answer": "4"}\n',
        },
        tests=(
            "tests/benchmarks/test_carried_replies.py",
            "tests/test_benchmark.py",
            "tests/cli/commands/test_list_models.py",
        ),
    ),
}


def affected_tests(
    folder: Path, tests: tuple[str, ...], **variables: str
) -> subprocess.CompletedProcess[str]:
    """Runs tests of a copy on the packages of that copy."""
    sources = [folder / "src", *sorted(folder.glob("packages/*/src"))]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests],
        cwd=folder,
        env={**environment, "PYTHONPATH": os.pathsep.join(map(str, sources)), **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def is_named(file: str, row: str) -> bool:
    """Whether a row of the table names a file: by its path or a pattern of it, by its folder, or by its name alone."""
    places = re.findall(r"`([^`]+)`", row)
    return any(
        fnmatch(file, place) or fnmatch(file, f"*{place}/*") or Path(file).name == place for place in places
    )


def make_and_test(change: Change, copy: Path) -> None:
    """Makes a change in a copy of the tree, with the files that its row names, and runs the tests there."""
    table = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines()
    (row,) = (line for line in table if line.startswith(f"| {change.row} |"))
    assert [file for file in {**change.added, **change.new} if not is_named(file, row)] == []
    for folder in COPIED:
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy(path, copy)
    for file, (before, lines) in change.added.items():
        text = (copy / file).read_text(encoding="utf-8")
        assert text.count(f"{before}\n") == 1
        (copy / file).write_text(text.replace(f"{before}\n", f"{before}\n{lines}\n"), encoding="utf-8")
    for file, text in change.new.items():
        (copy / file).parent.mkdir(exist_ok=True)
        (copy / file).write_text(text, encoding="utf-8")
    # The one file of pinned names is written again by the command that CONTRIBUTING.md has.
    affected_tests(copy, (NAMES,), WILDTOOL_WRITE_GOLDEN="1")
    ended = affected_tests(copy, (NAMES, *RULES_OF_THE_TREE, *change.tests))
    assert ended.returncode == 0, ended.stdout


@pytest.mark.long
def test_a_usual_change_takes_the_files_that_contributing_names(tmp_path: Path):
    for name in Random().sample([*CHANGES], a_fiftieth_of(len(CHANGES))):
        make_and_test(CHANGES[name], tmp_path / name)
