"""Whole documents of exports: trajectories, records of Every Eval Ever, rows of conversations."""

import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from export.export_build import json_lines
from export.recorded_forms import (
    CALL,
    CALLED,
    METRICS,
    RESULT,
    RUN_JSON,
    SYSTEM,
    TOOLS,
    USER,
    Run,
    result,
    units,
)
from wildtool import __version__
from wildtool.export import ExportRequest, atif, conversations, eee, openai, sharegpt
from wildtool.export.conversations import ExportedConversation

REQUEST = ExportRequest(folder=Path("r"))


@pytest.fixture(autouse=True)
def _a_small_run(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (atif, conversations, eee):
        monkeypatch.setattr(module, "RecordedRun", Run)
    monkeypatch.setattr(eee, "load_result", lambda folder, profile, data: result())


# Trajectories ----------------------------------------------------------------------------------------

ATIF = {
    "schema_version": "ATIF-v1.7",
    "session_id": "name0-1",
    "agent": {"name": "wildtool", "version": __version__, "model_name": "dev/m", "tool_definitions": TOOLS},
    "steps": [
        {"step_id": 1, "source": "system", "message": "S"},
        {"step_id": 2, "source": "user", "message": "q"},
        {
            "step_id": 3,
            "source": "agent",
            "message": "",
            "reasoning_content": "Hm.",
            "tool_calls": [{"tool_call_id": "a", "function_name": "level", "arguments": {"x": 1}}],
            "metrics": {
                "prompt_tokens": 10,
                "completion_tokens": 4,
                "cached_tokens": 3,
                "extra": {"latency_s": 0.5},
            },
            "timestamp": "1970-01-01T00:01:00+00:00",
            "observation": {"results": [{"source_call_id": "a", "content": "5 m"}]},
        },
        {
            "step_id": 4,
            "source": "agent",
            "message": "5 m.",
            "metrics": {
                "prompt_tokens": 20,
                "completion_tokens": 5,
                "cached_tokens": 0,
                "extra": {"latency_s": 0.25},
            },
        },
    ],
    "notes": "0 calls have arguments that are no JSON object; they are in `extra`.",
    "final_metrics": {
        "total_prompt_tokens": 30,
        "total_completion_tokens": 9,
        "total_cached_tokens": 3,
        "total_steps": 4,
    },
    "extra": {
        "run": "r",
        "benchmark": "wild-mini",
        "profile": "fixed",
        "item": "i/1",
        "unit": "0",
        "repeat": 0,
        "outcome": "correct",
        "score": 1,
        "error": None,
        "reason": "all right",
    },
}


def test_a_trajectory_is_a_file_with_all_its_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "000009-old.json").touch()
    (tmp_path / "other.json").touch()
    atif.export(REQUEST, tmp_path)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["000001-i--1-0-0.json", "README.md", "other.json"]
    assert json.loads((tmp_path / names[0]).read_text()) == ATIF
    assert (tmp_path / "README.md").read_text() == (
        "<!-- written by wildtool export -->\n# Agent trajectories, ATIF-v1.7\n"
    )
    first, failed, _ = units()
    late = replace(first, steps=(*failed.steps, *first.steps))
    monkeypatch.setattr(Run, "units", lambda run: [late])  # pyright: ignore
    atif.export(REQUEST, tmp_path / "late")
    assert json.loads((tmp_path / "late" / names[0]).read_text()) == ATIF
    monkeypatch.setattr(Run, "units", lambda run: reversed(units()))
    for only, count in (("correct", 1), ("infra_error", 0)):
        atif.export(ExportRequest(folder=Path("r"), only=only), tmp_path / only)
        assert len(list((tmp_path / only).glob("0*.json"))) == count


def steps(*messages: dict[str, Any], own: Any = None) -> list[dict[str, Any]]:
    return list(atif._steps(ExportedConversation(messages, [], ()), own or {}))  # pyright: ignore[reportPrivateUsage]


