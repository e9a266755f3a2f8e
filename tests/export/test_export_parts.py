"""Parts of exports: which requests go on, what a message means, what is merged, which files a bundle holds."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from export.export_build import ITEM, play
from export.recorded_forms import (
    METRICS,
    RUN_JSON,
    result,
)
from golden_files import same_as_golden
from wildtool import __version__
from wildtool.alter.variant import Variant
from wildtool.evidence import Evidence
from wildtool.export import ExportRequest, hub_card
from wildtool.export.trajectory import RecordedRun, replayed_requests
from wildtool.types import Request

# Hub -------------------------------------------------------------------------------------------------


def test_a_dataset_card_says_what_was_run_word_by_word():
    counts = SimpleNamespace(units=3, correct=1, wrong=0, infra_error=1, unplayed=1)
    complete = result(profile="official", evidence=Evidence(3), counts=counts, metrics=METRICS[:1])
    altered = result(
        profile="paper",
        played=None,
        alterations=(SimpleNamespace(described="10 *tools* more"), SimpleNamespace(described="hints")),
        trust=("Remark _one_.", "Remark two."),
        roles={},
    )
    identity = {**RUN_JSON["identity"], "split": None, "mode": "chat", "seed": None}
    for name, run_json, results in (
        ("two_profiles", RUN_JSON, [result(), complete]),
        ("altered", {**RUN_JSON, "identity": identity}, [altered]),
    ):
        page = hub_card._page(run_json, results)  # pyright: ignore[reportPrivateUsage]
        assert set(yaml.safe_load(page.split("---\n")[1])) == {"pretty_name", "license", "tags", "configs"}
        same_as_golden(f"export/dataset_card_{name}.md", page.replace(__version__, "VERSION"))


# Runs ------------------------------------------------------------------------------------------------


def test_every_step_of_a_run_is_read_with_its_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    asked: list[Request] = []

    def answer(request: Request) -> Any:
        asked.append(request)
        return request.gold("parallel") if request.gold else {}

    folder = play(tmp_path / "run", answer, concurrency=1)
    found = list(RecordedRun(ExportRequest(folder=folder)).units())
    assert [(unit.item.id, unit.repeat, unit.verdict.unit, unit.verdict.outcome) for unit in found] == [
        (ITEM, 0, str(number), "correct") for number in range(4)
    ]
    read = [step for unit in found for step in unit.steps]
    assert len(read) == len(asked)
    shown = sorted(json.dumps([list(request.messages), list(request.tools)]) for request in asked)
    assert sorted(json.dumps([list(step.messages), list(step.tools)]) for step in read) == shown
    assert all(step.role == "agent" and step.time > 0 for step in read)
    # Where requests were not recorded, they are found by playing again.
    log = {
        unit.verdict.unit: {number: step.result for number, step in enumerate(unit.steps)} for unit in found
    }
    variant = RecordedRun(ExportRequest(folder=folder)).run.variant
    again = replayed_requests(variant, found[0].item, log, "official")
    assert list(again) == [(unit.verdict.unit, number) for unit in found for number in range(len(unit.steps))]
    for unit in found:
        for number, step in enumerate(unit.steps):
            request = again[unit.verdict.unit, number]
            assert (list(request.messages), list(request.tools), request.time) == (
                list(step.messages),
                list(step.tools),
                0.0,
            )
    # Where units follow from earlier ones, an item has what was said in them.
    assert not any(unit.item.transcripts for unit in found)
    monkeypatch.setattr(Variant, "in_order", True)
    for unit in RecordedRun(ExportRequest(folder=folder)).units():
        assert {name: len(said.replies) for name, said in unit.item.transcripts.items()} == {
            each.verdict.unit: len(each.steps) for each in found
        }
