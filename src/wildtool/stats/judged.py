"""What an imperfect judge's passes say: how often it is right by kind of case, and what rate lies behind its scores.

Throughout, tp is the share of right cases that a judge passes, tn the share of wrong ones that it does not pass, and
J = tp + tn - 1. `bench/judges.py` measures the coverage of everything here; docs/statistics.md has the table.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import fmean, variance

from wildtool.errors import UsageError
from wildtool.stats.beta import exact_rate
from wildtool.stats.intervals import Z95, t_quantile, weighted_sum
from wildtool.stats.power import FACTOR
from wildtool.stats.tests import ItemPair


@dataclass(frozen=True, slots=True)
class JudgedShare:
    """A share with its 95 % interval."""

    value: float
    low: float
    high: float
    size: float
    """Independent observations that would know it as well: not whole, and never more than there are."""

    @property
    def spread(self) -> float:
        """Its sampling variance."""
        return self.value * (1 - self.value) / self.size


LabelledCase = tuple[str, str, bool]
"""Item, kind, and whether the judge was right about it."""


def exact_share(right: float, size: float) -> JudgedShare:
    """A share of independent observations with the exact interval of Clopper and Pearson (1934).

    Args: right, size: above 0; not whole where they are effective numbers.
    """
    return JudgedShare(right / size, *exact_rate(right, size), size)


_CASES_OF_ALIKE = 2


def mean_over_kinds(cases: Iterable[LabelledCase]) -> JudgedShare | None:
    """The mean over kinds of the share that a judge got right; None without cases.

    The interval is exact on the effective number of cases (Korn and Graubard 1998), which is what the sandwich variance
    by item implies, less what few items say of that variance; at most the number of cases.
    """
    by_kind: dict[str, list[bool]] = defaultdict(list)
    every = list(cases)
    for _, kind, right in every:
        by_kind[kind].append(right)
    if not every:
        return None
    shares = {kind: fmean(rights) for kind, rights in by_kind.items()}
    weights = {kind: 1 / len(by_kind) / len(rights) for kind, rights in by_kind.items()}
    value = min(1.0, fmean(shares.values()))
    residuals: dict[str, float] = defaultdict(float)
    for item, kind, right in every:
        count = len(by_kind[kind])
        # A kind's own mean takes one of its degrees of freedom.
        scale = math.sqrt(count / (count - 1)) if count > 1 else 1.0
        residuals[item] += scale * weights[kind] * (right - shares[kind])
    size = _effective_size(value, list(residuals.values()), weights, by_kind, len(every))
    return exact_share(value * size, size)


def _effective_size(
    value: float,
    residuals: Sequence[float],
    weights: Mapping[str, float],
    by_kind: Mapping[str, Sequence[bool]],
    cases: int,
) -> float:
    items = len(residuals)
    if items < 2:
        return 1.0
    # Kinds of few cases weigh as much as others: that many equal cases would know a mean as well (Kish).
    most = 1 / sum(len(rights) * weights[kind] ** 2 for kind, rights in by_kind.items())
    spread = sum(each * each for each in residuals)
    # Without any spread nothing shows how alike the cases of an item are: then an item counts as two at most.
    size = value * (1 - value) / spread if spread else min(most, _CASES_OF_ALIKE * items)
    certainty = (t_quantile(0.975, cases - 1) / t_quantile(0.975, items - 1)) ** 2
    return max(1.0, min(most, size * certainty))


def youden(tp: JudgedShare, tn: JudgedShare) -> tuple[float, float, float]:
    """J with its 95 % interval, recovered from those of its parts (Zou and Donner 2008)."""
    both, low, high = weighted_sum([(1, (rate.value, rate.low, rate.high)) for rate in (tp, tn)])
    return both - 1, max(-1.0, low - 1), min(1.0, high - 1)


@dataclass(frozen=True, slots=True)
class CorrectedRate:
    """The rate of right units behind a judge's share of passes."""

    value: float | None
    """None where nothing can be said: the judge may be no better than chance. Outside [0, 1] where the passes cannot come
    from a judge of such tp and tn: then it errs otherwise in this run than in its audit."""
    low: float = 0.0
    high: float = 1.0

    @property
    def is_outside(self) -> bool:
        """Whether no rate, or no difference, explains the passes."""
        return self.value is not None and not self.low <= self.value <= self.high


