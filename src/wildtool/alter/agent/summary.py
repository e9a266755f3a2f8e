"""The numbers of an agent's run: what it did with calls, prompts and turns, apart from what its model said."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from wildtool.alter.agent.record import (
    AGENT_DIFFERS,
    AGENT_FAILED,
    ALTERED,
    ANSWERED,
    ANSWERED_TURN,
    AS_SAID,
    DISCARDED,
    FATES,
)
from wildtool.alter.agent.unit import FATE_COLUMNS
from wildtool.alter.base import RunRemark
from wildtool.errors import TOOLS_MISSING
from wildtool.json_codec import as_object
from wildtool.stats.metrics import Rate, rate_metrics, sql_name, sql_text
from wildtool.types import Metric, Verdict

HARNESS_GROUP = "harness"
HARNESS_CUTS_NOTE = (
    "The same tasks asked of the bare model. Where the agent altered a call or answered it itself, what was executed is"
    " not what the model said; where it did not, the difference is what the agent's prompt and tools do to the model."
)
_RECORDED = f"{FATE_COLUMNS[AS_SAID]} IS NOT NULL"
_PLAYED = "agent_seconds IS NOT NULL"
"""Units with a reply; what became of calls is not known of all of them."""
_OF_THE_MODEL = tuple(fate for fate in FATES if fate != DISCARDED)
"""Fates of calls that the benchmark reads."""
_CALLS = f"({' + '.join(FATE_COLUMNS[fate] for fate in _OF_THE_MODEL)})"
"""Calls of which it is known what became of them."""
_TOUCHED = f"{FATE_COLUMNS[ALTERED]} + {FATE_COLUMNS[ANSWERED]}"
_KINDS = {"task_type": "", "position": "position "}
"""Columns by which benchmarks of sessions tell tasks apart, with what comes before their values in a name; they need not
have them."""
_FAILURES = {
    TOOLS_MISSING: "not played: the agent's first request lacked one of their tools",
    AGENT_FAILED: "in which the agent failed",
    AGENT_DIFFERS: "in which the agent did not live through what came before as it went",
}
"""Kinds of failed calls of agents, in words."""
_NAMES = {
    "altered": "altered",
    "answered by the agent": "answered by the agent itself",
    "never arrived": "that never arrived",
}
RESULTS_CHANGED, TEXTS_CHANGED = "results that its model was shown otherwise", "answers it changed"
LOST = "lost in translation"


def harness_metrics(verdicts: Any) -> list[Metric]:
    """Shares of calls by fate, of units and of turns, and means by unit."""
    return [*rate_metrics(verdicts, list(harness_rates())), *_means(verdicts), *_counts(verdicts)]


def harness_rates() -> Iterator[Rate]:
    """Shares of calls by fate, and of units."""
    yield Rate(
        HARNESS_GROUP, "calls executed as said", _RECORDED, FATE_COLUMNS[AS_SAID], _CALLS, headline=True
    )
    for fate, words in _NAMES.items():
        yield Rate(HARNESS_GROUP, f"calls {words}", _RECORDED, FATE_COLUMNS[fate], _CALLS, better="")
    yield Rate(
        HARNESS_GROUP, "calls whose result was changed", _RECORDED, "results_changed", _CALLS, better=""
    )
    for name, column in (
        ("units with a changed answer", "texts_changed"),
        ("units with steps of the agent's own", "agent_own_steps"),
        ("units with calls of the agent's own tools", "agent_own_calls"),
    ):
        yield Rate(HARNESS_GROUP, name, f"{column} IS NOT NULL", f"CAST({column} > 0 AS INTEGER)", better="")
    ended = f"CAST(turn_end <> '{ANSWERED_TURN}' AS INTEGER)"
    yield Rate(
        HARNESS_GROUP, "units with a turn that was not answered", "turn_end IS NOT NULL", ended, better="less"
    )


_MEANS = (
    ("characters of the agent's prompt", "agent_prompt_chars", "characters"),
    ("tools that the agent adds", "added_tools", "tools"),
    ("steps of the agent's own per unit", "agent_own_steps", "steps"),
    ("tokens of the agent's own steps per unit", "agent_own_tokens", "tokens"),
    ("side requests per unit", "side_requests", "requests"),
    ("retries of the agent per unit", "agent_retries", "retries"),
    ("seconds of the agent itself per unit", "agent_seconds", "s"),
)


def _means(verdicts: Any) -> Iterator[Metric]:
    sums = ", ".join(f"coalesce(sum({column}), 0), count({column})" for _, column, _ in _MEANS)
    row = verdicts.aggregate(sums).fetchall()[0]
    for (name, _, unit), total, units in zip(_MEANS, row[::2], row[1::2], strict=True):
        value = float(total) / units if units else None
        yield Metric(HARNESS_GROUP, name, value, float(total), units, kind="mean", unit=unit, better="")


def _counts(verdicts: Any) -> Iterator[Metric]:
    """What has no share of a whole, and each way in which turns were not answered."""
    calls, discarded, unknown = _sums(verdicts, _CALLS, FATE_COLUMNS[DISCARDED], "calls_not_known")
    yield Metric(
        HARNESS_GROUP, "calls executed although thrown away", None, discarded, calls, kind="count", better=""
    )
    yield Metric(
        HARNESS_GROUP,
        "calls of which nobody knows more",
        None,
        unknown,
        calls + unknown,
        kind="count",
        better="",
    )
    ends = _values(verdicts, "turn_end")
    for kind, units in ends.items():
        if kind != ANSWERED_TURN:
            yield Metric(
                HARNESS_GROUP, f"turn ended: {kind}", None, units, ends.total(), kind="count", better="less"
            )
    # Each question to the model repeats the conversation, so its losses are counted by unit.
    ((played,),) = verdicts.aggregate("count(agent_seconds)").fetchall()
    lost = Counter[str]()
    for counts, units in _objects(verdicts, "lost_in_translation"):
        lost.update(dict.fromkeys(counts, units))
    for name, units in lost.items():
        yield Metric(HARNESS_GROUP, f"{LOST}: {name}", None, units, played, kind="count", better="less")


def harness_cuts(verdicts: Any) -> Mapping[str, Any]:
    """Units in which the agent altered or answered calls itself, the others, and all by kind and place."""
    cuts: dict[str, Any] = {
        "calls altered or answered by the agent": verdicts.filter(f"{_TOUCHED} > 0"),
        "no call altered or answered by the agent": verdicts.filter(f"{_TOUCHED} = 0"),
    }
    for column, before in _KINDS.items():
        if column in verdicts.columns:
            name = sql_name(column)
            values = [value for (value,) in verdicts.aggregate(name).order("1").fetchall()]
            for value in values:
                if value is not None:
                    condition = f"{name} = {sql_text(value) if isinstance(value, str) else value}"
                    cuts[f"{before}{value}"] = verdicts.filter(condition)
    return cuts


def harness_remarks(verdicts: Any) -> Iterator[RunRemark]:
    """Fates other than as said, units without all tools, turns that were not answered, in one sentence each."""
    sums = _sums(verdicts, *(FATE_COLUMNS[fate] for fate in _OF_THE_MODEL))
    calls = sum(sums)
    others = {fate: n for fate, n in zip(_OF_THE_MODEL, sums, strict=True) if n and fate != AS_SAID}
    if others:
        parts = ", ".join(f"{count} {fate}" for fate, count in others.items())
        count = sum(others.values())
        yield RunRemark(
            "calls not as said", count, calls, f"{count} of {calls} calls not executed as said ({parts})"
        )
    kind = "CASE WHEN outcome = 'infra_error' THEN split_part(reason, ': ', 1) END"
    kinds = dict(verdicts.aggregate(f"{kind} AS kind, count(*)").fetchall())
    units = sum(kinds.values())
    for failure, words in _FAILURES.items():
        if count := kinds.get(failure):
            yield RunRemark(failure, count, units, f"{count} of {units} units {words}")
    ends = _values(verdicts, "turn_end")
    if unanswered := {kind: count for kind, count in ends.items() if kind != ANSWERED_TURN}:
        parts = ", ".join(f"{kind} {count}" for kind, count in unanswered.items())
        count = sum(unanswered.values())
        text = f"{count} of {ends.total()} units with a turn that was not answered ({parts})"
        yield RunRemark("turns not answered", count, ends.total(), text)


def unit_tally(verdict: Verdict) -> Mapping[str, int]:
    """The same of one unit, for a line that adds up; without what did not happen."""
    fields = verdict.fields
    failure = verdict.reason.partition(": ")[0] if verdict.outcome == "infra_error" else ""
    counts = {
        "calls not as said": sum(
            count
            for fate, column in FATE_COLUMNS.items()
            if fate not in (AS_SAID, DISCARDED) and isinstance(count := fields.get(column), int)
        ),
        "units without all tools": failure == TOOLS_MISSING,
        "agents failed": failure in (AGENT_FAILED, AGENT_DIFFERS),
        "turns not answered": fields.get("turn_end") not in (None, ANSWERED_TURN),
    }
    return {name: int(count) for name, count in counts.items() if count}


def harness_facts(verdicts: Any) -> Iterator[tuple[str, str]]:
    """What the agent itself did, as the numbers beside a comparison; only what is known."""
    rows = verdicts.filter(_PLAYED)
    ((units, played),) = verdicts.aggregate("count(*), count(agent_seconds)").fetchall()
    if played < units:
        yield "units with a reply, which all this is of", f"{played} of {units}"
    yield from _facts_of_prompts(rows.filter("agent_prompt_chars IS NOT NULL"))
    yield from _facts_of_tools(rows.filter("added_tools IS NOT NULL"))
    yield from _facts_of_calls(rows.filter(_RECORDED))
    if ends := _values(rows, "turn_end"):
        yield "ends of turns", ", ".join(f"{kind} {count}" for kind, count in ends.items())


def _facts_of_prompts(rows: Any) -> Iterator[tuple[str, str]]:
    ((units, median, most),) = rows.aggregate(
        "count(*), median(agent_prompt_chars), max(agent_prompt_chars)"
    ).fetchall()
    if units:
        dates, sampling = (_spread(_values(rows, name), units) for name in ("agent_dates", "agent_sampling"))
        yield "its prompt", f"{median:,.0f} characters (the median), {most:,} at most"
        yield "dates in its prompt", dates or "none beside the benchmark's"
        yield "sampling it sets", sampling or "none"


def _facts_of_tools(rows: Any) -> Iterator[tuple[str, str]]:
    ((units, added, *counts),) = rows.aggregate(
        "count(*), max(added_tools), max(renamed_tools), max(changed_schemas)"
    ).fetchall()
    if units:
        uses = ", ".join(f"{name} {count}×" for name, count in _named(rows, "agent_called").most_common())
        yield "tools it adds", f"{added} offered; called: {uses or 'none'}"
        words = ("renamed", "with another schema")
        changed = [f"{count} {word}" for count, word in zip(counts, words, strict=True) if count]
        yield "the unit's tools", f"up to {', '.join(changed)}" if changed else "as they are"


def _facts_of_calls(rows: Any) -> Iterator[tuple[str, str]]:
    """What became of calls, where the model was seen that said them."""
    columns = {**FATE_COLUMNS, "not known": "calls_not_known"}
    sums = dict(zip(columns, _sums(rows, *columns.values()), strict=True))
    if any(sums.values()):
        yield "calls", ", ".join(f"{count} {fate}" for fate, count in sums.items() if count)
        results, texts = _sums(rows, "results_changed", "texts_changed")
        yield RESULTS_CHANGED, str(results)
        yield TEXTS_CHANGED, str(texts)


def _sums(verdicts: Any, *amounts: str) -> list[int]:
    row = verdicts.aggregate(", ".join(f"coalesce(sum({each}), 0)" for each in amounts)).fetchall()[0]
    return [int(value) for value in row]


def _values(verdicts: Any, column: str) -> Counter[str]:
    """The values of a column with their numbers of rows, the most frequent first."""
    rows = verdicts.filter(f"{column} IS NOT NULL").aggregate(f"{column}, count(*)").fetchall()
    return Counter(dict(sorted(rows, key=lambda row: (-row[1], row[0]))))


def _spread(values: Counter[str], units: int) -> str:
    return "; ".join(f"{value} ({count} of {units} units)" for value, count in values.items())


def _named(verdicts: Any, column: str) -> Counter[str]:
    """A column of counts by name, added up."""
    total: Counter[str] = Counter()
    for counts, rows in _objects(verdicts, column):
        total.update({name: count * rows for name, count in counts.items() if isinstance(count, int)})
    return total


def _objects(verdicts: Any, column: str) -> Iterator[tuple[Mapping[str, Any], int]]:
    """The objects of a column with their numbers of rows."""
    for text, rows in _values(verdicts, column).items():
        try:
            yield as_object(json.loads(text)), rows
        except ValueError:
            continue  # a cell that was too long
