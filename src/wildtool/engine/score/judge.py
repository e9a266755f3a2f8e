"""Judges one item; an exception in the judge becomes a `judge fault` verdict."""

from collections.abc import Mapping

from wildtool.benchmark import Benchmark
from wildtool.engine.score.completeness import JUDGE_FAULT
from wildtool.errors import UsageError
from wildtool.types import Item, Transcript, Verdict


def safe_judge(
    benchmark: Benchmark, item: Item, transcripts: Mapping[str, Transcript], profile: str
) -> tuple[list[Verdict], str | None]:
    """The verdicts of an item, one for each unit, and a description of the fault if the judge failed.

    A judge that raises, or that does not give one verdict for each unit, is a fault of the benchmark's
    code. Its units then count as unplayed, so that they stay in the denominator, and the record can be
    judged again once the code is fixed.
    """
    try:
        verdicts = benchmark.judge(item, transcripts, profile)
        given = tuple([verdict.unit for verdict in verdicts])
        fault = f"verdicts for {given} instead of {item.units}" if given != item.units else None
    except UsageError:
        # Something that the user named cannot be used, such as an encoder: no unit can be judged until that is right.
        raise
    except Exception as error:  # noqa: BLE001 - reported as a fault; must not end a run that others wait for
        verdicts, fault = [], f"{type(error).__name__}: {error}"
    if fault is None:
        return verdicts, None
    reason = f"the judge of {benchmark.name} failed: {fault}"
    return [Verdict(item.id, unit, "unplayed", 0.0, JUDGE_FAULT, reason, 0) for unit in item.units], reason
