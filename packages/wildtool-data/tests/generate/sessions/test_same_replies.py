"""The same replies lead to the same requests and the same session, whatever rules they break: a record is replayed by it.

A change here is one of `RECIPE_VERSION`, unless only prompts changed.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from generate.careless import careless, outcome_of, rows_of
from generate.golden import check, digest
from generate.scripted import edit
from generate.sessions.players import TOOLS, Players, session_of_players
from wildtool_data.make.core.plan import SessionGenerationSpec
from wildtool_data.make.sessions.maker import SessionMaker
from wildtool_data.make.sessions.output import REFERENCE_FORMATS, collect_sessions


def _outcomes(spec: SessionGenerationSpec, share: float) -> dict[str, Any]:
    maker, players = SessionMaker(spec), Players(careless(share))
    results: list[Any] = []
    rows: list[str] = []
    for item in maker.planned_items():
        result, asked = outcome_of(maker.script(item), players)
        results.append((item, result))
        forms = (
            [digest([*lines(result.value, item.data.plan.lang)]) for lines in REFERENCE_FORMATS.values()]
            if result.value
            else [result.detail]
        )
        rows.append(f"{item.id}: {asked}; {result.attempt}: {' '.join(forms)}")
    made = collect_sessions(spec, results, {"user": "players"})
    kept = [digest({**session, "made_by": {**session["made_by"], "version": ""}}) for session in made.kept]
    return {"table": rows_of(made.attrition()), "sessions": rows, "kept": kept, "losses": made.losses}


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "share", "spec"),
    [
        ("careful", 0.03, {"sessions": 24, "langs": ("en", "zh"), "tasks": 3}),
        ("careless", 0.35, {"sessions": 32, "tasks": 2, "seed": "2"}),
        ("hopeless", 0.7, {"sessions": 12, "tasks": 2, "seed": "4", "langs": ("zh", "en")}),
        (
            "voted",
            0.2,
            {"sessions": 16, "langs": ("zh", "en"), "tasks": 2, "judges": 3, "checkers": 3, "seed": "3"},
        ),
    ],
)
def test_replies_of_careless_players_lead_to_the_same_sessions(
    tmp_path: Path, name: str, share: float, spec: dict[str, Any]
):
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))
    check(f"sessions_{name}", _outcomes(SessionGenerationSpec(**spec, tools=tmp_path / "tools.json"), share))


@pytest.mark.parametrize(("count", "told"), [(1, False), (2, True)])
def test_proposed_texts_are_kept_where_there_was_a_choice(tmp_path: Path, count: int, told: bool):
    def cut(said: dict[str, Any]) -> None:
        if "candidates" in said:
            said["candidates"] = said["candidates"][:count]

    made = session_of_players(tmp_path, "Single-Tool", spoil=edit("user", cut))
    assert ("candidates" in made.record["made_by"]) is told


def test_calls_that_may_be_parallel_are_named_for_a_review(tmp_path: Path):
    def one_by_one(said: dict[str, Any]) -> None:
        said["actions"] = said["actions"][:1]

    made = session_of_players(tmp_path, "Multi-Tool Chat", spoil=edit("planner", one_by_one))
    assert made.record["english_task_types"][0] == "Mixed Multi-Tool"
    evidence = "made after node 0 though no value flows; may be parallel"
    place = {"task": 0, "source": 0, "target": 1, "kind": "logical", "evidence": evidence}
    assert made.record["made_by"]["review"] == [{**place, "confidence": 0.4, "by": "auto"}]


def test_an_answer_without_tools_is_refused_right_after_a_call(tmp_path: Path):
    refused: list[str] = []

    def chat_at_first(said: dict[str, Any]) -> None:
        for action in said["actions"]:
            if "answer_type" in action["arguments"] and not refused:
                refused.append(action["arguments"]["answer_type"])
                action["arguments"]["answer_type"] = "chat"

    made = session_of_players(tmp_path, "Single-Tool", spoil=edit("planner", chat_at_first))
    assert refused == ["tool"]
    assert [finding.rule for reply in made.replies for finding in reply.faults] == ["P11", "P21"]
