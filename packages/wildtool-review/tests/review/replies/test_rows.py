"""What recorded runs say about an item: each deviation, each proposal and each verdict of many models at once."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from golden_files import same_as_golden
from review.made_sets import edit, mini_records
from review.replies.recorded_runs import gold_answers, import_runs, with_argument, write_set
from review.replies.test_items import write_items
from wildtool.benchmarks.acebench import ACEBENCH
from wildtool.data.data_set import data_of
from wildtool.engine.replies import import_replies
from wildtool_data.pointers import ABSENT
from wildtool_review.project import ReviewProject
from wildtool_review.replies.deviations import deviations
from wildtool_review.replies.page import rows_of
from wildtool_review.replies.proposals import agreement_queue, sorted_queue
from wildtool_review.replies.recorded import OpenRuns
from wildtool_review.replies.rejudge import Rejudge
from wildtool_review.sets import start_review

ITEM = "wild_mini_0"
NODES = "/english_answer_list/0"


def called(name: str, **arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": "x", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def both(*messages: Mapping[str, Any]) -> dict[str, Any]:
    """One reply with the calls of several."""
    return {**messages[0], "tool_calls": [call for message in messages for call in message["tool_calls"]]}


def models(record: dict[str, Any]) -> dict[str, dict[str, list[Any]]]:
    """What each model says: the gold answers but for something in the first task."""
    gold = gold_answers(record)
    first = gold["0"]
    accounts, pair, link, text = first
    said = {"role": "assistant", "content": "I cannot."}
    tasks: dict[str, list[Any]] = {
        "gold": first,
        "value": [accounts, with_argument(pair, "amount", 43), link, text],
        "value too": [accounts, with_argument(pair, "amount", 43), link, text],
        "values": [
            accounts,
            with_argument(with_argument(pair, "amount", 43), "merchant", "corner  BISTRO"),
            link,
            text,
        ],
        "values too": [
            accounts,
            with_argument(with_argument(pair, "amount", 43), "merchant", "Corner bistro"),
            link,
            text,
        ],
        "more": [accounts, with_argument(pair, "note", "x"), link, text],
        "early": [both(accounts, pair), link, text],
        "early too": [both(accounts, pair), link, text],
        "other": [called("get_budget_status", category="eating_out", month="2025-06"), pair, link, text],
        "extra": [both(accounts, called("get_budget_status", month="2025-06")), pair, link, text],
        "late extra": [accounts, pair, link, called("list_accounts"), text],
        "text": [said],
        "text too": [accounts, said],
        "nothing": [],
        "no JSON": [
            {**accounts, "tool_calls": [{"id": "x", "function": {"name": "list_accounts", "arguments": "["}}]}
        ],
    }
    return {name: {**gold, "0": replies} for name, replies in tasks.items()}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set of one session, and the runs of all models on it."""
    place = tmp_path_factory.mktemp("rows")
    (record,) = mini_records(1)
    data = write_set(place / "set.jsonl", [record])
    import_runs(data, [(name, ITEM, answers) for name, answers in models(record).items()], place / "runs")
    return place


def opened(place: Path, store: Path, profile: str) -> tuple[ReviewProject, Rejudge]:
    project, _ = start_review(str(place / "set.jsonl"), str(store / "x.review.sqlite"))
    return project, Rejudge(OpenRuns.open(project.format, [place / "runs"], profile))


def without_absent(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_absent(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [without_absent(inner) for inner in value]
    return "(absent)" if value is ABSENT else value


@pytest.mark.parametrize("profile", ["official", "fixed", "paper"])
def test_the_page_of_an_item_says_what_each_model_does(place: Path, tmp_path: Path, profile: str):
    project, rejudge = opened(place, tmp_path, profile)
    first = project.item(ITEM).content
    lines: list[str] = []
    for answer in rejudge.judged(ITEM, first, first, "0"):
        verdict = answer.answer
        lines.append(
            f"{answer.run.model}: {verdict.state}, {verdict.error}, step {verdict.steps}: {verdict.reason}"
        )
        for deviation in deviations("wildtoolbench", answer, first):
            lines.append(f"  {json.dumps(without_absent(asdict(deviation)), default=str)}")
    edit(project, "owner", ITEM, 43, f"{NODES}/1/action/arguments/amount")
    rows = rows_of(rejudge)(ITEM, first, project.item(ITEM).content)
    lines += [json.dumps(row, ensure_ascii=False) for row in rows]
    runs = rejudge.of_item(project.item(ITEM))
    lines += [f"unit {unit.unit}: {dict(unit.before)} then {dict(unit.after)}" for unit in runs.units]
    lines.append(f"{len(runs.answers)} answers, flipped: {[(flip.model, flip.unit) for flip in runs.flips]}")
    same_as_golden(f"review/rows-{profile}.txt", "\n".join(lines) + "\n")
    rejudge.runs.close()


def test_the_queue_of_proposals_has_those_of_most_models_first(place: Path, tmp_path: Path):
    project, rejudge = opened(place, tmp_path, "fixed")
    queues = {least: sorted_queue(agreement_queue(project, rejudge, least=least)) for least in (1, 2, 3)}
    lines = [
        f"{least}: {each.unit} {each.kind} {list(each.models)} {each.sentence}"
        for least in queues
        for each in queues[least]
    ]
    same_as_golden("review/proposals.txt", "\n".join(lines) + "\n")
    with rejudge.runs as runs:
        assert runs.models == sorted(models(mini_records(1)[0]))


def test_answers_to_single_calls_are_accepted_beside_gold(tmp_path: Path):
    data = write_items(tmp_path / "items", {"find_flights": {"city": "Lisboa"}})
    (item,) = ACEBENCH.load(data_of(ACEBENCH).locate(str(data)))
    replies = {
        "a": "[find_flights(city='Lisbon')]",
        "b": "[find_flights(city='Lisbon'), find_flights(city='Porto')]",
        "c": "None.",
        "d": "[find_flights(city='Lisboa')]",
        "e": "[other()]",
    }
    rows = [
        {"item": item.id, "model": name, "units": {"0": [{"role": "assistant", "content": text}]}}
        for name, text in replies.items()
    ]
    (tmp_path / "replies.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    import_replies(
        ACEBENCH, data_of(ACEBENCH).locate(str(data)), tmp_path / "replies.jsonl", tmp_path / "runs"
    )
    project, _ = start_review(str(data), benchmark="acebench")
    with OpenRuns.open(project.format, [tmp_path / "runs"]) as runs:
        rejudge = Rejudge(runs)
        content = project.item(item.id).content
        lines: list[str] = []
        for answer in rejudge.judged(item.id, content, content):
            its = [without_absent(asdict(each)) for each in deviations("acebench", answer, content)]
            lines.append(f"{answer.run.model}: {answer.answer.state}: {json.dumps(its)}")
        lines += [json.dumps(row) for row in rows_of(rejudge)(item.id, content, content)]
    same_as_golden("review/rows-items.txt", "\n".join(lines) + "\n")
