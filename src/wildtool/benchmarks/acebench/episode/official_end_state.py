"""Whether an episode ended in the right state, and how many milestones it reached (sections 8.6 and 8.7)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

FinalState = Mapping[str, Any]
WRONG_COUNT = "wrong number of class"
WRONG_ATTRIBUTES = "class attributes wrong"


@dataclass(frozen=True, slots=True)
class EndState:
    """The comparison of an end state with the gold one."""

    correct: bool
    error_type: str = ""
    errors: tuple[tuple[str, ...], ...] = ()
    """Sentences about each gold entry that failed; a failure before an entry without counterpart stands twice (Q49)."""


def compare_end_state(gold: Sequence[FinalState] | FinalState, result: Sequence[FinalState]) -> EndState:
    """Compares an episode's end state with the gold one (a single gold class may stand without a list)."""
    entries = [gold] if isinstance(gold, Mapping) else list(gold)
    if len(entries) != len(result):
        return EndState(False, WRONG_COUNT)
    errors: list[tuple[str, ...]] = []
    latest: tuple[str, ...] = ()
    for entry in entries:
        found = next((candidate for candidate in result if candidate.keys() == entry.keys()), None)
        if found is not None:
            latest = tuple(
                sentence
                for name, attributes in found.items()
                for attribute, real in attributes.items()
                for sentence in _differences(name, attribute, entry[name], real)
            )
        if latest:
            errors.append(latest)
    return EndState(False, WRONG_ATTRIBUTES, tuple(errors)) if errors else EndState(True)


def _differences(name: str, attribute: str, gold: FinalState, real: Any) -> list[str]:
    """What is wrong with one attribute; entries that the gold object lacks do not matter (Q50)."""
    if attribute not in gold:
        return [f"class({name}) attributes({attribute}) missing in possible_answer."]
    expected = gold[attribute]
    if not isinstance(expected, dict):
        return [] if expected == real else [_wrong(name, attribute, expected, real)]
    gold_entries = cast(FinalState, expected)
    entries = cast(FinalState, real if isinstance(real, dict) else {})
    sentences: list[str] = []
    for key, value in gold_entries.items():
        if key not in entries:
            sentences.append(_wrong(name, attribute, gold_entries, real))
        elif entries[key] != value:
            sentences.append(_wrong(name, f"{attribute}.{key}", value, entries[key]))
    return sentences


def _wrong(name: str, attribute: str, expected: Any, real: Any) -> str:
    return f"class({name}) attributes({attribute}) wrong, [expected: {expected}, real: {real}]"


def process_accuracy(
    milestones: Sequence[str] | Sequence[Sequence[str]], process: Sequence[str], *, end_to_end: bool
) -> float:
    """Share of milestones reached in order; 1 for a right end state, the best of alternative lists, rounded (Q53).

    Without any milestones nothing is missed; the original cannot score such a record.
    """
    if end_to_end or not milestones:
        return 1.0
    if isinstance(milestones[0], str):
        return _share_found(cast(Sequence[str], milestones), process)
    return max(
        round(_share_found(alternative, process), 3)
        for alternative in cast(Sequence[Sequence[str]], milestones)
    )


def _share_found(milestones: Sequence[str], process: Sequence[str]) -> float:
    """Milestones found in one pass over the texts; the first one not found ends it (Q51)."""
    texts = iter([text.strip() for text in process])
    found = sum(milestone.strip() in texts for milestone in milestones)
    return found / len(milestones) if milestones else 1.0
