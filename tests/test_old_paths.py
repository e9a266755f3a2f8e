"""Import paths of 0.1 give what lies elsewhere now, with a warning."""

from importlib import import_module

import pytest

import wildtool
from wildtool.old_paths import MODULES, NAMES

IN_0_1 = {
    "wildtool.types": "Message Tool KEPT Outcome Source Item Role Address Request Reply Transcript Verdict Metric Finding"
    " Mutant Published GoldCall Difference TraceStep Trace Ask Walk Model Benchmark OriginalPrompts",
    "wildtool.walking": "SILENCE carried play_walks replay outcome_without_end",
    "wildtool.tracing": "MAX_DIFFERENCES MAX_DEPTH told differing single_out",
    "wildtool.stats.bootstrap": "RESAMPLES bootstrap_interval tail_share",
    "wildtool.stats.changes": "changes",
    "wildtool.stats.coverage": "coverage cost",
    "wildtool.stats.holm": "holm",
    "wildtool.stats.paired": "LEVEL Pair Difference difference finding flip_test",
    "wildtool.stats.rates": "RIGHT Rate measure rate_metric",
    "wildtool.stats.repeats": "pass_at pass_all repeats",
    "wildtool.stats.student": "t_quantile",
    "wildtool.stats.intervals": "clustered_rate wilson weighted_sum",
    "wildtool.stats.power": "FACTOR detectable rate_error unpaired design_effect intra_cluster_correlation",
}
"""What the documented modules of 0.1 gave."""


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("module", IN_0_1)
def test_every_documented_name_of_the_last_release_can_be_imported(module: str):
    for name in IN_0_1[module].split():
        assert getattr(import_module(module), name) is not None


def test_an_old_path_says_where_its_name_is_now():
    with pytest.warns(DeprecationWarning, match="walking.play_walks is wildtool.episode.play_episodes now"):
        from wildtool.walking import play_walks  # pyright: ignore
    from wildtool.episode import play_episodes

    assert play_walks is play_episodes


def test_old_names_of_the_types_are_those_of_now():
    with pytest.warns(DeprecationWarning, match=r"types.Benchmark is wildtool.benchmark.Benchmark now"):
        found = import_module("wildtool.types").Benchmark
    from wildtool.benchmark import Benchmark

    assert found is Benchmark


def test_what_never_was_is_missing():
    with pytest.raises(ImportError):
        import_module("wildtool.nothing")
    for module in ("wildtool.types", "wildtool.walking"):
        with pytest.raises(AttributeError):
            _ = import_module(module).nothing


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_table_leads_somewhere():
    for module, names in NAMES.items():
        assert all(getattr(import_module(module), name) is not None for name in names)
    assert all(import_module(now) for now in MODULES.values())


@pytest.mark.parametrize(
    ("module", "name", "now"),
    [
        ("wildtool.types", "KEPT", "wildtool.types.PROVIDER_CONTENT"),
        ("wildtool.types", "Difference", "wildtool.trace.GoldDifference"),
        ("wildtool.walking", "SILENCE", "wildtool.episode.EMPTY_REPLY"),
        ("wildtool.walking", "replay", "wildtool.episode.replay"),
        ("wildtool.tracing", "MAX_DIFFERENCES", "wildtool.trace.MAX_TRACE_DIFFERENCES"),
        ("wildtool.stats.rates", "RIGHT", "wildtool.stats.metrics.CORRECT_SQL"),
        ("wildtool.stats.paired", "Pair", "wildtool.stats.tests.ItemPair"),
    ],
)
def test_a_warning_names_both_places_and_the_line_that_used_the_old_one(module: str, name: str, now: str):
    with pytest.warns(DeprecationWarning) as warned:
        value = getattr(import_module(module), name)
    (warning,) = warned
    assert str(warning.message) == f"{module}.{name} is {now} now; the old path goes with 0.4"
    place, _, attribute = now.rpartition(".")
    assert value is getattr(import_module(place), attribute)
    if module == "wildtool.types":
        assert warning.filename == __file__


def test_the_package_gives_what_it_names_and_nothing_else():
    from wildtool.agents.session import AgentSession
    from wildtool.api import bench, gating, results, runs, scoring, settings
    from wildtool.judges import auditing, door
    from wildtool.stats import judged

    assert {name: getattr(wildtool, name) for name in wildtool.__all__} == {
        **{
            name: getattr(bench, name)
            for name in ("Bench", "BenchItem", "CallCheck", "cases", "check_call", "judge", "load")
        },
        **{
            name: getattr(results, name) for name in ("Run", "RunComparison", "Scores", "Verdicts", "compare")
        },
        **{name: getattr(runs, name) for name in ("arun", "run", "trust")},
        **{
            name: getattr(settings, name)
            for name in ("Alterations", "Endpoint", "Items", "Limits", "Output", "Roles", "Sampling")
        },
        **{name: getattr(gating, name) for name in ("GateOutcome", "gate")},
        "AgentSession": AgentSession,
        "JudgeAudit": auditing.JudgeAudit,
        "audit_judge": door.audit_judge,
        "rate_with_labels": judged.rate_with_labels,
        "score": scoring.score,
    }
    assert dir(wildtool) == sorted(wildtool.__all__)
    with pytest.raises(AttributeError) as raised:
        _ = wildtool.nothing  # pyright: ignore
    assert str(raised.value) == (
        "module 'wildtool' has no attribute 'nothing'; it has: AgentSession, Alterations, Bench, BenchItem, CallCheck, "
        "Endpoint, GateOutcome, Items, JudgeAudit, Limits, Output, Roles, Run, RunComparison, Sampling, Scores,"
        " Verdicts, arun, audit_judge, cases, check_call, compare, gate, judge, load, rate_with_labels, run, score, trust"
    )
