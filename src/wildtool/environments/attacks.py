"""Policies that want a reward without the ability: what they get says what a reward is worth."""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wildtool.environments.core import Observation, UnitEnvironment
from wildtool.environments.rewards import outcome_reward
from wildtool.environments.sources import ItemUnits
from wildtool.episode import written_text
from wildtool.json_codec import as_list, as_object, as_objects
from wildtool.types import Message, Tool

GOLD = "gold"
"""The policy that is always right, to compare the others with."""
_REFUSAL = "I am sorry, I cannot help with that."
_QUESTION = "Which one do you mean?"
_DONE = "It is done."
MOST_CHARACTERS, MOST_CALLS = 20_000, 50
"""That a policy copies into one message: who copies all, its own copies too, would double its message with each step."""


@dataclass(slots=True)
class View:
    """What a policy sees at one step: all messages and tools, and what it does itself."""

    messages: list[Message] = field(default_factory=list[Message])
    tools: list[Tool] = field(default_factory=list[Tool])
    step: int = 0
    draw: random.Random = field(default_factory=random.Random)

    def add(self, observation: Observation, own: Message | None = None) -> None:
        self.messages = [] if observation.replaces else [*self.messages, *([own] if own else [])]
        self.messages += observation.messages
        self.tools = self.tools if observation.tools is None else observation.tools

    def last(self, role: str) -> str:
        """The last text of a role."""
        texts = (written_text(message) for message in reversed(self.messages) if message.get("role") == role)
        return next((text for text in texts if text), "")[:MOST_CHARACTERS]

    @property
    def earlier_calls(self) -> list[dict[str, Any]]:
        """All calls that are shown, as name and arguments."""
        calls = [call for message in self.messages for call in as_objects(message.get("tool_calls"))]
        return [as_object(call.get("function")) for call in calls]


Policy = Callable[[View], Message]


def _text(text: str) -> Message:
    return {"role": "assistant", "content": text}


def _calls(calls: Sequence[tuple[str, Any]], content: str | None = None) -> Message:
    """A message with calls; arguments as a value, or as the text that is sent. Without a tool it says nothing."""
    entries = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": name, "arguments": value if isinstance(value, str) else json.dumps(value)},
        }
        for number, (name, value) in enumerate(calls)
    ]
    return {"role": "assistant", "content": content, "tool_calls": entries} if entries else _text(_DONE)


def _name(tool: Tool) -> str:
    return str(as_object(tool.get("function")).get("name"))


def _guess(tool: Tool, view: View) -> dict[str, Any]:
    """A value that fits its schema for each required parameter."""
    parameters = as_object(as_object(tool.get("function")).get("parameters"))
    required = set(map(str, as_list(parameters.get("required"))))
    declared = as_object(parameters.get("properties"))
    return {name: _value(as_object(schema), view) for name, schema in declared.items() if name in required}


def _value(schema: Mapping[str, Any], view: View) -> Any:
    if members := as_list(schema.get("enum")):
        return view.draw.choice(members)
    words = view.last("user").split() or ["it"]
    plain: dict[str, Any] = {"boolean": True, "integer": 1, "number": 1.0, "array": [], "object": {}}
    return plain.get(str(schema.get("type")), view.draw.choice(words))


def _likely(view: View) -> list[Tool]:
    """Tools, those first that share most words with what the user said last."""
    words = set(view.last("user").casefold().split())
    return sorted(view.tools, key=lambda tool: -len(words & set(json.dumps(tool).casefold().split())))


def _each(tools: Sequence[Tool], arguments: Callable[[Tool], Any], content: str | None = None) -> Message:
    """A message that calls each of the tools."""
    return _calls([(_name(tool), arguments(tool)) for tool in tools], content)


def _filled(tool: Tool, value: Any) -> dict[str, Any]:
    """One value for each parameter."""
    parameters = as_object(as_object(tool.get("function")).get("parameters"))
    return dict.fromkeys(as_object(parameters.get("properties")), value)


def _history(view: View, last: int = MOST_CALLS) -> list[tuple[str, Any]]:
    return [(str(call.get("name")), call.get("arguments") or "{}") for call in view.earlier_calls[-last:]]


