"""The models of a run: those that names stand for, with their rates and prices, and who plays the other roles."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from wildtool.config.config_file import ModelEntry
from wildtool.errors import UsageError
from wildtool.models.settings import EndpointOptions, Rates, address_without_login

if TYPE_CHECKING:
    from wildtool.benchmark import Benchmark
    from wildtool.models.headers import Header
    from wildtool.models.resolve import ModelOptions
    from wildtool.models.token_usage import Price
    from wildtool.types import Model, Role


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleOptions:
    """What is set for the model of another role than the one under test."""

    model: str | None = None
    """None for the benchmark's default, if it has one."""
    endpoint: EndpointOptions = field(default_factory=EndpointOptions)
    """Its own base URL, key variable and headers, if any."""
    temperature: float | None = None
    max_tokens: int | None = None
    """Per reply; None for the role's own limit."""
    rates: Rates = field(default_factory=Rates)
    top_k: int | None = None
    """Documents to find; None for the default."""

    @property
    def explicit(self) -> list[str]:
        """Names of its own settings that are given."""
        its = {
            "base_url": self.endpoint.base_url,
            "api_key_env": self.endpoint.api_key_env,
            "header": self.endpoint.headers or None,
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
        }
        return [name for name, value in its.items() if value is not None]


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
        """The model of embeddings that ranks the tools among others."""
        from wildtool.models.providers.ranker import as_ranker

        if replayed := self._replayed():
            return replayed
        embedding = self._at(name, options, None, "--among-base-url", api="embeddings")
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
