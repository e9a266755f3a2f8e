"""The statistics of a set count what its sessions hold."""

from typing import Any

import pytest

from wildtool.benchmarks.wildtoolbench.stats import stats_of
from wildtool.benchmarks.wildtoolbench.stats.shapes import has_diamond
from wildtool.errors import DataError


def node(name: str, arguments: dict[str, Any], *needs: int, **more: Any) -> dict[str, Any]:
    action = {"name": name, "arguments": arguments}
    return {"action": action, "observation": "ok", "dependency_list": list(needs), **more}


def answer(*needs: int, kind: str = "tool") -> dict[str, Any]:
    return node("prepare_to_answer", {"answer_type": kind}, *needs)


def record(**changes: Any) -> dict[str, Any]:
    properties = {
        "n": {"type": "integer"},
        "size": {"type": "string", "enum": ["s", "m"]},
        "filter": {
            "type": "object",
            "properties": {"range": {"type": "object", "properties": {"x": {"type": "float"}}}},
        },
    }
    tools = [
        {
            "type": "function",
            "function": {"name": name, "parameters": {"type": "object", "properties": properties}},
        }
        for name in ("f", "g", "unused")
    ]
    question = node("ask_user_for_required_parameters", {}, user_input="3")
    return {
        "id": "s",
        "domain": "travel",
        "subdomain": "hotels",
        "english_env_info": "2025-03-14 09:26:00 Friday",
        "english_tools": tools,
        "english_tasks": ["abcd", "abcdef", "ab", "abcd"],
        "english_answer_list": [
            [
                node("f", {"n": 1}),
                node("f", {"size": "m"}, 0),
                node("g", {}, 0),
                node("g", {}, 1, 2),
                answer(3),
            ],
            [node("f", {"filter": {"range": {"x": 1.5}}}), answer(0)],
            [question, node("f", {}, 0), answer(1)],
            [answer(kind="chat")],
        ],
        "english_task_types": ["Mixed Multi-Tool", "Single-Tool", "Clarify", "Chat"],
        "english_turn_subtypes": ["Partial Information", "Partial Information", "Long-Range Dependency"],
        **changes,
    }


def numbers(*records: dict[str, Any]) -> dict[tuple[str, str], float | None]:
    return {(metric.group, metric.name): metric.value for metric in stats_of(records)}


@pytest.mark.parametrize(
    ("group", "name", "value"),
    [
        ("size", "sessions", 2),
        ("size", "tasks", 8),
        ("task type", "Mixed Multi-Tool", 2),
        ("task type", "Parallel Multi-Tool", 0),
        ("hidden intent", "Partial Information", 4),
        ("hidden intent", "First Turn", 2),
        ("transitions", "3", 2),
        ("transitions", "0", 0),
        ("mean", "tools per session", 3),
        ("mean", "tools without gold call a session", 1),
        ("mean", "user turns a session", 5),
        ("mean", "calls per task", 1.5),
        ("mean", "steps a task", 2.5),
        ("mean", "characters per user message", 4),
        ("steps", "4", 2),
        ("topology", "mixed", 2),
        ("topology", "none", 2),
        ("special shape", "same-name calls", 2),
        ("special shape", "diamond", 2),
        ("longest chain of calls", "3", 2),
        ("questions to the user", "1", 2),
        ("language", "en", 2),
        ("domain", "travel", 2),
        ("subdomain", "travel: hotels", 2),
        ("parameter kind in gold", "enum", 2),
        ("parameter kind in gold", "nested object", 2),
        ("parameter kind in gold", "array", 0),
        ("parameter kind defined", "integer", 6),
    ],
)
def test_a_set_of_two_like_sessions(group: str, name: str, value: float):
    assert numbers(record(), record(id="t"))[group, name] == value


def figure(*records: dict[str, Any]) -> dict[tuple[str, str], tuple[float | None, float | None]]:
    """Value and target of each number of the figure, without its name in front of the panel."""
    return {
        (metric.group.removeprefix("Figure 5: "), metric.name): (metric.value, metric.target)
        for metric in stats_of(records)
        if metric.group.startswith("Figure 5: ")
    }


