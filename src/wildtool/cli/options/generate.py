"""Options shared by all `generate` commands: which models, how to reach them, what they may cost."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, ParamSpec

import typer

from wildtool.cli.command import MODEL, MORE, OUTPUT, command_from_dataclass, split_values
from wildtool.cli.options import completion
from wildtool.cli.options import shared as options
from wildtool.cli.options.config_file import explicit_options
from wildtool.errors import UsageError, unknown_name
from wildtool.models.settings import EndpointOptions, Sampling

if TYPE_CHECKING:
    from wildtool.engine.call.client import Invocation
    from wildtool.generate.core.plan import Lang
    from wildtool.models.replay import RecordedReplies
    from wildtool.models.resolve import ModelOptions

PROCEDURAL = "procedural"
"""Name in place of a model: templates."""
Own = ParamSpec("Own")

FolderOption = Annotated[
    Path | None, typer.Option(*("--out", "-o"), metavar="FOLDER", help="Folder to work in.")
]
ToolsOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Your tools: OpenAI tool definitions, an OpenAPI document or an MCP tool list (default: built-in tools).",
    ),
]
SeedOption = Annotated[str, typer.Option(metavar="TEXT", help="The same seed gives the same plans.")]
LangsOption = Annotated[
    list[str] | None,
    typer.Option(metavar="CODE", help="en, zh, or en,zh for both in turn (default: en).", show_default=False),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateOptions(options.CallOptions):
    """Models, limits and output of a `generate` command, as typed."""

    model: Annotated[
        str,
        typer.Option(
            *("--model", "-m"),
            metavar="NAME",
            help="Model that generates, as for `run`. For sessions and items also procedural: templates, no model.",
            autocompletion=completion.models,
            rich_help_panel=MODEL,
        ),
    ] = ""
    role_model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROLE=NAME",
            help="Another model for one of the command's roles; repeatable.",
            rich_help_panel=MODEL,
        ),
    ] = None
    base_url: options.BaseUrlOption = None
    api_key_env: options.ApiKeyEnvOption = None
    dry_run: options.DryRunOption = False
    quiet: Annotated[
        bool, typer.Option(*("--quiet", "-q"), help="Print only the last line.", rich_help_panel=OUTPUT)
    ] = False
    cache: options.CacheOption = None
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File with named models (default: wildtool.toml, if it exists).",
            rich_help_panel=MORE,
        ),
    ] = None
    force: options.ForceOption = False

    def check(self) -> None:
        """Raises UsageError for options that contradict each other or are out of range."""
        if not self.model.strip():
            raise UsageError("no model is named: give --model NAME, or --model procedural for templates")
        if self.model == PROCEDURAL and (self.dry_run or self.cache):
            raise UsageError("--dry-run and --cache need a model; procedural calls none")
        self.check_limits()

    def model_options(self, open_replies: "Callable[[Path, str | None], RecordedReplies]") -> "ModelOptions":
        """About each model. Args: open_replies: opens what `replay:` repeats."""
        from wildtool.models.resolve import ModelOptions

        return ModelOptions(
            endpoint=EndpointOptions(
                base_url=self.base_url, api_key_env=self.api_key_env, timeout_s=self.timeout
            ),
            sampling=Sampling(temperature=self.temperature, max_tokens=self.max_tokens),
            open_replies=open_replies,
        )

    def invocation(self) -> "Invocation":
        """The limits of this command and its cache, which the caller closes."""
        from wildtool.engine.call.budget import Budget
        from wildtool.engine.call.cache import ReplyCache
        from wildtool.engine.call.client import Invocation

        cache = ReplyCache(self.cache) if self.cache else None
        return Invocation(Budget(self.spending_limits()), cache)


def with_generate_options(
    verb: Callable[Concatenate[GenerateOptions, frozenset[str], Own], int | None],
) -> Callable[..., int | None]:
    """A verb with the options of `GenerateOptions` after its own.

    Args:
        verb: takes them as one record, and the names of all options given on the command line itself.
    """

    def take(making: GenerateOptions, context: typer.Context, **own: Any) -> int | None:
        return verb(making, frozenset(explicit_options(context)), **own)  # pyright: ignore[reportCallIssue]

    return command_from_dataclass(GenerateOptions, take, verb)


def parse_languages(given: list[str] | None) -> "tuple[Lang, ...]":
    """The languages of `--lang`. Raises UsageError for an unknown one."""
    known: dict[str, Lang] = {"en": "en", "zh": "zh"}
    wanted = split_values(given) or ("en",)
    for lang in wanted:
        if lang not in known:
            raise UsageError(unknown_name("language", lang, known))
    return tuple(known[lang] for lang in dict.fromkeys(wanted))
