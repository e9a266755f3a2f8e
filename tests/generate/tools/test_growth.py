"""How tools grow: which attempts are due before and after each result, and where growth stops."""

import asyncio
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from generate.tools.test_same_findings import TREE, api
from wildtool.engine.call.rate_limit import LimitError
from wildtool.errors import InfraError, UsageError
from wildtool.sets.make.core.maker import PROFILE
from wildtool.sets.make.core.roles import ScriptResult
from wildtool.sets.make.tools import maker
from wildtool.sets.make.tools.assignments import ApiSnapshot
from wildtool.sets.make.tools.documents import DocumentPassage
from wildtool.sets.make.tools.growth import ApiGrowth, generation_span
from wildtool.sets.make.tools.maker import ApiMaker, ToolGenerationSpec, recorded_jobs
from wildtool.sets.make.tools.script import AcceptedApi
from wildtool.toolcall.text.similarity import jaccard
from wildtool.types import Reply, Transcript, Verdict


def growth(wanted: int = 3, **more: Any) -> ApiGrowth:
    return ApiGrowth(wanted, "1", ("en",), [], ApiSnapshot({"en": TREE}), **more)


def kept(name: str, seed: int) -> ScriptResult[AcceptedApi]:
    """An API that also proposes functions, nearly the same ones each time."""
    sweep = f"sweep the floor{'s' * (seed - 11)}"
    proposals = (("markets/stalls", "let a stal"), ("markets/stalls", sweep), ("goods", sweep))
    return ScriptResult(
        AcceptedApi(api(name, seed), (("markets/stalls", f"do {name}"),), proposals),
        counters={"designer asked": 1},
    )


LOST: ScriptResult[AcceptedApi] = ScriptResult(None, "designer S1", "odd")


def test_growth_knows_what_is_due_before_and_after_each_result():
    grown = growth()
    assert (grown.jobs, grown.end, grown.enough, grown.needs_more) == (6, 16, False, True)
    assert [(grown.is_decided(job), grown.is_due(job)) for job in (0, 2, 3, 15, 16)] == [
        (True, True),
        (True, True),
        (False, True),
        (False, True),
        (False, False),
    ]
    grown.record_result(1, LOST)
    assert [grown.is_decided(job) for job in (3, 4)] == [True, False]
    grown.record_result(0, kept("one", 11))
    grown.record_result(2, kept("ONE", 12))
    grown.record_result(3, kept("two", 11))
    assert [(loss.attempt, loss.reason, loss.detail) for loss in grown.losses] == [
        ("1", "designer S1", "odd"),
        ("2", "taken", "there is an API called ONE already"),
        ("3", "near duplicate", "two is nearly one, which is there already"),
    ]
    assert [grown.is_decided(job) for job in (5, 6)] == [True, False]
    with pytest.raises(ValueError, match="job 3 is not of this generation"):
        grown.record_result(3, LOST)
    with pytest.raises(ValueError, match="job 16 is not of this generation"):
        grown.record_result(16, LOST)
    for job, seed in ((4, 13), (5, 14)):
        grown.record_result(job, kept(f"k{job}", seed))
    assert (grown.enough, grown.needs_more, grown.is_due(6), grown.is_decided(99)) == (
        True,
        False,
        False,
        True,
    )
    assert grown.counters == {"designer asked": 5}
    tree = grown.next_snapshot().trees["en"]
    assert [(node.name, node.source) for node in tree.children("markets/stalls")] == [
        ("let a stall", "seed"),
        ("do one", "attempt 0"),
        ("sweep the floor", "attempt 0"),
        ("do k4", "attempt 4"),
        ("do k5", "attempt 5"),
    ]
    assert [node.name for node in tree.children("goods")] == ["sweep the floor"]


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


def test_no_more_is_needed_once_all_attempts_at_a_tool_are_lost():
    grown = growth(1)
    for job in range(2):
        assert grown.needs_more
        grown.record_result(job, LOST)
    assert (grown.needs_more, grown.enough) == (False, False)


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


def test_growth_stops_where_most_calls_of_a_generation_failed():
    for broken, stopped in ((8, False), (9, True)):
        grown = growth(30)
        for job in range(16):
            grown.record_result(job, None if job < broken else LOST)
        assert (grown.stopped, grown.end, grown.is_due(16)) == (stopped, 16 if stopped else 48, not stopped)
        assert (grown.losses[0].reason, grown.losses[0].detail) == (
            "infra_error",
            "a call failed after all its retries",
        )
    grown = growth(30)
    grown.abandon(0)
    assert (grown.stopped, grown.losses, grown.is_decided(5), grown.is_due(1)) == (True, [], True, False)


def test_generations_have_their_sizes():
    assert [generation_span(job, 3) for job in (0, 2, 3, 18, 19, 50, 51, 115, 243, 500)] == [
        (0, 3),
        (0, 3),
        (3, 19),
        (3, 19),
        (19, 51),
        (19, 51),
        (51, 115),
        (115, 243),
        (243, 499),
        (499, 755),
    ]
    assert generation_span(0, 0) == (0, 16)
    assert ApiMaker(ToolGenerationSpec(1)).growth().jobs == 2
    for spec in (ToolGenerationSpec(0), ToolGenerationSpec(1, langs=())):
        with pytest.raises(UsageError) as refused:
            ApiMaker(spec)
        assert str(refused.value) == "the number of tools must be at least 1, in at least one language"


