"""What the process of BFCL's simulated classes does, in this one and with small classes of its own."""

import io
import json
import os
import random
import resource
import signal
import sys
import warnings
import zlib
from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import datetime
from types import ModuleType
from typing import Any

import pytest

from wildtool.benchmarks.bfcl.simulated import worker

FAILED = "Error during execution: "
STEADY = ["draw"]


class Box:
    """Has a scenario, random numbers, and a default that calls change."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self._force = 0
        self._random = random.Random(1)

    def _load_scenario(self, scenario: Mapping[str, Any], long_context: bool = False) -> None:
        self.items = [*scenario.get("items", [])]
        self.long_context = long_context
        if scenario.get("broken"):
            raise KeyError("lid")

    def put(self, item: Any, beside: list[Any] = []) -> Mapping[str, Any]:  # noqa: B006
        beside.append(item)
        self.items.append(item)
        return {"items": self.items, "beside": beside}

    def show(self, *parts: Any, **named: Any) -> str:
        return repr((parts, named))

    def push(self, force: int) -> None:
        self._force = force

    def draw(self) -> float:
        return self._random.random()

    def text(self, size: int) -> str:
        return "x" * size

    def odd(self) -> Any:
        return {1: {2}}

    def ordered(self) -> Any:
        return OrderedDict(a=1)

    @staticmethod
    def helper() -> str:
        return "no tool"


class Pen:
    """Has no scenario, and a tool of the other class's name."""

    def __init__(self) -> None:
        self.colour = "red"

    def text(self, size: int) -> str:
        self.colour = "blue"
        return f"written {size}"


@pytest.fixture(autouse=True)
def timers(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, float]]:
    """The limits of processor time that were set; none is in force here."""
    package, module = ModuleType("small_classes"), ModuleType("small_classes.things")
    vars(module).update(Box=Box, Pen=Pen)
    monkeypatch.setitem(sys.modules, "small_classes", package)
    monkeypatch.setitem(sys.modules, "small_classes.things", module)
    monkeypatch.setattr(worker, "PLACE", "small_classes")
    times: list[tuple[int, float]] = []
    monkeypatch.setattr(signal, "setitimer", lambda timer, seconds: times.append((timer, seconds)))
    return times


def instances(*names: str, **scenario: Any) -> worker.Instances:
    return worker.Instances(dict.fromkeys(names or ("Box",), "things"), {"Box": scenario}, True)


@pytest.mark.parametrize(
    ("call", "shown"),
    [
        ("show(1, -2.5, 'a', None, True)", "((1, -2.5, 'a', None, True), {})"),
        ("show(*[1, 2], 3, **{'a': 4}, b=5, **{'c': 6})", "((1, 2, 3), {'a': 4, 'b': 5, 'c': 6})"),
        ("show([1, *(2, 3)], (4, *[5]), {6})", "(([1, 2, 3], (4, 5), {6}), {})"),
        ("show({'a': 1, **{'a': 2, 'b': 3}})", "(({'a': 2, 'b': 3},), {})"),
        ("show(show(1), len([1, 2]), max(3, 4))", "(('((1,), {})', 2, 4), {})"),
        ("show (a=len)", "((), {'a': <built-in function len>})"),
        ("\t show()", "((), {})"),
        ("show('é (x)', 'b  (y)')", "(('é (x)', 'b(y)'), {})"),
        ("push(1)", "None"),
        ("(1, 2)", "(1, 2)"),
        ("put(1)", '{"items": ["first", 1], "beside": [1]}'),
        ("odd()", "{1: {2}}"),
        ("ordered()", str(OrderedDict(a=1))),
        ("text(3)", "xxx"),
        ("text(1000000)", "x" * 1_000_000),
        ("text(1000001)", f"{FAILED}the result is too long"),
        ("helper()", f"{FAILED}name 'helper' is not defined"),
        ("_load_scenario({})", f"{FAILED}name '_load_scenario' is not defined"),
        ("box.show()", f"{FAILED}name 'box' is not defined"),
        ("len.show()", f"{FAILED}expected a value or a call of a tool, found Attribute"),
        ("1 + x", f"{FAILED}expected a value or a call of a tool, found BinOp"),
        ("x + 1", f"{FAILED}name 'x' is not defined"),
        ("x < 1", f"{FAILED}name 'x' is not defined"),
        ("x[0]", f"{FAILED}name 'x' is not defined"),
        ("len[0]", f"{FAILED}expected a value or a call of a tool, found Subscript"),
        ("not 1", f"{FAILED}expected a value or a call of a tool, found UnaryOp"),
        ("lambda: 1", f"{FAILED}expected a value or a call of a tool, found Lambda"),
        ("show(a=1, a=2)", f"{FAILED}keyword argument repeated: a (<string>, line 1)"),
        ("show(", f"{FAILED}'(' was never closed (<string>, line 1)"),
        ("*(1, 2)", f"{FAILED}invalid syntax (<string>, line 1)"),
        ("kill(1)", f"{FAILED}Function call kill is not allowed."),
        ("os.popen(1)", f"{FAILED}Function call popen is not allowed."),
        ("draw(1)", f"{FAILED}Box.draw() takes 1 positional argument but 2 were given"),
    ],
)
def test_a_call_is_read_and_shown(call: str, shown: str) -> None:
    assert instances(items=["first"]).run(call, STEADY) == shown
    assert not worker.Guard.is_up


