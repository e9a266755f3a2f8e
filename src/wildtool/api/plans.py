"""From settings to runs: a plan with its folder for each model."""

import os
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from wildtool.api import meaning
from wildtool.api.settings import Settings
from wildtool.api.values import parse_json_object
from wildtool.api.words import option_of
from wildtool.config.config_file import ModelEntry, read_config
from wildtool.config.named_models import (
    ConfiguredModel,
    ModelCatalog,
    OtherRoles,
    assign_other_roles,
    check_one_host,
    check_prices,
)
from wildtool.errors import RecordError, UsageError
from wildtool.outputs import check_folder, is_run

if TYPE_CHECKING:
    from wildtool.agents.agent import Agent
    from wildtool.alter.base import Alteration
    from wildtool.benchmark import Benchmark
    from wildtool.engine.call.client import Invocation
    from wildtool.engine.plan import Plan
    from wildtool.engine.versions import RunNames
    from wildtool.models.replay import LoggedReplies
    from wildtool.models.resolve import ModelOptions
    from wildtool.types import Model

Report = Callable[[str], None]
"""Takes what the user should know."""


class NamedRun(NamedTuple):
    """One run of a command or a call."""

    label: str
    """What a display calls it."""
    plan: "Plan"
    folder: Path


def keys_given_at(settings: "ModelOptions", agent: ConfiguredModel) -> str:
    """The base URL that a command's key and headers were given for: its own, else the agent's, else the environment's."""
    if settings.endpoint.base_url:
        return settings.endpoint.base_url
    return agent.address if "://" in agent.address else os.environ.get("OPENAI_BASE_URL", "")


@contextmanager
def invocation_of(runs: Sequence[NamedRun], settings: Settings) -> "Generator[Invocation]":
    """The limits and the cache that runs share. Raises UsageError where a folder is not theirs, or a
    price is needed and unknown."""
    from wildtool.engine.call.budget import Budget
    from wildtool.engine.call.cache import ReplyCache
    from wildtool.engine.call.client import Invocation

    for run in runs:
        check_folder(run.folder, is_run, force=settings.output.force)
    prices = {plan.models[role].name: plan.prices.get(role) for _, plan, _ in runs for role in plan.models}
    check_prices(prices, settings.limits.max_cost)
    folder = settings.output.cache
    cache = ReplyCache(Path(folder)) if folder else None
    try:
        yield Invocation(Budget(meaning.spending_limits(settings.limits)), cache)
    finally:
        if cache is not None:
            cache.close()


def plan(
    settings: Settings,
    entries: Mapping[str, ModelEntry] | None = None,
    *,
    report: Report | None = None,
    parent: Path | None = None,
    models: "Mapping[str, Model] | None" = None,
) -> list[NamedRun]:
    """The runs that settings name, one per model, and per number of tools. Raises UsageError or DataError.

    Args:
        entries: models of the config file, by name; None: it is read.
        report: takes what the user should know; None: nobody wants to.
        parent: folder above the runs; None for `out` or the usual one.
        models: tested models that no name stands for, by what the settings call them.
    """
    if entries is None:
        config = settings.output.config
        entries = read_config(None if config is None else Path(config)).models
    out = None if settings.output.out is None else Path(settings.output.out)
    if len(sizes := meaning.tool_counts_of(settings.alterations)) > 1:
        runs: list[NamedRun] = []
        above = parent or out
        for size in sizes:
            its_settings = settings.changed(among=str(size), out=None)
            place = above and above / f"catalogue-{size}"
            its_runs = plan(its_settings, entries, report=report, parent=place, models=models)
            runs += [run._replace(label=f"{run.label}, {size} tools") for run in its_runs]
        return runs
    return _plan_size(settings, entries, report or _silent, parent, out, models or {})


def _silent(text: str) -> None:
    """Says nothing."""


def _plan_size(
    settings: Settings,
    entries: Mapping[str, ModelEntry],
    report: Report,
    parent: Path | None,
    out: Path | None,
    models: "Mapping[str, Model]",
) -> list[NamedRun]:
    """As `plan`, where there is at most one number of tools. Args: out: folder that the settings name, if any."""
    from wildtool.models.resolve import folder_name

    loaded = _in_mode(settings)
    agent = _agent(settings)
    if agent is not None:
        settings = _for_agents(loaded, settings)
    alterations = meaning.alterations_of(settings.alterations, settings.roles)
    if agent is not None:
        from wildtool.alter.agent.agent import AgentAlteration  # most runs have none

        sees_model = agent.traits.asks_model
        around = AgentAlteration.given(agent.name, agent.settings(), sees_model=sees_model)
        alterations = (*alterations, around)
    settings = _with_sampling(loaded, settings)
    alone = parent is None and out is not None and len(settings.models) == 1
    parent = parent or out or _default_parent(loaded, alterations)
    folders = {model: parent if alone else parent / folder_name(model) for model in settings.models}
    loaded = _with_prompts(loaded, settings, folders.values(), report)
    settings, names = _continued(loaded, settings, folders.values())
    plans = _build_plans(loaded, alterations, settings, entries, models, report)
    if agent is not None:
        plans = {name: _played_by(agent, plan) for name, plan in plans.items()}
    if names is not None:
        plans = {model: replace(plan, names=names) for model, plan in plans.items()}
    return [NamedRun(model, plan, folders[model]) for model, plan in plans.items()]


