"""The whole contract on one screen: what is played, asked, answered, judged and summarized.

A run is a deterministic function of (data, settings, replies): `Benchmark.play` turns items into requests,
a `Model` answers them, the engine records every reply, and `Benchmark.judge` turns replies into verdicts
without talking to a model, a disk or a clock.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

Message = dict[str, Any]
"""One chat message in OpenAI's shape; unknown keys survive, argument texts stay as received."""
Tool = dict[str, Any]
"""One tool definition in OpenAI's shape, sent exactly as the benchmark wrote it."""
FORMAT_CHANGE, REPAIR_CHANGE = "format:", "repair:"
"""How the names of changes begin that tell in which format a model was called, and what was repaired in its reply."""
PROVIDER_CONTENT = "provider_content"
"""Key of an assistant message under which an adapter keeps what its provider wants back unchanged, such as signed
reasoning. A benchmark that shows a model its own reply again carries it along (`wildtool.episode.carried`)."""
Outcome = Literal["correct", "wrong", "infra_error", "unplayed"]


@dataclass(frozen=True, slots=True)
class Source:
    """Where items come from."""

    name: str
    """What the user calls it: `official`, `wild-mini`, or a path."""
    path: Path
    """The file or folder that is read."""
    sha256: str
    """SHA-256 of the file's bytes, lower-case hex (of a folder: of its sorted file digests)."""


@dataclass(frozen=True, slots=True)
class Item:
    """What is played as a whole and is independent of every other item; the cluster for statistics."""

    id: str
    units: tuple[str, ...]
    """Names of its units, in order; each gets one verdict."""
    data: Any
    """The benchmark's own parsed record."""
    split: str = ""
    lang: str = "en"
    roles: tuple[str, ...] = ()
    """Roles that playing it asks besides `agent`; keys of `Benchmark.roles`."""


@dataclass(frozen=True, slots=True)
class Role:
    """A part that a model plays in a benchmark besides the one under test."""

    about: str
    """One line: what it does."""
    default: str
    """Name of the model that plays it where the user names none; it must need no endpoint."""


@dataclass(frozen=True, slots=True)
class Address:
    """Which step of a run: item, repeat (from 0), unit, step (from 0 within the unit)."""

    item: str
    repeat: int
    unit: str
    step: int


@dataclass(frozen=True, slots=True)
class Request:
    """What one model call sends: messages and tools, neutral of provider."""

    messages: Sequence[Message]
    tools: Sequence[Tool] = ()
    role: str = "agent"
    """Which of the run's models is asked; `agent` is the one under test."""
    gold: Callable[[str], Message] | None = None
    """Gives a right answer to this request in one of `Benchmark.gold_styles`; for baselines, never sent or recorded.
    Where the role is not `agent` the style is `cooperative N`: what a willing player of the role says, N being the
    seed of whatever it leaves open."""
    address: Address | None = None
    """Set by the engine before a model sees the request."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered at one step."""

    message: Message
    """The assistant message as received: `content`, `tool_calls`, `reasoning_content`, and whatever else came."""
    raw: str = ""
    """The response body as text; empty where there was none (baselines)."""
    finish_reason: str | None = None
    usage: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Token counts as the provider reported them (`prompt_tokens`, `completion_tokens`, …)."""
    latency_s: float = 0.0
    """Seconds from sending the request of the last attempt to having read its whole body."""
    attempts: int = 1
    """Calls made until this reply came, the last one included."""
    changes: tuple[str, ...] = ()
    """Changes that the adapter was forced to make to the request, each by name."""
    cached: bool = False
    """True where it was given to an earlier run, and this one took it from the cache instead of asking."""
    batched: bool = False
    """True where it came by a provider's batch API, which has its own price."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """The replies recorded for one unit, in step order."""

    replies: tuple[Reply, ...]
    infra_error: str | None = None
    """Why the step after the last reply failed, if it did."""
    scripted: bool = False
    """True where a scripted model answers nothing past the end (a replies file); False where a record just stops."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgement of one unit under one profile."""

    item: str
    unit: str
    outcome: Outcome
    score: float
    """0 to 1; 1 for a correct unit."""
    error: str | None
    """Error class, named by the benchmark's profile; None for a correct unit."""
    reason: str
    """The rule that decided, in words."""
    steps: int
    """Replies the judge read."""
    fields: Mapping[str, bool | int | float | str | None] = field(default_factory=dict[str, Any])
    """The benchmark's own columns (`Benchmark.columns`)."""
    detail: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Anything else worth showing, as JSON: what each step was matched with, argument differences."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One number of a summary; a table is the metrics of one group."""

    group: str
    """The table it stands in, such as `task type`."""
    name: str
    value: float | None
    """Share from 0 to 1 for a rate, mean for a mean; None where the denominator is 0."""
    numerator: float
    denominator: float
    low: float | None = None
    """Lower end of the 95 % interval, clustered by item; None where none is given."""
    high: float | None = None
    kind: Literal["rate", "mean", "count"] = "rate"
    unit: str = ""
    """Unit of a mean, such as `s` or `tokens`."""
    headline: bool = False
    """True where it belongs in a table of models."""
    target: float | None = None
    """What it is meant to be, such as the number of a paper; None where nothing says so."""
    note: str = ""
    """One sentence that a reader must know wherever the number is shown."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One remark of a data check."""

    where: str
    """File, line, id and field."""
    rule: str
    """Short name of the rule that was broken."""
    message: str
    """What was found, what was expected, what to do."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A gold run of one unit with one mistake put in, which a sound profile must fail."""

    unit: str
    kind: str
    """The kind of mistake, such as `wrong value`."""
    replies: tuple[Message, ...]
    note: str
    """What was changed."""


