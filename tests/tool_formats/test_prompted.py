"""A model behind a format is asked as a plain chat and answers in OpenAI's shape; nothing it said is lost."""

from typing import Any

import pytest

from models.options import model_options
from wildtool.errors import UsageError
from wildtool.models.baselines import make_baseline
from wildtool.models.prompted import PromptedModel
from wildtool.models.resolve import model_from_name
from wildtool.models.settings import EndpointOptions
from wildtool.tool_formats import CALL_FORMATS
from wildtool.tool_formats.detect import NAME_PATTERNS, resolve_format
from wildtool.types import Message, Reply, Request

TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
CALL = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
USER: Message = {"role": "user", "content": "hi"}


class Scripted:
    """Says what it is told to and keeps what it was asked."""

    name = "m"
    closed = False

    def __init__(self, message: Message | str = "ok") -> None:
        self.said = {"role": "assistant", "content": message} if isinstance(message, str) else message
        self.asked: list[Request] = []

    def settings(self) -> dict[str, Any]:
        return {"base_url": "x"}

    async def complete(self, request: Request) -> Reply:
        self.asked.append(request)
        return Reply(
            self.said, raw="body", finish_reason="stop", usage={"prompt_tokens": 1}, changes=("own",)
        )

    async def close(self) -> None:
        self.closed = True


async def asked(messages: list[Message], tools: tuple[Any, ...] = (TOOL,), format: str = "hermes") -> Request:
    inner = Scripted()
    await PromptedModel(inner, CALL_FORMATS[format]).complete(Request(messages, tools))
    return inner.asked[0]


async def answered(message: Message | str, format: str = "hermes") -> Reply:
    return await PromptedModel(Scripted(message), CALL_FORMATS[format]).complete(Request([USER], [TOOL]))


def called(*ids: str) -> Message:
    calls = [
        {"id": id_, "type": "function", "function": {"name": id_, "arguments": '{"a": 1}'}} for id_ in ids
    ]
    return {"role": "assistant", "content": "", "tool_calls": calls, "reasoning_content": "hm"}


async def test_a_request_without_tools_is_left_alone():
    request = Request([{"role": "user", "content": "[f(a=1)]"}, USER])
    inner = Scripted(CALL)
    reply = await PromptedModel(inner, CALL_FORMATS["hermes"]).complete(request)
    assert inner.asked == [request]
    assert (reply.message["content"], reply.changes) == (CALL, ("own",))


async def test_calls_and_results_of_the_history_become_words():
    history = [
        USER,
        called("f", "g"),
        {"role": "tool", "tool_call_id": "f", "content": "1"},
        {"role": "tool", "tool_call_id": "g", "content": [{"type": "text", "text": "2"}]},
        {"role": "assistant", "content": "done"},
    ]
    request = await asked(history)
    assert request.messages[1:] == [
        USER,
        {
            "role": "assistant",
            "content": '<tool_call>\n{"name":"f","arguments":{"a":1}}\n</tool_call>\n'
            '<tool_call>\n{"name":"g","arguments":{"a":1}}\n</tool_call>',
            "reasoning_content": "hm",
        },
        {
            "role": "user",
            "content": "<tool_response>\n1\n</tool_response>\n<tool_response>\n2\n</tool_response>",
        },
        {"role": "assistant", "content": "done"},
    ]


async def test_results_know_the_name_of_their_call():
    ids: list[Any] = ["a", 7, ["list"], None]
    calls = [
        {"id": id_, "function": {"name": f"f{number}", "arguments": {}}} for number, id_ in enumerate(ids)
    ]
    results = [{"role": "tool", "tool_call_id": id_, "content": f"{id_}"} for id_ in ids]
    request = await asked([USER, {"role": "assistant", "tool_calls": calls}, *results], format="mistral")
    shown = [("f0", "a"), ("f1", "7"), ("f2", "['list']"), ("f3", "None")]
    assert request.messages[-1]["content"] == "\n".join(
        f'[TOOL_RESULTS] {{"name":"{name}","content":"{text}"}} [/TOOL_RESULTS]' for name, text in shown
    )


async def test_messages_of_one_role_are_merged_and_that_is_recorded():
    inner = Scripted()
    parts = {"role": "user", "content": [{"type": "text", "text": "a"}]}
    history = [
        USER,
        called("f"),
        {"role": "tool", "tool_call_id": "f", "content": "1"},
        {**USER, "name": "n"},
        parts,
        USER,
    ]
    reply = await PromptedModel(inner, CALL_FORMATS["hermes"]).complete(Request(history, [TOOL]))
    assert inner.asked[0].messages[3:] == [
        {"role": "user", "content": "<tool_response>\n1\n</tool_response>\n\nhi", "name": "n"},
        parts,
        USER,
    ]
    assert reply.changes == ("own", "format:hermes", "merged-messages")


async def test_malformed_arguments_of_the_history_are_shown_as_text():
    broken = called("f")
    broken["tool_calls"][0]["function"]["arguments"] = "{oops"
    assert '"arguments":"{oops"' in (await asked([USER, broken])).messages[2]["content"]


async def test_a_request_without_tools_but_with_calls_in_its_history_is_put_in_words():
    request = await asked(
        [USER, called("f"), {"role": "tool", "tool_call_id": "f", "content": "1"}], tools=()
    )
    assert [message["role"] for message in request.messages] == ["user", "assistant", "user"]


