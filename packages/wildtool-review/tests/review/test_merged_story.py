"Two copies of a review go their own ways and are merged: what becomes of each entry, whether it fits or contradicts."

import json
from pathlib import Path
from typing import Any

from golden_files import same_as_golden
from review.made_sets import TEXT, decide, edit, project, recheck, tiny_records
from review.test_files import copies, exported
from wildtool_data.formats.base import RawItem
from wildtool_data.pointers import Change
from wildtool_review.files import MergeReport, merge_log
from wildtool_review.project import ReviewProject
from wildtool_review.proposed import discard_proposal, propose

SECOND = "/english_tasks/1"


def named(review: ReviewProject) -> dict[str, str]:
    """Short names of contents, by digest."""
    contents = [version.digest for item in review.histories() for version in item.versions]
    return {digest: f"v{number}" for number, digest in enumerate(dict.fromkeys(contents))}


def rows_after(review: ReviewProject, after: int) -> list[str]:
    """The entries after one, without digests and texts of findings."""
    names = named(review)
    lines: list[str] = []
    for entry in review.store.read(after):
        if entry.kind == "check":
            continue
        row: dict[str, Any] = {
            "item": entry.item,
            "branch": entry.branch,
            "version": names.get(entry.version, entry.version and "copy"),
            "content": names.get(entry.content, entry.content and "copy"),
            "field": entry.field,
            "after": entry.after if entry.kind not in ("import", "propose") else "…",
            "reason": entry.reason,
            "round": entry.round,
            "note": entry.note,
            "origin": bool(entry.origin),
        }
        lines.append(
            f"{entry.who} {entry.kind} {json.dumps({k: v for k, v in row.items() if v}, default=str)}"
        )
    return lines


def proposed(review: ReviewProject, item: str, text: str, who: str = "owner") -> str:
    content, seen = review.item(item).seen_by(who)
    propose(review, who, item, seen, [Change(SECOND, content["english_tasks"][1], text)], "gpt")
    return review.item(item).proposals_for(who)[-1].content


def test_entries_of_free_work_are_taken_or_contradict(tmp_path: Path):
    ours, theirs = copies(project(tmp_path, tiny_records(12)), tmp_path, "ab")
    both = (ours, theirs)
    edit(theirs, "bob", "s0", "Only theirs.")
    recheck(theirs, "bob", "s0")
    decide(theirs, "bob", "s0")
    for review in both:
        edit(review, "ann", "s1", "The same.")
    edit(ours, "ann", "s2", "Ours.")
    edit(theirs, "bob", "s2", "Theirs.")
    edit(theirs, "bob", "s2", "Theirs too.", SECOND)
    edit(ours, "ann", "s3", "Ours.")
    edit(theirs, "bob", "s3", "Theirs.", SECOND)
    for review, who in zip(both, ("ann", "bob"), strict=True):
        decide(review, who, "s4")
        decide(review, who, "s5", *(("approve",) if who == "ann" else ("reject", "privacy")))
    edit(ours, "ann", "s6", "Ours.", SECOND)
    decide(theirs, "bob", "s6")
    theirs.decide("bob", "s7", theirs.item("s7").digest, "discuss", note="hm")
    edit(ours, "ann", "s8", "Ours.")
    edit(theirs, "bob", "s8", "Theirs.")
    recheck(theirs, "bob", "s8")
    for review in both:
        proposed(review, "s9", "The same?")
    proposed(theirs, "s10", "Theirs?")
    discard_proposal(
        theirs, "owner", "s9", theirs.item("s9").digest, theirs.item("s9").proposals_for("owner")[0].content
    )
    edit(ours, "ann", "s10", "Ours.")
    theirs.remark("bob", "s11", "a remark", TEXT)
    theirs.add_person("owner", "cid", "reviewer")
    theirs.add_person("owner", "bob", "reviewer")
    theirs.add_person("owner", "ann", "reviewer")
    theirs.open_round("owner", ["cid", "bob"], share=0.2)
    theirs.import_items([RawItem("new", tiny_records(1)[0])])
    n = ours.state.n
    first = merge_log(ours, exported(theirs, tmp_path / "b"))
    again = merge_log(ours, exported(theirs, tmp_path / "b"))
    same_as_golden("review/merged.json", [repr(first), *rows_after(ours, n)])
    assert again == MergeReport(known=theirs.state.n)
    assert ours.verify("ours") == ours.state.n


