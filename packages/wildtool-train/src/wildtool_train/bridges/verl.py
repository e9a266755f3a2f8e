"""verl: an agent loop that plays units with verl's own rollout server, with a score for each turn."""

# pyright: reportMissingImports=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUntypedBaseClass=false, reportUnknownArgumentType=false, reportUnknownParameterType=false

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import uuid4

from verl.experimental.agent_loop.agent_loop import AgentLoopBase, AgentLoopMetrics, AgentLoopOutput

from wildtool.errors import UsageError
from wildtool_train.bridges.episode import RewardedEpisode, units_of
from wildtool_train.bridges.tokens import TokenEpisode, call_format
from wildtool_train.core import UnitEnvironment
from wildtool_train.sources import Units

AGENT_LOOP = "wildtool"
"""The name by which rows and the configuration of agent loops know this one."""


def verl_rows(units: Units, count: int, start: int = 0) -> Iterator[dict[str, Any]]:
    """The next units as rows of a data set. The prompt is a placeholder: the loop shows the unit's own messages."""
    for number in range(start, start + count):
        name = units.draw(number)
        yield {
            "data_source": AGENT_LOOP,
            "agent_name": AGENT_LOOP,
            "prompt": [{"role": "user", "content": name}],
            "reward_model": {"style": "rule", "ground_truth": ""},
            "extra_info": {"index": number, "unit": name},
        }


class UnitAgentLoop(AgentLoopBase):
    """Plays one unit. All settings can stand in the configuration file of agent loops."""

    def __init__(
        self,
        *words: Any,
        units: Mapping[str, Any] | None = None,
        environment: Mapping[str, Any] | None = None,
        weights: Mapping[str, float] | None = None,
        tool_format: str | None = None,
        **settings: Any,
    ) -> None:
        """
        Args:
            units: arguments of `units_of`, such as `benchmark` and `data`, or `seed`.
            environment: settings of `UnitEnvironment`.
            weights: of components in the reward; by default the verdict alone.
            tool_format: how the model writes calls; by default as its chat template does.
            words, settings: verl's own.
        """
        super().__init__(*words, **settings)
        source = units_of(**dict(units or {}))
        self._episode = RewardedEpisode(UnitEnvironment(source, **dict(environment or {})), weights)
        self._format = call_format(self.tokenizer, tool_format)

    async def run(self, sampling_params: dict[str, Any], **row: Any) -> AgentLoopOutput:
        """Plays the unit of a row. Raises UsageError where its prompt is longer than verl's limit."""
        room = self.rollout_config.response_length
        episode = TokenEpisode(
            self._episode,
            row["extra_info"]["unit"],
            self.tokenizer,
            self._format,
            max_tokens=room,
            template=self.apply_chat_template_kwargs,
        )
        if len(episode.prompt_ids) > self.rollout_config.prompt_length:
            raise UsageError(
                f"the prompt of {self._episode.environment.name} has {len(episode.prompt_ids)} tokens:"
                f" rollout.prompt_length is {self.rollout_config.prompt_length}"
            )
        request, has_logprobs = uuid4().hex, True
        while not episode.is_over:
            written = await self.server_manager.generate(
                request_id=request, prompt_ids=episode.context, sampling_params=sampling_params
            )
            has_logprobs = has_logprobs and written.log_probs is not None
            episode.take(written.token_ids, written.log_probs)
        return AgentLoopOutput(
            prompt_ids=episode.prompt_ids,
            response_ids=episode.completion_ids[:room],
            response_mask=episode.mask[:room],
            response_logprobs=episode.logprobs[:room] if has_logprobs else None,
            reward_score=episode.reward,
            num_turns=len(self._episode.environment.shown().messages) + 1,
            metrics=AgentLoopMetrics(),
            extra_fields={"turn_scores": self._episode.scores, "tool_rewards": []},
        )
