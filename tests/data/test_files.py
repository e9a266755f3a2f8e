"""JSON files and lines: what cannot be read is refused in words, whatever decodes it."""

import gzip
import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from wildtool.data.files import (
    file_sha256,
    file_version,
    find_packed,
    read_json,
    read_packed_lines,
    read_record_list,
    read_unpacked,
    source_of_files,
)
from wildtool.data.text_blocks import text_blocks
from wildtool.errors import DataError
from wildtool.json_codec import LINE_LIMITS
from wildtool.types import Source


@pytest.mark.parametrize("text", ["[" * 100_000, "[" * 100_000 + "]" * 100_000, "{", ""])
def test_a_file_that_is_no_json_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "data.json"
    path.write_text(text, "utf-8")
    with pytest.raises(DataError, match=r"data\.json: not JSON"):
        read_json(path)


def test_a_file_may_be_nested_deeper_than_a_line(tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    path.write_text("[" * (LINE_LIMITS.depth + 1) + "]" * (LINE_LIMITS.depth + 1), "utf-8")
    inner, depth = read_json(path), 1
    while inner:
        (inner,), depth = inner, depth + 1
    assert depth == LINE_LIMITS.depth + 1


def test_lines_are_objects_with_their_places(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text('{"a": 1}\n\n{"a": 2}\n', "utf-8")
    assert list(read_packed_lines(path)) == [(f"{path}:1", {"a": 1}), (f"{path}:3", {"a": 2})]


def test_a_line_that_is_no_object_is_named(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text('{"a": 1}\n[1]\n', "utf-8")
    with pytest.raises(DataError, match=r"data\.jsonl:2: expected a JSON object"):
        list(read_packed_lines(path))


def message(run: Callable[[], object]) -> str:
    with pytest.raises(DataError) as caught:
        run()
    return str(caught.value)


def test_what_cannot_be_read_is_said_with_its_place_and_what_was_expected(tmp_path: Path) -> None:
    lines, values, packed = tmp_path / "a.jsonl", tmp_path / "b.json", tmp_path / "c.json.gz"
    lines.write_text('{"a": 1}\n{oops}\n', "utf-8")
    error = message(lambda: list(read_packed_lines(lines, "session")))
    assert error.startswith(f"{lines}:2: not a JSON object (") and error.endswith(
        "); expected one session per line"
    )
    lines.write_text("5", "utf-8")
    assert (
        message(lambda: list(read_packed_lines(lines)))
        == f"{lines}:1: expected a JSON object, found a number"
    )
    values.write_text("{}", "utf-8")
    assert (
        message(lambda: list(read_record_list(values)))
        == f"{values}: expected a list of records, found an object"
    )
    values.write_text('[{"a": 1}, 2]', "utf-8")
    records = read_record_list(values)
    assert next(records) == (f"{values}: record 0", {"a": 1})
    assert message(lambda: next(records)) == f"{values}: record 1: expected an object, found a number"
    packed.write_bytes(b"no gzip")
    assert message(lambda: read_unpacked(packed)) == f"cannot read {packed}: Not a gzipped file (b'no')"
    assert (
        message(lambda: read_unpacked(tmp_path / "d"))
        == f"cannot read {tmp_path / 'd'}: No such file or directory"
    )


def test_a_file_is_read_plain_or_packed_up_to_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, packed = tmp_path / "a.json", tmp_path / "b.json.gz"
    plain.write_bytes(b"[1, 2]")
    packed.write_bytes(gzip.compress(b"[1, 2]"))
    assert [find_packed(tmp_path, name) for name in ("a.json", "b.json", "c.json")] == [plain, packed, None]
    assert read_json(plain) == read_json(packed) == [1, 2]
    assert file_sha256(plain) == hashlib.sha256(b"[1, 2]").hexdigest()
    monkeypatch.setattr("wildtool.data.files.MAX_UNPACKED_BYTES", 6)
    assert read_unpacked(packed) == b"[1, 2]"
    monkeypatch.setattr("wildtool.data.files.MAX_UNPACKED_BYTES", 5)
    assert (
        message(lambda: read_unpacked(packed))
        == f"{packed}: longer than 0 MiB; name another file, or a part of it"
    )


def test_several_files_have_one_digest_of_names_and_contents(tmp_path: Path) -> None:
    first, second, packed = tmp_path / "a", tmp_path / "b", tmp_path / "a.gz"
    first.write_bytes(b"1")
    second.write_bytes(b"2")
    packed.write_bytes(gzip.compress(b"1"))
    lines = "".join(
        f"{hashlib.sha256(text).hexdigest()}  {name}\n" for name, text in (("a", b"1"), ("b", b"2"))
    )
    expected = Source("n", tmp_path, hashlib.sha256(lines.encode()).hexdigest())
    assert source_of_files("n", tmp_path, [second, first]) == expected
    assert source_of_files("n", tmp_path, [packed, second]) == expected
    second.write_bytes(b"three")
    assert source_of_files("n", tmp_path, [first, second]).sha256 != expected.sha256
    assert file_version(tmp_path / "none") == (0, 0)
    assert file_version(second) == (second.stat().st_mtime_ns, 5)


def test_blocks_of_a_text_are_found_by_name(tmp_path: Path) -> None:
    file = tmp_path / "t.txt"
    file.write_text("before\n\n= one\n\n first \n= two words\nsecond\n=no\n", "utf-8")
    assert text_blocks(file) == {"": "before", "one": "first", "two words": "second\n=no"}
