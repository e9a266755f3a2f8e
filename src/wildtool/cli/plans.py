"""What the options of `wildtool run` mean: the models that are named, and a run of each, with its folder."""

import json
import os
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wildtool.cli.command import parse_json_object
from wildtool.cli.options.config_file import ModelEntry
from wildtool.cli.options.run import NamedRun, RoleOptions, RunOptions
from wildtool.cli.terminal import print_err
from wildtool.errors import RecordError, UsageError
from wildtool.models.settings import Rates, address_without_login
from wildtool.outputs import check_folder, is_run

if TYPE_CHECKING:
    from wildtool.alter.base import Alteration
    from wildtool.benchmark import Benchmark
    from wildtool.engine.call.client import Invocation
    from wildtool.engine.plan import Plan
    from wildtool.engine.versions import RunNames
    from wildtool.models.headers import Header
    from wildtool.models.replay import LoggedReplies
    from wildtool.models.resolve import ModelOptions
    from wildtool.models.token_usage import Price
    from wildtool.types import Model, Role


@dataclass(frozen=True, slots=True)
class ConfiguredModel:
    """A model with its rate limits and price."""

    model: "Model"
    rates: Rates
    price: "Price | None"
    """None if it is unknown."""
    batch: "bool | None" = None
    """Whether the config file sets `batch` for it; None if it does not say."""
    endpoint_note: str | None = None
    """A note about the endpoint that its name alone chose; None if the user named one."""
    headers: "tuple[Header, ...]" = ()
    """The user's headers that are sent with its requests."""
    headers_of_command: bool = False
    """Whether they are the command's, and not those of its own table."""
    address: str = ""
    """Its base URL, or in words who passes on what it is asked; empty where that stays in this process."""

    @property
    def header_names(self) -> tuple[str, ...]:
        return tuple(header.name for header in self.headers)


@dataclass(frozen=True, slots=True)
class ModelCatalog:
    """The models of the config file, and prices."""

    entries: Mapping[str, ModelEntry]
    """By name."""
    prices: "Mapping[str, Price]"
    ready: "Mapping[str, Model]" = field(default_factory=dict[str, "Model"])
    """Models that exist already, by name."""

    def find(
        self, name: str, options: "ModelOptions", explicit: Collection[str], rates: Rates
    ) -> ConfiguredModel:
        """The model of a name.

        Args:
            options: those of the command, which the model's table may override.
            explicit: names of the options given on the command line itself, which override the table.
            rates: those of the command, likewise.
        """
        from wildtool.models.resolve import model_from_name
        from wildtool.models.token_usage import FREE

        if name in self.ready:
            return ConfiguredModel(self.ready[name], rates, FREE)
        entry = self.entries.get(name)
        if entry is None:
            _check_single(name)
            try:
                model = model_from_name(name, options)
            except UsageError as error:
                close = get_close_matches(name, self.entries, 1)
                raise (
                    UsageError(f"{error}; did you mean {close[0]!r} of wildtool.toml?") if close else error
                ) from None
            configured = ConfiguredModel(model, rates, self._price(model, name, None))
            return _with_endpoint(configured, name, options, options)
        own = Rates(
            rpm=None if "rpm" in explicit else entry.rates.rpm,
            tpm=None if "tpm" in explicit else entry.rates.tpm,
        ).or_else(rates)
        merged = entry.merged(name, options, explicit)
        entry.demand_trust(merged, options.endpoint.base_url if "base_url" in explicit else None)
        model = model_from_name(entry.model, merged)
        configured = ConfiguredModel(model, own, self._price(model, name, entry), entry.batch)
        return _with_endpoint(configured, entry.model, merged, options)

    def _price(self, model: "Model", name: str, entry: ModelEntry | None) -> "Price | None":
        from wildtool.engine.call.budget import price_of
        from wildtool.engine.call.client import endpoint_of
        from wildtool.models.token_usage import FREE

        if endpoint_of(model) is None:
            return FREE
        if entry is not None and entry.price is not None:
            return entry.price
        sent_as = model.settings().get("sent_as")
        names = (name, entry.model if entry else name, sent_as if isinstance(sent_as, str) else name)
        return price_of(names, self.prices)


