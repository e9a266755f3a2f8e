"""The models of a run, asked again: made from what `run.json` says of them and what the user names."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from wildtool.alter.base import UNDER_TEST
from wildtool.alter.tool_answers import TOOLS_PLAYER
from wildtool.api import meaning
from wildtool.api.plans import keys_given_at
from wildtool.api.settings import Settings
from wildtool.benchmark import COMPLETION
from wildtool.blame.parties import SCRIPT, USER
from wildtool.config.config_file import ModelEntry
from wildtool.config.named_models import ConfiguredModel, ModelCatalog, OtherRoles
from wildtool.engine.call.budget import read_prices
from wildtool.engine.record.run_folder import setting_diffs
from wildtool.errors import UsageError
from wildtool.models.baselines import make_baseline
from wildtool.models.replay import LoggedReplies, ReplayModel
from wildtool.models.settings import Rates
from wildtool.models.token_usage import FREE
from wildtool.tool_formats.detect import AUTO, BY_DEFAULT, BY_OPTION
from wildtool.types import Model, Reply, Request, Role

MakeModels = Callable[[], Mapping[str, ConfiguredModel]]
"""Gives new models by role, since each trial closes its own at its end."""
StepPlace = tuple[str, str, int]
"""Item, unit and step."""
_SECRET = "address_digest"
"""A setting whose value follows from a key of this machine, so that it cannot be compared with another's."""

_OWN_SETTINGS: Mapping[str, str] = {
    UNDER_TEST: "such as its --base-url, or name another one to ask in its place by --model NAME",
    USER: "such as its --user-base-url, or name another one to ask in its place by --user-model NAME",
    TOOLS_PLAYER: "by a [models.NAME] of wildtool.toml with its name",
}
"""What to give where a role would be played by another model than in the run."""


class LaterPlays:
    """A model in plays after those of the run: with other seeds, and with recorded faults of its endpoint."""

    def __init__(self, model: Model, first: int, held: Mapping[StepPlace, Reply] | None = None) -> None:
        """
        Args:
            first: number that play 0 has for the model, which the run's own plays are below.
            held: replies that an endpoint cut or filtered, by their places: at these it does so again.
        """
        self.name = model.name
        self._model, self._first = model, first
        self._held = held or {}

    def settings(self) -> Mapping[str, Any]:
        return {**self._model.settings(), "plays_from": self._first}

    async def complete(self, request: Request) -> Reply:
        """The model's answer. Errors as of the model."""
        address = request.address
        assert address is not None, "the engine sets it"
        if (held := self._held.get((address.item, address.unit, address.step))) is not None:
            return reused(held)
        later = replace(address, repeat=address.repeat + self._first)
        return await self._model.complete(replace(request, address=later))

    async def close(self) -> None:
        await self._model.close()


def reused(reply: Reply) -> Reply:
    """A recorded reply in a later play: it costs nothing again."""
    return replace(reply, cached=True, usage={}, lost_usage={}, latency_s=0.0, attempts=1)


def right_model(role: str) -> Model:
    """What plays a role as it should be played: the gold answers, or the benchmark's script."""
    return make_baseline("baseline/gold" if role == UNDER_TEST else SCRIPT)


def given_models(models: Mapping[str, Model]) -> MakeModels:
    """Models that a program has made. They stay open as long as it wants: a trial's end does not close them."""
    models_by_role = {
        role: ConfiguredModel(_KeptOpen(model), Rates(), FREE) for role, model in models.items()
    }
    return lambda: models_by_role


