"""TaskBench's rules: what is sent, what a verdict says, planted mistakes and their explanations, and traces."""

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from benchmarks.taskbench.plan_build import (
    CHAIN,
    NAMED_TOOLS,
    RESOURCE_TOOLS,
    SINGLE,
    TIMED,
    link,
    node,
    plan,
    timed,
)
from wildtool.benchmark import Check, Mutant
from wildtool.benchmarks.taskbench import TASKBENCH
from wildtool.benchmarks.taskbench.data import Example, Library, TaskRecord, ToolPlan
from wildtool.benchmarks.taskbench.rules import prompt_text
from wildtool.trace import GoldCall, GoldDifference
from wildtool.types import Item, Reply, Request, Transcript

Plan = dict[str, Any]
F, P, C = (tool["id"] for tool in RESOURCE_TOOLS)
LINKS = ((F, P), (P, P), (F, C))
RESOURCES, TIMES = (
    Library(domain, tuple(tools), links, {tool["id"]: place for place, tool in enumerate(tools)})
    for domain, tools, links in (("huggingface", RESOURCE_TOOLS, LINKS), ("dailylifeapis", NAMED_TOOLS, ()))
)


def label(gold: Plan) -> ToolPlan:
    return ToolPlan(gold["task_steps"], gold["task_nodes"], gold["task_links"])


def item(gold: Plan, library: Library = RESOURCES, *examples: Example) -> Item:
    return Item("x/1", ("0",), TaskRecord("Do it.", "chain", label(gold), library, examples))


def written(text: Any) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": text if isinstance(text, str) else json.dumps(text, ensure_ascii=False),
    }


# What is sent ----------------------------------------------------------------------------------------


def test_a_prompt_has_tools_links_goal_requirements_examples_and_request_in_order() -> None:
    lines = prompt_text(item(CHAIN, RESOURCES, Example("First?", label(SINGLE))).data, graph=True).split("\n")
    assert lines[:4] == ["# Tools", *(json.dumps(tool, ensure_ascii=False) for tool in RESOURCE_TOOLS)]
    assert lines[4:8] == [
        "# Links: which tools can take the output of, or follow, which",
        f"{F} -> {P}, {C}",
        f"{P} -> {P}",
        "# Goal",
    ]
    assert lines[8].startswith("Plan how the tools") and "<node-j>" in lines[9]
    assert (lines[10], [line[:2] for line in lines[11:15]]) == ("# Requirements", ["1.", "2.", "3.", "4."])
    assert "<node-j>" in lines[13] and lines[14].startswith("4. Each argument must be of a type")
    example = json.dumps(SINGLE)
    request = ["# Request", "Do it.", "Now answer with the JSON alone."]
    assert lines[15:] == ["# Example", "First?", example, *request]


def test_a_prompt_of_named_arguments_has_their_schema_and_no_links_unless_asked() -> None:
    lines = prompt_text(item(TIMED, TIMES).data, graph=False).split("\n")
    assert lines[4] == "# Goal"
    assert "task_links" in lines[6] and "<node-j>" not in lines[6]
    assert lines[10].startswith("3. An argument has a name") and lines[11].startswith("4. A link says")
    assert lines[12:] == ["# Request", "Do it.", "Now answer with the JSON alone."]


@pytest.mark.parametrize("mode", ["chat", "graph", "completion"])
def test_a_request_is_one_message_with_the_label_as_its_answer(mode: str) -> None:
    gold = plan([node("Ä", "b")])
    request = TASKBENCH.in_mode(mode).rules("fixed").episode(item(gold), "0").request()
    assert isinstance(request, Request) and request.gold is not None
    text = prompt_text(item(gold).data, graph=mode == "graph")
    assert (request.messages, request.tools) == ([{"role": "user", "content": text}], ())
    assert request.gold("any") == written(gold)
    assert "Ä" in request.gold("any")["content"]


def test_the_authors_modes_sample_as_they_do() -> None:
    authors = {
        "temperature": 0.2,
        "top_p": 0.1,
        "max_tokens": 2000,
        "frequency_penalty": 0,
        "presence_penalty": 1.05,
    }
    assert {mode: TASKBENCH.in_mode(mode).original_sampling for mode in TASKBENCH.modes} == {
        "chat": {"temperature": 0.0, "max_tokens": 512},
        "graph": {"temperature": 0.0, "max_tokens": 512},
        "completion": {"temperature": 0.0, "max_tokens": 512},
        **dict.fromkeys(["authors", "authors-1", "authors-2", "authors-3"], authors),
    }
    assert TASKBENCH.prompts_note == "as ToLeaP asks"


