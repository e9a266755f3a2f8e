"""All numbers of two sessions, and the paper's numbers beside them."""

from itertools import groupby
from typing import Any

from benchmarks.number_lines import number_lines
from benchmarks.wildtoolbench.test_stats import answer, node, record
from wildtool.benchmarks.wildtoolbench.stats import stats_of


def other_record() -> dict[str, Any]:
    """Two questions, ten calls at once, chains, and values that were said, shown before or nowhere."""
    first = node("ask_user_for_required_parameters", {}, user_input="seven red 3")
    second = node("ask_user_for_required_parameters", {}, 0, user_input="8")
    return record(
        id="t",
        domain="",
        subdomain="",
        made_by={"domain": "games"},
        english_tasks=["seven red apples", "apples 你好 abcd", "ab 12 seven", "then 9 abcdef"],
        english_answer_list=[
            [first, second, node("f", {"n": 8, "size": "m"}, 1), answer(2)],
            [node("f", {"n": 12}), node("g", {"n": 99, "size": "s"}, 0), answer(0, 1)],
            [*(node("f", {"n": number}) for number in range(10)), answer(*range(10))],
            [node("f", {"n": 7}), node("g", {}, 0), answer(1)],
        ],
        english_task_types=[
            "Clarify",
            "Sequential Multi-Tool",
            "Parallel Multi-Tool",
            "Sequential Multi-Tool",
        ],
        english_turn_subtypes=["Coreferential Reference", "Long-Range Dependency", "Partial Information"],
    )


def test_a_session_without_a_domain_is_counted_as_one_that_states_none() -> None:
    lines = number_lines(stats_of([record(domain=""), record(id="t", subdomain="")]))
    domains, subdomains = (line.rpartition(" 0/2, ")[2] for line in lines if "domains: Location" in line)
    assert (domains, subdomains) == ("not stated 1/2, travel 1/2", "not stated: hotels 1/2")
    assert "subdomain: not stated: hotels 1 of 1" in lines


