"""Options that several verbs share, so that they read the same in each."""

from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wildtool.cli.command import LIMITS, MODEL, MORE, OUTPUT, SAMPLING, SELECTION, parse_duration
from wildtool.cli.options import completion
from wildtool.errors import UsageError
from wildtool.models.settings import Rates

if TYPE_CHECKING:
    from wildtool.engine.call.budget import SpendingLimits

BenchmarkArgument = Annotated[
    str,
    typer.Argument(
        metavar="BENCH",
        help="Benchmark; see `wildtool list`.",
        autocompletion=completion.benchmarks,
    ),
]
RunArgument = Annotated[
    str,
    typer.Argument(
        metavar="BENCH",
        help="Benchmark, see `wildtool list`; or several at once: toleap, all.",
        autocompletion=completion.benchmarks_and_suites,
    ),
]
DataOption = Annotated[
    str | None,
    typer.Option(
        *("--data", "-d"),
        metavar="NAME|FILE",
        help="Data file in the benchmark's format, or the name of one of its data sets.",
        show_default=False,
        rich_help_panel=SELECTION,
    ),
]
ProfileOption = Annotated[
    str | None,
    typer.Option(
        *("--profile", "-p"),
        metavar="NAME",
        help="Scoring rules; see `wildtool list profiles`.",
        autocompletion=completion.profiles,
        rich_help_panel=SELECTION,
    ),
]
ModeOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="How the model is prompted; see `wildtool list modes`.",
        autocompletion=completion.modes,
        rich_help_panel=SELECTION,
    ),
]
SplitOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="Only items of this split.", rich_help_panel=SELECTION)
]
LangOption = Annotated[
    str | None,
    typer.Option(
        metavar="CODE", help="Only items in this language, such as en or zh.", rich_help_panel=SELECTION
    ),
]
BenchmarkOption = Annotated[
    str | None,
    typer.Option(
        "--benchmark",
        metavar="NAME",
        help="Benchmark of the data, if it cannot be detected.",
        autocompletion=completion.benchmarks,
    ),
]
ForceOption = Annotated[
    bool,
    typer.Option(
        "--force", help="Overwrite files and folders that wildtool did not make.", rich_help_panel=OUTPUT
    ),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print JSON with every number.", rich_help_panel=OUTPUT)
]
CsvOption = Annotated[
    bool, typer.Option("--csv", help="Print CSV, one number per row.", rich_help_panel=OUTPUT)
]
RunsArgument = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="RUN…", help="Run folders, folders with runs in them, or bundles.", show_default=False
    ),
]
BaseUrlOption = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Address of the model's API (default: OPENAI_BASE_URL, or the provider's).",
        rich_help_panel=MODEL,
    ),
]
ApiKeyEnvOption = Annotated[
    str | None,
    typer.Option(
        metavar="VARIABLE",
        help="Environment variable that holds the key (default: OPENAI_API_KEY, or the provider's).",
        rich_help_panel=MODEL,
    ),
]
UserModelOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Model that plays the user, for benchmarks that simulate one.",
        autocompletion=completion.models,
        rich_help_panel=MODEL,
    ),
]
UserBaseUrlOption = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Address of the user model's API (default: that of the tested model).",
        rich_help_panel=MORE,
    ),
]
JudgeOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Model that judges texts, for benchmarks that need one (training).",
        autocompletion=completion.models,
        rich_help_panel=MODEL,
    ),
]
JudgeBaseUrlOption = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Address of the judge's API (default: that of the tested model).",
        rich_help_panel=MORE,
    ),
]
LimitOption = Annotated[
    int | None,
    typer.Option(
        *("--limit", "-n"),
        min=1,
        metavar="N",
        help="Run only the first N items of each benchmark.",
        rich_help_panel=SELECTION,
    ),
]
RetriesOption = Annotated[
    int, typer.Option(min=0, metavar="N", help="Retries of a failed call.", rich_help_panel=LIMITS)
]
QuietOption = Annotated[
    bool, typer.Option(*("--quiet", "-q"), help="Print only the final table.", rich_help_panel=OUTPUT)
]
ToolFormatOption = Annotated[
    str | None,
    typer.Option(
        *("--tool-format", "--format"),
        metavar="NAME",
        help="How a model without native tool calls writes them, or auto; see `wildtool list formats`.",
        autocompletion=completion.tool_formats,
        rich_help_panel=MODEL,
    ),
]
DryRunOption = Annotated[
    bool,
    typer.Option("--dry-run", help="Estimate calls, tokens and cost; send nothing.", rich_help_panel=LIMITS),
]
CacheOption = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Reply cache shared between runs.", rich_help_panel=MORE),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOptions:
    """Options of the commands that call models: sampling, rates and limits."""

    temperature: Annotated[
        float | None,
        typer.Option(
            metavar="X", help="Sampling temperature (default: the provider's).", rich_help_panel=SAMPLING
        ),
    ] = None
    max_tokens: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Maximum tokens per reply (default: the provider's).",
            rich_help_panel=SAMPLING,
        ),
    ] = None
    concurrency: Annotated[
        int,
        typer.Option(
            *("--concurrency", "-j"),
            min=1,
            metavar="N",
            help="Calls in flight at each endpoint.",
            rich_help_panel=LIMITS,
        ),
    ] = 32
    rpm: Annotated[
        float | None,
        typer.Option(metavar="N", help="Calls per minute at each endpoint.", rich_help_panel=LIMITS),
    ] = None
    tpm: Annotated[
        float | None,
        typer.Option(metavar="N", help="Tokens per minute at each endpoint.", rich_help_panel=LIMITS),
    ] = None
    max_cost: Annotated[
        float | None,
        typer.Option(
            metavar="USD", min=0, help="Stop before spending more than this.", rich_help_panel=LIMITS
        ),
    ] = None
    prices: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Price file, TOML or JSON; overrides built-in prices.",
            rich_help_panel=LIMITS,
        ),
    ] = None
    max_tokens_total: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Stop before using more prompt and reply tokens than this.",
            rich_help_panel=LIMITS,
        ),
    ] = None
    deadline: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Start no call after this time, such as 90 (seconds), 30m or 1h30m.",
            rich_help_panel=LIMITS,
        ),
    ] = None
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", help="Timeout per attempt.", rich_help_panel=LIMITS)
    ] = 600.0

    def check_limits(self) -> None:
        """Raises UsageError for limits that nothing can keep; the message names the option."""
        if not 0 < self.timeout < inf:
            raise UsageError(f"--timeout is {self.timeout:g}; it must be a number of seconds above 0")
        for name in ("rpm", "tpm", "user_rpm", "user_tpm"):
            value = getattr(self, name, None)
            if value is not None and not 0 < value < inf:
                raise UsageError(f"--{name.replace('_', '-')} is {value:g}; it must be a number above 0")
        if self.max_cost is not None and not 0 <= self.max_cost < inf:
            raise UsageError(f"--max-cost is {self.max_cost:g}; it must be a number from 0")

    @property
    def rates(self) -> Rates:
        """The rate limits of an endpoint without its own."""
        return Rates(rpm=self.rpm, tpm=self.tpm)

    def spending_limits(self) -> "SpendingLimits":
        """The limits of the whole command. Raises UsageError."""
        from wildtool.engine.call.budget import SpendingLimits

        return SpendingLimits(
            max_cost=self.max_cost,
            max_tokens_total=self.max_tokens_total,
            deadline_s=None if self.deadline is None else parse_duration(self.deadline),
        )
