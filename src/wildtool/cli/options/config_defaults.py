"""Puts what `[run]` of the config file says in the place of the options' own defaults."""

from pathlib import Path
from typing import Any, cast

import typer

from wildtool.cli.exit_status import run_to_status
from wildtool.cli.options.config_file import (
    Config,
    check_type,
    option_value,
    read_config,
    unknown_key_message,
)
from wildtool.errors import UsageError

CONFIG_KEY = "wildtool.config"
EXCLUDED_OPTIONS = ("config", "help")
"""Options that the file cannot set."""
OPTION_TYPES: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("int", "integer"), (int,)),
    "float": (int, float),
    "boolean": (bool,),
}
"""Types of values by what the command line's library calls the option's own; anything else is a text."""


def load_config(context: typer.Context, named: Path | None) -> Path | None:
    """Callback of `--config`, which is read before all other options: their defaults come from the file."""

    def take() -> None:
        config = read_config(named)
        context.meta[CONFIG_KEY] = config
        context.default_map = {**(context.default_map or {}), **_defaults(context, config)}

    if context.resilient_parsing:
        return named
    if status := run_to_status(take):
        raise typer.Exit(status)
    return named


def loaded_config(context: typer.Context) -> Config:
    """The config that `take_config` has read."""
    return context.meta.get(CONFIG_KEY) or Config()


def explicit_options(context: typer.Context) -> set[str]:
    """The options that stand on the command line itself, by the names of their parameters, without a last `_`."""
    found: set[str] = set()
    for option in context.command.params:
        source = context.get_parameter_source(option.name or "")
        if source is not None and source.name == "COMMANDLINE":
            found.add((option.name or "").rstrip("_"))
    return found


def _defaults(context: typer.Context, config: Config) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for option in context.command.params:
        for name in (opt.removeprefix("--").replace("-", "_") for opt in option.opts if len(opt) > 2):
            if name not in EXCLUDED_OPTIONS:
                options[name] = option
    found: dict[str, Any] = {}
    for key, value in config.run.items():
        if key not in options:
            raise config.error_at(["run", key], unknown_key_message(key, options))
        option = options[key]
        found[option.name] = _checked(context, config, key, value, option)
    return found


def _checked(context: typer.Context, config: Config, key: str, value: Any, option: Any) -> Any:
    place = ("run", key)
    kinds = OPTION_TYPES.get(option.type.name.removesuffix(" range"), (str,))
    values = _as_values(value) if option.multiple else [value]
    for one in values:
        if key == "extra_body" and isinstance(one, dict):
            continue
        # Times may be given as plain numbers.
        check_type(config, place, str(one) if key == "deadline" else one, kinds)
    value = str(value) if key == "deadline" else values if option.multiple else option_value(value)
    try:
        option.type_cast_value(context, value)
    except typer.BadParameter as error:
        raise config.error_at(place, error.message) from None
    except UsageError as error:
        raise config.error_at(place, str(error)) from None
    return value


def _as_values(value: Any) -> list[Any]:
    """The values of an option that takes several; one may stand alone."""
    return cast(list[Any], value) if isinstance(value, list) else [value]
