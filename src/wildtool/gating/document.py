"""The outcome of a gate as JSON, for programs."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from wildtool import __version__
from wildtool.gating.outcome import GatedUnit, GateOutcome


def gate_document(outcome: GateOutcome) -> bytes:
    """All that the gate says, units included."""
    alarms = outcome.alarms
    document: Mapping[str, Any] = {
        "wildtool": __version__,
        "gate": outcome.outcome,
        "exit_status": outcome.status,
        "verdict": outcome.verdict,
        "failures": outcome.failures,
        "lines": [asdict(line) for line in outcome.lines],
        "floors": [asdict(floor) | {"holds": floor.holds} for floor in outcome.floors],
        "newly_broken": [unit.name for unit in outcome.newly_broken],
        "flaky": [unit.name for unit in outcome.flaky],
        "must_failed": [unit.name for unit in outcome.broken_musts],
        "tries_without_verdict": outcome.without_verdict,
        "false_alarms": None if alarms is None else asdict(alarms),
        "remarks": list(outcome.remarks),
        "units": [_unit(unit) for unit in outcome.units],
    }
    return (json.dumps(document, indent=1) + "\n").encode()


def _unit(unit: GatedUnit) -> dict[str, Any]:
    tried, its = unit.tried, unit.reasons
    return {
        "model": unit.model,
        "benchmark": unit.benchmark,
        "item": tried.item,
        "unit": tried.unit,
        "right": tried.right,
        "judged": tried.judged,
        "without_verdict": tried.failed,
        "passes": tried.passes,
        "newly_broken": unit.is_newly_broken,
        "flaky": unit.is_flaky,
        "must": tried.must,
        "tags": tried.tags,
        "error": its.error,
        "reason": its.reason or its.failure,
    }
