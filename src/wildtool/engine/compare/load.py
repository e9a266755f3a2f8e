"""The runs of a comparison, and what keeps them from being compared."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from wildtool.alter.kinds import recorded_alterations
from wildtool.engine.compare.amounts import run_amounts
from wildtool.engine.compare.leaderboard import disturbance_labels, mode_name
from wildtool.engine.compare.losses import is_exposed, lost_tries
from wildtool.engine.compare.pairs import UnitScores, share
from wildtool.engine.compare.plain_run import plain_command
from wildtool.engine.compare.runs import (
    ComparedRun,
    Granularity,
    agent_settings,
    incompatibilities,
    load_compared_run,
)
from wildtool.engine.record.bundle import bundle_origin
from wildtool.engine.record.run_folder import read_run
from wildtool.engine.score.results import ScoreResult, load_result, open_results
from wildtool.engine.score.verdict_table import relation
from wildtool.errors import UsageError, unknown_name
from wildtool.stats.metrics import LACKS_VERDICT, sample_weights
from wildtool.steps import show_step, step_line


@step_line()
def load_compared_runs(
    folders: Sequence[Path], profile: str | None = None, granularity: Granularity = "unit"
) -> list[ComparedRun]:
    """The runs, in the order given. Raises UsageError for fewer than two, and for one that is given twice."""
    if len(folders) < 2:
        raise UsageError(
            "a comparison needs two runs or more, such as `wildtool compare runs/demo/A runs/demo/B`"
            + "".join(
                f"; {line}" for folder in folders for line in _plain_runs_of(load_result(folder, profile))
            )
        )
    if len({folder.resolve() for folder in folders}) < len(folders):
        raise UsageError("the same run is given twice; give each run once")
    identities = [read_run(folder)["identity"] for folder in folders]
    models = [identity["models"]["agent"]["name"] for identity in identities]
    disturbed = [recorded_alterations(identity) for identity in identities]
    # Runs of one model are distinguished by what was disturbed where that is enough.
    described = (tuple(each.described for each in alterations) for alterations in disturbed)
    is_enough = len({*zip(models, described, strict=True)}) == len(folders)
    marks = disturbance_labels(disturbed) if is_enough else [str(bundle_origin(folder)) for folder in folders]
    exposed = any(is_exposed(each.columns) for alterations in disturbed for each in alterations)
    sides: list[ComparedRun] = []
    for folder, model, mark, identity in zip(folders, models, marks, identities, strict=True):
        show_step(f"reading run {len(sides) + 1} of {len(folders)}")
        with open_results(folder, profile) as (result, table):
            label = model if models.count(model) == 1 else f"{model} ({mark})"
            rows = relation([table])
            side = load_compared_run(label, result, identity, rows, granularity)
            if any(each.is_the_question for alterations in disturbed for each in alterations):
                names = (model, str(agent_settings(identity).get("sent_as")))
                side = replace(side, amounts=run_amounts(folder, result, rows, names))
            if exposed and granularity == "unit":
                side = replace(side, losses=lost_tries(folder, result.profile))
            sides.append(side)
    return sides


def with_baseline(sides: Sequence[ComparedRun], name: str) -> list[ComparedRun]:
    """The runs with one of them first, against which the others are compared.

    Args: name: its model, its label in tables, its run or the folder of it. Raises UsageError where none or several have
        it.
    """
    named = [
        side
        for side in sides
        if name in (side.label, side.result.model, side.result.run, str(side.result.folder))
        or Path(name) == bundle_origin(side.result.folder)
    ]
    if len(named) > 1:
        labels = ", ".join(str(bundle_origin(side.result.folder)) for side in named)
        raise UsageError(f"--against {name} names several runs; give the folder of one: {labels}")
    if not named:
        raise UsageError(unknown_name("run", name, [side.label for side in sides]))
    return [named[0], *(side for side in sides if side is not named[0])]


def load_scores(result: ScoreResult) -> UnitScores | None:
    """How often each unit of a run is right; None where its verdicts were made for one command and not kept."""
    if result.read_as or not result.kept:
        return None
    with open_results(result.folder, result.profile) as (_, table):
        return unit_scores(relation([table]))


def unit_scores(rows: Any) -> UnitScores:
    """How often each unit is right. Args: rows: DuckDB relation of the verdict rows of a run under one profile."""
    units = rows.aggregate(
        f"item, unit, count(*) FILTER (correct), count(*) FILTER ({LACKS_VERDICT}), count(*)",
        "item, unit",
    ).fetchall()
    return UnitScores(
        {(item, unit): share(right, tries) for item, unit, right, _, tries in units},
        {(item, unit): share(missing, tries) for item, unit, _, missing, tries in units if missing},
        sample_weights(rows),
    )


def missing_plain_runs(sides: Sequence[ComparedRun]) -> list[str]:
    """What makes the runs without an alteration that runs are compared for, where none of these is such a run."""
    lines: dict[str, None] = {}
    for side in sides:
        plain = (each for each in sides if each.result.model == side.result.model and not each.questions)
        if all(incompatibilities(each, side) for each in plain):
            lines.update(dict.fromkeys(_plain_runs_of(side.result)))
    return list(lines)


def _plain_runs_of(result: ScoreResult) -> list[str]:
    return [
        f"the run to compare it with ({each.without}) is made by `{plain_command(result.folder, result, each)}`"
        for each in result.alterations
        if each.is_the_question
    ]


def check_comparable(
    sides: Sequence[ComparedRun],
    *,
    all_pairs: bool = False,
    only_played: bool = False,
    anyway: bool = False,
    modes: bool = False,
) -> list[str]:
    """What the runs do not share.

    Args: all_pairs, only_played: as of `compare_all`; anyway: compare them nevertheless; modes: whether their modes may
        differ.

    Raises UsageError where a run does not cover what was planned, since what it lacks would count as wrong, where the
    runs do not share something, and where modes may differ and none does.
    """
    incomplete = [f"{side.label}: {side.result.named_trust[0]}" for side in sides if side.result.incomplete]
    if incomplete and not only_played:
        raise UsageError(
            "incomplete runs cannot be compared:\n  "
            + "\n  ".join(incomplete)
            + "\nComplete them, or add --only-played to compare the units that were run."
        )
    differing = [
        f"{a.label} and {b.label} differ in {difference}"
        for index, a in enumerate(sides if all_pairs else sides[:1])
        for b in sides[index + 1 :]
        for difference in incompatibilities(a, b, modes=modes)
    ]
    if differing and not anyway:
        raise UsageError(
            "these runs do not compare:\n  "
            + "\n  ".join(differing)
            + "".join(f"\n{line}" for line in missing_plain_runs(sides))
            + "\nGive runs of the same data and settings, or --anyway to compare the units they share."
        )
    names = {mode_name(side.result) for side in sides}
    if modes and len(names) == 1:
        raise UsageError(
            f"--modes compares runs in several modes, and these are all in mode {names.pop()}; leave --modes out"
        )
    return differing
