"""A mixture to the last count: its plan, its files, its manifest, its notes, and where each line is from."""

import csv
import json
import math
from collections import Counter
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from training.record_forms import read
from training.training_rows import call_row, text_row, turn, write_rows
from wildtool import __version__
from wildtool.errors import DataError, UsageError
from wildtool.json_codec import dumps
from wildtool.sets.prepare.keys import drawn_number, record_digest
from wildtool.sets.prepare.mix import mix
from wildtool.sets.prepare.mix.duplicates import Clusters, NearDuplicates
from wildtool.sets.prepare.mix.mix import (
    MixPlan,
    MixResult,
    MixSet,
    apportion,
    check_plan,
    is_mix,
    write_mix,
)
from wildtool.sets.prepare.mix.origins import origin_of
from wildtool.sets.prepare.mix.store import MixStore, duplicates_in
from wildtool.sets.prepare.overlap.benchmark import BenchmarkItem, ItemText
from wildtool.sets.prepare.overlap.search import OverlapSearch
from wildtool.sets.prepare.record import TrainingRecord

HALVES = (("train", 0.5), ("val", 0.5))
NEAR = pytest.mark.skipif(find_spec("rensa") is None, reason="the extra `training` is not installed")


def words(k: int, count: int = 12) -> str:
    return " ".join(f"w{k}x{j}" for j in range(count))


def rows(count: int, start: int = 0) -> list[dict[str, Any]]:
    return [call_row(words(k)) if k % 3 else text_row(words(k)) for k in range(start, start + count)]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def mixed(plan: MixPlan, folder: str = "m", search: OverlapSearch | None = None, **more: Any) -> MixResult:
    return write_mix(plan, Path(folder), search=search, **more)


def plan(*names: str, **more: Any) -> MixPlan:
    return MixPlan(sets=tuple(MixSet(name, Path(f"{name}.jsonl")) for name in names), **more)


def lines(path: str) -> list[Any]:
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def digest(row: dict[str, Any]) -> str:
    record = read(row, "sharegpt")
    assert isinstance(record, TrainingRecord)
    return record_digest(record).hex()


