"""Right and wrong answers to choose cases from."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any

from wildtool.benchmark import Rules
from wildtool.draws import seeded_draw
from wildtool.json_codec import as_object, as_objects
from wildtool.judges.candidate import GOLD_FORM, Candidate
from wildtool.judges.cases import Tier
from wildtool.judges.forms import CHECKED_FORMS, SAFE_FORMS, formed, naming
from wildtool.judges.tiers import (
    OF_OMISSION,
    OF_ORDER,
    TIER_OF_KIND,
    invents_an_id,
    is_said,
    is_wrong_here,
    names_an_order,
    tier_of,
)
from wildtool.judges.trajectories import Cut, GoldRun, arguments_of, said_by
from wildtool.judges.unmarked import MARKS, MarkLeftError, Unmarker
from wildtool.judges.values import ValuePool, argument_leaves, key_of
from wildtool.judges.words import own_sentence, worded
from wildtool.toolcall.call_mutants import reply_mutants
from wildtool.types import Item, Message

TOGETHER = "call and words wrong together"
_NAMED = "words that name a value"
_VALUES = frozenset(
    {"other text", "one digit of a text", "wrong number", "other enum member", "swapped digits in a text"}
)
"""Kinds that put another value in the place of one."""
_FORMS_OF_LONG = 3
"""Forms that a whole trajectory is played in."""
_TRIES = 6
"""Mistakes of one kind and item that are tried until one fits."""


class Mistakes:
    """The wrong answers of a set: one for each item and kind, made when it is asked for."""

    def __init__(
        self,
        rules: Rules,
        items: Sequence[Item],
        runs: Mapping[str, Sequence[GoldRun]],
        seed: int,
        plain: float,
    ) -> None:
        self.runs = [run for item in items for run in runs[item.id]]
        self.values = ValuePool()
        for run in self.runs:
            self.values.add_run(run)
        self._seed, self._plain = seed, plain
        self._raw: dict[tuple[str, str], list[tuple[GoldRun, tuple[Message, ...], str]]] = defaultdict(list)
        self._worded: dict[tuple[str, str], list[Candidate]] = defaultdict(list)
        self.right_words = list[Candidate]()
        for item in items:
            by_unit = {run.unit: run for run in runs[item.id]}
            for unit, kind, replies, note in _all_mutants(rules, item, by_unit):
                self._raw[item.id, kind].append((by_unit[unit], replies, note))
        for run in self.runs:
            for candidate in worded(run, self.values, self.draw("words", run)):
                if candidate.right:
                    self.right_words.append(candidate)
                else:
                    self._worded[candidate.item, candidate.kind].append(candidate)

    def draw(self, use: str, run: GoldRun) -> Random:
        """Draws that are the same whatever else is drawn."""
        return seeded_draw(f"{self._seed}|{use}|{run.item.id}|{run.unit}")

    @property
    def kinds_without_tier(self) -> Sequence[str]:
        """The kinds of mistakes of the set that no case is made of."""
        return sorted({kind for _, kind in self._raw if tier_of(kind) is None})

    def items_by_kind(self, tier: Tier) -> Mapping[str, Sequence[str]]:
        """The items that have mistakes of each kind of a tier."""
        by_kind: dict[str, dict[str, None]] = defaultdict(dict)
        for item, kind in (*self._raw, *self._worded):
            if tier_of(kind) == tier:
                by_kind[kind][item] = None
                if kind in _VALUES:
                    by_kind[TOGETHER][item] = None
        return {kind: [*items] for kind, items in by_kind.items()}

    def of(self, item: str, kind: str) -> Iterator[Candidate]:
        """Mistakes of a kind in an item whose labels hold, in random order."""
        draw = seeded_draw(f"{self._seed}|{item}|{kind}")
        if kind == TOGETHER:
            kinds = [other for of, other in self._raw if of == item and other in _VALUES]
            yield from self._of(item, draw.choice(sorted(kinds)), draw, together=True)
            return
        ready = [*self._worded.get((item, kind), ())]
        draw.shuffle(ready)
        yield from ready
        yield from self._of(item, kind, draw)

    def _of(self, item: str, kind: str, draw: Random, *, together: bool = False) -> Iterator[Candidate]:
        raw = [*self._raw.get((item, kind), ())]
        draw.shuffle(raw)
        for run, replies, note in raw[:_TRIES]:
            candidate = self._candidate(run, kind, replies, note, draw, together=together)
            if candidate is not None and candidate.holds:
                yield candidate

    def _candidate(
        self, run: GoldRun, kind: str, mutated: Sequence[Message], note: str, draw: Random, *, together: bool
    ) -> Candidate | None:
        try:
            replies = Unmarker(run, self.values, draw).replies(self._plausible(run, kind, mutated, draw))
        except MarkLeftError:
            return None
        step = _first_difference(run.replies, replies)
        cut = run.cut(replies, step)
        gold = run.cut(run.replies, step)
        if cut is None or gold is None or cut.judged == gold.judged:
            return None
        if not _is_mistake(run, kind, replies, step, cut):
            return None
        form = GOLD_FORM
        if together:
            spoken = _named(run, replies, step)
            if spoken is None:
                return None
            kind, form, replies = TOGETHER, _NAMED, spoken
        elif draw.random() >= self._plain:
            form, replies = self._in_form(run, replies, step, draw)
        cut = run.cut(replies, step)
        if cut is None:
            return None
        return Candidate(
            run=run,
            step=step,
            kind=kind,
            tier=TIER_OF_KIND[kind],
            form=form,
            cut=cut,
            reference=(*gold.judged,),
            note=_note(run, replies, step, note),
            replies=(*replies,),
        )

    def _in_form(
        self, run: GoldRun, replies: tuple[Message, ...], step: int, draw: Random
    ) -> tuple[str, tuple[Message, ...]]:
        """The replies in one of the forms that they can have."""
        forms = [form for form in SAFE_FORMS if form != _NAMED]
        draw.shuffle(forms)
        for form in forms:
            result = formed(replies, step, form, run.item.lang, draw)
            if result is not None:
                return form, result
        return GOLD_FORM, replies

    def _plausible(
        self, run: GoldRun, kind: str, mutated: Sequence[Message], draw: Random
    ) -> Sequence[Message]:
        """Replies in which what a maker of mistakes left bare is as a model would write it."""
        step = _first_difference(run.replies, mutated)
        if step >= len(mutated):
            return mutated
        reply = mutated[step]
        if kind.startswith("call instead of"):
            reply = self._undue_call(run, draw)
        elif reply.get("content") == "Done.":
            reply = {**reply, "content": own_sentence("claim", run.item.lang, draw)}
        return (*mutated[:step], reply, *mutated[step + 1 :])

    def _undue_call(self, run: GoldRun, draw: Random) -> Message:
        """A call with arguments that it has elsewhere, of a tool that changes something."""
        offered = [str(as_object(tool.get("function")).get("name")) for tool in run.requests[0].tools]
        gold_calls = [call for message in run.replies for call in said_by(run.rules, message)]
        past = {json.dumps(arguments, ensure_ascii=False) for _, arguments in gold_calls}
        drawn = self.values.call(offered, run.item.id, past, draw)
        if drawn is None:
            raise MarkLeftError
        name, arguments = drawn
        call = {"id": "1", "type": "function", "function": {"name": name, "arguments": arguments}}
        return {"role": "assistant", "content": None, "tool_calls": [call]}


def right_candidates(mistakes: Mistakes) -> Iterator[Candidate]:
    """Gold answers at each place, in each form that they can have; of what must be played through, in some forms."""
    yield from mistakes.right_words
    for run in mistakes.runs:
        draw = mistakes.draw("right", run)
        for form, steps in _places(run, draw):
            for step in steps:
                candidate = _right(run, step, form, draw)
                if candidate is not None:
                    yield candidate


def _places(run: GoldRun, draw: Random) -> Iterator[tuple[str, Sequence[int]]]:
    """Forms with the steps that can have them."""
    forms = [*SAFE_FORMS, *CHECKED_FORMS]
    if not run.is_executed:
        yield from ((form, run.steps) for form in (GOLD_FORM, *forms))
        return
    yield GOLD_FORM, run.steps[:1]
    fitting = dict[str, list[int]]()
    for form in forms:
        steps = [s for s in run.steps if formed(run.replies, s, form, run.item.lang, draw) is not None]
        if steps:
            fitting[form] = [draw.choice(steps)]
    yield from draw.sample([*fitting.items()], min(_FORMS_OF_LONG, len(fitting)))


def _right(run: GoldRun, step: int, form: str, draw: Random) -> Candidate | None:
    replies = formed(run.replies, step, form, run.item.lang, draw)
    if not replies:
        return None
    gold, cut = run.cut(run.replies, step), run.cut(replies, step)
    if gold is None or cut is None:
        return None
    if form in CHECKED_FORMS and names_an_order(_given(cut)):
        return None
    return Candidate(
        run=run,
        step=step,
        kind=form,
        tier="gold" if form == GOLD_FORM else "near miss",
        form=form,
        cut=cut,
        reference=(*gold.judged,),
        replies=replies,
    )


def _all_mutants(
    rules: Rules, item: Item, runs: Mapping[str, GoldRun]
) -> Iterator[tuple[str, str, tuple[Message, ...], str]]:
    """Unit, kind, replies and note: the benchmark's own mutants, and those of any calls that it does not make itself. Of
    recorded worlds these are only other values, as its own have other names for the rest."""
    own = set[str]()
    for mutant in rules.mutants(item):
        own.add(mutant.kind)
        if mutant.unit in runs:
            yield mutant.unit, mutant.kind, mutant.replies, mutant.note
    for unit, run in runs.items():
        for kind, replies, note in reply_mutants(run.replies, run.requests[run.steps[0]].tools):
            is_wanted = kind not in own and (run.is_executed or kind in _VALUES)
            if is_wanted and _first_difference(run.replies, replies) in run.steps:
                yield unit, kind, replies, note


def _first_difference(gold: Sequence[Message], replies: Sequence[Message]) -> int:
    pairs = zip(gold, replies, strict=False)
    return next(
        (place for place, (right, other) in enumerate(pairs) if right != other),
        min(len(gold), len(replies)),
    )


def _given(cut: Cut) -> str:
    """What the model was shown."""
    return json.dumps(
        [message for message in cut.messages if message.get("role") != "assistant"], ensure_ascii=False
    )


def _changes(run: GoldRun, replies: Sequence[Message], step: int) -> list[tuple[str, Any, Any]]:
    """Names, right and wrong values of the arguments that differ, where the calls of a step are the same."""
    if step >= len(run.replies):
        return []
    both = [as_objects(each[step].get("tool_calls")) for each in (run.replies, replies)]
    if len(both[0]) != len(both[1]):
        return []
    changes = list[tuple[str, Any, Any]]()
    for gold, other in zip(*both, strict=True):
        gold_leaves, other_leaves = (
            sorted(argument_leaves(arguments_of(each) or {}), key=lambda leaf: leaf[0])
            for each in (gold, other)
        )
        if [path for path, _ in gold_leaves] == [path for path, _ in other_leaves]:
            changes += [
                (key_of(p), a, b) for (p, a), (_, b) in zip(gold_leaves, other_leaves, strict=True) if a != b
            ]
    return changes


def _is_mistake(run: GoldRun, kind: str, replies: Sequence[Message], step: int, cut: Cut) -> bool:
    """Whether a reader would call it a mistake here, and one of this kind."""
    reply = replies[step]
    is_empty = not reply.get("tool_calls") and not str(reply.get("content") or "").strip()
    if is_empty and tier_of(kind) != "wire":
        return False
    given = _given(cut)
    changed = next((right for _, right, _ in _changes(run, replies, step)), None)
    if kind == "wrong number":
        return changed is not None and is_said(changed, given)
    calls = said_by(run.rules, reply)
    if kind in OF_ORDER and calls and not run.is_executed:
        values = [value for _, arguments in calls for _, value in argument_leaves(arguments)]
        return invents_an_id(values, json.dumps(cut.messages[: cut.start], ensure_ascii=False))
    if kind in OF_OMISSION and not run.is_executed and reply.get("tool_calls"):
        return False
    if tier_of(kind) != "wrong only if":
        return True
    right = [call for each in run.replies for call in said_by(run.rules, each)]
    added = [call for call in calls if calls.count(call) > right.count(call)]
    return is_wrong_here(kind, added or calls, changed, given)


def _named(run: GoldRun, replies: tuple[Message, ...], step: int) -> tuple[Message, ...] | None:
    """The replies with words beside the wrong call that say the same wrong value."""
    changes = _changes(run, replies, step)
    if len(changes) != 1 or replies[step].get("content"):
        return None
    key, _, wrong = changes[0]
    return (*replies[:step], naming(replies[step], key, wrong, run.item.lang), *replies[step + 1 :])


def _note(run: GoldRun, replies: Sequence[Message], step: int, note: str) -> str:
    changes = _changes(run, replies, step)
    text = "; ".join(f"{key}: {right!r} -> {wrong!r}" for key, right, wrong in changes)
    return text or ("" if MARKS.search(note) else note)
