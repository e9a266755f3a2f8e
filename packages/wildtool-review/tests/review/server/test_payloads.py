"What pages get of a review: who sees what of a blind review at each stage, and figures of rounds."

import json
from pathlib import Path
from typing import Any

import pytest

from golden_files import same_as_golden
from review.made_sets import TEXT, decide, edit, project, tiny_records
from wildtool.stats.intervals import wilson
from wildtool_review.project import ReviewProject
from wildtool_review.server.payloads import figures_payload, item_payload


def seen_of(review: ReviewProject, acts: str) -> list[str]:
    """What each person sees of the item now, in lines."""
    lines = [f"after: {acts}"]
    for who in ("ann", "bob", "cid", "judge", "owner"):
        page = item_payload(review, "s0", who)
        entries = [f"{row['who']} {row['kind']} {row['said']}".strip() for row in page["history"]]
        shown = {name: page[name] for name in ("own_copy", "problem", "decided", "review", "conflict")}
        digests = {
            page["seen"]: "SEEN",
            **{row["version"]: "V" for row in page["history"] if "version" in row},
        }
        text = json.dumps({**shown, "history": entries}, ensure_ascii=False)
        conflict: Any = page["conflict"] or {}
        for name in ("seen", "proposal"):
            digests[conflict.get(name, "none")] = name.upper()
        for digest, label in digests.items():
            text = text.replace(digest, label)
        lines.append(f"{who}: {text}")
    return lines


def test_of_a_blind_review_each_sees_their_own_part_until_both_have_decided(tmp_path: Path):
    review = project(tmp_path, tiny_records(1), people="ann bob cid")
    review.remark("bob", "s0", "before")
    # Whoever assigns is seen to have done so, reviewer or not.
    review.add_person("owner", "ann", "owner")
    review.open_round("ann", ["ann", "bob"], share=1)
    lines = seen_of(review, "assigned")
    edit(review, "ann", "s0", "Ann's?")
    edit(review, "ann", "s0", "It is not 0.", "/english_answer_list/0/0/observation")
    decide(review, "ann", "s0")
    review.remark("cid", "s0", "between")
    lines += seen_of(review, "ann approved her edits")
    edit(review, "bob", "s0", "Bob's?")
    decide(review, "bob", "s0", "reject", "privacy")
    lines += seen_of(review, "bob rejected his")
    review.resolve("judge", "s0", review.item("s0").digest, "approve", note="fine")
    lines += seen_of(review, "the judge approved")
    edit(review, "cid", "s0", "Cid's?", TEXT)
    lines += seen_of(review, "cid edited it")
    same_as_golden("review/blind.json", lines)


@pytest.mark.parametrize(("items", "drawn"), [(1, 1), (5, 1), (6, 2), (10, 2), (11, 3)])
def test_a_round_of_a_fifth_without_errors_leaves_an_error_rate_possible(
    tmp_path: Path, items: int, drawn: int
):
    figures = figures_payload(project(tmp_path, tiny_records(items)), "owner")
    assert figures["zero_of"] == wilson(0.0, drawn)[1]


def test_figures_name_people_to_owners_alone(tmp_path: Path):
    review = project(tmp_path, [], people="ann bob")
    review.revoke_person("owner", "bob")
    pages = {who: figures_payload(review, who) for who in ("owner", "ann", "judge")}
    assert {who: page["people"] for who, page in pages.items()} == {
        "owner": ["ann", "judge"],
        "ann": [],
        "judge": [],
    }
    assert pages["owner"]["zero_of"] is None
