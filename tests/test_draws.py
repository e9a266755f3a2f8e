"""Draws from a seed: the same as ever for each text that is one, and none ends on a text that is not UTF-8."""

import ast
import json
import re
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

import wildtool
from source_files import source_files, source_name
from wildtool.cli import app
from wildtool.draws import seeded_draw

ROOT = Path(wildtool.__file__).parent
SESSIONS = ROOT / "data" / "wild_mini.jsonl"


def wildtool_(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words], prog_name="wildtool")


@pytest.fixture
def odd_session(tmp_path: Path) -> Path:
    """A file with one session whose id has a lone surrogate, which JSON can write and UTF-8 cannot."""
    record = json.loads(SESSIONS.read_text(encoding="utf-8").partition("\n")[0])
    file = tmp_path / "odd.jsonl"
    file.write_text(json.dumps({**record, "id": "odd\ud800"}) + "\n", encoding="utf-8")
    return file


@pytest.mark.parametrize(
    "alteration",
    [
        ("--noise", "names:heavy"),
        ("--failures", "flaky:0.5"),
        ("--inject", "base"),
        ("--history", "own"),
        ("--history", "none"),
        ("--among", "7"),
    ],
)
def test_an_item_whose_id_has_a_lone_surrogate_is_run_with_each_alteration(
    odd_session: Path, tmp_path: Path, alteration: tuple[str, str]
) -> None:
    words = (
        "run",
        "wild-mini",
        "--data",
        odd_session,
        "-m",
        "baseline/gold",
        "-o",
        tmp_path / "run",
        "--quiet",
    )
    ran = wildtool_(*words, *alteration)
    assert (ran.exit_code, "internal error" in ran.output) == (0, False), ran.output


def test_a_session_whose_id_has_a_lone_surrogate_is_refreshed(odd_session: Path, tmp_path: Path) -> None:
    out = tmp_path / "fresh.jsonl"
    ran = wildtool_("data", "refresh", odd_session, "--out", out)
    assert ran.exit_code == 0, ran.output
    assert "odd\ud800" in json.loads(out.read_text(encoding="utf-8"))["id"]


@given(st.text() | st.integers() | st.binary())
def test_draws_are_those_of_the_standard_library_with_the_same_seed(seed: str | int | bytes) -> None:
    assert seeded_draw(seed).random() == Random(seed).random()


@given(st.text(st.characters(), max_size=3))
def test_a_seed_with_a_lone_surrogate_gives_draws_of_its_own(text: str) -> None:
    first, second = (seeded_draw(f"{text}\ud800{end}").random() for end in ("a", "b"))
    assert first != second
    assert first == seeded_draw(f"{text}\ud800a").random()


def test_only_one_function_makes_a_source_of_draws_from_a_seed() -> None:
    """Elsewhere an id with a lone surrogate would end in an internal error."""
    others = [path for path in source_files() if path != ROOT / "draws.py"]
    texts = {path: path.read_text(encoding="utf-8") for path in others}
    seeded = [
        f"{source_name(path)}:{call.lineno}"
        for path, text in texts.items()
        if re.search(r"\b(Random|seed)\b", text)
        for call in ast.walk(ast.parse(text))
        if isinstance(call, ast.Call) and (call.args or call.keywords) and _is_random(call.func)
    ]
    assert not seeded


def _is_random(called: ast.expr) -> bool:
    return (isinstance(called, ast.Name) and called.id == "Random") or (
        isinstance(called, ast.Attribute) and called.attr in ("Random", "seed")
    )
