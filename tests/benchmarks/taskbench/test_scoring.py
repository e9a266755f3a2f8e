"""What each profile of TaskBench makes of a reply, in counts; and the kinds of files that texts name."""

import json
from typing import Any

import pytest

from benchmarks.taskbench.plan_build import NAMED_TOOLS, RESOURCE_TOOLS, link, node, plan, timed
from wildtool.benchmarks.taskbench.data import Library, ToolPlan
from wildtool.benchmarks.taskbench.rules import SCORINGS
from wildtool.benchmarks.taskbench.scores import NOTHING, PlanScores, media_type

PROFILES = ("toleap", "original", "fixed")
F, P, C = (tool["id"] for tool in RESOURCE_TOOLS)
RESOURCES, TIMES = (
    Library(domain, tuple(tools), (), {tool["id"]: place for place, tool in enumerate(tools)})
    for domain, tools in (("huggingface", RESOURCE_TOOLS), ("dailylifeapis", NAMED_TOOLS))
)
LEFT_OUT = "the original leaves it out of its averages: "


def counts(scores: PlanScores) -> str:
    """ROUGE; hits, predicted and gold of tools, links, names and values; order of tools; what is wrong, if anything."""
    parts = (scores.node, scores.edge, scores.name, scores.value)
    overlaps = (f"{part.hits}/{part.predicted}/{part.gold}" for part in parts)
    order = None if scores.similarity is None else round(scores.similarity, 4)
    numbers = " ".join(map(str, (round(scores.rouge_1, 4), round(scores.rouge_2, 4), *overlaps, order)))
    if not scores.fault:
        assert (scores.counts, scores.raised) == ((True, True, True), "")
        return numbers
    # What Python says of an error differs from version to version.
    fault = scores.fault if scores.raised else scores.fault.partition("label's: ")[0]
    counted = "".join(str(int(count)) for count in scores.counts)
    return f"{numbers} {counted} {scores.raised}: {fault}"


def scored(profile: str, library: Library, gold: dict[str, Any], reply: Any) -> PlanScores:
    text = reply if isinstance(reply, str) else json.dumps(reply)
    label = ToolPlan(gold["task_steps"], gold["task_nodes"], gold["task_links"])
    return SCORINGS[profile].score(text, label, library)


GOLD_0 = plan(
    [node(F, "a.png"), node(P, "<node-0>"), node(C, "<node-1>", "<node-0>", "see b.mp3")],
    [],
    ["Find a photo", "Paint it red"],
)
GOLD_1 = {
    "task_steps": ["Book", "Text"],
    "task_nodes": [timed("book_ferry", "9:00"), timed("send_text", "9")],
    "task_links": [link("book_ferry", "send_text"), link("send_text", "x")],
}
GOLD_2 = plan([node(F, "a")], [], ["Find"])
GOLD_3 = plan([node(F, 3, [1], 2.5)], [], ["Find"])
GOLD_4 = plan([node(F, {"a": 1}, {"name": "x", "value": "y"})], [], ["Find"])


