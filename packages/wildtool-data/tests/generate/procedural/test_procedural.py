"""Sessions made without a model: sound, right under every profile, of every kind, the same for the same seed."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.benchmarks.wildtoolbench import WILDTOOLBENCH
from wildtool.benchmarks.wildtoolbench.data import SUBTYPES, TASK_TYPES, VIRTUAL, read_items, read_session
from wildtool.benchmarks.wildtoolbench.lint import lint_records
from wildtool.benchmarks.wildtoolbench.stats.shapes import PARAMETER_KINDS, kinds_used
from wildtool.episode import gold_replies
from wildtool.errors import DataError, UsageError
from wildtool.types import Reply, Transcript
from wildtool_data.make.core.dedup import Deduplicator
from wildtool_data.make.core.files import write_sessions
from wildtool_data.make.core.plan import SessionGenerationSpec
from wildtool_data.make.procedural.sessions import procedural_sessions
from wildtool_data.make.procedural.tool_sets import built_in_tool_sets, domains, split_tools

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "searchRooms",
            "description": "Searches free rooms in a hotel.",
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string", "description": "The city."},
                    "nights": {"type": "integer", "minimum": 1, "maximum": 9},
                    "price": {"type": "number", "description": "Highest price."},
                    "view": {"type": "string", "enum": ["sea", "garden"]},
                    "stay": {
                        "type": "object",
                        "properties": {"from_date": {"type": "string"}},
                        "required": ["from_date"],
                    },
                },
                "required": ["city", "stay", "view"],
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "bookRoom",
            "description": "Books a room for a guest.",
            "parameters": {
                "type": "object",
                "properties": {"roomId": {"type": "string"}, "guest_name": {"type": "string"}},
                "required": ["roomId", "guest_name"],
            },
        },
    },
]


def made(count: int = 64, **settings: Any) -> list[dict[str, Any]]:
    notes: list[str] = []
    return list(
        procedural_sessions(SessionGenerationSpec(count, **{"langs": ("en", "zh"), **settings}), notes.append)
    )


@pytest.fixture(scope="module")
def some() -> list[dict[str, Any]]:
    return made(128)


def findings(sessions: list[dict[str, Any]]) -> list[str]:
    return [f"{f.where}: {f.message}" for f in lint_records(enumerate(sessions, 1), "made")]


def gold_verdicts(sessions: list[dict[str, Any]], path: Path, profile: str) -> Counter[str]:
    """Outcomes of the gold replies of all tasks."""
    write_sessions(sessions, path)
    outcomes: Counter[str] = Counter()
    for item in read_items(path):
        runs = {
            unit: Transcript(
                tuple(map(Reply, gold_replies(WILDTOOLBENCH.rules(profile).episode(item, unit)) or []))
            )
            for unit in item.units
        }
        outcomes.update(verdict.outcome for verdict in WILDTOOLBENCH.judge(item, runs, profile))
    return outcomes


@pytest.mark.long
def test_no_rule_of_the_format_is_broken(some: list[dict[str, Any]]):
    assert findings(some) == []


@pytest.mark.long
@pytest.mark.parametrize("profile", ["official", "fixed", "paper"])
def test_gold_is_right_everywhere(some: list[dict[str, Any]], tmp_path: Path, profile: str):
    assert gold_verdicts(some, tmp_path / "s.jsonl", profile) == {"correct": 512}


def test_every_type_and_every_kind_of_hidden_intent_is_there(some: list[dict[str, Any]]):
    sessions = [read_session(record, "x") for record in some]
    tasks = [task for session in sessions for task in session.tasks]
    assert {task.type for task in tasks} == set(TASK_TYPES)
    assert {task.subtype for task in tasks} == {"First Turn", *SUBTYPES}


def test_every_kind_of_parameter_is_used(some: list[dict[str, Any]]):
    read = [read_session(record, "x") for record in some]
    used = {kind for session in read for kind in kinds_used(session)}
    assert used >= set(PARAMETER_KINDS) - {"nested object"}


def test_a_seed_gives_the_same_sessions_and_another_seed_others():
    assert made(8, seed="a") == made(8, seed="a")
    assert made(8, seed="a")[0] != made(8, seed="b")[0]


def test_the_plan_is_kept(some: list[dict[str, Any]]):
    groups = Counter(
        record[f"{p}_task_types"][0].split()[-1]
        for record in some
        for p in ("english", "chinese")
        if f"{p}_tasks" in record
    )
    assert groups == {"Single-Tool": 32, "Multi-Tool": 32, "Clarify": 32, "Chat": 32}


def test_tools_of_ones_own_are_used(tmp_path: Path):
    file = tmp_path / "tools.json"
    file.write_text(json.dumps(TOOLS))
    sessions = made(32, tools=file)
    assert findings(sessions) == []
    names = {
        node["action"]["name"]
        for s in sessions
        for key in s
        if key.endswith("answer_list")
        for t in s[key]
        for node in t
    }
    assert {"searchRooms", "bookRoom"} <= names


def test_a_later_call_takes_the_id_an_earlier_one_returned(tmp_path: Path):
    file = tmp_path / "tools.json"
    file.write_text(json.dumps(TOOLS))
    chains = [
        task
        for s in made(64, tools=file, langs=("en",))
        for kind, task in zip(s["english_task_types"], s["english_answer_list"], strict=True)
        if kind == "Sequential Multi-Tool"
    ]
    assert chains
    for task in chains:
        given = task[1]["action"]["arguments"]
        assert any(str(value) in str(task[0]["observation"]) for value in given.values())


def test_lines_of_tool_lists_are_read(tmp_path: Path):
    file = tmp_path / "tools.jsonl"
    file.write_text(json.dumps(TOOLS) + "\n" + json.dumps(TOOLS) + "\n")
    assert len(made(2, tools=file)) == 2


def test_a_tool_that_nothing_can_satisfy_is_left_out_with_the_reason(tmp_path: Path):
    broken = {
        "type": "function",
        "function": {"name": "b", "parameters": {"type": "object", "required": ["x"]}},
    }
    file = tmp_path / "tools.json"
    file.write_text(json.dumps([*TOOLS, broken]))
    notes: list[str] = []
    list(procedural_sessions(SessionGenerationSpec(1, tools=file), notes.append))
    assert len(notes) == 1
    assert "'b' is left out" in notes[0]


@pytest.mark.parametrize("text", ["[]", "{", '[{"name": "x"}]', "[1]", ""])
def test_a_file_without_usable_tools_is_refused(tmp_path: Path, text: str):
    file = tmp_path / "tools.json"
    file.write_text(text)
    with pytest.raises(DataError, match="tools"):
        made(1, tools=file)


@pytest.mark.long
def test_tools_are_called_about_equally_often():
    sessions = made(256, langs=("en",))
    called = Counter(
        node["action"]["name"]
        for session in sessions
        for task in session["english_answer_list"]
        for node in task
        if node["action"]["name"] not in VIRTUAL
    )
    counts = sorted(called.values())
    assert len(called) == 40
    # A few take ids that only other calls return, and so are called less.
    assert counts[-1] < 2.5 * counts[4]


@pytest.mark.long
def test_domains_are_even_and_named():
    domains = Counter(session["made_by"]["domain"] for session in made(128, langs=("en",)))
    assert len(domains) == 8
    assert max(domains.values()) <= 1.4 * min(domains.values())


def test_twins_have_one_plan_and_are_told_by_one_name():
    one, two, *_ = made(4, paired_languages=True)
    assert one["made_by"]["twin"] == two["made_by"]["twin"]
    assert one["english_task_types"] == two["chinese_task_types"]
    assert one["english_turn_subtypes"] == two["chinese_turn_subtypes"]
    assert one["english_env_info"][:19] == two["chinese_env_info"][:19]
    assert findings([one, two]) == []


def test_sessions_without_twins_name_none():
    assert ["twin" in session["made_by"] for session in made(2)] == [False, False]


def test_sessions_can_be_shorter_or_longer():
    assert [len(s["english_tasks"]) for s in made(3, tasks=6, langs=("en",))] == [6, 6, 6]


def test_a_text_that_was_nearly_said_is_not_said_again():
    fresh = Deduplicator()
    assert fresh.accepts("en", "Find trains from Porto to Lisbon on 2025-05-03.")
    assert not fresh.accepts("en", "find trains from Porto to Lisbon on 2025-05-08.")
    assert fresh.accepts("en", "Find trains from Graz to Aarhus on 2025-06-14.")


def test_a_file_that_is_there_is_not_overwritten(tmp_path: Path):
    (tmp_path / "s.jsonl").write_text("mine")
    with pytest.raises(UsageError, match="there already"):
        write_sessions([{}], tmp_path / "s.jsonl")
    assert (tmp_path / "s.jsonl").read_text() == "mine"


def test_what_breaks_off_leaves_no_file(tmp_path: Path):
    def broken():
        yield {}
        raise DataError("no")

    with pytest.raises(DataError):
        write_sessions(broken(), tmp_path / "s.jsonl")
    assert list(tmp_path.iterdir()) == []


@given(st.floats(0.01, 0.99), st.integers())
def test_held_out_tools_are_a_share_of_whole_sets(share: float, seed: int):
    sets = built_in_tool_sets("en")
    others, held = split_tools(sets, share, str(seed))
    assert not others.names & held.names
    assert sorted(others.places + held.places) == list(range(len(sets)))
    assert 0 <= len(held.names) - share * 40 < 5 or len(others.places) == 1
    assert [tool for tools in held.of(sets) for tool in tools] == [
        tool for place in held.places for tool in sets[place]
    ]


def test_a_tool_of_two_sets_is_held_out_of_both():
    first, second, third, *_ = built_in_tool_sets("en")
    sets = (first, (*second, first[0]), (*third, first[0]))
    for seed in range(20):
        others, held = split_tools(sets, 0.2, str(seed))
        assert not others.names & {tool.name for tools in held.of(sets) for tool in tools}
        assert not held.names & {tool.name for tools in others.of(sets) for tool in tools}


def test_sessions_over_a_part_of_the_tools_name_its_domains():
    _, held = split_tools(built_in_tool_sets("en"), 0.25, "1")
    sessions = list(procedural_sessions(SessionGenerationSpec(4), [].append, held))
    assert {record["made_by"]["domain"] for record in sessions} == {domains()[place] for place in held.places}


def test_tools_too_few_to_hold_one_out_are_refused():
    one = built_in_tool_sets("en")[0][:1]
    with pytest.raises(DataError, match="too few to hold out"):
        split_tools((one,), 0.5, "1")
