"""One review in which everything happens that can: the example of the tests that compare whole logs, pages and releases.

It is played through the operations of its pages, by an owner, three reviewers and an adjudicator.
"""

import json
from pathlib import Path
from typing import Any

from review.made_sets import TEXT, ticking, tiny_records
from review.planted import LOOK_UP, call, last, sound
from wildtool_data.formats.base import RawItem
from wildtool_data.formats.sessions import SESSIONS
from wildtool_data.pointers import Change
from wildtool_review.project import ReviewProject
from wildtool_review.proposed import propose
from wildtool_review.server.operations import READS, WRITES, ReviewService
from wildtool_review.store.base import Store
from wildtool_review.store.sqlite import SqliteStore

SECOND = "/english_tasks/1"
STEPS = "/english_answer_list/0"


def rich_record(name: str, lang: str) -> dict[str, Any]:
    """A session with all that a page can show of one."""
    record = sound(1)
    plan = {"plan": "Look both up."}
    kinds = {"0": "argument", "1": "because"}
    chosen = {**call(2, 3, 0, 1), "alternatives": {"n": [4, "x"]}, "dependency_kinds": kinds, **plan}
    parameters: dict[str, Any] = {
        "type": "object",
        "properties": {"unit": {"type": "string", "description": "Of what.", "enum": ["day", 7]}, "much": {}},
        "required": ["unit"],
    }
    function = {"name": "convert", "description": "Converts.", "parameters": parameters}
    maker = {
        "models": {"user": "gpt", "tools": "qwen"},
        "candidates": [["One?", {"text": "Two?", "difficulty": 3}], [{"difficulty": 1}, 7]],
        "votes": [{"valid": True}, {"valid": True}, {"valid": False}, {"valid": "yes"}],
        "review": [{"confidence": 0.75}, {"confidence": 1}, {"confidence": "sure"}, {}],
        "twin": "t",
        "lang": lang,
    }
    return {
        **record,
        "id": name,
        "domain": "numbers",
        "english_tools": [LOOK_UP, {"type": "function", "function": function}],
        "english_answer_list": [
            [call(0, 1), call(1, 2), chosen, last(3, "Number 1 is odd.")],
            record["english_answer_list"][1],
        ],
        "made_by": maker,
    }


def story_records() -> list[dict[str, Any]]:
    """Two rich sessions that are twins, and six of two chats; of `s3` a text is missing."""
    plain = tiny_records(6)
    plain[3]["english_tasks"][1] = " "
    return [rich_record("rich", "en"), rich_record("twin", "zh"), *plain]


class Story:
    """A review of which each act is an operation of its pages. A second passes at each look at its clock."""

    def __init__(self, store: Store) -> None:
        self.project = ReviewProject.create(store, SESSIONS)
        self.project._clock = ticking()  # pyright: ignore[reportPrivateUsage]
        self.project.import_items((RawItem(row["id"], row) for row in story_records()), "the set")
        list(self.project.check_items())
        self.service = ReviewService(self.project, "story", signs_in=True)
        self.pages: dict[str, Any] = {}
        """What pages of items received at some points, by point and person."""

    def read(self, who: str, what: str, **body: Any) -> Any:
        """What a page receives, as a browser reads it."""
        return json.loads(json.dumps(READS[what](self.service, who, body)))

    def write(self, who: str, what: str, item: str = "", **body: Any) -> Any:
        """What a page receives after an act on what the person sees."""
        seen = {"id": item, "seen": self.project.item(item).seen_by(who)[1]} if item else {}
        return json.loads(json.dumps(WRITES[what](self.service, who, {**seen, **body})))

    def keep(self, point: str, item: str, *people: str) -> None:
        """Keeps what the page of an item receives now."""
        self.pages |= {f"{point}, {who}": self.read(who, "item", id=item) for who in people}

    def proposed(self, who: str, item: str, texts: dict[int, str], model: str) -> str:
        """Proposes texts of tasks; returns the name of the proposal."""
        content, seen = self.project.item(item).seen_by(who)
        changes = [
            Change(f"/english_tasks/{task}", content["english_tasks"][task], text)
            for task, text in texts.items()
        ]
        assert propose(self.project, who, item, seen, changes, model, f"by {model}")
        return self.project.item(item).proposals_for(who)[-1].content


def beginning(store: Store) -> Story:
    """The set, checked by the rules, and its people."""
    story = Story(store)
    for name, role in (
        ("ann", "reviewer"),
        ("bob", "reviewer"),
        ("eve", "reviewer"),
        ("judge", "adjudicator"),
    ):
        story.project.add_person("owner", name, role)
    return story