POLICIES: Mapping[str, Policy] = {
    "refuse": lambda view: _text(_REFUSAL),
    "ask back": lambda view: _text(_QUESTION),
    "claim that it is done": lambda view: _text(_DONE),
    "claim, then ask": lambda view: _text(f"{_DONE} {_QUESTION}"),
    "copy the user's text": lambda view: _text(view.last("user") or _DONE),
    "copy the last result": lambda view: _text(view.last("tool") or view.last("user") or _DONE),
    "copy all that is shown": lambda view: _text(
        json.dumps(view.messages, ensure_ascii=False)[:MOST_CHARACTERS]
    ),
    "empty reply": lambda view: _text(""),
    "a blank": lambda view: _text(" "),
    "nothing, then a claim": lambda view: _text(_DONE if view.step else ""),
    "first tool, no arguments": lambda view: _each(view.tools[:1], lambda tool: {}),
    "first tool, then a claim": lambda view: (
        _text(_DONE) if view.step else _each(view.tools[:1], lambda tool: {})
    ),
    "first tool, guessed values": lambda view: _each(view.tools[:1], lambda tool: _guess(tool, view)),
    "any tool, guessed values": lambda view: _each(
        view.draw.sample(view.tools, min(1, len(view.tools))), lambda tool: _guess(tool, view)
    ),
    "likeliest tool, guessed values": lambda view: _each(_likely(view)[:1], lambda tool: _guess(tool, view)),
    "likeliest tool, then a claim": lambda view: (
        _text(_DONE) if view.step else _each(_likely(view)[:1], lambda tool: _guess(tool, view))
    ),
    "likeliest tool, the user's text as values": lambda view: _each(
        _likely(view)[:1], lambda tool: _filled(tool, view.last("user"))
    ),
    "all tools, no arguments": lambda view: _each(view.tools, lambda tool: {}),
    "all tools, guessed values": lambda view: _each(view.tools, lambda tool: _guess(tool, view)),
    "all tools, null for each value": lambda view: _each(view.tools, lambda tool: _filled(tool, None)),
    "all tools, then a claim": lambda view: _text(_DONE) if view.step else _each(view.tools, lambda tool: {}),
    "one tool after another": lambda view: _each(
        view.tools[view.step % max(1, len(view.tools)) :][:1], lambda tool: {}
    ),
    "likeliest tools, one after another": lambda view: _each(
        _likely(view)[view.step % max(1, len(view.tools)) :][:1], lambda tool: _guess(tool, view)
    ),
    "one call three times": lambda view: _each(_likely(view)[:1] * 3, lambda tool: {}),
    "repeat the last call": lambda view: _calls(_history(view, 1)),
    "repeat all calls": lambda view: _calls(_history(view)),
    "an unknown tool": lambda view: _calls([("no_such_tool", {})]),
    "arguments that cannot be read": lambda view: _each(view.tools[:1], lambda tool: "{not JSON"),
    "call and claim at once": lambda view: _each(_likely(view)[:1], lambda tool: {}, _DONE),
    "calls as text": lambda view: _text(f"[{', '.join(_name(tool) + '()' for tool in view.tools)}]"),
    "text and call in turn": lambda view: (
        _each(_likely(view)[:1], lambda tool: {}) if view.step % 2 else _text(_QUESTION)
    ),
    "the end mark": lambda view: _text("finish conversation"),
}
"""By name; none of them can do a task that needs an argument."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackScore:
    """What one policy gets over all units."""

    policy: str
    reward: float
    """Mean `outcome_reward`; 1 for gold."""
    without_free: float
    """The same over the units that no text alone solves."""
    free_units: int
    units: int


def attack(units: ItemUnits, profile: str) -> list[AttackScore]:
    """What each policy gets, gold first. Wrong calls are answered where the profile's walk ends, so that who guesses may
    try again. Units without a right answer under the profile are left out; none is left where there are only such."""
    environment = UnitEnvironment(units, profile, on_fault="answer")
    names = [name for name in units.names if environment.can_open(name)]
    if not names:
        return []
    rewards = {name: [_play(environment, unit, each) for unit in names] for name, each in POLICIES.items()}
    free = [any(rewards[name][place] == 1 for name in _TEXTS) for place in range(len(names))]
    rewards = {GOLD: [_play(environment, unit, None) for unit in names], **rewards}
    return [
        AttackScore(
            policy=name,
            reward=sum(values) / len(values),
            without_free=sum(value for value, is_free in zip(values, free, strict=True) if not is_free)
            / max(1, len(values) - sum(free)),
            free_units=sum(free),
            units=len(values),
        )
        for name, values in rewards.items()
    ]


_TEXTS = ("refuse", "ask back", "claim that it is done", "the end mark")
"""Policies that only talk: what they solve needs no ability."""


def _play(environment: UnitEnvironment, unit: str, policy: Policy | None) -> float:
    view = View(draw=random.Random(unit))
    view.add(environment.open(unit))
    while True:
        message = environment.gold() if policy is None else policy(view)
        if message is None:  # gold of a unit that has none
            return 0.0
        transition = environment.step(message)
        if transition.done:
            return outcome_reward(environment.steps)
        view.add(transition.observation, message)
        view.step += 1
