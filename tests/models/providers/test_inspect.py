"""Models that Inspect asks: requests and answers are converted both ways, and every step says that it is not exact."""

import json
from typing import Any

import pytest

from models.asking import HELLO, TOOL, asked_and_answered, call
from models.options import client_options, model_options
from wildtool.benchmarks.wildtoolbench import WILD_MINI
from wildtool.engine.call.client import endpoint_of
from wildtool.errors import CallError, UsageError
from wildtool.models.providers.inspect import InspectModel
from wildtool.models.resolve import ModelOptions, model_from_name
from wildtool.types import Address, Message, Reply, Request, Transcript

inspect_ai: Any = pytest.importorskip("inspect_ai.model", reason="the extra [inspect] is not installed")

USAGE = {"input_tokens": 5, "input_tokens_cache_read": 2, "output_tokens": 3, "total_tokens": 10}


def output(message: dict[str, Any], stop_reason: str = "stop") -> Any:
    choice = {"message": {"role": "assistant", **message}, "stop_reason": stop_reason}
    return inspect_ai.ModelOutput.model_validate({"model": "m", "choices": [choice], "usage": USAGE})


class Peer:
    """Inspect's own mock of a provider, which answers what it is told to and keeps what it was asked."""

    def __init__(self, *answers: Any, **settings: Any) -> None:
        self.asked: list[tuple[list[Any], list[Any], Any]] = []
        self._answers = list(answers)
        mock = inspect_ai.get_model("mockllm/model", memoize=False, custom_outputs=self._answer)
        self.model = InspectModel("inspect/mockllm/model", mock, **client_options(**settings))

    def _answer(self, messages: Any, tools: Any, choice: Any, config: Any) -> Any:
        self.asked.append((messages, tools, config))
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def told(self, *messages: Message, tools: Any = (TOOL,), repeat: int = 0) -> Reply:
        address = Address("i", repeat, "0", 0)
        return await self.model.complete(Request(messages or [HELLO], tools, address=address))


CALL = {"id": "c1", "function": "f", "arguments": {"a": "中"}}


async def test_an_answer_becomes_a_message_with_calls_usage_and_finish_reason():
    reply = await Peer(output({"content": "", "tool_calls": [CALL]}, "tool_calls")).told()
    assert reply.message == {
        "role": "assistant",
        "content": None,
        "tool_calls": [call("c1", "f", '{"a":"中"}')],
    }
    assert reply.finish_reason == "tool_calls"
    assert (reply.usage["prompt_tokens"], reply.usage["completion_tokens"]) == (7, 3)
    assert json.loads(reply.raw)["choices"][0]["message"]["tool_calls"][0]["function"] == "f"


async def test_every_step_and_the_settings_say_that_it_is_not_wire_exact():
    peer = Peer(output({"content": "Hi."}))
    assert "not-wire-exact" in (await peer.told()).changes
    assert peer.model.settings()["wire_exact"] is False


async def test_calls_and_results_of_the_history_arrive():
    peer = Peer(output({"content": "Hi."}))
    await peer.told(*asked_and_answered(call("c1", "f", '{"a": 1}'), content="Sure."))
    _, assistant, result = peer.asked[0][0]
    (sent,) = assistant.tool_calls
    assert (assistant.text, sent.id, sent.function, sent.arguments) == ("Sure.", "c1", "f", {"a": 1})
    assert (result.tool_call_id, result.function, result.text) == ("c1", "f", "r0")


async def test_a_schema_that_inspect_has_no_words_for_is_remodelled_and_that_is_named():
    peer = Peer(output({"content": ""}), output({"content": ""}))
    assert "schema-remodelled" in (await peer.told()).changes
    plain = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    tool = {"type": "function", "function": {"name": "g", "description": "d", "parameters": plain}}
    assert "schema-remodelled" not in (await peer.told(tools=[tool])).changes
    sent = peer.asked[1][1][0]
    assert (sent.name, sent.description, sent.parameters.required) == ("g", "d", ["a"])


