"""How BFCL's function documents are sent as tools, which files belong to a split, and what a reply says in a trace."""

from pathlib import Path
from typing import Any

import pytest

from benchmarks.bfcl.bfcl_build import JAVA, RING, write_data
from benchmarks.bfcl.test_memory import data_folder as memory_folder
from benchmarks.bfcl.test_multi_turn_data import data_folder as multi_turn_folder
from wildtool.benchmarks.bfcl import BFCL_BENCHMARK
from wildtool.benchmarks.bfcl import source as sources
from wildtool.benchmarks.bfcl.originals import hinted, openai_tools, original_texts
from wildtool.benchmarks.bfcl.package import package_file
from wildtool.benchmarks.bfcl.simulated import CLASS_MODULES
from wildtool.benchmarks.bfcl.source import _files, _unpack
from wildtool.data.data_set import data_of
from wildtool.errors import DataError, UsageError

INNER = {"type": "dict", "properties": {"f": {"type": "float"}}}


def test_documents_become_tools_with_json_types() -> None:
    properties = {
        "a": {"type": "float", "description": "A."}, "b": {"type": "float"}, "c": {}, "d": {"type": "odd"},
        "e": {"type": 5},
        "f": {"type": "tuple", "items": {"type": "float"}},
        "g": {"type": "array", "items": {"type": "list", "items": {"type": "long"}}},
        "h": {"type": "array", "items": INNER}, "i": INNER, "j": {"type": "string", "items": {"type": "float"}},
        "k": {"type": "array", "items": {}}, "l": {"type": "array", "items": {"type": "list", "items": {}}},
        "m": {"type": "array", "items": {"type": "tuple"}}, "n": {"type": "array", "items": {"type": "dict"}},
    }  # fmt: skip
    own = {"name": "a.b", "description": "Does.", "parameters": {"type": "dict", "properties": properties}}
    before = repr(own)
    note = " This is a float type value."
    number = {"type": "number", "format": "float"}
    inner = {"type": "object", "properties": {"f": {**number, "description": note}}}
    expected = {
        "a": {**number, "description": f"A.{note}"}, "b": {**number, "description": note},
        "c": {"type": "string"}, "d": {"type": "string"}, "e": {"type": "string"},
        "f": {"type": "array", "items": {"type": "number"}},
        "g": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
        "h": {"type": "array", "items": inner}, "i": inner, "j": {"type": "string", "items": {"type": "float"}},
        "k": {"type": "array", "items": {"type": "string"}},
        "l": {"type": "array", "items": {"type": "array", "items": {"type": "string"}}},
        "m": {"type": "array", "items": {"type": "array"}}, "n": {"type": "array", "items": {"type": "object"}},
    }  # fmt: skip
    assert openai_tools([own, {"name": "c", "parameters": {}}]) == [
        {
            "type": "function",
            "function": {
                "name": "a_b",
                "description": "Does.",
                "parameters": {"type": "object", "properties": expected},
            },
        },
        {"type": "function", "function": {"name": "c", "parameters": {"type": "object"}}},
    ]
    assert repr(own) == before


def test_documents_name_the_language_and_in_java_the_types_in_words() -> None:
    texts = original_texts()
    (python,) = hinted([RING], "python")
    assert python == {**RING, "description": f"Does ring.{texts.language_hints['python']}"}
    (java,) = hinted([{**JAVA, "description": ""}], "java")
    assert java["description"] == texts.language_hints["java"] and JAVA["description"] == "Does Store.put."
    hints = texts.value_hints["java"]
    assert java["parameters"]["properties"] == {
        "keys": {
            "type": "string",
            "description": f"Keys.{hints.typed.format('Array')}{hints.elements.format('String')}",
        },
        "limit": {"type": "string", "description": f"Limit.{hints.typed.format('long')}"},
        "options": {"type": "string", "description": f"Options.{hints.typed.format('HashMap')}"},
    }
    shape = {
        "name": "f",
        "parameters": {"properties": {"x": {"type": "any"}, "y": {"type": "dict", "properties": {"a": 1}}}},
    }
    for language, members in (("java", ""), ("javascript", texts.value_hints["javascript"].members)):
        own = texts.value_hints[language]  # type: ignore[index]
        (document,) = hinted([shape], language)  # type: ignore[arg-type]
        added = members.format('{"a": 1}') if members else ""
        kept = {} if members else {"properties": {"a": 1}}
        assert document["parameters"]["properties"] == {
            "x": {"type": "string", "description": own.any},
            "y": {"type": "string", "description": f"{own.typed.format('dict')}{added}", **kept},
        }


