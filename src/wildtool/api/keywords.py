"""The keywords of `wildtool.run`: the settings that people use most, and the records that have all of them."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any, Literal, TypedDict, get_args, get_type_hints

from wildtool.agents.agent import Agent
from wildtool.api.records import Headers, SettingGroup, check_value, field_docs, phrase
from wildtool.api.settings import (
    FIELDS,
    RECORD_OF,
    RECORDS,
    Alterations,
    Endpoint,
    Items,
    Limits,
    Output,
    Roles,
    Sampling,
    Settings,
    Workers,
)
from wildtool.config.config_file import Config, read_config, unknown_key_message
from wildtool.errors import UsageError, unknown_name
from wildtool.older_names import OLDER_SETTINGS, level_of_the_caller, warn_of_older
from wildtool.other_names import known_settings_meant

OF_COMMANDS = frozenset(each.name for each in fields(Workers))
"""Settings that only commands have."""


class PlayKeywords(TypedDict, total=False):
    """Keywords of whatever plays a benchmark. Each means what the field of its name means."""

    data: str | Path | None
    mode: str | None
    prompts: Literal["own", "original"] | None
    profile: str | None
    split: str | None
    lang: str | None
    sample: int | None
    sample_seed: int
    limit: int | None
    ids: Sequence[str] | str | None
    temperature: float | None
    max_tokens: int | None
    seed: int | None
    repeats: int
    extra_body: Mapping[str, Any] | str | None
    tool_format: str | None
    concurrency: int
    max_cost: float | None
    deadline: float | str | None
    timeout: float
    retries: int
    base_url: str | None
    api_key_env: str | None
    header: Headers | None
    user_model: str | None
    judge: str | None
    retriever: str | None
    noise: str | None
    history: Literal["gold", "own", "none", "without:user", "without:assistant", "without:tool"] | None
    inject: Literal["base", "enhanced"] | None
    force: bool
    cache: str | Path | None
    config: str | Path | None
    quiet: bool
    items: Items | None
    """More settings of which items are run."""
    sampling: Sampling | Literal["original"] | None
    """More settings of how the model is asked; or "original", the parameters of the original benchmark."""
    limits: Limits | None
    """More settings of how much is sent, what may be spent, and how long a run may take."""
    endpoint: Endpoint | None
    """More settings of where the model is reached."""
    alterations: Alterations | None
    """More settings of what is changed between the benchmark and the model."""
    roles: Roles | None
    """More settings of the models beside the one under test."""
    output: Output | None
    """More settings of where a run is kept."""


class RunKeywords(PlayKeywords, total=False):
    """Keywords of `run` and `arun` beside the benchmark and the model."""

    agent: str | Callable[..., Any] | Agent | None
    out: str | Path | None


def keyword_docs() -> dict[str, str]:
    """A sentence for each keyword."""
    docs = {name: text for record in RECORDS.values() for name, text in field_docs(record).items()}
    docs |= field_docs(PlayKeywords)
    return {name: docs.get(name, "") for name in RunKeywords.__annotations__}


def with_keywords(signature: Signature) -> Signature:
    """The signature of a function with each keyword in place of `**keywords`, as `help` and a notebook show it."""
    own = [its for its in signature.parameters.values() if its.kind is not Parameter.VAR_KEYWORD]
    defaults = {name: its.default for name, its in FIELDS.items()}
    more = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=defaults.get(name), annotation=hint)
        for name, hint in get_type_hints(RunKeywords).items()
    ]
    return signature.replace(parameters=[*own, *more])


def settings_of_call(
    benchmark: str, models: Sequence[str], given: Mapping[str, Any], loaded: Mapping[str, Any]
) -> tuple[Settings, Config]:
    """The settings of a call in Python, with those of a config file where the call has none, and that file.

    Args:
        given: keywords of the call.
        loaded: settings of the benchmark as it was loaded, which the call may override.

    Raises UsageError for unknown keywords, for wrong values, and where the config file must be trusted and is not.
    """
    values = {**loaded, **given_values(given)}
    path = values.get("config")
    config = read_config(None if path is None else Path(path))
    from_file = {name: value for name, value in _file_values(config).items() if name not in values}
    settings = Settings.of(benchmark, models, {**from_file, **values}, values.keys())
    config.check_options({**settings.values(), "model": list(models)}, from_file.keys())
    return settings, config


def given_values(given: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by name, from keywords and from the records among them. Raises UsageError for unknown keywords."""
    values: dict[str, Any] = {}
    records: dict[str, Any] = {}
    for older, value in given.items():
        name = OLDER_SETTINGS.get(older, older)
        if name != older:
            warn_of_older(f"{older}=", f"{name}=")
            if name in given:
                raise UsageError(f"{older}= and {name}= are the same; give it once")
        if (
            name in RECORDS
            and name in RunKeywords.__annotations__
            and not (name == "sampling" and isinstance(value, str))
        ):
            if value is not None and not isinstance(value, RECORDS[name]):
                shown = RECORDS[name].__name__
                raise UsageError(f"{name}= is {value!r}; it must be {shown}(…)" + _ways(name))
            records[name] = value
        elif name not in FIELDS or name in OF_COMMANDS:
            known = [*RunKeywords.__annotations__, "model"]
            meant = known_settings_meant(name, known)
            raise UsageError(unknown_name("keyword", name, known, meant=meant))
        else:
            if name not in RunKeywords.__annotations__:
                _warn_of_old(name)
            values[name] = value
    for record in filter(None, records.values()):
        for name, value in _changed(record).items():
            if name in values:
                raise UsageError(
                    f"{name}= is given twice: as a keyword and in {type(record).__name__}; give it once"
                )
            values[name] = value
    return values


def _ways(name: str) -> str:
    words = [word for part in get_args(get_type_hints(RunKeywords)[name]) for word in get_args(part)]
    return "".join(f' or "{word}"' for word in words)


def _warn_of_old(name: str) -> None:
    record = RECORDS[RECORD_OF[name]].__name__
    text = f"{name}= is a field of {record}: {RECORD_OF[name]}=wildtool.{record}({name}=…); the keyword goes with 0.4"
    warnings.warn(text, DeprecationWarning, stacklevel=level_of_the_caller())


def _changed(record: SettingGroup) -> dict[str, Any]:
    """The fields of a record that do not have their defaults."""
    values = {each.name: (getattr(record, each.name), each.default) for each in fields(record)}
    return {name: value for name, (value, default) in values.items() if value != default}


def _file_values(config: Config) -> dict[str, Any]:
    """Settings of the table `[run]` of a config file. Raises UsageError, which names the line, for one that is wrong."""
    values: dict[str, Any] = {}
    names = {**{name: name for name in FIELDS}, "format": "tool_format", "model": "model"}
    for key, value in config.run.items():
        name = names.get(key)
        if name is None:
            raise config.error_at(["run", key], unknown_key_message(key, names))
        if name == "model" or name in OF_COMMANDS:
            continue
        values[name] = [value] if name.endswith("header") and isinstance(value, str) else value
        try:
            check_value(FIELDS[name], values[name])
        except UsageError:
            raise config.error_at(["run", key], f"must be {phrase(FIELDS[name].type)}") from None
    return values
