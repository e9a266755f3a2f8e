"""What a lossless row keeps and gives back; what a base's template was looked at for; rows and owners of runs."""

import json
from collections import Counter
from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from training.record_forms import call, calls, results, tool
from wildtool.errors import DataError, UsageError
from wildtool.export.conversations import ExportedConversation
from wildtool.sets.prepare import run_rows
from wildtool.sets.prepare.files import FileRow
from wildtool.sets.prepare.readers.options import DEFAULT_OPTIONS
from wildtool.sets.prepare.readers.sharegpt import read_sharegpt
from wildtool.sets.prepare.recipe.base_template import BaseTemplate, check_base_template, folder_templates
from wildtool.sets.prepare.record import AssistantTurn, ObservedResult, ResultTurn, TrainingRecord, UserTurn
from wildtool.sets.prepare.writers.kept import kept_parts, put_back
from wildtool.sets.prepare.writers.options import WriteOptions
from wildtool.sets.prepare.writers.sharegpt import sharegpt_row

Q, R = UserTurn("q"), AssistantTurn("r")
TALK = TrainingRecord(
    turns=(
        UserTurn("q", {"mood": "good"}),
        calls(call("f", "x"), call("g", "y"), text="I look.", extras={"k": 1}),
        ResultTurn((ObservedResult("5", {"cost": 1}), ObservedResult("6", {"cost": 2}))),
        AssistantTurn("r", learned=False),
        UserTurn("p", {"n": 2}),
        calls(call("f", 3)),
        results("7"),
        AssistantTurn("s", extras={"z": 3}),
    ),
    system="S",
    system_extras={"cache": 2},
    tools=(tool("f"),),
    given_tools=({"name": "f", "x": 1}, {"type": "function", "function": {"name": "g"}}),
    renamed={"f": "f f"},
    columns={"topic": "t"},
)
PAIR = TrainingRecord(
    kind="preference",
    turns=(UserTurn("q", {"k": 1}),),
    chosen=calls(call("f", "x"), text="t"),
    rejected=AssistantTurn("r", learned=False, extras={"k": 2}),
)


def again(record: TrainingRecord, **changes: Any) -> TrainingRecord:
    row = json.loads(json.dumps(sharegpt_row(record, WriteOptions(lossless=True))))
    return read_sharegpt({**row, **changes}, DEFAULT_OPTIONS)


def test_a_lossless_row_gives_everything_back():
    given = (
        {"type": "function", "function": {"name": "f", "x": 1}},
        {"type": "function", "function": {"name": "g"}},
    )
    assert again(TALK) == replace(TALK, tools=given)
    assert again(PAIR) == PAIR
    plain = TrainingRecord(turns=(Q, R), tools=(tool("f"),))
    assert again(plain) == plain
    bare = replace(TALK, system=None, system_extras={}, given_tools=None, renamed={}, columns={})
    assert again(bare) == bare


def test_an_edited_row_is_read_as_it_stands():
    edited = again(TALK, system="T")
    assert (edited.system, edited.system_extras, edited.notes) == ("T", {}, ("edited",))
    assert edited.turns[0] == Q
    assert again(TALK, more=1).notes == ()


def test_a_column_of_another_kind_is_passed_over():
    row = sharegpt_row(TALK, WriteOptions(lossless=True))
    bare = read_sharegpt({key: value for key, value in row.items() if key != "wildtool"}, DEFAULT_OPTIONS)
    for column in (None, 5, "{", "[1]", json.dumps({**json.loads(row["wildtool"]), "version": 2})):
        assert read_sharegpt({**row, "wildtool": column}, DEFAULT_OPTIONS) == bare
    assert put_back(replace(bare, notes=("a",)), {**row, "system": "T"}).notes == ("a", "edited")


def test_ids_of_another_number_are_not_put_back():
    record = TrainingRecord(turns=(Q, calls(call("f", "x"))))
    row = sharegpt_row(record, WriteOptions(lossless=True))
    kept = json.loads(row["wildtool"])
    assert kept["messages"] == {"1": {"tool_call_ids": ["x"]}}
    kept["messages"]["1"]["tool_call_ids"] = ["x", "y"]
    assert read_sharegpt({**row, "wildtool": json.dumps(kept)}, DEFAULT_OPTIONS).turns[1] == calls(call("f"))
    kept["messages"]["1"]["tool_call_ids"] = [5]
    assert read_sharegpt({**row, "wildtool": json.dumps(kept)}, DEFAULT_OPTIONS).turns[1] == calls(
        call("f", "5")
    )
    assert json.loads(kept_parts(replace(record, turns=(Q, calls(call("f")))), {}))["messages"] == {}


