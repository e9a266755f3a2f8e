"""The mistakes that ACEBench's audit plants in episodes: every one, as it is written."""

# ruff: noqa: E501 - each mistake stands on one line

from dataclasses import replace
from typing import Any

import pytest

from benchmarks.acebench import sandbox_build as sandbox
from benchmarks.acebench.reply_build import item
from benchmarks.acebench.test_mistakes import TEXT, mistakes
from wildtool.benchmarks.acebench import ACEBENCH
from wildtool.benchmarks.acebench.audit import explain
from wildtool.benchmarks.acebench.audit.episode_mutants import end_state, script_of
from wildtool.toolcall.call_syntax import CallExpression
from wildtool.types import Item


def episode(*milestones: str, **changed: Any) -> Item:
    """An episode of the small sandbox whose end state is the one that the milestones lead to."""
    names = ("turn_on_wifi", "send_message", "login_device", "add_reminder", "delete_message")
    parameters = {"properties": {"message": TEXT, "receiver_name": TEXT}, "required": ["message"]}
    functions = tuple({"name": name, "description": "", "parameters": parameters} for name in names)
    start = {"BaseApi": {"wifi": False, "logged_in": True}}
    blank = replace(sandbox.record(*milestones), functions=functions, initial_config=start)
    state = end_state(blank, sandbox.edition(), script_of(milestones))
    record = replace(blank, **{"end_state": tuple(map(dict, state)), **changed})
    return item(record, edition=sandbox.edition())


SEND = "[send_message(sender_name='Ann', receiver_name='Bob', message='Hi you')]"


def test_the_mistakes_of_an_episode_with_calls_of_texts() -> None:
    assert mistakes(episode("[turn_on_wifi()]", SEND)) == [
        ("finished at once", "finish conversation", "no call"),
        ("told instead of done", "All of that is done now. / finish conversation", "no call"),
        (
            "step left out",
            "[send_message(sender_name='Ann', receiver_name='Bob', message='Hi you')] / finish conversation",
            "turn_on_wifi",
        ),
        ("step left out", "[turn_on_wifi()] / finish conversation", "send_message"),
        (
            "entry added",
            "[turn_on_wifi()] / [send_message(sender_name='Ann', receiver_name='Bob', message='Hi you')] / [add_reminder(title='zzyzx', description='zzyzx', time='2024-06-12 09:00')] / finish conversation",
            "add_reminder",
        ),
        (
            "unknown argument",
            "[turn_on_wifi(zz_unknown=1)] / [send_message(sender_name='Ann', receiver_name='Bob', message='Hi you')] / finish conversation",
            "turn_on_wifi: zz_unknown",
        ),
        (
            "unknown argument",
            "[turn_on_wifi()] / [send_message(sender_name='Ann', receiver_name='Bob', message='Hi you', zz_unknown=1)] / finish conversation",
            "send_message: zz_unknown",
        ),
        (
            "extra optional argument",
            "[turn_on_wifi(message='zzyzx quuxly')] / [send_message(sender_name='Ann', receiver_name='Bob', message='Hi you')] / finish conversation",
            "turn_on_wifi: message",
        ),
        (
            "extra optional argument",
            "[turn_on_wifi(receiver_name='zzyzx quuxly')] / [send_message(sender_name='Ann', receiver_name='Bob', message='Hi you')] / finish conversation",
            "turn_on_wifi: receiver_name",
        ),
        (
            "required argument left out",
            "[turn_on_wifi()] / [send_message(sender_name='Ann', receiver_name='Bob')] / finish conversation",
            "send_message: message",
        ),
        (
            "other text",
            "[turn_on_wifi()] / [send_message(sender_name='zzyzx quuxly', receiver_name='Bob', message='Hi you')] / finish conversation",
            "send_message: sender_name: 'Ann' -> 'zzyzx quuxly'",
        ),
        (
            "other text",
            "[turn_on_wifi()] / [send_message(sender_name='Ann', receiver_name='Bob', message='zzyzx quuxly')] / finish conversation",
            "send_message: message: 'Hi you' -> 'zzyzx quuxly'",
        ),
        (
            "wrong type",
            "[turn_on_wifi()] / [send_message(sender_name=['Ann'], receiver_name='Bob', message='Hi you')] / finish conversation",
            "send_message: sender_name: 'Ann' -> ['Ann']",
        ),
        (
            "wrong type",
            "[turn_on_wifi()] / [send_message(sender_name='Ann', receiver_name='Bob', message=['Hi you'])] / finish conversation",
            "send_message: message: 'Hi you' -> ['Hi you']",
        ),
        (
            "empty text",
            "[turn_on_wifi()] / [send_message(sender_name='Ann', receiver_name='Bob', message='')] / finish conversation",
            "send_message: message: 'Hi you' -> ''",
        ),
        (
            "null for a value",
            "[turn_on_wifi()] / [send_message(sender_name='Ann', receiver_name='Bob', message=None)] / finish conversation",
            "send_message: message: 'Hi you' -> None",
        ),
        (
            "swapped values",
            "[turn_on_wifi()] / [send_message(sender_name='Bob', receiver_name='Ann', message='Hi you')] / finish conversation",
            "send_message: sender_name and receiver_name",
        ),
        (
            "swapped values",
            "[turn_on_wifi()] / [send_message(sender_name='Ann', receiver_name='Hi you', message='Bob')] / finish conversation",
            "send_message: receiver_name and message",
        ),
        (
            "optional argument left out",
            "[turn_on_wifi()] / [send_message(receiver_name='Bob', message='Hi you')] / finish conversation",
            "send_message: sender_name",
        ),
        (
            "optional argument left out",
            "[turn_on_wifi()] / [send_message(sender_name='Ann', message='Hi you')] / finish conversation",
            "send_message: receiver_name",
        ),
        (
            "text negated",
            "[turn_on_wifi()] / [send_message(sender_name='not Ann', receiver_name='Bob', message='Hi you')] / finish conversation",
            "send_message: sender_name: 'Ann' -> 'not Ann'",
        ),
        (
            "text negated",
            "[turn_on_wifi()] / [send_message(sender_name='Ann', receiver_name='Bob', message='not Hi you')] / finish conversation",
            "send_message: message: 'Hi you' -> 'not Hi you'",
        ),
        (
            "text with something else behind",
            "[turn_on_wifi()] / [send_message(sender_name='Ann and zzyzx', receiver_name='Bob', message='Hi you')] / finish conversation",
            "send_message: sender_name: 'Ann' -> 'Ann and zzyzx'",
        ),
        (
            "text with something else behind",
            "[turn_on_wifi()] / [send_message(sender_name='Ann', receiver_name='Bob', message='Hi you and zzyzx')] / finish conversation",
            "send_message: message: 'Hi you' -> 'Hi you and zzyzx'",
        ),
        (
            "one word of a text changed",
            "[turn_on_wifi()] / [send_message(sender_name='Ann', receiver_name='Bob', message='Hi zzyzx')] / finish conversation",
            "send_message: message: 'Hi you' -> 'Hi zzyzx'",
        ),
        (
            "end left out",
            "[turn_on_wifi()] / [send_message(sender_name='Ann', receiver_name='Bob', message='Hi you')]",
            "silence after the last call",
        ),
    ]


