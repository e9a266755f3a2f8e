"""What the review knows of sessions: parts, graphs with valid orders, findings with their place."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from long import a_fiftieth_of
from review.made_sets import mini_records, tiny_records
from wildtool_data.formats import find_set
from wildtool_data.formats.base import MAX_ORDERS, GraphEdge, TaskGraph
from wildtool_data.formats.items import ITEMS
from wildtool_data.formats.sessions import SESSIONS
from wildtool_data.pointers import ABSENT, Change, value_at, with_change


def call(idx: int, city: str, *needs: int, observation: Any = None) -> dict[str, Any]:
    action = {"name": "getWeather", "arguments": {"city": city}}
    return {
        "idx": idx,
        "action": action,
        "observation": observation or {"ok": True},
        "dependency_list": list(needs),
    }


def final(idx: int, *needs: int) -> dict[str, Any]:
    action = {"name": "prepare_to_answer", "arguments": {"answer_type": "tool"}}
    return {"idx": idx, "action": action, "observation": "Done.", "dependency_list": list(needs)}


def session(
    nodes: list[dict[str, Any]], type_: str, text: str = "Compare Rome, Paris and Oslo."
) -> dict[str, Any]:
    city = {"city": {"type": "string", "description": "Name of the city."}}
    parameters = {"type": "object", "properties": city, "required": ["city"]}
    function = {"name": "getWeather", "description": "Tells the weather.", "parameters": parameters}
    record = tiny_records(1)[0]
    record["english_tools"] = [{"type": "function", "function": function}]
    record["english_tasks"][0] = text
    record["english_answer_list"][0] = nodes
    record["english_task_types"][0] = type_
    return record


def test_two_independent_calls_have_three_orders_and_depth_two():
    graph = SESSIONS.graphs(
        session([call(0, "Rome"), call(1, "Paris"), final(2, 0, 1)], "Parallel Multi-Tool")
    )[0]
    assert graph.min_depth == 2
    assert graph.derived_type == "Parallel Multi-Tool"
    # Of calls with one name the published rules accept the one order in which they are listed.
    assert graph.orders == (((0, 1), (2,)), ((0,), (1,), (2,)))
    assert not graph.more_orders


def test_a_chain_has_one_order():
    nodes = [call(0, "Rome", observation={"city": "Paris-XY"}), call(1, "Paris-XY", 0), final(2, 1)]
    graph = SESSIONS.graphs(session(nodes, "Sequential Multi-Tool"))[0]
    assert graph.orders == (((0,), (1,), (2,)),)
    assert (graph.min_depth, graph.derived_type) == (3, "Sequential Multi-Tool")
    (edge,) = (edge for edge in graph.edges if (edge.source, edge.target) == (0, 1))
    assert edge.written and edge.inferred and edge.kind == "argument" and (edge.confidence or 0) > 0.9


def test_a_value_whose_dependency_is_missing_is_a_warning_at_its_node():
    nodes = [call(0, "Rome", observation={"city": "Paris-XY"}), call(1, "Paris-XY"), final(2, 0, 1)]
    found = SESSIONS.check(session(nodes, "Parallel Multi-Tool"))
    (doubt,) = (finding for finding in found if finding.rule == "graph")
    assert (doubt.field, doubt.level) == ("/english_answer_list/0/1/dependency_list", "warning")


def test_a_graph_that_cannot_be_executed_has_no_order_and_many_orders_are_cut():
    circle = SESSIONS.graphs(
        session([call(0, "Rome", 1), call(1, "Paris", 0), final(2, 0, 1)], "Mixed Multi-Tool")
    )[0]
    nodes = ("getWeather", "getWeather", "prepare_to_answer")
    alone = ("barrier", "", "a question and the answer stand alone in their step", 1.0)
    edges = [GraphEdge(*edge, True, False) for edge in ((1, 0), (0, 1))]
    edges += [GraphEdge(*edge, True, True, *alone) for edge in ((0, 2), (1, 2))]
    assert circle == TaskGraph(nodes, tuple(edges))
    record = session([call(k, "Rome") for k in range(5)] + [final(5, 0, 1, 2, 3, 4)], "Parallel Multi-Tool")
    for k, node in enumerate(record["english_answer_list"][0][:5]):
        node["action"]["name"] = f"tool{k}"
    wide = SESSIONS.graphs(record)[0]
    assert (len(wide.orders), wide.more_orders) == (MAX_ORDERS, True)
    assert wide.orders[0] == ((0, 1, 2, 3, 4), (5,))


def test_the_rules_find_nothing_in_the_embedded_sessions_and_every_part_is_there():
    for record in mini_records(8):
        assert [finding for finding in SESSIONS.check(record) if finding.level == "error"] == []
        parts = SESSIONS.parts(record)
        assert all(value_at(record, part.field) is not ABSENT for part in parts)
        assert {"user text", "call", "argument", "observation", "edges", "type", "tool"} <= {
            p.kind for p in parts
        }


@pytest.mark.parametrize(
    ("field", "wrong", "rule"),
    [
        ("/english_answer_list/0/0/action/arguments/city", 5, "nodes"),
        ("/english_answer_list/0/0/action/arguments/city", "Lima", "grounding"),
        ("/english_task_types/0", "Chat", "types"),
        ("/english_tasks/1", " ", "text"),
        ("/english_turn_subtypes/0", "None", "schema"),
    ],
)
def test_a_finding_points_at_the_part_that_is_wrong(field: str, wrong: Any, rule: str):
    record = session([call(0, "Rome"), final(1, 0)], "Single-Tool", "Weather in Rome?")
    assert SESSIONS.check(record) == []
    *path, last = field.strip("/").split("/")
    parent: Any = record
    for part in path:
        parent = parent[int(part)] if isinstance(parent, list) else parent[part]
    parent[int(last) if isinstance(parent, list) else last] = wrong
    assert (rule, field) in [(finding.rule, finding.field) for finding in SESSIONS.check(record)]


JUNK = st.none() | st.integers() | st.text(max_size=3) | st.lists(st.integers(), max_size=2) | st.just({})


@settings(max_examples=a_fiftieth_of(500))
@given(st.data())
def test_no_content_makes_a_format_fail(data: st.DataObject):
    content: Any = copy.deepcopy(session([call(0, "Rome"), final(1, 0)], "Single-Tool"))
    parts = [part.field for part in SESSIONS.parts(content)]
    for field in data.draw(
        st.lists(st.sampled_from([*parts, "/english_answer_list", "/english_tools", "/id"]), max_size=3)
    ):
        *path, last = field.strip("/").split("/")
        parent: Any = content
        for part in path:
            parent = (
                parent[int(part)]
                if isinstance(parent, list) and int(part) < len(parent)
                else (parent.get(part) if isinstance(parent, dict) else None)
            )
        if isinstance(parent, list) and int(last) < len(parent):
            parent[int(last)] = data.draw(JUNK)
        elif isinstance(parent, dict):
            parent[last] = data.draw(JUNK)
    for known in (SESSIONS, ITEMS):
        for junk in (content, data.draw(JUNK), {"records": [content, data.draw(JUNK)]}):
            known.check(junk)
            known.facets(junk)
            known.parts(junk)
            known.graphs(junk)
            known.user_texts(junk)
            known.written_edges(junk)
            assert known.task_count(junk) >= 0


def test_an_argument_named_like_a_part_that_later_tasks_do_not_see_makes_them_stale():
    record = mini_records(1)[0]
    node = "/english_answer_list/0/1"
    for field, first in (
        (f"{node}/alternatives", 4),
        (f"{node}/alternatives/amount", 4),
        (f"{node}/dependency_kinds", 4),
        (f"{node}/action/arguments/alternatives", 1),
        (f"{node}/observation/dependency_kinds", 1),
    ):
        assert SESSIONS.first_stale_task(record, field) == first


def test_a_training_file_is_reviewed_as_one_and_no_benchmark_is_guessed(tmp_path: Path):
    record = {
        "conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Yes?"}],
        "tools": "[]",
    }
    path = tmp_path / "train.jsonl"
    path.write_text(f"{json.dumps(record)}\n" * 3, "utf-8")
    format_, place = find_set(str(path))
    assert (format_.name, place) == ("training", path)
    assert find_set(str(path), "glaive")[0].name == "glaive"


@pytest.mark.long
@pytest.mark.parametrize("piece", ["a", "one hundred ", "1.", "三百", "\u0301\u0316", " ", '{"a": [', "ab "])
def test_the_rules_read_long_requests_values_and_names(piece: str):
    """In quadratic time it would take minutes."""
    long = piece * (300_000 // len(piece)) + "b"
    record = session([call(0, "Rome"), final(1, 0)], "Single-Tool")
    place = "/english_answer_list/0/0/action/arguments"
    said = with_change(record, Change("/english_tasks/0", value_at(record, "/english_tasks/0"), long))
    SESSIONS.check(with_change(said, Change(place, {"city": "Rome"}, {"city": long[: len(long) // 2]})))
    named = SESSIONS.check(with_change(record, Change(place, {"city": "Rome"}, {long: 1})))
    assert place in {finding.field for finding in named}
