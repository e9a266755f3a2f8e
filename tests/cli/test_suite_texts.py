"""What `wildtool run all` prints of several benchmarks together, and what it takes of the options."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cli.output.test_tables import result
from wildtool.cli import suite
from wildtool.cli.options.run import NamedRun, RunOptions
from wildtool.cli.suite import Suite
from wildtool.engine.suite import Overall, ToleapOverall
from wildtool.errors import DataError, RecordError, UsageError
from wildtool.evidence import Evidence
from wildtool.types import Metric


def metric(value: float | None, **fields: Any) -> Metric:
    return Metric("accuracy", "task", value, 1, 2, 0.25, 0.75, headline=True, **fields)


TOLEAP = ToleapOverall(0.625, 12, 800, ("tides", "boats"))


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(suite, "trust_line", lambda label, result: f"{label}: odd" * (result.run == "odd"))
    monkeypatch.setattr(suite, "OVERALL_CAVEAT", "Caveat.")
    monkeypatch.setattr(suite, "parts_line", lambda results: f"Of {len(results)} runs.")


def printed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, means: list[Overall], *results: Any
) -> str:
    monkeypatch.setattr(suite, "overalls", lambda results, name: means)
    suite._print_overalls("all", results)
    return capsys.readouterr().out


def test_models_stand_side_by_side(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    names = ("tides", "boats")
    means = [
        Overall("m", names, (0.5, 0.4, 0.6), 1.5, TOLEAP),
        Overall("n", names, (0.25, 0.1, 0.4), 1.5, None),
    ]
    shown = printed(
        capsys,
        monkeypatch,
        means,
        result("m", metric(0.5), benchmark="tides"),
        result("n", metric(0.25), benchmark="tides", evidence=Evidence(8, failed=1), run="odd"),
        result("m", metric(0.125, better="less"), benchmark="boats"),
        result("n", metric(None), benchmark="ferries"),
    )
    assert (
        shown
        == """\
all: models side by side

                                                         m                    n
───────────────────────────────────────────────────────────────────────────────
tides:                                              50.0 %  25.0 % (incomplete)
accuracy, task                                [25.0, 75.0]         [25.0, 75.0]
boats:                                              12.5 %                    –
accuracy, task (less is better)               [25.0, 75.0]
ferries:                                                 –                    –
accuracy, task, not in the mean                                    [25.0, 75.0]
mean of 2 benchmarks                                50.0 %               25.0 %
                                              [40.0, 60.0]         [10.0, 40.0]
ToLeaP's overall                                    62.5 %                    –
                                 12 of 97 metrics, n = 800
mean rank                                             1.50                 1.50

Of 4 runs.
tides, n: odd
Caveat.

"""
    )


@pytest.mark.parametrize(
    ("benchmarks", "means"),
    [
        (
            ("tides", "boats"),
            """\
mean of 2 benchmarks                                   50.0 %  [40.0, 60.0]
ToLeaP's overall (12 of 97 metrics, by 800 samples)    62.5 %
mean rank                                                1.00
""",
        ),
        # The mean of one benchmark is its number.
        (("tides",), "ToLeaP's overall (12 of 97 metrics, by 800 samples)    62.5 %\n"),
    ],
)
def test_a_single_model_has_its_numbers_one_below_the_other(
    benchmarks: tuple[str, ...],
    means: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
):
    results = [result("m", metric(0.5), benchmark=name, run="odd") for name in benchmarks]
    overall = Overall("m", benchmarks, (0.5, 0.4, 0.6), 1.0, TOLEAP)
    numbers = "".join(
        f"{name}: accuracy, task                                  50.0 %  [25.0, 75.0]\n"
        for name in benchmarks
    )
    odd = "".join(f"{name}: odd\n" for name in benchmarks)
    assert printed(capsys, monkeypatch, [overall], *results) == (
        f"""\
all: m

                                                     headline          95 %
───────────────────────────────────────────────────────────────────────────
{numbers}{means}
Of {len(results)} runs.
{odd}Caveat.

