"""Runs, started or read: the same plans, engine and folders as `wildtool run`."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, cast, overload

import typer

from wildtool.cli import PLAIN, ParsedCommand
from wildtool.cli.command import Declaration, command_of
from wildtool.cli.options.config_file import (
    explicit_options,
    loaded_config,
    read_config,
    trust_request_of,
)
from wildtool.cli.options.run import NamedRun, RunOptions
from wildtool.cli.options.shared import BENCHMARK_ARGUMENT
from wildtool.cli.plans import invocation_of, plan_runs
from wildtool.engine.benchmark_file import file_of
from wildtool.engine.compare.comparison import Comparison, compare_all
from wildtool.engine.compare.leaderboard import trust_line
from wildtool.engine.compare.load import check_comparable, load_compared_runs
from wildtool.engine.run.runner import RunJob, RunResult, play_plans
from wildtool.engine.score.explain import metric_named
from wildtool.engine.score.formatting import format_counts, format_interval, format_value
from wildtool.engine.score.results import ScoreResult, load_result, open_results
from wildtool.engine.score.verdict_table import relation
from wildtool.errors import UsageError, unknown_name
from wildtool.models.function import CallableModel, ModelFunction
from wildtool.python.bench import Bench, load
from wildtool.python.progress import notebook_display
from wildtool.trust_request import TrustRequest
from wildtool.types import Metric, Model

ModelName = str | ModelFunction | Model
"""A name as on the command line, a function of (messages, tools), or an object with `complete`."""


def trust(path: str | Path = "wildtool.toml", digest: str | None = None) -> TrustRequest:
    """What a `wildtool.toml` would do that nobody names; with its hash, it is trusted until it changes.

    Args:
        path: the file, or its folder.
        digest: the hash that a message, or the same call without it, has shown.

    Raises UsageError where there is no such file, it is invalid, or has another hash.
    """
    request = trust_request_of(Path(path))
    if digest is not None:
        request.accept(digest)
    return request


class Scores(Sequence[Metric]):
    """The numbers of a run: a sequence of metrics, and by name."""

    def __init__(self, result: ScoreResult) -> None:
        self.result = result
        self._metrics = tuple(metric for metric in result.metrics if metric.kind != "count")

    def __len__(self) -> int:
        return len(self._metrics)

    @overload
    def __getitem__(self, key: int | str) -> Metric: ...
    @overload
    def __getitem__(self, key: slice) -> Sequence[Metric]: ...
    def __getitem__(self, key: int | str | slice) -> Metric | Sequence[Metric]:
        """A metric by its place, its name, or `"group: name"`. Raises UsageError for a name that is unknown, or that
        several groups have."""
        return metric_named(self._metrics, key) if isinstance(key, str) else self._metrics[key]

    @property
    def headline(self) -> Metric | None:
        """The number that models are ranked by."""
        return next((metric for metric in self._metrics if metric.headline), None)

    def _rows(self) -> Iterator[tuple[str, str, str, str]]:
        for metric in self._metrics:
            ends = "–".join(format_interval(metric) or ())
            yield f"{metric.group}: {metric.name}", format_value(metric), ends, format_counts(metric)

    def __repr__(self) -> str:
        rows = list(self._rows())
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            f"{name:<{widths[0]}}  {value:>{widths[1]}}  {ends:<{widths[2]}}  {counts}".rstrip()
            for name, value, ends, counts in rows
        ]
        return "\n".join([*lines, trust_line(self.result.model, self.result)]).rstrip()

    def _repr_html_(self) -> str:
        cells = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in self._rows()
        )
        trust = escape(trust_line(self.result.model, self.result))
        return f"<table><tr><th>number</th><th></th><th>95 %</th><th></th></tr>{cells}</table><p>{trust}</p>"


class Verdicts:
    """The verdicts of a run, a row for each unit and repeat; the columns are described in `docs/export.md`."""

    def __init__(self, folder: Path, profile: str | None) -> None:
        self._folder, self._profile = folder, profile

    def _read(self, method: str, package: str) -> Any:
        try:
            import_module(package)
        except ImportError as error:
            raise UsageError(f"this needs {package}: pip install {package} ({error})") from None
        with open_results(self._folder, self._profile) as (_, table):
            return getattr(relation([table]), method)()

    def df(self) -> Any:
        """As a DataFrame of pandas."""
        return self._read("df", "pandas")

    def pl(self) -> Any:
        """As a DataFrame of polars."""
        return self._read("pl", "polars")

    def arrow(self) -> Any:
        """As a table of pyarrow."""
        return self._read("to_arrow_table", "pyarrow")

    def rows(self) -> list[dict[str, Any]]:
        """Each row as a dictionary; needs no other package."""
        with open_results(self._folder, self._profile) as (_, table):
            rows = relation([table])
            return [dict(zip(rows.columns, row, strict=True)) for row in rows.fetchall()]

    def __len__(self) -> int:
        return len(self.rows())


class Run:
    """A run in its folder; complete or not, its numbers say what they rest on."""

    def __init__(self, folder: str | Path, profile: str | None = None) -> None:
        """
        Args:
            profile: rules to judge by; None for those it was played under.

        Raises RecordError where there is no run.
        """
        self.folder, self.profile = Path(folder), profile
        self.result: ScoreResult = load_result(self.folder, profile)
        """Numbers, evidence and how complete they are."""

    @property
    def model(self) -> str:
        return self.result.model

    @property
    def complete(self) -> bool:
        """Whether every planned unit has a verdict."""
        return self.result.evidence.complete and not self.result.incomplete

    @property
    def scores(self) -> Scores:
        return Scores(self.result)

    def verdicts(self) -> Verdicts:
        return Verdicts(self.folder, self.profile)

    def judged(self, profile: str) -> "Run":
        """The same replies under another profile."""
        return Run(self.folder, profile)

    def __repr__(self) -> str:
        best = self.scores.headline
        number = f", {best.name} {format_value(best)}" if best else ""
        state = "" if self.complete else ", incomplete"
        return f"<run of {self.result.benchmark} by {self.model}{number}{state}: {self.folder}>"


@overload
def run(bench: Bench | str | Path, *, model: ModelName, quiet: bool = False, **options: Any) -> Run: ...
@overload
def run(
    bench: Bench | str | Path, *, model: Sequence[ModelName], quiet: bool = False, **options: Any
) -> list[Run]: ...
def run(
    bench: Bench | str | Path,
    *,
    model: ModelName | Sequence[ModelName],
    quiet: bool = False,
    **options: Any,
) -> Run | list[Run]:
    """Runs a benchmark on a model, or continues that run, and scores it.

    Args:
        bench: a benchmark, or its name.
        model: a name as on the command line, a function of (messages, tools) that gives the assistant message or its
            text, or a list of these.
        options: those of `wildtool run` with `_` for `-`, such as `sample=200`, `temperature=0`, `out="runs/tide"`,
            `header={"X-Team": "evals"}`.

    Returns:
        A `Run`; a list of them for a list of models.

    Works inside a running event loop. Prints nothing; a notebook shows a progress bar unless `quiet=True` is given.
    Raises the errors of `wildtool.errors`; what is recorded stays, and the same call continues.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(arun(bench, model=model, quiet=quiet, **options))
    return _in_thread(lambda: arun(bench, model=model, quiet=quiet, **options))


