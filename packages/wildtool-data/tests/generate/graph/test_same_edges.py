"""The graph of a session's calls follows from the session alone: every edge, with its evidence and how sure it is."""

import json
from pathlib import Path
from typing import Any

from generate.golden import check, digest
from generate.graph.graph_build import answer, call, session
from generate.procedural.wide_tools import WIDE
from wildtool.benchmarks.wildtoolbench.data import ASK, WILD_MINI_FILE, GoldNode, Session, Task, read_session
from wildtool_data.make.core.plan import SessionGenerationSpec
from wildtool_data.make.graph.infer import Edge, infer_edges, reduced
from wildtool_data.make.procedural.sessions import procedural_sessions

QUESTION = GoldNode(ASK, {"tool_name": "b"}, "Which?", (), "The one of rm_7.")


def _rows(edges: list[Edge]) -> list[str]:
    return [f"{e.source} {e.target} {e.kind} {e.confidence:.2f} {e.evidence}" for e in edges]


def _whole(made: Session) -> list[str]:
    """The edges of all tasks: as they are inferred from calls alone, and with a step for each call."""
    rows: list[str] = []
    for t, task in enumerate(made.tasks):
        rows += _rows(infer_edges(made, t))
        rows += ["steps", *_rows(infer_edges(made, t, steps=range(len(task.nodes))))]
    return rows


def test_sessions_have_the_same_edges(tmp_path: Path):
    records = [json.loads(line) for line in WILD_MINI_FILE.read_text("utf-8").splitlines()]
    (tmp_path / "tools.json").write_text(json.dumps(WIDE))
    for tools in (None, tmp_path / "tools.json"):
        records += procedural_sessions(SessionGenerationSpec(16, langs=("en", "zh"), tools=tools), [].append)
    edges: dict[str, Any] = {}
    for k, record in enumerate(records):
        made = read_session(record, "s")
        rows = _whole(made)
        edges[f"{k} {record['id']}"] = f"{len(rows)} {digest(rows)}"
    check("edges", edges)


