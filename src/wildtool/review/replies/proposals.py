"""Where models agree against gold: what they do instead, and the edit that would accept it.

What fewer models do than gold finds right is left out. An edit is proposed only if the benchmark's rules, asked again,
then refuse fewer answers. Models are counted, not samples: a model does something if it does so in at least half of its
answers to the unit.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from wildtool.benchmarks.acebench.judge import AceBenchRules
from wildtool.benchmarks.wildtoolbench.data import ANSWER, ASK, VIRTUAL
from wildtool.benchmarks.wildtoolbench.official.arguments import CORRECT
from wildtool.errors import DataError
from wildtool.json_codec import as_list, as_object, as_objects
from wildtool.review.formats.items import ITEMS
from wildtool.review.formats.sessions import SESSIONS
from wildtool.review.pointers import (
    ABSENT,
    Change,
    canonical,
    changed,
    pointer,
    pointer_parts,
    same_json,
    value_at,
)
from wildtool.review.project import ReviewProject
from wildtool.review.replies.rejudge import ANSWERED, JudgedUnit, Rejudge
from wildtool.sanitize import ellipsize
from wildtool.trace import SaidCall

ProposalKind = Literal["value", "call", "order", "several", "alternative", "calls", "extra call", "text"]
"""What the models do: another value of an argument, another call, a call earlier than its dependencies allow, several
of these, an answer that gold does not have, other calls, a call beyond gold, or a text in place of a call."""
_MIN_MODELS = 2
_TRIED = 12
"""Edits of one unit that are tried, those of most models first."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """What several models do in a unit although gold has something else."""

    item: str
    unit: str
    kind: ProposalKind
    field: str
    """JSON pointer of the part of gold that differs; empty if there is none."""
    gold: Any
    """What gold has there; None if it has nothing."""
    found: Any
    """What the models have instead; None if they leave it out."""
    models: tuple[str, ...]
    """The models that do so."""
    answered: int
    """Models that answered what the item asks."""
    right: int
    """Models that the rules find right now."""
    changes: tuple[Change, ...] = ()
    """The edit that would accept it; empty if none is known."""
    gained: int = 0
    """Models whose answer would no longer be wrong."""
    lost: int = 0
    """Models whose answer would become wrong."""
    beside: tuple[Change, ...] = ()
    """The edit that accepts it beside gold, which makes nobody wrong; empty if that cannot be."""

    @property
    def sentence(self) -> str:
        """What it says, in a line."""
        name = self.field.rpartition("/")[2]
        what = {
            "value": f"give {_json_text(self.found)} for {name}; gold has {_json_text(self.gold)}",
            "call": f"call {_json_text(self.found)}; gold has {_json_text(self.gold)}",
            "order": f"call it without waiting for node {', '.join(map(str, as_list(self.gold)))}",
            "several": f"have {_json_text(self.found)}; gold has {_json_text(self.gold)}",
            "alternative": f"answer {_json_text(self.found)}; gold has {_json_text(self.gold)}",
            "calls": f"make the same calls, which are refused: {_json_text(self.found)}",
            "extra call": f"also call {_json_text(self.found)}, for which gold has nothing",
            "text": "make no call where gold has one",
        }[self.kind]
        effect = (
            f"; accepted, {self.gained} are no longer wrong, {self.lost} become wrong" if self.changes else ""
        )
        return f"{len(self.models)} of {self.answered} models {what}{effect}"


@dataclass(frozen=True, slots=True)
class _Deviation:
    """One thing that an answer does otherwise than gold."""

    kind: ProposalKind
    field: str
    gold: Any
    found: Any
    changes: tuple[Change, ...] = ()
    beside: tuple[Change, ...] = ()

    @property
    def key(self) -> Hashable:
        """Equal for answers that do the same; case and blanks of texts do not count."""
        return self.kind, self.field, canonical(_folded(self.found)), tuple(c.field for c in self.changes)


def _json_text(value: Any) -> str:
    """A value as JSON in a line of at most 200 characters."""
    return ellipsize("nothing" if value is None else canonical(value).decode(), 200)


def item_proposals(
    rejudge: Rejudge, item: str, content: Any, played: Any, *, least: int = _MIN_MODELS
) -> list[Proposal]:
    """What at least `least` models do in an item although gold has something else, most models first.

    Args:
        content: the version whose gold is meant.
        played: the version that was asked where a record does not say it.
    """
    units: dict[str, list[JudgedUnit]] = defaultdict(list)
    for one in rejudge.judged(item, content, played):
        if one.answer.state in ANSWERED:
            units[one.unit].append(one)
    found: list[Proposal] = []
    for unit, answers in units.items():
        found += _of_unit(rejudge, item, unit, answers, content, played, least)
    return sorted(found, key=_order)


def agreement_queue(
    project: ReviewProject, rejudge: Rejudge, *, least: int = _MIN_MODELS
) -> Iterator[Proposal]:
    """The proposals of all items that are not rejected, one item after another; `sorted_queue` orders them."""
    for summary in list(project.state.items.values()):
        if summary.stage != "rejected":
            history = project.item(summary.id)
            yield from item_proposals(
                rejudge, summary.id, history.content, history.versions[0].content, least=least
            )


def sorted_queue(proposals: Iterable[Proposal]) -> list[Proposal]:
    """Proposals by how many models agree, then by their share."""
    return sorted(proposals, key=_order)


def _order(one: Proposal) -> tuple[Any, ...]:
    return -len(one.models), one.answered, -one.gained, one.item, one.unit, one.field


def _of_unit(
    rejudge: Rejudge,
    item: str,
    unit: str,
    answers: Sequence[JudgedUnit],
    content: Any,
    played: Any,
    least: int,
) -> list[Proposal]:
    samples = Counter(one.run.model for one in answers)
    wrong = Counter(one.run.model for one in answers if one.answer.state == "wrong")
    if sum(2 * count >= samples[model] for model, count in wrong.items()) < least:
        return []
    said: dict[Hashable, Counter[str]] = defaultdict(Counter)
    examples: dict[Hashable, Counter[bytes]] = defaultdict(Counter)
    deviations: dict[bytes, _Deviation] = {}
    for one in answers:
        if one.answer.state != "wrong":
            continue
        for deviation in _deviations(rejudge, one, content):
            said[deviation.key][one.run.model] += 1
            found = ["absent"] if deviation.found is ABSENT else deviation.found
            spelled = canonical([deviation.field, deviation.kind, found])
            examples[deviation.key][spelled] += 1
            deviations.setdefault(spelled, deviation)
    agreeing = {
        key: tuple(sorted(model for model, count in models.items() if 2 * count >= samples[model]))
        for key, models in said.items()
    }
    right = len(_models_in(answers, "correct"))
    proposals: list[Proposal] = []
    for key in sorted(agreeing, key=lambda key: -len(agreeing[key]))[:_TRIED]:
        models = agreeing[key]
        if len(models) < max(least, right):
            continue
        # The spelling that most of them use.
        chosen = deviations[examples[key].most_common(1)[0][0]]
        about = (item, unit, chosen.kind, chosen.field, _shown(chosen.gold), _shown(chosen.found), models)
        if not chosen.changes:
            proposals.append(Proposal(*about, len(samples), right))
            continue
        tried = _tried(rejudge, item, unit, answers, content, played, chosen.changes)
        if tried is not None and tried[0]:
            proposals.append(Proposal(*about, len(samples), right, chosen.changes, *tried, chosen.beside))
    return proposals


def _tried(
    rejudge: Rejudge,
    item: str,
    unit: str,
    answers: Sequence[JudgedUnit],
    content: Any,
    played: Any,
    changes: Sequence[Change],
) -> tuple[int, int] | None:
    """How many models an edit makes no longer wrong, and how many wrong; None if it cannot be made."""
    try:
        for change in changes:
            content = changed(content, change)
    except (DataError, LookupError):
        return None
    after = [
        one
        for one in rejudge.judged(item, content, played, unit)
        if one.unit == unit and one.answer.state in ANSWERED
    ]
    old, new = _models_in(answers, "wrong"), _models_in(after, "wrong")
    still = {one.run.model for one in after}
    return len((old - new) & still), len((new - old) & still)


def _models_in(answers: Iterable[JudgedUnit], state: str) -> set[str]:
    """Models of whose answers at least half are in a state."""
    listed = list(answers)
    samples = Counter(one.run.model for one in listed)
    such = Counter(one.run.model for one in listed if one.answer.state == state)
    return {model for model, count in such.items() if 2 * count >= samples[model]}


def _shown(value: Any) -> Any:
    return None if value is ABSENT else value


def _folded(value: Any) -> Any:
    if isinstance(value, str):
        return " ".join(value.casefold().split())
    if isinstance(value, dict):
        return {str(key): _folded(inner) for key, inner in as_object(value).items()}
    if isinstance(value, list):
        return [_folded(inner) for inner in as_list(value)]
    return ["absent"] if value is ABSENT else value


# What an answer does otherwise than gold ---------------------------------------------------------------


def _deviations(rejudge: Rejudge, one: JudgedUnit, content: Any) -> list[_Deviation]:
    finders = {SESSIONS.name: _in_session, ITEMS.name: _in_item}
    try:
        found = list(finders.get(rejudge.runs.format.name, _in_any)(one, content))
        return [deviation for deviation in found if deviation.key]
    except (RecursionError, TypeError, ValueError):
        # Calls nested too deeply to be compared, or with values that are no JSON.
        return []


def _said(one: JudgedUnit, step: int) -> list[SaidCall]:
    return list(one.rules.said(one.transcript.replies[step].message))


def _in_any(one: JudgedUnit, content: Any) -> Iterator[_Deviation]:
    """Of a benchmark about whose gold nothing is known: the calls of the last step, as a whole."""
    count = min(one.answer.steps or len(one.transcript.replies), len(one.transcript.replies))
    if count:
        said = _said(one, count - 1)
        if said and said[0][0] != "message":
            yield _Deviation("calls", "", None, [{"name": name, "arguments": args} for name, args in said])


def _in_item(one: JudgedUnit, content: Any) -> Iterator[_Deviation]:
    """Of an item of single calls: all calls of the reply are one answer, which can be accepted beside gold's."""
    if not isinstance(one.rules, AceBenchRules):
        return
    t = one.item.units.index(one.unit)
    field = pointer("records", t, "answer", "ground_truth")
    gold = value_at(content, field)
    candidates = as_objects(gold) if isinstance(gold, list) else [as_object(gold)]
    said = _said_in_item(one, t)
    if not said:
        if any(isinstance(value, dict) for each in candidates for value in each.values()):
            yield _Deviation("text", field, gold, "no call that can be read")
        return
    count = Counter(name for name, _ in said)
    met: Counter[str] = Counter()
    answer: dict[str, Any] = {}
    for name, arguments in said:
        met[name] += 1
        answer[f"{name}_{met[name]}" if count[name] > 1 else name] = arguments
    if not all(isinstance(value, dict) for value in (*answer.values(), *candidates[0].values())):
        yield _Deviation("calls", field, gold, answer)
        return
    change = Change(field, gold, [*candidates, answer])
    yield _Deviation("alternative", field, gold, answer, (change,))


