"""All workers together never get more than there is, and what one does not need reaches the others."""

from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from wildtool.scale.division import RATE, Allotment, Demand, Division

TOTAL = 100.0


@dataclass
class Spender:
    """A worker that makes calls of a price while it may."""

    price: float
    version: int = 0
    allotment: Allotment = field(default_factory=dict[str, float])
    spent: float = 0.0
    alive: bool = True

    @property
    def has_room(self) -> bool:
        return self.spent + self.price <= self.allotment.get("cost", 0.0)

    def demand(self) -> Demand:
        return Demand(
            version=self.version,
            spent={"cost": self.spent},
            needed={"cost": self.price},
            waits=() if self.has_room else ("cost",),
            alive=self.alive,
        )


def rounds(spenders: list[Spender], seen: list[list[bool]], calls: list[list[int]]) -> Division:
    """Divides once for each round; each worker may or may not read it, and makes some calls."""
    division = Division({"cost": TOTAL})
    demands = {str(number): each.demand() for number, each in enumerate(spenders)}
    for which, count in zip(seen, calls, strict=True):
        allotments = division.divide(demands)
        for number, each in enumerate(spenders):
            if which[number]:
                each.version, each.allotment = division.version, allotments[str(number)]
                # A report may be older than what happened since.
                demands[str(number)] = each.demand()
            for _ in range(count[number]):
                each.spent += each.price if each.has_room else 0.0
    return division


@settings(max_examples=100, deadline=None)
@given(data=st.data(), workers=st.integers(1, 4), count=st.integers(1, 25))
def test_nothing_is_given_twice_whatever_workers_have_read(data: st.DataObject, workers: int, count: int):
    spenders = [Spender(data.draw(st.sampled_from([0.1, 1.0, 7.0, 30.0]))) for _ in range(workers)]
    flags = st.lists(st.booleans(), min_size=workers, max_size=workers)
    numbers = st.lists(st.integers(0, 50), min_size=workers, max_size=workers)
    seen = data.draw(st.lists(flags, min_size=count, max_size=count))
    calls = data.draw(st.lists(numbers, min_size=count, max_size=count))
    rounds(spenders, seen, calls)
    assert sum(each.spent for each in spenders) <= TOTAL + 1e-6


def test_everything_is_spent_and_then_said_to_be_exhausted():
    spenders = [Spender(1.0), Spender(1.0), Spender(1.0)]
    always = [[True] * 3] * 60
    division = rounds(spenders, always, [[100] * 3] * 60)
    assert sum(each.spent for each in spenders) >= TOTAL - 3
    assert division.exhausted == "cost"


def test_what_an_idle_worker_does_not_spend_flows_back():
    busy, idle = Spender(1.0), Spender(1.0)
    rounds([busy, idle], [[True, True]] * 60, [[100, 0]] * 60)
    assert idle.spent == 0
    assert busy.spent >= 0.9 * TOTAL


def test_a_dead_worker_keeps_what_it_may_have_spent_and_an_ended_one_only_what_it_has():
    division = Division({"cost": TOTAL})
    first = division.divide({"a": Demand(needed={"cost": 1.0})})
    assert first["a"]["cost"] == 50
    dead = {"a": Demand(version=1, alive=False), "b": Demand(needed={"cost": 1.0})}
    assert division.divide(dead)["b"]["cost"] == 25
    ended = {"a": Demand(version=1, spent={"cost": 10.0}, ended=True), "c": Demand(needed={"cost": 1.0})}
    assert Division({"cost": TOTAL}).divide(ended)["c"]["cost"] == 45


@settings(max_examples=100, deadline=None)
@given(data=st.data(), workers=st.integers(1, 5), count=st.integers(1, 20))
def test_rates_in_use_never_exceed_the_limit(data: st.DataObject, workers: int, count: int):
    division = Division({})
    versions, used = [0] * workers, [0.0] * workers
    for _ in range(count):
        waits = data.draw(st.lists(st.booleans(), min_size=workers, max_size=workers))
        demands = {
            str(number): Demand(version=versions[number], waits_for_rate=waits[number])
            for number in range(workers)
        }
        allotments = division.divide(demands)
        for number in range(workers):
            if data.draw(st.booleans()):
                versions[number], used[number] = division.version, allotments[str(number)][RATE]
        assert sum(used) <= 1 + 1e-9


def test_workers_whose_calls_wait_share_the_rate_equally_and_get_what_others_leave():
    division = Division({})
    version = 0
    for _ in range(30):
        demands = {
            name: Demand(version=version, waits_for_rate=name != "idle") for name in ("a", "b", "idle")
        }
        allotments = division.divide(demands)
        version = division.version
    assert allotments["a"][RATE] == allotments["b"][RATE] > 0.45
    assert 0 < allotments["idle"][RATE] < 0.1


def test_a_report_becomes_what_a_worker_needs():
    report = {
        "version": 3,
        "spent": {"cost": 1, "other": 9},
        "held": {"tokens": 2},
        "waits": ["cost"],
        "waits_for_rate": False,
        "ended": True,
    }
    nothing = {"cost": 0.0, "tokens": 0.0}
    assert Demand.from_report(report, alive=False) == Demand(
        version=3,
        spent={"cost": 1.0, "tokens": 0.0},
        held={"cost": 0.0, "tokens": 2.0},
        needed=nothing,
        waits=("cost",),
        waits_for_rate=False,
        alive=False,
        ended=True,
    )
    assert Demand.from_report({}, alive=True) == Demand(spent=nothing, held=nothing, needed=nothing)