@pytest.mark.parametrize(
    ("panel", "name", "value", "target"),
    [
        ("task types", "Clarify", 0.25, 0.25),
        ("task types", "Parallel Multi-Tool", 0.0, 0.152),
        ("hidden intent of later tasks", "Partial Information", 2 / 3, 241 / 768),
        ("parameter types of tools", "string enum", 1 / 3, 0.072),
        ("parameter types of tools", "nested object", 1 / 3, 0.0098),
        ("parameter types of tools", "object", 0.0, 0.0283),
        ("user turns a session", "5", 1.0, 93 / 256),
        ("user turns a session", "mean", 5.0, 5.27),
        ("calls of tasks that make any", "1", 2 / 3, 517 / 772),
        ("calls of tasks that make any", "10 or more", 0.0, 11 / 772),
        ("calls of tasks that make any", "mean", 2.0, 1.92),
        ("nodes of a graph", "Mixed Multi-Tool", 5.0, 544 / 84),
        ("changes of type in a session", "3", 1.0, 108 / 256),
        ("changes of type in a session", "neighbours that differ", 1.0, 0.75),
        ("domains", "travel", 1.0, None),
        ("domains", "Location", 0.0, 0.161),
        ("subdomains", "Location: weather", 0.0, 0.039),
    ],
)
def test_each_panel_of_the_paper_stands_beside_its_target(panel: str, name: str, value: float, target: float):
    found = figure(record(), record(id="t"))[panel, name]
    assert found[0] == pytest.approx(value)
    assert found[1] == (None if target is None else pytest.approx(target))


@pytest.mark.parametrize(
    "panel", ["task types", "hidden intent of later tasks", "parameter types of tools", "domains", "subdomains",
              "user turns a session", "calls of tasks that make any", "changes of type in a session"],
)  # fmt: skip
def test_the_targets_of_a_panel_are_shares_of_one_whole(panel: str):
    rest = ("mean", "neighbours that differ")
    targets = [t for (p, name), (_, t) in figure(record()).items() if p == panel and name not in rest]
    assert sum(target or 0.0 for target in targets) == pytest.approx(1.0, abs=0.006)


@pytest.mark.parametrize(
    ("group", "name", "value"),
    [
        ("use of tools", "tools that some gold call uses", 2 / 3),
        ("use of tools", "fewest calls of a tool", 0),
        ("use of tools", "calls of a tool", 4),
        ("use of tools", "sessions with tools that no other has", 0),
        ("origin of gold values", "other", 1.0),
        ("tasks in themselves", "later tasks that hide something", 1.0),
        ("tasks in themselves", "questions of a Clarify task", 1.0),
        ("tasks in themselves", "calls at once, at most, of a task with calls", 4 / 3),
        ("user texts", "words of a text", 1.0),
        ("user texts", "nearly equal to another", 5 / 8),
    ],
)
def test_a_set_tells_how_varied_it_is(group: str, name: str, value: float):
    assert numbers(record(), record(id="t"))[group, name] == pytest.approx(value)


def test_a_gold_value_is_counted_where_it_stands_first():
    said = record()
    said["english_tasks"] = ["take 1 of size m", "with 1.5", "ab", "cd"]
    found = numbers(said)
    assert (found["origin of gold values", "user"], found["origin of gold values", "other"]) == (1.0, 0.0)


def test_the_language_is_told_by_the_prefix_of_the_fields():
    chinese = {key.replace("english", "chinese"): value for key, value in record().items()}
    assert numbers(record(), chinese)["language", "zh"] == 1


def test_a_cycle_counts_as_no_step():
    cyclic = record()
    cyclic["english_answer_list"][1] = [node("f", {}, 1), node("g", {}, 0), answer(0, 1)]
    assert numbers(cyclic)["steps", "0"] == 1


@pytest.mark.parametrize(
    ("graph", "diamond"),
    [
        ([[], [0], [0], [0, 1, 2]], True),
        ([[], [], [0, 1]], False),
        ([[], [0], [0, 1]], False),
        ([[], [0], [0, 1], [0, 1, 2]], False),
        ([[1, 2, 3], [2, 3], [3], []], False),
        ([[1, 2, 3], [3], [3], []], True),
    ],
)
def test_a_diamond_needs_two_calls_that_need_a_third_and_not_each_other(
    graph: list[list[int]], diamond: bool
):
    assert has_diamond(graph) is diamond


def test_an_empty_set_has_no_means():
    assert numbers()["mean", "tools per session"] is None


def test_a_record_that_cannot_be_read_is_named():
    with pytest.raises(DataError, match="record 2"):
        stats_of([record(), {"id": "t"}])
