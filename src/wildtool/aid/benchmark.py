"""A benchmark whose model under test is given hints or reasoning: its rules, its data and its numbers stay.

Texts are added to requests between the episode and the model. A request for the model's own reasoning comes before the
first request of each unit; its reply is taken out again before the benchmark judges.
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

from wildtool.aid.reasoning import reasoning_request, with_heading
from wildtool.aid.settings import OWN, Aid
from wildtool.altered import AlteredEpisode, AlteredRules, altered_class
from wildtool.benchmark import Benchmark, Rules
from wildtool.episode import written_text
from wildtool.trace import Trace
from wildtool.types import Episode, FieldValue, Item, Message, Request, Transcript, Verdict

_AGENT = "agent"
_ANCHORS = ("user", "tool")
"""Roles of messages to which texts are added."""
B = TypeVar("B", bound=Benchmark)


def with_aid(benchmark: B, aid: Aid) -> B:
    """The benchmark with aid for the model under test; the benchmark itself where there is none."""
    if not aid:
        return benchmark
    aided = copy.copy(benchmark)
    aided.__class__ = cast(type[B], altered_class(_Aided, type(benchmark)))
    aided.aid = aid.identity()
    columns = {"hint": "VARCHAR"} if aid.hints else dict[str, str]()
    columns |= {"rationale": "VARCHAR"} if aid.rationale else {}
    aided.columns = {**benchmark.columns, **columns}
    own = cast(_Aided, aided)
    own.unaided, own.given = benchmark, aid
    return aided


class _Aided(Benchmark):
    unaided: Benchmark
    """The benchmark without aid."""
    given: Aid

    def rules(self, profile: str) -> Rules:
        return _AidedRules(super().rules(profile), self.given)

    def judge(self, item: Item, transcripts: Mapping[str, Transcript], profile: str) -> list[Verdict]:
        rules = cast(_AidedRules, self.rules(profile))
        own = {unit: rules.without_reasoning(item, unit, said) for unit, said in transcripts.items()}
        return [
            replace(verdict, fields={**verdict.fields, **_columns(self.given, item.id, verdict.unit)})
            for verdict in self.unaided.judge(item, own, profile)
        ]


def _columns(aid: Aid, item: str, unit: str) -> Mapping[str, FieldValue]:
    """What a unit's columns say: the kinds of its hints, and whose reasoning it was given."""
    kinds = dict.fromkeys(hint.kind for hint in aid.hints if (hint.item, hint.unit) == (item, unit))
    has_reasoning = aid.rationale == OWN or (item, unit) in (aid.rationales or {})
    found: dict[str, FieldValue] = {}
    if aid.hints:
        found["hint"] = " and ".join(sorted(kinds)) or None
    if aid.rationale:
        found["rationale"] = aid.rationale if has_reasoning else None
    return found


class AidedEpisode:
    """An episode that adds texts to what the model under test is shown."""

    def __init__(self, inner: Episode, aid: Aid, item: str, unit: str) -> None:
        self.inner = inner
        self._hints = [hint for hint in aid.hints if (hint.item, hint.unit) == (item, unit)]
        self._reasoning = with_heading((aid.rationales or {}).get((item, unit), ""))
        self.reasons_next = aid.rationale == OWN
        """Whether the model is asked for its reasoning at its next step."""
        self._step = 0
        """The next step of the model under test."""
        self._turns = TurnCounter()
        self._added: dict[int, tuple[int, Any, str]] = {}
        """By step the place and content of the message that a text was added to, and the text."""
        self._asked: Request | None = None
        """The benchmark's own request that the next reply answers, where it is known."""

    @property
    def done(self) -> bool:
        return self.inner.done

    def request(self) -> Request | None:
        self._asked = request = self.inner.request()
        if request is None or request.role != _AGENT:
            return request
        if self.reasons_next:
            return reasoning_request(request)
        return replace(request, messages=self._aided(request.messages))

    def advance(self, reply: Message) -> None:
        if self._asked is None:
            self.request()  # a record is judged: whose turn it is follows from the request
        asked, self._asked = self._asked, None
        if asked is not None and asked.role == _AGENT:
            if self.reasons_next:
                self.reasons_next = False
                self._reasoning = with_heading(written_text(reply) or "")
                return
            self._step += 1
        self.inner.advance(reply)

    def _aided(self, messages: Sequence[Message]) -> list[Message]:
        places = {None: self._step, **dict([self._turns.place(messages, self._step)])}
        texts = [
            hint.text
            for hint in self._hints
            if hint.turn in places and hint.step in (None, places[hint.turn])
        ]
        texts += [self._reasoning] if self._reasoning and self._step == 0 else []
        if texts and messages:
            place = _anchor(messages)
            self._added[self._step] = place, messages[place].get("content"), "\n".join(texts)
        shown = list(messages)
        # What was added before stays: a conversation does not change behind the model's back.
        for place, content, text in self._added.values():
            if place < len(messages) and messages[place].get("content") == content:
                shown[place] = {**shown[place], "content": _with_line(shown[place].get("content"), text)}
        return shown


