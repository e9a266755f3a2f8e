"""The recorded replies of the oracle, each with what judges it by the profile `fixed`."""

import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from parity import test_acebench_judge, test_rotbench, test_sealtools, test_teval, test_wildtoolbench
from parity.cases import oracle_folder, rows
from wildtool.benchmarks.acebench import ACEBENCH
from wildtool.benchmarks.glaive.data import GlaiveRecord
from wildtool.benchmarks.glaive.judge import COUNTS_OF
from wildtool.benchmarks.sealtools.judge import SCORERS
from wildtool.benchmarks.teval.scores import EVALUATORS
from wildtool.benchmarks.wildtoolbench import WILDTOOLBENCH
from wildtool.data.embeddings import VARIABLE, LexicalEncoder
from wildtool.types import Item, Reply, Transcript

Judges = Iterator[Callable[[], Any]]


def of_wildtoolbench() -> Judges:
    folder = oracle_folder("wildtoolbench")
    items = test_wildtoolbench.sessions(folder)
    for (session, _), tasks in test_wildtoolbench.scripts(folder).items():
        item = items[session]
        transcripts = {
            unit: Transcript(tuple(map(Reply, replies)))
            for unit, replies in zip(item.units, tasks, strict=True)
        }
        yield partial(_verdict, WILDTOOLBENCH, item, transcripts)


def of_acebench() -> Judges:
    cases = oracle_folder("acebench")
    units = test_acebench_judge.units(cases.parents[1] / "data" / "acebench")
    for case in rows(cases / "normal_special_cases.jsonl.gz"):
        item, unit = units[case["lang"], case["id"]]
        transcript = test_acebench_judge.said(case["output_text"])
        yield partial(_verdict, ACEBENCH, item, {unit: transcript}, unit)
    for case in rows(cases / "agent_episodes.jsonl.gz"):
        if case["max_dialog_turns"] == 40:
            item, unit = units[case["lang"], case["id"]]
            transcript = test_acebench_judge.episode_transcript(item, case)
            yield partial(_verdict, ACEBENCH, item, {unit: transcript}, unit)


def of_sealtools() -> Judges:
    folder = oracle_folder("sealtools")
    for case in rows(folder / "cases.jsonl"):
        _, record = test_sealtools.record(folder, case["split"], case["index"])
        yield partial(SCORERS["fixed"].counts, case["output"], record)


def of_rotbench() -> Judges:
    folder = oracle_folder("rotbench")
    for case in rows(folder / "cases.jsonl"):
        yield partial(test_rotbench.check, folder, "fixed", case["split"], case["index"], case["output"])


def of_teval() -> Judges:
    os.environ[VARIABLE] = "lexical"
    folder, evaluator = oracle_folder("teval"), EVALUATORS["fixed"](LexicalEncoder())
    for case in rows(folder / "cases.jsonl"):
        item = test_teval.items(folder)[f"{case['set']}/{case['key']}"]
        yield partial(evaluator.score, case["prediction"], item.data)


def of_glaive() -> Judges:
    for case in rows(oracle_folder("glaive") / "evaluation_cases.jsonl"):
        record = GlaiveRecord("", "", case["ground_truth"])
        yield partial(COUNTS_OF["fixed"], case["model_output"], record)


def _verdict(benchmark: Any, item: Item, transcripts: Mapping[str, Transcript], unit: str = "") -> Any:
    verdicts = benchmark.judge(item, transcripts, "fixed")
    return [(one.outcome, one.error) for one in verdicts] if not unit else verdicts[item.units.index(unit)]


BENCHMARKS: Mapping[str, Callable[[], Judges]] = {
    "wildtoolbench": of_wildtoolbench,
    "acebench": of_acebench,
    "sealtools": of_sealtools,
    "rotbench": of_rotbench,
    "teval": of_teval,
    "glaive": of_glaive,
}
