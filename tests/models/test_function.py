"""Functions as models: what tells one from another, so that none is given the replies of another."""

import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import wildtool as wt
from wildtool.errors import UsageError
from wildtool.models.function import CallableModel  # pyright: ignore[reportPrivateUsage]

first, second = (lambda messages, tools: "a" + "b"), (lambda messages, tools: "a" * 2)


def answering(text: str) -> Callable[[Any, Any], str]:
    def answer(messages: Any, tools: Any) -> str:
        return text

    return answer


def by_default(text: str) -> Callable[..., str]:
    def answer(messages: Any, tools: Any, text: str = text) -> str:
        return text

    return answer


def with_text(text: str, messages: Any, tools: Any) -> str:
    return text


class Client:
    def __init__(self, text: str) -> None:
        self.text = text

    def __call__(self, messages: Any, tools: Any) -> str:
        return self.text

    def answer(self, messages: Any, tools: Any) -> str:
        return self.text


def wrapped(inner: Callable[[Any, Any], str]) -> Callable[[Any, Any], str]:
    return lambda messages, tools: inner(messages, tools)


WAYS: dict[str, Callable[[str], Callable[..., str]]] = {
    "closure": answering,
    "default": by_default,
    "partial": lambda text: partial(with_text, text),
    "object": Client,
    "method": lambda text: Client(text).answer,
    "function in a closure": lambda text: wrapped(answering(text)),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
def test_another_value_is_another_model(way: Callable[[str], Callable[..., str]]) -> None:
    assert CallableModel(way("a")).name != CallableModel(way("b")).name
    assert CallableModel(way("a")).name == CallableModel(way("a")).name


def test_two_functions_on_one_line_are_two_models() -> None:
    assert CallableModel(first).name != CallableModel(second).name


def test_a_function_that_refers_to_itself_has_a_name() -> None:
    client = Client("a")
    client.__dict__["self"] = client
    assert CallableModel(client).name.startswith("function/Client-")


def test_every_process_gives_the_same_name(tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text(
        "from wildtool.models.function import CallableModel\n"
        "def answer(messages, tools, words={'a', 'b', 'c'}):\n"
        "    inner = lambda text: text in {'x', 'y', 'z'}\n"
        "    return str(inner(messages[0]['content']))\n"
        "print(CallableModel(answer).name)\n"
    )
    first, other = (
        subprocess.run(
            [sys.executable, file],
            check=True,
            capture_output=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "4")  # by which both sets have another order
    )
    assert first == other


def test_models_that_cannot_be_told_apart_are_refused_together() -> None:
    with pytest.raises(UsageError, match=r"two of them are called function/answer-.*rename one or change"):
        wt.run("wild-mini", model=[answering("a"), answering("a")], limit=1)
