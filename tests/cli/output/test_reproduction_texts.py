"""What `wildtool compare --published` prints of runs, on numbers made by hand."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.compare.test_published import SCORE, paper, run
from golden_files import same_as_golden
from wildtool.cli.output import reproduction
from wildtool.engine.score.results import ScoreResult
from wildtool.engine.score.trust import TrustRemark
from wildtool.evidence import Evidence
from wildtool.types import Metric

FIGURES = [paper("One", score=0.375, error=0.5), paper("Two", score=0.25, error=0.0)]
IDENTITY = {"models": {"agent": {"name": "m", "settings": {"temperature": 0}}}}
CUT_OFF = TrustRemark("cut off", 9, 40, "9 of 40 replies cut off at a token limit", "--max-tokens")


def result(model: str, score: float | None, **changes: Any) -> ScoreResult:
    metric = Metric(*SCORE, score, 1, 2, 0.35, 0.45)
    return replace(run(score, model=model, data="official"), metrics=(metric,), **changes)


MIXED = (
    result("p/one", 0.40625, trust=(CUT_OFF,)),
    result("p/two", None, evidence=Evidence(8, failed=1), faults=("broken rule",)),
    result("p/one", 0.5),
)


def printed(monkeypatch: pytest.MonkeyPatch, results: tuple[ScoreResult, ...], **options: Any) -> int:
    """Prints results as if they were those of runs."""
    folders = {Path(f"runs/{number}"): result for number, result in enumerate(results)}

    @contextmanager
    def opened(folder: Path, profile: str | None) -> Iterator[tuple[ScoreResult, None]]:
        assert profile == "paper"
        yield folders[folder], None

    class Benchmark:
        published = staticmethod(lambda: FIGURES)

    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(reproduction, "run_folders", lambda path: list(folders))
    monkeypatch.setattr(reproduction, "open_results", opened)
    monkeypatch.setattr(reproduction, "load_benchmark", lambda name: Benchmark)
    monkeypatch.setattr(reproduction, "read_run", lambda folder: {"identity": IDENTITY})
    forms: dict[str, Any] = {"model": None, "absolute": False, "as_json": False, "as_csv": False} | options
    return reproduction.print_reproductions([Path("runs")], "paper", forms.pop("model"), **forms)


@pytest.mark.parametrize(
    ("form", "options"),
    [
        ("percent.txt", {}),
        ("points.txt", {"absolute": True}),
        ("numbers.csv", {"as_csv": True}),
        ("numbers.json", {"as_json": True}),
    ],
)
def test_runs_beside_published_numbers_are_printed_like_this(
    form: str, options: dict[str, bool], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert printed(monkeypatch, MIXED, **options) == 1
    out, err = capsys.readouterr()
    same_as_golden(f"reproduction/{form}", out)
    assert err == "runs/1: internal error: scoring failed 1 time. broken rule\n"