# Templates -------------------------------------------------------------------------------------------

AS_TEXT = (
    "every template shows texts: `wildtool data convert FILE --to text --tool-format hermes`, and run with the same"
    " format"
)
OFFERED = TrainingRecord(turns=(Q, R), tools=(tool("level"),), source="f", row=3)
CALLED = TrainingRecord(turns=(Q, calls(call("level", x=1))), tools=(tool("level"),), source="f", row=7)
SHOWS_TOOLS = "{% if tools %}{{ tools | tojson }}{% endif %}"
SHOWS_CALLS = "{% for m in messages %}{{ m.tool_calls | default([]) | tojson }}{% endfor %}"


def test_what_nobody_looked_at_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    none = tmp_path / "none"
    unseen = "so nobody looked whether its chat template shows the tools and calls."
    assert check_base_template(str(none), [CALLED]).unchecked == f"{none} is no folder here, {unseen}"
    without = f"{tmp_path} has no chat template, so nobody looked whether it shows the tools and calls."
    assert check_base_template(str(tmp_path), [CALLED]).unchecked == without
    (tmp_path / "chat_template.jinja").write_text("{{ messages }}")
    assert check_base_template(str(tmp_path), []) == BaseTemplate()

    def missing_version(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("wildtool.sets.prepare.recipe.base_template.version", missing_version)
    seen = "so nobody looked whether the chat template shows the tools and calls."
    missing = f"jinja2 is not installed (`pip install jinja2`), {seen}"
    assert check_base_template(str(tmp_path), [CALLED]).unchecked == missing


def test_what_a_template_leaves_out_is_named(tmp_path: Path):
    pytest.importorskip("jinja2")
    for template, records, problem in (
        (
            "{{ messages[0].content }}",
            [OFFERED, CALLED],
            "f:7: the chat template of {} leaves out the tools of this record",
        ),
        ("x", [OFFERED], "f:3: the chat template of {} leaves out the tools of this record"),
        (SHOWS_TOOLS, [CALLED], "f:7: the chat template of {} leaves out the calls of this record"),
        (SHOWS_CALLS, [CALLED], "f:7: the chat template of {} leaves out the tools of this record"),
    ):
        (tmp_path / "chat_template.jinja").write_text(template)
        with pytest.raises(UsageError) as refused:
            check_base_template(str(tmp_path), records)
        nothing = ", so nothing about them would be learned; "
        assert str(refused.value) == problem.format(tmp_path) + nothing + AS_TEXT
    (tmp_path / "chat_template.jinja").write_text("{{ raise_exception('no') }}")
    with pytest.raises(UsageError) as refused:
        check_base_template(str(tmp_path), [CALLED])
    takes = f"f:7: the chat template of {tmp_path} does not take this record: no; {AS_TEXT}"
    assert str(refused.value) == takes
    for template, records in ((SHOWS_TOOLS, [OFFERED]), (SHOWS_TOOLS + SHOWS_CALLS, [OFFERED, CALLED])):
        (tmp_path / "chat_template.jinja").write_text(template)
        assert check_base_template(str(tmp_path), records) == BaseTemplate()
    # What transformers gives templates is there.
    setup = (
        "{% for m in messages %}{% if loop.first %}{% continue %}{% endif %}{% endfor %}{{ strftime_now('%d') }}"
        "{{ bos_token }}{{ eos_token }}{% if add_generation_prompt %}{{ raise_exception('prompt') }}{% endif %}"
        "{% if tools is none %}none{% endif %}{{ tools | tojson(indent=2) }}" + SHOWS_CALLS
    )
    (tmp_path / "chat_template.jinja").write_text(setup)
    assert check_base_template(str(tmp_path), [CALLED]) == BaseTemplate()


def test_a_file_of_a_template_comes_before_the_settings(tmp_path: Path):
    def template_of(folder: Path) -> str | None:
        templates = folder_templates(folder)
        return templates and templates.with_tools

    (tmp_path / "tokenizer_config.json").write_text('{"chat_template": "settings"}')
    assert template_of(tmp_path) == "settings"
    (tmp_path / "chat_template.jinja").write_text("file")
    assert template_of(tmp_path) == "file"
    (tmp_path / "chat_template.jinja").unlink()
    (tmp_path / "tokenizer_config.json").write_text("{")
    assert template_of(tmp_path) is None


# Rows of runs ----------------------------------------------------------------------------------------


def test_correct_conversations_of_runs_are_rows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    user, one, two = (
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "1"},
        {"role": "assistant", "content": "2"},
    )
    context = {**one, "provider_content": [1]}
    tools = [tool("f")]

    def rows(request: Any, *, reasoning: bool) -> Any:
        assert (request.only, reasoning) == ("correct", True)
        fields = {"item": request.folder.name, "repeat": 0}
        yield {**fields, "unit": "0"}, ExportedConversation([user, one], tools, (1,))
        yield {**fields, "unit": "1"}, ExportedConversation([user, context, user, two], tools, (3,))
        yield {**fields, "unit": "2"}, ExportedConversation([user, two], [], (1,))

    monkeypatch.setattr(run_rows, "conversation_rows", rows)
    monkeypatch.setattr(run_rows, "run_folders", lambda path: [path / "a", path / "b"])
    notes: Counter[str] = Counter()
    merged = {"id": "a/1", "messages": [user, one, user, two], "tools": tools}
    short = {"id": "a/2", "messages": [user, two], "tools": []}
    found = list(run_rows.run_rows(tmp_path, notes))
    assert found == [
        FileRow(1, merged),
        FileRow(2, short),
        FileRow(3, {**merged, "id": "b/1"}),
        FileRow(4, {**short, "id": "b/2"}),
    ]
    assert notes == {"merged": 2}
    assert list(run_rows.training_rows(tmp_path, notes)) == found
    assert run_rows.learns_all(tmp_path)

    def with_context(request: Any, *, reasoning: bool) -> Any:
        talk = ExportedConversation([user, one, user, two], [], (3,))
        yield {"item": "i", "repeat": 0, "unit": "0"}, talk

    monkeypatch.setattr(run_rows, "conversation_rows", with_context)
    (row, _) = run_rows.run_rows(tmp_path, Counter())
    assert row.value["messages"] == [user, {**one, "weight": 0}, user, two]
    assert not run_rows.learns_all(tmp_path)
    (tmp_path / "f.jsonl").write_text('{"a": 1}\n')
    assert [number for number, _ in map(tuple, run_rows.training_rows(tmp_path / "f.jsonl"))] == [1]  # pyright: ignore


