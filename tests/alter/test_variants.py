"""Recorded runs under alterations: what is judged, restored and traced of replies, also of filtered and failed ones."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from alter.history.session_play import REFUSE
from alter.test_odd_replies import SESSION
from benchmarks.wildtoolbench.build import call, calls, says
from golden_files import same_as_golden
from wildtool.alter.base import Alteration
from wildtool.alter.failures.failures import Failures
from wildtool.alter.failures.schedule import FailureSchedule
from wildtool.alter.hints.hints import Hints
from wildtool.alter.noise.noise import Noise
from wildtool.alter.variant import Variant
from wildtool.benchmarks.wildtoolbench import WILDTOOLBENCH
from wildtool.types import Message, Reply, Transcript

NOISE, TIMEOUT = Noise.parse("names:2"), Failures(FailureSchedule.parse("first-call,timeout"))
BOOKED = calls(call("a", text="x"))
MOVED = calls(call("b", text="R-7"))


def replies(*messages: Message, **fields: Any) -> Transcript:
    return Transcript(tuple(map(Reply, messages)), **fields)


FILTERED = Transcript((Reply(BOOKED), Reply(says("x"), finish_reason="content_filter"), Reply(says("Done."))))
RECORDS: dict[str, dict[str, Transcript]] = {
    "all": {
        "0": replies(BOOKED, says("Done.")),
        "1": replies(says("Which?"), MOVED, says("Done.")),
        "2": replies(says("No.")),
    },
    "a failed call": {
        "0": replies(BOOKED, infra_error="timed out"),
        "1": replies(infra_error="not asked"),
        "2": replies(),
    },
    "silence after it": {
        "0": replies(BOOKED, scripted=True),
        "1": replies(says("Which?"), scripted=True),
        "2": replies(),
    },
    "filtered": {"0": FILTERED, "1": replies(says("Which?")), "2": replies(MOVED)},
    "one unit": {"1": replies(says("Which?"), MOVED, MOVED, says("Done."))},
    "more than was asked": {
        "0": replies(BOOKED, BOOKED, says("Done."), says("More.")),
        "1": replies(),
        "2": replies(),
    },
}
ALTERATIONS: dict[str, tuple[Alteration, ...]] = {
    "none": (),
    "noise": (NOISE,),
    "failures": (TIMEOUT,),
    "history": (REFUSE,),
    "reasoning": (Hints(rationale="own"),),
    "history, failures": (REFUSE, TIMEOUT),
}


def lines(variant: Variant, transcripts: dict[str, Transcript]) -> Iterator[str]:
    for verdict in variant.judge(SESSION, transcripts, "fixed"):
        cells = {name: verdict.fields.get(name) for each in variant.alterations for name in each.columns}
        row = (verdict.unit, verdict.outcome, verdict.error, verdict.steps, verdict.reason, cells)
        yield f"judged {json.dumps(row)}"
        if verdict.unit in transcripts:
            alone = variant.judge_unit(SESSION, verdict.unit, transcripts[verdict.unit], "fixed")
            yield f"alone {alone.outcome} {alone.steps}"
    for unit, transcript in variant.restored(SESSION, transcripts, "fixed").items():
        own = [reply.message for reply in transcript.replies]
        yield f"restored {unit} {json.dumps(own)} {transcript.infra_error} {transcript.scripted}"
    settled = variant.settled(SESSION, transcripts, "fixed")
    yield f"settled {sorted(settled.transcripts)}"
    for unit, transcript in transcripts.items():
        for step in variant.trace(settled, unit, transcript, "fixed").steps:
            said = step.reply.get("content")
            yield f"trace {unit} {step.role} {len(step.seen)} {said} {list(step.fulfilled)} {step.note}"


@pytest.mark.parametrize("record", RECORDS)
def test_a_record_is_read_as_it_was_played(record: str):
    text = [
        line
        for name, alterations in ALTERATIONS.items()
        for line in (f"== {name} ==", *lines(Variant(WILDTOOLBENCH, alterations), RECORDS[record]))
    ]
    same_as_golden(f"alter/records/{record.replace(' ', '-')}.txt", "\n".join(text) + "\n")
