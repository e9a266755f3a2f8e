"""Cases that were edited, are new or are gone since the baseline: they are counted, and only the others are paired."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from wildtool.engine.compare.pairs import UnitKey
from wildtool.engine.compare.runs import ComparedRun, UnitResults
from wildtool.engine.compare.suites import SuiteRuns
from wildtool.engine.score.formatting import counted
from wildtool.gating.units import CASE_HASH


@dataclass(frozen=True, slots=True)
class CaseChanges:
    """What differs between the cases of a run and of its baseline."""

    edited: int = 0
    """Cases of one id that ask or expect something else."""
    new: int = 0
    gone: int = 0
    shown_otherwise: int = 0
    """Cases that are the same but for the prompt or the tools that the model is shown; these are paired."""

    def remarks(self, name: str) -> list[str]:
        """What must be said of them. Args: name: of the benchmark."""
        counts = {"edited": self.edited, "new": self.new, "gone": self.gone}
        named = [f"{count} {word}" for word, count in counts.items() if count]
        lines = [f"{name}: not compared, since the cases differ: {', '.join(named)}."] if named else []
        if self.shown_otherwise:
            shown = counted(self.shown_otherwise, "case")
            lines.append(f"{name}: {shown} compared with another prompt or other tools than in the baseline.")
        return lines


def unchanged_cases(old: SuiteRuns, new: SuiteRuns) -> tuple[SuiteRuns, SuiteRuns, dict[str, CaseChanges]]:
    """Both sides with the cases that ask and expect the same, and by benchmark what differs; other benchmarks stay as
    they are, and so do those of cases without a common one."""
    olds, news = dict(old.runs), dict(new.runs)
    changes: dict[str, CaseChanges] = {}
    for name in [name for name in olds if name in news]:
        hashes = [_hashes(runs[name]) for runs in (olds, news)]
        if all(hashes):
            pairs, changes[name] = _paired(*hashes)
            olds[name], news[name] = _restricted(olds[name], news[name], pairs)
    return replace(old, runs=olds), replace(new, runs=news), changes


def _hashes(run: ComparedRun) -> dict[str, str]:
    """By case its hash: what it asks and expects, and behind a point what the model is shown with it."""
    return {
        item: str(cell.kinds[CASE_HASH]) for (item, _), cell in run.cells.items() if CASE_HASH in cell.kinds
    }


def _paired(old: Mapping[str, str], new: Mapping[str, str]) -> tuple[dict[str, str], CaseChanges]:
    """By new case the old one that asks and expects the same, whatever it was called; and what differs."""
    asked_before = {item: each.partition(".")[0] for item, each in old.items()}
    asked_now = {item: each.partition(".")[0] for item, each in new.items()}
    pairs = {item: item for item in new if asked_before.get(item) == asked_now[item]}
    renamed = {asked: item for item, asked in asked_before.items() if item not in pairs}
    for item, asked in asked_now.items():
        if item not in pairs and asked in renamed:
            pairs[item] = renamed.pop(asked)
    edited = [item for item in new if item in old and item not in pairs and item not in pairs.values()]
    shown = [(old[its].partition(".")[2], new[item].partition(".")[2]) for item, its in pairs.items()]
    return pairs, CaseChanges(
        edited=len(edited),
        new=len(new) - len(pairs) - len(edited),
        gone=len(old) - len(pairs) - len(edited),
        shown_otherwise=sum(before != after for before, after in shown if before and after),
    )


def _restricted(
    old: ComparedRun, new: ComparedRun, pairs: Mapping[str, str]
) -> tuple[ComparedRun, ComparedRun]:
    """Both runs with the units of paired cases that both hold, under the new names."""
    before: dict[UnitKey, UnitResults] = {}
    after: dict[UnitKey, UnitResults] = {}
    for (item, unit), cell in new.cells.items():
        if item in pairs and (earlier := old.cells.get((pairs[item], unit))) is not None:
            before[item, unit], after[item, unit] = earlier, cell
    if not after:
        return old, new
    # The files differ, but what is compared does not.
    told = {name: getattr(old.result, name) for name in ("data", "data_sha256", "benchmark_file")}
    return replace(old, cells=before), replace(new, cells=after, result=replace(new.result, **told))
