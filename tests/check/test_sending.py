"""The requests of a check, and how they are sent."""

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, cast

import pytest

from check.test_planted_defects import InProcess
from golden_files import same_as_golden
from wildtool.check import paired, sender
from wildtool.check.answers import RawAnswer
from wildtool.check.probes import FIRST, KITCHEN, PINGED, Probe, call_probe, instruction, probes, tool
from wildtool.check.sender import Sender, ask_all, chat_model
from wildtool.errors import CallError, InfraError, UsageError
from wildtool.models.providers.base import HttpModel
from wildtool.models.resolve import ModelOptions, model_from_name


def completion(message: Any, finish: Any = "stop", **more: Any) -> Any:
    return {"choices": [{"message": message, "finish_reason": finish}], **more}


def test_a_request_names_the_calls_that_it_wants():
    assert instruction(KITCHEN) == (
        'Call the tool set_lamp with arguments {"room": "kitchen", "level": 30}. Copy the values exactly. Do not answer'
        " in text."
    )
    assert instruction(PINGED, ("f", {"a": "ü"})) == (
        "Make these 2 tool calls together in one reply, in this order: 1. ping without arguments; 2. f with arguments"
        ' {"a": "ü"}. Copy the values exactly.'
    )


def test_the_body_of_a_probe_streams_demands_and_has_its_settings():
    probe = call_probe(
        "x", [tool("f", {"a": {"type": "string"}}, extra=1)], ("f", {"a": "b"}), settings={"max_tokens": 1}
    )
    whole = probe.body(False, forced=False)
    parameters = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "extra": 1}
    assert whole == {
        "messages": [{"role": "user", "content": instruction(("f", {"a": "b"}))}],
        "temperature": 0,
        "max_tokens": 1,
        "tools": [
            {
                "type": "function",
                "function": {"name": "f", "description": "Runs f once.", "parameters": parameters},
            }
        ],
    }
    assert probe.body(True, forced=True) == {
        **whole,
        "tool_choice": "required",
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert tool("f", {"a": {}, "b": {}}, "b")["function"]["parameters"]["required"] == ["b"]


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
    assert quick == [(p.name, 1) for p in every if p.group != "long"]


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


async def test_a_field_that_is_refused_is_not_sent_again():
    model = Answering(
        CallError("http 400", "max_tokens and temperature?"), CallError("http 422", "no stream_options"), OK
    )
    made = sending(model)
    fields = {"max_tokens": 5, "temperature": 0, "stream_options": {}, "x": 1}
    answer = await made.send("p", fields)
    assert model.bodies == [
        fields,
        {"stream_options": {}, "x": 1, "max_completion_tokens": 5},
        {"x": 1, "max_completion_tokens": 5},
    ]
    assert made.dropped == ["temperature", "max_tokens", "stream_options"]
    assert (made.sent, answer.sent, answer.text) == (3, model.bodies[-1], "Hi")
    refused = await sending(Answering(CallError("http 400", "bad"))).send("p", {"max_tokens": 1})
    assert (refused.failure, refused.status) == ("bad", 400)
    other = await sending(Answering(CallError("http 500", "max_tokens"))).send("p", {"max_tokens": 1})
    assert other == RawAnswer(probe="p", sent={"max_tokens": 1}, failure="max_tokens", status=500)
    await made.send("p", {"x": 1})
    assert model.bodies[-1] == {"x": 1}


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


async def test_an_endpoint_is_lost_after_five_connections_that_failed_in_a_row():
    down = CallError("network", "refused")
    for before, state in (((), "never answered"), ((OK,), "no longer answers")):
        made = sending(Answering(*before, down))
        for _ in range(4 + len(before)):
            await made.send("p", {})
        with pytest.raises(InfraError) as lost:
            await made.send("p", {})
        assert str(lost.value) == f"m: the endpoint {state}: refused"
    mixed = sending(Answering(*[down] * 4, CallError("http 500", "x"), *[down] * 4, OK))
    for _ in range(10):
        await mixed.send("p", {})
    late = sending(Answering(CallError("timeout", "slow")))
    for _ in range(6):
        assert (await late.send("p", {})).status is None


async def test_calls_are_demanded_where_none_comes_by_itself():
    shy = InProcess()
    whole = shy.endpoint

    def answer(made: Any) -> Any:
        if "tool_choice" not in made.body:
            made.body["tool_choice"] = "none"
        return whole(made)

    shy.endpoint = answer  # pyright: ignore
    answers, demanded = await sending(shy).first()
    assert (len(answers), demanded) == (12, True)
    answers, demanded = await sending(InProcess()).first()
    assert (len(answers), demanded) == (6, False)
    silent = Answering(completion({}, "tool_calls"))
    answers, demanded = await sending(silent).first()
    assert (len(answers), demanded, len(silent.bodies)) == (6, False, 6)
    never = Answering(OK)
    answers, demanded = await sending(never).first()
    assert (len(answers), demanded, len(never.bodies)) == (6, False, 12)
    with pytest.raises(InfraError) as failed:
        await sending(Answering(CallError("http 404", "no model"))).first()
    assert str(failed.value) == "m: no model"


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
    model = Crowded(every)
    made = sending(model)
    answers, forced = await ask_all(made, quick=quick, load=3, show=lambda *counts: shown.append(counts))
    sizes = {probe.name: len(probe.forms) * probe.repeats for probe in [FIRST, *every]}
    assert {name: len(given) for name, given in answers.items() if given} == sizes
    assert [*answers] == [probe.name for probe in (FIRST, *probes(quick=False, load=3))]
    assert (forced, made.sent) == (False, sum(sizes.values()))
    assert shown == [(number, len(every) + 1) for number in range(2, len(every) + 2)]
    most = {"first": 1, "serial": 1, "plain": 2, "load": 6}
    assert model.most == (most if quick else {**most, "long": 2})


async def test_probes_of_calls_are_left_out_where_the_model_never_calls():
    silent = Answering(OK)
    answers, forced = await ask_all(sending(silent), quick=True, load=3, show=lambda *counts: None)
    asked = [probe.name for probe in probes(quick=True, load=3) if not probe.calls]
    assert ([name for name, given in answers.items() if given], forced) == ([FIRST.name, *asked], False)


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


async def test_requests_in_pairs_are_those_of_the_shipped_benchmark():
    few = await paired.paired_probes(40)
    assert [probe.name for probe in few[:2]] == ["wild_mini_0/0", "wild_mini_1/0"]
    assert [probe.name for probe in few[31:34]] == ["wild_mini_31/0", "wild_mini_0/1", "wild_mini_1/1"]
    assert len(few) == 40
    assert len(await paired.paired_probes(None)) == 128
    assert {(probe.repeats, *probe.forms, probe.calls) for probe in few} == {(1, False, ())}
    assert FIRST.repeats == 3
