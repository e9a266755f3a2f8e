"""Runs from Python are those of the command line: same folders, same replies, same numbers."""

import asyncio
import subprocess
import sys
from contextlib import nullcontext
from copy import copy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

import wildtool as wt
from e2e.command import verdicts
from wildtool.api import results as results_module
from wildtool.api import runs as runs_module
from wildtool.api.results import RunComparison
from wildtool.cli import app
from wildtool.errors import RecordError, UsageError, WildtoolError

asked: list[int] = []


def refusing(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> str:
    asked.append(len(messages))
    messages.clear()
    tools.clear()
    return "I do not know."


async def calling(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> dict[str, Any]:
    return {"tool_calls": [{"name": tools[0]["function"]["name"], "arguments": {}}]}


def test_a_function_of_two_lines_is_a_model(tmp_path: Path) -> None:
    asked.clear()
    run = wt.run("wild-mini", model=refusing, limit=3, out=tmp_path / "run")
    assert run.complete
    assert run.scores["accuracy: task"].denominator == 12
    assert run.scores.headline == run.scores["accuracy: task"]
    assert 0 not in asked, "what the function changes reaches no other request"
    again = wt.run(wt.load("wild-mini"), model=refusing, limit=3, out=tmp_path / "run")
    assert len(asked) == 12 + sum(row["steps"] - 1 for row in again.verdicts().rows())
    assert again.result.counts == run.result.counts


def test_the_command_line_continues_a_run_from_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = wt.run("wild-mini", model="baseline/chat", limit=2, out=tmp_path / "run", temperature=None)
    before = verdicts(first.folder)
    words = ["run", "wild-mini", "--model", "baseline/chat", "--limit", "4", "--out", str(first.folder)]
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(app, words).exit_code == 0
    assert verdicts(first.folder)[:8] == before
    assert wt.Run(first.folder).result.counts.units == 16


def test_runs_work_inside_a_running_loop(tmp_path: Path) -> None:
    async def cell() -> tuple[wt.Run, wt.Run]:
        nested = wt.run("wild-mini", model=calling, limit=2, out=tmp_path / "nested")
        awaited = await wt.arun("wild-mini", model=calling, limit=2, out=tmp_path / "awaited")
        return nested, awaited

    nested, awaited = asyncio.run(cell())
    assert verdicts(nested.folder) == verdicts(awaited.folder)
    assert nested.result.counts.units == 8


@pytest.mark.long
def test_several_models_are_several_runs(tmp_path: Path) -> None:
    right, wrong = wt.run("wild-mini", model=["baseline/gold", refusing], limit=8, out=tmp_path)
    comparison = wt.compare(right, wrong)
    assert [each.model for each in comparison.comparisons] == [wrong.model]
    assert comparison.comparisons[0].whole.difference < -0.5
    assert comparison.findings == [
        f"{wrong.model} against baseline/gold: worse; difference -87.5 points (-100.0 to -70.0),"
        " p 0.00781 by Holm, 32 units"
    ]
    assert (repr(comparison), comparison.differing) == (comparison.findings[0], ())
    by_item = wt.compare(wrong.folder, right, metric="item", anyway=True)
    assert (by_item.comparisons[0].whole.units, by_item.differing) == (8, ())
    with pytest.raises(UsageError, match="differ in profile"):
        wt.compare(
            right, wt.run("wild-mini", model=refusing, limit=8, profile="fixed", out=tmp_path / "fixed")
        )


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"temprature": 0}, "did you mean 'temperature'"),
        ({"temperature": "hot"}, "temperature= is 'hot'; it must be a number"),
        ({"limit": 0}, "limit= is 0"),
        ({"sample": 4, "limit": 2}, "give limit= or sample=, not both"),
        ({"items": wt.Items(sample=4), "sample": 5}, "sample= is given twice"),
        ({"limits": 7}, r"limits= is 7; it must be Limits\(…\)"),
        ({"profile": "fixd"}, "did you mean 'fixed'"),
        ({"roles": wt.Roles(user_temperature=1)}, "user_temperature= needs user_model="),
        ({"model_name": "x"}, "unknown keyword 'model_name'"),
        ({"dry_run": True}, "unknown keyword 'dry_run'"),
        ({"config": "no.toml"}, "cannot read no.toml"),
    ],
)
def test_wrong_keywords_are_refused_with_the_name_of_the_keyword(
    tmp_path: Path, options: dict[str, Any], problem: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UsageError, match=problem):
        wt.run("wild-mini", model=refusing, **{"out": tmp_path / "run", **options})
    assert not (tmp_path / "run").exists()
    assert capfd.readouterr() == ("", "")