def test_everything_of_a_mixture_is_in_its_manifest():
    a, b = rows(5), rows(4, start=10)
    broken = text_row("b")
    broken["conversations"].reverse()
    write_rows(Path("a.jsonl"), [*a, a[1], "text", broken, text_row("What is the weather in Oslo?")])
    write_rows(Path("b.jsonl"), b)
    search = OverlapSearch()
    search.add(
        "bench", [BenchmarkItem("0", (ItemText("0", "user", "What is the weather in Oslo?"),), frozenset())]
    )
    result = mixed(plan("a", "b", dedupe="exact"), search=search, audit=Path("audit.jsonl"))
    written = lines("m/train.jsonl")
    order = sorted([*a, *b], key=lambda row: drawn_number("1", f"order{digest(row)}/1"))
    assert written == order
    assert Path("m/train.jsonl").read_bytes() == b"".join(dumps(row) + b"\n" for row in order)
    zero: dict[str, Any] = {
        "rejected": {},
        "overlap": {},
        "duplicates": {},
        "repeats": 0,
        "weight": 1.0,
        "cap": None,
    }
    sets = {
        "a": {
            **zero,
            "file": "a.jsonl",
            "sha256": sha256(Path("a.jsonl").read_bytes()).hexdigest(),
            "rows": 9,
            "with_calls": 4,
            "rejected": {"unreadable-line": 1, "S05": 1},
            "overlap": {"exact": 1},
            "duplicates": {"exact": 1},
            **dict.fromkeys(("available", "wanted", "drawn"), 5),
        },
        "b": {
            **zero,
            "file": "b.jsonl",
            "sha256": sha256(Path("b.jsonl").read_bytes()).hexdigest(),
            "rows": 4,
            "with_calls": 3,
            **dict.fromkeys(("available", "wanted", "drawn"), 4),
        },
    }
    assert json.loads(Path("m/mix.json").read_text()) == {
        "wildtool": __version__,
        "mix": 1,
        "form": "sharegpt",
        "settings": {
            "total": None,
            "by": "size",
            "temperature": 1.0,
            "dedupe": "exact",
            "similar": 0.8,
            "splits": [["train", 1.0]],
            "group_by": "near",
            "seed": "1",
            "repeat": False,
        },
        "benchmarks": ["bench"],
        "sets": sets,
        "files": {
            "train.jsonl": {
                "rows": 9,
                "sha256": sha256(Path("m/train.jsonl").read_bytes()).hexdigest(),
                "sets": {"a": 5, "b": 4},
            }
        },
    }
    assert list(json.loads(Path("m/mix.json").read_text())["sets"]["a"])[:6] == [
        "file",
        "sha256",
        "weight",
        "cap",
        "rows",
        "with_calls",
    ]
    assert (result.files, result.form, result.notes) == ({"train.jsonl": 9}, "sharegpt", [])
    assert result.counts["a"].rejected == Counter({"unreadable-line": 1, "S05": 1})
    assert lines("m/rejects.jsonl") == [
        {
            "set": "a",
            "file": "a.jsonl",
            "row": 7,
            "reason": "unreadable-line",
            "detail": "expected an object, found a text",
        },
        {
            "set": "a",
            "file": "a.jsonl",
            "row": 8,
            "reason": "S05",
            "detail": "turn 1 is gpt, only human or observation can be here: LLaMA-Factory drops this record",
        },
    ]
    assert lines("audit.jsonl") == [
        {"kept": "a:2", "removed": "a:6", "rule": "exact", "index": 1.0, "like": "a:2"}
    ]
    origins = list(csv.reader(Path("m/train.origins.csv").read_text().splitlines()))
    assert origins[0] == ["set", "row"]
    listed = {"a": a, "b": b}
    assert [listed[name][int(row) - 1] for name, row in origins[1:]] == written
    assert sorted(path.name for path in Path("m").iterdir()) == [
        "lock",
        "mix.json",
        "rejects.jsonl",
        "train.jsonl",
        "train.origins.csv",
    ]


def test_the_details_of_rejected_rows_are_cut_off():
    write_rows(Path("a.jsonl"), [*rows(3), {"conversations": [turn("x" * 400, "a"), turn("gpt", "b")]}])
    mixed(plan("a"))
    (reject,) = lines("m/rejects.jsonl")
    assert reject["detail"] == ('turn 1: role "' + "x" * 400)[:300]


def test_rows_are_drawn_in_an_order_of_seed_and_digest():
    a = rows(8)
    write_rows(Path("a.jsonl"), a)
    mixed(plan("a", total=3, seed="s"))
    drawn = sorted(a, key=lambda row: drawn_number("s", digest(row)))[:3]
    order = sorted(drawn, key=lambda row: drawn_number("s", f"order{digest(row)}/1"))
    assert lines("m/train.jsonl") == order


