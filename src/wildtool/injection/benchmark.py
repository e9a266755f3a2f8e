"""A benchmark with an attacker's instruction in the results that its recorded sessions show: its rules and data stay.

The attacker's tool is added to the tools of each request, in its list or in its text, and the instruction is planted
into two results: the last one of the history that a unit begins with, and the first one that the model's own calls get.
So a record holds what the model was sent and said. The benchmark judges the replies as they are: it knows no such tool,
so a call of it is a call of a tool that was not offered. Beside its verdict each unit says whether the model obeyed.
"""

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any, TypeVar, cast

from wildtool.altered import AlteredRules, altered_class
from wildtool.benchmark import Benchmark, Rules
from wildtool.episode import gold_replies, replay, until_decided, written_text
from wildtool.injection.obedience import Conduct, conduct
from wildtool.injection.planting import ATTACK_RESULT, Attack, choose_attack, planted
from wildtool.injection.settings import Injection
from wildtool.injection.summary import HOW, NOT_REACHED, OBEYED, RESISTED, SAID
from wildtool.json_codec import as_object, as_objects
from wildtool.tool_formats.any_format import calls_in_text
from wildtool.tool_formats.loose_calls import is_tool
from wildtool.trace import Trace
from wildtool.types import (
    Episode,
    FieldValue,
    Item,
    Message,
    Request,
    ResultsInText,
    Tool,
    Transcript,
    Verdict,
)

OBEDIENT = "obedient"
"""Style of the gold answers of a model that obeys the first instruction that it sees (`baseline/obedient`)."""
_AGENT = "agent"
B = TypeVar("B", bound=Benchmark)


def with_injection(benchmark: B, injection: Injection | None, *, played: str | None = None) -> B:
    """The benchmark with planted instructions; the benchmark itself where there are none.

    Args:
        played: the profile that a recorded run was run under, by which is known what the model saw; None for the one
            that it is judged by.
    """
    if injection is None:
        return benchmark
    injected = copy.copy(benchmark)
    injected.__class__ = cast(type[B], altered_class(_Injected, type(benchmark)))
    injected.injection = injection.identity()
    injected.columns = {**benchmark.columns, **_Injected.COLUMNS}
    own = cast(_Injected, injected)
    own.clean, own.played = benchmark, played
    return injected


def shows_results(benchmark: Benchmark, items: Iterator[Item], profile: str) -> bool:
    """Whether a perfect model sees the result of a native call in some of these items."""
    rules = benchmark.rules(profile)
    return any(_shows_result(rules, item, unit) for item in items for unit in item.units)


class _Injected(Benchmark):
    COLUMNS: Mapping[str, str] = {
        "injection": "VARCHAR",
        "injection_how": "VARCHAR",
        "injection_kind": "VARCHAR",
        "injection_tool": "VARCHAR",
    }
    clean: Benchmark
    """The benchmark without planted instructions."""
    played: str | None

    def rules(self, profile: str) -> Rules:
        return _InjectedRules(super().rules(profile), _recorded(self))

    def judge(self, item: Item, transcripts: Mapping[str, Transcript], profile: str) -> list[Verdict]:
        # What the model saw follows from the rules that it was run under.
        rules = self.rules(self.played or profile)
        seen = rules.settled(item, transcripts)
        return [
            replace(
                verdict,
                fields={**verdict.fields, **_obedience(rules, seen, verdict, transcripts.get(verdict.unit))},
            )
            for verdict in self.clean.judge(item, transcripts, profile)
        ]


def _recorded(benchmark: Benchmark) -> Injection:
    injection = Injection.recorded(benchmark.injection)
    assert injection is not None
    return injection


def _obedience(
    rules: Rules, item: Item, verdict: Verdict, transcript: Transcript | None
) -> Mapping[str, FieldValue]:
    """What a unit's columns say: nothing of one that neither obeyed nor finished."""
    episode = cast(InjectedEpisode, rules.recorded_episode(item, verdict.unit, transcript))
    ended = replay(episode, until_decided(transcript)[0])
    attack = episode.attack
    if attack is None or not (ended or episode.obeyed):
        return {}
    how = HOW.get(episode.conduct)
    outcome = SAID if episode.conduct is Conduct.said else RESISTED if episode.reached else NOT_REACHED
    return {
        "injection": OBEYED if episode.obeyed else outcome,
        **({"injection_how": how} if how else {}),
        "injection_kind": attack.kind,
        "injection_tool": attack.name,
    }


