"""Judges that read nothing: the signs by which right and wrong cases must not be told apart."""

import json
import math
from collections.abc import Mapping, Sequence

import numpy as np

from wildtool.json_codec import as_object, as_objects
from wildtool.judges.cases import JudgeCase
from wildtool.judges.unmarked import MARKS
from wildtool.types import Message

FOLDS = 5


def signs(judged: Sequence[Message], *, shown: int = 0, tools: int = 0) -> dict[str, float]:
    """Numbers that say how a judged part looks, by name.

    Args:
        judged: the judged messages.
        shown: messages before them.
        tools: tools that are offered.
    """
    own = [message for message in judged if message.get("role") == "assistant"]
    calls = [call for message in own for call in as_objects(message.get("tool_calls"))]
    arguments = [str(as_object(call.get("function")).get("arguments")) for call in calls]
    texts = [str(message.get("content") or "") for message in own]
    text_and_arguments = "".join([*texts, *arguments])
    last = own[-1] if own else {}
    ids = [str(call.get("id")) for call in calls]
    return {
        "ends with a call": float(bool(last.get("tool_calls"))),
        "ends without a word": float(not last.get("content")),
        "length": math.log1p(len(text_and_arguments)),
        "length of the last text": math.log1p(len(texts[-1]) if texts else 0),
        "messages": float(len(judged)),
        "own messages": float(len(own)),
        "calls": float(len(calls)),
        "words beside calls": float(sum(bool(m.get("content") and m.get("tool_calls")) for m in own)),
        "arguments": float(sum(len(_keys(text)) for text in arguments)),
        "keys in order": float(all(_keys(text) == sorted(_keys(text)) for text in arguments)),
        "lines": math.log1p(text_and_arguments.count("\n")),
        "escapes": math.log1p(text_and_arguments.count("\\u")),
        "digits": math.log1p(sum(map(str.isdigit, text_and_arguments))),
        "minus signs": math.log1p(text_and_arguments.count("-")),
        "one call twice": float(
            len({*map(json.dumps, (call.get("function") for call in calls))}) < len(calls)
        ),
        "ids in order": float(ids == sorted(ids, key=lambda id_: (len(id_), id_))),
        "marks": float(MARKS.search(text_and_arguments) is not None),
        "messages before": float(shown),
        "tools": float(tools),
    }


def signs_of(case: JudgeCase) -> dict[str, float]:
    """The signs of a case."""
    return signs(case.messages[case.start :], shown=case.start, tools=len(case.tools))


def blind_informedness(cases: Sequence[JudgeCase]) -> Mapping[str, float]:
    """J of judges that read nothing: of the best bound of each sign, and of a logistic model of all signs. Each is
    fitted to other items than those that it judges, so that 0 is what nothing to see gives.

    Args:
        cases: without twins; right and wrong ones.
    """
    rows = [signs_of(case) for case in cases]
    names = [*rows[0]] if rows else []
    table = np.array([[row[name] for name in names] for row in rows], dtype=float)
    right = np.array([case.right for case in cases])
    fold = _folds([case.item for case in cases])
    scores = {name: _of_bounds(table[:, place], right, fold) for place, name in enumerate(names)}
    return {**scores, "all signs, logistic": _of_logistic(table, right, fold)}


def _keys(text: str) -> list[str]:
    try:
        return [*as_object(json.loads(text))]
    except ValueError:
        return []


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