async def arun(
    bench: Bench | str | Path, *, model: ModelName | Sequence[ModelName], quiet: bool = False, **options: Any
) -> Any:
    """As `run`, to be awaited."""
    alone = isinstance(model, str) or not isinstance(model, Sequence)
    models = cast("Sequence[ModelName]", [model] if alone else model)
    runs, run_options = _planned(bench if isinstance(bench, Bench) else load(bench), models, options)
    with (
        invocation_of(runs, run_options) as invocation,
        notebook_display([planned.label for planned in runs], quiet=quiet) as observers,
    ):
        jobs = [
            RunJob(planned.plan, planned.folder, observer)
            for planned, observer in zip(runs, observers, strict=True)
        ]
        outcomes = await play_plans(jobs, command=["wildtool.run"], invocation=invocation)
    for outcome in outcomes:
        if isinstance(outcome, Exception):
            raise outcome
        if isinstance(outcome, RunResult) and outcome.interrupted:
            # Ctrl-C ended the calls. Its own exception would leave the caller's loop at once, with its other tasks.
            raise asyncio.CancelledError
    finished = [Run(planned.folder, planned.plan.profile) for planned in runs]
    return finished[0] if alone else finished


def _planned(
    bench: Bench, models: Sequence[ModelName], options: Mapping[str, Any]
) -> tuple[list[NamedRun], RunOptions]:
    """The runs of a benchmark, and the options. Raises UsageError for an unknown option or a wrong value."""
    own = [_own_model(model) for model in models]
    _check_names(own)
    names = [model if isinstance(model, str) else model.name for model in own]
    ready = {name: model for name, model in zip(names, own, strict=True) if not isinstance(model, str)}
    chosen: dict[str, Any] = {"mode": bench.benchmark.mode, "split": bench.split, "lang": bench.lang}
    if bench.source.name != bench.name:
        chosen["data"] = bench.source.name
    words = ["--quiet", *(f"--model={name}" for name in names), *option_words({**chosen, **options})]
    read_config(
        Path(options["config"]) if options.get("config") else None
    )  # raises what a command would print
    app = typer.Typer(**PLAIN, add_completion=False)
    app.command(cls=ParsedCommand)(command_of(_take))
    try:
        run_options, context = typer.main.get_command(app).main([*words, bench.name], standalone_mode=False)
    except typer.TyperException as error:
        raise UsageError(error.format_message()) from None
    run_options.check()
    explicit, entries = explicit_options(context), loaded_config(context).models
    name = str(file_of(bench.benchmark) or bench.name)
    return plan_runs(name, run_options, explicit, entries, models=ready), run_options