# Verdicts --------------------------------------------------------------------------------------------


def columns(parts: str, rouge: tuple[float, float] = (1.0, 1.0), **others: Any) -> dict[str, Any]:
    """Columns of F1, hits and sizes of each part, as `F1 HITS SIZES` between commas."""
    cells = [part.split() for part in parts.split(", ")]
    names = ("node", "edge", "name", "value")
    usual = {
        "rouge_1": rouge[0],
        "rouge_2": rouge[1],
        "similarity": None,
        "reference_error": None,
        "counts_steps": True,
        "counts_arguments": True,
        "counts_nodes": True,
    }
    for name, (f1, hits, sizes) in zip(names, cells, strict=True):
        usual |= {f"{name}_f1": float(f1), f"{name}_hits": int(hits), f"{name}_sizes": int(sizes)}
    return usual | others


RIGHT = "tools, links and arguments are those of the label"
UNREADABLE = "0 0 0, 0 0 0, 0 0 0, 0 0 0"
NO_COUNTS = {"counts_steps": False, "counts_arguments": False, "counts_nodes": False}


def steps(count: int) -> list[str]:
    return [f"Step {number}: Call {name}" for number, name in enumerate((F, P, C)[:count], 1)]


@pytest.mark.parametrize(
    ("profile", "reply", "expected"),
    [
        (
            "original",
            CHAIN,
            Check(True, None, RIGHT, 1.0, columns("1 3 6, 1 2 4, 1 3 6, 1 3 6", similarity=1.0)),
        ),
        (
            "fixed",
            plan([node(F, "a red boat"), node(P, "<node-0>"), node(P, "<node-1>")], [], steps(3)),
            Check(
                False,
                "wrong tools",
                "2 of 3 are right, 3 were given",
                4 / 6,
                columns(f"{2 / 3} 2 6, 0.5 1 4, {2 / 3} 2 6, {2 / 3} 2 6"),
            ),
        ),
        (
            "fixed",
            plan([node(F, "a red boat"), node(P, "<node-0>"), node(C, "<node-0>")], [], steps(3)),
            Check(
                False,
                "wrong links",
                "1 of 2 are right, 2 were given",
                2 / 3,
                columns(f"1 3 6, 0.5 1 4, 1 3 6, {2 / 3} 2 6"),
            ),
        ),
        (
            "fixed",
            plan([node(F, "a red boat", "b.mp3"), node(P, "<node-0>"), node(C, "<node-1>")], [], steps(3)),
            Check(
                False,
                "wrong argument names",
                "3 of 3 are right, 4 were given",
                6 / 7,
                columns(f"1 3 6, 1 2 4, {6 / 7} 3 7, {6 / 7} 3 7"),
            ),
        ),
        (
            "fixed",
            plan([node(F, "a blue boat"), node(P, "<node-0>"), node(C, "<node-1>")], [], steps(3)),
            Check(
                False,
                "wrong values",
                "2 of 3 are right, 3 were given",
                2 / 3,
                columns(f"1 3 6, 1 2 4, 1 3 6, {2 / 3} 2 6"),
            ),
        ),
        (
            "toleap",
            "words",
            Check(False, "unreadable plan", "no JSON could be read", 0.0, columns(UNREADABLE, (0.0, 0.0))),
        ),
        (
            "toleap",
            CHAIN | {"task_steps": {"a": 1}},
            Check(
                False,
                "unreadable plan",
                "the published evaluator raises KeyError: 0",
                0.0,
                columns(UNREADABLE, (0.0, 0.0), reference_error="KeyError"),
            ),
        ),
        (
            "original",
            "words",
            Check(
                False,
                "unreadable plan",
                "the original leaves it out of its averages: no JSON could be read",
                0.0,
                columns(UNREADABLE, (0.0, 0.0), **NO_COUNTS),
            ),
        ),
        (
            "original",
            CHAIN | {"task_nodes": [{}]},
            Check(
                False,
                "unreadable plan",
                "the original leaves it out of its averages: KeyError in its nodes or the label's: 'task'",
                0.0,
                columns(UNREADABLE, **NO_COUNTS | {"counts_steps": True}),
            ),
        ),
    ],
)
def test_a_verdict_names_the_first_part_that_is_wrong_and_has_all_counts(
    profile: str, reply: Any, expected: Check
) -> None:
    rules = TASKBENCH.rules(profile)
    episode = rules.episode(item(CHAIN), "0")
    episode.advance(written(reply))
    assert rules.verdict(episode, item(CHAIN), "0") == expected


