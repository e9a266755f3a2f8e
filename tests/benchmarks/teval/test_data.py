"""T-Eval's files: which are read, records as items, what is refused and how, lint, pulls, and result files."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.data_fault import fault_of
from benchmarks.teval.teval_build import KEYS, LAYOUT, SETS, write_data
from wildtool.benchmarks.teval import TEVAL
from wildtool.benchmarks.teval.data import lint_source_files, load, read_file
from wildtool.benchmarks.teval.results import read_results
from wildtool.data.data_set import DataSet, ResultRow
from wildtool.findings import Finding
from wildtool.types import Item, Source

HOW = (
    "version 2, which ToLeaP uses, is in the Hugging Face data set lovesnowbest/T-Eval: bring its files ("
    "instruct_v2.json,"
    " plan_json_v2.json and so on) with `wildtool data pull teval --from FOLDER`, or name a file or folder with --data"
)


def write(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(content).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a pull puts the files."""
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "teval"


# Which files -----------------------------------------------------------------------------------------


# Records ---------------------------------------------------------------------------------------------


def read(path: Path, **changes: Any) -> Item:
    """The only record of a file, with changes."""
    content = SETS[path.stem.replace("syn_", "")]
    (item,) = read_file(write(path, {"one": next(iter(content.values())) | changes}))
    return item


def test_a_template_has_the_parts_of_its_form(tmp_path: Path) -> None:
    path = tmp_path / "instruct_v2.json"
    more = {"x": 3}
    keyed = read(path, template=KEYS | more)
    laid_out = read(path, template=LAYOUT | more, meta_data={"response_format": "string"})
    assert (keyed.data.template, keyed.data.form) == (KEYS, "json")
    assert (laid_out.data.template, laid_out.data.form) == (LAYOUT, "string")
    assert read(path, meta_data=None).data.form == "json"


def test_a_file_of_another_form_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "plan_json.json", [1])
    assert fault_of(lambda: list(read_file(path))) == f"{path}: expected an object of records, found a list"
    write(path, {"one": 3})
    assert (
        fault_of(lambda: list(read_file(path))) == f"{path}: record 'one': expected an object, found a number"
    )


# Lint ------------------------------------------------------------------------------------------------


def test_lint_goes_on_with_files_of_both_languages(tmp_path: Path) -> None:
    broken = write(tmp_path / "plan_json.json", [])
    odd = {"one": SETS["review_str_v2"]["one"] | {"ground_truth": {"answer": "X"}}}
    paths = [write(tmp_path / f"review_str{suffix}.json", odd) for suffix in ("", "_zh")]
    message = "'X'; expected a letter from A to E"
    assert list(lint_source_files(Source("x", tmp_path, ""))) == [
        Finding(str(broken), "unreadable", f"{broken}: expected an object of records, found a list"),
        Finding(f"{paths[0]}: review_str/one", "answer", message),
        Finding(f"{paths[1]}: zh/review_str/one", "answer", message),
    ]
    paths[0].unlink()
    broken.unlink()
    assert list(lint_source_files(Source("x", tmp_path, ""))) == [
        Finding(f"{paths[1]}: zh/review_str/one", "answer", message)
    ]


# Pulled and located ----------------------------------------------------------------------------------


def test_a_pull_copies_version_2_after_reading_it_else_fetches_version_1(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[str] = []

    def fetched(self: DataSet, *, file: Path | None, mirror: str | None, report: Any) -> Path:
        report(f"fetched from {file}, {mirror}")
        return home

    monkeypatch.setattr(DataSet, "pull", fetched)
    folder = tmp_path / "own"
    for name in ("review_str_v2", "plan_str_v2"):
        write(folder / f"{name}.json", SETS[name])
    write(folder / "plan_json_v1.json", [])
    missing = "instruct, plan_json, reason_str, retrieve_str, understand_str, rru_json"
    assert TEVAL.data.pull(file=folder, mirror=None, report=lines.append) == home
    copied = "copied; its digest is not known, so it is not verified"
    assert lines == [
        f"{home / 'plan_str_v2.json'}: {copied}",
        f"{home / 'review_str_v2.json'}: {copied}",
        f"missing: {missing}; {HOW}",
    ]
    assert (home / "plan_str_v2.json").read_bytes() == (folder / "plan_str_v2.json").read_bytes()
    lines.clear()
    assert TEVAL.data.pull(file=None, mirror="M", report=lines.append) == home
    assert lines == ["fetched from None, M", f"missing: {missing}; {HOW}"]
    write_data(home)
    lines.clear()
    (folder / "plan_str_v2.json").unlink()
    (folder / "review_str_v2.json").unlink()
    TEVAL.data.pull(file=folder, mirror=None, report=lines.append)
    assert lines == [f"fetched from {folder}, None"]
    path = write(folder / "review_str_v2.json", {"one": 3})
    assert fault_of(lambda: TEVAL.data.pull(file=folder, mirror=None, report=lines.append)) == (
        f"{path}: record 'one': expected an object, found a number"
    )


# Result files ----------------------------------------------------------------------------------------


def entry(prediction: Any = "x", prompt: Any = None) -> dict[str, Any]:
    return {"prediction": prediction} | ({} if prompt is None else {"origin_prompt": prompt})


def rows(path: Path, by_id: dict[str, Item]) -> list[ResultRow]:
    results = read_results(path, by_id, "chat")
    assert results is not None
    return list(results.rows)


def test_results_in_chinese_are_read_for_items_in_chinese(tmp_path: Path) -> None:
    path = write(tmp_path / "data" / "plan_str_zh.json", SETS["plan_str_v2"])
    by_id = {item.id: item for item in load(TEVAL, Source("x", path, ""))}
    folder = tmp_path / "gpt"
    english, chinese = (
        write(folder / "plan_str_gpt.json", {}),
        write(folder / "plan_str_zh_gpt.json", {"one": entry()}),
    )
    results = read_results(folder, by_id, "chat")
    assert results is not None
    assert results.left_out == [f"{english} is left out: it is of another language; choose one with --lang"]
    assert [(row.where, row.item) for row in results.rows] == [
        (f"{chinese}: record 'one'", "zh/plan_str/one")
    ]
