"""An agent episode under the fixed rules: agent, sandbox and simulated user in turn, with calls as text or native.

How it differs from `official.py`, by the numbers of the specification's quirks: the agent sees its own calls (Q57); the
end mark counts from the start, but only on a line of its own (Q54); every call of a message is made and answered, even
if an earlier one failed (Q59); calling a tool that is not offered is an error (Q60); objects can be passed (Q61); the
end state is always known (Q62); a call written beside prose is not made. What goes wrong in a call is an answer.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from wildtool.benchmarks.acebench.data import AgentRecord
from wildtool.benchmarks.acebench.episode.base import END_MARK, MAX_MESSAGES, AgentEpisode, DialogueRole
from wildtool.benchmarks.acebench.episode.fixed_messages import (
    AgentCall,
    AgentMessage,
    NativeTranscript,
    TextTranscript,
    message_text,
)
from wildtool.benchmarks.acebench.fixed.parse import parse_reply_calls
from wildtool.benchmarks.acebench.native import native_message
from wildtool.benchmarks.acebench.prompts.originals import Originals
from wildtool.benchmarks.acebench.prompts.own import prompt_texts
from wildtool.benchmarks.acebench.sandbox import TOOL_ERRORS, Sandbox, as_json
from wildtool.benchmarks.acebench.sandbox.edition import Edition
from wildtool.toolcall.call_syntax import CallSyntaxError
from wildtool.types import Message, Request

CallOutcome = Literal["ok", "failed", "raised", "unknown tool", "unreadable"]
MAX_EXCEPTION_TEXT = 300
"""Characters of an exception's text that the agent sees."""
_FAILURES = (
    *(f"Travel.reserve_flight.{case}" for case in ("bad_payment", "cash_short", "bank_short")),
    *(f"Travel.modify_flight.{case}" for case in ("no_reservation", "no_current_flight", "flight_invalid")),
    *(f"Travel.modify_flight.{case}" for case in ("cabin_short", "bag_short")),
    *(
        f"Travel.cancel_reservation.{case}"
        for case in ("bad_user", "bad_reservation", "no_flight", "departed")
    ),
)
"""Sentences that are failures; elsewhere the value has a status."""


@dataclass(frozen=True, slots=True)
class ExecutedCall:
    """One call and what became of it."""

    name: str
    arguments: Mapping[str, Any]
    outcome: CallOutcome
    answer: Any
    """What the agent sees, as JSON."""
    message: int
    """Which message of the dialogue made it, from 0."""


def execute_call(
    record: AgentRecord, edition: Edition, sandbox: Sandbox, call: AgentCall, message: int
) -> ExecutedCall:
    """Makes one call; only offered tools exist, and what goes wrong is an answer."""
    texts = prompt_texts(edition.lang)

    def ran(outcome: CallOutcome, answer: Any) -> ExecutedCall:
        return ExecutedCall(call.name, call.arguments, outcome, answer, message)

    if call.fault:
        return ran("unreadable", texts["unreadable"].format(reason=call.fault))
    offered = [name for name in offered_tool_names(record) if sandbox.tools(name)]
    if call.name not in offered:
        return ran("unknown tool", texts["unknown"].format(name=call.name[:80], tools=", ".join(offered)))
    try:
        answer = as_json(sandbox.call(call.name, call.arguments))
    except TOOL_ERRORS as error:
        reason = f"{type(error).__name__}: {error}"[:MAX_EXCEPTION_TEXT]
        return ran("raised", texts["raised"].format(name=call.name, reason=reason))
    return ran("failed" if reports_failure(edition, answer) else "ok", answer)


def offered_tool_names(record: AgentRecord) -> list[str]:
    """Names of the tools that the record offers."""
    return [str(function["name"]) for function in record.functions]


def reports_failure(edition: Edition, answer: Any) -> bool:
    """Whether a tool's value says that it did not do what it was asked."""
    if isinstance(answer, dict):
        status = cast(dict[str, Any], answer).get("status")
        return status is False or status == "error"
    if isinstance(answer, str):
        return any(str(edition.texts[case]) in answer for case in _FAILURES if case in edition.texts)
    return False


