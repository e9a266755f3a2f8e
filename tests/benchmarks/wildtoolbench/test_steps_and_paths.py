"""What each last reply to one task is worth for training, and which steps the published schedule accepts."""

from typing import Any

import pytest

from benchmarks.wildtoolbench.build import item, told
from benchmarks.wildtoolbench.test_decisions import REPLIES, TASK
from wildtool.benchmarks.wildtoolbench import WILDTOOLBENCH
from wildtool.benchmarks.wildtoolbench.official.schedule import Schedule, ScheduleState


def worth(profile: str, name: str) -> str:
    """The components that are right, and with `-` the one that is wrong, the fault, and the progress at an end."""
    rules, own = WILDTOOLBENCH.rules(profile), item(TASK)
    episode = rules.episode(own, "0")
    told(episode, *REPLIES[name])
    check = rules.step(episode, own, "0")
    components = " ".join(f"{'' if value else '-'}{key}" for key, value in check.components.items())
    progress = "" if check.progress is None else f"; {check.progress:.2f}"
    return f"{components}; {check.fault}{progress}"


def paths(schedule: Schedule) -> list[str]:
    """Every path of accepted steps; the first step of some names is the one that these names match."""
    found: list[str] = []

    def go_on(state: ScheduleState, path: list[str]) -> None:
        if schedule.finished(state):
            found.append(" ".join(path))
        steps = list(schedule.accepted(state))
        for step in steps:
            names = sorted(schedule.names[node] for node in step)
            same = [each for each in steps if sorted(schedule.names[node] for node in each) == names]
            assert schedule.match(state, names) == same[0]
            go_on(schedule.after(state, step), [*path, "".join(map(str, step))])

    for state in schedule.start():
        go_on(state, [])
    return found


@pytest.mark.parametrize(
    ("profile", "name", "expected"),
    [
        ("official", "right", "refusal; None; 1.00"),
        ("official", "one by one", "refusal; None; 1.00"),
        (
            "official",
            "no question",
            "format -refusal; called a before asking the user for what it needs; 0.00",
        ),
        ("official", "empty", "-format; an empty reply although a call was due; 0.00"),
        ("official", "call too early", "format name -order; called b before the calls it depends on; 0.00"),
        ("official", "ended early", "-refusal; text while 2 calls were still to be made; 0.33"),
        ("official", "refused", "-refusal; text although a call was due; 0.00"),
        ("official", "other tool", "format -name; called d, which the task does not need; 0.00"),
        ("official", "no such tool", "format -name; called zz, which is not in the tool list; 0.00"),
        ("official", "twice", "format -redundancy; called a once too often; 0.33"),
        ("official", "wrong value", "refusal; None; 0.00"),
        ("official", "wrong type", "refusal; None; 0.00"),
        ("official", "unknown argument", "refusal; None; 0.00"),
        ("official", "left out", "refusal; None; 0.00"),
        ("official", "no JSON", "-format; error: args invalid json format; 0.00"),
        ("official", "after the end", "format -redundancy; called d after every call was made; 1.00"),
        ("official", "nothing", "-format; an empty reply although a call was due; 0.00"),
        ("fixed", "right", "refusal; None; 1.00"),
        ("fixed", "one by one", "refusal; None; 1.00"),
        ("fixed", "no question", "format -refusal; called a before asking the user for what it needs; 0.00"),
        ("fixed", "empty", "-format; an empty reply although a call was due; 0.00"),
        ("fixed", "call too early", "format name -order; called b before the calls it depends on; 0.00"),
        ("fixed", "ended early", "-refusal; text while 2 calls were still to be made; 0.33"),
        ("fixed", "refused", "-refusal; text although a call was due; 0.00"),
        ("fixed", "other tool", "format -name; called d, which the task does not need; 0.00"),
        ("fixed", "no such tool", "format -name; called zz, which is not in the tool list; 0.00"),
        ("fixed", "twice", "format -redundancy; called a once too often; 0.33"),
        ("fixed", "wrong value", "format name order redundancy -arguments; a: n: 3 is not 1 (number); 0.00"),
        ("fixed", "wrong type", "format name order redundancy -arguments; a: n: '1' is not 1 (type); 0.00"),
        (
            "fixed",
            "unknown argument",
            "format name order redundancy -arguments; a: zz: 2 was not asked for; 0.00",
        ),
        ("fixed", "left out", "format name order redundancy -arguments; a: n: 1 is missing; 0.00"),
        ("fixed", "after the end", "format -redundancy; called d after every call was made; 1.00"),
        ("fixed", "nothing", "; None"),
    ],
)
def test_a_reply_is_worth_what_it_has_right(profile: str, name: str, expected: str) -> None:
    assert worth(profile, name) == expected


