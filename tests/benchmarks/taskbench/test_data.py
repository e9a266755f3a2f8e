"""TaskBench's files: which are read, what is refused and how, lint, what a pull says, and result files."""

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from benchmarks.data_fault import fault_of
from benchmarks.taskbench.plan_build import (
    CHAIN,
    NAMED_TOOLS,
    RESOURCE_TOOLS,
    SINGLE,
    TIMED,
    label,
    link,
    node,
    plan,
    timed,
    write_data,
)
from wildtool.benchmarks.taskbench import TASKBENCH
from wildtool.benchmarks.taskbench.data import (
    Library,
    ToolPlan,
    domain_of,
    label_file,
    label_files,
    lint_source,
    load,
    read_label_file,
    read_library,
)
from wildtool.benchmarks.taskbench.results import read_results
from wildtool.data.data_set import ResultRow
from wildtool.findings import Finding
from wildtool.types import Item, Reply, Source, Transcript

HOW = (
    "the labels are the files taskbench/data_<domain>/data.json of github.com/microsoft/JARVIS, or the split `test` of"
    " the Hugging Face data set microsoft/Taskbench saved as JSON lines; bring them with `wildtool data pull taskbench"
    " --from FOLDER`, FOLDER holding data_<domain>/data.json, or name a file or folder with --data"
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path / "cache"))
    return write_data(tmp_path / "data")


def write(path: Path, *lines: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


# Which files -----------------------------------------------------------------------------------------


def test_the_domain_is_in_the_name_of_the_file_or_of_its_folder(tmp_path: Path) -> None:
    names = ["x/multimedia.json", "multimedia/x.json", "multimedia/huggingface.json", "a_dailylifeapis_b/x"]
    assert [domain_of(tmp_path / name) for name in names] == [
        "multimedia",
        "multimedia",
        "huggingface",
        "dailylifeapis",
    ]
    path = tmp_path / "multimedia" / "x" / "y.json"
    assert fault_of(lambda: domain_of(path)) == (
        f"{path}: which domain is it of? Put huggingface, multimedia, dailylifeapis into the name of the file or of its"
        " folder"
    )


def test_labels_of_a_domain_are_in_its_folder_else_in_the_first_file_of_its_name(folder: Path) -> None:
    loose = [
        write(folder / name) for name in ("b_multimedia.jsonl", "a_multimedia.json.gz", "multimedia.txt")
    ]
    own = folder / "data_huggingface" / "data.json"
    write(folder / "huggingface.json")
    assert label_file(folder, "huggingface") == own
    assert label_file(folder, "multimedia") == loose[1]
    loose[1].unlink()
    assert label_file(folder, "multimedia") is None
    assert label_file(folder / "none", "multimedia") is None
    assert label_files(folder) == [
        ("huggingface", own),
        ("dailylifeapis", folder / "data_dailylifeapis" / "data.json"),
    ]
    assert label_files(own) == [("huggingface", own)]


def test_tools_lie_beside_the_labels_else_in_a_folder_beside_them_else_where_a_pull_puts_them(
    folder: Path, tmp_path: Path
) -> None:
    labels = write(tmp_path / "mine" / "my_huggingface.jsonl", label("one", "single", SINGLE))
    missing = (
        f"the tools of huggingface are not at hand: `wildtool data pull taskbench` fetches them, or put tool_desc.json"
        f" and graph_desc.json beside {labels}"
    )
    assert fault_of(lambda: read_label_file(labels, "huggingface")) == missing
    places = (
        tmp_path / "cache" / "taskbench" / "data_huggingface",
        tmp_path / "mine" / "data_huggingface",
        tmp_path / "mine",
    )
    for number, place in enumerate(places):
        write(place / "tool_desc.json", {"nodes": [{"id": str(number)}]})
        (item,) = read_label_file(labels, "huggingface")
        assert item.data.library.places == {str(number): 0}


def test_a_library_has_tools_links_and_places(folder: Path) -> None:
    path = folder / "data_huggingface" / "tool_desc.json"
    names = [tool["id"] for tool in RESOURCE_TOOLS]
    places = dict(zip(names, range(3), strict=True))
    library, bare = read_library(path, "huggingface"), Library("huggingface", (), ())
    assert (library.domain, library.tools, library.places) == ("huggingface", tuple(RESOURCE_TOOLS), places)
    assert library.links == ((names[0], names[1]),)
    (path.parent / "graph_desc.json").unlink()
    assert read_library(path, "huggingface").links == ()
    assert (library.temporal, read_library(path, "dailylifeapis").temporal, bare.places) == (False, True, {})


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("tool_desc.json", [], "field nodes: expected a list of objects"),
        ("tool_desc.json", {}, "field nodes: expected a list of objects"),
        ("tool_desc.json", {"nodes": [{"id": "a"}, 3]}, "field nodes: expected a list of objects"),
        (
            "tool_desc.json",
            {"nodes": [{"id": "a"}, {"id": 3}]},
            "nodes[1].id: expected a text, found a number",
        ),
        ("graph_desc.json", {"links": 3}, "field links: expected a list of objects"),
    ],
)
def test_tools_of_another_form_are_named(folder: Path, name: str, content: Any, fault: str) -> None:
    path = folder / "data_huggingface" / name
    path.write_text(json.dumps(content), "utf-8")
    tools = path.with_name("tool_desc.json")
    assert fault_of(lambda: read_library(tools, "huggingface")) == f"{path}: {fault}"


