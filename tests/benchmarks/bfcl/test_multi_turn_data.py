"""Where BFCL's files come from: the published package, or a folder; and what is read of multi-turn entries."""

import json
from collections.abc import Mapping
from pathlib import Path
from shutil import copyfile
from typing import Any

import pytest

from benchmarks.bfcl.simulated_build import TREE
from wildtool.benchmarks.bfcl import BFCL_BENCHMARK
from wildtool.benchmarks.bfcl.package import PACKAGES, package_file
from wildtool.benchmarks.bfcl.simulated import CLASS_MODULES
from wildtool.children import Child
from wildtool.data import packages
from wildtool.data.data_set import data_of
from wildtool.declared import lint
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
    texts = {
        f"question/BFCL_{version}_multi_turn_base.json": QUESTION,
        f"possible_answer/BFCL_{version}_multi_turn_base.json": answer,
        **{f"multi_turn_func_doc/{name}.json": TOUCH for name in CLASS_MODULES.values()},
    }
    for name, value in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(value), "utf-8")
    return folder


def test_entries_are_read_with_their_documents(tmp_path: Path) -> None:
    source = data_of(BFCL_BENCHMARK).locate(str(data_folder(tmp_path)), None)
    (item,) = BFCL_BENCHMARK.load(source)
    assert (item.id, item.split, item.data.answers) == (
        "multi_turn_base_0",
        "multi_turn_base",
        ("touch('new')",),
    )
    (tmp_path / "multi_turn_func_doc" / "math_api.json").unlink()
    with pytest.raises(DataError, match=r"math_api\.json"):
        list(BFCL_BENCHMARK.load(source))


def test_version_3_runs_on_its_own_classes(tmp_path: Path) -> None:
    answer = {**ANSWER, "ground_truth": [["echo('text', file_name='new')"]]}
    for version, shown in (("v3", "None"), ("v4", '{"error"')):
        source = data_of(BFCL_BENCHMARK).locate(
            str(data_folder(tmp_path / version, version, answer=answer)), None
        )
        (item,) = BFCL_BENCHMARK.load(source)
        assert item.data.instances().execute(item.data.answers)[0].startswith(shown), (
            "only v3 creates the file"
        )


def test_an_expected_call_that_fails_is_a_finding(tmp_path: Path) -> None:
    folder = data_folder(tmp_path, answer={**ANSWER, "ground_truth": [["cat('nothing')"]]})
    (finding,) = lint(BFCL_BENCHMARK, data_of(BFCL_BENCHMARK).locate(str(folder), None))
    assert finding.rule == "expected call fails"
    assert "cat('nothing')" in finding.message


# The package ------------------------------------------------------------------------------------------


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with both packages, as `pip download` leaves them, and an empty cache."""
    (tmp_path / "wheels").mkdir()
    for version, wheel in PACKAGES.items():
        copyfile(package_file(version), tmp_path / "wheels" / wheel.file)
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path / "cache"))
    return tmp_path / "wheels"


def pull(file: Path | None, mirror: str | None = None) -> tuple[Path, list[str]]:
    said: list[str] = []
    return data_of(BFCL_BENCHMARK).pull(file=file, mirror=mirror, report=said.append), said


def test_data_are_unpacked_from_a_folder_with_the_packages(wheels: Path) -> None:
    folder, _ = pull(wheels)
    assert package_file("v3").is_file()
    assert len(list((folder / "question").iterdir())) == 20
    item = next(
        iter(BFCL_BENCHMARK.load(data_of(BFCL_BENCHMARK).locate(None, "memory_kv"), split="memory_kv"))
    )
    assert item.id.startswith("memory_kv:")


def test_the_package_alone_is_enough_for_version_4(wheels: Path) -> None:
    _, said = pull(wheels / PACKAGES["v4"].file)
    assert any("version 3 cannot be run" in line for line in said) and not package_file("v3").exists()


def test_another_file_and_a_folder_without_the_package_are_refused(wheels: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="not the pinned file, expected SHA-256"):
        pull(wheels / PACKAGES["v3"].file)
    with pytest.raises(DataError, match=r"--from names bfcl_eval-2026\.3\.23-py3-none-any\.whl, or a folder"):
        pull(data_folder(tmp_path / "data"))
    assert not package_file("v4").exists()


def test_pip_is_asked_without_dependencies_and_its_refusal_is_told(
    wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []

    def start(command: list[str], **options: Any) -> Child:
        asked.append(command)
        return Child(["sh", "-c", "echo ERROR: No matching distribution >&2; exit 1"], **options)

    monkeypatch.setattr(packages, "Child", start)
    with pytest.raises(DataError, match=r"No matching distribution; get bfcl_eval.* with --from FILE"):
        pull(None, "http://index.invalid/simple")
    assert {"--no-deps", "--index-url", "bfcl-eval==2026.3.23"} <= set(asked[0])


def test_data_of_ones_own_need_the_package_too(tmp_path: Path, wheels: Path) -> None:
    with pytest.raises(DataError, match="`wildtool data pull bfcl` gets them"):
        data_of(BFCL_BENCHMARK).locate(str(data_folder(tmp_path / "data")), None)
