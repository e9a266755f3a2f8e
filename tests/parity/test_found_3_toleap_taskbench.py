"""Equality with TaskBench's evaluators on odd labels and odd steps, and with the messages that are sent."""

import json
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from benchmarks.taskbench.plan_build import label as label_line
from benchmarks.taskbench.plan_build import plan, prompt_program
from parity.cases import oracle_folder, present, rows
from parity.test_taskbench import ORIGINAL, TOLEAP
from wildtool.benchmarks.taskbench import PARTS, TASKBENCH
from wildtool.benchmarks.taskbench.data import DOMAINS, Library, ToolPlan, library_file, read_library
from wildtool.benchmarks.taskbench.original import score_original
from wildtool.benchmarks.taskbench.rules import SCORINGS
from wildtool.benchmarks.taskbench.scores import ScoreReply
from wildtool.benchmarks.taskbench.toleap import NO_JSON, score_toleap
from wildtool.data.data_set import data_of

FILES = ("odd_labels.jsonl", "odd_steps.jsonl")


@pytest.fixture(scope="module")
def folder() -> Path:
    return present(oracle_folder("found") / "toleap_3" / "taskbench")


@cache
def library(folder: Path, domain: str) -> Library:
    data = present(folder.parents[3] / "data" / "taskbench")
    return read_library(library_file(data / f"synthetic_{domain}.jsonl", domain, data), domain)


def label(case: dict[str, Any]) -> ToolPlan:
    return ToolPlan(*(case["label"].get(f"task_{part}") for part in ("steps", "nodes", "links")))


def score(folder: Path, case: dict[str, Any], rules: ScoreReply) -> Any:
    return rules(case["output"], label(case), library(folder, case["domain"]))


@pytest.mark.parametrize("file", FILES)
def test_toleap_gives_each_sample_its_scores(folder: Path, file: str) -> None:
    for case in rows(folder / file):
        expected, found = case["expected_toleap"], score(folder, case, score_toleap)
        assert found.raised == expected.get("crash", ""), case["case_id"]
        values = {part: getattr(found, part).f1 for part in PARTS}
        if found.raised:
            assert not any((*values.values(), found.rouge_1, found.rouge_2))
            continue
        ours = {"rouge_1": found.rouge_1, "rouge_2": found.rouge_2, "unparsed": found.fault == NO_JSON}
        ours |= {name: values[part] for name, part in TOLEAP.items()}
        assert ours == pytest.approx(expected, abs=1e-9), case["case_id"]


@pytest.mark.parametrize("file", FILES)
def test_the_original_counts_each_sample_alike(folder: Path, file: str) -> None:
    for case in rows(folder / file):
        expected, found = case["expected_original"], score(folder, case, score_original)
        assert found.raised == expected.get("crash", ""), case["case_id"]
        if found.raised:
            assert not any((found.rouge_1, found.rouge_2, found.similarity, found.node.hits, found.edge.hits))
            continue
        supports = [expected[f"{name}_supports"] for name in ("step", "argument", "node")]
        assert list(found.counts) == [bool(count) for count in supports], case["case_id"]
        ours = {name: getattr(found, part).f1 for part, name in ORIGINAL.items()}
        ours |= {"step_rouge1": found.rouge_1, "step_rouge2": found.rouge_2}
        if found.similarity is not None:
            ours["edit_distance"] = 1 - found.similarity
        values = {name: expected[name] for name in (*ORIGINAL.values(), "edit_distance") if name in expected}
        values |= {name: expected[name] for name in ("step_rouge1", "step_rouge2") if name in expected}
        assert {name: ours[name] for name in values} == pytest.approx(values, abs=1e-9), case["case_id"]


@pytest.mark.parametrize("file", FILES)
def test_fixed_gives_each_label_all_of_its_own_points(folder: Path, file: str) -> None:
    for case in rows(folder / file):
        gold = {**case, "output": label(case).as_json()}
        found = score(folder, gold, SCORINGS["fixed"].score)
        assert all(found.f1(getattr(found, part)) == 1 for part in PARTS), case["case_id"]


