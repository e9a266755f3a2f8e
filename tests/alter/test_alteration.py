"""What any alteration can rely on, shown by small ones over a benchmark that is small enough to see through."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import pytest

from engine.echo_benchmark import EchoBenchmark, ScriptedModel, plan_of
from wildtool.alter.base import Alteration, AlteredUnit, Exchange
from wildtool.alter.distractors.distractors import Distractors
from wildtool.alter.expose.exposure import exposure_of
from wildtool.alter.noise.noise import Noise
from wildtool.alter.variant import Variant
from wildtool.benchmark import Check, SingleTurn
from wildtool.data.data_set import data_of
from wildtool.engine.run.runner import run_plan
from wildtool.engine.score.verdict_table import relation
from wildtool.types import FieldValue, Item, Message, Reply, Request, Source, Transcript


@dataclass(frozen=True, slots=True)
class Small(Alteration):
    """What the alterations below share."""

    kind: ClassVar[str] = "small"
    caveat: ClassVar[str] = "a test altered it"
    name: str = ""

    @property
    def label(self) -> str:
        return self.name

    @property
    def folder_parts(self) -> Sequence[str]:
        return [self.name]

    def identity(self) -> Mapping[str, Any]:
        return {"small": self.name}

    @classmethod
    def recorded(cls, identity: Mapping[str, Any]) -> Self:
        return cls(identity["small"])

    def unit(self, item: Item, unit: str) -> AlteredUnit:
        return Suffix(self.name)


class Suffix(AlteredUnit):
    """Adds a letter to what is shown, and takes it off what is said."""

    def __init__(self, letter: str) -> None:
        self._letter = letter

    def exchange(self, request: Request) -> Exchange:
        last = request.messages[-1]
        shown = {**last, "content": f"{last['content']}{self._letter}"}
        reply = yield replace(request, messages=[*request.messages[:-1], shown])
        return {**reply, "content": str(reply.get("content")).removesuffix(self._letter)}


class Flaky(Small):
    """A tool that fails the first time: the benchmark sees only what the model does after that."""

    @property
    def columns(self) -> Mapping[str, str]:
        return {"failures": "INTEGER", "ended": "BOOLEAN"}

    def unit(self, item: Item, unit: str) -> AlteredUnit:
        return FlakyUnit()


class FlakyUnit(AlteredUnit):
    def __init__(self) -> None:
        self._failures = 0

    def exchange(self, request: Request) -> Exchange:
        reply = yield request
        if reply.get("content") == "call":
            self._failures += 1
            failed: list[Message] = [{"role": "assistant", **reply}, {"role": "tool", "content": "time-out"}]
            reply = yield replace(request, messages=[*request.messages, *failed])
        return reply

    def fields(self, *, ended: bool) -> Mapping[str, FieldValue]:
        return {"failures": self._failures, "ended": ended}


class Scripted(Small):
    """Each line of a reply is a reply of the benchmark; the model is asked again once they are used up."""

    def unit(self, item: Item, unit: str) -> AlteredUnit:
        return ScriptedUnit()


class ScriptedUnit(AlteredUnit):
    def __init__(self) -> None:
        self._lines: list[str] = []

    def exchange(self, request: Request) -> Exchange:
        if not self._lines:
            reply = yield request
            self._lines = str(reply.get("content")).splitlines()
        return {"content": self._lines.pop(0)}


class KnownFirst(Small):
    """Answers the first request of a unit without a model."""

    def unit(self, item: Item, unit: str) -> AlteredUnit:
        return KnownFirstUnit()


class KnownFirstUnit(AlteredUnit):
    def exchange(self, request: Request) -> Exchange:
        if len(request.messages) > 1:
            return (yield request)
        return {"content": "right"}


class OneReply(SingleTurn):
    name = "one-reply"
    title = "One reply"

    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        raise NotImplementedError

    def request(self, item: Item) -> Request:
        return Request([])

    def check(self, item: Item, reply: Message, profile: str) -> Check:
        raise NotImplementedError


def one_item(steps: int = 1, with_user: int = 0) -> tuple[EchoBenchmark, Item]:
    benchmark = EchoBenchmark(items=1, units=1, steps=steps, with_user=with_user)
    return benchmark, next(benchmark.load(data_of(benchmark).locate(None)))


def texts(*said: str) -> Transcript:
    return Transcript(tuple(Reply({"content": text}) for text in said))


def test_requests_leave_through_the_first_alteration_first_and_replies_come_back_through_it_last():
    benchmark, item = one_item()
    variant = Variant(benchmark, (Small("a"), Small("b")))
    request = variant.episode(item, "0", "official").request()
    assert request is not None
    assert request.messages[-1]["content"] == "i0/0: 你好ab"
    outcomes = {
        said: variant.judge(item, {"0": texts(said)}, "official")[0].outcome
        for said in ("rightab", "rightba", "right")
    }
    assert outcomes == {"rightab": "correct", "rightba": "wrong", "right": "correct"}


def test_only_the_model_under_test_is_shown_anything_else():
    benchmark, item = one_item(with_user=1)
    episode = Variant(benchmark, (Small("a"),)).episode(item, "0", "official")
    first = episode.request()
    assert first is not None
    assert (first.role, first.messages[-1]["content"]) == ("user", "i0/0: 你好")
    episode.advance({"content": "hm"})
    second = episode.request()
    assert second is not None
    assert (second.role, second.messages[-1]["content"]) == ("agent", "hma")


def test_a_step_that_the_benchmark_knows_nothing_of_is_recorded_resumed_and_judged(tmp_path: Path):
    def answer(request: Request) -> str:
        return "right" if request.messages[-1]["role"] == "tool" else "call"

    def run(model: ScriptedModel) -> int:
        plan = plan_of(EchoBenchmark(), model, alterations=(Flaky(),))
        return run_plan(plan, tmp_path / "run", command=[]).calls

    units, steps = 4, 2
    assert run(ScriptedModel(answer)) == 2 * units * steps
    assert run(ScriptedModel(lambda request: "never asked")) == 0
    rows = relation([tmp_path / "run" / "verdicts-official.parquet"])
    cells = rows.project("outcome, steps, failures, ended").fetchall()
    assert cells == [("correct", steps, steps, True)] * units


def test_a_trace_and_a_restored_record_have_the_benchmarks_own_steps():
    benchmark, item = one_item()
    variant = Variant(benchmark, (Flaky(),))
    said = texts("call", "right")
    assert [reply.message for reply in variant.restored(item, {"0": said}, "official")["0"].replies] == [
        {"content": "right"}
    ]
    assert [step.reply for step in variant.trace(item, "0", said, "official").steps] == [{"content": "right"}]


def test_a_filtered_reply_ends_no_unit_of_an_alteration_either():
    benchmark, item = one_item(steps=2)
    variant = Variant(benchmark, (Flaky(),))
    replies = (
        Reply({"content": "call"}),
        Reply({"content": "right"}),
        Reply({"content": "right"}, finish_reason="content_filter"),
    )
    (verdict,) = variant.judge(item, {"0": Transcript(replies)}, "official")
    assert (verdict.outcome, verdict.fields["failures"], verdict.fields["ended"]) == ("wrong", 1, False)
    plain = Transcript(replies[:2] + replies[1:2])
    (verdict,) = variant.judge(item, {"0": plain}, "official")
    assert (verdict.outcome, verdict.fields["ended"]) == ("correct", True)


def test_one_reply_of_a_model_can_be_several_of_the_benchmark(tmp_path: Path):
    def play(model: ScriptedModel) -> int:
        benchmark = EchoBenchmark(items=1, units=2, steps=3)
        return run_plan(
            plan_of(benchmark, model, alterations=(Scripted(),)), tmp_path / "run", command=[]
        ).calls

    units, replies = 2, 2
    texts_ = {True: "right\nright", False: "right"}
    assert play(ScriptedModel(lambda request: texts_[len(request.messages) == 1])) == units * replies
    assert play(ScriptedModel(lambda request: "never asked")) == 0
    rows = relation([tmp_path / "run" / "verdicts-official.parquet"])
    assert rows.project("outcome, steps").fetchall() == [("correct", 3)] * units


def test_what_a_reply_used_and_how_it_ended_goes_with_the_first_that_follows_from_it():
    benchmark, item = one_item(steps=3)
    variant = Variant(benchmark, (Scripted(),))
    said = Reply({"content": "right\nright"}, usage={"prompt_tokens": 7}, finish_reason="length")
    last = Reply({"content": "right"}, usage={"prompt_tokens": 9}, finish_reason="stop")
    restored = variant.restored(item, {"0": Transcript((said, last))}, "official")["0"].replies
    assert [reply.message["content"] for reply in restored] == ["right"] * 3
    assert [dict(reply.usage) for reply in restored] == [{"prompt_tokens": 7}, {}, {"prompt_tokens": 9}]
    assert [reply.finish_reason for reply in restored] == ["length", None, "stop"]


def test_a_filtered_reply_after_a_script_of_several_steps_decides_its_unit():
    benchmark, item = one_item(steps=3)
    script, filtered = (
        Reply({"content": "right\nright"}),
        Reply({"content": "right"}, finish_reason="content_filter"),
    )
    (verdict,) = Variant(benchmark, (Scripted(),)).judge(
        item, {"0": Transcript((script, filtered))}, "official"
    )
    assert (verdict.outcome, verdict.steps) == ("wrong", 3)


def test_the_first_step_can_be_answered_without_asking_a_model(tmp_path: Path):
    def play(model: ScriptedModel) -> int:
        plan = plan_of(EchoBenchmark(steps=2), model, alterations=(KnownFirst(),))
        return run_plan(plan, tmp_path / "run", command=[]).calls

    units = 4
    assert play(ScriptedModel()) == units
    assert play(ScriptedModel(lambda request: "never asked")) == 0
    rows = relation([tmp_path / "run" / "verdicts-official.parquet"])
    assert rows.project("outcome, steps").fetchall() == [("correct", 2)] * units


def test_a_benchmark_of_one_reply_answers_no_call():
    several, item = one_item()
    assert several.rules("official").answers_calls(item, "0")
    assert not OneReply().rules("official").answers_calls(item, "0")


def test_a_unit_without_replies_has_cells_too():
    benchmark, item = one_item()
    (verdict,) = Variant(benchmark, (Flaky(),)).judge(item, {}, "official")
    assert (verdict.outcome, verdict.fields["failures"], verdict.fields["ended"]) == ("unplayed", 0, False)


def test_an_alteration_adds_nothing_that_it_does_not_name():
    noise = Noise.parse("order:slight")
    assert (noise.columns, noise.roles, noise.played_roles, noise.cuts(None)) == ({}, {}, {}, {})
    assert (noise.metrics(None), noise.without, noise.in_order, noise.cuts_note) == ((), "none", False, "")
    assert noise.unit(one_item()[1], "0").fields(ended=True) == {}
    assert list(noise.unit(one_item()[1], "0").afterwards()) == []


@pytest.mark.parametrize(
    "alteration",
    [Noise.parse("names:slight"), Distractors.parse("3", "near"), exposure_of("search")],
    ids=str,
)
def test_tools_are_those_of_the_first_request_to_the_model_where_a_user_is_asked_before(
    alteration: Alteration,
):
    benchmark = EchoBenchmark(with_user=2)
    items = list(benchmark.load(data_of(benchmark).locate(None)))
    prepared = alteration.prepared(benchmark, items, "official")
    assert prepared.check(benchmark, items, "official") == ""
