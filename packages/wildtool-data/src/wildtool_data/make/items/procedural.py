"""Items without any model: plans filled from templates over tool schemas, with gold that is known by construction."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from random import Random
from typing import Any

from wildtool import __version__
from wildtool_data.make.core.dedup import Deduplicator
from wildtool_data.make.core.parsing import Action
from wildtool_data.make.core.roles import AttemptFailedError
from wildtool_data.make.items.collect import CollectedItem, GeneratedItems, check_new
from wildtool_data.make.items.from_sessions import items_from_sessions
from wildtool_data.make.items.item import (
    DialogueTurn,
    GeneratedItem,
    MissingParameters,
    Utterance,
    WrongValue,
)
from wildtool_data.make.items.maker import ItemGenerationSpec
from wildtool_data.make.items.plan import ItemPlan, item_plans, parse_shares
from wildtool_data.make.items.procedural_wording import CHANGES, DOUBTS, USUAL, profile_with, wrong_value
from wildtool_data.make.items.rules import ITEM_CHECKS, item_faults, rendered_profile
from wildtool_data.make.items.script import assemble_item
from wildtool_data.make.items.tool_catalog import ToolCatalog, ToolChoice, tool_catalogs
from wildtool_data.make.procedural.calls import DraftCall, draft_call, drawn_value, simulate_result
from wildtool_data.make.procedural.tool_sets import ToolSpec
from wildtool_data.make.procedural.values import ValueSampler, as_spoken
from wildtool_data.make.procedural.wording import Wording

_ATTEMPTS = 60
_PROFILE_KINDS = ("person", "email", "phone", "address", "city")
"""Kinds of values that belong to a person."""
_OPENER_SHARE = 0.35
"""How often a request starts with a sentence about whom it is for."""


def procedural_items(spec: ItemGenerationSpec, note: Callable[[str], None]) -> GeneratedItems:
    """A set of items; the same order gives the same items. A kind that the tools do not allow is lost with its reason.

    Args:
        note: called with each tool that is left out, and why.

    Raises:
        DataError: for tools that cannot be read.
    """
    fresh = Deduplicator()
    items: list[CollectedItem] = []
    losses: list[dict[str, Any]] = []
    for plan, making in _item_builders(spec, note):
        place = {"item": plan.index, "kind": plan.kind, "lang": plan.lang}
        try:
            item = making(fresh)
        except AttemptFailedError as error:
            losses.append({**place, "reason": error.reason, "detail": str(error), "replaced": False})
            continue
        made_by = {"model": "procedural", "version": __version__, "seed": spec.seed}
        items.append(CollectedItem(item, {**place, **made_by, "checks": list(ITEM_CHECKS)}))
    return GeneratedItems(tuple(items), tuple(losses))


def _item_builders(
    spec: ItemGenerationSpec, note: Callable[[str], None]
) -> Iterator[tuple[ItemPlan, Callable[[Deduplicator], GeneratedItem]]]:
    """Each plan with what makes its item, or raises AttemptFailedError."""
    if spec.sessions is not None:
        for item in items_from_sessions(spec.sessions, spec.items, spec.kinds, spec.seed, spec.langs):
            yield item.plan, partial(_checked, item)
        return
    catalogs = tool_catalogs(spec.tools, spec.langs, note)
    kinds = spec.kinds if spec.tools is None else _allowed(spec.kinds, catalogs.values(), note)
    for plan in item_plans(spec.items, kinds, seed=spec.seed, langs=spec.langs):
        yield plan, partial(_item, plan, catalogs[plan.lang])


def _allowed(
    shares: Mapping[str, int], catalogs: Collection[ToolCatalog], note: Callable[[str], None]
) -> Mapping[str, int]:
    """The kinds that a user's tools allow, where none were chosen; chosen ones stay, and are lost with their reason."""
    if shares != parse_shares(()):
        return shares
    able = {kind: share for kind, share in shares.items() if all(its.allows(kind) for its in catalogs)}
    lacking = [kind for kind in shares if kind not in able]
    if lacking and able:
        note(
            f"no item of the kind {', '.join(lacking)} is planned, since no tool of these allows one; "
            "--kinds asks for them all the same"
        )
    return able or shares


