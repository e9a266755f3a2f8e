"""Judges one item, or traces one unit as it was judged; an exception in the judge becomes a `judge fault` verdict."""

from collections.abc import Mapping
from dataclasses import replace

from wildtool.benchmark import Benchmark, Rules
from wildtool.engine.score.completeness import JUDGE_FAULT
from wildtool.episode import until_decided
from wildtool.errors import UsageError
from wildtool.reply_ends import NOT_RIGHT
from wildtool.trace import Trace, TraceStep, replay_steps
from wildtool.types import Item, Transcript, Verdict


def safe_judge(
    benchmark: Benchmark,
    item: Item,
    transcripts: Mapping[str, Transcript],
    profile: str,
    *,
    only: str | None = None,
) -> tuple[list[Verdict], str | None]:
    """The verdicts of an item, one for each unit, and a description of the fault if the judge failed.

    Args:
        only: the one unit to judge, where no other has a transcript; None for all.

    A judge that raises, or that does not give one verdict for each unit, is a fault of the benchmark's
    code. Its units then count as unplayed, so that they stay in the denominator, and the record can be
    judged again once the code is fixed.
    """
    units = item.units if only is None else (only,)
    try:
        if only is None:
            verdicts = benchmark.judge(item, transcripts, profile)
        else:
            verdicts = [benchmark.judge_unit(item, only, transcripts[only], profile)]
        given = tuple([verdict.unit for verdict in verdicts])
        fault = f"verdicts for {given} instead of {units}" if given != units else None
    except UsageError:
        # Something that the user named cannot be used, such as an encoder: no unit can be judged until that is right.
        raise
    except Exception as error:  # noqa: BLE001 - reported as a fault; must not end a run that others wait for
        verdicts, fault = [], f"{type(error).__name__}: {error}"
    if fault is None:
        return verdicts, None
    reason = f"the judge of {benchmark.name} failed: {fault}"
    return [Verdict(item.id, unit, "unplayed", 0.0, JUDGE_FAULT, reason, 0) for unit in units], reason


def trace_as_judged(rules: Rules, item: Item, unit: str, transcript: Transcript) -> Trace:
    """What happened in a unit up to the reply that decided it. Of one that was filtered, refused or could not be read
    the rules say nothing, so its step tells just that. Pure; never raises, even on malformed replies."""
    played, end = until_decided(transcript)
    if played is not None and end is not None:
        number, why = len(played.replies), NOT_RIGHT[end]
        whole = Transcript(transcript.replies[: number + 1])
        happened = list(replay_steps(rules.recorded_episode(item, unit, whole), whole))
        # A unit that was over before was decided by the rules.
        if len(happened) > number:
            role, seen, reply = happened[number]
            trace = rules.trace(item, unit, replace(played, infra_error=why))
            return replace(trace, steps=(*trace.steps, TraceStep(role, seen, reply, note=why)))
    return rules.trace(item, unit, transcript)
