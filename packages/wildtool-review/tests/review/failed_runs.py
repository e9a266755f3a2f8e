"""Runs of which failures were drawn for people to read."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from typer.testing import CliRunner

from wildtool.cli import app
from wildtool.engine.record.case_labels import CaseReading, LabelledCases, add_readings, labels_of_run

LABELS = "lazy: it does nothing\n# of ours\nwrong tool: it calls another one\n"


def wildtool(*arguments: str, status: int = 0) -> str:
    # A browser keeps the loop of the thread that tests run in.
    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(CliRunner().invoke, app, arguments).result()
    assert result.exit_code == status, result.output
    return result.output


def failed_run(place: Path, *data: str) -> Path:
    """A run with failures, and a file of labels for them. Args: data: what is run (default: six sessions)."""
    folder = place / "runs" / "lexical"
    data = data or ("wild-mini", "--limit", "6")
    wildtool("run", *data, "--model", "baseline/lexical", "--out", str(folder))
    (place / "labels.txt").write_text(LABELS, encoding="utf-8")
    return folder


def draw(run: Path, *arguments: str, status: int = 0) -> str:
    labels = str(run.parents[1] / "labels.txt")
    return wildtool("review", "start", str(run), "--failed", "--labels", labels, *arguments, status=status)


def drawn(run: Path) -> LabelledCases:
    cases = labels_of_run(run)
    assert cases is not None
    return cases


def say(run: Path, reader: str, *labels: tuple[str, ...], note: str = "") -> None:
    cases = [*drawn(run).proposals]
    add_readings(
        run, [CaseReading(reader, case, names, note) for case, names in zip(cases, labels, strict=False)]
    )
