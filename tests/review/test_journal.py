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
from wildtool.sets.review.formats import find_set
from wildtool.sets.review.history import EditConflict
from wildtool.sets.review.log import Draft
from wildtool.sets.review.pointers import Change
from wildtool.sets.review.project import ReviewProject
from wildtool.sets.review.proposed import propose
from wildtool.sets.review.release import RELEASE_FORMAT, write_release
from wildtool.sets.review.restore import restore_version
from wildtool.sets.review.server.app import Listen
from wildtool.sets.review.server.checks import RuleChecks, SimilarTexts
from wildtool.sets.review.server.operations import READS, WRITES, ReviewService
from wildtool.sets.review.server.regeneration import RegenerationState
from wildtool.sets.review.sets import start_review
from wildtool.sets.review.state import State
from wildtool.sets.review.store.sqlite import SqliteStore


def problem_of(act: Callable[[], Any]) -> str:
    with pytest.raises((UsageError, DataError, RecordError, StorageError)) as refusal:
        act()
    return str(refusal.value)


def twice(tmp_path: Path) -> tuple[ReviewProject, ReviewProject]:
    """A review that two processes have open."""
    return project(tmp_path), ReviewProject.open(SqliteStore(tmp_path / "set.review.sqlite"))


def test_an_item_that_is_not_there_is_named(tmp_path: Path):
    assert problem_of(lambda: project(tmp_path).item("s9")) == "there is no item s9 in this review"


def test_what_others_wrote_meanwhile_is_taken(tmp_path: Path):
    review, other = twice(tmp_path)
    edit(other, "ann", "s0", "Other?")
    fresh = review.refresh()
    assert [(entry.kind, entry.item) for entry in fresh] == [("edit", "s0"), ("check", "s0")]
    assert review.item("s0").content["english_tasks"][0] == "Other?"
    assert review.refresh() == []
    assert [history.id for history in review.histories()] == ["s0", "s1"]
    assert [history.id for history in review.histories(["s1"])] == ["s1"]


def test_what_others_wrote_meanwhile_is_no_damage(tmp_path: Path):
    review, other = twice(tmp_path)
    edit(other, "ann", "s0", "Other?")
    assert review.follow_log("set") is False
    assert review.state.n == other.state.n == 4


def test_items_that_were_looked_at_last_are_kept_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("wildtool.sets.review.journal._KEPT_ITEMS", 2)
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


def test_two_who_write_about_people_at_once_are_told(tmp_path: Path):
    review, other = twice(tmp_path)
    other.add_person("owner", "ann", "reviewer")
    drafts = [Draft("person", "owner", field="bob", after={"role": "reviewer"})]
    same = "somebody else changed the same at the same time; try again"
    assert problem_of(lambda: review._append(drafts)) == same  # pyright: ignore[reportPrivateUsage]
    assert list(review.state.people) == ["ann"]
    review.append_general(drafts[0])
    assert list(review.state.people) == ["ann", "bob"]


def test_a_whole_log_is_restored_only_where_nobody_else_writes(tmp_path: Path):
    review = project(tmp_path)
    empty = ReviewProject.create(SqliteStore(tmp_path / "a.sqlite"), review.format)
    entries = list(review.store.read())
    empty.restore(entries)
    assert list(empty.store.lines()) == list(review.store.lines())
    late, first = (ReviewProject.create(SqliteStore(tmp_path / "b.sqlite"), review.format) for _ in range(2))
    first.restore(entries)
    assert problem_of(lambda: late.restore(entries)) == "somebody else writes into this review; try again"


def test_a_state_that_does_not_follow_from_the_log_is_mended_and_said(tmp_path: Path):
    review = project(tmp_path)
    assert review.verify("set") == review.state.n == 2
    review.state = State(review.format, *(getattr(review.state, name) for name in ("n", "digest")))
    assert problem_of(lambda: review.verify("set")) == (
        "set: the state or the index that was kept did not follow from the log; it has been computed again"
    )
    assert (list(review.state.items), review.verify("set")) == (["s0", "s1"], 2)
    assert problem_of(lambda: review.verify("set", last="f" * 64)) == (
        "set, line 3: missing: the log should end with another entry; restore the log from a copy"
    )


