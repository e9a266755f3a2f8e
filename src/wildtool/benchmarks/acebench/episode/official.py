"""An agent episode as a pure walk: agent, sandbox and simulated user in turn (sections 8.1, 8.2 and 8.5).

The simulated user is a role of the episode's requests: the same machine asks the model under test (`agent`) and the
simulator (`user`), so that both are recorded and replayed alike.
"""

from typing import TYPE_CHECKING, Any, cast

from wildtool.benchmarks.acebench.data import AgentRecord
from wildtool.benchmarks.acebench.episode.messages import END_MARK, DialogueMessage, DialogueRole
from wildtool.benchmarks.acebench.episode.official_execute import (
    ExecutionResult,
    calls_to_run,
    decode_message,
    execute_step,
    execute_turn,
    serialization_error,
    starts_bracketed,
)
from wildtool.benchmarks.acebench.episode.user import SimulatedUser
from wildtool.benchmarks.acebench.prompts.agent import AgentPrompt
from wildtool.benchmarks.acebench.sandbox import Sandbox
from wildtool.benchmarks.acebench.sandbox.edition import ClassState, Edition
from wildtool.types import Message, Request

if TYPE_CHECKING:
    from wildtool.benchmarks.acebench.prompts.originals import Originals

MAX_MESSAGES = 40
"""Messages of any sender that an episode may take after its first."""
EPISODE_MESSAGES = "max_dialog_turns"
"""Key of an imported episode's first reply: how many messages it could take, where that is more than `MAX_MESSAGES`."""
_END_MARK_IGNORED = 2
"""In so many messages after the first the end mark is ignored (Q54)."""


class OfficialAgentEpisode:
    """What both kinds of episode share: the dialogue, the budget, the sandbox and its end state."""

    def __init__(self, record: AgentRecord, edition: Edition, *, max_messages: int = MAX_MESSAGES) -> None:
        self.record = record
        self.edition = edition
        self._messages_left = max_messages
        self.sandbox = Sandbox(edition, record.involved_classes, record.initial_config)
        self._captured = False
        self._done = False
        self._raised: str | None = None
        self._lines: list[str] = []
        self._replies = 0
        self.dialogue: list[DialogueMessage] = []
        self.process: list[str] = []
        """Texts of all agent messages that went to the sandbox, failed ones too."""

    @property
    def done(self) -> bool:
        """Whether the episode is over."""
        return self._done

    def result(self) -> list[ClassState]:
        """The end state of the involved classes; empty where the original never got hold of the instances."""
        return self.sandbox.saved() if self._captured else []

    def raised(self) -> str | None:
        """The exception with which the original would have ended on writing results or end state."""
        return self._raised or (
            serialization_error(self.sandbox.instances_state()) if self._captured else None
        )

    def _open(self, question: str) -> None:
        """The first message, which costs nothing."""
        self.dialogue.append(DialogueMessage("user", "agent", question))
        self._done = self._messages_left <= 0

    def _append(self, sender: DialogueRole, recipient: DialogueRole, message: str | list[Any]) -> None:
        self.dialogue.append(DialogueMessage(sender, recipient, message))
        self._messages_left -= 1
        # `in` means part of a text, but element of a list of results, as in the original.
        marked = len(self.dialogue) > 1 + _END_MARK_IGNORED and END_MARK in message
        self._done = marked or self._messages_left <= 0

    def _record_execution(self, text: str, executed: ExecutionResult) -> None:
        """Keeps what a message to the sandbox came to."""
        self._captured = self._captured or executed.captured
        self._raised = self._raised or executed.raised
        self.process.append(text)

    def _gold(self, _style: str) -> Message:
        """The next gold message, then the end mark."""
        gold = first_milestones(self.record.milestones)
        content = gold[self._replies] if self._replies < len(gold) else END_MARK
        return {"role": "assistant", "content": content}


class OfficialMultiStepEpisode(OfficialAgentEpisode):
    """A multi-step episode: every reply of the agent is run, whatever it says."""

    def __init__(
        self,
        record: AgentRecord,
        edition: Edition,
        *,
        max_messages: int = MAX_MESSAGES,
        originals: "Originals | None" = None,
    ) -> None:
        super().__init__(record, edition, max_messages=max_messages)
        self._open(record.question)
        self._lines.append(f"user:{record.question}")
        self._prompt = AgentPrompt(edition.lang, (), record.functions, multi_turn=False, originals=originals)

    def request(self) -> Request | None:
        if self._done:
            return None
        return Request(self._prompt.messages(self._lines), gold=self._gold)

    def advance(self, reply: Message) -> None:
        text = _text(reply)
        self._replies += 1
        # The recipient is a label only, and the agent's own messages never enter its transcript (Q57).
        self._append("agent", "execution" if starts_bracketed(text) else "user", text)
        if self._done:
            return
        executed = execute_step(self.edition, self.sandbox, decode_message(text))
        self._record_execution(text, executed)
        self._append("execution", "agent", executed.message)
        self._lines.append(f"execution result:{executed.message}")


class OfficialMultiTurnEpisode(OfficialAgentEpisode):
    """A multi-turn episode: the simulated user opens, then every reply goes to the user or to the sandbox."""

    def __init__(
        self,
        record: AgentRecord,
        edition: Edition,
        *,
        max_messages: int = MAX_MESSAGES,
        originals: "Originals | None" = None,
    ) -> None:
        super().__init__(record, edition, max_messages=max_messages)
        self._user = SimulatedUser(record, edition, originals)
        self._prompt = AgentPrompt(
            edition.lang, record.involved_classes, record.functions, multi_turn=True, originals=originals
        )

    def request(self) -> Request | None:
        if self._done:
            return None
        if self._user_speaks():
            return self._user.request()
        return Request(self._prompt.messages(self._lines), gold=self._gold)

    def advance(self, reply: Message) -> None:
        text = _text(reply)
        if self._user_speaks():
            self._add_user_message(text)
        else:
            self._add_agent_message(text)

    def _user_speaks(self) -> bool:
        return not self.dialogue or self.dialogue[-1].recipient == "user"

    def _add_user_message(self, text: str) -> None:
        self._user.add_user_message(text)
        if self.dialogue:
            self._append("user", "agent", text)
        else:
            self._open(text)
        self._lines.append(f"user:{text}")

    def _add_agent_message(self, text: str) -> None:
        self._replies += 1
        self._lines.append(f"agent:{text}")
        calls = calls_to_run(text)
        if calls is None:
            self._user.add_agent_message(_without_label(text))
            self._append("agent", "user", text)
            return
        self._append("agent", "execution", text)
        if self._done:
            return
        executed = execute_turn(self.edition, self.sandbox, calls)
        self._record_execution(text, executed)
        self._append("execution", "agent", executed.message)
        self._lines.append(f"execution:{executed.message}")


def first_milestones(milestones: tuple[str, ...] | tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    """The milestones, or the first of alternative lists."""
    first = milestones[0] if milestones else ""
    return first if isinstance(first, tuple) else cast(tuple[str, ...], milestones)


def _text(reply: Message) -> str:
    content = reply.get("content")
    return content if isinstance(content, str) else ""


def _without_label(text: str) -> str:
    for label in ("user:", "agent:"):
        if text.startswith(label):
            return text.removeprefix(label)
    return text
