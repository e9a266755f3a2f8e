"""What is said of a run: only what there is to say, the gravest first, each with the option that corrects it."""

from typing import Any

from wildtool.advice import Advice
from wildtool.engine.score.trust import FailureKind, VerdictTotals, early_remark, token_limit, trust_remarks
from wildtool.evidence import Evidence
from wildtool.types import Reply


def reading(format: str) -> str:
    """What is advised for calls in texts that a format reads."""
    return f"{Advice.READ_AGAIN.format(format=format)}; {Advice.RUN_IN_FORMAT.format(format=format)}"


def said(units: int = 10, unplayed: int = 0, **totals: Any) -> list[str]:
    return [str(remark) for remark in trust_remarks(Evidence(units, 0, unplayed), VerdictTotals(**totals))]


def test_nothing_is_said_of_a_run_that_went_well():
    assert said(signs={"replies": 30, "model a": 30, "fingerprint f": 30}, answered=10, with_tokens=10) == []


def test_units_without_a_verdict_are_said_with_the_range_that_they_leave_open():
    kinds = (
        FailureKind("network", 1, "network: Connection refused"),
        FailureKind("http 500", 1, "http 500: x"),
    )
    (text,) = (str(each) for each in trust_remarks(Evidence(10, 2, 1), VerdictTotals(correct=5), kinds))
    assert text == (
        "3 of 10 units are without a verdict (2 failed: network (1), http 500 (1); 1 not played) and count as not right: "
        "50.0 % correct, at most 80.0 %: run the same command again"
    )


def test_units_that_are_not_in_the_table_do_not_count():
    assert said(units=10, unplayed=6, absent=6) == ["only 4 of 10 units are here; the numbers are of these"]


def test_calls_that_nothing_read_name_the_format_most_of_them_have():
    signs = {"replies": 40, "unread hermes": 20, "unread react": 1, "no call": 8}
    assert said(signs=signs, calls=0) == [
        f"21 of 40 replies have calls written as text that no format read: {reading('hermes')}"
    ]
    assert said(signs={"replies": 4, "unread ": 2})[0].endswith(f": {Advice.RUN_IN_AUTO_FORMAT}")


def test_a_run_without_any_call_is_said_where_wrong_units_were_offered_tools():
    (text,) = said(signs={"replies": 40, "no call": 8}, calls=0)
    assert text.startswith(
        "no call in 40 replies, although tools were offered: use a server that reads calls"
    )
    assert said(signs={"replies": 40, "no call": 8}, calls=1) == []
    assert said(signs={"replies": 1, "no call": 1}, calls=0)[0].startswith("no call in 1 reply,")


def test_where_a_format_is_set_no_other_is_advised_for_calls_that_it_did_not_read():
    signs = {"replies": 23, "unread glm": 1}
    assert said(signs=signs, calls=22, format="hermes") == [
        "1 of 23 replies have calls written as text that hermes did not read: see them with `wildtool view RUN`"
    ]


def test_a_format_that_is_in_use_is_not_advised_again():
    (text,) = said(signs={"replies": 40, "no call": 8}, calls=0, format="hermes")
    assert text == (
        "no call in 40 replies, although tools were offered in the format hermes: see them with `wildtool view RUN`"
    )


def test_a_reply_that_the_context_ended_is_told_from_one_that_its_limit_ended():
    signs = {"replies": 40, "cut off": 9, "cut at 64": 6, "cut at 17": 2, "cut at 63": 1}
    assert said(signs=signs, max_tokens=64) == [
        f"3 of 40 replies cut off before --max-tokens, where the context ended: {Advice.LONGER_CONTEXT_RUN}",
        f"6 of 40 replies cut off at a token limit: {Advice.MORE_TOKENS}",
    ]
    assert said(signs=signs) == [f"9 of 40 replies cut off at a token limit: {Advice.MORE_TOKENS}"]


def test_text_where_most_units_expected_a_call_is_said_with_how_many_began_right():
    signs = {"replies": 20, "call due": 10, "text for a call": 6, "first call right": 3}
    assert said(signs=signs, calls=4) == [
        "6 of 10 units where a call was expected began without one; first call right in 3"
    ]
    assert said(signs={**signs, "text for a call": 5}, calls=5) == []


def test_replies_from_two_addresses_are_said_with_their_times():
    first = {"http://127.0.0.1:8000/v1": "2026-11-29T12:01:07+00:00"}
    assert said(signs={"replies": 20}, addresses=first, calls=3) == []
    both = {**first, "http://127.0.0.1:8001/v1": "2026-11-29T12:30:00+00:00"}
    (text,) = said(signs={"replies": 20}, addresses=both, calls=3)
    assert text == (
        "replies from 2 addresses: http://127.0.0.1:8000/v1 from 2026-11-29 12:01,"
        " http://127.0.0.1:8001/v1 from 2026-11-29 12:30"
    )


def test_a_run_without_any_call_is_not_said_twice():
    signs = {"replies": 10, "no call": 10, "call due": 10, "text for a call": 10}
    (text,) = said(signs=signs, calls=0)
    assert text.startswith("no call in 10 replies")