@pytest.mark.parametrize(("items", "entries"), [(2, 3), (39, 3), (40, 4)])
def test_the_state_is_kept_after_some_entries_or_a_tenth_of_the_items(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, items: int, entries: int
):
    review = project(tmp_path, tiny_records(items))
    review.close()
    monkeypatch.setattr("wildtool.sets.review.journal._SNAPSHOT_AFTER", 3)
    review = ReviewProject.open(SqliteStore(tmp_path / "set.review.sqlite"))
    kept: list[int] = []
    monkeypatch.setattr(review.store, "save_snapshot", lambda n, data: kept.append(n))
    for number in range(2 * entries):
        review.remark("ann", "s0", f"{number}")
    assert kept == [items + entries, items + 2 * entries]
    review.close()
    assert len(kept) == 2


def test_a_version_is_restored_with_a_note_of_its_own_or_a_given_one(tmp_path: Path):
    review = project(tmp_path, tiny_records(1))
    first = review.item("s0").digest
    edit(review, "ann", "s0", "A.", "/english_tasks/1")
    n = review.state.n
    restore_version(review, "ann", "s0", review.item("s0").digest, first)
    edit(review, "ann", "s0", "B.", "/english_tasks/1")
    restore_version(review, "ann", "s0", review.item("s0").digest, first, "mine")
    notes = [entry.note for entry in review.item("s0").entries if entry.kind == "edit" and entry.n > n]
    assert notes == [f"as before entry {n - 1}", "", "mine"]


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


def test_tasks_are_made_again_as_a_page_asks(tmp_path: Path):
    review = project(tmp_path)
    pages, regenerating = service(review)
    seen = review.item("s0").digest
    body: dict[str, Any] = {"id": "s0", "seen": seen}
    answer = WRITES["regenerate"](pages, "owner", body)
    assert answer["regeneration"] == {"model": "gpt", "running": True, "problem": "of s0 for owner"}
    WRITES["regenerate"](pages, "owner", {**body, "first": "1", "call": 0, "keep_texts": True})
    WRITES["regenerate"](pages, "owner", {**body, "keep_texts": "yes"})
    none: dict[str, Any] = {"keep_texts": False, "call": None, "earlier": 0}
    assert regenerating.starts == [
        ["s0", "owner", None, none],
        ["s0", "owner", 1, {"keep_texts": True, "call": 0, "earlier": 0}],
        ["s0", "owner", None, none],
    ]
    assert READS["regeneration"](pages, "owner", body) == {"running": True, "problem": "of s0 for owner"}
    plain = ReviewService(review, "set")
    assert READS["regeneration"](plain, "owner", body) == {"running": False, "problem": ""}
    assert READS["checks"](plain, "owner", {}) == {}
    assert "regeneration" not in READS["item"](plain, "owner", body)


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


def test_in_a_team_only_an_owner_spends_money(tmp_path: Path):
    review = project(tmp_path, people="ann")
    pages, regenerating = service(review, signs_in=True)
    body = {"id": "s0", "seen": review.item("s0").digest}
    assert problem_of(lambda: WRITES["regenerate"](pages, "ann", body)) == (
        "only an owner has tasks made again here, since that costs money"
    )
    assert "regeneration" not in READS["item"](pages, "ann", body)
    assert "regeneration" in READS["item"](pages, "owner", body)
    assert [pages.may_spend(who) for who in ("ann", "owner")] == [False, True]
    alone, _ = service(review)
    assert alone.may_spend("ann")
    assert problem_of(lambda: WRITES["regenerate"](alone, "nobody", body)) == (
        "this takes the role reviewer; nobody is not in this review"
    )
    assert regenerating.starts == []
    with pytest.raises(EditConflict):
        WRITES["regenerate"](alone, "owner", {"id": "s0", "seen": "x"})


