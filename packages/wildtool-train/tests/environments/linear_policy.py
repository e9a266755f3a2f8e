"""The smallest policy that can learn to call: a softmax over simple candidate messages, trained by REINFORCE."""

import json
import math
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from wildtool.types import Message, Tool
from wildtool_train.core import UnitEnvironment
from wildtool_train.rewards import outcome_reward
from wildtool_train.sources import Units

TOOLS = [
    ("play_song", "Play a song.", "title", "string", "Title of the song."),
    ("get_weather", "Get the weather of a city.", "city", "string", "The city."),
    ("set_timer", "Set a timer.", "minutes", "integer", "How many minutes."),
]
_NUMBER, _QUOTED, _NAME = re.compile(r"\b\d+\b"), re.compile(r'"([^"]+)"'), re.compile(r"\b[A-Z][a-z]+\b")
Features = Mapping[str, float]


def tool_file() -> str:
    """The tools as a file that sessions are made with."""
    return json.dumps(
        [
            {"type": "function", "function": {"name": name, "description": about, "parameters": {
                "type": "object", "properties": {key: {"type": kind, "description": text}}, "required": [key]}}}
            for name, about, key, kind, text in TOOLS
        ]
    )  # fmt: skip


def candidates(messages: Sequence[Message], tools: Sequence[Tool]) -> Iterator[tuple[Message, Features]]:
    """Messages that the policy chooses among, with what it knows of each: a text, and each tool with each value."""
    text = next(str(message["content"]) for message in reversed(messages) if message["role"] == "user")
    answered = float(messages[-1]["role"] == "tool")
    words = {*re.findall(r"[a-z]+", text.lower())}
    values = [(kind, value) for kind, pattern in (("number", _NUMBER), ("quoted", _QUOTED), ("name", _NAME))
              for value in dict.fromkeys(pattern.findall(text))]  # fmt: skip
    yield {"role": "assistant", "content": "All set."}, {"text": 1, "text, answered": answered}
    for tool in tools:
        function: dict[str, Any] = tool["function"]
        ((key, schema),) = function["parameters"]["properties"].items()
        is_named = float({*function["name"].split("_")} <= words)
        for kind, value in values:
            argument = int(value) if schema["type"] == "integer" and kind == "number" else value
            call = {"name": function["name"], "arguments": json.dumps({key: argument})}
            yield (
                {"role": "assistant", "content": None,
                 "tool_calls": [{"id": "call", "type": "function", "function": call}]},
                {"call, answered": answered, "call, tool named": is_named, f"call, {key} {kind}": 1,
                 "call, value at the end": float(text.rstrip('."!?').endswith(value))},
            )  # fmt: skip


class LinearPolicy:
    """A weight for each feature."""

    def __init__(self, seed: int = 0) -> None:
        self.weights: dict[str, float] = {}
        self._draw = random.Random(seed)
        self._baseline = 0.0

    def __call__(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Message:
        """The likeliest message."""
        options = list(candidates(messages, tools))
        return max(options, key=lambda option: self._score(option[1]))[0]

    def learn(self, units: Units, episodes: range, rate: float = 0.3) -> float:
        """Plays fresh units, reinforces what earned more than usual, and gives the mean reward."""
        environment, total = UnitEnvironment(units), 0.0
        for number in episodes:
            environment.reset(number)
            choices: list[tuple[list[Features], list[float], int]] = []
            while not environment.is_over:
                shown = environment.shown()
                options = list(candidates(shown.messages, shown.tools or []))
                features = [feature for _, feature in options]
                chances = self._chances(features)
                place = self._draw.choices(range(len(options)), chances)[0]
                choices.append((features, chances, place))
                environment.step(options[place][0])
            reward = outcome_reward(environment.steps)
            total += reward
            for features, chances, place in choices:
                for option, chance in enumerate(chances):
                    push = rate * (reward - self._baseline) * ((option == place) - chance)
                    for name, value in features[option].items():
                        self.weights[name] = self.weights.get(name, 0.0) + push * value
            self._baseline += 0.02 * (reward - self._baseline)
        return total / len(episodes)

    def _score(self, features: Features) -> float:
        return sum(self.weights.get(name, 0.0) * value for name, value in features.items())

    def _chances(self, options: Sequence[Features]) -> list[float]:
        scores = [self._score(features) for features in options]
        powers = [math.exp(score - max(scores)) for score in scores]
        return [power / sum(powers) for power in powers]