# Labels ----------------------------------------------------------------------------------------------


def read(folder: Path, *records: Any, domain: str = "huggingface") -> list[Item]:
    path = write(folder / f"data_{domain}" / "data.json", *records)
    return list(read_label_file(path, domain))


def test_a_label_is_read_in_either_layout(folder: Path) -> None:
    gold = ToolPlan(CHAIN["task_steps"], CHAIN["task_nodes"], CHAIN["task_links"])
    released = label("a", "chain", CHAIN)
    decoded = {"id": "b", "type": "dag", "user_request": "Ask.", **CHAIN}
    both = {"id": "c", "type": "single", "user_request": "Ask.", **label("x", "chain", CHAIN), **SINGLE}
    both |= {"id": "c", "type": "single", "instruction": ""}
    items = read(folder, released, decoded, both)
    assert [(item.id, item.units, item.split, item.lang) for item in items] == [
        (f"huggingface/{name}", ("0",), "huggingface", "en") for name in "abc"
    ]
    records = [item.data for item in items]
    assert [(each.request, each.structure, each.gold, each.examples) for each in records] == [
        ("Please do a.", "chain", gold, ()),
        ("Ask.", "dag", gold, ()),
        ("Ask.", "single", gold, ()),
    ]
    assert TASKBENCH.fields(items[0], "0") == {"structure": "chain", "tools": 3}
    assert TASKBENCH.data.user_texts is not None
    assert list(TASKBENCH.data.user_texts(items[0])) == ["Please do a."]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"id": 7}, "(id 7): field id: expected a text, found 7"),
        ({"type": ["chain"]}, "(id 'a'): field type: expected one of single, chain, dag, found ['chain']"),
        ({"type": "x" * 90}, f"(id 'a'): field type: expected one of single, chain, dag, found '{'x' * 59}"),
        ({"instruction": 3}, "(id 'a'): field instruction: expected a text, found a number"),
        (
            {"instruction": "", "user_request": None},
            "(id 'a'): field instruction: expected a text, found null",
        ),
        ({"tool_steps": "{}"}, "(id 'a'): field tool_steps: expected a list, found an object"),
        ({"tool_links": None}, "(id 'a'): field tool_links: expected a list, found null"),
        ({"tool_nodes": '[{}, "x"]'}, "(id 'a'): field tool_nodes[1]: expected an object, found a text"),
    ],
)
def test_a_label_of_another_form_is_named(folder: Path, change: dict[str, Any], fault: str) -> None:
    path = folder / "data_huggingface" / "data.json"
    good = label("a", "chain", CHAIN)
    assert fault_of(lambda: read(folder, good, good | change)) == f"{path}:2 {fault}"


