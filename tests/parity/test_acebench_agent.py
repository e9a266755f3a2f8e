"""Equality with the published sandbox, episode loops and agent scores of ACEBench, case by case; `official` rules."""

import copy
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from parity.cases import rows
from wildtool.benchmarks.acebench.data import AGENT, AgentRecord, read_category
from wildtool.benchmarks.acebench.episode.base import END_MARK
from wildtool.benchmarks.acebench.episode.end_state import compare_end_state, process_accuracy
from wildtool.benchmarks.acebench.episode.official import (
    ExecutionResult,
    OfficialMultiStepEpisode,
    OfficialMultiTurnEpisode,
    calls_to_run,
    decode_message,
    execute_step,
    execute_turn,
    starts_bracketed,
)
from wildtool.benchmarks.acebench.sandbox import TOOL_ERRORS, Sandbox
from wildtool.benchmarks.acebench.sandbox.edition import Edition, read_edition

Case = dict[str, Any]
WALKS = {"agent_multi_step": OfficialMultiStepEpisode, "agent_multi_turn": OfficialMultiTurnEpisode}


@cache
def edition(official: Path, lang: str) -> Edition:
    return read_edition(official, "zh" if lang == "zh" else "en")


@cache
def records(official: Path) -> dict[tuple[str, str], AgentRecord]:
    return {
        (lang, record.id): record
        for lang in ("en", "zh")
        for category in AGENT
        for record in read_category(official, lang, category)
        if isinstance(record, AgentRecord)
    }


def as_json(value: Any) -> Any:
    return json.loads(json.dumps(value))


def differing(path: Path, replay: Callable[[Case], Case]) -> list[tuple[Case, Case]]:
    """The cases whose replay differs, each with what came out; the file must have cases."""
    compared = [(case, replay(case)) for case in rows(path)]
    assert compared
    return [(case, out) for case, out in compared if any(case[key] != value for key, value in out.items())]


def test_sandbox_calls_return_raise_and_change_what_the_original_does(cases: Path, official: Path):
    def replay(case: Case) -> Case:
        box = Sandbox(edition(official, case["lang"]), [case["class"]], case["initial_config"])
        outcomes = [call(box, case["class"], expected) for expected in case["steps"]]
        state = box.state(case["class"])
        state.pop("user_list", None)
        state.pop("merchant_list", None)
        if "flights" in state:
            keys = ("flight_no", "depart_time", "seats_available")
            state["seats_available"] = [[flight[key] for key in keys] for flight in state.pop("flights")]
        kept = ("returns", "returns_repr", "raises")
        expected = [{key: s[key] for key in kept if key in s} for s in case["steps"]]
        return {"final_state": as_json(state)} | ({} if outcomes == expected else {"steps": outcomes})

    assert differing(cases / "sandbox_traces.jsonl.gz", replay) == []


def call(box: Sandbox, owner: str, expected: Case) -> Case:
    tools = box.tools(expected["method"])
    if not tools:
        return {"raises": ["AttributeError", f"'{owner}' object has no attribute '{expected['method']}'"]}
    try:
        value = tools[0](*copy.deepcopy(expected["args"]), **copy.deepcopy(expected["kwargs"]))
    except TOOL_ERRORS as error:
        return {"raises": [type(error).__name__, str(error)]}
    shown = {"returns_repr": repr(value)} if "returns_repr" in expected else {}
    return {"returns": as_json(value), **shown}


def test_messages_are_routed_decoded_and_run_as_in_the_original(cases: Path, official: Path):
    classes = ("BaseApi", "MessageApi", "ReminderApi", "FoodPlatform")
    config = {"BaseApi": {"wifi": True, "logged_in": True}}

    def ran(mode: str, calls: list[str], executed: ExecutionResult) -> Case:
        return {
            f"{mode}_decoded_calls": calls,
            f"{mode}_execution_message": executed.message,
            f"{mode}_state_captured": executed.captured,
        }

    def replay(case: Case) -> Case:
        text, texts = case["message"], edition(official, case["lang"])
        calls, routed = decode_message(text), calls_to_run(text)
        in_step = execute_step(texts, Sandbox(texts, classes, config), calls)
        out: Case = {
            "multi_turn_recipient": "user" if routed is None else "execution",
            "multi_step_recipient_label": "execution" if starts_bracketed(text) else "user",
            "multi_step_execution_message": in_step.message,
            "multi_step_state_captured": in_step.captured,
        }
        if calls is not None:
            out |= ran("multi_step", calls, in_step)
        else:
            assert "multi_step_decode_error" in case
        # A text that goes to the user is never decoded for running, whatever that would give.
        if routed is not None:
            out |= ran("multi_turn", routed, execute_turn(texts, Sandbox(texts, classes, config), routed))
        return out

    assert differing(cases / "agent_message_cases.jsonl", replay) == []


def test_episodes_have_the_originals_dialogue_end_state_and_scores(cases: Path, official: Path):
    def replay(case: Case) -> Case:
        record = records(official)[case["lang"], case["id"]]
        episode = WALKS[case["category"]](
            record, edition(official, case["lang"]), max_messages=case["max_dialog_turns"]
        )
        scripts = {"agent": iter(case["agent_messages"]), "user": iter(case["user_messages"])}
        while (request := episode.request()) is not None:
            episode.advance({"content": next(scripts[request.role], END_MARK)})
        result = episode.result()
        end = compare_end_state(record.end_state, result)
        process = process_accuracy(record.milestones, episode.process, end_to_end=end.correct)
        return {
            "dialogue": [
                {"sender": m.sender, "recipient": m.recipient, "message": m.message} for m in episode.dialogue
            ],
            "process": episode.process,
            "result": result,
            "end_to_end": float(end.correct),
            "error_type": end.error_type,
            "errors": [list(sentences) for sentences in end.errors],
            "process_accuracy": round(process, 3),
        }

    assert differing(cases / "agent_episodes.jsonl.gz", replay) == []


def test_end_states_are_judged_as_in_the_original(cases: Path):
    def replay(case: Case) -> Case:
        end = compare_end_state(case["ground_truth"], case["result"])
        if "crash" in case:
            # A gold object against what is no object: the original ends here, we call it wrong.
            return {} if not end.correct else {"crash": None}
        return {
            "end_to_end": float(end.correct),
            "error_type": end.error_type,
            "errors": [list(sentences) for sentences in end.errors],
        }

    assert differing(cases / "agent_end_state_cases.jsonl", replay) == []


def test_processes_are_scored_as_in_the_original(cases: Path):
    def replay(case: Case) -> Case:
        score = process_accuracy(case["mile_stone"], case["process"], end_to_end=case["end_to_end_correct"])
        if "crash" in case:
            # Without any milestones the original ends; there is nothing to miss.
            return {"mile_stone": []}
        return {"process_accuracy": round(score, 3)}

    assert differing(cases / "agent_process_cases.jsonl", replay) == []
