"""Items without any model: plans filled from templates over tool schemas, with gold that is known by construction."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from random import Random
from typing import Any

from wildtool import __version__
from wildtool.generate.core.dedup import Freshness
from wildtool.generate.core.parsing import Action
from wildtool.generate.core.roles import LostError
from wildtool.generate.items.collect import Harvest, Kept
from wildtool.generate.items.from_sessions import given_items
from wildtool.generate.items.item import MadeItem, Missing, Said, Turn, Wrong
from wildtool.generate.items.maker import Order
from wildtool.generate.items.plan import ItemPlan, item_plans
from wildtool.generate.items.procedural_wording import CHANGES, DOUBTS, USUAL, profile_with, wrong_value
from wildtool.generate.items.rules import CHECKS, item_faults, rendered_profile
from wildtool.generate.items.single_pass import assembled
from wildtool.generate.items.tool_catalog import Catalogue, Choice, catalogues
from wildtool.generate.procedural.calls import Call, answer, fill
from wildtool.generate.procedural.history import History
from wildtool.generate.procedural.tool_sets import MadeTool, Slot
from wildtool.generate.procedural.values import Values, spoken
from wildtool.generate.procedural.wording import Wording

_ATTEMPTS = 60
_OWN = ("person", "email", "phone", "address", "city")
"""Kinds of values that belong to a person."""
_OPENED = 0.35
"""How often a request starts with a sentence about whom it is for."""


def procedural_items(order: Order, note: Callable[[str], None]) -> Harvest:
    """A set of items; the same order gives the same items. A kind that the tools do not allow is lost with its reason.

    Args:
        note: is told which tools are left out and why.

    Raises:
        DataError: for tools that cannot be read.
    """
    fresh = Freshness()
    kept: list[Kept] = []
    losses: list[dict[str, Any]] = []
    for plan, making in _makings(order, note):
        about = {"item": plan.index, "kind": plan.kind, "lang": plan.lang}
        try:
            item = making(fresh)
        except LostError as lost:
            losses.append({**about, "reason": lost.reason, "detail": str(lost), "replaced": False})
            continue
        made_by = {"model": "procedural", "version": __version__, "seed": order.seed, "checks": list(CHECKS)}
        kept.append(Kept(item, {**about, **made_by}))
    return Harvest(tuple(kept), (), tuple(losses))


def _makings(
    order: Order, note: Callable[[str], None]
) -> Iterator[tuple[ItemPlan, Callable[[Freshness], MadeItem]]]:
    """Each plan with what makes its item, or raises LostError."""
    if order.sessions is not None:
        for item in given_items(order.sessions, order.items, order.kinds, order.seed, order.langs):
            yield item.plan, partial(_checked, item)
        return
    known = catalogues(order.tools, order.langs, note)
    for plan in item_plans(order.items, order.kinds, seed=order.seed, langs=order.langs):
        yield plan, partial(_item, plan, known[plan.lang])


def _checked(item: MadeItem, fresh: Freshness) -> MadeItem:
    """An item that was made already, if it breaks no rule and is like none before."""
    if faults := item_faults(item):
        raise LostError(f"item {faults[0].rule}", f"{faults[0].rule}: {faults[0].message}")
    if not fresh.admits(item.plan.lang, "\n".join(item.user_texts)):
        raise LostError("S4", f"{item.user_texts[0]!r} is nearly a request of an earlier item")
    return item


def _item(plan: ItemPlan, catalogue: Catalogue, fresh: Freshness) -> MadeItem:
    problem = "no draw led to one"
    for attempt in range(_ATTEMPTS):
        choice = catalogue.choose(plan, attempt)
        item = drawn_item(plan, choice, plan.stream(f"item/{attempt}"), attempt)
        if item is None:
            continue
        if faults := item_faults(item):
            problem = f"{faults[0].rule}: {faults[0].message}"
        elif fresh.admits(plan.lang, "\n".join(item.user_texts)):
            return item
    raise LostError("no draw", f"{_ATTEMPTS} draws led to no item of the kind {plan.kind}: {problem}")


def drawn_item(plan: ItemPlan, choice: Choice, draw: Random, attempt: int) -> MadeItem | None:
    """One draw of an item over the chosen tools, not yet held to the rules; None where it leads nowhere."""
    return _Drawn(plan, choice, draw, attempt).item()


class _Drawn:
    """One draw of an item."""

    def __init__(self, plan: ItemPlan, choice: Choice, draw: Random, attempt: int) -> None:
        self.plan = plan
        self.choice = choice
        self.draw = draw
        self.values = Values(draw, plan.lang, plan.date)
        self.words = Wording(draw, plan.lang)
        self.opened = attempt > 0 or draw.random() < _OPENED
        """Whether the request begins with a sentence of its own; one that was too much like another does."""

    def item(self) -> MadeItem | None:
        """The item; None where this draw leads nowhere."""
        kinds: Mapping[str, Callable[[], MadeItem | None]] = {
            "parallel": self._parallel,
            "adjust": self._dialogue,
            "switch": self._dialogue,
            "preference": self._preference,
            "incomplete": self._incomplete,
            "error": self._error,
        }
        return kinds.get(self.plan.kind, self._single)()

    def _single(self) -> MadeItem | None:
        call = self._call(self.choice.targets[0])
        return call and self._whole([call])

    def _parallel(self) -> MadeItem | None:
        calls: list[Call] = []
        able = [tool for tool in self.choice.offered if tool.slots]
        for _ in range(self.draw.choice((2, 2, 2, 3, 3, 4))):
            call = self._call(self.draw.choice(able) if calls else self.choice.targets[0])
            if call is None:
                return None
            calls.append(call)
        return self._whole(calls)

    def _preference(self) -> MadeItem | None:
        tool = self.choice.targets[0]
        call = self._call(tool)
        able = [
            slot for slot in tool.slots if slot.required and len(slot.path) == 1 and slot.kind not in ("enum", "id")
            and call is not None and isinstance(call.values.get(slot), str)
        ]  # fmt: skip
        if call is None or not able:
            return None
        slot = self.draw.choice([slot for slot in able if slot.kind in _OWN] or able)
        call.said[slot.key] = self._phrase(USUAL, noun=slot.noun)
        call.referred.add(slot.key)
        profile = profile_with(self.values, slot.noun, call.values[slot])
        return self._whole([call], profile=rendered_profile(profile))

    def _dialogue(self) -> MadeItem | None:
        call = self._call(self.choice.targets[0])
        if call is None:
            return None
        turns = [Turn((Said("user", self._request([call])),), (_action(call),))]
        for t in range(1, self.plan.turns):
            answer(call, self.values, {})
            told = Said("assistant", self.words.summary([(call.tool, call.result)]))
            following = self._call(self.choice.targets[t])
            changed = self._changed(call) if self.plan.kind == "adjust" else None
            if self.plan.kind == "adjust":
                if changed is None:
                    return None
                call, text = changed
            elif following is None:
                return None
            else:
                call, text = following, self._request([following])
            turns.append(Turn((told, Said("user", text)), (_action(call),)))
        return assembled(self.plan, self.choice, tuple(turns))

    def _changed(self, call: Call) -> tuple[Call, str] | None:
        """The call with another value, and how the user asks for that."""
        able = [slot for slot in call.values if slot.kind not in ("flag", "boolean", "id") and not call.marks]
        if not able:
            return None
        slot = self.draw.choice(able)
        value = self.values.of(slot.kind, slot.members, slot.bounds)
        said = self.words.phrase("named", noun=slot.noun, value=self._bare(slot, value))
        changed = Call(call.tool, {**call.values, slot: value})
        return changed, self._phrase(CHANGES, said=said)

    def _incomplete(self) -> MadeItem | None:
        tool = self.choice.targets[0]
        call = self._call(tool)
        if call is None:
            return None
        able = [
            slot for slot in tool.slots if slot.required and len(slot.path) == 1 and slot.key in call.said
        ]
        missing = [slot for slot in able if slot.path[0] == self.choice.parameter]
        missing += [slot for slot in able if slot not in missing and self.draw.random() < 0.25]
        if not missing or self.choice.parameter not in [slot.path[0] for slot in missing]:
            return None
        for slot in missing:
            del call.said[slot.key]
            call.referred.add(slot.key)
        asked = self.words.phrase("question", nouns=self.words.nouns(missing))
        values = [self.words.literal(tool, slot, call.values[slot]) for slot in missing]
        given = self.words.phrase("reply", value=(", " if self.plan.lang == "en" else "、").join(values))
        fault = Missing(tool.name, tuple(str(slot.path[0]) for slot in missing))
        return self._whole([call], fault=fault, mended=(Said("assistant", asked), Said("user", given)))

    def _error(self) -> MadeItem | None:
        tool, name = self.choice.targets[0], self.choice.parameter
        call = self._call(tool)
        slot = next((slot for slot in tool.slots if slot.path == (name,)), None)
        if call is None or slot is None or slot not in call.values:
            return None
        schema = tool.definition["function"]["parameters"]["properties"][name]
        right = call.values[slot]
        wrong = wrong_value(right, schema, self.plan.lang, self.draw)
        if wrong is None:
            return None
        call.said[slot.key] = self.words.literal(tool, slot, wrong)
        doubt = self._phrase(DOUBTS, noun=slot.noun, value=str(wrong))
        given = self.words.phrase("reply", value=self.words.literal(tool, slot, right))
        mended = (Said("assistant", doubt), Said("user", given))
        return self._whole([call], fault=Wrong(tool.name, name, wrong), mended=mended)

    def _call(self, tool: MadeTool) -> Call | None:
        """A call with new values; None where one must be worked out and no date is told."""
        if not tool.slots:
            return None
        call = fill(tool, self.values, self.words, History(), given={}, hidden=None)
        if self.choice.parameter and self.choice.parameter not in call.arguments:
            for slot in tool.slots:
                if slot.path[0] == self.choice.parameter:
                    call.values[slot] = self.values.of(slot.kind, slot.members, slot.bounds)
                    call.said[slot.key] = self.words.literal(tool, slot, call.values[slot])
        return None if call.marks and not self.plan.dated else call

    def _request(self, calls: Sequence[Call]) -> str:
        clauses = [self.words.clause(call.tool, call.said, call.referred) for call in calls]
        text = self.words.request(self.words.join(clauses, ["and"] * (len(calls) - 1)), self.plan.tone)
        return self.words.after(self.words.opener(), text) if self.opened else text

    def _whole(self, calls: Sequence[Call], **more: Any) -> MadeItem:
        turn = Turn((Said("user", self._request(calls)),), tuple(map(_action, calls)))
        return assembled(self.plan, self.choice, (turn,), **more)

    def _bare(self, slot: Slot, value: Any) -> str:
        return spoken(value, slot.kind, self.plan.lang)

    def _phrase(self, table: Mapping[Any, Sequence[str]], **words: str) -> str:
        return self.draw.choice(table[self.plan.lang]).format(**words)


def _action(call: Call) -> Action:
    return Action(call.tool.name, call.arguments, {path: _reason(mark) for path, mark in call.marks.items()})


def _reason(mark: str) -> str:
    return mark.removeprefix("derived: ")
