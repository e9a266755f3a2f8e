"""Compares two endpoints on the same requests: whether to call, which tools, which arguments.

The requests are those of the benchmark that ships with wildtool, so that calling is a decision and not a copy. The first
endpoint is asked twice: what it answers differently by itself is no difference of the other one.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from wildtool.check.answers import RawAnswer
from wildtool.check.probe import Probe
from wildtool.check.run_requests import paired_probes
from wildtool.check.sender import Sender
from wildtool.stats.beta import exact_rate
from wildtool.stats.tests import LEVEL, ItemPair, flip_test, holm

QUICK_REQUESTS = 32
"""Requests of a quick comparison."""


@dataclass(frozen=True, slots=True)
class AnswerPair:
    """The answers of two endpoints to one request."""

    ours: RawAnswer
    theirs: RawAnswer

    @property
    def alike(self) -> tuple[bool, bool | None, bool | None]:
        """Whether both call or neither does; then whether they call the same tools, and with the same arguments. None
        where there is nothing to compare."""
        if bool(self.ours.calls) != bool(self.theirs.calls):
            return False, None, None
        if not self.ours.calls:
            return True, None, None
        ours, theirs = (sorted(call.name for call in each.calls) for each in (self.ours, self.theirs))
        return (
            True,
            ours == theirs,
            sorted(self.ours.keys) == sorted(self.theirs.keys) if ours == theirs else None,
        )


async def compare_endpoints(
    ours: Sender, theirs: Sender, endpoint: str, *, quick: bool, show: Callable[[int, int], None]
) -> dict[str, Any]:
    """The agreement of two endpoints, as JSON values. Raises InfraError if one of them no longer answers.

    Args:
        endpoint: address of the second one.
        show: called with the number of requests done and of all.
    """
    probes = await paired_probes(QUICK_REQUESTS if quick else None)
    count = 0

    async def answers(probe: Probe) -> tuple[AnswerPair, AnswerPair]:
        nonlocal count
        (first, again), (other,) = await asyncio.gather(
            ours.run(replace(probe, repeats=2), forced=False), theirs.run(probe, forced=False)
        )
        count += 1
        show(count, len(probes))
        return AnswerPair(first, other), AnswerPair(first, again)

    pairs = await asyncio.gather(*map(answers, probes))
    return agreement_of([pair for pair, _ in pairs], [repeat for _, repeat in pairs], endpoint)


def agreement_of(pairs: Sequence[AnswerPair], repeats: Sequence[AnswerPair], endpoint: str) -> dict[str, Any]:
    """How far two endpoints agree, and the first one with itself, with exact 95 % intervals and tests.

    Both tests are exact and paired by request: whether one endpoint calls more often, and whether decisions to call
    differ more often than those of the first endpoint from its own. Their p-values have Holm's correction.

    Args:
        pairs: answers of both endpoints, request by request.
        repeats: two answers of the first endpoint to each of these requests.
    """
    usable = [
        (pair, repeat)
        for pair, repeat in zip(pairs, repeats, strict=True)
        if pair.ours.complete and pair.theirs.complete and repeat.theirs.complete
    ]
    base = {"with": endpoint, "requests": len(usable), "not_compared": len(pairs) - len(usable)}
    if not usable:
        return {
            **base,
            "same": None,
            "verdict": f"Not compared with {endpoint}: no request was answered by both.",
        }
    if not any(pair.ours.calls or pair.theirs.calls for pair, _ in usable):
        return {
            **base,
            "same": None,
            "verdict": f"Not compared with {endpoint}: neither called a tool in any of {len(usable)} requests.",
        }
    more = [bool(pair.theirs.calls) - bool(pair.ours.calls) for pair, _ in usable]
    excess = [repeat.alike[0] - pair.alike[0] for pair, repeat in usable]
    values = [flip_test([ItemPair(each, 1) for each in differences])[0] for differences in (more, excess)]
    p_calls, p_excess = holm(values)
    shares = _shares([pair for pair, _ in usable])
    # Two rates over the same requests differ by no more than the share of requests that are decided differently.
    points = 100 * (1 - shares[0]["low"])
    if p_calls < LEVEL:
        which = "more" if sum(more) > 0 else "less"
        verdict = f"Different: {endpoint} calls {which} often (p = {p_calls:.2g})."
    elif p_excess < LEVEL and sum(excess) > 0:
        verdict = (
            f"Different: {endpoint} decides differently more often than repeats do (p = {p_excess:.2g})."
        )
    else:
        verdict = (
            f"Same within ±{points:.1f} points, in how many of {len(usable)} requests get a call (95 %)."
        )
    return {
        **base,
        "agreement": shares,
        "with_itself": _shares([repeat for _, repeat in usable]),
        "calls_only_here": more.count(-1),
        "calls_only_there": more.count(1),
        "p_calls": p_calls,
        "p_beyond_repeats": p_excess,
        "points": round(points, 1),
        "same": not verdict.startswith("Different"),
        "verdict": verdict,
    }


def _shares(pairs: Sequence[AnswerPair]) -> list[dict[str, Any]]:
    """Each share of agreement with its exact interval."""
    shares: list[dict[str, Any]] = []
    for name, column in zip(
        ("whether to call", "names", "arguments"),
        zip(*(pair.alike for pair in pairs), strict=True),
        strict=True,
    ):
        compared = [each for each in column if each is not None]
        low, high = exact_rate(sum(compared), len(compared))
        shares.append(
            {"of": name, "same": sum(compared), "compared": len(compared), "low": low, "high": high}
        )
    return shares
