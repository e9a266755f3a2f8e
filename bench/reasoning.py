"""Which share of later steps shows a thinking model its own reasoning, by what carries it and what lies between benchmark
and model. Prints a table in Markdown; every cell should be whole.

    python bench/reasoning.py [BENCHMARK] [ITEMS]
"""

import asyncio
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import wildtool as wt
from wildtool.errors import UsageError
from wildtool.types import PROVIDER_CONTENT, Message, Reply, Request

Dialect = Callable[[Message, str], Message]
"""A reply with its thought as an endpoint gives it."""


def _call_signed(reply: Message, thought: str) -> Message:
    extra = {"extra_content": {"google": {"thought_signature": thought}}}
    return {**reply, "tool_calls": [{**call, **extra} for call in reply["tool_calls"]]}


DIALECTS: Mapping[str, Dialect] = {
    "reasoning_content": lambda reply, thought: {**reply, "reasoning_content": thought},
    "reasoning": lambda reply, thought: {**reply, "reasoning": thought},
    "reasoning_details": lambda reply, thought: {
        **reply,
        "reasoning": "hm",
        "reasoning_details": [{"type": "reasoning.encrypted", "data": thought, "index": 0}],
    },
    "reasoning_opaque": lambda reply, thought: {
        **reply,
        "reasoning_text": "hm",
        "reasoning_opaque": thought,
    },
    "thinking_blocks": lambda reply, thought: {
        **reply,
        "thinking_blocks": [{"type": "thinking", "thinking": "hm", "signature": thought}],
    },
    "signed calls": _call_signed,
    "provider's own": lambda reply, thought: {**reply, PROVIDER_CONTENT: {"gemini": [{"text": thought}]}},
}
ALTERATIONS: Mapping[str, Mapping[str, str]] = {
    "none": {},
    "noise": {"noise": "names:2,params:2,descriptions:2,order:2,distractors:1"},
    "missing tools": {"noise": "missing:2"},
    "injection": {"inject": "enhanced"},
    "first call fails": {"failures": "first-call"},
    "two calls fail": {"failures": "twice-then-well"},
    "flaky": {"failures": "flaky:0.5"},
    "catalogue": {"among": "30"},
    "catalogue by words": {"among": "30", "among_retriever": "bm25"},
    "catalogue by itself": {"among": "30", "among_retriever": "own"},
    "own history": {"history": "own"},
    "own rationale": {"rationale": "own"},
    "several": {"noise": "names:2", "history": "own", "failures": "first-call", "among": "30"},
}


class ThinkingGold:
    """The gold answers, each call with a thought of its own; counts the later steps that show the thought again."""

    def __init__(self, dialect: str, *, first_wrong: bool = False) -> None:
        """Args: first_wrong: whether the first call of each unit is wrong, so that `--history own` asks on."""
        self.name = f"thinking-{dialect.replace(' ', '-')}"
        self.steps = self.carried = 0
        self._dialect, self._first_wrong = DIALECTS[dialect], first_wrong
        self._thoughts: dict[tuple[str, int, str], list[str]] = defaultdict(list)

    def settings(self) -> Mapping[str, Any]:
        return {}

    async def close(self) -> None:
        return

    async def complete(self, request: Request) -> Reply:
        assert request.address is not None and request.gold is not None
        address = request.address
        thoughts = self._thoughts[address.item, address.repeat, address.unit]
        shown = json.dumps([*request.messages])
        self.steps += len(thoughts)
        self.carried += sum(thought in shown for thought in thoughts)
        reply = request.gold("parallel")
        if not reply.get("tool_calls"):
            return Reply(reply)
        if self._first_wrong and not thoughts:
            reply = {**reply, "tool_calls": [_without_arguments(call) for call in reply["tool_calls"]]}
        thoughts.append(f"thought {address.item}/{address.repeat}/{address.unit}/{address.step}.")
        return Reply(self._dialect(reply, thoughts[-1]))


def _without_arguments(call: Message) -> Message:
    return {**call, "function": {**call["function"], "arguments": "{}"}}


async def carried(
    benchmark: str, dialect: str, options: Mapping[str, Any], *, first_wrong: bool = False
) -> tuple[int, int]:
    """Thoughts that were shown again, and how many should have been.

    Args:
        options: of `wildtool.run`.
    """
    model = ThinkingGold(dialect, first_wrong=first_wrong)
    with TemporaryDirectory() as folder:
        await wt.arun(benchmark, model=model, out=Path(folder) / "run", quiet=True, **options)
    return model.carried, model.steps


async def _print_table(benchmark: str, items: int) -> None:
    print(f"| {benchmark} | {' | '.join(DIALECTS)} |")
    print(f"|---|{'---|' * len(DIALECTS)}")
    for name, options in ALTERATIONS.items():
        try:
            shares = [await carried(benchmark, dialect, {"limit": items, **options}) for dialect in DIALECTS]
        except UsageError:
            continue  # it does not fit this benchmark
        print(f"| {name} | {' | '.join(f'{share} of {steps}' for share, steps in shares)} |")


if __name__ == "__main__":
    given = dict(enumerate(sys.argv))
    asyncio.run(_print_table(given.get(1, "wild-mini"), int(given.get(2, "12"))))
