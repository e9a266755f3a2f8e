"""Which call needs which: inferred graphs, edge by edge, and their quality on the labelled set."""

import pytest

from generate.graph.edge_quality import EDGE_KINDS, measure_inference
from generate.graph.graph_build import answer, call, session
from wildtool.benchmarks.wildtoolbench.data import ASK, WILD_MINI_FILE, GoldNode, Task
from wildtool_data.make.graph.infer import Edge, infer_edges


def between_calls(edges: list[Edge]) -> dict[tuple[int, int], Edge]:
    return {(e.source, e.target): e for e in edges if e.kind != "barrier"}


def test_a_value_known_only_from_an_observation_makes_an_edge():
    made = session("pay the bill", call("find_bill", {"bill_id": "b_71"}), call("pay_bill", bill_id="b_71"))
    assert between_calls(infer_edges(made, 0))[0, 1].kind == "argument"


def test_a_key_of_the_same_name_makes_it_surer():
    same = session("pay", call("find_bill", {"billId": "b_71"}), call("pay_bill", bill_id="b_71"))
    other = session("pay", call("find_bill", "the newest is b_71"), call("pay_bill", bill_id="b_71"))
    assert infer_edges(same, 0)[0].confidence > infer_edges(other, 0)[0].confidence


def test_a_value_the_user_said_makes_none():
    made = session("pay bill b_71", call("find_bill", {"bill_id": "b_71"}), call("pay_bill", bill_id="b_71"))
    assert between_calls(infer_edges(made, 0)) == {}


def test_a_value_of_an_earlier_task_makes_none():
    earlier = Task("find it", (call("find_bill", {"bill_id": "b_71"}), answer()), "Single-Tool", "First Turn")
    made = session(
        "pay", call("find_bill", {"bill_id": "b_71"}), call("pay_bill", bill_id="b_71"), before=(earlier,)
    )
    assert between_calls(infer_edges(made, 1)) == {}


def test_a_call_that_only_echoes_its_argument_is_no_source():
    made = session("x", call("a", {"day": "2025-06-20"}, day="2025-06-20"), call("b", day="2025-06-20"))
    assert between_calls(infer_edges(made, 0)) == {}


def test_a_small_number_under_another_key_makes_none():
    made = session("x", call("a", {"floor": 12}), call("b", seats=12))
    assert between_calls(infer_edges(made, 0)) == {}


def test_a_sum_of_what_was_read_and_said_makes_an_edge_to_be_reviewed():
    made = session("1.2 degrees more", call("get_heat", {"celsius": 16.5}), call("set_heat", celsius=17.7))
    assert between_calls(infer_edges(made, 0))[0, 1].doubtful


def test_an_order_the_user_asks_for_makes_a_logical_edge():
    made = session("switch it on, and after that show me the plan", call("switch_on", "on"), call("get_plan"))
    assert between_calls(infer_edges(made, 0))[0, 1].kind == "logical"


def test_what_is_added_beside_an_order_makes_none():
    text = "look it up, then switch it on; also show me the plan"
    made = session(text, call("switch_on", "on"), call("get_plan"))
    assert between_calls(infer_edges(made, 0)) == {}


def test_a_choice_among_candidates_needs_all_their_results():
    found = call("get_order", {"items": [{"item_id": "it_611"}, {"item_id": "it_612"}]})
    tried = [call("check_item", {"refund": n}, item_id=f"it_61{n}") for n in (1, 2)]
    edges = between_calls(
        infer_edges(session("keep the dearer one", found, *tried, call("return_item", item_id="it_611")), 0)
    )
    assert set(edges) == {(0, 1), (0, 2), (1, 3), (2, 3)}


def test_calls_of_one_decision_are_independent():
    made = session("pay", call("find_bill", {"bill_id": "b_71"}), call("pay_bill", bill_id="b_71"))
    assert between_calls(infer_edges(made, 0, steps=[0, 0, 1])) == {}


def test_a_call_made_later_without_a_reason_is_marked():
    made = session("both", call("get_a", "1"), call("get_b", "2"))
    edge = between_calls(infer_edges(made, 0, steps=[0, 1, 2]))[0, 1]
    assert edge.doubtful
    assert "may be parallel" in edge.evidence


def test_a_question_is_a_barrier():
    question = GoldNode(
        ASK, {"tool_name": "b", "missing_required_parameters": ["x"]}, "Which?", (), "the red one"
    )
    edges = infer_edges(session("do it", call("a", "1"), question, call("b", x="red")), 0)
    assert [(e.source, e.target, e.kind) for e in edges] == [
        (0, 1, "barrier"),
        (1, 2, "barrier"),
        (2, 3, "barrier"),
    ]


def test_implied_edges_are_left_out():
    chain = session(
        "go", call("a", {"k": "v_100"}), call("b", {"m": "w_200"}, k="v_100"), call("c", k="v_100", m="w_200")
    )
    assert set(between_calls(infer_edges(chain, 0))) == {(0, 1), (1, 2)}


@pytest.mark.parametrize("kind", [*EDGE_KINDS, "between calls"])
def test_the_labelled_set_is_met(kind: str):
    quality = measure_inference(WILD_MINI_FILE).kinds[kind]
    assert quality.labelled > 0
    assert quality.precision >= 0.95
    assert quality.recall >= 0.9
