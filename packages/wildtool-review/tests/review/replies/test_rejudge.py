"""Which verdicts an edit changes, checked by hand on small sessions, and where models agree against gold."""

import copy
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from long import a_fiftieth_of
from review.made_sets import edit, mini_records
from review.replies.recorded_runs import gold_answers, import_runs, with_argument, write_set
from wildtool.cli import app
from wildtool.engine.record.reader import LogReader, transcripts
from wildtool.engine.score.score import prepare_judging
from wildtool.errors import UsageError
from wildtool_data.formats.sessions import SESSIONS
from wildtool_data.pointers import ABSENT, Change, with_change
from wildtool_review.project import ReviewProject
from wildtool_review.replies.page import proposal_json, rows_of
from wildtool_review.replies.proposals import (
    Proposal,
    agreement_queue,
    item_proposals,
    sorted_queue,
)
from wildtool_review.replies.recorded import OpenRuns
from wildtool_review.replies.rejudge import Rejudge
from wildtool_review.sets import start_review

TRAINS = "wild_mini_1"
DATE = "/english_answer_list/0/0/action/arguments/date"
"""Of the first call of its first task; a fare and the answer follow."""


def trains() -> dict[str, Any]:
    return next(record for record in mini_records() if record["id"] == TRAINS)


def opened(
    tmp_path: Path, records: list[dict[str, Any]], rows: list[Any], profile: str | None = None
) -> tuple[ReviewProject, Rejudge]:
    """The review of a set beside runs of models that replied so: (model, item, answers) each."""
    data = write_set(tmp_path / "set.jsonl", records)
    import_runs(data, rows, tmp_path / "runs")
    project, _ = start_review(str(data))
    return project, Rejudge(OpenRuns.open(project.format, [tmp_path / "runs"], profile))


def otherwise(answers: Any, unit: str, step: int, name: str, value: Any, *, ends: bool = False) -> Any:
    """The answers with another argument in a step, which the unit may end with, as the profile `fixed` does."""
    said = list(answers[unit])
    said[step] = with_argument(said[step], name, value)
    return {**answers, unit: said[: step + 1] if ends else said}


def states(found: Any, model: str) -> dict[str, tuple[str, str]]:
    return {one.unit: (one.before.state, one.after.state) for one in found.answers if one.model == model}


def test_a_changed_argument_flips_those_who_say_it_and_those_who_do_not(tmp_path: Path):
    gold = gold_answers(trains())
    other = otherwise(gold, "0", 0, "date", "2024-06-30")
    project, rejudge = opened(tmp_path, [trains()], [("right", TRAINS, gold), ("other", TRAINS, other)])
    edit(project, "owner", TRAINS, "2024-06-30", DATE)
    found = rejudge.of_item(project.item(TRAINS))
    assert states(found, "right")["0"] == ("correct", "wrong")
    assert states(found, "other")["0"] == ("wrong", "correct")


def test_what_was_never_asked_is_no_silence(tmp_path: Path):
    """Under `fixed` the first wrong call ends a task: the fare after it was never asked for."""
    gold = gold_answers(trains())
    other = otherwise(gold, "0", 0, "date", "2024-06-30", ends=True)
    project, rejudge = opened(tmp_path, [trains()], [("other", TRAINS, other)], "fixed")
    edit(project, "owner", TRAINS, "2024-06-30", DATE)
    assert states(rejudge.of_item(project.item(TRAINS)), "other")["0"] == ("wrong", "unfinished")


def test_later_tasks_were_asked_on_another_history_and_are_not_judged(tmp_path: Path):
    project, rejudge = opened(tmp_path, [trains()], [("right", TRAINS, gold_answers(trains()))])
    edit(project, "owner", TRAINS, "2024-06-30", DATE)
    found = rejudge.of_item(project.item(TRAINS))
    later = [one for one in found.answers if one.unit != "0"]
    assert {(one.before.state, one.after.state) for one in later} == {("correct", "asked otherwise")}
    assert {one.after.reason for one in later} == {"step 1 was asked on other content"}


def test_earlier_tasks_keep_their_verdicts(tmp_path: Path):
    project, rejudge = opened(tmp_path, [trains()], [("right", TRAINS, gold_answers(trains()))])
    edit(project, "owner", TRAINS, "Something else entirely?", "/english_tasks/2")
    answers = rejudge.of_item(project.item(TRAINS)).answers
    assert [one.after.state for one in answers] == ["correct"] * 2 + ["asked otherwise"] * 2


