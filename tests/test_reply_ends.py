"""Ends of replies: each reason of each protocol has a class, and each class is read from what is recorded."""

from enum import Enum
from itertools import islice
from typing import Any, get_args

import pytest

from long import WHOLE
from wildtool.benchmark import evaluators_of
from wildtool.benchmarks import OURS
from wildtool.benchmarks.wildtoolbench import WILD_MINI
from wildtool.data.data_set import data_of
from wildtool.engine.registry import load_benchmark
from wildtool.episode import gold_replies
from wildtool.reply_ends import (
    NO_REPLY,
    NOT_RIGHT,
    End,
    deciding_end,
    end_of,
    error_class,
    failing_end,
    reason_end,
)
from wildtool.types import Message, Reply, Transcript

DOCUMENTED = {
    "chat completions": "stop length tool_calls content_filter function_call",
    "servers like it": "eos eos_token abort error repetition model_length sensitive network_error"
    " insufficient_system_resource load",
    "Responses, status": "completed failed in_progress cancelled queued incomplete",
    "Responses, incomplete": "max_output_tokens max_messages content_filter steered",
    "Messages": "end_turn max_tokens stop_sequence tool_use pause_turn compaction refusal"
    " model_context_window_exceeded",
    "generateContent": "FINISH_REASON_UNSPECIFIED STOP MAX_TOKENS SAFETY RECITATION LANGUAGE OTHER BLOCKLIST"
    " PROHIBITED_CONTENT SPII MALFORMED_FUNCTION_CALL IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT IMAGE_OTHER NO_IMAGE"
    " IMAGE_RECITATION UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS MISSING_THOUGHT_SIGNATURE MALFORMED_RESPONSE"
    " ESCALATION PUP_LIMITED_DISABLED CONTINUATION MODEL_ARMOR",
}
"""Values of each protocol's field as its reference lists them."""


def test_each_documented_reason_has_a_class():
    unclassed = {
        protocol: [r for r in reasons.split() if not reason_end(r)]
        for protocol, reasons in DOCUMENTED.items()
    }
    assert not any(unclassed.values()), unclassed


def values(kind: Any) -> set[str]:
    """The texts of a Literal at any depth, or of an Enum."""
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {member.value for member in kind}
    return {kind} if isinstance(kind, str) else set[str]().union(*map(values, get_args(kind)))


@pytest.mark.parametrize(
    ("module", "name", "field"),
    [
        ("openai.types.chat.chat_completion", "Choice", "finish_reason"),
        ("openai.types.chat.chat_completion_chunk", "Choice", "finish_reason"),
        ("openai.types.completion_choice", "CompletionChoice", "finish_reason"),
        ("openai.types.responses.response", "IncompleteDetails", "reason"),
        ("openai.types.responses", "ResponseStatus", None),
        ("anthropic.types", "StopReason", None),
        ("anthropic.types.beta", "BetaStopReason", None),
        ("google.genai.types", "FinishReason", None),
    ],
)
def test_each_reason_of_an_installed_client_library_has_a_class(module: str, name: str, field: str | None):
    found = getattr(pytest.importorskip(module), name)
    reasons = values(found.model_fields[field].annotation if field else found)
    assert reasons and not {reason for reason in reasons if not reason_end(reason)}


@pytest.mark.parametrize(
    ("reason", "message", "end"),
    [
        ("stop", {"content": "Done."}, End.COMPLETE),
        ("stop", {"content": None, "tool_calls": [{}]}, End.CALLS),
        ("tool_calls", {"tool_calls": [{}]}, End.CALLS),
        ("length", {"content": "Do"}, End.CUT),
        ("length", {"tool_calls": [{}]}, End.CUT),
        ("content_filter", {"content": "Well,"}, End.FILTERED),
        ("stop", {"content": None, "refusal": "I cannot."}, End.REFUSED),
        ("stop", {"content": "Done.", "refusal": None}, End.COMPLETE),
        ("stop", {"content": "Done.", "refusal": {"a": 1}}, End.COMPLETE),
        ("MALFORMED_FUNCTION_CALL", {"content": ""}, End.MALFORMED),
        ("OTHER", {"content": "So"}, End.UNFINISHED),
        ("pause_turn", {"content": "So"}, End.PAUSED),
        (None, {"content": "So"}, End.UNKNOWN),
        ("brand_new", {"content": "So"}, End.UNKNOWN),
    ],
)
def test_the_end_of_a_recorded_reply_follows_from_reason_and_message(
    reason: str | None, message: Message, end: End
):
    assert end_of(Reply(message, finish_reason=reason)) == end


