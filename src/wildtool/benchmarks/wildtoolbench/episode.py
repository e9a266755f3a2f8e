"""What the episodes of one task share, whatever the rules: the messages the model sees, and gold replies."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from wildtool.benchmarks.wildtoolbench.data import Session
from wildtool.benchmarks.wildtoolbench.prompt import call_id, gold_call, observation, opening_messages
from wildtool.episode import provider_fields
from wildtool.types import Message, Request


class TaskEpisode:
    """An episode of one task; a subclass adds `advance`, `done`, gold replies, and how earlier tasks are shown."""

    def __init__(self, session: Session, task: int) -> None:
        self._session = session
        self._task = task
        self._nodes = session.tasks[task].nodes
        self._messages: list[Iterable[Message]] = []
        """What each step added after the opening; made when it is shown, which judging never asks for."""

    @property
    def done(self) -> bool:
        raise NotImplementedError

    def _history(self, session: Session, task: int) -> Sequence[Message]:
        """An earlier task as it is shown."""
        raise NotImplementedError

    def _gold(self, style: str) -> Message:
        """What a perfect model would answer now."""
        raise NotImplementedError

    def request(self) -> Request | None:
        if self.done:
            return None
        self._messages = [list(part) for part in self._messages]
        earlier = [self._history(self._session, task) for task in range(self._task)]
        opening = opening_messages(self._session, self._task, earlier)
        return Request(
            (*opening, *chain.from_iterable(self._messages)), self._session.sent_tools, gold=self._gold
        )

    def _add_question(self, reply: Message, node: int) -> None:
        """Adds the model's question and what the user answers to it."""
        said: Message = {"role": "assistant", "content": reply.get("content"), **provider_fields(reply)}
        self._messages.append([said, {"role": "user", "content": self._nodes[node].user_input}])

    def _id(self, node: int) -> str:
        return call_id(self._session.id, self._task, node)

    def _gold_text(self, node: int) -> Message:
        return {"role": "assistant", "content": observation(self._nodes[node], quote_texts=False)}

    def _gold_calls(self, nodes: Sequence[int], style: str) -> Message:
        chosen = nodes if style == "parallel" else nodes[:1]
        calls: list[dict[str, Any]] = [gold_call(self._nodes[node], self._id(node)) for node in chosen]
        return {"role": "assistant", "content": None, "tool_calls": calls}
