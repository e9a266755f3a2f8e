"""Draws failures of a run for people to read, shows them, and says how far readers agree."""

from collections.abc import Collection, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import Any

from wildtool.draws import seeded_draw
from wildtool.engine.record.case_labels import (
    CaseKey,
    CaseReading,
    LabelledCases,
    add_readings,
    labels_of_run,
    start_labels,
)
from wildtool.engine.record.format import Closing
from wildtool.engine.record.reader import LogReader, transcripts
from wildtool.engine.score.judge import safe_judge
from wildtool.engine.score.label_metrics import label_shares
from wildtool.engine.score.results import open_results
from wildtool.engine.score.score import prepare_judging
from wildtool.engine.score.verdict_table import relation
from wildtool.errors import DataError, UsageError
from wildtool.json_codec import as_list, object_text
from wildtool.stats.intervals import wilson
from wildtool.trace import said_calls
from wildtool.types import Item, Message, Metric, Transcript
from wildtool_review.bad_cases.label_sets import LabelSet, ReadCase
from wildtool_review.figures import cohen_kappa

_MOST_OF_TEXT = 2000
"""Characters of a message that are shown."""


class NothingToReadError(UsageError):
    """No unit of a run is wrong."""


class RunCases(Closing):
    """The units of a run as readers see them. A context manager."""

    def __init__(self, folder: Path, profile: str | None) -> None:
        """Args: profile: as of `prepare_judging`, whose errors it raises."""
        self._run = prepare_judging(folder, profile=profile)
        self.folder = folder
        self.profile = self._run.run_info.profile
        self.model = self._run.run_info.model
        self._reader = LogReader(folder)
        self._items: dict[str, Item] | None = None
        self._silent_after: bool = self._run.run_json["identity"].get("silent_after", False)

    def close(self) -> None:
        self._reader.close()

    def failures(self) -> dict[CaseKey, str]:
        """The units that are wrong, each with its error class; empty for one without."""
        with open_results(self.folder, self.profile) as (_, table):
            rows = relation([table]).filter("outcome = 'wrong'").project("item, repeat, unit, error")
            return {CaseKey(*key): error or "" for *key, error in rows.fetchall()}

    def read(self, case: CaseKey) -> ReadCase:
        """A unit with its verdicts. Raises DataError if the run does not have it."""
        if self._items is None:
            self._items = {item.id: item for item, _ in self._run.selection.jobs()}
        item = self._items.get(case.item)
        if item is None or case.unit not in item.units:
            raise DataError(f"{self.folder}: has no {case}, which its labels name")
        variant = self._run.variant
        answers = transcripts(self._reader.log(case.item, case.repeat), scripted=self._silent_after)
        verdicts = {
            rules: next(v for v in safe_judge(variant, item, answers, rules)[0] if v.unit == case.unit)
            for rules in variant.benchmark.profiles
        }
        settled = variant.settled(item, answers, self.profile)
        trace = variant.trace(settled, case.unit, answers.get(case.unit, Transcript(())), self.profile)
        return ReadCase(trace, verdicts[self.profile], verdicts)


def start_reading(
    folder: Path, labels: LabelSet, *, size: int | None, seed: str, profile: str | None
) -> LabelledCases:
    """The failures of a run that people read, drawn now unless they were drawn before.

    Args:
        size: of the sample; None for all failures.
        profile: the rules under which they are failures; None for those of the run.

    Raises NothingToReadError if nothing failed, UsageError if other cases were drawn before.
    """
    with RunCases(folder, profile) as run:
        failures = [*run.failures()]
        if not failures:
            raise NothingToReadError(
                f"{folder}: no unit is wrong under {run.profile}, so there is nothing to read"
            )
        drawn = failures
        if size is not None and size < len(failures):
            places = sorted(seeded_draw(seed).sample(range(len(failures)), size))
            drawn = [failures[place] for place in places]
        cases = LabelledCases(run.profile, len(failures), seed, labels.labels, dict.fromkeys(drawn, ()))
        if labels_of_run(folder) is None:
            proposals = {case: tuple(labels.proposed(run.read(case))) for case in drawn}
            start_labels(folder, replace(cases, proposals=proposals))
        # Somebody else may have drawn some, before or just now.
        chosen = labels_of_run(folder)
        if chosen is None or not chosen.same_sample(cases):
            raise UsageError(
                f"{folder}: other cases or labels were chosen before, and are in labels.jsonl; move that file away to "
                "start again"
            )
        return chosen


