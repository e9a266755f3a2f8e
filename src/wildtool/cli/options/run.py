"""The options of `wildtool run`, and what they mean together."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wildtool.cli.command import (
    MODEL,
    MORE,
    OUTPUT,
    SAMPLING,
    SELECTION,
    parse_json_object,
    split_values,
)
from wildtool.cli.options import completion
from wildtool.cli.options import shared as options
from wildtool.cli.options.config_file import load_config
from wildtool.errors import UsageError
from wildtool.injection.settings import Injection, InjectionSetting
from wildtool.models.settings import EndpointOptions, Rates, Sampling

if TYPE_CHECKING:
    from wildtool.aid.settings import Aid
    from wildtool.benchmark import Benchmark
    from wildtool.models.replay import RecordedReplies
    from wildtool.models.resolve import ModelOptions
    from wildtool.noise.levels import Noise


@dataclass(frozen=True, slots=True, kw_only=True)
class UserOptions:
    """The options about the user model."""

    model: str | None = None
    endpoint: EndpointOptions = field(default_factory=EndpointOptions)
    """Its own base URL and key variable, if any."""
    temperature: float | None = None
    rates: Rates = field(default_factory=Rates)

    def check(self, benchmark: "Benchmark") -> None:
        """Raises UsageError for combinations that make no sense."""
        about = {
            "--user-base-url": self.endpoint.base_url,
            "--user-api-key-env": self.endpoint.api_key_env,
            "--user-temperature": self.temperature,
            "--user-rpm": self.rates.rpm,
            "--user-tpm": self.rates.tpm,
        }
        alone = [option for option, value in about.items() if value is not None]
        if self.model is None and alone:
            raise UsageError(f"{alone[0]} needs --user-model")
        if self.model is not None and not self.model.strip():
            raise UsageError("--user-model is empty; give a name, or leave it out")
        if self.model is not None and "user" not in benchmark.roles:
            raise UsageError(f"{benchmark.name} has no simulated user; leave out --user-model")


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOptions:
    """The options about the model that judges texts."""

    model: str | None = None
    endpoint: EndpointOptions = field(default_factory=EndpointOptions)
    """Its own base URL and key variable, if any."""

    def check(self, benchmark: "Benchmark") -> None:
        """Raises UsageError for combinations that make no sense."""
        about = {
            "--judge-base-url": self.endpoint.base_url,
            "--judge-api-key-env": self.endpoint.api_key_env,
        }
        alone = [option for option, value in about.items() if value is not None]
        if self.model is None and alone:
            raise UsageError(f"{alone[0]} needs --judge")
        if self.model is None:
            return
        if not self.model.strip():
            raise UsageError("--judge is empty; give a name, or leave it out")
        from wildtool.benchmark import JUDGE, JUDGED  # help needs no benchmark

        if JUDGE not in benchmark.roles:
            raise UsageError(f"{benchmark.name} is judged by rules; leave out --judge")
        if benchmark.mode != JUDGED:
            raise UsageError(f"--judge works only with --mode {JUDGED}")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrieverOptions:
    """The options about the retriever."""

    name: str | None = None
    """None for the benchmark's default."""
    top_k: int | None = None
    """Documents to find; None for the default."""
    endpoint: EndpointOptions = field(default_factory=EndpointOptions)
    """Its own base URL and key variable, if any."""

    def check(self, benchmark: "Benchmark") -> None:
        """Raises UsageError for combinations that make no sense."""
        from wildtool.benchmark import RETRIEVAL  # help needs no benchmark

        about = {
            "--retriever": self.name,
            "--retriever-top-k": self.top_k,
            "--retriever-base-url": self.endpoint.base_url,
            "--retriever-api-key-env": self.endpoint.api_key_env,
        }
        given = [option for option, value in about.items() if value is not None]
        if given and benchmark.mode != RETRIEVAL:
            only, none = (
                f"works only with --mode {RETRIEVAL}",
                f"finds nothing: {benchmark.name} has no pool of tools",
            )
            raise UsageError(f"{given[0]} {only if RETRIEVAL in benchmark.modes else none}")
        if self.name is not None and not self.name.strip():
            raise UsageError("--retriever is empty; give bm25 or the name of an embedding model")
        alone = [option for option in given if option.endswith(("url", "env"))]
        from wildtool.toolcall.retrieval import BM25

        if alone and self.name in (None, BM25):
            raise UsageError(f"{alone[0]} needs --retriever with the name of an embedding model")


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


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions(options.CallOptions):
    """The options from the command line and from `[run]` of the config file."""

    model: Annotated[
        list[str],
        typer.Option(
            *("--model", "-m"),
            metavar="NAME",
            help="Model to test: gpt-4o, anthropic/NAME, baseline/gold, …; see `wildtool list models`. "
            "Repeat for several.",
            autocompletion=completion.models,
            rich_help_panel=MODEL,
        ),
    ]
    base_url: options.BaseUrlOption = None
    api_key_env: options.ApiKeyEnvOption = None
    api_key_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File that holds the key.", rich_help_panel=MODEL),
    ] = None
    format_: options.ToolFormatOption = None
    user_model: options.UserModelOption = None
    judge: options.JudgeOption = None
    retriever: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Find tools in the benchmark's whole pool, by bm25 or by an embedding model of this name.",
            rich_help_panel=MODEL,
        ),
    ] = None
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", help="Sampling seed; repeat k uses seed + k.", rich_help_panel=SAMPLING),
    ] = None
    repeats: Annotated[
        int,
        typer.Option(min=1, metavar="N", help="Samples per item.", rich_help_panel=SAMPLING),
    ] = 1
    extra_body: Annotated[
        str | None,
        typer.Option(
            metavar="JSON",
            help="More request fields, such as '{\"top_p\": 0.9}'.",
            rich_help_panel=SAMPLING,
        ),
    ] = None
    data: options.DataOption = None
    mode: options.ModeOption = None
    prompts: Annotated[
        PromptSource | None,
        typer.Option(
            help="Prompt texts: wildtool's, or the original benchmark's (default: original, where pulled).",
            rich_help_panel=SELECTION,
        ),
    ] = None
    sampling: Annotated[
        SamplingSource | None,
        typer.Option(
            help="Use the original benchmark's sampling parameters, where known.",
            rich_help_panel=SAMPLING,
        ),
    ] = None
    noise: Annotated[
        str | None,
        typer.Option(
            metavar="KIND:LEVEL,…",
            help="Disturb the tools. Kinds: names, params, descriptions, order, distractors, missing. "
            "Levels: slight, medium, heavy.",
            rich_help_panel=SELECTION,
        ),
    ] = None
    noise_seed: Annotated[
        int, typer.Option(metavar="N", help="Seed of --noise.", rich_help_panel=SELECTION)
    ] = 0
    inject: Annotated[
        InjectionSetting | None,
        typer.Option(
            help="Plant an attacker's instruction into tools' results and report who obeys; enhanced claims priority.",
            rich_help_panel=SELECTION,
        ),
    ] = None
    inject_seed: Annotated[
        int, typer.Option(metavar="N", help="Seed of --inject.", rich_help_panel=SELECTION)
    ] = 0
    hints: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Add the hints of a file to what the model sees; shuffled:FILE gives each item those of another.",
            rich_help_panel=SELECTION,
        ),
    ] = None
    rationale: Annotated[
        str | None,
        typer.Option(
            metavar="own|FILE",
            help="Add reasoning to what the model sees: its own, asked first, or people's from a file.",
            rich_help_panel=SELECTION,
        ),
    ] = None
    profile: options.ProfileOption = None
    lang: options.LangOption = None
    split: options.SplitOption = None
    limit: options.LimitOption = None
    ids: Annotated[
        list[str] | None,
        typer.Option(metavar="ID,…", help="Run only these items; repeatable.", rich_help_panel=SELECTION),
    ] = None
    retries: options.RetriesOption = 5
    dry_run: options.DryRunOption = False
    out: Annotated[
        Path | None,
        typer.Option(
            *("--out", "-o"),
            metavar="FOLDER",
            help="Run folder; with several models, the folder above them (default: runs/BENCH[-MODE]/MODEL).",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    force: options.ForceOption = False
    quiet: options.QuietOption = False
    stream: Annotated[
        bool, typer.Option("--stream", help="Ask for streamed replies.", rich_help_panel=MORE)
    ] = False
    batch: Annotated[
        bool,
        typer.Option(
            "--batch",
            help="Use the provider's batch API: cheaper, but each round takes minutes to a day.",
            rich_help_panel=MORE,
        ),
    ] = False
    cache: options.CacheOption = None
    order: Annotated[
        UnitOrder,
        typer.Option(
            help="Send the units of an item all at once, or one by one for prefix caches.",
            rich_help_panel=MORE,
        ),
    ] = UnitOrder.parallel
    user_base_url: options.UserBaseUrlOption = None
    user_api_key_env: Annotated[
        str | None,
        typer.Option(
            metavar="VARIABLE",
            help="Environment variable that holds the user model's key.",
            rich_help_panel=MORE,
        ),
    ] = None
    user_temperature: Annotated[
        float | None,
        typer.Option(metavar="X", help="Temperature of the user model.", rich_help_panel=MORE),
    ] = None
    retriever_top_k: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="K", help="Tools that the retriever finds (default: 5).", rich_help_panel=MORE
        ),
    ] = None
    retriever_base_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Address of the embedding model's API (default: that of --model).",
            rich_help_panel=MORE,
        ),
    ] = None
    retriever_api_key_env: Annotated[
        str | None,
        typer.Option(
            metavar="VARIABLE",
            help="Environment variable that holds the embedding model's key.",
            rich_help_panel=MORE,
        ),
    ] = None
    judge_base_url: options.JudgeBaseUrlOption = None
    judge_api_key_env: Annotated[
        str | None,
        typer.Option(
            metavar="VARIABLE",
            help="Environment variable that holds the judge's key.",
            rich_help_panel=MORE,
        ),
    ] = None
    user_rpm: Annotated[
        float | None,
        typer.Option(
            metavar="N", help="Like --rpm, for the user model's own endpoint.", rich_help_panel=MORE
        ),
    ] = None
    user_tpm: Annotated[
        float | None,
        typer.Option(
            metavar="N", help="Like --tpm, for the user model's own endpoint.", rich_help_panel=MORE
        ),
    ] = None
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File with named models and default options (default: wildtool.toml, if it exists).",
            is_eager=True,
            callback=load_config,
            rich_help_panel=MORE,
        ),
    ] = None

    def check(self) -> None:
        """Raises UsageError for values that no run can use; the message names the option."""
        if not all(name.strip() for name in self.model):
            raise UsageError("--model is empty; give a name, such as --model baseline/gold")
        if self.ids is not None and not split_values(self.ids):
            raise UsageError("--ids is empty; give ids separated by commas, or leave it out for all items")
        self.check_limits()

    @property
    def tool_noise(self) -> "Noise | None":
        """What is put into the tools; None for nothing. Raises UsageError."""
        if self.noise is None:
            return None
        from wildtool.noise.levels import Noise

        return Noise.parse(self.noise, self.noise_seed) or None

    @property
    def injection(self) -> Injection | None:
        """What is planted into tools' results; None for nothing."""
        return None if self.inject is None else Injection(self.inject, self.inject_seed)

    @property
    def aid(self) -> "Aid | None":
        """The hints and reasoning for the model under test; None for neither. Raises DataError for a file that breaks
        its format."""
        if self.hints is None and self.rationale is None:
            return None
        from wildtool.aid.settings import Aid

        return Aid.given(self.hints, self.rationale)

    @property
    def model_names(self) -> list[str]:
        """The models, each once."""
        return list(dict.fromkeys(self.model))

    def user_options(self) -> UserOptions:
        """Options of the model in the role `user`."""
        return UserOptions(
            model=self.user_model,
            endpoint=EndpointOptions(base_url=self.user_base_url, api_key_env=self.user_api_key_env),
            temperature=self.user_temperature,
            rates=Rates(rpm=self.user_rpm, tpm=self.user_tpm),
        )

    def judge_options(self) -> JudgeOptions:
        """Options of the model in the role `judge`."""
        return JudgeOptions(
            model=self.judge,
            endpoint=EndpointOptions(base_url=self.judge_base_url, api_key_env=self.judge_api_key_env),
        )

    def retriever_options(self) -> RetrieverOptions:
        """Options of a model in a role that searches."""
        return RetrieverOptions(
            name=self.retriever,
            top_k=self.retriever_top_k,
            endpoint=EndpointOptions(
                base_url=self.retriever_base_url, api_key_env=self.retriever_api_key_env
            ),
        )

    def model_options(
        self, open_replies: "Callable[[Path, str | None], RecordedReplies]", *, completion: bool = False
    ) -> "ModelOptions":
        """Options of each tested model.

        Args:
            open_replies: opens what `replay:` names.
            completion: whether it continues raw texts.
        """
        from wildtool.models.resolve import ModelOptions

        return ModelOptions(
            endpoint=EndpointOptions(
                base_url=self.base_url,
                api_key_env=self.api_key_env,
                api_key_file=self.api_key_file,
                timeout_s=self.timeout,
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
        return {
            "seed": self.seed,
            "split": self.split,
            "lang": self.lang,
            "limit": self.limit,
            "ids": split_values(self.ids),
            "repeats": self.repeats,
            "concurrency": self.concurrency,
            "timeout_s": self.timeout,
            "max_attempts": self.retries + 1,
            "in_order": self.order is UnitOrder.prefix,
        }