def test_a_steady_reading_leaves_the_random_numbers_as_they_are() -> None:
    numbers = random.Random(1)
    first, second = str(numbers.random()), str(numbers.random())
    box = instances()
    assert [box.run("draw()", unchanged) for unchanged in (STEADY, STEADY, [], [])] == [
        first,
        first,
        first,
        second,
    ]
    assert instances("Pen").run("draw()", STEADY) == f"{FAILED}name 'draw' is not defined"


def test_what_holds_itself_equals_nothing_expected() -> None:
    truth, model = instances(), instances()
    for each in (truth, model):
        each.by_class["Box"].items.append(each.by_class["Box"].items)
    assert [*worker._differing(model, truth, [])] == [("Box", ["items"])]  # pyright: ignore[reportPrivateUsage]


def test_a_memory_is_what_it_keeps_and_what_it_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    class Store:
        def export(self) -> list[str]:
            return ["one"]

    class Memory:
        def __init__(self) -> None:
            self.core_memory, self.archival_memory, self.other = Store(), {"a": 1}, 2

        def _dump_core_memory_to_context(self) -> str:
            return "shown"

    monkeypatch.setattr(sys.modules["small_classes.things"], "Memory", Memory, raising=False)
    requests = [["make", 1, {"Memory": "things"}, {}, False], ["memory", 1]]
    assert [*worker.results_of({"drop": [], "do": requests}, {})] == [
        None,
        {"kept": {"core_memory": ["one"], "archival_memory": {"a": 1}}, "shown": "shown"},
    ]


def test_texts_are_vectors_of_their_words() -> None:
    encoder = worker.WordEncoder("model", device="cpu")
    assert encoder.get_sentence_embedding_dimension() == 4096
    vectors = encoder.encode(["b A, a A", "", "\ud800"], show_progress_bar=False)
    assert vectors.shape == (3, 4096) and vectors.dtype == "float32"
    places = {word: zlib.crc32(word.encode()) % 4096 for word in ("a", "b")}
    assert {place: round(float(vectors[0][place]), 4) for place in vectors[0].nonzero()[0]} == {
        places["a"]: 0.9487,
        places["b"]: 0.3162,
    }
    assert not vectors[1:].any()


def test_vectors_are_looked_for_best_first() -> None:
    import numpy

    index = worker.WordIndex(4)
    index.add_with_ids(numpy.array([[0.0, 1.0], [1.0, 0.0]]), numpy.array([3, 5]))
    index.add_with_ids(numpy.array([[1.0, 0.0], [0.5, 0.0]]), numpy.array([4, 6]))
    query = numpy.array([[1.0, 0.25]])
    assert index.search(query, 3) == ([[1.0, 1.0, 0.5]], [[5, 4, 6]])
    index.remove_ids(numpy.array([5, 9]))
    assert index.search(query, 9) == ([[1.0, 0.5, 0.25]], [[4, 6, 3]])
    index.reset()
    assert index.search(query, 9) == ([[]], [[]])


