"""Seal-Tools' numbers of hand-made replies, all of them, and those of its data."""

import json
from pathlib import Path

import pytest

from benchmarks.number_lines import number_lines
from benchmarks.sealtools.sealtools_build import BOAT, TIDE, write_data
from parity.judging import judge_metrics
from wildtool.benchmarks.sealtools import SEALTOOLS
from wildtool.declared import describe
from wildtool.types import Item

TEXTS = (
    json.dumps([TIDE]),
    json.dumps([TIDE, {**BOAT, "parameters": {"level": "x", "zz": "1"}}]),
    json.dumps([BOAT]),
    json.dumps([TIDE]),
    "words",
    json.dumps([TIDE, BOAT, {"a": 1}]),
)
"""Replies to both requests of each split, in order."""


@pytest.fixture(scope="module")
def items(tmp_path_factory: pytest.TempPathFactory) -> list[Item]:
    folder = write_data(tmp_path_factory.mktemp("sealtools") / "data")
    return list(SEALTOOLS.load(SEALTOOLS.data.locate(str(folder))))


def lines(items: list[Item], texts: tuple[str, ...], profile: str, place: Path, *, named: bool) -> list[str]:
    replies = {item.id: text for item, text in zip(items, texts, strict=True)}
    return number_lines(judge_metrics(SEALTOOLS, items, replies, profile, place).values(), named=named)


def test_all_splits_have_their_numbers_and_a_mean(items: list[Item], tmp_path: Path) -> None:
    assert lines(items, TEXTS, "toleap", tmp_path, named=False) == [
        "mean of splits: 18/27 = 0.6591*",
        "dev: 2/2*, 3/3, 3/3, 6/6, 4/6, 4/5, 8/11*, 1/2",
        "test_in_domain: 2/2*, 1/2, 1/3, 2/5, 2/3, 2/5, 4/8*, 0/2",
        "test_out_domain: 1/2*, 2/2, 2/3, 4/5, 3/3, 3/5, 6/8*, 0/2",
        "test: 3/4, 3/4, 3/6, 6/10, 5/6, 5/10, 10/16, 0/4",
        "easy: 2/3, 1/2, 1/3, 2/5, 2/3, 2/6, 4/9, 1/3",
        "difficult: 3/3, 5/5, 5/6, 10/11, 7/9, 7/9, 14/18, 0/3",
        "single: 2/3, 1/2, 1/3, 2/5, 2/3, 2/6, 4/9, 1/3",
        "multiple: 0/0, 0/0, 0/0, 0/0, 0/0, 0/0, 0/0, 0/0",
        "nested: 3/3, 5/5, 5/6, 10/11, 7/9, 7/9, 14/18, 0/3",
        "errors: 1/5, 1/5, 1/5, 1/5, 0/5, 1/5, 0/5, 0/5",
        "errors as ToLeaP counts them: 1/7 count, 1/7 count, 1/7 count, 1/7 count, 1/7 count",
        "coverage: 0/6 count, 0/6 count, 0/6 count",
        "cost: 6/6 steps mean, 0/0 tokens mean, 0/0 tokens mean, 0/6 s mean",
    ]


def test_one_split_is_ranked_by_f1_alone(items: list[Item], tmp_path: Path) -> None:
    found = lines(items[:2], TEXTS[:2], "fixed", tmp_path, named=True)
    assert found[0] == (
        "dev: format accuracy (AMOUNT) 2/2, API precision (P_api) 3/3, API recall (R_api) 3/3, API F1 (F1_api) 6/6,"
        " parameter precision (P_param) 4/6, parameter recall (R_param) 4/5, parameter F1 (F1_param) 8/11*,"
        " exactly the gold calls 1/2"
    )
    assert [line.partition(":")[0] for line in found[1:]] == [
        "easy",
        "difficult",
        "single",
        "multiple",
        "nested",
        "errors",
        "errors as ToLeaP counts them",
        "coverage",
        "cost",
    ]
    assert found[6] == (
        "errors: format_error 0/1, missing_api 0/1, wrong_api 0/1, unknown_param 1/1, wrong_value 0/1,"
        " missing_call 0/1, extra_call 0/1, missing_param 0/1"
    )
    assert found[7] == (
        "errors as ToLeaP counts them: format_error 0/3 count, missing_api 0/3 count, wrong_api 0/3 count,"
        " unknown_param 1/3 count, wrong_value 1/3 count"
    )


def test_two_splits_have_a_mean_without_the_test_set(items: list[Item], tmp_path: Path) -> None:
    found = lines(items[:4], TEXTS[:4], "toleap", tmp_path, named=False)
    assert found[:4] == [
        "mean of splits: 12/19 = 0.6136*",
        "dev: 2/2*, 3/3, 3/3, 6/6, 4/6, 4/5, 8/11*, 1/2",
        "test_in_domain: 2/2*, 1/2, 1/3, 2/5, 2/3, 2/5, 4/8*, 0/2",
        "easy: 2/2, 1/2, 1/2, 2/4, 2/3, 2/4, 4/7, 1/2",
    ]


def test_the_test_set_is_both_its_splits(items: list[Item], tmp_path: Path) -> None:
    found = lines(items[2:], TEXTS[2:], "toleap", tmp_path, named=False)
    assert found[3] == "test: 3/4, 3/4, 3/6, 6/10, 5/6, 5/10, 10/16, 0/4"


def test_without_replies_nothing_is_counted(tmp_path: Path) -> None:
    found = lines([], (), "toleap", tmp_path, named=False)
    assert "errors as ToLeaP counts them: 0/0 count, 0/0 count, 0/0 count, 0/0 count, 0/0 count" in found


def test_data_are_described_in_numbers(tmp_path: Path) -> None:
    folder = write_data(tmp_path / "data")
    assert number_lines(describe(SEALTOOLS, SEALTOOLS.data.locate(str(folder)))) == [
        "records: dev 2 of 6, test_in_domain 2 of 6, test_out_domain 2 of 6",
        "gold calls: dev 3 of 9, test_in_domain 3 of 9, test_out_domain 3 of 9",
        "gold parameters: dev 5 of 15, test_in_domain 5 of 15, test_out_domain 5 of 15",
        "gold APIs not offered: dev 0 of 0, test_in_domain 0 of 0, test_out_domain 0 of 0",
        "kind: single 3 of 6, multiple 0 of 6, nested 3 of 6",
        "difficulty: easy 3 of 6, difficult 3 of 6",
    ]
