"""How far people agree: pure figures over what each of them said."""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence

Edges = frozenset[tuple[int, int]]
"""The dependencies of one task's graph, as (source, target)."""


def raw_agreement(pairs: Sequence[tuple[Hashable, Hashable]]) -> float | None:
    """Share of pairs of labels that are equal; None for no pairs."""
    return sum(one == other for one, other in pairs) / len(pairs) if pairs else None


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
    shared = sum(len(one & other) for one, other in pairs)
    total = sum(len(one) + len(other) for one, other in pairs)
    return 2 * shared / total if total else None


def text_distance(one: str, other: str) -> float:
    """Levenshtein distance between two texts, divided by the length of the longer one: 0 for equal ones, at most 1."""
    from rapidfuzz.distance import Levenshtein

    return Levenshtein.normalized_distance(one, other)
