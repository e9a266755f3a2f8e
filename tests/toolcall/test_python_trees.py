"""Texts of Python that several threads read at once."""

import ast
import gc
import sys
import threading
from collections.abc import Iterator

import pytest

from wildtool.toolcall.python_trees import python_tree

TEXT = "+".join(["f(a=[1, 2, (3, 4)], b={'k': g(1)})"] * 100)


class Slow:
    """Takes its time when it is collected, so that other threads go on in the middle of a tree."""

    def __del__(self) -> None:
        for _ in range(100):
            pass


@pytest.fixture
def busy() -> Iterator[None]:
    interval, thresholds = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-5)
    gc.set_threshold(50)
    yield
    sys.setswitchinterval(interval)
    gc.set_threshold(*thresholds)


def test_threads_that_read_at_once_all_get_the_whole_tree(busy: None):
    expected = ast.dump(ast.parse(TEXT))
    found: list[bool] = []

    def read() -> None:
        for _ in range(10):
            found.append(ast.dump(python_tree(TEXT, "exec")) == expected)

    def collect() -> None:
        for _ in range(2_000):
            slow = Slow()
            vars(slow)["itself"] = slow

    threads = [threading.Thread(target=target) for target in (read, read, read, collect)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 30


@pytest.mark.parametrize("text", ["(", "f(", "a b", "x = 1"])
def test_what_is_no_expression_is_an_error_of_syntax(text: str):
    with pytest.raises(SyntaxError):
        python_tree(text, "eval")


def test_what_is_nested_too_deeply_is_said_to_be():
    with pytest.raises((RecursionError, MemoryError, SyntaxError)):
        python_tree("(" * 5_000 + ")" * 5_000, "eval")
