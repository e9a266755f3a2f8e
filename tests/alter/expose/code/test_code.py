"""Tools as functions of scripts, in whole units: gold answers, what is recorded, and scoring without the sandbox."""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from alter.expose.code.scripts import with_sandbox
from engine.echo_benchmark import ScriptedModel, plan_of
from long import a_fiftieth_of
from wildtool.alter.expose.code.exposure import CodeExposure
from wildtool.alter.expose.code.tool import RUN_CODE, run_code_message
from wildtool.alter.expose.code.values import result_value
from wildtool.alter.expose.outcomes import ExposedUnit
from wildtool.alter.kinds import recorded_alterations
from wildtool.alter.variant import Variant
from wildtool.api.bench import load
from wildtool.benchmark import Check, SingleTurn
from wildtool.engine.registry import load_benchmark
from wildtool.engine.run.runner import run_plan
from wildtool.engine.score.verdict_table import relation
from wildtool.episode import gold_replies
from wildtool.errors import CallError
from wildtool.json_codec import as_object, as_objects
from wildtool.models.sandbox import SandboxModel
from wildtool.toolcall.call_mutants import calls_message, made_call
from wildtool.types import Item, Message, Reply, Request, Source, Transcript, Verdict

with_sandbox()

Answer = Callable[[Request], Message]


def gold(request: Request) -> Message:
    assert request.gold is not None
    return request.gold("parallel" if request.role == "agent" else "cooperative 0")


def played(
    variant: Variant, item: Item, unit: str, profile: str, answer: Answer = gold
) -> tuple[list[Reply], list[Request]]:
    """The replies of all roles, with the requests to the model under test."""
    episode, said, asked = variant.episode(item, unit, profile), list[Reply](), list[Request]()
    while (request := episode.request()) is not None:
        if request.role == "agent":
            asked.append(request)
        said.append(Reply(answer(request) if request.role == "agent" else gold(request)))
        episode.advance(said[-1].message)
    return said, asked


def judged(variant: Variant, item: Item, unit: str, said: list[Reply], profile: str) -> Verdict:
    return variant.judge_unit(item, unit, Transcript(tuple(said)), profile)


def units(name: str, profile: str, count: int) -> Iterator[tuple[Variant, Item, str]]:
    variant = Variant(load_benchmark(name), (CodeExposure(),))
    items = [loaded.item for loaded in load(name)][:count]
    return ((variant, item, unit) for item in items for unit in item.units)


def check_gold(variant: Variant, item: Item, unit: str, profile: str) -> None:
    """Gold under an exposure is judged like gold whose tools are shown."""
    said, _ = played(variant, item, unit, profile)
    verdict = judged(variant, item, unit, said, profile)
    rules = variant.benchmark.rules(profile)
    episode = rules.episode(item, unit)
    assert gold_replies(episode) is not None
    direct = rules.verdict(episode, item, unit)
    assert (verdict.outcome == "correct") == direct.correct
    assert verdict.fields.get("optimal") == direct.fields.get("optimal")
    assert ExposedUnit.read(verdict.fields).faults == ()


@pytest.mark.parametrize(("name", "profile"), [("wild-mini", "fixed"), ("ledger", "ledger")])
def test_gold_in_scripts_is_judged_like_gold(name: str, profile: str):
    for variant, item, unit in units(name, profile, a_fiftieth_of(200)):
        check_gold(variant, item, unit, profile)


def test_a_record_is_scored_without_the_sandbox(monkeypatch: pytest.MonkeyPatch):
    variant, item, unit = next(units("wild-mini", "fixed", 1))
    said, _ = played(variant, item, unit, "fixed")
    verdict = judged(variant, item, unit, said, "fixed")
    for module in [name for name in sys.modules if name.startswith("pydantic_monty")]:
        monkeypatch.setitem(sys.modules, module, None)
    for module in ("sandbox", "answering", "script_run"):
        monkeypatch.delitem(sys.modules, f"wildtool.alter.expose.code.{module}", raising=False)
    with pytest.raises(ImportError):
        __import__("pydantic_monty")
    assert judged(variant, item, unit, said, "fixed") == verdict


