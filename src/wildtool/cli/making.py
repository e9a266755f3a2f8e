"""Options that everything which models make shares: who plays, how they are reached, what they may cost."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, ParamSpec

import typer

from wildtool.cli import options
from wildtool.cli.defaults import typed_options
from wildtool.cli.spread import spread
from wildtool.errors import UsageError, unknown

if TYPE_CHECKING:
    from wildtool.engine.sitting import Sitting
    from wildtool.generate.plan import Lang

PROCEDURAL = "procedural"
"""Stands for no model at all: templates."""
Own = ParamSpec("Own")


@dataclass(frozen=True, slots=True, kw_only=True)
class Making:
    """Who makes something, as it was typed."""

    model: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Who makes them: a model, as for `run`; or procedural: templates, no model at all.",
        ),
    ] = ""
    role_model: Annotated[
        list[str] | None,
        typer.Option(metavar="ROLE=NAME", help="Another model for a role, of those named above; repeatable."),
    ] = None
    base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="Endpoint of the models, as for `run`.")
    ] = None
    api_key_env: Annotated[
        str | None, typer.Option(metavar="VARIABLE", help="Environment variable with its key.")
    ] = None
    temperature: Annotated[float | None, typer.Option(help="Sent only if given.")] = None
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Most tokens of a reply.")] = None
    timeout: Annotated[float, typer.Option(metavar="SECONDS", help="Longest time of one try of a call.")] = (
        600.0
    )
    concurrency: Annotated[
        int, typer.Option(min=1, help="How many are made at a time, and calls in flight.")
    ] = 32
    rpm: Annotated[float | None, typer.Option(metavar="CALLS", help="Calls a minute at each endpoint.")] = (
        None
    )
    tpm: Annotated[float | None, typer.Option(metavar="TOKENS", help="Tokens a minute likewise.")] = None
    max_cost: Annotated[
        float | None, typer.Option(metavar="USD", min=0, help="Stop before it has cost more.")
    ] = None
    max_tokens_total: Annotated[
        int | None, typer.Option(metavar="TOKENS", min=1, help="Stop before it has taken more.")
    ] = None
    deadline: Annotated[
        str | None, typer.Option(metavar="TIME", help="Begin no call after so long, such as 90 or 1h30m.")
    ] = None
    prices: Annotated[Path | None, typer.Option(metavar="FILE", help="Prices of models, as for `run`.")] = (
        None
    )
    cache: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Keep replies for other runs, and take theirs, as for `run`."),
    ] = None
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Tell calls, tokens and cost beforehand; ask nothing.")
    ] = False
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Named models [wildtool.toml, where there is one].")
    ] = None
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but the last line.")] = False
    force: options.Force = False

    def check(self) -> None:
        """Raises UsageError for what cannot be meant."""
        if not self.model.strip():
            raise UsageError("no model is named; give one by --model, or --model procedural")
        if self.model == PROCEDURAL and (self.dry_run or self.cache):
            raise UsageError("--dry-run and --cache go with a model; procedural asks none")
        for rate, value in {"--rpm": self.rpm, "--tpm": self.tpm, "--timeout": self.timeout}.items():
            if value is not None and not 0 < value < inf:
                raise UsageError(f"{rate} is {value:g}; it must be a number above 0")

    def sitting(self) -> "Sitting":
        """The limits of this command, and its cache, which whoever takes it closes."""
        from wildtool.engine.budget import Budget, Limits
        from wildtool.engine.cache import Cache
        from wildtool.engine.sitting import Sitting

        deadline = None if self.deadline is None else options.seconds(self.deadline)
        limits = Limits(max_cost=self.max_cost, max_tokens_total=self.max_tokens_total, deadline_s=deadline)
        return Sitting(Budget(limits), Cache(self.cache) if self.cache else None)


def with_making(
    verb: Callable[Concatenate[Making, frozenset[str], Own], int | None],
) -> Callable[..., int | None]:
    """A verb that takes the options of `Making` one by one after its own.

    Args:
        verb: is given them as one, and the names of all options that stand on the command line itself.
    """

    def take(making: Making, context: typer.Context, **own: Any) -> int | None:
        return verb(making, frozenset(typed_options(context)), **own)  # pyright: ignore[reportCallIssue]

    return spread(Making, take, verb)


def languages(given: list[str] | None) -> "tuple[Lang, ...]":
    """What `--lang` says. Raises UsageError."""
    known: dict[str, Lang] = {"en": "en", "zh": "zh"}
    wanted = options.words(given) or ("en",)
    for lang in wanted:
        if lang not in known:
            raise UsageError(unknown("language", lang, known))
    return tuple(known[lang] for lang in dict.fromkeys(wanted))
