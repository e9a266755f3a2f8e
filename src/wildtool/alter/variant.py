"""A benchmark as a run puts it to its models: what plays, judges and shows it with the run's alterations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from wildtool.alter.base import (
    UNDER_TEST,
    Alteration,
    AlteredAsk,
    AlteredEpisode,
    AlteredUnit,
    altered_unit,
    runs_in_order,
)
from wildtool.benchmark import Benchmark, Rules, follows_published, judge_unit, settled_item
from wildtool.episode import EMPTY_REPLY, replay, until_decided
from wildtool.reply_ends import NOT_RIGHT
from wildtool.trace import Trace, TraceStep, replay_steps
from wildtool.types import Ask, FieldValue, Item, Reply, Transcript, Verdict


@dataclass(frozen=True, slots=True)
class Variant:
    """A benchmark with the alterations of a run; without any it is the benchmark itself.

    Replies are restored by the rules that the run was played under, from which follows what its models saw, and then
    judged by any.
    """

    benchmark: Benchmark
    alterations: tuple[Alteration, ...] = ()
    """The one next to the benchmark first."""
    played: str | None = None
    """The profile that the run was played under; None for the one that it is judged by."""

    @property
    def name(self) -> str:
        return self.benchmark.name

    @property
    def columns(self) -> Mapping[str, str]:
        """Its verdict columns with their DuckDB types: the benchmark's own, then those of the alterations."""
        own = [self.benchmark.columns, *(alteration.columns for alteration in self.alterations)]
        return {name: kind for columns in own for name, kind in columns.items()}

    @property
    def in_order(self) -> bool:
        """Whether units of an item follow from earlier ones, so that they are run one after another."""
        return runs_in_order(self.alterations)

    async def play(self, item: Item, ask: Ask, profile: str, *, in_order: bool = False) -> None:
        """As of `Benchmark.play`; `ask` is sent what models see and gives what they say."""
        if self.alterations:
            ask = AlteredAsk(ask, item, self.benchmark.rules(profile), self.alterations)
        await self.benchmark.play(item, ask, profile, in_order=in_order or self.in_order)

    def episode(
        self, item: Item, unit: str, profile: str, transcript: Transcript | None = None
    ) -> AlteredEpisode:
        """The episode of a unit as its model sees it, at its beginning.

        Args:
            transcript: what it will be replayed from; None for nothing.
        """
        own = self.benchmark.rules(profile).recorded_episode(item, unit, transcript)
        played = self.played or profile
        earlier = self._before(played, item, unit)
        return AlteredEpisode(own, self._units(self.benchmark.rules(played), item, unit, earlier))

    def judge(self, item: Item, transcripts: Mapping[str, Transcript], profile: str) -> list[Verdict]:
        """As of `Benchmark.judge`, of what models said."""
        if not self.alterations:
            return self.benchmark.judge(item, transcripts, profile)
        readings = self._readings(item, transcripts, profile)
        own = {unit: reading.transcript for unit, reading in readings.items() if unit in transcripts}
        if self.in_order:
            own = _with_failures(item, own)
        return [
            replace(verdict, fields={**verdict.fields, **readings[verdict.unit].fields})
            for verdict in self.benchmark.judge(item, own, profile)
        ]

    def judge_unit(self, item: Item, unit: str, transcript: Transcript, profile: str) -> Verdict:
        """As of `wildtool.benchmark.judge_unit`, of what a model said."""
        if not self.alterations:
            return judge_unit(self.benchmark, item, unit, transcript, profile)
        verdicts = self.judge(item, {unit: transcript}, profile)
        return next(verdict for verdict in verdicts if verdict.unit == unit)

    def restored(
        self, item: Item, transcripts: Mapping[str, Transcript], profile: str
    ) -> Mapping[str, Transcript]:
        """What models said as the benchmark reads it: its own names and steps."""
        if not self.alterations:
            return transcripts
        readings = self._readings(item, transcripts, profile)
        return {unit: reading.transcript for unit, reading in readings.items() if unit in transcripts}

    def settled(self, item: Item, transcripts: Mapping[str, Transcript], profile: str) -> Item:
        """As of `wildtool.benchmark.settled_item`, from what models said; `Item.transcripts` has that too where units
        follow from earlier ones."""
        own = settled_item(self.benchmark.rules(profile), item, self.restored(item, transcripts, profile))
        return replace(own, transcripts=transcripts) if self.in_order else own

    def trace(
        self, item: Item, unit: str, transcript: Transcript, profile: str, *, ended: bool = False
    ) -> Trace:
        """What happened in a unit up to the reply that decided it, in the benchmark's names, as reasons have them. Pure;
        never raises, even on malformed replies.

        Args:
            ended: whether its verdict says that its episode ended, which is then not tried again.
        """
        rules = self.benchmark.rules(profile)
        as_published = follows_published(self.benchmark, profile)
        if not self.alterations:
            return _trace_as_judged(rules, item, unit, transcript, ended, as_published=as_published)
        played = self.played or profile
        reading = self._reading(played, item, unit, transcript, self._before(played, item, unit))
        trace = _trace_as_judged(rules, item, unit, reading.transcript, ended, as_published=as_published)
        for altered in reading.units:
            trace = altered.traced(trace)
        return trace

    def _units(
        self, rules: Rules, item: Item, unit: str, earlier: "Mapping[str, _Reading]"
    ) -> list[AlteredUnit]:
        before = {name: reading.units for name, reading in earlier.items()}
        return altered_unit(self.alterations, item, unit, rules, before)

    def _before(self, played: str, item: Item, unit: str) -> "dict[str, _Reading]":
        """The units before one, from what was recorded of them; empty unless units follow from earlier ones."""
        earlier: dict[str, _Reading] = {}
        if self.in_order:
            for name in item.units[: item.units.index(unit)]:
                earlier[name] = self._reading(played, item, name, item.transcripts.get(name), earlier)
        return earlier

    def _readings(
        self, item: Item, transcripts: Mapping[str, Transcript], profile: str
    ) -> "dict[str, _Reading]":
        """Each unit of an item, the leading ones first, since the others follow from them."""
        played = self.played or profile
        if self.in_order:
            readings: dict[str, _Reading] = {}
            for unit in item.units:
                readings[unit] = self._reading(played, item, unit, transcripts.get(unit), readings)
            return readings
        rules = self.benchmark.rules(played)
        leading = rules.leading(item)
        first = {unit: self._reading(played, item, unit, transcripts.get(unit), {}) for unit in leading}
        state = settled_item(
            rules, item, {unit: first[unit].transcript for unit in leading if unit in transcripts}
        )
        later = [unit for unit in item.units if unit not in leading]
        return first | {unit: self._reading(played, state, unit, transcripts.get(unit), {}) for unit in later}

    def _reading(
        self,
        played: str,
        item: Item,
        unit: str,
        recorded: Transcript | None,
        earlier: "Mapping[str, _Reading]",
    ) -> "_Reading":
        """What a model said in a unit.

        Args:
            played: the profile that it was played under.
            earlier: the units that it follows from.
        """
        rules = self.benchmark.rules(played)
        units = self._units(rules, item, unit, earlier)
        episode = AlteredEpisode(rules.recorded_episode(item, unit, recorded), units)
        recorded = recorded or Transcript(())
        read = _ReadReplies(episode)
        for place, reply in enumerate(recorded.replies):
            read.take(place, reply)
        while recorded.scripted and not episode.done:
            episode.advance(EMPTY_REPLY)
        transcript = replace(recorded, replies=tuple(read.replies))
        valid, end = until_decided(transcript, as_published=follows_published(self.benchmark, played))
        if end is None:
            fields = {
                name: value for each in units for name, value in each.fields(ended=episode.done).items()
            }
        else:
            # What was filtered or refused is no reply, so it obeys nothing and ends nothing.
            before = recorded.replies[: read.places[len(valid.replies)]]
            fields = self._reading(played, item, unit, Transcript(before), earlier).fields
        return _Reading(transcript, units, fields)


