"""User texts that are nearly the same as another item's are findings, and follow every edit of either."""

from pathlib import Path
from typing import Any

from aiohttp.test_utils import TestClient, TestServer

from review.made_sets import TEXT, decide, edit, project, tiny_records
from review.server.served import Pages
from wildtool.report.server.access import AccessPolicy
from wildtool_review.project import ReviewProject
from wildtool_review.server.app import ReviewApp, review_application
from wildtool_review.server.checks import SimilarTexts
from wildtool_review.server.sign_in import SignIn

TEXTS = (
    "Book a table for two at the harbour restaurant tonight.",
    "What is the weather in Lisbon going to be at the weekend?",
    "Please convert ninety dollars into Swiss francs for me.",
)


def records() -> list[dict[str, Any]]:
    """Three sessions of texts that differ, also within a session."""
    made = tiny_records(len(TEXTS))
    for record, text in zip(made, TEXTS, strict=True):
        record["english_tasks"] = [text, f"And later: {text[::-1]}"]
    return made


def near(
    review: ReviewProject, similar: SimilarTexts, item: str, who: str = "owner"
) -> list[tuple[str, str]]:
    found = similar.findings(item, review.item(item).seen_by(who)[0])
    assert all((one.rule, one.level) == ("duplicate", "warning") for one in found)
    return [(one.field, one.message) for one in found]


def read(review: ReviewProject) -> SimilarTexts:
    similar = SimilarTexts(review)
    while similar.read_some(0.0):
        pass
    return similar


def test_a_text_like_another_item_s_is_found_from_both_sides(tmp_path: Path):
    review = project(tmp_path, records())
    similar = read(review)
    assert [near(review, similar, item) for item in review.state.items] == [[], [], []]
    edit(review, "owner", "s1", f"{TEXTS[0].upper()}!", "/english_tasks/1")
    assert near(review, similar, "s0") == [(TEXT, "99 % like the user text of task 2 in s1")]
    assert near(review, similar, "s1") == [("/english_tasks/1", "99 % like the user text of task 1 in s0")]
    assert near(review, similar, "s2") == []


def test_what_was_said_before_an_edit_does_not_count(tmp_path: Path):
    review = project(tmp_path, records())
    edit(review, "owner", "s1", TEXTS[0])
    similar = read(review)
    assert near(review, similar, "s0")
    edit(review, "owner", "s1", "Something else entirely, about trains.")
    assert near(review, similar, "s0") == []
    # A third item that is near is found behind the text that is gone.
    edit(review, "owner", "s2", TEXTS[0])
    assert near(review, similar, "s0") == [(TEXT, "100 % like the user text of task 1 in s2")]


def test_a_copy_under_review_is_compared_for_its_reviewer_and_shown_to_nobody_else(tmp_path: Path):
    review = project(tmp_path, records(), people="ann bob")
    review.open_round("owner", ["ann", "bob"], share=1)
    similar = read(review)
    edit(review, "ann", "s1", TEXTS[0])
    assert near(review, similar, "s1", "ann") == [(TEXT, "100 % like the user text of task 1 in s0")]
    assert near(review, similar, "s1", "bob") == []
    assert near(review, similar, "s0", "bob") == []
    edit(review, "bob", "s1", TEXTS[0])
    decide(review, "ann", "s1")
    decide(review, "bob", "s1")
    assert near(review, similar, "s0", "bob") == [(TEXT, "100 % like the user text of task 1 in s1")]


async def test_the_page_shows_them_among_the_findings_after_a_save(tmp_path: Path):
    own = records()
    own[1]["made_by"] = {"candidates": [["About trains.", {"text": TEXTS[0], "plan": "one call"}, ""]]}
    review = project(tmp_path, own)
    app = ReviewApp(review, "set", SignIn("owner"), on_progress=lambda now: None)
    made = review_application(app, AccessPolicy("127.0.0.1", remote=False, writes=True))
    async with TestClient(TestServer(made)) as client:
        pages = Pages(client)
        assert app.checks
        await app.checks._task  # pyright: ignore[reportPrivateUsage]
        saved = await (await pages.edit("s1", TEXT, text=TEXTS[0])).json()
        (found,) = [one for one in saved["findings"] if one["rule"] == "duplicate"]
        assert (found.keys(), found["severity"]) == ({"rule", "field", "message", "severity"}, "warning")
        assert (found["field"], found["message"]) == (TEXT, "100 % like the user text of task 1 in s0")
        assert [one["about"] for one in saved["tasks"][0]["candidates"]] == [
            {}, {"plan": "one call", "similar": "100 % like the user text of task 1 in s0"}, {}
        ]  # fmt: skip
        again = await (await pages.edit("s1", TEXT, text=TEXTS[1])).json()
        assert [one for one in again["findings"] if one["rule"] == "duplicate"] == []
    # They are no part of the log: what is nearly the same changes with other items.
    assert "duplicate" not in str([entry.after for entry in project(tmp_path, []).store.read()])