_DECORATION = r"[ \t\r\"'`*.。!！]*"
_END_LINE = re.compile(f"^{_DECORATION}{END_MARK}{_DECORATION}$", re.MULTILINE)


class FixedAgentEpisode(AgentEpisode):
    """What both kinds of episode share."""

    def __init__(
        self,
        record: AgentRecord,
        edition: Edition,
        *,
        native: bool,
        max_messages: int = MAX_MESSAGES,
        originals: Originals | None = None,
    ) -> None:
        """Args: native: whether the agent makes native calls; else it writes them in brackets."""
        self.native = native
        self.executed: list[ExecutedCall] = []
        """All calls in order, each with what became of it."""
        super().__init__(record, edition, max_messages=max_messages, originals=originals)

    def _prepare(self, originals: Originals | None) -> None:
        spelling = NativeTranscript if self.native else TextTranscript
        self._transcript = spelling(
            self.edition.lang, self.record, multi_turn=self.multi_turn, originals=originals
        )

    def _agent_request(self) -> Request:
        messages, tools = self._transcript.messages_and_tools()
        return Request(messages, tools, gold=self._gold, in_text=self._transcript.in_text())

    def _show_user_message(self, text: str) -> None:
        self._transcript.add_user(text)

    def _has_ended(self, sender: DialogueRole, message: str | list[Any]) -> bool:
        return isinstance(message, str) and _has_end_mark(message)

    def _gold(self, _style: str) -> Message:
        content = self._gold_text()
        if self.native:
            try:
                return native_message(parse_reply_calls(content), len(self.executed))
            except CallSyntaxError:
                # The end mark, or a gold text that nobody can execute; as prose it shows in the record.
                pass
        return {"role": "assistant", "content": content}

    def _read_agent(self, reply: Message) -> AgentMessage:
        self._replies += 1
        message = self._transcript.read(reply)
        self._transcript.add_agent(message)
        return message

    def _execute(self, message: AgentMessage) -> None:
        """Makes the calls of a message; it ends the episode only after they were answered."""
        self._append("agent", "execution", message.as_text())
        if self._messages_left <= 0:
            return
        place = len(self.dialogue) - 1
        ran = [execute_call(self.record, self.edition, self.sandbox, call, place) for call in message.calls]
        texts = prompt_texts(self.edition.lang)
        answers = [call.answer for call in ran] or [texts["unreadable"].format(reason=message.fault)]
        if not ran:
            ran = [ExecutedCall("", {}, "unreadable", answers[0], place)]
        self.executed.extend(ran)
        self.process.append(message.as_text())
        self._append("execution", "agent", answers)
        self._transcript.add_results(message, answers)
        self._done = self._done or _has_end_mark(message.text)


class FixedMultiStepEpisode(FixedAgentEpisode):
    """A multi-step episode: the agent works alone; prose gets the answer that nobody answers."""

    def advance(self, reply: Message) -> None:
        """Takes the agent's answer; nothing after the end."""
        if self._done:
            return
        message = self._read_agent(reply)
        if message.is_for_sandbox:
            self._execute(message)
            return
        self._append("agent", "user", message.text)
        if not self._done:
            note = prompt_texts(self.edition.lang)["nobody"]
            self._append("execution", "agent", note)
            self._transcript.add_note(note)


class FixedMultiTurnEpisode(FixedAgentEpisode):
    """A multi-turn episode: the simulated user opens, then every reply goes to the user or to the sandbox."""

    multi_turn = True

    def advance(self, reply: Message) -> None:
        """Takes the answer to the last request; nothing after the end."""
        if self._done:
            return
        if self._user_speaks():
            self._add_user_message(message_text(reply))
            return
        message = self._read_agent(reply)
        if message.is_for_sandbox:
            self._execute(message)
        else:
            self._user.add_agent_message(message.text)
            self._append("agent", "user", message.text)


def _has_end_mark(text: str) -> bool:
    """Whether the end mark is alone on a line, in any case, with any punctuation around it."""
    return _END_LINE.search(text.casefold()) is not None