def test_a_label_without_a_part_is_named_by_the_released_name(folder: Path) -> None:
    for layout, name in (
        (label("a", "chain", CHAIN), "tool_steps"),
        ({**label("a", "chain", CHAIN), **CHAIN}, ""),
    ):
        record = {key: value for key, value in layout.items() if not key.startswith(name or "tool_")}
        if name:
            path = folder / "data_huggingface" / "data.json"
            found = fault_of(lambda record=record: read(folder, record))
            assert found == f"{path}:1 (id 'a'): field tool_steps: expected a list, found null"
        else:
            assert read(folder, record)[0].data.gold.steps == CHAIN["task_steps"]


# Lint ------------------------------------------------------------------------------------------------


def findings(folder: Path, domain: str, *golds: Any, ids: str = "abcdefgh") -> list[tuple[str, str, str]]:
    records = [label(name, "chain", gold) for name, gold in zip(ids, golds, strict=False)]
    path = write(folder / f"data_{domain}" / "data.json", *records)
    found = list(lint_source(Source("x", path, "")))
    assert {type(finding) for finding in found} <= {Finding}
    return [(finding.where.removeprefix(f"{path}: "), finding.rule, finding.message) for finding in found]


def test_lint_says_what_resources_are_no_good(folder: Path) -> None:
    first, second = (tool["id"] for tool in RESOURCE_TOOLS[:2])
    odd = plan(
        [
            node(first, 3, "<node-1> <node-0> <node-2> <node-3>", "<output 1><node-1", "a"),
            {"task": "Gone" * 20, "arguments": {}},
            {"arguments": None},
        ],
        [link(first, "None"), link(first, second), {"source": first}, 3],
        ["x"],
    )
    where = f"tool_nodes[0] ({first})"
    gone = f"tool_nodes[1] ({'Gone' * 15})"
    assert findings(folder, "huggingface", CHAIN, odd) == [
        ("huggingface/b", rule, message)
        for rule, message in [
            ("steps", "1 steps for 3 nodes; expected one for each"),
            ("argument", f"{where}: 3; expected a text: `toleap` never matches another (Q6)"),
            ("reference", f"{where}: <node-0> is the node itself; the rules leave it out"),
            ("reference", f"{where}: <node-3>: there are 3 nodes"),
            ("reference", f"{where}: <output 1> is no <node-j>, so it counts as a text"),
            ("unknown tool", f"{gone}: not in the library of huggingface; only `original` passes over it"),
            ("argument", f"{gone}: arguments: expected a list, found an object"),
            (
                "unknown tool",
                "tool_nodes[2] (None): not in the library of huggingface; only `original` passes over it",
            ),
            ("argument", "tool_nodes[2] (None): arguments: expected a list, found null"),
            ("link", f"{link(first, second)!r}: names a tool that no node has"),
        ]
    ]


def test_lint_says_what_named_arguments_are_no_good(folder: Path) -> None:
    odd = plan(
        [
            timed("book_ferry", 3),
            node("send_text", {"value": "x"}, {"name": "place", "value": "x"}, {"name": "time"}),
            node("gone", {"name": "any", "value": ["x" * 90]}),
        ],
        [link("book_ferry", "send_text")],
    )
    value = ["x" * 90]
    assert findings(folder, "dailylifeapis", TIMED, odd, ids="aa") == [
        ("dailylifeapis/a", rule, message)
        for rule, message in [
            ("repeated id", "another record has this id; give each its own"),
            ("value", "tool_nodes[0] (book_ferry): 'time' is 3; expected a text"),
            ("argument", "tool_nodes[1] (send_text): one without a name; expected name and value"),
            ("unknown parameter", "tool_nodes[1] (send_text): 'place'; the tool has time"),
            ("value", "tool_nodes[1] (send_text): 'time' is None; expected a text"),
            (
                "unknown tool",
                "tool_nodes[2] (gone): not in the library of dailylifeapis; only `original` passes over it",
            ),
            ("value", f"tool_nodes[2] (gone): 'any' is {value!r:.60}; expected a text"),
        ]
    ]


def test_lint_goes_on_with_the_next_domain_after_a_file_that_cannot_be_read(folder: Path) -> None:
    first = write(folder / "data_huggingface" / "data.json", {"id": 3})
    second = write(
        folder / "data_dailylifeapis" / "data.json", label("a", "chain", plan([node("set_alarm")], [], []))
    )
    assert list(lint_source(Source("x", folder, ""))) == [
        Finding(str(first), "unreadable", f"{first}:1 (id 3): field id: expected a text, found 3"),
        Finding(f"{second}: dailylifeapis/a", "steps", "0 steps for 1 nodes; expected one for each"),
    ]


