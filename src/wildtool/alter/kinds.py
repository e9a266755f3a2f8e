"""The alterations that a run's record names."""

from collections.abc import Mapping
from pkgutil import resolve_name
from typing import Any

from wildtool.alter.base import Alteration

ALTERATION_KINDS = ("history", "catalogue", "failures", "noise", "injection", "aid", "exposure", "agent")
"""What tables and JSON call the alterations of wildtool, in the order in which they name them."""
_AID = "wildtool.alter.hints.hints:Hints"
_CLASSES = {
    "history": "wildtool.alter.history.history:OwnHistory",
    "history_left_out": "wildtool.alter.history.left_out:LeftOutHistory",
    "catalogue": "wildtool.alter.distractors.distractors:Distractors",
    "failures": "wildtool.alter.failures.failures:Failures",
    "noise": "wildtool.alter.noise.noise:Noise",
    "injection": "wildtool.alter.injection.injection:Injection",
    "hints": _AID,
    "rationale": _AID,
    "expose": "wildtool.alter.expose.exposure:Exposure",
    "agent": "wildtool.alter.agent.agent:AgentAlteration",
}
"""By entry of a run's identity the class that reads it, the one next to the benchmark first. Each is loaded for runs that
have it; most have none."""


def recorded_alterations(identity: Mapping[str, Any]) -> tuple[Alteration, ...]:
    """The alterations of a run, the one next to the benchmark first.

    Args:
        identity: of the run, from `run.json`.

    Raises RecordError where it is damaged.
    """
    places = dict.fromkeys(place for key, place in _CLASSES.items() if identity.get(key) is not None)
    return tuple(resolve_name(place).recorded(identity) for place in places)
