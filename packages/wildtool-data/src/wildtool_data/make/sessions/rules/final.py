"""Checks a session against the rules of the format, and its gold answers under every profile."""

from collections.abc import Collection, Mapping
from typing import Any

from wildtool.benchmarks.wildtoolbench import WILDTOOLBENCH
from wildtool.benchmarks.wildtoolbench.data import read_session
from wildtool.benchmarks.wildtoolbench.lint import lint_records
from wildtool.episode import gold_replies
from wildtool.errors import DataError
from wildtool.findings import Finding, fault
from wildtool.types import Item, Reply, Transcript

TYPE_OF_TOPOLOGY: Mapping[str, str] = {
    "none": "Chat",
    "single": "Single-Tool",
    "parallel": "Parallel Multi-Tool",
    "sequential": "Sequential Multi-Tool",
    "mixed": "Mixed Multi-Tool",
}
"""Task types by the shape of their calls."""
LENGTH_FINDING = "expected 4 tasks"
"""Reported of a session that is unfinished, or meant to have another length than the official ones."""


def session_record_faults(
    record: Mapping[str, Any], t: int, ignored: Collection[Finding] = ()
) -> list[Finding]:
    """What is wrong with a session up to task `t`, its last one; empty for one that may be kept.

    Args: ignored: faults of the format that are not looked at.
    """
    return [finding for finding in session_format_faults(record) if finding not in ignored] or gold_faults(
        record, t
    )


def session_format_faults(record: Mapping[str, Any]) -> list[Finding]:
    """Where a session breaks the rules of the format, whatever its length."""
    return [
        fault(f"lint {finding.rule}", f"{finding.where}: {finding.message}")
        for finding in lint_records([(1, dict(record))], "session", balanced=False)
        if LENGTH_FINDING not in finding.message
    ]


def gold_faults(record: Mapping[str, Any], t: int, prefix: str = "") -> list[Finding]:
    """Profiles under which the gold answer of a task is not right.

    Args: prefix: language of the record, by its field prefix; empty for the first.
    """
    try:
        session = read_session(record, "session", prefix)
    except DataError as error:
        return [fault("lint schema", str(error))]
    unit = str(t)
    item = Item(session.id, tuple(str(k) for k in range(len(session.tasks))), session)
    faults: list[Finding] = []
    for name in ("official", "fixed"):
        replies = gold_replies(WILDTOOLBENCH.rules(name).episode(item, unit)) or ()
        verdict = WILDTOOLBENCH.judge(item, {unit: Transcript(tuple(map(Reply, replies)))}, name)[t]
        if verdict.outcome != "correct":
            faults.append(fault(f"gold {name}", verdict.reason))
    return faults
