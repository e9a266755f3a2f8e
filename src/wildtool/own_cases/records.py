"""What a case expects, once it is read: calls with their slots, texts, and the units of a case."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from math import inf
from typing import Any

from wildtool.json_codec import as_object, canonical_json
from wildtool.types import Message, Tool

UNLIMITED = inf
"""Calls that may be given to a slot without a highest number."""


@dataclass(frozen=True, slots=True)
class CallPattern:
    """A call as it is expected or forbidden."""

    name: str
    """The tool's; `*` stands for any characters."""
    arguments: Mapping[str, Any] | None = None
    """Values, with matchers among them; None where arguments are not judged."""
    ignore: tuple[str, ...] = ()
    """Names of arguments that do not count; `*` stands for any characters."""
    extra: bool = False
    """Whether arguments that are not named here do not count."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One place among the calls that are expected."""

    patterns: tuple[CallPattern, ...]
    """A call must fit one of them."""
    least: int = 1
    most: float = 1
    """Calls that may be given to it; infinite for any number."""
    label: str = ""
    """What `after` and `$from` call it."""
    after: tuple[str, ...] = ()
    """Labels of slots whose calls must have been made before."""
    returns: tuple[Any, ...] = ()
    """The recorded result; empty where there is none."""

    @property
    def title(self) -> str:
        """The names of its tools, as messages give them."""
        return " or ".join(dict.fromkeys(pattern.name for pattern in self.patterns))


@dataclass(frozen=True, slots=True)
class Expectation:
    """What is right in one turn."""

    alternatives: tuple[tuple[Slot, ...], ...] | None = None
    """Each is a list of slots, of which one must be met; None where calls are not judged."""
    also: tuple[str, ...] = ()
    """Names of tools that may be called besides; `*` stands for any characters."""
    never: tuple[CallPattern, ...] = ()
    in_order: bool = False
    """Whether calls must come in the order of the slots."""
    says: tuple[Any, ...] = ()
    """Texts that the answer contains, or matchers of it."""
    not_says: tuple[Any, ...] = ()

    @property
    def slots(self) -> tuple[Slot, ...]:
        """Those of the first alternative: what the turn is said to expect."""
        return self.alternatives[0] if self.alternatives else ()

    @property
    def needs_call(self) -> bool:
        """Whether each alternative has a call that must be made."""
        return bool(self.alternatives) and all(
            any(slot.least for slot in slots) for slots in self.alternatives or ()
        )


@dataclass(frozen=True, slots=True)
class CaseUnit:
    """One turn of a case: what the model sees, and what is right."""

    messages: tuple[Message, ...]
    tools: tuple[Tool, ...]
    expectation: Expectation
    turn: int = 1
    """From 1."""
    answer: str = ""
    """What was said at its end, which later turns show; empty where that is not recorded."""
    gold: Message | None = None
    """The answer that was recorded; None to make one of what is expected."""

    @property
    def parameters(self) -> dict[str, Mapping[str, Any]]:
        """By name of a tool the schema of its parameters."""
        return {
            tool["function"]["name"]: as_object(tool["function"].get("parameters")) for tool in self.tools
        }


def case_digest(asked: Any, shown: Any) -> str:
    """Changes with a case: before the point with what is asked and expected, so that runs pair cases by it, and behind it
    with the prompt and the tools that the model is shown.

    Args:
        asked: what is asked and expected, as JSON.
        shown: prompt and tools.
    """
    return ".".join(
        sha256(canonical_json(part)).hexdigest()[:size] for part, size in ((asked, 12), (shown, 6))
    )


@dataclass(frozen=True, slots=True)
class Case:
    """A case: its units share its tags and are alike, so that they count as one cluster."""

    id: str
    units: Mapping[str, CaseUnit]
    tags: tuple[str, ...] = ()
    must: bool = False
    """Whether a failure of it alone fails a gate."""
    at_least: float = 1.0
    """Share of its units that must be right for the case to pass, from 0 to 1."""
    digest: str = ""
    """As of `case_digest`."""
    line: int = 0
    """In its file, from 1."""