@pytest.mark.long
def test_a_model_sees_one_tool_and_earlier_calls_as_scripts():
    seen = 0
    for variant, item, unit in units("wild-mini", "fixed", 4):
        for request in played(variant, item, unit, "fixed")[1]:
            assert [tool["function"]["name"] for tool in request.tools] == [RUN_CODE]
            open_ids: list[str] = []
            for message in request.messages:
                for call in message.get("tool_calls") or []:
                    assert call["function"]["name"] == RUN_CODE
                    open_ids.append(call["id"])
                    seen += 1
                if message["role"] == "tool":
                    assert message["tool_call_id"] == open_ids.pop(0)
            assert not open_ids
    assert seen


@pytest.mark.long
def test_each_call_of_a_script_returns_its_own_result():
    together = 0
    for variant, item, unit in units("wild-mini", "fixed", 6):
        direct = Variant(variant.benchmark)
        own = played(direct, item, unit, "fixed")[1][-1].messages
        shown = played(variant, item, unit, "fixed")[1][-1].messages
        results = [str(result_value(each["content"])) for each in own if each["role"] == "tool"]
        outputs = [each["content"] for each in shown if each["role"] == "tool"]
        assert "\n".join(outputs) == "\n".join(results)
        together += len(results) > len(outputs)
    assert together


def test_a_run_is_resumed_where_its_sandbox_failed_and_asks_nothing_twice(tmp_path: Path):
    class Failing(SandboxModel):
        answers = 0

        async def complete(self, request: Request) -> Reply:
            self.answers += 1
            if self.answers > 2:
                raise CallError("sandbox", "it is gone", final=True)
            return await super().complete(request)

    benchmark = load_benchmark("wild-mini")
    item = next(iter(load("wild-mini"))).item
    agent = ScriptedModel(lambda request: Reply(gold(request)))

    def outcomes(sandbox: SandboxModel) -> set[str]:
        plan = plan_of(benchmark, agent, alterations=(CodeExposure(),), profile="fixed", concurrency=1)
        plan = replace(plan, ids=(item.id,), models={"agent": agent, "sandbox": sandbox}, max_attempts=1)
        run_plan(plan, tmp_path / "run", command=[])
        rows = relation([tmp_path / "run" / "verdicts-fixed.parquet"])
        return {outcome for (outcome,) in rows.project("outcome").fetchall()}

    assert "infra_error" in outcomes(Failing())
    failed = len(agent.asked)
    assert outcomes(SandboxModel()) == {"correct"}
    asked = len(agent.asked)
    assert outcomes(Failing()) == {"correct"}
    assert failed < asked == len(agent.asked)


class OneAnswer(SingleTurn):
    """Asks for two calls in one reply."""

    name = "one-answer"
    title = "One answer"

    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        raise NotImplementedError

    def request(self, item: Item) -> Request:
        tools = [
            {
                "type": "function",
                "function": {
                    "name": name,
                    "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}},
                },
            }
            for name in ("get.it", "print")
        ]
        calls = [made_call("get.it", '{"n": 1}'), made_call("print", '{"n": 2, "m": 3}')]
        return Request([{"role": "user", "content": "go"}], tools, gold=lambda style: calls_message(calls))

    def check(self, item: Item, reply: Message, profile: str) -> Check:
        calls = [as_object(call.get("function")) for call in as_objects(reply.get("tool_calls"))]
        read = [(call.get("name"), json.loads(str(call.get("arguments", "{}")))) for call in calls]
        return Check(read == [("get.it", {"n": 1}), ("print", {"n": 2, "m": 3})], reason=str(read))


ONE = Variant(OneAnswer(), (CodeExposure(),))
ITEM = Item("i", ("0",), None)


def one_answer(*replies: Message | str) -> tuple[Verdict, list[Request]]:
    """What becomes of these replies, scripts as texts; the last one again for each further request."""
    left = list(replies)

    def answer(request: Request) -> Message:
        reply = left.pop(0) if len(left) > 1 else left[0]
        return run_code_message(reply, "r") if isinstance(reply, str) else reply

    said, asked = played(ONE, ITEM, "0", "official", answer)
    return judged(ONE, ITEM, "0", said, "official"), asked


def test_gold_of_one_reply_is_one_script():
    said, _ = played(ONE, ITEM, "0", "official")
    assert judged(ONE, ITEM, "0", said, "official").outcome == "correct"