def _with_endpoint(
    configured: ConfiguredModel, name: str, options: "ModelOptions", of_command: "ModelOptions"
) -> ConfiguredModel:
    """A model with what its name and options say of its endpoint.

    Args:
        of_command: the options of the command, whose headers a table may have replaced by equal ones.
    """
    from wildtool.models.resolve import destination_of, endpoint_note

    destination = destination_of(name, options)
    return replace(
        configured,
        endpoint_note=endpoint_note(name, options),
        headers=destination.headers,
        headers_of_command=destination.headers is of_command.endpoint.headers,
        address=destination.address,
    )


def _given_at(settings: "ModelOptions", agent: ConfiguredModel) -> str:
    """The base URL that a command's key and headers were given for: its own, else the agent's, else the environment's."""
    if settings.endpoint.base_url:
        return settings.endpoint.base_url
    return agent.address if "://" in agent.address else os.environ.get("OPENAI_BASE_URL", "")


def check_one_host(models: Iterable[ConfiguredModel]) -> None:
    """Raises UsageError where a secret among the command's headers would go to several hosts."""
    hosts: dict[str, set[str]] = {}
    for model in models:
        if model.headers_of_command:
            host = "/".join(address_without_login(model.address).split("/")[:3])
            for header in model.headers:
                if header.variable is not None:
                    hosts.setdefault(header.name, set()).add(host)
    for name, its_hosts in hosts.items():
        if len(its_hosts) > 1:
            raise UsageError(
                f"the header {name} holds a secret and goes to one host, but these models have several: "
                f"{', '.join(sorted(its_hosts))}; run them one by one, or give each its headers in wildtool.toml "
                "(docs/config.md)"
            )


def _check_single(name: str) -> None:
    """Raises UsageError for several names where one is read; paths may hold commas."""
    names = [part.strip() for part in name.split(",")]
    if len(names) > 1 and all(names) and not name.startswith(("replay:", "hf/")):
        repeated = " ".join(f"-m {part}" for part in names)
        raise UsageError(f"{name!r} is not one model; to run several, repeat the option: {repeated}")


@contextmanager
def invocation_of(runs: "Sequence[NamedRun]", run_options: RunOptions) -> "Generator[Invocation]":
    """The limits and the cache that the runs of one command share. Raises UsageError where a folder is not theirs, or a
    price is needed and unknown."""
    from wildtool.engine.call.budget import Budget
    from wildtool.engine.call.cache import ReplyCache
    from wildtool.engine.call.client import Invocation

    for run in runs:
        check_folder(run.folder, is_run, force=run_options.force)
    prices = {plan.models[role].name: plan.prices.get(role) for _, plan, _ in runs for role in plan.models}
    check_prices(prices, run_options.max_cost)
    cache = ReplyCache(run_options.cache) if run_options.cache else None
    try:
        yield Invocation(Budget(run_options.spending_limits()), cache)
    finally:
        if cache is not None:
            cache.close()


def check_prices(names_and_prices: "Mapping[str, Price | None]", max_cost: float | None) -> None:
    """Raises UsageError if --max-cost is set and the price of a model is unknown."""
    unknown = [name for name, price in names_and_prices.items() if price is None]
    if max_cost is not None and unknown:
        raise UsageError(
            f"--max-cost needs prices, and none is known for {', '.join(unknown)}. Give USD per million tokens: "
            "in wildtool.toml, `prices = {input = 2.5, output = 10}` under [models.NAME], or with --prices FILE holding "
            '{"models": {"NAME": {"input": 2.5, "output": 10}}}; 0 if it is free'
        )


