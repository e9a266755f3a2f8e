"""What is said after a run apart from its numbers: why it stopped, what failed, and what it spent."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from wildtool.advice import Advice
from wildtool.api.plans import NamedRun
from wildtool.cli.output.run_result import print_notes, print_overview_of
from wildtool.engine.score.trust import FailureKind
from wildtool.errors import BLOCKED_PROMPT, NOT_RECORDED, LimitOf
from wildtool.reply_ends import OVERFLOWED


def result(**fields: Any) -> Any:
    counts = SimpleNamespace(infra_error=0, unplayed=3, units=8)
    spent = SimpleNamespace(
        tokens=0, prompt_tokens=1_200, completion_tokens=34, unpriced=False, cost=0.5, reported=0.0
    )
    named: dict[str, Any] = {"folder": Path("runs/m"), "remarks": (), "interrupted": False, "pending": ()}
    named |= {"limit": None, "limit_of": None, "counts": counts, "verdicts": None, "faults": ()}
    named |= {"spent": spent, "cached": 0, "calls": 1}
    return SimpleNamespace(**named | fields)


def notes(capsys: pytest.CaptureFixture[str], **fields: Any) -> str:
    print_notes(result(**fields))
    out, err = capsys.readouterr()
    assert out == ""
    return err


def test_what_stopped_a_run_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert notes(capsys, remarks=("one", "two")) == "one\ntwo\n"
    assert notes(capsys, interrupted=True) == (
        "Interrupted. All replies are saved in runs/m; run the same command again to continue.\n"
    )
    stopped = "runs/m: stopped: --max-cost 1. All replies are recorded; 3 of 8 units are unfinished. "
    assert (
        notes(capsys, limit="--max-cost 1.", limit_of=LimitOf.USER)
        == f"{stopped}Run the same command with a higher limit to continue.\n"
    )
    assert notes(capsys, limit="--max-cost 1", limit_of=LimitOf.ENDPOINT) == (
        f"{stopped}Run the same command later to continue.\n"
    )
    assert "at another --base-url" in notes(capsys, limit="nothing for 60 s", limit_of=LimitOf.DOWN)


BROKEN = FailureKind("http 500", 1, "http 500: broken")
MISSING = FailureKind(NOT_RECORDED, 1, f"{NOT_RECORDED}: no such call")
LONG = FailureKind("http 400", 2, f"http 400: {OVERFLOWED}: 9 tokens")
BLOCKED = FailureKind(BLOCKED_PROMPT, 2, f"{BLOCKED_PROMPT}: refused")
REFUSED = [
    f"runs/m: 2 of 8 units have no result because calls ended with {BLOCKED_PROMPT} (2); for example: refused",
    "The provider refuses these prompts themselves; trying again will hardly help (docs/models.md).",
]


@pytest.mark.parametrize(
    ("kinds", "lines"),
    [
        (
            [BROKEN],
            [
                "runs/m: 5 of 8 units were not finished because calls failed with http 500 (1); for example: broken",
                "runs/m: run the same command to retry only those.",
            ],
        ),
        (
            [BROKEN, MISSING, LONG],
            [
                "runs/m: 5 of 8 units were not finished because calls failed with"
                f" http 500 (1), {NOT_RECORDED} (1), http 400 (2); for example: broken",
                "runs/m: the same command cannot help 1 of them.",
                f"runs/m: {Advice.LONGER_CONTEXT}; the same command then retries only the others. "
                f"Or {Advice.FEWER_TOKENS}.",
            ],
        ),
        (
            [MISSING],
            [
                f"runs/m: 5 of 8 units were not finished because calls failed with {NOT_RECORDED} (1); for example: no"
                " such call",
                "The record that answers does not hold these calls; retrying will not help.",
            ],
        ),
        (
            [LONG],
            [
                "runs/m: 5 of 8 units were not finished because calls failed with http 400 (2); for example:"
                f" {OVERFLOWED}: 9 tokens",
                f"runs/m: {Advice.LONGER_CONTEXT}; the same command then retries only those. "
                f"Or {Advice.FEWER_TOKENS}.",
            ],
        ),
        ([BLOCKED], REFUSED),
        (
            [BLOCKED, BROKEN],
            [
                *REFUSED,
                "runs/m: 3 of 8 units were not finished because calls failed with http 500 (1); for example: broken",
                "runs/m: run the same command to retry only those.",
            ],
        ),
    ],
)
def test_why_units_failed_is_said_with_what_to_do(
    kinds: list[FailureKind],
    lines: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("wildtool.cli.output.run_result.failures_in", lambda path: kinds)
    counts = SimpleNamespace(infra_error=5, unplayed=0, units=8)
    assert notes(capsys, counts=counts, verdicts=Path("v")).splitlines() == lines
    assert notes(capsys, counts=counts) == ""
    assert notes(capsys, verdicts=Path("v")) == ""


def test_runs_are_shown_with_the_command_for_more(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[Any] = []
    monkeypatch.setattr(
        "wildtool.cli.output.run_result.find_results", lambda folders, profile: ((folders, profile), 0)
    )
    monkeypatch.setattr("wildtool.cli.output.run_result.rank_results", lambda results, sort: (results, sort))
    monkeypatch.setattr(
        "wildtool.cli.output.run_result.print_overview",
        lambda results, ranked: shown.append((*results, ranked)),
    )
    folders = [Path("runs/a b"), Path("c")]
    plan: Any = SimpleNamespace(benchmark=SimpleNamespace(shown=()), prices={})
    runs = [NamedRun(str(folder), plan, folder) for folder in folders]
    print_overview_of(runs, "fixed", True)
    assert capsys.readouterr().err == ""
    print_overview_of(runs, "fixed", False)
    assert capsys.readouterr().err == "More tables: wildtool show 'runs/a b' c --all\n"
    assert shown == [(folders, "fixed", "rank")] * 2
