"""The baseline: asks the same requests with the openai SDK, so many at once; records and judges nothing."""

import asyncio
import json
import resource
import sys
import time
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from openai import AsyncOpenAI


def cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def peak_mb() -> float:
    """As in play_ours.py, which this cannot import: it runs where wildtool is not installed."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    line = next(line for line in status.read_text("utf-8").splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


async def ask_all(bodies: list[dict[str, Any]], base_url: str, calls: int, concurrency: int) -> None:
    client = AsyncOpenAI(base_url=base_url, api_key="EMPTY", max_retries=0, timeout=600)
    left = islice(cycle(bodies), calls)

    async def work() -> None:
        for body in left:
            answer = await client.chat.completions.create(model="loopback", **body)
            assert answer.choices[0].message is not None

    await asyncio.gather(*(work() for _ in range(concurrency)))
    await client.close()


def main(requests: str, base_url: str, concurrency: str, calls: str) -> None:
    bodies = [json.loads(line) for line in Path(requests).read_text("utf-8").splitlines()]
    # Counted from here on: loading the requests is not the SDK's work.
    began, cpu = time.perf_counter(), cpu_s()
    asyncio.run(ask_all(bodies, base_url, int(calls), int(concurrency)))
    figures = {"calls": int(calls), "wall_s": time.perf_counter() - began, "cpu_s": cpu_s() - cpu}
    print(json.dumps(figures | {"peak_mb": peak_mb()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
