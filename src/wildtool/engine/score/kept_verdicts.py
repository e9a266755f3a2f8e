"""Verdicts that a run folder has already, read from its table, so that nobody judges again what was judged."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wildtool.engine.score.score import JudgingJob
from wildtool.engine.score.table_stamp import DamagedTableError, read_stamp, stamp_matches
from wildtool.engine.score.verdict_table import duckdb_error, forget_database, relation, verdicts_path
from wildtool.engine.versions import names_of
from wildtool.stats.metrics import sql_name
from wildtool.types import Item, Verdict

_ADDRESS = ("item", "repeat", "unit")
_OF_VERDICT = ("outcome", "score", "error", "reason", "steps")


class KeptVerdicts:
    """The verdicts of a run under one profile, by item and repeat; none where its table is missing, damaged or stale."""

    def __init__(self, folder: Path, run: JudgingJob, profile: str) -> None:
        self._by_unit = _read(folder, run, profile)

    def of(self, item: Item, repeat: int) -> list[Verdict] | None:
        """One verdict for each unit of an item, without `detail`; None where the table has not all of them."""
        addresses = [(item.id, repeat, unit) for unit in item.units]
        verdicts = [self._by_unit[address] for address in addresses if address in self._by_unit]
        return verdicts if len(verdicts) == len(addresses) else None


def _read(folder: Path, run: JudgingJob, profile: str) -> Mapping[tuple[str, int, str], Verdict]:
    in_run = names_of(run.variant.benchmark, run.run_json["identity"]).then(profile)
    table = verdicts_path(folder, in_run)
    try:
        stamp = read_stamp(table) if table.exists() else None
        if stamp is None or not stamp_matches(stamp, folder, run.run_json, in_run):
            return {}
        return _verdicts(table, tuple(run.variant.columns))
    except DamagedTableError:
        return {}
    except (OSError, duckdb_error()):
        # Verdicts follow from the record, so nothing is lost.
        forget_database()
        return {}


def _verdicts(table: Path, own: Sequence[str]) -> dict[tuple[str, int, str], Verdict]:
    """All verdicts of a table; none where it lacks a column of the benchmark, as one of an earlier version may."""
    rows = relation([table])
    if set(own) - set(rows.columns):
        return {}
    columns = ", ".join(map(sql_name, (*_ADDRESS, *_OF_VERDICT, *own)))
    return {(row[0], row[1], row[2]): _verdict(row, own) for row in rows.project(columns).fetchall()}


def _verdict(row: Sequence[Any], own: Sequence[str]) -> Verdict:
    item, _, unit, outcome, score, error, reason, steps, *fields = row
    return Verdict(item, unit, outcome, score, error, reason, steps, dict(zip(own, fields, strict=True)))