def owners_part(story: Story) -> None:
    """What an owner does alone, without a round."""
    write = story.write
    first = story.project.item("rich").digest
    write("owner", "edit", "rich", field=TEXT, text="Tell me of number 1.", note="shorter")
    write("owner", "recheck", "twin", tasks=[1, 0, 0, "x"], note="looked")
    write("owner", "choose", "rich", field=TEXT, text="Two?", candidate=1)
    write("owner", "choose", "rich", field=TEXT, text="One and two?", candidate=None, note="of both")
    write("owner", "edge", "rich", field=f"{STEPS}/2", source=1, needed=True, kind="control")
    write("owner", "edge", "rich", field=f"{STEPS}/3", source=0)
    write("owner", "alternative", "rich", field=f"{STEPS}/1/action/arguments/n", json="5")
    write("owner", "alternative", "rich", field=f"{STEPS}/2/action/arguments/n", index=1)
    write("owner", "steps", "rich", field=STEPS, index=1, add="convert", note="one more")
    write("owner", "steps", "rich", field=STEPS, index=1)
    names = [
        story.proposed("owner", "rich", {0: f"A {model}?", 1: f"B {model}?"}, model)
        for model in ("gpt", "qwen")
    ]
    story.keep("with proposals", "rich", "owner")
    write("owner", "proposal", "rich", proposal=names[0], note="no")
    write("owner", "proposal", "rich", choices={SECOND: names[1]}, note="its second")
    again = story.proposed("owner", "rich", {1: "B again?"}, "gpt")
    write("owner", "proposal", "rich", proposal=again, take=True)
    write("owner", "remark", "rich", field=TEXT, note="as a question?")
    write("owner", "restore", "rich", version=first, note="back")
    write("owner", "recheck", "rich", tasks=[1])
    write("owner", "edit", "rich", field=SECOND, text="How do I remember it?")
    write("owner", "decide", "rich", choice="approve", despite=True, note="good")
    write("owner", "edit", "s5", field="/note", json='{"a": 1}')
    write("owner", "edit", "s5", field="/note", remove=True)
    write("owner", "decide", "s5", choice="reject", reasons=["privacy", "type"], note="no good")


def first_round(story: Story) -> None:
    """Half of the items by pairs: agreement, equal edits, different edits, a discussion, and what an adjudicator does."""
    write = story.write
    write("owner", "open-round", people=["ann", "bob", "ann"], share=0.5, seed="")
    pairs = story.project.state.rounds[0].items
    equal, different, split, quiet = pairs
    for who in ("ann", "bob"):
        write(who, "edit", equal, field=TEXT, text="The same?")
        write(who, "edit", different, field=TEXT, text=f"As {who} says.")
        write(who, "recheck", different, tasks=[1])
        write(who, "recheck", equal, tasks=[1])
        write(who, "decide", equal, choice="approve", despite=True, note=f"{who} agrees")
        write(who, "decide", different, choice="approve", despite=True)
        write(who, "decide", quiet, choice="approve", despite=True)
    write("ann", "decide", split, choice="reject", reasons=["call"])
    write("bob", "decide", split, choice="discuss", note="is it one?")
    story.keep("in conflict", different, "judge", "ann", "eve")
    story.keep("in discussion", split, "judge", "bob")
    clash = story.read("judge", "item", id=different)["conflict"]
    write(
        "judge",
        "resolve",
        different,
        proposal=clash["proposal"],
        take=[1, 1, 2, -1, True],
        choice="approve",
        despite=True,
        note="Bob's",
    )
    clash = story.read("judge", "item", id=split)["conflict"]
    write("judge", "resolve", split, proposal=clash["proposal"], choice="reject", reasons=["call", "end"])
    write("owner", "close-round", round=1, note="done")


def second_round(story: Story) -> None:
    """A round that stays open: one item waits for one person, one for an adjudicator, one for both."""
    write = story.write
    write("owner", "open-round", people=["eve", "ann", "bob"], share=0.4, seed="7")
    waiting, clashing, *_ = story.project.state.rounds[1].items
    write("eve", "edit", waiting, field=TEXT, text="As eve says.")
    write("eve", "recheck", waiting, tasks=[0, 1])
    write("eve", "remark", waiting, note="for all")
    write("eve", "decide", waiting, choice="approve", despite=True, note="mine")
    for who, field in (("eve", TEXT), ("ann", SECOND), ("ann", TEXT)):
        if who in story.project.item(clashing).passes[-1].people:
            write(who, "edit", clashing, field=field, text=f"{who} of {field[-1]}.")
    story.keep("decided by eve", waiting, "eve", "bob", "ann", "judge")
    story.keep("ended", story.project.state.rounds[0].items[1], "eve")


def whole_story(path: Path) -> Story:
    """A review in a file of a folder, in the middle of its second round."""
    story = beginning(SqliteStore(path / "story.review.sqlite"))
    owners_part(story)
    first_round(story)
    second_round(story)
    return story
