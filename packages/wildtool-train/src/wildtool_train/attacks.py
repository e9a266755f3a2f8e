"""Policies that want a reward without the ability: what they get says what a reward is worth."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wildtool.draws import seeded_draw
from wildtool.json_codec import as_list, as_object
from wildtool.types import Tool
from wildtool_train.copying import COPYING
from wildtool_train.core import UnitEnvironment
from wildtool_train.rewards import outcome_reward
from wildtool_train.sources import ItemUnits
from wildtool_train.view import (
    CLAIM,
    MOST_CALLS,
    MOST_CHARACTERS,
    Policy,
    View,
    call_each,
    make_calls,
    name_of_tool,
    say,
)

GOLD = "gold"
"""The policy that is always right, to compare the others with."""
_REFUSAL = "I am sorry, I cannot help with that."
_QUESTION = "Which one do you mean?"


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


def _filled(tool: Tool, value: Any) -> dict[str, Any]:
    """One value for each parameter."""
    parameters = as_object(as_object(tool.get("function")).get("parameters"))
    return dict.fromkeys(as_object(parameters.get("properties")), value)


def _history(view: View, last: int = MOST_CALLS) -> list[tuple[str, Any]]:
    return [(str(call.get("name")), call.get("arguments") or "{}") for call in view.earlier_calls[-last:]]


POLICIES: Mapping[str, Policy] = {
    "refuse": lambda view: say(_REFUSAL),
    "ask back": lambda view: say(_QUESTION),
    "claim that it is done": lambda view: say(CLAIM),
    "claim, then ask": lambda view: say(f"{CLAIM} {_QUESTION}"),
    "copy the user's text": lambda view: say(view.last("user") or CLAIM),
    "copy the last result": lambda view: say(view.last("tool") or view.last("user") or CLAIM),
    "copy all that is shown": lambda view: say(
        json.dumps(view.messages, ensure_ascii=False)[:MOST_CHARACTERS]
    ),
    "empty reply": lambda view: say(""),
    "a blank": lambda view: say(" "),
    "nothing, then a claim": lambda view: say(CLAIM if view.step else ""),
    "first tool, no arguments": lambda view: call_each(view.tools[:1], lambda tool: {}),
    "first tool, then a claim": lambda view: (
        say(CLAIM) if view.step else call_each(view.tools[:1], lambda tool: {})
    ),
    "first tool, guessed values": lambda view: call_each(view.tools[:1], lambda tool: _guess(tool, view)),
    "any tool, guessed values": lambda view: call_each(
        view.draw.sample(view.tools, min(1, len(view.tools))), lambda tool: _guess(tool, view)
    ),
    "likeliest tool, guessed values": lambda view: call_each(
        _likely(view)[:1], lambda tool: _guess(tool, view)
    ),
    "likeliest tool, then a claim": lambda view: (
        say(CLAIM) if view.step else call_each(_likely(view)[:1], lambda tool: _guess(tool, view))
    ),
    "likeliest tool, the user's text as values": lambda view: call_each(
        _likely(view)[:1], lambda tool: _filled(tool, view.last("user"))
    ),
    "all tools, no arguments": lambda view: call_each(view.tools, lambda tool: {}),
    "all tools, guessed values": lambda view: call_each(view.tools, lambda tool: _guess(tool, view)),
    "all tools, null for each value": lambda view: call_each(view.tools, lambda tool: _filled(tool, None)),
    "all tools, then a claim": lambda view: (
        say(CLAIM) if view.step else call_each(view.tools, lambda tool: {})
    ),
    "one tool after another": lambda view: call_each(
        view.tools[view.step % max(1, len(view.tools)) :][:1], lambda tool: {}
    ),
    "likeliest tools, one after another": lambda view: call_each(
        _likely(view)[view.step % max(1, len(view.tools)) :][:1], lambda tool: _guess(tool, view)
    ),
    "one call three times": lambda view: call_each(_likely(view)[:1] * 3, lambda tool: {}),
    "repeat the last call": lambda view: make_calls(_history(view, 1)),
    "repeat all calls": lambda view: make_calls(_history(view)),
    "an unknown tool": lambda view: make_calls([("no_such_tool", {})]),
    "arguments that cannot be read": lambda view: call_each(view.tools[:1], lambda tool: "{not JSON"),
    "call and claim at once": lambda view: call_each(_likely(view)[:1], lambda tool: {}, CLAIM),
    "calls as text": lambda view: say(f"[{', '.join(name_of_tool(tool) + '()' for tool in view.tools)}]"),
    "text and call in turn": lambda view: (
        call_each(_likely(view)[:1], lambda tool: {}) if view.step % 2 else say(_QUESTION)
    ),
    "the end mark": lambda view: say("finish conversation"),
}
"""By name; none of them can do a task that needs an argument."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackScore:
    """What one policy gets over all units."""

    policy: str
    copies: bool = False
    """Whether it takes values from what is written, which is part of the task."""
    reward: float
    """Mean `outcome_reward`; 1 for gold."""
    without_free: float
    """The same over the units that no text alone solves."""
    free_units: int
    units: int


def attack(units: ItemUnits, profile: str, policies: Mapping[str, Policy] | None = None) -> list[AttackScore]:
    """What each policy gets, gold first. Wrong calls are answered where the profile's walk ends, so that who guesses may
    try again. Units without a right answer under the profile are left out; none is left where there are only such.

    Args: policies: which; None for all.
    """
    environment = UnitEnvironment(units, profile, on_fault="answer")
    names = [name for name in units.names if environment.can_open(name)]
    if not names:
        return []
    every = {**POLICIES, **COPYING} if policies is None else policies
    rewards = {name: [_play(environment, unit, each) for unit in names] for name, each in every.items()}
    talking = [
        rewards.get(name) or [_play(environment, unit, POLICIES[name]) for unit in names] for name in _TEXTS
    ]
    free = [1 in earned for earned in zip(*talking, strict=True)]
    rewards = {GOLD: [_play(environment, unit, None) for unit in names], **rewards}
    return [
        AttackScore(
            policy=name,
            copies=name in COPYING,
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
    view = View(draw=seeded_draw(unit))
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
