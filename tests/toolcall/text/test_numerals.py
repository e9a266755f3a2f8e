"""Numbers written in digits and words."""

import ast
from decimal import Decimal
from pathlib import Path

import pytest

import wildtool.benchmarks
from wildtool.toolcall.text.equivalence import differing_rule
from wildtool.toolcall.text.numerals import chinese_number, is_approximate, numbers_in


@pytest.mark.parametrize(
    ("numeral", "digits"),
    [
        ("十", "10"),
        ("二十一", "21"),
        ("两百", "200"),
        ("两百五", "250"),
        ("两百五十", "250"),
        ("两百零五", "205"),
        ("一百一十五", "115"),
        ("三千二", "3200"),
        ("三千零二十", "3020"),
        ("一万二", "12000"),
        ("一万零二", "10002"),
        ("十二万", "120000"),
        ("三亿五", "350000000"),
        ("一亿零五", "100000005"),
        ("万", "10000"),
        ("二〇二四", "2024"),
        ("零五", "05"),
    ],
)
def test_a_chinese_numeral_is_read_as_it_is_spoken(numeral: str, digits: str):
    assert chinese_number(numeral) == digits


@pytest.mark.parametrize(("gold", "reply"), [("两百五", "250"), ("两百零五元", "205元"), ("一万二", "12000")])
def test_numerals_and_digits_of_one_number_mean_the_same(gold: str, reply: str):
    assert differing_rule(gold, reply) is None


@pytest.mark.parametrize(("gold", "reply"), [("两百五", "205"), ("两百五元", "205元"), ("两百零五", "250")])
def test_numerals_and_digits_of_two_numbers_do_not(gold: str, reply: str):
    assert differing_rule(gold, reply) is not None


@pytest.mark.parametrize("rules", ["wildtoolbench/official", "wildtoolbench/paper", "acebench/official"])
def test_the_published_rules_read_no_numerals(rules: str):
    """So that no verdict under `official` or `paper` depends on how a numeral is read."""
    folder = Path(wildtool.benchmarks.__file__).parent / rules
    imported = {
        node.module
        for path in folder.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom)
    }
    readers = ("numerals", "tokens", "quantities", "spellings", "equivalence")
    assert imported.isdisjoint(f"wildtool.toolcall.text.{name}" for name in readers)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("fifteen people", 15),
        ("two hundred fifty", 250),
        ("two dozen eggs", 24),
        ("3 billion", 3_000_000_000),
        ("the eleventh", 11),
        ("三亿", 300_000_000),
    ],
)
def test_a_number_is_seen_in_words(text: str, value: int):
    assert Decimal(value) in numbers_in(text)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1,200", "1 1.200 200 1200"),
        ("47,23", "23 47 47.23"),
        ("47.23", "47.23"),
        ("1.234.567", "1 234 567 1234567"),
        ("1'234.5", "1 5 234 1234.5"),
        ("14.03.2025", "3 14 2025"),
        ("1,2,3", "1 2 3"),
        ("12,34.5", "5 12 34"),
        ("5%", "0.05 5"),
        ("-5", "-5 5"),
        ("-5%", "-5 -0.05 0.05 5"),
        ("minus 3k", "-3000 -3 3 3000"),
        ("3k", "3 3000"),
        ("no number", ""),
    ],
)
def test_an_ambiguous_number_has_each_of_its_readings(text: str, numbers: str):
    assert " ".join(map(str, sorted(numbers_in(text)))) == numbers


@pytest.mark.parametrize(
    ("numeral", "approximate"),
    [
        ("一两", True),
        ("两三", True),
        ("三五", True),
        ("十七八", True),
        ("二三十", True),
        ("三四", True),
        ("三二", False),
        ("一百零一", False),
        ("二十", False),
        ("一二三", False),
        ("二〇二四", False),
        ("两", False),
    ],
)
def test_two_digits_in_a_row_name_a_range(numeral: str, approximate: bool):
    assert is_approximate(numeral) is approximate
