"""Rules of the user's own are asked last, about the whole record, and what they refuse is drawn or tried again."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from generate.items.test_rules import SINGLE
from generate.sessions.players import TOOLS, Players, played
from wildtool.errors import DataError
from wildtool.findings import Finding, fault
from wildtool.sets.make.core.plan import SessionGenerationSpec, session_plans
from wildtool.sets.make.items import rules as item_rules
from wildtool.sets.make.items.acebench_format import reviewed_content
from wildtool.sets.make.procedural import sessions as templates
from wildtool.sets.make.procedural.tool_sets import read_tool_sets
from wildtool.sets.make.sessions import script
from wildtool.sets.make.sessions.task import SessionJob


def refusing(asked: list[tuple[str, Any]], times: int = 999) -> Callable[[str, Any], list[Finding]]:
    """A rule that refuses so many records, with six faults each."""

    def refusals(benchmark: str, record: Any) -> list[Finding]:
        asked.append((benchmark, record))
        return [fault("mine", f"no {k}") for k in range(6)] if len(asked) <= times else []

    return refusals


def test_a_session_of_models_is_tried_again_and_then_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))
    plan = next(session_plans(1, 1, seed="1", langs=("en",)))
    job = SessionJob(plan, read_tool_sets(tmp_path / "tools.json", "en", [].append))
    asked: list[tuple[str, Any]] = []
    monkeypatch.setattr(script, "custom_refusals", refusing(asked, 1))
    kept = played(script.session_script(job), Players())
    assert (kept.attempt, [name for name, _ in asked]) == (1, ["wildtoolbench"] * 2)
    assert asked[1][1] == kept.value.record
    monkeypatch.setattr(script, "custom_refusals", refusing([]))
    lost = played(script.session_script(job), Players())
    assert lost.lost == ("session mine", "no 0; no 1; no 2; no 3; no 4")


def test_a_session_of_templates_is_drawn_again_until_every_draw_is_refused(monkeypatch: pytest.MonkeyPatch):
    asked: list[tuple[str, Any]] = []
    monkeypatch.setattr(templates, "custom_refusals", refusing(asked, 2))
    (record,) = templates.procedural_sessions(SessionGenerationSpec(1, 1), [].append)
    assert ([name for name, _ in asked], asked[2][1]) == (["wildtoolbench"] * 3, record)
    monkeypatch.setattr(templates, "custom_refusals", refusing(refused := []))
    with pytest.raises(DataError) as given_up:
        list(templates.procedural_sessions(SessionGenerationSpec(1, 1), [].append))
    assert str(given_up.value) == "session 0: every draw breaks a rule of yours; the last: mine: no 0"
    assert len(refused) == 25


def test_an_item_is_refused_by_what_is_reviewed_of_it(monkeypatch: pytest.MonkeyPatch):
    asked: list[tuple[str, Any]] = []
    monkeypatch.setattr(item_rules, "custom_refusals", refusing(asked))
    assert [finding.message for finding in item_rules.item_faults(SINGLE)] == [f"no {k}" for k in range(6)]
    assert asked == [("acebench", reviewed_content(SINGLE))]
