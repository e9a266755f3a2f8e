"""Equality with the published evaluator of WildToolBench, case by case, in the profile `official`."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from parity.cases import digest, rows, with_plain_ids, without_set_order
from wildtool.benchmarks.wildtoolbench import WILDTOOLBENCH
from wildtool.benchmarks.wildtoolbench.data import Session, read_items, read_session
from wildtool.benchmarks.wildtoolbench.official.arguments import argument_schemas, argument_verdict
from wildtool.benchmarks.wildtoolbench.official.episode import OfficialEpisode
from wildtool.benchmarks.wildtoolbench.official.judge import OfficialScore, score_task
from wildtool.benchmarks.wildtoolbench.official.schedule import GraphStep, Schedule, ScheduleState
from wildtool.types import Item, Message, Metric, Reply, Transcript

SILENCE: Message = {"content": "", "tool_calls": None}


@dataclass
class Played:
    """One task walked with a script, and what the model was shown at each step."""

    episode: OfficialEpisode
    score: OfficialScore
    shown: list[list[Message]] = field(default_factory=list)


def play(session: Session, task: int, script: Sequence[Message]) -> Played:
    episode, shown = OfficialEpisode(session, task), []
    while (request := episode.request()) is not None:
        shown.append(list(request.messages))
        episode.advance(script[len(shown) - 1] if len(shown) <= len(script) else SILENCE)
    schemas = argument_schemas(session.sent_tools)
    return Played(episode, score_task(episode, session.tasks[task].nodes, schemas), shown)


@cache
def sessions(oracle: Path) -> dict[str, Item]:
    return {item.id: item for item in read_items(oracle / "sessions.jsonl")}


@cache
def scripts(oracle: Path) -> dict[tuple[str, str], list[list[Message]]]:
    return {(row["session"], row["model"]): row["tasks"] for row in rows(oracle / "transcripts.jsonl")}


def reference_error(result: OfficialScore) -> dict[str, str] | None:
    return (
        None
        if result.reference_error is None
        else dict(zip(("stage", "error"), result.reference_error, strict=True))
    )


def inference(episode: OfficialEpisode) -> dict[str, Any]:
    return {
        "action_name_label": "correct" if episode.name_correct else "error",
        "is_optimal": episode.optimal,
        "error_reason": episode.reason,
        "steps_logged": len(episode.log),
    }


def labels(result: OfficialScore) -> dict[str, Any]:
    return {
        "action_name_label": result.name_label,
        "action_arguments_label": result.arguments_label,
        "label": result.label,
        "is_optimal": result.optimal,
    }


# Paths -----------------------------------------------------------------------------------------------


def enumerate_paths(schedule: Schedule) -> Iterator[list[list[int]]]:
    """All accepted schedules in the reference's order, by asking the walk's rules at every state."""

    def follow(state: ScheduleState, path: list[GraphStep]) -> Iterator[list[list[int]]]:
        if schedule.finished(state):
            yield [list(step) for step in path]
        for step in schedule.accepted(state):
            yield from follow(schedule.after(state, step), [*path, step])

    for state in schedule.start():
        yield from follow(state, [])


def test_accepted_schedules_are_the_reference_paths_in_their_order(oracle: Path) -> None:
    for case in rows(oracle / "paths_cases.jsonl"):
        expected = case["reference"]
        paths = list(enumerate_paths(Schedule(case["names"], case["deps"])))
        assert len(paths) == expected["n_paths"], case["case"]
        assert digest(paths) == expected["enumeration_digest"], case["case"]
        assert digest(sorted(paths)) == expected["sorted_digest"], case["case"]


def test_shortest_length_and_first_shortest_path_follow_without_enumeration(oracle: Path) -> None:
    for case in rows(oracle / "paths_cases.jsonl"):
        schedule = Schedule(case["names"], case["deps"])
        assert schedule.min_length == case["reference"]["min_length"], case["case"]
        first = schedule.first_shortest()
        assert first is not None
        assert [list(step) for step in first] == case["reference"]["first_optimal"], case["case"]


# Arguments -------------------------------------------------------------------------------------------


def check(case: dict[str, Any]) -> tuple[str | None, str | None]:
    try:
        schemas = argument_schemas(case["tools"])
        said = argument_verdict(schemas, case["name"], case["predict_args_str"], case["answer_args_str"])
    except (TypeError, KeyError, IndexError) as error:
        return None, f"{type(error).__name__}: {error}"
    return without_set_order(said), None


def test_argument_checks_say_the_reference_words(oracle: Path) -> None:
    for case in rows(oracle / "args_cases.jsonl"):
        assert check(case) == (without_set_order(case["result"]), case.get("reference_error")), case["case"]


# Messages and verdicts -------------------------------------------------------------------------------


def test_messages_and_tools_shown_are_the_reference_ones(oracle: Path) -> None:
    for case in rows(oracle / "messages_cases.jsonl"):
        session: Session = sessions(oracle)[case["session"]].data
        played = play(session, case["task"], scripts(oracle)[case["session"], case["model"]][case["task"]])
        messages = with_plain_ids(played.shown[case["step"]])
        assert messages == case["messages"], case["session"]
        assert digest(messages) == case["digest"]
        if "tools" in case:
            assert list(session.sent_tools) == case["tools"]


def test_verdicts_are_the_reference_verdicts(oracle: Path) -> None:
    compared = 0
    for row in rows(oracle / "verdicts.jsonl"):
        where = f"{row['session']} {row['model']} task {row['task']}"
        script = scripts(oracle)[row["session"], row["model"]][row["task"]]
        played = play(sessions(oracle)[row["session"]].data, row["task"], script)
        assert reference_error(played.score) == row.get("reference_error"), where
        if "inference" in row:
            assert inference(played.episode) == row["inference"], where
        if "label" in row:
            expected = {key: row[key] for key in (*labels(played.score), "complete_step")}
            assert {**labels(played.score), "complete_step": played.score.complete_step} == expected, where
        for number, step in enumerate(row.get("steps", [])):
            compare_step(played, number, step, scored="label" in row)
        compared += 1
    assert compared == sum(1 for _ in rows(oracle / "verdicts.jsonl")) > 0


def test_what_a_model_declines_beside_its_text_or_calls_moves_no_verdict(oracle: Path) -> None:
    compared = 0
    for row in rows(oracle / "verdicts.jsonl"):
        if "reference_error" in row:
            continue
        item = sessions(oracle)[row["session"]]
        script = scripts(oracle)[row["session"], row["model"]][row["task"]]
        unit = item.units[row["task"]]
        transcripts = {unit: Transcript(tuple(map(declining, script)), scripted=True)}
        verdict = WILDTOOLBENCH.judge(item, transcripts, "official")[row["task"]]
        said = row.get("label", row["inference"]["action_name_label"])
        assert (verdict.outcome == "correct") == (said == "correct"), row
        compared += 1
    assert compared


def declining(message: Message) -> Reply:
    """A reply that says by its own member that the model declines, beside the words or calls that it has."""
    beside = {"refusal": "I cannot."} if message.get("content") or message.get("tool_calls") else {}
    return Reply({**message, **beside})


def compare_step(played: Played, number: int, step: dict[str, Any], *, scored: bool) -> None:
    assert digest(with_plain_ids(played.shown[number])) == step["messages"]
    assert ("correct" if played.episode.log[number].correct else "error") == step["name"]
    if not scored:
        return
    assert (played.score.deleted == number) == step.get("deleted", False)
    checks = played.score.checks.get(number)
    assert (checks is not None) == ("args" in step)
    if checks is not None:
        assert ("correct" if set(checks) == {"correct"} else "error") == step["args"]
    if step.get("args") == "error":
        assert checks is not None
        assert [without_set_order(c) for c in checks] == [without_set_order(c) for c in step["check"]]


# Aggregate numbers -----------------------------------------------------------------------------------


def verdict_table(items: dict[str, Item], tasks: dict[str, list[list[Message]]], folder: Path) -> Any:
    """Verdicts of one model over sessions as a table, judged through the benchmark's public entry."""
    from wildtool.benchmark import VERDICT_COLUMNS

    path = folder / "verdicts.jsonl"
    with path.open("w", encoding="utf-8") as lines:
        for session, replies in tasks.items():
            item = items[session]
            transcripts = {
                unit: Transcript(tuple(Reply(m) for m in script), scripted=True)
                for unit, script in zip(item.units, replies, strict=True)
            }
            for verdict in WILDTOOLBENCH.judge(item, transcripts, "official"):
                row = dict.fromkeys(VERDICT_COLUMNS) | {
                    "item": verdict.item,
                    "unit": verdict.unit,
                    "repeat": 0,
                    "outcome": verdict.outcome,
                    "correct": verdict.outcome == "correct",
                    "error": verdict.error,
                    "steps": verdict.steps,
                    "detail": "{}",
                }
                lines.write(json.dumps(row | dict(verdict.fields)) + "\n")
    return read_table(path)


