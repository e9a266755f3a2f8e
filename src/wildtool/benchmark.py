"""The base classes of a benchmark. `Benchmark` asks for loading, episodes and verdicts, and gives everything else.

A benchmark whose items are answered by one reply each subclasses `SingleTurn`: `load`, `request` and `check` are enough.
`docs/adding-a-benchmark.md` shows a whole one in a single file.
"""

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Protocol, Self, cast, runtime_checkable

from wildtool.episode import (
    SingleReply,
    gold_replies,
    incomplete_outcome,
    play_episodes,
    replay,
    until_decided,
)
from wildtool.findings import Finding as Finding
from wildtool.reply_ends import error_class
from wildtool.trace import SaidCall, Trace, plain_trace, said_calls
from wildtool.types import (
    Ask,
    Direction,
    Episode,
    FieldValue,
    Item,
    Message,
    Metric,
    Outcome,
    Request,
    Role,
    Source,
    Transcript,
    Upstream,
    Verdict,
)

if TYPE_CHECKING:
    from wildtool.data.data_set import DataSet
    from wildtool.stats.tables import Table

COMPLETION = "completion"
"""The mode, in every benchmark that has it, in which the one message of a request is a raw text to be continued."""
NATIVE = "fc"
"""The mode, in every benchmark that has it beside others, in which tools and calls are sent natively."""
RETRIEVAL = "retrieval"
"""The mode, in every benchmark that has it, in which a retriever chooses the tools that a model is shown."""
JUDGED = "judged"
"""The mode, in every benchmark that has it, in which a judge model decides on texts that no rule can."""
JUDGE = "judge"
"""The role of that model."""
VERDICT_COLUMNS: Mapping[str, str] = {
    "run": "VARCHAR",
    "model": "VARCHAR",
    "benchmark": "VARCHAR",
    "split": "VARCHAR",
    "lang": "VARCHAR",
    "item": "VARCHAR",
    "repeat": "INTEGER",
    "unit": "VARCHAR",
    "profile": "VARCHAR",
    "outcome": "VARCHAR",
    "correct": "BOOLEAN",
    "score": "DOUBLE",
    "error": "VARCHAR",
    "reason": "VARCHAR",
    "steps": "INTEGER",
    "prompt_tokens": "BIGINT",
    "completion_tokens": "BIGINT",
    "latency_s": "DOUBLE",
    "attempts": "BIGINT",
    "calls": "BIGINT",
    "mended_replies": "BIGINT",
    "changes": "VARCHAR",
    "cut_off": "BIGINT",
    "unread_calls": "BIGINT",
    "signs": "VARCHAR",
}
"""Columns of every benchmark with their DuckDB types; a benchmark's own follow, then `detail` (JSON as
text)."""
COMMON_COLUMNS = frozenset({"split", "lang", "error", "steps"})
"""Columns that every verdict has, so that `Benchmark.groups` can name them without declaring them."""


