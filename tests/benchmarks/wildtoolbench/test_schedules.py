"""Which schedules the walks accept: the reference's rules and the paper's Algorithm 1, written anew by brute force."""

import copy
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, groupby
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import wildtool
from benchmarks.wildtoolbench.build import ANSWER, ASK, DONE, answer, ask, call, calls, node, says, session
from long import a_fiftieth_of
from wildtool.benchmarks.wildtoolbench.fixed.episode import FixedEpisode, FixedSchedule
from wildtool.benchmarks.wildtoolbench.official.episode import EMPTY_REPLY_RESULT, NO_MATCH, OfficialEpisode
from wildtool.benchmarks.wildtoolbench.official.schedule import NO_PATH_LENGTH, Schedule, ScheduleState
from wildtool.types import Message

PROPERTY = settings(deadline=None)

Step = tuple[int, ...]
Path_ = tuple[Step, ...]
Graph = tuple[list[str], list[tuple[int, ...]]]
"""Names and dependencies by position."""


@st.composite
def graphs(draw: st.DrawFn, names: Sequence[str], largest: int = 6) -> Graph:
    """Graphs without a cycle, nodes in any order, names from a few so that they repeat."""
    size = draw(st.integers(1, largest))
    order = draw(st.permutations(range(size)))
    deps: list[tuple[int, ...]] = [()] * size
    for place, position in enumerate(order):
        earlier = st.lists(st.sampled_from(order[:place]), max_size=2) if place else st.just([])
        deps[position] = tuple(draw(earlier))
    return draw(st.lists(st.sampled_from(names), min_size=size, max_size=size)), deps


# The reference's rules, by the numbers of its specification --------------------


def ready_nodes(deps: Sequence[Step], executed: Sequence[int]) -> Step:
    return tuple(i for i, need in enumerate(deps) if i not in executed and set(need) <= set(executed))


def long_runs(names: Sequence[str], ready: Step) -> list[Step]:
    runs = [tuple(run) for _, run in groupby(ready, key=lambda position: names[position])]
    return [run for run in runs if len(run) > 1]


def reference_steps(names: Sequence[str], ready: Step) -> Iterator[Step]:
    """Rules 2 to 5: the candidates that stay, in order."""
    whole = set(long_runs(names, ready))
    parts = {part for run in whole for size in range(1, len(run)) for part in combinations(run, size)}
    seen: set[str] = set()
    for size in range(1, len(ready) + 1):
        for candidate in combinations(ready, size):
            key = "|".join(names[position] for position in candidate)
            if key in seen:
                continue
            seen.add(key)
            leading = {candidate[:length] for length in range(1, size + 1)}
            if size == 1 or not leading & parts or leading & whole:
                yield candidate


def reference_paths(names: Sequence[str], deps: Sequence[Step]) -> list[Path_]:
    """Rules 1, 6 and 7: all paths in enumeration order."""

    def follow(path: Path_) -> Iterator[Path_]:
        executed = [position for step in path for position in step]
        if len(executed) == len(names):
            yield path
            return
        ready = ready_nodes(deps, executed)
        begun = {run[0]: run for run in long_runs(names, ready)}
        for step in reference_steps(names, ready):
            run = begun.get(step[0]) if len(step) == 1 else None
            yield from follow((*path, *(((one,) for one in run) if run else [step])))

    return list(follow(()))


def accepted_paths(schedule: Schedule) -> list[Path_]:
    def follow(state: ScheduleState, path: Path_) -> Iterator[Path_]:
        if schedule.finished(state):
            yield path
        for step in schedule.accepted(state):
            yield from follow(schedule.after(state, step), (*path, step))

    return [path for state in schedule.start() for path in follow(state, ())]


REPEATING = graphs(["a", "b", "c"])


@PROPERTY
@given(REPEATING)
@example((["a", "a", "b"], [(), (), ()]))
@example((["b", "a", "a"], [(), (), ()]))
@example((["a", "b", "a"], [(), (), ()]))
@example((["a", "a", "b", "b"], [(), (), (), ()]))
def test_official_accepts_the_reference_paths_in_their_order(graph: Graph) -> None:
    assert accepted_paths(Schedule(*graph)) == reference_paths(*graph)


