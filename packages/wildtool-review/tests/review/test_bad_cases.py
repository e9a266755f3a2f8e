"""Failures of a run that people read: drawn once, labelled by each reader alone, and shown wherever the run is."""

import csv
import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review.failed_runs import draw, drawn, failed_run, say, wildtool
from review.terminals import terminal
from wildtool.engine.record.case_labels import (
    CaseKey,
    CaseReading,
    LabelledCases,
    add_readings,
    labels_of_run,
    merge_readings,
    start_labels,
)
from wildtool.engine.score.label_metrics import label_shares
from wildtool.errors import DataError
from wildtool.temporary import temporary_folder


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return failed_run(tmp_path_factory.mktemp("played"))


@pytest.fixture
def run(played: Path, tmp_path: Path) -> Path:
    shutil.copytree(played.parents[1], tmp_path, dirs_exist_ok=True)
    return tmp_path / played.relative_to(played.parents[1])


def numbers(run: Path) -> dict[tuple[str, str], dict[str, Any]]:
    shown = json.loads(wildtool("show", str(run), "--json"))["runs"][0]["metrics"]
    return {(each["group"], each["name"]): each for each in shown}


@pytest.mark.long
def test_only_failures_are_drawn_and_the_same_seed_draws_the_same(run: Path):
    why = json.loads(wildtool("show", str(run), "--why", "accuracy: task", "--json"))
    units = why["numbers"][0]["units"]
    wrong = {(unit["item"], unit["unit"]) for unit in units if unit["outcome"] == "wrong"}
    draw(run, "--sample", "5")
    first = [*drawn(run).proposals]
    assert len(first) == 5
    assert {(case.item, case.unit) for case in first} <= wrong
    draw(run, "--sample", "5")
    assert [*drawn(run).proposals] == first
    assert "move that file away" in draw(run, "--sample", "4", status=2)


@pytest.mark.long
def test_two_readers_label_in_the_terminal_and_do_not_see_each_other(run: Path):
    draw(run, "--sample", "2")
    with terminal(run.parent, str(run), "--reader", "ann") as ann:
        ann.type("1")
        assert "all 2 cases are read" not in ann.text
        ann.type("s2s")
        assert "all 2 cases are read" in ann.text
    with terminal(run.parent, str(run), "--reader", "bob") as bob:
        assert "labels: none" in bob.text
        bob.type("1s1s")
    said = drawn(run).by_case.values()
    assert [each["ann"].labels for each in said] == [("lazy",), ("wrong tool",)]
    assert [each["bob"].labels for each in said] == [("lazy",), ("lazy",)]
    figures = {
        (each["group"], each["name"]): each
        for each in json.loads(wildtool("review", "stats", str(run), "--json"))
    }
    assert figures["agreement of ann and bob", "same labels"]["value"] == 0.5
    assert figures["bad cases", "lazy"]["value"] == 0.75
    assert figures["bad cases", "no label fits"]["value"] == 0


def test_a_case_that_is_read_again_counts_once_and_starts_from_what_was_said(run: Path):
    draw(run, "--sample", "1")
    say(run, "ann", ("lazy",))
    with terminal(run.parent, str(run), "--reader", "ann") as opened:
        assert "labels: lazy" in opened.text
        opened.type("12s")
    assert numbers(run)["bad cases", "wrong tool"]["value"] == 1
    assert numbers(run)["bad cases", "lazy"]["value"] == 0


