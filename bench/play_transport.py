"""The least that asking takes: the same requests sent by aiohttp alone, so many at once; nothing is parsed, recorded or
judged."""

import asyncio
import json
import resource
import sys
import time
from importlib import import_module
from importlib.util import find_spec
from itertools import cycle, islice
from pathlib import Path

import aiohttp


def cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


async def ask_all(bodies: list[bytes], url: str, calls: int, concurrency: int) -> None:
    left = islice(cycle(bodies), calls)
    headers = {"Content-Type": "application/json", "Authorization": "Bearer EMPTY"}
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0), cookie_jar=aiohttp.DummyCookieJar(), headers=headers
    ) as session:

        async def work() -> None:
            for body in left:
                async with session.post(url, data=body) as response:
                    assert response.status == 200
                    assert await response.read()

        await asyncio.gather(*(work() for _ in range(concurrency)))


def main(requests: str, base_url: str, concurrency: str, calls: str) -> None:
    bodies = Path(requests).read_bytes().splitlines()
    # As runs do, so that the two differ in what they do and not in the loop.
    loop_factory = import_module("uvloop").new_event_loop if find_spec("uvloop") else None
    began, cpu = time.perf_counter(), cpu_s()
    with asyncio.Runner(loop_factory=loop_factory) as runner:
        runner.run(ask_all(bodies, f"{base_url}/chat/completions", int(calls), int(concurrency)))
    figures = {"calls": int(calls), "wall_s": time.perf_counter() - began, "cpu_s": cpu_s() - cpu}
    print(json.dumps(figures))


if __name__ == "__main__":
    main(*sys.argv[1:])
