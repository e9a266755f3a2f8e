"""How the labelled texts are read, and by which rule each pair differs: whatever changes one of them is seen here.

`WILDTOOL_WRITE_GOLDEN=1` writes the files of `tests/golden/labelled` again: read what changed before it is kept.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from golden_files import same_as_golden
from toolcall.labelled import Pair, pairs
from wildtool.toolcall.compare import compare_arguments
from wildtool.toolcall.text.canonical import normalise
from wildtool.toolcall.text.equivalence import TEXT_KINDS
from wildtool.toolcall.text.numerals import numbers_in
from wildtool.toolcall.text.source_code import is_code
from wildtool.toolcall.text.spellings import respelled
from wildtool.toolcall.text.tokens import tokens


@pytest.fixture(scope="module")
def labelled() -> list[Pair]:
    return pairs()


def check(name: str, lines: Iterable[str]) -> None:
    same_as_golden(f"labelled/{name}.txt", "".join(line.replace("\n", "\\n") + "\n" for line in lines))


def rule_of(gold: Any, said: Any, schema: Mapping[str, Any]) -> str:
    differences = compare_arguments(gold, said, schema)
    return ", ".join(difference.rule for difference in differences) or "same"


def rules_of(pair: Pair) -> str:
    """The rule, and behind a bar that of the two values exchanged where it is another."""
    gold, said, schema = pair.arguments
    rule, exchanged = rule_of(gold, said, schema), rule_of(said, gold, schema)
    return rule if rule == exchanged else f"{rule} | {exchanged}"


def test_each_pair_differs_by_this_rule(labelled: list[Pair]) -> None:
    check("rules", (f"{rules_of(pair)}: {pair.gold} || {pair.said}" for pair in labelled))


def readings(text: str) -> str:
    """The text as it is compared: one spelling, its kind and value, its words with their sorts, its numbers."""
    plain = normalise(text)
    spelt = respelled(plain)
    kind = next(
        (f"{kind.name} {value}" for kind in TEXT_KINDS if (value := kind.read(plain)) is not None), ""
    )
    words = " ".join(
        token.key if token.sort == "word" else f"{token.key}/{token.sort}" for token in tokens(spelt)
    )
    numbers = " ".join(map(str, sorted(numbers_in(text))))
    parts = (text, "" if spelt == text else spelt, kind, words, numbers, "code" if is_code(text) else "")
    return " | ".join(parts).rstrip(" |")


@pytest.mark.long
def test_each_text_is_read_so(labelled: list[Pair]) -> None:
    texts = (text for pair in labelled for text in (pair.gold, pair.said) if isinstance(text, str))
    check("readings", map(readings, dict.fromkeys(texts)))
