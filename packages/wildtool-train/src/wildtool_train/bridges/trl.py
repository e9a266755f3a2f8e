"""TRL: a rollout function that plays units with GRPOTrainer's own model, and its reward."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from wildtool_train.bridges.episode import RewardedEpisode
from wildtool_train.bridges.tokens import TokenEpisode, call_format
from wildtool_train.core import UnitEnvironment
from wildtool_train.rewards import Combine
from wildtool_train.sources import Units

Written = tuple[Sequence[Sequence[int]], Sequence[Sequence[float]] | None]
Generate = Callable[[Any, Sequence[TokenEpisode]], Written]
"""From the trainer and open episodes, what the policy writes in each: tokens, and their log probabilities if known."""


def trainer_model(trainer: Any, episodes: Sequence[TokenEpisode]) -> Written:
    """What the trainer's model writes, by the way that the trainer is configured to generate."""
    # TRL has no public name for this.
    return trainer._generate_single_turn([episode.context for episode in episodes], None, {}, 1)


class UnitRollouts:
    """For `rollout_func` of GRPOTrainer. The prompts of the data set are names of units, as `rows` gives them."""

    def __init__(
        self,
        units: Units,
        *,
        reward: Mapping[str, float] | Combine | None = None,
        max_tokens: int | None = None,
        tool_format: str | None = None,
        template: Mapping[str, Any] | None = None,
        generate: Generate = trainer_model,
        **settings: Any,
    ) -> None:
        """
        Args:
            reward: weights of components or a function of them; by default the verdict alone.
            max_tokens: of an episode behind its prompt; one that needs more is cut, and its reward is 0.
            tool_format: how the model writes calls; by default as its chat template does.
            template: further arguments of the chat template.
            settings: of `UnitEnvironment`.
        """
        self._units, self._reward, self._settings = units, reward, settings
        self._max_tokens, self._format, self._template = max_tokens, tool_format, template
        self._generate = generate
        self._episode()  # Settings that are wrong are refused here.

    def rows(self, count: int, start: int = 0) -> list[dict[str, str]]:
        """The next units as rows of a data set."""
        return [{"prompt": self._units.draw(number)} for number in range(start, start + count)]

    def __call__(self, prompts: Sequence[str], trainer: Any) -> dict[str, Any]:
        """Plays each unit once, all side by side. `reward`, `components` (of each message) and `reasons` go on to the
        reward functions."""
        tokenizer = trainer.processing_class
        format = call_format(tokenizer, self._format)
        limits: dict[str, Any] = {"max_tokens": self._max_tokens, "template": self._template}
        episodes = [TokenEpisode(self._episode(), name, tokenizer, format, **limits) for name in prompts]
        has_logprobs = True
        while pending := [episode for episode in episodes if not episode.is_over]:
            replies, logprobs = self._generate(trainer, pending)
            has_logprobs = has_logprobs and logprobs is not None
            for number, episode in enumerate(pending):
                episode.take(replies[number], None if logprobs is None else logprobs[number])
        return {
            "prompt_ids": [episode.prompt_ids for episode in episodes],
            "completion_ids": [episode.completion_ids for episode in episodes],
            "logprobs": [episode.logprobs for episode in episodes] if has_logprobs else None,
            "env_mask": [episode.mask for episode in episodes],
            "reward": [episode.reward for episode in episodes],
            "components": [episode.episode.environment.steps for episode in episodes],
        }

    def _episode(self) -> RewardedEpisode:
        return RewardedEpisode(UnitEnvironment(self._units, **self._settings), self._reward)


def unit_reward(completions: Sequence[Any], reward: Sequence[float], **columns: Any) -> list[float]:
    """For `reward_funcs`: the rewards that the rollouts were given."""
    return list(reward)


class UnitTools:
    """For `environment_factory`: a unit through one generic tool. It does not carry all of a unit."""

    def __init__(
        self, units: Units, reward: Mapping[str, float] | Combine | None = None, **settings: Any
    ) -> None:
        self._episode = RewardedEpisode(UnitEnvironment(units, **settings), reward)

    def reset(self, unit: str, **row: Any) -> None:
        """Opens the unit of a row."""
        self._episode.environment.open(unit)

    def call_tool(self, name: str, arguments: str) -> str:
        """
        Calls a tool.

        Args:
            name: The tool's name.
            arguments: Its arguments, a JSON object.

        Returns:
            What the tool answers.
        """
        function = {"name": name, "arguments": arguments}
        if self._episode.environment.is_over:
            return '{"error": "it is too late for calls"}'
        step = self._episode.environment.step(
            {"tool_calls": [{"id": "call", "type": "function", "function": function}]}
        )
        answers = [message["content"] for message in step.observation.messages]
        return answers[0] if answers else '{"error": "no answer is recorded for this call"}'

    def get_reward(self) -> float:
        """The reward as if some text had ended the episode: TRL does not show the environment the last message."""
        if not self._episode.environment.is_over:
            self._episode.environment.step({"content": "(text)"})
        return self._episode.reward or 0.0
