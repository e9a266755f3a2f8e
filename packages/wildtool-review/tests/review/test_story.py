"""A whole review, act by act: its log, state, pages and release are exactly those below `golden/review`."""

import json
from pathlib import Path

import pytest

from golden_files import same_as_golden
from review.story import Story, whole_story
from wildtool.benchmarks.wildtoolbench.data import EDGE_KINDS, SUBTYPES, TASK_TYPES
from wildtool_review.files import export_log
from wildtool_review.history import REASON_CODES
from wildtool_review.log import read_log
from wildtool_review.release import write_release
from wildtool_review.state import QUEUES, STAGES


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    return whole_story(tmp_path_factory.mktemp("story"))


def test_each_act_is_logged_and_shown_as_it_was(story: Story):
    same_as_golden(
        "review/log.jsonl", b"".join(line + b"\n" for line in story.project.store.lines()).decode()
    )
    # What people may see of items at several points.
    same_as_golden("review/items.json", story.pages)
    digest, _, data = story.project.state.dump().partition(b"\n")
    rows = json.loads(data)
    same_as_golden("review/state.json", {**rows, "items": [json.dumps(row) for row in rows["items"]]})
    assert story.project.verify("story") == rows["n"]
    assert len(digest) == 64


@pytest.mark.parametrize("who", ["owner", "judge", "eve", "nobody"])
def test_the_page_of_the_review_has_numbers_of_queues_and_what_to_filter_by(story: Story, who: str):
    page = story.read(who, "review")
    roles = {"owner": "owner", "judge": "adjudicator", "eve": "reviewer", "nobody": ""}
    sees_all = who in ("owner", "judge")
    assert page.pop("reasons") == REASON_CODES
    assert [page.pop(name) for name in ("task_types", "edge_kinds", "subtypes")] == [
        list(names) for names in (TASK_TYPES, EDGE_KINDS, SUBTYPES)
    ]
    assert page == {
        "set": "story",
        "who": who,
        "role": roles[who],
        "signed_in": True,
        "benchmark": "wildtoolbench",
        "reviewers": 2,
        "total": 8,
        "queues": {
            "all": 8,
            "mine": int(who == "eve"),
            "open": 2,
            "conflicts": 0,
            "stale": 1,
            "warnings": 3,
            "graph": 2,
            "unchecked": 0,
            "audit": 6,
            "approved": 3,
        },
        "stages": {"approved": 3, "in review": 2, "generated": 1, "rejected": 2},
        "filters": {
            "type": ["Chat", "Single-Tool"],
            "subtype": ["Coreferential Reference", "First Turn", "Partial Information"],
            "domain": ["numbers"],
            "rule": ["edges", "grounding", "nodes", "text", "tools", "types"],
            "stage": list(STAGES),
            "round": [1, 2],
            "assignee": ["ann", "bob", "eve"] if sees_all else [],
        },
        "key": next(story.project.store.read()).digest,
    }


def test_queues_have_what_their_name_says_in_the_order_of_the_set(story: Story):
    shown = {queue: story.read("bob", "queue", queue=queue)["ids"] for queue in QUEUES}
    assert shown == {
        "all": ["rich", "twin", "s0", "s1", "s2", "s3", "s4", "s5"],
        "mine": ["twin", "s0"],
        "open": ["twin", "s0"],
        "conflicts": [],
        "stale": ["twin"],
        "warnings": ["rich", "twin", "s3"],
        "graph": ["rich", "twin"],
        "unchecked": [],
        "audit": ["rich", "twin", "s0", "s1", "s2", "s4"],
        "approved": ["rich", "s1", "s2"],
    }


@pytest.mark.parametrize(
    ("filters", "items"),
    [
        ({"type": "Single-Tool"}, ["rich", "twin"]),
        ({"type": "Single-Tool", "subtype": "Coreferential Reference"}, []),
        ({"type": "Chat", "subtype": "Partial Information"}, ["s0", "s2", "s4"]),
        ({"subtype": "First Turn", "domain": "numbers"}, ["rich", "twin"]),
        ({"rule": "text"}, ["s3"]),
        ({"stage": "rejected"}, ["s4", "s5"]),
        ({"assignee": "eve"}, ["twin", "s0"]),
        ({"assignee": "bob", "round": "1"}, ["rich", "s1", "s2", "s4"]),
        ({"max_confidence": "0.5"}, ["rich", "twin"]),
        ({"max_confidence": "0.49"}, []),
        ({"max_confidence": "0"}, []),
        ({"max_confidence": "", "round": "", "start": "-1", "rule": "text"}, ["s3"]),
        ({"text": "bob says"}, ["s1"]),
        ({"text": "NUMBER 5"}, ["s5"]),
        ({"text": "TWI"}, ["twin"]),
        ({"queue": "warnings", "domain": "numbers"}, ["rich", "twin"]),
    ],
)
def test_a_queue_keeps_what_a_filter_asks_for(story: Story, filters: dict[str, str], items: list[str]):
    shown = story.read("judge", "queue", **filters)
    assert (shown["total"], shown["start"], shown["ids"]) == (len(items), 0, items)
    assert [row["id"] for row in shown["items"]] == items