class _KeptOpen:
    def __init__(self, model: Model) -> None:
        self.name, self.settings, self.complete = model.name, model.settings, model.complete

    async def close(self) -> None:
        """Its owner closes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedModels:
    """What a user says of the models that are asked again; what is not said is as the run had it."""

    model: str | None = None
    """None for the run's own."""
    user_model: str | None = None
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Other settings of runs by name: addresses, keys, headers, limits."""


def named_models(
    benchmark: str, identity: Mapping[str, Any], choice: NamedModels, entries: Mapping[str, ModelEntry]
) -> MakeModels:
    """Makes the models of a run as its own command would. The address of an endpoint is never taken from the record, so
    that nobody's folder sends a key anywhere: the user names it, and it must be the run's.

    Args:
        benchmark: name of the benchmark, for messages.
        identity: of the run, from `run.json`.
        entries: models of the config file.

    Raises UsageError where a model cannot be made, or is another than the run's without being chosen.
    """
    recorded: Mapping[str, Any] = identity["models"]
    settings = _settings(benchmark, recorded, choice)
    options = meaning.model_options(settings, _no_replies, completion=identity["mode"] == COMPLETION)
    prices = settings.limits.prices
    catalog = ModelCatalog(entries, read_prices(None if prices is None else Path(prices)))
    rates = meaning.rates_of(settings.limits)

    def make() -> Mapping[str, ConfiguredModel]:
        agent = catalog.find(settings.models[0], options, settings.explicit, rates)
        models = {UNDER_TEST: agent}
        # The key of the command goes to its own address alone.
        endpoint = replace(options.endpoint, given_at=keys_given_at(options, agent))
        assigned = OtherRoles(agent.model, replace(options, endpoint=endpoint), catalog, rates)
        for role in recorded.keys() - {UNDER_TEST}:
            its = meaning.role_options(settings.roles, role)
            models[role] = assigned.player(
                its, Role("", SCRIPT), is_named=True, body=_body_of(recorded[role])
            )
        return models

    for role, configured in make().items():
        is_other = (
            choice.model is not None if role == UNDER_TEST else role == USER and choice.user_model is not None
        )
        _check_model(role, recorded[role], configured.model, is_other=is_other)
    return make


def _settings(benchmark: str, recorded: Mapping[str, Any], choice: NamedModels) -> Settings:
    """The settings of a run that would ask the same models. Raises UsageError for what no model of it is."""
    if USER not in recorded and (choice.user_model or choice.values.get("user_base_url")):
        raise UsageError("no model plays the user in this run; leave out what is given for one")
    agent = _settings_of(recorded[UNDER_TEST])
    names = {"temperature": "temperature", "max_tokens": "max_tokens", "seed": "seed", "stream": "stream"}
    values: dict[str, Any] = {ours: agent[its] for ours, its in names.items() if its in agent}
    values |= {"extra_body": json.dumps(agent["extra_body"])} if agent.get("extra_body") else {}
    values["tool_format"] = _format_option(agent)
    for role in recorded.keys() - {UNDER_TEST}:
        its = _settings_of(recorded[role])
        values[f"{role}_model"] = recorded[role]["name"]
        if role == USER:
            values |= {f"user_{name}": its[name] for name in ("temperature", "max_tokens") if name in its}
        else:
            values["history"] = "own"
    values |= choice.values
    if choice.user_model is not None:
        values["user_model"] = choice.user_model
    model = choice.model or recorded[UNDER_TEST]["name"]
    given = {name: value for name, value in values.items() if value is not None}
    return Settings.of(benchmark, [model], given, given.keys())


def _format_option(agent: Mapping[str, Any]) -> str | None:
    """What `--tool-format` was, by how the run says that the format was chosen."""
    chosen = agent.get("format_chosen")
    if chosen == BY_OPTION:
        return agent["format"]
    return AUTO if chosen in (AUTO, BY_DEFAULT) else None


def _settings_of(recorded: Mapping[str, Any]) -> Mapping[str, Any]:
    return recorded.get("settings") or {}


def _body_of(recorded: Mapping[str, Any]) -> Mapping[str, Any] | None:
    return _settings_of(recorded).get("extra_body") or None


def _check_model(role: str, recorded: Mapping[str, Any], model: Model, *, is_other: bool) -> None:
    if isinstance(model, ReplayModel):
        raise UsageError(
            f"{model.name} answers by the place of a request, whatever it asks, so no replacement could change "
            "anything; name a model that answers what it is asked: --model NAME"
        )
    if is_other:
        return
    before, now = (
        {k: v for k, v in its.items() if k != _SECRET} for its in (_settings_of(recorded), model.settings())
    )
    differences = [
        f"{name or 'settings'} was {old} and is now {new}"
        for name, old, new in setting_diffs(json.loads(json.dumps(before)), json.loads(json.dumps(dict(now))))
    ]
    if recorded["name"] != model.name or differences:
        change = ", ".join(differences) or f"its name was {recorded['name']} and is now {model.name}"
        raise UsageError(
            f"the {role} would not be the run's {recorded['name']}: {change}; give its own, {_OWN_SETTINGS[role]}"
        )


def _no_replies(path: Path, model: str | None) -> LoggedReplies:
    raise UsageError(
        f"replay:{path} answers by the place of a request, whatever it asks; name a model that answers what it is asked: "
        "--model NAME"
    )
