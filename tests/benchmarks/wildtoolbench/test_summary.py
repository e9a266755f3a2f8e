"""The numbers of a run: every cut counts the rows it names, and every rate comes with its counts and interval."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchmarks.wildtoolbench.build import DONE, answer, call, calls, item, node, raw_call, says, transcript
from held_rows import held_rows
from wildtool.alter.variant import Variant
from wildtool.benchmark import VERDICT_COLUMNS
from wildtool.benchmarks.wildtoolbench import WILDTOOLBENCH, error_classes
from wildtool.benchmarks.wildtoolbench.paper.judge import LABEL_COLUMNS
from wildtool.engine.record.reader import LoggedReply
from wildtool.engine.score.verdict_table import RunInfo, VerdictTable, relation
from wildtool.stats.intervals import clustered_rate
from wildtool.types import Metric

ROW: dict[str, Any] = {
    "item": "s",
    "repeat": 0,
    "unit": "0",
    "outcome": "correct",
    "error": None,
    "steps": 2,
    "task_type": "Single-Tool",
    "position": 1,
    "subtype": "First Turn",
    "transitions": 0,
    "gold_calls": 1,
    "turns": 2,
    "topology": "single",
    "orchestration": "single",
    "optimal": True,
    "ap_done": 2,
    "ap_total": 2,
    "nodes_done": 2,
    "nodes": 2,
    "error_label": None,
    "reference_error": None,
}


def right(**changes: Any) -> dict[str, Any]:
    return ROW | changes


def wrong(error: str = error_classes.REFUSAL, **changes: Any) -> dict[str, Any]:
    return ROW | {"outcome": "wrong", "error": error, "optimal": False} | changes


def table(*rows: dict[str, Any]) -> Any:
    types = {**VERDICT_COLUMNS, **WILDTOOLBENCH.columns}
    full = (dict.fromkeys(types) | row | {"correct": row["outcome"] == "correct"} for row in rows)
    return held_rows(types, (list(row.values()) for row in full))


def summary(*rows: dict[str, Any], profile: str = "fixed") -> dict[tuple[str, str], Metric]:
    return {(m.group, m.name): m for m in WILDTOOLBENCH.summarize(table(*rows), profile)}


def counts(found: dict[tuple[str, str], Metric], group: str, name: str) -> tuple[float, float]:
    return found[group, name].numerator, found[group, name].denominator


# Chat ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("Which city do you mean?", True),
        ("Sure, I can help. Which city do you mean, and when?", True),
        ("您想去哪个城市？", True),
        ("**Which one?**", True),
        ("It was 42 euros. Anything else?", False),
        ("It was 42 euros.", False),
        ("Why not? Because it rains every day in that season, so the trail is closed.", False),
        (
            "Your booking is on Friday at nine, in the small room beside the kitchen. Is that all right?",
            False,
        ),
    ],
)
def test_a_chat_answer_that_is_a_question_counts_as_asked_back_under_fixed(said: str, asked: bool) -> None:
    made = item([answer()], english_task_types=["Chat"])
    found = {
        profile: WILDTOOLBENCH.judge(made, {"0": transcript(says(said))}, profile)[0]
        for profile in ("official", "fixed", "paper")
    }
    assert {verdict.outcome for verdict in found.values()} == {"correct"}
    assert found["fixed"].fields["asked_back"] is asked
    assert found["official"].fields.get("asked_back") is None


def test_asked_back_stands_beside_chat_under_fixed_alone() -> None:
    rows = [
        right(task_type="Chat", asked_back=asked, unit=str(n)) for n, asked in enumerate((True, False, False))
    ]
    assert counts(summary(*rows), "task type", "Chat, asked back") == (1, 3)
    names = list(summary(*rows))
    assert names.index(("task type", "Chat, asked back")) == names.index(("task type", "Chat")) + 1
    assert ("task type", "Chat, asked back") not in summary(*rows, profile="official")


def test_verdicts_of_before_without_the_column_are_summarized() -> None:
    rows = table(right(task_type="Chat")).project("* EXCLUDE (asked_back)")
    names = {(metric.group, metric.name) for metric in WILDTOOLBENCH.summarize(rows, "fixed")}
    assert ("task type", "Chat") in names and ("task type", "Chat, asked back") not in names


@pytest.mark.parametrize("profile", ["official", "fixed", "paper"])
def test_what_chat_means_is_said_with_the_number_and_with_published_ones(profile: str) -> None:
    assert "any text passes" in summary(right(), profile=profile)["task type", "Chat"].note
    published = [row for row in WILDTOOLBENCH.published() if ("task type", "Chat") in row.values]
    assert published and all("any text passes" in row.notes["task type", "Chat"] for row in published)


def test_what_keeps_ap_of_a_perfect_run_below_100_percent_is_said_where_it_does() -> None:
    row = right(orchestration="mixed", ap_done=2, ap_total=3)
    name = "accomplish progress (AP)", "total"
    assert "calls made together are one step" in summary(row, profile="official")[name].note
    assert not summary(row, profile="fixed")[name].note


# Accuracy -----------------------------------------------------------------------------------------------------


def test_task_accuracy_is_over_all_units_and_clustered_by_session() -> None:
    found = summary(right(), wrong(unit="1"), right(item="t"), right(item="u"))["accuracy", "task"]
    assert (found.value, found.numerator, found.denominator) == (0.75, 3, 4)
    assert (found.value, found.low, found.high) == clustered_rate([(1, 2), (1, 1), (1, 1)])


def test_a_session_is_right_if_all_its_tasks_are() -> None:
    found = summary(right(), wrong(unit="1"), right(item="t"), right(item="t", unit="1"))
    assert counts(found, "accuracy", "session") == (1, 2)


def test_every_repeat_of_a_session_counts_and_is_of_one_cluster() -> None:
    found = summary(right(), wrong(repeat=1), right(item="t"), right(item="t", repeat=1))[
        "accuracy", "session"
    ]
    assert (found.numerator, found.denominator) == (3, 4)
    assert (found.value, found.low, found.high) == clustered_rate([(1, 2), (2, 2)])


CUTS: dict[tuple[str, str], tuple[dict[str, Any], dict[str, Any]]] = {
    ("task type", "Single-Tool"): ({"task_type": "Single-Tool"}, {"task_type": "Chat"}),
    ("task type", "Multi-Tool"): ({"task_type": "Mixed Multi-Tool"}, {"task_type": "Single-Tool"}),
    ("task type", "Parallel Multi-Tool"): (
        {"task_type": "Parallel Multi-Tool"},
        {"task_type": "Mixed Multi-Tool"},
    ),
    ("task type", "Sequential Multi-Tool"): ({"task_type": "Sequential Multi-Tool"}, {"task_type": "Chat"}),
    ("task type", "Mixed Multi-Tool"): (
        {"task_type": "Mixed Multi-Tool"},
        {"task_type": "Parallel Multi-Tool"},
    ),
    ("task type", "Clarify"): ({"task_type": "Clarify"}, {"task_type": "Chat"}),
    ("task type", "Chat"): ({"task_type": "Chat"}, {"task_type": "Clarify"}),
    ("position", "1"): ({"position": 1}, {"position": 2}),
    ("position", "4"): ({"position": 4}, {"position": 3}),
    ("hidden intent", "First Turn"): ({"subtype": "First Turn"}, {"subtype": "Partial Information"}),
    ("hidden intent", "Subsequent Turn"): ({"subtype": "Long-Range Dependency"}, {"subtype": "First Turn"}),
    ("hidden intent", "Coreferential Reference"): (
        {"subtype": "Coreferential Reference"},
        {"subtype": "First Turn"},
    ),
    ("hidden intent", "Partial Information"): ({"subtype": "Partial Information"}, {"subtype": "First Turn"}),
    ("hidden intent", "Long-Range Dependency"): (
        {"subtype": "Long-Range Dependency"},
        {"subtype": "First Turn"},
    ),
    ("instruction transitions", "0"): ({"transitions": 0}, {"transitions": 1}),
    ("instruction transitions", "3"): ({"transitions": 3}, {"transitions": 2}),
    ("gold calls", "0"): ({"gold_calls": 0}, {"gold_calls": 1}),
    ("gold calls", "4"): ({"gold_calls": 4}, {"gold_calls": 5}),
    ("gold calls", "5 or more"): ({"gold_calls": 9}, {"gold_calls": 4}),
    ("turns", "1"): ({"turns": 1}, {"turns": 2}),
    ("turns", "5"): ({"turns": 5}, {"turns": 6}),
    ("turns", "6 or more"): ({"turns": 7}, {"turns": 5}),
    ("orchestration", "parallel"): ({"orchestration": "parallel"}, {"orchestration": "mixed"}),
    ("orchestration", "sequential"): ({"orchestration": "sequential"}, {"orchestration": "none"}),
    ("orchestration", "mixed"): ({"orchestration": "mixed"}, {"orchestration": "parallel"}),
}


@pytest.mark.long
@pytest.mark.parametrize("cut", CUTS, ids=" ".join)
def test_a_cut_counts_the_units_it_names_and_no_other(cut: tuple[str, str]) -> None:
    inside, outside = CUTS[cut]
    found = summary(
        right(**inside), wrong(item="t", **inside), wrong(item="u", **inside), right(item="v", **outside)
    )
    assert counts(found, *cut) == (1, 3)


def test_a_cut_without_units_has_no_value_and_no_interval() -> None:
    found = summary(right())["task type", "Chat"]
    assert (found.value, found.low, found.high, found.denominator) == (None, None, None, 0)


def test_no_rows_give_no_values() -> None:
    found = WILDTOOLBENCH.summarize(table(), "fixed")
    assert {metric.value for metric in found} == {None}


@pytest.mark.parametrize("profile", WILDTOOLBENCH.profiles)
def test_no_two_numbers_share_a_name(profile: str) -> None:
    metrics = WILDTOOLBENCH.summarize(table(right(), wrong()), profile)
    assert max(Counter((metric.group, metric.name) for metric in metrics).values()) == 1


# OP and AP --------------------------------------------------------------------------------------------------------

OP, AP = "optimal path (OP)", "accomplish progress (AP)"


def test_op_is_the_share_of_optimal_tasks_among_those_that_count() -> None:
    found = summary(
        right(orchestration="parallel"),
        right(item="t", orchestration="mixed", optimal=False),
        right(item="u", orchestration="sequential"),
    )
    assert [counts(found, OP, name) for name in ("total", "parallel", "mixed")] == [(1, 2), (1, 1), (0, 1)]


def test_ap_sums_what_was_done_over_what_there_was() -> None:
    found = summary(
        wrong(orchestration="sequential", ap_done=1, ap_total=4),
        right(item="t", orchestration="mixed", ap_done=3, ap_total=5),
        right(item="u", orchestration="parallel", ap_done=9, ap_total=9),
    )
    assert [counts(found, AP, name) for name in ("total", "sequential", "mixed")] == [(4, 9), (1, 4), (3, 5)]


def test_nodes_done_have_a_table_of_their_own() -> None:
    found = summary(right(orchestration="mixed", ap_done=1, ap_total=4, nodes_done=3, nodes=5))
    assert counts(found, f"{AP[:-5]} (nodes done / nodes)", "total") == (3, 5)


def test_an_official_ap_above_1_has_a_value_and_no_interval() -> None:
    found = summary(*(wrong(item=f"s{i}", orchestration="mixed", ap_done=4, ap_total=3) for i in range(9)))[
        AP, "total"
    ]
    assert found.value == pytest.approx(4 / 3)
    assert (found.low, found.high) == (None, None)


# Errors ---------------------------------------------------------------------------------------------------------


def test_errors_are_shares_of_the_wrong_units() -> None:
    rows = [right(), wrong(item="t"), wrong(item="u"), wrong(error_classes.PARAM_VALUE, item="v")]
    found = summary(*rows, right(outcome="infra_error", item="w"))
    assert counts(found, "errors", error_classes.REFUSAL) == (2, 3)
    assert counts(found, "errors", error_classes.PARAM_VALUE) == (1, 3)
    assert counts(found, "errors", error_classes.CALL_ERROR) == (0, 3)


@pytest.mark.parametrize(
    ("profile", "classes"), [("official", error_classes.ALL), ("paper", error_classes.PAPER_COLUMNS)]
)
def test_every_class_of_a_profile_has_its_share(profile: str, classes: tuple[str, ...]) -> None:
    found = summary(wrong(), profile=profile)
    assert tuple(name for group, name in found if group == "errors") == classes


def test_paper_counts_its_twelve_internal_labels() -> None:
    found = summary(
        wrong(error_label="early stop"), wrong(item="t", error_label="type error"), profile="paper"
    )
    labels = {name: metric.numerator for (group, name), metric in found.items() if group == "error labels"}
    assert labels == dict.fromkeys(LABEL_COLUMNS, 0) | {"early stop": 1, "type error": 1}


@pytest.mark.parametrize("profile", ["official", "fixed"])
@pytest.mark.parametrize("label", ["called x'; DROP TABLE rows; --", "\x00", "x" * 100_000])
def test_words_of_a_model_never_become_names_of_numbers(profile: str, label: str) -> None:
    found = summary(wrong(error_label=label), profile=profile)
    assert found
    assert not [name for group, name in found if group == "error labels" or label in name]


# What stands behind the numbers ---------------------------------------------------------------------------------


def test_units_without_a_verdict_stay_in_the_denominator() -> None:
    rows = [
        right(),
        wrong(item="t"),
        right(outcome="infra_error", item="u"),
        right(outcome="unplayed", item="v"),
    ]
    found = summary(*rows)
    assert counts(found, "accuracy", "task") == (1, 4)
    assert counts(found, "coverage", "infra errors") == (1, 4)
    assert counts(found, "coverage", "unplayed") == (1, 4)
    assert found["coverage", "task accuracy if all of these were right"].value == 0.75


def test_a_run_with_all_verdicts_shows_no_best_case() -> None:
    assert ("coverage", "task accuracy if all of these were right") not in summary(right(), wrong(item="t"))


def test_units_the_original_cannot_score_are_counted() -> None:
    found = summary(right(), wrong(item="t", reference_error="scoring: KeyError: 'inference_answer'"))
    assert counts(found, "coverage", "not scorable by the original") == (1, 2)


def test_a_session_the_original_loses_in_the_walk_counts_whole() -> None:
    lost = wrong(item="t", reference_error="inference: KeyError: 2")
    found = summary(right(item="s"), lost, right(item="t", unit="1"), right(item="t", unit="2"))
    assert counts(found, "coverage", "not scorable by the original") == (3, 4)


def test_cost_is_per_task_and_latency_per_step() -> None:
    spent = {"prompt_tokens": 100, "completion_tokens": 10, "latency_s": 3.0}
    found = summary(right(steps=2, **spent), right(item="t", steps=4, **spent))
    values = {name: metric.value for (group, name), metric in found.items() if group == "cost"}
    assert values == {
        "steps per task": 3.0,
        "prompt tokens per task": 100.0,
        "completion tokens per task": 10.0,
        "latency per step": 1.0,
    }


def test_tokens_that_nobody_reported_are_not_known() -> None:
    assert summary(right(prompt_tokens=None))["cost", "prompt tokens per task"].value is None


def test_tokens_per_task_are_of_the_tasks_that_they_were_reported_for() -> None:
    found = summary(right(prompt_tokens=100), right(item="t", prompt_tokens=None))
    assert found["cost", "prompt tokens per task"].value == 100.0


def test_headlines_are_the_columns_of_a_table_of_models() -> None:
    headlines = [key for key, metric in summary(right()).items() if metric.headline]
    assert headlines == [
        ("accuracy", "task"),
        ("accuracy", "session"),
        ("task type", "Single-Tool"),
        ("task type", "Multi-Tool"),
        ("task type", "Clarify"),
        ("task type", "Chat"),
        (OP, "total"),
        (AP, "total"),
    ]


# From judging to numbers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", WILDTOOLBENCH.profiles)
def test_judged_verdicts_of_hostile_replies_can_be_summarized(profile: str, tmp_path: Path) -> None:
    task = [node("a", n=1), node("b", 0), answer(1)]
    replies = [
        calls(call("a'\x00\ud800", "x")),
        calls(raw_call("a", '{"n": 1, "\\ud800\\u0000\'": 2}')),
        calls(call("a", n=1)) | {"tool_calls": {"'": 1}},
        says("\x00"),
        DONE,
    ]
    made = item(*[task] * len(replies))
    scripts = {str(i): transcript(reply, scripted=True) for i, reply in enumerate(replies)}
    verdicts = WILDTOOLBENCH.judge(made, scripts, profile)
    player = RunInfo(run="r", model="m", benchmark="wildtoolbench", profile=profile)
    log: dict[str, list[LoggedReply]] = {}
    with VerdictTable(tmp_path / "v.parquet", Variant(WILDTOOLBENCH)) as rows:
        rows.add(0, player, made, 0, verdicts, log)
        found = WILDTOOLBENCH.summarize(relation([rows.write()]), profile)
    assert (found[0].name, found[0].numerator, found[0].denominator) == ("task", 0, 5)


def test_a_model_that_never_calls_differs_from_one_that_calls_wrong() -> None:
    rows = (
        right(calls=1),
        wrong(unit="1", calls=0, nodes_done=0),
        wrong(unit="2", calls=2, nodes_done=0),
        wrong(unit="3", task_type="Chat", gold_calls=0, calls=1),
        wrong(unit="4", task_type="Clarify", calls=0),
        wrong(unit="5", outcome="infra_error"),
    )
    found = summary(*rows)
    assert counts(found, "calls", "called where a call was expected") == (2, 3)
    assert counts(found, "calls", "first step right where a call was expected") == (1, 3)
    assert counts(found, "calls", "text where a call was expected") == (1, 3)
    assert counts(found, "calls", "called in Chat, where none was expected") == (1, 1)


# What went before ---------------------------------------------------------------------------------------------


def test_a_task_counts_by_kind_and_outcome_of_the_one_before_it_in_its_session() -> None:
    found = summary(
        right(item="a", unit="0", position=1, task_type="Chat"),
        wrong(item="a", unit="1", position=2, task_type="Mixed Multi-Tool"),
        right(item="a", unit="2", position=3),
        right(item="b", unit="1", position=2),
        wrong(item="b", unit="0", position=1, task_type="Chat"),
    )
    assert counts(found, "what went before", "after Chat, right") == (0, 1)
    assert counts(found, "what went before", "after Chat, wrong") == (1, 1)
    assert counts(found, "what went before", "after Multi-Tool, wrong") == (1, 1)
    assert ("what went before", "after Single-Tool, right") not in found


def test_a_task_after_one_without_a_verdict_is_in_no_row() -> None:
    found = summary(
        right(unit="0", position=1, outcome="infra_error"),
        right(unit="1", position=2),
    )
    assert not [name for group, name in found if group == "what went before"]
