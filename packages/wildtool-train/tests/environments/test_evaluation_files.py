"""When a policy is evaluated, and what is written of it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from environments.test_evaluation import silent
from wildtool_train import evaluate, evaluation
from wildtool_train.evaluation import Evaluation


def of(step: int, accuracy: float | None = 0.5, **changes: Any) -> Evaluation:
    counts: dict[str, Any] = {"units": 4, "correct": 2, "failed": 0, "low": 0.25, "high": 0.75}
    means: dict[str, Any] = {"calls": 1.5, "messages": 2.0, "tokens": None}
    components: Mapping[str, Any] = {"components": {"name": 0.5}, "tested": {"name": 2}}
    fields = {**counts, **means, **components, **changes}
    return Evaluation(step=step, run=f"run-{step}", accuracy=accuracy, **fields)


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> dict[int, Evaluation]:
    """What each step is worth: no run is played."""
    worth: dict[int, Evaluation] = {}

    def run(bench: Any, *, model: Any, quiet: bool, out: Path, **options: Any) -> Any:
        assert quiet
        out.mkdir(parents=True, exist_ok=True)
        (out / "model").write_text(f"{model.name} {model.settings()} {options}")

    monkeypatch.setattr(evaluation, "run", run)
    monkeypatch.setattr(evaluation, "_evaluation", lambda step, finished, bench: worth.get(step, of(step)))
    return worth


def test_a_series_needs_the_beginning_and_a_later_evaluation(tmp_path: Path, played: dict[int, Evaluation]):
    for number, steps in enumerate([(0,), (1, 2), (0, 1), (1, 0)]):
        held_out = evaluate(silent, "wild-mini", every=1, out=tmp_path / str(number))
        for step in steps:
            held_out(step)
    assert [place.parent.name for place in sorted(tmp_path.glob("*/series.toml"))] == ["2", "3"]
    assert evaluation._toml('a "set" 你😀') == '"a \\"set\\" 你😀"'
