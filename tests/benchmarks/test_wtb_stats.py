"""The statistics of a set count what its sessions hold."""

from typing import Any

import pytest

from wildtool.benchmarks.wildtoolbench.stats import stats
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
    return {(metric.group, metric.name): metric.value for metric in stats(records)}


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
        ("mean", "tools a session", 3),
        ("mean", "tools without gold call a session", 1),
        ("mean", "user turns a session", 5),
        ("mean", "calls a task", 1.5),
        ("mean", "steps a task", 2.5),
        ("mean", "characters a user text", 4),
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


def test_the_language_is_told_by_the_prefix_of_the_fields():
    chinese = {key.replace("english", "chinese"): value for key, value in record().items()}
    assert numbers(record(), chinese)["language", "zh"] == 1


def test_a_cycle_counts_as_no_step():
    cyclic = record()
    cyclic["english_answer_list"][1] = [node("f", {}, 1), node("g", {}, 0), answer(0, 1)]
    assert numbers(cyclic)["steps", "0"] == 1


def test_an_empty_set_has_no_means():
    assert numbers()["mean", "tools a session"] is None


def test_a_record_that_cannot_be_read_is_named():
    with pytest.raises(DataError, match="record 2"):
        stats([record(), {"id": "t"}])
