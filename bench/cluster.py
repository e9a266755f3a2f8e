"""Four workers on a real Ray cluster of four nodes of this machine, meeting in a bucket of a real S3 server on loopback,
beside one process with as many calls at once: how near each comes to the ideal, and whether the verdicts are equal.

    python bench/cluster.py [--sessions 2000] [--delay-ms 200] [--at-once 400] [--nodes 4]

Ideal is calls × latency / calls at once. The time is that from the first request to the last reply in the record: that of
a run, without the start of its processes, which is printed beside it. Four workers, the one server that they ask, and the
store share this machine's cores, so a figure says something only where these suffice: the script prints how much of them
was idle. Needs `pip install 'wildtool[ray,store]' 'moto[server]'`; alone, not in `all.py`.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from loopback import ROOT, serving
from measure import machine, run_child
from sessions import write_gold, write_sessions
from wildtool.engine.record.format import find_segments

sys.path.append(str(ROOT / "tests"))
from e2e.command import verdicts
from faults.clusters import MOTO_SERVER, ray_cluster, s3_server

WILDTOOL = Path(sys.executable).with_name("wildtool")
ADDRESS = "s3://runs/bench/cluster"


def steps(run: Path) -> Iterator[tuple[float, float]]:
    """When each request of a record left, and when its reply was there, in seconds."""
    for segment in find_segments(run):
        for line in segment.path.open("rb"):
            row = json.loads(line)
            if row["row"] == "step":
                yield row["time"] - row["latency_s"], row["time"]


def idle_s() -> float:
    """Seconds for which the cores did nothing since the machine was started."""
    return int(Path("/proc/stat").read_text().split()[4]) / os.sysconf("SC_CLK_TCK")


def played(words: list[object], run: Path, ideal_s: float) -> dict[str, Any]:
    """The figures of a command that leaves its record in a folder."""
    began, idle = time.monotonic(), idle_s()
    ended = run_child([WILDTOOL, *map(str, words)])
    idle_share = (idle_s() - idle) / (time.monotonic() - began) / (os.cpu_count() or 1)
    sent, received = zip(*steps(run), strict=True)
    seconds = max(received) - min(sent)
    return {
        "calls": len(sent),
        "seconds": seconds,
        "share_of_ideal": ideal_s / seconds,
        "command_s": ended.wall_s,
        "idle_cores": idle_share,
    }


def main(sessions: int, delay_ms: float, at_once: int, nodes: int) -> None:
    """Prints the figures of both and their ratio."""
    if MOTO_SERVER is None:
        sys.exit("there is no moto_server: pip install 'moto[server]', or name it by WILDTOOL_MOTO_SERVER")
    print(machine())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["WILDTOOL_CACHE_DIR"] = str(folder / "copies")
        data = write_sessions(folder / "sessions.jsonl", sessions)
        calls = write_gold(data, folder / "gold.json")
        ideal_s = calls * delay_ms / 1000 / at_once
        print(
            f"{sessions:,} sessions, {calls:,} calls at {delay_ms:g} ms, {at_once} at once: ideal {ideal_s:.1f} s"
        )
        with serving(f"gold:{folder / 'gold.json'}", delay_ms) as url:
            words = ["run", "wildtoolbench", "--data", data, "--model", "m", "--base-url", url, "--quiet"]
            alone = [*words, "--concurrency", at_once, "--out", folder / "alone"]
            one = played(alone, folder / "alone", ideal_s)
            print(f"one process: {json.dumps(one)}")
            with s3_server() as environment, ray_cluster(nodes, environment) as cluster:
                os.environ |= {**environment, "RAY_ADDRESS": cluster.address}
                copy = folder / "copies" / "runs" / "s3" / "runs" / "bench" / "cluster"
                shared = [*words, "--concurrency", at_once // nodes, "--out", ADDRESS]
                many = played([*shared, "--on", f"ray,workers={nodes}"], copy, ideal_s)
                print(f"Ray, {nodes} nodes: {json.dumps(many)}")
        assert one["calls"] == many["calls"] == calls, "something was asked twice"
        assert verdicts(folder / "alone") == verdicts(copy), "the verdicts differ"
    print(
        f"verdicts equal row for row; Ray to one process: {one['seconds'] / many['seconds']:.1%}; "
        f"Ray to the ideal: {many['share_of_ideal']:.1%}; one process to the ideal: {one['share_of_ideal']:.1%}"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--sessions", type=int, default=2_000)
    parser.add_argument("--delay-ms", type=float, default=200)
    parser.add_argument("--at-once", type=int, default=400)
    parser.add_argument("--nodes", type=int, default=4)
    options = parser.parse_args()
    main(options.sessions, options.delay_ms, options.at_once, options.nodes)
