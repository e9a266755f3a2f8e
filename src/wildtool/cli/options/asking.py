"""Options of audits that ask models: who is asked, and within which limits."""

import typer

from wildtool.cli.command import declared
from wildtool.cli.options import shared as options
from wildtool.cli.options.config_file import explicit_options
from wildtool.cli.options.run import CallOptions
from wildtool.errors import UsageError


@declared
class AskOptions(CallOptions):
    """Where models are reached, what they may cost, and whether they are asked at all."""

    base_url: str | None = options.BASE_URL_OPTION
    api_key_env: str | None = options.API_KEY_ENV_OPTION
    header: list[str] | None = options.HEADER_OPTION
    dry_run: bool = options.DRY_RUN_OPTION


def check_untyped(context: typer.Context, record: type, needed: str) -> None:
    """Raises UsageError for an option of a record that was typed.

    Args:
        needed: what it would need to mean anything, such as an option.
    """
    typed = explicit_options(context)
    for name, declaration in getattr(record, "declarations", {}).items():
        option = declaration.option(name)
        if option.removeprefix("--").replace("-", "_") in typed:
            raise UsageError(f"{option} needs {needed}")