def test_messages_that_the_benchmark_wrote_are_copied_context():
    odd = [
        {"function": {"name": "f", "arguments": "{"}},
        {"id": 5, "function": {"arguments": [1]}},
        {"id": "z", "function": {"name": "f", "arguments": {"a": 1}}},
    ]
    assert steps(
        {"role": "tool", "content": {"a": 1}},
        {"role": "tool", "tool_call_id": "n"},
        {"role": "assistant", "content": None, "tool_calls": odd, "reasoning": ["t"]},
        {"role": "tool", "tool_call_id": "call_2_0", "content": "1"},
        {"role": "tool", "tool_call_id": "unknown", "content": "2"},
        {"role": "developer", "content": ["c"]},
        {"role": "user"},
    ) == [
        {
            "source": "system",
            "message": "",
            "observation": {"results": [{"content": '{"a":1}'}, {"content": ""}]},
        },
        {
            "source": "agent",
            "message": "",
            "reasoning_content": '["t"]',
            "tool_calls": [
                {
                    "tool_call_id": "call_2_0",
                    "function_name": "f",
                    "arguments": {},
                    "extra": {"arguments": "{"},
                },
                {"tool_call_id": "5", "function_name": "", "arguments": {}, "extra": {"arguments": [1]}},
                {"tool_call_id": "z", "function_name": "f", "arguments": {"a": 1}},
            ],
            "is_copied_context": True,
            "observation": {"results": [{"source_call_id": "call_2_0", "content": "1"}, {"content": "2"}]},
        },
        {"source": "system", "message": '["c"]'},
        {"source": "user", "message": ""},
    ]


# Every Eval Ever -------------------------------------------------------------------------------------

SAMPLE = {
    "schema_version": "0.3.0",
    "evaluation_id": "wild-mini/dev/m/1767315600",
    "model_id": "dev/m",
    "evaluation_name": "wild-mini",
    "sample_id": "i/1/0",
    "sample_hash": sha256(b"q").hexdigest(),
    "interaction_type": "agentic",
    "input": {"raw": "q", "reference": []},
    "output": None,
    "messages": [
        {
            "turn_idx": 0,
            "role": "system",
            "content": "S",
            "reasoning_trace": None,
            "tool_calls": None,
            "tool_call_id": None,
        },
        {
            "turn_idx": 1,
            "role": "user",
            "content": "q",
            "reasoning_trace": None,
            "tool_calls": None,
            "tool_call_id": None,
        },
        {
            "turn_idx": 2,
            "role": "assistant",
            "content": None,
            "reasoning_trace": "Hm.",
            "tool_calls": [{"id": "a", "name": "level", "arguments": {"x": "1"}}],
            "tool_call_id": None,
        },
        {
            "turn_idx": 3,
            "role": "tool",
            "content": "5 m",
            "reasoning_trace": None,
            "tool_calls": None,
            "tool_call_id": ["a"],
        },
        {
            "turn_idx": 4,
            "role": "assistant",
            "content": "5 m.",
            "reasoning_trace": None,
            "tool_calls": None,
            "tool_call_id": None,
        },
    ],
    "answer_attribution": [
        {
            "turn_idx": 4,
            "source": "messages[4].content",
            "extracted_value": "5 m.",
            "extraction_method": "custom",
            "is_terminal": True,
        }
    ],
    "evaluation": {"score": 1, "is_correct": True, "num_turns": 2, "tool_calls_count": 1},
    "token_usage": {
        "input_tokens": 30,
        "output_tokens": 9,
        "total_tokens": 39,
        "input_tokens_cache_read": 3,
        "reasoning_tokens": 2,
    },
    "performance": {"latency_ms": 750.0},
    "error": None,
    "metadata": {
        "outcome": "correct",
        "error_class": "",
        "reason": "all right",
        "item": "i/1",
        "unit": "0",
        "repeat": "0",
    },
}
FAILED = {
    **SAMPLE,
    "sample_id": "i/1/1#1",
    "sample_hash": sha256(b"").hexdigest(),
    "input": {"raw": "", "reference": []},
    "messages": [],
    "answer_attribution": [],
    "evaluation": {"score": 0.0, "is_correct": False, "num_turns": None, "tool_calls_count": 0},
    "token_usage": dict.fromkeys(SAMPLE["token_usage"], 0),
    "performance": {"latency_ms": 0},
    "error": "http 500: broken",
    "metadata": {
        "outcome": "infra_error",
        "error_class": "infra",
        "reason": "http 500: broken",
        "item": "i/1",
        "unit": "1",
        "repeat": "1",
    },
}
UNPLAYED = {
    **FAILED,
    "sample_id": "j/0",
    "error": None,
    "metadata": {
        "outcome": "unplayed",
        "error_class": "",
        "reason": "never played",
        "item": "j",
        "unit": "0",
        "repeat": "0",
    },
}


def evaluation(name: str, **more: Any) -> dict[str, Any]:
    config, score = more.pop("config"), more.pop("score")
    command = "wildtool run --base-url http://h/v1?…"
    return {
        "evaluation_result_id": name.replace(": ", "/"),
        "evaluation_name": "wild-mini",
        "source_data": {
            "dataset_name": "wild-mini",
            "source_type": "other",
            "additional_details": {"sha256": "d" * 64, "data": "data.jsonl"},
        },
        "metric_config": {"metric_name": name, "score_type": "continuous", "min_score": 0, **config},
        "score_details": score,
        "generation_config": {"generation_args": {"temperature": 0.5, "execution_command": command}},
        **more,
    }