@pytest.mark.parametrize(
    ("event", "is_refused"),
    [
        *((name, True) for name in ("open", "import", "socket.connect", "subprocess.Popen", "shutil.move")),
        *((name, True) for name in ("os.remove", "ctypes.dlopen", "exec", "pty.spawn", "urllib.Request")),
        ("compile", False),
        ("builtins.id", False),
    ],
)
def test_events_are_refused_while_a_call_runs(
    event: str, is_refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker.Guard.refuse(event, ())
    monkeypatch.setattr(worker.Guard, "is_up", True)
    if is_refused:
        with pytest.raises(PermissionError, match=f"^{event} is not allowed$"):
            worker.Guard.refuse(event, ())
    else:
        worker.Guard.refuse(event, ())


@pytest.mark.parametrize("has_memories", [True, False])
def test_the_process_gives_up_what_its_classes_must_not_do(
    has_memories: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class MemoryAPI: ...

    travel, memories = (
        ModuleType("small_classes.travel_booking"),
        ModuleType("small_classes.memory_api_metaclass"),
    )
    vars(memories)["MemoryAPI"] = MemoryAPI
    names = ("bfcl_eval.utils", "sentence_transformers", "faiss")
    for name in names:
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "small_classes.travel_booking", travel)
    if has_memories:
        monkeypatch.setitem(sys.modules, "small_classes.memory_api_metaclass", memories)
    monkeypatch.setattr(sys, "path", places := [*sys.path])
    limits: list[tuple[int, tuple[int, int]]] = []

    def set_limit(which: int, limit: tuple[int, int]) -> None:
        limits.append((which, limit))
        if which == resource.RLIMIT_AS:
            raise OSError

    hooks: list[Callable[..., None]] = []
    monkeypatch.setattr(resource, "setrlimit", set_limit)
    monkeypatch.setattr(sys, "addaudithook", hooks.append)
    worker.prepare("the package")
    assert places[0] == "the package" and sys.path is places
    assert limits == [
        (resource.RLIMIT_FSIZE, (0, 0)),
        (resource.RLIMIT_CORE, (0, 0)),
        (resource.RLIMIT_AS, (1 << 30, 1 << 30)),
    ]
    assert hooks == [worker.Guard.refuse]
    assert vars(travel)["datetime"].today() == datetime(2026, 3, 23)
    stubs = [
        {key: value for key, value in vars(sys.modules[name]).items() if key[0] != "_"} for name in names
    ]
    assert stubs == [
        {
            "get_directory_structure_by_id": None,
            "is_first_memory_prereq_entry": None,
            "is_memory_prereq": None,
        },
        {"SentenceTransformer": worker.WordEncoder},
        {"IndexFlatIP": worker.WordIndex, "IndexIDMap": worker.WordIndex},
    ]
    if has_memories:
        prepared: Any = vars(MemoryAPI)["_prepare_snapshot"]
        assert [prepared(None, config) for config in ({}, {"a": 1})] == [None, {"a": 1}]


def test_messages_are_answered_line_by_line(monkeypatch: pytest.MonkeyPatch) -> None:
    class Input:
        buffer = io.BytesIO(
            b'{"drop": [], "do": [["make", 1, {"Pen": "things"}, {}, false]]}\n'
            b'{"drop": [], "do": [["run", 1, ["text(1)"], []], ["states", 1]]}\n'
        )

    reading, writing = os.pipe()
    redirected: list[int] = []
    packages: list[str] = []
    signals: list[Any] = []
    monkeypatch.setattr(sys, "stdin", Input)
    monkeypatch.setattr(sys, "path", ["a"])
    monkeypatch.setattr(sys, "argv", ["worker.py", "the package", "a", "b"])
    # The place of pytest's own output is not touched.
    with monkeypatch.context() as patch, warnings.catch_warnings():
        patch.setattr(os, "dup", {1: writing}.__getitem__)
        patch.setattr(os, "dup2", lambda opened, place: (os.close(opened), redirected.append(place)))
        patch.setattr(signal, "signal", lambda *pair: signals.append(pair))
        patch.setattr(worker, "prepare", packages.append)
        worker.main()
    with os.fdopen(reading, "rb") as answers:
        assert [json.loads(line) for line in answers] == [
            [None],
            [["written 1"], {"Pen": {"colour": "blue"}}],
        ]
    assert (packages, redirected, sys.path) == (["the package"], [1], ["a", "b"])
    assert signals == [(signal.SIGINT, signal.SIG_IGN)]
