"""Options that several verbs share, so that they read the same in each."""

from pathlib import Path

import typer

from wildtool.cli.command import arg, opt, run_to_status
from wildtool.cli.help import LIMITS, MODEL, MORE, OUTPUT, SAMPLING, SELECTION
from wildtool.cli.options import completion
from wildtool.cli.options.config_file import grant_trust
from wildtool.outputs import is_shared


def local_run(run: Path) -> Path:
    """The folder of a run, for one in a store that of its copy on this machine."""
    if not is_shared(run):
        return run
    from wildtool.scale.copies import local_folder  # few runs are in stores

    return local_folder(run)


def local_runs(runs: list[Path] | Path | None) -> list[Path] | Path | None:
    """Callback of arguments that name runs: those in stores as folders of this machine."""
    paths = list[Path]()

    def take() -> None:
        for run in [runs] if isinstance(runs, Path) else runs or ():
            paths.append(local_run(run))

    if status := run_to_status(take):
        raise typer.Exit(status)
    return paths[0] if isinstance(runs, Path) else runs and paths


BENCHMARK_ARGUMENT = arg(
    "BENCH",
    "Benchmark, see `wildtool list`; or a Python file that defines one.",
    complete=completion.benchmarks,
)
BENCHMARK_OR_SUITE_ARGUMENT = arg(
    "BENCH|FILE",
    "File of own cases or conversations; a benchmark, see `wildtool list`; a Python file that defines one; "
    "several at once: toleap, all; or a series of models (docs/compare.md).",
    complete=completion.benchmarks_and_suites,
)
DATA_OPTION = opt(
    "-d NAME|FILE",
    "Data file in the benchmark's format, or the name of one of its data sets.",
    show_default=False,
    panel=SELECTION,
)
PROFILE_OPTION = opt(
    "-p NAME", "Scoring rules; see `wildtool list profiles`.", complete=completion.profiles, panel=SELECTION
)
MODE_OPTION = opt(
    "NAME",
    "How the model is prompted; see `wildtool list modes`.",
    complete=completion.modes,
    panel=SELECTION,
)
SPLIT_OPTION = opt("NAME", "Only items of this split.", panel=SELECTION)
LANG_OPTION = opt("CODE", "Only items in this language, such as en or zh.", panel=SELECTION)
DATA_BENCHMARK_OPTION = opt(
    "NAME", "Benchmark of the data, if it cannot be detected.", complete=completion.benchmarks
)
FORCE_OPTION = opt("Overwrite files and folders that wildtool did not make.", panel=OUTPUT)
SORT_OPTION = opt(
    "ORDER",
    "Order of runs: rank, model, given, or a number such as 'task type: Chat', best first.",
    default="rank",
    panel=OUTPUT,
)
JSON_OPTION = opt("--json", "Print JSON with every number.", panel=OUTPUT)
CSV_OPTION = opt("--csv", "Print CSV, one number per row.", panel=OUTPUT, not_with="--json")
RUNS_ARGUMENT = arg(
    "RUN…",
    "Run folders, folders with runs in them, bundles, or addresses such as s3://bucket/runs.",
    show_default=False,
    default=None,
    callback=local_runs,
)
BASE_URL_OPTION = opt(
    "URL", "Address of the model's API (default: OPENAI_BASE_URL, or the provider's).", panel=MODEL
)
API_KEY_ENV_OPTION = opt(
    "VARIABLE",
    "Environment variable that holds the key (default: OPENAI_API_KEY, or the provider's).",
    panel=MODEL,
)
HEADER_OPTION = opt(
    "NAME=VALUE",
    "HTTP header of every request, such as a gateway's; a secret as NAME=env:VARIABLE; repeatable.",
    panel=MODEL,
)
USER_MODEL_OPTION = opt(
    "NAME",
    "Model that plays the user, for benchmarks that simulate one.",
    complete=completion.models,
    panel=MODEL,
)
USER_BASE_URL_OPTION = opt(
    "URL",
    "Address of the user model's API (default: that of the tested model).",
    panel=MORE,
)
USER_HEADER_OPTION = opt(
    "NAME=VALUE",
    "Like --header, for the user model (default: those of --header, at the same address).",
    panel=MORE,
)
JUDGE_OPTION = opt(
    "NAME",
    "Model that judges texts, for benchmarks that need one (training).",
    complete=completion.models,
    panel=MODEL,
)
JUDGE_BASE_URL_OPTION = opt(
    "URL", "Address of the judge's API (default: that of the tested model).", panel=MORE
)
JUDGE_HEADER_OPTION = opt(
    "NAME=VALUE",
    "Like --header, for the judge (default: those of --header, at the same address).",
    panel=MORE,
)
SAMPLE_OPTION = opt(
    "N",
    "Run a sample of N items of each benchmark that represents all of them.",
    min=2,
    panel=SELECTION,
)
LIMIT_OPTION = opt("-n N", "Run only the first N items of each benchmark.", min=1, panel=SELECTION)
RETRIES_OPTION = opt("N", "Retries of a failed call.", min=0, panel=LIMITS, default=5)
QUIET_OPTION = opt("-q", "Print only the final table.", panel=OUTPUT)
TOOL_FORMAT_OPTION = opt(
    "--tool-format --format NAME",
    "How a model without native tool calls writes them, or auto; see `wildtool list formats`.",
    complete=completion.tool_formats,
    panel=MODEL,
)
DRY_RUN_OPTION = opt("Estimate calls, tokens and cost; send nothing.", panel=LIMITS)
EXTRA_BODY_OPTION = opt("JSON", "More request fields, such as '{\"top_p\": 0.9}'.", panel=SAMPLING)


TRUST_OPTION = opt(
    "HASH",
    "Trust what was found and not named, such as a wildtool.toml in this folder, if it has this hash (docs/config.md).",
    callback=grant_trust,
    panel=MORE,
)
CACHE_OPTION = opt("FOLDER", "Reply cache shared between runs.", panel=MORE)
MCP_ENV = ("NAME", "Variable for a server that `mcp:` starts, beside HOME, PATH and the like; repeatable.")
"""Words of the option `--mcp-env`."""
MCP_HEADER = (
    "NAME=VALUE",
    "HTTP header for an MCP server at an address; a secret as NAME=env:VARIABLE; repeatable.",
)
"""Words of the option `--mcp-header`."""