def test_a_changed_result_leaves_the_replies_before_it(tmp_path: Path):
    gold = gold_answers(trains())
    early = otherwise(gold, "0", 0, "date", "2024-06-30", ends=True)
    rows = [("right", TRAINS, gold), ("early", TRAINS, early)]
    project, rejudge = opened(tmp_path, [trains()], rows, "fixed")
    edit(project, "owner", TRAINS, {"trains": []}, "/english_answer_list/0/0/observation")
    found = rejudge.of_item(project.item(TRAINS))
    assert states(found, "right")["0"] == ("correct", "asked otherwise")
    (cut,) = [one.after for one in found.answers if (one.model, one.unit) == ("right", "0")]
    assert cut.reason == "step 2 was asked on other content"
    # Wrong before it saw the result.
    assert states(found, "early")["0"] == ("wrong", "wrong")


def test_a_record_that_knows_its_requests_is_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    old = trains()
    new = copy.deepcopy(old)
    new["english_tasks"][2] += " Please."
    write_set(tmp_path / "old.jsonl", [old])
    command = "run wildtoolbench --data old.jsonl -m baseline/gold --quiet --out runs"
    assert CliRunner().invoke(app, command.split()).exit_code == 0
    project, _ = start_review(str(write_set(tmp_path / "set.jsonl", [new])))
    with OpenRuns.open(project.format, [tmp_path / "runs"]) as runs:
        found = Rejudge(runs).of_item(project.item(TRAINS))
    assert [one.before.state for one in found.answers] == ["correct"] * 2 + ["asked otherwise"] * 2
    # The same content as was played fits as a whole, by the hashes in the record.
    with OpenRuns.open(project.format, [tmp_path / "runs"]) as runs:
        assert {one.answer.state for one in Rejudge(runs).judged(TRAINS, old, new)} == {"correct"}


def planted(tmp_path: Path, count: int = 7, profile: str | None = None) -> list[Proposal]:
    """A set in whose second session a date of gold is wrong, beside nine models, some of which say the right one."""
    records = mini_records(3)
    gold = {record["id"]: gold_answers(record) for record in records}
    faulty = copy.deepcopy(records)
    faulty[1]["english_answer_list"][0][0]["action"]["arguments"]["date"] = "2024-05-31"
    wrong = gold_answers(faulty[1])
    rows: list[Any] = []
    for k in range(9):
        said = otherwise(wrong, "0", 0, "date", "2024-05-09", ends=profile == "fixed") if k < count else wrong
        rows += [(f"m{k}", one, gold[one] if one != TRAINS else said) for one in gold]
    project, rejudge = opened(tmp_path, faulty, rows, profile)
    return sorted_queue(agreement_queue(project, rejudge))


@pytest.mark.parametrize("profile", ["official", "fixed"])
def test_a_planted_label_error_is_found(tmp_path: Path, profile: str):
    (found,) = planted(tmp_path, profile=profile)
    assert (found.item, found.unit, found.kind, found.field) == (TRAINS, "0", "value", DATE)
    assert (found.gold, found.found) == ("2024-05-31", "2024-05-09")
    assert (len(found.models), found.answered, found.right) == (7, 9, 2)
    assert (found.gained, found.lost) == (7, 2)
    assert found.sentence.startswith('7 of 9 models give "2024-05-09" for date; gold has "2024-05-31"')


@pytest.mark.long
@pytest.mark.parametrize("noise", ["names:heavy", "params:heavy"])
def test_models_that_saw_noisy_tools_agree_by_the_names_of_the_benchmark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, noise: str
):
    monkeypatch.chdir(tmp_path)
    faulty = copy.deepcopy(trains())
    faulty["english_answer_list"][0][0]["action"]["arguments"]["date"] = "2024-05-31"
    write_set(tmp_path / "played.jsonl", [trains()])
    project, _ = start_review(str(write_set(tmp_path / "set.jsonl", [faulty])))
    queues: list[list[Any]] = []
    for out, option in (("clean", ""), ("noisy", f"--noise {noise}")):
        run = f"run wildtoolbench --data played.jsonl -m baseline/gold {option} --quiet --out {out}"
        assert CliRunner().invoke(app, run.split()).exit_code == 0
        with OpenRuns.open(project.format, [tmp_path / out]) as runs:
            queue = agreement_queue(project, Rejudge(runs), least=1)
            queues.append([(each.unit, each.kind, each.field, each.gold, each.found) for each in queue])
    assert queues[0] == [("0", "value", DATE, "2024-05-31", "2024-05-09")]
    assert queues[1] == queues[0]


