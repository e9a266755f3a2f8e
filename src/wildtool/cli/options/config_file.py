"""`wildtool.toml` on the command line: its table `[run]` becomes the defaults of options, and `--trust` trusts it."""

import json
from collections.abc import Set
from pathlib import Path
from typing import Any, cast

import typer

from wildtool.api.words import option_of
from wildtool.cli.command import CONFIG_KEY, run_to_status
from wildtool.config.config_file import Config, check_type, read_config, unknown_key_message
from wildtool.errors import UsageError
from wildtool.trust_request import grant

EXCLUDED_OPTIONS = ("config", "trust", "help")
"""Options that the file cannot set."""
OPTION_TYPES: dict[str, tuple[type, ...]] = {
    "whole number": (int,),
    "number": (int, float),
    "boolean": (bool,),
}
"""Types of values by what messages call the option's type (`NUMBER_NAMES`); anything else is text."""


def load_config(context: typer.Context, file: Path | None) -> Path | None:
    """Callback of `--config`, which runs before all other options: their defaults come from the file."""

    def take() -> None:
        config = read_config(file)
        context.meta[CONFIG_KEY] = config
        context.default_map = {**(context.default_map or {}), **_defaults(context, config)}

    if context.resilient_parsing:
        return file
    if status := run_to_status(take):
        raise typer.Exit(status)
    return file


def grant_trust(digest: str | None) -> str | None:
    """Callback of `--trust`: the hash is trusted from now on, in this process and those that it starts."""
    if digest is not None and (status := run_to_status(lambda: grant(digest))):
        raise typer.Exit(status)
    return digest


def loaded_config(context: typer.Context) -> Config:
    """The config that `load_config` has read."""
    return context.meta.get(CONFIG_KEY) or Config()


def explicit_options(context: typer.Context) -> set[str]:
    """The options given on the command line, by their long names with `_` for `-`, as settings are called."""
    names: set[str] = set()
    for option in context.command.params:
        source = context.get_parameter_source(str(option.name))
        if source is not None and source.name == "COMMANDLINE":
            long = next((name for name in option.opts if name.startswith("--")), str(option.name))
            names.add(long.removeprefix("--").replace("-", "_"))
    return names


def refuse_others(context: typer.Context, mode: str, taken: Set[str]) -> None:
    """Raises UsageError for a typed option that means nothing beside another.

    Args:
        mode: that other option as it is typed, such as `--curve tools`.
        taken: what it takes, itself included, by names as of `explicit_options`.
    """
    if others := sorted(explicit_options(context) - taken):
        raise UsageError(f"{option_of(others[0])} means nothing with {mode}; leave out one of the two")


def _defaults(context: typer.Context, config: Config) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for option in context.command.params:
        for name in (opt.removeprefix("--").replace("-", "_") for opt in option.opts if len(opt) > 2):
            if name not in EXCLUDED_OPTIONS:
                options[name] = option
    defaults: dict[str, Any] = {}
    for key, value in config.run.items():
        if key not in options:
            raise config.error_at(["run", key], unknown_key_message(key, options))
        option = options[key]
        defaults[option.name] = _checked(context, config, key, value, option)
    return defaults


def _checked(context: typer.Context, config: Config, key: str, value: Any, option: Any) -> Any:
    place = ("run", key)
    kinds = OPTION_TYPES.get(option.type.name, (str,))
    if key == "deadline":
        # Durations may be plain numbers.
        value = str(value)
    elif key == "extra_body" and isinstance(value, dict):
        value = json.dumps(value)
    # A single value of an option that takes several need not be in a list.
    values: list[Any] = cast(list[Any], value) if option.multiple and isinstance(value, list) else [value]
    for element in values:
        check_type(config, place, element, kinds)
    checked = values if option.multiple else values[0]
    try:
        option.type_cast_value(context, checked)
    except (typer.BadParameter, UsageError) as error:
        raise config.error_at(place, str(error)) from None
    return checked