RESULTS = [
    evaluation(
        "accuracy: task",
        config={
            "evaluation_description": "accuracy: task",
            "metric_kind": "rate",
            "metric_unit": "proportion",
            "lower_is_better": False,
            "max_score": 1,
            "additional_details": {"headline": "True", "direction": "more"},
        },
        score={
            "score": 0.5,
            "details": {"numerator": "1", "denominator": "2"},
            "uncertainty": {
                "confidence_interval": {
                    "lower": 0.25,
                    "upper": 0.75,
                    "confidence_level": 0.95,
                    "method": "cluster-robust",
                },
                "num_samples": 3,
            },
        },
    ),
    evaluation(
        "cost: tokens",
        config={
            "evaluation_description": "A note.",
            "metric_kind": "mean",
            "metric_unit": "tokens",
            "lower_is_better": True,
            "max_score": "Infinity",
            "additional_details": {"headline": "False", "direction": "less"},
        },
        score={
            "score": 20.0,
            "details": {"numerator": "40", "denominator": "2"},
            "uncertainty": {"num_samples": 3},
        },
    ),
]


def test_records_of_every_eval_ever(tmp_path: Path):
    eee.export(REQUEST, tmp_path)
    name = str(UUID(bytes=sha256(b"name0").digest()[:16], version=4))
    folder = tmp_path / "data" / "wild-mini" / "dev" / "m"
    assert sorted(path.name for path in folder.iterdir()) == [f"{name}.json", f"{name}_samples.jsonl"]
    samples = folder / f"{name}_samples.jsonl"
    assert json_lines(samples) == [SAMPLE, FAILED, UNPLAYED]
    assert json.loads((folder / f"{name}.json").read_text()) == {
        "schema_version": "0.3.0",
        "evaluation_id": "wild-mini/dev/m/1767315600",
        "evaluation_timestamp": "2026-01-02T01:00:00+00:00",
        "retrieved_timestamp": "1767315600",
        "source_metadata": {
            "source_name": "wildtool",
            "source_type": "evaluation_run",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
        },
        "eval_library": {
            "name": "wildtool",
            "version": __version__,
            "additional_details": {
                "profile": "played official, judged fixed",
                "trust": "",
                "alterations": "",
                "part": "whole",
                "units": "3",
                "failed_units": "1",
                "unplayed_units": "1",
            },
        },
        "model_info": {
            "name": "dev/m",
            "id": "dev/m",
            "additional_details": {
                "deployment_type": "unknown",
                "model_availability": "unknown",
                "base_url": "http://h/v1",
            },
        },
        "evaluation_results": RESULTS,
        "detailed_evaluation_results": {
            "format": "jsonl",
            "file_path": f"data/wild-mini/dev/m/{name}_samples.jsonl",
            "hash_algorithm": "sha256",
            "checksum": sha256(samples.read_bytes()).hexdigest(),
            "total_rows": 3,
        },
    }
    assert (tmp_path / "README.md").read_text() == (
        "<!-- written by wildtool export -->\n# Records of Every Eval Ever 0.3.0\n"
    )


def test_a_model_without_a_developer_has_an_unknown_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(
        eee,
        "load_result",
        lambda folder, profile, data: result(
            model="m", split="s", metrics=(replace(METRICS[0], better="", headline=False),)
        ),
    )
    sittings = [RUN_JSON["sittings"][0]]
    monkeypatch.setitem(RUN_JSON, "sittings", sittings)
    monkeypatch.setitem(RUN_JSON["identity"]["models"]["agent"], "settings", None)
    eee.export(REQUEST, tmp_path)
    (file,) = (tmp_path / "data" / "wild-mini" / "unknown" / "m").glob("*.json")
    record = json.loads(file.read_text())
    assert (
        record["model_info"]["id"]
        == json_lines(next(file.parent.glob("*.jsonl")))[0]["model_id"]
        == "unknown/m"
    )
    assert record["evaluation_timestamp"] == sittings[0]["started"]
    assert "base_url" not in record["model_info"]["additional_details"]
    (number,) = record["evaluation_results"]
    assert number["source_data"]["dataset_name"] == "wild-mini s"
    config = number["metric_config"]
    assert config["additional_details"] == {"headline": "False", "direction": "neither"}
    assert config["lower_is_better"] is False
    assert list(number["generation_config"]["generation_args"]) == ["execution_command"]


