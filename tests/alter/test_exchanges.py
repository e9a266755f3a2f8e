"""What a model is shown and what the benchmark reads of it, message by message, under each alteration."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from alter.altered_play import judged, played
from golden_files import same_as_golden
from wildtool.alter.base import Alteration
from wildtool.alter.distractors.distractors import Distractors
from wildtool.alter.failures.failures import Failures
from wildtool.alter.failures.schedule import FailureSchedule
from wildtool.alter.hints.hint_files import Hint
from wildtool.alter.hints.hints import Hints
from wildtool.alter.injection.injection import Injection
from wildtool.alter.injection.settings import InjectionSetting
from wildtool.alter.kinds import recorded_alterations
from wildtool.alter.noise.noise import Noise
from wildtool.alter.variant import Variant
from wildtool.data.data_set import data_of
from wildtool.engine.registry import load_benchmark
from wildtool.shapes import tool_name
from wildtool.types import Message, Reply, Request, Transcript

BENCHMARK = load_benchmark("wild-mini")
ITEMS = list(BENCHMARK.load(data_of(BENCHMARK).locate(None)))
ITEM = ITEMS[0]


def first_request(unit: str) -> Request:
    """What the benchmark itself asks first."""
    request = BENCHMARK.rules("fixed").episode(ITEM, unit).request()
    assert request is not None
    return request


OWN_TOOLS = [tool for unit in ITEM.units for tool in first_request(unit).tools]
HINTS = (
    Hint(ITEM.id, "0", 0, "first"),
    Hint(ITEM.id, "0", None, "always", "state", 0),
    Hint(ITEM.id, "1", 1, "second", "state"),
    Hint(ITEM.id, "1", 5, "never"),
    Hint("other", "0", 0, "of another item"),
)


def failing(text: str, seed: int = 0) -> Failures:
    return Failures(FailureSchedule.parse(text), seed)


CASES: dict[str, tuple[Alteration, str]] = {
    "noise slight": (
        Noise.parse("names:slight,params:slight,descriptions:slight,order:slight,distractors:1"),
        "parallel",
    ),
    "noise heavy": (Noise.parse("names:3,params:3,descriptions:3,order:3", 7), "parallel"),
    "noise missing": (Noise.parse("names:1,missing:medium,order:medium"), "serial"),
    "aid": (Hints(HINTS, rationale="given", rationales={(ITEM.id, "1"): " Think. "}), "parallel"),
    "own reasoning": (Hints(rationale="own", prompt="digest"), "parallel"),
    "injection": (Injection(InjectionSetting.base, 1), "obedient"),
    "injection enhanced": (Injection(InjectionSetting.enhanced), "parallel"),
    "timeout": (failing("first-call,timeout"), "parallel"),
    "rate limit": (failing("twice-then-well,rate-limit,server-error", 3), "parallel"),
    "partial": (failing("first-call,partial"), "serial"),
    "stale": (failing("twice-then-well,stale"), "always-retries"),
    "empty": (failing("first-call,empty"), "never-retries"),
    "schema changed": (failing("flaky:0.7,schema-changed,wrong-type", 2), "parallel"),
    "down": (failing("down"), "parallel"),
    "permission": (failing("first-call,permission"), "always-retries"),
    "catalogue": (Distractors.parse("12", "random,near,domain", seed=4), "parallel"),
    "catalogue by words": (Distractors.parse("14", "near", retriever="bm25", top_k=9), "parallel"),
    "catalogue by itself": (Distractors.parse("10", "random", retriever="own", top_k=3), "parallel"),
    "catalogue by embeddings": (
        Distractors.parse("10", "domain", retriever="some/model", top_k=2),
        "parallel",
    ),
}


def lines(case: str) -> Iterator[str]:
    """What is shown and said in two units: messages and tools where they differ from those of the request before.

    Those of the first request are compared with the benchmark's own.
    """
    alteration, style = CASES[case]
    alteration = alteration.prepared(BENCHMARK, ITEMS[:4], "fixed")
    variant = Variant(BENCHMARK, (alteration,))
    yield f"{alteration.described} | {alteration.label} | {list(alteration.folder_parts)} | {alteration.without}"
    identity = dict(alteration.identity())
    assert recorded_alterations(identity) == (alteration,)
    if "catalogue" in identity:
        identity["catalogue"] = {**identity["catalogue"], "pool": ""}
    yield json.dumps([identity, dict(alteration.columns), alteration.check(BENCHMARK, [ITEM], "fixed")])
    for unit in ITEM.units[:2]:
        own = first_request(unit)
        tools, messages, replies = list(own.tools), list(own.messages), list[Message]()
        for request, reply in played(variant, ITEM, unit, "fixed", style):
            yield f"== unit {unit}, {request.role} =="
            yield from changed("tool", request.tools, tools)
            yield from changed("message", request.messages, messages)
            yield f"said {written(reply)}"
            if request.role == "agent" and request.tools:
                tools, messages = list(request.tools), list(request.messages)
            replies.append(reply)
        verdict = judged(variant, ITEM, unit, replies, "fixed")
        yield f"== verdict == {verdict.outcome} | {verdict.error} | {verdict.reason}"
        yield written({name: verdict.fields.get(name) for name in alteration.columns})
        trace = variant.trace(ITEM, unit, Transcript(tuple(map(Reply, replies))), "fixed")
        yield f"== trace == {[tool_name(tool) for tool in trace.tools]}"
        for step in trace.steps:
            yield written([step.role, step.note, [row.get("content") for row in step.seen], step.reply])


def changed(noun: str, now: Any, before: list[Any]) -> Iterator[str]:
    for place, value in enumerate(now):
        if value not in before[place : place + 1]:
            own = value in OWN_TOOLS
            yield f"{noun} {place} {f'the own {tool_name(value)}' if own else written(value)}"


def written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


@pytest.mark.parametrize("case", CASES)
def test_each_message_is_shown_as_the_alteration_says(case: str):
    same_as_golden(f"alter/{case.replace(' ', '-')}.txt", "\n".join(lines(case)) + "\n")
