"""A run as an Inspect log: a sample for each unit, an event for each model call, the verdict as its score.

Inspect itself writes the log (extra `[inspect]`), so its viewer can open it. A sample's id is ITEM/UNIT and its epoch
the repeat, counted from 1. Units that were not played are left out, and the log says how many.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from hashlib import sha256
from importlib import import_module
from math import sqrt
from pathlib import Path
from typing import Any

from wildtool import __version__
from wildtool.engine.record.reader import LoggedFailure, LoggedReply
from wildtool.engine.score.results import ScoreResult, load_result
from wildtool.errors import UsageError
from wildtool.export import ExportRequest
from wildtool.export.conversations import conversations
from wildtool.export.files import portable_value, strict_json
from wildtool.export.inspect_messages import inspect_message_list, output_of, tool_of, usage_of
from wildtool.export.trajectory import RecordedRun, RecordedStep, RecordedUnit
from wildtool.models.token_usage import is_counted
from wildtool.outputs import atomic_replace
from wildtool.types import Tool, Transcript, Verdict

_VALUES = {"correct": "C", "wrong": "I", "infra_error": "N", "unplayed": "N"}
"""Inspect's marks: correct, incorrect, no answer. The last counts as 0 there, as here."""
_ABSENT = "--format inspect needs Inspect; install it with: pip install 'wildtool[inspect]'"


def export(request: ExportRequest, target: Path) -> None:
    """Writes the log. Raises UsageError if Inspect is not installed or does not read files of this name."""
    if target.suffix != ".eval":
        raise UsageError(
            f"{target}: Inspect reads only files whose names end with .eval; choose such a name with --out"
        )
    try:
        library = import_module("inspect_ai.log")
    except ModuleNotFoundError as error:
        raise UsageError(_ABSENT) from error
    recorded = RecordedRun(request)
    result = load_result(request.folder, recorded.run.run_info.profile, data=request.data)
    log = library.EvalLog.model_validate(_log(recorded, result))
    with atomic_replace(target) as new:
        library.write_eval_log(log, str(new), format="eval")


def _log(recorded: RecordedRun, result: ScoreResult) -> dict[str, Any]:
    """The log as JSON values."""
    shapes = InspectTools()
    samples: list[dict[str, Any]] = []
    scored: dict[str, list[bool]] = defaultdict(list)
    usage: Counter[str] = Counter()
    is_whole = True
    for unit in recorded.units():
        scored[unit.item.id].append(unit.verdict.outcome == "correct")
        if unit.steps:
            samples.append(_sample(unit, recorded, shapes))
            used = samples[-1]["model_usage"].get(recorded.run.run_info.model, {})
            usage.update(used)
            is_whole = is_whole and (bool(used) or not _usages(unit.steps))
    run_json = recorded.run.run_json
    return {
        "version": 2,
        # Inspect's status for a log without all its samples.
        "status": "success" if len(samples) == result.counts.units else "cancelled",
        "eval": _spec(recorded, samples, result),
        "results": _results(result, scored, samples),
        "stats": {
            "started_at": run_json["sittings"][0]["started"],
            "completed_at": run_json["sittings"][-1].get("ended") or "",
            "model_usage": {recorded.run.run_info.model: dict(usage)} if usage and is_whole else {},
        },
        "samples": samples,
    }  # fmt: skip


def _spec(recorded: RecordedRun, samples: Sequence[Mapping[str, Any]], result: ScoreResult) -> dict[str, Any]:
    run_json, player = recorded.run.run_json, recorded.run.run_info
    identity, scope = run_json["identity"], run_json["scope"]
    agent = identity["models"]["agent"]
    url: Any = agent.get("settings", {}).get("base_url")
    name = recorded.name
    return portable_value({
        "eval_id": name,
        "run_id": name,
        "task_id": name,
        "created": run_json["sittings"][0]["started"],
        "task": player.benchmark,
        "task_display_name": recorded.run.selection.benchmark.title,
        "task_version": identity["data_sha256"][:12],
        "task_args": {key: identity[key] for key in ("mode", "split", "lang")} | {"profile": player.profile},
        "dataset": {
            "name": Path(result.data).name,
            "samples": len({sample["id"] for sample in samples}),
            "sample_ids": list(dict.fromkeys(sample["id"] for sample in samples)),
            "shuffled": False,
        },
        "model": player.model,
        "model_base_url": url if isinstance(url, str) else None,
        "model_args": {k: v for k, v in agent.get("settings", {}).items() if k != "base_url"},
        "model_roles": {role: {"model": model, "config": {}, "args": {}} for role, model in result.roles.items()} or None,
        "config": {"epochs": scope["repeats"], "limit": scope["limit"]},
        "packages": {"wildtool": __version__},
        "metadata": {
            "run": player.run,
            "profile": player.profile,
            "judged": result.profile_label,
            "mode": identity["mode"],
            "data_sha256": identity["data_sha256"],
            "seed": identity["seed"],
            "versions": run_json.get("versions", {}),
            "evidence": asdict(result.evidence),
            "trust": [str(remark) for remark in result.trust],
        },
    })  # fmt: skip


