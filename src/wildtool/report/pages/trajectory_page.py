"""The trajectories page: every unit of every run next to its gold answer, in shards loaded on demand.

Shards: `t` lists runs and their sets of items; `ts-SET` is the index of a set, `ti-SET-N` a few of its items (tools,
gold, the first request); `tx-RUN` is the index of a run, `tn-RUN` says which units are behind each of its numbers, and
`tr-RUN-N` has what happened in the units of a few of its items; `tw-RUN-N` has their requests and replies as recorded.
"""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from wildtool.engine.compare.leaderboard import marked_labels, table_titles
from wildtool.engine.score.results import ScoreResult
from wildtool.report.model import ReportRun
from wildtool.report.pages.trajectory_calls import call_templates
from wildtool.report.pages.trajectory_data import Shard, run_shards, set_shards
from wildtool.report.parallel import run_jobs
from wildtool.report.site.shards import Shards
from wildtool.report.site.site import Site

MAX_RUNS_READ_IN_PROCESS = 4
"""Up to this number of runs, one process reads them faster than starting more would."""


@contextmanager
def trajectory_writer(site: Site, runs: Sequence[ReportRun]) -> Generator[None, None, None]:
    """Adds the page, and its data by the end of the block: one run after another, or for many runs on all cores while
    the block does other work.
    """
    sets: dict[Any, int] = {}
    for run in runs:
        sets.setdefault(_same_items(run), len(sets))
    _add_page(site, runs, sets)
    firsts = {sets[_same_items(run)]: run for run in reversed(runs)}
    jobs = [
        partial(_write, site.shards, set_shards, number, run.folder, run.result.profile)
        for number, run in firsts.items()
    ]
    for number, run in enumerate(runs):
        first = firsts[sets[_same_items(run)]].folder
        jobs.append(
            partial(
                _write, site.shards, run_shards, number, run.folder, run.result.profile, first, run.numbers
            )
        )
    with run_jobs(jobs, parallel=len(runs) > MAX_RUNS_READ_IN_PROCESS) as shard_names:
        yield
        for names in shard_names:
            for name in names:
                site.wrote(name)


def _add_page(site: Site, runs: Sequence[ReportRun], sets: Mapping[Any, int]) -> None:
    titles, labels = _titles_and_labels([run.result for run in runs])
    boards = list(dict.fromkeys(titles))
    rows = [
        {
            "label": label,
            "how": title,
            "board": boards.index(title),
            "set": sets[_same_items(run)],
            "units": run.result.counts.units,
            "calls": call_templates(run.about["identity"]["models"]),
            **({} if (plain := _plain_run(run, runs)) is None else {"plain": plain}),
        }
        for run, title, label in zip(runs, titles, labels, strict=True)
    ]
    site.shard("t", {"runs": rows})
    site.add(
        "trajectories",
        "Trajectories",
        "trajectories.html",
        scripts=(
            "trajectory_texts.js",
            "trajectory_graph.js",
            "trajectory_unit.js",
            "trajectory_calls.js",
            "trajectory_filters.js",
            "trajectories.js",
        ),
        styles=("trajectories.css",),
    )


def _titles_and_labels(results: Sequence[ScoreResult]) -> tuple[list[str], list[str]]:
    """For each run the title of its leaderboard, and its name there."""
    titles = table_titles(results)
    labels = {
        title: iter(
            marked_labels([result for result, its in zip(results, titles, strict=True) if its == title])
        )
        for title in titles
    }
    return titles, [next(labels[title]) for title in titles]


def _same_items(run: ReportRun) -> tuple[Any, ...]:
    """Equal if two runs show the same items in the same order, with the same gold and the same first
    request."""
    identity, scope, result = run.about["identity"], run.about["scope"], run.result
    return (
        result.benchmark,
        result.data_sha256,
        identity["mode"],
        result.profile,
        result.prompts,
        tuple(each.described for each in result.alterations if each.changes_requests),
        identity["split"],
        identity["lang"],
        scope["limit"],
        tuple(scope["ids"]),
    )


def _plain_run(run: ReportRun, runs: Sequence[ReportRun]) -> int | None:
    """The place of the run of the same model that differs only in what changes no request, such as an agent around it;
    None where there is none."""
    asked = [each for each in run.result.alterations if each.changes_requests]
    if len(asked) == len(run.result.alterations):
        return None
    wanted = (_same_items(run), run.result.model, tuple(each.described for each in asked))
    matches = ((_same_items(each), each.result.model, each.result.disturbances) for each in runs)
    return next((place for place, match in enumerate(matches) if match == wanted), None)


def _write(shards: Shards, make: Callable[..., Iterable[Shard]], *arguments: Any) -> list[str]:
    """Names of the shards written."""
    names: list[str] = []
    for name, its in make(*arguments):
        shards.write(name, its)
        names.append(name)
    return names
