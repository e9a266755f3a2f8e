"""What an answer does otherwise than gold: another value, another call, a call too early, a text in place of a call."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from wildtool.benchmarks.acebench.judge import AceBenchRules
from wildtool.benchmarks.wildtoolbench.data import ANSWER, ASK, VIRTUAL, GoldNode
from wildtool.benchmarks.wildtoolbench.official.arguments import CORRECT
from wildtool.json_codec import as_list, as_object, as_objects
from wildtool.trace import SaidCall
from wildtool_data.formats.items import ITEMS
from wildtool_data.formats.sessions import SESSIONS
from wildtool_data.pointers import (
    ABSENT,
    Change,
    canonical,
    pointer,
    pointer_parts,
    same_json,
    value_at,
)
from wildtool_review.replies.rejudge import JudgedUnit

DeviationKind = Literal["value", "call", "order", "several", "alternative", "calls", "extra call", "text"]
"""What the models do: another value of an argument, another call, a call earlier than its dependencies allow, several
of these, an answer that gold does not have, other calls, a call beyond gold, or a text in place of a call."""


@dataclass(frozen=True, slots=True)
class Deviation:
    """One thing that an answer does otherwise than gold."""

    kind: DeviationKind
    field: str
    """JSON pointer of the part of gold that differs; empty if there is none."""
    gold: Any
    """What gold has there; ABSENT or None if it has nothing."""
    answer: Any
    """What the answer has instead; ABSENT if it leaves it out."""
    changes: tuple[Change, ...] = ()
    """The edit that would accept it; empty if none is known."""
    beside: tuple[Change, ...] = ()
    """The edit that accepts it beside gold; empty if that cannot be."""

    @property
    def key(self) -> Hashable:
        """Equal for answers that do the same; case and blanks of texts do not count."""
        return (
            self.kind,
            self.field,
            canonical(_folded(self.answer)),
            tuple(change.field for change in self.changes),
        )


def present(value: Any) -> Any:
    """A value as it is shown: None where there is none."""
    return None if value is ABSENT else value


def _folded(value: Any) -> Any:
    if isinstance(value, str):
        return " ".join(value.casefold().split())
    if isinstance(value, dict):
        return {str(key): _folded(inner) for key, inner in as_object(value).items()}
    if isinstance(value, list):
        return [_folded(inner) for inner in as_list(value)]
    return ["absent"] if value is ABSENT else value


def deviations(format_name: str, answer: JudgedUnit, content: Any) -> list[Deviation]:
    """What a wrong answer does otherwise than gold; none where that cannot be said.

    Args: content: the version whose gold is meant.
    """
    compare = _COMPARISONS.get(format_name, _in_any)
    try:
        return [deviation for deviation in compare(answer, content) if deviation.key]
    except (RecursionError, TypeError, ValueError):
        # Calls nested too deeply to be compared, or with values that are no JSON.
        return []


def _calls_at(answer: JudgedUnit, step: int) -> list[SaidCall]:
    return list(answer.rules.said(answer.transcript.replies[step].message))


def _is_text(calls: Sequence[SaidCall]) -> bool:
    return not calls or calls[0][0] == "message"


def _in_any(answer: JudgedUnit, content: Any) -> Iterator[Deviation]:
    """Of a benchmark about whose gold nothing is known: the calls of the last step, as a whole."""
    replies = answer.transcript.replies
    count = min(answer.answer.steps or len(replies), len(replies))
    if count and not _is_text(calls := _calls_at(answer, count - 1)):
        yield Deviation("calls", "", None, [{"name": name, "arguments": args} for name, args in calls])


def _in_item(answer: JudgedUnit, content: Any) -> Iterator[Deviation]:
    """Of an item of single calls: all calls of the reply are one answer, which can be accepted beside gold's."""
    if not isinstance(answer.rules, AceBenchRules):
        return
    t = answer.item.units.index(answer.unit)
    field = pointer("records", t, "answer", "ground_truth")
    gold = value_at(content, field)
    candidates = as_objects(gold) if isinstance(gold, list) else [as_object(gold)]
    calls = _calls_in_item(answer, answer.rules, t)
    if not calls:
        if any(isinstance(value, dict) for each in candidates for value in each.values()):
            yield Deviation("text", field, gold, "no call that can be read")
        return
    count = Counter(name for name, _ in calls)
    counts: Counter[str] = Counter()
    gold_values: dict[str, Any] = {}
    for name, arguments in calls:
        counts[name] += 1
        gold_values[f"{name}_{counts[name]}" if count[name] > 1 else name] = arguments
    if not all(isinstance(value, dict) for value in (*gold_values.values(), *candidates[0].values())):
        yield Deviation("calls", field, gold, gold_values)
        return
    change = Change(field, gold, [*candidates, gold_values])
    yield Deviation("alternative", field, gold, gold_values, (change,))


