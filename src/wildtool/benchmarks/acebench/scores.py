"""ACEBench's arithmetic: accuracy of a category, the row of its result sheet, both languages combined (section 10)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from math import fsum
from operator import add

from wildtool.benchmarks.acebench.data import AGENT, ATOM, CATEGORIES, FINANCE, MULTI_TURN, NORMAL, SPECIAL

SCORE_GROUPS = {"normal": NORMAL, "special": SPECIAL, "agent": AGENT}
"""The groups that the overall number weighs; within a group every category counts alike."""
OFFICIAL_WEIGHTS = {"normal": 0.578, "special": 0.2676, "agent": 0.1545}
"""Square roots of 700, 150 and 50 over their sum, as the original rounds them: they add up to 1.0001."""
_ROOTS = {"normal": 700**0.5, "special": 150**0.5, "agent": 50**0.5}
EXACT_WEIGHTS = {group: root / sum(_ROOTS.values()) for group, root in _ROOTS.items()}


@dataclass(frozen=True, slots=True)
class CategoryScore:
    """What the original writes into the first line of a category's score file."""

    accuracy: float
    """Share of valid records, of multi-turn categories share of dialogues with all turns valid (Q35)."""
    correct: int
    """Valid records; of multi-turn categories valid turns."""
    total: int
    process_accuracy: float | None = None
    """Multi-turn: mean share of valid turns of a dialogue. Agent: mean share of milestones. Else None."""


def score_category(category: str, results: Sequence[tuple[int, bool]]) -> CategoryScore:
    """The score of a Normal or Special category.

    Args:
        results: dialogue number and validity of each record, in file order; at least one.
    """
    valid = [right for _, right in results]
    correct, total = sum(valid), len(valid)
    if category in MULTI_TURN:
        turns = [[right for _, right in group] for _, group in groupby(results, key=lambda result: result[0])]
        share = sum(all(rights) for rights in turns) / len(turns)
        process = _mean([round(sum(rights) / len(rights), 3) for rights in turns])
        return CategoryScore(round(share, 3), correct, total, process)
    accuracy = correct / total
    # The original rounds every group but Special (Q36).
    return CategoryScore(accuracy if category in SPECIAL else round(accuracy, 3), correct, total)


def score_agent(results: Sequence[tuple[bool, float]]) -> CategoryScore:
    """The score of an Agent category.

    Args:
        results: validity and process accuracy of each record, in file order; at least one.
    """
    correct, total = sum(right for right, _ in results), len(results)
    return CategoryScore(
        round(correct / total, 3), correct, total, _mean([process for _, process in results])
    )


def summary_row(scores: Mapping[str, CategoryScore]) -> dict[str, float]:
    """The row of the result sheet for one language; a missing category counts as 0 (Q37).

    The original exchanges the values of `object_short` and `object_deep` (Q38); here each is under its own name.
    """

    def accuracy(category: str) -> float:
        return scores[category].accuracy if category in scores else 0.0

    def process(category: str) -> float:
        return (scores[category].process_accuracy or 0.0) if category in scores else 0.0

    atoms = {
        kind: accuracy(f"normal_atom_{kind}")
        for kind in ("bool", "enum", "number", "list", "object_deep", "object_short")
    }
    single = {
        kind: accuracy(f"normal_single_turn_{kind}") for kind in ("single_function", "parallel_function")
    }
    turns = {kind: accuracy(f"normal_multi_turn_user_{kind}") for kind in ("switch", "adjust")}
    rest = {kind: accuracy(f"normal_{kind}") for kind in ("similar_api", "preference")}
    special = {kind: accuracy(f"special_{kind}") for kind in ("incomplete", "error_param", "irrelevant")}
    agent = {kind: accuracy(f"agent_{kind}") for kind in ("multi_turn", "multi_step")}
    # The order of addition is the original's: it decides some third digits.
    normal_summary = _mean([v for part in (single, turns, rest, atoms) for v in part.values()])
    special_summary, agent_summary = _mean(special.values()), _mean(agent.values())
    return {
        **atoms,
        "atom": _mean(atoms.values()),
        **single,
        "single_turn": _mean(single.values()),
        **turns,
        "multi_turn": _mean(turns.values()),
        **rest,
        "normal": normal_summary,
        **special,
        "special": special_summary,
        "agent_multi_turn": agent["multi_turn"],
        "agent_multi_turn_process": process("agent_multi_turn"),
        "agent_multi_step": agent["multi_step"],
        "agent_multi_step_process": process("agent_multi_step"),
        "agent": agent_summary,
        "overall": round(weighted_overall(normal_summary, special_summary, agent_summary), 3),
    }