def test_a_repeated_set_comes_whole_again_and_equal_rows_are_numbered():
    a = [*rows(2), rows(2)[1]]
    write_rows(Path("a.jsonl"), a)
    result = mixed(plan("a", total=7, repeat=True))
    keys = [digest(a[0]), digest(a[1]), digest(a[1]) + "-2"]
    drawn = (sorted(range(3), key=lambda k: drawn_number("1", keys[k])) * 3)[:7]
    times = [(k, drawn[:place].count(k) + 1) for place, k in enumerate(drawn)]
    order = sorted(times, key=lambda entry: drawn_number("1", f"order{keys[entry[0]]}/{entry[1]}"))
    assert lines("m/train.jsonl") == [a[k] for k, _ in order]
    origins = list(csv.reader(Path("m/train.origins.csv").read_text().splitlines()))
    assert origins[1:] == [["a", str(k + 1)] for k, _ in order]
    assert result.notes == ["a: repeated 2 times"]
    counts = result.counts["a"]
    assert (counts.available, counts.wanted, counts.drawn, counts.repeats) == (3, 7, 7, 2)
    assert mixed(plan("a", total=20, repeat=True), force=True).notes == [
        "a: 12 rows instead of 20: it has no more, or its --cap is reached",
        "a: repeated 3 times",
        "12 rows instead of the 20 of --total: there are no more",
    ]
    assert mixed(plan("a", total=3, repeat=True), force=True).notes == []
    assert mixed(plan("a", total=4, repeat=True), force=True).notes == ["a: repeated 1 time"]
    assert mixed(plan("a", total=4), force=True).notes[0].startswith("a: 3 rows instead of 4")
    capped = MixPlan(sets=(MixSet("a", Path("a.jsonl"), cap=5),), total=7, repeat=True)
    assert mixed(capped, force=True).files == {"train.jsonl": 5}
    capped = MixPlan(sets=(MixSet("a", Path("a.jsonl"), cap=1),))
    result = mixed(capped, force=True)
    assert (result.counts["a"].wanted, result.notes, result.files) == (1, [], {"train.jsonl": 1})
    text = [text_row(words(k)) for k in range(2)]
    write_rows(Path("t.jsonl"), text)
    assert mixed(plan("t", total=1), force=True).notes == ["t: no tool calls in this set"]


@pytest.mark.parametrize(
    ("more", "drawn"),
    [
        ({}, {"a": 6, "b": 3}),
        ({"total": 6}, {"a": 4, "b": 2}),
        ({"total": 6, "by": "weights"}, {"a": 3, "b": 3}),
        ({"total": 6, "by": "temperature", "temperature": 1000.0}, {"a": 3, "b": 3}),
        ({"total": 6, "by": "temperature", "temperature": 0.5}, {"a": 5, "b": 1}),
        # No end of heat: equal shares, as long as a set has rows.
        ({"total": 8, "by": "temperature", "temperature": math.inf}, {"a": 5, "b": 3}),
    ],
)
def test_shares_of_sets(more: dict[str, Any], drawn: dict[str, int]):
    write_rows(Path("a.jsonl"), rows(6))
    write_rows(Path("b.jsonl"), rows(3, start=20))
    sets = MixSet("a", Path("a.jsonl"), 1), MixSet("b", Path("b.jsonl"), 5)
    result = mixed(MixPlan(sets=sets, **more))
    assert {name: count.drawn for name, count in result.counts.items()} == drawn


def test_a_set_without_rows_has_no_weight():
    for by in ("weights", "size", "temperature"):
        one = plan("a", by=by, total=1)
        assert (one.weight(0, 0), one.weight(0, 4)) == (0.0, 1.0 if by == "weights" else 4.0)


@pytest.mark.parametrize(
    ("weights", "limits", "total", "counts"),
    [
        ([1, 1], [9, 9], 3, [2, 1]),
        ([1, 1, 1], [9, 9, 9], 2, [1, 1, 0]),
        ([0, 0], [9, 9], 5, [0, 0]),
        ([0, 1], [9, 9], 5, [0, 5]),
        ([0, 1], [9, 3], 5, [0, 3]),
        ([1, 3], [9, 2], 8, [6, 2]),
        ([1, 3], [2, 2], 8, [2, 2]),
        ([5, 1], [100, 100], 100, [83, 17]),
        ([3, 1], [9, 9], 2, [2, 0]),
        ([1, 3], [9, 9], 1, [0, 1]),
        ([1, 1], [9, 9], 0, [0, 0]),
    ],
)
def test_rows_are_divided_by_weights(weights: list[float], limits: list[int], total: int, counts: list[int]):
    assert apportion(weights, limits, total) == counts


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (plan("a", "a"), "two sets have the same name; write NAME=FILE with a name for each"),
        (plan("a", by="sqrt"), "--by sqrt needs the number of rows: --total N"),
        (plan("a", temperature=0.0), "the temperature must be above 0, such as --by temperature=2"),
        (
            plan("a", splits=(("a", 0.5), ("b", 0.4))),
            "the shares of --split must be above 0 and add up to 1, such as train=0.95,val=0.05",
        ),
        (
            plan("a", splits=(("a", 1.0), ("b", 0.0))),
            "the shares of --split must be above 0 and add up to 1, such as train=0.95,val=0.05",
        ),
        (plan("a", splits=(("a", 0.5), ("a", 0.5))), "--split names a split twice"),
        (
            MixPlan(sets=(MixSet("a", Path("a"), 0.0),), by="weights", total=1),
            "weights must be above 0, such as NAME=FILE:2",
        ),
    ],
)
def test_what_no_mixture_can_be_is_refused(bad: MixPlan, problem: str):
    with pytest.raises(UsageError) as refused:
        check_plan(bad)
    assert str(refused.value) == problem
    with pytest.raises(UsageError):
        mixed(bad)
    check_plan(plan("a", splits=(("a", 0.3), ("b", 0.3), ("c", 0.4))))


