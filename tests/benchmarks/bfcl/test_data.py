"""BFCL's files: what a broken one is told, what the lint says of entries, numbers of data, results of the original."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks.bfcl.bfcl_build import BOOK, RING, STAY, Schema, function, write_data
from benchmarks.bfcl.test_memory import data_folder as memory_folder
from benchmarks.bfcl.test_multi_turn import ANSWER, DOCUMENTS, ENTRY
from benchmarks.bfcl.test_multi_turn_data import data_folder as multi_turn_folder
from benchmarks.number_lines import number_lines
from wildtool.benchmarks.bfcl import BFCL_BENCHMARK
from wildtool.benchmarks.bfcl.categories import BFCL_CATEGORIES
from wildtool.benchmarks.bfcl.data import answer_file, parse_multi_turn, question_file, read_entry, version_of
from wildtool.benchmarks.bfcl.prompt_forms import PROMPT_FORMS
from wildtool.benchmarks.bfcl.results import read_results
from wildtool.declared import describe, lint
from wildtool.errors import DataError
from wildtool.types import Item, Source

MESSAGE = {"role": "user", "content": "Please."}


def items_of(folder: Path, split: str | None = None) -> list[Item]:
    return list(BFCL_BENCHMARK.load(Source("x", folder, ""), split=split))


def error_of(call: Any) -> str:
    with pytest.raises(DataError) as caught:
        call()
    return str(caught.value)


def findings(folder: Path) -> list[tuple[str, str, str]]:
    """Place in the folder, rule and message."""
    return [
        (finding.where.removeprefix(f"{folder}: "), finding.rule, finding.message)
        for finding in lint(BFCL_BENCHMARK, Source("x", folder, ""))
    ]


# Single turns ----------------------------------------------------------------------------------------


def test_an_entry_has_its_question_functions_and_answer(tmp_path: Path) -> None:
    folder = write_data(tmp_path / "data")
    item, *_ = items_of(folder, "parallel_multiple")
    assert (item.id, item.units, item.split, item.lang) == (
        "parallel_multiple_0",
        ("0",),
        "parallel_multiple",
        "en",
    )
    record = item.data
    assert record.messages == ({"role": "user", "content": "Please, parallel_multiple_0."},)
    assert (record.functions, record.answers) == ((BOOK, RING), (STAY, {"ring": {"name": ["Ann"]}}))
    assert (record.version, record.category, record.language) == (
        "v4",
        BFCL_CATEGORIES["parallel_multiple"],
        "python",
    )
    assert BFCL_BENCHMARK.fields(item, "0") == {"version": "v4"}
    assert items_of(folder, "irrelevance")[0].data.answers == ()
    assert [*BFCL_BENCHMARK.load(Source("x", folder, ""), split="multiple", lang="zh")] == []
    assert len([*BFCL_BENCHMARK.load(Source("x", folder, ""), split="multiple", lang="en")]) == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"question": 3}, "field question: expected a list, found a number"),
        ({"question": []}, "field question: expected one turn, a list of messages"),
        ({"question": [[MESSAGE], [MESSAGE]]}, "field question: expected one turn, a list of messages"),
        ({"question": [MESSAGE]}, "field question: expected one turn, a list of messages"),
        ({"question": [[MESSAGE, 5]]}, "question[0][1]: expected an object, found a number"),
        ({"question": [[{"content": ""}]]}, "question[0][0]: field role: expected a text, found null"),
        (
            {"question": [[{"role": "user", "content": 5}]]},
            "question[0][0]: field content: expected a text, found a number",
        ),
        ({"function": {}}, "field function: expected a list, found an object"),
        ({"function": []}, "field function: expected at least one"),
        ({"function": [RING, 5]}, "function[1]: expected an object, found a number"),
        ({"function": [{"parameters": {}}]}, "function[0]: field name: expected a text, found null"),
        (
            {"function": [{"name": "f", "parameters": 5}]},
            "function[0]: field parameters: expected an object, found a number",
        ),
        (
            {"function": [{"name": "f", "parameters": {"properties": []}}]},
            "function[0].parameters: field properties: expected an object, found a list",
        ),
    ],
)
def test_a_broken_entry_is_named(changes: dict[str, Any], message: str) -> None:
    own = {"question": [[MESSAGE]], "function": [RING], **changes}
    assert error_of(lambda: read_entry(own, BFCL_CATEGORIES["multiple"], "here")) == f"here: {message}"


def test_properties_may_be_left_out_and_functions_where_none_is_right() -> None:
    own = {"question": [[MESSAGE]], "function": [{"name": "f", "parameters": {}}]}
    assert read_entry(own, BFCL_CATEGORIES["multiple"], "here").functions == (
        {"name": "f", "parameters": {}},
    )
    for name in ("irrelevance", "live_relevance"):
        assert read_entry({**own, "function": []}, BFCL_CATEGORIES[name], "here").functions == ()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({}, "field ground_truth: expected a list, found null"),
        ({"ground_truth": [STAY, 5]}, "ground_truth[1]: expected an object, found a number"),
        ({"ground_truth": [{"a": {}, "b": {}}]}, "ground_truth[0]: expected one function, found 2"),
        ({"ground_truth": [{}]}, "ground_truth[0]: expected one function, found 0"),
        ({"ground_truth": [{"a": []}]}, "ground_truth[0].a: expected an object, found a list"),
    ],
)
def test_a_broken_answer_is_named(tmp_path: Path, answer: dict[str, Any], message: str) -> None:
    folder = write_data(tmp_path / "data")
    path = folder / "possible_answer" / "BFCL_v4_multiple.json"
    path.write_text(json.dumps(answer), "utf-8")
    assert error_of(lambda: items_of(folder, "multiple")) == f"{path}:1: {message}"


def test_files_that_do_not_fit_each_other_are_named(tmp_path: Path) -> None:
    folder = write_data(tmp_path / "data")
    path = folder / "BFCL_v4_multiple.json"
    answers = folder / "possible_answer" / "BFCL_v4_multiple.json"
    own = json.loads(path.read_text("utf-8"))
    path.write_text(f"{json.dumps(own)}\n{json.dumps({**own, 'id': 'm'})}\n", "utf-8")
    assert (
        error_of(lambda: items_of(folder, "multiple")) == f"{path}:2 (id 'm'): the file of answers has only 1"
    )
    path.write_text(json.dumps({**own, "id": 5}), "utf-8")
    assert (
        error_of(lambda: items_of(folder, "multiple"))
        == f"{path}:1: field id: expected a text, found a number"
    )
    answers.unlink()
    assert (
        error_of(lambda: items_of(folder, "multiple"))
        == f"{folder}: possible_answer/BFCL_v4_multiple.json is missing"
    )
    assert error_of(lambda: items_of(folder, "live_simple")) == (
        f"{folder}: BFCL_v4_live_simple.json is missing; choose what is there with --split, or get the data with"
        " `wildtool data pull bfcl`"
    )


def test_the_version_of_a_folder_is_that_of_its_files(tmp_path: Path) -> None:
    for version in ("v3", "v4"):
        for place in ("", "question", "data", "possible_answer"):
            folder = tmp_path / version / (place or "top")
            (folder / place).mkdir(parents=True)
            (folder / place / f"BFCL_{version}_x.json.gz").touch()
            assert version_of(folder) == version
    assert error_of(lambda: version_of(tmp_path)) == (
        f"{tmp_path}: holds no BFCL_v4_*.json and no BFCL_v3_*.json (nor .json.gz)"
    )


def test_questions_are_found_in_three_folders_and_answers_in_one(tmp_path: Path) -> None:
    category = BFCL_CATEGORIES["multiple"]
    assert question_file(tmp_path, category, "v4") is None
    for place in ("data", "", "question"):
        path = tmp_path / place / "BFCL_v4_multiple.json"
        path.parent.mkdir(exist_ok=True)
        path.touch()
        assert question_file(tmp_path, category, "v4") == path
    assert answer_file(tmp_path, category, "v4") is None
    (tmp_path / "possible_answer").mkdir()
    for name in ("multiple", "irrelevance"):
        (tmp_path / "possible_answer" / f"BFCL_v4_{name}.json").touch()
    assert answer_file(tmp_path, category, "v4") == tmp_path / "possible_answer" / "BFCL_v4_multiple.json"
    assert answer_file(tmp_path, BFCL_CATEGORIES["irrelevance"], "v4") is None


def test_the_lint_names_what_no_call_can_fulfil(tmp_path: Path) -> None:
    shape: Schema = {"type": "string"}
    tool = function("f", ["a", "b", "c"], a=shape, b=shape, c=shape, d=shape)
    folder = write_data(
        tmp_path / "data",
        entries={
            "simple_python": [
                ("x", [tool], [{"f": {"a": [], "b": "", "d": 5, "e": [""], "g": [1]}}]),
                ("x", [RING], [{"other": {"name": ["Ann"]}}]),
            ],
            "multiple": [("y", [RING, BOOK, RING], [STAY])],
        },
    )
    assert findings(folder) == [
        ("x", "no accepted value", "f: 'a' is required, and its list of values is empty"),
        ("x", "required without answer", "f: 'c' is required, and no value is accepted"),
        ("x", "accepted values", "f: 'b' has a str, expected a list"),
        ("x", "accepted values", "f: 'd' has a int, expected a list"),
        ("x", "unknown parameter", "f: 'g' is expected, and the document has no such one"),
        ("x", "repeated id", "an earlier entry has it too"),
        ("x", "unknown function", "the answer calls other; offered: ring"),
        ("y", "repeated function", "two functions have one name; the rules read the first"),
    ]


def test_the_lint_names_files_that_cannot_be_read(tmp_path: Path) -> None:
    assert findings(tmp_path) == [
        (
            str(tmp_path),
            "unreadable",
            f"{tmp_path}: holds no BFCL_v4_*.json and no BFCL_v3_*.json (nor .json.gz)",
        )
    ]
    folder = write_data(tmp_path / "data")
    (folder / "possible_answer" / "BFCL_v4_multiple.json").unlink()
    message = f"{folder}: possible_answer/BFCL_v4_multiple.json is missing"
    assert findings(folder) == [(str(folder), "unreadable", message)]


def test_data_are_described_by_category(tmp_path: Path) -> None:
    assert number_lines(describe(BFCL_BENCHMARK, Source("x", write_data(tmp_path / "data"), ""))) == [
        "entries: simple_python 1 of 8, simple_java 1 of 8, simple_javascript 1 of 8, multiple 1 of 8, parallel 1 of 8,"
        " parallel_multiple 1 of 8, irrelevance 1 of 8, live_relevance 1 of 8",
        "functions: simple_python 1 of 10, simple_java 1 of 10, simple_javascript 1 of 10, multiple 2 of 10,"
        " parallel 1 of 10, parallel_multiple 2 of 10, irrelevance 1 of 10, live_relevance 1 of 10",
        "expected calls: simple_python 1 of 8, simple_java 1 of 8, simple_javascript 1 of 8, multiple 1 of 8,"
        " parallel 2 of 8, parallel_multiple 2 of 8, irrelevance 0 of 8, live_relevance 0 of 8",
    ]


# Several turns ---------------------------------------------------------------------------------------


def multi_turn(entry: Mapping[str, Any] = ENTRY, answer: Mapping[str, Any] = ANSWER) -> Any:
    return parse_multi_turn(entry, answer, BFCL_CATEGORIES["multi_turn_miss_func"], DOCUMENTS, "here")


def test_a_multi_turn_entry_has_its_turns_classes_and_withheld_functions() -> None:
    record = multi_turn()
    ls, cat, touch, sort = DOCUMENTS["GorillaFileSystem"]
    assert record.turns == (
        ({"role": "user", "content": "Make a file."},),
        ({"role": "user", "content": "Sort the notes."},),
        (),
    )
    assert (record.classes, record.config) == (("GorillaFileSystem",), ENTRY["initial_config"])
    assert (record.functions, record.withheld) == ((ls, cat, touch), {2: (sort,)})
    assert record.ground_truth == (("touch('new')", "ls()"), (), ("sort(file_name='notes.txt')",))
    assert record.answers == ("touch('new')", "ls()", "sort(file_name='notes.txt')")
    assert record.documents == (ls, cat, touch, sort)
    assert record.parameters == {
        "ls": (),
        "cat": ("file_name",),
        "touch": ("file_name",),
        "sort": ("file_name",),
    }
    assert (record.version, record.long_context) == ("v4", False)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"involved_classes": None}, "involved_classes: expected a list, found null"),
        ({"involved_classes": [5]}, "involved_classes: expected a text, found a number"),
        ({"involved_classes": ["No"]}, "involved class 'No': expected one of GorillaFileSystem"),
        ({"initial_config": []}, "field initial_config: expected an object, found a list"),
        ({"initial_config": {"A": []}}, "initial_config.A: expected an object, found a list"),
        ({"question": {}}, "field question: expected a list, found an object"),
        ({"question": [[], [], [5]]}, "question[2][0]: expected an object, found a number"),
        (
            {"question": [[], [{"role": "user"}], []]},
            "question[1][0]: field content: expected a text, found null",
        ),
        (
            {"question": [[], [{"content": ""}], []]},
            "question[1][0]: field role: expected a text, found null",
        ),
        ({"question": [[], 5, []]}, "question[1]: expected a list, found a number"),
        ({"question": [[], []]}, "2 turns, but the answers are for 3"),
        ({"missed_function": []}, "missed_function: expected an object, found a list"),
        ({"missed_function": {"x": ["sort"]}}, "missed_function: 'x' is no turn from 0 to 2"),
        ({"missed_function": {"3": ["sort"]}}, "missed_function: '3' is no turn from 0 to 2"),
        ({"missed_function": {"2": ["no"]}}, "missed_function: 'no' is no tool of the involved classes"),
        ({"missed_function": {"2": "sort"}}, "missed_function.2: expected a list, found a text"),
    ],
)
def test_a_broken_multi_turn_entry_is_named(changes: dict[str, Any], message: str) -> None:
    assert error_of(lambda: multi_turn({**ENTRY, **changes})) == f"here: {message}"


@pytest.mark.parametrize(
    ("truth", "message"),
    [
        (None, "field ground_truth: expected a list, found null"),
        ([[], 5, []], "ground_truth[1]: expected a list, found a number"),
        ([[], [], [5]], "ground_truth[2]: expected a text, found a number"),
    ],
)
def test_a_broken_multi_turn_answer_is_named(truth: Any, message: str) -> None:
    assert error_of(lambda: multi_turn(answer={"ground_truth": truth})) == f"here: {message}"


def test_documents_of_tools_are_checked(tmp_path: Path) -> None:
    folder = multi_turn_folder(tmp_path)
    path = folder / "multi_turn_func_doc" / "math_api.json"
    for own, message in (
        ({"parameters": {}}, "field name: expected a text, found null"),
        ({"name": "f"}, "field parameters: expected an object, found null"),
    ):
        path.write_text(json.dumps(own), "utf-8")
        assert error_of(lambda: items_of(folder, "multi_turn_base")) == f"{path}:1: {message}"


# Memory ----------------------------------------------------------------------------------------------


def test_a_scenario_has_its_conversations_and_questions(tmp_path: Path) -> None:
    (item,) = items_of(memory_folder(tmp_path), "memory_vector")
    record = item.data
    assert (item.id, item.units) == (
        "memory_vector:customer",
        ("memory_vector_0-customer-0", "memory_vector_1-customer-1"),
    )
    texts = [[[message["content"] for message in turn] for turn in turns] for turns in record.conversations]
    assert texts == [[["I am Ann."], ["Bye."]], [["My size is 38."]]]
    questions = [(unit, own.messages[0]["content"], own.answers) for unit, own in record.questions.items()]
    assert questions == [
        ("memory_vector_0-customer-0", "What is my name?", ("Ann",)),
        ("memory_vector_1-customer-1", "Which size?", ("38", "thirty eight")),
    ]
    assert (record.scenario, record.memory, len(record.functions)) == ("customer", None, 1)
    assert BFCL_BENCHMARK.fields(item, item.units[0]) == {"version": "v4"}


@pytest.mark.parametrize(
    ("name", "line", "message"),
    [
        (
            "possible_answer/BFCL_v4_memory.json",
            {"ground_truth": []},
            "{question}:1 (id 'memory_0-customer-0'): field ground_truth: expected texts, at least one",
        ),
        (
            "possible_answer/BFCL_v4_memory.json",
            {"ground_truth": ["a", 5]},
            "{question}:1 (id 'memory_0-customer-0'): field ground_truth: expected texts, at least one",
        ),
        (
            "question/BFCL_v4_memory.json",
            {"id": "m", "question": [], "scenario": "a"},
            "{question}:1 (id 'm'): question[0]: expected a list, found null",
        ),
        (
            "question/BFCL_v4_memory.json",
            {"id": "m", "question": [[MESSAGE]]},
            "{question}:1 (id 'm'): field scenario: expected a text, found null",
        ),
        (
            "question/BFCL_v4_memory.json",
            {"id": "m", "question": [[MESSAGE]], "scenario": "a/b"},
            "{folder}: scenario 'a/b': expected one word",
        ),
        (
            "question/BFCL_v4_memory.json",
            {"id": "m", "question": [[MESSAGE]], "scenario": "b"},
            "{folder}: memory_prereq_conversation/memory_b.json is missing",
        ),
        (
            "memory_prereq_conversation/memory_customer.json",
            {"question": [[MESSAGE], [{}]]},
            "{earlier}:1: question[1][0]: field role: expected a text, found null",
        ),
        (
            "memory_prereq_conversation/memory_customer.json",
            {},
            "{earlier}:1: field question: expected a list, found null",
        ),
    ],
)
def test_a_broken_file_of_memories_is_named(tmp_path: Path, name: str, line: Any, message: str) -> None:
    folder = memory_folder(tmp_path)
    (folder / name).write_text(json.dumps(line), "utf-8")
    places = {
        "question": folder / "question/BFCL_v4_memory.json",
        "earlier": folder / "memory_prereq_conversation/memory_customer.json",
    }
    assert error_of(lambda: items_of(folder, "memory_kv")) == message.format(folder=folder, **places)


def test_an_answer_that_is_not_in_itself_is_a_finding(tmp_path: Path) -> None:
    folder = memory_folder(tmp_path)
    truths = [{"ground_truth": ["C++"]}, {"ground_truth": ["C++", "C"]}]
    (folder / "possible_answer/BFCL_v4_memory.json").write_text("\n".join(map(json.dumps, truths)), "utf-8")
    assert findings(folder) == [
        (
            f"memory_{kind}:customer",
            "answer never found",
            f"memory_{kind}_0-customer-0: 'C++' is not found in itself",
        )
        for kind in ("kv", "vector", "rec_sum")
    ]


# Forms of the prompt ---------------------------------------------------------------------------------


def test_entries_of_format_sensitivity_are_those_of_other_categories(tmp_path: Path) -> None:
    folder = write_data(tmp_path / "data")
    path = folder / "BFCL_v4_format_sensitivity.json"
    path.write_text(json.dumps({"multiple": ["multiple_0"], "parallel": ["parallel_0"]}), "utf-8")
    items = items_of(folder, "format_sensitivity")
    assert [(item.id, item.split) for item in items] == [
        ("format_sensitivity:multiple_0", "format_sensitivity"),
        ("format_sensitivity:parallel_0", "format_sensitivity"),
    ]
    assert items[0].units == tuple(PROMPT_FORMS) and items[0].data.functions == (RING, BOOK)
    for own, message in (
        ({"multiple": ["no"]}, "multiple has no entry 'no'"),
        ({"irrelevance": []}, "'irrelevance': expected a category with expected calls"),
        ({"none": []}, "'none': expected a category with expected calls"),
        ({"multiple": [5]}, "multiple: expected a text, found a number"),
    ):
        path.write_text(json.dumps(own), "utf-8")
        assert error_of(lambda: items_of(folder, "format_sensitivity")) == f"{path}: {message}"


# Results of the original -----------------------------------------------------------------------------


def results(path: Path, mode: str, *splits: str) -> tuple[list[Any], list[str]]:
    items = {split: Item(split, ("0",), None, split=split) for split in splits}
    own = read_results(path, items, mode)
    assert own is not None
    rows = [
        (
            row.where.removeprefix(f"{path}/"),
            row.model,
            row.item,
            unit,
            record.infra_error,
            [reply.message for reply in record.replies],
        )
        for row in own.rows
        for unit, record in row.units.items()
    ]
    return rows, [line.removeprefix(f"{path}/") for line in own.left_out]


def write_results(folder: Path, category: str, *lines: Any) -> None:
    path = folder / "m" / "non_live" / f"BFCL_v4_{category}_result.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")


def assistant(content: str | None = None, **calls: str) -> dict[str, Any]:
    entries = [
        {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": text}}
        for number, (name, text) in enumerate(calls.items())
    ]
    return {"role": "assistant", "content": content, **({"tool_calls": entries} if calls else {})}


def test_results_are_read_step_by_step_and_what_cannot_be_scored_is_named(tmp_path: Path) -> None:
    write_results(
        tmp_path,
        "simple",
        {"id": "s", "result": [{"f": "{}"}, {"g": {"a": "é"}}]},
        {"id": "t", "result": "Error during inference: x"},
    )
    write_results(tmp_path, "multi_turn_base", {"id": "b", "result": [["one"], [[{"f": "{}"}], None]]})
    write_results(tmp_path, "memory_kv", {})
    write_results(tmp_path, "multiple", {})
    rows, left_out = results(tmp_path, "fc", "simple_python", "multi_turn_base")
    place = "m/non_live/BFCL_v4_{}_result.json"
    assert rows == [
        (
            f"{place.format('multi_turn_base')}:1 (id 'b'): field result",
            "m",
            "b",
            "0",
            None,
            [assistant("one"), assistant(f="{}"), assistant()],
        ),
        (
            f"{place.format('simple')}:1 (id 's'): field result",
            "m",
            "s",
            "0",
            None,
            [assistant(f="{}", g='{"a":"é"}')],
        ),
        (
            f"{place.format('simple')}:2 (id 't'): field result",
            "m",
            "t",
            "0",
            "Error during inference: x",
            [],
        ),
    ]
    assert left_out == [
        f"{place.format('memory_kv')} is left out: its replies alone cannot be scored, as what they were answered with is"
        " in no file",
        f"{place.format('multiple')} is left out: the data and --split have no multiple",
    ]


@pytest.mark.parametrize(
    ("category", "line", "message"),
    [
        ("simple", {"id": 5}, ":1: field id: expected a text, found a number"),
        (
            "simple",
            {"id": "s", "result": 5},
            ":1 (id 's'): field result: expected a list of calls, or a text, found a number",
        ),
        (
            "simple",
            {"id": "s", "result": [5]},
            ":1 (id 's'): field result: expected objects of a name with its arguments, found a number",
        ),
        (
            "multi_turn_base",
            {"id": "s", "result": "x"},
            ":1 (id 's'): field result: expected a list of turns, found a text",
        ),
        (
            "multi_turn_base",
            {"id": "s", "result": ["x"]},
            ":1 (id 's'): field result: expected lists of steps, found a text",
        ),
        (
            "simple",
            {"id": "s", "result": " [a.f(x=1)] "},
            ": these replies have calls written as text; add --mode prompt",
        ),
    ],
)
def test_a_broken_result_is_named(tmp_path: Path, category: str, line: Any, message: str) -> None:
    write_results(tmp_path, category, line)
    path = tmp_path / "m" / "non_live" / f"BFCL_v4_{category}_result.json"
    found = error_of(lambda: results(tmp_path, "fc", "simple_python", "multi_turn_base"))
    assert found == f"{path}{message}"


def test_results_are_of_the_mode_that_their_calls_are_in(tmp_path: Path) -> None:
    written, native, words = "[f(x=1)]", [{"f": "{}"}], "f(x)"
    for texts, mode, refused in (
        ([written, native], "fc", False),
        ([written, native], "prompt", True),
        ([written, words], "fc", True),
        ([written, words], "prompt", False),
        ([words], "fc", False),
    ):
        write_results(tmp_path, "simple", *({"id": f"{n}", "result": text} for n, text in enumerate(texts)))
        path = tmp_path / "m" / "non_live" / "BFCL_v4_simple_result.json"
        if refused and mode == "prompt":
            assert error_of(lambda: results(tmp_path, "prompt", "simple_python")) == (
                f"{path}: these replies have native calls; add --mode fc"
            )
        elif refused:
            assert "add --mode prompt" in error_of(lambda: results(tmp_path, "fc", "simple_python"))
        else:
            assert len(results(tmp_path, mode, "simple_python")[0]) == len(texts)


def test_a_folder_of_results_that_cannot_be_scored_is_refused(tmp_path: Path) -> None:
    write_results(tmp_path, "web_search", {})
    path = tmp_path / "m" / "non_live" / "BFCL_v4_web_search_result.json"
    assert error_of(lambda: results(tmp_path, "fc", "simple_python")) == (
        f"{path} is left out: its replies alone cannot be scored, as what they were answered with is in no file; give the"
        " folder of another group, such as result/MODEL/non_live"
    )
    assert read_results(tmp_path / "nothing", {}, "fc") is None


TWICE = {
    "live_relevance": [
        ("live_relevance_3-3-0", [RING], None),
        ("live_relevance_4-4-0", [RING], None),
        ("live_relevance_3-3-0", [BOOK], None),
    ]
}
"""As in version 3, where two entries have one id."""


def test_two_entries_of_one_id_are_both_run_as_version_3_has_and_counts_them(tmp_path: Path) -> None:
    folder = write_data(tmp_path / "data", "v3", TWICE)
    found = {item.id: item.data.functions for item in items_of(folder)}
    assert found == {
        "live_relevance_3-3-0": (RING,),
        "live_relevance_4-4-0": (RING,),
        "live_relevance_3-3-0#2": (BOOK,),
    }
    assert ("live_relevance_3-3-0", "repeated id", "an earlier entry has it too") in findings(folder)


def test_results_of_two_entries_of_one_id_belong_to_them_in_order(tmp_path: Path) -> None:
    items = {item.id: item for item in items_of(write_data(tmp_path / "data", "v3", TWICE))}
    path = tmp_path / "some-model" / "BFCL_v3_live_relevance_result.json"
    path.parent.mkdir()
    lines = [("live_relevance_3-3-0", "First."), ("live_relevance_3-3-0", "Second.")]
    path.write_text("\n".join(json.dumps({"id": id_, "result": result}) for id_, result in lines))
    results = read_results(path, items, "fc")
    assert results is not None
    said = {row.item: row.units["0"].replies[0].message["content"] for row in results.rows}
    assert said == {"live_relevance_3-3-0": "First.", "live_relevance_3-3-0#2": "Second."}