def _checked(item: GeneratedItem, fresh: Deduplicator) -> GeneratedItem:
    """An item that was made already, if it breaks no rule and is like none before."""
    if faults := item_faults(item):
        raise AttemptFailedError(f"item {faults[0].rule}", f"{faults[0].rule}: {faults[0].message}")
    check_new(fresh, item)
    return item


def _item(plan: ItemPlan, catalogue: ToolCatalog, fresh: Deduplicator) -> GeneratedItem:
    problem = "no draw led to one"
    for attempt in range(_ATTEMPTS):
        choice = catalogue.choose(plan, attempt)
        item = draw_item(plan, choice, plan.stream(f"item/{attempt}"), attempt)
        if item is None:
            continue
        if faults := item_faults(item):
            problem = f"{faults[0].rule}: {faults[0].message}"
        elif fresh.accepts(plan.lang, "\n".join(item.user_texts)):
            return item
    detail = f"{_ATTEMPTS} draws led to no item of the kind {plan.kind}: {problem}"
    raise AttemptFailedError("no draw", detail)


def draw_item(plan: ItemPlan, choice: ToolChoice, draw: Random, attempt: int) -> GeneratedItem | None:
    """One draw of an item over the chosen tools, not yet held to the rules; None if it leads nowhere."""
    return _ItemDraw(plan, choice, draw, attempt).item()


