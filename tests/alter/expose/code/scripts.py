"""Runs scripts with tools as functions of a test, through the role that runs them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from wildtool.alter.expose.code.protocol import (
    ScriptCall,
    ScriptEnd,
    read_answer,
    results_message,
    sandbox_message,
    script_message,
    setup_message,
)
from wildtool.types import Message

FUNCTIONS: Mapping[str, Sequence[str]] = {"f": ["x"], "g": ["x"], "h": ["x"]}
Tools = Callable[[ScriptCall], Any]


def with_sandbox() -> None:
    """Skips a test module where the extra is not installed."""
    pytest.importorskip("pydantic_monty", reason="the extra [code] is not installed")


def ran(
    *scripts: str, tools: Tools = lambda call: {"id": 7, "ok": True}, is_answered: bool = True
) -> tuple[list[list[ScriptCall]], list[ScriptEnd]]:
    """The calls of each answer to a session of scripts, and how each script ended."""
    from wildtool.alter.expose.code.sandbox import shared_sandbox

    return answered(shared_sandbox().answer, scripts, tools, is_answered=is_answered)


def answered(
    answer: Callable[[Sequence[Message]], Message],
    scripts: Sequence[str],
    tools: Tools,
    *,
    is_answered: bool = True,
) -> tuple[list[list[ScriptCall]], list[ScriptEnd]]:
    """The same by one sandbox."""
    messages = [setup_message(FUNCTIONS, "", FUNCTIONS if is_answered else ())]
    batches: list[list[ScriptCall]] = []
    ends: list[ScriptEnd] = []
    is_fresh = True
    for script in scripts:
        messages.append(script_message(script, is_fresh=is_fresh))
        is_fresh = False
        while True:
            got = read_answer(answer(messages))
            assert read_answer(sandbox_message(got)) == got
            if got.calls:
                batches.append(list(got.calls))
            if got.end is not None:
                ends.append(got.end)
                is_fresh = got.end.kind == "limit"
                break
            messages.append(results_message([tools(call) for call in got.calls]))
    return batches, ends
