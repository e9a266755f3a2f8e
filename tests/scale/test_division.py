"""All workers together never get more than there is, and what one does not need reaches the others."""

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from long import a_fiftieth_of
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


@settings(max_examples=a_fiftieth_of(1_500), deadline=None)
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


@settings(max_examples=a_fiftieth_of(1_500), deadline=None)
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