@pytest.mark.long
def test_labels_travel_in_a_bundle_and_show_in_every_table_of_the_run(run: Path, tmp_path: Path):
    assert not any(group == "bad cases" for group, _ in numbers(run))
    draw(run, "--sample", "3")
    say(run, "ann", ("lazy",), ("lazy", "wrong tool"), (), note="look here")
    bundle = tmp_path / "run.bundle.zip"
    wildtool("export", str(run), "--format", "bundle", "--out", str(bundle), "--with-data")
    assert {
        name: each["value"] for (group, name), each in numbers(bundle).items() if group == "bad cases"
    } == {
        "lazy": pytest.approx(2 / 3),
        "wrong tool": pytest.approx(1 / 3),
        "no label fits": pytest.approx(1 / 3),
    }
    table = tmp_path / "run.csv"
    wildtool("export", str(run), "--format", "csv", "--out", str(table))
    rows = list(csv.DictReader(table.open(encoding="utf-8")))
    assert [row["labels"] for row in rows if row["labels"]] == ["lazy", "lazy, wrong tool", "no label fits"]
    wildtool("report", str(run), "--out", str(tmp_path / "report"))
    files = [path for path in (tmp_path / "report").rglob("*") if path.suffix in (".js", ".html", ".json")]
    texts = [path.read_text(encoding="utf-8") for path in files]
    assert any("look here" in text for text in texts)
    assert any("wrong tool" in text and "bad cases" in text for text in texts)


def test_labels_are_those_of_the_rules_under_which_the_cases_failed(run: Path):
    draw(run, "--sample", "2")
    say(run, "ann", ("lazy",), ("lazy",))
    shown = json.loads(wildtool("show", str(run), "--profile", "fixed", "--json"))["runs"][0]["metrics"]
    assert not any(each["group"] == "bad cases" for each in shown)


def test_readings_of_a_copy_are_merged_once_and_those_of_other_cases_refused(run: Path, tmp_path: Path):
    draw(run, "--sample", "2")
    copy = tmp_path / "bob.jsonl"
    copy.write_bytes((run / "labels.jsonl").read_bytes())
    say(run, "ann", ("lazy",))
    head = copy.read_text(encoding="utf-8")
    case = json.loads(head)["cases"][0]
    line = {key: case[key] for key in ("item", "repeat", "unit")} | {
        "reader": "bob",
        "labels": [],
        "note": "",
        "when": "",
    }
    copy.write_text(head + json.dumps(line) + "\n", encoding="utf-8")
    assert "1 readings added" in wildtool("review", "merge", str(run), str(copy))
    assert "0 readings added" in wildtool("review", "merge", str(run), str(copy))
    assert drawn(run).readers == ["ann", "bob"]
    (run / "labels.jsonl").unlink()
    draw(run, "--sample", "3")
    assert "other cases or labels" in wildtool("review", "merge", str(run), str(copy), status=2)


@pytest.mark.long
@pytest.mark.parametrize(
    "change",
    [
        {"labels": ["unheard of"]},
        {"item": "unheard of"},
        {"labels": "lazy"},
        {"reader": 1},
        {"repeat": "0"},
    ],
)
def test_a_line_that_is_not_of_the_cases_is_refused_with_its_place(run: Path, change: dict[str, Any]):
    draw(run, "--sample", "1")
    say(run, "ann", ("lazy",))
    file = run / "labels.jsonl"
    head, line = file.read_text(encoding="utf-8").splitlines()
    file.write_text(f"{head}\n{json.dumps(json.loads(line) | change)}\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"labels\.jsonl:2"):
        labels_of_run(run)
    assert "labels.jsonl:2" in wildtool("show", str(run), status=2)


@pytest.mark.long
@pytest.mark.parametrize("key", ["labels", "cases"])
@pytest.mark.parametrize("value", [None, "lazy", []])
def test_a_first_line_without_labels_or_cases_is_refused_with_its_place(run: Path, key: str, value: object):
    draw(run, "--sample", "1")
    file = run / "labels.jsonl"
    file.write_text(json.dumps(json.loads(file.read_bytes()) | {key: value}) + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=rf"labels\.jsonl:1: field {key}"):
        labels_of_run(run)


def test_a_torn_last_line_is_named_and_nothing_is_added_to_it(run: Path):
    draw(run, "--sample", "1")
    file = run / "labels.jsonl"
    torn = file.read_bytes() + b'{"reader": "ann", "it'
    file.write_bytes(torn)
    for words in (("show", str(run)), ("review", "stats", str(run))):
        assert "last line is not whole" in wildtool(*words, status=2)
    assert file.read_bytes() == torn


def sample(folder: Path, items: int = 1) -> list[CaseKey]:
    """Cases of no real run, drawn into a folder."""
    keys = [CaseKey(f"item {number}", 0, "0") for number in range(items)]
    start_labels(folder, LabelledCases("official", items, "1", {"lazy": ""}, dict.fromkeys(keys, ())))
    return keys


def test_nothing_is_lost_of_readers_who_save_at_the_same_time(tmp_path: Path):
    keys = sample(tmp_path, 20)

    def read_all(reader: str) -> None:
        for key in keys:
            add_readings(tmp_path, [CaseReading(reader, key, ("lazy",))])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(read_all, ["ann", "bob", "cem", "dee"]))
    assert len(drawn(tmp_path).readings) == 80