def _calls_in_item(answer: JudgedUnit, rules: AceBenchRules, t: int) -> list[SaidCall]:
    """The calls of a reply, native or as text, as the profile reads them."""
    from wildtool.benchmarks.acebench.trace import parsed_calls  # most reviews are of sessions

    if not answer.transcript.replies:
        return []
    calls = parsed_calls(answer.transcript.replies[0].message, answer.item.data.records[t], rules)
    return [(call.name, {str(key): value for key, value in call.arguments.items()}) for call in calls]


def _in_session(answer: JudgedUnit, content: Any) -> Iterator[Deviation]:
    """Of a task of a session: the calls of the step that decided, beside the gold calls that were left then."""
    t = answer.item.units.index(answer.unit)
    deciding = _deciding_step(answer, answer.item.data.tasks[t].nodes)
    if deciding is not None and deciding[0] < len(answer.transcript.replies):
        yield from _TaskStep(answer, as_object(content), t, *deciding).deviations()


_COMPARISONS: Mapping[str, Callable[[JudgedUnit, Any], Iterator[Deviation]]] = {
    SESSIONS.name: _in_session,
    ITEMS.name: _in_item,
}
"""By format."""


class _TaskStep:
    """A step of a task, and the gold nodes that were left before it."""

    def __init__(
        self, answer: JudgedUnit, record: Mapping[str, Any], t: int, step: int, finished: set[int]
    ) -> None:
        self._answer, self._record, self._done = answer, record, finished
        prefix = next((key.removesuffix("_tasks") for key in record if key.endswith("_tasks")), "")
        field = f"{prefix}_answer_list"
        self._field = pointer(field if field in record else "answer_list", t)
        self._nodes: Sequence[GoldNode] = answer.item.data.tasks[t].nodes
        self._calls = _calls_at(answer, step)
        self._left = [i for i in range(len(self._nodes)) if i not in finished]
        self._ready = [i for i in self._left if set(self._nodes[i].deps) <= finished]

    def deviations(self) -> Iterator[Deviation]:
        """What the step does otherwise: each thing alone, then all of them together."""
        if _is_text(self._calls):
            yield from self._text()
            return
        fitting, unfitting = self._fitting()
        single = [
            *(self._too_early(i) for i in fitting if i not in self._ready),
            *self._unfitting(fitting, unfitting),
        ]
        yield from single
        if len(single) > 1 and all(each.changes for each in single):
            yield self._together(single)

    def _text(self) -> Iterator[Deviation]:
        """A text where only calls were due."""
        due = [self._nodes[i].name for i in self._ready]
        if due and not VIRTUAL.intersection(due):
            yield Deviation("text", self._field, due, "a text in place of a call")

    def _fitting(self) -> tuple[list[int], list[SaidCall]]:
        """The gold nodes that calls repeat exactly, ready ones first, and the calls that repeat none."""
        fitting: list[int] = []
        unfitting: list[SaidCall] = []
        for name, arguments in self._calls:
            equal = (
                i
                for i in (*self._ready, *self._left)
                if i not in fitting
                and self._nodes[i].name == name
                and same_json(self._nodes[i].arguments, arguments)
            )
            if (i := next(equal, None)) is None:
                unfitting.append((name, arguments))
            else:
                fitting.append(i)
        return fitting, unfitting

    def _too_early(self, i: int) -> Deviation:
        """A gold call made before what it depends on."""
        field, deps = self._pointer(i, "dependency_list"), self._nodes[i].deps
        unmet, met = sorted(set(deps) - self._done), [j for j in deps if j in self._done]
        return Deviation("order", field, unmet, met, (Change(field, list(deps), met),))

    def _unfitting(self, fitting: Sequence[int], calls: Sequence[SaidCall]) -> Iterator[Deviation]:
        """What calls do that repeat no gold node; each stands for a node that nothing else stands for."""
        waiting = [i for i in self._left if i not in self._ready]
        free = [i for i in (*self._ready, *waiting) if i not in fitting]
        for name, arguments in calls:
            i = self._node_for(name, arguments, free)
            if i is None or not isinstance(arguments, dict):
                due = [self._nodes[j].name for j in self._ready if self._nodes[j].name in (ASK, ANSWER)]
                yield Deviation("extra call", self._field, due or None, _call(name, arguments))
            elif self._nodes[i].name == name:
                yield from self._other_values(i, arguments)
            else:
                yield self._other_call(i, _call(name, arguments))
            if i is not None:
                free.remove(i)

    def _node_for(self, name: str, arguments: Any, free: Sequence[int]) -> int | None:
        """The free node of that name with the fewest other values; else the first one, if it is ready and a call."""
        matching = [i for i in free if self._nodes[i].name == name]
        if matching:
            return min(matching, key=lambda i: len(list(_differing(self._nodes[i].arguments, arguments))))
        first = next((i for i in free if self._nodes[i].name not in VIRTUAL), None)
        return first if first in self._ready and isinstance(arguments, dict) else None

    def _other_values(self, i: int, arguments: Any) -> Iterator[Deviation]:
        """Other values of arguments, except those that gold accepts too."""
        node, place = self._nodes[i], self._pointer(i, "action", "arguments")
        for key, gold, value in _differing(node.arguments, arguments):
            if not any(same_json(present(value), other) for other in node.alternatives.get(key, ())):
                field = place + pointer(key)
                beside = self._accepted_beside({field: value})
                yield Deviation("value", field, gold, value, (Change(field, gold, value),), beside)

    def _other_call(self, i: int, call: dict[str, Any]) -> Deviation:
        """Another call in place of a gold one."""
        node, field = self._nodes[i], self._pointer(i, "action")
        before = value_at(self._record, field)
        change = Change(field, before, {**as_object(before), **call})
        return Deviation("call", field, _call(node.name, node.arguments), call, (change,))

    def _together(self, single: Sequence[Deviation]) -> Deviation:
        only_values = all(each.kind == "value" for each in single)
        return Deviation(
            "several",
            self._field,
            {each.field: present(each.gold) for each in single},
            {each.field: present(each.answer) for each in single},
            tuple(change for each in single for change in each.changes),
            self._accepted_beside({each.field: each.answer for each in single}) if only_values else (),
        )

    def _accepted_beside(self, values: Mapping[str, Any]) -> tuple[Change, ...]:
        """The edit that accepts values beside gold's; none if the run's rules know only gold.

        Args: values: by the pointer of the argument; ABSENT where it is left out.
        """
        if self._answer.run.profile != "fixed":
            return ()
        accepted: dict[str, dict[str, Any]] = {}
        for field, value in values.items():
            place = f"{field.rpartition('/action/arguments/')[0]}/alternatives"
            before = accepted.get(place, as_object(value_at(self._record, place)))
            name = pointer_parts(field)[-1]
            accepted[place] = {**before, name: [*as_list(before.get(name)), present(value)]}
        return tuple(Change(place, value_at(self._record, place), after) for place, after in accepted.items())

    def _pointer(self, i: int, *parts: str) -> str:
        return self._field + pointer(i, *parts)