def _said_in_item(one: JudgedUnit, t: int) -> list[SaidCall]:
    """The calls of a reply, native or as text, as the profile reads them."""
    from wildtool.benchmarks.acebench.trace import parsed_calls  # most reviews are of sessions

    record, rules = one.item.data.records[t], one.rules
    if not one.transcript.replies or not isinstance(rules, AceBenchRules):
        return []
    calls = parsed_calls(one.transcript.replies[0].message, record, rules)
    return [(call.name, {str(key): value for key, value in call.arguments.items()}) for call in calls]


def _in_session(one: JudgedUnit, content: Any) -> Iterator[_Deviation]:
    """Of a task of a session: the calls of the step that decided, beside the gold calls that were left then."""
    record, t = as_object(content), one.item.units.index(one.unit)
    prefix = next((key.removesuffix("_tasks") for key in record if key.endswith("_tasks")), "")
    answers = f"{prefix}_answer_list" if f"{prefix}_answer_list" in record else "answer_list"
    nodes = one.item.data.tasks[t].nodes
    decided = _deciding_step(one, nodes)
    if decided is None:
        return
    step, done = decided
    if step >= len(one.transcript.replies):
        return
    said = _said(one, step)
    left = [i for i in range(len(nodes)) if i not in done]
    ready = [i for i in left if set(nodes[i].deps) <= done]
    if not said or said[0][0] == "message":
        waiting = [nodes[i].name for i in ready if nodes[i].name not in VIRTUAL]
        if waiting and not any(nodes[i].name in VIRTUAL for i in ready):
            yield _Deviation("text", pointer(answers, t), waiting, "a text in place of a call")
        return
    found: list[_Deviation] = []
    fitted, others = _fitted(said, nodes, left, ready)
    for i in fitted:
        if i not in ready:
            field = pointer(answers, t, i, "dependency_list")
            unmet = sorted(set(nodes[i].deps) - done)
            needed = [j for j in nodes[i].deps if j in done]
            found.append(
                _Deviation("order", field, unmet, needed, (Change(field, list(nodes[i].deps), needed),))
            )
    free = [i for i in (*ready, *(i for i in left if i not in ready)) if i not in fitted]
    for name, arguments in others:
        same = [i for i in free if nodes[i].name == name]
        calls = [i for i in free if nodes[i].name not in VIRTUAL]
        i = min(same, key=lambda i: len(list(_differing(nodes[i].arguments, arguments))), default=None)
        if i is not None and isinstance(arguments, dict):
            place = pointer(answers, t, i, "action", "arguments")
            for key, gold, value in _differing(nodes[i].arguments, arguments):
                if any(same_json(_shown(value), one) for one in nodes[i].alternatives.get(key, ())):
                    continue
                field = place + pointer(key)
                beside = _accepted_beside(one, record, {field: value})
                found.append(_Deviation("value", field, gold, value, (Change(field, gold, value),), beside))
        elif i is None and calls and calls[0] in ready and isinstance(arguments, dict):
            i = calls[0]
            place = pointer(answers, t, i, "action")
            made: dict[str, Any] = {"name": name, "arguments": arguments}
            gold = {"name": nodes[i].name, "arguments": nodes[i].arguments}
            found.append(_Deviation("call", place, gold, made, _call_changes(record, place, made)))
        else:
            waiting = [nodes[j].name for j in ready if nodes[j].name in (ASK, ANSWER)] or None
            made: dict[str, Any] = {"name": name, "arguments": arguments}
            found.append(_Deviation("extra call", pointer(answers, t), waiting, made))
        if i is not None:
            free.remove(i)
    yield from found
    if len(found) > 1 and all(one.changes for one in found):
        changes = tuple(change for one in found for change in one.changes)
        made = {one.field: _shown(one.found) for one in found}
        values = {each.field: each.found for each in found}
        only_values = all(each.kind == "value" for each in found)
        beside = _accepted_beside(one, record, values) if only_values else ()
        gold = {each.field: _shown(each.gold) for each in found}
        yield _Deviation("several", pointer(answers, t), gold, made, changes, beside)