@pytest.mark.long
@pytest.mark.parametrize(
    ("model", "history", "states_after"),
    [
        ("chat", "", ["wrong", "asked otherwise", "asked otherwise", "asked otherwise"]),
        ("chat", "--history own", ["wrong", "wrong", "wrong", "wrong"]),
        ("gold", "--history own", ["wrong", "asked otherwise", "asked otherwise", "asked otherwise"]),
    ],
)
def test_an_edit_changes_what_later_tasks_were_asked_only_where_they_show_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, history: str, states_after: list[str]
):
    """With own history a model that never called was shown nothing of the gold answer that is edited."""
    monkeypatch.chdir(tmp_path)
    data = write_set(tmp_path / "set.jsonl", [trains()])
    run = (
        f"run wildtoolbench --data set.jsonl -m baseline/{model} --profile fixed {history} --quiet --out run"
    )
    assert CliRunner().invoke(app, run.split()).exit_code == 0
    project, _ = start_review(str(data))
    edit(project, "owner", TRAINS, "2024-06-30", DATE)
    with OpenRuns.open(project.format, [tmp_path / "run"]) as runs:
        answers = Rejudge(runs).of_item(project.item(TRAINS)).answers
    before = "correct" if model == "gold" else "wrong"
    assert [answer.before.state for answer in answers] == [before] * 4
    assert [answer.after.state for answer in answers] == states_after


def queue_of(sessions: Path, runs: Path) -> list[Any]:
    """What one model alone does otherwise than gold, by the names of the set."""
    project, _ = start_review(str(sessions))
    with OpenRuns.open(project.format, [runs]) as opened_runs:
        queue = agreement_queue(project, Rejudge(opened_runs), least=1)
        return [(each.item, each.unit, each.kind, each.field, each.gold, each.found) for each in queue]