def test_a_row_of_a_queue_says_what_its_item_waits_for(story: Story):
    page = story.read("bob", "queue", start=1)
    assert (page["total"], page["start"], page["ids"]) == (8, 1, [])
    rows = {row["id"]: row for row in page["items"]}
    assert list(rows) == ["twin", "s0", "s1", "s2", "s3", "s4", "s5"]
    strata = [["Single-Tool", "First Turn"], ["Chat", "Coreferential Reference"]]
    assert rows["twin"] == {
        "id": "twin",
        "said": "Tell me about number 1.",
        "stage": "in review",
        "strata": strata,
        "domain": "numbers",
        "confidence": 0.5,
        "warnings": ["tools", "nodes", "types", "grounding", "edges"],
        "errors": 8,
        "stale": 2,
        "conflicts": [],
        "mine": True,
        "round": 2,
    }
    assert [(row["mine"], row["round"], row["stale"]) for row in rows.values()][1:] == [
        (True, 2, 0), *[(False, 0, 0)] * 5
    ]  # fmt: skip


def test_figures_are_those_of_the_rounds(story: Story):
    same_as_golden("review/figures.json", story.read("owner", "figures", max_error="0.25"))
    assert story.read("judge", "figures")["people"] == []


def test_a_release_has_data_provenance_preferences_and_a_card(story: Story, tmp_path: Path):
    manifest = write_release(story.project, tmp_path / "out", allow_findings=True)
    assert manifest == json.loads((tmp_path / "out" / "manifest.json").read_bytes())
    files = sorted(path for path in (tmp_path / "out").rglob("*") if path.is_file())
    same_as_golden(
        "review/release.txt", "".join(f"== {file.name}\n{file.read_text('utf-8')}" for file in files)
    )


def test_a_log_to_be_published_has_pseudonyms_and_no_remarks(story: Story, tmp_path: Path):
    file = tmp_path / "log.jsonl"
    assert export_log(story.project.store, file, anonymous=True) == story.project.state.n
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert [row["digest"] for row in rows] == [entry.digest for entry in read_log(file)]
    assert {name for row in rows for name in row} & {"note", "origin"} == set()
    named = [row for row in rows if row["kind"] in ("person", "round opened", "assign")]
    pair, other = ["person 1", "person 3"], ["person 4", "person 3"]
    rounds = [
        {"seed": "1", "share": 0.5, "items": ["s2", "s1", "s4", "rich"], "people": pair, "pairs": [pair]},
        {
            "seed": "7",
            "share": 0.4,
            "items": ["twin", "s0"],
            "people": ["person 4", "person 1", "person 3"],
            "pairs": [other],
        },
    ]
    assert [(row["who"], row.get("field"), row["after"]) for row in named] == [
        ("person 2", "person 1", {"role": "reviewer"}),
        ("person 2", "person 3", {"role": "reviewer"}),
        ("person 2", "person 4", {"role": "reviewer"}),
        ("person 2", "person 5", {"role": "adjudicator"}),
        ("person 2", None, {**rounds[0], "fresh": False}),
        *[("person 2", None, pair)] * 4,
        ("person 2", None, {**rounds[1], "fresh": False}),
        *[("person 2", None, other)] * 2,
    ]
    people = {entry.n: (entry.who, entry.branch) for entry in story.project.store.read()}
    pseudonyms = {"": "", "import": "import", "rules": "rules"}
    pseudonyms |= {name: f"person {n}" for n, name in enumerate(("ann", "owner", "bob", "eve", "judge"), 1)}
    assert [(row["who"], row.get("branch", "")) for row in rows] == [
        (pseudonyms[who], pseudonyms[branch]) for who, branch in people.values()
    ]