@PROPERTY
@given(graphs(["a", "b", "c", "d"]))
@example((["a", "a", "b", "a"], [(), (), (0,), (0,)]))
def test_official_history_is_the_first_path_of_minimum_length(graph: Graph) -> None:
    paths = reference_paths(*graph)
    shortest = min(map(len, paths))
    schedule = Schedule(*graph)
    assert schedule.min_length == shortest
    assert schedule.first_shortest() == list(next(path for path in paths if len(path) == shortest))


def test_a_cycle_has_no_path_and_the_reference_length() -> None:
    schedule = Schedule(["a", "b"], [(1,), (0,)])
    assert (schedule.start(), schedule.min_length, schedule.first_shortest()) == ([], NO_PATH_LENGTH, None)


@PROPERTY
@given(REPEATING)
def test_a_reply_matches_the_first_accepted_step_of_its_names(graph: Graph) -> None:
    names, _ = graph
    schedule = Schedule(*graph)
    states = [ScheduleState(0)]
    for state in states:
        ready = schedule.ready(state)
        steps = list(schedule.accepted(state))
        called = {
            tuple(sorted(names[i] for i in part)) for n in range(1, 7) for part in combinations(ready, n)
        }
        for wanted in [*called, ("a", "a", "a"), ("z",), ("a", "z")]:
            first = next((step for step in steps if sorted(names[i] for i in step) == list(wanted)), None)
            assert schedule.match(state, list(reversed(wanted))) == first
        states += {schedule.after(state, step) for step in steps} - set(states)


@PROPERTY
@given(REPEATING)
def test_a_step_is_allowed_where_it_is_accepted(graph: Graph) -> None:
    schedule = Schedule(*graph)
    states = [ScheduleState(0)]
    for state in states:
        steps = set(schedule.accepted(state))
        for size in range(1, len(graph[0]) + 1):
            for step in combinations(range(len(graph[0])), size):
                assert schedule.allows(state, step) == (step in steps)
        states += {schedule.after(state, step) for step in steps} - set(states)


# The reference's walk over the list of all paths --------------------


class PathListWalk:
    """The section "Walk" of the reference's specification, word for word, over stored paths."""

    def __init__(self, graph: Graph) -> None:
        self.names = graph[0]
        self.paths = reference_paths(*graph)
        self.step = 0
        self.result: str | None = None
        """What ended the task: `correct`, the reason of a name error, or an exception."""
        self.given: list[int] = []
        """Nodes whose observations the last step showed, in order of the call ids."""

    def tell_text(self, text: str | None) -> None:
        if not text:
            self.result = EMPTY_REPLY_RESULT
        elif self.step >= len(self.names):
            self.result = f"KeyError: {self.step}"
        else:
            steps = [path[self.step] for path in self.paths if len(path) > self.step]
            virtual = [i for step in steps for i in step if self.names[i] in (ASK, ANSWER)]
            if not virtual:
                self.result = NO_MATCH
            elif self.names[virtual[0]] == ANSWER:
                self.result = "correct"
            self.step += 1

    def tell_calls(self, names: Sequence[str]) -> None:
        if self.step >= len(self.names):
            self.result = f"current step: {self.step}, idx_list is None"
            return
        steps = [path[self.step] for path in self.paths if len(path) > self.step]
        matched = next((step for step in steps if sorted(self.names[i] for i in step) == sorted(names)), None)
        if matched is None:
            self.result = NO_MATCH
        elif len(steps) < len(self.paths):
            self.result = "IndexError: list index out of range"
        else:
            self.paths = [path for path in self.paths if path[self.step] == matched]
            self.given = sorted(matched, key=lambda i: self.names[i])
            self.step += 1

    def names_of_next_steps(self) -> list[list[str]]:
        steps = {path[self.step]: None for path in self.paths if len(path) > self.step}
        return [[self.names[i] for i in step] for step in steps]


