"""All figures of a review: rounds and when to stop, agreement of people, precision of each rule's warnings."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from wildtool.stats.intervals import wilson
from wildtool.types import Metric
from wildtool_data.formats.base import ReviewFormat
from wildtool_data.pointers import differences, overlap
from wildtool_review.history import ItemHistory, Pass
from wildtool_review.project import ReviewProject
from wildtool_review.rounds import round_qualities, stop_rule

Edges = frozenset[tuple[int, int]]
"""The dependencies of one task's graph, as (source, target)."""

_VERDICTS: Mapping[str, str | None] = {"discuss": None, "reject": "reject"}
"""Of decisions; every other one approves."""


def raw_agreement(pairs: Sequence[tuple[Hashable, Hashable]]) -> float | None:
    """Share of pairs of labels that are equal; None for no pairs."""
    return sum(first == other for first, other in pairs) / len(pairs) if pairs else None


def cohen_kappa(pairs: Sequence[tuple[Hashable, Hashable]]) -> float | None:
    """Cohen's kappa (1960): agreement beyond what two raters with these rates would have by chance.

    Args: pairs: for each item the label of the first and of the second rater.

    Returns: from -1 to 1; None if chance alone gives full agreement (one label only) or there are no pairs.
    """
    observed = raw_agreement(pairs)
    if observed is None:
        return None
    first, second = (Counter(pair[k] for pair in pairs) for k in (0, 1))
    expected = sum(first[label] * second[label] for label in first) / len(pairs) ** 2
    return None if expected == 1 else (observed - expected) / (1 - expected)


def krippendorff_alpha(units: Iterable[Sequence[Hashable | None]]) -> float | None:
    """Krippendorff's alpha for nominal labels, any number of raters, and missing labels (Krippendorff 2011).

    Args: units: for each item the labels of its raters; None where a rater gave none.

    Returns: at most 1; None if no item has two labels, or all labels are equal.
    """
    disagreements = 0.0
    totals: Counter[Hashable] = Counter()
    for unit in units:
        counts = Counter(label for label in unit if label is not None)
        size = counts.total()
        if size > 1:
            totals += counts
            disagreements += sum(count * (size - count) for count in counts.values()) / (size - 1)
    n = totals.total()
    expected = sum(count * (n - count) for count in totals.values())
    return 1 - (n - 1) * disagreements / expected if expected else None


def edge_f1(pairs: Sequence[tuple[Edges, Edges]]) -> float | None:
    """F1 of two people's dependencies over all tasks together, the same in either direction; None without any edge."""
    shared = sum(len(first & other) for first, other in pairs)
    total = sum(len(first) + len(other) for first, other in pairs)
    return 2 * shared / total if total else None


def text_distance(first: str, other: str) -> float:
    """Levenshtein distance between two texts, divided by the length of the longer one: 0 for equal ones, at most 1."""
    from rapidfuzz.distance import Levenshtein

    return Levenshtein.normalized_distance(first, other)


LabelPair = tuple[str, str]


@dataclass(slots=True)
class AgreementData:
    """What two people said about the same item, for each pair of people and each review of an item."""

    verdicts: list[LabelPair] = field(default_factory=list[LabelPair])
    """Approved or rejected; what was sent to discussion is left out."""
    units: list[Sequence[str | None]] = field(default_factory=list[Sequence[str | None]])
    """For each review the verdicts of all its people."""
    reasons: list[Sequence[str | None]] = field(default_factory=list[Sequence[str | None]])
    """For each review the reason codes of all its people, as one text each."""
    types: list[LabelPair] = field(default_factory=list[LabelPair])
    subtypes: list[LabelPair] = field(default_factory=list[LabelPair])
    graphs: list[tuple[Edges, Edges]] = field(default_factory=list[tuple[Edges, Edges]])
    rewrites: list[LabelPair] = field(default_factory=list[LabelPair])
    """User texts that both rewrote."""
    candidates: list[LabelPair] = field(default_factory=list[LabelPair])
    """Candidates that both chose for one text."""
    warnings: Counter[str] = field(default_factory=Counter[str])
    """How often each rule found something in a version that was reviewed."""
    confirmed: Counter[str] = field(default_factory=Counter[str])
    """How often people then changed that part, or rejected the item."""


def agreement_data(format_: ReviewFormat, items: Iterable[ItemHistory]) -> AgreementData:
    """Everything that figures of agreement are computed from."""
    data = AgreementData()
    for item in items:
        contents = {version.digest: version.content for version in item.versions}
        for past in item.passes:
            base = contents.get(past.base)
            if len(past.people) > 1 and past.complete:
                _add_pass(data, format_, base, past)
            if past.outcome is not None and base is not None:
                _add_warnings(data, item, past, base, contents.get(past.outcome.version))
    return data


