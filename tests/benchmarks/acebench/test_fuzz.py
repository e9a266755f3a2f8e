"""Judging ACEBench takes any reply: it never raises, and nothing that a model wrote is evaluated, imported or opened."""

import ast
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.acebench.hostile import MESSAGES, TEXTS, calling, items
from wildtool.benchmarks.acebench import ACEBENCH
from wildtool.benchmarks.acebench.sandbox import SANDBOX_CLASSES
from wildtool.types import Message, Reply, Transcript, Verdict

ITEMS = items()
WAYS = [(profile, mode) for profile in ACEBENCH.profiles for mode in ACEBENCH.modes]
BARS = ("incomplete", "error_param", "irrelevant")
"""Records on which a hostile text may say what is asked for."""
TOOLS = sorted(
    {name for owner in SANDBOX_CLASSES.values() for name in dir(owner) if not name.startswith("_")}
)


def judge(
    name: str, replies: list[Message], profile: str = "official", mode: str = "text", *, silent: bool = True
) -> Verdict:
    transcript = Transcript(tuple(Reply(message) for message in replies), scripted=silent)
    (found,) = ACEBENCH.in_mode(mode).judge(ITEMS[name], {"0": transcript}, profile)
    return found


# What happens in the process ---------------------------------------------------------------------------

_seen: list[tuple[str, str]] | None = None
"""Events of the process while it is watched; a hook cannot be taken back, so it only looks when told to."""


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    global _seen
    if _seen is None:
        return
    events, _seen = _seen, None  # looking makes events too
    # To a syntax tree, which nothing runs, text may be compiled.
    if event != "compile" or sys._getframe(1).f_code is not ast.parse.__code__:
        events.append((event, repr(arguments)[:200]))
    _seen = events


@cache
def _begin_to_watch() -> None:
    sys.addaudithook(_watch)


@contextmanager
def watched() -> Generator[list[tuple[str, str]]]:
    """What Python's audit hooks report meanwhile: code that is run, imports, files, processes, sockets."""
    global _seen
    _begin_to_watch()
    events: list[tuple[str, str]] = []
    _seen = events
    try:
        yield events
    finally:
        _seen = None


@pytest.mark.parametrize(
    "code", ["eval('1')", "exec('1')", "open('.').close()", "__import__('this_is_nothing')"]
)
def test_the_watch_would_see_evaluation(code: str) -> None:
    with watched() as events, suppress(OSError, ImportError):
        exec(code)
    assert {"exec", "compile"} <= {event for event, _ in events}


@pytest.mark.long
@pytest.mark.parametrize("name", ITEMS)
@pytest.mark.parametrize("mode", ["text", "fc"])
@pytest.mark.parametrize("profile", ACEBENCH.profiles)
def test_judging_hostile_replies_runs_imports_and_opens_nothing(name: str, profile: str, mode: str) -> None:
    # What is imported where it is first used was written by us and is no business of this test.
    first = [judge(name, [message], profile, mode) for message in MESSAGES.values()]
    with watched() as events:
        again = [judge(name, [message], profile, mode) for message in MESSAGES.values()]
    assert not events
    assert again == first


# Nothing raises ----------------------------------------------------------------------------------------

_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(exclude_categories=()), max_size=20)
    | st.sampled_from(sorted(TEXTS.values(), key=len)[:80])
)
_JSON = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)
_NAMES = st.sampled_from(["f", "f.g", "", "__import__", *TOOLS])
_LITERALS = st.recursive(
    st.builds(repr, st.integers() | st.floats() | st.text(max_size=8) | st.binary(max_size=4) | st.none())
    | st.sampled_from(
        ["x", "x.y", "x[0]", "...", "9**9**9", "1/0", "'a'*10**10", "-1", "~True", "1<2", "not 1"]
    ),
    lambda inner: (
        st.builds("[{}, {}]".format, inner, inner)
        | st.builds("{{{}: {}}}".format, inner, inner)
        | st.builds("({},)".format, inner)
        | st.builds("{} + {}".format, inner, inner)
        | st.builds("g({}, k={})".format, inner, inner)
    ),
    max_leaves=6,
)
_ARGUMENTS = st.dictionaries(
    st.sampled_from(["a", "b", "user_id", "sender_name", "receiver_name", "message_id", "amount"]), _LITERALS
)


def _written(name: str, arguments: Mapping[str, str]) -> str:
    return f"{name}({', '.join(f'{key}={value}' for key, value in arguments.items())})"


_CALLS = st.builds(
    "[{}]".format, st.lists(st.builds(_written, _NAMES, _ARGUMENTS), max_size=3).map(", ".join)
)
_TEXT = (
    _CALLS
    | st.text(st.characters(exclude_categories=()), max_size=40)
    | st.text("[]{}()'\",=f a1.*-\\\n\0", max_size=40)
    | st.lists(
        st.sampled_from(["[", "]", "f(", ")", "a=", "'", "finish conversation", "\n", "</think>"])
    ).map("".join)
)
_SHAPES = st.fixed_dictionaries(
    {}, optional={"role": _JSON, "content": _TEXT | _JSON, "tool_calls": _JSON, "refusal": _JSON}
)
_NATIVE = st.builds(calling, _JSON, _NAMES | _JSON)
_MESSAGES = st.builds(lambda text: {"content": text}, _TEXT) | _SHAPES | _NATIVE


@pytest.mark.long
@pytest.mark.parametrize("name", ITEMS)
@given(st.lists(_MESSAGES, min_size=1, max_size=4), st.sampled_from(WAYS), st.booleans())
def test_no_replies_of_any_shape_make_judging_raise(
    name: str, replies: list[Message], way: tuple[str, str], silent: bool
) -> None:
    found = judge(name, replies, *way, silent=silent)
    assert found.outcome in (("correct", "wrong") if silent else ("correct", "wrong", "unplayed"))
    assert 0 <= found.score <= 1
    assert (found.error is None) == (found.outcome != "wrong")
    assert found.reason


THOUGHTS = {"many thoughts"}
"""Texts that end a thought before the gold answer."""
AROUND = {"many decorations", "many lines", "right to left"} | THOUGHTS
"""Texts whose first list is the gold answer."""
ALLOWED = {"official": AROUND, "official-2025-08": set[str](), "fixed": THOUGHTS}


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in ITEMS if name not in BARS])
@pytest.mark.parametrize("profile", ACEBENCH.profiles)
def test_no_hostile_text_is_right_but_what_surrounds_the_list_of_calls(name: str, profile: str) -> None:
    texts = {label: [{"content": text}] for label, text in TEXTS.items()}
    right = {label for label, said in texts.items() if judge(name, said, profile).outcome != "wrong"}
    assert right <= ALLOWED[profile]
