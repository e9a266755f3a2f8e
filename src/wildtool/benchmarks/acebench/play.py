"""What the model is shown, and how a record goes on: one reply to a request, or an episode in the sandbox.

A `Channel` is chosen once by the mode: calls written as text in brackets, or native calls.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from wildtool.benchmarks.acebench.data import (
    FINANCE,
    AgentRecord,
    NormalRecord,
    SpecialRecord,
    is_multi_turn_agent,
)
from wildtool.benchmarks.acebench.episode.base import EPISODE_MESSAGES, MAX_MESSAGES
from wildtool.benchmarks.acebench.episode.fixed import FixedMultiStepEpisode, FixedMultiTurnEpisode
from wildtool.benchmarks.acebench.episode.official import (
    OfficialMultiStepEpisode,
    OfficialMultiTurnEpisode,
)
from wildtool.benchmarks.acebench.gold import gold_calls, gold_text
from wildtool.benchmarks.acebench.native import chat_messages, native_gold, native_tools
from wildtool.benchmarks.acebench.prompts.originals import Originals
from wildtool.benchmarks.acebench.prompts.request import system_message, text_messages
from wildtool.benchmarks.acebench.sandbox.edition import Edition
from wildtool.toolcall.call_syntax import CallExpression, write_calls
from wildtool.types import Episode, Message, Request, Transcript

_MAX_IMPORTED_MESSAGES = 10_000
"""Messages of the longest episode that is judged."""


class EpisodeFactory(Protocol):
    """Starts an episode under the rules of a profile."""

    def __call__(
        self,
        record: AgentRecord,
        edition: Edition,
        *,
        max_messages: int,
        originals: Originals | None = None,
    ) -> Episode: ...


@dataclass(frozen=True, slots=True)
class Channel:
    """How requests are put to a model and how calls are written: in brackets, prompted for in one of three strategies."""

    strategy: str
    """`text`, `condensed` or `minimal`."""
    originals: Originals | None = None
    """The original's prompts, where they are sent instead of our wording."""
    native: ClassVar[bool] = False
    """Whether calls are native ones."""

    def request(self, record: NormalRecord | SpecialRecord) -> Request:
        """What the model is sent."""
        originals = self.originals
        return Request(
            text_messages(record, self.strategy) if originals is None else originals.text_messages(record),
            gold=lambda _style: self.gold(record),
        )

    def gold(self, record: NormalRecord | SpecialRecord) -> Message:
        """The gold answer: its calls, or the message of a Special record."""
        if isinstance(record, NormalRecord):
            return self.write(gold_calls(record), record.functions)
        return {"role": "assistant", "content": gold_text(record)}

    def episode(
        self, record: AgentRecord, edition: Edition, by_text: EpisodeFactory, recorded: Transcript | None
    ) -> Episode:
        """The episode of a record.

        Args:
            by_text: starts the one of the profile where calls are text.
            recorded: the replies that it will take, which may come from an episode of another length.
        """
        # The original has no finance episodes.
        originals = None if record.category in FINANCE else self.originals
        return by_text(record, edition, max_messages=_episode_length(recorded), originals=originals)

    def write(self, calls: list[CallExpression], functions: Sequence[Mapping[str, Any]]) -> Message:
        """A reply that makes these calls."""
        return {"role": "assistant", "content": write_calls(calls)}


class NativeChannel(Channel):
    """Native tool calls. Its episodes follow the fixed rules in every profile, since the original has none."""

    native = True

    def request(self, record: NormalRecord | SpecialRecord) -> Request:
        return Request(
            (system_message(record, "native"), *chat_messages(record.question)),
            native_tools(record.functions),
            gold=lambda _style: self.gold(record),
        )

    def episode(
        self, record: AgentRecord, edition: Edition, by_text: EpisodeFactory, recorded: Transcript | None
    ) -> Episode:
        return fixed_episode(record, edition, max_messages=_episode_length(recorded), native=True)

    def write(self, calls: list[CallExpression], functions: Sequence[Mapping[str, Any]]) -> Message:
        return native_gold(calls, functions)


def channel_of(mode: str, originals: Originals | None = None) -> Channel:
    """The channel of a mode."""
    return (NativeChannel if mode == "fc" else Channel)(mode, originals)


def official_episode(record: AgentRecord, edition: Edition, **options: Any) -> Episode:
    """An episode as the published evaluator runs it."""
    multi_turn = is_multi_turn_agent(record.category)
    kind = OfficialMultiTurnEpisode if multi_turn else OfficialMultiStepEpisode
    return kind(record, edition, **options)


def fixed_episode(
    record: AgentRecord, edition: Edition, *, native: bool = False, **options: Any
) -> FixedMultiTurnEpisode | FixedMultiStepEpisode:
    """An episode under the corrected rules."""
    multi_turn = is_multi_turn_agent(record.category)
    kind = FixedMultiTurnEpisode if multi_turn else FixedMultiStepEpisode
    return kind(record, edition, native=native, **options)


def _episode_length(recorded: Transcript | None) -> int:
    """Messages that an episode may take: the original's number, or that with which an imported one was made."""
    said = recorded.replies[0].message.get(EPISODE_MESSAGES) if recorded and recorded.replies else None
    return min(said, _MAX_IMPORTED_MESSAGES) if type(said) is int and said > MAX_MESSAGES else MAX_MESSAGES