def _take(run_options: RunOptions, context: typer.Context, benchmark: str = BENCHMARK_ARGUMENT) -> Any:
    """The options of `wildtool run`, as its command line takes them."""
    return run_options, context


def option_words(values: Mapping[str, Any]) -> Iterator[str]:
    """Options by their names in Python as words of a command line. Raises UsageError for an unknown one."""
    declarations = cast("dict[str, Declaration]", cast(Any, RunOptions).declarations)
    options = {its.option(name): its for name, its in declarations.items()}
    names = {option.lstrip("-").replace("-", "_"): option for option in options}
    known = names.keys() - _OWN_ARGUMENTS
    for name, value in values.items():
        if name not in known:
            raise UsageError(unknown_name("option", name, sorted(known)))
        if value is True:
            yield names[name]
        elif isinstance(value, dict) and options[names[name]].settings["metavar"] == "NAME=VALUE":
            pairs = cast("dict[str, Any]", value)
            yield from (f"{names[name]}={key}={text}" for key, text in pairs.items())
        elif value is not None and value is not False:
            parts = cast("list[Any]", value if isinstance(value, list | tuple) else [value])
            texts = [json.dumps(part) if isinstance(part, dict) else str(part) for part in parts]
            yield from (f"{names[name]}={text}" for text in texts)


_OWN_ARGUMENTS = {"model", "dry_run", "quiet", "on"}
"""Options that are no options here."""


def _own_model(model: ModelName) -> str | Model:
    if isinstance(model, str):
        return model
    if hasattr(model, "complete") and hasattr(model, "settings"):
        return cast(Model, model)
    return CallableModel(cast(ModelFunction, model))


def _check_names(models: Sequence[str | Model]) -> None:
    """Raises UsageError where two objects have one name: one of them would be given the other's replies."""
    names = [model.name for model in models if not isinstance(model, str)]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(
                f"model: two of them are called {name}; rename one or change its text, for what a function reads "
                "from global variables does not tell it from another"
            )


def _in_thread(work: Callable[[], Any]) -> Any:
    """Runs a coroutine in a loop of its own, since the caller's is taken; Ctrl-C stops it as it stops a command."""
    outcome: dict[str, Any] = {}
    loop = asyncio.new_event_loop()
    task = loop.create_task(work())

    def run_loop() -> None:
        try:
            outcome["value"] = loop.run_until_complete(task)
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            outcome["error"] = error
        finally:
            loop.close()

    thread = threading.Thread(target=run_loop, daemon=True)
    thread.start()
    try:
        thread.join()
    except KeyboardInterrupt:
        loop.call_soon_threadsafe(task.cancel)
        thread.join()
        raise
    if "error" in outcome:
        raise outcome["error"]
    return outcome["value"]


@dataclass(frozen=True)
class RunComparison:
    """Runs against the first one."""

    comparisons: tuple[Comparison, ...]
    differing: tuple[str, ...]
    """What the runs do not share, where they were compared nevertheless."""

    @property
    def findings(self) -> list[str]:
        """A sentence for each run."""
        return [
            f"{each.model} against {each.baseline}: {each.finding}; difference {100 * each.whole.difference:+.1f} points "
            f"({100 * each.whole.low:+.1f} to {100 * each.whole.high:+.1f}), p {each.p_holm:.3g} by Holm, "
            f"{each.whole.units} units"
            for each in self.comparisons
        ]

    def __repr__(self) -> str:
        return "\n".join(self.findings)


def compare(
    first: Run | str | Path,
    *others: Run | str | Path,
    profile: str | None = None,
    metric: Literal["unit", "item"] = "unit",
    all_pairs: bool = False,
    only_played: bool = False,
    anyway: bool = False,
) -> RunComparison:
    """Each run against the first: paired by unit, with intervals and exact tests, corrected by Holm's method.

    Args: as the options of `wildtool compare`.

    Raises UsageError where the runs do not compare, unless `anyway`, or are incomplete, unless `only_played`.
    """
    named = [each.profile for each in (first, *others) if isinstance(each, Run) and each.profile]
    folders = [each.folder if isinstance(each, Run) else Path(each) for each in (first, *others)]
    sides = load_compared_runs(folders, profile or next(iter(named), None), metric)
    differing = check_comparable(sides, all_pairs=all_pairs, only_played=only_played, anyway=anyway)
    comparisons = compare_all(sides, all_pairs=all_pairs, only_played=only_played)
    return RunComparison(tuple(comparisons), tuple(differing))