@dataclass(frozen=True, slots=True)
class Published:
    """What one table of a paper says of one model, in the benchmark's own metrics."""

    model: str
    kind: str
    """The paper's grouping of models, such as `closed source`."""
    source: str
    """Where the numbers stand: paper, table."""
    profile: str
    """The profile whose numbers they may stand beside."""
    values: Mapping[tuple[str, str], float]
    """(group, name) of a `Metric` to its value: a share from 0 to 1, or a mean in the metric's unit."""
    data: str = "official"
    """Name of the data they were measured on, as `Benchmark.locate` takes it."""
    notes: Mapping[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    """(group, name) of a `Metric` to what a reader must know wherever it is shown."""


@dataclass(frozen=True, slots=True)
class GoldCall:
    """One node of a unit's gold answer, for showing."""

    name: str
    arguments: Any
    """As JSON; a text for a gold answer that is no call."""
    deps: tuple[int, ...] = ()
    """Numbers of the gold calls that must come before it."""
    status: Literal["done", "missed", "wrong"] = "missed"
    """Done by some step, never reached, or tried by the step that decided and found wrong."""


@dataclass(frozen=True, slots=True)
class GoldDifference:
    """Where an argument or another value differs from gold."""

    where: str
    """Path, such as `book_flight.date` or `Finance.balance`."""
    expected: Any
    found: Any
    rule: str
    """The rule that decided, in words."""


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One step of a unit as it happened."""

    role: str
    """Who answered."""
    seen: Sequence[Message]
    """Messages that it saw and that no earlier step of the unit showed to the same role; its own replies are not
    among them."""
    reply: Message
    fulfilled: tuple[int, ...] = ()
    """Gold calls that it fulfilled."""
    note: str = ""
    """What the rules made of it; empty where there is nothing to say."""


@dataclass(frozen=True, slots=True)
class Trace:
    """A unit step by step beside its gold answer: what a reader looks at to believe a verdict."""

    unit: str
    tools: Sequence[Tool]
    steps: tuple[TraceStep, ...]
    gold: tuple[GoldCall, ...]
    differences: tuple[GoldDifference, ...] = ()


@dataclass(frozen=True, slots=True)
class View:
    """A page of a report: numbers that belong together and how they are drawn. Numbers come from `summarize`."""

    slug: str
    """Its file name: lower-case letters, digits and `-`."""
    title: str
    about: str
    """A paragraph for the reader: what is shown, and how to read it."""
    groups: tuple[str, ...]
    """Groups of metrics, in order."""
    chart: Literal["bars", "lines", "stacked"] = "bars"
    """`lines` where names of metrics are points along an axis, `stacked` where they are shares of one whole."""
    axis: str = ""
    """What the names of the metrics are, such as `instruction transitions`."""
    note: str = ""
    """What must be known wherever its numbers stand, such as why a perfect run has another value than 100 %."""


class Ask(Protocol):
    """How `play` reaches a model: recorded, resumable, limited. Raises InfraError after the last retry."""

    async def __call__(self, unit: str, request: Request) -> Reply: ...


class Episode(Protocol):
    """The pure state machine of one unit: told a reply, it says what the model sees next, or that the unit is over."""

    @property
    def done(self) -> bool:
        """Whether the unit is over. Cheap: judging asks it where nobody needs the request."""
        ...

    def request(self) -> Request | None:
        """What the model sees next; None once the unit is over."""
        ...

    def advance(self, reply: Message) -> None:
        """Takes the model's answer to the last request. Never raises, whatever the reply."""
        ...


class Model(Protocol):
    """Something that answers requests: one call, no retry, no parsing."""

    name: str

    async def complete(self, request: Request) -> Reply:
        """Answers one request. Raises `wildtool.errors.CallError` when the call failed."""
        ...

    async def close(self) -> None: ...

    def settings(self) -> Mapping[str, Any]:
        """What a reader needs to repeat its answers (endpoint, sampling); never a key."""
        ...


class Benchmark(Protocol):
    """A data format, a way to play it, a way to judge it, a summary table."""

    name: str
    title: str
    profiles: Mapping[str, str]
    """Name of each profile with one line about it; the first is the default."""
    modes: Mapping[str, str]
    """Ways to put it to a model (prompt texts, native tool calls) with one line about each; the first is the default."""
    mode: str
    """The way this object plays and judges."""
    roles: Mapping[str, Role]
    """What else models play in it, besides the role `agent`; empty for most."""
    gold_styles: Sequence[str]
    """Ways in which gold answers can be given: `parallel` (all ready calls at once), `serial` (one a step)."""
    card: Path
    """The page that says what it measures, where its data come from, and how it differs from the original."""

    @property
    def columns(self) -> Mapping[str, str]:
        """Its own verdict columns with their DuckDB types."""
        ...

    def in_mode(self, mode: str) -> "Benchmark":
        """This benchmark in one of `modes`; whoever takes the name from a user checks it (`registry.in_mode`)."""
        ...

    def locate(self, data: str | None, split: str | None = None) -> Source:
        """Finds the data the user named (None: the default for the split). Raises DataError saying how to get them."""
        ...

    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        """Reads items; `lang` None takes its default. Raises DataError naming file, line, id and field."""
        ...

    async def play(self, item: Item, ask: Ask, profile: str, *, in_order: bool = False) -> None:
        """Plays all units of an item; `in_order` asks for one unit after another."""
        ...

    def judge(self, item: Item, transcripts: Mapping[str, Transcript], profile: str) -> list[Verdict]:
        """One verdict for each unit of the item, in order; pure. A unit without transcript is unplayed."""
        ...

    def summarize(self, verdicts: Any, profile: str) -> list[Metric]:
        """The benchmark's numbers from a DuckDB relation over verdict rows of one run and one profile."""
        ...

    def episode(self, item: Item, unit: str, profile: str) -> Episode:
        """The state machine of one unit."""
        ...

    def mutants(self, item: Item, profile: str) -> Iterable[Mutant]:
        """Gold runs with one mistake each, for the audit of a profile."""
        ...

    def explain(self, item: Item, mutant: Mutant, profile: str) -> str:
        """Why `profile` lets this mutant pass, by the card's numbering of known faults; empty if unknown."""
        ...

    def explain_gold(self, item: Item, unit: str, profile: str) -> str:
        """Why `profile` refuses the gold answer of this unit, by the same numbering; empty if unknown."""
        ...

    def trace(self, item: Item, unit: str, transcript: Transcript, profile: str) -> Trace:
        """What happened in one unit, step by step, for showing; pure, never raises, whatever the replies."""
        ...

    def views(self, profile: str) -> Sequence[View]:
        """The pages that a report has for its numbers besides the overview."""
        ...

    def published(self) -> Sequence[Published]:
        """What the papers say of models, for the tables that users' runs stand in."""
        ...

    def pull(self, *, file: Path | None, mirror: str | None, report: Callable[[str], None]) -> Path:
        """Brings the official data into the cache, verified; `file` copies from a file or folder on disk instead."""
        ...

    def lint(self, source: Source) -> Iterable[Finding]:
        """Checks data in its format."""
        ...

    def stats(self, source: Source) -> list[Metric]:
        """Describes data in its format."""
        ...

    def read_results(self, path: Path) -> Iterator[tuple[str, str, dict[str, Transcript]]] | None:
        """Reads the original tool's own result file as (model, item, transcripts); None if it is not one."""
        ...


@runtime_checkable
class OriginalPrompts(Protocol):
    """What a benchmark also has where its original's prompts can be sent word for word instead of our own wording."""

    @property
    def prompts(self) -> str:
        """Digest of the original's texts that it sends; empty where it sends our own wording."""
        ...

    @property
    def prompts_note(self) -> str:
        """What a reader of numbers with the original's prompts should know of them; empty for nothing."""
        ...

    @property
    def original_sampling(self) -> Mapping[str, Any]:
        """What the original asks models with: `temperature`, `max_tokens`, `attempts`; else a field of requests."""
        ...

    def in_original_prompts(self, split: str | None) -> Benchmark | None:
        """This benchmark with the original's prompts; None where they were not pulled, or its mode or split has none.

        Raises DataError where what was pulled is damaged.
        """
        ...
