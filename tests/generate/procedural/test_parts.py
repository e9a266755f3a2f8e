"""A set in parts: settings that another process understands, damaged ones named by their field, and the same sessions."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import wildtool
from generate.procedural.wide_tools import SHOP
from wildtool.errors import DataError, UsageError
from wildtool.sets.make.core.plan import SessionGenerationSpec
from wildtool.sets.make.procedural.parts import SetMaker, part_lines, set_settings
from wildtool.sets.make.procedural.sessions import ProceduralSet, note_easier, procedural_sessions
from wildtool.sets.make.procedural.tool_sets import ToolPart, built_in_tool_sets

SPEC = SessionGenerationSpec(7, 2, "s", ("en", "zh"))


def test_settings_are_json_of_everything_that_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("t.json").write_text(json.dumps(SHOP))
    spec = SessionGenerationSpec(4, 3, "s", ("zh", "en"), Path("t.json"), paired_languages=True)
    settings = set_settings(spec, ToolPart((2, 1), frozenset(["b", "a"])), 9)
    assert settings == {
        "version": wildtool.__version__,
        "sessions": 4,
        "tasks": 3,
        "seed": "s",
        "langs": ["zh", "en"],
        "twins": True,
        "tools": str(tmp_path / "t.json"),
        "tools_digest": sha256(Path("t.json").read_bytes()).hexdigest(),
        "part": {"places": [2, 1], "names": ["a", "b"]},
        "part_sessions": 9,
    }
    assert json.loads(json.dumps(settings)) == settings
    plain = set_settings(SPEC, None)
    assert {name: plain[name] for name in ("tools", "tools_digest", "part", "twins", "part_sessions")} == {
        "tools": None,
        "tools_digest": None,
        "part": None,
        "twins": False,
        "part_sessions": 25_000,
    }


def lines_of(maker: SetMaker, number: int) -> list[bytes]:
    return [*part_lines(maker.part(number))]


def test_parts_hold_the_sessions_of_the_set_in_any_order():
    maker = SetMaker(set_settings(SPEC, None, 3))
    parts = {number: lines_of(maker, number) for number in (2, 0, 1, 0)}
    whole = ProceduralSet(SPEC, [].append, part_sessions=3)
    assert whole.parts == 3
    for number in range(3):
        *lines, easier = parts[number]
        assert [json.loads(line) for line in lines] == [record for record, _ in whole.part(number)]
        assert (easier, len(lines)) == (b"0", 1 if number == 2 else 3)
    assert [record["id"] for record, _ in whole.part(1)] == [
        "procedural_s_3",
        "procedural_s_4",
        "procedural_s_5",
    ]
    assert lines_of(maker, 3) == [b"0"]
    assert [ProceduralSet(SessionGenerationSpec(n), [].append, part_sessions=3).parts for n in (0, 3, 4)] == [
        1,
        1,
        2,
    ]
    assert maker.part(0) == maker.part(0)


def test_a_part_of_the_tools_is_used_alone(tmp_path: Path):
    names = frozenset(tool.name for tool in built_in_tool_sets("en")[2])
    maker = SetMaker(set_settings(SPEC, ToolPart((2,), names), 9))
    *lines, _ = lines_of(maker, 0)
    records = [json.loads(line) for line in lines]
    assert {record["made_by"]["tool_set"] for record in records} == {2}
    key = "english_tools" if "english_tools" in records[0] else "chinese_tools"
    assert {tool["function"]["name"] for tool in records[0][key]} <= names


def test_easier_sessions_are_counted_and_noted(tmp_path: Path):
    file = tmp_path / "t.json"
    file.write_text(json.dumps([SHOP[8], SHOP[0]]))
    spec = SessionGenerationSpec(12, tools=file)
    notes: list[str] = []
    records = list(procedural_sessions(spec, notes.append))
    *lines, easier = lines_of(SetMaker(set_settings(spec, None)), 0)
    assert ([json.loads(line) for line in lines], len(notes)) == (records, 1)
    assert notes[0].startswith(f"{int(easier)} of 12 sessions have easier tasks than planned: ")
    note_easier(0, spec, notes.append)
    assert len(notes) == 1


DAMAGED = (
    "the settings of these parts are damaged, so remove their folder and start the command again: field "
)


@pytest.mark.parametrize("field", ["sessions", "tasks", "part_sessions", "seed", "langs", "twins"])
@pytest.mark.parametrize("value", [None, 1.5])
def test_a_field_that_is_missing_or_of_another_type_is_named(field: str, value: Any):
    with pytest.raises(DataError) as refused:
        SetMaker({**set_settings(SPEC, None), field: value})
    assert DAMAGED + field in str(refused.value)


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"version": 3}, "version"),
        ({"tools": 3}, "tools"),
        ({"part": []}, "part"),
        ({"part": {}}, "part: places"),
        ({"part": {"places": [0], "names": "a"}}, "part: names"),
    ],
)
def test_a_damaged_part_is_named(changed: dict[str, Any], field: str):
    with pytest.raises(DataError) as refused:
        SetMaker({**set_settings(SPEC, None), **changed})
    assert DAMAGED + field in str(refused.value)


def test_another_version_or_other_tools_are_refused(tmp_path: Path):
    file = tmp_path / "t.json"
    file.write_text(json.dumps(SHOP))
    settings = set_settings(SessionGenerationSpec(2, tools=file), None)
    with pytest.raises(UsageError) as refused:
        SetMaker({**settings, "version": "0.0.1"})
    assert str(refused.value) == (
        f"these sessions are made by wildtool 0.0.1; this is {wildtool.__version__}: use the same version"
    )
    file.write_text(json.dumps(SHOP[:4]))
    with pytest.raises(UsageError) as other:
        SetMaker(settings)
    assert str(other.value) == (
        f"{file}: the tools are other ones than where the sessions were started; put the same file here"
    )