def test_near_texts_of_other_items_are_findings_and_remarks(tmp_path: Path):
    records = tiny_records(3)
    records[0]["english_tasks"] = ["Tell me everything about the history of Vienna.", " "]
    records[1]["english_tasks"] = [
        "How long does it take to bake bread?",
        "Tell me everything about the history of Vienna.",
    ]
    records[1]["made_by"] = {
        "candidates": [["tell me everything about the history of  Vienna.", {"text": " "}]]
    }
    records[2]["english_tasks"] = [
        "Which of these trees grow in the shade?",
        "Sort the list by colour and size.",
    ]
    review = project(tmp_path, records)
    similar = SimilarTexts(review)
    assert similar.read_some(seconds=0)
    assert not similar.read_some(seconds=60)
    rows = [[each.rule, each.field, each.message, each.level] for each in similar.findings("s1", records[1])]
    assert rows == [
        ["duplicate", "/english_tasks/1", "100 % like the user text of task 1 in s0", "warning"],
    ]
    edit(review, "owner", "s0", "Something else?")
    assert similar.findings("s1", records[1]) == []
    edit(review, "owner", "s2", "Tell me everything about the history of Vienna.", "/english_tasks/1")
    assert [each.message for each in similar.findings("s1", records[1])] == [
        "100 % like the user text of task 2 in s2"
    ]
    checks = RuleChecks(review, lambda action: None, lambda progress: None)  # pyright: ignore[reportArgumentType]
    while checks.similar.read_some():
        pass
    pages = ReviewService(review, "set", checks=checks)
    page = READS["item"](pages, "owner", {"id": "s1"})
    assert [row["message"] for row in page["findings"] if row["rule"] == "duplicate"] == [
        "100 % like the user text of task 2 in s2"
    ]
    assert [candidate["about"] for candidate in page["tasks"][0]["candidates"]] == [
        {"similar": "100 % like the user text of task 2 in s2"},
        {},
    ]
    progress = checks.progress()
    assert (progress.checked, progress.total, progress.running, progress.problem) == (3, 3, True, "")


def test_who_was_not_the_first_is_shown_what_is_there(tmp_path: Path):
    review = project(tmp_path)
    pages = ReviewService(review, "set")
    error = EditConflict("s0", "x", review.item("s0").digest, review.item("s0").content)
    answers = [
        pages.conflict(error, "owner", body)["now"]
        for body in ({"field": TEXT}, {"field": "x"}, {"field": 7}, {})
    ]
    assert answers == [{"text": "Tell me about number 0."}, {}, {}, {}]
    whole = pages.conflict(error, "owner", {"field": "/english_tools"})
    assert (whole["now"], whole["problem"], whole["text"], whole["values"], whole["item"]["id"]) == (
        {"json": "[]"},
        "s0 has changed since you read it; compare, and save again",
        "{0} has changed since you read it; compare, and save again",
        ["s0"],
        "s0",
    )


def test_what_runs_propose_is_accepted_by_its_place(tmp_path: Path):
    review = project(tmp_path, tiny_records(1))
    first = review.item("s0")
    before = first.content["english_tasks"][0]
    asked: list[Any] = []

    def runs(item: str, imported: Any, current: Any) -> Any:
        asked.append((item, imported == first.content, current["english_tasks"][0]))
        beside = [{"field": "/note", "after": 1}]
        return [
            {},
            {"proposal": {"changes": [{"field": TEXT, "before": before, "after": "Run?"}], "beside": beside}},
        ]

    pages = ReviewService(review, "set", runs=runs)
    body: dict[str, Any] = {"id": "s0", "seen": first.digest}
    assert problem_of(lambda: WRITES["accept"](pages, "owner", body)) == "no edit is proposed there"
    page = WRITES["accept"](pages, "owner", {**body, "index": 1, "note": "as they do"})
    assert page["tasks"][0]["parts"][0]["text"] == "Run?"
    assert review.item("s0").entries[-2].note == "as they do"
    WRITES["accept"](
        pages, "owner", {"id": "s0", "seen": review.item("s0").digest, "index": 1, "beside": True}
    )
    assert review.item("s0").content["note"] == 1
    assert asked[:2] == [("s0", True, before), ("s0", True, before)]
    assert asked[-1] == ("s0", True, "Run?")


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


