"""Small sets to review, and reviews of them."""

import json
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from wildtool.benchmarks.wildtoolbench.data import WILD_MINI_FILE
from wildtool_data.formats.base import RawItem
from wildtool_data.formats.sessions import SESSIONS
from wildtool_data.pointers import Change, value_at
from wildtool_review.project import ReviewProject
from wildtool_review.store.base import Store
from wildtool_review.store.sqlite import SqliteStore

TEXT = "/english_tasks/0"


def mini_records(number: int = 4) -> list[dict[str, Any]]:
    """The first sessions of wild-mini."""
    lines = WILD_MINI_FILE.read_text("utf-8").splitlines()[:number]
    return [json.loads(line) for line in lines]


def tiny_records(number: int) -> list[dict[str, Any]]:
    """Sessions of two chats, which are cheap to check; their types alternate."""
    return [
        {
            "id": f"s{k}",
            "english_env_info": "2024-05-05 14:29:52 Sunday",
            "english_tools": [],
            "english_tasks": [f"Tell me about number {k}.", f"And about {k + 1000}?"],
            "english_answer_list": [[answer(f"It is {k}.")], [answer(f"It is {k + 1000}.")]],
            "english_task_types": ["Chat", "Chat"],
            "english_turn_subtypes": [["Partial Information", "Coreferential Reference"][k % 2]],
        }
        for k in range(number)
    ]


def answer(text: str) -> dict[str, Any]:
    action = {"name": "prepare_to_answer", "arguments": {"answer_type": "chat"}}
    return {"idx": 0, "action": action, "observation": text, "dependency_list": []}


def ticking() -> Callable[[], str]:
    """A clock that is the same in every test: a second passes at each look."""
    ticks = count()
    return lambda: f"2026-11-22T10:{next(ticks) // 60 % 60:02}:{next(ticks) % 60:02}.000Z"


def project(path: Path, records: list[dict[str, Any]] | None = None, *, people: str = "") -> ReviewProject:
    """A review of sessions in a file.

    Args: people: names of reviewers, and an adjudicator called `judge`; empty for nobody. `owner` is the command line.
    """
    return project_in(SqliteStore(path / "set.review.sqlite"), records, people=people)


def project_in(
    store: Store, records: list[dict[str, Any]] | None = None, *, people: str = ""
) -> ReviewProject:
    made = ReviewProject.create(store, SESSIONS)
    made._clock = ticking()  # pyright: ignore[reportPrivateUsage]
    chosen = tiny_records(2) if records is None else records
    made.import_items(RawItem(record["id"], record) for record in chosen)
    if people:
        for name in people.split():
            made.add_person("owner", name, "reviewer")
        made.add_person("owner", "judge", "adjudicator")
    return made


def edit(review: ReviewProject, who: str, item: str, after: Any, field: str = TEXT) -> None:
    """Replaces a part of what a person sees."""
    content, seen = review.item(item).seen_by(who)
    review.edit(who, item, seen, [Change(field, value_at(content, field), after)])


def recheck(review: ReviewProject, who: str, item: str) -> None:
    """Checks all stale tasks again."""
    found = review.item(item)
    review.recheck(who, item, found.seen_by(who)[1], sorted(found.stale_for(who)))


def decide(review: ReviewProject, who: str, item: str, choice: Any = "approve", *reasons: str) -> None:
    """Decides on what a person sees, after checking stale tasks again."""
    if review.item(item).stale_for(who):
        recheck(review, who, item)
    review.decide(who, item, review.item(item).seen_by(who)[1], choice, reasons)
