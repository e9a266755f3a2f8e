"""What is asked of the process of BFCL's simulated classes: here one that answers at once, without a process."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from wildtool.benchmarks.bfcl import simulated as beside
from wildtool.benchmarks.bfcl.simulated import FORCES, READINGS, STOPPED_CALL, SimulatedApis, WorkerEndedError
from wildtool.errors import DataError
from wildtool.toolcall.call_syntax import MAX_CALL_CHARACTERS


class Process(beside.Worker):
    """Keeps what it is asked; its instances are the calls they took, and `end()` ends it."""

    def __init__(self) -> None:
        super().__init__("v4")
        self.asked: list[Any] = []
        self.calls: dict[int, list[str]] = {}
        self.failures: list[str] = []
        """Names of requests at which it ends once each."""

    def start(self) -> None:
        if not self.generation:
            self.generation = 1

    def ask(self, requests: Sequence[Sequence[Any]]) -> list[Any]:
        requests = json.loads(json.dumps(requests))
        self.asked.append([[*request] for request in requests])
        answers: list[Any] = []
        for name, *arguments in requests:
            if name in self.failures:
                self.failures.remove(name)
                raise self._ended()
            answers.append(getattr(self, f"_{name}")(*arguments))
        return answers

    def _ended(self) -> WorkerEndedError:
        self.generation += 1
        self.calls.clear()
        return WorkerEndedError()

    def _make(self, number: int, modules: Any, config: Any, long_context: bool) -> str | None:
        self.calls[number] = []
        return "initial_config of MathAPI: x" if "broken" in str(config) else None

    def _run(self, number: int, calls: list[str], unchanged: list[str]) -> list[str]:
        if "end()" in calls:
            raise self._ended()
        self.calls[number] += calls
        return ['{"folder": "/home"}' if call == "pwd()" else f"did {call}" for call in calls]

    def _compare(self, number: int, other: int, hidden: list[str]) -> list[Any]:
        return [] if self.calls[number] == self.calls[other] else [["MathAPI", ["calls"]]]

    def _states(self, number: int) -> Any:
        values = {"name": "x", "size": 2, "weight": 0.5, "open": True, "parts": [1], "none": None}
        return {"MathAPI": values, "GorillaFileSystem": {"long_context": True, "depth": 3}}

    def _memory(self, number: int) -> Any:
        return {"kept": {"core": 1}, "shown": "text"}


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch) -> Process:
    own = Process()
    monkeypatch.setattr(beside, "_worker", lambda version, process: own)
    return own


def test_instances_are_made_once_and_where_the_process_has_changed(process: Process) -> None:
    apis = SimulatedApis(
        ["TwitterAPI", "MathAPI"], {"MathAPI": {"a": 1}, "Other": {}}, long_context=True, steady=True
    )
    number = apis._number  # pyright: ignore[reportPrivateUsage]
    assert apis.execute(["one()", "two()"]) == ["did one()", "did two()"]
    assert apis.execute(["three()"]) == ["did three()"]
    process.generation += 1
    assert apis.execute([]) == []
    make = [
        "make",
        number,
        {"TwitterAPI": "posting_api", "MathAPI": "math_api"},
        {"MathAPI": {"a": 1}},
        True,
    ]
    steady = [*READINGS]
    assert process.asked == [
        [make, ["run", number, [], steady], ["run", number, ["one()", "two()"], steady]],
        [["run", number, ["three()"], steady]],
        [make, ["run", number, ["one()", "two()", "three()"], steady], ["run", number, [], steady]],
    ]


def test_a_call_longer_than_is_read_is_sent_as_none(process: Process) -> None:
    longest = "x" * MAX_CALL_CHARACTERS
    apis = SimulatedApis(["MathAPI"], {})
    apis.execute([longest, f"{longest}x"])
    assert process.asked[0][2] == ["run", apis._number, [longest, ""], []]  # pyright: ignore[reportPrivateUsage]
    assert process.asked[0][0][3:] == [{}, False]


def test_a_call_at_which_the_process_ends_has_no_effect(process: Process) -> None:
    apis = SimulatedApis(["MathAPI"], {})
    assert apis.execute(["one()", "end()", "two()"]) == ["did one()", STOPPED_CALL, "did two()"]
    assert apis.execute(["end()"]) == [STOPPED_CALL]
    assert apis.execute(["three()"]) == ["did three()"]
    assert [*process.calls.values()] == [["one()", "two()", "three()"]]


def test_turns_are_compared_one_by_one_where_the_process_ends_in_one(process: Process) -> None:
    truth, apis = SimulatedApis(["MathAPI"], {}), SimulatedApis(["MathAPI", "TicketAPI"], {})
    numbers = [each._number for each in (apis, truth)]  # pyright: ignore[reportPrivateUsage]
    turns = [(["one()"], ["one()"]), ([], ["two()"])]
    expected = [(["did one()"], ["did one()"], []), ([], ["did two()"], [["MathAPI", ["calls"]]])]
    assert apis.beside(truth, turns, hidden=True) == expected
    (asked,) = process.asked
    assert [request[0] for request in asked] == ["make", "run"] * 2 + ["run", "run", "compare"] * 2
    assert [request for request in asked if request[0] == "compare"] == [["compare", *numbers, [*FORCES]]] * 2
    apis, truth = SimulatedApis(["MathAPI", "TicketAPI"], {}), SimulatedApis(["MathAPI"], {})
    assert apis.beside(truth, [(["end()"], []), *turns], hidden=False) == [
        ([STOPPED_CALL], [], []),
        *expected,
    ]
    assert process.asked[-1][-1][3] == []
    process.failures = ["compare"] * 2
    slow = [
        ("MathAPI", ["what takes too long to compare"]),
        ("TicketAPI", ["what takes too long to compare"]),
    ]
    assert apis.beside(truth, [([], ["x()"])], hidden=False) == [([], ["did x()"], slow)]


def test_what_holds_is_named_by_class(process: Process) -> None:
    process.failures = ["states"]
    facts = {"MathAPI name": "x", "MathAPI size": 2, "MathAPI weight": 0.5, "MathAPI open": True}
    facts["GorillaFileSystem depth"] = 3
    assert SimulatedApis(["MathAPI"], {}).facts() == facts
    assert SimulatedApis(["GorillaFileSystem"], {}).facts() == {**facts, "GorillaFileSystem folder": "/home"}
    process.failures = ["memory"]
    assert SimulatedApis(["MemoryAPI_kv"], {}).memory() == ({"core": 1}, "text")
    process.failures = ["memory"] * 2
    with pytest.raises(WorkerEndedError):
        SimulatedApis(["MemoryAPI_kv"], {}).memory()


def test_the_instances_that_are_no_longer_needed_are_dropped(process: Process) -> None:
    apis = SimulatedApis(["MathAPI"], {})
    number = apis._number  # pyright: ignore[reportPrivateUsage]
    assert process.dropped == []
    del apis
    assert process.dropped == [number]


def test_a_scenario_that_cannot_be_loaded_is_named(process: Process) -> None:
    with pytest.raises(DataError, match=r"^initial_config of MathAPI: x$"):
        SimulatedApis(["MathAPI"], {"MathAPI": "broken"}).execute([])