def test_no_reply_is_an_unreadable_plan() -> None:
    rules = TASKBENCH.rules("fixed")
    for reply in ({}, {"content": None}):
        episode = rules.episode(item(CHAIN), "0")
        episode.advance(reply)
        check = rules.verdict(episode, item(CHAIN), "0")
        assert (check.error, check.reason) == ("unreadable plan", "no JSON could be read")


# Mistakes --------------------------------------------------------------------------------------------


def mutants(
    gold: Plan, library: Library, changes: list[tuple[str, str, Callable[[Plan], None]]]
) -> list[Mutant]:
    expected = [Mutant("0", "empty reply", ({"role": "assistant", "content": ""},), "no text")]
    for kind, note, change in changes:
        other = deepcopy(gold)
        change(other)
        expected.append(Mutant("0", kind, (written(other),), note))
    return expected


def set_argument(key: str, value: Any) -> Callable[[Plan], None]:
    return lambda plan: plan["task_nodes"][1]["arguments"][0].update({key: value})


def test_the_mistakes_of_a_plan_of_named_arguments_are_of_every_kind() -> None:
    nodes = [node("send_text"), timed("book_ferry", "Köln")]
    links = [link("send_text", "book_ferry"), link("a", "b")]
    gold = plan(nodes, links)
    assert list(TASKBENCH.rules("fixed").mutants(item(gold, TIMES))) == mutants(
        gold,
        TIMES,
        [
            ("tool left out", "without book_ferry", lambda plan: plan["task_nodes"].pop()),
            (
                "tool renamed",
                "set_alarm for send_text",
                lambda plan: plan["task_nodes"][0].update(task="set_alarm"),
            ),
            ("node repeated", "book_ferry twice", lambda plan: plan["task_nodes"].append(nodes[1])),
            ("links left out", "no links", lambda plan: plan["task_links"].clear()),
            (
                "link turned round",
                "book_ferry before send_text",
                lambda plan: plan["task_links"][0].update(link("book_ferry", "send_text")),
            ),
            (
                "argument left out",
                'without {"name": "time", "value": "Köln"}',
                lambda plan: plan["task_nodes"][1]["arguments"].pop(),
            ),
            ("argument renamed", "time_v2", set_argument("name", "time_v2")),
            ("value changed", "zzyzx quuxly", set_argument("value", "zzyzx quuxly")),
        ],
    )


def test_the_mistakes_of_a_plan_of_resources_have_no_links_and_no_names() -> None:
    gold = plan([node(F, "a", "Köln"), node("Gone"), node(P, "<node-0>"), node(C, "<node-0>")], [link(F, P)])
    assert list(TASKBENCH.rules("fixed").mutants(item(gold))) == mutants(
        gold,
        RESOURCES,
        [
            ("tool left out", f"without {C}", lambda plan: plan["task_nodes"].pop()),
            (
                "tool renamed",
                f"Another Tool for {F}",
                lambda plan: plan["task_nodes"][0].update(task="Another Tool"),
            ),
            ("node repeated", f"{C} twice", lambda plan: plan["task_nodes"].append(node(C, "<node-0>"))),
            ("argument left out", 'without "Köln"', lambda plan: plan["task_nodes"][0]["arguments"].pop()),
            (
                "value changed",
                "zzyzx quuxly",
                lambda plan: plan["task_nodes"][0].update(arguments=["zzyzx quuxly", "Köln"]),
            ),
        ],
    )


def kinds(profile: str, gold: Plan, library: Library = RESOURCES) -> list[str]:
    return [mutant.kind for mutant in TASKBENCH.rules(profile).mutants(item(gold, library))]


