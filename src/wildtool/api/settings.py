"""The settings of a run as typed records. Each setting has one name, which is that of its option, of its key in
`wildtool.toml`, of its keyword in Python and of its entry in the job of a shared run."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

from wildtool.agents.agent import Agent
from wildtool.api.records import Headers, SettingGroup, choices, is_flag, setting
from wildtool.api.values import split_values
from wildtool.api.words import know, option_of, words_of_the_caller
from wildtool.errors import UsageError
from wildtool.models.settings import MAX_CONCURRENCY

_NAMED = "give a name, or leave it out"
_WITHOUT_AN_AGENT = {
    "batch": "an agent waits for each reply of its model, and a batch takes minutes to a day",
    "cache": "a reply of another run would answer in place of the agent",
    "tool_format": "an agent is sent tools natively, by the protocol in which it asks its model",
    "among_retriever": "an agent is sent its tools once, before anything is looked for",
    "expose": "an agent is sent its tools as they are, and shows them to its model in its own way",
    "hints": "an agent writes the messages to its model itself",
    "rationale": "an agent writes the messages to its model itself",
}
"""Settings that cannot hold for an agent, with why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Items(SettingGroup):
    """Which items are run, and by which rules they are judged."""

    data: str | Path | None = setting()
    """Data file in the benchmark's format, or the name of one of its data sets."""
    mode: str | None = setting()
    """How the model is prompted; one of the benchmark's modes."""
    prompts: Literal["own", "original"] | None = setting()
    """Whose prompt texts are sent: wildtool's or the original's; None: the original's, where they were pulled."""
    profile: str | None = setting()
    """Scoring rules; None: the benchmark's first, or those of the version of its data."""
    split: str | None = setting()
    """Only items of this split."""
    lang: str | None = setting()
    """Only items in this language, such as en or zh."""
    sample: int | None = setting(min=2, not_with={"limit": "", "ids": ""})
    """Only a sample of this many items, which represents all of them."""
    sample_seed: int = setting(0)
    """Seed of the sample."""
    limit: int | None = setting(min=1)
    """Only the first items, this many."""
    ids: Sequence[str] | str | None = setting()
    """Only these items: a list of ids, or a text with commas between them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling(SettingGroup):
    """How the model under test is asked."""

    temperature: float | None = setting()
    """Sampling temperature; None: the provider's."""
    max_tokens: int | None = setting(min=1)
    """Maximum tokens per reply; None: the provider's."""
    seed: int | None = setting()
    """Sampling seed; repeat k uses seed + k."""
    repeats: int = setting(1, min=1)
    """Samples per item."""
    extra_body: Mapping[str, Any] | str | None = setting()
    """More fields of each request, such as `top_p`, as a dictionary or JSON."""
    sampling: Literal["original"] | None = setting()
    """"original": the parameters of the original benchmark, where they are known."""
    tool_format: str | None = setting()
    """How a model without native tool calls writes them, or "auto"; None: native calls."""
    stream: bool = setting(False)
    """Whether replies are asked for as streams."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits(SettingGroup):
    """How much is sent at once, what may be spent, and how long a run may take."""

    concurrency: int = setting(32, min=1, max=MAX_CONCURRENCY)
    """Calls in flight at each endpoint."""
    rpm: float | None = setting(above=0)
    """Calls per minute at each endpoint."""
    tpm: float | None = setting(above=0)
    """Tokens per minute at each endpoint."""
    max_cost: float | None = setting(min=0)
    """USD; the run stops before it spends more."""
    prices: str | Path | None = setting()
    """Price file, TOML or JSON, in USD per million tokens; it overrides built-in prices."""
    max_tokens_total: int | None = setting(min=1)
    """Tokens of prompts and replies; the run stops before it uses more."""
    deadline: float | str | None = setting()
    """Time after which no call starts: seconds, or a text such as 30m or 1h30m."""
    timeout: float = setting(600.0, above=0, unit="seconds")
    """Seconds for one attempt of a call."""
    retries: int = setting(5, min=0)
    """Retries of a failed call."""
    order: Literal["parallel", "prefix"] = setting("parallel")
    """Whether the units of an item are sent all at once, or one by one for prefix caches."""
    batch: bool = setting(False)
    """Whether the provider's batch API is used: cheaper, but each round takes minutes to a day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint(SettingGroup):
    """Where the model under test is reached, and with what."""

    base_url: str | None = setting()
    """Address of the model's API; None: OPENAI_BASE_URL, or the provider's."""
    api_key_env: str | None = setting()
    """Environment variable that holds the key; None: OPENAI_API_KEY, or the provider's."""
    api_key_file: str | Path | None = setting()
    """File that holds only the key."""
    header: Headers | None = setting()
    """HTTP headers of every request: a dictionary, or texts `NAME=VALUE`; a secret names its variable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alterations(SettingGroup):
    """What is changed between the benchmark and the model."""

    agent: str | Callable[..., Any] | Agent | None = setting(
        not_empty="give a name, such as codex, or a command", not_with=_WITHOUT_AN_AGENT
    )
    """Plays the sessions with the model inside it: the name of an agent, a command, one that speaks ACP after "acp:", or
    in Python an async function of a session, or an agent as an object."""
    history: Literal["gold", "own", "none", "without:user", "without:assistant", "without:tool"] | None = (
        setting()
    )
    """"gold": the tasks of a session follow the gold ones; "own": the model's own earlier ones; "none": units are asked
    without earlier turns; "without:ROLE": without those of one role. None: gold, and own where an agent plays."""
    among: str | int | None = setting()
    """Each item's tools stand among others, this many in all; several sizes, as in "10,50", are a run each."""
    among_kinds: str = setting("random")
    """Which others: random, domain, near; several in turn, with commas between them."""
    among_seed: int = setting(0)
    """Seed of the others."""
    among_tools: str | Path | None = setting(needs="among")
    """A file of tools, or an MCP server, from which the others are drawn."""
    mcp_env: Sequence[str] | None = setting(needs="among_tools")
    """Variables for an MCP server that a command starts, beside HOME, PATH and the like."""
    mcp_header: Headers | None = setting(needs="among_tools")
    """HTTP headers for an MCP server at an address."""
    among_retriever: str | None = setting(
        needs="among", not_empty="give bm25, own or the name of an embedding model"
    )
    """The model is shown only the tools found: by bm25, by itself (own), or by an embedding model."""
    among_top_k: int = setting(10, min=1)
    """Tools that are found."""
    expose: str | None = setting(not_empty="give direct, search or code")
    """How the model reaches the tools: "direct", all in each request; "search", those that it searches for; "code", as
    functions of scripts that it writes, or "code:search", those that its scripts search for. Settings follow a colon."""
    failures: str | None = setting()
    """Tools fail by this schedule: first-call, twice-then-well, flaky:0.2 or down, with kinds after commas."""
    failures_seed: int = setting(0)
    """Seed of the failures."""
    noise: str | None = setting()
    """Tools are disturbed: KIND:LEVEL with commas between them, such as names:slight."""
    noise_seed: int = setting(0)
    """Seed of the noise."""
    inject: Literal["base", "enhanced"] | None = setting()
    """An attacker's instruction is planted into tools' results; enhanced claims priority."""
    inject_seed: int = setting(0)
    """Seed of what is planted."""
    hints: str | Path | None = setting()
    """File of hints for the model; shuffled:FILE gives each item those of another."""
    rationale: str | Path | None = setting()
    """Reasoning for the model: its own, asked first ("own"), or people's from a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles(SettingGroup):
    """The models beside the one under test: who plays the user and the tools, who judges texts, what finds tools."""

    user_model: str | None = setting(not_empty=_NAMED, role="user")
    """Model that plays the user, for benchmarks that simulate one."""
    user_base_url: str | None = setting(needs="user_model")
    """Address of its API; None: that of the tested model."""
    user_api_key_env: str | None = setting(needs="user_model")
    """Environment variable that holds its key."""
    user_header: Headers | None = setting(needs="user_model")
    """Its HTTP headers; None: those of the tested model, at the same address."""
    user_temperature: float | None = setting(needs="user_model")
    """Its temperature."""
    user_max_tokens: int | None = setting(min=1, needs="user_model")
    """Its maximum tokens per reply; None: 4096."""
    user_rpm: float | None = setting(above=0, needs="user_model")
    """Calls per minute at its own endpoint."""
    user_tpm: float | None = setting(above=0, needs="user_model")
    """Tokens per minute at its own endpoint."""
    judge: str | None = setting(not_empty=_NAMED, role="judge", only_mode="judged")
    """Model that judges texts, for benchmarks that need one."""
    judge_base_url: str | None = setting(needs="judge")
    """Address of its API; None: that of the tested model."""
    judge_api_key_env: str | None = setting(needs="judge")
    """Environment variable that holds its key."""
    judge_header: Headers | None = setting(needs="judge")
    """Its HTTP headers; None: those of the tested model, at the same address."""
    judge_max_tokens: int | None = setting(min=1, needs="judge")
    """Its maximum tokens per reply; None: 4096."""
    retriever: str | None = setting(
        only_mode="retrieval", not_empty="give bm25 or the name of an embedding model"
    )
    """What finds tools in the benchmark's whole pool: bm25, or an embedding model."""
    retriever_top_k: int | None = setting(min=1, only_mode="retrieval")
    """Tools that it finds; None: 5."""
    retriever_base_url: str | None = setting(only_mode="retrieval")
    """Address of the embedding model's API; None: that of the tested model."""
    retriever_api_key_env: str | None = setting(only_mode="retrieval")
    """Environment variable that holds its key."""
    retriever_header: Headers | None = setting(only_mode="retrieval")
    """Its HTTP headers."""
    tools_model: str | None = setting(needs="history", not_empty=_NAMED)
    """With `history`: model that plays tools where the record has no result; None: they return an error."""
    tools_base_url: str | None = setting(needs="tools_model")
    """Address of its API; None: that of the tested model."""
    tools_api_key_env: str | None = setting(needs="tools_model")
    """Environment variable that holds its key."""
    tools_header: Headers | None = setting(needs="tools_model")
    """Its HTTP headers."""
    among_base_url: str | None = setting(needs="among_retriever")
    """Address of the embedding model of `among_retriever`; None: that of the tested model."""
    among_api_key_env: str | None = setting(needs="among_retriever")
    """Environment variable that holds its key."""
    among_header: Headers | None = setting(needs="among_retriever")
    """Its HTTP headers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Output(SettingGroup):
    """Where a run is kept, and what it takes from files."""

    out: str | Path | None = setting()
    """Run folder; with several models the folder above them; None: runs/BENCHMARK/MODEL."""
    force: bool = setting(False)
    """Whether files and folders may be overwritten that wildtool did not make."""
    cache: str | Path | None = setting()
    """Folder of a reply cache that runs share."""
    config: str | Path | None = setting()
    """File with named models and default settings; None: wildtool.toml, if it exists."""
    quiet: bool = setting(False)
    """Whether nothing but the end result is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workers(SettingGroup):
    """What only commands set: who runs it, and whether it runs at all."""

    on: str | None = setting()
    """Workers that share the run, such as local:4 or ray."""
    server: str | None = setting()
    """Command of a model server for each worker."""
    dry_run: bool = setting(False)
    """Whether calls, tokens and cost are only estimated."""
    no_check: bool = setting(False)
    """Whether the first replies are not looked at for broken tool calls."""