def read_table(path: Path) -> Any:
    import duckdb

    from wildtool.benchmark import VERDICT_COLUMNS

    types = {**VERDICT_COLUMNS, **WILDTOOLBENCH.columns}
    listed = ", ".join(f"'{name}': '{type_}'" for name, type_ in types.items())
    connection = duckdb.connect(config={"threads": 1})
    connection.execute(
        f"CREATE TABLE rows AS FROM read_json('{path}', format='newline_delimited', columns={{{listed}}})"
    )
    return connection.table("rows")


def assert_same_numbers(metrics: list[Metric], expected: dict[str, Any]) -> None:
    found = {(m.group, m.name): (m.value or 0, m.numerator, m.denominator) for m in metrics}

    def compare(group: str, name: str, entry: dict[str, Any]) -> None:
        numbers = tuple(entry.values())
        assert found[group, name] == pytest.approx(numbers, abs=1e-12), (group, name)

    compare("accuracy", "task", expected["total_info"]["task"])
    compare("accuracy", "session", expected["total_info"]["session"])
    for name, entry in expected["task_type_info"].items():
        compare("task type", name, entry)
    for layer, entry in expected["layer_info"].items():
        compare("position", str(int(layer) + 1), entry)
    for name, entry in expected["turn_subtype_info"].items():
        compare("hidden intent", name, entry)
    short = {"Total": "total", **{f"{k.title()} Multi-Tool": k for k in ("parallel", "sequential", "mixed")}}
    for name, entry in expected["optimal_info"].items():
        compare("optimal path (OP)", short[name], entry)
    for name, entry in expected["progress_info"].items():
        compare("accomplish progress (AP)", short[name], entry)


