"""Functions as models: what tells one from another, so that none is given the replies of another."""

import inspect
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import wildtool as wt
from wildtool.errors import UsageError
from wildtool.models.function import CallableModel, _parts  # pyright: ignore[reportPrivateUsage]

KEPT = ["x"]
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


def keywords(messages: Any, tools: Any, *, text: str = "a") -> str:
    return text


def unbound() -> Callable[[Any, Any], Any]:
    def answer(messages: Any, tools: Any) -> Any:
        return later  # pyright: ignore

    if not answer:
        later = 1
    return answer


def around(value: Any) -> list[Any]:
    loop = [value]
    loop.append(loop)
    return loop


TEXTS = {each: inspect.getsource(each) for each in (keywords, with_text, Client, Client.answer)}
UNBOUND = unbound()


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        *((value, value) for value in (None, "a", b"a", 1, 1.5, 1j, True)),
        ([1, (2, [3])], [1, [2, [3]]]),
        ({"b", "a", 1}, ["'a'", "'b'", "1"]),
        (frozenset({(1, 2)}), ["[1, 2]"]),
        ({"k": [1], 2: {"x"}}, [("'k'", [1]), ("2", ["'x'"])]),
        (around(5), [5, "…"]),
        # Only what it is within refers to itself.
        ([KEPT, KEPT], [["x"], ["x"]]),
        (keywords, [TEXTS[keywords], None, None, [("'text'", "a")], []]),
        (by_default("b"), [inspect.getsource(by_default("b")), None, ["b"], None, []]),
        (answering("b"), [inspect.getsource(answering("b")), None, None, None, ["b"]]),
        (UNBOUND, [inspect.getsource(UNBOUND), None, None, None, []]),
        (
            partial(with_text, "b", tools=[]),
            [[TEXTS[with_text], None, None, None, []], ["b"], [("'tools'", [])]],
        ),
        (Client, TEXTS[Client]),
        (int, "int"),
        (Client("b"), [TEXTS[Client], [("'text'", "b")]]),
        (
            Client("b").answer,
            [[TEXTS[Client], [("'text'", "b")]], [TEXTS[Client.answer], None, None, None, []]],
        ),
        (len, ["builtin_function_or_method", []]),
    ],
)
def test_a_model_is_told_by_the_parts_of_its_function(value: Any, parts: Any) -> None:
    assert _parts(value, set()) == parts


def test_code_counts_where_a_text_does_not_tell() -> None:
    text, (code, names, constants), *bound = _parts(first, set())
    assert (text, code, names) == (inspect.getsource(first), first.__code__.co_code, ())
    assert constants[-1] == "ab"
    assert bound == [None, None, []]
    written: dict[str, Any] = {}
    exec("def answer(messages, tools): return 'here'", written)
    text, (code, _, constants), *_ = _parts(written["answer"], set())
    assert (text, code, constants[-1]) == ("", written["answer"].__code__.co_code, "here")


def test_a_function_is_named_and_described_by_its_digest() -> None:
    digest = sha256(repr(_parts(keywords, set())).encode()).hexdigest()
    model = CallableModel(keywords)
    assert model.name == f"function/keywords-{digest[:8]}"
    assert model.settings() == {"function": "keywords", "code_sha256": digest}
    assert CallableModel(first).settings()["function"] == "lambda"
    for wrong in (5, lambda messages: 1, int):
        with pytest.raises(UsageError, match=r"^model=.* must be a function of \(messages, tools\): "):
            CallableModel(wrong)  # pyright: ignore


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
