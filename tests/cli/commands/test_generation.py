"""How `generate` asks models: which for which role, how often it goes on, how it ends."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from wildtool_data.commands.generate import execute
from wildtool_data.commands.generate.execute import GenerationResult, run_generation
from wildtool_data.commands.generate.options import GenerateOptions


def options(**more: Any) -> GenerateOptions:
    plain = {"role_model": None, "config": None, "prices": None, "response_format": None, "cache": None}
    return GenerateOptions(
        **{**plain, "model": "m", "quiet": False, "force": False, "dry_run": False, **more}
    )


# Runs ------------------------------------------------------------------------------------------------


class Cache:
    closed = 0

    def close(self) -> None:
        Cache.closed += 1


@pytest.fixture
def generation(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Runs a generation whose runs end as given; gives the exit status and what was run."""
    runs: list[tuple[Any, Path, dict[str, Any]]] = []

    def run(
        results: list[dict[str, Any]], products: list[GenerationResult], given: GenerateOptions | None = None
    ) -> Any:
        runs.clear()
        ended = iter(results)
        made = iter(products)

        def run_plan(plan: Any, folder: Path, **more: Any) -> Any:
            runs.append((plan, folder, more))
            plain = {"interrupted": False, "limit": None, "exit_status": 0, "verdicts": None}
            return SimpleNamespace(**{**plain, "counts": SimpleNamespace(infra_error=0), **next(ended)})

        monkeypatch.setattr(execute, "run_plan", run_plan)
        asked = given or options(quiet=True)
        sitting = SimpleNamespace(cache=Cache())
        monkeypatch.setattr(GenerateOptions, "invocation", lambda self: sitting)
        maker: Any = SimpleNamespace(source=lambda: "source", profiles={"first": "", "other": ""})
        model = SimpleNamespace(model=SimpleNamespace(name="m"), price=None, rates="rates", headers=())
        priced = SimpleNamespace(model=SimpleNamespace(name="p"), price="price", rates=None, headers=())
        models: Any = {"agent": model, "judge": priced}
        return run_generation(maker, models, tmp_path / "f", asked, lambda plan: next(made)), runs

    monkeypatch.setattr(sys, "argv", ["w", "generate"])
    return run


def test_an_interrupted_run_says_how_to_continue(
    generation: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    closed = Cache.closed
    status, _ = generation([{"interrupted": True, "exit_status": 130}], [])
    assert (status, Cache.closed - closed) == (130, 1)
    assert capsys.readouterr().err == (
        f"Interrupted. All replies are saved in {tmp_path / 'f'}; run the same command again to continue.\n"
    )