EARLIER = Task("find rm_5", (call("find", {"room_id": "rm_5"}), answer()), "Single-Tool", "First Turn")
CASES: dict[str, Session] = {
    "same key": session("x", call("a", {"room_id": "rm_1"}), call("b", room_id="rm_1")),
    "key ends alike": session("x", call("a", {"id": "rm_1"}), call("b", room_id="rm_1")),
    "keys of a list": session("x", call("a", {"roomIds": ["rm_1", "rm_2"]}), call("b", room_id="rm_2")),
    "another key": session("x", call("a", {"thing": "rm_1"}), call("b", room_id="rm_1")),
    "no key": session("x", call("a", "it is rm_1"), call("b", room_id="rm_1")),
    "two sources": session(
        "x", call("a", {"x": "rm_1"}), call("c", {"y": "rm_1"}), call("b", room_id="rm_1")
    ),
    "two sources, one of the key": session(
        "x", call("a", {"x": "rm_1"}), call("c", {"room_id": "rm_1"}), call("b", room_id="rm_1")
    ),
    "said": session("take rm_1", call("a", {"room_id": "rm_1"}), call("b", room_id="rm_1")),
    "said earlier": session(
        "x", call("a", {"room_id": "rm_5"}), call("b", room_id="rm_5"), before=(EARLIER,)
    ),
    "echo": session("x", call("a", {"room_id": "rm_1"}, room_id="rm_1"), call("b", room_id="rm_1")),
    "code": session("x", call("a", {"country": "NOR"}), call("b", country="NOR")),
    "long code": session("x", call("a", {"x": "NORW"}), call("b", country="NORW")),
    "short": session("x", call("a", {"x": "ab"}), call("b", y="ab")),
    "short under its key": session("x", call("a", {"y": "ab"}), call("b", y="ab")),
    "three letters": session("x", call("a", {"x": "abc"}), call("b", y="abc")),
    "99": session("x", call("a", {"x": 99}), call("b", y=99)),
    "100": session("x", call("a", {"x": 100}), call("b", y=100)),
    "flag": session("x", call("a", {"x": True}), call("b", y=True)),
    "parts": session("at 9", call("a", {"day": "2025-06-20"}), call("b", when="2025-06-20 09:30")),
    "both parts": session(
        "x",
        call("a", {"day": "2025-06-20"}),
        call("c", {"hour": "09:30"}),
        call("b", when="2025-06-20T09:30"),
    ),
    "listed": session(
        "x",
        call("a", {"who": "Ann Moe"}),
        call("c", {"who": "Ben Lie"}),
        call("b", people="Ann Moe, Ben Lie"),
    ),
    "sum": session("add 1.2", call("a", {"c": 16.5}), call("b", c=17.7)),
    "difference": session("take 100 less", call("a", {"c": 950}), call("b", c=850)),
    "no sum": session("add 1.2", call("a", {"c": 16.5}), call("b", c=17.8)),
    "sum and like call": session(
        "add 100", call("a", {"c": 950}, x="p"), call("a", {"c": 700}, x="q"), call("b", c=1050)
    ),
    **{
        name: session(
            "the cheapest of Oslo and Rome",
            call("a", {"price": 900}, city="Oslo"),
            call("a", {"price": 700}, city="Rome"),
            call("f", {"city": "Rome"}),
            call("b", **{key: "Rome"}),
        )
        for name, key in (("choice", "city"), ("choice under another key", "place"))
    },
    "a part that is said": session(
        "for Ann Moe",
        call("a", {"who": "Ann Moe"}),
        call("c", {"who": "Ben Lie"}),
        call("b", people="Ann Moe,, Ben Lie"),
    ),
    "two values are as sure": session(
        "x", call("a", {"room_id": "rm_1", "day": "2025-06-20"}), call("b", room_id="rm_1", day="2025-06-20")
    ),
    "the second value is surer": session(
        "x", call("a", {"x": "v_100", "room_id": "rm_1"}), call("b", other="v_100", room_id="rm_1")
    ),
    "order": session("switch it on, and after that read it", call("switch", "on"), call("read_it")),
    "order of reading": session("read it, and after that switch it on", call("read_it", "x"), call("switch")),
    "order of one tool": session("do it, then do it", call("do", "x"), call("do", y="z")),
    "order and besides": session("do it, then go; also show", call("do", "x"), call("go")),
    "order, not last": session("do it, then go", call("do", "x"), call("go", "y"), call("stay")),
    "no order": session("do it and go", call("do", "x"), call("go")),
    "question": session("x", QUESTION, call("b", room_id="rm_7")),
    "question between": session(
        "x", call("a", {"y": "rm_8"}), QUESTION, call("b", room_id="rm_7"), call("c", y="rm_8")
    ),
    "chain": session(
        "x", call("a", {"p": "p_11"}), call("b", {"q": "q_22"}, p="p_11"), call("c", q="q_22", p="p_11")
    ),
    "nested": session(
        "x", call("a", {"x": [{"room": {"room_id": "rm_1"}}]}), call("b", rooms=[{"room_id": "rm_1"}])
    ),
}


def test_each_reason_for_an_edge_is_given_with_how_sure_it_is():
    check("edges_cases", {name: _whole(made) for name, made in CASES.items()})


def test_steps_hold_calls_of_one_decision_apart():
    made = session("x", call("a", {"p": "p_11"}), call("b", {"q": "q_22"}), call("c", p="p_11"), call("d"))
    steps = ([0, 0, 0, 0, 1], [0, 0, 1, 1, 2], [0, 1, 2, 3, 4])
    check("edges_steps", {str(each): _rows(infer_edges(made, 0, steps=each)) for each in steps})


def test_what_other_edges_imply_is_left_out():
    assert reduced([[], [0], [0, 1, 1], [2, 0]]) == [(), (0,), (1,), (2,)]
