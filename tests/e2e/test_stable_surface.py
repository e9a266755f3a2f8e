"""What users, their scripts and their files rely on is as `tests/golden/surface` says: commands, names, formats, digests,
verdicts.

A change that is meant is written down again, and its difference read before it is committed:

    WILDTOOL_WRITE_GOLDEN=1 pytest tests/e2e/test_stable_surface.py
"""

import difflib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from e2e import surface
from e2e.surface import Json, typed

GOLDEN = Path(__file__).parents[1] / "golden" / "surface"


def check(name: str, found: Any) -> None:
    """Compares what the program says with the file of that name, or writes the file."""
    file = GOLDEN / f"{name}.json"
    text = json.dumps(found, ensure_ascii=False, indent=1) + "\n"
    if os.environ.get("WILDTOOL_WRITE_GOLDEN"):
        file.write_text(text, "utf-8")
    diff = [*difflib.unified_diff(file.read_text("utf-8").splitlines(), text.splitlines(), "golden", "found")]
    assert not diff, f"{file} is no longer what the program says:\n" + "\n".join(diff)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith(("OPENAI_", "WILDTOOL_"))]:
        if name != "WILDTOOL_WRITE_GOLDEN":
            monkeypatch.delenv(name)


def run(out: str, *words: object, benchmark: str = "wild-mini") -> int:
    return typed("run", benchmark, "--out", out, "-q", *words)[0]


# Commands and names ----------------------------------------------------------------------------------


def test_commands_and_options_stay():
    check("commands", surface.commands())


def test_names_stay():
    check("names", surface.names() | {"listed": surface.listed()})


NOBODY = "--base-url http://127.0.0.1:1/v1 --retries 0"
"""An address at which nobody answers."""
STATUSES = (
    "--version",
    "run --help",
    "list",
    "list nothing",
    "list cards nothing",
    "nothing",
    "run wild-mini",
    "run nothing --model baseline/gold",
    "run wild-mini --model baseline/nothing",
    "run wild-mini --model baseline/gold --profile nothing",
    "run wild-mini --model baseline/gold --mode nothing",
    "run wild-mini --model baseline/gold --data nothing.jsonl",
    "run wild-mini --model baseline/gold --limit 1 --out gold",
    "run wild-mini --model baseline/gold --limit 1 --out gold",
    "run wild-mini --model baseline/gold --seed 5 --limit 1 --out gold",
    f"run wild-mini --model m {NOBODY} --limit 1 --out dead",
    f"run wild-mini --model m {NOBODY} --limit 1 --max-tokens-total 1 --out limited",
    f"list models --check m {NOBODY.partition(' --retries')[0]}",
    "score gold",
    "score nowhere",
    "show gold",
    "show nowhere",
    "show gold --json --csv",
    "compare gold",
    "compare gold dead",
    "compare gold dead --anyway --only-played",
    "report gold --format md",
    "report gold --format nothing",
    "export gold --format csv --out gold.csv",
    "export gold --format csv --out gold.csv",
    "export gold --format nothing",
    "audit two.jsonl",
    "audit wild-mini --data two.jsonl --profile fixed",
    "audit wild-mini --data two.jsonl --profile official --strict",
    "audit wild-mini --data two.jsonl --profile nothing",
    "data lint broken.jsonl --benchmark wild-mini",
    "data lint short.jsonl --benchmark wild-mini",
    "data stats nowhere.jsonl",
    "data pull wild-mini",
    "generate --model procedural --sessions 1 --tasks 1 --out one.jsonl",
    "generate --sessions 1 --out no_model.jsonl",
    "generate nothing",
)
"""Command lines, in their order."""


def test_exit_statuses_stay():
    Path("broken.jsonl").write_text("{\n")
    Path("short.jsonl").write_text("{}\n")
    Path("two.jsonl").write_text(surface.wild_mini(2), "utf-8")
    check("statuses", {f"{n:02} {line}": typed(*line.split())[0] for n, line in enumerate(STATUSES, 1)})


# Digests ---------------------------------------------------------------------------------------------


def test_digests_of_requests_and_wordings_stay(tmp_path: Path):
    check("digests", surface.digests(tmp_path))


# Verdicts --------------------------------------------------------------------------------------------


def test_verdicts_and_metrics_of_wild_mini_stay():
    found: Json = {}
    metrics: Json = {}
    for profile in ("official", "fixed", "paper"):
        for model in ("gold", "chat", "random", *(["gold-serial"] if profile == "official" else [])):
            out = f"{profile}-{model}"
            assert run(out, "--model", f"baseline/{model}", "--profile", profile, "--seed", 1) == 0
            found[f"{profile}, {model}"] = surface.judged(Path(out), profile)
        shown = json.loads(typed("show", f"{profile}-random", "--json")[1])
        metrics[profile] = surface.grouped(shown["runs"][0]["metrics"])
    check("verdicts_wild_mini", found)
    check("metrics_wild_mini", metrics)


def test_verdicts_of_finance_episodes_stay():
    found: Json = {}
    for profile, mode, model in (
        ("official", "text", "gold"),
        ("official", "text", "chat"),
        ("official", "fc", "gold"),
        ("fixed", "text", "gold"),
        ("fixed", "fc", "chat"),
    ):
        out = f"{profile}-{mode}-{model}"
        words = ("--model", f"baseline/{model}", "--profile", profile, "--mode", mode)
        assert run(out, *words, "--split", "agent_finance", benchmark="acebench") == 0
        found[f"{profile}, {mode}, {model}"] = surface.judged(Path(out), profile)
    check("verdicts_finance", found)


def test_metrics_of_acebench_stay():
    check("metrics_acebench", surface.metrics_of_acebench())
