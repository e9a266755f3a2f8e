"""What all agent episodes share, whatever the profile: dialogue, budget of messages, sandbox, simulated user.

The simulated user is a role of the episode's requests: the same machine asks the model under test (`agent`) and the
simulator (`user`), so that both are recorded and replayed alike.
"""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from wildtool.benchmarks.acebench.data import AgentRecord
from wildtool.benchmarks.acebench.episode.messages import (
    END_MARK,
    MAX_MESSAGES,
    DialogueMessage,
    DialogueRole,
)
from wildtool.benchmarks.acebench.episode.user import SimulatedUser
from wildtool.benchmarks.acebench.sandbox import Sandbox
from wildtool.benchmarks.acebench.sandbox.edition import ClassState, Edition
from wildtool.types import Request

if TYPE_CHECKING:
    from wildtool.benchmarks.acebench.prompts.originals import Originals


class AgentEpisode(ABC):
    """An episode up to its profile's rules; a subclass adds `advance`, what the agent is sent, and when it ends."""

    multi_turn = False
    """Whether the agent talks with a simulated user, who opens; else it works alone on the record's question."""

    def __init__(
        self,
        record: AgentRecord,
        edition: Edition,
        *,
        max_messages: int = MAX_MESSAGES,
        originals: "Originals | None" = None,
    ) -> None:
        self.record = record
        self.edition = edition
        self.sandbox = Sandbox(edition, record.involved_classes, record.initial_config)
        self.dialogue: list[DialogueMessage] = []
        self.process: list[str] = []
        """The agent's messages that went to the sandbox, failed ones too; native calls as a bracketed list."""
        self._user = SimulatedUser(record, edition, originals)
        self._messages_left = max_messages
        self._done = False
        self._replies = 0
        self._prepare(originals)
        if not self.multi_turn:
            self._add_user_message(record.question)

    @abstractmethod
    def _prepare(self, originals: "Originals | None") -> None:
        """Sets up what the agent is sent, before the first message."""

    @abstractmethod
    def _agent_request(self) -> Request: ...

    @abstractmethod
    def _show_user_message(self, text: str) -> None:
        """Adds what the user said to what the agent sees."""

    @abstractmethod
    def _has_ended(self, sender: DialogueRole, message: str | list[Any]) -> bool:
        """Whether the message just added ends the episode."""

    @property
    def done(self) -> bool:
        """Whether the episode is over."""
        return self._done

    def request(self) -> Request | None:
        """What agent or simulated user sees next; None once the episode is over."""
        if self._done:
            return None
        return self._user.request() if self._user_speaks() else self._agent_request()

    def result(self) -> list[ClassState]:
        """The state of the involved classes; of an episode without calls the initial one."""
        return self.sandbox.saved()

    def _user_speaks(self) -> bool:
        return self.multi_turn and (not self.dialogue or self.dialogue[-1].recipient == "user")

    def _add_user_message(self, text: str) -> None:
        """What the user says; the first message costs nothing."""
        self._user.add_user_message(text)
        if self.dialogue:
            self._append("user", "agent", text)
        else:
            self.dialogue.append(DialogueMessage("user", "agent", text))
            self._done = self._messages_left <= 0
        self._show_user_message(text)

    def _append(self, sender: DialogueRole, recipient: DialogueRole, message: str | list[Any]) -> None:
        self.dialogue.append(DialogueMessage(sender, recipient, message))
        self._messages_left -= 1
        self._done = self._messages_left <= 0 or self._has_ended(sender, message)

    def _gold_text(self) -> str:
        """The next gold message, then the end mark."""
        gold = self.record.milestone_lists[0]
        return gold[self._replies] if self._replies < len(gold) else END_MARK
