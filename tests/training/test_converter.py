"""A conversion to the last count: what is written, left out, lost, repaired and named."""

import errno
import io
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from training.training_rows import write_rows
from wildtool.errors import DataError, UsageError
from wildtool.sets.prepare import convert as conversions
from wildtool.sets.prepare import files
from wildtool.sets.prepare.convert import Conversion, ConversionSummary, Converter, summary_fields
from wildtool.sets.prepare.converted_files import (
    info_entry,
    read_info,
    rejects_file,
    set_name,
    write_conversion,
    write_llamafactory,
    write_stream,
)
from wildtool.sets.prepare.readers.data_sets import DATA_SETS
from wildtool.sets.prepare.record import RejectedRow
from wildtool.sets.prepare.writers.forms import TRAINING_FORMS
from wildtool.sets.prepare.writers.options import WriteOptions

USER = {"role": "user", "content": "q"}
MADE = {"id": "x", "type": "function", "function": {"name": "a b", "arguments": "{}"}}


def reply(text: str = "r", **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": text, **more}


def talk(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"messages": [USER, *messages], **more}


def calling(count: int) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": [MADE] * count}


def conversion(*paths: Path, to: str = "openai", **more: Any) -> Conversion:
    return Conversion(files=paths, form=TRAINING_FORMS[to], **more)


def converted(*paths: Path, **more: Any) -> tuple[list[Any], ConversionSummary, list[RejectedRow]]:
    rejects: list[RejectedRow] = []
    converter = Converter(conversion(*paths, **more), rejects.append)
    return [json.loads(line) for line in converter.lines()], converter.summary, rejects


def test_everything_that_became_of_the_rows_is_counted(tmp_path: Path):
    rows = [
        talk(USER, reply(weight=0), USER, reply(), topic="t", id=1),
        talk(calling(1)),
        talk(calling(2)),
        talk(calling(3), topic="t"),
        {"messages": []},
        talk(reply("\0")),
        talk(reply(), tools=[{"name": "f", "parameters": {"x": "odd"}, "strict": True}]),
        {"prompt": [USER], "chosen": [reply()], "rejected": [reply("s")]},
        5,
    ]
    file = write_rows(tmp_path / "a.jsonl", rows)
    lines, summary, rejects = converted(file, to="sharegpt", safe_names=True)
    assert len(lines) == 5
    assert summary_fields(summary) == {
        "sets": ["openai"],
        "rows": 9,
        "written": 5,
        "left_out": 4,
        "rejected": {"no-user": 1, "not-text": 1, "other-kind": 1, "unreadable-line": 1},
        "repaired": {"merge-user": 1},
        "not_expressed": {
            "ids of calls": 3,
            "column topic": 2,
            "weight 0": 1,
            "column id": 1,
            "further keys of tools": 1,
        },
        "unknown_types": {"odd": 1},
        "calls": {"0": 2, "1": 1, "2": 1, "more": 1},
        "notes": {},
        "renamed": {"a_b": "a b"},
    }
    assert (summary.unlearned, summary.kind, summary.refused, summary.samples) == (1, "sft", 4, [])
    source = str(file)
    assert rejects == [
        RejectedRow(source=source, row=5, reason="no-user", detail="no user turn", raw={"messages": []}),
        RejectedRow(
            source=source,
            row=6,
            reason="not-text",
            detail="a text holds NUL or half a surrogate pair, which loaders refuse",
            raw=rows[5],
        ),
        RejectedRow(
            source=source,
            row=8,
            reason="other-kind",
            detail="preference among records of kind sft",
            raw=rows[7],
        ),
        RejectedRow(
            source=source,
            row=9,
            reason="unreadable-line",
            detail="expected an object, found a number",
            raw=None,
        ),
    ]


def test_renamed_tools_lose_as_much_as_others_and_keep_it_where_asked_for(tmp_path: Path):
    row = talk(reply(), tools=[{"name": "f g", "strict": True}])
    file = write_rows(tmp_path / "a.jsonl", [row])
    assert converted(file, to="sharegpt", safe_names=True)[1].lost == {"further keys of tools": 1}
    (line,), *_ = converted(file, to="sharegpt", safe_names=True, writing=WriteOptions(lossless=True))
    assert json.loads(line["wildtool"])["tools"] == [{"name": "f_g", "strict": True}]


def test_lossless_rows_lose_nothing(tmp_path: Path):
    file = write_rows(tmp_path / "a.jsonl", [talk(reply(weight=0), topic="t")])
    assert converted(file, to="sharegpt", writing=WriteOptions(lossless=True))[1].lost == {}
    assert converted(file, to="sharegpt")[1].lost == {"weight 0": 1, "column topic": 1}


def test_each_reply_to_learn_may_end_a_row(tmp_path: Path):
    rows = [talk(reply("a"), USER, reply("b", weight=0), USER, reply("c")), talk(reply("d", weight=0))]
    file = write_rows(tmp_path / "a.jsonl", rows)
    writing = WriteOptions(prompt_completion=True)
    lines, summary, rejects = converted(file, to="trl", by_reply=True, writing=writing)
    assert [line["completion"][0]["content"] for line in lines] == ["a", "c"]
    assert (summary.notes, summary.lost) == ({"by-reply": 2}, {})
    assert [(row.reason, row.detail) for row in rejects] == [("nothing-to-learn", "every reply has weight 0")]
    plain = converted(file, to="trl", writing=writing)[1]
    assert (plain.notes, plain.lost) == ({}, {"learned replies before the last": 1, "weight 0": 1})


def test_what_a_row_of_each_reply_loses_is_counted(tmp_path: Path):
    file = write_rows(tmp_path / "a.jsonl", [talk(reply("a", reasoning_content="Hm."), USER, reply("c"))])
    # The first reply is in both rows.
    assert converted(file, to="sharegpt", by_reply=True)[1].lost == {"reasoning": 2}


@pytest.mark.parametrize("error", [RecursionError("deep"), ValueError("digits")])
def test_a_record_that_is_too_deep_for_its_writer_is_left_out(tmp_path: Path, error: Exception):
    def write(record: Any, options: Any) -> Any:
        if record.row == 1:
            raise error
        return [record.row]

    file = write_rows(tmp_path / "a.jsonl", [talk(reply()), talk(reply())])
    form = replace(TRAINING_FORMS["openai"], write=write)
    rejects: list[RejectedRow] = []
    converter = Converter(replace(conversion(file), form=form), rejects.append)
    assert list(converter.lines()) == [b"[2]\n"]
    detail = "nested too deep, or a number too long"
    row = {"source": str(file), "row": 1, "reason": "unreadable-line", "detail": detail}
    assert rejects == [RejectedRow(**row, raw=talk(reply()))]
    assert (converter.summary.written, converter.summary.rejected) == (1, {"unreadable-line": 1})


def test_others_help_once_the_kind_of_the_records_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(conversions, "_ALONE", 1)
    monkeypatch.setattr(conversions, "_BATCH", 1)
    pair = {"prompt": [USER], "chosen": [reply()], "rejected": [reply("s")]}
    file = write_rows(tmp_path / "a.jsonl", [{"messages": []}, talk(reply()), pair])
    summary = converted(file, processes=2)[1]
    assert (summary.written, summary.rejected) == (1, {"no-user": 1, "other-kind": 1})


@pytest.mark.parametrize(
    ("processes", "data_set", "is_limited", "first", "helped"),
    [
        (2, "openai", False, talk(reply()), 1),
        (1, "openai", False, talk(reply()), 0),
        (2, "openai", True, talk(reply()), 0),
        (2, "openai", False, {"messages": []}, 0),
        (2, "toolbench", False, {}, 0),
    ],
)
def test_others_help_with_the_rest_of_a_file_where_they_can(
    processes: int,
    data_set: str,
    is_limited: bool,
    first: dict[str, Any],
    helped: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    asked: list[Any] = []

    def together(converter: Converter, *words: Any) -> Any:
        asked.append((converter, *words[:2], [number for number, _ in words[2]]))
        yield b"[]\n"

    monkeypatch.setattr(conversions, "_ALONE", 1)
    monkeypatch.setattr(conversions, "_is_limited", lambda: is_limited)
    monkeypatch.setattr(Converter, "_convert_together", together)
    rows = [step(1), step(2)] if data_set == "toolbench" else [first, talk(reply()), talk(reply())]
    file = write_rows(tmp_path / "a.jsonl", rows)
    converter = Converter(conversion(file, processes=processes, data_set=data_set), lambda row: None)
    lines = list(converter.lines())
    assert asked == [(converter, DATA_SETS["openai"], str(file), [2, 3])] * helped
    assert len(lines) == len(rows) - (helped or rows[0] != talk(reply()))


def test_records_that_need_no_distant_value_are_counted_and_not_listed(tmp_path: Path):
    near = talk({"role": "assistant", "tool_calls": [{"name": "f", "arguments": {"a": "Husum"}}]})
    far = talk(reply(), {"role": "user", "content": "Husum"}, near["messages"][1])
    file = write_rows(tmp_path / "a.jsonl", [near, far])
    for least, written in ((0, 2), (1, 1), (2, 0)):
        lines, summary, rejects = converted(file, least_reach=least)
        assert (len(lines), summary.rejected["near"], rejects) == (written, 2 - written, [])
        assert (summary.left_out, summary.refused) == (2 - written, 0)


def step(size: int) -> dict[str, Any]:
    turns = [{"from": "user", "value": "q"}]
    for k in range(size):
        turns += [
            {"from": "assistant", "value": f"Action: f\nAction Input: {{'k': {k}}}"},
            {"from": "function", "value": "5"},
        ]
    return {"id": f"Step {size}: q", "conversations": turns[:-1]}


def test_steps_are_contained_in_longer_ones_of_all_files(tmp_path: Path):
    a = write_rows(tmp_path / "a.jsonl", [step(1), step(2), {"conversations": []}])
    b = write_rows(tmp_path / "b.jsonl", [step(3), step(3), step(1)])
    more: dict[str, Any] = {"data_set": "toolbench"}
    lines, summary, rejects = converted(a, b, **more)
    assert [len(line["messages"]) for line in lines] == [6, 6]
    assert summary.rejected == {"prefix": 3, "no-user": 1}
    assert (summary.left_out, summary.refused, len(rejects)) == (4, 1, 1)
    assert summary.data_sets == ["toolbench", "toolbench"]
    every, summary, _ = converted(a, b, all_prefixes=True, **more)
    assert ([len(line["messages"]) for line in every], summary.rejected) == ([2, 4, 6, 6, 2], {"no-user": 1})


def test_the_first_records_of_a_guessed_layout_are_shown(tmp_path: Path):
    row = {"question": "q", "answer": "3", "toolcalls": ["<T>add(1, 2)=3"]}
    file = write_rows(tmp_path / "a.jsonl", [{**row, "question": f"q{k}"} for k in range(4)])
    lines, summary, _ = converted(file)
    assert list(map(json.loads, summary.samples)) == lines[:3]


@pytest.mark.parametrize(
    ("rows", "to", "problem"),
    [
        (
            [{"func_name": "f", "tools": [{"name": "f"}]}],
            "openai",
            "holds tools and no conversations: write them with --to tools, and make conversations with `wildtool generate"
            " --tools FILE`",
        ),
        (
            [{"prompt": [USER], "chosen": [reply()], "rejected": [reply("s")]}],
            "adp",
            "holds pairs, which this form has no place for; use another --to",
        ),
    ],
)
def test_a_form_refuses_kinds_of_records(tmp_path: Path, rows: list[Any], to: str, problem: str):
    file = write_rows(tmp_path / "a.jsonl", rows)
    with pytest.raises(UsageError) as refused:
        converted(file, to=to)
    assert str(refused.value) == f"{file} {problem}"


def test_several_processes_give_what_one_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(conversions, "_ALONE", 2)
    monkeypatch.setattr(conversions, "_BATCH", 2)
    rows = [
        talk(calling(k % 4), id=k) if k % 4 else talk(reply(weight=k % 8), tools=[{"name": "a", "x": 1}])
        for k in range(9)
    ]
    file = write_rows(
        tmp_path / "a.jsonl",
        [*rows, {"messages": []}, {"prompt": [USER], "chosen": [reply()], "rejected": [reply("s")]}],
    )
    file.write_text(file.read_text() + "{broken\n")
    alone = converted(file, to="sharegpt", safe_names=True)
    rejects: list[RejectedRow] = []
    converter = Converter(conversion(file, to="sharegpt", safe_names=True, processes=2), rejects.append)
    parts = list(converter.lines())
    assert [json.loads(line) for part in parts for line in part.splitlines()] == alone[0]
    assert (converter.summary, rejects) == alone[1:]
    assert len(parts) < len(alone[0])
    # What a process is asked for.
    raw = list(files.raw_rows(file))
    part = conversions._convert_batch(  # pyright: ignore[reportPrivateUsage]
        conversion(file, to="sharegpt", safe_names=True), "openai", str(file), raw, "sft"
    )
    assert [json.loads(line) for line in part.lines.splitlines()] == alone[0]
    assert (part.summary, part.rejects) == alone[1:]


def test_what_a_source_of_rows_has_to_say_is_noted(tmp_path: Path):
    notes: Counter[str] = Counter()

    def rows(path: Path) -> Any:
        notes["skipped"] += 2
        return files.raw_rows(path)

    file = write_rows(tmp_path / "a.jsonl", [talk(reply()), talk(reply())])
    assert converted(file, rows=rows, row_notes=notes)[1].notes == {"skipped": 2}
    assert converted(file, by_reply=True)[1].notes == {"by-reply": 2}


def test_summaries_are_added():
    first = ConversionSummary(
        rows=1, written=2, data_sets=["a"], calls=Counter("0"), unlearned=1, samples=["x"]
    )
    other = ConversionSummary(
        rows=2,
        written=3,
        data_sets=["b"],
        rejected=Counter({"near": 1, "no-user": 1}),
        repaired=Counter("r"),
        lost=Counter("l"),
        unknown_types=Counter("u"),
        calls=Counter("01"),
        notes=Counter("n"),
        renamed={"a": "b"},
        unlearned=4,
        kind="sft",
        samples=["y"],
    )
    first.add(other)
    assert first == ConversionSummary(
        rows=3,
        written=5,
        data_sets=["a"],
        rejected=Counter({"near": 1, "no-user": 1}),
        repaired=Counter("r"),
        lost=Counter("l"),
        unknown_types=Counter("u"),
        calls=Counter("001"),
        notes=Counter("n"),
        renamed={"a": "b"},
        unlearned=5,
        kind="sft",
        samples=["x"],
    )
    first.add(ConversionSummary(kind="preference"))
    assert (first.kind, first.left_out, first.refused) == ("sft", 2, 1)
    many = ConversionSummary(unknown_types=Counter({str(k): 1 for k in range(21)}))
    assert len(summary_fields(many)["unknown_types"]) == 20


# Files that are written ------------------------------------------------------------------------------


def test_a_file_is_written_with_its_rejects_beside(tmp_path: Path):
    file = write_rows(tmp_path / "a.jsonl", [talk(reply()), {"messages": []}])
    out = tmp_path / "b.jsonl"
    assert rejects_file(out) == tmp_path / "b.jsonl.rejects.jsonl"
    summary = write_conversion(conversion(file), out)
    assert (summary.written, len(out.read_text().splitlines())) == (1, 1)
    reject = {"file": str(file), "row": 2, "reason": "no-user", "detail": "no user turn"}
    assert [json.loads(line) for line in rejects_file(out).read_text().splitlines()] == [reject]
    write_conversion(conversion(file), out, force=True, keep_rejects=True)
    assert json.loads(rejects_file(out).read_text()) == {**reject, "record": {"messages": []}}
    write_rows(file, [talk(reply())])
    write_conversion(conversion(file), out, force=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl", "b.jsonl"]
    with pytest.raises(UsageError, match=r"b\.jsonl"):
        write_conversion(conversion(file), out)


def test_what_is_converted_is_not_written_over(tmp_path: Path):
    place = tmp_path / "b.jsonl"
    for name in ("b.jsonl", "b.jsonl.rejects.jsonl"):
        file = write_rows(tmp_path / name, [talk(reply())])
        with pytest.raises(UsageError, match=rf"^{file}: "):
            write_conversion(conversion(file, rows=_unread), place, force=True)
    files = (
        write_rows(tmp_path / "a.jsonl", [talk(reply())]),
        write_rows(tmp_path / "a_sft.jsonl", [talk(reply())]),
    )
    with pytest.raises(UsageError, match=rf"^{files[1]}: "):
        write_llamafactory(conversion(*files, to="llamafactory"), tmp_path, force=True)
    assert json.loads(files[1].read_text()) == talk(reply())


def test_what_is_no_file_is_not_replaced_by_the_list_of_rejects(tmp_path: Path):
    file = write_rows(tmp_path / "a.jsonl", [talk(reply())])
    beside = rejects_file(tmp_path / "b.jsonl")
    beside.mkdir()
    with pytest.raises(UsageError) as refused:
        write_conversion(conversion(file, rows=_unread), tmp_path / "b.jsonl")
    kind = "is a folder, and only regular files are replaced; name another place with --out"
    assert str(refused.value) == f"{beside}: {kind}"
    beside = rejects_file(tmp_path / "lf" / "a_sft.jsonl")
    beside.mkdir(parents=True)
    with pytest.raises(UsageError) as refused:
        write_llamafactory(conversion(file, to="llamafactory"), tmp_path / "lf")
    assert str(refused.value) == f"{beside}: {kind}"
    assert [path.name for path in (tmp_path / "lf").iterdir() if path.suffix == ".jsonl"] == [beside.name]


def _unread(path: Path) -> Any:
    raise AssertionError(path)


def test_nothing_to_write_says_why(tmp_path: Path):
    rows = [{"messages": []}, {"messages": []}, talk(reply("\0")), 5, talk(reply(""))]
    file = write_rows(tmp_path / "a.jsonl", rows)
    reasons = "no row could be converted (no-user 2, not-text 1, unreadable-line 1)"
    with pytest.raises(DataError) as refused:
        write_stream(conversion(file), io.BytesIO())
    assert str(refused.value) == reasons
    out = tmp_path / "b.jsonl"
    with pytest.raises(DataError) as refused:
        write_conversion(conversion(file), out)
    first = f"{file}, row 1: no user turn"
    assert str(refused.value) == f"{reasons}; {first}; see {rejects_file(out)}"
    assert rejects_file(out).exists() and not out.exists()
    with pytest.raises(DataError) as refused:
        write_llamafactory(conversion(file, to="llamafactory"), tmp_path)
    assert str(refused.value) == f"{reasons}; {first}; see {rejects_file(tmp_path / 'a_sft.jsonl')}"
    assert not (tmp_path / "dataset_info.json").exists()
    near = write_rows(tmp_path / "n.jsonl", [talk(reply())])
    with pytest.raises(DataError) as refused:
        write_conversion(conversion(near, least_reach=1), out)
    assert str(refused.value) == "no row could be converted (near 1)"


def test_an_open_file_gets_the_lines(tmp_path: Path):
    file, target = write_rows(tmp_path / "a.jsonl", [talk(reply()), {"messages": []}]), io.BytesIO()
    assert write_stream(conversion(file), target).written == 1
    assert json.loads(target.getvalue()) == {**talk(reply()), "tools": []}


def test_a_place_that_takes_no_list_of_rejects_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write = Path.open

    def refuse(path: Path, *how: Any, **more: Any) -> Any:
        if path.name == "rejects":
            raise PermissionError(errno.EACCES, "Permission denied")
        return write(path, *how, **more)

    file = write_rows(tmp_path / "a.jsonl", [talk(reply())])
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(UsageError) as refused:
        write_conversion(conversion(file), tmp_path / "b.jsonl")
    place = f"{tmp_path / 'b.jsonl.rejects.jsonl'}: could not be written (Permission denied)"
    assert str(refused.value) == f"{place}; name another place with --out"


def test_a_place_that_takes_no_data_of_llamafactory_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    move = Path.replace

    def refuse(path: Path, place: Path) -> Path:
        if place.name == "a_sft.jsonl":
            raise PermissionError(errno.EACCES, "Permission denied")
        return move(path, place)

    file = write_rows(tmp_path / "a.jsonl", [talk(reply())])
    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(UsageError) as refused:
        write_llamafactory(conversion(file, to="llamafactory"), tmp_path / "lf")
    place = f"{tmp_path / 'lf' / 'a_sft.jsonl'}: could not be written (Permission denied)"
    assert str(refused.value) == f"{place}; name another place with --out"
    assert not (tmp_path / "lf" / "dataset_info.json").exists()


TAGS = {
    "role_tag": "from",
    "content_tag": "value",
    "user_tag": "human",
    "assistant_tag": "gpt",
    "observation_tag": "observation",
    "function_tag": "function_call",
    "system_tag": "system",
}


def test_an_entry_of_llamafactory_names_every_column_and_tag(tmp_path: Path):
    entry = {"file_name": "f", "formatting": "sharegpt", "tags": TAGS}
    columns = {"messages": "conversations", "system": "system"}
    pair = {"chosen": "chosen", "rejected": "rejected"}
    tools = {"tools": "tools"}
    assert info_entry("f", ranking=False) == {**entry, "columns": {**columns, **tools}}
    assert info_entry("f", ranking=True, flat=True) == {
        **entry,
        "ranking": True,
        "columns": {**columns, **pair},
    }
    (tmp_path / "dataset_info.json").write_text('{"o": {"file_name": "é"}}')
    file = write_rows(tmp_path / "my set.v2.jsonl", [talk(reply())])
    summary, name = write_llamafactory(conversion(file, to="llamafactory"), tmp_path)
    assert (summary.written, name) == (1, "my_set_sft")
    sft = info_entry("my_set_sft.jsonl", ranking=False)
    text = json.dumps({"o": {"file_name": "é"}, name: sft}, ensure_ascii=False, indent=2)
    assert (tmp_path / "dataset_info.json").read_text() == f"{text}\n"
    with pytest.raises(UsageError, match=r"my_set_sft\.jsonl"):
        write_llamafactory(conversion(file, to="llamafactory"), tmp_path)
    again = write_llamafactory(conversion(file, to="llamafactory"), tmp_path, force=True)
    assert again == (summary, name)
    flat = conversion(file, to="llamafactory", writing=WriteOptions(flat=True))
    with pytest.raises(UsageError) as refused:
        write_llamafactory(flat, tmp_path, force=True)
    info = tmp_path / "dataset_info.json"
    assert str(refused.value) == f"{info}: has another entry my_set_sft; add --replace to overwrite it"
    write_llamafactory(flat, tmp_path, force=True, replace=True)
    assert read_info(tmp_path)[name] == info_entry("my_set_sft.jsonl", ranking=False, flat=True)
    weighted = write_rows(tmp_path / "w.jsonl", [talk(reply(weight=0), USER, reply(weight=0))])
    with pytest.raises(UsageError) as refused:
        write_llamafactory(conversion(weighted, to="llamafactory"), tmp_path)
    assert str(refused.value) == (
        f"{weighted}: has 2 assistant messages of weight 0; LLaMA-Factory trains on all turns or on the last"
        f" one only: give"
        " --drop-weights, or --to openai, which `wildtool data recipe` trains on with mask_history"
    )
    rejects = write_rows(
        tmp_path / "p.jsonl", [{"prompt": [USER], "chosen": [reply()], "rejected": [reply("s")]}, 5]
    )
    result = write_llamafactory(
        conversion(rejects, to="llamafactory"), tmp_path / "lf" / "new", keep_rejects=True
    )
    assert (result[1], sorted(path.name for path in (tmp_path / "lf" / "new").iterdir())) == (
        "p_dpo",
        ["dataset_info.json", "p_dpo.jsonl", "p_dpo.jsonl.rejects.jsonl"],
    )
    assert json.loads((tmp_path / "lf/new/p_dpo.jsonl.rejects.jsonl").read_text())["record"] is None


def test_names_of_data_sets_and_their_list(tmp_path: Path):
    names = ["a.jsonl", "my set!.x.json", "..", "é.json", "_a_.json"]
    assert [set_name(Path(name)) for name in names] == ["a", "my_set", "data", "data", "a"]
    assert read_info(tmp_path) == {}
    info = tmp_path / "dataset_info.json"
    info.write_text("[]")
    with pytest.raises(DataError) as refused:
        read_info(tmp_path)
    assert str(refused.value) == f"{info}: expected an object with an entry for each data set"
    info.write_text("{")
    with pytest.raises(DataError, match=r"^.*dataset_info\.json: not JSON"):
        read_info(tmp_path)


def test_a_folder_for_llamafactory_is_made_with_all_above_it(tmp_path: Path):
    file = write_rows(tmp_path / "a.jsonl", [talk(reply())])
    write_llamafactory(conversion(file, to="llamafactory"), tmp_path / "new" / "folder")
    assert {path.name for path in (tmp_path / "new" / "folder").iterdir()} >= {
        "a_sft.jsonl",
        "dataset_info.json",
    }