def assign_other_roles(
    benchmark: "Benchmark",
    needed_roles: Collection[str],
    assigned: "OtherRoles",
    options_of: Callable[[str], RoleOptions],
    documents: Mapping[str, str],
    more_roles: "Mapping[str, Role]",
) -> "tuple[dict[str, ConfiguredModel], list[str]]":
    """A model for each role other than the agent, and notes for the user about it. Raises UsageError where texts need a
    judge and none is named.

    Args:
        assigned: makes the models.
        options_of: options of the user's model, of the judge or of the retriever.
        documents: what roles search that search.
        more_roles: by name those that alterations need.
    """
    from wildtool.benchmark import JUDGE

    user = options_of("user")
    names: Mapping[str, str] = {} if user.model is None else {"user": user.model}
    models: dict[str, ConfiguredModel] = {}
    remarks: list[str] = []
    for role in needed_roles:
        if benchmark.roles[role].searches:
            continue
        if role == JUDGE:
            models[role] = assigned.judge(options_of("judge"), benchmark.roles[role])
            judging = models[role].model.name
            itself = ", the tested model itself" if judging == assigned.agent.name else ""
            remarks.append(f"texts are judged by {judging}{itself}")
            continue
        models[role] = assigned.player(
            user, benchmark.roles[role], is_named=role in names, body=assigned.original_body
        )
        if role not in names:
            advice = "; for a model give --user-model NAME" if role == "user" else ""
            remarks.append(f"{role} is played by {models[role].model.name}{advice}")
    for role, its in more_roles.items():
        options = options_of(role)
        models[role] = assigned.player(options, its, is_named=options.model is not None)
    remarks += [
        f"no selected item needs a {role}; {names[role]} is not called" for role in names.keys() - models
    ]
    for role in needed_roles:
        if benchmark.roles[role].searches:
            models[role], remark = assigned.retriever(
                benchmark.roles[role].default, documents, options_of("retriever")
            )
            remarks.append(remark)
    return models, remarks


@dataclass(frozen=True, slots=True)
class OtherRoles:
    """Makes the models of other roles beside a tested model."""

    agent: "Model"
    """If it replays a record, it replays the other roles too."""
    settings: "ModelOptions"
    catalog: ModelCatalog
    rates: Rates
    original_body: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Further fields with which the benchmark's original asks models of its own roles; empty unless that is asked for."""

    def _replayed(self) -> ConfiguredModel | None:
        """The tested model, if it replays a record."""
        from wildtool.models.replay import ReplayModel
        from wildtool.models.token_usage import FREE

        return ConfiguredModel(self.agent, Rates(), FREE) if isinstance(self.agent, ReplayModel) else None

    def player(
        self, options: RoleOptions, role: "Role", *, is_named: bool, body: Mapping[str, Any] | None = None
    ) -> ConfiguredModel:
        """The model that plays a role, such as the user.

        Args:
            is_named: whether it is the model that the options name.
            body: further fields of its requests.
        """
        if not is_named and (replayed := self._replayed()):
            return replayed
        settings = self.settings.for_other_role(
            options.endpoint, options.temperature, options.max_tokens or role.max_tokens, body
        )
        name = str(options.model) if is_named else role.default
        return self.catalog.find(name, settings, options.explicit, options.rates.or_else(self.rates))

    def judge(self, options: RoleOptions, role: "Role") -> ConfiguredModel:
        """The model that judges texts. Raises UsageError where none is named."""
        if options.model is None:
            if replayed := self._replayed():
                return replayed
            raise UsageError("name the model that judges texts: --judge NAME")
        most = options.max_tokens or role.max_tokens
        return self._at(options.model, options, 0.0, "--judge-base-url", most)

    def retriever(
        self, default: str, documents: Mapping[str, str], options: RoleOptions
    ) -> tuple[ConfiguredModel, str]:
        """The model that searches documents, and a note for the user."""
        from wildtool.models.retrievers import DEFAULT_TOP_K, Bm25Retriever, as_retriever
        from wildtool.models.token_usage import FREE
        from wildtool.toolcall.retrieval import BM25

        if replayed := self._replayed():
            return replayed, f"{self.agent.name} replays what was retrieved"
        name, top_k = options.model or default, options.top_k or DEFAULT_TOP_K
        note = f"the {top_k} best of {len(documents):,} tools are found by {name}"
        if name == BM25:
            return ConfiguredModel(Bm25Retriever(documents, top_k), Rates(), FREE), note
        embedding = self._at(name, options, None, "--retriever-base-url", api="embeddings")
        return replace(embedding, model=as_retriever(embedding.model, documents, top_k)), note

    def ranker(self, name: str, options: RoleOptions) -> ConfiguredModel:
        """The model of embeddings that ranks the tools of a catalogue."""
        from wildtool.models.providers.ranker import as_ranker

        if replayed := self._replayed():
            return replayed
        embedding = self._at(name, options, None, "--catalogue-base-url", api="embeddings")
        return replace(embedding, model=as_ranker(embedding.model))

    def _at(
        self,
        name: str,
        options: RoleOptions,
        temperature: float | None,
        base_url_option: str,
        max_tokens: int | None = None,
        **changes: Any,
    ) -> ConfiguredModel:
        """A named model at its own endpoint, whose address an option of that name may give."""
        settings = self.settings.for_other_role(options.endpoint, temperature, max_tokens)
        endpoint = replace(settings.endpoint, base_url_option=base_url_option)
        return self.catalog.find(
            name, replace(settings, endpoint=endpoint, **changes), options.explicit, self.rates
        )