def test_a_reason_that_is_no_text_is_unknown():
    assert end_of(Reply({"content": "So"}, finish_reason=3)) == End.UNKNOWN  # type: ignore[arg-type]


def test_no_end_both_decides_a_unit_and_is_no_reply():
    assert not NOT_RIGHT.keys() & NO_REPLY


@pytest.mark.parametrize(
    ("role", "reason", "end"),
    [
        ("agent", "content_filter", None),
        ("user", "content_filter", End.FILTERED),
        ("user", "malformed_response", End.MALFORMED),
        ("user", "refusal", End.REFUSED),
        ("agent", "abort", End.UNFINISHED),
        ("user", "pause_turn", End.PAUSED),
        ("user", "stop", None),
        ("user", "length", None),
        ("agent", None, None),
    ],
)
def test_a_call_fails_by_an_end_that_leaves_its_role_no_reply(role: str, reason: str | None, end: End | None):
    assert failing_end(role, Reply({"content": "a"}, finish_reason=reason)) == end


@pytest.mark.parametrize(
    ("reason", "end"),
    [
        ("Stop", End.COMPLETE),
        ("TOOL_USE", End.CALLS),
        ("model_armor", End.FILTERED),
        (None, None),
        ("later", None),
        (5, None),
        ("unknown", End.UNKNOWN),
        ("continuation", End.CUT),
    ],
)
def test_a_reason_has_one_class_in_any_case_of_letters(reason: object, end: End | None):
    assert reason_end(reason) == end


def test_blank_refusals_are_none_and_ends_name_their_errors():
    assert end_of(Reply({"refusal": " \n", "content": "a"}, finish_reason="stop")) == End.COMPLETE
    assert end_of(Reply({"refusal": "no", "tool_calls": [{}]}, finish_reason="length")) == End.REFUSED
    assert end_of(Reply({"tool_calls": []}, finish_reason="stop")) == End.COMPLETE
    assert error_class(End.FILTERED) == "reply filtered"


@pytest.mark.parametrize("name", OURS)
def test_every_profile_but_our_own_computes_what_a_published_evaluator_computes(name: str):
    benchmark = load_benchmark(name)
    own = {*benchmark.profiles} - evaluators_of(benchmark).keys()
    assert own and own <= {"fixed", "ledger"} and evaluators_of(benchmark).keys() <= {*benchmark.profiles}


@pytest.mark.parametrize(
    ("profile", "errors"), [("official", {None}), ("paper", {None}), ("fixed", {"reply refused"})]
)
def test_published_evaluators_do_not_read_what_a_model_declines_beside_its_text_or_calls(
    profile: str, errors: set[str | None]
):
    judged = 0
    for item in islice(WILD_MINI.load(data_of(WILD_MINI).locate(None)), None if WHOLE else 8):
        for unit in item.units:
            gold = gold_replies(WILD_MINI.rules(profile).episode(item, unit)) or []
            replies = tuple(
                Reply({**message, "refusal": "I cannot."}, finish_reason="stop") for message in gold
            )
            verdicts = WILD_MINI.judge(item, {unit: Transcript(replies)}, profile)
            assert {verdict.error for verdict in verdicts if verdict.unit == unit} == errors
            judged += 1
    assert judged


@pytest.mark.parametrize("as_published", [False, True])
@pytest.mark.parametrize("message", [{"content": None}, {"content": ""}, {"content": "", "tool_calls": []}])
def test_a_refusal_alone_decides_under_every_profile(message: Message, as_published: bool):
    reply = Reply({**message, "refusal": "I cannot."}, finish_reason="stop")
    assert deciding_end(reply, as_published=as_published) == End.REFUSED


def test_the_end_that_a_provider_gives_decides_also_under_rules_of_a_published_evaluator():
    reply = Reply({"content": "Well,"}, finish_reason="content_filter")
    assert deciding_end(reply, as_published=True) == End.FILTERED
