"""Makers: what models generate as a run of the engine. A planned thing is an item, a call to a role a recorded step.

So whatever holds for runs holds here: nothing is requested twice, limits and prices count, a killed run resumes, and
what is generated follows from the record alone.
"""

import hashlib
import json
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from wildtool.benchmark import Benchmark, Rules
from wildtool.data.data_set import DataSet
from wildtool.engine.record.reader import LogReader, transcripts
from wildtool.errors import DataError
from wildtool.types import Ask, Item, Role, Source, Transcript, Verdict
from wildtool_data.make.core.collect import GeneratedSet
from wildtool_data.make.core.files import RECORD_FOLDER
from wildtool_data.make.core.prompts import prompts_digest
from wildtool_data.make.core.roles import RoleCoroutine, ScriptResult, replay_script, run_script, voter_names

RECIPE_VERSION = "0.1.0"
"""Part of what identifies a run in which models generate. Raise it only when the same replies would give other
requests or another result (prompts have their own digest): a run with another version does not resume."""
SESSION_RECIPE = "0.3.0"
"""Raised when the plans of sessions, or what roles are asked, changed."""
PROFILE = "made"
MAX_REPLACEMENT_ROUNDS = 3
"""How often a lost thing is planned again at most; all together, as often as there are things wanted."""
Value = TypeVar("Value")
Outcome = TypeVar("Outcome")
Recorded = TypeVar("Recorded")


@dataclass(frozen=True, kw_only=True)
class _Specification(DataSet):
    find: Callable[[], Source]

    def locate(self, data: str | None, split: str | None = None) -> Source:
        return self.find()


class RoleBenchmark(Benchmark):
    """The part of a benchmark that is the same whatever is generated; an item is a planned attempt."""

    name: str
    """What is generated, in the plural."""
    modes: Mapping[str, str] = {"roles": "a model for each role"}
    profiles: Mapping[str, str] = {PROFILE: "kept if it breaks no rule"}
    gold_styles: Sequence[str] = ()
    prompts: Path
    """Folder of the roles' templates."""
    templates: Mapping[str, str] = {}
    """By role the name of its template, where it is not the role's own."""
    recipe = RECIPE_VERSION
    """As `RECIPE_VERSION`, of what it makes."""

    @abstractmethod
    def source(self) -> Source:
        """Identifies everything that the requests follow from, with a digest of it as it is now.

        Raises DataError for a file that cannot be read.
        """

    def _source(
        self, path: Path | None, name: str, counted: Sequence[Any], files: Iterable[Path | None], *more: Any
    ) -> Source:
        """Args:
        path: the file that it is called by; `name` if there is none.
        counted: what counts of the specification; `more` likewise. Together they stand in the order that 0.1.0 wrote.
        files: those that are read.
        """
        digests = file_digests([file for file in files if file])
        identity = [*counted, self.recipe, prompts_digest(self.prompts), *more, *digests]
        # Never the current folder: a run asks whether the files below the path change.
        return Source(str(path or name), path or self.prompts, identity_digest(identity))

    def begun_before(self, data_sha256: str) -> str:
        """Why a record cannot be continued that was begun by an earlier recipe with the same settings; empty for another
        one. Args: data_sha256: what identifies its data."""
        return ""

    @property
    def data(self) -> DataSet:  # pyright: ignore[reportIncompatibleVariableOverride] - each has a source of its own
        """The files of its specification. A run asks at its end if they changed."""
        return _Specification(name=self.name, find=self.source)

    def rules(self, profile: str) -> Rules:
        """None: what is generated has no gold answer, so that it is judged as a whole and never audited."""
        raise NotImplementedError


class ScriptedBenchmark(RoleBenchmark, Generic[Outcome]):
    """Items that are driven by a script each: it yields requests, is sent the replies, and returns the outcome."""

    unit: str
    """The one unit of an item."""

    @abstractmethod
    def script(self, item: Item) -> RoleCoroutine[Outcome]:
        """What is asked for one item."""

    async def play(self, item: Item, ask: Ask, profile: str, *, in_order: bool = False) -> None:
        """Runs the script of an item completely."""
        await run_script(self.script(item), self.unit, ask)

    def judge(self, item: Item, transcripts: Mapping[str, Transcript], profile: str) -> list[Verdict]:
        """Whether the recorded replies lead to the end of the script and to something that is kept, and why not."""
        transcript = transcript_of(transcripts, self.unit)
        outcome = self.outcome(item, transcript)
        loss = None if outcome is None else self.why_lost(outcome)
        return [verdict_of(item, self.unit, transcript, loss, finished=outcome is not None)]

    def why_lost(self, outcome: Outcome) -> tuple[str, str] | None:
        """Why nothing is kept of an outcome, in a word and in detail; None where something is."""
        return None

    def outcome(self, item: Item, transcript: Transcript) -> Outcome | None:
        """The outcome of an item, from its recorded replies alone; None if they end before its script does."""
        return replay_script(self.script(item), transcript)

    def recorded(self, items: Iterable[Item], reader: LogReader) -> Iterator[tuple[Item, Outcome | None]]:
        """Each item with its outcome, by a record."""
        for item in items:
            yield item, self.outcome(item, recorded_transcript(reader, item, self.unit))


