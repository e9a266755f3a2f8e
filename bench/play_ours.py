"""Plays sessions against a server with everything recorded and judged, as `wildtool run` does; prints figures."""

import gc
import json
import resource
import sys
import time
from pathlib import Path

from wildtool.benchmarks.wildtoolbench import WILDTOOLBENCH
from wildtool.engine.call.budget import Budget, SpendingLimits
from wildtool.engine.call.cache import ReplyCache
from wildtool.engine.call.client import Invocation
from wildtool.engine.plan import Plan
from wildtool.engine.run.runner import run_plan
from wildtool.models.providers.openai_chat import OpenAIModel
from wildtool.models.settings import Rates
from wildtool.models.token_usage import Price


def peak_mb() -> float:
    """Most memory this process ever held. Not `ru_maxrss`, in which the parent's size before exec counts too."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    line = next(line for line in status.read_text("utf-8").splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


ABUNDANT = 1e12
"""A limit that is watched and never reached."""


def main(sessions: str, base_url: str, concurrency: str, out: str, limited: str = "") -> None:
    """Args: limited: `limits` watches all limits, `cache` keeps replies, `limits+cache` does both."""
    watched = "limits" in limited
    budget = Budget(
        SpendingLimits(max_cost=ABUNDANT, max_tokens_total=int(ABUNDANT), deadline_s=1e6) if watched else None
    )
    cache = ReplyCache(Path(out).with_name("cache")) if "cache" in limited else None
    plan = Plan(
        benchmark=WILDTOOLBENCH,
        source=WILDTOOLBENCH.data.locate(sessions),
        models={"agent": OpenAIModel("loopback", base_url, "EMPTY")},
        profile="official",
        concurrency=int(concurrency),
        rates={"agent": Rates(rpm=ABUNDANT, tpm=ABUNDANT)} if watched else {},
        prices={"agent": Price(input=1.0, output=2.0)},
    )
    gc.set_threshold(10_000, 10, 10)  # as the command sets it
    began = time.perf_counter()
    result = run_plan(plan, Path(out), command=["bench"], invocation=Invocation(budget, cache))
    if cache is not None:
        cache.flush()
    wall = time.perf_counter() - began
    assert not result.counts.infra_error
    assert not result.faults
    if cache is not None:
        cache.close()
    usage = resource.getrusage(resource.RUSAGE_SELF)
    figures = {
        "calls": result.calls + result.cached,
        "correct": result.counts.correct,
        "units": result.counts.units,
        "wall_s": wall,
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "peak_mb": peak_mb(),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main(*sys.argv[1:])
