"""The search for benchmark texts, against comparing every pair."""

from collections.abc import Callable
from math import inf
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.training_rows import call_row, text_row
from wildtool.training.files import FileRow
from wildtool.training.readers.data_sets import DATA_SETS
from wildtool.training.readers.options import DEFAULT_OPTIONS
from wildtool.training.reading import read_row
from wildtool.training.record import TrainingRecord
from wildtool.training.tokens import compare_tokens, word_tokens
from wildtool_data.prepare.overlap.benchmark import BenchmarkItem, ItemText, OverlapKind, call_text
from wildtool_data.prepare.overlap.search import FLAGS, OverlapSearch

REQUEST = (
    "Book a quiet table for four at the harbour inn on Friday the third of May at half past seven please"
)
WORDS = st.lists(st.sampled_from(["a", "b", "c", "d", "e", "f", "g", "h", "i"]), min_size=0, max_size=30).map(
    " ".join
)


def record(row) -> TrainingRecord:
    found = read_row(FileRow(1, row), DATA_SETS["sharegpt"], "train.jsonl", DEFAULT_OPTIONS)
    assert isinstance(found, TrainingRecord)
    return found


def searching(*texts: str, kind: OverlapKind = "user", tools=()) -> OverlapSearch:
    search = OverlapSearch()
    items = [
        BenchmarkItem(str(k), (ItemText(str(k), kind, t),), frozenset(tools)) for k, t in enumerate(texts)
    ]
    search.add("bench", items)
    return search


@given(st.lists(WORDS, min_size=1, max_size=4), WORDS.filter(bool), st.tuples(WORDS, WORDS))
def test_the_search_finds_what_comparing_every_pair_finds(known, said, around):
    text = f"{around[0]} {said} {known[0]} {around[1]}"
    flags = {
        compare_tokens(word_tokens(one), word_tokens(text)).flag
        for one in known
        if len(word_tokens(one)) >= 3
    }
    expected = next((flag for flag in FLAGS if flag in flags), "clean")
    assert searching(*known).look(record(text_row(text))) == expected


def test_half_of_a_text_is_contained():
    words = [f"w{k}" for k in range(9)]
    search = searching(" ".join(words))
    assert search.look(record(text_row(" ".join([*words[:8], "x"])))) == "contained"
    assert search.look(record(text_row(" ".join([*words[:7], "x"])))) == "clean"


def test_case_punctuation_and_width_hide_nothing():
    wide = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in REQUEST)
    for said in (REQUEST, REQUEST.upper() + "!!", wide):
        assert searching(REQUEST).look(record(text_row(said))) == "exact"
    for unseen in "\u200b\u00ad\u2060\ufe0f\u034f\U000e0061":
        assert searching(REQUEST).look(record(text_row(unseen.join(REQUEST)))) == "exact", ascii(unseen)
    assert searching(REQUEST).look(record(text_row(f"Hello there. {REQUEST}, thanks."))) != "clean"
    assert searching(REQUEST).look(record(text_row(" ".join(reversed(REQUEST.split()))))) == "clean"


CYRILLIC = str.maketrans("aceopxyABCEHKMOPTXkmt", "асеорхуАВСЕНКМОРТХкмт")
GREEK = str.maketrans("aoivupABEZHIKMNOPTYX", "αοινυρΑΒΕΖΗΙΚΜΝΟΡΤΥΧ")
MARKED = {ord(letter): letter + "\u0335" for letter in "aeiouAEIOU"}


@pytest.mark.parametrize(
    "disguise", [CYRILLIC, GREEK, CYRILLIC | GREEK, MARKED, {ord("g"): "ɡ", ord("d"): "ԁ", ord("D"): "Ԁ"}]
)
@pytest.mark.parametrize("style", [str, str.upper, str.title])
def test_letters_that_look_alike_hide_nothing(disguise: dict[int, str], style: Callable[[str], str]):
    said = style(REQUEST).translate(disguise)
    assert said != style(REQUEST)
    assert searching(REQUEST).look(record(text_row(said))) == "exact"
    assert searching(said).look(record(text_row(REQUEST))) == "exact"


def test_texts_of_other_scripts_are_found_without_case():
    for text in ("НАЙДИ мне тихий Столик на четверых в Пятницу", "ΒΡΕΣ μου ένα Ήσυχο τραπέζι για Τέσσερις"):
        assert searching(text).look(record(text_row(text.swapcase()))) == "exact"
    assert searching("найди мне тихий столик").look(record(text_row("купи мне билет домой"))) == "clean"


@pytest.mark.parametrize(
    ("part", "row"),
    [
        ("reply", text_row("Hello you there", f"You may ask: {REQUEST}")),
        ("system", {**text_row("Hello you there"), "system": f"Example. {REQUEST}"}),
        ("user", text_row(f"Well then, {REQUEST}")),
    ],
)
def test_a_question_is_found_in_user_reply_and_system_texts(part: str, row: dict[str, Any]):
    search = searching(REQUEST)
    assert search.look(record(row)) == "near"
    assert [pair.part for pair in search.results[0].pairs()] == [part]


def test_all_pairs_are_kept_where_wanted():
    for keep, count in ((10, 10), (inf, 15)):
        search = OverlapSearch(keep)
        search.add("bench", [BenchmarkItem("0", (ItemText("0", "user", REQUEST),), frozenset())])
        for _ in range(15):
            search.look(record(text_row(REQUEST)))
        assert len(search.results[0].pairs()) == count


def test_calls_are_compared_with_calls_only():
    gold = call_text("level", {"station": "Husum harbour"})
    search = searching(gold, kind="call")
    assert search.look(record(text_row(gold))) == "clean"
    assert search.look(record(call_row("Severity?", "husum HARBOUR"))) == "exact"


def test_one_and_two_words_are_not_looked_for_and_counted():
    search = searching("Yes please", "40", "What is the weather in Oslo?")
    assert search.look(record(text_row("Yes please"))) == "clean"
    assert search.results[0].short == 2
    assert search.look(record(text_row("Tell me: what is the weather in Oslo today?"))) == "contained"


def test_items_rows_and_worst_pairs_are_counted():
    search = searching(REQUEST, "another request that nobody in training has ever made so far")
    for row in (
        text_row(f"Well, {REQUEST} and goodbye to all of you"),
        text_row(REQUEST),
        text_row("Hello you"),
    ):
        search.look(record(row))
    found = search.results[0]
    assert found.touched == {"0": "exact"}
    assert (found.rows["exact"], found.rows["near"] + found.rows["long"]) == (1, 1)
    assert found.pairs()[0].flag == "exact"


def test_tools_with_equal_parameters_are_seen():
    known = ("level", frozenset({"station", "unit"})), ("level", frozenset({"station"}))
    search = searching(REQUEST, tools=known)
    search.look(record(call_row("Severity?")))
    assert search.results[0].seen_tools == {"level"}
    assert search.results[0].tools == 2
