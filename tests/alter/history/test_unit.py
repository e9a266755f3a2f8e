"""One task of a session after the model's own: what it is shown, what follows its verdict, and what is said of it."""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from wildtool.alter.history.history import OwnHistory
from wildtool.alter.history.own_history import OwnHistoryUnit
from wildtool.alter.history.settings import Unrecorded
from wildtool.alter.tool_answers import TOOLS_PLAYER, TOOLS_PLAYER_ROLE
from wildtool.errors import UsageError
from wildtool.types import Item, Message, Request, Role, Tool

TOOLS: list[Tool] = [{"type": "function", "function": {"name": name}} for name in ("get", "set")]
SYSTEM: Message = {"role": "system", "content": "s"}


def _own_run(unit: str, replies: Sequence[Message]) -> list[Message]:
    return [{"role": "user", "content": f"task {unit}"}, *replies]


def _result(unit: str, name: str, arguments: Any) -> str | None:
    return '{"degrees": 14}' if (name, arguments) == ("get", '{"day": 1}') else None


RECORD: Any = SimpleNamespace(
    own_run=_own_run,
    result=_result,
    results=lambda unit, name: [{"degrees": 3}] if name == "get" else [],  # type: ignore[reportUnknownLambdaType]
    missing=lambda unit, messages: [] if "degrees" in str(messages) else ["14"],  # type: ignore[reportUnknownLambdaType]
    history=lambda unit: {"0": slice(1, 3)} if unit == "1" else {},  # type: ignore[reportUnknownLambdaType]
)


def unit(
    name: str = "0",
    earlier: Mapping[str, OwnHistoryUnit] | None = None,
    unrecorded: Unrecorded = Unrecorded.refuse,
    lang: str = "en",
) -> OwnHistoryUnit:
    return OwnHistoryUnit(unrecorded, RECORD, Item("i", ("0", "1"), None, lang=lang), name, earlier or {})


def says(text: Any) -> Message:
    return {"role": "assistant", "content": text}


def called(*calls: tuple[Any, Any], content: Any = None) -> Message:
    listed = [
        {"id": f"own{n}", "function": {"name": name, "arguments": text}}
        for n, (name, text) in enumerate(calls)
    ]
    return {"role": "assistant", "content": content, "tool_calls": listed}


def answered(played: OwnHistoryUnit, reply: Message, *messages: Message) -> list[Message]:
    """What the model is shown that gives this reply."""
    exchange = played.exchange(Request([SYSTEM, *messages], TOOLS))
    shown = next(exchange)
    with pytest.raises(StopIteration):
        exchange.send(reply)
    return [*shown.messages]


def ended(played: OwnHistoryUnit, *replies: Message) -> list[Request]:
    """What is asked after the verdict, and answered by these."""
    afterwards, asked = played.afterwards(), list[Request]()
    try:
        asked.append(next(afterwards))
        for reply in replies:
            asked.append(afterwards.send(reply))
    except StopIteration:
        return asked
    pytest.fail("it asks more")


def test_reasoning_is_shown_with_the_calls_of_its_own_task_alone() -> None:
    first = unit()
    details: Message = {"reasoning_details": [{"type": "reasoning.text", "text": "hm"}]}
    answered(first, {**called(("get", '{"day": 1}')), **details})
    (asked, again) = ended(first, {**called(("get", '{"day": 2}')), "reasoning": "so"}, says("Fine."))
    thoughts = [message for message in again.messages if message["role"] == "assistant"]
    assert asked.messages[1].items() >= details.items() and thoughts[0].items() >= details.items()
    assert thoughts[1]["reasoning"] == "so"
    assert not any(key.startswith("reasoning") for message in first.history for key in message)


@pytest.mark.parametrize(
    ("unrecorded", "label", "folder", "roles"),
    [
        (Unrecorded.refuse, "own", ["history-own"], {}),
        (
            Unrecorded.simulate,
            "own, unrecorded calls simulated",
            ["history-own", "simulate"],
            {TOOLS_PLAYER: TOOLS_PLAYER_ROLE},
        ),
    ],
)
def test_a_run_says_what_becomes_of_calls_that_are_not_recorded(
    unrecorded: Unrecorded, label: str, folder: list[str], roles: dict[str, Role]
) -> None:
    history = OwnHistory(unrecorded)
    assert (history.label, history.folder_parts, history.played_roles) == (label, folder, roles)
    assert history.identity() == {"history": {"own": unrecorded.value}}
    assert OwnHistory.recorded(history.identity()) == history
    with pytest.raises(UsageError, match="follows from the rules of a benchmark"):
        history.unit(Item("i", ("0",), None), "0")