@dataclass(frozen=True, slots=True)
class _Reading:
    """What a model said in one unit, as the benchmark reads it."""

    transcript: Transcript
    units: Sequence[AlteredUnit]
    """Each alteration after all replies."""
    fields: Mapping[str, FieldValue]
    """The unit's cells of the alterations' columns."""


class _ReadReplies:
    """The replies of a unit as the benchmark reads them.

    What a reply of the model under test used, and how it ended, goes with the first one that follows from it; others that
    follow from it have nothing but their message.
    """

    def __init__(self, episode: AlteredEpisode) -> None:
        self._episode = episode
        self._last: tuple[int, Reply] | None = None
        """The last reply of the model under test with its place, until something follows from it."""
        self.replies = [Reply(message) for message in episode.begin()]
        self.places = [0] * len(self.replies)
        """The place in the record of the reply that each follows from."""

    def take(self, place: int, reply: Reply) -> None:
        """Reads the next recorded reply. Args: place: its number in the record, from 0."""
        if self._episode.shown_role == UNDER_TEST:
            self._last = place, reply
        for message in self._episode.read(reply.message):
            source, facts = (place, reply) if message is reply.message else self._last or (place, Reply({}))
            self.places.append(source)
            self.replies.append(replace(facts, message=message))
            self._last = None


def _with_failures(item: Item, transcripts: Mapping[str, Transcript]) -> dict[str, Transcript]:
    """The transcripts, with the failure of a unit in those after it: these could not be run for the same reason."""
    complete, failure = dict(transcripts), None
    for unit in item.units:
        recorded = transcripts.get(unit, Transcript(()))
        if failure is not None and not recorded.replies:
            complete[unit] = replace(recorded, infra_error=failure)
        failure = failure or recorded.infra_error
    return complete


def _trace_as_judged(
    rules: Rules, item: Item, unit: str, transcript: Transcript, ended: bool, *, as_published: bool
) -> Trace:
    """Of a reply that was filtered, refused or could not be read the rules say nothing, so its step tells just that."""
    decided, end = until_decided(transcript, as_published=as_published)
    if end is not None:
        number, reason = len(decided.replies), NOT_RIGHT[end]
        beginning = Transcript(transcript.replies[: number + 1])
        happened = list(replay_steps(rules.recorded_episode(item, unit, beginning), beginning))
        # A unit that was over before was decided by the rules.
        if len(happened) > number:
            role, messages, reply = happened[number]
            trace = rules.trace(item, unit, replace(decided, infra_error=reason))
            return replace(trace, steps=(*trace.steps, TraceStep(role, messages, reply, note=reason)))
    trace = rules.trace(item, unit, transcript)
    missed = any(call.status == "missed" for call in trace.gold)
    if not missed or ended or replay(rules.recorded_episode(item, unit, transcript), transcript):
        return trace
    # A call failed, or the run was stopped: nobody knows what the model would have done.
    return replace(
        trace,
        gold=tuple(
            replace(call, status="undecided") if call.status == "missed" else call for call in trace.gold
        ),
    )
