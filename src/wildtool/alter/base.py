"""The contract of an alteration, and how alterations lie between an episode and a model.

A plan names its alterations, the one next to the benchmark first. Each request to the model under test goes through all
of them on its way out, and the reply through all of them on its way back, so that a record holds what the model was sent
and said, and the benchmark reads its own names, its own steps and its own messages.
"""

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from wildtool.benchmark import Benchmark, Rules
from wildtool.episode import COOPERATIVE, MAX_GOLD_REPLIES, UnitAsk
from wildtool.errors import InfraError
from wildtool.stats.metrics import Rate, rate_metrics
from wildtool.trace import Trace
from wildtool.types import (
    Ask,
    Episode,
    FieldValue,
    Item,
    Message,
    Metric,
    Reply,
    Request,
    Role,
    Tool,
    Verdict,
)

UNDER_TEST = "agent"
"""The role of the model under test, the only one whose requests are altered."""
Exchange = Generator[Request, Message, Message]
"""Yields what a model is sent in place of one request of the benchmark, takes each reply, and returns the reply that the
benchmark reads. Mostly it yields once; once more for each step that the benchmark knows nothing of; and not at all where
the reply follows from what was said before, such as the next call of a script."""


class AlteredUnit(ABC):
    """An alteration in one unit, from its first request to its last."""

    number: int = -1
    """Number of the benchmark's request to the model under test that is open, from 0."""

    def begin_request(self) -> None:
        """The benchmark asks. `exchange` then plays it, several times where an alteration nearer to the benchmark asks
        again."""
        self.number += 1

    @abstractmethod
    def exchange(self, request: Request) -> Exchange:
        """Plays one request of the benchmark to the model under test. Must take replies of any shape."""

    def afterwards(self) -> Generator[Request, Message, None]:
        """Plays what is asked after the benchmark's part of the unit, since later units show it; mostly nothing."""
        yield from ()

    def fields(self, *, ended: bool) -> Mapping[str, FieldValue]:
        """The unit's cells of `Alteration.columns`, after its replies.

        Args:
            ended: whether the episode ended with them; a failed call or a refusal ends none.
        """
        return {}

    def traced(self, trace: Trace) -> Trace:
        """A trace of the unit in the benchmark's names, with what readers should see as the model saw it."""
        return trace


@dataclass(frozen=True, slots=True)
class RunRemark:
    """One thing that an alteration did to a run which a reader must know."""

    sign: str
    """What it is about, the same for every run."""
    count: int
    of: int
    text: str


