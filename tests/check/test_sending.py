"""The requests of a check, and how they are sent."""

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, cast

import pytest

from check.faulty_endpoint import Fault, http_error
from check.test_planted_defects import InProcess
from golden_files import same_as_golden
from wildtool.check import sender
from wildtool.check.follow_ups import OTHER_REASONING, OWN_CALLS
from wildtool.check.limits import LIMITS
from wildtool.check.probe import Probe
from wildtool.check.probes import FIRST, probes
from wildtool.check.run_requests import run_probes
from wildtool.check.sender import Sender, ask_all, chat_model
from wildtool.errors import CallError, UsageError
from wildtool.models.providers.base import HttpModel
from wildtool.models.resolve import ModelOptions, model_from_name


def completion(message: Any, finish: Any = "stop", **more: Any) -> Any:
    return {"choices": [{"message": message, "finish_reason": finish}], **more}


def shortened(value: Any) -> Any:
    """A value with a digest in place of long texts."""
    if isinstance(value, dict):
        return {key: shortened(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [shortened(each) for each in value]
    if isinstance(value, str) and len(value) > 300:
        return f"{value[:30]} … {len(value)} characters, SHA-256 {sha256(value.encode()).hexdigest()}"
    return value


def test_the_probes_of_a_check_and_of_a_quick_one():
    every = [*probes(quick=False, load=2)]
    rows = [
        {
            "name": probe.name,
            "group": probe.group,
            "repeats": probe.repeats,
            "forms": list(probe.forms),
            "calls": list(probe.calls),
            "body": probe.body(False, forced=False),
        }
        for probe in every
    ]
    text = "".join(json.dumps(shortened(row), ensure_ascii=False) + "\n" for row in rows)
    same_as_golden("check/probes.jsonl", text)
    quick = [(p.name, p.repeats) for p in probes(quick=True, load=2)]
    assert quick == [(p.name, 1) for p in every if p.quick]


class Answering:
    """Raises or gives what it is told, in turn."""

    def __init__(self, *answers: Any) -> None:
        self.answers, self.bodies, self.closed = [*answers], list[Any](), False

    async def answer_to(self, body: Any) -> bytes:
        self.bodies.append(body)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return json.dumps(answer).encode()

    async def close(self) -> None:
        self.closed = True


def sending(model: Any) -> Sender:
    return Sender("m", cast(HttpModel, model), concurrency=2)


def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that a sender waits, none of which passes."""
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr(sender.asyncio, "sleep", sleep)
    return slept


OK = completion({"content": "Hi"})


async def test_a_request_is_sent_again_for_each_field_and_each_time_the_endpoint_is_full(
    monkeypatch: pytest.MonkeyPatch,
):
    slept = waits(monkeypatch)
    refusals = [CallError("http 400", f"no {field}") for field in sender.DROPPABLE]
    model = Answering(*refusals, *[CallError("http 429", "full")] * 3, OK)
    made = sending(model)
    answer = await made.send("p", {"x": 1, **dict.fromkeys(sender.DROPPABLE, 1)})
    assert (answer.text, answer.sent) == ("Hi", {"x": 1, "max_completion_tokens": 1})
    assert (made.sent, made.dropped, slept) == (8, [*sender.DROPPABLE], [2.0] * 3)


async def test_a_full_endpoint_is_asked_again_three_times(monkeypatch: pytest.MonkeyPatch):
    slept = waits(monkeypatch)
    full = [CallError("http 429", "full", retry_after_s=after) for after in (None, 1.0, 60.0)]
    answer = await sending(Answering(*full, CallError("http 429", "still"))).send("p", {})
    assert slept == [2.0, 1.0, 20.0]
    assert (answer.failure, answer.status, answer.refused) == ("still", 429, False)


class Crowded(InProcess):
    """Notes how many requests of each group of probes are in flight at once."""

    def __init__(self, every: Sequence[Probe]) -> None:
        super().__init__()
        self.groups = {
            json.dumps(each.body(form, forced=False)): each.group for each in every for form in each.forms
        }
        self.now, self.most = 0, Counter[str]()

    async def answer_to(self, fields: Any) -> bytes:
        self.now += 1
        group = self.groups.get(json.dumps(fields), "first")
        self.most[group] = max(self.now, self.most[group])
        await asyncio.sleep(0)
        self.now -= 1
        return await super().answer_to(fields)


@pytest.mark.parametrize("quick", [True, False])
async def test_every_probe_is_asked_and_counted_and_only_load_passes_the_limit(quick: bool):
    every, shown = probes(quick=quick, load=3), list[tuple[int, int]]()
    more = [*await run_probes(quick=quick), *(largest for largest, *_ in LIMITS)]
    model = Crowded([*every, *more])
    made = sending(model)
    answers, forced = await ask_all(made, quick=quick, load=3, show=lambda *counts: shown.append(counts))
    sizes = {probe.name: len(probe.forms) * probe.repeats for probe in [FIRST, *every, *more]}
    # What follows from the answers: both forms of the model's own call, and the reasoning of another reply.
    sizes |= dict.fromkeys((*OWN_CALLS, OTHER_REASONING), 1)
    assert {name: len(given) for name, given in answers.items() if given} == sizes
    assert (forced, made.sent) == (False, sum(sizes.values()))
    assert [number for number, _ in shown] == list(range(2, len(sizes) + 1))
    assert shown[-1] == (len(sizes), len(sizes))
    most = {"serial": 1, "plain": 2, "load": 6}
    assert {group: model.most[group] for group in most} == most


async def test_smaller_requests_follow_only_where_a_larger_one_is_refused():
    def refuse(body: Any) -> Any:
        return http_error(400, "too many") if len(body.get("tools", ())) > 40 else None

    model = InProcess(Fault(0, refuse=refuse))
    answers, _ = await ask_all(sending(model), quick=True, load=0, show=lambda *counts: None)
    asked = [name for name in answers if name[0].isdigit()]
    assert sorted(asked) == sorted(["128 tools", "100 tools", "64 tools", "40 tools", "300 kB of tools"])


async def test_probes_of_calls_are_left_out_where_the_model_never_calls():
    silent = Answering(OK)
    answers, forced = await ask_all(sending(silent), quick=True, load=3, show=lambda *counts: None)
    asked = {probe.name for probe in probes(quick=True, load=3) if not probe.calls}
    asked |= {probe.name for probe in await run_probes(quick=True)} | {family[0].name for family in LIMITS}
    assert ({name for name, given in answers.items() if given}, forced) == ({FIRST.name, *asked}, False)


def test_only_an_endpoint_of_chat_completions_is_checked(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    chat, messages, gold = (
        model_from_name(name, ModelOptions()) for name in ("ollama/m", "anthropic/m", "baseline/gold")
    )
    assert chat_model(chat, "ollama/m") is chat
    for model in (messages, gold):
        with pytest.raises(UsageError) as refused:
            chat_model(model, "x")
        assert str(refused.value) == (
            "'x' is not reached by chat completions, which is what `wildtool check` checks; for other models try "
            "`wildtool list models --check NAME`"
        )
