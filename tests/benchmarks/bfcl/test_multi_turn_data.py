"""Where multi-turn entries come from: files beside the questions, and tables read from the original's code."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks.bfcl.simulated_build import DEFAULTS, TREE
from wildtool.benchmarks.bfcl import BFCL_BENCHMARK
from wildtool.benchmarks.bfcl.simulated import SIMULATED_CLASSES
from wildtool.benchmarks.bfcl.simulated.base import FILLER_FILE, TABLES_FILE
from wildtool.benchmarks.bfcl.simulated.extract import SOURCES, extract_tables, pull_tables
from wildtool.errors import DataError

QUESTION: dict[str, Any] = {
    "id": "multi_turn_base_0",
    "question": [[{"role": "user", "content": "Make a file."}]],
    "initial_config": {"GorillaFileSystem": TREE},
    "involved_classes": ["GorillaFileSystem"],
}
ANSWER = {"id": "multi_turn_base_0", "ground_truth": [["touch('new')"]]}
TOUCH = {"name": "touch", "description": "", "parameters": {"type": "dict", "properties": {}, "required": []}}


def data_folder(folder: Path, version: str = "v4", answer: Mapping[str, Any] = ANSWER) -> Path:
    tables = {name: {"default_state": state} for name, state in DEFAULTS.items()}
    texts = {
        f"question/BFCL_{version}_multi_turn_base.json": QUESTION,
        f"possible_answer/BFCL_{version}_multi_turn_base.json": answer,
        TABLES_FILE: tables,
        FILLER_FILE: {},
        **{f"multi_turn_func_doc/{owner.DOCUMENTS}.json": TOUCH for owner in SIMULATED_CLASSES.values()},
    }
    for name, value in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(value), "utf-8")
    return folder


def test_entries_are_read_with_documents_and_tables(tmp_path: Path) -> None:
    source = BFCL_BENCHMARK.locate(str(data_folder(tmp_path)), None)
    (item,) = BFCL_BENCHMARK.load(source)
    assert (item.id, item.split, item.data.answers) == (
        "multi_turn_base_0",
        "multi_turn_base",
        ("touch('new')",),
    )
    (tmp_path / TABLES_FILE).write_text("{}", "utf-8")
    assert BFCL_BENCHMARK.locate(str(tmp_path), None).sha256 != source.sha256


@pytest.mark.parametrize("name", [TABLES_FILE, FILLER_FILE, "multi_turn_func_doc/math_api.json"])
def test_a_missing_file_is_named(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path / "cache"))
    source = BFCL_BENCHMARK.locate(str(data_folder(tmp_path)), None)
    (tmp_path / name).unlink()
    with pytest.raises(DataError, match=Path(name).name):
        list(BFCL_BENCHMARK.load(source))


def test_version_3_runs_on_its_own_classes_with_the_tables_that_were_pulled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path / "cache"))
    pulled = data_folder(tmp_path / "cache" / "bfcl")
    answer = {**ANSWER, "ground_truth": [["echo('text', file_name='new')"]]}
    folder = data_folder(tmp_path / "v3", "v3", answer=answer)
    for name in (TABLES_FILE, FILLER_FILE):
        (folder / name).unlink()
    source = BFCL_BENCHMARK.locate(str(folder), "multi_turn_base")
    (item,) = BFCL_BENCHMARK.load(source)
    assert item.data.instances().execute(item.data.answers[0]) == "None", "only version 3 creates the file"
    assert not list(BFCL_BENCHMARK.lint(source))
    (pulled / TABLES_FILE).unlink()
    with pytest.raises(DataError, match=TABLES_FILE):
        list(BFCL_BENCHMARK.load(source))


def test_an_expected_call_that_fails_is_a_finding(tmp_path: Path) -> None:
    folder = data_folder(tmp_path, answer={**ANSWER, "ground_truth": [["cat('nothing')"]]})
    (finding,) = BFCL_BENCHMARK.lint(BFCL_BENCHMARK.locate(str(folder), None))
    assert finding.rule == "expected call fails"
    assert "cat('nothing')" in finding.message


CODE = {
    **dict.fromkeys(SOURCES, "DEFAULT_STATE = {'count': -1, 'used': set(), 'none': None}\n"),
    "math_api.py": "class A:\n  def si_unit_conversion(self):\n    to_meters = {'km': 1000}\n"
    "  def imperial_si_conversion(self):\n    conversion = {'f': 5 / 9}\n",
    "trading_bot.py": "class A:\n  def get_symbol_by_name(self):\n    symbol_map = {'A': 'B'}\n"
    "  def get_available_stocks(self):\n    sector_map = {'A': ['B']}\n",
    "travel_booking.py": "class A:\n  def get_flight_cost(self):\n    base_costs: dict = {('A', 'B'): 1}\n"
    "  def list_all_airports(self):\n    return ['A']\n"
    "  def compute_exchange_rate(self):\n    exchange_rates = {}\n"
    "  def get_nearest_airport_by_city(self):\n    airport_map = {}\n",
    "long_context.py": "LIST = ['A', ...]\nTEXT = 'text'\n",
}


def test_tables_are_read_from_code_without_running_it() -> None:
    tables = extract_tables(CODE.__getitem__)
    assert tables[FILLER_FILE] == {"LIST": ["A", {"__python_ellipsis__": True}], "TEXT": "text"}
    found = tables[TABLES_FILE]
    assert found["MessageAPI"] == {"default_state": {"count": -1, "used": [], "none": None}}
    assert found["MathAPI"]["lookup_tables"]["imperial_si_conversion.conversion"] == [["f", 5 / 9]]
    assert found["TravelAPI"]["lookup_tables"]["get_flight_cost.base_costs"] == [[["A", "B"], 1]]
    assert found["TravelAPI"]["lookup_tables"]["list_all_airports.returns"] == ["A"]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (
            "DEFAULT_STATE = {'a': open('b')}",
            "ticket_api.py: DEFAULT_STATE: expected a literal value, found Call",
        ),
        ("DEFAULT_STATE = {", "ticket_api.py: not a Python file"),
    ],
)
def test_other_code_is_refused(code: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        extract_tables({**CODE, "ticket_api.py": code}.__getitem__)


def test_tables_other_than_the_expected_ones_are_not_installed(tmp_path: Path) -> None:
    source, target = data_folder(tmp_path / "source"), tmp_path / "target"
    target.mkdir()
    with pytest.raises(DataError, match=f"{TABLES_FILE} has the digest"):
        pull_tables(target, "owner/name", "0" * 40, source=source, mirror=None, report=lambda _: None)
    assert list(target.iterdir()) == []
