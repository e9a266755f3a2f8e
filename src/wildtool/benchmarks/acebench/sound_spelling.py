"""The two spellings of a sound episode: one text transcript with bracketed calls, or a chat with native tool calls."""

import json
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from wildtool.benchmarks.acebench.agent_prompt import AgentPrompt, rules_of
from wildtool.benchmarks.acebench.data import AgentRecord
from wildtool.benchmarks.acebench.sandbox_edition import Lang
from wildtool.benchmarks.acebench.sound_calls import Said, read_native_message, read_text_message
from wildtool.benchmarks.acebench.sound_texts import SOUND_TEXTS
from wildtool.types import Message, Tool

if TYPE_CHECKING:
    from wildtool.benchmarks.acebench.originals import Originals

Shown = tuple[Sequence[Message], Sequence[Tool]]


class TextSpelling:
    """The agent reads one growing transcript and writes bracketed calls; no tools parameter is used."""

    def __init__(
        self, lang: Lang, record: AgentRecord, *, multi_turn: bool, originals: "Originals | None" = None
    ) -> None:
        classes = record.involved_classes if multi_turn else ()
        self._prompt = AgentPrompt(
            lang, classes, record.functions, multi_turn=multi_turn, originals=originals
        )
        self._lines: list[str] = []

    def shown(self) -> Shown:
        return self._prompt.messages(self._lines), ()

    def read(self, reply: Message) -> Said:
        return read_text_message(reply)

    def add_user(self, text: str) -> None:
        self._lines.append(f"user:{text}")

    def add_agent(self, said: Said) -> None:
        self._lines.append(f"agent:{said.text}")

    def add_results(self, _said: Said, answers: Sequence[Any]) -> None:
        self._lines.append(f"execution:{_json(list(answers))}")

    def add_note(self, note: str) -> None:
        self._lines.append(f"execution:{note}")


class NativeSpelling:
    """The agent reads a chat and makes native calls, each answered under its id."""

    def __init__(
        self, lang: Lang, record: AgentRecord, *, multi_turn: bool, originals: "Originals | None" = None
    ) -> None:
        """Args: originals: not used, since the original makes no native calls."""
        self._lang: Lang = lang
        self._record = record
        self._multi_turn = multi_turn
        self._chat: list[Message] = []

    def shown(self) -> Shown:
        return ({"role": "system", "content": self._system}, *self._chat), self._tools

    def read(self, reply: Message) -> Said:
        return read_native_message(reply)

    def add_user(self, text: str) -> None:
        self._chat.append({"role": "user", "content": text})

    def add_agent(self, said: Said) -> None:
        self._chat.append(said.echo or {"role": "assistant", "content": said.text})

    def add_results(self, said: Said, answers: Sequence[Any]) -> None:
        for call, answer in zip(said.calls, answers, strict=True):
            content = answer if isinstance(answer, str) else _json(answer)
            self._chat.append({"role": "tool", "tool_call_id": call.id, "content": content})

    def add_note(self, note: str) -> None:
        self._chat.append({"role": "user", "content": note})

    @cached_property
    def _system(self) -> str:
        texts = SOUND_TEXTS[self._lang]
        if not self._multi_turn:
            return texts.multi_step
        return "\n\n".join([texts.multi_turn, *rules_of(self._lang, self._record.involved_classes)])

    @cached_property
    def _tools(self) -> Sequence[Tool]:
        # Imported here, since a replay never writes tools.
        from wildtool.benchmarks.acebench.native import native_tools

        return native_tools(self._record.functions)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