def plan_runs(
    name: str,
    run_options: RunOptions,
    explicit: set[str],
    entries: Mapping[str, ModelEntry],
    parent: Path | None = None,
    models: "Mapping[str, Model] | None" = None,
) -> list[NamedRun]:
    """The runs of one benchmark, one per model; prints what the user should know. Raises UsageError or DataError.

    Args:
        explicit: names of the options that are given and not defaults.
        entries: models of the config file, by name.
        parent: folder above the runs; None for `--out` or the usual one.
        models: tested models that no name stands for, by what `run_options` calls them.
    """
    from wildtool.benchmark import JUDGED, RETRIEVAL
    from wildtool.engine.registry import load_benchmark
    from wildtool.models.resolve import folder_name

    if len(sizes := run_options.catalogue_sizes) > 1:
        runs: list[NamedRun] = []
        above = parent or run_options.out
        for size in sizes:
            its_options = replace(run_options, catalogue=str(size), out=None)
            place = above and above / f"catalogue-{size}"
            its_runs = plan_runs(name, its_options, explicit, entries, place, models)
            runs += [run._replace(label=f"{run.label}, {size} tools") for run in its_runs]
        return runs
    alterations = run_options.alterations()
    loaded = load_benchmark(name, run_options.mode)
    if run_options.mode is None and run_options.retriever is not None and RETRIEVAL in loaded.modes:
        loaded = loaded.in_mode(RETRIEVAL)
    if run_options.mode is None and run_options.judge is not None and JUDGED in loaded.modes:
        loaded = loaded.in_mode(JUDGED)
    run_options = _with_sampling(loaded, run_options, explicit)
    alone = parent is None and run_options.out is not None and len(run_options.model_names) == 1
    parent = parent or run_options.out or _default_parent(loaded, alterations)
    folders = {model: parent if alone else parent / folder_name(model) for model in run_options.model_names}
    loaded = _with_prompts(loaded, run_options, folders.values())
    run_options, names = _continued(loaded, run_options, folders.values())
    plans = _build_plans(loaded, alterations, run_options, explicit, entries, models or {})
    if names is not None:
        plans = {model: replace(plan, names=names) for model, plan in plans.items()}
    return [NamedRun(model, plan, folders[model]) for model, plan in plans.items()]


def _default_parent(benchmark: "Benchmark", alterations: "Sequence[Alteration]") -> Path:
    """`runs/BENCH`; another mode than the first and each alteration get a separate folder, so that all can be run."""
    parts = [benchmark.name]
    parts += [] if benchmark.mode == next(iter(benchmark.modes)) else [benchmark.mode]
    parts += [part for alteration in alterations for part in alteration.folder_parts]
    return Path("runs", "-".join(parts))