# Where they are found --------------------------------------------------------------------------------


def test_a_source_is_a_folder_a_file_or_what_was_pulled(folder: Path, tmp_path: Path) -> None:
    data = TASKBENCH.data
    pulled = tmp_path / "cache" / "taskbench"
    file = folder / "data_huggingface" / "data.json"
    assert fault_of(lambda: data.locate(None)) == f"{pulled} holds no labels: {HOW}"
    assert (
        fault_of(lambda: data.locate("official", "multimedia"))
        == f"{pulled} holds no labels of multimedia: {HOW}"
    )
    assert fault_of(lambda: data.locate(str(folder / "x"))) == (
        f"no file or folder {str(folder / 'x')!r}; --data takes official, a folder of labels or one file"
    )
    assert (
        fault_of(lambda: data.locate(str(file), "multimedia"))
        == f"{file} is of huggingface, not of multimedia"
    )
    assert fault_of(lambda: data.locate(None, "x")) == (
        "unknown split 'x' of taskbench (known: huggingface, multimedia, dailylifeapis)"
    )
    shutil.copytree(folder, pulled)
    sources = [
        data.locate(name, split)
        for name, split in (
            (None, None),
            ("official", "huggingface"),
            (str(folder), None),
            (str(file), None),
            (str(file), "huggingface"),
        )
    ]
    assert [(source.name, source.path) for source in sources] == [
        ("official", pulled),
        ("official", pulled),
        (str(folder), folder),
        (str(file), file),
        (str(file), file),
    ]
    whole, part = data.locate(str(folder)).sha256, data.locate(str(folder), "huggingface").sha256
    assert whole == sources[0].sha256 != part == sources[1].sha256


def ids(folder: Path, **options: Any) -> list[str]:
    return [item.id for item in load(TASKBENCH, Source("x", folder, ""), **options)]


def test_items_are_those_of_a_split_and_language_domain_by_domain(folder: Path) -> None:
    every = ["huggingface/one", "huggingface/three", "dailylifeapis/timed"]
    assert ids(folder) == ids(folder, lang="en") == every
    assert ids(folder, split="dailylifeapis") == every[2:]
    assert ids(folder, lang="zh") == ids(folder, split="multimedia") == []
    assert fault_of(lambda: ids(folder, split="x")) == (
        "unknown split 'x' of taskbench (known: huggingface, multimedia, dailylifeapis)"
    )