def test_what_a_plan_lacks_cannot_be_mistaken() -> None:
    no_arguments = ["empty reply", "tool left out", "tool renamed", "node repeated"]
    assert kinds("fixed", plan([node(F)])) == no_arguments
    assert kinds("fixed", plan([node("send_text")]), TIMES) == no_arguments
    loop = plan([node("send_text")], [link("send_text", "send_text")])
    assert kinds("fixed", loop, TIMES) == [*no_arguments, "links left out"]
    assert kinds("fixed", plan([])) == ["empty reply"]
    assert kinds("toleap", SINGLE) == []


EXPLAINED = {
    "toleap": ("Q4", "Q4", "names", "names", "", ""),
    "original": ("Q4", "Q4", "names", "names", "", ""),
    "fixed": ("", "", "names", "names", "", ""),
}


@pytest.mark.parametrize("profile", EXPLAINED)
def test_a_mistake_that_lives_is_explained_by_what_the_profile_hides(profile: str) -> None:
    mistakes = (
        "node repeated",
        "argument left out",
        "tool renamed",
        "tool left out",
        "value changed",
        "empty reply",
    )
    reasons = {
        "Q4": "Q4: sets hide how often a tool or an argument occurs",
        "names": "names outside the library count neither way",
        "": "",
    }
    explained = [
        TASKBENCH.rules(profile).explain(item(CHAIN), Mutant("0", kind, (), "")) for kind in mistakes
    ]
    assert explained == [reasons[name] for name in EXPLAINED[profile]]


Q1 = "Q1: F1 is 0 where label and reply are both empty: a plan of one tool has no pair of links"
Q6 = "Q6: a number or list as an argument never matches"


@pytest.mark.parametrize(
    ("gold", "toleap", "original"),
    [
        (plan([node(F, "a"), node(P, 3)]), Q6, ""),
        (SINGLE, Q1, ""),
        (plan([node(F), node(P)]), Q1, ""),
        (plan([]), Q1, ""),
        (
            plan([node(F, 'a "b"'), node(P, 3)]),
            Q6,
            "section 4.2: the clean-up deletes backslashes, and with them what JSON escapes",
        ),
        (
            plan([node(F, None), node(P)]),
            "the published evaluator raises AttributeError: 'NoneType' object has no attribute 'get'",
            "the original leaves it out of its averages: ValueError in its nodes or the label's: no argument before one"
            " that cannot be read",
        ),
    ],
)
def test_a_label_that_is_refused_is_explained(gold: Plan, toleap: str, original: str) -> None:
    reasons = [
        TASKBENCH.rules(profile).explain_gold(item(gold), "0") for profile in ("toleap", "original", "fixed")
    ]
    assert reasons == [toleap, original, ""]


# Traces ----------------------------------------------------------------------------------------------


def test_a_trace_has_the_nodes_of_the_label_each_beside_one_of_the_reply() -> None:
    gold = plan(
        [node(F, "a"), node(P, "b"), node(P, "c"), node(C), node(C)],
        [link(F, P), link(P, C), link(F, C), link("x", F), link(C, C)],
    )
    reply = plan([node(P, "b"), node(F, "z"), node(C), node(P, "y")], [])
    trace = TASKBENCH.rules("fixed").trace(item(gold), "0", Transcript((Reply(written(reply)),)))
    assert trace.gold == (
        GoldCall(F, ["a"], (), "wrong"),
        GoldCall(P, ["b"], (0,), "done"),
        GoldCall(P, ["c"], (0,), "wrong"),
        GoldCall(C, [], (0, 1, 2), "done"),
        GoldCall(C, [], (0, 1, 2, 3), "missed"),
    )
    assert [step.fulfilled for step in trace.steps] == [(1, 3)]
    reason = trace.steps[-1].note
    assert trace.differences == (
        GoldDifference(f"{F}[0]", "a", "z", reason),
        GoldDifference(f"{P}[0]", "c", "y", reason),
    )


def test_a_trace_without_a_reply_has_only_missed_calls() -> None:
    trace = TASKBENCH.rules("fixed").trace(item(SINGLE), "0", Transcript(()))
    assert (trace.gold, trace.steps) == ((GoldCall(F, ["a red boat"], (), "missed"),), ())
