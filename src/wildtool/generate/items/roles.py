"""The roles that make items, and the cast of one item."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from wildtool.generate.core.roles import RoleSession
from wildtool.generate.items.plan import ItemPlan
from wildtool.generate.items.tool_catalog import ToolChoice

ITEM_PROMPTS = Path(__file__).parent / "prompts"
ITEM_ROLES: Mapping[str, str] = {
    "writer": "writes simple items in one go: what is said, and the calls",
    "user": "says the requests of dialogues, and replies to questions",
    "agent": "calls, asks for what is missing, points out what is wrong, words answers",
    "tool": "returns what the tools would",
    "judge": "votes on finished items; the further votes are of `judge 2`, `judge 3`, …",
}


def item_roles(plan: ItemPlan, choice: ToolChoice, counters: Counter[str]) -> RoleSession:
    """The roles of one attempt over its tools."""
    shown = {"tools": [tool.definition["function"] for tool in choice.offered], "now": plan.time}
    return RoleSession(ITEM_PROMPTS, plan.lang, shown, counters)
