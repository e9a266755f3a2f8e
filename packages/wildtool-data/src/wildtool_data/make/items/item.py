"""A generated item, in no benchmark's format: dialogue, right calls, and what is wrong with the request."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from wildtool_data.make.core.parsing import Action
from wildtool_data.make.items.plan import ItemPlan

Speaker = Literal["user", "assistant"]


@dataclass(frozen=True, slots=True)
class Utterance:
    """One thing that somebody says."""

    speaker: Speaker
    text: str


@dataclass(frozen=True, slots=True)
class DialogueTurn:
    """A part of a dialogue that ends with a request."""

    utterances: tuple[Utterance, ...]
    """What is said since the calls of the turn before; the user's request is the last."""
    calls: tuple[Action, ...]
    """What answers it: the right calls; of an imperfect request those that are right once it is corrected."""
    alternatives: tuple[tuple[Action, ...], ...] = ()
    """Other calls, each of which answers it as well."""

    @property
    def answers(self) -> tuple[tuple[Action, ...], ...]:
        """All that answers it."""
        return self.calls, *self.alternatives


@dataclass(frozen=True, slots=True)
class MissingParameters:
    """Required parameters that a request leaves out."""

    tool: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WrongValue:
    """A value in a request that breaks the definition of its parameter."""

    tool: str
    parameter: str
    value: Any
    """As the call would have it."""

    @property
    def text(self) -> str:
        """As the user says it."""
        return self.value if isinstance(self.value, str) else str(self.value)


@dataclass(frozen=True, slots=True)
class GeneratedItem:
    """An item that is whole."""

    plan: ItemPlan
    functions: tuple[Mapping[str, Any], ...]
    """The offered tools: name, description, parameters."""
    turns: tuple[DialogueTurn, ...]
    """The turns of a dialogue; one of any other item, an imperfect one cut after the faulty request."""
    profile: str = ""
    """Text about the user, of a preference item."""
    fault: MissingParameters | WrongValue | None = None
    correction: tuple[Utterance, ...] = ()
    """What follows a faulty request: the assistant's remark, and the user's values."""
    removed_tool: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The tool that would serve an irrelevant request."""

    @property
    def offered_parameters(self) -> Mapping[str, Mapping[str, Any]]:
        """The parameters of each tool, and of the one that was removed."""
        offered = [*self.functions, *([self.removed_tool] if self.removed_tool else [])]
        return {function["name"]: function["parameters"] for function in offered}

    @property
    def user_texts(self) -> Sequence[str]:
        """What the user says up to the last request."""
        return [line.text for turn in self.turns for line in turn.utterances if line.speaker == "user"]
