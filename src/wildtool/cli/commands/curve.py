"""`wildtool curve`: runs a series of models that were trained on growing data, and shows what the data brought."""

import socket
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import typer

from wildtool.api.settings import Settings, check_rules
from wildtool.cli.command import arg, declared, opt, worst_status
from wildtool.cli.help import OUTPUT, SELECTION
from wildtool.cli.options import shared as options
from wildtool.cli.options.config_file import explicit_options
from wildtool.cli.options.run import CallOptions, settings_values
from wildtool.cli.terminal import print_err
from wildtool.config.config_file import read_config
from wildtool.errors import UsageError

if TYPE_CHECKING:
    from wildtool.api.plans import NamedRun
    from wildtool.engine.series import Series, SeriesBenchmark, SeriesPoint

_CONNECT_S = 3.0
"""Time that an endpoint has to accept a connection before anything is run."""


@declared
class CurveOptions(CallOptions):
    """Options that hold for all points alike; what differs is in the file."""

    limit: int | None = options.LIMIT_OPTION
    available: bool = opt("Leave out points whose endpoint does not answer.", panel=SELECTION)
    retries: int = options.RETRIES_OPTION
    dry_run: bool = options.DRY_RUN_OPTION
    user_model: str | None = options.USER_MODEL_OPTION
    user_base_url: str | None = options.USER_BASE_URL_OPTION
    user_header: list[str] | None = options.USER_HEADER_OPTION
    judge: str | None = options.JUDGE_OPTION
    judge_base_url: str | None = options.JUDGE_BASE_URL_OPTION
    judge_header: list[str] | None = options.JUDGE_HEADER_OPTION
    out: Path | None = opt(
        "-o FOLDER",
        "Folder for the runs, curve.csv and the charts (default: runs/ and the file's name).",
        panel=OUTPUT,
    )
    force: bool = options.FORCE_OPTION
    quiet: bool = options.QUIET_OPTION
    cache: Path | None = options.CACHE_OPTION
    trust: str | None = options.TRUST_OPTION


def curve(
    curve_options: CurveOptions,
    context: typer.Context,
    file: Path = arg("SERIES", "TOML file that names benchmarks and models."),
) -> int:
    """Draw learning curves of models trained on growing data.

    \b
    Examples:
      wildtool curve series.toml
      wildtool curve series.toml --limit 50 -o runs/tide

    Every model is run on every benchmark with the same settings; what is complete is not run again. Writes curve.csv
    and, with the extra [report], a chart for each benchmark. Compares each size with the model before training.
    """
    from wildtool.api.plans import plan
    from wildtool.cli.commands.run import execute_runs
    from wildtool.cli.output.curve import chart_name, show_curve
    from wildtool.engine.series import read_series
    from wildtool.outputs import check_file

    curve_options.check_limits()
    check_rules(settings_values(curve_options))
    series = read_series(file)
    out = curve_options.out or Path("runs", file.stem)
    for name in ("curve.csv", *(chart_name(benchmark.label) for benchmark in series.benchmarks)):
        check_file(out / name, force=curve_options.force)
    entries, explicit = read_config(None).models, explicit_options(context)
    report = None if curve_options.quiet else print_err
    absent = set[str]() if curve_options.dry_run else _unreachable(series, curve_options.available)
    keyed: dict[tuple[str, str], NamedRun] = {}
    for point in series.points:
        if point.name in absent:
            continue
        for benchmark in series.benchmarks:
            settings = _settings(curve_options, series, point, benchmark, explicit)
            place = out / point.name / benchmark.label
            (run,) = plan(settings, entries, report=report, parent=place)
            keyed[point.name, benchmark.label] = run._replace(label=f"{point.name}: {benchmark.label}")
    some = _settings(curve_options, series, series.base, series.benchmarks[0], explicit)
    status = execute_runs(list(keyed.values()), some, tables=False)
    if curve_options.dry_run:
        return status
    exit_status = show_curve(
        series,
        {key: run.folder for key, run in keyed.items()},
        out,
        force=curve_options.force,
        quiet=curve_options.quiet,
    )
    return worst_status([status, exit_status])


def _settings(
    curve_options: CurveOptions,
    series: "Series",
    point: "SeriesPoint",
    benchmark: "SeriesBenchmark",
    explicit: Collection[str],
) -> Settings:
    """The settings of one point on one benchmark."""
    from wildtool.benchmark import JUDGE
    from wildtool.engine.registry import load_benchmark

    values = settings_values(curve_options)
    del values["out"]
    roles = load_benchmark(benchmark.name, benchmark.mode).roles
    if "user" not in roles:
        values |= {"user_model": None, "user_base_url": None, "user_header": None}
    if JUDGE not in roles:
        values |= {"judge": None, "judge_base_url": None, "judge_header": None}
    settings = {name: getattr(benchmark, name) for name in ("data", "mode", "split", "lang", "profile")}
    of_point = {
        "base_url": point.base_url,
        "api_key_env": point.api_key_env,
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