def test_sets_that_cannot_be_in_one_file_are_refused():
    pair = {**text_row("q"), "chosen": turn("gpt", "x"), "rejected": turn("gpt", "y")}
    pair["conversations"].pop()
    write_rows(Path("a.jsonl"), rows(2))
    write_rows(Path("p.jsonl"), [pair])
    talk = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "r"}]
    write_rows(Path("o.jsonl"), [{"messages": talk}])
    write_rows(Path("n.jsonl"), [{"conversations": []}])
    for names, problem in (
        (
            ("a", "o"),
            "sets of two forms cannot be in one file: a (sharegpt), o (messages); convert them to one form first",
        ),
        (
            ("a", "p"),
            "conversations and preference pairs cannot be in one file (sft: a.jsonl:1; preference: p.jsonl:1); mix them"
            " apart",
        ),
        (("n",), "no record is left to mix; see m/rejects.jsonl"),
    ):
        with pytest.raises(DataError) as refused:
            mixed(plan(*names))
        assert str(refused.value) == problem
    assert mixed(plan("o")).form == "messages"


def test_what_is_a_mixture():
    folder = Path("m")
    folder.mkdir()
    assert is_mix(folder)
    (folder / "lock").touch()
    assert is_mix(folder)
    (folder / "rejects.jsonl").touch()
    assert is_mix(folder)
    (folder / "thesis.txt").touch()
    assert not is_mix(folder)
    (folder / "mix.json").write_text("[1]")
    assert not is_mix(folder)
    (folder / "mix.json").write_text("{")
    assert not is_mix(folder)
    (folder / "mix.json").write_text('{"mix": 1}')
    assert is_mix(folder)
    (folder / "mix.json").unlink()
    assert not is_mix(folder)


def test_a_mixture_is_put_beside_other_things_by_force_only_and_replaces_an_earlier_one():
    write_rows(Path("a.jsonl"), rows(2))
    Path("m").mkdir()
    Path("m/thesis.txt").touch()
    with pytest.raises(UsageError, match=r"m: holds what wildtool did not make here \(thesis\.txt\)"):
        mixed(plan("a"))
    assert [path.name for path in Path("m").iterdir()] == ["thesis.txt"]
    for seed, force in (("1", True), ("2", False)):
        mixed(plan("a", seed=seed), force=force)
        assert json.loads(Path("m/mix.json").read_text())["settings"]["seed"] == seed
    assert Path("m/thesis.txt").exists()


def test_a_mixture_takes_the_place_of_none_of_its_sets():
    Path("m").mkdir()
    write_rows(Path("a.jsonl"), rows(2))
    write_rows(Path("m/val.jsonl"), rows(2))
    Path("m/mix.json").write_text('{"mix": 1}')
    sets = MixSet("a", Path("a.jsonl")), MixSet("v", Path("m/val.jsonl"))
    for more in ({"splits": HALVES, "group_by": "tools"}, {}):
        audit = None if more else Path("a.jsonl")
        with pytest.raises(UsageError) as refused:
            mixed(MixPlan(sets=sets, **more), force=True, audit=audit)
        problem = "is read and would be replaced; name another place with --out"
        assert str(refused.value) == f"{audit or 'm/val.jsonl'}: {problem}"
    assert lines("a.jsonl") == lines("m/val.jsonl") == rows(2)