def _call(name: str, arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def _deciding_step(answer: JudgedUnit, nodes: Sequence[Any]) -> tuple[int, set[int]] | None:
    """The step at which an answer became wrong, and the gold nodes that were done before."""
    finished: set[int] = set()
    steps = as_objects(answer.verdict.detail.get("steps"))
    for n, step in enumerate(steps):
        matched = set(as_list(step.get("matched")))
        refused = any(check != CORRECT for check in as_list(step.get("checks")))
        if not matched or step.get("correct") is False or refused:
            return n, finished
        finished |= matched
    if len(answer.transcript.replies) > len(steps):
        # The original raises at a reply that it does not log.
        return len(steps), finished
    finished = set()
    for n, step in enumerate(steps):
        # The profile `paper` looks at arguments only after all names fitted.
        matched = set(as_list(step.get("matched")))
        gold = [canonical([nodes[i].name, nodes[i].arguments]) for i in matched]
        if not any(nodes[i].name in VIRTUAL for i in matched) and sorted(gold) != sorted(
            canonical(list(call)) for call in _calls_at(answer, n)
        ):
            return n, finished
        finished |= matched
    return None


def _differing(gold: Mapping[str, Any], arguments: Any) -> Iterator[tuple[str, Any, Any]]:
    """Arguments that differ: name, gold's value and the other one; ABSENT where there is none."""
    values = as_object(arguments)
    for key in dict.fromkeys((*gold, *values)):
        right, value = gold.get(key, ABSENT), values.get(key, ABSENT)
        if not same_json(right, value):
            yield key, right, value