def gold_nodes(graph: Graph) -> list[dict[str, Any]]:
    """Nodes whose observation is their position."""
    made = {ASK: ask, ANSWER: answer}
    nodes: list[dict[str, Any]] = []
    for position, (name, needs) in enumerate(zip(*graph, strict=True)):
        gold = made[name](*needs) if name in made else node(name, *needs)
        nodes.append(gold | {"observation": str(position)})
    return nodes


def ended_with(episode: OfficialEpisode) -> str | None:
    return "correct" if episode.name_correct else episode.raised or episode.reason


@settings(PROPERTY, max_examples=a_fiftieth_of(2_000))
@given(graphs(["a", "b", ASK, ASK, ANSWER]), st.data())
def test_the_official_walk_is_the_walk_over_all_reference_paths(graph: Graph, data: st.DataObject) -> None:
    reference, episode = PathListWalk(graph), OfficialEpisode(session(gold_nodes(graph)), 0)
    for _ in range(len(graph[0]) + 2):
        fitting = st.sampled_from(reference.names_of_next_steps() or [["a"]]).flatmap(st.permutations)
        any_names = st.lists(st.sampled_from(["a", "b", "z", ASK, ANSWER]), min_size=1, max_size=3)
        texts = st.sampled_from(["Well.", "Well.", ""])
        reply = data.draw(fitting | fitting | texts | texts | any_names, label="reply")
        if isinstance(reply, str):
            reference.tell_text(reply)
            episode.advance(says(reply))
        else:
            reference.tell_calls(reply)
            episode.advance(calls(*reply))
        assert ended_with(episode) == reference.result
        if reference.result is not None:
            assert episode.request() is None
            return
        assert len(episode.log) == reference.step
        request = episode.request()
        assert request is not None
        if not isinstance(reply, str):
            answers = request.messages[-len(reply) :]
            assert [int(m["content"]) for m in answers] == reference.given
            assert [m["tool_call_id"] for m in answers] == [f"id{i}" for i in range(len(reply))]


@PROPERTY
@given(graphs(["a", "b", "c"], largest=5), st.data())
def test_official_optimal_means_as_many_steps_as_the_shortest_path(graph: Graph, data: st.DataObject) -> None:
    names, deps = [*graph[0], ANSWER], [*graph[1], tuple(range(len(graph[0])))]
    paths = reference_paths(names, deps)
    path = data.draw(st.sampled_from(paths))
    episode = OfficialEpisode(session(gold_nodes((names, deps))), 0)
    for step in path[:-1]:
        episode.advance(calls(*(names[i] for i in step)))
    episode.advance(DONE)
    # Names may be bound to other nodes than the path's, and then end in a dead end (Q16).
    assume(episode.name_correct)
    assert episode.optimal == (len(path) == min(map(len, paths)))


# The paper's Algorithm 1 --------------------


def algorithm_1(deps: Sequence[Step]) -> set[Path_]:
    """All schedules: at every state every non-empty subset of the ready nodes is a step."""

    def follow(path: Path_) -> Iterator[Path_]:
        executed = [position for step in path for position in step]
        if len(executed) == len(deps):
            yield path
        ready = ready_nodes(deps, executed)
        for size in range(1, len(ready) + 1):
            for step in combinations(ready, size):
                yield from follow((*path, step))

    return set(follow(()))


def with_answer(deps: Sequence[Step], place: int) -> tuple[list[Step], int]:
    """A graph with an answer node put in at a position, which depends on all sinks."""
    moved = [tuple(i + (i >= place) for i in need) for need in deps]
    sinks = tuple(i + (i >= place) for i in range(len(deps)) if not any(i in need for need in deps))
    return [*moved[:place], sinks, *moved[place:]], place