def _accepted_beside(
    one: JudgedUnit, record: Mapping[str, Any], values: Mapping[str, Any]
) -> tuple[Change, ...]:
    """The edit that accepts values beside gold's; none if the run's rules know only gold.

    Args: values: by the pointer of the argument; ABSENT where it is left out.
    """
    if one.run.profile != "fixed":
        return ()
    made: dict[str, dict[str, Any]] = {}
    for field, value in values.items():
        place = f"{field.rpartition('/action/arguments/')[0]}/alternatives"
        known = made.get(place, as_object(value_at(record, place)))
        name = pointer_parts(field)[-1]
        made[place] = {**known, name: [*as_list(known.get(name)), _shown(value)]}
    return tuple(Change(place, value_at(record, place), after) for place, after in made.items())


def _call_changes(record: Mapping[str, Any], place: str, made: Any) -> tuple[Change, ...]:
    before = value_at(record, place)
    return (Change(place, before, {**as_object(before), **made}),)


def _deciding_step(one: JudgedUnit, nodes: Sequence[Any]) -> tuple[int, set[int]] | None:
    """The step at which an answer became wrong, and the gold nodes that were done before."""
    done: set[int] = set()
    steps = as_objects(one.verdict.detail.get("steps"))
    for n, step in enumerate(steps):
        matched = set(as_list(step.get("matched")))
        refused = any(check != CORRECT for check in as_list(step.get("checks")))
        if not matched or step.get("correct") is False or refused:
            return n, done
        done |= matched
    if len(one.transcript.replies) > len(steps):
        # The original raises at a reply that it does not log.
        return len(steps), done
    done = set()
    for n, step in enumerate(steps):
        # The profile `paper` looks at arguments only after all names fitted.
        matched = set(as_list(step.get("matched")))
        gold = [canonical([nodes[i].name, nodes[i].arguments]) for i in matched]
        if not any(nodes[i].name in VIRTUAL for i in matched) and sorted(gold) != sorted(
            canonical(list(call)) for call in _said(one, n)
        ):
            return n, done
        done |= matched
    return None


def _fitted(
    said: Sequence[SaidCall], nodes: Sequence[Any], left: Sequence[int], ready: Sequence[int]
) -> tuple[list[int], list[SaidCall]]:
    """The gold nodes that calls repeat exactly, ready ones first, and the calls that repeat none."""
    fitted: list[int] = []
    others: list[SaidCall] = []
    for name, arguments in said:
        equal = [
            i
            for i in (*ready, *left)
            if i not in fitted and nodes[i].name == name and same_json(nodes[i].arguments, arguments)
        ]
        if equal:
            fitted.append(equal[0])
        else:
            others.append((name, arguments))
    return fitted, others


def _differing(gold: Mapping[str, Any], found: Any) -> Iterator[tuple[str, Any, Any]]:
    """Arguments that differ: name, gold's value and the other one; ABSENT where there is none."""
    given = as_object(found)
    for key in dict.fromkeys((*gold, *given)):
        wanted, value = gold.get(key, ABSENT), given.get(key, ABSENT)
        if not same_json(wanted, value):
            yield key, wanted, value
