"""Equality with BFCL's original on the wire and in its simulated classes: every request, and the text of every result."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from parity.cases import oracle_folder, present, rows
from wildtool.benchmarks.bfcl import BFCL_BENCHMARK
from wildtool.benchmarks.bfcl.judge import EntryRules
from wildtool.benchmarks.bfcl.prompt_forms import PROMPT_FORMS
from wildtool.benchmarks.bfcl.simulated import SimulatedApis
from wildtool.data.data_set import data_of
from wildtool.types import Episode, Item, Message

pytestmark = pytest.mark.usefixtures("bfcl_package")
Case = dict[str, Any]


@pytest.fixture(scope="module")
def folder() -> Path:
    return present(oracle_folder("found") / "bfcl_3")


def test_every_result_is_the_texts_of_the_original(folder: Path) -> None:
    wrong: list[Any] = []
    for case in rows(folder / "results.jsonl.gz"):
        apis = SimulatedApis(
            case["classes"],
            case["initial_config"] if case["entry"] else {},
            long_context=case["long_context"],
        )
        found = apis.execute([step["call"] for step in case["calls"]])
        pairs = zip(case["calls"], found, strict=True)
        wrong += [(case["class"], step, text[:300]) for step, text in pairs if text != step["result"]]
    assert not wrong, f"{len(wrong)} differ\n" + "\n".join(map(str, wrong[:20]))


@cache
def items(mode: str, split: str) -> Mapping[str, Item]:
    benchmark = BFCL_BENCHMARK.in_mode(mode)
    return {item.id: item for item in benchmark.load(data_of(benchmark).locate(None, split), split=split)}


def rules(mode: str) -> EntryRules:
    found = BFCL_BENCHMARK.in_mode(mode).rules("official")
    assert isinstance(found, EntryRules)
    return found


def as_reply(number: int, said: Any) -> Message:
    """A scripted reply to the request of this number, as an endpoint gives it."""
    if not isinstance(said, list):
        return {"role": "assistant", "content": said}
    functions = [{"name": name, "arguments": text} for call in said for name, text in call.items()]
    calls = [
        {"id": f"c{number}_{place}", "type": "function", "function": function}
        for place, function in enumerate(functions)
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def difference(case: Case, episode: Episode) -> str:
    """Where the first request differs from the original's; empty where none does."""
    messages: list[Message] = []
    tools: list[Any] = case["tools"] or []
    for number, (asked, said) in enumerate(zip(case["requests"], case["replies"], strict=True), 1):
        request, messages = episode.request(), [*messages, *asked["add"]]
        tools = [*tools, *asked.get("add_tools", ())]
        if request is None:
            return f"{case['entry']}: no request {number}"
        if json.dumps(list(request.tools)) != json.dumps(tools):
            return f"{case['entry']}: other tools in request {number}"
        if list(request.messages) != messages:
            ours = next(
                (one for one, other in zip(request.messages, messages, strict=False) if one != other), None
            )
            return f"{case['entry']}: other messages in request {number}: {ours!s:.2000}"
        episode.advance(as_reply(number, said))
    return ""


def form_of(case: Case) -> str:
    return next(name for name, form in PROMPT_FORMS.items() if form.parts() == case["form"])


def episodes(cases: list[Case]) -> Iterator[tuple[Case, Episode]]:
    """Each case that is an entry of its own, with its episode."""
    for case in cases:
        split, mode = case["category"], case["mode"]
        if split.startswith("memory"):
            continue
        is_form = split == "format_sensitivity"
        item = items(mode, split)[f"{split}:{case['entry']}" if is_form else case["entry"]]
        yield case, rules(mode).episode(item, form_of(case) if is_form else item.units[0])


def of_memories(cases: list[Case]) -> Iterator[tuple[Case, Episode]]:
    """The conversations of each scenario in order, then its questions; the first of which they belong to."""
    scenarios: dict[tuple[str, str, str], list[Case]] = defaultdict(list)
    for case in cases:
        if case["category"].startswith("memory"):
            scenarios[case["category"], case["mode"], case["scenario"]].append(case)
    for (split, mode, scenario), found in scenarios.items():
        item = items(mode, split)[f"{split}:{scenario}"]
        first = rules(mode).episode(item, item.units[0])
        earlier = [case for case in found if "_prereq_" in case["entry"]]
        for case in sorted(earlier, key=lambda case: case["position"]):
            yield case, first
        settled = rules(mode).after(item, {item.units[0]: first})
        assert settled is not None, "the conversations did not end"
        for case in found:
            if case not in earlier:
                is_first = case["entry"] == item.units[0]
                yield case, first if is_first else rules(mode).episode(settled, case["entry"])


@pytest.mark.parametrize("choose", [episodes, of_memories])
def test_every_request_is_that_of_the_original(folder: Path, choose: Any) -> None:
    cases = list(rows(folder / "wire.jsonl.gz"))
    wrong = [text for case, episode in choose(cases) if (text := difference(case, episode))]
    assert not wrong, f"{len(wrong)} differ\n" + "\n".join(wrong[:5])


def test_all_else_of_a_request_is_what_the_originals_sampling_sets(folder: Path) -> None:
    for case in rows(folder / "wire.jsonl.gz"):
        assert case["other"] == BFCL_BENCHMARK.original_sampling