# Messages ------------------------------------------------------------------------------------------------

REQUEST = "\n\n# USER REQUEST #: "


def content(messages: list[dict[str, str]]) -> str:
    assert [message["role"] for message in messages] == ["user"]
    return messages[0]["content"]


def goal(text: str) -> tuple[str, str]:
    """What is before the tools of a message, and what is behind them."""
    heading, rest = text[: text.index('{"id"')], text[text.index('{"id"') :]
    while rest.startswith('{"id"'):
        rest = rest.partition("\n")[2]
    return heading, rest


@pytest.fixture(scope="module")
def texts(folder: Path) -> dict[str, Any]:
    """The original's texts, as its messages have them."""
    found: dict[str, Any] = {"between": "\n"}
    for case in rows(folder / "prompts.jsonl.gz"):
        found["heading"], rest = goal(content(case["toleap_messages"]))
        text, _, closing = rest.rpartition(REQUEST + case["instruction"])
        found["temporal" if case["domain"] == "dailylifeapis" else "resource"] = text
        found["closing"] = f"{REQUEST}{{{{user_request}}}}{closing}"
    for case in rows(folder / "prompts_with_demos.jsonl"):
        if case["use_demos"] == 1 and case["domain"] != "dailylifeapis":
            example = goal(content(case["authors_messages"]))[1].rpartition(REQUEST)[0]
            before, after = example.removeprefix(found["resource"]).split(case["demos"][0]["user_request"])
            found["example"] = before.removeprefix("\n"), after[: after.index("{")]
    return found


@pytest.fixture
def pulled(folder: Path, texts: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with the tools and the program; reading it checks that its texts are the pinned ones."""
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path))
    place = tmp_path / "taskbench"
    for domain in DOMAINS:
        known = library_file(Path(), domain, present(folder.parents[3] / "data" / "taskbench"))
        (place / f"data_{domain}").mkdir(parents=True)
        shutil.copy(known, place / f"data_{domain}" / known.name)
    (place / "inference.py").write_text(prompt_program(texts), "utf-8")
    return place


def sent(place: Path, case: dict[str, Any], mode: str) -> list[Any]:
    """The messages of a case: its label and those of the examples beside the tools, the case's request in its own file.
    The examples show the request of their label."""
    home = place / f"data_{case['domain']}"
    demos = case.get("demos", [])
    lines = [label_line(case["id"], "single", plan([])) | {"instruction": case.get("instruction", "x")}]
    lines += [{**demo, "type": "single"} for demo in demos]
    requests = [{"id": case["id"], "user_request": case["authors_user_request"]}]
    for name, written in (("data.json", lines), ("user_requests.json", requests)):
        (home / name).write_text("".join(json.dumps(line) + "\n" for line in written), "utf-8")
    benchmark = TASKBENCH.in_mode(mode).in_original_prompts(None)
    assert benchmark is not None
    item = next(iter(benchmark.load(data_of(benchmark).locate(str(home / "data.json")))))
    request = benchmark.rules("toleap").episode(item, "0").request()
    assert request is not None
    return list(request.messages)


def test_messages_are_those_of_both_originals(folder: Path, pulled: Path) -> None:
    for case in rows(folder / "prompts.jsonl.gz"):
        assert sent(pulled, case, "chat") == case["toleap_messages"], case["case_id"]
        assert sent(pulled, case, "authors") == case["authors_messages"], case["case_id"]
        asked = {name: v for name, v in case["authors_request"].items() if name not in ("stream", "stop")}
        assert TASKBENCH.in_mode("authors").original_sampling == asked


def test_messages_with_examples_are_those_of_the_authors(folder: Path, pulled: Path) -> None:
    for case in rows(folder / "prompts_with_demos.jsonl"):
        mode = f"authors-{case['use_demos']}"
        assert sent(pulled, case, mode) == case["authors_messages"], case["case_id"]