def save_reading(
    folder: Path, cases: LabelledCases, reader: str, case: CaseKey, labels: Collection[str], note: str
) -> CaseReading:
    """Adds what a reader says about a case to the run, and returns it. Errors: as of `add_readings`."""
    given = tuple(name for name in cases.labels if name in labels)
    reading = CaseReading(reader, case, given, note, datetime.now(UTC).isoformat(timespec="seconds"))
    add_readings(folder, [reading])
    return reading


def reading_figures(cases: LabelledCases) -> list[Metric]:
    """Shares of the labels, agreement of the readers, and how often they kept what a rule proposed."""
    return [*label_shares(cases), *_agreement(cases), *_kept(cases)]


def _agreement(cases: LabelledCases) -> Iterator[Metric]:
    """For each two readers who read some of the same cases."""
    by_case = cases.by_case
    for first, other in combinations(cases.readers, 2):
        pairs = [
            (set(said[first].labels), set(said[other].labels))
            for said in by_case.values()
            if {first, other} <= said.keys()
        ]
        if not pairs:
            continue
        group = f"agreement of {first} and {other}"
        same = sum(own == others for own, others in pairs)
        yield _share(group, "same labels", same, len(pairs))
        for label in cases.labels:
            marks = [(label in own, label in others) for own, others in pairs]
            kappa = cohen_kappa(marks)
            if kappa is not None:
                name = f"Cohen's kappa, {label}"
                yield Metric(group, name, kappa, kappa * len(marks), len(marks), kind="mean")


def _kept(cases: LabelledCases) -> list[Metric]:
    """For each label that a rule proposed, how often readers gave it then, and how many of all that gave it saw a
    proposal."""
    kept: list[Metric] = []
    found: list[Metric] = []
    by_case = cases.by_case
    for label in cases.labels:
        given = [
            (label in cases.proposals[case], label in reading.labels)
            for case, said in by_case.items()
            for reading in said.values()
        ]
        proposed = sum(by_rule for by_rule, _ in given)
        both = sum(by_rule and by_reader for by_rule, by_reader in given)
        labelled = sum(by_reader for _, by_reader in given)
        if proposed:
            kept.append(_share("proposals that readers kept", label, both, proposed))
        if proposed and labelled:
            found.append(_share("labels that a rule proposed", label, both, labelled))
    return kept + found


def _share(group: str, name: str, count: int, of: int) -> Metric:
    return Metric(group, name, count / of, count, of, *wilson(count / of, of), better="")


def bad_case_lines(case: ReadCase) -> Iterator[str]:
    """A failure as a person reads it: what was said and done, what gold has, and why it is wrong."""
    for step in case.trace.steps:
        for message in step.seen:
            yield from _message_lines(message)
        yield from _message_lines(step.reply)
    for call in case.trace.gold:
        yield f"gold ({call.status}): {call.name} {_excerpt(object_text(call.arguments))}"
    for each in case.trace.differences:
        yield (
            f"differs at {each.where}: expected {_excerpt(object_text(each.expected))}, "
            f"found {_excerpt(object_text(each.found))}"
        )
    yield f"wrong: {case.verdict.error or 'no class'}: {case.verdict.reason}"


def _message_lines(message: Message) -> Iterator[str]:
    role = message.get("role")
    calls = as_list(message.get("tool_calls"))
    if message.get("content") or not calls:
        content: Any = message.get("content")
        yield f"{role}: {_excerpt(content if isinstance(content, str) else object_text(content))}"
    if calls:
        for name, arguments in said_calls(message):
            yield f"{role} calls {name} {_excerpt(object_text(arguments))}"


def _excerpt(text: str) -> str:
    return text if len(text) <= _MOST_OF_TEXT else f"{text[:_MOST_OF_TEXT]}… ({len(text):,} characters)"