@pytest.mark.parametrize(
    ("library", "gold", "reply", "toleap", "original", "fixed"),
    [
        (
            RESOURCES,
            GOLD_0,
            GOLD_0,
            "1.0 1.0 3/3/3 2/2/2 4/4/4 5/5/5 None",
            "1.0 1.0 3/3/3 3/3/3 4/4/4 5/5/5 1.0",
            "1.0 1.0 3/3/3 3/3/3 5/5/5 5/5/5 None",
        ),
        (
            RESOURCES,
            GOLD_0,
            plan(
                [node(F, "a.jpg", "x"), node("Gone", "<node-0>"), node(P, "<node-1>"), node(P, "u.v")],
                [],
                ["Find one photo", "Paint"],
            ),
            "0.6 0.25 2/3/3 0/3/2 2/4/4 0/5/5 None",
            "0.6 0.25 2/2/3 0/2/3 1/5/4 0/5/5 0.5714",
            "0.6 0.25 2/4/3 0/2/3 1/5/5 0/5/5 None",
        ),
        (
            RESOURCES,
            GOLD_0,
            plan(
                [
                    {"name": F, "arguments": ["a.png"]},
                    {"tool": P},
                    3,
                    {"task_name": C, "arguments": {"x": "<node-0>"}},
                ],
                [],
                [
                    ["Find", "a"],
                    ["b", 1],
                    {"step": "Paint"},
                    {"step_name": "it", "description": "red"},
                    {"x": 1},
                    7,
                ],
            ),
            "0.5333 0.1538 3/3/3 2/2/2 2/2/4 1/2/5 None",
            f"0.5 0.1111 0/0/0 0/0/0 0/0/0 0/0/0 None 100 : {LEFT_OUT}KeyError in its nodes or the ",
            "0.6667 0.4615 3/3/3 1/1/3 2/2/5 2/2/5 None",
        ),
        (
            RESOURCES,
            GOLD_0,
            {
                "task_steps": "Find it",
                "task_nodes": [
                    node(F, "<node-0>"),
                    node(F, ["a", "b.png"]),
                    node(P, ["c", 1], {"a": "d"}, {}, [], None, 5, "r.mp4"),
                ],
            },
            "0.0 0.0 2/2/3 1/2/2 2/6/4 0/7/5 None",
            "0.0 0.0 2/2/3 0/0/3 2/4/4 0/5/5 0.6667",
            "0.5 0.0 2/3/3 0/0/3 1/8/5 0/8/5 None",
        ),
        (
            RESOURCES,
            GOLD_0,
            {
                "task_steps": [{"id": "Find"}, {"id": "a photo"}],
                "task_nodes": [node("Photo_Finder", "a.png", "<node-7>", "<node-x>", "<node-0>", "b")],
            },
            "0.5455 0.2222 0/1/3 0/0/2 0/2/4 0/5/5 None",
            "0.6667 0.5714 1/1/3 0/0/3 1/2/4 1/2/5 0.5",
            "0.6667 0.5714 0/1/3 0/0/3 0/5/5 0/5/5 None",
        ),
        (
            RESOURCES,
            GOLD_0,
            {"task_steps": [{"step": "Find"}, {"id": "a photo"}], "task_nodes": [node(3, "a.png")]},
            "0.6 0.25 0/1/3 0/0/2 0/1/4 0/1/5 None",
            f"0.5455 0.2222 0/0/0 0/0/0 0/0/0 0/0/0 None 100 : {LEFT_OUT}AttributeError in its nodes or the ",
            "0.6667 0.5714 0/1/3 0/0/3 0/1/5 0/1/5 None",
        ),
        (
            RESOURCES,
            GOLD_0,
            {"task_steps": ["Find", 3], "task_nodes": [{"task": F}, {}]},
            "0.25 0.0 1/1/3 0/0/2 0/0/4 0/0/5 None",
            f"0.25 0.0 0/0/0 0/0/0 0/0/0 0/0/0 None 100 : {LEFT_OUT}KeyError in its nodes or the ",
            "0.25 0.0 1/2/3 0/0/3 0/0/5 0/0/5 None",
        ),
        (
            RESOURCES,
            GOLD_0,
            {"task_steps": [], "task_nodes": [{"task": F, "arguments": None}]},
            "0.0 0.0 1/1/3 0/0/2 0/0/4 0/0/5 None",
            f"0.0 0.0 0/0/0 0/0/0 0/0/0 0/0/0 None 100 : {LEFT_OUT}TypeError in its nodes or the ",
            "0.0 0.0 1/1/3 0/0/3 0/0/5 0/0/5 None",
        ),
        (
            RESOURCES,
            GOLD_0,
            {
                "task_steps": {"a": 1},
                "task_nodes": {"task": F, "arguments": [1.0, 1.5, True, None, {"b": 2, "a": "ü"}]},
            },
            "0.0 0.0 0/0/0 0/0/0 0/0/0 0/0/0 None 111 KeyError: the published evaluator raises KeyError: 0",
            f"0.25 0.0 0/0/0 0/0/0 0/0/0 0/0/0 None 100 : {LEFT_OUT}TypeError in its nodes or the ",
            "0.0 0.0 1/1/3 0/0/3 0/5/5 0/5/5 None",
        ),
        (
            RESOURCES,
            GOLD_0,
            {"task_nodes": []},
            "0.0 0.0 0/0/3 0/0/2 0/0/4 0/0/5 None",
            f"0.0 0.0 0/0/0 0/0/0 0/0/0 0/0/0 None 000 : {LEFT_OUT}it has no task_steps",
            "0.0 0.0 0/0/3 0/0/3 0/0/5 0/0/5 None",
        ),
        (
            RESOURCES,
            GOLD_0,
            [],
            "0.0 0.0 0/0/3 0/0/2 0/0/4 0/0/5 None",
            f"0.0 0.0 0/0/0 0/0/0 0/0/0 0/0/0 None 000 : {LEFT_OUT}no JSON could be read",
            "0.0 0.0 0/0/0 0/0/0 0/0/0 0/0/0 None 111 : no JSON could be read",
        ),
        (
            RESOURCES,
            GOLD_0,
            "x",
            "0.0 0.0 0/0/0 0/0/0 0/0/0 0/0/0 None 111 : no JSON could be read",
            f"0.0 0.0 0/0/0 0/0/0 0/0/0 0/0/0 None 000 : {LEFT_OUT}no JSON could be read",
            "0.0 0.0 0/0/0 0/0/0 0/0/0 0/0/0 None 111 : no JSON could be read",
        ),
        (
            RESOURCES,
            GOLD_0,
            '[1] {"task_nodes": []}',
            "0.0 0.0 0/0/3 0/0/2 0/0/4 0/0/5 None",
            f"0.0 0.0 0/0/0 0/0/0 0/0/0 0/0/0 None 000 : {LEFT_OUT}it has no task_steps",
            "0.0 0.0 0/0/3 0/0/3 0/0/5 0/0/5 None",
        ),
        (
            RESOURCES,
            GOLD_0,
            'RESULT #: a {"task_steps": ["Find\\\\_it"], "task_nodes": []} b',
            "0.5 0.0 0/0/3 0/0/2 0/0/4 0/0/5 None",
            "0.5 0.0 0/0/3 0/0/3 0/0/4 0/0/5 0.0",
            "0.5 0.0 0/0/3 0/0/3 0/0/5 0/0/5 None",
        ),
        (
            RESOURCES,
            GOLD_0,
            '{"task_steps": [], "task_nodes"',
            "0.0 0.0 0/0/0 0/0/0 0/0/0 0/0/0 None 111 : no JSON could be read",
            f"0.0 0.0 0/0/0 0/0/0 0/0/0 0/0/0 None 000 : {LEFT_OUT}no JSON could be read",
            "0.0 0.0 0/0/0 0/0/0 0/0/0 0/0/0 None 111 : no JSON could be read",
        ),
        (
            RESOURCES,
            GOLD_0,
            "a ]",
            "0.0 0.0 0/0/0 0/0/0 0/0/0 0/0/0 None 111 : no JSON could be read",
            f"0.0 0.0 0/0/0 0/0/0 0/0/0 0/0/0 None 000 : {LEFT_OUT}no JSON could be read",
            "0.0 0.0 0/0/0 0/0/0 0/0/0 0/0/0 None 111 : no JSON could be read",
        ),
        (
            RESOURCES,
            GOLD_0,
            plan([node(F, "a")], [], ["Finding photos", "Painted reds"]),
            "0.8 0.25 1/1/3 0/0/2 0/1/4 0/1/5 None",
            "0.0 0.0 1/1/3 0/0/3 0/1/4 0/1/5 0.5",
            "0.8 0.25 1/1/3 0/0/3 0/1/5 0/1/5 None",
        ),
        (
            RESOURCES,
            GOLD_0,
            {"task_steps": [{"description": "Find a photo"}, {"description": "Paint"}], "task_nodes": []},
            "0.8 0.75 0/0/3 0/0/2 0/0/4 0/0/5 None",
            "0.8 0.75 0/0/3 0/0/3 0/0/4 0/0/5 0.0",
            "0.8 0.75 0/0/3 0/0/3 0/0/5 0/0/5 None",
        ),
        (
            RESOURCES,
            GOLD_0,
            {"task_steps": [{"step": "Find a photo", "task": "x"}], "task_nodes": []},
            "0.6667 0.5714 0/0/3 0/0/2 0/0/4 0/0/5 None",
            "0.0 0.0 0/0/3 0/0/3 0/0/4 0/0/5 0.0",
            "0.6 0.5 0/0/3 0/0/3 0/0/5 0/0/5 None",
        ),
        (
            RESOURCES,
            GOLD_0,
            plan(
                [
                    node(F, ""),
                    node(C, "<node-1>", "<node-2>", "<node-0"),
                    node(C, "is x.svg", "B.PNG", "https://a.gif/b.mp4"),
                ],
                [],
                None,
            ),
            "0.0952 0.0 2/2/3 0/2/2 1/3/4 1/7/5 None",
            "0.0952 0.0 2/2/3 0/1/3 1/3/4 0/5/5 0.6667",
            "0.0952 0.0 2/3/3 1/2/3 2/7/5 1/7/5 None",
        ),
        (
            RESOURCES,
            GOLD_0,
            plan([node("Gone", "a"), node(P, "<node-0>")], [], []),
            "0.0 0.0 1/2/3 0/1/2 1/2/4 1/2/5 None",
            "0.0 0.0 1/1/3 0/1/3 0/2/4 0/2/5 0.4",
            "0.0 0.0 1/2/3 0/1/3 0/2/5 0/2/5 None",
        ),
        (
            TIMES,
            GOLD_1,
            GOLD_1,
            "1.0 1.0 2/2/2 1/1/1 2/2/2 2/2/2 None",
            "1.0 1.0 2/2/2 2/2/2 2/2/2 2/2/2 1.0",
            "1.0 1.0 2/2/2 2/2/2 2/2/2 2/2/2 None",
        ),
        (
            TIMES,
            GOLD_1,
            {
                "task_steps": ["Book"],
                "task_nodes": [
                    timed("book_ferry", ' "9:00" '),
                    timed("send_text", 9.0),
                    {"task": "gone", "arguments": {"time": 3, "at": None}},
                ],
                "task_links": [link("book_ferry", "y"), link("y", "send_text"), link("z", "x")],
            },
            "0.6667 0.0 2/3/2 0/2/1 2/3/2 0/4/2 None",
            f"0.0 0.0 0/0/0 0/0/0 0/0/0 0/0/0 None 000 : {LEFT_OUT}no JSON could be read",
            "0.6667 0.0 2/3/2 0/3/2 2/4/2 2/4/2 None",
        ),
        (
            TIMES,
            GOLD_1,
            {
                "task_steps": ["Book"],
                "task_nodes": [{"task": "send_text", "arguments": ["9", {"value": 9}, {"name": "time"}]}],
                "task_links": {"source": "book_ferry", "target": "send_text"},
            },
            "0.6667 0.0 1/1/2 0/0/1 1/3/2 0/3/2 None",
            f"0.6667 0.0 0/0/0 0/0/0 0/0/0 0/0/0 None 100 : {LEFT_OUT}TypeError in its nodes or the ",
            "0.6667 0.0 1/1/2 1/1/2 1/3/2 0/3/2 None",
        ),
        (
            TIMES,
            GOLD_1,
            {
                "task_steps": ["Book"],
                "task_nodes": [{"name": "send_text", "arguments": []}],
                "task_links": [3],
            },
            "0.6667 0.0 1/1/2 0/0/1 0/0/2 0/0/2 None",
            f"0.6667 0.0 0/0/0 0/0/0 0/0/0 0/0/0 None 100 : {LEFT_OUT}KeyError in its nodes or the ",
            "0.6667 0.0 1/1/2 0/0/2 0/0/2 0/0/2 None",
        ),
        (
            TIMES,
            GOLD_1,
            {"task_steps": ["Book"], "task_nodes": [timed(["send_text"], "9")], "task_links": []},
            "0.6667 0.0 0/1/2 0/0/1 0/1/2 0/1/2 None",
            f"0.6667 0.0 0/0/0 0/0/0 0/0/0 0/0/0 None 110 : {LEFT_OUT}the name of a tool is no text",
            "0.6667 0.0 0/1/2 0/0/2 0/1/2 0/1/2 None",
        ),
        (
            TIMES,
            GOLD_1,
            {"task_steps": ["Book"], "task_nodes": [timed(4, "9")], "task_links": []},
            "0.6667 0.0 0/1/2 0/0/1 0/1/2 0/1/2 None",
            f"0.6667 0.0 0/0/0 0/0/0 0/0/0 0/0/0 None 110 : {LEFT_OUT}the name of a tool is no text",
            "0.6667 0.0 0/1/2 0/0/2 0/1/2 0/1/2 None",
        ),
        (
            TIMES,
            GOLD_1,
            {"task_steps": ["Book"], "task_nodes": [timed("send_text", ["9"])], "task_links": []},
            "0.6667 0.0 1/1/2 0/0/1 1/1/2 0/1/2 None",
            "0.6667 0.0 1/1/2 0/0/2 1/1/2 0/1/2 0.6667",
            "0.6667 0.0 1/1/2 0/0/2 1/1/2 0/1/2 None",
        ),
        (
            TIMES,
            GOLD_1,
            {"task_steps": ["Book"], "task_nodes": []},
            "0.6667 0.0 0/0/2 0/0/1 0/0/2 0/0/2 None",
            f"0.6667 0.0 0/0/0 0/0/0 0/0/0 0/0/0 None 100 : {LEFT_OUT}KeyError in its nodes or the ",
            "0.6667 0.0 0/0/2 0/0/2 0/0/2 0/0/2 None",
        ),
        (
            TIMES,
            GOLD_1,
            {
                "task_steps": ["Book"],
                "task_nodes": [timed("send_text", "9")],
                "task_links": [link("a", "b"), 3],
            },
            "0.6667 0.0 1/1/2 0/0/1 1/1/2 1/1/2 None",
            "0.0 0.0 0/0/2 0/0/2 0/0/2 0/0/2 0.0 111 TypeError: the published evaluator raises TypeError: a link is none,"
            " or a name is a list",
            "0.6667 0.0 1/1/2 0/1/2 1/1/2 1/1/2 None",
        ),
        (
            TIMES,
            GOLD_1,
            {"task_steps": {"a": 1}, "task_nodes": [], "task_links": []},
            "0.0 0.0 0/0/0 0/0/0 0/0/0 0/0/0 None 111 KeyError: the published evaluator raises KeyError: 0",
            "0.0 0.0 0/0/2 0/0/2 0/0/2 0/0/2 0.0",
            "0.0 0.0 0/0/2 0/0/2 0/0/2 0/0/2 None",
        ),
        (
            RESOURCES,
            GOLD_2,
            GOLD_2,
            "1.0 0.0 1/1/1 0/0/0 1/1/1 1/1/1 None",
            "1.0 0.0 1/1/1 0/0/0 1/1/1 1/1/1 1.0",
            "1.0 0.0 1/1/1 0/0/0 1/1/1 1/1/1 None",
        ),
        (
            RESOURCES,
            GOLD_2,
            plan([node(F, "b")], [], ["Look"]),
            "0.0 0.0 1/1/1 0/0/0 1/1/1 0/1/1 None",
            "0.0 0.0 1/1/1 0/0/0 1/1/1 0/1/1 1.0",
            "0.0 0.0 1/1/1 0/0/0 1/1/1 0/1/1 None",
        ),
        (
            RESOURCES,
            GOLD_2,
            plan([node(F, "a"), node(F, "a")], [], ["Find"]),
            "1.0 0.0 1/1/1 0/1/0 1/1/1 1/1/1 None",
            "1.0 0.0 1/1/1 0/0/0 1/1/1 1/1/1 0.6667",
            "1.0 0.0 1/2/1 0/0/0 1/2/1 1/2/1 None",
        ),
        (
            RESOURCES,
            GOLD_2,
            plan([node(F, "a"), node(P, "a"), node(P, "a")], [], ["Find"]),
            "1.0 0.0 1/2/1 0/2/0 1/2/1 1/2/1 None",
            "1.0 0.0 1/2/1 0/0/0 1/2/1 1/2/1 0.5",
            "1.0 0.0 1/3/1 0/0/0 1/3/1 1/3/1 None",
        ),
        (
            RESOURCES,
            GOLD_3,
            GOLD_3,
            "1.0 0.0 1/1/1 0/0/0 0/2/2 0/2/3 None",
            f"1.0 0.0 0/0/0 0/0/0 0/0/0 0/0/0 None 100 : {LEFT_OUT}ValueError in its nodes or the ",
            "1.0 0.0 1/1/1 0/0/0 3/3/3 3/3/3 None",
        ),
        (
            RESOURCES,
            GOLD_4,
            GOLD_4,
            "1.0 0.0 1/1/1 0/0/0 1/2/2 1/2/2 None",
            f"1.0 0.0 0/0/0 0/0/0 0/0/0 0/0/0 None 100 : {LEFT_OUT}ValueError in its nodes or the ",
            "1.0 0.0 1/1/1 0/0/0 3/3/3 3/3/3 None",
        ),
        (
            RESOURCES,
            GOLD_3,
            plan(
                [node(F, {"name": "number", "value": 3}, {"name": "list", "value": [1]}, "<node-1>")],
                [],
                ["Finds"],
            ),
            "1.0 0.0 1/1/1 0/0/0 2/3/2 2/3/3 None",
            f"0.0 0.0 0/0/0 0/0/0 0/0/0 0/0/0 None 100 : {LEFT_OUT}ValueError in its nodes or the ",
            "1.0 0.0 1/1/1 0/0/0 3/5/3 2/5/3 None",
        ),
        (
            RESOURCES,
            GOLD_2,
            "{} RESULT #: " + json.dumps(GOLD_2),
            "0.0 0.0 0/0/1 0/0/0 0/0/1 0/0/1 None",
            "1.0 0.0 1/1/1 0/0/0 1/1/1 1/1/1 1.0",
            "1.0 0.0 1/1/1 0/0/0 1/1/1 1/1/1 None",
        ),
        (
            RESOURCES,
            GOLD_2,
            "no bracket",
            "0.0 0.0 0/0/0 0/0/0 0/0/0 0/0/0 None 111 : no JSON could be read",
            f"0.0 0.0 0/0/0 0/0/0 0/0/0 0/0/0 None 000 : {LEFT_OUT}no JSON could be read",
            "0.0 0.0 0/0/0 0/0/0 0/0/0 0/0/0 None 111 : no JSON could be read",
        ),
    ],
)
def test_what_each_profile_counts_in_a_reply(
    library: Library, gold: dict[str, Any], reply: Any, toleap: str, original: str, fixed: str
) -> None:
    found = [counts(scored(profile, library, gold, reply)) for profile in PROFILES]
    assert found == [toleap, original, fixed]


