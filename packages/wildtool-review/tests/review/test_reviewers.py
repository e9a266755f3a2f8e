"""`reviewers: 1` in the head of own cases: one person is enough for a review and its release, and everything says so."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from review.made_sets import decide
from wildtool.cli import app
from wildtool_review.project import ReviewProject
from wildtool_review.rounds import stop_rule
from wildtool_review.server.payloads import review_payload
from wildtool_review.sets import open_review

TOOL = {"name": "find", "parameters": {"type": "object", "properties": {"id": {"type": "string"}}}}
CASES = [{"id": f"c{k}", "input": f"Where is A-{k}?", "expect": {"find": {"id": f"A-{k}"}}} for k in range(4)]


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    yield


def write(name: str = "cases.yaml", **head: Any) -> None:
    if name.endswith(".jsonl"):
        rows = [{"defaults": {"tools": [TOOL]}, **head}, *CASES]
        Path(name).write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        return
    document = {**head, "defaults": {"tools": [TOOL]}, "cases": CASES}
    is_json = name.endswith(".json")
    Path(name).write_text(
        json.dumps(document) if is_json else yaml.safe_dump(document, sort_keys=False), encoding="utf-8"
    )


def command(*words: str) -> tuple[int, str]:
    ended = CliRunner().invoke(app, list(words))
    return ended.exit_code, " ".join(ended.output.split())


def approve_all(review: ReviewProject, who: str) -> None:
    list(review.check_items())
    for item in [*review.state.items]:
        decide(review, who, item)


@pytest.mark.long
@pytest.mark.parametrize("name", ["cases.yaml", "cases.jsonl", "cases.json"])
@pytest.mark.parametrize("number", [1, 2, None])
def test_one_person_may_end_a_review_only_where_the_set_says_so(name: str, number: int | None):
    write(name, **({} if number is None else {"reviewers": number}))
    status, started = command("review", "start", name)
    is_one = number == 1
    assert status == 0 and ("one reviewer per item is enough" in started) is is_one
    with open_review(name) as review:
        assert not stop_rule(review.state).met
        approve_all(review, "ann")
        assert stop_rule(review.state).met is is_one
        page = review_payload(review, "ann", name, signed_in=False)
        assert page["reviewers"] == (1 if is_one else 2)
    assert command("review", "export", name, "--out", "release")[0] == 0
    assert ("`reviewers: 1`" in Path("release/card.md").read_text("utf-8")) is is_one
    assert command("run", "release/cases.jsonl", "--model", "baseline/gold")[0] == 0


def test_a_round_asks_as_many_people_as_the_set_says_unless_its_command_says_otherwise():
    write(reviewers=1)
    command("review", "start", "cases.yaml")
    assert "for ann" in command("review", "round", "cases.yaml", "--people", "ann", "--share", "0.5")[1]
    words = ("review", "round", "cases.yaml", "--people", "ann,bob", "--share", "0.5", "--reviewers", "2")
    assert "for ann and bob" in command(*words)[1]


def test_what_the_set_says_later_counts_and_is_in_the_log_that_others_merge():
    write()
    command("review", "start", "cases.yaml")
    write(reviewers=1)
    command("review", "start", "cases.yaml")
    with open_review("cases.yaml") as review:
        assert review.state.reviewers == 1
        review.follow_log("log")
        assert review.state.reviewers == 1
    command("review", "log", "cases.yaml", "--out", "ann.jsonl")
    assert command("review", "merge", "other.review.sqlite", "ann.jsonl")[0] == 2, "there is no review yet"
    Path("bob").mkdir()
    Path("bob/cases.yaml").write_bytes(Path("cases.yaml").read_bytes())
    assert command("review", "merge", "bob/cases.yaml", "ann.jsonl")[0] == 0
    with open_review("bob/cases.yaml") as review:
        assert review.state.reviewers == 1
    write()
    command("review", "start", "cases.yaml")
    with open_review("cases.yaml") as review:
        assert review.state.reviewers == 2


@pytest.mark.parametrize("value", [0, 3, True, "1", None])
@pytest.mark.parametrize("name", ["cases.yaml", "cases.jsonl"])
def test_another_number_is_a_mistake_with_its_line(name: str, value: object):
    write(name, reviewers=value)
    status, text = command("data", "lint", name)
    assert status == 1 and f"{name}:1: reviewers" in text
    assert command("review", "start", name)[0] == 2


def test_a_quick_review_keeps_what_the_file_says():
    from wildtool_review.drafts.quick import open_quick_review

    write(reviewers=1)
    review = open_quick_review(Path("cases.yaml"), None)
    review.keep("c0", review.drafts["c0"])
    assert yaml.safe_load(Path("cases.kept.yaml").read_text("utf-8"))["reviewers"] == 1