def _sample(unit: RecordedUnit, recorded: RecordedRun, shapes: "InspectTools") -> dict[str, Any]:
    model, verdict = recorded.run.run_info.model, unit.verdict
    identity: Mapping[str, Any] = recorded.run.run_json["identity"]["models"]
    talks = conversations(unit)
    messages = talks[-1].messages if talks else unit.steps[-1].messages
    mine = [step for step in unit.steps if step.role == "agent"]
    shown = mine or unit.steps
    score = _score(verdict, talks[-1].messages[-1].get("content") if talks else None)
    name = f"{unit.item.id}/{verdict.unit}"
    # Ids are unique over all logs, so that several logs can be read as one table.
    unique = f"{recorded.name}/{name}/{unit.repeat}"
    scorer = f"wildtool/{recorded.run.run_info.profile}"
    events = [
        _event(step, identity.get(step.role, {}).get("name", step.role), unique, n, shapes)
        for n, step in enumerate(unit.steps)
    ]
    judged = {"event": "score", "uuid": _uuid(f"{unique}/score"), "score": score, "scorer": scorer,
              "timestamp": events[-1]["timestamp"], "working_start": 0.0}  # fmt: skip
    return {
        "id": portable_value(name),
        "epoch": unit.repeat + 1,
        "uuid": _uuid(unique),
        "input": inspect_message_list(shown[0].messages, unique),
        "target": _gold(unit, recorded),
        "messages": inspect_message_list(messages, unique),
        "output": output_of(shown[-1].result, model),
        "scores": {scorer: score},
        "metadata": portable_value(
            {"item": unit.item.id, "unit": verdict.unit, "split": unit.item.split, "lang": unit.item.lang}
        ),
        "events": [*events, judged],
        "model_usage": _used(mine, model),
        "total_time": sum(s.result.reply.latency_s for s in unit.steps if isinstance(s.result, LoggedReply)),
        "error": _error(verdict, unit),
    }  # fmt: skip


def _gold(unit: RecordedUnit, recorded: RecordedRun) -> list[str]:
    """The gold answer, a line for each call."""
    judging = recorded.run
    profile = judging.run_info.profile
    gold = judging.variant.trace(unit.item, unit.verdict.unit, Transcript(()), profile).gold
    return [f"{portable_value(call.name)} {strict_json(call.arguments).decode()}" for call in gold]


def _score(verdict: Verdict, answer: Any) -> dict[str, Any]:
    columns = {
        "outcome": verdict.outcome,
        "score": verdict.score,
        "error": verdict.error,
        "steps": verdict.steps,
    }
    return {
        "value": _VALUES[verdict.outcome],
        "answer": portable_value(answer) if isinstance(answer, str) else None,
        "explanation": portable_value(verdict.reason),
        "metadata": portable_value({**columns, **verdict.fields, "detail": verdict.detail}),
    }


def _error(verdict: Verdict, unit: RecordedUnit) -> dict[str, str] | None:
    if verdict.outcome != "infra_error":
        return None
    last = unit.steps[-1].result
    message = f"{last.kind}: {last.message}" if isinstance(last, LoggedFailure) else verdict.reason
    return {"message": portable_value(message), "traceback": "", "traceback_ansi": ""}


