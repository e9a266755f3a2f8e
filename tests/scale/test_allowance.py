"""What a worker may still spend once the command that divides the limits was killed, or started again."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from wildtool.engine.call.client import Invocation
from wildtool.errors import LimitError
from wildtool.scale.allowance import (
    ALLOTMENTS_KEY,
    AllottedBudget,
    Allowance,
)
from wildtool.scale.claims import EXPIRY_S, worker_key
from wildtool.scale.job import SharedJob
from wildtool.scale.store import FolderStore

JOB = SharedJob(
    benchmark="wild-mini",
    model="baseline/gold",
    options={"max_cost": 10.0},
    explicit=["max_cost"],
    original_prompts=False,
    items=4,
    share_items=1,
    workers=1,
    controlled=True,
    sitting=1,
)


class Helper:
    """A worker of one start of the command, in a folder."""

    def __init__(
        self,
        folder: Path,
        sitting: int,
        name: str = "helper",
        *,
        controlled: bool = True,
        workers: int = 1,
        spent: Any = None,
        **options: Any,
    ) -> None:
        options = {name: value for name, value in {"max_cost": 10.0, **options}.items() if value is not None}
        job = replace(
            JOB, sitting=sitting, controlled=controlled, workers=workers, options=options, spent=spent or {}
        )
        self.store = FolderStore(folder)
        self.store.put(worker_key(name), b"{}")
        self.budget = AllottedBudget(job)
        self.allowance = Allowance(job, name, job.plan()[0], Invocation(self.budget), self.budget)

    def allot(self, sitting: int, workers: dict[str, Any]) -> None:
        content = {"sitting": sitting, "version": 1, "stopped": None, "remaining_s": None, "workers": workers}
        self.store.put(ALLOTMENTS_KEY, json.dumps(content).encode())

    def report(self) -> None:
        self.allowance.read(self.store, self.allowance.report())
        self.allowance.apply()


async def test_what_an_earlier_start_gave_is_not_spent_in_a_later_one(tmp_path: Path):
    helper = Helper(tmp_path, sitting=1)
    helper.allot(1, {"helper": {"cost": 5.0, "rate": 1.0}})
    helper.report()
    await helper.allowance.room()
    helper.allot(2, {"other": {"cost": 10.0, "rate": 1.0}})
    helper.report()
    with pytest.raises(LimitError, match="started again; start this worker again"):
        await helper.allowance.room()


async def test_a_worker_that_was_given_nothing_stops_where_its_command_is_silent(tmp_path: Path):
    helper = Helper(tmp_path, sitting=2)
    helper.allot(1, {})
    helper.report()
    assert helper.budget.stopped is None
    later = (tmp_path / ALLOTMENTS_KEY).stat().st_mtime + EXPIRY_S + 1
    os.utime(tmp_path / worker_key("helper"), (later, later))
    helper.report()
    with pytest.raises(LimitError, match="does not answer"):
        await helper.allowance.room()


@pytest.mark.parametrize("damaged", [b"[]", b'{"sitting": ', b'"text"'])
async def test_damaged_allotments_give_nothing_and_end_no_worker(tmp_path: Path, damaged: bytes):
    helper = Helper(tmp_path, sitting=1)
    helper.store.put(ALLOTMENTS_KEY, damaged)
    helper.report()
    assert helper.budget.stopped is None
    helper.allot(1, {"helper": {"cost": 5.0, "rate": 1.0}})
    helper.report()
    await helper.allowance.room()


# Parts of limits, without a controller ----------------------------------------------------------------


async def test_who_takes_over_the_part_of_a_dead_worker_has_what_that_one_left(tmp_path: Path):
    dead = Helper(tmp_path, 1, "dead", controlled=False)
    dead.report()
    dead.budget.spent.cost, dead.budget.spent.completion_tokens = 7.0, 70
    dead.report()
    place = tmp_path / "parts" / "0001"
    past = (place / "worker" / "dead").stat().st_mtime - EXPIRY_S - 5
    os.utime(place / "worker" / "dead", (past, past))
    heir = Helper(tmp_path, 1, "heir", controlled=False)
    heir.report()
    assert heir.allowance.report()["spent"] == {"cost": 7.0, "tokens": 70.0}
    heir.budget.spent.cost = 2.9
    await heir.allowance.room()
    heir.budget.spent.cost = 3.0
    with pytest.raises(LimitError, match="leaves no room"):
        await heir.allowance.room()
