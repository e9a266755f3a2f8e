"""Plans: every sequence of types, balanced in every part of a set, and the same for the same seed."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import astuple
from itertools import islice, pairwise

from generate.golden import check
from wildtool.benchmarks.wildtoolbench.data import SUBTYPES
from wildtool.benchmarks.wildtoolbench.stats.shapes import TASK_GROUPS
from wildtool_data.make.core.plan import (
    date_line,
    group_paths,
    session_plans,
)


def test_all_sequences_of_four_types_come_once_before_any_comes_again():
    assert len(set(islice(group_paths(4, "s"), 256))) == 256


def test_each_type_stands_equally_often_at_each_position():
    drawn = list(islice(group_paths(4, "s"), 64))
    assert all(Counter(path[t] for path in drawn) == dict.fromkeys(TASK_GROUPS, 16) for t in range(4))


def group_changes(path: Sequence[str]) -> int:
    return sum(one != other for one, other in pairwise(path))


def test_changes_of_type_come_in_their_proportion():
    assert Counter(group_changes(path) for path in islice(group_paths(4, "s"), 256)) == {
        0: 4,
        1: 36,
        2: 108,
        3: 108,
    }


def test_a_quarter_of_the_sequences_has_a_quarter_of_the_changes():
    assert Counter(group_changes(path) for path in islice(group_paths(4, "s"), 64)) == {1: 8, 2: 28, 3: 28}


def test_a_seed_gives_the_same_plans_and_another_seed_others():
    def made(seed: str) -> list[object]:
        return list(session_plans(20, 4, seed=seed, langs=["en"]))

    assert made("1") == made("1")
    assert made("1") != made("2")


def test_the_second_task_hides_nothing_of_long_ago():
    assert all(
        plan.tasks[1].subtype != "Long-Range Dependency"
        for plan in session_plans(200, 4, seed="s", langs=["en"])
    )


def test_what_is_hidden_comes_about_as_often_as_published():
    found = Counter(
        task.subtype for plan in session_plans(1000, 4, seed="s", langs=["en"]) for task in plan.tasks[1:]
    )
    assert 0.19 < found["Long-Range Dependency"] / 3000 < 0.27
    assert found["Coreferential Reference"] > found["Partial Information"] > found["Long-Range Dependency"]


def test_shapes_and_hidden_intents_keep_their_shares_in_a_small_set():
    tasks = [task for plan in session_plans(64, 4, seed="s", langs=["en"]) for task in plan.tasks]
    assert Counter(task.topology for task in tasks if task.topology) == {
        "parallel": 39, "mixed": 21, "sequential": 4,
    }  # fmt: skip
    hidden = Counter(task.subtype for task in tasks if task.subtype != "First Turn")
    assert [hidden[name] for name in SUBTYPES] == [87, 60, 45]


def test_all_sets_of_tools_come_once_before_any_comes_again():
    drawn = [plan.tool_set_index(8, 0) for plan in session_plans(16, 4, seed="s", langs=["en"])]
    assert sorted(drawn[:8]) == sorted(drawn[8:]) == list(range(8))
    assert drawn[:8] != drawn[8:]


def test_each_try_and_each_new_plan_has_another_set_of_tools():
    plan = next(session_plans(1, 4, seed="s", langs=["en"]))
    first = plan.tool_set_index(97, 0)
    steps = [
        [plan.replanned(turn).tool_set_index(97, attempt) - first for attempt in range(3)] for turn in (1, 2)
    ]
    assert [[step % 97 for step in row] for row in steps] == [
        [(attempt + 2 * turn) * 62 % 97 for attempt in range(3)] for turn in (1, 2)
    ]


def test_another_try_has_other_tools_and_the_same_tasks():
    plan = next(session_plans(1, 4, seed="s", langs=["en"]))
    sets = [
        plan.tool_set_index(8, 0),
        plan.tool_set_index(8, 1),
        plan.replanned(1).tool_set_index(8, 0),
        plan.replanned(1).tool_set_index(8, 1),
    ]
    assert len(set(sets)) == 4
    assert plan.replanned(1).tasks == plan.tasks
    assert plan.replanned(1).name == "0.1"


def test_twins_differ_in_their_language_and_the_draws_that_follow_from_it():
    first, second, *_ = session_plans(4, 4, seed="s", langs=["en", "zh"], paired_languages=True)
    assert (first.lang, second.lang) == ("en", "zh")
    assert (first.index, second.index) == (0, 1)
    assert (first.tasks, first.date, first.shared, first.tool_set_index(8, 0)) == (
        second.tasks, second.date, second.shared, second.tool_set_index(8, 0),
    )  # fmt: skip
    assert first.seed != second.seed


def test_the_types_of_twins_are_as_balanced_as_those_of_a_set_of_one_language():
    drawn = list(session_plans(8, 4, seed="s", langs=["en", "zh"], paired_languages=True))
    assert all(
        Counter(plan.tasks[t].group for plan in drawn) == dict.fromkeys(TASK_GROUPS, 2) for t in range(4)
    )


def test_languages_take_turns():
    assert [plan.lang for plan in session_plans(4, 2, seed="s", langs=["en", "zh"])] == [
        "en",
        "zh",
        "en",
        "zh",
    ]


def test_plans_are_drawn_as_before():
    rows: dict[str, list[str]] = {}
    for name, plans in {
        "english": session_plans(6, 4, seed="1", langs=["en"]),
        "two languages": session_plans(5, 2, seed="2", langs=["en", "zh"]),
        "twins": session_plans(4, 3, seed="3", langs=["zh", "en"], paired_languages=True),
        "short": session_plans(7, 1, seed="5", langs=["en", "zh", "en"]),
        "long": session_plans(2, 8, seed="4", langs=["zh"]),
        "the longest whose types are enumerated": session_plans(2, 6, seed="6", langs=["en"]),
        "the shortest whose types are drawn": session_plans(2, 7, seed="6", langs=["en"]),
    }.items():
        rows[name] = []
        for plan in plans:
            head = (
                f"{plan.name} {plan.lang} {date_line(plan)} {plan.rank} {plan.seed} {plan.shared} {plan.root}"
            )
            tasks = [" ".join(str(value) for value in astuple(task)) for task in plan.tasks]
            sets = [plan.tool_set_index(8, attempt) for attempt in range(3)]
            again = plan.replanned(2)
            rows[name] += [
                head,
                *tasks,
                f"{sets} {again.name} {again.seed} {again.shared} {again.tool_set_index(8, 1)}",
            ]
    check("session_plans", rows)
