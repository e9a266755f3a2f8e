"""The rules of a profile, and what the episodes of one task share under all rules: the messages a model sees (date line,
gold history of earlier tasks, the user's text, the running task), and gold replies."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any, ClassVar

from wildtool.benchmark import Check, Rules, part
from wildtool.benchmarks.wildtoolbench.data import ANSWER, ASK, GoldNode, Session, cached_per_session
from wildtool.episode import fields_with_calls, provider_fields, replay
from wildtool.trace import without_echo
from wildtool.types import Episode, Item, Message, Request, Transcript


@dataclass(frozen=True, slots=True)
class WildToolBenchRules(Rules):
    """The rules of one profile: how a task is run and how it is judged. Chosen once, by `judge.rules_of`."""

    name: str
    """The profile."""
    make_episode: "Callable[[Session, int], TaskEpisode]"
    judge: Callable[[Any, Session, int], Check]
    """Judges a finished episode of a task."""

    def episode(self, item: Item, unit: str) -> Episode:
        return self.make_episode(item.data, item.units.index(unit))

    def verdict(self, episode: Any, item: Item, unit: str) -> Check:
        return self.judge(episode, item.data, item.units.index(unit))

    def unfinished(self, episode: Any, item: Item, unit: str) -> Check:
        return self.verdict(episode, item, unit)

    def replayed(self, item: Item, unit: str, transcript: Transcript | None, decided: Transcript) -> Episode:
        return self.walked(item.data, item.units.index(unit), decided)

    def walked(self, session: Session, task: int, transcript: Transcript) -> "TaskEpisode":
        """The episode of a task after the replies of a transcript, which rules with the same walk share: nobody may play
        it on."""
        return _walked(self.make_episode, session, task, _Replies(transcript))

    step = part("wildtool.benchmarks.wildtoolbench.step:step")
    session = part("wildtool.benchmarks.wildtoolbench.session_record:session")
    mutants = part("wildtool.benchmarks.wildtoolbench.mutants:mutants")
    explain = part("wildtool.benchmarks.wildtoolbench.mutants:explain")
    trace = part("wildtool.benchmarks.wildtoolbench.trace:trace")


@dataclass(frozen=True, slots=True, eq=False)
class _Replies:
    """A transcript that is equal to itself alone; to compare two by their replies would take longer than a walk."""

    transcript: Transcript

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Replies) and self.transcript is other.transcript

    def __hash__(self) -> int:
        return id(self.transcript)


_KEPT_WALKS = 16
"""Walks that are kept: those of the tasks of a session, which several rules judge one after the other."""


@lru_cache(maxsize=_KEPT_WALKS)
def _walked(
    make_episode: "Callable[[Session, int], TaskEpisode]", session: Session, task: int, its: _Replies
) -> "TaskEpisode":
    episode = make_episode(session, task)
    replay(episode, its.transcript)
    return episode


GraphSteps = Sequence[Sequence[int]]
"""A schedule of one task: positions of the gold nodes, step by step."""


def opening_messages(session: Session, task: int, earlier: Iterable[Iterable[Message]]) -> list[Message]:
    """Everything before the model's first step of a task.

    Args:
        earlier: each earlier task as `gold_run` gives it.
    """
    date: Message = {"role": "system", "content": f"Current Date: {session.date}"}
    return [date, *chain.from_iterable(earlier), {"role": "user", "content": session.tasks[task].text}]


def gold_run(session: Session, task: int, steps: GraphSteps, *, quote_texts: bool) -> list[Message]:
    """A task as it is shown in the history of later ones: what the user said, then its gold run.

    Args:
        steps: those in which it is shown.
        quote_texts: encode text observations as JSON once more, as the original does in history (Q03).
    """
    messages: list[Message] = [{"role": "user", "content": session.tasks[task].text}]
    nodes = session.tasks[task].nodes
    for step in steps:
        numbered = [(number, nodes[number]) for number in step]
        messages.extend(_gold_step(session.id, task, numbered, quote_texts))
    return messages


def _gold_step(
    session: str, task: int, step: Sequence[tuple[int, GoldNode]], quote_texts: bool
) -> Iterator[Message]:
    """One step of a gold run as messages; a virtual node has the step to itself."""
    node = step[0][1]
    if node.name in (ASK, ANSWER):
        yield {"role": "assistant", "content": observation(node, quote_texts=False)}
        if node.name == ASK:
            yield {"role": "user", "content": node.user_input}
        return
    ids = [call_id(session, task, number) for number, _ in step]
    yield {
        "role": "assistant",
        "content": "",
        "tool_calls": [gold_call(n, id_) for (_, n), id_ in zip(step, ids, strict=True)],
    }
    for (_, n), id_ in zip(step, ids, strict=True):
        yield {"role": "tool", "content": observation(n, quote_texts=quote_texts), "tool_call_id": id_}


def with_observations(reply: Message, answers: Iterable[tuple[Any, GoldNode]]) -> Iterator[Message]:
    """A reply with calls as the model sees it afterwards: as received, then what each call id got.

    Args:
        answers: call id, as received, and the gold node whose observation it gets.
    """
    yield {
        "role": "assistant",
        "content": reply.get("content"),
        "tool_calls": reply["tool_calls"],
        **fields_with_calls(reply),
    }
    for id_, node in answers:
        yield {"role": "tool", "content": observation(node, quote_texts=False), "tool_call_id": id_}


def gold_call(node: GoldNode, id_: str) -> dict[str, Any]:
    """A gold node as an OpenAI tool call."""
    return {"type": "function", "function": {"name": node.name, "arguments": node.argument_text}, "id": id_}


def observation(node: GoldNode, *, quote_texts: bool) -> str:
    """What a tool returned, as text: a text as it is unless `quote_texts`, anything else as JSON."""
    if isinstance(node.observation, str) and not quote_texts:
        return node.observation
    return node.observation_text


def call_id(session: str, task: int, node: int) -> str:
    """The id of a gold call in history, derived from its position so that prompts repeat (Q04)."""
    digest = hashlib.sha256(f"{session}/{task}/{node}".encode("utf-8", "surrogatepass")).hexdigest()
    return f"toolu_bdrk_{digest[:24]}"


class TaskEpisode(ABC):
    """An episode of one task; a subclass adds `advance`, gold replies, and how earlier tasks are shown."""

    quotes_texts: ClassVar[bool]
    """Whether history shows text observations encoded as JSON once more."""

    def __init__(self, session: Session, task: int) -> None:
        self._session = session
        self._task = task
        self._nodes = session.tasks[task].nodes
        self.done = False
        """Whether it is over; a subclass says so."""
        self._messages: list[Iterable[Message]] = []
        """What each step added after the opening; made when it is shown, which judging never asks for."""

    @abstractmethod
    def _history(self, session: Session, task: int) -> Sequence[Message]:
        """An earlier task as it is shown."""

    @abstractmethod
    def advance(self, reply: Message) -> None:
        """Reads a reply."""

    @property
    @abstractmethod
    def replies(self) -> Sequence[Message]:
        """Each reply that was read."""

    @abstractmethod
    def bound_replies(self) -> Iterator[tuple[Message, tuple[int, ...]]]:
        """Each reply that was read, with the gold nodes that it did in written order of its calls; none for a fault."""

    @abstractmethod
    def _gold(self, style: str) -> Message:
        """What a perfect model would answer now."""

    def request(self) -> Request | None:
        if self.done:
            return None
        added = [list(part) for part in self._messages]
        self._messages = list(added)
        opening = _opening(self._session, self._task, type(self))
        return Request((*opening, *chain.from_iterable(added)), self._session.sent_tools, gold=self._gold)

    def steps(self) -> Iterator[tuple[Sequence[Message], Message]]:
        """Each reply that was read, with the messages before it that were new to the model; as of `replay_steps`."""
        added = [list(part) for part in self._messages]
        self._messages = list(added)
        before: Message | None = None
        for number, reply in enumerate(self.replies):
            if before is None:
                yield _opening(self._session, self._task, type(self)), reply
            else:
                yield without_echo(added[number - 1], before), reply
            before = reply

    def history(self) -> list[Sequence[Message]]:
        """Each earlier task as it is shown."""
        return [self._history(self._session, task) for task in range(self._task)]

    def _add_question(self, reply: Message, node: int) -> None:
        """Adds the model's question and what the user answers to it."""
        question: Message = {"role": "assistant", "content": reply.get("content"), **provider_fields(reply)}
        self._messages.append([question, {"role": "user", "content": self._nodes[node].user_input}])

    def _id(self, node: int) -> str:
        return call_id(self._session.id, self._task, node)

    def _gold_text(self, node: int) -> Message:
        return {"role": "assistant", "content": observation(self._nodes[node], quote_texts=False)}

    def _gold_calls(self, nodes: Sequence[int], style: str) -> Message:
        selection = nodes if style == "parallel" else nodes[:1]
        calls: list[dict[str, Any]] = [gold_call(self._nodes[node], self._id(node)) for node in selection]
        return {"role": "assistant", "content": None, "tool_calls": calls}


@cached_per_session
def _opening(session: Session, task: int, kind: type[TaskEpisode]) -> Sequence[Message]:
    """The messages before the first step of a task, which every model sees. Args: kind: of its episode."""
    return opening_messages(session, task, kind(session, task).history())