def fixed_schedules(deps: Sequence[Step], answer_at: int) -> set[Path_]:
    """All schedules the real walk accepts, found by telling it every subset of the gold calls at every state."""
    nodes = [answer(*need) if i == answer_at else node(f"t{i}", *need) for i, need in enumerate(deps)]
    data = session(nodes)
    positions = [i for i in range(len(deps)) if i != answer_at]
    moves = [step for size in range(1, len(deps)) for step in combinations(positions, size)] + [(answer_at,)]

    replies = {step: calls(*(f"t{i}" for i in reversed(step))) for step in moves} | {(answer_at,): DONE}

    def follow(episode: FixedEpisode, path: Path_) -> Iterator[Path_]:
        for step, reply in replies.items():
            following = branch(episode)
            following.advance(reply)
            if following.correct:
                yield (*path, step)
            elif following.fault is None:
                yield from follow(following, (*path, step))

    return set(follow(FixedEpisode(data, 0), ()))


def branch(episode: FixedEpisode) -> FixedEpisode:
    """A walk that stands where this one stands and goes on without it."""
    twin = copy.copy(episode)
    for name, value in vars(episode).items():
        setattr(twin, name, list(value) if isinstance(value, list) else value)
    return twin


@settings(PROPERTY, max_examples=a_fiftieth_of(500))
@given(graphs(["t"], largest=4), st.integers(0, 4))
@example((["t"] * 4, [(), (), (), ()]), 2)
@example((["t"] * 5, [(1,), (2,), (3,), (4,), ()]), 0)
@example((["t"] * 5, [(), (0,), (0,), (1, 2), (3,)]), 5)
def test_fixed_accepts_exactly_the_schedules_of_algorithm_1(graph: Graph, place: int) -> None:
    deps, answer_at = with_answer(graph[1], min(place, len(graph[1])))
    assert fixed_schedules(deps, answer_at) == algorithm_1(deps)


def test_fixed_accepts_the_75_schedules_of_four_independent_calls() -> None:
    assert len(fixed_schedules(*with_answer([()] * 4, 4))) == 75


# Shortest schedules of the fixed profile --------------------


def fixed_steps(graph: Graph, done: frozenset[int]) -> list[Step]:
    """Legal steps: some ready calls, one ready question, or the answer after everything else."""
    names, deps = graph
    ready = ready_nodes(deps, tuple(done))
    real = [i for i in ready if names[i] not in (ASK, ANSWER)]
    words = [(i,) for i in ready if names[i] == ASK or (names[i] == ANSWER and len(done) == len(names) - 1)]
    return words + [step for size in range(1, len(real) + 1) for step in combinations(real, size)]


def fixed_minimum(graph: Graph) -> int | None:
    """Steps of the shortest legal schedule; breadth first over all legal steps."""
    reached, steps = {frozenset[int]()}, 0
    while reached:
        if any(len(done) == len(graph[0]) for done in reached):
            return steps
        reached = {done | set(step) for done in reached for step in fixed_steps(graph, done)}
        steps += 1
    return None


def with_one_answer(graph: Graph, place: int) -> Graph:
    """An answer node put in; it depends on nothing, and nothing on it."""
    names, deps = graph
    moved = [tuple(i + (i >= place) for i in need) for need in deps]
    return [*names[:place], ANSWER, *names[place:]], [*moved[:place], (), *moved[place:]]


@PROPERTY
@given(graphs(["a", "b", ASK, ASK], largest=5), st.integers(0, 5))
def test_fixed_shortest_is_a_legal_schedule_of_minimum_length(graph: Graph, place: int) -> None:
    graph = with_one_answer(graph, min(place, len(graph[0])))
    shortest = FixedSchedule(*graph).shortest
    done: frozenset[int] = frozenset()
    for step in shortest:
        assert step in fixed_steps(graph, done)
        done |= set(step)
    assert len(done) == len(graph[0])
    assert len(shortest) == fixed_minimum(graph)


