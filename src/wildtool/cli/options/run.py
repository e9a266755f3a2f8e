"""The options of `wildtool run` and of all commands that call models, and the settings that they make."""

from collections.abc import Collection
from dataclasses import fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wildtool.alter.history.settings import HistorySetting
from wildtool.alter.injection.settings import InjectionSetting
from wildtool.api.settings import FIELDS, Limits, Settings
from wildtool.cli.command import declared, opt
from wildtool.cli.help import LIMITS, MODEL, MORE, OUTPUT, SAMPLING, SELECTION
from wildtool.cli.options import completion
from wildtool.cli.options import shared as options
from wildtool.cli.options.config_file import load_config
from wildtool.errors import UsageError
from wildtool.models.settings import MAX_CONCURRENCY

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


class UnitOrder(StrEnum):
    """How the units of an item are run: all at once, or one after another."""

    parallel = "parallel"
    prefix = "prefix"


class PromptSource(StrEnum):
    """Who wrote the prompts."""

    own = "own"
    original = "original"


class SamplingSource(StrEnum):
    """Whose sampling parameters are sent."""

    original = "original"


_FORMAT = "format_"
"""The parameter of `--tool-format`: its first name was `--format`, by which files and shared runs know it."""


@declared
class CallOptions:
    """Options of the commands that call models: sampling, rates and limits."""

    temperature: float | None = opt("X", "Sampling temperature (default: the provider's).", panel=SAMPLING)
    max_tokens: int | None = opt(
        "N", "Maximum tokens per reply (default: the provider's).", min=1, panel=SAMPLING
    )
    concurrency: int = opt(
        "-j N", "Calls in flight at each endpoint.", default=32, min=1, max=MAX_CONCURRENCY, panel=LIMITS
    )
    rpm: float | None = opt("N", "Calls per minute at each endpoint.", panel=LIMITS)
    tpm: float | None = opt("N", "Tokens per minute at each endpoint.", panel=LIMITS)
    max_cost: float | None = opt("USD", "Stop before spending more than this.", min=0, panel=LIMITS)
    prices: Path | None = opt("FILE", "Price file, TOML or JSON; overrides built-in prices.", panel=LIMITS)
    max_tokens_total: int | None = opt(
        "N", "Stop before using more prompt and reply tokens than this.", min=1, panel=LIMITS
    )
    deadline: str | None = opt(
        "TIME", "Start no call after this time, such as 90 (seconds), 30m or 1h30m.", panel=LIMITS
    )
    timeout: float = opt("SECONDS", "Timeout per attempt.", default=600.0, panel=LIMITS)

    @property
    def limits(self) -> Limits:
        """The limits of the whole command. Raises UsageError for those that nothing can keep."""
        given = {each.name: getattr(self, each.name) for each in fields(Limits) if hasattr(self, each.name)}
        return Limits(**given)

    def check_limits(self) -> None:
        """Raises UsageError for limits that nothing can keep."""
        _ = self.limits