def test_aggregate_numbers_are_the_reference_numbers(oracle: Path, tmp_path: Path) -> None:
    compared = 0
    for model, expected in json.loads((oracle / "metrics.json").read_text(encoding="utf-8")).items():
        kept = [name for name in expected["sessions"] if name not in expected["excluded_sessions"]]
        if expected["metrics"] is None:
            assert not kept
            continue
        table = verdict_table(
            sessions(oracle), {name: scripts(oracle)[name, model] for name in kept}, tmp_path
        )
        assert_same_numbers(WILDTOOLBENCH.summarize(table, "official"), expected["metrics"])
        compared += 1
    assert compared > 0


def test_sessions_the_original_loses_are_named(oracle: Path) -> None:
    lost = 0
    for model, expected in json.loads((oracle / "metrics.json").read_text(encoding="utf-8")).items():
        for name in expected["sessions"]:
            item = sessions(oracle)[name]
            played = [play(item.data, i, script) for i, script in enumerate(scripts(oracle)[name, model])]
            raises = any(result.score.reference_error for result in played)
            assert raises == (name in expected["excluded_sessions"]), (model, name)
            lost += raises
    assert lost


# Quirks ----------------------------------------------------------------------------------------------


def record_of(case: dict[str, Any]) -> dict[str, Any]:
    """A quirk case as a session record."""
    count = len(case["answer_lists"])
    return {
        "id": "wild_tool_bench_0",
        "english_env_info": "2024-06-11 10:00:00 Tuesday",
        "english_tools": case["tools"],
        "english_tasks": [f"t{i}" for i in range(count)],
        "english_answer_list": case["answer_lists"],
        "english_task_types": ["Chat"] * count,
        "english_turn_subtypes": ["Partial Information"] * (count - 1),
    }


def quirks(oracle: Path, kind: str) -> list[dict[str, Any]]:
    found = [case for case in rows(oracle / "quirk_cases.jsonl") if case["kind"] == kind]
    assert found
    return found


def test_quirks_of_tasks(oracle: Path) -> None:
    for case in quirks(oracle, "task"):
        session = read_session(record_of(case), "case")
        played, expected = play(session, case["task"], case["script"]), dict(case["outcome"])
        assert reference_error(played.score) == expected.pop("reference_error", None), case["title"]
        if "inference" in expected:
            assert inference(played.episode) == expected.pop("inference"), case["title"]
        if "label" in expected:
            left = [f"step_{i}" for i in range(len(played.episode.log)) if i != played.score.deleted]
            assert left == expected.pop("steps_left"), case["title"]
            bad = {f"step_{i}": c for i, c in played.score.checks.items() if set(c) != {"correct"}}
            assert bad == expected.pop("check"), case["title"]
            assert labels(played.score) == {key: expected.pop(key) for key in labels(played.score)}, case[
                "title"
            ]
        assert expected == {}
        if "last_step_messages" in case:
            assert with_plain_ids(played.shown[-1]) == case["last_step_messages"], case["title"]


def test_quirks_of_arguments(oracle: Path) -> None:
    for case in quirks(oracle, "args"):
        assert check(case) == (without_set_order(case["result"]), case.get("reference_error")), case["title"]


def test_quirks_of_paths(oracle: Path) -> None:
    for case in quirks(oracle, "paths"):
        schedule = Schedule(case["names"], case["deps"])
        assert list(enumerate_paths(schedule)) == case["paths_in_enumeration_order"], case["title"]
        assert schedule.min_length == case["min_length"], case["title"]


def test_quirks_of_numbers(oracle: Path, tmp_path: Path) -> None:
    for case in quirks(oracle, "metrics"):
        items: dict[str, Item] = {}
        for record in case["sessions"]:
            session = read_session(record, "case")
            items[session.id] = Item(session.id, ("0", "1", "2", "3"), session)
        (item,) = items.values()
        for position, (script, expected) in enumerate(
            zip(case["tasks"], case["outcome"].pop("tasks"), strict=True)
        ):
            result = play(item.data, position, script)
            assert (result.score.label, result.score.optimal) == (expected["label"], expected["is_optimal"])
            left = [f"step_{i}" for i in range(len(result.episode.log)) if i != result.score.deleted]
            assert left == expected["steps_left"], case["title"]
        table = verdict_table(items, {item.id: case["tasks"]}, tmp_path)
        numbers = case["outcome"].get("metrics", case["outcome"])
        assert_same_numbers(WILDTOOLBENCH.summarize(table, "official"), numbers)