def test_of_two_shortest_schedules_the_first_question_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    graph: Graph = ([ASK, ASK, "a", ANSWER], [(), (), (), ()])
    assert FixedSchedule(*graph).shortest == [(0,), (1,), (2,), (3,)]
    # Without the answer nodes are done or not; then all are.
    for most, shortest in ((9, [(0,), (1,), (2,), (3,)]), (8, [])):
        monkeypatch.setattr("wildtool.benchmarks.wildtoolbench.fixed.episode.MAX_EXPLORED_STATES", most)
        assert FixedSchedule(*graph).shortest == shortest


@pytest.mark.parametrize(
    ("names", "deps"),
    [
        ([], []),
        (["a"], [()]),
        ([ANSWER, ANSWER], [(), (0,)]),
        (["a", "b", ANSWER], [(1,), (0,), (1,)]),
        (["a", ANSWER], [(0,), ()]),
        (["a", ANSWER], [(1,), ()]),
        (["a", ANSWER], [(9,), (0,)]),
        (["a", ANSWER], [(), (-1,)]),
    ],
    ids=[
        "nothing",
        "no answer",
        "two answers",
        "cycle",
        "needs itself",
        "needs the answer",
        "unknown",
        "negative",
    ],
)
def test_fixed_has_no_schedule_where_gold_cannot_be_completed(names: list[str], deps: list[Step]) -> None:
    assert FixedSchedule(names, deps).shortest == []


# Growth --------------------

PACKAGE = str(Path(wildtool.__file__).parent)


def operations(work: Callable[[], Any]) -> int:
    """Bytecode instructions of the package that `work` executes; the same on every run."""
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        frame.f_trace_opcodes = True
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    try:
        # Python 3.12 reports instructions only if tracing is set up again after they were first asked for.
        for _ in range(2):
            count = 0
            sys.settrace(trace)
            work()
    finally:
        sys.settrace(before)
    return count


def independent(count: int, *, one_name: bool) -> list[dict[str, Any]]:
    return [node("a" if one_name else f"t{i}", n=i) for i in range(count)] + [answer(*range(count))]


def replies_of(nodes: Sequence[dict[str, Any]], *, parallel: bool) -> list[Message]:
    made = [call(n["action"]["name"], f"id{i}", **n["action"]["arguments"]) for i, n in enumerate(nodes[:-1])]
    return [calls(*made), DONE] if parallel else [*map(calls, made), DONE]


Walk = type[OfficialEpisode] | type[FixedEpisode]


def operations_per_step(walk_type: Walk, count: int, *, one_name: bool, parallel: bool) -> float:
    nodes = independent(count, one_name=one_name)
    data, replies = session(nodes), replies_of(nodes, parallel=parallel)

    def play() -> None:
        episode = walk_type(data, 0)
        for reply in replies:
            assert episode.request() is not None
            episode.advance(reply)
        assert episode.request() is None
        assert episode.optimal == parallel

    return operations(play) / len(replies)


@pytest.mark.long
@pytest.mark.parametrize("walk_type", [OfficialEpisode, FixedEpisode])
@pytest.mark.parametrize("one_name", [False, True], ids=["names differ", "one name"])
@pytest.mark.parametrize("parallel", [False, True], ids=["one by one", "all at once"])
def test_twenty_independent_calls_are_walked_without_enumeration(
    walk_type: Walk, one_name: bool, parallel: bool
) -> None:
    few, many = (
        operations_per_step(walk_type, count, one_name=one_name, parallel=parallel) for count in (20, 40)
    )
    # All subsets of 20 calls would be a million steps to look at.
    assert few < 250_000
    assert many < 4.5 * few, "a step may cost the square of the number of calls, no more"


@pytest.mark.parametrize("schedule", [Schedule, FixedSchedule])
def test_history_of_forty_independent_calls_is_found_without_enumeration(
    schedule: type[Schedule] | type[FixedSchedule],
) -> None:
    names, deps = [*(f"t{i % 7}" for i in range(40)), ANSWER], [*([()] * 40), tuple(range(40))]

    def find() -> None:
        made = schedule(names, deps)
        shortest = made.first_shortest() if isinstance(made, Schedule) else made.shortest
        assert shortest == [tuple(range(40)), (40,)]

    assert operations(find) < 400_000
