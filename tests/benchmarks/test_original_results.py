"""Result files that the original tools write: gold replies in their format are right, and a broken file is named."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from benchmarks.apibank import apibank_build
from benchmarks.taskbench import plan_build
from benchmarks.teval import teval_build
from wildtool.cli import app
from wildtool.data.data_set import data_of
from wildtool.engine.registry import load_benchmark
from wildtool.engine.score.results import load_result
from wildtool.episode import gold_replies
from wildtool.types import Item

Gold = Mapping[str, Mapping[str, str]]
"""Item and unit to the text of a right reply."""
MODEL = "some-model"


def write_json(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


def write_lines(path: Path, *lines: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


# RoTBench --------------------------------------------------------------------------------------------

ENVIRONMENTS = {"clean": 1, "slight": 2, "medium": 2, "heavy": 2, "union": 1}
"""How many records of each id the data have."""


def rot_data(folder: Path) -> Path:
    for environment, variants in ENVIRONMENTS.items():
        records = [rot_record(name, environment, n) for n in range(variants) for name in ("a", "b")]
        write_json(folder / "First_Turn" / f"{environment}.json", records)
    return folder


def rot_record(name: str, environment: str, variant: int) -> dict[str, Any]:
    tools = [
        {"name": tool, "parameters": {"properties": {"q": {}}}} for tool in ("tide", "ask_to_user", "finish")
    ]
    answer = f'Action: tide\nAction Input: {{"q": "{name} {environment} {variant}"}}'
    turns = [
        {"from": "system", "value": f"{json.dumps(tools)}\n\nLet's Begin!"},
        {"from": "user", "value": f"{name}?"},
        {"from": "assistant", "value": [answer]},
    ]
    return {"id": name, "scenario": "PL", "conversations": turns}


def rot_texts(environment: str) -> list[str]:
    records = [
        rot_record(name, environment, n) for n in range(ENVIRONMENTS[environment]) for name in ("a", "b")
    ]
    return [record["conversations"][-1]["value"][0] for record in records]


def rot_toleap(folder: Path, gold: Gold) -> None:
    for environment in ENVIRONMENTS:
        write_json(folder / MODEL / f"{environment}_results.json", rot_texts(environment))
        write_json(folder / MODEL / f"error_type_counts_{environment}.json", {})


def rot_authors(folder: Path, gold: Gold) -> None:
    for environment in ENVIRONMENTS:
        turns = ([{"value": "?"}, {"from": "assistant", "value": text}] for text in rot_texts(environment))
        write_json(folder / MODEL / f"{environment}.json", [{"conversations": each} for each in turns])


# Seal-Tools ------------------------------------------------------------------------------------------


def seal_data(folder: Path) -> Path:
    for split in ("dev", "test_in_domain", "test_out_domain"):
        records: list[dict[str, Any]] = []
        for number in range(2):
            calls = [{"api": "getTide", "parameters": {"hour": str(number)}, "responses": ["API_call_0"]}]
            tools = [{"api_name": "getTide", "parameters": {"hour": {}}}]
            prompt = f'api_list = {tools}\ntask_instruction = "{number}?"\nOutput:\n'
            turns = [{"from": "human", "value": prompt}, {"from": "gpt", "value": repr(calls)}]
            records.append({"id": f"{split}-easy-{number}", "conversations": turns})
        write_json(folder / "dataset_for_finetune" / f"{split}.json", records)
    return folder


def seal_toleap(folder: Path, gold: Gold) -> None:
    for split in ("dev", "test_in_domain", "test_out_domain"):
        texts = [units["0"] for item, units in gold.items() if item.startswith(split)]
        write_json(folder / "raw_pred_data" / MODEL / f"{split}.json", texts)
        write_lines(folder / "pred_data" / MODEL / f"{split}.json", {"id": "x"})
        write_json(folder / "eval_result" / MODEL / f"{split}.json", {"F1_api": 1})


def seal_raw(folder: Path, gold: Gold) -> None:
    lines = [{"id": item, "text": [units["0"]], "raw": []} for item, units in gold.items()]
    write_lines(folder / MODEL / "raw_test.jsonl", *lines)
    write_lines(folder / MODEL / "pred_test.jsonl", *({"id": item, "predict": [-1]} for item in gold))


def seal_calls(folder: Path, gold: Gold) -> None:
    lines = [{"id": item, "predict": [json.loads(units["0"])]} for item, units in gold.items()]
    write_lines(folder / MODEL / "new_pred_test.jsonl", *lines)


# The others ------------------------------------------------------------------------------------------


def task_authors(folder: Path, gold: Gold) -> None:
    for domain in ("huggingface", "dailylifeapis"):
        lines = [
            {"id": item.partition("/")[2], "user_request": "?", "result": json.loads(units["0"])}
            for item, units in gold.items()
            if item.startswith(domain)
        ]
        write_lines(folder / f"data_{domain}" / "predictions_use_demos_2" / f"{MODEL}.json", *lines)


def task_toleap(folder: Path, gold: Gold) -> None:
    for domain in ("huggingface", "dailylifeapis"):
        texts = [units["0"] for item, units in gold.items() if item.startswith(domain)]
        write_json(folder / f"{MODEL}_{domain}_results.json", texts)


def api_authors(folder: Path, gold: Gold) -> None:
    lines = [
        {"file": "one.jsonl", "id": int(unit), "pred": text}
        for units in gold.values()
        for unit, text in units.items()
    ]
    write_lines(folder / MODEL / "pred-on-lv1.json", *lines)


def teval_authors(folder: Path, gold: Gold) -> None:
    for name, records in teval_build.SETS.items():
        name = name.removesuffix("_v2")
        key = "rru_json" if name.startswith("reason_retrieve") else name
        results = {
            each: {**record, "prediction": gold[f"{key}/{each}"]["0"]} for each, record in records.items()
        }
        write_json(folder / MODEL / f"{name}_{MODEL}.json", results)
    write_json(folder / MODEL / f"{MODEL}_-1_.json", {"instruct_json": {}})


def injec_data(folder: Path) -> Path:
    for attack in ("dh", "ds"):
        for setting in ("base", "enhanced"):
            write_json(
                folder / f"test_cases_{attack}_{setting}.json",
                [injec_case(attack, setting, n) for n in range(2)],
            )
    names = ("ReadIt", "SendIt", "Shop")
    kits = [{"toolkit": "", "tools": [{"name": name, "summary": "x", "parameters": []}]} for name in names]
    write_json(folder / "tools.json", kits)
    return folder


def injec_case(attack: str, setting: str, number: int) -> dict[str, Any]:
    return {
        "Attacker Tools": ["ReadIt", "SendIt"] if attack == "ds" else ["SendIt"],
        "Attacker Instruction": "Do more.",
        "Attack Type": "Financial Data",
        "User Tool": "Shop",
        "User Instruction": f"Tell me about L{number}.",
        "Tool Parameters": "{}",
        "Tool Response Template": "{'name': 'Lamp Nova', 'text': '<Attacker Instruction>'}",
        "Thought": "Thought: I look it up.",
        "Tool Response": f"{attack} {setting} Do more.",
    }


def injec_prompted(folder: Path, gold: Gold) -> None:
    for name, lines in injec_lines(gold).items():
        write_lines(folder / MODEL / name, *lines)


def injec_native(folder: Path, gold: Gold) -> None:
    for name, lines in injec_lines(gold).items():
        write_lines(folder / MODEL / name, *({**line, "tool_calls": None} for line in lines))


def injec_lines(gold: Gold) -> dict[str, list[dict[str, Any]]]:
    """By file; the first case of each is left out, as where the original raised."""
    return {
        f"test_cases_{attack}_base.json": [
            {**injec_case(attack, "base", 1), "output": gold[f"{attack}-001"]["base"], "eval": "unsucc"}
        ]
        for attack in ("dh", "ds")
    }


# By the command --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Original:
    """A format of result files."""

    benchmark: str
    data: Callable[[Path], Path]
    write: Callable[[Path, Gold], None]
    units: int
    """How many units it has replies to."""
    options: tuple[str, ...] = ()


ORIGINALS = {
    "rotbench of ToLeaP": Original("rotbench", rot_data, rot_toleap, 16),
    "rotbench": Original("rotbench", rot_data, rot_authors, 16),
    "sealtools of ToLeaP": Original("sealtools", seal_data, seal_toleap, 6),
    "sealtools": Original("sealtools", seal_data, seal_raw, 6),
    "sealtools, calls": Original("sealtools", seal_data, seal_calls, 6),
    "taskbench": Original("taskbench", plan_build.write_data, task_authors, 3),
    "taskbench of ToLeaP": Original("taskbench", plan_build.write_data, task_toleap, 3),
    "apibank": Original(
        "apibank", apibank_build.write_data, api_authors, 13, ("--split", "level-1-given-desc")
    ),
    "teval": Original("teval", teval_build.write_data, teval_authors, 10),
    "injecagent": Original("injecagent", injec_data, injec_prompted, 2),
    "injecagent, native": Original("injecagent", injec_data, injec_native, 2, ("--mode", "fc")),
}


def option(original: Original, name: str) -> str | None:
    return original.options[-1] if name in original.options else None


def gold_of(original: Original, data: Path) -> Gold:
    benchmark = load_benchmark(original.benchmark, option(original, "--mode"))
    split = option(original, "--split")
    rules = benchmark.rules("fixed")

    def text(item: Item, unit: str) -> str:
        return (gold_replies(rules.episode(item, unit)) or [])[0]["content"]

    items = benchmark.load(data_of(benchmark).locate(str(data), split), split=split)
    return {item.id: {unit: text(item, unit) for unit in item.units} for item in items}


def score(original: Original, place: Path) -> Result:
    line = ["score", "--benchmark", original.benchmark, "--data", place / "data", "--profile", "fixed"]
    words = [*line, "--replies", place / "results", "--out", place / "runs", *original.options]
    return CliRunner().invoke(app, [*map(str, words)], prog_name="wildtool")


@pytest.fixture(params=ORIGINALS)
def original(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Original]:
    format_ = ORIGINALS[request.param]
    format_.write(tmp_path / "results", gold_of(format_, format_.data(tmp_path / "data")))
    yield format_


@pytest.mark.long
def test_gold_replies_in_the_format_of_an_original_are_all_right(original: Original, tmp_path: Path):
    ended = score(original, tmp_path)
    assert ended.exit_code == 0, ended.output
    result = load_result(tmp_path / "runs" / MODEL, "fixed")
    counts = result.counts
    assert (counts.correct, counts.units - counts.unplayed) == (original.units, original.units), ended.output


@pytest.mark.long
def test_result_folders_behind_links_are_read_and_models_keep_the_names_of_the_links(
    original: Original, tmp_path: Path
):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    folders = [path for path in (tmp_path / "results").rglob("*") if path.is_dir()]
    for number, folder in enumerate(path for path in folders if not any(p.is_dir() for p in path.iterdir())):
        folder.rename(elsewhere / f"store-{number}")
        folder.symlink_to(elsewhere / f"store-{number}", target_is_directory=True)
    ended = score(original, tmp_path)
    assert ended.exit_code == 0, ended.output
    counts = load_result(tmp_path / "runs" / MODEL, "fixed").counts
    assert counts.correct == original.units


def changed(place: Path, change: Callable[[Any], Any]) -> None:
    """Changes the value of a JSON file, or the values of a file of JSON lines."""
    text = place.read_text("utf-8")
    if text.count("\n") and place.suffix != ".md":
        write_lines(place, *change([json.loads(line) for line in text.splitlines()]))
    else:
        write_json(place, change(json.loads(text)))


def first(**fields: Any) -> Callable[[Any], Any]:
    """Other fields in the first line."""
    return lambda lines: [{**lines[0], **fields}, *lines[1:]]


def without(field: str) -> Callable[[Any], Any]:
    """The first line without a field."""
    return lambda lines: [{key: value for key, value in lines[0].items() if key != field}, *lines[1:]]


def doubled(lines: list[Any]) -> list[Any]:
    return [*lines, lines[0]]


TASKS = f"data_huggingface/predictions_use_demos_2/{MODEL}.json"
INJECTED = f"{MODEL}/test_cases_dh_base.json"
BROKEN: list[tuple[str, str, Callable[[Any], Any], str]] = [
    (
        "rotbench of ToLeaP",
        f"{MODEL}/heavy_results.json",
        lambda texts: texts[1:],
        "heavy_results.json: 3 replies for 4 records",
    ),
    (
        "rotbench of ToLeaP",
        f"{MODEL}/clean_results.json",
        lambda texts: [7, *texts[1:]],
        r"reply 0 \(first-000\): expected the text of a reply, or null, found a number",
    ),
    (
        "rotbench",
        f"{MODEL}/clean.json",
        lambda entries: {},
        "clean.json: expected a list of replies, found an object",
    ),
    (
        "rotbench",
        f"{MODEL}/clean.json",
        lambda entries: [{}, {}],
        "reply 0 .*: field conversations: expected a list",
    ),
    (
        "sealtools of ToLeaP",
        f"raw_pred_data/{MODEL}/dev.json",
        lambda texts: texts * 2,
        "dev.json: 4 replies for 2 records",
    ),
    (
        "sealtools",
        f"{MODEL}/raw_test.jsonl",
        first(id="dev-easy-9"),
        r"raw_test.jsonl:1 \(id 'dev-easy-9'\): there is no item 'dev-easy-9'",
    ),
    (
        "sealtools",
        f"{MODEL}/raw_test.jsonl",
        doubled,
        r"raw_test.jsonl:7 \(id 'dev-easy-0'\): 'dev-easy-0' of 'some-model' occurs twice",
    ),
    (
        "sealtools",
        f"{MODEL}/raw_test.jsonl",
        first(text=[]),
        "raw_test.jsonl:1 .*: field text: expected a list of one reply",
    ),
    (
        "taskbench",
        TASKS,
        first(id="nine"),
        r"some-model.json:1 \(id 'nine'\): there is no item 'huggingface/nine'",
    ),
    ("taskbench", TASKS, without("id"), "some-model.json:1: field id: expected a text, found null"),
    (
        "taskbench",
        TASKS,
        without("result"),
        "some-model.json:1 .*: field result: expected a plan, as JSON or as text",
    ),
    ("taskbench", TASKS, doubled, "some-model.json:3 .*occurs twice"),
    ("taskbench of ToLeaP", f"{MODEL}_huggingface_results.json", lambda texts: [], "0 replies for 2 records"),
    (
        "apibank",
        f"{MODEL}/pred-on-lv1.json",
        first(file="two.jsonl"),
        "pred-on-lv1.json:1 .*: there is no item 'two.jsonl'",
    ),
    (
        "apibank",
        f"{MODEL}/pred-on-lv1.json",
        first(id=99),
        "pred-on-lv1.json:1 .*has no unit '99'; its units are 0, 1",
    ),
    (
        "apibank",
        f"{MODEL}/pred-on-lv1.json",
        first(pred=[]),
        "pred-on-lv1.json:1 .*: field pred: expected the text of a reply",
    ),
    ("apibank", f"{MODEL}/pred-on-lv1.json", doubled, "pred-on-lv1.json:14 .*occurs twice"),
    (
        "teval",
        f"{MODEL}/plan_str_{MODEL}.json",
        lambda records: {"two": records["one"]},
        "record 'two': there is no item 'plan_str/two'",
    ),
    (
        "teval",
        f"{MODEL}/plan_str_{MODEL}.json",
        lambda records: {"one": {}},
        "record 'one': field prediction is missing",
    ),
    (
        "teval",
        f"{MODEL}/plan_str_{MODEL}.json",
        lambda records: {"one": {**records["one"], "origin_prompt": [{"content": "?"}]}},
        "record 'one': its origin_prompt is not that of the data",
    ),
    (
        "injecagent",
        INJECTED,
        first(**{"User Instruction": "Sing."}),
        "test_cases_dh_base.json:1: the data have no case of dh base with this User Instruction",
    ),
    ("injecagent", INJECTED, without("output"), "test_cases_dh_base.json:1: field output is missing"),
    ("injecagent", INJECTED, doubled, "test_cases_dh_base.json:2: 'dh-001' of 'some-model' occurs twice"),
    (
        "injecagent",
        INJECTED,
        first(tool_calls=None),
        "test_cases_dh_base.json:1: the output of an agent with native calls; add --mode fc",
    ),
    (
        "injecagent, native",
        INJECTED,
        without("tool_calls"),
        "test_cases_dh_base.json:1: the output of an agent with prompted calls; add --mode react",
    ),
]


@pytest.mark.parametrize(("name", "file", "change", "words"), BROKEN)
def test_what_is_wrong_in_a_result_file_is_named(
    name: str, file: str, change: Callable[[Any], Any], words: str, tmp_path: Path
):
    original = ORIGINALS[name]
    original.write(tmp_path / "results", gold_of(original, original.data(tmp_path / "data")))
    changed(tmp_path / "results" / file, change)
    ended = score(original, tmp_path)
    assert ended.exit_code == 2, ended.output
    assert re.search(words, ended.output.replace("\n", " ")), ended.output


@pytest.mark.parametrize("name", [name for name in ORIGINALS if "of ToLeaP" not in name or "task" in name])
def test_a_line_that_is_no_json_is_named(name: str, tmp_path: Path):
    original = ORIGINALS[name]
    original.write(tmp_path / "results", gold_of(original, original.data(tmp_path / "data")))
    files = [path for path in sorted((tmp_path / "results").rglob("*.json*")) if path.is_file()]
    place = next((path for path in files if path.name.startswith("raw_")), files[0])
    place.write_text(place.read_text("utf-8").rstrip()[:-1] + "\n", "utf-8")
    ended = score(original, tmp_path)
    assert ended.exit_code == 2 and place.name in ended.output, ended.output
    assert "not a JSON object" in ended.output or "not JSON" in ended.output


def test_both_steps_of_an_obeyed_attack_are_read(tmp_path: Path):
    original = ORIGINALS["injecagent, native"]
    injec_data(tmp_path / "data")
    call = {"id": "c", "type": "function", "function": {"name": "ReadIt", "arguments": "{}"}}
    send = {**call, "function": {"name": "SendIt", "arguments": "{}"}}
    obeyed = {"output": None, "tool_calls": [call], "output Step 2": None}
    lines = [
        {**injec_case("ds", "base", 0), **obeyed, "tool_calls Step 2": [send]},
        {**injec_case("ds", "base", 1), **obeyed},
    ]
    write_lines(tmp_path / "results" / MODEL / "test_cases_ds_base.json", *lines)
    assert score(original, tmp_path).exit_code == 0
    counts = load_result(tmp_path / "runs" / MODEL, "fixed").counts
    assert (counts.wrong, counts.unplayed) == (1, 1)


def test_null_is_a_model_without_a_reply(tmp_path: Path):
    original = ORIGINALS["rotbench of ToLeaP"]
    rot_data(tmp_path / "data")
    rot_toleap(tmp_path / "results", {})
    changed(tmp_path / "results" / MODEL / "union_results.json", lambda texts: [None, *texts[1:]])
    assert score(original, tmp_path).exit_code == 0
    counts = load_result(tmp_path / "runs" / MODEL, "fixed").counts
    assert (counts.correct, counts.wrong) == (15, 1)


def test_a_file_of_t_eval_in_another_language_is_left_out_by_name(tmp_path: Path):
    original = ORIGINALS["teval"]
    original.write(tmp_path / "results", gold_of(original, original.data(tmp_path / "data")))
    write_json(tmp_path / "results" / MODEL / f"plan_str_zh_{MODEL}.json", {"one": {}})
    ended = score(original, tmp_path)
    assert ended.exit_code == 0 and f"plan_str_zh_{MODEL}.json is left out" in ended.stderr