RECORDS: Mapping[str, type[SettingGroup]] = {
    "items": Items,
    "sampling": Sampling,
    "limits": Limits,
    "endpoint": Endpoint,
    "alterations": Alterations,
    "roles": Roles,
    "output": Output,
    "workers": Workers,
}
"""The records by the names of their fields in `Settings`."""
FIELDS: Mapping[str, "Field[Any]"] = {
    each.name: each for record in RECORDS.values() for each in fields(record)
}
"""All settings by name."""
RECORD_OF: Mapping[str, str] = {
    each.name: name for name, record in RECORDS.items() for each in fields(record)
}
"""By the name of each setting that of its record."""
_NO_ROLE = {"user": "has no simulated user", "judge": "is judged by rules"}
"""What a benchmark is that lacks a role."""
_NO_MODE = {"retrieval": "finds nothing: {} has no pool of tools"}
"""What a setting does for a benchmark that lacks its mode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings of the runs of one command or call."""

    benchmark: str
    """Its name, or the path of a Python file that defines it."""
    models: tuple[str, ...]
    """Names of the models to test, each once."""
    items: Items = field(default_factory=Items)
    sampling: Sampling = field(default_factory=Sampling)
    limits: Limits = field(default_factory=Limits)
    endpoint: Endpoint = field(default_factory=Endpoint)
    alterations: Alterations = field(default_factory=Alterations)
    roles: Roles = field(default_factory=Roles)
    output: Output = field(default_factory=Output)
    workers: Workers = field(default_factory=Workers)
    explicit: frozenset[str] = frozenset()
    """Names of the settings that somebody gave; the others are defaults, or a config file's."""

    @classmethod
    def of(
        cls, benchmark: str, models: Sequence[str], values: Mapping[str, Any], explicit: Collection[str] = ()
    ) -> "Settings":
        """The settings with these values by name; all others have their defaults. Raises UsageError for a value that no
        run can use, and for settings that contradict each other."""
        with words_of_the_caller():
            if not models:
                raise UsageError("no model is named; give one, such as --model baseline/gold")
            if not all(name.strip() for name in models):
                raise UsageError("--model is empty; give a name, such as --model baseline/gold")
            check_rules(values)
            given: dict[str, dict[str, Any]] = {name: {} for name in RECORDS}
            for name, value in values.items():
                given[RECORD_OF[name]][name] = value
            records: dict[str, Any] = {name: RECORDS[name](**its) for name, its in given.items()}
            _check_texts(values)
            _check_history(values)
            names = tuple(dict.fromkeys(models))
            return cls(benchmark=benchmark, models=names, explicit=frozenset(explicit), **records)

    def values(self) -> dict[str, Any]:
        """All values by name."""
        return {name: getattr(getattr(self, record), name) for name, record in RECORD_OF.items()}

    def changed(self, **values: Any) -> "Settings":
        """The same settings with other values, by name."""
        changes: dict[str, dict[str, Any]] = {}
        for name, value in values.items():
            changes.setdefault(RECORD_OF[name], {})[name] = value
        records = {name: replace(getattr(self, name), **its) for name, its in changes.items()}
        return replace(self, **records)