class TurnCounter:
    """Counts how often the user has spoken in a unit, and the steps since."""

    def __init__(self) -> None:
        self._first: int | None = None
        self._turn = self._start = 0

    def place(self, messages: Sequence[Message], step: int) -> tuple[int, int]:
        """Turn and step within it, both from 0, of a step of the unit. Messages of the user in a row are one turn."""
        users = [message.get("role") == "user" for message in messages]
        spoken = sum(now and not before for before, now in zip([False, *users], users, strict=False))
        if self._first is None:
            self._first = spoken
        if spoken - self._first > self._turn:
            self._turn, self._start = spoken - self._first, step
        return self._turn, step - self._start


def with_text(messages: Sequence[Message], text: str) -> list[Message]:
    """Messages with a text as a separate line at the end of the last one of the user or a tool."""
    shown = list(messages)
    place = _anchor(messages)
    shown[place] = {**shown[place], "content": _with_line(shown[place].get("content"), text)}
    return shown


def _anchor(messages: Sequence[Message]) -> int:
    """The place of the last message of the user or a tool; the last message where there is none."""
    places = (place for place in reversed(range(len(messages))) if messages[place].get("role") in _ANCHORS)
    return next(places, len(messages) - 1)


def _with_line(content: Any, text: str) -> Any:
    """A content with a text as a separate line at its end."""
    if isinstance(content, list):
        return [*cast(list[Any], content), {"type": "text", "text": text}]
    return f"{content}\n{text}" if content else text


class _AidedRules(AlteredRules):
    def __init__(self, inner: Rules, aid: Aid) -> None:
        super().__init__(inner)
        self._aid = aid

    def altered(self, episode: Episode, item: Item, unit: str) -> AidedEpisode:
        return AidedEpisode(episode, self._aid, item.id, unit)

    def recorded_episode(self, item: Item, unit: str, transcript: Transcript | None) -> AlteredEpisode:
        own = None if transcript is None else self.without_reasoning(item, unit, transcript)
        return super().recorded_episode(item, unit, own)

    def without_reasoning(self, item: Item, unit: str, transcript: Transcript) -> Transcript:
        """A transcript without the reply that gave the model's own reasoning."""
        if self._aid.rationale != OWN:
            return transcript
        episode = self.episode(item, unit)
        for number, reply in enumerate(transcript.replies):
            if episode.done:
                break
            asked = episode.request()
            if asked is not None and asked.role == _AGENT:
                return replace(
                    transcript, replies=(*transcript.replies[:number], *transcript.replies[number + 1 :])
                )
            episode.advance(reply.message)
        return transcript

    def trace(self, item: Item, unit: str, transcript: Transcript) -> Trace:
        """What happened, as the benchmark has it: the added texts are in the recorded requests."""
        return self._inner.trace(item, unit, self.without_reasoning(item, unit, transcript))