def test_parts_that_label_and_reply_both_lack_are_equal_except_for_toleap() -> None:
    scores = [scored(profile, RESOURCES, GOLD_2, GOLD_2) for profile in PROFILES]
    assert [each.f1(NOTHING) for each in scores] == [0.0, 1.0, 1.0]


def test_the_output_type_of_a_tool_is_its_first_if_it_has_any() -> None:
    tools = ({"id": "a", "output-type": ["image", "text"]}, {"id": "b", "output-type": []}, {"id": "c"})
    library = Library("huggingface", tools, (), {"a": 0, "b": 1, "c": 2})
    assert [library.output_type(name) for name in "abcd"] == ["image", "none", "none", "other"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        *(
            (f"a.{ending} b", "image")
            for ending in ("jpg", "png", "jpeg", "gif", "bmp", "tiff", "svg", "ico")
        ),
        *((f"a.{ending}", "audio") for ending in ("mp3", "wav", "wma", "ogg", "aac", "flac", "aiff", "au")),
        *(
            (f"a.{ending}", "video")
            for ending in ("mp4", "avi", "mov", "flv", "wmv", "mkv", "webm", "m4v", "mpeg")
        ),
        ("a.mp3 a.mp4 a.jpg", "image"),
        ("a.mp4 a.mp3", "audio"),
        ("a.txt", "text"),
        ("mp3", "text"),
        ("", "text"),
    ],
)
def test_the_kind_of_a_file_is_the_first_that_an_ending_names(text: str, kind: str) -> None:
    assert media_type(text) == kind


@pytest.mark.parametrize(
    ("gold", "reply", "hits"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, 1),
        ("2", 2.0, 1),
        ("2", 2.5, 0),
        (1.5, 1.5, 1),
        (1.5, 1, 0),
        ('{"a": "ü"}', {"a": "ü"}, 1),
        (" '\"x\"' ", "x", 1),
        (None, "null", 1),
        (True, "true", 1),
    ],
)
def test_values_are_compared_as_they_are_written_by_fixed(gold: Any, reply: Any, hits: int) -> None:
    plans = [plan([timed("set_alarm", value)], [], ["x"]) for value in (gold, reply)]
    assert scored("fixed", TIMES, *plans).value.hits == hits