def test_a_benchmarks_own_data_are_named_by_their_repository(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(eee, "data_of", lambda benchmark: SimpleNamespace(repository="o/r"))
    source = eee._source  # pyright: ignore[reportPrivateUsage]
    for own, kind in (
        (SimpleNamespace(sha256="d" * 64), "url"),
        (SimpleNamespace(sha256="e"), "other"),
        (None, "other"),
    ):
        monkeypatch.setattr(eee, "located_data", lambda name, data, split, mode, own=own: own)
        named = source(result())
        assert (named["source_type"], named.get("url")) == (
            kind,
            ["https://github.com/o/r"] if kind == "url" else None,
        )


def test_answers_that_are_calls_are_attributed_to_them():
    attributed = eee._attribution  # pyright: ignore[reportPrivateUsage]
    message = eee._message(  # pyright: ignore[reportPrivateUsage]
        3,
        {
            "role": "assistant",
            "content": {"é": 1},
            "thinking": ["t"],
            "tool_calls": [
                {"function": {"name": "f", "arguments": "{"}},
                {"id": 7, "function": {"arguments": '{"a": "é"}'}},
            ],
            "tool_call_id": 9,
        },
    )
    assert eee._message(0, {"content": "x"})["role"] == ""  # pyright: ignore[reportPrivateUsage]
    calls = [
        {"id": "call_3_0", "name": "f", "arguments": {"raw": "{"}},
        {"id": "7", "name": "", "arguments": {"a": "é"}},
    ]
    assert message == {
        "turn_idx": 3,
        "role": "assistant",
        "content": '{"é":1}',
        "reasoning_trace": '["t"]',
        "tool_calls": calls,
        "tool_call_id": ["9"],
    }
    assert attributed(message) == {
        "turn_idx": 3,
        "source": "messages[3].tool_calls",
        "extracted_value": json.dumps(calls, ensure_ascii=False),
        "extraction_method": "custom",
        "is_terminal": True,
    }
    assert attributed({**message, "tool_calls": None, "content": None})["extracted_value"] == ""


# Conversations ---------------------------------------------------------------------------------------

FIELDS = {
    "run": "r",
    "model": "dev/m",
    "benchmark": "wild-mini",
    "split": "s",
    "lang": "en",
    "item": "i/1",
    "repeat": 0,
    "unit": "0",
    "part": 0,
    "profile": "fixed",
    "outcome": "correct",
    "score": 1.0,
    "error": "",
}


def test_rows_of_conversations_in_openais_shape(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    tools = '[{"type":"function","function":{"name":"level","parameters":{"type":"object","properties":{}}}}]'
    last = {"role": "assistant", "content": "5 m."}
    rows = []
    for arguments, form in (('{"x": 1}', "text"), ({"x": 1}, "object")):
        openai.export(ExportRequest(folder=Path("r"), arguments=form), tmp_path / "o")
        call = {**CALL, "function": {"name": "level", "arguments": arguments}}
        rows = json_lines(tmp_path / "o")
        assert rows == [
            {
                **FIELDS,
                "replies": [2, 4],
                "messages": [SYSTEM, USER, {**CALLED, "tool_calls": [call]}, RESULT, last],
                "tools": tools,
            }
        ]
    assert list(rows[0])[:4] == ["run", "model", "benchmark", "split"]
    openai.export(ExportRequest(folder=Path("r"), only="wrong"), tmp_path / "o")
    assert json_lines(tmp_path / "o") == []
    monkeypatch.setattr(Run, "units", lambda run: reversed(units()))
    openai.export(ExportRequest(folder=Path("r"), arguments="object", only="correct"), tmp_path / "o")
    assert json_lines(tmp_path / "o") == rows


def test_rows_of_conversations_in_sharegpts_shape(tmp_path: Path):
    function = {"name": "level", "parameters": {"type": "object", "properties": {}}}
    turns = [
        {"from": "human", "value": "q"},
        {"from": "function_call", "value": '{"name": "level", "arguments": {"x": 1}}'},
        {"from": "observation", "value": "5 m"},
        {"from": "gpt", "value": "5 m."},
    ]
    row = {**FIELDS, "conversations": turns, "system": "S", "tools": json.dumps([function])}
    sharegpt.export(REQUEST, tmp_path / "s")
    assert json_lines(tmp_path / "s") == [row]
    sharegpt.export(ExportRequest(folder=Path("r"), lossless=True), tmp_path / "s")
    kept = {"calls": [{"id": "a", "type": "function"}], "message": {"reasoning_content": "Hm."}}
    turns[1]["more"] = json.dumps(kept)
    turns[2]["more"] = json.dumps({"results": [{"tool_call_id": "a"}]})
    assert json_lines(tmp_path / "s") == [row]
