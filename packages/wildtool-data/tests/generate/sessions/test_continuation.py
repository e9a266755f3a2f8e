"""Sessions continued by models: what is before stays, what follows keeps all rules."""

import json
from random import Random
from typing import Any

import pytest

from generate.scripted import say
from generate.sessions.players import Players, played, session_of_players
from wildtool.benchmarks.wildtoolbench.data import ASK, GoldNode, Task
from wildtool.errors import DataError
from wildtool.findings import fault
from wildtool_data.make.core.diversity import LENGTH_STEPS
from wildtool_data.make.core.plan import session_plans
from wildtool_data.make.core.roles import ScriptResult
from wildtool_data.make.sessions.continuation import (
    Continuation,
    ContinuationMaker,
    ContinuationSpec,
    RemadeTasks,
    _task_plan,  # pyright: ignore[reportPrivateUsage]
    continuation_job,
    continuation_script,
)
from wildtool_data.make.sessions.proposals import ProposalRequest, read_proposals
from wildtool_data.make.sessions.rules.final import session_record_faults


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A session of two tasks: a question, then a task of its own kind."""
    made = session_of_players(tmp_path_factory.mktemp("made"), "Clarify Multi-Tool")
    return json.loads(json.dumps(made.record))


def continued(record: dict[str, Any], first: int = 1, players: Players | None = None, **spec: Any) -> Any:
    job = continuation_job(Continuation("s", "digest", record, first), 0, ContinuationSpec(**spec))
    return played(continuation_script(job), players or Players())


def with_tasks(record: dict[str, Any], made: RemadeTasks, first: int) -> dict[str, Any]:
    lists = {"tasks": made.texts, "answer_list": made.answers, "task_types": made.types}
    return {**record, **{f"english_{k}": [*record[f"english_{k}"][:first], *v] for k, v in lists.items()}}


@pytest.mark.parametrize("first", [0, 1])
def test_remade_tasks_follow_the_earlier_ones_and_keep_the_rules(record: dict[str, Any], first: int):
    made = continued(record, first).value
    whole = with_tasks(record, made, first)
    assert len(whole["english_tasks"]) == 2
    assert whole["english_tasks"][first:] != record["english_tasks"][first:]
    assert session_record_faults(whole, 1) == []
    assert [kind.split()[-1] for kind in made.types] == [
        kind.split()[-1] for kind in record["english_task_types"][first:]
    ]


def test_models_see_the_earlier_tasks_as_they_are_now_with_the_session_s_own_date(record: dict[str, Any]):
    edited = {**record, "english_env_info": "2023-01-02 03:04:05 Monday"}
    edited["english_tasks"] = ["An edited request.", *record["english_tasks"][1:]]
    script = continuation_script(continuation_job(Continuation("s", "d", edited, 1), 0, ContinuationSpec()))
    request = next(script)
    seen = json.loads(request.messages[1]["content"])
    assert seen["now"] == "2023-01-02 03:04:05 Monday"
    asked, *_, last = record["english_answer_list"][0]
    assert seen["conversation"] == [
        {"user": "An edited request."},
        {"assistant": asked["observation"]},
        {"user": asked["user_input"]},
        {"assistant": last["observation"]},
    ]
    assert seen["wanted"]["subtype"] == record["english_turn_subtypes"][0]


def test_kept_texts_are_asked_of_nobody(record: dict[str, Any]):
    players = Players()
    made = continued(record, 1, players, keep_texts=True).value
    assert made.texts == (record["english_tasks"][1],)
    assert [node["action"] for node in made.answers[0]] == [
        node["action"] for node in record["english_answer_list"][1]
    ]


def test_another_seed_makes_other_tasks(record: dict[str, Any]):
    one, same, other = (continued(record, 1, seed=seed).value for seed in ("1", "1", "2"))
    assert one == same
    assert one.texts != other.texts


def test_what_breaks_a_rule_is_lost_with_its_reason(record: dict[str, Any]):
    lost = continued(record, 1, Players(say("agent", "")))
    assert lost.value is None
    assert lost.reason.startswith("agent")


def test_faults_of_the_tools_and_of_earlier_tasks_refuse_nothing(record: dict[str, Any]):
    faulty = json.loads(json.dumps(record))
    faulty["english_answer_list"][0][0]["idx"] = 7
    faulty["english_tools"].append(json.loads(json.dumps(faulty["english_tools"][0])))
    made = continued(faulty).value
    assert session_record_faults(with_tasks(faulty, made, 1), 1)
    assert session_record_faults(with_tasks(record, made, 1), 1) == []


@pytest.mark.parametrize(
    ("change", "first", "why"),
    [
        ({}, 2, "it has 2 tasks, no task 3"),
        ({"english_task_types": ["Clarify", "Poem"]}, 1, "task 2 has no type and subtype of those that are made"),
        ({"english_turn_subtypes": ["other"]}, 1, "task 2 has no type and subtype of those that are made"),
        ({"chinese_tasks": ["x"]}, 1, "only sessions in one language, English or Chinese, are made again"),
    ],
)  # fmt: skip
def test_a_session_that_cannot_be_continued_says_why(
    record: dict[str, Any], change: dict[str, Any], first: int, why: str
):
    with pytest.raises(DataError) as refused:
        continuation_job(Continuation("s", "d", {**record, **change}, first), 0, ContinuationSpec())
    assert str(refused.value) == f"s: {why}"


def test_a_record_that_is_no_session_is_not_continued(record: dict[str, Any]):
    with pytest.raises(DataError, match=r"^s \(id 'made_1_9'\): field english_tasks"):
        continuation_job(
            Continuation("s", "d", {**record, "english_tasks": [1, 2]}, 1), 0, ContinuationSpec()
        )


def test_a_session_of_other_tasks_before_the_first_one_is_continued(record: dict[str, Any]):
    for change in ({"english_task_types": ["Poem", "Chat"]}, {"english_task_types": ["Chat", "Chat"]}):
        plan = continuation_job(Continuation("s", "d", {**record, **change}, 1), 0, ContinuationSpec()).plan
        group = change["english_task_types"][0].replace("Poem", "")
        assert [(task.group, task.topology) for task in plan.tasks] == [(group, ""), ("Chat", "")]


def _node(name: str) -> GoldNode:
    return GoldNode(name, {}, None, (), None)


@pytest.mark.parametrize(
    ("kind", "names", "subtype", "group", "topology", "strategy", "questions"),
    [
        ("Single-Tool", "f", "First Turn", "Single-Tool", "", "", 0),
        ("Single-Tool", f"{ASK} f", "Partial Information", "Single-Tool", "", "omit several constituents", 0),
        ("Clarify", "f", "First Turn", "Clarify", "", "", 1),
        ("Clarify", f"{ASK} {ASK} f", "First Turn", "Clarify", "", "", 2),
        ("Parallel Multi-Tool", "f f", "other", "Multi-Tool", "parallel", "", 0),
        ("Sequential Multi-Tool", "f f", "First Turn", "Multi-Tool", "sequential", "", 0),
        ("Mixed Multi-Tool", "f f", "First Turn", "Multi-Tool", "mixed", "", 0),
        ("Chat", "f", "First Turn", "Chat", "", "", 0),
        ("Poem", "f", "First Turn", "", "", "", 0),
    ],
)
def test_the_plan_of_a_task_follows_from_its_type_and_subtype(
    kind: str, names: str, subtype: str, group: str, topology: Any, strategy: str, questions: int
):
    task = Task("t", tuple(map(_node, names.split())), kind, subtype)
    plan = _task_plan(task, Random(4))
    assert (plan.group, plan.topology, plan.subtype, plan.strategy, plan.questions) == (
        group, topology, subtype, strategy, questions,
    )  # fmt: skip
    assert plan.missing == ("some" if group == "Clarify" else "")
    assert [style.length for style in plan.styles] == list(LENGTH_STEPS)
    assert not (group in ("Clarify", "Multi-Tool") and plan.difficulty == "easy")


def test_a_run_is_another_one_if_seed_content_or_first_task_differ(record: dict[str, Any]):
    def source(spec: ContinuationSpec, digest: str, first: int) -> str:
        return ContinuationMaker(spec, [Continuation("s", digest, record, first)]).source().sha256

    same = source(ContinuationSpec(), "d", 1)
    assert same == source(ContinuationSpec(), "d", 1)
    others = {
        source(ContinuationSpec(seed="2"), "d", 1),
        source(ContinuationSpec(keep_texts=True), "d", 1),
        source(ContinuationSpec(), "e", 1),
        source(ContinuationSpec(), "d", 0),
    }
    assert len(others | {same}) == 5


def test_a_session_is_planned_again_with_the_same_tasks_in_other_words(record: dict[str, Any]):
    starts = [Continuation("s", "d", record, 1), Continuation("t", "e", record, 0)]
    maker = ContinuationMaker(ContinuationSpec("9", vote_counts={"judge": 2}), starts)
    first, second = maker.planned_items()
    again = maker.replanned_item(second, 2)
    assert [(item.id, item.units, item.split, item.lang, item.roles) for item in (first, second, again)] == [
        (name, ("session",), "", "en", ("user", "planner", "tool", "checker", "judge", "judge 2"))
        for name in ("0", "1", "1.2")
    ]
    plans = [item.data.plan for item in (first, second, again)]
    assert [(plan.seed, plan.shared, plan.root, plan.index, plan.rank, plan.turn) for plan in plans] == [
        ("9/continued/s/1", "9/continued/s/1", "9", 0, 0, 0),
        ("9/continued/t/0", "9/continued/t/0", "9", 1, 1, 0),
        ("9/another/2/continued/t/0", "9/another/2/continued/t/0", "9/another/2", 1, 1, 2),
    ]
    kinds = [[(task.group, task.topology, task.subtype) for task in plan.tasks] for plan in plans]
    assert kinds[0] == kinds[1] == kinds[2]
    assert plans[1].tasks != plans[2].tasks
    lost: ScriptResult[RemadeTasks] = ScriptResult(None, "r", "d")
    collected = maker.collect(
        [(first, ScriptResult(made := RemadeTasks("english", (), (), (), ()))), (second, lost)]
    )
    assert collected.kept == (("s", made),)
    assert collected.losses == ({"session": "1", "id": "t", "reason": "r", "detail": "d", "replaced": False},)


@pytest.mark.parametrize("size", [3000, 3001])
def test_a_proposed_text_that_breaks_a_rule_is_cut(size: int):
    whole = "\x1b" + "x" * (size - 1)
    plan = next(session_plans(1, 1, seed="1", langs=["en"])).tasks[0]
    request = ProposalRequest(plan, 0, "en", (), None, ())
    reply = json.dumps({"candidates": [{"text": whole}, {"text": "Find the book Mora."}]})
    cut = "\\x1b" + ("x" * 2999 if size == 3000 else "x" * 2998 + "…")
    for check, text in ((lambda said: [], whole), (lambda said: [fault("A1", "x")] * ("x" in said), cut)):
        assert read_proposals(reply, request, check).rows[0]["text"] == text