@pytest.mark.parametrize(
    ("more", "comparisons"),
    [
        ({}, (False, False, False)),
        ({"dedupe": "exact"}, (False, False, False)),
        ({"dedupe": "prompt"}, (True, False, False)),
        ({"group_by": "tools"}, (False, False, False)),
        ({"dedupe": "near"}, (False, True, False)),
        ({"splits": HALVES}, (False, True, False)),
        ({"splits": HALVES, "group_by": "tools"}, (False, False, True)),
        ({"splits": HALVES, "group_by": "tools", "dedupe": "near"}, (False, True, True)),
    ],
)
def test_a_mixture_prepares_only_for_the_comparisons_that_it_makes(
    more: dict[str, Any], comparisons: tuple[bool, ...], monkeypatch: pytest.MonkeyPatch
):
    prepared: list[tuple[bool, ...]] = []

    def store(folder: Path, *, prompts: bool, near: bool, tools: bool) -> MixStore:
        prepared.append((prompts, near, tools))
        raise UsageError("looked at")

    write_rows(Path("a.jsonl"), rows(2))
    monkeypatch.setattr(mix, "MixStore", store)
    with pytest.raises(UsageError, match="looked at"):
        mixed(plan("a", **more))
    assert prepared == [comparisons]


@NEAR
def test_splits_are_by_the_smallest_digest_of_a_cluster():
    a = [call_row(f"{words(k)}{more}") for k in range(12) for more in ("", " more")]
    write_rows(Path("a.jsonl"), a)
    result = mixed(plan("a", splits=HALVES))
    expected: dict[str, set[str]] = {"train": set(), "val": set()}
    for k in range(12):
        pair = a[2 * k], a[2 * k + 1]
        group = min(map(digest, pair))
        expected["train" if drawn_number("1", group) / 2**64 < 0.5 else "val"] |= {
            json.dumps(row) for row in pair
        }
    assert {name: {json.dumps(row) for row in lines(f"m/{name}.jsonl")} for name in expected} == expected
    assert result.files == {f"{name}.jsonl": len(expected[name]) for name in expected}
    (single,) = rows(1)
    write_rows(Path("one.jsonl"), [single])
    empty = "val" if drawn_number("1", digest(single)) / 2**64 < 0.5 else "train"
    result = mixed(plan("one", splits=HALVES), force=True)
    assert result.notes == [
        "one: no tool calls in this set",
        f"{empty}.jsonl: no record fell into this split",
    ]


# Duplicates ------------------------------------------------------------------------------------------


def talk(k: int, replies: int = 1, more: str = "") -> dict[str, Any]:
    turns = [turn("human", words(k) + more), turn("gpt", "Yes.")]
    return {
        "conversations": turns + [turn("human", "x"), turn("gpt", "y")] * (replies - 1),
        "system": "",
        "tools": "",
    }


def repeated(level: Any, *rows: Any, **more: Any) -> list[tuple[Any, ...]]:
    found = duplicates_in(write_rows(Path("d.jsonl"), list(rows)), level, **more)
    return [(entry.row, entry.like, entry.rule, round(entry.similarity, 4)) for entry in found]


def test_duplicates_of_each_level():
    same = [talk(1), talk(2), talk(1), {"conversations": []}, talk(2), {**talk(1), "system": "S"}]
    assert repeated("exact", *same) == [(3, 1, "exact", 1.0), (5, 2, "exact", 1.0)]
    assert repeated("prompt", *same, talk(2, 2)) == [
        (3, 1, "exact", 1.0),
        (5, 2, "exact", 1.0),
        (6, 1, "prompt", 1.0),
    ]
    other = call_row(words(1))
    assert repeated("prompt", talk(1), other, call_row(words(1).upper(), "Kiel")) == [(3, 2, "prompt", 1.0)]


