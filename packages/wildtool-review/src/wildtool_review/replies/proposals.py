"""Where models agree against gold: what they do instead, and the edit that would accept it.

What fewer models do than gold finds right is left out. An edit is proposed only if the benchmark's rules, asked again,
then refuse fewer answers. Models are counted, not samples: a model does something if it does so in at least half of its
answers to the unit.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from wildtool.errors import DataError
from wildtool.json_codec import as_list
from wildtool.sanitize import ellipsize
from wildtool_data.pointers import ABSENT, Change, canonical, with_change
from wildtool_review.project import ReviewProject
from wildtool_review.replies.deviations import Deviation, DeviationKind, deviations, present
from wildtool_review.replies.rejudge import ANSWERED, JudgedUnit, Rejudge

_MIN_MODELS = 2
_TRIED = 12
"""Edits of one unit that are tried, those of most models first."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """What several models do in a unit although gold has something else."""

    item: str
    unit: str
    kind: DeviationKind
    field: str
    """JSON pointer of the part of gold that differs; empty if there is none."""
    gold: Any
    """What gold has there; None if it has nothing."""
    found: Any
    """What the models have instead; None if they leave it out."""
    models: tuple[str, ...]
    """The models that do so."""
    answered: int
    """Models that answered what the item asks."""
    right: int
    """Models that the rules find right now."""
    changes: tuple[Change, ...] = ()
    """The edit that would accept it; empty if none is known."""
    gained: int = 0
    """Models whose answer would no longer be wrong."""
    lost: int = 0
    """Models whose answer would become wrong."""
    beside: tuple[Change, ...] = ()
    """The edit that accepts it beside gold, which makes nobody wrong; empty if that cannot be."""

    @property
    def sentence(self) -> str:
        """What it says, in a line."""
        name = self.field.rpartition("/")[2]
        subject = {
            "value": f"give {_json_text(self.found)} for {name}; gold has {_json_text(self.gold)}",
            "call": f"call {_json_text(self.found)}; gold has {_json_text(self.gold)}",
            "order": f"call it without waiting for node {', '.join(map(str, as_list(self.gold)))}",
            "several": f"have {_json_text(self.found)}; gold has {_json_text(self.gold)}",
            "alternative": f"answer {_json_text(self.found)}; gold has {_json_text(self.gold)}",
            "calls": f"make the same calls, which are refused: {_json_text(self.found)}",
            "extra call": f"also call {_json_text(self.found)}, for which gold has nothing",
            "text": "make no call where gold has one",
        }[self.kind]
        effect = (
            f"; accepted, {self.gained} are no longer wrong, {self.lost} become wrong" if self.changes else ""
        )
        return f"{len(self.models)} of {self.answered} models {subject}{effect}"


def _json_text(value: Any) -> str:
    """A value as JSON in a line of at most 200 characters."""
    return ellipsize("nothing" if value is None else canonical(value).decode(), 200)


def item_proposals(
    rejudge: Rejudge, item: str, content: Any, first: Any, *, least: int = _MIN_MODELS
) -> list[Proposal]:
    """What at least `least` models do in an item although gold has something else, most models first.

    Args:
        content: the version whose gold is meant.
        first: the version that was asked where a record does not say it.
    """
    units: dict[str, list[JudgedUnit]] = defaultdict(list)
    for answer in rejudge.judged(item, content, first):
        if answer.answer.state in ANSWERED:
            units[answer.unit].append(answer)
    proposals: list[Proposal] = []
    for unit, answers in units.items():
        proposals += _AnsweredUnit(rejudge, item, unit, answers, content, first).proposals(least)
    return sorted_queue(proposals)


def agreement_queue(
    project: ReviewProject, rejudge: Rejudge, *, least: int = _MIN_MODELS
) -> Iterator[Proposal]:
    """The proposals of all items that are not rejected, one item after another; `sorted_queue` orders them."""
    for summary in list(project.state.items.values()):
        if summary.stage != "rejected":
            history = project.item(summary.id)
            yield from item_proposals(
                rejudge, summary.id, history.content, history.versions[0].content, least=least
            )


def sorted_queue(proposals: Iterable[Proposal]) -> list[Proposal]:
    """Proposals by how many models agree, then by their share."""
    return sorted(proposals, key=_order)


def _order(proposal: Proposal) -> tuple[Any, ...]:
    return (
        -len(proposal.models), proposal.answered, -proposal.gained, proposal.item, proposal.unit, proposal.field,
    )  # fmt: skip


@dataclass(slots=True)
class _Agreement:
    """What several answers do otherwise than gold, all of them alike."""

    models: Counter[str] = field(default_factory=Counter[str])
    """How many answers of each model do it."""
    spellings: Counter[bytes] = field(default_factory=Counter[bytes])
    examples: dict[bytes, Deviation] = field(default_factory=dict[bytes, Deviation])

    def add(self, model: str, deviation: Deviation) -> None:
        """Counts an answer."""
        answer = ["absent"] if deviation.answer is ABSENT else deviation.answer
        spelling = canonical([deviation.field, deviation.kind, answer])
        self.models[model] += 1
        self.spellings[spelling] += 1
        self.examples.setdefault(spelling, deviation)

    @property
    def example(self) -> Deviation:
        """In the spelling that most of them use."""
        return self.examples[self.spellings.most_common(1)[0][0]]


@dataclass(frozen=True, slots=True)
class _AnsweredUnit:
    """All answers to a unit under one version of its item."""

    rejudge: Rejudge
    item: str
    unit: str
    answers: Sequence[JudgedUnit]
    content: Any
    first: Any

    def proposals(self, least: int) -> Iterator[Proposal]:
        """What at least `least` models do, and no fewer than gold finds right."""
        samples = Counter(answer.run.model for answer in self.answers)
        if len(_models_in(self.answers, "wrong")) < least:
            return
        agreeing = sorted(
            (
                (tuple(sorted(_at_least_half(agreement.models, samples))), agreement.example)
                for agreement in self._agreements()
            ),
            key=lambda pair: -len(pair[0]),
        )
        right = len(_models_in(self.answers, "correct"))
        for models, deviation in agreeing[:_TRIED]:
            if len(models) < max(least, right):
                continue
            changes = deviation.changes
            effect = self._effect(changes) if changes else (0, 0)
            if effect is not None and (effect[0] or not changes):
                yield Proposal(
                    self.item, self.unit, deviation.kind, deviation.field, present(deviation.gold),
                    present(deviation.answer), models, len(samples), right, changes, *effect, deviation.beside,
                )  # fmt: skip

    def _agreements(self) -> Iterable[_Agreement]:
        agreements: dict[Hashable, _Agreement] = defaultdict(_Agreement)
        for answer in self.answers:
            if answer.answer.state == "wrong":
                for deviation in deviations(self.rejudge.runs.format.name, answer, self.content):
                    agreements[deviation.key].add(answer.run.model, deviation)
        return agreements.values()

    def _effect(self, changes: Sequence[Change]) -> tuple[int, int] | None:
        """How many models an edit makes no longer wrong, and how many wrong; None if it cannot be made."""
        content = self.content
        try:
            for change in changes:
                content = with_change(content, change)
        except (DataError, LookupError):
            return None
        after = [
            answer
            for answer in self.rejudge.judged(self.item, content, self.first, self.unit)
            if answer.answer.state in ANSWERED
        ]
        wrong_before, wrong_after = _models_in(self.answers, "wrong"), _models_in(after, "wrong")
        still = {answer.run.model for answer in after}
        return len((wrong_before - wrong_after) & still), len((wrong_after - wrong_before) & still)


def _models_in(answers: Iterable[JudgedUnit], state: str) -> set[str]:
    """Models of whose answers at least half are in a state."""
    names = list(answers)
    samples = Counter(answer.run.model for answer in names)
    return _at_least_half(Counter(a.run.model for a in names if a.answer.state == state), samples)


def _at_least_half(counts: Counter[str], samples: Counter[str]) -> set[str]:
    return {model for model, count in counts.items() if 2 * count >= samples[model]}
