"""T-Eval's files: which are read, records as items, what is refused and how, lint, pulls, and result files."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.data_fault import fault_of
from benchmarks.teval.teval_build import INSTRUCT, KEYS, LAYOUT, NAMES, PROMPT, SETS, STEP, plan, write_data
from wildtool.benchmarks.teval import TEVAL
from wildtool.benchmarks.teval.data import data_files, lint_source_files, load, read_file, set_files
from wildtool.benchmarks.teval.results import read_results
from wildtool.data.data_set import DataSet, ResultRow
from wildtool.findings import Finding
from wildtool.types import Item, Reply, Source, Transcript

HOW = (
    "version 2, which ToLeaP uses, is in the Hugging Face data set lovesnowbest/T-Eval: bring its files ("
    "instruct_v2.json,"
    " plan_json_v2.json and so on) with `wildtool data pull teval --from FOLDER`, or name a file or folder with --data"
)
NAMES_OF_SETS = (
    "instruct",
    "plan_json",
    "plan_str",
    "reason_str",
    "retrieve_str",
    "understand_str",
    "rru_json",
    "review_str",
)
ALL_SETS = ", ".join(NAMES_OF_SETS)


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


def test_of_a_set_the_whole_file_of_the_newest_version_that_is_not_packed_is_read(tmp_path: Path) -> None:
    order = [
        "plan_json_v2_subset.json",
        "plan_json.json.gz",
        "plan_json.json",
        "plan_json_v1.json.gz",
        "plan_json_v1.json",
        "syn_plan_json_v2.json.gz",
        "plan_json_v2.json",
    ]
    for name in order:
        path = write(tmp_path / name, {})
        assert set_files(tmp_path) == {"plan_json": path}
    other = write(tmp_path / "reason_retrieve_understand_json_v2_zh.json", {})
    write(tmp_path / "plan_json_v3.txt", {})
    write(tmp_path / "x_plan_json.json", {})
    assert set_files(tmp_path) == {"plan_json": path}
    assert set_files(tmp_path, "zh") == {"rru_json": other}
    assert set_files(tmp_path / "none") == set_files(path) == {}
    assert (data_files(tmp_path, "en"), data_files(tmp_path, "zh")) == ([path], [other])
    assert (data_files(path, "en"), data_files(path, "zh"), data_files(other, "zh")) == ([path], [], [other])


def test_sets_have_their_order_and_their_language(tmp_path: Path) -> None:
    write_data(tmp_path)
    for name in ("plan_json", "review_str"):
        write(tmp_path / f"{name}_v2_zh.json", SETS[f"{name}_v2"])
    source = Source("x", tmp_path, "")

    def ids(**options: Any) -> list[str]:
        return [item.id for item in load(TEVAL, source, **options)]

    english = ["instruct/keys", "instruct/layout", "plan_json/one", "plan_json/twice"]
    english += [f"{name}/one" for name in ("plan_str", "reason_str", "retrieve_str", "understand_str")]
    english += ["rru_json/one", "review_str/one"]
    chinese = ["zh/plan_json/one", "zh/plan_json/twice", "zh/review_str/one"]
    assert ids() == ids(lang="en") == english
    assert ids(lang="zh") == chinese
    assert ids(split="rru_json") == ["rru_json/one"]
    assert ids(split="review_str", lang="zh") == chinese[2:]
    for path in set_files(tmp_path).values():
        path.unlink()
    assert ids() == chinese
    assert fault_of(lambda: ids(split="run")) == f"unknown split 'run' of teval (known: {ALL_SETS})"
    other = write(tmp_path / "records.json", {})
    assert fault_of(lambda: list(load(TEVAL, Source("x", other, "")))) == (
        f"{other}: which set is it? Name the file after one of {ALL_SETS}, such as plan_json.json"
    )


# Records ---------------------------------------------------------------------------------------------


def read(path: Path, **changes: Any) -> Item:
    """The only record of a file, with changes."""
    content = SETS[path.stem.replace("syn_", "")]
    (item,) = read_file(write(path, {"one": next(iter(content.values())) | changes}))
    return item


def test_a_record_is_read_whole(tmp_path: Path) -> None:
    messages = tuple(
        {**message, "role": "user" if message["role"] == "function" else message["role"]}
        for message in PROMPT
    )
    records = {
        name: read(tmp_path / f"{name}.json") for name in ("plan_str_v2", "retrieve_str_v2", "review_str_v2")
    }
    found = {
        name: (item.id, item.units, item.split, item.lang, item.data.set, item.data.form, item.data.names)
        for name, item in records.items()
    }
    assert found == {
        "plan_str_v2": ("plan_str/one", ("0",), "plan_str", "en", "plan_str", "str", tuple(NAMES)),
        "retrieve_str_v2": ("retrieve_str/one", ("0",), "retrieve_str", "en", "retrieve_str", "str", ()),
        "review_str_v2": ("review_str/one", ("0",), "review_str", "en", "review_str", "str", ()),
    }
    assert [item.data.messages for item in records.values()] == [messages] * 3
    assert records["retrieve_str_v2"].data.gold == json.dumps(STEP)
    assert TEVAL.fields(records["plan_str_v2"], "0") == {"ability": "plan", "form": "str"}
    asked = read(tmp_path / "retrieve_str_v2.json", meta_data={"response_format": "json"})
    assert (asked.data.form, asked.data.test.form) == ("json", "str")


def test_a_template_has_the_parts_of_its_form(tmp_path: Path) -> None:
    path = tmp_path / "instruct_v2.json"
    more = {"x": 3}
    keyed = read(path, template=KEYS | more)
    laid_out = read(path, template=LAYOUT | more, meta_data={"response_format": "string"})
    assert (keyed.data.template, keyed.data.form) == (KEYS, "json")
    assert (laid_out.data.template, laid_out.data.form) == (LAYOUT, "string")
    assert read(path, meta_data=None).data.form == "json"


@pytest.mark.parametrize(
    ("name", "change", "fault"),
    [
        ("instruct_v2", {"origin_prompt": None}, "origin_prompt: expected a list of messages, found null"),
        (
            "instruct_v2",
            {"origin_prompt": [3]},
            "role: expected a text in each message of origin_prompt, found null",
        ),
        (
            "instruct_v2",
            {"origin_prompt": [PROMPT[0], {"role": "user", "content": 3}]},
            "content: expected a text in each message of origin_prompt, found a number",
        ),
        ("instruct_v2", {"ground_truth": []}, "ground_truth: expected an object, found a list"),
        ("instruct_v2", {"ground_truth": {}}, "action: expected a text in ground_truth, found null"),
        (
            "instruct_v2",
            {"ground_truth": INSTRUCT | {"args": []}},
            "args: expected an object in ground_truth, found a list",
        ),
        ("instruct_v2", {"template": ""}, "template: expected an object, found a text"),
        (
            "instruct_v2",
            {"template": KEYS | {"args": 3}},
            "args: expected a text in template, found a number",
        ),
        (
            "instruct_v2",
            {"meta_data": {"response_format": "string"}},
            "thought_start: expected a text in template, found null",
        ),
        ("plan_json_v2", {"ground_truth": "x"}, "ground_truth: expected a list of steps, found a text"),
        ("review_str_v2", {"ground_truth": "x"}, "answer: expected a letter in ground_truth, found null"),
        (
            "reason_str_v2",
            {"ground_truth": None},
            "ground_truth: expected an object or JSON text, found null",
        ),
        ("plan_str_v2", {"meta": []}, "API_list: expected a list of names in meta, found null"),
    ],
)
def test_a_record_of_another_form_is_named(tmp_path: Path, name: str, change: Any, fault: str) -> None:
    path = tmp_path / f"{name}.json"
    assert fault_of(lambda: read(path, **change)) == f"{path}: record 'one': field {fault}"


def test_a_file_of_another_form_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "plan_json.json", [1])
    assert fault_of(lambda: list(read_file(path))) == f"{path}: expected an object of records, found a list"
    write(path, {"one": 3})
    assert (
        fault_of(lambda: list(read_file(path))) == f"{path}: record 'one': expected an object, found a number"
    )


# Lint ------------------------------------------------------------------------------------------------

REPEATED = "steps with the same name and arguments are matched in any order (Q3)"


@pytest.mark.parametrize(
    ("name", "change", "expected"),
    [
        ("plan_json_v2", {}, []),
        ("plan_json_v2", {"ground_truth": [{}]}, [("ground_truth", "no steps with id, name and args")]),
        (
            "plan_json_v2",
            {"ground_truth": [*plan(("a", {}), ("a", {}))[:2], {"id": 1, "name": "b", "args": {}}]},
            [
                ("ids", "[0, 1, 1]; expected 0, 1, 2 and so on"),
                ("last step", "b; expected FinishAction"),
                ("repeated step", REPEATED),
            ],
        ),
        (
            "plan_str_v2",
            {"ground_truth": plan(("a", {}), ("Tide.get", {}), ("b", {}))},
            [("unknown API", "a, b: not in API_list, so no line can name it")],
        ),
        (
            "instruct_v2",
            {"template": LAYOUT | {"args_end": "[x].*"}, "meta_data": {"response_format": "string"}},
            [("template", "has ( ) * . [ ], which the published rules take as a pattern (Q6)")],
        ),
        ("instruct_v2", {"template": KEYS | {"args": "a.b"}}, []),
        (
            "instruct_v2",
            {"template": LAYOUT | {"thought_start": "Why: "}, "meta_data": {"response_format": "string"}},
            [],
        ),
        (
            "review_str_v2",
            {"ground_truth": {"answer": "e"}},
            [("answer", "'e'; expected a letter from A to E")],
        ),
        ("review_str_v2", {"ground_truth": {"answer": "E"}}, []),
        (
            "reason_str_v2",
            {"ground_truth": {"name": "a"}},
            [("ground_truth", "no thought, args; expected an object with thought, name and args")],
        ),
        (
            "retrieve_str_v2",
            {"ground_truth": "x"},
            [("ground_truth", "no thought, name, args; expected an object with thought, name and args")],
        ),
        ("understand_str_v2", {}, []),
    ],
)
def test_lint_says_what_rules_stumble_over(tmp_path: Path, name: str, change: Any, expected: Any) -> None:
    path = tmp_path / f"{name}.json"
    item = read(path, **change)
    found = list(lint_source_files(Source("x", path, "")))
    assert found == [Finding(f"{path}: {item.id}", rule, message) for rule, message in expected]


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


def test_a_source_is_named_after_the_versions_that_it_has(home: Path, tmp_path: Path) -> None:
    data = TEVAL.data
    fetch = "`wildtool data pull teval` fetches version 1 of plan and review"
    assert fault_of(lambda: data.locate(None)) == f"no file of T-Eval in {home}; {fetch}; {HOW}"
    write(home / "review_str.json", {})
    assert fault_of(lambda: data.locate(None, "plan_str")) == f"no file of plan_str in {home}; {fetch}; {HOW}"
    missing = tmp_path / "none"
    assert fault_of(lambda: data.locate(str(missing))) == (
        f"no file or folder {str(missing)!r}; --data takes official, a folder of T-Eval's files or one of them"
    )
    names = ("official", "official-v1", "official-part", None)
    assert [data.locate(name).name for name in names] == ["official-part"] * 4
    assert data.locate(None, "review_str").name == "official"
    write_data(home)
    assert [data.locate(name).name for name in names] == ["official"] * 4
    chinese = write(home / "plan_str_v2_zh.json", {})
    before = (
        data.locate(None).sha256,
        data.locate(None, "plan_str").sha256,
        data.locate(None, "rru_json").sha256,
    )
    chinese.write_text("{} ")
    after = (
        data.locate(None).sha256,
        data.locate(None, "plan_str").sha256,
        data.locate(None, "rru_json").sha256,
    )
    assert [a == b for a, b in zip(before, after, strict=True)] == [False, False, True]
    (home / "plan_str_v2.json").rename(home / "plan_str_v1.json")
    assert [data.locate(None, split).name for split in (None, "plan_str", "rru_json")] == [
        "official-v1",
        "official-v1",
        "official",
    ]
    located = data.locate(str(home))
    assert (located.name, located.path, data.locate(None).path) == (str(home), home, home)


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


def test_results_are_matched_by_set_key_and_prompt(tmp_path: Path) -> None:
    data = write_data(tmp_path / "data")
    by_id = {item.id: item for item in load(TEVAL, Source("x", data, ""))}
    folder = tmp_path / "work_dirs" / "gpt"
    joined = write(
        folder / "reason_retrieve_understand_json_gpt.json",
        {"one": entry("a", PROMPT), "two": entry(None, PROMPT), "three": entry("b")},
    )
    other = write(folder / "plan_json_zh_gpt.json", {})
    write(folder / "notes.json", {})
    results = read_results(tmp_path / "work_dirs", by_id, "chat")
    assert results is not None
    assert results.left_out == [f"{other} is left out: it is of another language; choose one with --lang"]
    assert list(results.rows) == [
        ResultRow(
            f"{joined}: record {key!r}",
            "gpt",
            f"rru_json/{key}",
            {"0": Transcript((Reply({"role": "assistant", "content": text}),))},
        )
        for key, text in (("one", "a"), ("two", None), ("three", "b"))
    ]
    assert read_results(folder / "notes.json", by_id, "chat") is None
    english = read_results(folder, {}, "chat")
    assert english is not None and english.left_out == results.left_out


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


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ([], "{}: expected an object of records, found a list"),
        ({"one": 3}, "{}: record 'one': expected an object, found a number"),
        ({"one": {}}, "{}: record 'one': field prediction is missing; expected the text of the reply"),
        (
            {"one": entry(3)},
            "{}: record 'one': field prediction: expected the text of a reply, or null, found a number",
        ),
        (
            {"one": entry("x", PROMPT[:2])},
            "{}: record 'one': its origin_prompt is not that of the data; name the version and language that it was made"
            " from with --data and --lang",
        ),
    ],
)
def test_a_result_of_another_form_is_named(tmp_path: Path, content: Any, fault: str) -> None:
    data = write_data(tmp_path / "data")
    by_id = {item.id: item for item in load(TEVAL, Source("x", data, ""))}
    path = write(tmp_path / "gpt" / "plan_str_gpt.json", content)
    assert fault_of(lambda: rows(path, by_id)) == fault.format(path)
