"""Runs the models of a series, as `wildtool run SERIES` and `wildtool curve` do."""

import socket
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import typer

from wildtool.api.settings import Settings, check_rules
from wildtool.api.words import option_of
from wildtool.cli.options.config_file import explicit_options, loaded_config
from wildtool.cli.options.run import RunOptions, settings_values
from wildtool.errors import UsageError
from wildtool.terminal import print_err

if TYPE_CHECKING:
    from wildtool.api.plans import NamedRun
    from wildtool.engine.series import Series, SeriesBenchmark, SeriesPoint

OF_THE_SERIES = (
    "model", "base_url", "api_key_env", "api_key_file", "header", "data", "mode", "split", "lang", "profile", "seed",
    "repeats", "on", "server",
)  # fmt: skip
"""Settings that a series names itself, or that workers have, who share one run and not many."""
_CONNECT_S = 3.0
"""Time that an endpoint has to accept a connection before anything is run."""


def series_folder(file: Path, out: Path | None) -> Path:
    """Where the runs of a series are."""
    return out or Path("runs", file.stem)


def series_folders(series: "Series", out: Path) -> dict[tuple[str, str], Path]:
    """The folders of the runs of a series, by point and benchmark. Args: out: the folder above them."""
    from wildtool.models.resolve import folder_name

    return {
        (point.name, benchmark.label): _parent(out, point, benchmark) / folder_name(point.model)
        for point in series.points
        for benchmark in series.benchmarks
    }


def _parent(out: Path, point: "SeriesPoint", benchmark: "SeriesBenchmark") -> Path:
    return out / point.name / benchmark.label


def run_series(
    run_options: RunOptions,
    context: typer.Context,
    file: Path,
    execute: "Callable[[list[NamedRun], Settings], int]",
) -> tuple[int, "Series", dict[tuple[str, str], Path]]:
    """Runs every model of a series on every benchmark, with the same settings; what is complete is not run again.

    Args:
        execute: starts runs with settings that hold for all of them, and gives the exit status.

    Gives the exit status, the series, and the folders of its runs by point and benchmark. Raises UsageError for options
    that the series names itself.
    """
    from wildtool.api.plans import plan
    from wildtool.cli.output.curve import chart_name
    from wildtool.engine.series import read_series
    from wildtool.outputs import check_file

    run_options.check_limits()
    explicit = explicit_options(context)
    if refused := [name for name in OF_THE_SERIES if name in explicit]:
        raise UsageError(
            f"{option_of(refused[0])} is not for a series; {file} says it for each model or benchmark"
        )
    check_rules(settings_values(run_options))
    series = read_series(file)
    out = series_folder(file, run_options.out)
    for name in ("curve.csv", *(chart_name(benchmark.label) for benchmark in series.benchmarks)):
        check_file(out / name, force=run_options.force)
    entries = loaded_config(context).models
    report = None if run_options.quiet else print_err
    absent = set[str]() if run_options.dry_run else _unreachable(series, run_options.available)
    keyed: dict[tuple[str, str], NamedRun] = {}
    for point in series.points:
        if point.name in absent:
            continue
        for benchmark in series.benchmarks:
            settings = _settings(run_options, series, point, benchmark, explicit)
            (run,) = plan(settings, entries, report=report, parent=_parent(out, point, benchmark))
            keyed[point.name, benchmark.label] = run._replace(label=f"{point.name}: {benchmark.label}")
    some = _settings(run_options, series, series.base, series.benchmarks[0], explicit)
    status = execute(list(keyed.values()), some)
    return status, series, {key: run.folder for key, run in keyed.items()}


def _settings(
    run_options: RunOptions,
    series: "Series",
    point: "SeriesPoint",
    benchmark: "SeriesBenchmark",
    explicit: Collection[str],
) -> Settings:
    """The settings of one point on one benchmark."""
    from wildtool.benchmark import JUDGE
    from wildtool.engine.registry import load_benchmark

    values = settings_values(run_options)
    del values["out"]
    roles = load_benchmark(benchmark.name, benchmark.mode).roles
    for role, needed in (("user", "user"), ("judge", JUDGE)):
        if needed not in roles:
            values |= {name: None for name in values if name.startswith(role)}
    settings = {name: getattr(benchmark, name) for name in ("data", "mode", "split", "lang", "profile")}
    of_point = {
        "base_url": point.base_url,
        "api_key_env": point.api_key_env,
        "api_key_file": None,
        "header": list(point.headers),
        "seed": series.seed,
        "repeats": series.repeats,
    }
    return Settings.of(benchmark.name, [point.model], {**values, **of_point, **settings}, explicit)


def _unreachable(series: "Series", available: bool) -> set[str]:
    """Names of the points whose endpoint does not answer. Raises UsageError if there are any and all were asked for, or
    the base is one of them."""
    addresses = list({point.base_url: None for point in series.points if point.base_url is not None})
    with ThreadPoolExecutor(max(1, len(addresses))) as pool:
        reasons: dict[str | None, str] = dict(zip(addresses, pool.map(_refusal, addresses), strict=True))
    absent = {point.name: reason for point in series.points if (reason := reasons.get(point.base_url))}
    if not absent:
        return set()
    told = "\n  ".join(
        f"{point.name}: {point.base_url} does not answer ({absent[point.name]})"
        for point in series.points
        if point.name in absent
    )
    if not available or series.base.name in absent or len(absent) == len(series.points) - 1:
        raise UsageError(
            f"nothing was run, since some endpoints do not answer:\n  {told}\nStart them, or add --available to run "
            "the others; the model before training is always needed."
        )
    print_err(f"Left out, since their endpoints do not answer:\n  {told}")
    return set(absent)


def _refusal(address: str) -> str:
    """Why nothing listens at an address; empty if something does."""
    parts = urlsplit(address)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        with socket.create_connection((parts.hostname or "", port), timeout=_CONNECT_S):
            return ""
    except OSError as error:
        return error.strerror or str(error)