@dataclass(frozen=True, slots=True)
class Check:
    """What the rules decide about one episode."""

    correct: bool
    error: str | None = None
    """Error class of a wrong one, named by the benchmark."""
    reason: str = ""
    """The rule that decided, in words."""
    score: float | None = None
    """0 to 1; None for 1 where it is correct and 0 where it is not."""
    fields: Mapping[str, FieldValue] = field(default_factory=dict[str, FieldValue])
    """The benchmark's own columns (`Benchmark.columns`)."""
    detail: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Anything else worth showing, as JSON."""
    steps: int | None = None
    """Replies of the model that the judge read; None for all that were recorded."""


STEP_COMPONENTS: Mapping[str, str] = {
    "format": "calls can be read; an empty reply is none",
    "refusal": "words where the user needs an answer or a question, calls where something is to be done",
    "name": "the tools called are those that the task needs",
    "order": "a call comes after the calls and questions that it depends on",
    "redundancy": "no call is made once more than needed",
    "arguments": "the arguments of all calls are right",
}
"""What rules may say of one reply, by the name of the component."""


@dataclass(frozen=True, slots=True)
class StepCheck:
    """What the rules make of one reply, before it is known how its episode ends."""

    components: Mapping[str, float] = field(default_factory=dict[str, float])
    """Names of `STEP_COMPONENTS` to 1 where the reply has this right and 0 where it has not. What the reply did not put
    to the test is absent, so that a model earns nothing by what it does not do."""
    fault: str | None = None
    """Why the unit can no longer be right; None while it can."""
    progress: float | None = None
    """Share of the gold calls that the episode has made before its first fault; None of a unit without any."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """The gold replies of one unit with one mistake in them; a sound profile judges them wrong."""

    unit: str
    kind: str
    """The kind of mistake, such as `wrong value`."""
    replies: tuple[Message, ...]
    note: str
    """What was changed."""


@dataclass(frozen=True, slots=True)
class Published:
    """The results of one model in one table of a paper, in the benchmark's own metrics."""

    model: str
    kind: str
    """The paper's grouping of models, such as `closed source`."""
    source: str
    """Where the numbers are printed: paper, table."""
    profile: str
    """The profile whose numbers they can be compared with."""
    values: Mapping[tuple[str, str], float]
    """(group, name) of a `Metric` to its value: a share from 0 to 1, or a mean in the metric's unit."""
    data: str = "official"
    """Name of the data they were measured on, as `Benchmark.locate` takes it."""
    notes: Mapping[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    """(group, name) of a `Metric` to a remark that is always shown with it."""
    better: Mapping[tuple[str, str], Direction] = field(default_factory=dict[tuple[str, str], Direction])
    """(group, name) of a `Metric` to which way of it is better; `more` for those that are not named."""


def part(place: str) -> Any:
    """An attribute of a benchmark that lies in another module, which is imported when a benchmark is asked for it first:
    to list benchmarks and to show help needs no rules.

    Args:
        place: module and name, as entry points are written. A function becomes a method.
    """
    return _Part(place)


class _Part:
    def __init__(self, place: str) -> None:
        self._place = place

    def __set_name__(self, owner: type, name: str) -> None:
        self._owner, self._name = owner, name

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        value = resolve_name(self._place)
        if isinstance(value, partial):
            value = staticmethod(cast(Any, value))  # it gets no instance, from Python 3.14 on too
        setattr(self._owner, self._name, value)
        return getattr(instance, self._name)


class SessionRecord(ABC):
    """An item whose units go on where the one before ended, as its data have it: for alterations that let a unit follow
    from a model's own earlier ones instead (`alter.history`)."""

    @abstractmethod
    def history(self, unit: str) -> Mapping[str, slice]:
        """Earlier units that the requests of a unit show with their gold answers: where among the messages, in order."""

    @abstractmethod
    def own_run(self, unit: str, replies: Iterable[Message]) -> list[Message]:
        """A unit as later ones show it, with these replies instead of the gold ones: the same messages for gold replies.
        The last reply that the rules read may have calls without results. Reasoning with calls is left in."""

    @abstractmethod
    def result(self, unit: str, name: str, arguments: Any) -> str | None:
        """What a call got in this unit or an earlier one, as the content of a message; None where that is not recorded.

        Args:
            arguments: as received: a text, or whatever a model put there.
        """

    @abstractmethod
    def results(self, unit: str, name: str) -> Iterable[Any]:
        """Results of a tool in this unit and earlier ones, as JSON, the nearest first."""

    @abstractmethod
    def missing(self, unit: str, history: Sequence[Message]) -> list[str]:
        """Arguments that a unit's gold calls take from results of earlier units, and that these messages do not hold.

        Args:
            history: what is shown of the earlier units.
        """


class Rules(ABC):
    """What differs between the profiles and modes of a benchmark, as one object; `Benchmark.rules` chooses it once."""

    @abstractmethod
    def episode(self, item: Item, unit: str) -> Episode:
        """The state machine of one unit, at its beginning."""

    @abstractmethod
    def verdict(self, episode: Any, item: Item, unit: str) -> Check:
        """What the rules decide about an episode that has ended; pure.

        Args:
            episode: what `episode` gave, after the recorded replies.
        """

    def answers_calls(self, item: Item, unit: str) -> bool:
        """Whether a call in this unit gets its result and the model goes on after it, for alterations in which a script
        uses results; by default wherever an episode takes more than one reply."""
        return not isinstance(self.episode(item, unit), SingleReply)

    def recorded_episode(self, item: Item, unit: str, transcript: Transcript | None) -> Episode:
        """The state machine for replaying a record, before its first reply; by default the one of `episode`."""
        return self.episode(item, unit)

    def replayed(self, item: Item, unit: str, transcript: Transcript | None, decided: Transcript) -> Episode:
        """The episode of a unit after its record, for judging. Rules that walk alike may share it, so nobody plays it on.

        Args:
            decided: the transcript up to the reply whose end decided the unit, if one did.
        """
        episode = self.recorded_episode(item, unit, transcript)
        replay(episode, decided)
        return episode

    def leading(self, item: Item) -> Sequence[str]:
        """Units that are run before the others of their item, in order, as these depend on them; mostly none."""
        return ()

    def after(self, item: Item, episodes: Mapping[str, Any]) -> Item | None:
        """The item as the other units see it, once its leading units were run; None if they got not far enough.

        Args:
            episodes: of the leading units.
        """
        return item

    def unfinished(self, episode: Any, item: Item, unit: str) -> Check:
        """Columns, detail and steps of a unit whose record ends before its episode does; nothing else is read."""
        return Check(False)

    def step(self, episode: Any, item: Item, unit: str) -> StepCheck:
        """What the last reply that an episode took is worth, for training; by default only its end is judged. Pure; never
        raises, even on a malformed reply.

        Args:
            episode: what `episode` gave, after one reply of the model under test or more.
        """
        return StepCheck()

    def mutants(self, item: Item) -> Iterable[Mutant]:
        """Gold replies with one mistake each, for the audit; units whose gold replies the rules refuse are left out."""
        from wildtool.toolcall.call_mutants import reply_mutants  # running and judging need none

        for unit in item.units:
            request = self.episode(item, unit).request()
            gold = gold_replies(self.episode(item, unit))
            if request is None or gold is None or not accepts(self, item, unit, gold):
                continue
            for kind, replies, note in reply_mutants(gold, request.tools):
                yield Mutant(unit, kind, replies, note)

    def explain(self, item: Item, mutant: Mutant) -> str:
        """Why these rules let a mutant pass, by the card's numbering of known faults; empty if unknown."""
        return ""

    def explain_gold(self, item: Item, unit: str) -> str:
        """Why these rules refuse the gold answer of a unit, by the same numbering; empty if unknown."""
        return ""

    def facts(self, episode: Any, item: Item, unit: str) -> Mapping[str, Any]:
        """What holds at this point of an episode that the model cannot see but from what happened, such as the current
        folder: name to JSON value. For hints made from gold answers (`alter.hints.gold_hints`); by default nothing."""
        return {}

    def said(self, reply: Message) -> Iterable[SaidCall]:
        """For traces, the calls that a reply makes: here its native ones, or else its text. Never raises."""
        return said_calls(reply)

    def trace(self, item: Item, unit: str, transcript: Transcript) -> Trace:
        """What happened in one unit, step by step, to show to a reader. Pure; never raises, even on malformed replies."""
        episode = self.recorded_episode(item, unit, transcript)
        request, gold = episode.request(), gold_replies(self.episode(item, unit))

        def decide() -> tuple[bool, str]:
            check = self.verdict(episode, item, unit)
            return check.correct, check.reason

        tools = request.tools if request else ()
        return plain_trace(unit, episode, transcript, tools, gold or (), decide, self.said)


class Profile(str):
    """The line about a profile that gives the verdicts of a published evaluator, with that evaluator. Where its authors
    changed it, each version is a profile: `official` the newest, `official-VERSION` an older one."""

    follows: Upstream

    def __new__(cls, line: str, follows: Upstream) -> Self:
        profile = super().__new__(cls, line)
        profile.follows = follows
        return profile


def evaluators_of(benchmark: "Benchmark") -> dict[str, Upstream]:
    """By profile the published evaluator whose verdicts it gives; no entry for rules of our own."""
    return {name: line.follows for name, line in benchmark.profiles.items() if isinstance(line, Profile)}


def follows_published(benchmark: "Benchmark", profile: str) -> bool:
    """Whether a profile computes what a published evaluator computes. These read text and calls alone: what a model
    declines beside them (`refusal`) does not decide there."""
    return isinstance(benchmark.profiles.get(profile), Profile)


def versions_of(benchmark: "Benchmark") -> tuple[str, ...]:
    """Versions of a benchmark's data, each with its own evaluator, the newest first; empty where there is only one."""
    versions = {its.version for its in evaluators_of(benchmark).values()} - {""}
    return tuple(sorted(versions, reverse=True))


class Benchmark(ABC):
    """A data format, a way to run it, a way to judge it and a summary; only `load` and `rules` must be written."""

    name: str
    """What users call it: lower-case letters, digits, `-`; the name of its entry point, if it has one."""
    title: str
    """One line: what it measures and how large it is."""
    profiles: Mapping[str, str] = {"official": "the rules of its authors"}
    """Name of each profile with one line about it (a `Profile` where it follows a published evaluator); the first is the
    default."""
    modes: Mapping[str, str] = {"chat": "messages and native tool calls"}
    """Ways to put it to a model with one line about each; the first is the default."""
    mode: str = "chat"
    """The way in which this object runs and judges: the first of `modes` until `in_mode` chooses another."""
    text_modes: Collection[str] = ()
    """Modes of which no request has native tools, since prompts describe them: none is made only to see its tools."""
    recorded_modes: Sequence[str] = ()
    """Modes in which nothing is run: they only judge what was recorded elsewhere."""
    roles: Mapping[str, Role] = {}
    """The roles that models play in it besides `agent`; empty for most benchmarks."""
    gold_styles: Sequence[str] = ("parallel",)
    """Ways in which gold answers can be given: `parallel` (all ready calls at once), `serial` (one a step)."""
    columns: Mapping[str, str] = {}
    """Its own verdict columns with their DuckDB types; its `groups` as texts where it names none."""
    groups: Sequence[str] = ()
    """Columns by which the default summary shows accuracy."""
    headline: Mapping[str, tuple[str, str]] = {}
    """By profile the (group, name) of the number that models are ranked by, in suites and beside published figures; by a
    suite's name the one that it takes there, where that is another. Of a run without that number, and where none is
    named, it is the first of the summary that belongs in a table of models."""
    headline_parts: Sequence[str] = ()
    """Columns whose values its headline averages, `split` and `lang` among them; empty where that counts all units alike.
    A sample has items of each value while it is large enough; a run without some of them has no headline in a suite."""
    data: "DataSet | Path | None" = None
    """Where its data come from; or the one file that is read where the user names none; None if it ships none."""
    tables: "Sequence[Table]" = ()
    """Its numbers, in order, and the pages of a report; empty for the default summary by `groups`."""
    shown: Sequence[str] = ()
    """Groups of numbers that a run prints under the headline, in order; empty where the headline is enough."""
    rules_of_data: Sequence[Callable[[Any], Iterable[Finding]]] = ()
    """Checks of one record, for `data lint`; empty for the check of ids. A record is what an item holds, or what it holds
    of each unit if that is a mapping by unit."""
    published: Callable[[], Sequence[Published]] = tuple
    """Gives the results that papers report, for tables that compare them with the user's runs."""
    original_sampling: Mapping[str, Any] = {}
    """What its original asks models with, for `--sampling original`: `temperature`, `max_tokens`, `attempts`; any other
    name is a field of requests. Empty if that is not known."""
    card: Path | None = None
    """The page that says what it measures, where its data come from, and how it differs from the original."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        own = cls.__dict__
        if "modes" in own and "mode" not in own:
            cls.mode = next(iter(cls.modes))
        if "groups" in own and "columns" not in own:
            cls.columns = {group: "VARCHAR" for group in cls.groups if group not in COMMON_COLUMNS}

    # To write -----------------------------------------------------------------------------------------

    @abstractmethod
    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        """Reads items, those of a split and language if given. Raises DataError naming file, line, id and field."""

    @abstractmethod
    def rules(self, profile: str) -> Rules:
        """The rules of one profile in this object's mode."""

    # Given: running and judging ------------------------------------------------------------------------

    def in_mode(self, mode: str) -> Self:
        """This benchmark in one of `modes`; a name that a user gave is checked before (`registry.in_mode`)."""
        if mode == self.mode:
            return self
        other = copy.copy(self)
        other.mode = mode
        return other

    async def play(self, item: Item, ask: Ask, profile: str, *, in_order: bool = False) -> None:
        """Runs all units of an item; `in_order` asks for one unit after another."""
        rules = self.rules(profile)
        leading = {unit: rules.episode(item, unit) for unit in rules.leading(item)}
        if leading:
            await play_episodes(leading, ask, in_order=True)
        settled = rules.after(item, leading) if leading else item
        if settled is not None:
            following = {unit: rules.episode(settled, unit) for unit in item.units if unit not in leading}
            await play_episodes(following, ask, in_order=in_order)

    def judge(self, item: Item, transcripts: Mapping[str, Transcript], profile: str) -> list[Verdict]:
        """One verdict for each unit of the item, in order; pure. A unit without transcript is unplayed."""
        rules = self.rules(profile)
        item = settled_item(rules, item, transcripts)
        return [_unit_verdict(self, profile, rules, item, unit, transcripts.get(unit)) for unit in item.units]

    def fields(self, item: Item, unit: str) -> Mapping[str, FieldValue]:
        """What is known of a unit before any reply; its part of `columns`."""
        return {}

    def summarize(self, verdicts: Any, profile: str) -> list[Metric]:
        """The benchmark's numbers from a DuckDB relation over verdict rows of one run and one profile."""
        if self.tables:
            from wildtool.stats.tables import summary_of  # running needs none

            return summary_of(self.tables, verdicts, profile)
        from wildtool.stats.metrics import default_summary

        return default_summary(verdicts, self.groups)


def settled_item(rules: Rules, item: Item, transcripts: Mapping[str, Transcript]) -> Item:
    """The item as `Rules.after` gives it, from a record; the item itself if that does not reach so far."""
    episodes: dict[str, Episode] = {}
    for unit in rules.leading(item):
        transcript = transcripts.get(unit)
        episodes[unit] = rules.recorded_episode(item, unit, transcript)
        replay(episodes[unit], transcript)
    return (rules.after(item, episodes) if episodes else None) or item


def accepts(rules: Rules, item: Item, unit: str, replies: Iterable[Message]) -> bool:
    """Whether these replies end a unit's episode, and rightly."""
    episode = rules.episode(item, unit)
    for reply in replies:
        if episode.done:
            break
        episode.advance(reply)
    return episode.done and rules.verdict(episode, item, unit).correct


def judge_unit(benchmark: Benchmark, item: Item, unit: str, transcript: Transcript, profile: str) -> Verdict:
    """What `Benchmark.judge` says of this unit where no other unit of the item has a transcript."""
    if type(benchmark).judge is not Benchmark.judge:
        verdicts = benchmark.judge(item, {unit: transcript}, profile)
        return next(verdict for verdict in verdicts if verdict.unit == unit)
    rules = benchmark.rules(profile)
    settled = settled_item(rules, item, {unit: transcript})
    return _unit_verdict(benchmark, profile, rules, settled, unit, transcript)


def _unit_verdict(
    benchmark: Benchmark, profile: str, rules: Rules, item: Item, unit: str, transcript: Transcript | None
) -> Verdict:
    as_published = follows_published(benchmark, profile)
    decided, end = until_decided(transcript or Transcript(()), as_published=as_published)
    episode = rules.replayed(item, unit, transcript, decided)
    outcome: Outcome
    if episode.done:
        check = rules.verdict(episode, item, unit)
        outcome, reason = "correct" if check.correct else "wrong", check.reason
        score, end = float(check.correct) if check.score is None else check.score, None
    else:
        check, score = rules.unfinished(episode, item, unit), 0.0
        outcome, reason = incomplete_outcome(transcript, end)
    steps = check.steps if end is None else len(decided.replies) + 1
    error = check.error if end is None else error_class(end)
    return Verdict(
        item=item.id,
        unit=unit,
        outcome=outcome,
        score=score,
        error=error if outcome == "wrong" else None,
        reason=reason,
        steps=(len(transcript.replies) if transcript else 0) if steps is None else steps,
        fields={**benchmark.fields(item, unit), **check.fields},
        detail=check.detail,
    )


class SingleTurn(Benchmark):
    """A benchmark whose items have one unit each, answered by one reply."""

    @abstractmethod
    def request(self, item: Item) -> Request:
        """What the model is sent; `Request.gold` gives a right answer, for the baseline and the audit."""

    @abstractmethod
    def check(self, item: Item, reply: Message, profile: str) -> Check:
        """Whether the reply is right under a profile. Pure; must not raise, even on a malformed reply."""

    def mutants(self, item: Item) -> Iterable[Mutant]:
        """More wrong replies to an item, for the audit; those that are made from its gold answer come first."""
        return ()

    def rules(self, profile: str) -> Rules:
        return _SingleTurnRules(self, profile)


@dataclass(frozen=True, slots=True)
class _SingleTurnRules(Rules):
    benchmark: SingleTurn
    profile: str

    def episode(self, item: Item, unit: str) -> Episode:
        return SingleReply(lambda: self.benchmark.request(item))

    def verdict(self, episode: Any, item: Item, unit: str) -> Check:
        return self.benchmark.check(item, cast(SingleReply, episode).reply or {}, self.profile)

    def mutants(self, item: Item) -> Iterable[Mutant]:
        yield from Rules.mutants(self, item)
        yield from self.benchmark.mutants(item)


@runtime_checkable
class SessionRules(Protocol):
    """What `Rules` also have where the units of an item go on where the one before ended, for `--history own`."""

    def session(self, item: Item) -> SessionRecord | None:
        """The item as such a session; None for one that is none."""
        ...


@runtime_checkable
class OriginalPrompts(Protocol):
    """What a benchmark also has where its original's prompts can be sent word for word in place of our wording."""

    @property
    def prompts(self) -> str:
        """Digest of the original's texts that it sends; empty where it sends our own wording."""
        ...

    @property
    def prompts_note(self) -> str:
        """What a reader of numbers with the original's prompts should know of them; empty for nothing."""
        ...

    def in_original_prompts(self, split: str | None) -> Benchmark | None:
        """This benchmark with the original's prompts; None where they were not pulled, or its mode or split has none.

        Raises DataError where what was pulled is damaged.
        """
        ...


class GoldForReaders:
    """A second base of `Rules` that accept gold replies that a reader would not, for cases that are put to judges."""

    def satisfies_readers(self, item: Item, unit: str) -> bool:
        """Whether the gold replies of a unit are right for a reader, too, in what these rules do not look at."""
        return True

    def says_nothing(self, item: Item, reply: Message) -> bool:
        """Whether the words of a gold reply only end a turn, so that conversations are shown without them."""
        return False