"""
    )


def test_nothing_is_shown_where_nothing_was_answered(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    assert printed(capsys, monkeypatch, [], result("m", metric(None))) == ""
    assert printed(capsys, monkeypatch, [], result("m", replace(metric(0.5), headline=False))) == ""


# The runs ----------------------------------------------------------------------------------------------


def planned(
    monkeypatch: pytest.MonkeyPatch, absent: Sequence[str] = (), **options: Any
) -> tuple[Suite, list[Any], list[NamedRun]]:
    """A suite of three benchmarks, what each was planned with, and the runs. Args: absent: those without data."""
    benchmarks: dict[str, Any] = {
        "tides": SimpleNamespace(profiles={"official": ""}, roles={"user": None}),
        "boats": SimpleNamespace(profiles={"strict": "", "all": ""}, roles={}),
        "fees": SimpleNamespace(profiles={"official": ""}, roles={}),
    }
    monkeypatch.setattr(suite, "suite_members", lambda name: list(benchmarks))
    monkeypatch.setattr(suite, "load_benchmark", benchmarks.__getitem__)
    taken: list[Any] = []

    def plan_runs(name: str, its: RunOptions, above: Path) -> list[NamedRun]:
        taken.append((name, its.profile, its.user_model, its.user_rpm, its.seed, str(above)))
        if name in absent:
            raise DataError(f"no data of {name}")
        plan: Any = SimpleNamespace(profile=its.profile)
        return [NamedRun("m", plan, above / "m")]

    own = Suite("all", RunOptions(model=["m"], user_model="u", user_rpm=3.0, seed=7, **options), [])
    return own, taken, own.plan(plan_runs)


def test_each_benchmark_has_its_profile_and_only_one_with_a_user_has_its_options(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    _, taken, runs = planned(monkeypatch, ["fees"])
    assert taken == [
        ("tides", "official", "u", 3.0, 7, "runs/all/tides"),
        ("boats", "all", None, None, 7, "runs/all/boats"),
        ("fees", "official", None, None, 7, "runs/all/fees"),
    ]
    assert [(run.label, str(run.folder)) for run in runs] == [
        ("tides: m", "runs/all/tides/m"),
        ("boats: m", "runs/all/boats/m"),
    ]
    assert capsys.readouterr().err == "fees is left out: no data of fees\n"


def test_without_any_data_every_reason_is_given(monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(DataError, match=r"^no data of tides; no data of boats; no data of fees$"):
        planned(monkeypatch, ["tides", "boats", "fees"])


def test_an_option_of_one_benchmark_is_refused():
    with pytest.raises(UsageError) as error:
        Suite("all", RunOptions(model=["m"]), ["seed", "retriever_top_k", "mode"])
    assert str(error.value) == "--mode belongs to one benchmark; leave it out, or run one of all alone"


@pytest.mark.parametrize("quiet", [True, False])
def test_runs_that_can_be_read_are_put_into_one_document(
    quiet: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    own, _, _ = planned(monkeypatch, ["fees"], out=Path("o"), quiet=quiet)
    capsys.readouterr()
    shown: list[Any] = []

    def load(folder: Path, profile: str) -> Any:
        if folder == Path("o/boats/m"):
            raise RecordError("never begun")
        return folder, profile

    monkeypatch.setattr(suite, "load_result", load)
    monkeypatch.setattr(suite, "suite_document", lambda name, results, left_out: {"é": [name, left_out]})
    monkeypatch.setattr(suite, "_print_overalls", lambda name, results: shown.append((name, results)))
    Path("o").mkdir()
    assert own.finish(3) == 3
    assert Path("o/suite.json").read_text("utf-8") == (
        '{\n "é": [\n  "all",\n  {\n   "fees": "no data of fees"\n  }\n ]\n}\n'
    )
    assert shown == [("all", [(Path("o/tides/m"), "official")])]
    assert capsys.readouterr().err == ("" if quiet else "Every number of every benchmark: o/suite.json\n")


def test_where_no_run_can_be_read_nothing_is_written(monkeypatch: pytest.MonkeyPatch):
    own, _, _ = planned(monkeypatch)

    def load(folder: Path, profile: str) -> Any:
        raise RecordError("never begun")

    monkeypatch.setattr(suite, "load_result", load)
    assert own.finish(3) == 3
    assert not Path("runs").exists()