@declared
class RunOptions(CallOptions):
    """The options from the command line and from `[run]` of the config file."""

    model: list[str] | None = opt(
        "-m NAME",
        "Model to test: gpt-4o, anthropic/NAME, baseline/gold, …; see `wildtool list models`. "
        "Repeat for several.",
        complete=completion.models,
        panel=MODEL,
    )
    agent: str | None = opt(
        "NAME|COMMAND",
        "Let an agent play the sessions, with the model inside it: codex, claude-code, …, acp:COMMAND, or a command "
        "(docs/agents.md).",
        panel=MODEL,
    )
    base_url: str | None = options.BASE_URL_OPTION
    api_key_env: str | None = options.API_KEY_ENV_OPTION
    api_key_file: Path | None = opt("FILE", "File that holds the key.", panel=MODEL)
    header: list[str] | None = options.HEADER_OPTION
    format_: str | None = options.TOOL_FORMAT_OPTION
    user_model: str | None = options.USER_MODEL_OPTION
    judge: str | None = options.JUDGE_OPTION
    retriever: str | None = opt(
        "NAME",
        "Find tools in the benchmark's whole pool, by bm25 or by an embedding model of this name.",
        panel=MODEL,
    )
    seed: int | None = opt("N", "Sampling seed; repeat k uses seed + k.", panel=SAMPLING)
    repeats: int = opt("N", "Samples per item.", default=1, min=1, panel=SAMPLING)
    extra_body: str | None = options.EXTRA_BODY_OPTION
    data: str | None = options.DATA_OPTION
    mode: str | None = options.MODE_OPTION
    prompts: PromptSource | None = opt(
        "Prompt texts: wildtool's, or the original benchmark's (default: original, where pulled).",
        panel=SELECTION,
    )
    sampling: SamplingSource | None = opt(
        "Use the original benchmark's sampling parameters, where known.", panel=SAMPLING
    )
    failures: str | None = opt(
        "SCHEDULE[,KIND…]",
        "Let tools fail and report what the model does: first-call, twice-then-well, flaky:0.2, down or passed-on.",
        panel=SELECTION,
    )
    failures_seed: int = opt("N", "Seed of --failures.", default=0, panel=SELECTION)
    noise: str | None = opt(
        "KIND:LEVEL,…",
        "Disturb the tools. Kinds: names, params, descriptions, order, distractors, missing. "
        "Levels: slight, medium, heavy.",
        panel=SELECTION,
    )
    noise_seed: int = opt("N", "Seed of --noise.", default=0, panel=SELECTION)
    among: str | None = opt(
        "--among --catalogue N,…",
        "Put each item's tools among others, N in all; several sizes are a run each (docs/tools.md).",
        panel=SELECTION,
    )
    among_kinds: str = opt(
        "--among-kinds --catalogue-kinds KIND,…",
        "Which others --among adds: random, domain, near; several in turn.",
        default="random",
        panel=SELECTION,
    )
    among_seed: int = opt("--among-seed --catalogue-seed N", "Seed of --among.", default=0, panel=SELECTION)
    among_tools: str | None = opt(
        "--among-tools --catalogue-tools SOURCE",
        "Draw the others from this file of tools or OpenAPI, or MCP server: an address, or mcp: and its command.",
        panel=MORE,
    )
    mcp_env: list[str] | None = opt(*options.MCP_ENV, panel=MORE)
    mcp_header: list[str] | None = opt(*options.MCP_HEADER, panel=MORE)
    among_retriever: str | None = opt(
        "--among-retriever --catalogue-retriever NAME",
        "Show the model only the tools found: by bm25, by itself in a first pass (own), or by an embedding model.",
        panel=SELECTION,
    )
    among_top_k: int = opt(
        "--among-top-k --catalogue-top-k K",
        "Tools that --among-retriever finds.",
        default=10,
        min=1,
        panel=MORE,
    )
    among_base_url: str | None = opt(
        "--among-base-url --catalogue-base-url URL",
        "Address of the embedding model of --among-retriever (default: that of --model).",
        panel=MORE,
    )
    among_api_key_env: str | None = opt(
        "--among-api-key-env --catalogue-api-key-env VARIABLE",
        "Environment variable that holds that model's key.",
        panel=MORE,
    )
    among_header: list[str] | None = opt(
        "--among-header --catalogue-header NAME=VALUE", "Like --header, for that model.", panel=MORE
    )
    expose: str | None = opt(
        "NAME[:SETTING,…]",
        "How the model reaches the tools: direct, all in each request; search, those that it searches for; code, as "
        "functions of scripts that it writes; code:search, as functions that its scripts search for (docs/exposure.md).",
        panel=SELECTION,
    )
    inject: InjectionSetting | None = opt(
        "Plant an attacker's instruction into tools' results and report who obeys; enhanced claims priority.",
        panel=SELECTION,
    )
    inject_seed: int = opt("N", "Seed of --inject.", default=0, panel=SELECTION)
    history: HistorySetting | None = opt(
        "Earlier turns to show: the gold ones, the model's own (the default of --agent), none, or none of a role.",
        panel=SELECTION,
    )
    tools_model: str | None = opt(
        "NAME",
        "With --history own: model that plays tools where the record has no result (default: they return an error).",
        complete=completion.models,
        panel=MODEL,
    )
    hints: str | None = opt(
        "FILE",
        "Add the hints of a file to what the model sees; shuffled:FILE gives each item those of another.",
        panel=SELECTION,
    )
    rationale: str | None = opt(
        "own|FILE",
        "Add reasoning to what the model sees: its own, asked first, or people's from a file.",
        panel=SELECTION,
    )
    profile: str | None = options.PROFILE_OPTION
    lang: str | None = options.LANG_OPTION
    split: str | None = options.SPLIT_OPTION
    sample: int | None = options.SAMPLE_OPTION
    sample_seed: int = opt("N", "Seed of --sample.", default=0, panel=SELECTION)
    limit: int | None = options.LIMIT_OPTION
    ids: list[str] | None = opt("ID,…", "Run only these items; repeatable.", panel=SELECTION)
    retries: int = options.RETRIES_OPTION
    dry_run: bool = options.DRY_RUN_OPTION
    out: Path | None = opt(
        "-o FOLDER",
        "Run folder, or an address such as s3://bucket/run; with several models, the folder above them (default: "
        "runs/BENCH[-MODE]/MODEL).",
        panel=OUTPUT,
    )
    on: str | None = opt(
        "WHERE",
        "Share the run among workers: local:4 for four processes here, ray for a Ray cluster (docs/scale.md).",
        panel=LIMITS,
    )
    server: str | None = opt(
        "COMMAND",
        "Start a model server for each worker of --on, on a free port: {port} here and in --base-url.",
        panel=LIMITS,
    )
    force: bool = options.FORCE_OPTION
    quiet: bool = options.QUIET_OPTION
    stream: bool = opt("Ask for streamed replies.", panel=MORE)
    batch: bool = opt(
        "Use the provider's batch API: cheaper, but each round takes minutes to a day.", panel=MORE
    )
    no_check: bool = opt("Do not look for broken tool calls in the first 20 replies.", panel=MORE)
    cache: Path | None = options.CACHE_OPTION
    order: UnitOrder = opt(
        "Send the units of an item all at once, or one by one for prefix caches.",
        default=UnitOrder.parallel,
        panel=MORE,
    )
    tools_base_url: str | None = opt(
        "URL",
        "Address of the tools model's API (default: that of --model).",
        panel=MORE,
    )
    tools_api_key_env: str | None = opt(
        "VARIABLE",
        "Environment variable that holds the tools model's key.",
        panel=MORE,
    )
    tools_header: list[str] | None = opt("NAME=VALUE", "Like --header, for the tools model.", panel=MORE)
    user_base_url: str | None = options.USER_BASE_URL_OPTION
    user_api_key_env: str | None = opt(
        "VARIABLE", "Environment variable that holds the user model's key.", panel=MORE
    )
    user_header: list[str] | None = options.USER_HEADER_OPTION
    user_temperature: float | None = opt("X", "Temperature of the user model.", panel=MORE)
    user_max_tokens: int | None = opt(
        "N",
        "Maximum tokens per reply of the user model (default: 4096).",
        min=1,
        panel=MORE,
    )
    retriever_top_k: int | None = opt("K", "Tools that the retriever finds (default: 5).", min=1, panel=MORE)
    retriever_base_url: str | None = opt(
        "URL",
        "Address of the embedding model's API (default: that of --model).",
        panel=MORE,
    )
    retriever_api_key_env: str | None = opt(
        "VARIABLE",
        "Environment variable that holds the embedding model's key.",
        panel=MORE,
    )
    retriever_header: list[str] | None = opt(
        "NAME=VALUE", "Like --header, for the embedding model.", panel=MORE
    )
    judge_base_url: str | None = options.JUDGE_BASE_URL_OPTION
    judge_api_key_env: str | None = opt(
        "VARIABLE", "Environment variable that holds the judge's key.", panel=MORE
    )
    judge_header: list[str] | None = options.JUDGE_HEADER_OPTION
    judge_max_tokens: int | None = opt(
        "N", "Maximum tokens per reply of the judge (default: 4096).", min=1, panel=MORE
    )
    user_rpm: float | None = opt("N", "Like --rpm, for the user model's own endpoint.", panel=MORE)
    user_tpm: float | None = opt("N", "Like --tpm, for the user model's own endpoint.", panel=MORE)
    available: bool = opt("Of a series: leave out models whose endpoint does not answer.", panel=MORE)
    config: Path | None = opt(
        "FILE",
        "File with named models and default options (default: wildtool.toml, if it exists).",
        eager=True,
        callback=load_config,
        panel=MORE,
    )
    trust: str | None = options.TRUST_OPTION

    def settings(self, benchmark: str, explicit: Collection[str] = ()) -> Settings:
        """The options as settings of runs. Raises UsageError for values that no run can use.

        Args:
            explicit: names of the options that were typed.
        """
        if self.available:
            raise UsageError("--available is for a series of models, such as wildtool run series.toml")
        return Settings.of(benchmark, self.model or (), settings_values(self), explicit)


def settings_values(options: "DataclassInstance") -> dict[str, Any]:
    """The values of options that are settings of a run, by name."""
    values = {each.name: getattr(options, each.name) for each in fields(options)}
    if _FORMAT in values:
        values["tool_format"] = values.pop(_FORMAT)
    return {name: value for name, value in values.items() if name in FIELDS}
