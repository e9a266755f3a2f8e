"""The baseline of random_429.py: the openai SDK with its own retries; records and judges nothing."""

import asyncio
import json
import sys
import time

from openai import AsyncOpenAI

MOST_RETRIES = 50
"""So that no call is lost, as none of ours is; the SDK's own number is 2."""


async def ask_all(base_url: str, calls: int, at_once: int) -> None:
    places = asyncio.Semaphore(at_once)
    async with AsyncOpenAI(base_url=base_url, api_key="EMPTY", max_retries=MOST_RETRIES) as client:

        async def ask() -> None:
            async with places:
                message = {"role": "user", "content": "x"}
                await client.chat.completions.create(model="loopback", messages=[message])

        await asyncio.gather(*(ask() for _ in range(calls)))


def main(base_url: str, calls: str, at_once: str) -> None:
    began = time.perf_counter()
    asyncio.run(ask_all(base_url, int(calls), int(at_once)))
    print(json.dumps({"wall_s": time.perf_counter() - began}))


if __name__ == "__main__":
    main(*sys.argv[1:])
