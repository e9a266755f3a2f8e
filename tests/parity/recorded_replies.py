"""The recorded replies of the oracle, each with what judges it by a profile of its benchmark."""

import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from parity import (
    test_acebench_judge,
    test_apibank,
    test_bfcl,
    test_injecagent,
    test_rotbench,
    test_sealtools,
    test_taskbench,
    test_teval,
    test_wildtoolbench,
)
from parity.cases import oracle_folder, rows
from wildtool.benchmarks.acebench import ACEBENCH
from wildtool.benchmarks.apibank import APIBANK
from wildtool.benchmarks.bfcl import BFCL_BENCHMARK
from wildtool.benchmarks.bfcl.categories import BFCL_CATEGORIES
from wildtool.benchmarks.bfcl.data import read_category_file
from wildtool.benchmarks.glaive import GLAIVE
from wildtool.benchmarks.glaive.data import GlaiveRecord
from wildtool.benchmarks.injecagent import INJECAGENT
from wildtool.benchmarks.sealtools.judge import SCORERS
from wildtool.benchmarks.taskbench import TASKBENCH
from wildtool.benchmarks.teval import TEVAL
from wildtool.benchmarks.wildtoolbench import WILDTOOLBENCH
from wildtool.data.embeddings import VARIABLE
from wildtool.types import Item, Reply, Transcript

Judges = Iterator[Callable[[], Any]]
"""Each gives a `Check` or a `Verdict`, or of an item with several units a list of verdicts."""


def of_wildtoolbench(profile: str) -> Judges:
    folder = oracle_folder("wildtoolbench")
    items = test_wildtoolbench.sessions(folder)
    for (session, _), tasks in test_wildtoolbench.scripts(folder).items():
        item = items[session]
        transcripts = {
            unit: Transcript(tuple(map(Reply, replies)))
            for unit, replies in zip(item.units, tasks, strict=True)
        }
        yield partial(WILDTOOLBENCH.judge, item, transcripts, profile)


def of_acebench(profile: str) -> Judges:
    cases = oracle_folder("acebench")
    units = test_acebench_judge.units(cases.parents[1] / "data" / "acebench")
    for case in rows(cases / "normal_special_cases.jsonl.gz"):
        item, unit = units[case["lang"], case["id"]]
        yield partial(_verdict, ACEBENCH, item, unit, test_acebench_judge.said(case["output_text"]), profile)
    for case in rows(cases / "agent_episodes.jsonl.gz"):
        if case["max_dialog_turns"] == 40:
            item, unit = units[case["lang"], case["id"]]
            transcript = test_acebench_judge.episode_transcript(item, case)
            yield partial(_verdict, ACEBENCH, item, unit, transcript, profile)


def of_apibank(profile: str) -> Judges:
    folder = oracle_folder("apibank")
    rules = APIBANK.rules(profile)
    for case in rows(folder / "api_call_cases.jsonl.gz"):
        if case["target_api"] not in test_apibank.RANDOM:
            item = test_apibank.items(folder)[case["level"], case["file"]]
            yield partial(rules.check, item, str(case["sample_id"]), case["model_output"])


def of_bfcl(profile: str) -> Judges:
    """Single turns only: each step of the others starts a process of simulated classes."""
    folder = oracle_folder("bfcl")
    data = folder.parents[1] / "data" / "bfcl"
    read: dict[str, dict[str, Item]] = {}
    for name in ("ast_cases.jsonl.gz", "relevance.jsonl"):
        for case in rows(folder / name):
            category = case["category"]
            if category not in read:
                items = read_category_file(data, BFCL_CATEGORIES[category], "v4")
                read[category] = {item.id: item for item in items}
            item = read[category][case["test_id"]]
            transcript = Transcript((Reply(test_bfcl.as_reply(case["raw_output"])),))
            yield partial(
                _verdict, BFCL_BENCHMARK.in_mode(case["mode"]), item, item.units[0], transcript, profile
            )


def of_glaive(profile: str) -> Judges:
    for case in rows(oracle_folder("glaive") / "evaluation_cases.jsonl"):
        item = Item("0", ("0",), GlaiveRecord("", "", case["ground_truth"]))
        yield partial(_verdict, GLAIVE, item, "0", _said(case["model_output"]), profile)


def of_injecagent(profile: str) -> Judges:
    folder = oracle_folder("injecagent")
    data, rules = folder.parents[1] / "data" / "injecagent", INJECAGENT.rules(profile)
    for run in rows(folder / "full_runs.jsonl"):
        for row in run["items"]:
            case = test_injecagent.cases_of(data, f"{row['attack']}_{run['setting']}")[row["index"]]
            outputs = [row["output"], *([row["output Step 2"]] if "output Step 2" in row else [])]
            yield partial(rules.check, [{"content": output} for output in outputs], case)


def of_rotbench(profile: str) -> Judges:
    folder = oracle_folder("rotbench")
    for case in rows(folder / "cases.jsonl"):
        yield partial(test_rotbench.check, folder, profile, case["split"], case["index"], case["output"])


def of_sealtools(profile: str) -> Judges:
    folder = oracle_folder("sealtools")
    for case in rows(folder / "cases.jsonl"):
        _, record = test_sealtools.record(folder, case["split"], case["index"])
        yield partial(SCORERS[profile].check, case["output"], record)


def of_taskbench(profile: str) -> Judges:
    for case in rows(oracle_folder("taskbench") / "cases.jsonl"):
        item = test_taskbench.items(oracle_folder("taskbench"))[f"{case['domain']}/{case['id']}"]
        yield partial(_verdict, TASKBENCH, item, item.units[0], _said(case["output"]), profile)


def of_teval(profile: str) -> Judges:
    os.environ[VARIABLE] = "lexical"
    folder = oracle_folder("teval")
    for case in rows(folder / "cases.jsonl"):
        item = test_teval.items(folder)[f"{case['set']}/{case['key']}"]
        yield partial(_verdict, TEVAL, item, item.units[0], _said(case["prediction"]), profile)


def _said(text: str) -> Transcript:
    return Transcript((Reply({"role": "assistant", "content": text}),))


def _verdict(benchmark: Any, item: Item, unit: str, transcript: Transcript, profile: str) -> Any:
    return benchmark.judge(item, {unit: transcript}, profile)[item.units.index(unit)]


BENCHMARKS: Mapping[str, Callable[[str], Judges]] = {
    "wildtoolbench": of_wildtoolbench,
    "acebench": of_acebench,
    "apibank": of_apibank,
    "bfcl": of_bfcl,
    "glaive": of_glaive,
    "injecagent": of_injecagent,
    "rotbench": of_rotbench,
    "sealtools": of_sealtools,
    "taskbench": of_taskbench,
    "teval": of_teval,
}
