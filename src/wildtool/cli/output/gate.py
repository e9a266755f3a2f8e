"""What a gate says to a pull request: a summary in Markdown, and annotations."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from wildtool.cli.output.suite_comparison import LINE_HEADS, line_cells
from wildtool.engine.compare.suites import SuitePair
from wildtool.outputs import write_file
from wildtool.table.markdown import markdown_code, markdown_row, markdown_text
from wildtool.terminal import print_out

_ESCAPED = {"%": "%25", "\r": "%0D", "\n": "%0A"}
"""Characters of a workflow command's text, as GitHub reads them."""


def annotate(level: str, text: str) -> None:
    """Prints a line that GitHub Actions shows at the pull request; nothing elsewhere. Args: level: error or warning."""
    if os.environ.get("GITHUB_ACTIONS") == "true":
        for character, escape in _ESCAPED.items():
            text = text.replace(character, escape)
        print_out(f"::{level} title=wildtool gate::{text}")


def write_summary(
    markdown: Path | None, pairs: Sequence[SuitePair], verdict: str, remarks: Sequence[str]
) -> None:
    """Writes the summary into a file, and adds it to the page of a job of GitHub Actions. Raises as `write_file`."""
    content = "\n".join(_summary(pairs, verdict, remarks)) + "\n"
    if markdown is not None:
        write_file(markdown, content.encode())
    if page := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(page).open("a", encoding="utf-8") as file:
            file.write(content)


def _summary(pairs: Sequence[SuitePair], verdict: str, remarks: Sequence[str]) -> Iterator[str]:
    outcome, _, text = verdict.partition(": ")
    yield from (
        "<!-- written by wildtool gate -->",
        f"### wildtool gate: {outcome}",
        "",
        markdown_text(text),
        "",
    )
    for pair in pairs:
        yield from (f"{markdown_code(pair.new.label)} against {markdown_code(pair.old.label)}", "")
        yield from (markdown_row(["", *LINE_HEADS]), markdown_row(["---", *["---:"] * len(LINE_HEADS)]))
        yield from (markdown_row(map(markdown_text, cells)) for cells in line_cells(pair))
        yield ""
    yield from (f"- {markdown_text(remark)}" for remark in remarks)
