"""Near duplicates, against comparing every record with every other."""

import random
from pathlib import Path

import pytest

from wildtool.training.tokens import jaccard_index, shingles, word_tokens
from wildtool_data.prepare.mix.duplicates import Clusters, NearDuplicates

pytest.importorskip("rensa", reason="the extra `training` is not installed")
WORDS = [f"word{k}" for k in range(400)]


def texts() -> list[tuple[str, list[str]]]:
    """Random texts, and copies with a few words changed or other tools."""
    draw = random.Random(7)
    found: list[tuple[str, list[str]]] = []
    for k in range(300):
        if k % 3 == 0:
            found.append((" ".join(draw.choices(WORDS, k=draw.randrange(1, 90))), ["level"]))
            continue
        words = draw.choice(found)[0].split()
        for _ in range(draw.randrange(3)):
            words[draw.randrange(len(words))] = draw.choice(WORDS)
        found.append((" ".join(words), draw.choice([["level"], ["level", "tide"], ["tide"], []])))
    return found


def joined(records: list[tuple[str, list[str]]], folder: Path, most: int | None = None) -> list[int]:
    """The cluster of each record; `most` is how many pairs may be compared."""
    near, clusters = NearDuplicates(folder), Clusters(len(records))
    for text, tools in records:
        near.add([text], tools)
    list(near.join(clusters))
    assert most is None or near.compared <= most
    return [clusters.first(k) for k in range(len(records))]


def test_the_clusters_are_those_of_comparing_all_pairs(tmp_path: Path):
    records, clusters = texts(), Clusters(300)
    sets = [set(shingles(word_tokens(text))) for text, _ in records]
    pairs = 0
    for k, (_, tools) in enumerate(records):
        for j, (_, others) in enumerate(records[:k]):
            shared = len({*tools} & {*others}) / len({*tools, *others}) if tools or others else 1
            if shared >= 0.5 and jaccard_index(sets[j], sets[k]) >= 0.8:
                pairs += clusters.join(j, k)
    assert pairs > 50
    assert joined(records, tmp_path) == [clusters.first(k) for k in range(300)]


def test_records_without_words_are_like_no_other(tmp_path: Path):
    assert joined([("", []), ("!?", []), ("", ["level"])], tmp_path) == [0, 1, 2]


def test_no_records_have_no_duplicates(tmp_path: Path):
    assert joined([], tmp_path) == []


def test_records_of_one_template_are_not_compared_with_each_other(tmp_path: Path):
    draw = random.Random(3)
    template = " ".join(draw.choices(WORDS, k=60))
    records = [(f"{template} {' '.join(f'own{k}x{j}' for j in range(10))}", ["level"]) for k in range(300)]
    assert joined(records, tmp_path, most=300) == list(range(300))


def test_equal_requests_to_other_tools_are_not_compared_with_each_other(tmp_path: Path):
    records = [("Which of these levels is the highest today?", [f"tool{k}", f"other{k}"]) for k in range(300)]
    assert joined(records, tmp_path, most=300) == list(range(300))


def test_equal_records_are_compared_once_each(tmp_path: Path):
    records = [("Which of these levels is the highest today?", ["level"])] * 300
    assert joined(records, tmp_path, most=300) == [0] * 300


def test_equal_requests_share_half_of_their_tools_or_are_apart(tmp_path: Path):
    text = "Which of these levels is the highest today?"
    others = [(f"{' '.join(WORDS[8 * k : 8 * k + 8])}", ["b", "c", "d", "e"]) for k in range(3)]
    assert joined([(text, ["a", "b", "c"]), (text, ["a", "d", "e"]), *others], tmp_path) == [0, 1, 2, 3, 4]