def _agent(settings: Settings) -> "Agent | None":
    """The agent that plays, if one does. Raises UsageError."""
    if settings.alterations.agent is None:
        return None
    from wildtool.agents.playing import agent_of  # most runs have none

    return agent_of(settings.alterations.agent)


def _for_agents(benchmark: "Benchmark", settings: Settings) -> Settings:
    """The settings with what holds for agents where the user says nothing: they live with their own history, where tasks
    have one, and few run at once."""
    from wildtool.agents.playing import agents_at_once

    if "concurrency" not in settings.explicit:
        settings = settings.changed(concurrency=agents_at_once())
    if settings.alterations.history is None and _has_later_tasks(benchmark, settings):
        settings = settings.changed(history="own")
    return settings


def _has_later_tasks(benchmark: "Benchmark", settings: Settings) -> bool:
    """Whether a selected task continues an earlier one. Raises UsageError or DataError."""
    from wildtool.benchmark import SessionRules
    from wildtool.data.data_set import data_of
    from wildtool.engine.plan import Selection

    rules = benchmark.rules(settings.items.profile or next(iter(benchmark.profiles)))
    if not isinstance(rules, SessionRules):
        return False
    data, chosen = data_of(benchmark), meaning.plan_settings(settings)
    data.prepare(_name(settings.items.data))
    source = data.locate(_name(settings.items.data), settings.items.split)
    which = {name: chosen[name] for name in ("split", "lang", "limit", "ids", "sample")}
    items = Selection(benchmark=benchmark, source=source, **which).items()
    sessions = ((rules.session(item), item) for item in items)
    return any(session.history(unit) for session, item in sessions if session for unit in item.units)


def _played_by(agent: "Agent", plan: "Plan") -> "Plan":
    """A plan in which an agent stands around the model under test."""
    from wildtool.agents.playing import played_by

    model = played_by(plan.models["agent"], agent, plan.timeout_s)
    return replace(plan, models={**plan.models, "agent": model})


def _in_mode(settings: Settings) -> "Benchmark":
    """The benchmark in the mode that is named; else in the one that a retriever or a judge is for."""
    from wildtool.benchmark import JUDGED, RETRIEVAL
    from wildtool.engine.registry import load_benchmark

    mode, roles = settings.items.mode, settings.roles
    loaded = load_benchmark(settings.benchmark, mode)
    if mode is None and roles.retriever is not None and RETRIEVAL in loaded.modes:
        loaded = loaded.in_mode(RETRIEVAL)
    if mode is None and roles.judge is not None and JUDGED in loaded.modes:
        loaded = loaded.in_mode(JUDGED)
    if loaded.mode in loaded.recorded_modes:
        raise UsageError(
            f"--mode {loaded.mode} judges what was recorded elsewhere, and runs nothing; use wildtool score --traces FILE"
        )
    return loaded


def _default_parent(benchmark: "Benchmark", alterations: "Sequence[Alteration]") -> Path:
    """`runs/BENCH`; another mode than the first and each alteration get a separate folder, so that all can be run."""
    parts = [benchmark.name]
    parts += [] if benchmark.mode == next(iter(benchmark.modes)) else [benchmark.mode]
    parts += [part for alteration in alterations for part in alteration.folder_parts]
    return Path("runs", "-".join(parts))