def corrected_rate(passed: JudgedShare, tp: JudgedShare, tn: JudgedShare) -> CorrectedRate:
    """The rate behind a share of passes, by the interval of Lang and Reiczigel (2014), all on effective numbers,
    widened to hold the rate itself.

    Nothing is said, and the interval is [0, 1], where the lower end of J's interval is not above 0.
    """
    if youden(tp, tn)[1] <= 0:
        return CorrectedRate(None)
    square = Z95 * Z95
    size, tp_size, tn_size = passed.size + square, tp.size + 2, tn.size + 2
    share = (passed.size * passed.value + square / 2) / size
    sensitivity, specificity = (tp.size * tp.value + 1) / tp_size, (tn.size * tn.value + 1) / tn_size
    j = sensitivity + specificity - 1
    rate = (share + specificity - 1) / j
    tp_spread = sensitivity * (1 - sensitivity) / tp_size
    tn_spread = specificity * (1 - specificity) / tn_size
    shift = 2 * square * (rate * tp_spread - (1 - rate) * tn_spread)
    error = math.sqrt(share * (1 - share) / size + rate**2 * tp_spread + (1 - rate) ** 2 * tn_spread) / j
    # By Rogan and Gladen (1978). The interval is about another centre, from which few cases lie far apart.
    value = (passed.value + tn.value - 1) / (tp.value + tn.value - 1)
    ends = (value, rate + shift - Z95 * error, rate + shift + Z95 * error)
    low, *_, high = sorted(min(1.0, max(0.0, end)) for end in ends)
    return CorrectedRate(value, low, high)


def corrected_difference(
    only_first: int, only_second: int, units: int, tp: JudgedShare, tn: JudgedShare
) -> CorrectedRate:
    """The difference (second minus first) of the rates of two models on the same units, behind one judge's passes.

    Args:
        only_first, only_second: units that the judge passes of one model only.

    Raises UsageError for more of them than there are units.
    """
    if only_first < 0 or only_second < 0 or not 0 < units >= only_first + only_second:
        raise UsageError(
            f"only_first={only_first} and only_second={only_second} of units={units}: give units above 0, and at most as "
            "many that one model passes alone"
        )
    j, low, _ = youden(tp, tn)
    if low <= 0:
        return CorrectedRate(None, -1.0, 1.0)
    gap, apart = (only_second - only_first) / units, (only_first + only_second) / units
    value = gap / j
    error = math.sqrt((apart - gap * gap) / units / j**2 + value**2 * (tp.spread + tn.spread) / j**2)
    return CorrectedRate(value, max(-1.0, value - Z95 * error), min(1.0, value + Z95 * error))


def smallest_difference(discordance: float, units: int, j: float) -> float | None:
    """The difference of two models that a judge shows at 0.05 with a power of 0.8; None where J is not above 0.

    Args:
        discordance: share of units of which the judge passes one model only.
    """
    return min(1.0, FACTOR * math.sqrt(discordance / units) / j) if j > 0 else None


def discordance_of(tp: float, tn: float, rate: float = 0.5, apart: float = 0.2) -> float:
    """The discordance of a judge of two models, `apart` of whose units differ truly, and of the rest `rate` are right."""
    truly = tp * tn + (1 - tp) * (1 - tn)
    alike = rate * 2 * tp * (1 - tp) + (1 - rate) * 2 * tn * (1 - tn)
    return apart * truly + (1 - apart) * alike


def rate_with_labels(labelled: Sequence[tuple[bool, bool]], passed: Sequence[bool]) -> CorrectedRate:
    """The rate of right units where some units of this run have labels, by prediction-powered inference (PPI++,
    Angelopoulos and others 2023). It needs no audit, and no assumption about the judge.

    Args:
        labelled: of each labelled unit the label and whether the judge passes it; at least 2.
        passed: of each other unit whether the judge passes it.

    Raises UsageError for fewer labels.
    """
    if len(labelled) < 2:
        raise UsageError(f"labelled= has {len(labelled)}; give at least 2 units with labels")
    labels, judged = [float(label) for label, _ in labelled], [float(its) for _, its in labelled]
    unlabelled = list(map(float, passed))
    count, rest = len(labels), len(unlabelled)
    mean, judged_mean = fmean(labels), fmean(judged)
    spread = variance(judged + unlabelled)
    both = sum((y - mean) * (f - judged_mean) for y, f in zip(labels, judged, strict=True)) / (count - 1)
    trust = min(1.0, max(0.0, both / spread / (1 + count / rest))) if spread and rest else 0.0
    value = min(1.0, max(0.0, mean + trust * ((fmean(unlabelled) if rest else 0.0) - judged_mean)))
    # One more unit of either error for the variance alone, as in `wildtool.stats.tests.difference`: no width collapses
    # where the judge agrees with all labels.
    pairs = [*zip(labels, judged, strict=True), (1.0, 0.0), (0.0, 1.0)]
    remaining = variance([y - trust * f for y, f in pairs])
    error = math.sqrt(remaining / count + (trust**2 * spread / rest if rest else 0.0))
    half = t_quantile(0.975, count - 1) * error
    return CorrectedRate(value, max(0.0, value - half), min(1.0, value + half))


def pairs_by_item(differences: Iterable[tuple[str, int]]) -> list[ItemPair]:
    """Differences of twins (1, 0 or -1) summed by item, as the sign-flip test takes them."""
    sums: dict[str, list[int]] = defaultdict(list)
    for item, difference in differences:
        sums[item].append(difference)
    return [ItemPair(Fraction(sum(its)), len(its)) for its in sums.values()]