@pytest.mark.long
def test_a_noisy_run_gives_no_disagreement_that_its_replies_without_noise_do_not_give(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A model that guesses calls, over procedural sessions: its replies in the names of the set are its own."""
    monkeypatch.chdir(tmp_path)
    sessions = tmp_path / "sessions.jsonl"
    noise = "--noise names:medium,params:heavy,order:heavy,distractors:slight"
    for command in (
        f"generate --model procedural --sessions 6 -o {sessions}",
        f"run wildtoolbench --data {sessions} -m baseline/lexical {noise} --quiet --out noisy",
    ):
        assert CliRunner().invoke(app, command.split()).exit_code == 0
    job = prepare_judging(tmp_path / "noisy")
    rows: list[Any] = []
    with LogReader(tmp_path / "noisy") as reader:
        for item, _ in job.selection.jobs():
            own = job.variant.restored(item, transcripts(reader.log(item.id, 0)), "official")
            answers = {unit: [reply.message for reply in its.replies] for unit, its in own.items()}
            rows.append(("baseline/lexical", item.id, answers))
    import_runs(sessions, rows, tmp_path / "clean")
    disagreements = queue_of(sessions, tmp_path / "noisy")
    assert disagreements
    assert disagreements == queue_of(sessions, tmp_path / "clean")
    assert "not offered" not in json.dumps(disagreements)


def test_agreement_of_fewer_models_than_gold_has_is_left_out(tmp_path: Path):
    assert planted(tmp_path, 4) == []


def test_one_model_alone_is_no_agreement(tmp_path: Path):
    assert planted(tmp_path, 1) == []


def test_repeats_of_a_model_count_once(tmp_path: Path):
    gold = gold_answers(trains())
    other = otherwise(gold, "0", 0, "date", "2024-06-30")
    data = write_set(tmp_path / "set.jsonl", [trains()])
    import_runs(data, [("m", TRAINS, other)] * 3, tmp_path / "runs", lambda n: n)
    project, _ = start_review(str(data))
    rejudge = Rejudge(OpenRuns.open(project.format, [tmp_path / "runs"]))
    assert len(rejudge.of_item(project.item(TRAINS)).answers) == 12
    assert list(agreement_queue(project, rejudge)) == []
    (alone,) = agreement_queue(project, rejudge, least=1)
    assert (alone.models, alone.answered) == (("m",), 1)


def test_the_answers_to_an_item_are_those_to_what_a_person_sees(monkeypatch: pytest.MonkeyPatch):
    rejudge = Rejudge(OpenRuns(SESSIONS, []))
    monkeypatch.setattr(rejudge, "compare", lambda *words: words)
    item: Any = SimpleNamespace(
        id="s",
        content="own",
        versions=[SimpleNamespace(content="first"), SimpleNamespace(content="last")],
        seen_by=lambda person: (f"of {person}", "digest"),
    )
    assert rejudge.of_item(item) == ("s", "first", "own")
    assert rejudge.of_item(item, "ann") == ("s", "first", "of ann")


def test_calls_that_do_not_wait_propose_fewer_edges(tmp_path: Path):
    record = trains()
    loose = copy.deepcopy(record)
    # The fare of a train that the user names needs no search.
    loose["english_answer_list"][0][1]["dependency_list"] = []
    rows = [(f"m{k}", TRAINS, {"0": gold_answers(loose)["0"]}) for k in range(3)]
    project, rejudge = opened(tmp_path, [record], rows)
    (found,) = agreement_queue(project, rejudge)
    assert (found.kind, found.field) == ("order", "/english_answer_list/0/1/dependency_list")
    assert (found.changes[0].before, found.changes[0].after, found.gained) == ([0], [], 3)


def test_text_in_place_of_a_call_is_listed_without_an_edit(tmp_path: Path):
    text = {"role": "assistant", "content": "On which day?"}
    rows = [(f"m{k}", TRAINS, {"0": [text]}) for k in range(2)]
    project, rejudge = opened(tmp_path, [trains()], rows)
    (found,) = agreement_queue(project, rejudge)
    assert (found.kind, found.changes, found.gold) == ("text", (), ["search_trains"])


def test_two_arguments_that_are_wrong_together_are_one_edit(tmp_path: Path):
    gold = gold_answers(trains())
    other = otherwise(otherwise(gold, "0", 0, "date", "2024-06-30"), "0", 0, "to_city", "Faro")
    project, rejudge = opened(tmp_path, [trains()], [(f"m{k}", TRAINS, other) for k in range(2)])
    (found,) = agreement_queue(project, rejudge)
    assert found.kind == "several"
    assert {change.field.rpartition("/")[2] for change in found.changes} == {"date", "to_city"}


def test_an_argument_that_models_leave_out_can_be_taken_out_of_gold(tmp_path: Path):
    record = trains()
    short = copy.deepcopy(record)
    del short["english_answer_list"][0][0]["action"]["arguments"]["max_changes"]
    rows = [(f"m{k}", TRAINS, {"0": gold_answers(short)["0"]}) for k in range(3)]
    project, rejudge = opened(tmp_path, [record], rows)
    (found,) = agreement_queue(project, rejudge)
    assert (found.gold, found.found, found.gained) == (0, None, 3)
    assert "give nothing for max_changes; gold has 0" in found.sentence
    assert json.loads(json.dumps(proposal_json(found)))["changes"] == [{"field": found.field, "before": 0}]


def test_the_edit_of_a_proposal_takes_its_models_wrong_verdicts_away(tmp_path: Path):
    (found,) = planted(tmp_path)
    project, _ = start_review(str(tmp_path / "set.jsonl"))
    rejudge = Rejudge(OpenRuns.open(project.format, [tmp_path / "runs"]))
    first = project.item(TRAINS).content
    after = first
    for change in found.changes:
        after = with_change(after, change)
    answers = rejudge.compare(TRAINS, first, after).answers
    still = {one.model for one in answers if one.unit == "0" and one.after.state == "wrong"}
    assert not still & set(found.models)


@pytest.mark.long
def test_values_can_be_accepted_beside_gold_where_the_rules_know_alternatives(tmp_path: Path):
    assert planted(tmp_path)[0].beside == ()
    (tmp_path / "fixed").mkdir()
    (found,) = planted(tmp_path / "fixed", profile="fixed")
    place = DATE.replace("action/arguments/date", "alternatives")
    assert found.beside == (Change(place, ABSENT, {"date": ["2024-05-09"]}),)
    assert proposal_json(found)["beside"] == [{"field": place, "after": {"date": ["2024-05-09"]}}]
    project, _ = start_review(str(tmp_path / "fixed" / "set.jsonl"))
    rejudge = Rejudge(OpenRuns.open(project.format, [tmp_path / "fixed" / "runs"], "fixed"))
    first = project.item(TRAINS).content
    after = with_change(first, *found.beside)
    flips = rejudge.compare(TRAINS, first, after).flips
    assert {one.before.state for one in flips if one.unit == "0"} == {"wrong"}
    assert len({one.model for one in flips if one.unit == "0"}) == 7
    assert item_proposals(rejudge, TRAINS, after, first) == []


@pytest.mark.long
def test_rows_for_the_page_are_json(tmp_path: Path):
    planted(tmp_path)
    project, _ = start_review(str(tmp_path / "set.jsonl"))
    rejudge = Rejudge(OpenRuns.open(project.format, [tmp_path / "runs"]))
    edit(project, "owner", TRAINS, "2024-05-09", DATE)
    found = project.item(TRAINS)
    rows = json.loads(json.dumps(rows_of(rejudge)(TRAINS, found.versions[0].content, found.content)))
    flips = [row for row in rows if row["before"] is not row["after"]]
    assert rows[: len(flips)] == flips
    assert [(row["model"], row["task"], row["before"]) for row in flips[:1]] == [("m0", 0, False)]
    before = rows_of(rejudge)(TRAINS, found.versions[0].content, found.versions[0].content)
    assert before[0]["model"] == "7 of 9 models"
    assert before[0]["proposal"]["changes"] == [
        {"field": DATE, "before": "2024-05-31", "after": "2024-05-09"}
    ]


def test_an_item_in_the_middle_of_an_edit_is_said_not_to_be_read(tmp_path: Path):
    project, rejudge = opened(tmp_path, [trains()], [("m", TRAINS, gold_answers(trains()))])
    answers = rejudge.compare(TRAINS, project.item(TRAINS).content, {"id": TRAINS}).answers
    assert {one.after.state for one in answers} == {"failed"}


def test_runs_of_another_benchmark_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    data = write_set(tmp_path / "set.jsonl", [trains()])
    import_runs(data, [("m", TRAINS, gold_answers(trains()))], tmp_path / "runs")
    project, _ = start_review(str(data))
    about = json.loads((tmp_path / "runs" / "m" / "run.json").read_text())
    about["identity"].update(benchmark="bfcl", mode=None)
    (tmp_path / "runs" / "m" / "run.json").write_text(json.dumps(about))
    with pytest.raises(UsageError, match="is a run of bfcl, and this set is of wildtoolbench"):
        OpenRuns.open(project.format, [tmp_path / "runs"])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
FIELDS = [
    "english_tasks", "english_tools", "english_answer_list", "english_task_types", "english_turn_subtypes",
    "english_env_info", "id", "answer_list",
]  # fmt: skip


@pytest.fixture(scope="module")
def beside_runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[ReviewProject, Rejudge]:
    gold = gold_answers(trains())
    odd: Any = {"0": [{"tool_calls": [{"function": 3}]}], "1": [{"content": [None]}], "2": [{}]}
    rows = [("right", TRAINS, gold), ("odd", TRAINS, odd)]
    return opened(tmp_path_factory.mktemp("runs"), [trains()], rows)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=a_fiftieth_of(1_000))
@given(field=st.sampled_from(FIELDS), value=JSON)
def test_no_edit_breaks_the_judging(beside_runs: tuple[ReviewProject, Rejudge], field: str, value: Any):
    project, rejudge = beside_runs
    first = project.item(TRAINS).content
    for content in ({**first, field: value}, value):
        assert rejudge.compare(TRAINS, first, content).answers
        item_proposals(rejudge, TRAINS, content, first, least=1)


@pytest.mark.long
def test_the_command_lists_the_queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    planted(tmp_path)
    monkeypatch.chdir(tmp_path)
    shown = CliRunner().invoke(app, ["review", "agree", "set.jsonl", "--runs", "runs"])
    assert shown.exit_code == 0, shown.output
    assert f"{TRAINS}, unit 0: 7 of 9 models give" in shown.stdout
    assert "1 places where at least 2 of 9 models agree against gold" in shown.stderr
    listed = CliRunner().invoke(
        app, ["review", "agree", "set.jsonl", "--runs", "runs", "--min-models", "8", "--json"]
    )
    assert json.loads(listed.stdout) == []
    assert CliRunner().invoke(app, ["review", "agree", "set.jsonl"]).exit_code == 2


def test_the_review_says_which_verdicts_flip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    planted(tmp_path)
    monkeypatch.chdir(tmp_path)
    project, _ = start_review("set.jsonl")
    edit(project, "owner", TRAINS, "2024-05-09", DATE)
    project.close()
    shown = CliRunner().invoke(app, ["review", "start", "set.jsonl", "--runs", "runs"])
    assert shown.exit_code == 0, shown.output
    assert "9 recorded runs of 9 models" in shown.stdout
    assert f"{TRAINS}, unit 0, m8: correct -> wrong" in shown.stdout
    assert f"{TRAINS}, unit 0, m0: wrong -> correct" in shown.stdout
