"""A run as records of Every Eval Ever 0.3.0: one file with the numbers, one with a row for each unit and repeat.

Both lie where that project's repository expects them, below `data/BENCHMARK/DEVELOPER/MODEL`. What wildtool cannot know
is said to be unknown: who evaluated, who made the model and who serves it.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID

from wildtool import __version__
from wildtool.data.data_set import data_of
from wildtool.engine.compare.leaderboard import located_data
from wildtool.engine.record.reader import LoggedReply
from wildtool.engine.record.run_folder import recordable_command
from wildtool.engine.score.results import ScoreResult, load_result
from wildtool.episode import written_reasoning
from wildtool.export import FOLDER_MARK, ExportRequest
from wildtool.export.conversations import conversations, parsed_arguments
from wildtool.export.files import portable_value, strict_json, write_json_lines, write_whole
from wildtool.export.trajectory import RecordedRun, RecordedUnit
from wildtool.json_codec import as_object, as_objects
from wildtool.models.resolve import folder_name
from wildtool.models.token_usage import whole_usage
from wildtool.types import Message, Metric

EEE_VERSION = "0.3.0"
NOT_KNOWN = "unknown"


def export(request: ExportRequest, target: Path) -> None:
    """Writes both files below a folder, the one with the numbers last."""
    recorded = RecordedRun(request)
    result = load_result(request.folder, recorded.run.run_info.profile, data=request.data)
    digest = sha256(recorded.name.encode()).digest()
    developer, _, model = result.model.rpartition("/")
    place = "/".join(map(folder_name, ("data", result.benchmark, developer or NOT_KNOWN, model)))
    name = f"{place}/{UUID(bytes=digest[:16], version=4)}"
    ended = _ended(recorded.run.run_json)
    base = {
        "schema_version": EEE_VERSION,
        "evaluation_id": f"{result.benchmark}/{result.model}/{ended.timestamp():.0f}",
    }
    samples = target / f"{name}_samples.jsonl"
    model_id = result.model if developer else f"{NOT_KNOWN}/{model}"
    rows = 0

    def counted() -> Iterator[dict[str, Any]]:
        nonlocal rows
        for unit in recorded.units():
            rows += 1
            yield {**base, "model_id": model_id, "evaluation_name": result.benchmark, **_row(unit)}

    write_json_lines(samples, counted())
    record = {
        **base,
        **_record(result, recorded.run.run_json, model_id, ended),
        "detailed_evaluation_results": {
            "format": "jsonl",
            "file_path": f"{name}_samples.jsonl",
            "hash_algorithm": "sha256",
            "checksum": sha256(samples.read_bytes()).hexdigest(),
            "total_rows": rows,
        },
    }
    write_whole(target / f"{name}.json", strict_json(portable_value(record)))
    write_whole(target / "README.md", f"{FOLDER_MARK}\n# Records of Every Eval Ever {EEE_VERSION}\n".encode())


def _ended(run_json: Mapping[str, Any]) -> datetime:
    last = run_json["sittings"][-1]
    return datetime.fromisoformat(last.get("ended") or last["started"])


def _record(
    result: ScoreResult, run_json: Mapping[str, Any], model_id: str, ended: datetime
) -> dict[str, Any]:
    settings = as_object(run_json["identity"]["models"]["agent"].get("settings"))
    return {
        "evaluation_timestamp": ended.isoformat(),
        "retrieved_timestamp": f"{ended.timestamp():.0f}",
        "source_metadata": {
            "source_name": "wildtool",
            "source_type": "evaluation_run",
            "source_organization_name": NOT_KNOWN,
            "evaluator_relationship": "other",
        },
        "eval_library": {
            "name": "wildtool",
            "version": __version__,
            "additional_details": {
                "profile": result.profile_label,
                "trust": "; ".join(map(str, result.trust)),
                "alterations": "; ".join(result.disturbances),
                "part": result.part or "whole",
                "units": str(result.evidence.units),
                "failed_units": str(result.evidence.failed),
                "unplayed_units": str(result.evidence.unplayed),
            },
        },
        "model_info": {
            "name": result.model,
            "id": model_id,
            "additional_details": {
                "deployment_type": NOT_KNOWN,
                "model_availability": NOT_KNOWN,
                **({"base_url": str(settings["base_url"])} if "base_url" in settings else {}),
            },
        },
        "evaluation_results": [
            _result(metric, result, run_json, settings)
            for metric in result.metrics
            if metric.value is not None
        ],
    }


def _result(
    metric: Metric, result: ScoreResult, run_json: Mapping[str, Any], settings: Mapping[str, Any]
) -> dict[str, Any]:
    """One number. A rate is between 0 and 1, a mean has no upper bound."""
    command = " ".join(recordable_command(run_json["sittings"][0]["command"]))
    arguments = {name: settings[name] for name in ("temperature", "max_tokens") if name in settings}
    interval = {
        "lower": metric.low,
        "upper": metric.high,
        "confidence_level": 0.95,
        "method": "cluster-robust",
    }
    uncertainty = {} if metric.low is None else {"confidence_interval": interval}
    return {
        "evaluation_result_id": f"{metric.group}/{metric.name}",
        "evaluation_name": result.benchmark,
        "source_data": _source(result),
        "metric_config": {
            "evaluation_description": metric.note or f"{metric.group}: {metric.name}",
            "metric_name": f"{metric.group}: {metric.name}",
            "metric_kind": metric.kind,
            "metric_unit": metric.unit or "proportion",
            "lower_is_better": metric.better == "less",
            "score_type": "continuous",
            "min_score": 0,
            "max_score": 1 if metric.kind == "rate" else "Infinity",
            "additional_details": {"headline": str(metric.headline), "direction": metric.better or "neither"},
        },
        "score_details": {
            "score": metric.value,
            "details": {"numerator": f"{metric.numerator:g}", "denominator": f"{metric.denominator:g}"},
            "uncertainty": {**uncertainty, "num_samples": result.evidence.units},
        },
        "generation_config": {"generation_args": {**arguments, "execution_command": command}},
    }


def _source(result: ScoreResult) -> dict[str, Any]:
    """Where the data are from: their public repository if they are the benchmark's own."""
    repository = data_of(_benchmark(result)).repository
    own = located_data(result.benchmark, None, result.split, result.mode)
    details = {"additional_details": {"sha256": result.data_sha256, "data": Path(result.data).name}}
    name = result.benchmark if result.split is None else f"{result.benchmark} {result.split}"
    if repository and own is not None and own.sha256 == result.data_sha256:
        return {
            "dataset_name": name,
            "source_type": "url",
            "url": [f"https://github.com/{repository}"],
            **details,
        }
    return {"dataset_name": name, "source_type": "other", **details}


