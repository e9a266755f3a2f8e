"""What a gate prints, and what it says to a pull request: annotations, and a summary in Markdown."""

import os
import secrets
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from wildtool.cli.output.results import print_run_notes
from wildtool.cli.output.suite_comparison import LINE_HEADS, line_cells, print_suites, suite_report
from wildtool.engine.compare.leaderboard import parts_line
from wildtool.engine.score.formatting import counted, format_share
from wildtool.gating.document import gate_document
from wildtool.gating.junit import junit_document
from wildtool.gating.outcome import GatedUnit, GateOutcome
from wildtool.outputs import write_file
from wildtool.table.markdown import markdown_code, markdown_row, markdown_text
from wildtool.terminal import print_out, print_wrapped, single_line

_ESCAPED = {"%": "%25", "\r": "%0D", "\n": "%0A"}
"""Characters of a workflow command's text, as GitHub reads them."""
_MOST_NAMED = 50
"""Units of a kind that are named; `--json` has all."""
_LONGEST = 300
"""Characters of a line about a unit."""


def _in_actions() -> bool:
    return os.environ.get("GITHUB_ACTIONS") == "true"


def annotate(level: str, text: str) -> None:
    """Prints a line that GitHub Actions shows at the pull request; nothing elsewhere. Args: level: error or warning."""
    if _in_actions():
        for character, escape in _ESCAPED.items():
            text = text.replace(character, escape)
        print_out(f"::{level} title=wildtool gate::{text}")


@contextmanager
def _without_commands() -> Generator[None]:
    """In GitHub Actions nothing that is printed meanwhile is a command to it, whatever a model has said."""
    if not _in_actions():
        yield
        return
    token = secrets.token_hex(16)
    print_out(f"::stop-commands::{token}")
    try:
        yield
    finally:
        print_out(f"::{token}::")


def print_outcome(outcome: GateOutcome) -> None:
    """Prints tables, names and the verdict, and annotates the pull request."""
    if outcome.problem:
        annotate("error", outcome.problem)
        return
    with _without_commands():
        if outcome.pairs:
            report = suite_report(outcome.pairs, "unit", only_played=outcome.settings.only_played)
            for run in report.runs:
                print_run_notes(run.result.folder, run.result)
            print_suites(outcome.pairs, report)
            print_out()
        for line in _lines(outcome):
            print_out(line)
        print_wrapped(single_line(outcome.verdict, 10_000))
        if outcome.baseline_note:
            print_wrapped(single_line(outcome.baseline_note, 2_000))
    for line in outcome.lines:
        if line.is_loss:
            annotate("error" if line.answer == "worse" else "warning", line.text)
    worse = {line.text for line in outcome.lines}
    for text in (text for text in outcome.failures if text not in worse):
        annotate("error", text)
    for line in outcome.undecided:
        annotate("warning", f"undecided: {line.model}, {line.name}")
    for remark in _remarks(outcome):
        annotate("warning", remark)


def _lines(outcome: GateOutcome) -> Iterator[str]:
    """What is said of single units, floors and what is left out, before the verdict."""
    for title, units in _named(outcome):
        yield f"{title}:"
        yield from (f"  {single_line(unit.text, _LONGEST)}" for unit in units[:_MOST_NAMED])
        if (more := len(units) - _MOST_NAMED) > 0:
            yield f"  and {more:,} more; --json FILE names all"
        yield ""
    remarks = [str(floor) for floor in outcome.floors] + _remarks(outcome)
    yield from (single_line(remark, 2_000) for remark in remarks)
    if remarks:
        yield ""


def _named(outcome: GateOutcome) -> Iterator[tuple[str, Sequence[GatedUnit]]]:
    """Kinds of units that are named, with their titles; those without any are left out."""
    broken, flaky = outcome.newly_broken, outcome.flaky
    if outcome.broken_musts:
        yield "Must pass and do not", outcome.broken_musts
    if broken:
        compared = sum(line.whole.units for pair in outcome.pairs for line in pair.benchmarks.values())
        yield f"Newly broken, {len(broken):,} of {compared:,}", broken
    if flaky:
        yield f"Flaky, {len(flaky):,}: some tries are right and some are not", flaky


def _remarks(outcome: GateOutcome) -> list[str]:
    remarks = list(outcome.remarks)
    if outcome.without_verdict:
        tries = counted(outcome.without_verdict, "try", "tries")
        remarks.append(f"Left out, and not counted as wrong: {tries} without a verdict.")
    if alarms := outcome.alarms:
        remarks.append(
            f"False alarms: {alarms.alarms:,} of {alarms.draws:,} ({format_share(alarms.alarms / alarms.draws)}) where "
            f"halves of the repeats of one run are compared, on {counted(alarms.units, 'unit')}."
        )
    return remarks


def write_forms(
    outcome: GateOutcome, *, junit: Path | None, json: Path | None, markdown: Path | None
) -> None:
    """Writes the files that are asked for, and adds the summary to the page of a job of GitHub Actions.

    Raises as `write_file`.
    """
    if junit is not None:
        write_file(junit, junit_document(outcome))
    if json is not None:
        write_file(json, gate_document(outcome))
    content = "\n".join(_summary(outcome)) + "\n"
    if markdown is not None:
        write_file(markdown, content.encode())
    if page := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(page).open("a", encoding="utf-8") as file:
            file.write(content)


def _summary(outcome: GateOutcome) -> Iterator[str]:
    word, _, text = outcome.verdict.partition(": ")
    yield from (
        "<!-- written by wildtool gate -->",
        f"### wildtool gate: {word}",
        "",
        markdown_text(text),
        "",
    )
    for pair in outcome.pairs if outcome.lines else ():
        yield from (f"{markdown_code(pair.new.label)} against {markdown_code(pair.old.label)}", "")
        yield from (markdown_row(["", *LINE_HEADS]), markdown_row(["---", *["---:"] * len(LINE_HEADS)]))
        yield from (markdown_row(map(markdown_text, cells)) for cells in line_cells(pair))
        yield ""
    for title, units in _named(outcome):
        yield from (f"{title}:", "")
        yield from (f"- {markdown_text(single_line(unit.text, _LONGEST))}" for unit in units[:_MOST_NAMED])
        if (more := len(units) - _MOST_NAMED) > 0:
            yield f"- and {more:,} more"
        yield ""
    both = [run for pair in outcome.pairs for side in (pair.old, pair.new) for run in side.runs.values()]
    parts = parts_line(run.result for run in both)
    remarks = [*([parts] if parts else []), *map(str, outcome.floors), *_remarks(outcome)]
    yield from (f"- {markdown_text(remark)}" for remark in remarks)
