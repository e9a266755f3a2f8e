"""Runs every example of `docs/fixed-values.md`, so that the page and the code cannot drift apart."""

import json
import re
from pathlib import Path

import pytest

from toolcall.values import compare_values
from wildtool.toolcall.compare import compare_arguments

PAGE = (Path(__file__).parents[2] / "docs" / "fixed-values.md").read_text(encoding="utf-8")
CELL = r"`([^`]*)`"
TEXTS = re.findall(rf"^\| {CELL} \| {CELL} \| (same|different) \|$", PAGE, re.MULTILINE)
VALUES = re.findall(rf"^\| {CELL} \| {CELL} \| {CELL} \| (same|different) \|$", PAGE, re.MULTILINE)


def test_the_page_has_examples_of_both_verdicts():
    for rows in (TEXTS, VALUES):
        assert {row[-1] for row in rows} == {"same", "different"}
    assert len(TEXTS) + len(VALUES) == len(re.findall(r"\| (?:same|different) \|$", PAGE, re.MULTILINE))


@pytest.mark.parametrize(("gold", "predicted", "verdict"), TEXTS)
def test_texts_compare_as_the_page_says(gold, predicted, verdict):
    assert (compare_values(gold, predicted, {}) == []) == (verdict == "same")


@pytest.mark.parametrize(("schema", "gold", "predicted", "verdict"), VALUES)
def test_values_compare_as_the_page_says(schema, gold, predicted, verdict):
    parameters = {"type": "object", "properties": {"v": json.loads(schema)}, "required": []}
    differences = compare_arguments(json.loads(gold), json.loads(predicted), parameters)
    assert (differences == []) == (verdict == "same")
