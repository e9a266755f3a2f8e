"""The conversations of units: gold runs, and what comes of other replies, cut where a judge sees them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from wildtool.benchmark import GoldForReaders, Rules, SessionRules
from wildtool.episode import COOPERATIVE, GOLD_STYLE, MAX_GOLD_REPLIES, SingleReply
from wildtool.json_codec import as_object, as_objects, dumps
from wildtool.toolcall.arguments import ArgumentsError, read_arguments
from wildtool.types import Episode, Item, Message, Request, Tool


@dataclass(frozen=True, slots=True)
class Cut:
    """A conversation as a judge sees it."""

    messages: tuple[Message, ...]
    start: int
    """Index of the first judged message."""
    tools: tuple[Tool, ...]

    @property
    def judged(self) -> Sequence[Message]:
        return self.messages[self.start :]


@dataclass(frozen=True, slots=True)
class GoldRun:
    """A unit played with its gold replies."""

    rules: Rules
    item: Item
    unit: str
    replies: tuple[Message, ...]
    """Those of cooperative other roles among them."""
    requests: tuple[Request, ...]
    """What each reply answers."""
    is_executed: bool
    """Whether the world answers any call; else the results are recorded, and nothing is known after a wrong step."""
    _outcomes: dict[bytes, tuple[bool, Cut | None]] = field(
        default_factory=dict[bytes, tuple[bool, Cut | None]], repr=False
    )
    """What came of replies: to play them again costs as much as the first time."""

    @property
    def steps(self) -> Sequence[int]:
        """Places of the replies of the model under test that say something."""
        return [
            place
            for place, request in enumerate(self.requests)
            if request.role == "agent" and not _says_nothing(self.rules, self.item, self.replies[place])
        ]

    def cut(self, replies: Sequence[Message], step: int) -> Cut | None:
        """What a judge sees where these replies take the place of the gold ones; None where they end before the step.

        Args:
            step: the first that differs: a recorded world is cut behind it, an executed one goes on to its end.
        """
        if step >= len(replies):
            return None
        if self.is_executed:
            return self._outcome(replies)[1]
        request = self.requests[step]
        return Cut((*request.messages, replies[step]), len(request.messages), tuple(request.tools))

    def is_right(self, replies: Sequence[Message], step: int) -> bool:
        """What the rules say of the conversation that `cut` gives: of a single step, whether it can still end right."""
        if self.is_executed:
            return self._outcome(replies)[0]
        episode = self.rules.episode(self.item, self.unit)
        for reply in replies[: step + 1]:
            if not episode.done:
                episode.advance(reply)
        for request in _requests(episode):
            if request.gold is None:
                return False
            episode.advance(request.gold(GOLD_STYLE if request.role == "agent" else COOPERATIVE))
        return self._is_accepted(episode)

    def _is_accepted(self, episode: Episode) -> bool:
        return episode.done and self.rules.verdict(episode, self.item, self.unit).correct

    def _outcome(self, replies: Sequence[Message]) -> tuple[bool, Cut | None]:
        """Whether replies are accepted, and the conversation with them, if it has ended."""
        key = sha256(dumps([*replies])).digest()
        if key not in self._outcomes:
            self._outcomes[key] = self._play(replies)
        return self._outcomes[key]

    def _play(self, replies: Sequence[Message]) -> tuple[bool, Cut | None]:
        episode = self.rules.episode(self.item, self.unit)
        script = iter(replies)
        own_requests = list[Request]()
        messages: Sequence[Message] = ()
        for request in _requests(episode):
            reply = next(script, None)
            if reply is None:
                return False, None
            if request.role == "agent":
                own_requests.append(request)
                messages = (*request.messages, reply)
            episode.advance(reply)
        if not own_requests:
            return False, None
        start = len(own_requests[0].messages)
        judged = [each for each in messages[start:] if not _says_nothing(self.rules, self.item, each)]
        cut = Cut((*messages[:start], *judged), start, tuple(own_requests[0].tools))
        is_silent = all(each.get("role") != "assistant" for each in judged)
        return self._is_accepted(episode), None if is_silent else cut


def gold_runs(rules: Rules, item: Item) -> Iterator[GoldRun]:
    """The units of an item whose gold replies say something that the rules accept, and readers would."""
    for unit in item.units:
        if not _satisfies_readers(rules, item, unit):
            continue
        episode = rules.episode(item, unit)
        is_single = isinstance(episode, SingleReply)
        is_recorded = is_single or (isinstance(rules, SessionRules) and rules.session(item) is not None)
        requests, replies = list[Request](), list[Message]()
        for request in _requests(episode):
            if request.gold is None:
                break
            replies.append(request.gold(GOLD_STYLE if request.role == "agent" else COOPERATIVE))
            requests.append(request)
            episode.advance(replies[-1])
        run = GoldRun(rules, item, unit, tuple(replies), tuple(requests), not is_recorded)
        if run.steps and episode.done and rules.verdict(episode, item, unit).correct:
            yield run


def _satisfies_readers(rules: Rules, item: Item, unit: str) -> bool:
    return not isinstance(rules, GoldForReaders) or rules.satisfies_readers(item, unit)


def _says_nothing(rules: Rules, item: Item, reply: Message) -> bool:
    return isinstance(rules, GoldForReaders) and rules.says_nothing(item, reply)


def _requests(episode: Episode) -> Iterator[Request]:
    """The requests of an episode while it goes on."""
    for _ in range(MAX_GOLD_REPLIES):
        request = episode.request()
        if request is None:
            return
        yield request


def said_by(rules: Rules, reply: Message) -> list[tuple[str, dict[str, Any]]]:
    """The calls that a reply makes, natively or in text, that can be read as a name and arguments."""
    return [
        (name, as_object(arguments))
        for name, arguments in rules.said(reply)
        if isinstance(arguments, Mapping)
    ]


# Signs that no case may keep -------------------------------------------------------------------------


def without_traces(messages: Sequence[Message]) -> list[Message]:
    """The same conversation in one way of writing: ids of calls by number, keys in one order, no text where there is
    none. How a case was made shows nowhere, also not where a benchmark writes its data otherwise."""
    numbers: dict[str, str] = {}
    return [_tidy(message, numbers) for message in messages]


def _tidy(message: Message, numbers: dict[str, str]) -> Message:
    tidy = {**message}
    calls = as_objects(message.get("tool_calls"))
    if calls:
        tidy = {
            "role": message.get("role"),
            "content": message.get("content") or None,
            "tool_calls": [_tidy_call(call, numbers) for call in calls],
        }
    elif message.get("role") == "assistant":
        tidy = {"role": "assistant", "content": message.get("content")}
    answered = message.get("tool_call_id")
    if isinstance(answered, str):
        tidy["tool_call_id"] = numbers.get(answered, answered)
    return tidy


def _tidy_call(call: Mapping[str, Any], numbers: dict[str, str]) -> dict[str, Any]:
    tidy = {"type": "function", "function": as_object(call.get("function"))}
    if not isinstance(call.get("id"), str):
        return tidy
    numbers[call["id"]] = f"call_{len(numbers) + 1}"
    return {"id": numbers[call["id"]], **tidy}


def arguments_of(call: Mapping[str, Any]) -> dict[str, Any] | None:
    """Arguments of a native call; None where they cannot be read."""
    try:
        return read_arguments(as_object(call.get("function")).get("arguments"), empty_ok=True)
    except ArgumentsError:
        return None


def with_arguments(
    call: Mapping[str, Any], arguments: Any, *, indent: int | None = None, escaped: bool = False
) -> dict[str, Any]:
    """The same call with other arguments. Args: indent: of its JSON. escaped: what is no ASCII."""
    text = json.dumps(arguments, ensure_ascii=escaped, indent=indent)
    return {**call, "function": {"name": as_object(call.get("function")).get("name"), "arguments": text}}
