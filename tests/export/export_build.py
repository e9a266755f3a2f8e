"""Runs of the embedded set to export: one session, answered by a function."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from wildtool.benchmarks.wildtoolbench import WILD_MINI
from wildtool.engine.call.client import RetryPolicy
from wildtool.engine.plan import Plan
from wildtool.engine.run.runner import run_plan
from wildtool.errors import CallError
from wildtool.export import EXPORT_FORMATS, ExportRequest, export
from wildtool.models.baselines import make_baseline
from wildtool.types import Reply, Request

ITEM = "wild_mini_0"
HOSTILE = "=cmd| /C calc!A0 \ud800 \x00 </script> \u202e \u2028" + "x" * 1_000_000
"""A text with whatever breaks writers: a formula, a lone surrogate, NUL, and a megabyte."""
ODD: list[dict[str, Any]] = [
    {"content": HOSTILE},
    {"content": None},
    {"content": {"not": ["a", "text"]}, "reasoning_content": HOSTILE},
    {"content": [{"type": "text", "text": HOSTILE}, {"type": "image_url"}, 7, None]},
    {"content": None, "tool_calls": [{"id": None, "function": {"name": HOSTILE, "arguments": HOSTILE}}]},
    {"content": "a", "tool_calls": [{"function": {"name": "f", "arguments": "[" * 5000}}]},
    {
        "content": None,
        "tool_calls": [7, None, {"function": None}, {"function": {"name": 3, "arguments": {"a": 1}}}],
    },
    {"content": None, "tool_calls": "none"},
    {
        "content": None,
        "tool_calls": [{"function": {"name": "f", "arguments": '{"n": 1e999, "i": 1%s}' % ("0" * 40)}}],
    },
    {"role": "tool", "content": "", "n": float("nan"), "m": 10**40, HOSTILE[:60]: [[[]]]},
]


class Saying:
    """A model that answers what a function says; an exception is raised."""

    name = "saying"

    def __init__(self, answer: Callable[[Request], Any]) -> None:
        self._answer = answer

    async def complete(self, request: Request) -> Reply:
        answer = self._answer(request)
        if isinstance(answer, Exception):
            raise answer
        usage = {"prompt_tokens": 10, "completion_tokens": 2}
        return Reply(answer, raw=json.dumps(answer), finish_reason="stop", usage=usage, latency_s=0.25)

    async def close(self) -> None:
        pass

    def settings(self) -> Mapping[str, Any]:
        return {"base_url": "http://localhost:1/v1"}


def play(folder: Path, model: Any = "baseline/gold", **settings: Any) -> Path:
    """A run of the first session by a baseline, or by a function of the request."""
    player: Any = make_baseline(model, None) if isinstance(model, str) else Saying(model)
    settings = {"ids": (ITEM,), "profile": "official"} | settings
    plan = Plan(benchmark=WILD_MINI, source=WILD_MINI.data.locate(None), models={"agent": player}, **settings)
    run_plan(plan, folder, command=["wildtool", "run"], policy=RetryPolicy(timeout_s=5, max_attempts=1))
    return folder


def failing(request: Request) -> Any:
    """Fails wherever a tool result was just shown, so after the first step of some units."""
    if request.messages[-1]["role"] == "tool":
        return CallError("http 500", f"broken {HOSTILE[:40]}", final=True)
    return request.gold("parallel") if request.gold else {}


def written(form: str, folder: Path, place: Path, **wanted: Any) -> Path:
    """The run in another form."""
    target = place / f"out{EXPORT_FORMATS[form].suffix}"
    export(form, ExportRequest(folder=folder, **wanted), target)
    return target


def json_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