def test_the_mistakes_of_an_episode_with_two_calls_at_once() -> None:
    assert mistakes(episode("[login_device()]", "[turn_on_wifi(), login_device()]")) == [
        ("finished at once", "finish conversation", "no call"),
        ("told instead of done", "All of that is done now. / finish conversation", "no call"),
        ("step left out", "[login_device()] / finish conversation", "turn_on_wifi, login_device"),
        (
            "entry added",
            "[login_device()] / [turn_on_wifi(), login_device()] / [send_message(sender_name='Ann', receiver_name='Bob', message='zzyzx')] / finish conversation",
            "send_message",
        ),
        (
            "entry added",
            "[login_device()] / [turn_on_wifi(), login_device()] / [add_reminder(title='zzyzx', description='zzyzx', time='2024-06-12 09:00')] / finish conversation",
            "add_reminder",
        ),
        ("call left out", "[login_device()] / [login_device()] / finish conversation", "turn_on_wifi"),
        (
            "unknown argument",
            "[login_device()] / [turn_on_wifi(zz_unknown=1), login_device()] / finish conversation",
            "turn_on_wifi: zz_unknown",
        ),
        (
            "extra optional argument",
            "[login_device()] / [turn_on_wifi(message='zzyzx quuxly'), login_device()] / finish conversation",
            "turn_on_wifi: message",
        ),
        (
            "end left out",
            "[login_device()] / [turn_on_wifi(), login_device()]",
            "silence after the last call",
        ),
    ]


def test_the_mistakes_of_an_episode_of_native_calls() -> None:
    assert mistakes(episode("[turn_on_wifi()]"), "fc") == [
        ("finished at once", "finish conversation", "no call"),
        ("told instead of done", "All of that is done now. / finish conversation", "no call"),
        ("step left out", "finish conversation", "turn_on_wifi"),
        (
            "entry added",
            'None + turn_on_wifi{} / None + send_message{"sender_name": "Ann", "receiver_name": "Bob", "message": "zzyzx"} / finish conversation',
            "send_message",
        ),
        (
            "entry added",
            'None + turn_on_wifi{} / None + add_reminder{"title": "zzyzx", "description": "zzyzx", "time": "2024-06-12 09:00"} / finish conversation',
            "add_reminder",
        ),
        (
            "unknown argument",
            'None + turn_on_wifi{"zz_unknown": 1} / finish conversation',
            "turn_on_wifi: zz_unknown",
        ),
        (
            "extra optional argument",
            'None + turn_on_wifi{"message": "zzyzx quuxly"} / finish conversation',
            "turn_on_wifi: message",
        ),
        (
            "extra optional argument",
            'None + turn_on_wifi{"receiver_name": "zzyzx quuxly"} / finish conversation',
            "turn_on_wifi: receiver_name",
        ),
        ("end left out", "None + turn_on_wifi{}", "silence after the last call"),
    ]


