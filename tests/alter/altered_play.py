"""Plays and judges units of altered benchmarks with gold answers."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from wildtool.alter.base import benchmark_exchange
from wildtool.alter.variant import Variant
from wildtool.types import Item, Message, Reply, Request, Transcript, Verdict


def played(
    variant: Variant, item: Item, unit: str, profile: str, style: str = "parallel"
) -> list[tuple[Request, Message]]:
    """Each request of a unit, as the models see it, with the gold answer that it got."""
    episode, steps = variant.episode(item, unit, profile), list[tuple[Request, Message]]()
    while (request := episode.request()) is not None:
        assert episode.request() is request
        assert request.gold is not None
        reply = request.gold(style if request.role == "agent" else "cooperative 0")
        steps.append((request, reply))
        episode.advance(reply)
    return steps


def said(variant: Variant, item: Item, unit: str, profile: str, style: str = "parallel") -> list[Message]:
    """The gold answers of a unit, as a model gives them."""
    return [reply for _, reply in played(variant, item, unit, profile, style)]


def judged(variant: Variant, item: Item, unit: str, replies: Sequence[Message], profile: str) -> Verdict:
    """The verdict of a unit whose model said this."""
    transcript = Transcript(tuple(map(Reply, replies)))
    return next(v for v in variant.judge(item, {unit: transcript}, profile) if v.unit == unit)


def as_said(
    variant: Variant, item: Item, unit: str, profile: str, replies: Sequence[Message]
) -> Iterator[Message]:
    """Replies in the benchmark's names as a model says them that sees the altered tools."""
    own = variant.benchmark.rules(profile).episode(item, unit)
    units = [alteration.unit(item, unit) for alteration in variant.alterations]
    for reply in replies:
        request = None if own.done else own.request()
        if request is None or request.role != "agent":
            yield reply
        else:

            def gold(_: str, reply: Message = reply) -> Message:
                return reply

            shown = next(exchange := benchmark_exchange(units, replace(request, gold=gold)))
            assert shown.gold is not None
            altered = shown.gold("parallel")
            with pytest.raises(StopIteration):
                exchange.send(altered)
            yield altered
        own.advance(reply)