async def test_reasoning_goes_back_as_it_came():
    thought = {"type": "reasoning", "reasoning": "Hm.", "signature": "s1"}
    peer = Peer(output({"content": [thought, {"type": "text", "text": "Hi."}]}), output({"content": ""}))
    reply = await peer.told()
    assert (reply.message["reasoning_content"], reply.message["content"]) == ("Hm.", "Hi.")
    again = json.loads(json.dumps(reply.message))
    assert "message-key-dropped:reasoning_content" not in (await peer.told(HELLO, again, HELLO)).changes
    assert peer.asked[1][0][1].content[0].signature == "s1"


async def test_a_changed_reply_goes_back_without_what_was_kept():
    thought = {"type": "reasoning", "reasoning": "Hm.", "signature": "s1"}
    peer = Peer(output({"content": [thought, {"type": "text", "text": "Hi."}]}), output({"content": ""}))
    changed = {**(await peer.told()).message, "content": "Ho."}
    assert "message-key-dropped:provider_content" in (await peer.told(HELLO, changed, HELLO)).changes
    assert peer.asked[1][0][1].content == "Ho."


async def test_arguments_that_inspect_could_not_parse_are_none_for_the_judge_either():
    broken = {**CALL, "arguments": {}, "parse_error": "no JSON: {"}
    reply = await Peer(output({"content": "", "tool_calls": [broken]})).told()
    assert reply.message["tool_calls"][0]["function"]["arguments"] == "no JSON: {"
    assert "malformed-arguments-lost" in reply.changes


async def test_sampling_is_passed_on_and_inspect_retries_nothing():
    peer = Peer(output({"content": ""}), temperature=0.5, max_tokens=9, seed=3)
    await peer.told(repeat=2)
    config = peer.asked[0][2]
    assert (config.temperature, config.max_tokens, config.seed, config.max_retries) == (0.5, 9, 5, 0)


async def test_a_failed_call_is_an_error_of_ours():
    with pytest.raises(CallError, match="RuntimeError: boom") as failure:
        await Peer(RuntimeError("boom")).told()
    assert (failure.value.kind, failure.value.final) == ("provider error", True)


async def test_an_error_that_quotes_a_key_of_the_environment_is_told_without_it(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("SOME_API_KEY", "sk-0123456789")
    with pytest.raises(CallError) as failure:
        await Peer(RuntimeError("wrong key sk-0123456789")).told()
    assert "wrong key ***" in str(failure.value)


@pytest.mark.parametrize(("status", "final"), [(401, True), (429, False), (503, False)])
async def test_a_status_decides_whether_another_try_may_help(status: int, final: bool):
    error = RuntimeError("no")
    error.status_code = status  # type: ignore[attr-defined]
    with pytest.raises(CallError) as failure:
        await Peer(error).told()
    assert (failure.value.kind, failure.value.final) == (f"http {status}", final)


def test_the_name_finds_the_provider_and_counts_as_asked_over_a_network():
    model = model_from_name("inspect/mockllm/some/model", model_options(seed=1))
    assert isinstance(model, InspectModel) and model.name == "inspect/mockllm/some/model"
    assert model.settings()["sent_as"] == "some/model"
    assert endpoint_of(model) == "inspect:mockllm"


def test_a_provider_that_inspect_does_not_know_is_named():
    with pytest.raises(UsageError, match="nowhere/model"):
        model_from_name("inspect/nowhere/model", ModelOptions())


async def test_gold_answers_through_inspect_are_all_correct():
    items = WILD_MINI.load(WILD_MINI.data.locate(None))
    for item, _ in zip(items, range(4), strict=False):
        replies: dict[str, list[Reply]] = {}

        async def ask(unit: str, request: Request, said: dict[str, list[Reply]] = replies) -> Reply:
            assert request.gold is not None
            gold = request.gold("parallel")
            calls = [
                {
                    "id": one["id"],
                    "function": one["function"]["name"],
                    "arguments": json.loads(one["function"]["arguments"]),
                }
                for one in gold.get("tool_calls") or []
            ]
            answer = output({"content": gold.get("content") or "", "tool_calls": calls or None})
            reply = await Peer(answer).model.complete(request)
            said.setdefault(unit, []).append(reply)
            return reply

        await WILD_MINI.play(item, ask, "official")
        transcripts = {unit: Transcript(tuple(said)) for unit, said in replies.items()}
        outcomes = [verdict.outcome for verdict in WILD_MINI.judge(item, transcripts, "official")]
        assert outcomes == ["correct"] * len(item.units)
