"""Tasks made again at the push of a button: a process of its own, one for an item and person, and what it says."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from review.made_sets import edit, mini_records, project
from review.server.served import served
from wildtool.errors import UsageError
from wildtool_review.server.regeneration import MOST_AT_ONCE, Regeneration, RegenerationState

WAITING = "import signal; signal.pause()"


@contextmanager
def running(script: str) -> Iterator[Regeneration]:
    made = Regeneration("gpt", [sys.executable, "-c", script], "-set.review.sqlite")
    try:
        yield made
    finally:
        made.close()


def ended(made: Regeneration, item: str, who: str) -> RegenerationState:
    made._jobs[item, who].process.wait(30)  # pyright: ignore[reportPrivateUsage]
    return made.state(item, who)


def test_an_item_is_made_once_at_a_time_for_a_person_and_few_at_once():
    with running(WAITING) as made:
        made.start("s0", "ann", 1, keep_texts=False)
        assert made.state("s0", "ann").running
        assert not made.state("s0", "bob").running
        with pytest.raises(UsageError, match="being made again"):
            made.start("s0", "ann", 1, keep_texts=False)
        for k in range(1, MOST_AT_ONCE):
            made.start(f"s{k}", "ann", 1, keep_texts=False)
        with pytest.raises(UsageError, match="wait for one of them"):
            made.start("s9", "ann", 1, keep_texts=False)
    assert not made.state("s0", "ann").running


def test_the_process_is_given_item_person_and_first_task_and_its_last_words_are_the_problem():
    with running("import sys; sys.exit(repr(sys.argv[1:]))") as made:
        made.start("-s 0", "ann", 1, keep_texts=True)
        words = ["--item=-s 0", "--as=ann", "--from=2", "--keep-texts", "--", "-set.review.sqlite"]
        assert ended(made, "-s 0", "ann") == RegenerationState(False, repr(words))
        made.start("s0", "ann", None, keep_texts=False)
        assert ended(made, "s0", "ann").problem == repr(["--item=s0", "--as=ann", *words[-2:]])
        made.start("s0", "ann", 1, keep_texts=False, call=0, earlier=1)
        asked = ["--item=s0", "--as=ann", "--from=2", "--call=0", "--seed=2", *words[-2:]]
        assert ended(made, "s0", "ann").problem == repr(asked)
    with running("print('fine')") as made:
        made.start("s0", "ann", 0, keep_texts=False)
        assert ended(made, "s0", "ann") == RegenerationState(False)


def test_an_id_that_cannot_be_an_argument_is_refused():
    with running(WAITING) as made, pytest.raises(UsageError, match="cannot start"):
        made.start("s\0", "ann", 0, keep_texts=False)


def test_why_an_item_has_no_new_proposal_is_said_though_nothing_failed():
    with running("import sys; print('saved\\nleft out s0: as it was', file=sys.stderr)") as made:
        made.start("s0", "ann", 0, keep_texts=False)
        assert ended(made, "s0", "ann") == RegenerationState(False, "left out s0: as it was")


async def test_the_page_asks_for_it_and_sees_that_it_runs(tmp_path: Path):
    review = project(tmp_path, mini_records(1), people="ann bob")
    with running(WAITING) as made:
        async with served(review, alone="ann", regeneration=made) as pages:
            item = await pages.item("wild_mini_0")
            assert item["regeneration"] == {"model": "gpt", "running": False, "problem": ""}
            body = {"id": "wild_mini_0", "seen": item["seen"], "first": 1}
            assert (await (await pages.post("regenerate", **body)).json())["regeneration"]["running"]
            assert (await pages.post("regenerate", **body)).status == 422
            state = await (await pages.get("regeneration", id="wild_mini_0")).json()
            assert state["running"]
            assert (await pages.post("regenerate", **{**body, "seen": "old"})).status == 409
            edit(review, "ann", "wild_mini_0", "Edited?")
            review.open_round("owner", ["bob"], share=1, reviewers=1)
            now = (await pages.item("wild_mini_0"))["seen"]
            refused = await pages.post("regenerate", **{**body, "seen": now})
            assert "is under review by others" in json.dumps(await refused.json())
    async with served(project(tmp_path, []), alone="owner") as pages:
        seen = (await pages.item("wild_mini_0"))["seen"]
        refused = await pages.post("regenerate", id="wild_mini_0", seen=seen)
        assert (refused.status, "--model" in (await refused.json())["problem"]) == (422, True)