def _add_pass(data: AgreementData, format_: ReviewFormat, base: object, past: Pass) -> None:
    people = sorted(past.people)
    decisions = [past.decisions[person] for person in people]
    verdicts = [_VERDICTS.get(str(entry.after), "approve") for entry in decisions]
    data.units.append(verdicts)
    data.reasons.append([" ".join(sorted(entry.reason)) if entry.reason else None for entry in decisions])
    before = format_.user_texts(base)
    for (k, person), (m, other) in combinations(enumerate(people), 2):
        first, second = verdicts[k], verdicts[m]
        if first is not None and second is not None:
            data.verdicts.append((first, second))
        contents = [past.branches[name].content for name in (person, other)]
        strata = zip(*(format_.facets(content).strata for content in contents), strict=False)
        for (type_, subtype), (other_type, other_subtype) in strata:
            data.types.append((type_, other_type))
            data.subtypes.append((subtype, other_subtype))
        data.graphs += zip(*map(format_.written_edges, contents), strict=False)
        for old, new, newer in zip(before, *map(format_.user_texts, contents), strict=False):
            if old not in (new, newer):
                data.rewrites.append((new, newer))
        entries = [past.branches[name].entries for name in (person, other)]
        changes = [{e.field: str(e.reason) for e in own if e.kind == "choose"} for own in entries]
        data.candidates += ((changes[0][text], changes[1][text]) for text in changes[0] if text in changes[1])


def _add_warnings(data: AgreementData, item: ItemHistory, past: Pass, base: object, final: object) -> None:
    assert past.outcome is not None
    touched = [change.field for change in differences(base, final)]
    for finding in item.findings(past.base) or ():
        data.warnings[finding.rule] += 1
        rejected = past.outcome.after == "reject"
        data.confirmed[finding.rule] += rejected or any(overlap(finding.field, place) for place in touched)


def review_figures(project: ReviewProject, bound: float | None = None) -> list[Metric]:
    """All figures, as tables.

    Args: bound: see `wildtool_review.rounds.stop_rule`.
    """
    stages = Counter(item.stage for item in project.state.items.values())
    total = len(project.state.items)
    figures = [Metric("items", name, None, count, total, kind="count") for name, count in stages.items()]
    figures += _rounds(project, bound)
    reviewed = [item.id for item in project.state.items.values() if item.passes]
    data = agreement_data(project.format, project.histories(reviewed))
    # What nothing was counted for would only fill the table with dashes.
    return figures + [metric for metric in _agreement(data) if metric.denominator]


def _rounds(project: ReviewProject, bound: float | None) -> Iterator[Metric]:
    for quality in round_qualities(project.state):
        right = quality.ended - quality.errors
        note = (
            f"{quality.sampled - quality.ended} of {quality.sampled} have no result yet"
            if quality.ended < quality.sampled
            else ""
        )
        yield Metric(
            "quality by round", str(quality.number), quality.rate, right, quality.ended, quality.low, quality.high,
            target=quality.published, note=note,
        )  # fmt: skip
    rule = stop_rule(project.state, bound)
    yield Metric("stop rule", "items reviewed", None, rule.covered, rule.total, kind="count")
    yield Metric("stop rule", "open conflicts", None, rule.open_conflicts, rule.total, kind="count")
    if rule.last_errors is not None:
        size = len(project.state.rounds[-1].items)
        yield Metric("stop rule", "errors in the last round", None, rule.last_errors, size, kind="count")
    yield Metric("stop rule", "may stop", None, int(rule.met), 1, kind="count")


def _agreement(data: AgreementData) -> Iterator[Metric]:
    group = "agreement"
    pairs = len(data.verdicts)
    equal = sum(first == other for first, other in data.verdicts)
    low, high = wilson(equal / pairs, pairs) if pairs else (None, None)
    yield Metric(group, "same verdict", raw_agreement(data.verdicts), equal, pairs, low, high)
    rewrites = [text_distance(*pair) for pair in data.rewrites]
    exact = sum(first == other for first, other in data.graphs)
    means: list[tuple[str, float | None, int]] = [
        ("Cohen's kappa, verdict", cohen_kappa(data.verdicts), pairs),
        ("Krippendorff's alpha, verdict", krippendorff_alpha(data.units), len(data.units)),
        ("Krippendorff's alpha, reasons", krippendorff_alpha(data.reasons), len(data.reasons)),
        ("Cohen's kappa, type", cohen_kappa(data.types), len(data.types)),
        ("Cohen's kappa, subtype", cohen_kappa(data.subtypes), len(data.subtypes)),
        ("edge F1", edge_f1(data.graphs), len(data.graphs)),
        ("edit distance of rewrites", sum(rewrites) / len(rewrites) if rewrites else None, len(rewrites)),
    ]
    for name, value, count in means:
        yield Metric(group, name, value, (value or 0) * count, count, kind="mean")
    shares = ("same graph", exact, len(data.graphs)), (
        "same candidate", sum(first == other for first, other in data.candidates), len(data.candidates)
    )  # fmt: skip
    for name, count, of in shares:
        yield Metric(group, name, count / of if of else None, count, of)
    for rule, count in sorted(data.warnings.items()):
        right = data.confirmed[rule]
        yield Metric(
            "precision of warnings", rule, right / count, right, count, *wilson(right / count, count)
        )
