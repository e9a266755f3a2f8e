"""Rows of runs: each reply of the model is learned once, after what the model was shown."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from export.export_build import json_lines, play, written
from wildtool.cli import app
from wildtool.types import Request
from wildtool_data.prepare.run_rows import MERGED, OTHER_HISTORY, learns_all, run_rows

OWN = "In my own words."


def gold(request: Request) -> Any:
    assert request.gold
    return request.gold("parallel")


def in_own_words(request: Request) -> Any:
    """Gold calls under other ids, and texts of its own."""
    reply = gold(request)
    if reply.get("tool_calls"):
        return {**reply, "tool_calls": [{**call, "id": f"own_{call['id']}"} for call in reply["tool_calls"]]}
    return {**reply, "content": f"{OWN} {len(request.messages)}"}


def thinking(request: Request) -> Any:
    """Gold replies with thoughts, which a benchmark does not always show again."""
    return {**gold(request), "reasoning": f"Thought {len(request.messages)}."}


def read(folder: Path) -> tuple[list[dict[str, Any]], Counter[str]]:
    notes: Counter[str] = Counter()
    return [row.value for row in run_rows(folder, notes)], notes


def learned(rows: list[dict[str, Any]]) -> list[str]:
    """The replies to learn, each after the conversation before it."""
    return [
        json.dumps(row["messages"][: place + 1])
        for row in rows
        for place, message in enumerate(row["messages"])
        if message["role"] == "assistant" and message.get("weight") != 0
    ]


def convert(*words: object) -> Result:
    options = ["--allow-benchmark-data", *map(str, words)]
    return CliRunner().invoke(app, ["data", "convert", *options], prog_name="wildtool")


def test_a_session_whose_tasks_continue_each_other_is_one_row_with_all_replies_to_learn(tmp_path: Path):
    rows, notes = read(play(tmp_path / "run", gold, profile="fixed"))
    assert (len(rows), notes) == (1, {MERGED: 3})
    assert not any("weight" in message for message in rows[0]["messages"])


def test_a_history_that_the_model_did_not_give_is_context_of_the_row_and_not_merged(tmp_path: Path):
    rows, notes = read(play(tmp_path / "run", in_own_words, profile="official"))
    assert (len(rows), notes) == (4, {OTHER_HISTORY: 3})
    for row in rows:
        texts = [m for m in row["messages"] if m["role"] == "assistant" and not m.get("tool_calls")]
        assert [m.get("weight") == 0 for m in texts] == [not m["content"].startswith(OWN) for m in texts]


@pytest.mark.parametrize("model", [gold, in_own_words, thinking])
def test_each_reply_of_a_run_is_learned_once(tmp_path: Path, model: Callable[[Request], Any]):
    asked = 0

    def counted(request: Request) -> Any:
        nonlocal asked
        asked += 1
        return model(request)

    rows, _ = read(play(tmp_path / "run", counted, profile="fixed", ids=(), limit=3))
    replies = learned(rows)
    assert len(replies) == len(set(replies)) == asked


def test_reasoning_that_is_not_shown_again_is_learned_where_it_was_given(tmp_path: Path):
    rows, notes = read(play(tmp_path / "run", thinking, profile="fixed"))
    replies = [json.loads(reply)[-1] for reply in learned(rows)]
    assert all(reply["reasoning"].startswith("Thought ") for reply in replies)
    assert notes[OTHER_HISTORY] == len(rows) - 1


def test_a_wrong_unit_is_no_row_and_its_history_no_reply_to_learn(tmp_path: Path):
    def wrong_first(request: Request) -> Any:
        first = sum(message["role"] == "user" for message in request.messages) == 1
        return {"content": ""} if first else gold(request)

    rows, notes = read(play(tmp_path / "run", wrong_first, profile="fixed"))
    assert (len(rows), notes) == (1, {MERGED: 2, OTHER_HISTORY: 1})
    weights = [m.get("weight", 1) for m in rows[0]["messages"] if m["role"] == "assistant"]
    assert weights == sorted(weights)
    assert weights[0] == 0


@pytest.mark.long
def test_samples_of_one_item_are_merged_with_none_of_another(tmp_path: Path):
    rows, notes = read(play(tmp_path / "run", gold, profile="fixed", repeats=2))
    assert (len(rows), notes) == (2, {MERGED: 6})


def test_an_export_says_how_many_conversations_repeat_others(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    run = play(tmp_path / "run", gold, profile="fixed")
    assert len(json_lines(written("sharegpt", run, tmp_path))) == 4
    (remark,) = [record.getMessage() for record in caplog.records]
    assert remark.startswith("3 of 4 conversations are the beginning of another one")
    assert "`wildtool data convert RUN --to sharegpt` learns each once" in remark
    caplog.clear()
    written("sharegpt", play(tmp_path / "other", in_own_words), tmp_path)
    assert not caplog.records


def test_a_run_that_learns_all_becomes_whole_conversations_for_llama_factory(tmp_path: Path):
    run = play(tmp_path / "run", gold, profile="fixed")
    assert learns_all(run)
    ended = convert(run, "--to", "llamafactory", "-o", tmp_path / "lf")
    assert ended.exit_code == 0, ended.stderr
    assert "note: merged 3 (were the beginning of a longer conversation" in ended.stdout
    assert "mask_history" not in ended.stdout
    assert len(json_lines(tmp_path / "lf" / "run_sft.jsonl")) == 1


@pytest.mark.parametrize("form", ["llamafactory", "sharegpt"])
def test_without_weights_each_reply_to_learn_ends_a_row_and_the_setting_is_named(tmp_path: Path, form: str):
    run = play(tmp_path / "run", in_own_words)
    replies = learned(read(run)[0])
    ended = convert(run, "--to", form, "-o", tmp_path / "out")
    assert ended.exit_code == 0, ended.stderr
    assert f"note: by-reply {len(replies)} (a row for each reply to learn, which is its last: train with" in (
        ended.stdout
    )
    assert "`mask_history: true`" in ended.stdout
    assert "weight 0" not in ended.stdout
    rows = json_lines(tmp_path / "out" / "run_sft.jsonl" if form == "llamafactory" else tmp_path / "out")
    assert len(rows) == len(replies)
    texts = [row["conversations"][-1] for row in rows]
    assert all(turn["value"].startswith(OWN) for turn in texts if turn["from"] == "gpt")


def test_drop_weights_keeps_whole_conversations_of_a_run(tmp_path: Path):
    run = play(tmp_path / "run", in_own_words)
    ended = convert(run, "--to", "llamafactory", "-o", tmp_path / "lf", "--drop-weights")
    assert (ended.exit_code, "by-reply" in ended.stdout) == (0, False)
    assert len(json_lines(tmp_path / "lf" / "run_sft.jsonl")) == len(read(run)[0])


@pytest.mark.parametrize(("model", "options"), [(in_own_words, []), (gold, ["--prompt-completion"])])
def test_for_trl_each_reply_to_learn_is_a_completion(tmp_path: Path, model: Any, options: list[str]):
    run = play(tmp_path / "run", model, profile="fixed")
    ended = convert(run, "--to", "trl", *options, "-o", tmp_path / "out")
    assert "(a row for each reply to learn, which is its completion)" in ended.stdout
    assert "no place for: learned replies" not in ended.stdout
    rows = json_lines(tmp_path / "out")
    assert len(rows) == len(learned(read(run)[0]))
    assert all(len(row["completion"]) == 1 for row in rows)


def test_the_form_with_weights_keeps_the_longest_conversation_and_says_what_is_context(tmp_path: Path):
    run = play(tmp_path / "run", in_own_words)
    ended = convert(run, "--to", "openai", "-o", tmp_path / "out")
    assert "note: other-history 3 (" in ended.stdout
    replies = [json.loads(reply)[-1] for reply in learned(json_lines(tmp_path / "out"))]
    assert len(replies) == len(learned(read(run)[0]))
    assert all(reply["content"].startswith(OWN) for reply in replies if not reply.get("tool_calls"))
