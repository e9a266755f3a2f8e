"""A session as its record has it: what own history (`alter.history`) needs to know of earlier tasks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wildtool.benchmark import SessionRecord
from wildtool.benchmarks.wildtoolbench.data import ANSWER, ASK, VIRTUAL, GoldNode, Session
from wildtool.benchmarks.wildtoolbench.episode import (
    TaskEpisode,
    WildToolBenchRules,
    call_id,
    gold_run,
    observation,
)
from wildtool.benchmarks.wildtoolbench.fixed.episode import gold_differences
from wildtool.benchmarks.wildtoolbench.grounding import SearchText, grounded, leaves, parameter_schemas
from wildtool.episode import reasoning_fields
from wildtool.toolcall.arguments import ArgumentsError, read_arguments
from wildtool.toolcall.graph import ancestors
from wildtool.toolcall.schema import as_schema
from wildtool.types import Item, Message


def session(rules: WildToolBenchRules, item: Item) -> SessionRecord | None:
    """The record of an item, which is a session."""
    return RecordedSession(rules, item)


@dataclass(frozen=True, slots=True)
class RecordedSession(SessionRecord):
    """One session under the rules of a profile."""

    rules: WildToolBenchRules
    item: Item

    @property
    def _session(self) -> Session:
        return self.item.data

    def _task(self, unit: str) -> int:
        return self.item.units.index(unit)

    def _episode(self, unit: str) -> Any:
        return self.rules.episode(self.item, unit)

    def history(self, unit: str) -> Mapping[str, slice]:
        episode: TaskEpisode = self._episode(unit)
        places: dict[str, slice] = {}
        start = 1  # after the date line
        for name, messages in zip(self.item.units, episode.history(), strict=False):
            places[name] = slice(start, start + len(messages))
            start += len(messages)
        return places

    def own_run(self, unit: str, replies: Iterable[Message]) -> list[Message]:
        episode, task = self._episode(unit), self._task(unit)
        for reply in replies:
            if episode.done:
                break
            episode.advance(reply)
        messages: list[Message] = gold_run(self._session, task, (), quote_texts=False)
        for reply, nodes in episode.bound_replies():
            messages += self._step(task, reply, nodes, quote_texts=episode.quotes_texts)
        return messages

    def _step(
        self, task: int, reply: Message, numbers: Sequence[int], *, quote_texts: bool
    ) -> Iterator[Message]:
        """A reply with what it got, in the form of the gold history."""
        calls, nodes = reply.get("tool_calls"), [self._session.tasks[task].nodes[n] for n in numbers]
        if not calls:
            yield {"role": "assistant", "content": reply.get("content")}
            if nodes and nodes[0].name == ASK:
                yield {"role": "user", "content": nodes[0].user_input}
            return
        ids = [call_id(self._session.id, task, number) for number in numbers]
        if ids:
            calls = [{**call, "id": id_} for call, id_ in zip(calls, ids, strict=True)]
        message = {"role": "assistant", "content": reply.get("content") or "", "tool_calls": calls}
        yield {**message, **reasoning_fields(reply)}
        for node, id_ in zip(nodes, ids, strict=True):
            yield {
                "role": "tool",
                "content": observation(node, quote_texts=quote_texts),
                "tool_call_id": id_,
            }

    def result(self, unit: str, name: str, arguments: Any) -> str | None:
        try:
            read = read_arguments(arguments, empty_ok=True)
        except ArgumentsError:
            return None
        functions = (tool["function"] for tool in self._session.sent_tools)
        schemas = {each["name"]: as_schema(each.get("parameters")) for each in functions}
        for node in self._nodes(unit, name):
            if not gold_differences(node, read, schemas.get(name, {})):
                return observation(node, quote_texts=self._episode(unit).quotes_texts)
        return None

    def results(self, unit: str, name: str) -> Iterator[Any]:
        return (node.observation for node in self._nodes(unit, name))

    def _nodes(self, unit: str, name: str) -> Iterator[GoldNode]:
        """Gold calls of a tool in this task and earlier ones, the nearest first."""
        for task in reversed(self._session.tasks[: self._task(unit) + 1]):
            yield from (node for node in task.nodes if node.name == name and name not in VIRTUAL)

    def missing(self, unit: str, history: Sequence[Message]) -> list[str]:
        task = self._task(unit)
        session, nodes = self._session, self._session.tasks[task].nodes
        texts = [session.date, *(earlier.text for earlier in session.tasks[: task + 1])]
        gold = [text for earlier in session.tasks[:task] for text in map(_visible, earlier.nodes)]
        own = [message.get("content") for message in history if message.get("role") in ("tool", "user")]
        needs, schemas = ancestors(session.tasks[task].deps), parameter_schemas(session)
        paths: list[str] = []
        for number, node in enumerate(nodes):
            here = [*texts, *(_visible(nodes[needed]) for needed in needs[number])]
            before, now = ([*map(SearchText.of, (*here, *side))] for side in (gold, own))
            paths += [
                f"{node.name}.{leaf.path}"
                for leaf in leaves({} if node.name in VIRTUAL else node.arguments, schemas.get(node.name, {}))
                if not isinstance(leaf.value, bool) and grounded(leaf, before) and not grounded(leaf, now)
            ]
        return paths


def _visible(node: GoldNode) -> Any:
    """What a gold node lets a model see that it did not say itself; empty for its answer to the user."""
    return "" if node.name == ANSWER else node.user_input if node.name == ASK else node.observation
