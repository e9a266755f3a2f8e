"""The parties of a unit, and which of them a run lets one replace by what is known to be right."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from wildtool.alter.base import UNDER_TEST, Alteration
from wildtool.alter.tool_answers import TOOLS_PLAYER
from wildtool.alter.variant import Variant
from wildtool.errors import UsageError

GOLD, ENDPOINT, TOOL, HISTORY, USER, MODEL = "gold", "endpoint", "tool", "history", "user", "model"
PARTIES = (GOLD, ENDPOINT, TOOL, HISTORY, USER, MODEL)
"""In the order in which they are suspected, the cheapest to try first."""
ADAPTED_TO = frozenset({TOOL})
"""Parties whose faults a right model can get over: its gold answers take them into account."""
SCRIPT = "baseline/user"
"""The model that plays another role as it should be played."""
_ALTERATIONS = {"failures": TOOL, "history": HISTORY}
"""By kind of alteration the party that its absence puts right."""
_NOT_REPLAYED = {
    "agent": "an agent keeps its own state, so its steps cannot be asked again one by one",
    "exposure": "what it searched for or ran as code is not known to be right or wrong",
}
"""Alterations whose runs cannot be played again from the middle, with the reason."""
_LACKING: Mapping[str, str] = {
    GOLD: "no reviewed data are named (--reviewed)",
    TOOL: "the tools are executed, or their results are part of the data; only --failures is known to be wrong",
    HISTORY: "earlier tasks are shown as the data have them",
    USER: "no other model plays the user, whose words are part of the data",
}
"""Why a party is not among the suspects where nothing else is said."""


@dataclass(frozen=True, slots=True)
class TrialSetting:
    """What can be replaced in a run."""

    variant: Variant
    """The benchmark as it was run."""
    played: str
    """The profile that it was run under."""
    removable: Mapping[str, str] = field(default_factory=dict[str, str])
    """By party (tool, history) the kind of alteration whose absence puts it right."""
    scripted: tuple[str, ...] = ()
    """Roles that a script can play as they should be played: the user."""
    lacking: Mapping[str, str] = field(default_factory=dict[str, str])
    """Parties that nothing is known to be right for, each with the reason."""

    @property
    def suspects(self) -> tuple[str, ...]:
        """The parties that can be replaced in some unit, in order."""
        return tuple(party for party in PARTIES if party not in self.lacking)

    def without(self, parties: frozenset[str]) -> Variant:
        """The benchmark as it was run, with these parties right."""
        gone = {self.removable[party] for party in parties & self.removable.keys()}
        alterations = tuple(each for each in self.variant.alterations if _kind_of(each) not in gone)
        return replace(self.variant, alterations=alterations)


def trial_setting(
    variant: Variant, played: str, models: Mapping[str, Mapping[str, Any]], *, reviewed: bool
) -> TrialSetting:
    """What can be replaced in a run.

    Args:
        played: the profile that it was run under.
        models: by role what `run.json` says of its model.
        reviewed: whether there are data with reviewed gold answers.

    Raises UsageError naming what keeps a run from being played again.
    """
    for each in variant.alterations:
        _check_alteration(each)
    removable = {
        _ALTERATIONS[kind]: kind for kind in map(_kind_of, variant.alterations) if kind in _ALTERATIONS
    }
    lacking = dict(_LACKING)
    if reviewed:
        del lacking[GOLD]
    for party in removable:
        del lacking[party]
    scripted: list[str] = []
    for role in models.keys() - {UNDER_TEST}:
        if role == USER and models[role]["name"] == SCRIPT:
            lacking[USER] = f"the user is {SCRIPT} already"
        elif role == USER:
            scripted.append(role)
            del lacking[USER]
        elif role != TOOLS_PLAYER:  # it can be asked, but nothing right is known
            raise UsageError(
                f"--blame cannot play the role {role} again ({models[role]['name']}): nothing is known to be right in "
                "its place"
            )
    return TrialSetting(variant, played, removable, tuple(scripted), lacking)


def _kind_of(alteration: Alteration) -> str:
    # Left-out history is of the same kind, but no earlier task of the model's own is shown in it.
    return alteration.kind if alteration.kind != "history" or alteration.in_order else "left out"


def _check_alteration(alteration: Alteration) -> None:
    reason = _NOT_REPLAYED.get(alteration.kind)
    if reason is None and alteration.roles:
        reason = f"it asks {', '.join(alteration.roles)}, for which nothing is known to be right"
    if reason is not None:
        raise UsageError(f"--blame cannot play a run with {alteration.described} again: {reason}")