def _event(
    step: RecordedStep, model: str, sample: str, number: int, shapes: "InspectTools"
) -> dict[str, Any]:
    came = step.result
    when = datetime.fromtimestamp(step.time, UTC).isoformat()
    event: dict[str, Any] = {
        "event": "model",
        "uuid": _uuid(f"{sample}/{number}"),
        "timestamp": when,
        "completed": when,
        "working_start": 0.0,
        "model": portable_value(model),
        "role": None if step.role == "agent" else portable_value(step.role),
        "input": inspect_message_list(step.messages, sample),
        "tools": [shapes.of(tool) for tool in step.tools],
        "tool_choice": "auto",
        "config": {},
        "output": output_of(came, portable_value(model)),
    }
    if isinstance(came, LoggedFailure):
        return {
            **event,
            "error": portable_value(f"{came.kind}: {came.message}"),
            "retries": came.attempts - 1,
        }
    # As it came: what Inspect shows of calls and content is a reading of it.
    reply = {
        "message": portable_value(came.reply.message),
        "body": portable_value(came.reply.raw),
        "changes": list(came.reply.changes),
    }
    call = {"request": {"hash": came.request}, "response": reply, "time": came.reply.latency_s}
    return {**event, "retries": came.reply.attempts - 1, "working_time": came.reply.latency_s, "call": call}


def _usages(steps: Sequence[RecordedStep]) -> list[Mapping[str, Any]]:
    """What the endpoint reported of each reply of the model under test."""
    replies = [
        step.result.reply for step in steps if step.role == "agent" and isinstance(step.result, LoggedReply)
    ]
    return [reply.usage for reply in replies]


def _used(steps: Sequence[RecordedStep], model: str) -> dict[str, dict[str, int]]:
    """By model the tokens of its replies; nothing where the endpoint did not count those of each."""
    usages = _usages(steps)
    total: Counter[str] = Counter()
    for usage in usages:
        total.update(usage_of(usage))
    return {portable_value(model): dict(total)} if total and all(map(is_counted, usages)) else {}


def _results(
    result: ScoreResult, scored: Mapping[str, Sequence[bool]], samples: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    metrics = {
        "accuracy": _metric("accuracy", sum(map(sum, scored.values())) / result.counts.units, {}),
        "stderr": _metric("stderr", standard_error(list(scored.values())), {"cluster": "item"}),
    }
    for metric in result.metrics:
        if metric.value is not None:
            name = f"{metric.group}: {metric.name}"
            more = {
                "low": metric.low,
                "high": metric.high,
                "numerator": metric.numerator,
                "denominator": metric.denominator,
                "evidence": asdict(metric.evidence or result.evidence),
            }
            metrics[name] = _metric(name, metric.value, more)
    scorer = f"wildtool/{result.profile}"
    score = {"name": scorer, "scorer": scorer, "metrics": metrics, "scored_samples": len(samples)}
    return {
        "total_samples": result.counts.units,
        "completed_samples": sum(sample["error"] is None for sample in samples),
        "logged_samples": len(samples),
        "scores": [score],
    }  # fmt: skip


def _metric(name: str, value: float, more: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": name, "value": value, "metadata": portable_value(dict(more))}


def standard_error(clusters: Sequence[Sequence[bool]]) -> float:
    """Standard error of the share of correct units, clustered by item (sandwich estimate); 0 for one item."""
    total, count = sum(map(len, clusters)), len(clusters)
    if count < 2:
        return 0.0
    mean = sum(map(sum, clusters)) / total
    spread = sum((sum(units) - mean * len(units)) ** 2 for units in clusters)
    return sqrt(count / (count - 1) * spread) / total


class InspectTools:
    """Tools in Inspect's format, each converted once; a schema that Inspect does not accept is in `options`."""

    def __init__(self) -> None:
        self._info: Any = import_module("inspect_ai.tool").ToolInfo
        self._invalid: Any = import_module("pydantic").ValidationError
        self._made: dict[int, tuple[Tool, Any]] = {}

    def of(self, tool: Tool) -> Any:
        """A tool, validated by Inspect's own class."""
        if id(tool) not in self._made:
            self._made[id(tool)] = (tool, self._read(tool))
        return self._made[id(tool)][1]

    def _read(self, tool: Tool) -> Any:
        name, function = tool_of(tool), portable_value(tool.get("function", tool))
        try:
            return self._info.model_validate({**name, "parameters": function["parameters"]})
        except (self._invalid, KeyError, TypeError):
            return self._info.model_validate({**name, "options": {"schema": function}})


def _uuid(name: str) -> str:
    return sha256(name.encode(errors="replace")).hexdigest()[:22]
