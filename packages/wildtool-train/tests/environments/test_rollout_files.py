"""What is read of each kind of rollout file, and what is written of it."""

from pathlib import Path
from typing import Any

import pytest

from wildtool.errors import DataError, UsageError
from wildtool_train.rollouts import Rollout, read_rollouts


def test_a_compressed_log_needs_inspect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    import sys
    from types import SimpleNamespace

    path = tmp_path / "a.eval"
    path.touch()
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    with pytest.raises(UsageError) as refused:
        [*read_rollouts(path)]  # pyright: ignore
    assert str(refused.value) == (
        f"{path}: only Inspect reads its compressed logs: pip install 'wildtool[inspect]', or convert it: inspect log"
        " convert --to json"
    )
    log: Any = SimpleNamespace(model_dump=lambda: {"samples": [{"id": "u/0", "epoch": 1}]})
    monkeypatch.setitem(sys.modules, "inspect_ai.log", SimpleNamespace(read_eval_log=lambda name: log))  # pyright: ignore
    assert [*read_rollouts(path)] == [Rollout(f"{path}, sample 'u/0', epoch 1", "u/0", [], None, "")]
    monkeypatch.setitem(sys.modules, "inspect_ai.log", SimpleNamespace(read_eval_log=int))  # pyright: ignore
    with pytest.raises(DataError, match=r"a\.eval: Inspect cannot read it as a log \(invalid literal"):
        [*read_rollouts(path)]  # pyright: ignore