def test_on_a_full_disk_a_reading_is_saved_whole_or_not_at_all(tmp_path: Path):
    (case,) = sample(tmp_path)
    add_readings(tmp_path, [CaseReading("ann", case, ("lazy",))])
    before = (tmp_path / "labels.jsonl").read_bytes()
    code = f"""
import resource
from pathlib import Path
from wildtool.engine.record.case_labels import CaseKey, CaseReading, add_readings
resource.setrlimit(resource.RLIMIT_FSIZE, ({len(before) + 50}, {len(before) + 50}))
add_readings(Path({str(tmp_path)!r}), [CaseReading("bob", CaseKey("item 0", 0, "0"), (), "too long " * 100)])
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.returncode == 1 and "StorageError" in ended.stderr
    assert (tmp_path / "labels.jsonl").read_bytes() == before


def test_who_draws_after_somebody_else_changes_nothing(tmp_path: Path):
    sample(tmp_path)
    before = (tmp_path / "labels.jsonl").read_bytes()
    sample(tmp_path, 2)
    assert (tmp_path / "labels.jsonl").read_bytes() == before


@pytest.mark.parametrize(("here", "there", "counts"), [("2", "1", ()), ("1", "2", ("lazy",))])
def test_of_what_a_reader_said_here_and_in_a_copy_the_later_counts(
    tmp_path: Path, here: str, there: str, counts: tuple[str, ...]
):
    copy = tmp_path / "copy"
    copy.mkdir()
    for folder, labels, when in ((tmp_path, (), here), (copy, ("lazy",), there)):
        (case,) = sample(folder)
        add_readings(folder, [CaseReading("ann", case, labels, when=f"2026-01-0{when}T00:00:00+00:00")])
    merge_readings(tmp_path, copy / "labels.jsonl")
    assert drawn(tmp_path).by_case[case]["ann"].labels == counts


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("start", "--failed", "--store", "x.sqlite"), "--store"),
        (("start", "--failed", "--no-check"), "--no-check"),
        (("serve", "--as", "ann"), "--as"),
        (("serve", "--behind-proxy", "https://review.example.org"), "--behind-proxy"),
        (("stats", "--max-error", "0"), "--max-error"),
        (("merge", "bob.jsonl", "--store", "x.sqlite"), "--store"),
    ],
)
def test_an_option_of_reviews_of_sets_is_refused_for_a_run(run: Path, words: tuple[str, ...], option: str):
    said = wildtool("review", words[0], str(run), *words[1:], status=2)
    assert f"{option} is about the review of a set" in said


@pytest.mark.long
def test_what_labels_of_others_are_called_cannot_fake_a_line(run: Path):
    draw(run, "--sample", "1")
    file = run / "labels.jsonl"
    odd = {"name": "lazy\n  saved: \x1b[31mno", "about": "x\n1 of 1"}
    file.write_text(json.dumps(json.loads(file.read_bytes()) | {"labels": [odd]}) + "\n", encoding="utf-8")
    with terminal(run.parent, str(run), "--reader", "ann") as opened:
        opened.type("1s")
        lines = [line.strip() for line in opened.text.splitlines()]
    assert "1 of 1" not in lines
    assert "saved: lazy   saved: \\x1b[31mno" in lines
    assert "\x1b[31m" not in opened.text


def test_without_a_terminal_a_run_is_read_in_the_browser(run: Path):
    said = wildtool("review", "quick", str(run), status=2)
    assert f"in the browser: `wildtool review {run}`" in " ".join(said.split())


def test_a_label_is_not_called_as_its_absence_is(run: Path):
    (run.parents[1] / "labels.txt").write_text("no label fits: nothing\n", encoding="utf-8")
    assert "labels.txt:1" in draw(run, status=2)


def test_the_papers_class_is_proposed_and_counted_when_readers_keep_it(run: Path):
    wildtool("review", "start", str(run), "--failed", "--labels", "wildtoolbench")
    cases = drawn(run)
    proposed = [names[:1] for names in cases.proposals.values()]
    assert any(proposed)
    # Of all that a rule proposes, this reader keeps nothing but the first.
    first = next(at for at, names in enumerate(proposed) if names)
    say(run, "ann", *(names if at == first else () for at, names in enumerate(proposed)))
    figures = json.loads(wildtool("review", "stats", str(run), "--json"))
    kept = [each for each in figures if each["group"] == "proposals that readers kept"]
    assert sum(each["numerator"] for each in kept) == 1
    assert sum(each["denominator"] for each in kept) == sum(map(bool, proposed))


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from("ab"), st.sets(st.sampled_from("xyz"))), max_size=20
    )
)
def test_shares_lie_between_none_and_all_and_what_counts_is_the_last_word(
    said: list[tuple[int, str, set[str]]],
):
    keys = [CaseKey("item", 0, str(number)) for number in range(4)]
    cases = LabelledCases("official", 4, "1", dict.fromkeys("xyz", ""), dict.fromkeys(keys, ()))
    with temporary_folder() as folder:
        start_labels(Path(folder), cases)
        add_readings(
            Path(folder), [CaseReading(who, keys[at], tuple(sorted(names))) for at, who, names in said]
        )
        read = labels_of_run(Path(folder))
    assert read is not None
    last = {(at, who): names for at, who, names in said}
    for metric in label_shares(read):
        givers = [
            at
            for (at, _), names in last.items()
            if (metric.name in names or (not names and " " in metric.name))
        ]
        assert (metric.numerator > 0) == bool(givers)
        assert metric.low is not None and metric.value is not None and metric.high is not None
        assert 0 <= metric.low <= metric.value <= metric.high <= 1


def test_a_run_whose_failures_nobody_asked_for_says_how(run: Path):
    assert "add --failed" in wildtool("review", "start", str(run), status=2)


@pytest.mark.parametrize("command", ["serve", "quick", "stats"])
def test_a_bundle_cannot_be_labelled(run: Path, tmp_path: Path, command: str):
    bundle = str(tmp_path / "run.bundle.zip")
    wildtool("export", str(run), "--format", "bundle", "--out", bundle)
    assert "give the folder" in wildtool("review", command, bundle, status=2)


def test_a_misspelt_list_of_labels_names_the_one_that_is_meant(run: Path):
    said = wildtool("review", "start", str(run), "--failed", "--labels", "tolep", status=2)
    assert "did you mean 'toleap'" in said


@pytest.mark.long
@pytest.mark.parametrize("command", ["stats", "serve"])
def test_a_folder_above_runs_names_those_under_review(run: Path, command: str):
    draw(run)
    said = wildtool("review", command, str(run.parent), status=2)
    assert "holds runs; name one: lexical" in " ".join(said.split())
