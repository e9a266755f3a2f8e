"""The options of `wildtool run`, and what they mean together."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wildtool.cli import options
from wildtool.cli.defaults import take_config
from wildtool.cli.roles import UserOptions
from wildtool.errors import UsageError

if TYPE_CHECKING:
    from wildtool.engine.budget import Limits
    from wildtool.engine.rates import Rates
    from wildtool.models.replay import Said
    from wildtool.models.resolve import ModelOptions


class Order(StrEnum):
    """How the units of an item are asked: all at once, or one after another."""

    parallel = "parallel"
    prefix = "prefix"


class Prompts(StrEnum):
    """Whose words a benchmark is put in."""

    own = "own"
    original = "original"


class Sampling(StrEnum):
    """Whose sampling parameters are sent."""

    original = "original"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """What was typed, or stands in `[run]` of the config file."""

    model: Annotated[
        list[str],
        typer.Option(
            metavar="NAME",
            help="A model as its endpoint calls it, PRESET/NAME such as anthropic/NAME (`wildtool list models`), "
            "baseline/NAME, replay:PATH[#MODEL], or one that wildtool.toml names; repeatable.",
        ),
    ]
    base_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Its endpoint [OPENAI_BASE_URL, or that of the preset]."),
    ] = None
    api_key_env: Annotated[
        str | None,
        typer.Option(
            metavar="VARIABLE",
            help="Environment variable with its key [OPENAI_API_KEY, or that of the preset].",
        ),
    ] = None
    api_key_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A file that holds the key, instead.")
    ] = None
    temperature: Annotated[float | None, typer.Option(help="Sent only if given, as the next three.")] = None
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Most tokens of a reply.")] = None
    seed: Annotated[int | None, typer.Option(help="Sampling seed; each repeat adds its number.")] = None
    extra_body: Annotated[
        str | None, typer.Option(metavar="JSON", help="More fields of the request, as a JSON object.")
    ] = None
    stream: Annotated[bool, typer.Option("--stream", help="Ask for replies as streams.")] = False
    batch: Annotated[
        bool,
        typer.Option(
            "--batch",
            help="Ask by the provider's batch API: cheaper, in rounds of minutes to a day each (docs/batch.md).",
        ),
    ] = False
    format_: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="NAME", help="For models without native calls: how they write them, or auto."
        ),
    ] = None
    user_model: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Plays the user where the benchmark simulates one."),
    ] = None
    user_base_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="Its endpoint, if not that of the model; takes no key but one named."
        ),
    ] = None
    user_api_key_env: Annotated[
        str | None, typer.Option(metavar="VARIABLE", help="Environment variable with its key.")
    ] = None
    user_temperature: Annotated[float | None, typer.Option(help="Sent to it only if given.")] = None
    user_rpm: Annotated[
        float | None, typer.Option(metavar="CALLS", help="As --rpm, for its own endpoint.")
    ] = None
    user_tpm: Annotated[
        float | None, typer.Option(metavar="TOKENS", help="As --tpm, for its own endpoint.")
    ] = None
    concurrency: Annotated[int, typer.Option(min=1, help="Calls in flight at most, at each endpoint.")] = 32
    rpm: Annotated[
        float | None, typer.Option(metavar="CALLS", help="Calls a minute at most, at each endpoint.")
    ] = None
    tpm: Annotated[
        float | None, typer.Option(metavar="TOKENS", help="Tokens a minute at most, at each endpoint.")
    ] = None
    max_cost: Annotated[
        float | None, typer.Option(metavar="USD", min=0, help="Stop before the command has cost more.")
    ] = None
    prices: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Prices of models, TOML or JSON, before the shipped.")
    ] = None
    max_tokens_total: Annotated[
        int | None,
        typer.Option(metavar="TOKENS", min=1, help="Stop before prompts and replies have taken more."),
    ] = None
    deadline: Annotated[
        str | None, typer.Option(metavar="TIME", help="Begin no call after so long, such as 90 or 1h30m.")
    ] = None
    cache: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Keep replies for other runs, and take theirs (docs/limits.md)."),
    ] = None
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Tell calls, tokens and cost beforehand; ask nothing.")
    ] = False
    limit: Annotated[int | None, typer.Option(min=1, help="Play only so many items, the first ones.")] = None
    ids: Annotated[
        list[str] | None, typer.Option(metavar="ID,…", help="Play only these items; repeatable.")
    ] = None
    repeats: Annotated[int, typer.Option(min=1, help="Play each item so often.")] = 1
    timeout: Annotated[float, typer.Option(metavar="SECONDS", help="Longest time of one try of a call.")] = (
        600.0
    )
    retries: Annotated[int, typer.Option(min=0, help="Further tries of a call that fails.")] = 5
    order: Annotated[
        Order, typer.Option(help="Units of an item all at once, or one by one for prefix caches.")
    ] = Order.parallel
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Where the run lies [runs/BENCH[-MODE]/MODEL]; with several models, their parent.",
        ),
    ] = None
    data: options.Data = None
    mode: options.Mode = None
    prompts: Annotated[
        Prompts | None,
        typer.Option(
            help="Prompt texts: wildtool's own, or the original's as pulled [original where pulled]."
        ),
    ] = None
    sampling: Annotated[
        Sampling | None, typer.Option(help="Sampling parameters of the original, where known.")
    ] = None
    profile: options.Profile = None
    lang: options.Lang = None
    split: options.Split = None
    force: options.Force = False
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but the final table.")] = False
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Named models and defaults of all options [wildtool.toml, where there is one].",
            is_eager=True,
            callback=take_config,
        ),
    ] = None

    def check(self) -> None:
        """Raises UsageError for values that no run can work with, in the names of their options."""
        if not all(name.strip() for name in self.model):
            raise UsageError("--model is empty; give a name, such as --model baseline/gold")
        if self.ids is not None and not options.words(self.ids):
            raise UsageError("--ids is empty; give ids separated by commas, or leave it out for all items")
        if not 0 < self.timeout < inf:
            raise UsageError(f"--timeout is {self.timeout:g}; it must be a number of seconds above 0")
        for name in ("rpm", "tpm", "user_rpm", "user_tpm"):
            value = getattr(self, name)
            if value is not None and not 0 < value < inf:
                raise UsageError(f"--{name.replace('_', '-')} is {value:g}; it must be a number above 0")
        if self.max_cost is not None and not 0 <= self.max_cost < inf:
            raise UsageError(f"--max-cost is {self.max_cost:g}; it must be a number from 0")

    @property
    def names(self) -> list[str]:
        """The models, each once."""
        return list(dict.fromkeys(self.model))

    @property
    def rates(self) -> "Rates":
        """What an endpoint may be sent that says nothing else."""
        from wildtool.engine.rates import Rates

        return Rates(rpm=self.rpm, tpm=self.tpm)

    def limits(self) -> "Limits":
        """What the command may take in all. Raises UsageError."""
        from wildtool.engine.budget import Limits

        return Limits(
            max_cost=self.max_cost,
            max_tokens_total=self.max_tokens_total,
            deadline_s=None if self.deadline is None else options.seconds(self.deadline),
        )

    def user(self) -> UserOptions:
        """About the model of the role `user`."""
        return UserOptions(
            model=self.user_model,
            base_url=self.user_base_url,
            api_key_env=self.user_api_key_env,
            temperature=self.user_temperature,
            rpm=self.user_rpm,
            tpm=self.user_tpm,
        )

    def about_models(self, open_replies: "Callable[[Path, str | None], Said]") -> "ModelOptions":
        """About each model under test. Args: open_replies: opens what `replay:` repeats."""
        from wildtool.models.resolve import ModelOptions

        return ModelOptions(
            base_url=self.base_url,
            api_key_env=self.api_key_env,
            api_key_file=self.api_key_file,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            seed=self.seed,
            extra_body=options.json_object(self.extra_body, "--extra-body"),
            stream=self.stream,
            timeout_s=self.timeout,
            format=self.format_,
            open_replies=open_replies,
        )

    def about_plan(self) -> dict[str, Any]:
        """What a plan takes from here as it is."""
        return {
            "seed": self.seed,
            "split": self.split,
            "lang": self.lang,
            "limit": self.limit,
            "ids": options.words(self.ids),
            "repeats": self.repeats,
            "concurrency": self.concurrency,
            "timeout_s": self.timeout,
            "max_attempts": self.retries + 1,
            "in_order": self.order is Order.prefix,
        }