def test_a_step_is_left_out_or_repeated_in_its_place() -> None:
    wifi, delete, remind = (
        "[turn_on_wifi()]",
        "[delete_message(message_id=1)]",
        "[add_reminder(title='T', description='D', time='8')]",
    )
    steps = [row for row in mistakes(episode(wifi, delete, SEND, remind)) if row[0].startswith("step")]
    end = "finish conversation"
    assert steps == [
        ("step left out", f"{delete} / {SEND} / {remind} / {end}", "turn_on_wifi"),
        ("step left out", f"{wifi} / {SEND} / {remind} / {end}", "delete_message"),
        ("step left out", f"{wifi} / {delete} / {remind} / {end}", "send_message"),
        ("step repeated", f"{wifi} / {delete} / {SEND} / {SEND} / {remind} / {end}", "send_message"),
        ("step left out", f"{wifi} / {delete} / {SEND} / {end}", "add_reminder"),
    ]


def test_a_call_is_changed_in_its_place_among_others() -> None:
    found = mistakes(episode("[login_device(), turn_on_wifi()]"))
    assert [replies for kind, replies, _ in found if kind == "unknown argument"] == [
        "[login_device(), turn_on_wifi(zz_unknown=1)] / finish conversation"
    ]


def test_nobody_writes_to_nobody() -> None:
    of = episode("[turn_on_wifi()]")
    messages = {**of.data.edition.initial["MessageApi"], "user_list": {"Ann": {"user_id": "A"}}}
    alone = replace(of.data.edition, initial={**of.data.edition.initial, "MessageApi": messages})
    found = mistakes(item(of.data.records[0], edition=alone))
    assert [note for kind, _, note in found if kind == "entry added"] == ["add_reminder"]


def test_gold_that_cannot_be_read_stays_what_it_is() -> None:
    assert script_of(["[f()]", "words"]) == [[CallExpression("f", {})], "words"]


def test_native_calls_of_an_episode_are_numbered_through() -> None:
    of = episode("[turn_on_wifi(), login_device()]", SEND)
    gold = list(ACEBENCH.in_mode("fc").rules("fixed").mutants(of))[-1]
    ids = [[call["id"] for call in reply["tool_calls"]] for reply in gold.replies]
    assert (gold.kind, ids) == ("end left out", [["call_0", "call_1"], ["call_2"]])


def test_only_offered_tools_add_entries() -> None:
    added = {}
    for name in ("send_message", "add_reminder", "turn_on_wifi"):
        of = episode(
            "[turn_on_wifi()]",
            functions=tuple({"name": each} for each in dict.fromkeys(("turn_on_wifi", name))),
        )
        added[name] = [note for kind, _, note in mistakes(of) if kind == "entry added"]
    assert added == {"send_message": ["send_message"], "add_reminder": ["add_reminder"], "turn_on_wifi": []}


def test_an_episode_whose_gold_run_is_refused_is_explained_by_its_corrections(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def entry(field: str, fault: str, **place: Any) -> dict[str, Any]:
        return {"lang": "en", "id": "agent_multi_step_0", "field": field, "fault": fault, **place}

    milestones = [entry("milestones", "first", path=[0, 1]), entry("milestones", "second", path=[1, 0])]
    foreign = [entry("milestones", "other", path=[0]) | change for change in ({"lang": "zh"}, {"id": "x"})]
    monkeypatch.setattr(
        explain,
        "entries",
        lambda: [*foreign, *milestones, entry("end_state", "state"), entry("question", "no")],
    )
    rules = ACEBENCH.rules("official")
    wrong_state = ({"BaseApi": {"wifi": False, "logged_in": True}},)
    cases = {
        "right state": episode("[turn_on_wifi()]"),
        "wrong state": episode("[turn_on_wifi()]", end_state=wrong_state),
        "a blank": episode("[turn_on_wifi()] "),
        "alternatives": episode(
            "[turn_on_wifi()]", milestones=(("[turn_on_wifi()]",), ("[login_device()]",))
        ),
    }
    assert {name: rules.explain_gold(of, "0") for name, of in cases.items()} == {
        "right state": "first; second",
        "wrong state": "first; second; state",
        "a blank": explain.BLANK,
        "alternatives": "first",
    }
    assert [ACEBENCH.rules("fixed").explain_gold(of, "0") for of in cases.values()] == [""] * 4
