"""Seal-Tools' numbers of hand-made replies, all of them, and those of its data."""

import json
from pathlib import Path

import pytest

from benchmarks.number_lines import number_lines
from benchmarks.sealtools.sealtools_build import BOAT, TIDE, write_data
from parity.judging import judge_metrics
from wildtool.benchmarks.sealtools import SEALTOOLS
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


def test_the_test_set_is_both_its_splits(items: list[Item], tmp_path: Path) -> None:
    found = lines(items[2:], TEXTS[2:], "toleap", tmp_path, named=False)
    assert found[3] == "test: 3/4, 3/4, 3/6, 6/10, 5/6, 5/10, 10/16, 0/4"


def test_without_replies_nothing_is_counted(tmp_path: Path) -> None:
    found = lines([], (), "toleap", tmp_path, named=False)
    assert "errors as ToLeaP counts them: 0/0 count, 0/0 count, 0/0 count, 0/0 count, 0/0 count" in found