def test_owners_of_data_and_of_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    own = SimpleNamespace(locate=lambda data: SimpleNamespace(sha256="own"))
    monkeypatch.setattr(run_rows, "data_of", lambda benchmark: own)
    monkeypatch.setattr(
        run_rows, "official_owner", lambda path: f"owner of {path}" if "x" in str(path) else None
    )

    def run(digest: str, path: str) -> Any:
        selection = SimpleNamespace(
            benchmark=SimpleNamespace(name="b"), source=SimpleNamespace(sha256=digest, path=Path(path))
        )
        return SimpleNamespace(run=SimpleNamespace(selection=selection))

    assert run_rows.data_owner(run("own", "a")) == "b"
    assert run_rows.data_owner(run("other", "a")) is None
    assert run_rows.data_owner(run("other", "x")) == "owner of x"

    def absent(data: object) -> None:
        raise DataError("not here")

    own.locate = absent
    assert run_rows.data_owner(run("own", "x")) == "owner of x"
    monkeypatch.setattr(run_rows, "run_folders", lambda path: [path / "1", path / "2"])
    monkeypatch.setattr(run_rows, "RecordedRun", lambda request: request.folder)
    monkeypatch.setattr(run_rows, "data_owner", lambda run: "b" if run.name == "2" else None)
    assert list(run_rows.benchmark_owners(tmp_path)) == ["b"]
    assert list(run_rows.benchmark_owners(Path("none"))) == []
    assert list(run_rows.benchmark_owners(Path("x.jsonl"))) == ["owner of x.jsonl"]
