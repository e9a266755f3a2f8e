"""The mistakes that ACEBench's audit plants in episodes: every one, as it is written."""

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
