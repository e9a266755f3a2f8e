"""The screens of docs/first-hour.md are those that the commands leave today, and each scene names its cause also at a
server with a second fault."""

import runpy
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from wildtool.types import Message

PAGE = Path(__file__).resolve().parents[2] / "docs" / "first-hour.md"
SCENES = runpy.run_path(str(PAGE.with_name("first_hour.py")))
Answered = tuple[int, dict[str, Any]]
Fault = Callable[[Answered, Sequence[Message]], Answered]
"""What a second fault makes of an answer to these messages."""


@pytest.mark.long
def test_the_screens_of_the_first_hour_are_todays():
    page = PAGE.read_text(encoding="utf-8")
    assert SCENES["written"](page, SCENES["screens"]()) == page


def in_calls(scene: str) -> Fault:
    def change(answered: Answered, messages: Sequence[Message]) -> Answered:
        status, body = answered
        if status != 200 or body["choices"][0]["finish_reason"] == "length":
            return answered  # arguments that are cut off are no JSON to encode otherwise
        message = body["choices"][0]["message"]
        _, changed = SCENES["SCENES"][scene][0](1, message, messages)
        reason = body["choices"][0]["finish_reason"]
        return SCENES["completion"](changed["choices"][0]["message"], reason)

    return change


def in_histories(scene: str) -> Fault:
    def change(answered: Answered, messages: Sequence[Message]) -> Answered:
        status, body = SCENES["SCENES"][scene][0](1, {"content": "Fine."}, messages)
        return answered if status == 200 else (status, body)

    return change


CAUSES = {
    "dies": ("http 503", "run the same command"),
    "no-parser": ("as text", "--tool-format hermes"),
    "cut": ("cut off at a token limit", "--max-tokens"),
    "context": ("serve the model with a longer context",),
    "quota": ("no quota left",),
}
FAULTS: dict[str, tuple[Fault, Sequence[str]]] = {
    "objects": (in_calls("objects"), ("an object",)),
    "thinking": (in_histories("thinking"), ("an empty reasoning",)),
    "thinking-strict": (in_histories("thinking-strict"), ("empty reasoning, too", "cannot help")),
    "results": (in_histories("results"), ("refuses every request with a result of a tool",)),
    "twice": (in_calls("twice"), ("encoded twice",)),
}
UNSEEN = {("no-parser", "objects"), ("no-parser", "twice"), *(("quota", fault) for fault in FAULTS)}
"""Scenes in which the second fault has no place: calls that stay in a text have no arguments, an empty account gives no
answer."""


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("scene", CAUSES)
def test_each_scene_names_its_cause_and_that_of_a_second_fault(scene: str, fault: str, tmp_path: Path):
    answer, options = SCENES["SCENES"][scene]
    change, words = FAULTS[fault]

    def both(number: int, gold: Message, messages: Sequence[Message]) -> Answered:
        return change(answer(number, gold, messages), messages)

    with SCENES["serving"](both, SCENES["gold_answers"]()) as address:
        options = options if "--retries" in options else f"--retries 1 {options}"
        command = f"wildtool run wild-mini -m my-model --base-url {SCENES['_BASE']} -j 1 {options} -o run"
        screen = " ".join(SCENES["_screen"](command, address, tmp_path).split())
    for cause in (*CAUSES[scene], *(() if (scene, fault) in UNSEEN else words)):
        assert cause in screen
