"""The options of `wildtool run` and of all commands that call models, and what they mean together."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from wildtool.alter.history.settings import HistorySetting, Unrecorded
from wildtool.alter.injection.settings import InjectionSetting
from wildtool.cli.command import (
    check_fit,
    declared,
    opt,
    parse_duration,
    parse_json_object,
    split_values,
)
from wildtool.cli.help import LIMITS, MODEL, MORE, OUTPUT, SAMPLING, SELECTION
from wildtool.cli.options import completion
from wildtool.cli.options import shared as options
from wildtool.cli.options.config_file import load_config
from wildtool.errors import UsageError
from wildtool.models.headers import parse_headers
from wildtool.models.settings import MAX_CONCURRENCY, EndpointOptions, Rates, Sampling

if TYPE_CHECKING:
    from wildtool.alter.base import Alteration
    from wildtool.benchmark import Benchmark
    from wildtool.engine.call.budget import SpendingLimits
    from wildtool.engine.plan import Plan
    from wildtool.models.replay import LoggedReplies
    from wildtool.models.resolve import ModelOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleOptions:
    """The options about the model of another role than the one under test."""

    model: str | None = None
    """None for the benchmark's default, if it has one."""
    endpoint: EndpointOptions = field(default_factory=EndpointOptions)
    """Its own base URL, key variable and headers, if any."""
    temperature: float | None = None
    max_tokens: int | None = None
    """Per reply; None for the role's own limit."""
    rates: Rates = field(default_factory=Rates)
    top_k: int | None = None
    """Documents to find; None for the default."""

    @property
    def explicit(self) -> list[str]:
        """Names of its own settings that are given."""
        its = {
            "base_url": self.endpoint.base_url,
            "api_key_env": self.endpoint.api_key_env,
            "header": self.endpoint.headers or None,
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
        }
        return [name for name, value in its.items() if value is not None]


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


_ROLE_SETTINGS = ("base_url", "api_key_env", "header", "temperature", "max_tokens", "rpm", "tpm", "top_k")
"""Options of another role by what follows its name, where they exist."""


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