def _benchmark(result: ScoreResult) -> Any:
    from wildtool.engine.registry import load_benchmark

    return load_benchmark(result.benchmark, result.mode)


def _token_usage(usages: Sequence[Mapping[str, Any]]) -> dict[str, int] | None:
    """The tokens of replies; None where the endpoint did not count those of each."""
    total = whole_usage(usages)
    if total is None:
        return None
    return {
        "input_tokens": total.prompt,
        "output_tokens": total.completion,
        "total_tokens": total.prompt + total.completion,
        "input_tokens_cache_read": total.cached,
        "reasoning_tokens": total.reasoning,
    }


def _row(unit: RecordedUnit) -> dict[str, Any]:
    """The fields of one unit: its last conversation, its verdict, and its tokens."""
    verdict = unit.verdict
    last = (conversations(unit) or [None])[-1]
    messages = [] if last is None else [_message(n, each) for n, each in enumerate(last.messages)]
    questions = [each["content"] for each in messages if each["role"] == "user"]
    replies = [
        step.result.reply
        for step in unit.steps
        if step.role == "agent" and isinstance(step.result, LoggedReply)
    ]
    raw = str((questions or [""])[-1] or "")
    answers = [messages[place] for place in (last.replies[-1:] if last else ())]
    return {
        "sample_id": f"{unit.item.id}/{verdict.unit}" + (f"#{unit.repeat}" if unit.repeat else ""),
        "sample_hash": sha256(raw.encode("utf-8", "replace")).hexdigest(),
        "interaction_type": "agentic",
        "input": {"raw": raw, "reference": []},
        "output": None,
        "messages": messages,
        "answer_attribution": [_attribution(each) for each in answers],
        "evaluation": {
            "score": verdict.score,
            "is_correct": verdict.outcome == "correct",
            "num_turns": len(replies) or None,
            "tool_calls_count": sum(len(as_objects(reply.message.get("tool_calls"))) for reply in replies),
        },
        "token_usage": _token_usage([reply.usage for reply in replies]),
        "performance": {"latency_ms": 1000 * sum(reply.latency_s for reply in replies)},
        "error": verdict.reason if verdict.outcome == "infra_error" else None,
        "metadata": {
            "outcome": verdict.outcome,
            "error_class": verdict.error or "",
            "reason": verdict.reason,
            "item": unit.item.id,
            "unit": verdict.unit,
            "repeat": str(unit.repeat),
        },
    }


def _attribution(message: Mapping[str, Any]) -> dict[str, Any]:
    called = bool(message["tool_calls"])
    value = json.dumps(message["tool_calls"], ensure_ascii=False) if called else message["content"] or ""
    return {
        "turn_idx": message["turn_idx"],
        "source": f"messages[{message['turn_idx']}].{'tool_calls' if called else 'content'}",
        "extracted_value": value,
        "extraction_method": "custom",
        "is_terminal": True,
    }


def _message(place: int, message: Message) -> dict[str, Any]:
    """A message in that schema, whose arguments are texts by name; others are kept under the name `raw`."""
    calls: list[dict[str, Any]] = []
    for number, call in enumerate(as_objects(message.get("tool_calls"))):
        function = as_object(call.get("function"))
        arguments = parsed_arguments(function.get("arguments"))
        values = as_object(arguments) if isinstance(arguments, dict) else {"raw": arguments}
        calls.append(
            {
                "id": str(call.get("id") or f"call_{place}_{number}"),
                "name": str(function.get("name") or ""),
                "arguments": {name: text_or_json(value) for name, value in values.items()},
            }
        )
    thoughts = written_reasoning(message)
    answered = message.get("tool_call_id")
    return {
        "turn_idx": place,
        "role": str(message.get("role") or ""),
        "content": None if message.get("content") is None else text_or_json(message["content"]),
        "reasoning_trace": None if thoughts is None else text_or_json(thoughts),
        "tool_calls": calls or None,
        "tool_call_id": None if answered is None else [str(answered)],
    }


def text_or_json(value: Any) -> str:
    """A text as it is, any other value as JSON."""
    return value if isinstance(value, str) else strict_json(portable_value(value)).decode()
