"""Makes the models that the command line names, with their settings from the config file."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from wildtool.cli.options.config_file import ModelEntry
from wildtool.cli.options.run import RoleOptions
from wildtool.errors import UsageError
from wildtool.models.settings import Rates

if TYPE_CHECKING:
    from wildtool.benchmark import Benchmark
    from wildtool.models.resolve import ModelOptions
    from wildtool.models.token_usage import Price
    from wildtool.types import Model


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


@dataclass(frozen=True, slots=True)
class ModelCatalog:
    """The models of the config file, and prices."""

    entries: Mapping[str, ModelEntry]
    """By name."""
    prices: "Mapping[str, Price]"

    def find(
        self, name: str, options: "ModelOptions", explicit: Collection[str], rates: Rates
    ) -> ConfiguredModel:
        """The model of a name.

        Args:
            options: those of the command, which the model's table may override.
            explicit: names of the options given on the command line itself, which override the table.
            rates: those of the command, likewise.
        """
        from wildtool.models.resolve import endpoint_note, model_from_name

        entry = self.entries.get(name)
        if entry is None:
            try:
                model = model_from_name(name, options)
            except UsageError as error:
                close = get_close_matches(name, self.entries, 1)
                raise (
                    UsageError(f"{error}; did you mean {close[0]!r} of wildtool.toml?") if close else error
                ) from None
            chosen = endpoint_note(name, options)
            return ConfiguredModel(model, rates, self._price(model, name, None), endpoint_note=chosen)
        own = Rates(
            rpm=None if "rpm" in explicit else entry.rates.rpm,
            tpm=None if "tpm" in explicit else entry.rates.tpm,
        ).or_else(rates)
        merged = _merged_options(name, entry, options, explicit)
        model = model_from_name(entry.model, merged)
        chosen = endpoint_note(entry.model, merged)
        return ConfiguredModel(model, own, self._price(model, name, entry), entry.batch, chosen)

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


def _merged_options(
    name: str, entry: ModelEntry, options: "ModelOptions", explicit: Collection[str]
) -> "ModelOptions":
    """The options of a model of the config file: the command line first, then its table, then `[run]`.

    A key is sent only to the address that it was named with.
    """
    from wildtool.models.resolve import preset_of

    own, changes = entry.endpoint, dict[str, Any]()
    keyed = bool({"api_key_env", "api_key_file"} & set(explicit))
    own_key = {"api_key_env": own.api_key_env, "api_key_file": own.api_key_file}
    if "base_url" in explicit:
        if not keyed:
            changes = {"api_key_env": None, "api_key_file": None}
    else:
        alone = own.base_url is not None or preset_of(entry.model) is not None
        if alone:
            changes = {"base_url": own.base_url, "shared": False, "default_key": own.base_url is None}
        if not keyed and (alone or any(own_key.values())):
            changes |= {**own_key, "shared": False}
    sampling = {option: value for option, value in entry.sampling.items() if option not in explicit}
    return replace(
        options,
        endpoint=replace(options.endpoint, **changes),
        sampling=replace(options.sampling, **sampling),
        display_name=name,
        format=options.format if entry.format is None or "format" in explicit else entry.format,
    )


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
    needed_roles: Iterable[str],
    agent: "Model",
    settings: "ModelOptions",
    options_of: Callable[[str], RoleOptions],
    catalog: ModelCatalog | None = None,
    rates: Rates | None = None,
    documents: Mapping[str, str] | None = None,
) -> "tuple[dict[str, ConfiguredModel], list[str]]":
    """A model for each role other than the agent, and notes for the user about it. Raises UsageError where texts need a
    judge and none is named.

    Args:
        agent: the tested model; if it replays a record, it replays the other roles too.
        settings, rates: of the agent.
        options_of: options of the user's model, of the judge or of the retriever.
        catalog: the named models; None without a config file.
        documents: what roles search that search.
    """
    from wildtool.benchmark import JUDGE

    assigned = _OtherRoles(agent, settings, catalog or ModelCatalog({}, {}), rates or Rates())
    user = options_of("user")
    named: Mapping[str, str] = {} if user.model is None else {"user": user.model}
    models: dict[str, ConfiguredModel] = {}
    remarks: list[str] = []
    roles = list(needed_roles)
    for role in roles:
        if benchmark.roles[role].searches:
            continue
        if role == JUDGE:
            models[role] = assigned.judge(options_of("judge"))
            judging = models[role].model.name
            itself = ", the tested model itself" if judging == agent.name else ""
            remarks.append(f"texts are judged by {judging}{itself}")
            continue
        models[role] = assigned.player(user, benchmark.roles[role].default, is_named=role in named)
        if role not in named:
            advice = "; for a model give --user-model NAME" if role == "user" else ""
            remarks.append(f"{role} is played by {models[role].model.name}{advice}")
    remarks += [
        f"no selected item needs a {role}; {named[role]} is not called" for role in named.keys() - models
    ]
    for role in roles:
        if benchmark.roles[role].searches:
            models[role], remark = assigned.retriever(
                benchmark.roles[role].default, documents or {}, options_of("retriever")
            )
            remarks.append(remark)
    return models, remarks


@dataclass(frozen=True, slots=True)
class _OtherRoles:
    """Makes the models of other roles beside a tested model."""

    agent: "Model"
    """If it replays a record, it replays the other roles too."""
    settings: "ModelOptions"
    catalog: ModelCatalog
    rates: Rates

    def _replayed(self) -> ConfiguredModel | None:
        """The tested model, if it replays a record."""
        from wildtool.models.replay import ReplayModel
        from wildtool.models.token_usage import FREE

        return ConfiguredModel(self.agent, Rates(), FREE) if isinstance(self.agent, ReplayModel) else None

    def player(self, options: RoleOptions, default: str, *, is_named: bool) -> ConfiguredModel:
        """The model that plays a role, such as the user.

        Args:
            is_named: whether it is the model that the options name.
        """
        if not is_named and (replayed := self._replayed()):
            return replayed
        others = self.settings.for_other_role(options.endpoint, options.temperature)
        name = str(options.model) if is_named else default
        return self.catalog.find(name, others, options.explicit, options.rates.or_else(self.rates))

    def judge(self, options: RoleOptions) -> ConfiguredModel:
        """The model that judges texts. Raises UsageError where none is named."""
        if options.model is None:
            if replayed := self._replayed():
                return replayed
            raise UsageError("name the model that judges texts: --judge NAME")
        return self._at(options.model, options, 0.0, "--judge-base-url")

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

    def _at(
        self, name: str, options: RoleOptions, temperature: float | None, base_url_option: str, **changes: Any
    ) -> ConfiguredModel:
        """A named model at its own endpoint, whose address an option of that name may give."""
        others = self.settings.for_other_role(options.endpoint, temperature)
        endpoint = replace(others.endpoint, base_url_option=base_url_option)
        return self.catalog.find(
            name, replace(others, endpoint=endpoint, **changes), options.explicit, self.rates
        )