@pytest.mark.parametrize(
    ("listen", "problem"),
    [
        (Listen(tls_cert=Path("c")), "--tls-cert and --tls-key belong together: give both files"),
        (Listen(tls_key=Path("k")), "--tls-cert and --tls-key belong together: give both files"),
        *(
            (
                Listen(proxy=origin),
                f"--behind-proxy {origin}: expected the address in people's browsers, without a path, such as "
                "https://review.example.org",
            )
            for origin in ("http://example.org", "https://x.org/path", "https://u@x.org", "x.org", "https://")
        ),
        (
            Listen("0.0.0.0"),
            "--host 0.0.0.0 can be reached by other machines. People sign in there, so say how it is encrypted: "
            "--tls-cert and --tls-key, or --behind-proxy ORIGIN if a proxy does that",
        ),
    ],
)
def test_a_server_that_others_could_reach_unprotected_is_refused(listen: Listen, problem: str):
    assert problem_of(listen.check) == problem


def test_a_server_is_reached_as_it_says(tmp_path: Path):
    for listen in (Listen(), Listen("0.0.0.0", proxy="https://x.org"), Listen(proxy="http://localhost:80")):
        listen.check()
        assert (listen.scheme, listen.tls(), listen.signs_in) == ("http", None, bool(listen.proxy))
    secure = Listen(tls_cert=tmp_path / "c", tls_key=tmp_path / "k")
    assert (secure.scheme, secure.signs_in) == ("https", True)
    assert problem_of(secure.tls) == (
        f"--tls-cert {tmp_path / 'c'}: cannot be used ([Errno 2] No such file or directory)"
    )


def test_changes_of_an_edit_follow_each_other_and_those_of_nothing_are_left_out(tmp_path: Path):
    review = project(tmp_path, tiny_records(1))
    text = review.item("s0").content["english_tasks"][0]
    n = review.state.n
    same = review.edit("ann", "s0", review.item("s0").digest, [Change(TEXT, text, text)])
    assert (review.state.n, len(same.versions)) == (n, 1)
    item = review.edit(
        "ann", "s0", same.digest, [Change(TEXT, text, "A."), Change(TEXT, "A.", "B.")], model="gpt"
    )
    rows = [(e.kind, e.version, e.content, e.before, e.after, e.reason) for e in item.entries[-3:-1]]
    middle = item.versions[1].digest
    assert rows == [
        ("edit", same.digest, middle, text, "A.", ("model gpt",)),
        ("edit", middle, item.digest, "A.", "B.", ("model gpt",)),
    ]
    back = review.edit("ann", "s0", item.digest, [Change(TEXT, "B.", text)])
    assert (back.entries[-1].kind, back.digest) == ("check", same.digest)
    again = review.edit("ann", "s0", back.digest, [Change(TEXT, text, "B.")])
    assert again.entries[-1].kind == "edit"


# Sets and stores ----------------------------------------------------------------------------------------


def test_a_set_is_read_again_only_where_it_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    data = tmp_path / "sessions.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in tiny_records(1)))
    reads: list[str] = []

    def counted(target: str, benchmark: str | None = None) -> Any:
        reads.append(target)
        return find_set(target, benchmark)

    monkeypatch.setattr("wildtool.sets.review.sets.find_set", counted)
    for _ in range(2):
        start_review(str(data))[0].close()
    assert len(reads) == 1
    data.write_text("".join(json.dumps(row) + "\n" for row in tiny_records(2)))
    assert start_review(str(data))[1] == 1
    assert start_review(str(data))[1] == 0
    assert len(reads) == 2
