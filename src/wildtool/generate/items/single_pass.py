"""Simple items, which one writer writes in one go: what is said, the calls, and a profile where there is one."""

from typing import Any, cast

from wildtool.generate.core.parsing import Action, Fault, read_object
from wildtool.generate.core.roles import Cast, Talk
from wildtool.generate.items.item import MadeItem, Turn
from wildtool.generate.items.kinds import KINDS
from wildtool.generate.items.plan import ItemPlan
from wildtool.generate.items.role_replies import read_calls, read_messages
from wildtool.generate.items.rules import item_faults, rendered_profile
from wildtool.generate.items.tool_catalog import Choice
from wildtool.toolcall.schema import as_schema


def written_item(plan: ItemPlan, choice: Choice, cast: Cast) -> Talk[MadeItem]:
    """One item. Raises LostError where the writer's replies break rules to the last."""
    kind = KINDS[plan.kind]
    wanted: dict[str, Any] = {
        "kind": plan.kind,
        "tool": choice.targets[0].name,
        **({"parameter": choice.parameter} if kind.atom else {}),
        **{name: getattr(plan, name) for name in ("form", "tone", "length")},
    }
    block = "atom" if kind.atom else "single" if plan.kind == "irrelevant" else plan.kind

    def read(text: str) -> tuple[MadeItem | None, list[Fault]]:
        written, faults = read_object(text, "W1")
        if faults:
            return None, faults
        talk, faults = read_messages(written.get("messages"))
        calls, more = read_calls(written.get("calls"), "W2")
        others, odd = _alternatives(written.get("alternatives"))
        profile, bad = _profile(plan, written.get("profile"))
        if faults := [*faults, *more, *odd, *bad]:
            return None, faults
        item = assembled(plan, choice, (Turn(talk, tuple(calls), others),), profile=profile)
        # The tool that is taken away must have been the right one.
        if plan.kind == "irrelevant" and calls[0].name != choice.targets[0].name:
            return None, [Fault("W3", f"The request must be for {choice.targets[0].name}.")]
        return item, item_faults(item)

    return (yield from cast.ask("writer", [block], {"wanted": wanted}, read))


def assembled(plan: ItemPlan, choice: Choice, turns: tuple[Turn, ...], **more: Any) -> MadeItem:
    """An item over the offered tools; of an irrelevant one the right tool is taken away."""
    functions = [tool.definition["function"] for tool in choice.offered]
    if plan.kind == "irrelevant":
        name = choice.targets[0].name
        more["removed"] = next(function for function in functions if function["name"] == name)
        functions = [function for function in functions if function["name"] != name]
    return MadeItem(plan, tuple(functions), turns, **more)


def _alternatives(listed: Any) -> tuple[tuple[tuple[Action, ...], ...], list[Fault]]:
    """Other answers, each a list of calls; none where nothing is given."""
    if listed is None:
        return (), []
    if not isinstance(listed, list):
        return (), [Fault("W2", "`alternatives` is a list of lists of calls.")]
    read = [read_calls(calls, "W2") for calls in cast(list[Any], listed)]
    return tuple(tuple(calls) for calls, _ in read), [fault for _, faults in read for fault in faults]


def _profile(plan: ItemPlan, given: Any) -> tuple[str, list[Fault]]:
    if plan.kind != "preference":
        return "", []
    profile = as_schema(given)
    if not all(as_schema(profile.get(part)) for part in ("basic_features", "user_history")):
        message = "`profile` has `basic_features` and `user_history`, both objects with something in them."
        return "", [Fault("W4", message)]
    return rendered_profile(profile), []