def test_a_record_is_replayed_to_where_it_was_cut_off(monkeypatch: pytest.MonkeyPatch):
    """What has no end is lost in a generation that others followed, and not yet done in the last one."""

    def replayed(*jobs: int) -> tuple[list[tuple[str, str]], bool, int]:
        reader: Any = SimpleNamespace(jobs=lambda: [(str(job), 0) for job in jobs], log=lambda *_: ())
        monkeypatch.setattr(maker, "_recorded", lambda _, job: job)
        monkeypatch.setattr(
            maker, "replay_script", lambda _, job: LOST if job in jobs and job not in (5, 16) else None
        )
        grown = maker.replay_growth(ApiMaker(ToolGenerationSpec(20)), reader)
        return [(loss.attempt, loss.reason) for loss in grown.losses], grown.stopped, grown.end

    lost = [(str(job), "infra_error" if job == 5 else "designer S1") for job in range(16)]
    assert replayed() == ([], True, 16)
    assert replayed(*range(16)) == ([entry for entry in lost if entry[0] != "5"], True, 16)
    assert replayed(*range(17)) == (lost, True, 48)
    assert replayed(*range(18)) == ([*lost, ("17", "designer S1")], True, 48)


def test_jobs_of_a_record_are_those_with_a_number():
    names = ["3", "x", "³", "1234567890", "123456789", "", "12", "-1"]
    reader: Any = SimpleNamespace(jobs=lambda: [(name, 0) for name in names])
    assert recorded_jobs(reader) == [3, 123456789, 12]


NOBODY: Any = None
"""Nobody is asked."""


@pytest.mark.asyncio
async def test_an_attempt_is_judged_by_how_it_ended_in_this_process(monkeypatch: pytest.MonkeyPatch):
    ends: list[Any] = [LOST, kept("one", 11), InfraError("network", "down"), kept("two", 13)]
    played: list[int] = []

    async def run(script: Any, unit: str, ask: Any) -> Any:
        played.append(next(script) is not None)
        end = ends[len(played) - 1]
        if isinstance(end, Exception):
            raise end
        return end

    monkeypatch.setattr(maker, "run_script", run)
    tools = ApiMaker(ToolGenerationSpec(2))
    items = [*tools.load(tools.source())]
    assert [(item.id, item.units, item.lang) for item in items] == [
        (str(k), ("api",), "en") for k in range(4)
    ]
    recorded = {"api": Transcript((Reply({}),), infra_error="down")}
    for item in items[:2]:
        await tools.play(item, NOBODY, PROFILE)
    with pytest.raises(InfraError):
        await tools.play(items[2], NOBODY, PROFILE)
    unplayed = Verdict("3", "api", "unplayed", 0.0, "unplayed", "it is not played to its end", 0)
    assert tools.judge(items[3], recorded, PROFILE) == [unplayed]
    await tools.play(items[3], NOBODY, PROFILE)
    assert [tools.judge(item, recorded, PROFILE) for item in items] == [
        [Verdict("0", "api", "wrong", 0.0, "designer S1", "odd", 1)],
        [Verdict("1", "api", "correct", 1.0, None, "breaks no rule", 1)],
        [Verdict("2", "api", "infra_error", 0.0, "infra_error", "down", 1)],
        [Verdict("3", "api", "correct", 1.0, None, "breaks no rule", 1)],
    ]
    assert played == [True] * 4


@pytest.mark.asyncio
async def test_an_attempt_that_failed_before_others_were_made_is_not_made_again(
    monkeypatch: pytest.MonkeyPatch,
):
    tools = ApiMaker(ToolGenerationSpec(1))
    monkeypatch.setattr(tools, "_abandoned", frozenset([0]))
    first, second = tools.load(tools.source())
    await tools.play(first, NOBODY, PROFILE)
    (verdict,) = tools.judge(first, {}, PROFILE)
    why = "a call failed, and what followed was made without it"
    assert verdict == Verdict("0", "api", "wrong", 0.0, "infra_error", why, 0)
    monkeypatch.setattr(maker.ApiGrowth, "script", lambda self, job: None)
    await tools.play(second, NOBODY, PROFILE)
    (verdict,) = tools.judge(second, {}, PROFILE)
    why = "the tree has no domain; give one by --tree, or other documents"
    assert verdict == Verdict("1", "api", "wrong", 0.0, "no place", why, 0)


@pytest.mark.asyncio
async def test_attempts_that_wait_end_where_a_limit_is_reached(monkeypatch: pytest.MonkeyPatch):
    async def run(script: Any, unit: str, ask: Any) -> Any:
        raise LimitError("enough")

    monkeypatch.setattr(maker, "run_script", run)
    tools = ApiMaker(ToolGenerationSpec(1))
    first, second = tools.load(tools.source())
    waiting = asyncio.create_task(tools.play(second, NOBODY, PROFILE))
    await asyncio.sleep(0)
    with pytest.raises(LimitError):
        await tools.play(first, NOBODY, PROFILE)
    await asyncio.wait_for(waiting, 20)
    assert [tools.judge(item, {}, PROFILE)[0].outcome for item in (first, second)] == ["unplayed"] * 2


def test_calls_that_failed_are_not_made_again_once_a_later_generation_exists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(maker, "LogReader", nullcontext)
    monkeypatch.setattr(
        maker, "_recorded", lambda _, job: SimpleNamespace(infra_error="down" if job in (3, 16) else None)
    )
    for jobs, abandoned in ((range(16), set[int]()), (range(17), {3}), (range(60), {3, 16})):
        monkeypatch.setattr(maker, "recorded_jobs", lambda _, jobs=jobs: list(jobs))
        tools = ApiMaker(ToolGenerationSpec(90))
        tools.resume_from(tmp_path / "none")
        assert tools._abandoned == frozenset()  # pyright: ignore[reportPrivateUsage]
        tools.resume_from(tmp_path)
        assert tools._abandoned == abandoned  # pyright: ignore[reportPrivateUsage]
