"""Sets up what a run needs whose models are asked by batches."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from wildtool.engine.attempts import Patience
from wildtool.engine.batch_journal import BatchJournal
from wildtool.engine.batch_sender import BatchSender
from wildtool.engine.lane import Lane
from wildtool.engine.observer import Observer
from wildtool.engine.plan import Plan
from wildtool.engine.rounds import Rounds
from wildtool.engine.writer import RecordWriter
from wildtool.models.batching import batching_of
from wildtool.types import Request


class Batching:
    """The rounds of a run, with a lane for each role that is asked by batches."""

    def __init__(
        self, plan: Plan, folder: Path, writer: RecordWriter, observer: Observer, patience: Patience
    ) -> None:
        """Raises RecordError where the journal of earlier batches is damaged."""
        journal = BatchJournal(folder)
        self._models = {role: plan.models[role] for role in sorted(plan.batched & plan.models.keys())}
        self._lanes = {role: Lane(role, journal, folder) for role in self._models}

        async def sync() -> None:
            await asyncio.to_thread(writer.sync)

        senders = [
            BatchSender(
                lane,
                folder,
                patience,
                on_retry=observer.call_retried,
                on_state=lambda: self.rounds.tell(),
            )
            for lane in self._lanes.values()
        ]
        self.rounds = Rounds(list(self._lanes.values()), senders, sync, observer.batch_changed)

    def serve(self, role: str, reserved: Callable[[Request], AbstractContextManager[None]]) -> None:
        """Lets a role's model send by its lane. Args: reserved: see `Lane.serve`."""
        model = batching_of(self._models[role])
        assert model is not None, "the plan is checked for this"
        lane = self._lanes[role]
        lane.serve(model.by_batches(lane.send), reserved, self.rounds.parked)
