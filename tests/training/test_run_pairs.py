"""Pairs of the wrong units of a run: which step is paired, why a unit gives none, what is written beside."""

import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from wildtool.engine.record.reader import LoggedFailure, LoggedReply
from wildtool.errors import UsageError
from wildtool.export import ExportRequest
from wildtool.export.trajectory import RecordedStep, RecordedUnit
from wildtool.sets.prepare import run_pairs
from wildtool.types import Item, Message, Reply, Request, Verdict

TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
USER = {"role": "user", "content": "q"}


def calling(name: str) -> Message:
    made = {"id": "c", "type": "function", "function": {"name": name, "arguments": "{}"}}
    return {"role": "assistant", "content": None, "tool_calls": [made]}


F, G, TEXT = calling("f"), calling("g"), {"role": "assistant", "content": "right"}
Gold = Callable[[str], Message]


class Scripted:
    """An episode that asks for given replies one after another."""

    def __init__(self, requests: list[Request]) -> None:
        self._requests = list(requests)

    @property
    def done(self) -> bool:
        return not self._requests

    def request(self) -> Request | None:
        return next(iter(self._requests), None)

    def advance(self, reply: Message) -> None:
        self._requests.pop(0)


def asks(gold: Message | Gold | None, role: str = "agent") -> Request:
    found: Any = gold if gold is None or callable(gold) else lambda style: gold
    return Request([USER], [TOOL], role=role, gold=found)


def step(message: Message | None, role: str = "agent", **more: Any) -> RecordedStep:
    answered = (
        LoggedReply(role, "h", Reply(message, **more)) if message else LoggedFailure(role, "h", "k", "m", 1)
    )
    return RecordedStep(role, [USER], [TOOL], answered, 0.0)


def exported(
    monkeypatch: pytest.MonkeyPatch,
    place: Path,
    *units: tuple[list[Request], list[RecordedStep], Verdict, int],
    owner: str | None = None,
    styles: tuple[str, ...] = ("parallel",),
    **wanted: Any,
) -> tuple[list[Any], list[Any]]:
    """The pairs and the audit of a run."""
    scripts = {(verdict.item, verdict.unit): requests for requests, _, verdict, _ in units}

    class Run:
        def __init__(self, request: object) -> None:
            variant = SimpleNamespace(
                episode=lambda item, unit, profile: Scripted(scripts[item.id, unit]),
                benchmark=SimpleNamespace(gold_styles=styles),
            )
            self.run = SimpleNamespace(
                run_json={"identity": {"profile": None}},
                run_info=SimpleNamespace(profile="p"),
                variant=variant,
            )

        def units(self) -> Iterator[RecordedUnit]:
            for _, steps, verdict, repeat in units:
                yield RecordedUnit(Item(verdict.item, (verdict.unit,), None), repeat, tuple(steps), verdict)

    monkeypatch.setattr(run_pairs, "RecordedRun", Run)
    monkeypatch.setattr(run_pairs, "data_owner", lambda run: owner)
    run_pairs.export(ExportRequest(folder=Path("r"), **wanted), place / "p.jsonl")
    return tuple(
        [json.loads(line) for line in (place / name).read_text().splitlines()]
        for name in ("p.jsonl", "p.audit.jsonl")
    )  # pyright: ignore[reportReturnType]


def verdict(outcome: Any, unit: str = "0", error: str | None = "e", item: str = "i") -> Verdict:
    return Verdict(item, unit, outcome, 0.0, error, "why", 1)


def turn(name: str) -> dict[str, str]:
    return {"from": "function_call", "value": f'{{"name": "{name}", "arguments": {{}}}}'}


ROW = {
    "conversations": [{"from": "human", "value": "q"}],
    "system": "",
    "tools": '[{"name": "f", "description": "", "parameters": {"type": "object", "properties": {}, "required": []}}]',
    "chosen": turn("f"),
    "rejected": turn("g"),
}
PAIRED = "wrong, and not equal to the gold reply"


