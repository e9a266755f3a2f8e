"""Why units of a run are wrong or have no verdict, and how long they took, as its table of verdicts says."""

from dataclasses import dataclass

from wildtool.engine.compare.pairs import UnitKey
from wildtool.engine.compare.runs import ComparedRun
from wildtool.engine.score.results import open_results
from wildtool.engine.score.verdict_table import relation

_LACKS = "outcome NOT IN ('correct', 'wrong')"


@dataclass(frozen=True, slots=True)
class UnitReasons:
    """What was said of the tries of a unit."""

    error: str
    """The class of the first wrong try; empty where none is wrong."""
    reason: str
    """Value and rule that decided it, in words."""
    failure: str
    """Why the first try without a verdict has none; empty where each has one."""
    seconds: float
    """What its calls took."""


def unit_reasons(run: ComparedRun) -> dict[UnitKey, UnitReasons]:
    """What was said of each unit of a run in its folder."""
    with open_results(run.result.folder, run.result.profile) as (_, table):
        rows = relation([table]).aggregate(
            "item, unit, arg_min(error, repeat) FILTER (outcome = 'wrong'), "
            "arg_min(reason, repeat) FILTER (outcome = 'wrong'), "
            f"arg_min(concat_ws(': ', outcome, error, reason), repeat) FILTER ({_LACKS}), sum(latency_s)",
            "item, unit",
        )
        return {
            (item, unit): UnitReasons(error or "", reason or "", failure or "", seconds or 0.0)
            for item, unit, error, reason, failure, seconds in rows.fetchall()
        }