def test_entries_of_a_round_are_taken_or_contradict(tmp_path: Path):
    review = project(tmp_path, tiny_records(9), people="ann bob cid")
    review.open_round("owner", ["ann", "bob"], share=0.5)
    drawn = review.state.rounds[0].items
    ours, theirs = copies(review, tmp_path, "ab")
    for k, (one, who) in enumerate(((ours, "ann"), (theirs, "bob"))):
        edit(one, who, drawn[0], "The same.")
        decide(one, who, drawn[0])
        edit(one, who, drawn[1], f"As {who} says.")
        decide(one, who, drawn[1], "approve" if k else "reject", *([] if k else ["call"]))
    edit(theirs, "ann", drawn[2], "From the other side.")
    edit(ours, "ann", drawn[2], "From this side.")
    recheck(theirs, "ann", drawn[2])
    decide(theirs, "ann", drawn[2])
    for one in (ours, theirs):
        proposed(one, drawn[3], f"Again by {one is ours}?", "ann")
        one.decide("ann", drawn[3], one.item(drawn[3]).seen_by("ann")[1], "discuss", note=f"by {one is ours}")
        decide(one, "bob", drawn[3], *(("approve",) if one is ours else ("discuss",)))
    for one in (ours, theirs):
        one.open_round("owner", ["bob", "cid"], share=0.25, seed="ours" if one is ours else "theirs")
    (drawn_there,) = theirs.state.rounds[1].items
    edit(theirs, "bob", drawn_there, "In their round.")
    n = ours.state.n
    report = merge_log(ours, exported(theirs, tmp_path / "b"))
    same_as_golden("review/merged-round.json", [repr(report), *rows_after(ours, n)])
    conflicts = {item.id: item.conflicts for item in ours.state.items.values() if item.conflicts}
    same_as_golden("review/merged-conflicts.json", conflicts)
    assert ours.verify("ours") == ours.state.n


def test_outcomes_of_a_file_end_what_they_are_of(tmp_path: Path):
    review = project(tmp_path, tiny_records(4), people="ann bob")
    review.open_round("owner", ["ann", "bob"], share=1)
    for item in ("s0", "s1", "s2", "s3"):
        decide(review, "ann", item)
        decide(review, "bob", item, "discuss")
    ours, theirs = copies(review, tmp_path, "ab")
    for item in ("s0", "s1", "s2"):
        change = (
            [Change(TEXT, theirs.item(item).content["english_tasks"][0], "Theirs.")] if item == "s2" else []
        )
        theirs.resolve("judge", item, theirs.item(item).digest, "approve", change, note="there")
    ours.resolve("judge", "s0", ours.item("s0").digest, "approve")
    ours.resolve("judge", "s1", ours.item("s1").digest, "reject", reasons=["call"])
    theirs.resolve("judge", "s3", theirs.item("s3").digest, "reject", reasons=["end"])
    theirs.close_round("owner", 1)
    n = ours.state.n
    report = merge_log(ours, exported(theirs, tmp_path / "b"))
    same_as_golden("review/merged-outcomes.json", [repr(report), *rows_after(ours, n)])
    assert {item.id: item.stage for item in ours.state.items.values()} == {
        "s0": "approved",
        "s1": "in review",
        "s2": "approved",
        "s3": "rejected",
    }


def test_items_and_rounds_of_both_sides_meet(tmp_path: Path):
    """Each side imports an item of one name, and has all items reviewed by two people."""
    ours, theirs = copies(project(tmp_path, tiny_records(2), people="ann bob"), tmp_path, "ab")
    same, other = tiny_records(4)[2:]
    for review, texts in ((ours, ["Ours.", "Ours."]), (theirs, ["Ours.", "Theirs."])):
        rows = [
            {**record, "english_tasks": [text, "?"]}
            for record, text in zip((same, other), texts, strict=True)
        ]
        review.import_items(RawItem(row["id"], row) for row in rows)
    for review in (ours, theirs):
        review.open_round("owner", ["ann", "bob"], share=1)
    for item in ("s0", "s1"):
        edit(theirs, "ann", item, "Ann's.")
        proposed(theirs, item, "Again?", "ann")
    edit(ours, "ann", "s0", "Ann's.")
    n = ours.state.n
    report = merge_log(ours, exported(theirs, tmp_path / "b"))
    same_as_golden("review/merged-imports.json", [repr(report), *rows_after(ours, n)])
    assert merge_log(ours, exported(theirs, tmp_path / "b")).added == 0
