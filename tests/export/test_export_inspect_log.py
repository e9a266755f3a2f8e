"""A log of Inspect as a whole, and each message, output and tool in its form; Inspect itself need not be installed."""

import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from export.recorded_forms import (
    CALLED,
    METRICS,
    RESULT,
    RUN_JSON,
    SYSTEM,
    USER,
    Run,
    reply_step,
    result,
    units,
)
from wildtool.evidence import Evidence
from wildtool.export import ExportRequest, inspect_log
from wildtool.export.inspect_messages import inspect_message_list, message_of, tool_of, usage_of
from wildtool.types import Verdict

REQUEST = ExportRequest(folder=Path("r"))


@pytest.fixture(autouse=True)
def _a_small_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect_log, "RecordedRun", Run)
    monkeypatch.setattr(inspect_log, "load_result", lambda folder, profile, data: result())


class InvalidError(Exception):
    pass


class ToolInfo:
    @staticmethod
    def model_validate(fields: dict[str, Any]) -> dict[str, Any]:
        if not isinstance(fields.get("parameters", {}), dict):
            raise InvalidError
        return fields


@pytest.fixture
def _inspect(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inspect's classes, as far as they are used."""
    log, tool, pydantic = ModuleType("inspect_ai.log"), ModuleType("inspect_ai.tool"), ModuleType("pydantic")
    log.__dict__["EvalLog"] = SimpleNamespace(model_validate=lambda fields: fields)
    log.__dict__["write_eval_log"] = lambda document, name, format: Path(name).write_text(
        json.dumps([format, document])
    )
    tool.__dict__["ToolInfo"], pydantic.__dict__["ValidationError"] = ToolInfo, InvalidError
    modules = {"inspect_ai.log": log, "inspect_ai.tool": tool, "pydantic": pydantic}
    monkeypatch.setattr(inspect_log, "import_module", modules.__getitem__)


def uuid(name: str) -> str:
    return sha256(name.encode()).hexdigest()[:22]


def listed(sample: str, *messages: dict[str, Any]) -> list[dict[str, Any]]:
    return inspect_message_list(messages, sample)


SHOWN = {"name": "level", "description": "", "parameters": {"type": "object", "properties": {}}}
USED = {
    "input_tokens": 10,
    "output_tokens": 4,
    "input_tokens_cache_read": 3,
    "reasoning_tokens": 2,
    "total_tokens": 14,
}


def event(sample: str, number: int, seconds: int, **more: Any) -> dict[str, Any]:
    when = f"1970-01-01T00:{seconds // 60:02}:{seconds % 60:02}+00:00"
    return {
        "event": "model",
        "uuid": uuid(f"{sample}/{number}"),
        "timestamp": when,
        "completed": when,
        "working_start": 0.0,
        "model": "dev/m",
        "role": None,
        "tools": [SHOWN],
        "tool_choice": "auto",
        "config": {},
        **more,
    }


def answered(
    request: str, message: dict[str, Any], latency: float, changes: list[str], raw: str
) -> dict[str, Any]:
    response = {"message": message, "body": raw, "changes": changes}
    return {"request": {"hash": request}, "response": response, "time": latency}


def scored(sample: str, score: dict[str, Any], when: str) -> dict[str, Any]:
    return {
        "event": "score",
        "uuid": uuid(f"{sample}/score"),
        "score": score,
        "scorer": "wildtool/fixed",
        "timestamp": when,
        "working_start": 0.0,
    }


def mark(value: str, answer: str | None, reason: str, **columns: Any) -> dict[str, Any]:
    return {"value": value, "answer": answer, "explanation": reason, "metadata": columns}


def choice(message: dict[str, Any], stop: str, latency: float, model: str = "dev/m") -> dict[str, Any]:
    entry = {"message": {**message_of(message), "model": model}, "stop_reason": stop}
    return {"model": model, "choices": [entry], "time": latency}


def samples() -> list[dict[str, Any]]:
    one, two = "name0/i/1/0/0", "name0/i/1/1/1"
    last = {"role": "assistant", "content": "5 m."}
    called = {key: value for key, value in CALLED.items() if key != "role"}
    right = mark(
        "C", "5 m.", "all right", outcome="correct", score=1, error=None, steps=2, f=1, detail={"d": 2}
    )
    failed = mark(
        "N", None, "http 500: broken", outcome="infra_error", score=0.0, error="infra", steps=0, detail={}
    )
    zero = "1970-01-01T00:00:00+00:00"
    final = {
        **choice(last, "stop", 0.25),
        "usage": {"input_tokens": 20, "output_tokens": 5, "total_tokens": 25},
    }
    return [
        {
            "id": "i/1/0",
            "epoch": 1,
            "uuid": uuid(one),
            "input": listed(one, SYSTEM, USER),
            "target": ['level {"item":"i/1","unit":"0"}'],
            "messages": listed(one, SYSTEM, USER, CALLED, RESULT, last),
            "output": final,
            "scores": {"wildtool/fixed": right},
            "metadata": {"item": "i/1", "unit": "0", "split": "s", "lang": "en"},
            "events": [
                event(
                    one,
                    0,
                    60,
                    input=listed(one, SYSTEM, USER),
                    output={**choice(CALLED, "tool_calls", 0.5), "usage": USED},
                    retries=1,
                    working_time=0.5,
                    call=answered("hash", called, 0.5, [], "{}"),
                ),
                event(
                    one,
                    1,
                    70,
                    model="user",
                    role="user",
                    tools=[],
                    input=listed(one, USER),
                    output={
                        **choice({"role": "assistant", "content": "5 m"}, "unknown", 4.0, "user"),
                        "usage": {"input_tokens": 100, "total_tokens": 100},
                    },
                    retries=0,
                    working_time=4.0,
                    call=answered("hash", {"content": "5 m"}, 4.0, [], ""),
                ),
                event(
                    one,
                    2,
                    0,
                    input=listed(one, SYSTEM, USER, CALLED, RESULT),
                    output=final,
                    retries=0,
                    working_time=0.25,
                    call=answered("hash", {"content": "5 m."}, 0.25, ["c"], ""),
                ),
                scored(one, right, zero),
            ],
            "model_usage": {
                "dev/m": {**USED, "input_tokens": 30, "output_tokens": 9, "total_tokens": 39},
            },
            "total_time": 4.75,
            "error": None,
        },
        {
            "id": "i/1/1",
            "epoch": 2,
            "uuid": uuid(two),
            "input": listed(two, SYSTEM, USER),
            "target": ['level {"item":"i/1","unit":"1"}'],
            "messages": listed(two, SYSTEM, USER),
            "output": {"model": "dev/m", "choices": [], "error": "broken"},
            "scores": {"wildtool/fixed": failed},
            "metadata": {"item": "i/1", "unit": "1", "split": "s", "lang": "en"},
            "events": [
                event(
                    two,
                    0,
                    60,
                    input=listed(two, SYSTEM, USER),
                    output={"model": "dev/m", "choices": [], "error": "broken"},
                    error="http 500: broken",
                    retries=2,
                ),
                scored(two, failed, "1970-01-01T00:01:00+00:00"),
            ],
            "model_usage": {},
            "total_time": 0,
            "error": {"message": "http 500: broken", "traceback": "", "traceback_ansi": ""},
        },
    ]


@pytest.mark.usefixtures("_inspect")
def test_a_run_without_roles_and_end_is_a_whole_log_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    counts = SimpleNamespace(units=2)
    own = METRICS[0].__class__("accuracy", "task", 1.0, 2, 2, evidence=Evidence(9))
    short = result(roles={}, counts=counts, metrics=(own,))
    monkeypatch.setattr(inspect_log, "load_result", lambda folder, profile, data: short)
    monkeypatch.setitem(RUN_JSON, "sittings", [RUN_JSON["sittings"][0]])
    monkeypatch.setitem(RUN_JSON["identity"]["models"], "agent", {"settings": {"base_url": 5}})
    inspect_log.export(REQUEST, tmp_path / "a.eval")
    log = json.loads((tmp_path / "a.eval").read_text())[1]
    assert (log["status"], log["stats"]["completed_at"]) == ("success", "")
    assert (log["eval"]["model_roles"], log["eval"]["model_base_url"]) == (None, None)
    assert log["samples"][0]["events"][0]["model"] == "agent"
    assert log["results"]["scores"][0]["metrics"]["accuracy: task"]["metadata"]["evidence"]["units"] == 9


@pytest.mark.usefixtures("_inspect")
def test_a_unit_of_other_roles_alone_ends_with_the_reason_of_its_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    first = units()[0]
    step = reply_step([USER], {"content": "Hi"}, 70.0, role="user", usage={"prompt_tokens": 100})
    verdict = Verdict("i/1", "1", "infra_error", 0.0, "infra", "why", 1)
    monkeypatch.setattr(
        Run, "units", lambda run: [first, first, replace(first, steps=(step,), verdict=verdict)]
    )  # pyright: ignore
    inspect_log.export(REQUEST, tmp_path / "a.eval")
    log = json.loads((tmp_path / "a.eval").read_text())[1]
    last = log["samples"][-1]
    assert (log["results"]["completed_samples"], log["results"]["logged_samples"]) == (2, 3)
    assert [sample["error"] for sample in log["samples"][:2]] == [None, None]
    assert last["error"] == {"message": "why", "traceback": "", "traceback_ansi": ""}
    assert [message["content"] for message in last["input"]] == ["q"]
    assert last["output"]["choices"][0]["message"]["content"] == "Hi"
    assert last["model_usage"] == {}


@pytest.mark.usefixtures("_inspect")
def test_tools_are_converted_once_and_odd_schemas_are_options():
    tools = inspect_log.InspectTools()
    bare = {"name": "f", "description": 5, "parameters": {"a": 1}}
    assert tools.of(bare) == {"name": "f", "description": "5", "parameters": {"a": 1}}
    assert tools.of(bare) is tools.of(bare)
    for odd in ({"name": "f", "parameters": 5}, {"name": "f"}, {"function": {"name": "f"}}):
        function = odd.get("function", odd)
        assert tools.of(odd) == {"name": "f", "description": "", "options": {"schema": function}}
    assert tools.of({"function": 7}) == {"name": "", "description": "", "options": {"schema": 7}}


@pytest.mark.parametrize(
    ("clusters", "error"),
    [
        ([], 0.0),
        ([[True, False]], 0.0),
        ([[True], [False]], 0.5),
        ([[True], [True]], 0.0),
        ([[True, True], [False]], (2 * 2 * (2 / 3) ** 2) ** 0.5 / 3),
    ],
)
def test_the_standard_error_is_clustered(clusters: list[list[bool]], error: float):
    assert inspect_log.standard_error(clusters) == pytest.approx(error)


def test_arguments_that_are_no_json_say_so():
    broken = {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{é"}}]}
    (made,) = message_of(broken)["tool_calls"]
    assert made["arguments"] == {"text": "{é"} and made["parse_error"].startswith(
        "the arguments are not JSON: "
    )


def test_counts_of_tokens_and_tools_in_inspects_form():
    assert usage_of({"prompt_tokens": 2**30, "completion_tokens": 2**60}) == {
        "input_tokens": 2**30,
        "total_tokens": 2**30,
    }
    assert usage_of({"prompt_tokens": 0, "prompt_tokens_details": 5}) == {
        "input_tokens": 0,
        "total_tokens": 0,
    }
    assert usage_of({"completion_tokens": 2}) == {"output_tokens": 2, "total_tokens": 2}
    assert tool_of({"function": {"name": "f", "description": "d"}}) == {"name": "f", "description": "d"}
    assert tool_of({"name": "f"}) == {"name": "f", "description": ""}