def test_a_pull_without_labels_says_how_to_get_them(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = pulled(monkeypatch)
    (folder / "data_huggingface" / "data.json").unlink()
    (folder / "data_dailylifeapis" / "data.json").unlink()
    home = folder.parent / "cache" / "taskbench"
    assert fault_of(lambda: TASKBENCH.data.pull(file=folder, mirror=None, report=lines.append)) == (
        f"tools and links are at {home}, the labels are not: {HOW}"
    )


def pulled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Lines of reports, while a pull takes tools and prompt from nowhere but their copies."""
    lines: list[str] = []

    def fetch(files: Any, *, folder: Path | None, **_: Any) -> None:
        lines.append(f"fetch from {folder}")
        for target in files:
            target.parent.mkdir(parents=True, exist_ok=True)
            nodes = RESOURCE_TOOLS if "huggingface" in str(target) else NAMED_TOOLS
            target.write_text(json.dumps({"nodes": nodes, "links": []}), "utf-8")

    monkeypatch.setattr("wildtool.benchmarks.taskbench.data.fetch_all", fetch)
    monkeypatch.setattr(
        "wildtool.benchmarks.taskbench.data._pull_prompt",
        lambda source, mirror, report: report(f"prompt from {source}, {mirror}"),
    )
    return lines


def test_a_pull_copies_the_labels_that_a_folder_has(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = pulled(monkeypatch)
    home = folder.parent / "cache" / "taskbench"
    labels = folder / "data_huggingface" / "data.json"
    packed = labels.with_name("data.json.gz")
    packed.write_bytes(gzip.compress(labels.read_bytes()))
    content = labels.read_bytes()
    labels.unlink()
    other = folder.parent / "other"
    other.mkdir()
    folder.rename(other / "taskbench")
    copy = other / "taskbench"
    unverified = "their digest is not known, so they are not verified"
    for source in (other, copy):
        lines.clear()
        assert TASKBENCH.data.pull(file=source, mirror="M", report=lines.append) == home
        assert lines[:-1] == [
            f"fetch from {copy}",
            f"prompt from {copy}, M",
            f"{home / 'data_huggingface' / 'data.json'}: 2 records from {copy / 'data_huggingface' / packed.name};"
            f" {unverified}",
            f"{home / 'data_dailylifeapis' / 'data.json'}: 1 records from"
            f" {copy / 'data_dailylifeapis' / 'data.json'}; {unverified}",
            "labels of huggingface, dailylifeapis are there",
        ]
    assert (home / "data_huggingface" / "data.json").read_bytes() == content
    for tools in copy.rglob("tool_desc.json"):
        tools.unlink()
    lines.clear()
    TASKBENCH.data.pull(file=copy, mirror=None, report=lines.append)
    assert lines[:2] == ["fetch from None", f"prompt from {copy}, None"]
    lines.clear()
    assert TASKBENCH.data.pull(file=None, mirror=None, report=lines.append) == home
    assert lines[:-1] == [
        "fetch from None",
        "prompt from None, None",
        "labels of huggingface, dailylifeapis are there; --from FOLDER brings others",
    ]


# Result files ----------------------------------------------------------------------------------------


def rows(path: Path, by_id: dict[str, Item]) -> list[ResultRow]:
    results = read_results(path, by_id, "chat")
    assert results is not None
    return list(results.rows)


def test_results_of_both_kinds_are_read(folder: Path, tmp_path: Path) -> None:
    by_id = {item.id: item for item in load(TASKBENCH, Source("x", folder, ""))}
    results = tmp_path / "results"
    listed = results / "gpt_4_huggingface_results.json"
    results.mkdir()
    listed.write_text(json.dumps(["a", None]), "utf-8")
    lines = write(
        results / "data_dailylifeapis" / "predictions_use" / "llama.json",
        {"id": "timed", "result": "text"},
        {"id": "timed", "result": {"ü": 1}},
        {"id": "timed", "result": [1]},
    )
    write(results / "data_dailylifeapis" / "other" / "llama.json", {})

    def row(where: str, model: str, item: str, text: str | None) -> ResultRow:
        reply = Reply({"role": "assistant", "content": text})
        return ResultRow(where, model, item, {"0": Transcript((reply,))})

    assert rows(results, by_id) == [
        row(f"{listed}: reply 0 (huggingface/one)", "gpt_4", "huggingface/one", "a"),
        row(f"{listed}: reply 1 (huggingface/three)", "gpt_4", "huggingface/three", None),
        row(f"{lines}:1 (id 'timed')", "llama", "dailylifeapis/timed", "text"),
        row(f"{lines}:2 (id 'timed')", "llama", "dailylifeapis/timed", '{"ü":1}'),
        row(f"{lines}:3 (id 'timed')", "llama", "dailylifeapis/timed", "[1]"),
    ]
    assert len(rows(listed, by_id)) == 2 and len(rows(lines, by_id)) == 3
    assert read_results(folder, by_id, "chat") is None
    broken = write(results / "data_dailylifeapis" / "predictions" / "x.json", {"id": "timed", "result": 3})
    assert fault_of(lambda: rows(broken, by_id)) == (
        f"{broken}:1 (id 'timed'): field result: expected a plan, as JSON or as text"
    )
    lost = write(results / "predictions" / "x.json", {"id": "timed", "result": "x"})
    assert (
        fault_of(lambda: rows(lost, by_id))
        == f"{lost}: which domain is it of? Put it into data_DOMAIN/predictions"
    )
    nameless = write(results / "data_dailylifeapis" / "predictions" / "x.json", {"result": "x"})
    assert fault_of(lambda: rows(nameless, by_id)) == f"{nameless}:1: field id: expected a text, found null"