def _build_plans(
    benchmark: "Benchmark",
    alterations: "tuple[Alteration, ...]",
    run_options: RunOptions,
    explicit: set[str],
    entries: Mapping[str, ModelEntry],
    models: "Mapping[str, Model]",
) -> "dict[str, Plan]":
    """A plan for each model, by its name; prints what the user should know. Raises UsageError or DataError.

    Args: as of `plan_runs`.
    """
    from wildtool.benchmark import COMPLETION
    from wildtool.data.data_set import data_of
    from wildtool.engine.call.budget import read_prices
    from wildtool.engine.plan import Plan
    from wildtool.engine.versions import default_profile

    def open_replies(path: Path, model: str | None) -> "LoggedReplies":
        from wildtool.engine.replies import replay_source

        return replay_source(benchmark, source)(path, model)

    run_options.check_roles(benchmark)
    data_of(benchmark).prepare(run_options.data)
    source = data_of(benchmark).locate(run_options.data, run_options.split)
    settings = run_options.model_options(open_replies, completion=benchmark.mode == COMPLETION)
    catalog = ModelCatalog(entries, read_prices(run_options.prices), models)
    agents = {
        name: catalog.find(name, settings, explicit, run_options.rates) for name in run_options.model_names
    }
    check_one_host(agents.values())
    plans = {
        name: Plan(
            benchmark=benchmark,
            source=source,
            models={"agent": agent.model},
            profile=run_options.profile or default_profile(benchmark, source.name),
            alterations=alterations,
            **run_options.plan_settings(),
        )
        for name, agent in agents.items()
    }
    if not run_options.quiet:
        _print_formats(plans)
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
    original_body = _original_body(benchmark) if run_options.sampling else {}
    for name, plan in plans.items():
        # Each run closes its models at its end, so plans share none.
        lent = replace(
            settings, endpoint=replace(settings.endpoint, given_at=_given_at(settings, agents[name]))
        )
        assigned = OtherRoles(agents[name].model, lent, catalog, run_options.rates, original_body)
        other_models, remarks = assign_other_roles(
            benchmark, items.roles, assigned, run_options.role_options, documents, more_roles
        )
        for role, its_name in ((role, its) for each in alterations for role, its in each.roles.items()):
            other_models[role] = assigned.ranker(its_name, run_options.role_options("catalogue"))
        role_models = {"agent": agents[name], **other_models}
        batched, more = _batched_roles(role_models, run_options, explicit)
        endpoint_notes = [model.endpoint_note for model in role_models.values() if model.endpoint_note]
        notes.update(dict.fromkeys([*endpoint_notes, *remarks, *more]))
        altered_plan = replace(plan, items=items, alterations=alterations)
        complete[name] = _with_role_models(altered_plan, role_models, batched)
    if not run_options.quiet:
        for note in notes:
            print_err(note)
    return complete


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
    role_models: Mapping[str, ConfiguredModel], run_options: RunOptions, explicit: set[str]
) -> tuple[set[str], list[str]]:
    """The roles that are called by batches, and a note on a model that is not although `[run]` asks for it."""
    batched = {role for role, model in role_models.items() if model.batch}
    agent = role_models["agent"]
    if not run_options.batch or ("batch" not in explicit and agent.batch is not None):
        return batched, []
    from wildtool.models.providers.base import batchable_model

    if "batch" not in explicit and batchable_model(agent.model) is None:
        return batched, [f"{agent.model.name} has no batch API and is called directly"]
    return {*batched, "agent"}, []


def _print_formats(plans: "dict[str, Plan]") -> None:
    """Prints how each model under test is sent tools, where not all use native tool calls."""
    from wildtool.tool_formats.detect import CHOICE_NOTES

    settings_by_name = {name: plan.models["agent"].settings() for name, plan in plans.items()}
    if not any("format" in settings for settings in settings_by_name.values()):
        return
    for name, settings in settings_by_name.items():
        if "format" not in settings:
            print_err(f"{name} makes calls itself and ignores --tool-format")
            continue
        asked_by = "by its chat template" if "tools" in settings else "as text"
        reason = CHOICE_NOTES[settings["format_chosen"]]
        print_err(
            f"{name} is sent tools {asked_by}, and calls are read in the format {settings['format']}{reason}"
        )