def test_one_of_the_first_replies_that_the_context_ended_does_not_ask_for_a_larger_limit():
    reply = Reply({"role": "assistant", "content": "Well"}, "", "length", usage={"completion_tokens": 12})
    short = f"a reply was cut off before --max-tokens, where the context ended: {Advice.LONGER_CONTEXT_RUN}"
    assert early_remark("cut off", reply, {"max_tokens": 64}) == short
    assert (
        early_remark("cut off", reply, {"max_tokens": 12})
        == f"a reply was cut off at a token limit: {Advice.MORE_TOKENS}"
    )
    assert early_remark("cut off", reply, {}) == f"a reply was cut off at a token limit: {Advice.MORE_TOKENS}"


def test_the_token_limit_is_the_one_that_was_sent():
    assert token_limit({"max_tokens": 64}) == 64
    assert token_limit({"extra_body": {"max_completion_tokens": 32}}) == 32
    assert token_limit({}) is None


def test_an_invented_result_in_one_of_the_first_replies_is_said_in_a_sentence():
    reply = Reply({"role": "assistant", "content": "<tool_response>1</tool_response>"})
    assert early_remark("invented result", reply, {}) == "a reply holds results that the model invented"


def test_calls_in_text_are_not_advised_another_format_where_one_is_set():
    reply = Reply({"role": "assistant", "content": '<tool_call>{"name": "a"}</tool_call>'})
    assert early_remark("unread hermes", reply, {}) == f"writes <tool_call> as text: {reading('hermes')}"
    said_early = early_remark("unread hermes", reply, {"format": "pythonic"})
    assert said_early == "writes <tool_call> as text that pythonic did not read"


def test_calls_where_most_units_expected_a_text_are_said():
    signs = {"replies": 20, "text due": 8, "call for a text": 5}
    assert said(signs=signs, calls=5) == ["5 of 8 units where a text was expected began with a call"]
    assert said(signs={**signs, "call for a text": 4}, calls=4) == []


def test_each_remark_has_its_sign_and_counts():
    def counts(evidence: Evidence, **totals: Any) -> list[tuple[str, int, int]]:
        remarks = trust_remarks(evidence, VerdictTotals(**totals))
        return [(remark.sign, remark.count, remark.of) for remark in remarks]

    signs = {"replies": 40, "cut off": 9, "cut at 17": 2, "empty": 3, "unread glm": 4, "unread react": 1}
    names = {"model a": 1, "model b": 2, "fingerprint a": 1, "fingerprint b": 2, "fingerprint c": 2}
    assert counts(
        Evidence(12, 1, 6), signs=signs | names, absent=5, max_tokens=64, answered=10, with_tokens=7
    ) == [
        ("absent", 5, 12),
        ("without a verdict", 2, 7),
        ("unread calls", 5, 40),
        ("context end", 2, 40),
        ("cut off", 7, 40),
        ("empty", 3, 40),
        ("models", 2, 40),
        ("system fingerprints", 3, 40),
        ("prompt tokens", 7, 10),
    ]
    assert counts(Evidence(9, 0, 0), signs={"replies": 20, "no call": 3}) == [("no call", 20, 20)]
    due = {"call due": 10, "text for a call": 6, "text due": 8, "call for a text": 5}
    assert counts(Evidence(9, 0, 0), signs={"replies": 20, **due}, calls=1) == [
        ("text for a call", 6, 10),
        ("call for a text", 5, 8),
    ]


def test_replies_with_a_call_in_their_reasoning_are_counted_once():
    signs = {"replies": 40, "no call": 30, "calls in reasoning": 30, "call due": 30, "text for a call": 30}
    assert said(signs=signs, calls=0) == [
        f"30 of 40 replies with a call that the server left in the reasoning: {Advice.CHECK}"
    ]


def test_replies_that_are_cut_off_are_not_counted_as_text_for_a_call():
    signs = {"replies": 20, "call due": 10, "text for a call": 9, "cut off": 5}
    assert said(signs=signs, calls=4) == [f"5 of 20 replies cut off at a token limit: {Advice.MORE_TOKENS}"]
    assert len(said(signs={**signs, "cut off": 3}, calls=4)) == 2


def test_only_the_replies_that_no_other_remark_explains_are_said_to_have_no_call():
    texts = said(signs={"replies": 40, "no call": 30, "empty": 10}, calls=0)
    assert texts[0].startswith("10 of 40 replies empty")
    assert texts[1].startswith("no call in the other 30 replies, although tools were offered")


def test_a_history_that_was_adapted_is_said_with_the_number_of_requests():
    assert said(signs={"replies": 40, "empty reasoning added": 33}, calls=20) == [
        "33 of 40 requests sent with an empty reasoning in each earlier reply without one, which the endpoint demands"
    ]


def test_one_error_of_nearly_all_units_that_needed_a_call_is_blamed_on_the_endpoint_or_the_format():
    signs = {"replies": 40, "call due": 20}
    (text,) = said(signs=signs, calls=40, mistakes={"unreadable": 18, "wrong value": 2})
    assert "18 of 20 units that needed a call have one error (unreadable)" in text and "endpoint" in text
    assert said(signs=signs, calls=40, mistakes={"unreadable": 17, "wrong value": 3}) == []
    assert said(signs={"replies": 4, "call due": 4}, calls=4, mistakes={"unreadable": 4}) == []


def test_an_endpoint_that_demands_another_history_is_named_while_the_run_goes_on():
    text = early_remark("empty reasoning added", Reply({"content": "a"}), {})
    assert text.startswith("the endpoint refuses the history as it is")