def _build_plans(
    benchmark: "Benchmark",
    alterations: "tuple[Alteration, ...]",
    settings: Settings,
    entries: Mapping[str, ModelEntry],
    models: "Mapping[str, Model]",
    report: Report,
) -> "dict[str, Plan]":
    """A plan for each model, by its name. Raises UsageError or DataError. Args: as of `plan`."""
    from wildtool.benchmark import COMPLETION
    from wildtool.data.data_set import data_of
    from wildtool.engine.call.budget import read_prices
    from wildtool.engine.plan import Plan
    from wildtool.engine.versions import default_profile

    def open_replies(path: Path, model: str | None) -> "LoggedReplies":
        from wildtool.engine.replies import replay_source

        return replay_source(benchmark, source)(path, model)

    meaning.check_fit(settings, benchmark)
    limits, roles = settings.limits, settings.roles
    data_of(benchmark).prepare(_name(settings.items.data))
    source = data_of(benchmark).locate(_name(settings.items.data), settings.items.split)
    options = meaning.model_options(settings, open_replies, completion=benchmark.mode == COMPLETION)
    catalog = ModelCatalog(
        entries, read_prices(None if limits.prices is None else Path(limits.prices)), models
    )
    rates = meaning.rates_of(limits)
    agents = {name: catalog.find(name, options, settings.explicit, rates) for name in settings.models}
    check_one_host(agents.values())
    plans = {
        name: Plan(
            benchmark=benchmark,
            source=source,
            models={"agent": agent.model},
            profile=settings.items.profile or default_profile(benchmark, source.name),
            alterations=alterations,
            **meaning.plan_settings(settings),
        )
        for name, agent in agents.items()
    }
    _report_formats(plans, report)
    first = next(iter(plans.values()))
    first.check_settings()
    items = first.selection.read()
    searches = any(benchmark.roles[role].searches for role in items.roles)
    documents = data_of(benchmark).documents(source) if searches else dict[str, str]()
    everything = replace(first, limit=None, ids=(), sample=None).selection
    alterations = tuple(each.prepared(benchmark, everything.items(), first.profile) for each in alterations)
    altered = [each.check(benchmark, items, first.profile) for each in alterations]
    notes = dict.fromkeys(note for note in altered if note)
    more_roles = {role: its for each in alterations for role, its in each.played_roles.items()}
    complete: dict[str, Plan] = {}
    original_body = _original_body(benchmark) if settings.sampling.sampling else {}
    for name, plan in plans.items():
        # Each run closes its models at its end, so plans share none.
        given_at = keys_given_at(options, agents[name])
        lent = replace(options, endpoint=replace(options.endpoint, given_at=given_at))
        assigned = OtherRoles(agents[name].model, lent, catalog, rates, original_body)
        other_models, remarks = assign_other_roles(
            benchmark,
            items.roles,
            assigned,
            lambda role: meaning.role_options(roles, role),
            documents,
            more_roles,
        )
        for role, its_name in ((role, its) for each in alterations for role, its in each.roles.items()):
            other_models[role] = assigned.ranker(its_name, meaning.role_options(roles, "among"))
        role_models = {"agent": agents[name], **other_models}
        batched, more = _batched_roles(role_models, settings)
        endpoint_notes = [model.endpoint_note for model in role_models.values() if model.endpoint_note]
        notes.update(dict.fromkeys([*endpoint_notes, *remarks, *more]))
        altered_plan = replace(plan, items=items, alterations=alterations)
        complete[name] = _with_role_models(altered_plan, role_models, batched)
    for note in notes:
        report(note)
    return complete


def _name(data: str | Path | None) -> str | None:
    return None if data is None else str(data)


def _with_role_models(
    plan: "Plan", role_models: Mapping[str, ConfiguredModel], batched: Collection[str]
) -> "Plan":
    """The plan with the models of all roles, how they are called and what that costs. Raises UsageError."""
    complete = replace(
        plan,
        models={role: model.model for role, model in role_models.items()},
        rates={role: model.rates for role, model in role_models.items()},
        prices={role: model.price for role, model in role_models.items() if model.price is not None},
        headers={role: model.header_names for role, model in role_models.items() if model.headers},
        batched=frozenset(batched),
    )
    complete.check_settings()
    return complete


def _batched_roles(
    role_models: Mapping[str, ConfiguredModel], settings: Settings
) -> tuple[set[str], list[str]]:
    """The roles that are called by batches, and a note on a model that is not although `[run]` asks for it."""
    batched = {role for role, model in role_models.items() if model.batch}
    agent = role_models["agent"]
    if not settings.limits.batch or ("batch" not in settings.explicit and agent.batch is not None):
        return batched, []
    from wildtool.models.providers.base import batchable_model

    if "batch" not in settings.explicit and batchable_model(agent.model) is None:
        return batched, [f"{agent.model.name} has no batch API and is called directly"]
    return {*batched, "agent"}, []