def _with_prompts(benchmark: "Benchmark", run_options: RunOptions, folders: Iterable[Path]) -> "Benchmark":
    """The benchmark with the prompts of `--prompts`; without it, those of the run that continues, else the original's
    if they were pulled. Raises UsageError or DataError.

    Args:
        folders: of the runs, which may not exist yet.
    """
    from wildtool.engine.registry import ORIGINAL_WORDING, choose_prompts

    whose = (run_options.prompts and run_options.prompts.value) or _resumed_prompts(folders)
    with_prompts = choose_prompts(benchmark, whose, run_options.split)
    if with_prompts is not benchmark and whose is None and not run_options.quiet:
        print_err(
            "Using the original's prompts, as pulled "
            f"(--prompts {ORIGINAL_WORDING}). Use --prompts own for wildtool's wording."
        )
    return with_prompts


def _continued(
    benchmark: "Benchmark", run_options: RunOptions, folders: Iterable[Path]
) -> "tuple[RunOptions, RunNames | None]":
    """The options in today's names, and the names of the run that continues; None where none does or no name can move.

    `official` means what it meant when the run began, and the run keeps the version of its data where none is named.

    Args:
        folders: of the runs, which may not exist yet.
    """
    from wildtool.benchmark import versions_of
    from wildtool.engine.record.run_folder import read_run
    from wildtool.engine.versions import default_profile, names_of

    if not versions_of(benchmark):
        return run_options, None
    for folder in folders:
        if not (folder / "run.json").is_file():
            continue
        try:
            run_json = read_run(folder)
        except RecordError:
            continue  # reported when the run is opened
        names = names_of(benchmark, run_json["identity"])
        recorded = run_json["data"]["name"]
        keeps = run_options.data is None and names.version_of(recorded)
        data = names.now(recorded) if keeps else run_options.data and names.now(run_options.data)
        profile = run_options.profile and names.now(run_options.profile)
        profile = profile or default_profile(benchmark, data or names.now(recorded), names)
        return replace(run_options, data=data, profile=profile), names
    return run_options, None


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


def _with_sampling(benchmark: "Benchmark", run_options: RunOptions, explicit: set[str]) -> RunOptions:
    """The options with the parameters that `--sampling` sets. Raises UsageError if other options contradict it."""
    from wildtool.engine.registry import original_sampling

    if run_options.sampling is None:
        return run_options
    sampling, parameters = original_sampling(benchmark), _original_body(benchmark)
    fields = {
        "temperature": sampling.get("temperature"),
        "max_tokens": sampling.get("max_tokens"),
        "retries": sampling["attempts"] - 1 if "attempts" in sampling else None,
    }
    if run_options.user_model is not None:
        fields |= {"user_temperature": fields["temperature"], "user_max_tokens": fields["max_tokens"]}
    if clash := sorted(explicit & fields.keys()):
        option = clash[0].replace("_", "-")
        raise UsageError(f"--sampling {run_options.sampling.value} sets --{option}; leave one of the two out")
    body = parse_json_object(run_options.extra_body, "--extra-body")
    if clash := sorted(body.keys() & parameters.keys()):
        raise UsageError(
            f"--sampling {run_options.sampling.value} sets {clash[0]}, and --extra-body does too"
        )
    changes: dict[str, Any] = {field: value for field, value in fields.items() if value is not None}
    return replace(
        run_options, **changes, extra_body=json.dumps(body | parameters) if body or parameters else None
    )


_OF_OPTIONS = ("temperature", "max_tokens", "attempts")
"""Parameters of an original's sampling that are set by options of their own."""


def _original_body(benchmark: "Benchmark") -> dict[str, Any]:
    """Further fields of the requests of a benchmark's original. Raises UsageError where its sampling is not known."""
    from wildtool.engine.registry import original_sampling

    return {name: value for name, value in original_sampling(benchmark).items() if name not in _OF_OPTIONS}