def test_a_function_that_fails_ends_the_run_and_loses_nothing(tmp_path: Path) -> None:
    third, _ = wt.load("wild-mini")["wild_mini_3"].request(2)

    def failing(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> str:
        if messages[-1] == third[-1]:
            raise KeyError("weather")
        return "I do not know."

    with pytest.raises(WildtoolError, match=r"failing failed \(item wild_mini_3, unit 2, step 0\): KeyError"):
        wt.run(
            "wild-mini",
            model=failing,
            ids=["wild_mini_3"],
            limits=wt.Limits(order="prefix"),
            out=tmp_path / "run",
        )
    assert wt.Run(tmp_path / "run").result.counts.units == 4
    assert not wt.Run(tmp_path / "run").complete


@pytest.mark.parametrize("answer", [None, 7, {"text": "x"}, {"tool_calls": [{}]}])
def test_a_function_that_gives_no_message_ends_the_run(tmp_path: Path, answer: Any) -> None:
    with pytest.raises(WildtoolError, match="gave no assistant message"):
        wt.run("wild-mini", model=lambda messages, tools: answer, limit=1, out=tmp_path / "run")


def test_what_cannot_be_called_is_refused() -> None:
    with pytest.raises(UsageError, match="must be a function of \\(messages, tools\\)"):
        wt.run("wild-mini", model=lambda messages: "x")  # pyright: ignore
    with pytest.raises(UsageError, match="must be a function"):
        wt.run("wild-mini", model=7)  # pyright: ignore


@pytest.mark.parametrize(
    ("kind", "package", "method"),
    [("df", "pandas", "df"), ("pl", "polars", "pl"), ("arrow", "pyarrow", "to_arrow_table")],
)
def test_verdicts_become_the_table_of_a_library(
    monkeypatch: pytest.MonkeyPatch, kind: str, package: str, method: str
) -> None:
    asked: list[Any] = []

    def open_results(*words: Any) -> Any:
        asked.append(words)
        return nullcontext((None, "table"))

    def relation(tables: list[str]) -> Any:
        asked.append(tables)
        return SimpleNamespace(**{method: lambda: "made"})

    monkeypatch.setattr(results_module, "import_module", asked.append)
    monkeypatch.setattr(results_module, "open_results", open_results)
    monkeypatch.setattr(results_module, "relation", relation)
    assert getattr(stored("a", "fixed").verdicts(), kind)() == "made"
    assert asked == [package, (Path("a"), "fixed"), ["table"]]


def test_a_benchmark_is_planned_as_it_was_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = wt.load("wild-mini")
    benchmark = copy(loaded.benchmark)
    monkeypatch.setattr(benchmark, "mode", "fc", raising=False)
    monkeypatch.setattr(runs_module, "plan", lambda settings, entries, models: [])  # pyright: ignore
    for source, data in ((loaded.source, None), (replace(loaded.source, name="d.jsonl"), "d.jsonl")):
        bench = wt.Bench(benchmark, source, split="s", lang="zh")
        planned: Any = runs_module._planned(bench, ["m"], {"limit": 3})  # pyright: ignore[reportPrivateUsage]
        settings = planned[1]
        assert (settings.benchmark, settings.models) == ("wild-mini", ("m",))
        assert settings.items == wt.Items(mode="fc", split="s", lang="zh", data=data, limit=3)
        assert {"mode", "split", "lang", "limit"} <= settings.explicit


def stored(folder: str, profile: str | None) -> wt.Run:
    """A run that nobody reads."""
    its = object.__new__(wt.Run)
    its.folder, its.profile = Path(folder), profile
    return its


@pytest.mark.parametrize(
    ("sides", "options", "profile"),
    [
        ((stored("a", None), "b", Path("c")), {}, None),
        ((stored("a", None), stored("b", "fixed"), stored("c", "other")), {}, "fixed"),
        (("a", stored("b", "fixed"), "c"), {"profile": "mine", "metric": "item"}, "mine"),
        (("a", "b", "c"), {"all_pairs": True}, None),
        (("a", "b", "c"), {"only_played": True}, None),
        (("a", "b", "c"), {"anyway": True}, None),
    ],
)
def test_what_is_compared_and_how_is_handed_on(
    monkeypatch: pytest.MonkeyPatch, sides: Any, options: dict[str, Any], profile: str | None
) -> None:
    asked: list[Any] = []

    def answer(result: Any) -> Any:
        return lambda *words, **more: asked.append((words, more)) or result  # pyright: ignore

    monkeypatch.setattr(results_module, "load_compared_runs", answer("runs"))
    monkeypatch.setattr(results_module, "check_comparable", answer(["differs"]))
    monkeypatch.setattr(results_module, "compare_all", answer(["comparison"]))
    assert wt.compare(*sides, **options) == RunComparison(("comparison",), ("differs",))  # pyright: ignore
    how = {"all_pairs": False, "only_played": False, **options}
    both = {name: how[name] for name in ("all_pairs", "only_played")}
    assert asked == [
        (([Path("a"), Path("b"), Path("c")], profile, options.get("metric", "unit")), {}),
        (("runs",), {**both, "anyway": options.get("anyway", False)}),
        (("runs",), both),
    ]


def test_a_changed_function_is_another_model(tmp_path: Path) -> None:
    def replies(text: str) -> Any:
        space: dict[str, Any] = {}
        exec(f"def reply(messages, tools): return {text!r}", space)
        return space["reply"]

    runs = wt.run("wild-mini", model=[replies("a"), replies("b")], limit=1, out=tmp_path)
    assert len({run.folder for run in runs}) == len({run.model for run in runs}) == 2


def test_the_answer_of_a_client_library_is_read_whole(tmp_path: Path) -> None:
    class Completion:
        def model_dump(self, exclude_none: bool) -> dict[str, Any]:
            message = {"role": "assistant", "content": "I do not"}
            usage = {"prompt_tokens": 7, "completion_tokens": 3}
            return {"choices": [{"message": message, "finish_reason": "length"}], "usage": usage}

    run = wt.run("wild-mini", model=lambda messages, tools: Completion(), limit=1, out=tmp_path / "run")
    assert run.result.evidence.cut_off == 4
    assert (
        run.scores["cost: prompt tokens per task"].numerator
        == 7 * run.scores["cost: steps per task"].numerator
    )


@pytest.mark.long
@pytest.mark.parametrize(
    "answer",
    [
        {"content": "I do not", "finish_reason": "length"},
        {"role": "assistant", "content": [{"type": "text", "text": "I do"}], "stop_reason": "max_tokens"},
        {
            "candidates": [
                {"content": {"role": "model", "parts": [{"text": "I"}]}, "finishReason": "MAX_TOKENS"}
            ]
        },
        {"type": "ai", "content": "I do", "response_metadata": {"finish_reason": "length"}},
        {"message": {"role": "assistant", "content": "I do"}, "done_reason": "length"},
        {
            "status": "incomplete",
            "incomplete_details": {"reason": "max_output_tokens"},
            "output": [
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I"}]}
            ],
        },
    ],
    ids=["openai", "anthropic", "gemini", "langchain", "ollama", "responses"],
)
def test_a_message_that_says_that_it_was_cut_counts_as_cut(tmp_path: Path, answer: dict[str, Any]) -> None:
    run = wt.run("wild-mini", model=lambda messages, tools: answer, limit=1, out=tmp_path / "run")
    assert run.result.evidence.cut_off == 4
    assert "4 cut off" in str(run.scores)


@pytest.mark.long
def test_tables_need_the_packages_of_their_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = wt.run("wild-mini", model="baseline/gold", limit=1, out=tmp_path / "run")
    assert len(run.verdicts()) == len(run.verdicts().rows()) == 4
    for package, method in (("pandas", "df"), ("polars", "pl"), ("pyarrow", "arrow")):
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(UsageError, match=f"pip install {package}"):
            getattr(run.verdicts(), method)()


@pytest.mark.long
def test_a_run_shows_its_headline_and_its_numbers_in_columns(tmp_path: Path) -> None:
    run = wt.run("wild-mini", model="baseline/lexical", limit=2, out=tmp_path / "run")
    assert repr(run) == f"<run of wild-mini by baseline/lexical, task 12.5 %: {tmp_path / 'run'}>"
    scores = run.scores
    whole = [metric for metric in run.result.metrics if metric.kind != "count"]
    assert [*scores] == whole
    assert (len(scores), scores[0], scores[-1:]) == (len(whole), whole[0], (whole[-1],))
    assert scores.headline == scores["task"] == whole[0]
    assert len(scores.table().split("\n")) == len(whole)
    assert "cost: steps per task                                  2 steps" in scores.table()
    shown = str(scores).split("\n")
    assert shown[:2] == ["accuracy: task = 12.5 % (95 %: 2.0–49.5, 1/8)", "evidence: 8 of 8 units judged"]
    assert [line for line in shown if not line.startswith(" ")][2:-1] == ["accuracy", "task type", "position"]
    assert shown[-1].endswith("all numbers: .table()")
    fixed = run.judged("fixed")
    assert (fixed.folder, fixed.profile, fixed.result.profile) == (run.folder, "fixed", "fixed")
    assert {row["profile"] for row in fixed.verdicts().rows()} == {"fixed"}
    half = wt.Run(run.folder)
    half.result = replace(half.result, incomplete="half of it", metrics=())
    assert repr(half) == f"<run of wild-mini by baseline/lexical, incomplete: {tmp_path / 'run'}>"
    assert (len(half.scores), half.scores.headline, half.complete) == (0, None, False)


def test_two_models_of_one_name_are_refused() -> None:
    class Same:
        name = "same"

        async def complete(self, request: Any) -> Any: ...
        def settings(self) -> dict[str, Any]:
            return {}

    with pytest.raises(UsageError) as caught:
        wt.run("wild-mini", model=[Same(), "baseline/gold", Same()])  # pyright: ignore
    assert str(caught.value) == (
        "model: two of them are called same; rename one or change its text, for what a function reads from global"
        " variables does not tell it from another"
    )


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"run\.json"):
        wt.Run(tmp_path)