# Files -----------------------------------------------------------------------------------------------


def names(folder: Path, split: str | None) -> list[str]:
    return [
        path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.name
        for path in _files(folder, split)
    ]


def test_a_split_has_its_questions_answers_and_documents(tmp_path: Path) -> None:
    folder = write_data(tmp_path / "data")
    multiple = ["BFCL_v4_multiple.json", "possible_answer/BFCL_v4_multiple.json"]
    assert (names(folder, "multiple"), names(folder, "irrelevance")) == (
        multiple,
        ["BFCL_v4_irrelevance.json"],
    )
    assert len(names(folder, None)) == 14
    (folder / "BFCL_v4_format_sensitivity.json").write_text('{"multiple": []}', "utf-8")
    assert names(folder, "format_sensitivity") == ["BFCL_v4_format_sensitivity.json", *multiple]
    memory = memory_folder(tmp_path / "memory")
    assert names(memory, "memory_kv") == [
        "question/BFCL_v4_memory.json",
        "possible_answer/BFCL_v4_memory.json",
        "multi_turn_func_doc/memory_kv.json",
        "memory_prereq_conversation/memory_customer.json",
    ]
    turns = multi_turn_folder(tmp_path / "turns")
    assert names(turns, "multi_turn_base") == [
        "question/BFCL_v4_multi_turn_base.json",
        "possible_answer/BFCL_v4_multi_turn_base.json",
        *(f"multi_turn_func_doc/{name}.json" for name in CLASS_MODULES.values()),
        package_file("v4").name,
    ]


def test_files_that_are_not_there_are_named(tmp_path: Path) -> None:
    folder, old = write_data(tmp_path / "data"), write_data(tmp_path / "old", "v3")
    for place, split, message in (
        (
            folder,
            "live_simple",
            f"{folder}: BFCL_v4_live_simple.json is missing; `wildtool data pull bfcl` gets it",
        ),
        (old, "memory_kv", f"{old}: version 3 has no memory_kv; choose another --split"),
    ):
        with pytest.raises(DataError) as caught:
            names(place, split)
        assert str(caught.value) == message
    with pytest.raises(DataError) as caught:
        data_of(BFCL_BENCHMARK).locate(str(folder / "BFCL_v4_multiple.json"))
    assert str(caught.value) == (
        f"{folder / 'BFCL_v4_multiple.json'}: no folder; expected one with BFCL_v4_*.json or BFCL_v3_*.json"
    )
    with pytest.raises(UsageError) as refused:
        data_of(BFCL_BENCHMARK.in_mode("fc")).locate(str(folder), "format_sensitivity")
    assert str(refused.value) == "format_sensitivity compares forms of prompts; add --mode prompt"


def test_the_data_of_a_package_are_unpacked_by_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from zipfile import ZipFile

    package, data = tmp_path / "x.whl", sources._DATA
    with ZipFile(package, "w") as files:
        for name in (
            "BFCL_v4_a.json",
            "README.md",
            "possible_answer/BFCL_v4_a.json",
            "multi_turn_func_doc/b.json",
        ):
            files.writestr(f"{data}/{name}", name)
        for name in ("memory_prereq_conversation/c.json", "other/d.json", "possible_answer/deeper/e.json"):
            files.writestr(f"{data}/{name}", name)
        files.writestr("elsewhere/BFCL_v4_a.json", "x")
    monkeypatch.setattr(sources, "package_file", lambda version: package)
    folder = tmp_path / "to" / "data"
    assert (_unpack(folder), _unpack(folder)) == (4, 4)
    assert sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.*")) == [
        "memory_prereq_conversation/c.json",
        "multi_turn_func_doc/b.json",
        "possible_answer/BFCL_v4_a.json",
        "question/BFCL_v4_a.json",
    ]
    assert (folder / "question/BFCL_v4_a.json").read_text("utf-8") == "BFCL_v4_a.json"


# Traces ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "written", "native"),
    [
        ("[f(a=1), g()]", [("f", {"a": 1}), ("g", {})], [("message", "[f(a=1), g()]")]),
        ("some words here", [("message", "some words here")], [("message", "some words here")]),
        ("[]", [("message", "[]")], [("message", "[]")]),
    ],
)
def test_the_calls_that_a_reply_makes_are_shown(content: str, written: Any, native: Any) -> None:
    for mode, said in (("prompt", written), ("fc", native)):
        assert list(BFCL_BENCHMARK.in_mode(mode).rules("official").said({"content": content})) == said