class Alteration(ABC):
    """One thing that the model under test is shown in another way than the benchmark has it, or is asked beside it."""

    kind: ClassVar[str]
    """What tables and JSON call it."""
    caveat: ClassVar[str]
    """What a comparison says of runs that differ in it, before their labels."""
    cuts_note: ClassVar[str] = ""
    """How to read the comparison of `cuts`."""
    without: ClassVar[str] = "none"
    """What a comparison says of runs that lack it."""
    in_order: ClassVar[bool] = False
    """Whether a unit follows from what happened in earlier ones of its item, which are then run one after another."""
    changes_requests: ClassVar[bool] = True
    """Whether the model under test is asked something else than in a run without it."""
    is_the_question: ClassVar[bool] = False
    """Whether runs are compared for its effect: with equal other alterations, by what units took, and by its own facts.
    The run without it is named where it is missing."""
    keeps_tools: ClassVar[bool] = True
    """Whether the model under test is offered the benchmark's tools and calls them itself, so that those that it called
    compare with those of another run."""
    added_seconds: ClassVar[str] = ""
    """The column of the seconds that it takes beside those of the model; empty for none."""

    @property
    def options(self) -> Sequence[str]:
        """The options of a command that make it."""
        return ()

    @property
    def knows_steps(self) -> bool:
        """Whether it is known which calls the model made in one reply."""
        return True

    @property
    def columns(self) -> Mapping[str, str]:
        """Verdict columns that it adds, with their DuckDB types."""
        return {}

    @property
    def roles(self) -> Mapping[str, str]:
        """Roles beside the benchmark's that it asks, each with the name of the model of embeddings that takes it."""
        return {}

    @property
    def played_roles(self) -> Mapping[str, Role]:
        """Roles that other models play for it, by name."""
        return {}

    @property
    @abstractmethod
    def label(self) -> str:
        """What tables say of it."""

    @property
    def described(self) -> str:
        """Its kind and label, in words."""
        return f"{self.kind} {self.label}"

    @property
    @abstractmethod
    def folder_parts(self) -> Sequence[str]:
        """What the name of a run's folder says of it."""

    @abstractmethod
    def identity(self) -> Mapping[str, Any]:
        """What it adds to the identity in `run.json`: all that `recorded` needs, and nothing for what changes nothing."""

    @classmethod
    @abstractmethod
    def recorded(cls, identity: Mapping[str, Any]) -> Self:
        """The alteration of a run, from its identity. Raises RecordError where that is damaged."""

    @abstractmethod
    def unit(self, item: Item, unit: str) -> AlteredUnit:
        """The alteration in one unit, at its beginning; equal for equal units, in every run."""

    def prepared(self, benchmark: Benchmark, items: Iterable[Item], profile: str) -> Self:
        """The alteration with what it takes from the data, before a run; by default it takes nothing.

        Args:
            items: all of the run's split and language, whichever the run selects; read when they are asked for.
        """
        return self

    def unit_after(
        self, item: Item, unit: str, rules: Rules, earlier: Mapping[str, AlteredUnit]
    ) -> AlteredUnit:
        """The alteration in one unit, at its beginning, after earlier ones.

        Args:
            rules: those that the run is played under.
            earlier: this alteration in the units before it, as they ended; empty unless some alteration of the run is
                `in_order`.
        """
        return self.unit(item, unit)

    def check(self, benchmark: Benchmark, items: Iterable[Item], profile: str) -> str:
        """What a user should know before a run of these items; empty for nothing. Raises UsageError where it can have no
        effect on any of them."""
        return ""

    def rates(self, verdicts: Any) -> Sequence[Rate]:
        """Those of its numbers that are rates of verdict rows. Args: verdicts: a DuckDB relation of them."""
        return ()

    def metrics(self, verdicts: Any) -> Sequence[Metric]:
        """Its own numbers of a run, from a DuckDB relation of the verdict rows."""
        rates = self.rates(verdicts)
        return rate_metrics(verdicts, rates) if rates else ()

    def remarks(self, verdicts: Any) -> Sequence[RunRemark]:
        """What a reader must know before relying on the numbers of a run, from a DuckDB relation of the verdict rows."""
        return ()

    def tally(self, verdict: Verdict) -> Mapping[str, int]:
        """What a line about a run that goes on says of a unit: names with numbers, which are added up."""
        return {}

    def facts(self, verdicts: Any) -> Sequence[tuple[str, str]]:
        """What it did in a run, apart from the model: names with words, from a DuckDB relation of the verdict rows."""
        return ()

    def cuts(self, verdicts: Any) -> Mapping[str, Any]:
        """Rows to compare apart with the same units of a run without it, as relations by name, from a DuckDB relation of
        the verdict rows; `cuts_note` says how to read them."""
        return {}


def mode_of(benchmark: Benchmark) -> str:
    """The mode of a benchmark, and those to choose from."""
    choice = f"; its modes are {', '.join(benchmark.modes)}" if len(benchmark.modes) > 1 else ""
    return benchmark.mode + choice


def first_asked(rules: Rules, item: Item, unit: str) -> Request | None:
    """The first request of a unit to the model under test; None where another role never lets it come to one."""
    episode = rules.episode(item, unit)
    for _ in range(MAX_GOLD_REPLIES):
        request = episode.request()
        if request is None or request.role == UNDER_TEST:
            return request
        if request.gold is None:
            return None
        episode.advance(request.gold(COOPERATIVE))
    return None


def tools_of_item(rules: Rules, item: Item) -> Sequence[Tool]:
    """The native tools of the first unit of an item whose first request to the model under test has any; empty where
    none has."""
    requests = (first_asked(rules, item, unit) for unit in item.units)
    return next((request.tools for request in requests if request is not None and request.tools), ())


def benchmark_exchange(units: Sequence[AlteredUnit], request: Request) -> Exchange:
    """One request of the benchmark through all alterations of a unit, the one next to the benchmark first."""
    if request.role == UNDER_TEST:
        for unit in units:
            unit.begin_request()
    return exchange_through(units, request)


def exchange_through(units: Sequence[AlteredUnit], request: Request) -> Exchange:
    """One request through several alterations, the one nearest to the benchmark first."""
    if not units or request.role != UNDER_TEST:
        return (yield request)
    first, *outer = units
    own = first.exchange(request)
    try:
        outgoing = next(own)
        while True:
            reply = yield from exchange_through(outer, outgoing)
            outgoing = own.send(reply)
    except StopIteration as end:
        return end.value


def requests_after(units: Sequence[AlteredUnit]) -> Exchange:
    """What alterations ask at the end of a unit, each through those after it."""
    for number, unit in enumerate(units):
        own = unit.afterwards()
        outgoing = next(own, None)
        while outgoing is not None:
            reply = yield from exchange_through(units[number + 1 :], outgoing)
            try:
                outgoing = own.send(reply)
            except StopIteration:
                outgoing = None
    return {}


