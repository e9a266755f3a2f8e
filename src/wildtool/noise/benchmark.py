"""A benchmark whose tools are shown with noise: its rules, its data and its numbers stay what they are.

Noise is put into each request and taken out of each reply, between the model and the episode. So a record holds what the
model was sent and said, and the benchmark judges what it would judge without noise.
"""

import copy
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar, cast

from wildtool.altered import AlteredRules, altered_class
from wildtool.benchmark import Benchmark, Mutant, Rules
from wildtool.noise.levels import Noise
from wildtool.noise.tools import NoisyTools
from wildtool.trace import Trace
from wildtool.types import Episode, Item, Message, Request, Transcript

_AGENT = "agent"
B = TypeVar("B", bound=Benchmark)


def with_noise(benchmark: B, noise: Noise) -> B:
    """The benchmark with noise in its tools; the benchmark itself where there is none."""
    if not noise:
        return benchmark
    noisy = copy.copy(benchmark)
    noisy.__class__ = cast(type[B], altered_class(_Noisy, type(benchmark)))
    noisy.noise = noise.identity()
    return noisy


class _Noisy(Benchmark):
    def rules(self, profile: str) -> Rules:
        return _NoisyRules(super().rules(profile), Noise.recorded(self.noise))


class NoisyEpisode:
    """An episode seen through noise."""

    def __init__(self, inner: Episode, tools: NoisyTools) -> None:
        self.inner = inner
        self._tools = tools
        self._asked: Request | None = None
        """The request that the next reply answers, where it is known."""

    @property
    def done(self) -> bool:
        return self.inner.done

    def request(self) -> Request | None:
        self._asked = request = self.inner.request()
        if request is None or request.role != _AGENT:
            return request
        tools = self._tools.tools(request.tools)
        messages = [self._tools.shown(message) for message in request.messages]
        gold = request.gold

        def shown_gold(style: str) -> Message:
            assert gold is not None
            return self._tools.shown(gold(style))

        return replace(request, tools=tools, messages=messages, gold=gold and shown_gold)

    def advance(self, reply: Message) -> None:
        if self._asked is None:
            self.request()  # a record is judged: the names follow from the tools of the request
        restore = self._asked is None or self._asked.role == _AGENT
        self._asked = None
        self.inner.advance(self._tools.restored(reply) if restore else reply)


class _NoisyRules(AlteredRules):
    def __init__(self, inner: Rules, noise: Noise) -> None:
        super().__init__(inner)
        self._noise = noise

    def altered(self, episode: Episode, item: Item, unit: str) -> NoisyEpisode:
        return NoisyEpisode(episode, NoisyTools(self._noise, item.id, item.lang))

    def mutants(self, item: Item) -> Iterable[Mutant]:
        for mutant in self._inner.mutants(item):
            yield replace(mutant, replies=tuple(self._replies(item, mutant.unit, mutant.replies, shown=True)))

    def explain(self, item: Item, mutant: Mutant) -> str:
        replies = self._replies(item, mutant.unit, mutant.replies, shown=False)
        return self._inner.explain(item, replace(mutant, replies=tuple(replies)))

    def trace(self, item: Item, unit: str, transcript: Transcript) -> Trace:
        """What happened, with the names of the benchmark, as the reasons of its verdicts have them."""
        rules, transcript = self.as_judged(item, unit, transcript)
        return rules.trace(item, unit, transcript)

    def as_judged(self, item: Item, unit: str, transcript: Transcript) -> tuple[Rules, Transcript]:
        messages = self._replies(
            item, unit, [reply.message for reply in transcript.replies], shown=False, transcript=transcript
        )
        replies = tuple(
            replace(reply, message=message)
            for reply, message in zip(transcript.replies, messages, strict=True)
        )
        return self._inner.as_judged(item, unit, replace(transcript, replies=replies))

    def _replies(
        self,
        item: Item,
        unit: str,
        messages: Sequence[Message],
        *,
        shown: bool,
        transcript: Transcript | None = None,
    ) -> Iterator[Message]:
        """Replies of one unit as a model says them, or as the benchmark reads them; the others the other way round."""
        episode = self._inner.recorded_episode(item, unit, transcript)
        tools = NoisyTools(self._noise, item.id, item.lang)
        for message in messages:
            request = None if episode.done else episode.request()
            if request is not None and request.role == _AGENT:
                tools.tools(request.tools)
                changed = tools.shown(message) if shown else tools.restored(message)
            else:
                changed = message
            yield changed
            episode.advance(message if shown else changed)
