"""50 people review on one PostgreSQL for a minute: how long a save takes, and whether one was lost.

Each reads an item, thinks for 2 to 6 s, and saves an edit or decision through one of two server processes, as pages do; a
server handles one save at a time. Half of the edits are of items that a colleague at the other server edits too.

Usage: python bench/review_team.py [SECONDS]   (default: 60; at most 300 ms for 95 % of the saves are allowed)
"""

import asyncio
import json
import random
import subprocess
import sys
import time
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory

from sessions import write_sessions

sys.path.append(str(Path(__file__).parents[1] / "tests" / "review"))
from postgres_server import PostgresServer

from wildtool.errors import UsageError
from wildtool_data.pointers import Change, value_at
from wildtool_review.project import EditConflict
from wildtool_review.sets import open_review, open_store, start_review

SERVERS = 2
PEOPLE = 50
ITEMS = 200
THINKING_S = (2, 6)


async def serve(place: str, server: int, seconds: float) -> dict[str, list[object]]:
    """One server with its share of the people; gives the time of each save, and what was acknowledged."""
    review = open_review(place)
    busy = asyncio.Lock()
    times: list[object] = []
    saved: list[object] = []
    refused = 0
    end = time.monotonic() + seconds

    async def person(name: str) -> None:
        nonlocal refused
        draw = random.Random(name)
        while time.monotonic() < end:
            item = f"bench_{draw.randrange(ITEMS)}"
            review.refresh()
            content, seen = review.item(item).seen_by(name)
            await asyncio.sleep(draw.uniform(*THINKING_S))
            asked = time.monotonic()
            async with busy:
                try:
                    field = next(
                        part.field for part in review.format.parts(content) if part.kind == "user text"
                    )
                    text = f"{name} at {asked}"
                    review.edit(name, item, seen, [Change(field, value_at(content, field), text)])
                    saved.append(text)
                except (EditConflict, UsageError):
                    refused += 1
            times.append(time.monotonic() - asked)

    await asyncio.gather(*(person(f"p{server}_{k}") for k in range(PEOPLE // SERVERS)))
    return {"times": times, "saved": saved, "refused": [refused]}


def main(seconds: float) -> None:
    """Prints what was measured."""
    with TemporaryDirectory() as folder, PostgresServer(durable=True) as server:
        place = server.new_database()
        data = write_sessions(Path(folder) / "made.jsonl", ITEMS)
        start_review(str(data), place)[0].close()
        words = [sys.executable, __file__, "serve", place, str(seconds)]
        servers = [subprocess.Popen([*words, str(k)], stdout=subprocess.PIPE) for k in range(SERVERS)]
        results = [json.loads(one.communicate()[0]) for one in servers]
        times = sorted(float(one) for result in results for one in result["times"])
        wanted = {text for result in results for text in result["saved"]}
        kept = {entry.after for entry in open_store(place).read() if entry.kind == "edit"}
        refused = sum(result["refused"][0] for result in results)
        entries = open_review(place).verify("the log")
        print(
            f"{PEOPLE} people, {seconds:.0f} s: {len(wanted)} saves, {refused} conflicts shown, {entries} entries"
        )
        print(f"lost: {len(wanted - kept)}")
        print(
            f"a save: median {1000 * median(times):.0f} ms, 95 % within {1000 * quantiles(times, n=20)[-1]:.0f} ms"
        )


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        print(json.dumps(asyncio.run(serve(sys.argv[2], int(sys.argv[4]), float(sys.argv[3])))))
    else:
        main(float(sys.argv[1]) if len(sys.argv) > 1 else 60)