def altered_unit(
    alterations: Sequence[Alteration],
    item: Item,
    unit: str,
    rules: Rules,
    earlier: Mapping[str, Sequence[AlteredUnit]],
) -> list[AlteredUnit]:
    """Each alteration in one unit, at its beginning.

    Args:
        earlier: the same for the units before it, as they ended.
    """
    in_order = runs_in_order(alterations)
    return [
        each.unit_after(
            item,
            unit,
            rules,
            {name: units[number] for name, units in earlier.items()} if in_order else {},
        )
        for number, each in enumerate(alterations)
    ]


class AlteredEpisode:
    """A benchmark's episode as the model sees it."""

    def __init__(self, inner: Episode, units: Sequence[AlteredUnit]) -> None:
        self._inner = inner
        self._units = units
        self._exchange: Exchange | None = None
        """Of the request that is open."""
        self._shown: Request | None = None
        self._afterwards: Exchange | None = None
        """What is asked once the episode is done; None before."""

    @property
    def done(self) -> bool:
        return self._inner.done

    @property
    def shown_role(self) -> str:
        """The role that the next reply is of, as far as that is known; empty before `begin`, and once all is asked."""
        return "" if self._shown is None else self._shown.role

    def request(self) -> Request | None:
        """What the model sees next."""
        self.begin()
        return self._shown

    def advance(self, reply: Message) -> None:
        """Takes the model's answer to the last request."""
        self.read(reply)

    def begin(self) -> list[Message]:
        """Goes on to what is asked next. Gives the replies that the benchmark reads meanwhile, since they follow from
        earlier ones; mostly none."""
        replies: list[Message] = []
        while self._exchange is None and (own := self._inner.request()) is not None:
            exchange = benchmark_exchange(self._units, own)
            try:
                self._shown = next(exchange)
                self._exchange = exchange
            except StopIteration as end:
                self._inner.advance(end.value)
                replies.append(end.value)
        return replies

    def read(self, reply: Message) -> list[Message]:
        """Takes a reply, and gives what the benchmark reads for it: mostly the one reply; none for a step that it knows
        nothing of; several where more follow without another reply of a model."""
        own = self.begin()  # where a record is judged nobody has asked for it
        if self._exchange is None:
            return [*own, *self._read_afterwards(reply)]
        try:
            self._shown = self._exchange.send(reply)
        except StopIteration as end:
            self._exchange = self._shown = None
            self._inner.advance(end.value)
            return [*own, end.value, *self.begin()]
        return own

    def _read_afterwards(self, reply: Message) -> list[Message]:
        """The same once the episode is done; what nothing asked for is given back."""
        if self._afterwards is None:
            self._afterwards = requests_after(self._units)
            self._shown = next(self._afterwards, None)
        if self._shown is None:
            return [reply]
        try:
            self._shown = self._afterwards.send(reply)
        except StopIteration:
            self._shown = None
        return []


class AlteredAsk:
    """Asks models what a benchmark asks, with alterations in between."""

    def __init__(self, ask: Ask, item: Item, rules: Rules, alterations: Sequence[Alteration]) -> None:
        self._ask, self._item, self._rules, self._alterations = ask, item, rules, alterations
        self._in_order = runs_in_order(alterations)
        self._units: dict[str, list[AlteredUnit]] = {}
        self._failure: InfraError | None = None
        """Why a unit has not ended that later ones follow from."""

    async def __call__(self, unit: str, request: Request) -> Reply:
        if self._failure is not None:
            raise self._failure
        try:
            if unit not in self._units:
                if self._in_order and self._units:
                    last = next(reversed(self._units))
                    await self._play(last, requests_after(self._units[last]))
                self._units[unit] = altered_unit(
                    self._alterations, self._item, unit, self._rules, self._units
                )
            return await self._play(unit, benchmark_exchange(self._units[unit], request))
        except InfraError as error:
            self._failure = error if self._in_order else None
            raise

    def unit_ended(self, unit: str) -> None:
        """The benchmark asks nothing more for a unit."""
        if isinstance(self._ask, UnitAsk):
            self._ask.unit_ended(unit)

    async def _play(self, unit: str, exchange: Exchange) -> Reply:
        """The last reply, with the message that the exchange ends with; the message alone where it asks nothing."""
        reply = Reply({})
        try:
            outgoing = next(exchange)
            while True:
                reply = await self._ask(unit, outgoing)
                outgoing = exchange.send(reply.message)
        except StopIteration as end:
            return replace(reply, message=end.value)


def runs_in_order(alterations: Iterable[Alteration]) -> bool:
    """Whether units of an item are run one after another."""
    return any(each.in_order for each in alterations)
