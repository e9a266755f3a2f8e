"""How tools grow: which attempts are due before and after each result, and where growth stops."""

from dataclasses import replace
from typing import Any

from generate.tools.test_same_findings import TREE, api
from wildtool.toolcall.text.similarity import jaccard
from wildtool_data.make.core.roles import ScriptResult
from wildtool_data.make.tools.assignments import ApiSnapshot
from wildtool_data.make.tools.growth import ApiGrowth
from wildtool_data.make.tools.script import AcceptedApi


def growth(wanted: int = 3, **more: Any) -> ApiGrowth:
    return ApiGrowth(wanted, "1", ("en",), [], ApiSnapshot({"en": TREE}), **more)


LOST: ScriptResult[AcceptedApi] = ScriptResult(None, "designer S1", "odd")


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
