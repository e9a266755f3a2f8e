"""The trajectories page: every unit of every run next to its gold answer, in shards loaded on demand.

Shards: `t` lists runs and their sets of items; `ts-SET` is the index of a set, `ti-SET-N` a few of its items (tools,
gold, the first request); `tx-RUN` is the index of a run, `tn-RUN` says which units are behind each of its numbers, and
`tr-RUN-N` has what happened in the units of a few of its items; `tw-RUN-N` has their requests and replies as recorded.
"""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import Any

from wildtool.data.files import file_sha256
from wildtool.engine.compare.leaderboard import marked_labels, table_titles
from wildtool.engine.score.results import ScoreResult
from wildtool.json_codec import as_object
from wildtool.report.model import ReportRun
from wildtool.report.pages.trajectory_calls import call_templates
from wildtool.report.pages.trajectory_data import PROBLEM, Shard, run_shards, set_shards
from wildtool.report.parallel import run_jobs
from wildtool.report.run_stamps import run_stamps
from wildtool.report.site.kept_shards import Digests, KeptShards
from wildtool.report.site.shards import Shards
from wildtool.report.site.site import Site

MAX_RUNS_READ_IN_PROCESS = 4
"""Up to this number of runs, one process reads them faster than starting more would."""


@contextmanager
def trajectory_writer(
    site: Site, runs: Sequence[ReportRun], in_order: Sequence[ReportRun] = ()
) -> Generator[None, None, None]:
    """Adds the page, and its data by the end of the block: one run after another, or for many runs on all cores while
    the block does other work. Runs whose data the last report in the folder left as they would be are not read again.

    Args:
        runs: their numbers are their places here, which stay when others are ranked anew.
        in_order: the same as a reader wants to see them; empty for as they are.
    """
    sets: dict[Any, int] = {}
    for run in runs:
        sets.setdefault(_same_items(run), len(sets))
    _add_page(site, runs, in_order or runs, sets)
    firsts = {sets[_same_items(run)]: run for run in reversed(runs)}
    first_of = [firsts[sets[_same_items(run)]] for run in runs]
    earlier = KeptShards(site.shards)
    stamps = run_stamps(runs, first_of) if earlier.is_listed else [None] * len(runs)
    digests = earlier.take(stamps)
    of_sets = [
        partial(_write, site.shards, set_shards, number, run.folder, run.result.profile)
        for number, run in firsts.items()
    ]
    of_runs = {
        number: partial(
            _write, site.shards, run_shards, number, run.folder, run.result.profile, first.folder, run.numbers
        )
        for number, (run, first) in enumerate(zip(runs, first_of, strict=True))
        if number not in digests
    }
    with run_jobs([*of_sets, *of_runs.values()], parallel=len(of_runs) > MAX_RUNS_READ_IN_PROCESS) as results:
        yield
        for shards in islice(results, len(of_sets)):
            _add_shards(site, shards)
        digests |= zip(of_runs, results, strict=True)
    for number in range(len(runs)):
        _add_shards(site, digests[number])
    earlier.write(stamps, digests)


def _add_shards(site: Site, shards: Digests) -> None:
    for name in shards:
        site.wrote(name)


def _add_page(
    site: Site, runs: Sequence[ReportRun], in_order: Sequence[ReportRun], sets: Mapping[Any, int]
) -> None:
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
    numbers = {id(run): number for number, run in enumerate(runs)}
    site.shard("t", {"runs": rows, "order": [numbers[id(run)] for run in in_order]})
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
        tuple(as_object(identity.get("sample")).items()),
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


def _write(shards: Shards, make: Callable[..., Iterable[Shard]], *arguments: Any) -> Digests:
    """The shards written; without the SHA-256 of one that says why there is nothing to show, which is tried again."""
    digests: dict[str, str] = {}
    for name, its in make(*arguments):
        shards.write(name, its)
        digests[name] = "" if PROBLEM in its else file_sha256(shards.path(name))
    return digests
