"""What the numbers of a run rest on, as one small JSON file to keep beside a table: data, rules, prompts, settings, what
the recorded replies show of the endpoint, and each number with its interval and evidence."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from hashlib import sha256
from inspect import getfile
from pathlib import Path
from typing import Any

from wildtool import __version__
from wildtool.check.answers import RawAnswer, read_raw_answer
from wildtool.check.defects import DEFECTS, DefectKind
from wildtool.check.ledger import Ledger
from wildtool.check.wire_rules import check_wire
from wildtool.engine.record.reader import LoggedReply, LogReader
from wildtool.engine.record.run_folder import read_run, strip_credentials
from wildtool.engine.registry import load_benchmark, names_in
from wildtool.engine.score.results import ScoreResult, load_result
from wildtool.export import ExportRequest
from wildtool.export.bundle import data_name
from wildtool.export.files import portable_value, write_whole

PASSPORT_VERSION = 1
PASSPORT_SUFFIX = ".passport.json"
OWN_PROBES = (
    DefectKind.EMPTY_CALL_DROPPED,
    DefectKind.TEXT_BESIDE_CALL_DROPPED,
    DefectKind.CALLS_AS_TEXT,
    DefectKind.USAGE_WRONG,
)
"""Defects that other replies of a run show better, or that its table names already."""


def export(request: ExportRequest, target: Path) -> None:
    """Writes the passport of a run."""
    write_passport(passport(load_result(request.folder, request.profile, data=request.data)), target)


def write_passport(content: Mapping[str, Any], target: Path) -> None:
    write_whole(target, json.dumps(portable_value(content), indent=1, ensure_ascii=False).encode() + b"\n")


def write_beside(request: ExportRequest, target: Path) -> Path:
    """Writes the passport of a run beside its table, or into its folder. Returns its place."""
    place = target / "passport.json" if target.is_dir() else target.with_name(target.name + PASSPORT_SUFFIX)
    export(request, place)
    return place


def passport(result: ScoreResult) -> dict[str, Any]:
    """The passport of a run under the rules of a result, as JSON values."""
    run_json = read_run(result.folder)
    identity, names = run_json["identity"], names_in(run_json)
    return {
        "wildtool": __version__,
        "passport": PASSPORT_VERSION,
        "run": result.run,
        "model": result.model,
        "benchmark": result.benchmark,
        "data": {
            "name": data_name(run_json),
            "sha256": result.data_sha256,
            "split": result.split,
            "lang": identity.get("lang"),
            "part": result.part or None,
            "items": result.items,
            "items_md5": result.items_md5,
        },
        "rules": {
            # As the run names it: so a passport keeps its meaning when a newer version of an evaluator comes.
            "profile": names.then(result.profile),
            "played_under": identity["profile"],
            "mode": identity.get("mode"),
            "sha256": rules_digest(result),
            "made_by": [sitting.get("wildtool") for sitting in run_json["sittings"]],
        },
        "prompts": result.prompts or None,
        "alterations": list(result.disturbances),
        "settings": strip_credentials({"models": identity["models"], "seed": identity.get("seed")}),
        "scope": {name: run_json["scope"].get(name) for name in ("limit", "ids", "repeats")},
        "endpoint": endpoint_findings(result.folder),
        "evidence": asdict(result.evidence),
        "trust": [str(remark) for remark in result.trust],
        "numbers": [
            {
                "group": metric.group,
                "name": metric.name,
                "value": metric.value,
                "low": metric.low,
                "high": metric.high,
                "least": metric.least,
                "most": metric.most,
                "numerator": metric.numerator,
                "denominator": metric.denominator,
                "kind": metric.kind,
                "headline": metric.headline,
            }
            for metric in result.metrics
        ],
    }


def rules_digest(result: ScoreResult) -> str:
    """SHA-256 of the code that judged: of the benchmark's file, or of all files of its folder."""
    if result.benchmark_file:
        return result.benchmark_file
    file = Path(getfile(type(load_benchmark(result.benchmark, result.mode))))
    files = sorted(file.parent.rglob("*.py")) if file.name == "__init__.py" else [file]
    return sha256(b"".join(sha256(each.read_bytes()).digest() for each in files)).hexdigest()


def endpoint_findings(folder: Path) -> dict[str, Any]:
    """What the recorded raw replies show of the endpoint, by the rules of `wildtool check` for single replies."""
    count, problems = 0, Counter[tuple[DefectKind, str]]()
    with LogReader(folder) as reader:
        for item, repeat in reader.jobs():
            for steps in reader.log(item, repeat).values():
                for came in steps.values():
                    if not isinstance(came, LoggedReply) or came.role != "agent" or not came.reply.raw:
                        continue
                    answer = read_raw_answer("run", {}, came.reply.raw.encode("utf-8", "replace"))
                    count += not answer.failure
                    problems.update(_problems(answer))
    return {
        "replies": count,
        "findings": [
            {"defect": kind, "name": DEFECTS[kind].name, "problem": problem, "replies": replies}
            for (kind, problem), replies in sorted(problems.items())
        ],
    }


def _problems(answer: RawAnswer) -> list[tuple[DefectKind, str]]:
    ledger = Ledger()
    check_wire([answer], ledger)
    return [(each.kind, each.problem) for each in ledger.findings if each.kind not in OWN_PROBES]
