"""Two versions of the texts of a catalogue, compared on the same requests."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from wildtool.engine.compare.pairs import Share, UnitKey, UnitScores, pair_units, share
from wildtool.engine.compare.runs import caveats
from wildtool.errors import UsageError
from wildtool.tools.confusion import ChoiceReport, ChosenTool


@dataclass(frozen=True, slots=True)
class VersionPart:
    """Some requests under two versions of a catalogue."""

    name: str
    requests: int
    old: float
    """Share that is right."""
    new: float
    difference: float
    low: float
    """Lower end of its 95 % interval."""
    high: float
    p: float
    """Of the exact paired test."""
    gained: int
    lost: int
    missing: int
    """Requests that lack a verdict in a version, since calls failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionComparison:
    """Two versions of the texts of a catalogue, on the same requests."""

    old: ChoiceReport
    new: ChoiceReport
    edited: frozenset[str]
    """Tools whose name, text or parameters differ, or that only one version has."""
    parts: Sequence[VersionPart]
    """All requests; those for changed tools and for the others; by finding those for tools that lost it."""
    flips: Sequence[tuple[ChosenTool, ChosenTool]]
    """Requests that are right more often in one version, whatever calls that failed would have given: a choice of the
    old version beside one of the new, of which one is right."""
    caveats: Sequence[str]
    """What else the two runs differ in."""


def pair_versions(
    old: Sequence[ChoiceReport], new: Sequence[ChoiceReport]
) -> list[tuple[ChoiceReport, ChoiceReport]]:
    """Old and new runs of the same models. Raises UsageError where there is none, or a model has several in a version."""
    for version in (old, new):
        for model, number in Counter(each.result.model for each in version).items():
            if number > 1:
                folders = [str(each.result.folder) for each in version if each.result.model == model]
                raise UsageError(
                    f"{model}: a version has several runs ({', '.join(folders)}); name one of them"
                )
    by_model = {each.result.model: each for each in new}
    pairs = [(each, by_model[each.result.model]) for each in old if each.result.model in by_model]
    if not pairs:
        raise UsageError("no model was asked with both versions; put the same requests to one model")
    return pairs


def compare_versions(old: ChoiceReport, new: ChoiceReport) -> VersionComparison:
    """Compares two versions. Raises UsageError where they have other requests, or other models were asked."""
    if old.result.model != new.result.model:
        raise UsageError(
            f"the versions were put to {old.result.model} and {new.result.model}; take one model"
        )
    texts = [{each.key: each.text for each in report.choices} for report in (old, new)]
    if texts[0] != texts[1]:
        raise UsageError(
            "the two runs have other requests; give both versions the same files with --requests, and let both end"
        )
    names = {*old.definitions} | {*new.definitions}
    edited = frozenset(name for name in names if old.definitions.get(name) != new.definitions.get(name))
    expected: dict[UnitKey, set[str]] = defaultdict(set)
    for each in (*old.choices, *new.choices):
        expected[each.key].add(each.expected)
    touched = {key for key, tools in expected.items() if tools & edited}
    selections: dict[str, set[UnitKey]] = {"all requests": {*expected}}
    if touched and touched != {*expected}:
        selections |= {"for changed tools": touched, "for the others": {*expected} - touched}
    fixed = _lost_findings(old, new)
    for rule, tools in fixed.items():
        selections[f"finding fixed: {rule}"] = {key for key, its in expected.items() if its & tools}
    parts = [part for name, keys in selections.items() if (part := _part(name, old, new, keys)) is not None]
    remarks = caveats([replace(old.run, label="old"), replace(new.run, label="new")])
    return VersionComparison(
        old=old, new=new, edited=edited, parts=parts, flips=_flips(old, new), caveats=remarks
    )


def _flips(old: ChoiceReport, new: ChoiceReport) -> list[tuple[ChosenTool, ChosenTool]]:
    """The requests that count as lost or gained, those that are lost first."""
    keys = {each.key for each in old.choices}
    before, after = (_scores(report.choices, keys) for report in (old, new))
    first_old, first_new = (
        {(each.key, each.outcome): each for each in reversed(report.choices)} for report in (old, new)
    )
    losses = [key for key in keys if after.shares[key] + after.missing.get(key, 0) < before.shares[key]]
    gained = [key for key in keys if before.shares[key] + before.missing.get(key, 0) < after.shares[key]]
    return [
        *((first_old[key, "correct"], first_new[key, "wrong"]) for key in sorted(losses)),
        *((first_old[key, "wrong"], first_new[key, "correct"]) for key in sorted(gained)),
    ]


def _lost_findings(old: ChoiceReport, new: ChoiceReport) -> dict[str, set[str]]:
    """By rule the tools of both versions that have a finding of it in the old one alone."""
    before, after = (
        {(each.rule, each.where) for report in side.tools for each in report.findings} for side in (old, new)
    )
    fixed: dict[str, set[str]] = defaultdict(set)
    for rule, name in sorted(before - after):
        if name in new.definitions:
            fixed[rule].add(name)
    return fixed


def _part(name: str, old: ChoiceReport, new: ChoiceReport, keys: set[UnitKey]) -> VersionPart | None:
    sides = [_scores(report.choices, keys) for report in (old, new)]
    pairs = pair_units(*sides)
    if pairs is None:
        return None
    before, after = (float(sum(side.shares.values())) / len(side.shares) for side in sides)
    drop, p = pairs.difference, pairs.test()[0]
    change = (before, after, drop.value, drop.low, drop.high, p)
    return VersionPart(name, pairs.units, *change, pairs.gained, pairs.lost, pairs.missing)


def _scores(choices: Sequence[ChosenTool], keys: set[UnitKey]) -> UnitScores:
    counts: dict[UnitKey, list[int]] = defaultdict(lambda: [0, 0, 0])
    for each in choices:
        if each.key in keys:
            count = counts[each.key]
            count[0] += each.outcome == "correct"
            count[1] += each.outcome not in ("correct", "wrong")
            count[2] += 1
    shares: dict[UnitKey, Share] = {key: share(right, tries) for key, (right, _, tries) in counts.items()}
    missing: dict[UnitKey, Share] = {
        key: share(missing, tries) for key, (_, missing, tries) in counts.items() if missing
    }
    return UnitScores(shares, missing)
