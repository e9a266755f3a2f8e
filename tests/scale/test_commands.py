"""`wildtool worker` and the places of `--on`: what is started with which settings, what is printed, and how each ends."""

import asyncio
import signal
from typing import Any

import pytest

from wildtool.scale import commands

# A worker -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_work_of_a_worker(sent: signal.Signals):
    ended: list[str] = []

    class Player:
        async def work(self) -> None:
            try:
                asyncio.get_running_loop().call_soon(signal.raise_signal, sent)
                await asyncio.Event().wait()
            finally:
                ended.append("gave up its shards")

    player: Any = Player()
    assert asyncio.run(commands._until_stopped(player)) is None  # pyright: ignore[reportPrivateUsage]
    assert ended == ["gave up its shards"]
