"""The same settings give the same sessions, to the byte: parts of a set are made by different processes and systems."""

import json
from pathlib import Path
from typing import Any

import pytest

from generate.golden import check, digest
from generate.procedural.wide_tools import SHOP, WIDE
from wildtool.errors import DataError
from wildtool_data.make.core.plan import Lang, SessionGenerationSpec
from wildtool_data.make.procedural.sessions import procedural_sessions
from wildtool_data.make.procedural.tool_sets import built_in_tool_sets, read_tool_sets, tool_sets_by_language

LANGS: tuple[Lang, ...] = ("en", "zh")
PINGS = [
    {
        "type": "function",
        "function": {
            "name": f"ping{k}",
            "description": f"Pings {k}",
            "parameters": {"type": "object", "properties": {}},
        },
    }
    for k in range(9)
]


def _summary(spec: SessionGenerationSpec) -> dict[str, Any]:
    """The texts of the first session in full, the digest of each, and what is noted."""
    notes: list[str] = []
    records = [
        {**record, "made_by": {**record["made_by"], "version": ""}}
        for record in procedural_sessions(spec, notes.append)
    ]
    first = next(value for key, value in records[0].items() if key.endswith("_tasks"))
    return {"first": first, "sessions": [digest(record) for record in records], "notes": notes}


@pytest.mark.parametrize(
    ("name", "spec"),
    [
        ("english", SessionGenerationSpec(64)),
        ("chinese", SessionGenerationSpec(48, seed="2", langs=("zh",))),
        ("long", SessionGenerationSpec(12, 8, seed="3", langs=("en", "zh"))),
        ("twins", SessionGenerationSpec(12, 3, seed="4", langs=("en", "zh"), paired_languages=True)),
    ],
)
def test_built_in_tools_make_the_same_sessions(name: str, spec: SessionGenerationSpec):
    check(f"procedural_{name}", _summary(spec))


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "tools", "spec"),
    [
        ("wide", WIDE, {"sessions": 64}),
        ("wide_chinese", WIDE, {"sessions": 32, "langs": ("zh",)}),
        ("shop", SHOP, {"sessions": 32, "seed": "5"}),
        ("bare", [SHOP[8], SHOP[0], *PINGS], {"sessions": 12}),
    ],
)
def test_tools_of_ones_own_make_the_same_sessions(
    tmp_path: Path, name: str, tools: Any, spec: dict[str, Any], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    Path("tools.json").write_text(json.dumps(tools))
    check(f"procedural_{name}", _summary(SessionGenerationSpec(**spec, tools=Path("tools.json"))))


def test_tools_that_allow_no_session_of_the_plan_are_named_with_the_kinds_of_its_tasks(tmp_path: Path):
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([SHOP[4], SHOP[5], *PINGS]))
    with pytest.raises(DataError) as refused:
        list(procedural_sessions(SessionGenerationSpec(8, tools=path), [].append))
    assert str(refused.value) == (
        "session 1: these tools do not allow a session of Clarify, Clarify, Single-Tool, Clarify; "
        "give more tools, with parameters"
    )


def test_the_tools_that_come_with_the_package_are_the_same_in_both_languages():
    check(
        "built_in_tools",
        {
            lang: {tool.name: digest(repr(tool)) for tools in built_in_tool_sets(lang) for tool in tools}
            for lang in LANGS
        },
    )


def test_what_is_left_out_of_a_file_is_noted_for_its_first_language_alone(tmp_path: Path):
    file = tmp_path / "tools.json"
    file.write_text(json.dumps([SHOP[0], {**SHOP[0]}]))
    notes: list[str] = []
    sets = tool_sets_by_language(file, LANGS, notes.append)
    name = SHOP[0]["function"]["name"]
    assert notes == [f"{file}: set 0: {name!r} is left out: it stands there twice"]
    assert sets == {lang: read_tool_sets(file, lang, [].append) for lang in LANGS}
    assert tool_sets_by_language(None, ["zh"]) == {"zh": built_in_tool_sets("zh")}
