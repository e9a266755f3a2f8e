"""Sound requests that an endpoint refuses: what they have in common is named, and what says nothing is no defect."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from check.faulty_endpoint import Fault, Json, Made
from check.test_planted_defects import InProcess
from wildtool.check.answers import Answers, RawAnswer
from wildtool.check.features import FEATURES, Feature, features_of
from wildtool.check.follow_ups import follow_ups
from wildtool.check.ledger import Ledger
from wildtool.check.limits import LIMITS
from wildtool.check.probe import Probe
from wildtool.check.probes import FIRST, probes
from wildtool.check.refusals import check_refusals
from wildtool.check.report import CheckReport, check_endpoint
from wildtool.check.run_requests import run_probes
from wildtool.check.sender import Sender
from wildtool.errors import CallError

OWN_CALL = {"id": "call_own", "type": "function", "function": {"name": "set_lamp", "arguments": "{}"}}


def answers_of(every: Sequence[Probe], refuses: Callable[[Json], bool]) -> dict[str, Sequence[RawAnswer]]:
    """What an endpoint answers that refuses some bodies, and calls on all others."""
    answers: dict[str, Sequence[RawAnswer]] = {}
    for probe in every:
        bodies = [probe.body(form, forced=False) for form in probe.forms]
        message = {"content": None, "tool_calls": [OWN_CALL]}
        answers[probe.name] = [
            RawAnswer(probe=probe.name, sent=body, failure="HTTP 400: no", status=400)
            if refuses(body)
            else RawAnswer(probe=probe.name, sent=body, message=message, finish="tool_calls", raw=b"{}")
            for body in bodies
        ]
    return answers


async def refused(refuses: Callable[[Json], bool]) -> list[tuple[int, str]]:
    every = [FIRST, *probes(quick=True, load=0), *await run_probes(quick=True)]
    every += [probe for family in LIMITS for probe in family]
    answers = answers_of(every, refuses)
    answers |= answers_of(follow_ups(answers), refuses)
    ledger = Ledger()
    check_refusals(answers, ledger)
    return [(finding.kind, finding.problem) for finding in ledger.findings]


@pytest.mark.long
@pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: feature.words)
async def test_what_an_endpoint_refuses_is_named_whatever_it_is(feature: Feature):
    assert await refused(feature.is_in) == [(feature.kind, feature.words)]


async def test_two_things_that_are_refused_are_both_named():
    first, second = (
        each for each in FEATURES if each.words in ("two calls in one message", "a system message")
    )
    found = await refused(lambda body: first.is_in(body) or second.is_in(body))
    assert sorted(found) == sorted([(33, first.words), (33, second.words)])


async def test_what_is_refused_only_in_one_request_is_still_a_defect():
    found = await refused(lambda body: body["messages"][-1]["content"] == "Hello! How are you?")
    assert found == [
        (37, f"refused, though each part of it is accepted elsewhere: {name}")
        for name in ("choice required", "choice named")
    ]


async def test_quick_sends_every_kind_of_request_that_the_whole_check_sends():
    kinds: list[set[str]] = []
    for quick in (True, False):
        every = [*probes(quick=quick, load=1), *await run_probes(quick=quick)]
        bodies = [probe.body(form, forced=False) for probe in every for form in probe.forms]
        kinds.append({feature.words for body in bodies for feature in features_of(body)})
    assert kinds[0] == kinds[1]
    assert {each.words for each in FEATURES} <= kinds[0]


class Failing(InProcess):
    """The sound endpoint, unless a function gives an error for a body."""

    def __init__(
        self, fails: Callable[[Mapping[str, Any]], CallError | None], fault: Fault | None = None
    ) -> None:
        super().__init__(fault)
        self.fails = fails

    async def answer_to(self, fields: Mapping[str, Any]) -> bytes:
        if (error := self.fails(fields)) is not None:
            raise error
        return await super().answer_to(fields)


async def report_on(model: Any) -> CheckReport:
    sender = Sender("m", model, concurrency=8)
    return await check_endpoint(sender, "http://m/v1", quick=True, load=2, show=lambda count, of: None)


def found(report: CheckReport) -> list[tuple[int, str]]:
    return [(each.kind, each.problem) for each in report.findings]


def _is_large(body: Mapping[str, Any]) -> bool:
    return len(json.dumps(body.get("tools", ()))) > 150_000


async def test_an_endpoint_that_hangs_up_on_large_requests_refuses_them_and_is_not_lost():
    report = await report_on(
        Failing(lambda body: CallError("network", "hung up") if _is_large(body) else None)
    )
    assert found(report) == [(34, "208 kB of tools are refused, 104 are accepted")]


async def test_an_answer_without_a_message_is_as_bad_as_a_refusal():
    class Empty(InProcess):
        async def answer_to(self, fields: Mapping[str, Any]) -> bytes:
            return b"{}" if fields["messages"][-1]["role"] == "tool" else await super().answer_to(fields)

    assert found(await report_on(Empty())) == [(33, "a tool result as the last message")]


async def test_a_request_that_takes_too_long_says_nothing_and_leaves_its_class_untested():
    report = await report_on(Failing(lambda body: CallError("timeout", "slow") if _is_large(body) else None))
    assert (found(report), report.fit, report.not_tested) == ([], True, [34])
    assert report.verdict == "Fit in 38 of 39 classes, 1 not tested: 34."
    assert any("not answered in time" in remark for remark in report.remarks)


async def test_a_rate_limit_is_no_defect_and_is_said(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("wildtool.check.sender.LONGEST_WAIT_S", 0.0)
    report = await report_on(Failing(lambda body: CallError("http 429", "full") if _is_large(body) else None))
    assert (found(report), report.not_tested) == ([], [34])
    assert any("a rate limit refused" in remark for remark in report.remarks)


async def test_a_short_context_is_no_defect_and_is_said():
    words = "HTTP 400 (the context overflowed; serve the model with more): too many tokens"
    report = await report_on(Failing(lambda body: CallError("http 400", words) if _is_large(body) else None))
    assert (found(report), report.not_tested) == ([], [34])
    assert any(remark.startswith("300 kB of tools exceed the context") for remark in report.remarks)


@pytest.mark.parametrize(("kind", "times"), [("http 502", 3), ("network", 1)])
async def test_a_fault_that_passes_is_none_of_the_endpoint(kind: str, times: int):
    counts = Counter[str]()

    def fails_first(body: Mapping[str, Any]) -> CallError | None:
        text = json.dumps(body)
        counts[text] += 1
        return CallError(kind, "bad gateway") if counts[text] <= times else None

    report = await report_on(Failing(fails_first))
    assert (found(report), report.verdict) == ([], "Fit in 39 of 39 classes.")


REASONING = {
    "reasoning_content": "I need the lamp.",
    "reasoning": "I need the lamp.",
    "reasoning_details": [{"type": "reasoning.encrypted", "data": "c2ln"}],
}


class Thinking(InProcess):
    """Gives reasoning under a key with each call, and refuses its own calls without it."""

    def __init__(self, key: str) -> None:
        super().__init__()
        self.key = key
        self.came_back = 0

    async def answer_to(self, fields: Mapping[str, Any]) -> bytes:
        for message in fields["messages"]:
            for call in message.get("tool_calls", ()):
                if call["id"].startswith("call_"):
                    if message.get(self.key) != REASONING[self.key]:
                        raise CallError("http 400", "the reasoning is missing")
                    self.came_back += 1
        whole = {name: value for name, value in fields.items() if not name.startswith("stream")}
        if fields.get("stream"):
            return self._as_stream(json.loads(await super().answer_to(whole)))
        answer = json.loads(await super().answer_to(fields))
        self._think(answer)
        return json.dumps(answer).encode()

    def _think(self, answer: Json) -> None:
        message = answer["choices"][0]["message"]
        if message.get("tool_calls"):
            message[self.key] = REASONING[self.key]

    def _as_stream(self, answer: Json) -> bytes:
        self._think(answer)
        choice = answer["choices"][0]
        for index, call in enumerate(choice["message"].get("tool_calls", ())):
            call["index"] = index
        chunks = [
            {"choices": [{"index": 0, "delta": choice["message"]}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]},
            {"choices": [], "usage": answer["usage"]},
        ]
        return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks).encode() + b"data: [DONE]\n\n"


@pytest.mark.parametrize("key", REASONING)
async def test_the_reasoning_of_the_models_own_call_goes_back_under_its_key(key: str):
    model = Thinking(key)
    report = await report_on(model)
    # Ids of the tests' scripted model begin like that, those of scripted histories do not.
    assert model.came_back == 2
    assert 35 not in {number for number, _ in found(report)}
    assert report.statuses[35] == "fit"


def doubles(probe_word: str) -> Callable[[Made, Json], None]:
    def change(made: Made, body: Json) -> None:
        if probe_word in body["messages"][-1]["content"]:
            made.calls += [{**call, "id": f"{call['id']}x"} for call in made.calls]

    return change


async def test_a_model_that_calls_twice_on_one_request_is_no_defect_of_the_endpoint():
    one_request = await report_on(InProcess(Fault(0, change=doubles('"tea"'))))
    assert 32 not in {number for number, _ in found(one_request)}
    in_streams = await report_on(InProcess(Fault(0, in_stream=doubles('"tea"'))))
    assert (32, "a call that was requested once comes twice") in found(in_streams)


async def test_a_model_that_calls_on_whatever_it_reads_is_not_blamed_for_results():
    def calls(made: Made, body: Json) -> None:
        if "degrees" in json.dumps(body["messages"]):
            made.calls = [{"id": "c", "name": "get_weather", "arguments": '{"city": "Oslo"}'}]
            made.content, made.finish = None, "tool_calls"

    report = await report_on(InProcess(Fault(0, change=calls)))
    assert 36 not in {number for number, _ in found(report)}


def test_answers_of_nothing_give_no_finding():
    ledger = Ledger()
    nothing: Answers = {}
    check_refusals(nothing, ledger)
    assert not ledger.findings
