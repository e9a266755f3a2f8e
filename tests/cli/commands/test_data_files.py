"""Which options a conversion is made with, and whose data a file is."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from training.training_rows import call_row, text_row, write_rows
from wildtool import declared, findings
from wildtool.benchmarks.wildtoolbench import WILD_MINI
from wildtool.cli import app
from wildtool.data.commands import lint
from wildtool.data.data_set import data_of
from wildtool.errors import DataError
from wildtool.training.readers.options import ReadOptions
from wildtool.training.writers.options import WriteOptions
from wildtool_data import formats
from wildtool_data.commands.data import convert as data_convert
from wildtool_data.prepare import run_rows
from wildtool_data.prepare.convert import Conversion, ConversionSummary
from wildtool_data.prepare.recipe import recipe as recipes
from wildtool_data.prepare.writers.forms import TRAINING_FORMS


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_rows(Path("t.jsonl"), [call_row("q")])
    write_rows(Path("plain.jsonl"), [text_row("q")])
    write_rows(Path("o.jsonl"), [{"a": 1}])
    Path("w.jsonl").write_bytes(Path(str(data_of(WILD_MINI).locate(None).path)).read_bytes())


def conversion(monkeypatch: pytest.MonkeyPatch, line: str) -> Conversion:
    """What a command line asks for; nothing is written."""
    asked: list[Conversion] = []

    def write(given: Conversion, options: object) -> ConversionSummary:
        asked.append(given)
        return ConversionSummary()

    monkeypatch.setattr(data_convert, "_write", write)
    monkeypatch.setattr(data_convert, "_cores", lambda: 9)
    ended = CliRunner().invoke(app, ["data", "convert", *line.split()], prog_name="wildtool")
    assert ended.exit_code == 0, ended.output
    (found,) = asked
    assert isinstance(found.rows, partial) and found.rows.keywords["notes"] is found.row_notes
    return found


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ("--to sharegpt", {"processes": 4}),
        ("--to sharegpt --jobs 7 --from hermes", {"processes": 7, "data_set": "hermes"}),
        ("--to openai --safe-names --prefixes all", {"safe_names": True, "all_prefixes": True}),
        ("--to openai --kind sft --finish keep", {"reading": ReadOptions(kind="sft", keep_finish=True)}),
        (
            "--to openai --kind preference --system keep",
            {"reading": ReadOptions(kind="preference", keep_system=True)},
        ),
        ("--to openai --kind long", {"least_reach": 4}),
        ("--to openai --kind long --distance 9", {"least_reach": 9}),
        (
            "--to text --tool-format pythonic",
            {"by_reply": True, "writing": WriteOptions(tool_format="pythonic")},
        ),
        (
            "--to trl --prompt-completion --tools-as-text",
            {"writing": WriteOptions(prompt_completion=True, tools_as_text=True)},
        ),
        ("--to openai --for-upload", {"writing": WriteOptions(for_upload=True)}),
        ("--to llamafactory --flat -o lf", {"writing": WriteOptions(flat=True)}),
        (
            "--to sharegpt --lossless --text-with-calls tags --think-words [ ] --call-words < >",
            {
                "writing": WriteOptions(
                    lossless=True, text_with_calls="tags", think_words=("[", "]"), call_words=("<", ">")
                )
            },
        ),
    ],
)
def test_options_of_a_conversion(monkeypatch: pytest.MonkeyPatch, line: str, fields: dict[str, Any]):
    found = conversion(monkeypatch, f"t.jsonl plain.jsonl {line}")
    defaults: dict[str, Any] = {
        "files": (Path("t.jsonl"), Path("plain.jsonl")),
        "form": TRAINING_FORMS[line.split()[1]],
        "data_set": "auto",
        "reading": ReadOptions(),
        "writing": WriteOptions(),
        "safe_names": False,
        "all_prefixes": False,
        "least_reach": 0,
        "by_reply": False,
        "processes": 4,
    }
    assert {name: getattr(found, name) for name in defaults} == {**defaults, **fields}


@pytest.mark.parametrize(
    ("line", "learns_all", "by_reply", "completions"),
    [
        ("--to sharegpt", True, False, False),
        ("--to sharegpt", False, True, False),
        ("--to trl", False, True, True),
        ("--to trl --prompt-completion", True, True, True),
        ("--to trl", True, False, False),
        ("--to openai", False, False, False),
        ("--to llamafactory -o lf", False, True, False),
        ("--to llamafactory -o lf --drop-weights", False, False, False),
    ],
)
def test_rows_of_a_run_end_with_each_reply_where_some_are_context(
    monkeypatch: pytest.MonkeyPatch, line: str, learns_all: bool, by_reply: bool, completions: bool
):
    Path("run").mkdir()
    monkeypatch.setattr(run_rows, "learns_all", lambda path: learns_all)
    monkeypatch.setattr(run_rows, "benchmark_owners", lambda path: iter(()))
    found = conversion(monkeypatch, f"run {line}")
    assert (found.by_reply, found.writing.prompt_completion) == (by_reply, completions)


def test_data_of_a_benchmark_are_converted_on_request_alone(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(run_rows, "benchmark_owners", lambda path: iter(["a", "a", "b"]))
    words = ["data", "convert", "t.jsonl", "--to", "openai", "-o", "x"]
    refused = CliRunner().invoke(app, words, prog_name="wildtool")
    assert (refused.exit_code, refused.stderr.startswith("wildtool: a is a benchmark: ")) == (2, True)
    ended = CliRunner().invoke(app, [*words, "--allow-benchmark-data"], prog_name="wildtool")
    assert ended.exit_code == 0
    assert ended.stderr == "made of the data of a, b: scores on them mean nothing afterwards\n"


@pytest.mark.parametrize(("level", "status"), [("warning", 0), ("error", 1)])
def test_findings_of_a_benchmarks_data_are_printed(monkeypatch: pytest.MonkeyPatch, level: str, status: int):
    def custom(data: str, benchmark: str | None) -> Any:
        assert (data, benchmark) == ("wild-mini", None)
        yield SimpleNamespace(where="w", rule="R", message="m", level="warning")
        yield SimpleNamespace(where="v", rule="R", message="m" * 1100, level=level)

    own = SimpleNamespace(where="u", rule="own", message="o", level="warning")
    monkeypatch.setattr(declared, "lint", lambda owner, source: iter([own]))
    monkeypatch.setattr(lint, "_custom_findings", custom)
    ended = CliRunner().invoke(app, ["data", "lint", "wild-mini"], prog_name="wildtool")
    owned, first, second = ended.stdout.splitlines()
    assert (ended.exit_code, ended.stderr.endswith("wild_mini.jsonl: 3 findings\n")) == (status, True)
    assert (
        (owned, first) == ("u: own: o", "w: R: m") and second.startswith("v: R: mmm") and len(second) < 1010
    )


def test_rules_of_packages_that_cannot_look_at_data_are_named(monkeypatch: pytest.MonkeyPatch):
    def refused(data: str, benchmark: str | None) -> Any:
        yield SimpleNamespace(where="w", rule="R", message="m", level="error")
        raise DataError(f"no {data} of {benchmark}")

    monkeypatch.setattr(findings, "any_custom_rules", lambda: True)
    monkeypatch.setattr(formats, "custom_findings_in", refused)
    ended = CliRunner().invoke(
        app, ["data", "lint", "w.jsonl", "--benchmark", "wildtoolbench"], prog_name="wildtool"
    )
    assert (ended.exit_code, ended.stdout) == (1, "w: R: m\n")
    assert ended.stderr == (
        "Rules of installed packages have not looked at this: no w.jsonl of wildtoolbench\nw.jsonl: 1 finding\n"
    )


def test_data_without_items_are_not_described():
    Path("none.jsonl").write_text("\n")
    ended = CliRunner().invoke(
        app, ["data", "stats", "none.jsonl", "--benchmark", "wildtoolbench"], prog_name="wildtool"
    )
    empty = (2, "wildtool: none.jsonl: contains no items\n")
    assert (ended.exit_code, ended.output) == empty
    ended = CliRunner().invoke(
        app, ["data", "lint", "none.jsonl", "--benchmark", "wildtoolbench"], prog_name="wildtool"
    )
    assert (ended.exit_code, ended.output) == empty


def test_options_of_a_recipe(monkeypatch: pytest.MonkeyPatch):
    def ordered(line: str) -> recipes.Recipe:
        asked: list[recipes.Recipe] = []

        def write(given: recipes.Recipe, out: Path, **more: Any) -> Any:
            assert (out, more) == (Path("out"), {"search": None, "tokens": None, "force": False})
            asked.append(given)
            return SimpleNamespace(
                warnings=["W"],
                settings={"template": "t", "cutoff_len": 9000},
                summary=SimpleNamespace(written=1),
                trainings=[1, 2],
            )

        monkeypatch.setattr(recipes, "write_recipe", write)
        words = ["data", "recipe", "t.jsonl", "--base", "m", "-o", "out", "--no-overlap-check", *line.split()]
        ended = CliRunner().invoke(app, words, prog_name="wildtool")
        assert (ended.exit_code, ended.stdout) == (
            0,
            "out: 1 record, 2 trainings, template t, cut off at 9,000 tokens\n",
        )
        assert ended.stderr == "W\nHow to go about it: out/README.md\n"
        (found,) = asked
        return found

    plain = recipes.Recipe(files=(Path("t.jsonl"),), model="m", benchmarks=("wildtoolbench",))
    assert ordered("") == plain
    assert ordered(
        "--fixed steps --with wild-mini,t.jsonl,bfcl --seeds 3 --trl --cpu --devices 2"
    ) == replace(
        plain, fixed="steps", benchmarks=("wild-mini", "bfcl"), seeds=3, trl=True, cpu=True, devices=2
    )
    assert ordered(
        "--fixed epochs --seed 7 --adapter a --template q --method sft-full --cutoff 99"
    ) == replace(plain, seed=7, adapter="a", template="q", method="sft-full", cutoff=99)


def test_a_misspelt_benchmark_is_named_as_it_is_spelt():
    said = CliRunner().invoke(app, ["data", "stats", "wildmini"], prog_name="wildtool")
    assert said.exit_code == 2 and "did you mean the benchmark 'wild-mini'?" in " ".join(said.output.split())


def test_a_benchmark_beside_training_files_is_what_they_are_compared_with():
    said = CliRunner().invoke(app, ["data", "overlap", "t.jsonl", "wild-mini"], prog_name="wildtool")
    assert said.exit_code == 2 and "--with wild-mini" in said.output


def test_a_file_whose_first_line_cannot_be_read_is_refused_with_the_reason():
    for broken, reason in ((b'{"messages": [}\n', "not a JSON object"), (b'{"a": "caf\xe9"}\n', "utf-8")):
        Path("broken.jsonl").write_bytes(broken)
        ended = CliRunner().invoke(app, ["data", "lint", "broken.jsonl"], prog_name="wildtool")
        assert ended.exit_code == 2 and "broken.jsonl:1" in ended.output and reason in ended.output


@pytest.mark.parametrize(
    "options", ["openai -o x.csv", "trl -o x.jsonl.gz", "verl --tool-format hermes -o x.jsonl"]
)
def test_a_converted_file_has_no_name_by_which_it_would_be_read_otherwise(options: str):
    ended = CliRunner().invoke(app, ["data", "convert", "t.jsonl", "--to", *options.split()])
    name = options.split()[-1]
    assert ended.exit_code == 2 and not Path(name).exists()
    assert f"{name}: --to {options.split()[0]} writes no " in ended.stderr