def check_rules(values: Mapping[str, Any]) -> None:
    """Raises UsageError for a setting that is given without what it requires, or with what excludes it.

    Args:
        values: by name; those that are None or false are not given.
    """
    given = {name for name, value in values.items() if value is not None and value is not False}
    for name, its in FIELDS.items():
        if name not in given:
            continue
        reasons: Mapping[str, str] = its.metadata.get("not_with", {})
        for other, reason in reasons.items():
            if other in given:
                why = reason and f": {reason}"
                raise UsageError(f"give {option_of(other)} or {option_of(name)}, not both{why}")
        needed = its.metadata.get("needs")
        if needed is not None and needed not in given:
            raise UsageError(f"{option_of(name)} needs {option_of(needed)}")


def _check_texts(values: Mapping[str, Any]) -> None:
    """Raises UsageError for a list without ids, and for a server without a port."""
    ids, server, base_url = (values.get(name) for name in ("ids", "server", "base_url"))
    if ids is not None and not split_values(ids):
        raise UsageError("--ids is empty; give ids separated by commas, or leave it out for all items")
    if server is not None and not all("{port}" in text for text in (server, base_url or "")):
        raise UsageError(
            "--server and --base-url need {port} both, such as --server 'vllm serve NAME --port {port}' "
            "--base-url 'http://127.0.0.1:{port}/v1'"
        )


def _check_history(values: Mapping[str, Any]) -> None:
    """Raises UsageError for a history that no agent can be given."""
    history = values.get("history")
    if values.get("agent") is not None and history is not None and history.startswith("without:"):
        raise UsageError(
            f"--history {history} leaves out parts of turns, and an agent lives through whole ones; with --agent give "
            "own, gold or none"
        )


def unfit(name: str, benchmark: Any) -> str:
    """Why a setting means nothing for a benchmark; empty if it does."""
    rules, option = FIELDS[name].metadata, option_of(name)
    role, mode = rules.get("role"), rules.get("only_mode")
    if role is not None and role not in benchmark.roles:
        return f"{benchmark.name} {_NO_ROLE[role]}; leave out {option}"
    if mode is None or benchmark.mode == mode:
        return ""
    if mode in _NO_MODE and mode not in benchmark.modes:
        return f"{option} {_NO_MODE[mode].format(benchmark.name)}"
    return f"{option} works only with --mode {mode}"


know({name: (is_flag(its.type), choices(its.type)) for name, its in FIELDS.items()})