def test_a_set_is_described_in_all_its_numbers() -> None:
    assert number_lines(stats_of([record(), other_record()])) == [
        "size: sessions 2 of 2, tasks 8 of 8",
        "mean: tools per session 6/2 mean, tools without gold call a session 2/2 mean, "
        "user turns a session 11/2 mean, calls per task 21/8 mean, steps a task 22/8 mean, "
        "characters per user message 70/8 mean",
        "transitions: 0 0 of 2, 1 1 of 2, 2 0 of 2, 3 1 of 2",
        "tools: 3 2 of 2",
        "language: en 2 of 2",
        "domain: travel 1 of 2, games 1 of 2",
        "subdomain: travel: hotels 1 of 1",
        "parameter kind in gold: string 0 of 21, integer 15 of 21, float 1 of 21, boolean 0 of 21, "
        "enum 3 of 21, array 0 of 21, object 1 of 21, nested object 1 of 21",
        "parameter kind defined: string 0 of 30, integer 6 of 30, float 6 of 30, boolean 0 of 30, "
        "enum 6 of 30, array 0 of 30, object 6 of 30, nested object 6 of 30",
        "task type: Single-Tool 1 of 8, Parallel Multi-Tool 1 of 8, Sequential Multi-Tool 2 of 8, "
        "Mixed Multi-Tool 1 of 8, Clarify 2 of 8, Chat 1 of 8",
        "hidden intent: First Turn 2 of 8, Coreferential Reference 1 of 8, Partial Information 3 of 8, "
        "Long-Range Dependency 2 of 8",
        "topology: mixed 1 of 8, single 3 of 8, none 1 of 8, sequential 2 of 8, parallel 1 of 8",
        "special shape: same-name calls 2 of 8, diamond 1 of 8",
        "calls: 0 1 of 8, 1 3 of 8, 2 2 of 8, 4 1 of 8, 10 1 of 8",
        "longest chain of calls: 0 1 of 8, 1 4 of 8, 2 2 of 8, 3 1 of 8",
        "steps: 1 1 of 8, 2 2 of 8, 3 3 of 8, 4 2 of 8",
        "questions to the user: 0 6 of 8, 1 1 of 8, 2 1 of 8",
        "use of tools: tools that some gold call uses 2/3, fewest calls of a tool 0 of 0, "
        "most calls of a tool 17 of 0, calls of a tool 21/3 mean, "
        "sessions with tools that no other has 0/2",
        "origin of gold values: user 2/19, history 3/19, observation 0/19, other 14/19",
        "tasks in themselves: later tasks that hide something 6/6, "
        "questions of a Clarify task 3/2 mean, calls at once, at most, of a task with calls 17/7 mean",
        "user texts: words of a text 15/8 mean, different words among all 9/15, nearly equal to another 1/8",
        "Figure 5: task types: Single-Tool 1/8, Parallel Multi-Tool 1/8, Sequential Multi-Tool 2/8, "
        "Mixed Multi-Tool 1/8, Clarify 2/8, Chat 1/8",
        "Figure 5: hidden intent of later tasks: Coreferential Reference 1/6, Partial Information 3/6, "
        "Long-Range Dependency 2/6",
        "Figure 5: parameter types of tools: string 0/18, integer 6/18, string enum 6/18, boolean 0/18, "
        "array 0/18, object 0/18, float 0/18, nested object 6/18, integer enum 0/18",
        "Figure 5: user turns a session: 4 0/2, 5 1/2, 6 1/2, 7 0/2, 8 0/2, 9 0/2, mean 11/2 mean",
        "Figure 5: calls of tasks that make any: 1 3/7, 2 2/7, 3 0/7, 4 1/7, 5 0/7, 6 0/7, 7 0/7, "
        "8 0/7, 9 0/7, 10 or more 1/7, mean 21/7 mean",
        "Figure 5: nodes of a graph: Sequential Multi-Tool 6/2 mean, Mixed Multi-Tool 5/1 mean",
        "Figure 5: changes of type in a session: 0 0/2, 1 1/2, 2 0/2, 3 1/2, neighbours that differ 4/6",
        "Figure 5: domains: Location 0/2, Development 0/2, Entertainment 0/2, Information 0/2, "
        "Lifestyle 0/2, Business 0/2, Public 0/2, Utilities 0/2, travel 1/2, games 1/2",
        "Figure 5: subdomains: Location: geographic 0/2, Location: weather 0/2, "
        "Development: coding 0/2, Development: data 0/2, Development: financial 0/2, "
        "Development: security 0/2, Entertainment: game 0/2, Entertainment: media 0/2, "
        "Entertainment: music 0/2, Entertainment: others 0/2, Information: news 0/2, "
        "Information: social 0/2, Information: UGC 0/2, Lifestyle: health 0/2, Lifestyle: sports 0/2, "
        "Lifestyle: food 0/2, Lifestyle: calendar 0/2, Business: business 0/2, Business: finance 0/2, "
        "Public: government 0/2, Public: science 0/2, Public: unnamed 0/2, Utilities: daily 0/2, "
        "Utilities: system 0/2, travel: hotels 1/2",
    ]


def test_the_papers_numbers_stand_beside_those_of_a_set() -> None:
    targets = {
        group: " ".join(f"{metric.target:.3g}" for metric in own if metric.target is not None)
        for group, own in groupby(stats_of([record(), other_record()]), lambda metric: metric.group)
    }
    assert {group: text for group, text in targets.items() if text} == {
        "tasks in themselves": "1 1.27",
        "user texts": "0",
        "Figure 5: task types": "0.25 0.152 0.016 0.082 0.25 0.25",
        "Figure 5: hidden intent of later tasks": "0.453 0.314 0.233",
        "Figure 5: parameter types of tools": "0.57 0.16 0.072 0.066 0.062 0.0283 0.0264 0.0098 0.006",
        "Figure 5: user turns a session": "0.285 0.363 0.195 0.117 0.0352 0.00391 5.27",
        "Figure 5: calls of tasks that make any": "0.67 0.128 0.0609 0.0583 0.0285 "
        "0.0207 0.00777 0.00777 0.00389 0.0142 1.92",
        "Figure 5: nodes of a graph": "3.31 6.48",
        "Figure 5: changes of type in a session": "0.0156 0.141 0.422 0.422 0.75",
        "Figure 5: domains": "0.161 0.224 0.173 0.124 0.111 0.097 0.085 0.025",
        "Figure 5: subdomains": "0.122 0.039 0.092 0.051 0.046 0.035 0.067 0.058 0.025 0.023 0.053 0.041 "
        "0.03 0.048 0.028 0.021 0.014 0.053 0.044 0.062 0.018 0.005 0.018 0.007",
    }


def test_nothing_is_described_by_nothing() -> None:
    metrics = stats_of([])
    assert {metric.value for metric in metrics} == {None, 0}
    assert {(metric.numerator, metric.denominator) for metric in metrics} == {(0, 0)}
