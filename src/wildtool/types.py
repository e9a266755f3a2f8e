"""The records of the contract: items, requests, replies, verdicts and metrics. `benchmark.py` holds the base classes.

A run is a deterministic function of (data, settings, replies): `Benchmark.play` turns items into requests,
a `Model` answers them, the engine records every reply, and `Benchmark.judge` turns replies into verdicts
without a model, a disk or a clock.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from wildtool.evidence import Evidence

Message = dict[str, Any]
"""One chat message in OpenAI's shape; unknown keys survive, argument texts stay as received."""
Tool = dict[str, Any]
"""One tool definition in OpenAI's shape, sent exactly as the benchmark wrote it."""
FORMAT_CHANGE, REPAIR_CHANGE = "format:", "repair:"
"""How the names of changes begin that tell in which format a model was called, and what was repaired in its reply."""
STREAM_CHANGE = "stream:"
"""How the names of changes begin that tell what was odd about the calls of a streamed reply, and how they were read."""
PROVIDER_CONTENT = "provider_content"
"""Key of an assistant message under which an adapter keeps what its provider wants back unchanged, such as signed
reasoning. A benchmark that shows a model its own reply again carries it along (`wildtool.episode.provider_fields`)."""
HARNESS = "harness"
"""Key of a recorded reply under which a run keeps what a program around its model did. The benchmark never reads it, and
neither do those who take the reply elsewhere (`wildtool.episode.said_alone`)."""
AROUND_IN_TRACE = "around_in_trace"
"""Key of an assistant message under which a run of traces keeps what was around it, such as results; it is no part of
what was said (`wildtool.episode.said_alone`)."""
REASONING_KEYS = ("reasoning_content", "reasoning", "thinking")
"""Keys of assistant messages that hold reasoning as a text apart from the reply's own."""
REASONING_DETAILS = "reasoning_details"
"""Key of reasoning in parts, with what belongs to them, such as signatures and encrypted texts."""
Lang = Literal["en", "zh"]
"""Languages in which wildtool has its own words."""
Outcome = Literal["correct", "wrong", "infra_error", "unplayed"]
Direction = Literal["more", "less", ""]
"""Which way of a number is better; empty where neither is."""
FieldValue = bool | int | float | str | None
"""A cell of a benchmark's own verdict columns."""


@dataclass(frozen=True, slots=True)
class Upstream:
    """One commit of a public repository that a benchmark follows: its published evaluator, or its data."""

    repository: str
    """Owner and name."""
    commit: str
    """40 hexadecimal digits."""
    date: str = ""
    """The day of the commit, such as 2025-10-29; empty if it is not known."""
    path: str = ""
    """The folder that matters in it; empty for all of the repository."""
    version: str = ""
    """Of an evaluator: the version of the data that it was published with, such as 2025-10, where there are several."""

    def __str__(self) -> str:
        return f"{self.short}{f' of {self.date}' if self.date else ''}{f', {self.path}' if self.path else ''}"

    @property
    def short(self) -> str:
        """Repository and commit, as tables name them."""
        return f"{self.repository} {self.commit[:7]}"


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
    """What is run as a whole and is independent of every other item; the cluster for statistics."""

    id: str
    units: tuple[str, ...]
    """Names of its units, in order; each gets one verdict."""
    data: Any
    """The benchmark's own parsed record."""
    split: str = ""
    lang: str = "en"
    roles: tuple[str, ...] = ()
    """Roles that running it needs in addition to `agent`; keys of `Benchmark.roles`."""
    transcripts: Mapping[str, "Transcript"] = field(default_factory=dict[str, "Transcript"])
    """What was recorded of its units, where a unit is shown how earlier ones went (`Variant.settled`); else empty."""


@dataclass(frozen=True, slots=True)
class Role:
    """A role of another model than the one under test."""

    about: str
    """One line: what it does."""
    default: str
    """Name of the model that takes it by default; it must need no endpoint of a model."""
    searches: bool = False
    """True for a retriever: sent a text, it answers with names of `Benchmark.documents` as a JSON list, best first."""
    max_tokens: int | None = None
    """Tokens per reply unless the user sets a limit, so that one without an end holds nothing up; None for no limit."""