def test_importing_costs_nothing_that_is_not_used() -> None:
    text = "import sys, wildtool; print('typer' in sys.modules or 'duckdb' in sys.modules, 'load' in dir(wildtool))"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
    with pytest.raises(AttributeError, match="it has: AgentSession, Alterations"):
        wt.lod  # pyright: ignore # noqa: B018


@pytest.mark.long
def test_a_notebook_shows_a_bar(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shown: list[str] = []

    class Handle:
        def update(self, html: str) -> None:
            shown.append(html)

    class Kernel:
        kernel = object()

    display = type(sys)("IPython.display")
    display.HTML, display.display = str, lambda html, display_id: Handle()  # pyright: ignore
    shell = type(sys)("IPython")
    shell.get_ipython = Kernel  # pyright: ignore
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    run = wt.run("wild-mini", model="baseline/gold", limit=2, out=tmp_path / "run")
    assert 'max="8" value="8"' in shown[-1]
    assert run.scores._repr_html_().startswith(
        "<table><tr><th>number</th><th></th><th>95 % or possible</th><th></th></tr>"
        "<tr><td>accuracy: task</td><td>100.0 %</td><td>34.2–100.0</td><td>8/8</td></tr><tr><td>accuracy: session</td>"
    )
    assert run.scores._repr_html_().endswith(
        "<td>cost: latency per step</td><td>0 s</td><td></td><td></td></tr></table><p></p>"
    )
    shown.clear()
    wt.run("wild-mini", model="baseline/gold", limit=2, out=tmp_path / "run", quiet=True)
    assert not shown