@declared
class RunOptions(CallOptions):
    """The options from the command line and from `[run]` of the config file."""

    model: list[str] = opt(
        "-m NAME",
        "Model to test: gpt-4o, anthropic/NAME, baseline/gold, …; see `wildtool list models`. "
        "Repeat for several.",
        default=...,
        complete=completion.models,
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
        only_mode="retrieval",
        not_empty="give bm25 or the name of an embedding model",
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
        "Let tools fail and report what the model does: first-call, twice-then-well, flaky:0.2 or down.",
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
    catalogue: str | None = opt(
        "N,…",
        "Put each item's tools among others, N in all; several sizes are a run each (docs/catalogue-size.md).",
        panel=SELECTION,
    )
    catalogue_kinds: str = opt(
        "KIND,…",
        "Which others --catalogue adds: random, domain, near; several in turn.",
        default="random",
        panel=SELECTION,
    )
    catalogue_seed: int = opt("N", "Seed of --catalogue.", default=0, panel=SELECTION)
    catalogue_tools: str | None = opt(
        "SOURCE",
        "Draw the others from this file of tools or OpenAPI, or MCP server: an address, or mcp: and its command.",
        panel=MORE,
        needs="--catalogue",
    )
    mcp_env: list[str] | None = opt(*options.MCP_ENV, panel=MORE, needs="--catalogue-tools")
    mcp_header: list[str] | None = opt(*options.MCP_HEADER, panel=MORE, needs="--catalogue-tools")
    catalogue_retriever: str | None = opt(
        "NAME",
        "Show the model only the tools found: by bm25, by itself in a first pass (own), or by an embedding model.",
        panel=SELECTION,
        needs="--catalogue",
        not_empty="give bm25, own or the name of an embedding model",
    )
    catalogue_top_k: int = opt("K", "Tools that --catalogue-retriever finds.", default=10, min=1, panel=MORE)
    catalogue_base_url: str | None = opt(
        "URL",
        "Address of the embedding model of --catalogue-retriever (default: that of --model).",
        panel=MORE,
        needs="--catalogue-retriever",
    )
    catalogue_api_key_env: str | None = opt(
        "VARIABLE",
        "Environment variable that holds that model's key.",
        panel=MORE,
        needs="--catalogue-retriever",
    )
    catalogue_header: list[str] | None = opt(
        "NAME=VALUE", "Like --header, for that model.", panel=MORE, needs="--catalogue-retriever"
    )
    inject: InjectionSetting | None = opt(
        "Plant an attacker's instruction into tools' results and report who obeys; enhanced claims priority.",
        panel=SELECTION,
    )
    inject_seed: int = opt("N", "Seed of --inject.", default=0, panel=SELECTION)
    history: HistorySetting | None = opt(
        "Let the tasks of a session follow the model's own earlier ones instead of the gold ones.",
        panel=SELECTION,
    )
    tools_model: str | None = opt(
        "NAME",
        "With --history: model that plays tools where the record has no result (default: they return an error).",
        complete=completion.models,
        panel=MODEL,
        not_empty="give a name, or leave it out",
        needs="--history",
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
        needs="--tools-model",
    )
    tools_api_key_env: str | None = opt(
        "VARIABLE",
        "Environment variable that holds the tools model's key.",
        panel=MORE,
        needs="--tools-model",
    )
    tools_header: list[str] | None = opt(
        "NAME=VALUE", "Like --header, for the tools model.", panel=MORE, needs="--tools-model"
    )
    user_base_url: str | None = options.USER_BASE_URL_OPTION
    user_api_key_env: str | None = opt(
        "VARIABLE", "Environment variable that holds the user model's key.", panel=MORE, needs="--user-model"
    )
    user_header: list[str] | None = options.USER_HEADER_OPTION
    user_temperature: float | None = opt(
        "X", "Temperature of the user model.", panel=MORE, needs="--user-model"
    )
    user_max_tokens: int | None = opt(
        "N",
        "Maximum tokens per reply of the user model (default: 4096).",
        min=1,
        panel=MORE,
        needs="--user-model",
    )
    retriever_top_k: int | None = opt(
        "K", "Tools that the retriever finds (default: 5).", min=1, panel=MORE, only_mode="retrieval"
    )
    retriever_base_url: str | None = opt(
        "URL",
        "Address of the embedding model's API (default: that of --model).",
        panel=MORE,
        only_mode="retrieval",
    )
    retriever_api_key_env: str | None = opt(
        "VARIABLE",
        "Environment variable that holds the embedding model's key.",
        panel=MORE,
        only_mode="retrieval",
    )
    retriever_header: list[str] | None = opt(
        "NAME=VALUE", "Like --header, for the embedding model.", panel=MORE, only_mode="retrieval"
    )
    judge_base_url: str | None = options.JUDGE_BASE_URL_OPTION
    judge_api_key_env: str | None = opt(
        "VARIABLE", "Environment variable that holds the judge's key.", panel=MORE, needs="--judge"
    )
    judge_header: list[str] | None = options.JUDGE_HEADER_OPTION
    judge_max_tokens: int | None = opt(
        "N", "Maximum tokens per reply of the judge (default: 4096).", min=1, panel=MORE, needs="--judge"
    )
    user_rpm: float | None = opt(
        "N", "Like --rpm, for the user model's own endpoint.", panel=MORE, needs="--user-model"
    )
    user_tpm: float | None = opt(
        "N", "Like --tpm, for the user model's own endpoint.", panel=MORE, needs="--user-model"
    )
    config: Path | None = opt(
        "FILE",
        "File with named models and default options (default: wildtool.toml, if it exists).",
        eager=True,
        callback=load_config,
        panel=MORE,
    )
    trust: str | None = options.TRUST_OPTION

    def check(self) -> None:
        """Raises UsageError for values that no run can use; the message names the option."""
        if not all(name.strip() for name in self.model):
            raise UsageError("--model is empty; give a name, such as --model baseline/gold")
        if self.ids is not None and self.sample is not None:
            raise UsageError("give --ids or --sample, not both")
        if self.ids is not None and not split_values(self.ids):
            raise UsageError("--ids is empty; give ids separated by commas, or leave it out for all items")
        ports = ["{port}" in text for text in (self.server or "", self.base_url or "")]
        if self.server is not None and not all(ports):
            raise UsageError(
                "--server and --base-url need {port} both, such as --server 'vllm serve NAME --port {port}' "
                "--base-url 'http://127.0.0.1:{port}/v1'"
            )
        self.check_limits()

    def check_roles(self, benchmark: "Benchmark") -> None:
        """Raises UsageError for options of other roles that make no sense with a benchmark."""
        from wildtool.toolcall.retrieval import BM25  # help needs no search

        check_fit(self, benchmark)
        embedding = {
            "base-url": self.retriever_base_url,
            "api-key-env": self.retriever_api_key_env,
            "header": self.retriever_header,
        }
        alone = [name for name, value in embedding.items() if value is not None]
        if alone and self.retriever in (None, BM25):
            raise UsageError(f"--retriever-{alone[0]} needs --retriever with the name of an embedding model")

    def alterations(self) -> "tuple[Alteration, ...]":
        """What is to lie between the benchmark and the models, the one next to the benchmark first.

        Raises UsageError, and DataError for a file that breaks its format.
        """
        alterations: list[Alteration] = []
        # Most runs have none, and each takes a while to load.
        if self.history is not None:
            from wildtool.alter.history.history import OwnHistory

            simulates = self.tools_model is not None
            alterations.append(OwnHistory(Unrecorded.simulate if simulates else Unrecorded.refuse))
        if self.catalogue is not None:
            alterations.append(self._catalogue())
        if self.failures is not None:
            from wildtool.alter.failures.failures import Failures
            from wildtool.alter.failures.schedule import FailureSchedule

            alterations.append(Failures(FailureSchedule.parse(self.failures), self.failures_seed))
        if self.noise is not None:
            from wildtool.alter.noise.noise import Noise

            alterations += filter(None, [Noise.parse(self.noise, self.noise_seed)])
        if self.inject is not None:
            from wildtool.alter.injection.injection import Injection

            alterations.append(Injection(self.inject, self.inject_seed))
        if self.hints is not None or self.rationale is not None:
            from wildtool.alter.aid.aid import Aid

            alterations.append(Aid.given(self.hints, self.rationale))
        return tuple(alterations)

    def _catalogue(self) -> "Alteration":
        from wildtool.alter.distractors.distractors import Catalogue
        from wildtool.tools.sources.named import tool_sources

        retriever = self.catalogue_retriever or ""
        sources = tool_sources(
            [self.catalogue_tools] if self.catalogue_tools else [], self.mcp_env, self.mcp_header
        )
        tools = sources[0].first_of_each_name() if sources else ()
        if retriever and "names" in (self.noise or ""):
            raise UsageError(
                "--catalogue-retriever goes by the names of tools, which --noise names changes; leave out one of the two"
            )
        return Catalogue.parse(
            str(self.catalogue),
            self.catalogue_kinds,
            seed=self.catalogue_seed,
            retriever=retriever,
            top_k=self.catalogue_top_k,
            tools=tools,
        )

    @property
    def catalogue_sizes(self) -> list[int]:
        """The sizes of --catalogue, each of which is a run. Raises UsageError."""
        if self.catalogue is None:
            return []
        from wildtool.alter.distractors.distractors import catalogue_sizes

        return catalogue_sizes(self.catalogue)

    @property
    def model_names(self) -> list[str]:
        """The models, each once."""
        return list(dict.fromkeys(self.model))

    def role_options(self, role: str) -> RoleOptions:
        """Options of the model in another role: `user`, `tools`, `judge` or `retriever`."""
        its = {name: getattr(self, f"{role}_{name}", None) for name in _ROLE_SETTINGS}
        return RoleOptions(
            model=getattr(self, f"{role}_model" if role in ("user", "tools") else role),
            endpoint=EndpointOptions(
                base_url=its["base_url"],
                api_key_env=its["api_key_env"],
                headers=parse_headers(its["header"], f"--{role}-header"),
            ),
            temperature=its["temperature"],
            max_tokens=its["max_tokens"],
            rates=Rates(rpm=its["rpm"], tpm=its["tpm"]),
            top_k=its["top_k"],
        )

    def model_options(
        self, open_replies: "Callable[[Path, str | None], LoggedReplies]", *, completion: bool = False
    ) -> "ModelOptions":
        """Options of each tested model.

        Args:
            open_replies: opens what `replay:` names.
            completion: whether it continues raw texts.
        """
        from wildtool.models.resolve import ModelOptions

        return ModelOptions(
            endpoint=EndpointOptions(
                # Which port it is differs between workers, but they are one run: models learn it by `use_port`.
                base_url=self.base_url.replace("{port}", "0")
                if self.server and self.base_url
                else self.base_url,
                api_key_env=self.api_key_env,
                api_key_file=self.api_key_file,
                headers=parse_headers(self.header),
                timeout_s=self.timeout,
                sends=not self.dry_run,
            ),
            sampling=Sampling(
                temperature=self.temperature,
                max_tokens=self.max_tokens,
                seed=self.seed,
                extra_body=parse_json_object(self.extra_body, "--extra-body"),
                stream=self.stream,
            ),
            format=self.format_,
            api="completions" if completion else "chat",
            open_replies=open_replies,
        )

    def plan_settings(self) -> dict[str, Any]:
        """The options that a plan takes over unchanged."""
        from wildtool.engine.sampling import ItemSample  # help needs no benchmark

        names = ("seed", "split", "lang", "limit", "repeats", "concurrency")
        return {
            **{name: getattr(self, name) for name in names},
            "ids": split_values(self.ids),
            "sample": None if self.sample is None else ItemSample(self.sample, self.sample_seed),
            "timeout_s": self.timeout,
            "max_attempts": self.retries + 1,
            "in_order": self.order is UnitOrder.prefix,
        }


class NamedRun(NamedTuple):
    """One run of the command."""

    label: str
    """What the display calls it."""
    plan: "Plan"
    folder: Path
