"""The door is typed: pyright accepts calls as people write them, and refuses wrong ones."""

import inspect
import json
import subprocess
import sys
from collections import Counter
from dataclasses import fields
from pathlib import Path
from typing import get_type_hints

import pytest

import wildtool as wt
from wildtool.api.keywords import PlayKeywords, RunKeywords
from wildtool.api.settings import FIELDS, RECORDS
from wildtool.cli.options.run import RunOptions, settings_values

EXAMPLES = Path(__file__).parent / "examples_typed.py"
WRONG = (
    'wt.run("wild-mini", model="m", temprature=0)',
    'wt.run("wild-mini", model="m", sample="8")',
    'wt.run("wild-mini")',
    'wt.run("wild-mini", "m")',
    'wt.run("wild-mini", model="m", prompts="theirs")',
    'wt.run("wild-mini", model="m", limits=wt.Limits(rpm="fast"))',
    'wt.run("wild-mini", model="m", roles=wt.Roles(user="gpt-4o"))',
    'wt.run("wild-mini", model=["a", "b"]).scores',
    'wt.judge(wt.load("wild-mini")[0], replies=["x"])',
    'wt.check_call({"name": "f"}, {"name": "f"}, {"name": "f"})',
    'wt.compare("a", "b", metric="task")',
    "wt.Items(limit=[1])",
)
"""Each is refused by a type checker before anything runs."""


def complaints(*files: Path) -> Counter[tuple[str, int]]:
    """Errors of pyright by file and line, from 0."""
    done = subprocess.run(
        [Path(sys.executable).parent / "pyright", "--outputjson", "--pythonpath", sys.executable, *files],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    found = json.loads(done.stdout)["generalDiagnostics"]
    return Counter((Path(each["file"]).name, each["range"]["start"]["line"]) for each in found)


def test_a_type_checker_accepts_thirty_calls_and_refuses_each_wrong_one(tmp_path: Path) -> None:
    good, wrong = tmp_path / "good.py", tmp_path / "wrong.py"
    good.write_text(f"# pyright: strict\n{EXAMPLES.read_text(encoding='utf-8')}", encoding="utf-8")
    wrong.write_text("\n".join(["import wildtool as wt", *WRONG]), encoding="utf-8")
    found = complaints(good, wrong)
    assert not [place for place in found if place[0] == "good.py"]
    assert {line for _, line in found} == set(range(1, len(WRONG) + 1))


def test_each_keyword_has_the_type_of_the_field_of_its_name() -> None:
    hints = get_type_hints(RunKeywords)
    own = {name: hint for name, hint in hints.items() if name not in RECORDS}
    assert own == {name: FIELDS[name].type for name in own}
    assert {name for name in hints if name in RECORDS} == RECORDS.keys() - {"workers"}


@pytest.mark.parametrize("function", [wt.run, wt.arun], ids=["run", "arun"])
def test_a_notebook_shows_each_keyword_with_its_default_and_a_sentence(function: object) -> None:
    shown = inspect.signature(function).parameters  # pyright: ignore[reportArgumentType]
    assert shown.keys() == {"bench", "model", *RunKeywords.__annotations__}
    assert (shown["timeout"].default, shown["repeats"].default, shown["sample"].default) == (600.0, 1, None)
    for name in RunKeywords.__annotations__:
        assert f"\n    {name}: " in str(inspect.getdoc(function)), name


def test_each_field_of_a_record_says_in_a_sentence_what_it_is() -> None:
    from wildtool.api.records import field_docs

    for record in RECORDS.values():
        assert field_docs(record).keys() == {each.name for each in fields(record)}
    assert {*PlayKeywords.__annotations__} < {*RunKeywords.__annotations__}


def test_options_and_fields_have_the_same_names_defaults_and_bounds() -> None:
    values = settings_values(RunOptions(model=["m"]))
    assert values == {name: its.default for name, its in FIELDS.items()}
    declarations = {**RunOptions.declarations, "tool_format": RunOptions.declarations["format_"]}  # pyright: ignore
    for name, its in FIELDS.items():
        declared = declarations[name].settings
        bounds = {bound: its.metadata[bound] for bound in ("min", "max") if bound in its.metadata}
        assert {bound: declared[bound] for bound in ("min", "max") if bound in declared} == bounds, name