async def test_a_call_becomes_an_openai_call_and_the_raw_text_is_kept():
    reply = await answered(f"Let me look.\n{CALL}")
    message = reply.message
    assert message["content"] == "Let me look."
    assert message["raw_content"] == f"Let me look.\n{CALL}"
    assert [call["function"] for call in message["tool_calls"]] == [{"name": "f", "arguments": '{"a":1}'}]
    assert message["tool_calls"][0]["id"].startswith("call_")
    assert reply.changes == ("own", "format:hermes")
    assert (reply.raw, reply.finish_reason, reply.usage) == ("body", "stop", {"prompt_tokens": 1})


async def test_a_message_of_nothing_but_calls_has_no_content():
    assert (await answered(CALL)).message["content"] is None


async def test_every_repair_is_recorded_as_often_as_it_was_made():
    broken = CALL.replace("1}", "1,}")
    assert (await answered(broken * 2)).changes.count("repair:trailing-comma") == 2


async def test_a_text_keeps_every_byte():
    message = {"role": "assistant", "content": " It is {sunny}. \n", "x": 1}
    assert (await answered(message)).message == message


async def test_an_unreadable_call_stays_and_is_remarked():
    reply = await answered("<tool_call>{oops</tool_call>")
    assert reply.message["content"] == "<tool_call>{oops</tool_call>"
    assert reply.changes[-1] == "repair:unreadable-call"


@pytest.mark.parametrize("content", [None, 7, {"a": 1}])
async def test_a_content_that_is_no_text_is_left_to_the_judge(content: Any):
    message = {"role": "assistant", "content": content}
    assert (await answered(message)).message == message


async def test_content_in_parts_is_read_as_one_text():
    parts = [{"type": "text", "text": CALL[:20]}, {"type": "text", "text": CALL[20:]}, "odd"]
    message = (await answered({"role": "assistant", "content": parts})).message
    assert message["raw_content"] == parts
    assert len(message["tool_calls"]) == 1


async def test_native_calls_are_left_as_they_came():
    assert (await answered(called("f"))).message == called("f")


async def test_gold_passes_through_a_format():
    model = PromptedModel(make_baseline("baseline/gold"), CALL_FORMATS["hermes"])
    request = Request([USER], [TOOL], gold=lambda style: called(style))
    assert (await model.complete(request)).message == called("parallel")


@pytest.mark.parametrize(
    ("model", "format"),
    [
        ("Qwen/Qwen2.5-7B-Instruct", "hermes"),
        ("qwen3:8b", "hermes"),
        ("NousResearch/Hermes-3-Llama-3.1-8B", "hermes"),
        ("meta-llama/Llama-3.1-8B-Instruct", "llama3-json"),
        ("llama3.2:1b", "llama3-json"),
        ("meta-llama/Llama-4-Scout-17B-16E-Instruct", "pythonic"),
        ("Team-ACE/ToolACE-2-Llama-3.1-8B", "pythonic"),
        ("watt-ai/watt-tool-8B", "pythonic"),
        ("Salesforce/Llama-xLAM-2-8b-fc-r", "json-list"),
        ("MadeAgents/Hammer2.1-7b", "hammer"),
        ("mistralai/Ministral-8B-Instruct-2410", "mistral"),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", "deepseek"),
        ("zai-org/GLM-4.5-Air", "glm"),
        ("gorilla-llm/gorilla-openfunctions-v2", "gorilla"),
        ("ToolBench/ToolLLaMA-2-7b-v2", "react"),
        ("Qwen/Qwen3-Coder-30B-A3B-Instruct", "qwen3-coder"),
        ("Qwen/Qwen3.5-35B-A3B", "qwen3-coder"),
        ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B", "qwen3-coder"),
        ("Qwen/Qwen3-Next-80B-A3B-Instruct", "hermes"),
        ("ibm-granite/granite-4.0-h-tiny", "hermes"),
        ("MiniMaxAI/MiniMax-M2", "minimax"),
        ("moonshotai/Kimi-K2-Instruct-0905", "kimi"),
        ("openai/gpt-oss-20b", "harmony"),
        ("deepseek-ai/DeepSeek-V3.2", "dsml"),
        ("deepseek-ai/DeepSeek-V3.2-Exp", "deepseek"),
        ("deepseek-ai/DeepSeek-V3.1", "deepseek"),
    ],
)
def test_auto_tells_the_format_by_the_name(model: str, format: str):
    assert resolve_format("auto", model) == (CALL_FORMATS[format], "auto")


def test_auto_takes_the_commonest_format_for_an_unknown_name_and_says_so():
    assert resolve_format("auto", "gpt-4o") == (CALL_FORMATS["hermes"], "by default")


def test_every_pattern_leads_to_a_format():
    assert {name for _, name in NAME_PATTERNS} == set(CALL_FORMATS)


def test_of_an_unknown_format_all_are_named():
    with pytest.raises(UsageError, match="hermes, llama3-json, pythonic"):
        resolve_format("nonsense", "qwen")


def test_a_model_at_an_endpoint_gets_the_format_and_a_baseline_does_not():
    options = model_options(base_url="http://127.0.0.1:1/v1", format="auto")
    model = model_from_name("qwen3", options)
    assert isinstance(model, PromptedModel)
    assert (model.name, model.settings()["format_chosen"]) == ("qwen3", "auto")
    assert not isinstance(model_from_name("baseline/chat", options), PromptedModel)


def test_a_model_beside_this_one_has_no_format():
    options = model_options(base_url="http://127.0.0.1:1/v1", format="hermes")
    assert options.for_other_role(EndpointOptions(), None).format is None