@pytest.mark.parametrize(
    "script",
    [
        "get_it(n=1)\nprint_(n=2, m=3)",
        "for f, a in ((get_it, {'n': 1}), (print_, {'n': 2, 'm': 3})): f(**a)",
        "get_it(1)\nprint_(2, m=3)",
        "a = get_it(n=1)\nprint_(n=2, m=3)\nprint(a['id'])",
    ],
)
def test_all_calls_of_a_unit_without_answers_are_one_reply(script: str):
    assert one_answer(script)[0].outcome == "correct"


def test_positional_arguments_are_counted():
    assert one_answer("get_it(1)\nprint_(2, m=3)")[0].fields["code_positional"] == 2


def test_a_model_that_is_told_of_an_error_can_go_on():
    verdict, asked = one_answer("1/0", "get_it(n=1)\nprint_(n=2, m=3)")
    assert (verdict.outcome, verdict.steps) == ("correct", 1)
    assert "ZeroDivisionError" in asked[1].messages[-1]["content"]
    unit = ExposedUnit.read(verdict.fields)
    assert (unit.scripts, [fault.kind for fault in unit.faults]) == (2, ["script error"])


@pytest.mark.parametrize(
    "call", [made_call(RUN_CODE, "no json"), made_call(RUN_CODE, "{}"), made_call(RUN_CODE, '{"code": 3}')]
)
def test_a_script_that_cannot_be_read_is_a_fault_and_goes_back_in_a_form_that_endpoints_take(call: Message):
    verdict, asked = one_answer(calls_message([call]), "get_it(n=1)\nprint_(n=2, m=3)")
    assert verdict.outcome == "correct"
    assert [fault.kind for fault in ExposedUnit.read(verdict.fields).faults] == ["unread"]
    (sent,) = asked[1].messages[-2]["tool_calls"]
    assert isinstance(json.loads(sent["function"]["arguments"]), dict)


def test_a_tool_called_by_itself_was_not_offered():
    assert one_answer(gold(OneAnswer().request(ITEM)))[0].outcome == "wrong"


def test_gold_that_calls_a_tool_which_is_not_offered_is_right_by_that_tools_own_name():
    class Hidden(OneAnswer):
        """Offers one of the two tools that its gold answer calls."""

        def request(self, item: Item) -> Request:
            request = super().request(item)
            return replace(request, tools=request.tools[:1])

    variant = Variant(Hidden(), (CodeExposure(),))
    said, _ = played(variant, ITEM, "0", "official")
    assert judged(variant, ITEM, "0", said, "official").outcome == "correct"


def test_a_model_that_writes_scripts_without_end_is_cut_off():
    verdict, asked = one_answer("1 + 1")
    assert (verdict.outcome, ExposedUnit.read(verdict.fields).cut) == ("wrong", "20 scripts")
    assert len(asked) == 21


def test_no_reply_of_any_shape_raises():
    odd = [
        {},
        {"tool_calls": 3},
        {"tool_calls": [{}]},
        {"tool_calls": [{"function": {"name": RUN_CODE}}]},
        {"tool_calls": [{"id": 3, "function": {"name": RUN_CODE, "arguments": {"code": "1"}}}]},
        {"content": [{"type": "text"}]},
    ]
    for reply in odd:
        transcript = Transcript((Reply(reply), Reply(reply), Reply({"content": '{"calls": [{}]}'})))
        assert ONE.judge_unit(ITEM, "0", transcript, "official").unit == "0"


@pytest.mark.parametrize("words", [[], ["short"], ["names", "type_check"]])
def test_a_run_knows_its_exposure_by_its_identity(words: list[str]):
    exposure = CodeExposure.parse(words)
    assert recorded_alterations(exposure.identity()) == (exposure,)


def test_a_script_of_wrong_types_does_not_run_where_types_are_checked():
    checked = Variant(OneAnswer(), (CodeExposure(checks_types=True),))

    def answer(request: Request) -> Message:
        is_first = len(request.messages) == 1
        return run_code_message("get_it(n='a')" if is_first else "get_it(n=1)", "r")

    said, asked = played(checked, ITEM, "0", "official", answer)
    assert (len(asked), len(said)) == (2, 4)