def needs(version: int = 0, spent: float = 0.0, **more: object) -> Demand:
    return Demand(version=version, spent={"cost": spent}, needed={"cost": 4.0}, **more)  # pyright: ignore


def test_what_each_worker_may_spend_from_the_first_round_to_the_last():
    division = Division({"cost": TOTAL})
    rounds: list[dict[str, Demand]] = [
        {"a": needs(), "b": needs()},
        {"a": needs(1, 20.0), "b": needs(1, 2.0, waits=())},
        {"a": needs(2, 48.0), "b": needs(2, 2.0, waits=(), held={"cost": 4.0})},
        {"a": needs(3, 60.0), "b": needs(3, 2.0, waits=())},
        {"a": needs(4, 66.0), "b": needs(4, 2.0, waits=())},
        {"a": needs(5, 68.0), "b": needs(5, 2.0, waits=())},
        {"a": needs(6, 68.0), "b": needs(5, 2.0, waits=(), alive=False), "c": needs()},
        {"a": needs(7, 70.0), "b": needs(6, 2.0, ended=True), "c": needs(7)},
        {"a": needs(8, 80.0), "b": needs(6, 2.0, ended=True), "c": needs(8)},
        {"a": needs(9, 85.0), "b": needs(6, 2.0, ended=True), "c": needs(9)},
    ]
    given = []
    for demands in rounds:
        allotments = division.divide(demands)
        costs = {worker: round(each["cost"], 3) for worker, each in allotments.items()}
        given.append((division.version, costs, division.exhausted))
    assert given == [
        (1, {"a": 25.0, "b": 25.0}, None),
        (2, {"a": 50.0, "b": 25.0}, None),
        (3, {"a": 62.5, "b": 25.0}, None),
        (4, {"a": 68.75, "b": 25.0}, None),
        (5, {"a": 72.75, "b": 13.5}, None),
        (6, {"a": 79.625, "b": 13.5}, None),
        (7, {"a": 83.625, "c": 0.0}, None),
        (8, {"a": 87.625, "c": 4.0}, None),
        (9, {"a": 91.625, "c": 4.0}, None),
        (10, {"a": 91.625, "c": 4.0}, "cost"),
    ]


def test_a_call_in_flight_or_room_with_another_is_not_the_end():
    for more, exhausted in (({}, "cost"), ({"held": {"cost": 1.0}}, None)):
        division = Division({"cost": 6.0})
        division.divide({"a": needs()})
        division.divide({"a": needs(1, 4.0, **more)})
        assert division.exhausted == exhausted, more
    division = Division({"cost": 6.0})
    division.divide({"a": needs(), "b": needs()})
    division.divide({"a": needs(1, 4.0), "b": needs(1, 0.0, waits=())})
    assert division.exhausted is None
    nothing = Division({"tokens": 0.0})
    assert nothing.divide({"a": Demand()}) == {"a": {"tokens": 0.0, RATE: 1.0}}
    assert nothing.exhausted == "tokens"
    assert Division({"tokens": 0.0}).divide({}) == {}


def test_the_part_of_the_rate_of_each_worker_from_round_to_round():
    division = Division({})
    idle: dict[str, bool] = {"waits_for_rate": False}
    rounds: list[dict[str, Demand]] = [
        {"a": Demand()},
        {"a": Demand(version=1), "b": Demand()},
        {"a": Demand(version=2), "b": Demand(version=2)},
        {"a": Demand(version=3), "b": Demand(version=3, **idle)},  # pyright: ignore
        {"a": Demand(version=4), "b": Demand(version=4, **idle)},  # pyright: ignore
        {"a": Demand(version=5, ended=True), "b": Demand(version=5)},
        {"a": Demand(version=5, ended=True), "b": Demand(version=6)},
        {"b": Demand(version=7), "c": Demand(), "d": Demand()},
        {"b": Demand(version=8), "c": Demand(version=8), "d": Demand(version=8)},
    ]
    given = []
    for demands in rounds:
        allotments = division.divide(demands)
        given.append({worker: round(each[RATE], 4) for worker, each in allotments.items()})
    assert given == [
        {"a": 1.0},
        {"a": 0.5, "b": 0.0},
        {"a": 0.5, "b": 0.5},
        {"a": 0.5, "b": 0.35},
        {"a": 0.65, "b": 0.245},
        {"b": 1.0},
        {"b": 1.0},
        {"b": 0.3333, "c": 0.0, "d": 0.0},
        {"b": 0.3333, "c": 0.3333, "d": 0.3333},
    ]


def test_what_is_taken_back_is_waited_for():
    division = Division({"cost": 10.0})
    division.divide({"a": needs(), "b": needs()})
    division.divide({"a": needs(1, 4.0), "b": needs(1, waits=())})
    shares = division.divide({"a": needs(2, 4.0), "b": needs(1)})
    assert ({name: each["cost"] for name, each in shares.items()}, division.exhausted) == (
        {"a": 4.0, "b": 2.0},
        None,
    )
    shares = division.divide({"a": needs(3, 4.0), "b": needs(3)})
    assert {name: each["cost"] for name, each in shares.items()} == {"a": 8.0, "b": 2.0}


def test_of_the_rate_those_with_the_least_are_served_first():
    division = Division({})
    idle: Any = {"waits_for_rate": False}
    division.divide({"b": Demand(**idle)})
    division.divide({"a": Demand(version=1, **idle), "b": Demand(version=1, **idle)})
    shares = division.divide({"a": Demand(version=1), "b": Demand(version=1, **idle), "c": Demand()})
    assert {name: round(each[RATE], 4) for name, each in shares.items()} == {
        "a": 0.4245,
        "b": 0.049,
        "c": 0.4755,
    }
