"""Imported replies whose calls are texts: the first remedy that is printed reads them, and costs no call."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from parity.cases import oracle_folder, present
from wildtool.cli import app


@pytest.fixture(scope="module")
def folder() -> Path:
    return present(oracle_folder("found") / "borders")


def shown(command: str) -> str:
    """What a command prints, its lines joined."""
    ended = CliRunner().invoke(app, shlex.split(command)[1:], env={"COLUMNS": "300"})
    return " ".join(ended.output.split())


def first_command(text: str) -> str:
    return re.findall(r"`(wildtool [^`]+)`", text)[0]


def right(text: str, number: str) -> tuple[int, int]:
    """Numerator and denominator of a number of a table."""
    ((numerator, denominator),) = re.findall(rf"{number} [^/]*?(\d+)/(\d+)", text)
    return int(numerator), int(denominator)


@pytest.mark.parametrize("name", ["hermes", "mistralt"])
def test_the_first_command_that_is_named_gives_the_score_of_native_calls(folder: Path, name: str):
    command = "wildtool score --data wild-mini --replies "
    native = right(shown(f"{command}{folder}/replies_openai.jsonl"), "accuracy: task")
    before = shown(f"{command}{folder}/replies_{name}.jsonl")
    after = right(shown(first_command(before)), "accuracy: task")
    assert right(before, "accuracy: task") < after == native == (8, 8)


def test_the_one_call_in_a_text_of_a_bfcl_result_is_read_and_the_failed_call_is_not_to_be_repeated(
    folder: Path, bfcl_package: Path
):
    data = present(oracle_folder("found").parents[1] / "data" / "bfcl")
    before = shown(
        f"wildtool score --benchmark bfcl --data {data} --split simple_python --replies {folder}/21_bfcl_result/result"
    )
    assert "--tool-format mistral" in first_command(before)
    assert "same command" not in before
    assert right(before, "category: simple_python") == (1, 4)
    assert right(shown(first_command(before)), "category: simple_python") == (2, 4)


def test_where_the_benchmark_asks_for_calls_as_text_no_format_is_advised(folder: Path):
    data = present(oracle_folder("found").parents[1] / "data" / "acebench")
    command = f"wildtool score --benchmark acebench --data {data} --replies {folder}/22_acebench_result"
    assert "--tool-format" not in shown(command)
    for name in ("pythonic", "auto"):
        assert "the benchmark itself reads calls from its texts" in shown(f"{command} --tool-format {name}")