def test_the_rules_of_the_paper_judge_whole_tasks_alone() -> None:
    assert {worth("paper", name) for name in REPLIES} == {"; None"}


@pytest.mark.parametrize(
    ("names", "deps", "shortest", "expected"),
    [
        ("abc", [(), (0,), (0,)], (2, [(0,), (1, 2)]), ["0 1 2", "0 2 1", "0 12"]),
        ("aab", [(), (), ()], (1, [(0, 1, 2)]), ["0 1 2", "2 0 1", "2 01", "01 2", "012"]),
        (
            "aba",
            [(), (), ()],
            (1, [(0, 1, 2)]),
            ["0 1 2", "0 2 1", "0 12", "1 0 2", "1 02", "01 2", "02 1", "12 0", "012"],
        ),
        ("aaa", [(), (), ()], (1, [(0, 1, 2)]), ["0 1 2", "012"]),
        ("ab", [(1,), (0,)], (99999, None), []),
        ("aabb", [(), (), (0,), (1,)], (2, [(0, 1), (2, 3)]), ["0 1 2 3", "0 1 23", "01 2 3", "01 23"]),
        ("a", [()], (1, [(0,)]), ["0"]),
        (
            "abac",
            [(), (), (0,), (1,)],
            (2, [(0, 1), (2, 3)]),
            [
                "0 1 2 3",
                "0 1 3 2",
                "0 1 23",
                "0 2 1 3",
                "0 12 3",
                "1 0 2 3",
                "1 0 3 2",
                "1 0 23",
                "1 3 0 2",
                "1 03 2",
                "01 2 3",
                "01 3 2",
                "01 23",
            ],
        ),
    ],
)
def test_a_graph_has_its_paths_in_their_order(
    names: str, deps: Any, shortest: Any, expected: list[str]
) -> None:
    schedule = Schedule(names, deps)
    assert paths(schedule) == expected
    assert (schedule.min_length, schedule.first_shortest()) == shortest


def test_steps_that_no_path_has_are_not_accepted() -> None:
    schedule = Schedule("aabc", [(), (), (), (0,)])
    (start,) = schedule.start()
    refused = [(1,), (0, 2), (3,), (2, 1), (1, 2), (0, 3)]
    assert [schedule.allows(start, step) for step in refused] == [False] * len(refused)
    accepted = [(0,), (2,), (0, 1), (0, 1, 2)]
    assert [schedule.allows(start, step) for step in accepted] == [True] * len(accepted)
    begun = schedule.after(start, (0,))
    assert begun == ScheduleState(1, (1,))
    assert [schedule.allows(begun, step) for step in ((1,), (2,), (1, 2))] == [True, False, False]
    assert schedule.after(begun, (1,)) == ScheduleState(3)
    assert (schedule.ready(begun), schedule.ready(ScheduleState(3))) == ([1], [2, 3])
    assert [
        schedule.match(start, list(names)) for names in ("a", "b", "ba", "aab", "aa", "c", "ab", "aaa")
    ] == [
        (0,),
        (2,),
        None,
        (0, 1, 2),
        (0, 1),
        None,
        None,
        None,
    ]
    assert [schedule.match(begun, list(names)) for names in ("a", "b", "ab")] == [(1,), None, None]
    assert [schedule.finished(ScheduleState(done)) for done in (15, 7)] == [True, False]
    broken = Schedule("ab", [(), (5,)])
    assert (broken.outside, broken.executable, broken.start(), broken.min_length) == (5, False, [], 99999)
    assert Schedule("ab", [(), (0,)]).outside is None and Schedule("a", [(-1,)]).outside == -1