@dataclass(frozen=True, slots=True)
class Address:
    """Which step of a run: item, repeat (from 0), unit, step (from 0 within the unit)."""

    item: str
    repeat: int
    unit: str
    step: int


@dataclass(frozen=True, slots=True)
class ResultsInText:
    """Tools' results that a request shows inside a text instead of in separate messages, and a way to change them."""

    results: Sequence[str]
    """The results as they are shown, in order."""
    reads: Callable[[Sequence[Tool], Sequence[str]], Sequence[Message]]
    """Gives the messages with these tools added to the offered ones, and these results in place of the shown ones."""


@dataclass(frozen=True, slots=True)
class TurnsInText:
    """The turns of a conversation that a request shows inside a text, and a way to show fewer."""

    turns: Sequence[Message]
    """All of them as messages, in order."""
    reads: Callable[[Sequence[int]], Sequence[Message]]
    """Gives the messages of the request with only these turns, by their places among all."""


@dataclass(frozen=True, slots=True)
class Request:
    """What one model call sends: messages and tools, neutral of provider."""

    messages: Sequence[Message]
    tools: Sequence[Tool] = ()
    role: str = "agent"
    """Which of the run's models is asked; `agent` is the one under test."""
    gold: Callable[[str], Message] | None = None
    """Gives a right answer to this request in one of `Benchmark.gold_styles`; for baselines, never sent or recorded.
    Where the role is not `agent` the style is `cooperative N`: what a cooperative player of the role says, N being the
    seed of its free choices."""
    in_text: ResultsInText | None = None
    """Where tools and results are parts of a text; never sent or recorded."""
    turns_in_text: TurnsInText | None = None
    """Where the conversation is a part of a text; never sent or recorded."""
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
    """True where it came from the cache: an earlier run had asked the same."""
    batched: bool = False
    """True where it came by a provider's batch API, which has its own price."""
    lost_usage: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Token counts of the attempts before it that the provider did not finish, as it reported them."""
    requests: int = 1
    """Requests that the answer took: more than one where an agent had steps of its own on the way."""


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
    fields: Mapping[str, FieldValue] = field(default_factory=dict[str, Any])
    """The benchmark's own columns (`Benchmark.columns`)."""
    detail: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Anything else worth showing, as JSON: what each step was matched with, argument differences."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One number of a summary; a table is the metrics of one group."""

    group: str
    """Its table, such as `task type`."""
    name: str
    value: float | None
    """Share from 0 to 1 for a rate, mean for a mean; None where the denominator is 0."""
    numerator: float
    denominator: float
    low: float | None = None
    """Lower end of the 95 % interval, clustered by item; None where none is given, as where units have no verdict."""
    high: float | None = None
    kind: Literal["rate", "mean", "count"] = "rate"
    unit: str = ""
    """Unit of a mean, such as `s` or `tokens`."""
    headline: bool = False
    """True where it belongs in a table of models."""
    target: float | None = None
    """Its target, such as the number of a paper; None where there is none."""
    note: str = ""
    """One sentence that a reader must know wherever the number is shown."""
    better: Direction = "more"
    evidence: Evidence | None = None
    """What it rests on; None where its benchmark does not say, which then is what its run rests on."""
    least: float | None = None
    """The smallest that units without a verdict could make a rate; None where it rests on none, or its benchmark does not
    say."""
    most: float | None = None
    """The largest that they could make it; equal to `least` where they are no units of this rate."""


class Ask(Protocol):
    """How `play` reaches a model: recorded, resumable, limited. Raises InfraError after the last retry."""

    async def __call__(self, unit: str, request: Request) -> Reply: ...


class Episode(Protocol):
    """The pure state machine of one unit: given a reply, it says what the model sees next, or that the unit is over."""

    @property
    def done(self) -> bool:
        """Whether the unit is over. Cheap: judging reads it and builds no request."""
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


@runtime_checkable
class ItemModel(Protocol):
    """A model that holds something open for each item, such as a process."""

    async def item_ended(self, item: str, repeat: int) -> None:
        """An item is over in a repeat: nothing more is asked in it."""
        ...


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Names that lay here in 0.1."""
        from wildtool.old_paths import moved_name

        return moved_name(__name__, name)
