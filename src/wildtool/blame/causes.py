"""The decision table: from which replacements mend a unit to whose fault it was. Pure, and asks for the cheapest first.

A trial is a set of parties that are right while all others are as they were recorded; the empty one is the control. Its
result says whether most of its plays end right.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from wildtool.blame.parties import ADAPTED_TO, ENDPOINT, GOLD, MODEL, PARTIES

Trial = frozenset[str]
"""The parties that are right in it."""
NO_PARTY: Trial = frozenset()
RECORDED = "recorded"
"""Stands in a trial for the replies of the record."""
JUDGED_AGAIN: Trial = frozenset({GOLD, RECORDED})
"""What is recorded, by reviewed gold answers: nothing is played."""
RIGHT_GOLD: Trial = frozenset({GOLD})
"""The plays of the control, by reviewed gold answers."""
ASKED_AGAIN: Trial = frozenset({ENDPOINT})
RIGHT_MODEL: Trial = frozenset({MODEL})
Note = Literal[
    "",
    "recoverable",
    "by chance",
    "others not excluded",
    "either alone",
    "none found",
    "gold fails too",
    "undecided",
]
"""What a cause says beside the parties: the model could have recovered; the same request mostly goes well; whether others
failed too cannot be told; each of these parties alone mends; nothing mends; nothing does, and the gold answers with a
scripted user are wrong, too; calls failed or were not made."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Whose fault a failed unit was."""

    parties: tuple[str, ...]
    """The smallest set whose replacement mends; empty where none was found."""
    note: Note = ""
    mended_by: Trial | None = None
    """The trial to show beside the original; None where nothing was played, or nothing mends."""

    @property
    def label(self) -> str:
        """The cause in words, the same for equal causes."""
        if not self.parties:
            return self.note
        between = " or " if self.note == "either alone" else " and "
        note = "" if self.note in ("", "either alone") else f", {self.note}"
        return between.join(self.parties) + note


NOT_DECIDED = Cause((), "undecided")


class _NeededError(Exception):
    def __init__(self, trials: Sequence[Trial]) -> None:
        super().__init__()
        self.trials = trials


class _MissingError(Exception):
    pass


class _Results:
    """Results of trials; asking for one that is not there stops the decision until it is."""

    def __init__(self, results: Mapping[Trial, bool | None]) -> None:
        self._results = results

    def mends(self, trials: Sequence[Trial]) -> list[Trial]:
        """Those of some trials that mend.

        Raises _NeededError where any was not played, _MissingError where any has no result.
        """
        if absent := [trial for trial in trials if trial not in self._results]:
            raise _NeededError(absent)
        if any(self._results[trial] is None for trial in trials):
            raise _MissingError
        return [trial for trial in trials if self._results[trial]]


def decide(parties: Set[str], results: Mapping[Trial, bool | None]) -> Cause | Sequence[Trial]:
    """Whose fault a unit was, or the trials to play before that is known.

    Args:
        parties: those that can be replaced in this unit.
        results: whether each trial that was played mends; None where too many of its calls failed to tell.
    """
    try:
        return _decide(parties, _Results(results))
    except _NeededError as needed:
        return needed.trials
    except _MissingError:
        return NOT_DECIDED


def rank_of(trial: Trial) -> int:
    """When a trial is played: all units take the cheaper ones first, so that each is played once."""
    if trial == ASKED_AGAIN:
        return 0
    if len(trial) <= 1:
        return 2 if trial else 1
    # Which pair it is matters only where all others together mend.
    return 3 if len(trial) > 2 else 4


def _decide(parties: Set[str], results: _Results) -> Cause:
    if GOLD in parties and results.mends([JUDGED_AGAIN]):
        return Cause((GOLD,))
    if ENDPOINT in parties and (by := results.mends([ASKED_AGAIN])):
        return Cause((ENDPOINT,), "", by[0])
    if results.mends([NO_PARTY]):
        return Cause((MODEL,), "by chance", NO_PARTY)
    if GOLD in parties and results.mends([RIGHT_GOLD]):
        return Cause((GOLD,), "", RIGHT_GOLD)
    singles = [frozenset({party}) for party in PARTIES if party in parties - {GOLD, ENDPOINT}]
    mending = results.mends(singles)
    other_trials = [trial for trial in mending if MODEL not in trial]
    if other_trials:
        return _single(other_trials, model_mends=RIGHT_MODEL in mending)
    if mending:
        return _model_or_others(parties - {MODEL}, results)
    return _minimal_sets(_pairs(parties), results) or Cause((), "none found")


def _single(trials: Sequence[Trial], *, model_mends: bool) -> Cause:
    names = tuple(party for trial in trials for party in trial)
    if len(trials) > 1:
        return Cause(names, "either alone", trials[0])
    recoverable = model_mends and names[0] in ADAPTED_TO
    return Cause(names, "recoverable" if recoverable else "", trials[0])


def _model_or_others(suspects: Set[str], results: _Results) -> Cause:
    """Of a unit that the right model mends, and no other single party: the model, unless all others together mend it."""
    every: Trial = frozenset(suspects)
    if len(every) > 1 and results.mends([every]):
        pairs = [trial for trial in _pairs(suspects) if trial != every]
        return _minimal_sets(pairs, results) or Cause(in_order(every), "", every)
    return Cause((MODEL,), "others not excluded", RIGHT_MODEL)


def _minimal_sets(pairs: Sequence[Trial], results: _Results) -> Cause | None:
    mending = results.mends(pairs)
    return Cause(in_order(mending[0]), "", mending[0]) if mending else None


def _pairs(parties: Iterable[str]) -> list[Trial]:
    """Pairs to try; a right model meets no fault of an endpoint, so that these are no pair."""
    pairs = map(frozenset, combinations(in_order(parties), 2))
    return [pair for pair in pairs if not pair >= {ENDPOINT, MODEL}]


def in_order(parties: Iterable[str]) -> tuple[str, ...]:
    """Parties as they are suspected."""
    held = set(parties)
    return tuple(party for party in PARTIES if party in held)
