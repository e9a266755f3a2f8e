"""Judges that read nothing: each sign alone, and all of them in a logistic model."""

from collections.abc import Mapping, Sequence

import numpy as np

from wildtool.judges.cases import JudgeCase
from wildtool.judges.signs import signs

FOLDS = 5


def blind_informedness(cases: Sequence[JudgeCase]) -> Mapping[str, float]:
    """J of judges that read nothing: of the best bound of each sign, and of a logistic model of all signs. Each is
    fitted to other items than those that it judges, so that 0 is what nothing to see gives.

    Args:
        cases: without twins; right and wrong ones.
    """
    rows = [signs(case.messages[case.start :], shown=case.start, tools=len(case.tools)) for case in cases]
    names = [*rows[0]] if rows else []
    table = np.array([[row[name] for name in names] for row in rows], dtype=float)
    right = np.array([case.right for case in cases])
    fold = _folds([case.item for case in cases])
    scores = {name: _of_bounds(table[:, place], right, fold) for place, name in enumerate(names)}
    return {**scores, "all signs, logistic": _of_logistic(table, right, fold)}


def _folds(items: Sequence[str]) -> np.ndarray:
    places = {item: place for place, item in enumerate(dict.fromkeys(items))}
    return np.array([places[item] % FOLDS for item in items])


def informedness(passed: np.ndarray, right: np.ndarray) -> float:
    """P(pass | right) + P(not pass | wrong) - 1; 0 where all are right, or all wrong."""
    if right.all() or not right.any():
        return 0.0
    return float(passed[right].mean() - passed[~right].mean())


def _of_bounds(values: np.ndarray, right: np.ndarray, fold: np.ndarray) -> float:
    passed = np.zeros(len(values), dtype=bool)
    for number in range(FOLDS):
        train = fold != number
        bound, upwards = _best_bound(values[train], right[train])
        passed[~train] = (values[~train] >= bound) == upwards
    return informedness(passed, right)


def _best_bound(values: np.ndarray, right: np.ndarray) -> tuple[float, bool]:
    bounds = np.unique(values)
    gains = [informedness(values >= bound, right) for bound in bounds]
    best = int(np.argmax(np.abs(gains)))
    return float(bounds[best]), gains[best] >= 0


def _of_logistic(table: np.ndarray, right: np.ndarray, fold: np.ndarray, *, penalty: float = 1.0) -> float:
    """Newton's steps for a logistic model with a small penalty."""
    spread = table.std(axis=0)
    scaled = np.column_stack(
        [(table - table.mean(axis=0)) / np.where(spread > 0, spread, 1), np.ones(len(table))]
    )
    passed = np.zeros(len(table), dtype=bool)
    for number in range(FOLDS):
        train = fold != number
        weights = np.zeros(scaled.shape[1])
        for _ in range(20):
            chance = 1 / (1 + np.exp(-np.clip(scaled[train] @ weights, -30, 30)))
            slope = scaled[train].T @ (right[train] - chance) - penalty * weights
            curve = (scaled[train] * (chance * (1 - chance))[:, None]).T @ scaled[train]
            weights += np.linalg.solve(curve + penalty * np.eye(len(weights)), slope)
        passed[~train] = scaled[~train] @ weights >= 0
    return informedness(passed, right)
