"The log of a review in its store, what a page adds to an item, and what a release refuses: exact words and values."

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from golden_files import same_as_golden
from review.made_sets import TEXT, decide, edit, project, tiny_records
from wildtool.errors import DataError, RecordError, StorageError, UsageError
from wildtool_data.pointers import Change
from wildtool_review.project import ReviewProject
from wildtool_review.proposed import propose
from wildtool_review.release import RELEASE_FORMAT, write_release
from wildtool_review.restore import restore_version
from wildtool_review.server.operations import WRITES, ReviewService
from wildtool_review.server.regeneration import RegenerationState
from wildtool_review.store.sqlite import SqliteStore


def problem_of(act: Callable[[], Any]) -> str:
    with pytest.raises((UsageError, DataError, RecordError, StorageError)) as refusal:
        act()
    return str(refusal.value)


def twice(tmp_path: Path) -> tuple[ReviewProject, ReviewProject]:
    """A review that two processes have open."""
    return project(tmp_path), ReviewProject.open(SqliteStore(tmp_path / "set.review.sqlite"))


def test_what_others_wrote_meanwhile_is_no_damage(tmp_path: Path):
    review, other = twice(tmp_path)
    edit(other, "ann", "s0", "Other?")
    assert review.follow_log("set") is False
    assert review.state.n == other.state.n == 4


def test_items_that_were_looked_at_last_are_kept_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("wildtool_review.journal._KEPT_ITEMS", 2)
    review = project(tmp_path, tiny_records(3))
    read: list[str] = []
    history = review.store.history

    def counted(item: str) -> Any:
        read.append(item)
        return history(item)

    monkeypatch.setattr(review.store, "history", counted)
    for item in ("s0", "s1", "s0", "s2", "s0", "s1"):
        assert review.item(item).id == item
    assert read == ["s0", "s1", "s2", "s1"]


@pytest.mark.parametrize(("items", "entries"), [(2, 3), (39, 3), (40, 4)])
def test_the_state_is_kept_after_some_entries_or_a_tenth_of_the_items(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, items: int, entries: int
):
    review = project(tmp_path, tiny_records(items))
    review.close()
    monkeypatch.setattr("wildtool_review.journal._SNAPSHOT_AFTER", 3)
    review = ReviewProject.open(SqliteStore(tmp_path / "set.review.sqlite"))
    kept: list[int] = []
    monkeypatch.setattr(review.store, "save_snapshot", lambda n, data: kept.append(n))
    for number in range(2 * entries):
        review.remark("ann", "s0", f"{number}")
    assert kept == [items + entries, items + 2 * entries]
    review.close()
    assert len(kept) == 2


# What a page adds ---------------------------------------------------------------------------------------


@dataclass
class Regenerating:
    model: str = "gpt"

    def __post_init__(self) -> None:
        self.starts: list[Any] = []

    def state(self, item: str, person: str) -> RegenerationState:
        return RegenerationState(True, f"of {item} for {person}")

    def start(self, *words: Any, **options: Any) -> None:
        self.starts.append([*words, options])


def service(review: ReviewProject, **parts: Any) -> tuple[ReviewService, Regenerating]:
    regenerating = Regenerating()
    parts = {"regeneration": regenerating, **parts}
    return ReviewService(review, "set", **parts), regenerating


def test_a_task_that_was_made_again_before_is_made_with_another_seed(tmp_path: Path):
    review = project(tmp_path, tiny_records(1), people="ann bob")
    pages, regenerating = service(review)
    seen = review.item("s0").digest

    def earlier(who: str) -> int:
        WRITES["regenerate"](pages, who, {"id": "s0", "seen": seen})
        return regenerating.starts[-1][-1]["earlier"]

    def offer(who: str, text: str) -> None:
        assert propose(review, who, "s0", seen, [Change(TEXT, "Tell me about number 0.", text)], "gpt")

    offer("owner", "One?")
    offer("owner", "Two?")
    assert earlier("owner") == 2
    edit(review, "owner", "s0", "Another?", "/english_tasks/1")
    first, seen = seen, review.item("s0").digest
    assert earlier("owner") == 0
    restore_version(review, "owner", "s0", seen, first)
    seen = first
    # Of their own copies nothing was made again.
    review.open_round("owner", ["ann", "bob"], share=1)
    offer("ann", "One?")
    assert [earlier(who) for who in ("ann", "bob")] == [1, 0]


# Releases and servers -----------------------------------------------------------------------------------


def test_a_release_is_refused_in_whole_words(tmp_path: Path):
    records = tiny_records(2)
    records[0]["english_tasks"][1] = " "
    review = project(tmp_path, records)
    out = tmp_path / "out"
    assert problem_of(lambda: write_release(review, out)) == (
        "no item is approved yet; `wildtool review stats` shows where they are"
    )
    for item in ("s0", "s1"):
        decide(review, "ann", item)
    assert problem_of(lambda: write_release(review, out)) == (
        "rules find something in 1 of 2 approved items, such as s0: text: expected a text that is not empty; "
        "correct it, or export with --allow-findings, which names all findings in the card"
    )
    out.mkdir()
    (out / "thesis.tex").write_text("mine")
    assert problem_of(lambda: write_release(review, out, allow_findings=True)).startswith(
        f"{out}: holds what wildtool did not make here (thesis.tex); "
    )
    (out / "manifest.json").write_text(json.dumps({"format": RELEASE_FORMAT}))
    manifest = write_release(review, out, allow_findings=True)
    assert (manifest["items"], manifest["data"], sorted(manifest["files"])) == (
        2, "sessions.jsonl", ["card.md", "preferences.jsonl", "provenance.jsonl", "sessions.jsonl", "thesis.tex"]
    )  # fmt: skip
    (out / "manifest.json").write_text("[")
    assert "did not make here" in problem_of(lambda: write_release(review, out, allow_findings=True))
    write_release(review, out, allow_findings=True, force=True)
    card = (out / "card.md").read_text("utf-8")
    same_as_golden("review/card.md", card.replace(review.state.digest, "DIGEST"))