class _ItemDraw:
    """One draw of an item."""

    def __init__(self, plan: ItemPlan, choice: ToolChoice, draw: Random, attempt: int) -> None:
        self.plan = plan
        self.choice = choice
        self.draw = draw
        self.values = ValueSampler(draw, plan.lang, plan.date)
        self.words = Wording(draw, plan.lang)
        self.opened = attempt > 0 or draw.random() < _OPENER_SHARE
        """Whether the request begins with a sentence of its own; one that was too much like another does."""

    def item(self) -> GeneratedItem | None:
        """The item; None if this draw leads nowhere."""
        kinds: Mapping[str, Callable[[], GeneratedItem | None]] = {
            "parallel": self._parallel,
            "adjust": self._dialogue,
            "switch": self._dialogue,
            "preference": self._preference,
            "incomplete": self._incomplete,
            "error": self._error,
        }
        return kinds.get(self.plan.kind, self._single)()

    def _single(self) -> GeneratedItem | None:
        call = self._call(self.choice.targets[0])
        return call and self._full_item([call])

    def _parallel(self) -> GeneratedItem | None:
        calls: list[DraftCall] = []
        able = [tool for tool in self.choice.offered if tool.slots]
        for _ in range(self.draw.choice((2, 2, 2, 3, 3, 4))):
            call = self._call(self.draw.choice(able) if calls else self.choice.targets[0])
            if call is None:
                return None
            calls.append(call)
        return self._full_item(calls)

    def _preference(self) -> GeneratedItem | None:
        tool = self.choice.targets[0]
        call = self._call(tool)
        if call is None:
            return None
        texts = [slot for slot in tool.slots if slot.required and isinstance(call.values.get(slot), str)]
        able = [slot for slot in texts if len(slot.path) == 1 and slot.kind not in ("enum", "id")]
        if not able:
            return None
        slot = self.draw.choice([slot for slot in able if slot.kind in _PROFILE_KINDS] or able)
        call.spoken[slot.key] = self._phrase(USUAL, noun=slot.noun)
        call.coreferences.add(slot.key)
        profile = profile_with(self.values, slot.noun, call.values[slot])
        return self._full_item([call], profile=rendered_profile(profile))

    def _dialogue(self) -> GeneratedItem | None:
        call = self._call(self.choice.targets[0])
        if call is None:
            return None
        turns = [DialogueTurn((Utterance("user", self._request([call])),), (_action(call),))]
        for t in range(1, self.plan.turns):
            simulate_result(call, self.values, {})
            told = Utterance("assistant", self.words.summary([(call.tool, call.result)]))
            other = self._call(self.choice.targets[t])
            adjusted = self.plan.kind == "adjust"
            following = self._with_change(call) if adjusted else other and (other, self._request([other]))
            if following is None:
                return None
            call, text = following
            turns.append(DialogueTurn((told, Utterance("user", text)), (_action(call),)))
        return assemble_item(self.plan, self.choice, tuple(turns))

    def _with_change(self, call: DraftCall) -> tuple[DraftCall, str] | None:
        """The call with another value, and how the user asks for that."""
        able = [slot for slot in call.values if slot.kind not in ("flag", "boolean", "id") and not call.marks]
        if not able:
            return None
        slot = self.draw.choice(able)
        value = drawn_value(slot, self.values, call.beside(slot))
        phrase = self.words.phrase("named", noun=slot.noun, value=as_spoken(value, slot.kind, self.plan.lang))
        new_call = DraftCall(call.tool, {**call.values, slot: value})
        return new_call, self._phrase(CHANGES, said=phrase)

    def _incomplete(self) -> GeneratedItem | None:
        tool = self.choice.targets[0]
        call = self._call(tool)
        if call is None:
            return None
        top = [slot for slot in tool.slots if slot.required and len(slot.path) == 1]
        able = [slot for slot in top if slot.key in call.spoken]
        missing = [slot for slot in able if slot.path[0] == self.choice.parameter]
        missing += [slot for slot in able if slot not in missing and self.draw.random() < 0.25]
        if self.choice.parameter not in [slot.path[0] for slot in missing]:
            return None
        for slot in missing:
            del call.spoken[slot.key]
        question = self.words.phrase("question", nouns=self.words.nouns(missing))
        values = [self.words.literal(tool, slot, call.values[slot]) for slot in missing]
        reply = self.words.phrase("reply", value=(", " if self.plan.lang == "en" else "、").join(values))
        fault = MissingParameters(tool.name, tuple(str(slot.path[0]) for slot in missing))
        mended = (Utterance("assistant", question), Utterance("user", reply))
        return self._full_item([call], fault=fault, correction=mended)

    def _error(self) -> GeneratedItem | None:
        tool, name = self.choice.targets[0], self.choice.parameter
        call = self._call(tool)
        slot = next((slot for slot in tool.slots if slot.path == (name,)), None)
        if call is None or slot is None:
            return None
        schema = tool.definition["function"]["parameters"]["properties"][name]
        right = call.values[slot]
        wrong = wrong_value(right, schema, self.plan.lang, self.draw)
        if wrong is None:
            return None
        call.spoken[slot.key] = self.words.literal(tool, slot, wrong)
        doubt = self._phrase(DOUBTS, noun=slot.noun, value=str(wrong))
        reply = self.words.phrase("reply", value=self.words.literal(tool, slot, right))
        mended = (Utterance("assistant", doubt), Utterance("user", reply))
        return self._full_item([call], fault=WrongValue(tool.name, name, wrong), correction=mended)

    def _call(self, tool: ToolSpec) -> DraftCall | None:
        """A call with new values; None if one must be derived and there is no date."""
        if not tool.slots:
            return None
        call = draft_call(tool, self.values, self.words, linked={}, hidden=None)
        if self.choice.parameter and self.choice.parameter not in call.arguments:
            for slot in tool.slots:
                if slot.path[0] == self.choice.parameter:
                    call.values[slot] = drawn_value(slot, self.values, call.beside(slot))
                    call.spoken[slot.key] = self.words.literal(tool, slot, call.values[slot])
        return None if call.marks and not self.plan.dated else call

    def _request(self, calls: Sequence[DraftCall]) -> str:
        clauses = [self.words.clause(call.tool, call.spoken, call.coreferences) for call in calls]
        text = self.words.request(self.words.join(clauses, ["and"] * (len(calls) - 1)), self.plan.tone)
        return self.words.after(self.words.opener(), text) if self.opened else text

    def _full_item(self, calls: Sequence[DraftCall], **more: Any) -> GeneratedItem:
        turn = DialogueTurn((Utterance("user", self._request(calls)),), tuple(map(_action, calls)))
        return assemble_item(self.plan, self.choice, (turn,), **more)

    def _phrase(self, table: Mapping[Any, Sequence[str]], **words: str) -> str:
        return self.draw.choice(table[self.plan.lang]).format(**words)


def _action(call: DraftCall) -> Action:
    reasons = {path: mark.removeprefix("derived: ") for path, mark in call.marks.items()}
    return Action(call.tool.name, call.arguments, reasons)