@NEAR
def test_near_duplicates_and_how_near_they_are():
    near = [talk(1), talk(2), talk(1, more=" more"), talk(1, 2), talk(1, more=" other")]
    assert repeated("near", *near[:3]) == [(3, 1, "near", 0.8889)]
    assert repeated("near", *near[:3], similar=0.89) == []
    assert repeated("near", *near[:3], similar=8 / 9) == [(3, 1, "near", 0.8889)]
    assert repeated("near", talk(1), talk(1)) == [(2, 1, "exact", 1.0)]
    assert repeated("near", *near) == [(1, 4, "near", 0.8889), (3, 4, "near", 0.8889), (5, 4, "near", 0.8889)]


def test_clusters_are_joined_to_their_first_record():
    clusters = Clusters(5)
    assert clusters.join(3, 1) is True
    assert clusters.join(4, 3) is True
    assert clusters.join(1, 4) is False
    assert [clusters.first(k) for k in range(5)] == [0, 1, 2, 1, 1]
    assert clusters.join(4, 0) is True
    assert [clusters.first(k) for k in range(5)] == [0, 0, 2, 0, 0]


@NEAR
def test_tools_of_near_duplicates_are_partly_the_same(tmp_path: Path):
    def pairs(first: list[str], other: list[str], text: str = words(1)) -> list[tuple[int, int, float]]:
        near = NearDuplicates(tmp_path)
        near.add([words(1)], first)
        near.add([words(2)], first)
        near.add([text], other)
        return list(near.join(Clusters(3)))

    assert pairs([], []) == [(0, 2, 1.0)]
    assert pairs(["a"], ["a", "b"]) == [(0, 2, 1.0)]
    assert pairs(["a"], ["a", "b", "c"]) == []
    assert pairs(["a"], []) == pairs([], ["a"]) == pairs(["a"], ["b"]) == []
    assert pairs(["a", "b"], ["b", "a", "a"], f"{words(1)} more") == [(0, 2, 8 / 9)]


# Origins ---------------------------------------------------------------------------------------------


def origins(path: str, *records: TrainingRecord) -> list[str]:
    origin = origin_of(Path(path))
    return [origin(record) for record in records]


def at(row: int, **columns: Any) -> TrainingRecord:
    return TrainingRecord(turns=(), row=row, columns=columns)


def test_the_set_of_a_record_is_in_the_mixture_or_in_a_column():
    write_rows(Path("a.jsonl"), rows(2))
    write_rows(Path("b.jsonl"), rows(1, start=9))
    mixed(plan("a", "b"))
    table = list(csv.reader(Path("m/train.origins.csv").read_text().splitlines()))[1:]
    listed = [at(1), at(2), at(3, source="x")]
    assert origins("m/train.jsonl", *listed, at(4), at(4, source="y")) == [
        *(name for name, _ in table),
        "not named",
        "y",
    ]
    Path("m/other.jsonl").write_bytes(Path("m/train.jsonl").read_bytes())
    assert origins("m/other.jsonl", at(1), at(1, source="y")) == ["not named", "y"]
    Path("m/train.origins.csv").write_text("name,row\na,1\n")
    assert origins("m/train.jsonl", at(1)) == ["not named"]
    Path("m/train.origins.csv").unlink()
    assert origins("m/train.jsonl", at(1)) == ["not named"]
    Path("m/mix.json").write_text("{")
    assert origins("m/train.jsonl", at(1)) == ["not named"]
    assert origins(
        "a.jsonl",
        at(1, source="s", dataset="d"),
        at(1, source=" ", dataset="d"),
        at(1, source=5, dataset="d"),
        at(1, name="n"),
    ) == ["s", "d", "d", "not named"]
