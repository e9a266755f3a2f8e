"""The checker of generated sessions as a judge: asked as generation asks it, and read as it is read there."""

from dataclasses import replace

from wildtool.judges.cases import JudgeCase
from wildtool.judges.styles import JudgeSettings, style_of
from wildtool.toolcall.call_mutants import calls_message, made_call
from wildtool_data.make.core.prompts import role_opening

TOOL = {"type": "function", "function": {"name": "tides", "parameters": {"type": "object"}}}
CALL = calls_message([made_call("tides", '{"harbour": "Bergen"}')])
CASE = JudgeCase(
    benchmark="harbour",
    item="i",
    unit="1",
    lang="en",
    tier="gold",
    kind="gold",
    right=True,
    tools=[TOOL],
    messages=[
        {"role": "user", "content": "Hello"},
        calls_message([made_call("tides", "{}")]),
        {"role": "tool", "tool_call_id": "call_0", "content": "high"},
        {"role": "assistant", "content": "High."},
        {"role": "user", "content": "And in Bergen?"},
        CALL,
    ],
    start=5,
)


def test_it_is_shown_what_a_session_shows_it():
    style, shown = style_of("checker")
    said = [
        {"user": "Hello"},
        {"calls": [{"name": "tides", "arguments": {}}], "results": ["high"]},
        {"assistant": "High."},
        {"user": "And in Bergen?"},
    ]
    decision = {"plan": "", "calls": [{"name": "tides", "arguments": {"harbour": "Bergen"}}]}
    situation = {"tools": [TOOL["function"]], "now": "", "conversation": said, "decision": decision}
    expected = role_opening("checker", "en", ["decision"], situation)
    assert not shown and style.ask(CASE, shown, JudgeSettings()) == expected


def test_it_is_read_as_generation_reads_it():
    style, _ = style_of("checker")

    def passes(text: str) -> bool | None:
        judgement = style.read({"role": "assistant", "content": text}, JudgeSettings())
        return None if judgement is None else judgement.passed

    assert passes('{"accepted": true, "reason": "", "quote": ""}') is True
    assert passes('```json\n{"accepted": false}\n```') is False
    assert passes('{"accepted": "yes"}') is None
    assert passes("accepted") is None


def test_it_is_asked_about_steps_of_calls_alone():
    style, _ = style_of("checker")
    assert not style.unfit(CASE)
    assert style.unfit(replace(CASE, start=3, messages=CASE.messages[:4]))