def test_the_first_wrong_step_is_paired_and_tries_are_counted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    two = [asks(F), asks(None, "user"), asks(F), asks(F)]
    wrong = [step(F), step({"content": "x"}, "user"), step(G), step(F)]
    pairs, audit = exported(
        monkeypatch,
        tmp_path,
        (two, wrong, verdict("wrong"), 0),
        (two, [step(calling("h"))], verdict("wrong"), 1),
        (two, [step(F)], verdict("correct", error=None), 2),
        ([asks(F)], [step(G)], verdict("wrong", "1"), 0),
        ([], [], verdict("unplayed", "2"), 0),
    )
    assert pairs == [
        {**ROW, "meta": {"turn": 1, "tries": 3, "solved": True}},
        {**ROW, "meta": {"turn": 1, "tries": 1, "solved": False}},
    ]

    def line(unit: str, repeat: int, outcome: str, reason: str, pair: bool = False) -> dict[str, Any]:
        return {
            "item": "i",
            "unit": unit,
            "repeat": repeat,
            "outcome": outcome,
            "why": "why",
            "pair": pair,
            "reason": reason,
        }

    assert audit == [
        line("0", 0, "wrong", PAIRED, pair=True),
        line("0", 1, "wrong", PAIRED, pair=True),
        line("0", 2, "correct", "correct"),
        line("1", 0, "wrong", PAIRED, pair=True),
        line("2", 0, "unplayed", "unplayed"),
    ]


@pytest.mark.parametrize(
    ("requests", "steps", "error", "reason"),
    [
        ([asks(F)], [step(F)], "e", "no wrong step was found"),
        ([asks(F)], [], "e", "no wrong step was found"),
        ([], [step(G)], "e", "no wrong step was found"),
        ([asks(F), asks(F)], [step(None), step(G)], "e", "no wrong step was found"),
        ([asks(None)], [step(G)], "e", "no gold reply is known"),
        ([asks(lambda style: F if style == "a" else G)], [step(calling("h"))], "e", "several gold replies"),
        ([asks(TEXT)], [step({"content": "right"})], "wrong text", "equal to the record"),
        ([asks(F)], [step(G, finish_reason="length")], "e", "broken"),
        ([asks(TEXT)], [step({"content": "\u200b", "tool_calls": []})], "e", "blank"),
        ([asks(F)], [step({"content": None})], "e", "empty-reply: rejected is blank"),
    ],
)
def test_why_a_unit_gives_no_pair(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    requests: list[Request],
    steps: list[RecordedStep],
    error: str,
    reason: str,
):
    unit = (requests, steps, verdict("wrong", error=error), 0)
    pairs, (audited,) = exported(monkeypatch, tmp_path, unit, styles=("a", "b"))
    assert (pairs, audited["pair"], audited["reason"]) == ([], False, reason)


def test_a_text_that_a_judge_refused_is_the_worse_side(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    for error, count in (("wrong text", 1), ("e", 0)):
        unit = ([asks(TEXT)], [step({"content": "other"})], verdict("wrong", error=error), 0)
        pairs, _ = exported(monkeypatch, tmp_path, unit)
        assert [pair["rejected"] for pair in pairs] == [{"from": "gpt", "value": "other"}] * count


def test_a_benchmarks_own_data_are_refused_or_marked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    unit = ([asks(F)], [step(G)], verdict("wrong"), 0)
    with pytest.raises(UsageError, match=r"^own is a benchmark: "):
        exported(monkeypatch, tmp_path, unit, owner="own")
    (pair,), (audited,) = exported(monkeypatch, tmp_path, unit, owner="own", allow_benchmark_data=True)
    assert pair["meta"] == {"turn": 1, "tries": 1, "solved": False, "benchmark_data": ["own"]}
    assert audited["benchmark_data"] == ["own"]


def test_sides_of_other_lengths_are_warned_of(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    with caplog.at_level(logging.WARNING, "wildtool"):
        exported(monkeypatch, tmp_path, ([asks(F)], [step(G)], verdict("wrong"), 0))
        assert caplog.messages == []
        exported(monkeypatch, tmp_path, ([asks(F)], [step({"content": "x" * 9})], verdict("wrong"), 0))
    assert caplog.messages == [
        "mean length: chosen 3, rejected 9 characters; preference training may learn the length instead"
    ]
