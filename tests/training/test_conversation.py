"""Turns put in order: what is joined, dropped and refused while a record is read; its forms, keys and safe names."""

from collections.abc import Callable
from typing import Any

import pytest

from training.record_forms import call, calls, results
from wildtool.training.conversation import ROW_REPAIRS, ConversationBuilder
from wildtool.training.record import (
    AssistantTurn,
    ObservedResult,
    ResultTurn,
    TrainingCall,
    TrainingTurn,
    UserTurn,
)

Q, R = UserTurn("q"), AssistantTurn("r")
F, G = call("f", "a"), call("g", "b")
Build = Callable[[ConversationBuilder], object]


def q(text: str = "q", **extras: Any) -> Build:
    return lambda builder: builder.add_user(text, extras)


def r(text: str | None = "r", *entries: TrainingCall, **more: Any) -> Build:
    return lambda builder: builder.add_reply(text, entries, **more)


def res(text: str, own_id: str | None = None, **extras: Any) -> Build:
    return lambda builder: builder.add_result(text, extras, own_id)


def built(*steps: Build, splits: bool = False) -> ConversationBuilder:
    builder = ConversationBuilder(splits_results=splits)
    for step in steps:
        step(builder)
    return builder


@pytest.mark.parametrize(
    ("steps", "turns", "repairs"),
    [
        ([q(), r()], (Q, R), ()),
        ([r(), q(), r()], (Q, R), ("leading-assistant",)),
        ([r(None, F), res("5"), q(), r()], (Q, R), ("leading-assistant",)),
        ([q("a", k=1, m=1), q("b", k=2), r()], (UserTurn("a\n\nb", {"k": 2, "m": 1}), R), ("merge-user",)),
        ([q(), r("a"), r("b")], (Q, AssistantTurn("a\n\nb")), ("merge-assistant",)),
        ([q(), r("a"), r(None, F)], (Q, calls(F, text="a")), ("merge-assistant",)),
        ([q(), r(None, F), r(None, G)], (Q, calls(F, G)), ("merge-calls",)),
        (
            [q(), r(None, F), r(None, G), res("5"), res("6"), r()],
            (Q, calls(F, G), results("5", "6"), R),
            ("merge-calls",),
        ),
        ([q(), r(None, F), r("a"), r("b")], (Q, calls(F)), ("text-after-call",)),
        ([q(), r(None, F), r("a"), q(), r()], (Q, calls(F), Q, R), ("text-after-call",)),
        (
            [q(), r("a", learned=False, extras={"k": 1, "m": 1}), r("b", learned=False, extras={"k": 2})],
            (Q, AssistantTurn("a\n\nb", (), False, {"k": 2, "m": 1})),
            ("merge-assistant",),
        ),
        ([q(), r("a", learned=False), r("b")], (Q, AssistantTurn("a\n\nb")), ("merge-assistant",)),
        ([q(), r("a"), r("b", learned=False)], (Q, AssistantTurn("a\n\nb")), ("merge-assistant",)),
        ([q(), r(), q()], (Q, R), ("trailing-turns",)),
        ([q(), r(None, F), res("5")], (Q, calls(F)), ("trailing-turns",)),
        ([q(), r(None, F), res("5"), q()], (Q, calls(F)), ("trailing-turns",)),
        (
            [q(), r(None, F, G), res("5", "b", k=1), res("6", "a"), r()],
            (Q, calls(F, G), ResultTurn((ObservedResult("6"), ObservedResult("5", {"k": 1}))), R),
            (),
        ),
        ([q(), r(None, F, F), res("5", "a"), res("6", "a"), r()], (Q, calls(F, F), results("5", "6"), R), ()),
        ([q(), r(None, F, G), res("5", "b"), res("6"), r()], (Q, calls(F, G), results("5", "6"), R), ()),
        ([q(), r(None, F), res("5", "a"), r()], (Q, calls(F), results("5"), R), ()),
        ([q(), r(None, F), res("5", ""), r()], (Q, calls(F), results("5"), R), ()),
    ],
)
def test_turns_are_joined_and_dropped(
    steps: list[Build], turns: tuple[TrainingTurn, ...], repairs: tuple[str, ...]
):
    builder = built(*steps)
    assert builder.finish() == turns
    assert builder.repairs == repairs
    assert set(repairs) <= ROW_REPAIRS.keys()
