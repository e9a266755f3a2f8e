"""The same replies lead to the same requests and the same items, whatever rules they break; and the same settings to the
same items where no model is asked.

A change of what the replies lead to is one of `RECIPE_VERSION`, unless only prompts changed.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from generate.careless import careless, outcome_of, rows_of
from generate.golden import check, digest
from generate.items.players import TOOLS, ItemPlayers
from generate.procedural.wide_tools import WIDE
from wildtool.errors import DataError
from wildtool_data.make.core.files import write_sessions
from wildtool_data.make.core.plan import SessionGenerationSpec
from wildtool_data.make.items.acebench_format import acebench_records, reviewed_content
from wildtool_data.make.items.collect import CollectedItem, GeneratedItems, HumanDecision, collect_items
from wildtool_data.make.items.from_sessions import items_from_sessions
from wildtool_data.make.items.maker import ItemGenerationSpec, ItemMaker
from wildtool_data.make.items.procedural import procedural_items
from wildtool_data.make.items.tool_catalog import built_in_sets
from wildtool_data.make.procedural.sessions import procedural_sessions


def _row(collected: CollectedItem) -> str:
    item = collected.item
    made_by = {**collected.made_by, "version": ""}
    faults = [repr(item.fault), [line.text for line in item.correction], item.removed_tool]
    whole = [acebench_records(item), reviewed_content(item), faults, made_by]
    return f"{item.plan.name} {item.plan.kind} {item.plan.lang}: {digest(whole)}"


def _summary(made: GeneratedItems) -> dict[str, Any]:
    return {
        "first": [[row.question["question"], row.answer] for row in acebench_records(made.kept[0].item)],
        "table": rows_of(made.attrition()),
        "kept": [*map(_row, made.kept)],
        "doubtful": [*map(_row, made.doubtful)],
        "losses": made.losses,
    }


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "share", "settings"),
    [
        ("careful", 0.03, {"items": 45, "langs": ("en", "zh")}),
        ("careless", 0.3, {"items": 75, "seed": "2", "judges": 2, "agree": 2}),
        ("hopeless", 0.7, {"items": 30, "seed": "3", "langs": ("zh", "en"), "judges": 1, "agree": 1}),
    ],
)
def test_replies_of_careless_players_lead_to_the_same_items(
    tmp_path: Path, name: str, share: float, settings: dict[str, Any]
):
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))
    spec = ItemGenerationSpec(**settings, tools=tmp_path / "tools.json")
    maker, players = ItemMaker(spec), ItemPlayers(careless(share))
    results: list[Any] = []
    asked: list[str] = []
    for item in maker.planned_items():
        result, requests = outcome_of(maker.script(item), players)
        results.append((item, result))
        asked.append(f"{item.id}: {requests}; {maker.why_lost(result)}")
    decisions = {"0": HumanDecision(True, "it is clear"), "1": HumanDecision(False, "it is not")}
    made = collect_items(spec, results, {"writer": "players"}, decisions)
    check(f"items_{name}", {"asked": asked, **_summary(made)})


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("english", {"items": 60}),
        ("chinese", {"items": 45, "langs": ("zh",), "seed": "2"}),
        ("wide", {"items": 60, "langs": ("en", "zh"), "seed": "3", "tools": WIDE}),
    ],
)
def test_settings_lead_to_the_same_items_without_a_model(
    tmp_path: Path, name: str, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    if "tools" in settings:
        Path("tools.json").write_text(json.dumps(settings["tools"]))
        settings = {**settings, "tools": Path("tools.json")}
    notes: list[str] = []
    made = procedural_items(ItemGenerationSpec(**settings), notes.append)
    check(f"items_procedural_{name}", {**_summary(made), "notes": notes})


def test_sessions_give_the_same_items(tmp_path: Path):
    file = tmp_path / "sessions.jsonl"
    sessions = procedural_sessions(SessionGenerationSpec(96, 1, "1", ("en", "zh")), [].append)
    write_sessions(sessions, file)
    kinds = {"single": 2, "parallel": 1, "incomplete": 1, "error": 2, "irrelevant": 1}
    spec = ItemGenerationSpec(60, kinds, "2", ("en", "zh"), sessions=file)
    check("items_of_sessions", _summary(procedural_items(spec, [].append)))


def test_lost_items_are_planned_again_unless_they_are_of_sessions():
    lost = GeneratedItems((), (), missing=(1,), turns=(0,))
    spec = ItemGenerationSpec(2)
    assert ItemMaker(spec).replace_lost(lost)
    assert not ItemMaker(spec).replace_lost(replace(lost, missing=()))
    assert not ItemMaker(replace(spec, sessions=Path("sessions.jsonl"))).replace_lost(lost)


def test_built_in_tools_of_items_say_what_their_parameters_allow():
    names = {lang: [tool.name for tools in built_in_sets(lang) for tool in tools] for lang in ("en", "zh")}
    assert names["en"] == names["zh"]
    rows = {
        f"{lang} {tool.name}": digest([tool.definition, [slot.noun for slot in tool.slots]])
        for lang in ("en", "zh")
        for tools in built_in_sets(lang)
        for tool in tools
    }
    check("item_tools", rows)


def test_a_session_of_one_tool_gives_no_irrelevant_item(tmp_path: Path):
    file = tmp_path / "sessions.jsonl"
    single = [
        record
        for record in procedural_sessions(SessionGenerationSpec(24, 1), [].append)
        if record["english_task_types"] == ["Single-Tool"]
    ]
    record = single[0]
    called = record["english_answer_list"][0][0]["action"]["name"]
    tools = [tool for tool in record["english_tools"] if tool["function"]["name"] == called]
    write_sessions([{**record, "english_tools": tools}], file)
    with pytest.raises(DataError) as refused:
        list(items_from_sessions(file, 9, {"irrelevant": 1}, "1", ["en"]))
    assert str(refused.value) == (f"{file}: no session begins with a task that gives an item of irrelevant")
    assert [
        item.plan.kind for item in items_from_sessions(file, 9, {"irrelevant": 1, "single": 1}, "1", ["en"])
    ] == ["single"]
