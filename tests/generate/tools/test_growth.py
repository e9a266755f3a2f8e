"""How tools grow: which attempts are due before and after each result, and where growth stops."""

from dataclasses import replace
from typing import Any

from generate.tools.test_same_findings import TREE, api
from wildtool.sets.make.core.roles import ScriptResult
from wildtool.sets.make.tools.assignments import ApiSnapshot
from wildtool.sets.make.tools.documents import DocumentPassage
from wildtool.sets.make.tools.growth import ApiGrowth
from wildtool.sets.make.tools.script import AcceptedApi
from wildtool.toolcall.text.similarity import jaccard


def growth(wanted: int = 3, **more: Any) -> ApiGrowth:
    return ApiGrowth(wanted, "1", ("en",), [], ApiSnapshot({"en": TREE}), **more)


LOST: ScriptResult[AcceptedApi] = ScriptResult(None, "designer S1", "odd")


def test_passages_of_documents_come_before_attempts_and_grow_the_tree():
    passages = [DocumentPassage(f"{name}.md", k, "en", "Boats moor.") for k, name in enumerate("ab")]
    grown = ApiGrowth(3, "1", ("en",), passages, ApiSnapshot({"en": TREE}))
    assert (grown.jobs, grown.end) == (8, 2)
    assert [grown.is_decided(job) for job in range(3)] == [True, True, False]
    asked = []
    for job, result in ((0, None), (1, ScriptResult((("", "Boats"), ("boats", "Moorings")))), (2, LOST)):
        script = grown.script(job)
        assert script is not None
        asked.append(next(script).role)
        grown.record_result(job, result)
    assert asked == ["reader", "reader", "designer"]
    # A passage that failed is no lost attempt at a tool.
    assert [grown.is_decided(job) for job in (5, 6)] == [True, False]
    grown.abandon(3)
    assert [(loss.attempt, loss.reason) for loss in grown.losses] == [
        ("a.md, passage 0, en", "infra_error"),
        ("0", "designer S1"),
    ]
    nodes = grown.snapshot.trees["en"].nodes
    assert [(node.id, node.source) for node in list(nodes.values())[len(TREE.nodes) :]] == [
        ("boats", "document b.md"),
        ("boats/moorings", "document b.md"),
    ]
    both = ApiGrowth(3, "1", ("en",), passages, ApiSnapshot({"en": TREE}))
    for job in (0, 1):
        both.record_result(job, None)
    assert (both.stopped, both.end) == (True, 2)


def test_failed_calls_are_counted_for_each_generation():
    for broken, stopped in ((16, False), (17, True)):
        grown = growth(90)
        for job in range(8):
            grown.record_result(job, None)
        for job in range(8, 16):
            grown.record_result(job, LOST)
        for job in range(16, 48):
            grown.record_result(job, None if job < 16 + broken else LOST)
        assert (grown.stopped, grown.end) == (stopped, 48 if stopped else 112)


def test_an_evolved_tool_may_be_more_like_its_parent_than_like_others():
    parent = api("one", 11)
    words = parent.description.split()
    near = replace(
        parent,
        name="oneMore",
        description=f"{' '.join(reversed(words))} harbour lighthouse anchor mooring captain vessel",
    )
    share = jaccard(near.text, parent.text)
    assert 0.7 < share < 0.9
    for parents, names in (((), ["one"]), (("one",), ["one", "oneMore"]), (("other",), ["one"])):
        grown = growth()
        for job, made in enumerate((parent, replace(near, parents=parents))):
            grown.record_result(job, ScriptResult(AcceptedApi(made, (), ())))
        assert [made.name for made in grown.apis] == names