def weighted_overall(normal: float, special: float, agent: float) -> float:
    """The weighted mean of the three groups, in their unit."""
    weights = OFFICIAL_WEIGHTS
    return special * weights["special"] + normal * weights["normal"] + agent * weights["agent"]


def combine_languages(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Column by column the mean of the rows of all languages: the paper's Table 2 from its Appendix F."""
    return {column: sum(row[column] for row in rows) / len(rows) for column in rows[0]}


def _mean(values: Iterable[float]) -> float:
    numbers = list(values)
    # Added from left to right: newer Pythons' sum() compensates, and some third digits would differ.
    return round(reduce(add, numbers) / len(numbers), 3)


COLUMN_CATEGORIES: Mapping[str, tuple[str, ...]] = {
    "Overall": CATEGORIES,
    "Normal": NORMAL,
    "Special": SPECIAL,
    "Agent": AGENT,
    "Atom": ATOM,
    "Single-Turn": ("normal_single_turn_single_function", "normal_single_turn_parallel_function"),
    "Multi-Turn": MULTI_TURN,
    "Similar API": ("normal_similar_api",),
    "Preference": ("normal_preference",),
}
"""Columns of the paper's Table 2 with the categories behind them; the first one ranks models."""


@dataclass(frozen=True, slots=True)
class ItemScore:
    """One record or dialogue in one repeat."""

    item: str
    units: int
    right: int
    missing: int
    """Units without a verdict: infra errors and unplayed ones."""
    score: float
    """Sum of the units' scores."""


CategoryResults = Mapping[str, Sequence[ItemScore]]
"""What was played of each category, in the order of the data."""


@dataclass(frozen=True, slots=True)
class ScoreFormulas:
    """How a profile computes the values of its tables."""

    score: Callable[[str, Sequence[ItemScore]], CategoryScore]
    row: Callable[[Mapping[str, CategoryScore]], Mapping[str, float]]
    """The columns of Table 2; those of missing categories are of no use."""
    weights: Mapping[str, float]


def column_key(name: str) -> str:
    """The name of a column in the original's sheet."""
    return name.lower().replace(" ", "_").replace("-", "_")


def section_of(category: str) -> str:
    """Which part of the benchmark a category belongs to."""
    if category in NORMAL:
        return "Normal"
    if category in SPECIAL:
        return "Special"
    return "Agent finance" if category in FINANCE else "Agent"


def weights_of(column: str, weights: Mapping[str, float]) -> dict[str, float]:
    """What each category counts in a column, given what each group counts overall."""
    if column == "Overall":
        return {
            category: weights[group] / len(categories)
            for group, categories in SCORE_GROUPS.items()
            for category in categories
        }
    categories = COLUMN_CATEGORIES[column]
    return dict.fromkeys(categories, 1 / len(categories))


def process_of(category: str, score: ItemScore) -> float:
    """Share of right turns of a dialogue, or of milestones of an episode."""
    return score.right / score.units if category in MULTI_TURN else score.score


def _official_score(category: str, scores: Sequence[ItemScore]) -> CategoryScore:
    if category in (*AGENT, *FINANCE):
        return score_agent([(p.right == p.units, p.score) for p in scores])
    turns = [(number, turn < p.right) for number, p in enumerate(scores) for turn in range(p.units)]
    return score_category(category, turns)


def _official_row(scores: Mapping[str, CategoryScore]) -> Mapping[str, float]:
    row = summary_row(scores)
    return {name: row[column_key(name)] for name in COLUMN_CATEGORIES}


def _exact_score(category: str, scores: Sequence[ItemScore]) -> CategoryScore:
    share = sum(p.right == p.units for p in scores) / len(scores)
    right, units = sum(p.right for p in scores), sum(p.units for p in scores)
    has_process = category in (*MULTI_TURN, *AGENT, *FINANCE)
    process = sum(process_of(category, p) for p in scores) / len(scores) if has_process else None
    return CategoryScore(share, right, units, process)


def _exact_row(scores: Mapping[str, CategoryScore]) -> Mapping[str, float]:
    row: dict[str, float] = {}
    for name in COLUMN_CATEGORIES:
        weights = weights_of(name, EXACT_WEIGHTS)
        weighted = [weight * scores[c].accuracy for c, weight in weights.items() if c in scores]
        # Divided by what the weights add up to in floating point, so that all right is 1.
        row[name] = fsum(weighted) / fsum(weights.values())
    return row


OFFICIAL_FORMULAS = ScoreFormulas(_official_score, _official_row, OFFICIAL_WEIGHTS)
SCORE_FORMULAS = {
    "official": OFFICIAL_FORMULAS,
    "official-2025-08": OFFICIAL_FORMULAS,
    "fixed": ScoreFormulas(_exact_score, _exact_row, EXACT_WEIGHTS),
}
