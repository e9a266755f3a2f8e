"""Simple items, which the writer writes in one reply: messages, calls and, for some, a profile."""

from functools import partial
from typing import Any

from wildtool.findings import Finding, fault
from wildtool.generate.core.parsing import Action, RefusedReplyError, read_object, read_parts
from wildtool.generate.core.roles import RoleCoroutine, RoleSession
from wildtool.generate.items.item import DialogueTurn, GeneratedItem
from wildtool.generate.items.kinds import ITEM_KINDS
from wildtool.generate.items.plan import ItemPlan
from wildtool.generate.items.role_replies import parse_messages, parse_role_calls
from wildtool.generate.items.rules import item_faults, rendered_profile
from wildtool.generate.items.tool_catalog import ToolChoice
from wildtool.json_codec import as_list
from wildtool.toolcall.schema import as_schema


def write_item(plan: ItemPlan, choice: ToolChoice, roles: RoleSession) -> RoleCoroutine[GeneratedItem]:
    """One item. Raises AttemptFailedError if no reply of the writer keeps the rules."""
    kind = ITEM_KINDS[plan.kind]
    wanted: dict[str, Any] = {
        "kind": plan.kind,
        "tool": choice.targets[0].name,
        **({"parameter": choice.parameter} if kind.parameter_class else {}),
        **{name: getattr(plan, name) for name in ("form", "tone", "length")},
    }
    block = "atom" if kind.parameter_class else "single" if plan.kind == "irrelevant" else plan.kind

    def read(text: str) -> tuple[GeneratedItem, list[Finding]]:
        written = read_object(text, "W1")
        talk, calls, others, profile = read_parts(
            lambda: parse_messages(written.get("messages")),
            lambda: parse_role_calls(written.get("calls"), "W2"),
            lambda: _alternatives(written.get("alternatives")),
            lambda: _profile(plan, written.get("profile")),
        )
        item = assemble_item(plan, choice, (DialogueTurn(talk, tuple(calls), others),), profile=profile)
        # The tool that is taken away must have been the right one.
        if plan.kind == "irrelevant" and calls[0].name != choice.targets[0].name:
            raise RefusedReplyError(fault("W3", f"The request must be for {choice.targets[0].name}."))
        return item, item_faults(item)

    return (yield from roles.ask("writer", [block], {"wanted": wanted}, read))


def assemble_item(
    plan: ItemPlan, choice: ToolChoice, turns: tuple[DialogueTurn, ...], **more: Any
) -> GeneratedItem:
    """An item over the offered tools; of an irrelevant one the right tool is taken away."""
    functions = [tool.definition["function"] for tool in choice.offered]
    if plan.kind == "irrelevant":
        name = choice.targets[0].name
        more["removed_tool"] = next(function for function in functions if function["name"] == name)
        functions = [function for function in functions if function["name"] != name]
    return GeneratedItem(plan, tuple(functions), turns, **more)


def _alternatives(listed: Any) -> tuple[tuple[Action, ...], ...]:
    """Other answers, each a list of calls; none if nothing is given."""
    if listed is not None and not isinstance(listed, list):
        raise RefusedReplyError(fault("W2", "`alternatives` is a list of lists of calls."))
    answers = as_list(listed)
    return tuple(map(tuple, read_parts(*(partial(parse_role_calls, calls, "W2") for calls in answers))))


def _profile(plan: ItemPlan, given: Any) -> str:
    if plan.kind != "preference":
        return ""
    profile = as_schema(given)
    if not all(as_schema(profile.get(part)) for part in ("basic_features", "user_history")):
        message = "`profile` has `basic_features` and `user_history`, both objects with something in them."
        raise RefusedReplyError(fault("W4", message))
    return rendered_profile(profile)
