"""The headline of a run as an `.eval_results` file of a model's repository on the Hugging Face Hub."""

import json
from pathlib import Path
from typing import Any

from wildtool import __version__
from wildtool.engine.compare.leaderboard import headline, played_and_judged
from wildtool.engine.record.run_folder import read_run
from wildtool.engine.score.results import load_result
from wildtool.errors import UsageError
from wildtool.export import ExportRequest
from wildtool.export.files import write_whole


def export(request: ExportRequest, target: Path) -> None:
    """Writes a list of one entry. Raises UsageError without the name of the dataset on the Hub, and for a run in which
    units are missing, of a part of the data or of altered requests: the Hub's tables have no mark for that."""
    dataset, _, task = (request.hub_dataset or "").partition(":")
    if dataset.count("/") != 1 or not all(dataset.split("/")):
        raise UsageError(
            "name the benchmark's dataset on the Hub: --hub-dataset OWNER/NAME or OWNER/NAME:TASK"
        )
    result = load_result(request.folder, request.profile, data=request.data)
    metric = headline(result)
    if metric is None or metric.value is None or not result.evidence.complete:
        missing = result.evidence.missing
        raise UsageError(
            f"{request.folder}: {missing} of {result.evidence.units} units have no verdict, or the benchmark has no "
            "headline; `wildtool show` says what completes the run"
        )
    if marks := [*([result.part] if result.part else []), *result.disturbances]:
        raise UsageError(
            f"{request.folder}: the run has {', '.join(marks)}, for which the Hub's tables have no mark; export a run of "
            "the whole benchmark as it is"
        )
    last = read_run(request.folder)["sittings"][-1]
    ends = [str(_scaled(end)) for end in (metric.low, metric.high) if end is not None]
    interval = f"95 % interval {' to '.join(ends)}, " if ends else ""
    how = played_and_judged(result)
    fields: dict[str, Any] = {
        "dataset": {"id": dataset, "task_id": task or "default"},
        "value": _scaled(metric.value) if metric.kind == "rate" else metric.value,
        "date": last.get("ended") or last["started"],
        "notes": f"{metric.name}, {interval}{result.evidence.units} units, {how}, wildtool {__version__}, data SHA-256 "
        f"{result.data_sha256}",
    }
    # JSON values are YAML values as well.
    lines = [f"{name}: {json.dumps(value)}" for name, value in fields.items()]
    write_whole(target, ("# written by wildtool export\n- " + "\n  ".join(lines) + "\n").encode())


def _scaled(rate: float) -> float:
    """A rate in percent."""
    return round(100 * rate, 2)