class ScriptMaker(ScriptedBenchmark[ScriptResult[Value]]):
    """Makes planned things one by one, each by a script, and plans lost ones again."""

    def __init__(self, count: int) -> None:
        """Args: wanted: how many things are to be made."""
        self._wanted = count
        self._replanned: list[tuple[int, int]] = []
        """Number and turn of each replacement, in order; the first plans have turn 0."""
        self._results: dict[str, ScriptResult[Value]] = {}
        """By item, once its script has ended: it stays what it is."""

    @abstractmethod
    def planned_items(self) -> Iterator[Item]:
        """The items as first planned; `data.plan` of each is its plan."""

    @abstractmethod
    def replanned_item(self, item: Item, turn: int) -> Item:
        """A lost item planned again; `turn` counts from 1."""

    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        """The planned items, then those that replace lost ones."""
        replanned = {index for index, _ in self._replanned}
        first: dict[int, Item] = {}
        for item in self.planned_items():
            if item.data.plan.index in replanned:
                first[item.data.plan.index] = item
            yield item
        for index, turn in self._replanned:
            yield self.replanned_item(first[index], turn)

    def replace_lost(self, generated: GeneratedSet[Any]) -> bool:
        """Plans each lost thing again; whether there is anything to run. After a round of which nothing was kept,
        nothing more is planned.

        Args: generated: what came of all that was planned so far.
        """
        last = max((turn for _, turn in self._replanned), default=0)
        if generated.unfinished or last == MAX_REPLACEMENT_ROUNDS or last not in generated.turns:
            return False
        more = [(index, last + 1) for index in generated.missing[: self._wanted - len(self._replanned)]]
        self._replanned += more
        return bool(more)

    async def play(self, item: Item, ask: Ask, profile: str, *, in_order: bool = False) -> None:
        """Runs the script of one item, if that is not done already."""
        if item.id not in self._results:
            await super().play(item, ask, profile)

    def why_lost(self, outcome: ScriptResult[Value]) -> tuple[str, str] | None:
        """See ScriptedBenchmark."""
        return outcome.lost

    def outcome(self, item: Item, transcript: Transcript) -> ScriptResult[Value] | None:
        """See ScriptedBenchmark."""
        if item.id not in self._results:
            result = super().outcome(item, transcript)
            if result is None:
                return None
            self._results[item.id] = self.remembered(result)
        return self._results[item.id]

    def remembered(self, result: ScriptResult[Value]) -> ScriptResult[Value]:
        """The part of a result that is kept in memory."""
        return result


def recorded_in(
    folder: Path, read: Callable[[Iterable[Item], LogReader], Iterator[Recorded]], items: Iterable[Item]
) -> Iterator[Recorded]:
    """What a record says of planned items. Args: folder: of the set. read: the maker's `recorded`."""
    with LogReader(folder / RECORD_FOLDER) as reader:
        yield from read(items, reader)


def recorded_transcript(reader: LogReader, item: Item, unit: str) -> Transcript:
    """What is recorded of an item's one unit."""
    return transcript_of(transcripts(reader.log(item.id, 0)), unit)


def transcript_of(transcripts: Mapping[str, Transcript], unit: str) -> Transcript:
    """What is recorded of a unit; empty if nothing is."""
    return transcripts.get(unit, Transcript(()))


def voter_roles(roles: Mapping[str, str], votes: Mapping[str, int]) -> dict[str, Role]:
    """The roles besides `agent`, which is the default model; each vote is a role of its own."""
    return {
        voter: Role(task, "")
        for role, task in roles.items()
        if role != "agent"
        for voter in voter_names(role, votes.get(role, 1))
    }


def verdict_of(
    item: Item, unit: str, transcript: Transcript, loss: tuple[str, str] | None, *, finished: bool
) -> Verdict:
    """The verdict on a script, as the engine counts it.

    Args:
        lost: reason and detail if nothing did.
        finished: whether the recorded replies lead to its end.
    """
    steps = len(transcript.replies)
    if not finished:
        outcome = "infra_error" if transcript.infra_error else "unplayed"
        reason = transcript.infra_error or "it is not played to its end"
        return Verdict(item.id, unit, outcome, 0.0, outcome, reason, steps)
    if loss is None:
        return Verdict(item.id, unit, "correct", 1.0, None, "breaks no rule", steps)
    return Verdict(item.id, unit, "wrong", 0.0, loss[0], loss[1], steps)


def identity_digest(identity: Sequence[Any]) -> str:
    """SHA-256 of what identifies a run in which models generate."""
    return hashlib.sha256(json.dumps(identity).encode()).hexdigest()


def file_digests(files: Sequence[Path]) -> list[str]:
    """SHA-256 of each file. Raises DataError for one that cannot be read."""
    digests: list[str] = []
    for path in files:
        try:
            digests.append(hashlib.sha256(path.read_bytes()).hexdigest())
        except OSError as error:
            raise DataError(f"cannot read {path}: {error.strerror}") from error
    return digests
