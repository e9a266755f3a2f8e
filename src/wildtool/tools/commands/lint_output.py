"""Shows what is found in the names and texts of tools: what to fix first, how much there is of each kind, the rest."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from wildtool.engine.score.formatting import counted, first_names
from wildtool.findings import Finding, FindingLevel
from wildtool.json_codec import dumps
from wildtool.sanitize import truncate_words
from wildtool.terminal import print_out, print_wrapped
from wildtool.terminal.tables import print_grid
from wildtool.tools.lint import Found

FINDINGS_FILE = "findings.jsonl"
"""All findings, a line each, the worst first."""
MOST_LEADING = 10
"""Findings that lead where there are too many to be listed."""
FIRST_OF_KIND = 3
"""Of one kind, where others wait."""
MOST_LISTED = 40
"""Findings that are all listed in the terminal."""
MOST_IN_JSON = 1_000
MOST_TOOLS_NAMED = 6
"""Tools that a leading finding names; others are counted."""
ORDER_OF_FINDINGS = (
    "errors first, then what hides a tool from a model; of one kind what is largest or most alike"
)
_LEVELS: Sequence[FindingLevel] = ("error", "warning")
_RULES = (
    "same name",
    "name",
    "required but not defined",
    "no description",
    "alike",
    "another fits better",
    "description repeats name",
    "short description",
    "long description",
    "parameter without description",
)
"""Of one level first what makes endpoints refuse a request, then what hides a tool from a model, then what it must
guess."""
_LONGEST_MESSAGE = 240
"""Characters of a message in the terminal."""


@dataclass(frozen=True, slots=True)
class FindingKind:
    """How often a rule found something."""

    rule: str
    level: FindingLevel
    findings: int
    tools: int
    """Names of tools that have it."""


def worst_first(findings: Sequence[Found]) -> list[Found]:
    """Findings in the order in which they are worth fixing, without notes on what was not looked at."""
    return sorted(
        (each for each in findings if each.finding.level != "note"),
        key=lambda each: (
            _LEVELS.index(each.finding.level),
            _RULES.index(each.finding.rule),
            -each.extent,
        ),
    )


@dataclass(frozen=True, slots=True)
class LeadingFinding:
    """A finding with all tools that have the same."""

    finding: Finding
    """Of the first of them."""
    tools: Sequence[str]


def leading(ranked: Sequence[Found]) -> list[LeadingFinding]:
    """The worst of ranked findings, in their order. Of one kind there are a few where other kinds wait."""
    rows = _rows_of(ranked)
    of_kind: Counter[str] = Counter()
    first: list[int] = []
    later: list[int] = []
    for place, row in enumerate(rows):
        of_kind[row.finding.rule] += 1
        (first if of_kind[row.finding.rule] <= FIRST_OF_KIND else later).append(place)
    return [rows[place] for place in sorted([*first, *later][:MOST_LEADING])]


def _rows_of(ranked: Sequence[Found]) -> list[LeadingFinding]:
    """Findings without repetition: the same of several tools once, and of tools that are like each other one pair."""
    tools_with: dict[tuple[str, str], list[str]] = {}
    for each in ranked:
        tools_with.setdefault((each.finding.rule, each.finding.message), []).append(each.finding.where)
    rows: list[LeadingFinding] = []
    alike = set[str]()
    for each in ranked:
        pair = {each.finding.where, each.twin}
        tools = tools_with.pop((each.finding.rule, each.finding.message), None)
        if tools and not (each.twin and pair & alike):
            rows.append(LeadingFinding(each.finding, tools))
            alike |= pair if each.twin else set()
    return rows


def kinds_of(ranked: Sequence[Found]) -> list[FindingKind]:
    """How many findings there are of each kind, in their order."""
    tools: dict[tuple[str, FindingLevel], list[str]] = {}
    for each in ranked:
        tools.setdefault((each.finding.rule, each.finding.level), []).append(each.finding.where)
    return [
        FindingKind(rule, level, len(places), len({place for place in places if place}))
        for (rule, level), places in tools.items()
    ]


def print_findings(source: str, tools: int, findings: Sequence[Found], full_list: Path | None) -> None:
    """Prints all findings where they are few, else the worst and the number of each kind.

    Args:
        source, tools: what was looked at, and how many tools it has.
        full_list: the file that has all findings; None where none is written.
    """
    ranked = worst_first(findings)
    all_are_listed = len(ranked) <= MOST_LISTED
    lead = leading(ranked)
    title = f"{counted(tools, 'tool')} of {source}"
    if all_are_listed:
        rows = [_cells(each.finding.where, each.finding) for each in ranked]
    else:
        title += f": the {len(lead)} worst of {len(ranked):,} findings"
        rows = [_cells(first_names(each.tools, MOST_TOOLS_NAMED), each.finding) for each in lead]
    if rows:
        print_grid(title, ["tool", "", "", ""], rows, sentences=(0, 1, 2, 3))
    if not all_are_listed:
        _print_kinds(ranked, lead, full_list)
    for note in _notes(findings):
        print_wrapped(f"{note}.")


def _print_kinds(ranked: Sequence[Found], lead: Sequence[LeadingFinding], full_list: Path | None) -> None:
    counts = [[each.rule, each.level, f"{each.findings:,}", f"{each.tools:,}"] for each in kinds_of(ranked)]
    print_grid("All findings by kind", ["kind", "", "findings", "tools"], counts, sentences=(1,))
    where = f"{full_list} has all" if full_list else f"--out FOLDER writes all to FOLDER/{FINDINGS_FILE}"
    unlisted = len(ranked) - sum(len(each.tools) for each in lead)
    print_wrapped(f"The order is: {ORDER_OF_FINDINGS}. {unlisted:,} findings are not listed: {where}.")


def _notes(findings: Sequence[Found]) -> list[str]:
    """What was not looked at, and why."""
    return [each.finding.message for each in findings if each.finding.level == "note"]


def _cells(tools: str, finding: Finding) -> list[str]:
    return [tools, finding.level, finding.rule, truncate_words(finding.message, _LONGEST_MESSAGE)]


def print_findings_json(tools: int, findings: Sequence[Found], full_list: Path | None) -> None:
    """Prints counts, the worst findings, and as many as fit. Args: as of `print_findings`."""
    ranked = worst_first(findings)
    answer = {
        "tools": tools,
        "counts": [asdict(kind) for kind in kinds_of(ranked)],
        "order": ORDER_OF_FINDINGS,
        "worst": [
            {**_row(each.finding), "tools": len(each.tools), "others": list(each.tools[1:MOST_TOOLS_NAMED])}
            for each in leading(ranked)
        ],
        "findings": [_row(each.finding) for each in ranked[:MOST_IN_JSON]],
        "notes": _notes(findings),
        "left_out": max(0, len(ranked) - MOST_IN_JSON),
        "all": None if full_list is None else str(full_list),
    }
    print_out(dumps(answer).decode())


def findings_lines(findings: Sequence[Found]) -> bytes:
    """All findings, a line of JSON each, the worst first."""
    return b"".join(dumps(_row(each.finding)) + b"\n" for each in worst_first(findings))


def _row(finding: Finding) -> dict[str, Any]:
    return {
        "where": finding.where,
        "rule": finding.rule,
        "message": finding.message,
        "level": finding.level,
    }
