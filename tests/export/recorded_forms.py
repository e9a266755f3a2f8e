"""A small run as exports see it: a unit with calls, one that failed, one that was never played."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from wildtool.engine.record.reader import LoggedFailure, LoggedReply
from wildtool.engine.score.results import ScoreResult
from wildtool.evidence import Evidence
from wildtool.export.trajectory import RecordedStep, RecordedUnit
from wildtool.types import Item, Metric, Reply, Verdict

TOOLS = [
    {"type": "function", "function": {"name": "level", "parameters": {"type": "object", "properties": {}}}}
]
SYSTEM, USER = {"role": "system", "content": "S"}, {"role": "user", "content": "q"}
CALL = {"id": "a", "type": "function", "function": {"name": "level", "arguments": '{"x": 1}'}}
CALLED = {"role": "assistant", "content": None, "tool_calls": [CALL], "reasoning_content": "Hm."}
RESULT = {"role": "tool", "tool_call_id": "a", "content": "5 m"}
USAGE = {
    "prompt_tokens": 10,
    "completion_tokens": 4,
    "prompt_tokens_details": {"cached_tokens": 3},
    "completion_tokens_details": {"reasoning_tokens": 2},
}


def reply_step(
    messages: list[Any], message: dict[str, Any], time: float = 0.0, role: str = "agent", **more: Any
) -> RecordedStep:
    """A call that was answered."""
    reply = Reply({key: value for key, value in message.items() if key != "role"}, **more)
    return RecordedStep(
        role, messages, TOOLS if role == "agent" else [], LoggedReply(role, "hash", reply), time
    )


def units() -> list[RecordedUnit]:
    """The units of the run."""
    item, other = Item("i/1", ("0", "1"), None, split="s", lang="en"), Item("j", ("0",), None)
    first = [SYSTEM, USER]
    steps = (
        reply_step(
            first, CALLED, 60.0, usage=USAGE, latency_s=0.5, raw="{}", finish_reason="tool_calls", attempts=2
        ),
        reply_step(
            [USER], {"content": "5 m"}, 70.0, role="user", usage={"prompt_tokens": 100}, latency_s=4.0
        ),
        reply_step(
            [*first, CALLED, RESULT],
            {"content": "5 m."},
            usage={"prompt_tokens": 20, "completion_tokens": 5},
            latency_s=0.25,
            finish_reason="stop",
            changes=("c",),
        ),
    )
    failure = LoggedFailure("agent", "h", "http 500", "broken", 3)
    return [
        RecordedUnit(
            item, 0, steps, Verdict("i/1", "0", "correct", 1, None, "all right", 2, {"f": 1}, {"d": 2})
        ),
        RecordedUnit(
            item,
            1,
            (RecordedStep("agent", first, TOOLS, failure, 60.0),),
            Verdict("i/1", "1", "infra_error", 0.0, "infra", "http 500: broken", 0),
        ),
        RecordedUnit(other, 0, (), Verdict("j", "0", "unplayed", 0.0, None, "never played", 0)),
    ]


RUN_JSON: dict[str, Any] = {
    "identity": {
        "models": {
            "agent": {
                "name": "dev/m",
                "settings": {"base_url": "http://h/v1", "temperature": 0.5, "top_p": 1},
            }
        },
        "data_sha256": "d" * 64,
        "mode": None,
        "split": "s",
        "lang": None,
        "seed": 7,
        "profile": "official",
    },
    "scope": {"repeats": 2, "limit": None},
    "versions": {"python": "3"},
    "sittings": [
        {
            "started": "2026-01-01T00:00:00+00:00",
            "command": ["wildtool", "run", "--base-url", "http://me:x@h/v1?k=1"],
        },
        {
            "started": "2026-01-02T00:00:00+00:00",
            "ended": "2026-01-02T01:00:00+00:00",
            "command": ["wildtool"],
        },
    ],
}
METRICS = (
    Metric("accuracy", "task", 0.5, 1, 2, 0.25, 0.75, headline=True),
    Metric("cost", "tokens", 20.0, 40, 2, kind="mean", unit="tokens", better="less", note="A note."),
    Metric("empty", "none", None, 0, 0),
)


def result(**more: Any) -> ScoreResult:
    """The numbers of the run."""
    fields: dict[str, Any] = {
        "run": "r",
        "model": "dev/m",
        "benchmark": "wild-mini",
        "profile": "fixed",
        "played": "official",
        "data": "/x/data.jsonl",
        "data_sha256": "d" * 64,
        "split": None,
        "mode": None,
        "roles": {"user": "sim"},
        "items": 2,
        "items_md5": "",
        "counts": SimpleNamespace(units=3, correct=1, wrong=0, infra_error=1, unplayed=1),
        "planned": 3,
        "planned_items": 2,
        "incomplete": True,
        "failed": (),
        "evidence": Evidence(3, 1, 1),
        "metrics": METRICS,
    }
    return ScoreResult(**{**fields, **more})


class Run:
    """In place of `RecordedRun`."""

    name = "name0"

    def __init__(self, request: object) -> None:
        self.run: Any = SimpleNamespace(
            run_info=SimpleNamespace(run="r", model="dev/m", benchmark="wild-mini", profile="fixed"),
            run_json=RUN_JSON,
            selection=SimpleNamespace(benchmark=SimpleNamespace(title="Mini")),
            variant=SimpleNamespace(trace=self._trace),
        )

    def units(self) -> Iterator[RecordedUnit]:
        return iter(units())

    @staticmethod
    def _trace(item: Item, unit: str, transcript: object, profile: str) -> Any:
        assert profile == "fixed"
        return SimpleNamespace(
            gold=[SimpleNamespace(name="level", arguments={"item": item.id, "unit": unit})]
        )