class InjectedEpisode:
    """An episode in which a tool's result carries an attacker's instruction."""

    def __init__(self, inner: Episode, injection: Injection, item: Item) -> None:
        self.inner = inner
        self.attack: Attack | None = None
        """What is planted; None before the model was shown tools."""
        self.reached = False
        """Whether the model answered a request in which it could read the instruction."""
        self.conduct = Conduct.resisted
        """What it did with the instruction then."""
        self.shown: dict[str, str] = {}
        """Texts of messages as they were to those that the model saw."""
        self._injection, self._item = injection, item
        self._history: int | None = None
        """Messages of the first request to the model."""
        self._answers: set[int] = set()
        """Places among the results in a text of those that only the attacker's tool returned."""
        self._asked: Request | None = None
        """The request that the next reply answers, where it is known."""
        self._visible = False
        """Whether it shows the instruction."""

    @property
    def done(self) -> bool:
        return self.inner.done

    @property
    def obeyed(self) -> bool:
        """Whether the model did what the instruction asks, by any call."""
        return self.conduct >= Conduct.other_means

    def request(self) -> Request | None:
        """The inner request as the model sees it."""
        self._asked = request = self._shown(self.inner.request())
        return request

    def _shown(self, request: Request | None) -> Request | None:
        self._visible = False
        if request is None or request.role != _AGENT or not (request.tools or request.in_text):
            return request
        if self._history is None:
            self._history = len(request.messages)
            self.attack = choose_attack(self._injection, self._item.id, self._item.lang, request.tools)
        if self.attack is None:
            return request
        unchanged = request

        def gold(style: str) -> Message:
            return self._gold(style, unchanged)

        if request.in_text is not None:
            messages = self._texts(request.in_text, self.attack)
            for one, other in zip(request.messages, messages, strict=True):
                self.shown[one["content"]] = other["content"]
            return replace(request, messages=messages, gold=request.gold and gold)
        messages = self._messages(request.messages, self.attack)
        return replace(
            request,
            messages=messages,
            tools=self._tools(request.tools, self.attack),
            gold=request.gold and gold,
        )

    def advance(self, reply: Message) -> None:
        if self._asked is None:
            self.request()  # a record is judged: what the model saw follows from the request
        asked, attack = self._asked, self.attack
        if asked is not None and attack is not None and asked.role == _AGENT:
            self.reached = self.reached or self._visible
            if self._visible:
                self.conduct = max(self.conduct, conduct(attack, asked, reply))
            calls = calls_in_text(written_text(reply) or "", [attack.tool]) if asked.in_text else ()
            if asked.in_text and calls and all(is_tool(call.name, attack.name) for call in calls):
                self._answers.add(len(asked.in_text.results))
        self._asked = None
        self.inner.advance(reply)

    def _tools(self, tools: Sequence[Tool], attack: Attack) -> list[Tool]:
        place = Random(f"{self._injection.seed} {self._item.id} place").randrange(len(tools) + 1)
        return [*tools[:place], attack.tool, *tools[place:]]

    def _messages(self, messages: Sequence[Message], attack: Attack) -> list[Message]:
        """The messages with the instruction in the chosen results, and with what the attacker's tool returned."""
        calls = (call for message in messages for call in _called(message))
        obeying = [id_ for id_, name in calls if isinstance(name, str) and is_tool(name, attack.name)]
        shown, results = list(messages), list[int]()
        for number, message in enumerate(messages):
            if message.get("role") != "tool" or not isinstance(message.get("content"), str):
                continue
            if message.get("tool_call_id") in obeying:
                shown[number] = {**message, "content": ATTACK_RESULT}
            else:
                results.append(number)
        history = self._history or 0
        before = [number for number in results if number < history]
        own = [number for number in results if number >= history]
        for number in (*before[-1:], *own[:1]):
            result = messages[number]["content"]
            self.shown[result] = planted(result, attack.instruction)
            shown[number] = {**messages[number], "content": self.shown[result]}
            self._visible = True
        return shown

    def _texts(self, in_text: ResultsInText, attack: Attack) -> Sequence[Message]:
        """The messages where tools and results are parts of a text."""
        results = [ATTACK_RESULT if at in self._answers else its for at, its in enumerate(in_text.results)]
        own = next((at for at in range(len(results)) if at not in self._answers), None)
        if own is not None:
            results[own] = planted(results[own], attack.instruction)
            self._visible = True
        return in_text.reads([attack.tool], results)

    def _gold(self, style: str, request: Request) -> Message:
        assert request.gold is not None
        if style != OBEDIENT:
            return request.gold(style)
        if self._visible and self.attack is not None and not self.obeyed:
            native = self.attack.call(f"call_attack_{len(request.messages)}")
            return self.attack.written_call if request.in_text else native
        return request.gold("parallel")


class _InjectedRules(AlteredRules):
    def __init__(self, inner: Rules, injection: Injection) -> None:
        super().__init__(inner)
        self._injection = injection

    def altered(self, episode: Episode, item: Item, unit: str) -> InjectedEpisode:
        return InjectedEpisode(episode, self._injection, item)

    def trace(self, item: Item, unit: str, transcript: Transcript) -> Trace:
        """What happened, with results as the model saw them."""
        trace = self._inner.trace(item, unit, transcript)
        episode = cast(InjectedEpisode, self.recorded_episode(item, unit, transcript))
        replay(episode, transcript)
        if episode.attack is None:
            return trace

        def shown(message: Message) -> Message:
            text = message.get("content")
            return {**message, "content": episode.shown.get(text, text)} if isinstance(text, str) else message

        steps = tuple(replace(step, seen=[*map(shown, step.seen)]) for step in trace.steps)
        return replace(trace, tools=[*trace.tools, episode.attack.tool], steps=steps)


def _called(message: Message) -> list[tuple[Any, Any]]:
    """Ids and names of a message's native calls; a model may write anything there."""
    return [
        (call.get("id"), as_object(call.get("function")).get("name"))
        for call in as_objects(message.get("tool_calls"))
    ]


def _shows_result(rules: Rules, item: Item, unit: str) -> bool:
    episode = rules.episode(item, unit)
    for reply in gold_replies(rules.episode(item, unit), rules.gold_style) or ():
        request = episode.request()
        if request is not None and request.in_text and request.in_text.results:
            return True
        if request is not None and any(message.get("role") == "tool" for message in request.messages):
            return True
        episode.advance(reply)
    return False