def _report_formats(plans: "dict[str, Plan]", report: Report) -> None:
    """Says how each model under test is sent tools, where not all use native tool calls."""
    from wildtool.tool_formats.detect import CHOICE_NOTES

    settings_by_name = {name: plan.models["agent"].settings() for name, plan in plans.items()}
    if not any("format" in settings for settings in settings_by_name.values()):
        return
    for name, settings in settings_by_name.items():
        if "format" not in settings:
            report(f"{name} makes calls itself and ignores --tool-format")
            continue
        asked_by = "by its chat template" if "tools" in settings else "as text"
        reason = CHOICE_NOTES[settings["format_chosen"]]
        report(
            f"{name} is sent tools {asked_by}, and calls are read in the format {settings['format']}{reason}"
        )


def _with_prompts(
    benchmark: "Benchmark", settings: Settings, folders: Iterable[Path], report: Report
) -> "Benchmark":
    """The benchmark with the prompts of `--prompts`; without it, those of the run that continues, else the original's
    if they were pulled. Raises UsageError or DataError.

    Args:
        folders: of the runs, which may not exist yet.
    """
    from wildtool.engine.registry import ORIGINAL_WORDING, choose_prompts

    whose = settings.items.prompts or _resumed_prompts(folders)
    with_prompts = choose_prompts(benchmark, whose and str(whose), settings.items.split)
    if with_prompts is not benchmark and whose is None:
        report(
            "Using the original's prompts, as pulled "
            f"(--prompts {ORIGINAL_WORDING}). Use --prompts own for wildtool's wording."
        )
    return with_prompts


def _continued(
    benchmark: "Benchmark", settings: Settings, folders: Iterable[Path]
) -> "tuple[Settings, RunNames | None]":
    """The settings in today's names, and the names of the run that continues; None where none does or no name can move.

    `official` means what it meant when the run began, and the run keeps the version of its data where none is named.

    Args:
        folders: of the runs, which may not exist yet.
    """
    from wildtool.benchmark import versions_of
    from wildtool.engine.record.run_folder import read_run
    from wildtool.engine.versions import default_profile, names_of

    if not versions_of(benchmark):
        return settings, None
    for folder in folders:
        if not (folder / "run.json").is_file():
            continue
        try:
            run_json = read_run(folder)
        except RecordError:
            continue  # reported when the run is opened
        names = names_of(benchmark, run_json["identity"])
        recorded = run_json["data"]["name"]
        given = _name(settings.items.data)
        keeps = given is None and names.version_of(recorded)
        data = names.now(recorded) if keeps else given and names.now(given)
        profile = settings.items.profile and names.now(settings.items.profile)
        profile = profile or default_profile(benchmark, data or names.now(recorded), names)
        return settings.changed(data=data, profile=profile), names
    return settings, None


def _resumed_prompts(folders: Iterable[Path]) -> str | None:
    """Whose prompts the runs in these folders use; None if there is no run yet."""
    from wildtool.engine.record.run_folder import read_run
    from wildtool.engine.registry import ORIGINAL_WORDING, OWN_WORDING

    for folder in folders:
        if (folder / "run.json").is_file():
            try:
                return ORIGINAL_WORDING if read_run(folder)["identity"].get("prompts") else OWN_WORDING
            except RecordError:
                continue  # reported when the run is opened
    return None


def _with_sampling(benchmark: "Benchmark", settings: Settings) -> Settings:
    """The settings with the parameters that `sampling` sets. Raises UsageError if other settings contradict it."""
    from wildtool.engine.registry import original_sampling

    whose = settings.sampling.sampling
    if whose is None:
        return settings
    sampling, parameters = original_sampling(benchmark), _original_body(benchmark)
    values = {
        "temperature": sampling.get("temperature"),
        "max_tokens": sampling.get("max_tokens"),
        "retries": sampling["attempts"] - 1 if "attempts" in sampling else None,
    }
    if settings.roles.user_model is not None:
        values |= {"user_temperature": values["temperature"], "user_max_tokens": values["max_tokens"]}
    if clash := sorted(settings.explicit & values.keys()):
        raise UsageError(f"--sampling {whose} sets {option_of(clash[0])}; leave one of the two out")
    body = parse_json_object(settings.sampling.extra_body, "--extra-body")
    if clash := sorted(body.keys() & parameters.keys()):
        raise UsageError(f"--sampling {whose} sets {clash[0]}, and --extra-body does too")
    changes = {name: value for name, value in values.items() if value is not None}
    return settings.changed(**changes, extra_body=body | parameters or None)


_OF_OPTIONS = ("temperature", "max_tokens", "attempts")
"""Parameters of an original's sampling that are set by options of their own."""


def _original_body(benchmark: "Benchmark") -> dict[str, Any]:
    """Further fields of the requests of a benchmark's original. Raises UsageError where its sampling is not known."""
    from wildtool.engine.registry import original_sampling

    return {name: value for name, value in original_sampling(benchmark).items() if name not in _OF_OPTIONS}
