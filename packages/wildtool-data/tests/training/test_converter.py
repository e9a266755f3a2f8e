"""A conversion to the last count: what is written, left out, lost, repaired and named."""

import errno
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from training.training_rows import write_rows
from wildtool.errors import UsageError
from wildtool.training import files
from wildtool.training.record import RejectedRow
from wildtool.training.writers.options import WriteOptions
from wildtool_data.prepare.convert import Conversion, ConversionSummary, Converter
from wildtool_data.prepare.converted_files import (
    write_conversion,
    write_llamafactory,
)
from wildtool_data.prepare.writers.forms import TRAINING_FORMS

USER = {"role": "user", "content": "q"}


def reply(text: str = "r", **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": text, **more}


def talk(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"messages": [USER, *messages], **more}


def conversion(*paths: Path, to: str = "openai", **more: Any) -> Conversion:
    return Conversion(files=paths, form=TRAINING_FORMS[to], **more)


def converted(*paths: Path, **more: Any) -> tuple[list[Any], ConversionSummary, list[RejectedRow]]:
    rejects: list[RejectedRow] = []
    converter = Converter(conversion(*paths, **more), rejects.append)
    return [json.loads(line) for line in converter.lines()], converter.summary, rejects


def test_renamed_tools_lose_as_much_as_others_and_keep_it_where_asked_for(tmp_path: Path):
    row = talk(reply(), tools=[{"name": "f g", "strict": True}])
    file = write_rows(tmp_path / "a.jsonl", [row])
    assert converted(file, to="sharegpt", safe_names=True)[1].lost == {"further keys of tools": 1}
    (line,), *_ = converted(file, to="sharegpt", safe_names=True, writing=WriteOptions(lossless=True))
    assert json.loads(line["wildtool"])["tools"] == [{"name": "f_g", "strict": True}]


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


def test_what_a_source_of_rows_has_to_say_is_noted(tmp_path: Path):
    notes: Counter[str] = Counter()

    def rows(path: Path) -> Any:
        notes["skipped"] += 2
        return files.raw_rows(path)

    file = write_rows(tmp_path / "a.jsonl", [talk(reply()), talk(reply())])
    assert converted(file, rows=rows, row_notes=notes)[1].notes == {"skipped": 2}
    assert converted(file, by_reply=True)[1].notes == {"by-reply": 2}


# Files that are written ------------------------------------------------------------------------------


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


def _unread(path: Path) -> Any:
    raise AssertionError(path)


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


def test_a_folder_for_llamafactory_is_made_with_all_above_it(tmp_path: Path):
    file = write_rows(tmp_path / "a.jsonl", [talk(reply())])
    write_llamafactory(conversion(file, to="llamafactory"), tmp_path / "new" / "folder")
    assert {path.name for path in (tmp_path / "new" / "folder").iterdir()} >= {
        "a_sft.jsonl",
        "dataset_info.json",
    }
