"""An agent episode as the published evaluator runs it: a pure state machine (sections 8.1, 8.2 and 8.5)."""

from typing import TYPE_CHECKING, Any

from wildtool.benchmarks.acebench.episode.base import AgentEpisode
from wildtool.benchmarks.acebench.episode.messages import END_MARK, DialogueRole
from wildtool.benchmarks.acebench.episode.official_execute import (
    ExecutionResult,
    calls_to_run,
    decode_message,
    execute_step,
    execute_turn,
    serialization_error,
    starts_bracketed,
)
from wildtool.benchmarks.acebench.prompts.agent import AgentLines, AgentPrompt
from wildtool.benchmarks.acebench.sandbox.edition import ClassState
from wildtool.types import Message, Request

if TYPE_CHECKING:
    from wildtool.benchmarks.acebench.prompts.originals import Originals

_END_MARK_IGNORED = 2
"""Number of messages after the first in which the end mark is ignored (Q54)."""


class OfficialAgentEpisode(AgentEpisode):
    """What both kinds of episode share: the agent's transcript, and the end state as the original gets hold of it."""

    def _prepare(self, originals: "Originals | None") -> None:
        self._captured = False
        self._raised: str | None = None
        self._lines = AgentLines()
        record, multi_turn = self.record, self.multi_turn
        classes = record.involved_classes if multi_turn else ()
        self._prompt = AgentPrompt(
            self.edition.lang, classes, record.functions, multi_turn=multi_turn, originals=originals
        )

    def result(self) -> list[ClassState]:
        """The end state of the involved classes; empty where the original never got hold of the instances."""
        return self.sandbox.saved() if self._captured else []

    def raised(self) -> str | None:
        """The exception with which the original would have ended on writing results or end state."""
        return self._raised or (
            serialization_error(self.sandbox.instances_state()) if self._captured else None
        )

    def _agent_request(self) -> Request:
        messages = self._prompt.messages(self._lines.lines)
        return Request(messages, gold=self._gold, in_text=self._lines.in_text(self._prompt))

    def _gold(self, _style: str) -> Message:
        return {"role": "assistant", "content": self._gold_text()}

    def _show_user_message(self, text: str) -> None:
        self._lines.add("user", text)

    def _has_ended(self, sender: DialogueRole, message: str | list[Any]) -> bool:
        # `in` means part of a text, but element of a list of results, as in the original.
        return len(self.dialogue) > 1 + _END_MARK_IGNORED and END_MARK in message

    def _record_execution(self, text: str, executed: ExecutionResult) -> None:
        """Keeps what a message to the sandbox came to."""
        self._captured = self._captured or executed.captured
        self._raised = self._raised or executed.raised
        self.process.append(text)
        self._append("execution", "agent", executed.message)


class OfficialMultiStepEpisode(OfficialAgentEpisode):
    """A multi-step episode: every reply of the agent is run, whatever it says."""

    def advance(self, reply: Message) -> None:
        text = _text(reply)
        self._replies += 1
        # The recipient is a label only, and the agent's own messages never enter its transcript (Q57).
        self._append("agent", "execution" if starts_bracketed(text) else "user", text)
        if self._done:
            return
        executed = execute_step(self.edition, self.sandbox, decode_message(text))
        self._record_execution(text, executed)
        self._lines.add_result("execution result", f"{executed.message}")


class OfficialMultiTurnEpisode(OfficialAgentEpisode):
    """A multi-turn episode: the simulated user opens, then every reply goes to the user or to the sandbox."""

    multi_turn = True

    def advance(self, reply: Message) -> None:
        text = _text(reply)
        if self._user_speaks():
            self._add_user_message(text)
        else:
            self._add_agent_message(text)

    def _add_agent_message(self, text: str) -> None:
        self._replies += 1
        self._lines.add("agent", text)
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
        self._lines.add_result("execution", f"{executed.message}")


def _text(reply: Message) -> str:
    content = reply.get("content")
    return content if isinstance(content, str) else ""


def _without_label(text: str) -> str:
    for label in ("user:", "agent:"):
        if text.startswith(label):
            return text.removeprefix(label)
    return text
