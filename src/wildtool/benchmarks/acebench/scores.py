"""ACEBench's arithmetic: accuracy of a category, the row of its result sheet, both languages combined (section 10)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from operator import add

from wildtool.benchmarks.acebench.data import AGENT, MULTI_TURN, NORMAL, SPECIAL

GROUPS = {"normal": NORMAL, "special": SPECIAL, "agent": AGENT}
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
        whole = sum(all(rights) for rights in turns) / len(turns)
        process = _mean([round(sum(rights) / len(rights), 3) for rights in turns])
        return CategoryScore(round(whole, 3), correct, total, process)
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

    The original exchanges the values of `object_short` and `object_deep` (Q38); here each stands under its own name.
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
    others = {kind: accuracy(f"normal_{kind}") for kind in ("similar_api", "preference")}
    special = {kind: accuracy(f"special_{kind}") for kind in ("incomplete", "error_param", "irrelevant")}
    agent = {kind: accuracy(f"agent_{kind}") for kind in ("multi_turn", "multi_step")}
    # The order of addition is the original's: it decides some third digits.
    normal_summary = _mean([v for part in (single, turns, others, atoms) for v in part.values()])
    special_summary, agent_summary = _mean(special.values()), _mean(agent.values())
    return {
        **atoms,
        "atom": _mean(atoms.values()),
        **single,
        "single_turn": _mean(single.values()),
        **turns,
        "multi_turn": _mean(turns.values()),
        **others,
        "normal": normal_summary,
        **special,
        "special": special_summary,
        "agent_multi_turn": agent["multi_turn"],
        "agent_multi_turn_process": process("agent_multi_turn"),
        "agent_multi_step": agent["multi_step"],
        "agent_multi_step_process": process("agent_multi_step"),
        "agent": agent_summary,
        "overall": round(overall(normal_summary, special_summary, agent_summary), 3),
    }


def overall(normal: float, special: float, agent: float) -> float:
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
