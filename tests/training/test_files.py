"""Rows of files of every form, and what cannot be read."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from wildtool.data.files import check_regular_file
from wildtool.errors import DataError
from wildtool.json_codec import JsonLimits
from wildtool.sets.prepare import files
from wildtool.sets.prepare.files import FileRow, check_readable, read_rows


def rows_of(path: Path, content: bytes) -> list[tuple[int, Any, str]]:
    path.write_bytes(content)
    return [(row.number, row.value, row.problem) for row in read_rows(path)]


CUT = "the list is not closed: the file is cut off"
LOST = "no JSON, or too long; the rest of the list cannot be read"


@pytest.mark.parametrize(
    ("name", "content", "rows"),
    [
        ("a.jsonl", b'\xef\xbb\xbf{"a": 1}\n\n \n{"a": 2}', [(1, {"a": 1}, ""), (4, {"a": 2}, "")]),
        ("a.jsonl", b'{"a": 1}\n\xef\xbb\xbf{"a": 2}', [(1, {"a": 1}, ""), (2, None, None)]),
        ("a.jsonl", b"5\nnull\n[1", [
            (1, None, "expected an object, found a number"),
            (2, None, "expected an object, found null"),
            (3, None, None),
        ]),
        ("a.json", b'\xef\xbb\xbf \n[{"a": 1} , 5,{"a": 2}]', [
            (1, {"a": 1}, ""),
            (2, None, "expected an object, found a number"),
            (3, {"a": 2}, ""),
        ]),
        ("a.json", b"[]", []),
        ("a.json", b'[{"a": "x\ty"}, {"b": 1}]', [(1, None, None), (2, {"b": 1}, "")]),
        ("a.json", b'[{"a": 1}', [(1, {"a": 1}, ""), (2, None, CUT)]),
        ("a.json", b"[", [(1, None, CUT)]),
        ("a.json", b'[{"a": 1}, {"a": ' + b"1" * 5000 + b"}]", [(1, {"a": 1}, ""), (2, None, LOST)]),
        ("a.json", b'[{"a": 1}, {"b"', [(1, {"a": 1}, ""), (2, None, LOST)]),
        ("a.json", b'[{"a": 1}, x, {"b": 1}]', [(1, {"a": 1}, ""), (2, None, LOST)]),
        ("a.CSV", "\ufeffé,b\n1,\"x\ny\"\n2\n3,4,5\n".encode(), [
            (1, {"é": "1", "b": "x\ny"}, ""),
            (2, {"é": "2", "b": None}, ""),
            (3, {"é": "3", "b": "4"}, ""),
        ]),
        ("a.tsv", b"a\tb\n1,2\t3\n", [(1, {"a": "1,2", "b": "3"}, "")]),
        ("a.csv", b"a,b\n1\t2,3\n", [(1, {"a": "1\t2", "b": "3"}, "")]),
        ("a.csv.gz", gzip.compress(b"a\n1\n", mtime=0), [(1, {"a": "1"}, "")]),
        ("b", gzip.compress(b'[{"a": 1}]', mtime=0), [(1, {"a": 1}, "")]),
        ("c", gzip.compress(b' \n{"a": 1}\n', mtime=0), [(2, {"a": 1}, "")]),
        ("a.json.zst", b'[{"a": 1}]', [(1, {"a": 1}, "")]),
    ],
)  # fmt: skip
def test_rows_of_files_of_every_form(
    tmp_path: Path, name: str, content: bytes, rows: list[tuple[int, Any, str | None]]
):
    found = rows_of(tmp_path / name, content)
    assert [
        (number, value, None if problem.startswith("no JSON (") else problem)
        for number, value, problem in found
    ] == rows


def test_what_is_too_long_is_named_with_its_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(files, "TEXT_LIMITS", JsonLimits(bytes=1200, depth=50, values=1000))
    good = b'{"a": "' + b"x" * 1191 + b'"}'
    assert len(good) == 1200
    long = "longer than 1,200 bytes"
    for text, problems in (
        (good + b"\n" + good, ["", ""]),
        (good + b" \n{}", [long, ""]),
        (good + b"  \n{}", [long, ""]),
    ):
        assert [problem for _, _, problem in rows_of(tmp_path / "a.jsonl", text)] == problems
    assert rows_of(tmp_path / "a.jsonl", b"x" * 1300) == [(1, None, long)]
    monkeypatch.setattr(files, "_CHUNK", 1000)
    assert rows_of(tmp_path / "a.json", b"[" + b"1" * 9000) == [(1, None, LOST)]
    assert rows_of(tmp_path / "a.json", b'[{"a": "' + b"x" * 1700 + b'"}, {}]')[1:] == [(2, {}, "")]
    parts = b'[{"a": "' + b"x" * 880 + b'"}, {"b": "' + b"y" * 300 + b'"}]'
    assert [problem for *_, problem in rows_of(tmp_path / "a.json", parts)] == ["", ""]
    (_, first, problem), *rest = rows_of(tmp_path / "a.csv", b"a\n" + b"x" * 1300 + b"\ny\n")
    assert (first, problem) == (None, "field larger than field limit (1200)")
    assert rest == [(2, {"a": "y"}, "")]


def test_lists_are_read_across_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    rows = [{"a": "x" * (k % 40), "b": [k, {"c": -k}]} for k in range(60)]
    for chunk in (1, 7, 64):
        monkeypatch.setattr(files, "_CHUNK", chunk)
        (tmp_path / "a.json").write_text(json.dumps(rows, indent=1))
        assert [(row.number, row.value) for row in read_rows(tmp_path / "a.json")] == list(enumerate(rows, 1))


def test_parquet_is_read_as_json(tmp_path: Path):
    import duckdb

    file = tmp_path / "a.bin"
    duckdb.sql(
        "COPY (SELECT k AS n, {'x': k, 'y': NULL} AS o, [k, NULL] AS l, DATE '2020-01-01' AS d, NULL AS e FROM"
        " range(5) t(k))"
        f" TO '{file}' (FORMAT parquet)"
    )
    assert list(read_rows(file)) == [
        FileRow(k + 1, {"n": k, "o": {"x": k}, "l": [k, None], "d": "2020-01-01", "e": None})
        for k in range(5)
    ]


def test_what_cannot_be_read_is_said(tmp_path: Path):
    broken = tmp_path / "a.parquet"
    broken.write_bytes(b"PAR1 broken")
    with pytest.raises(DataError, match=rf"^{broken}: cannot be read as Parquet \("):
        check_readable([broken])
    for path, problem in (
        (tmp_path, f"{tmp_path}: is a folder; name the files in it"),
        (tmp_path / "none", f"cannot read {tmp_path / 'none'}: No such file or directory"),
        (Path("/dev/null"), "/dev/null: is no regular file; write what it gives to a file first"),
    ):
        with pytest.raises(DataError) as refused:
            check_readable([path])
        assert str(refused.value) == problem
    check_regular_file(tmp_path)
    check_regular_file(tmp_path / "none")
    check_regular_file(broken)


@pytest.mark.parametrize(
    ("rows", "claim"),
    [
        ("SELECT repeat('x', 1000000) AS text FROM range(2000)", "bytes of text"),
        (
            "SELECT {'role': 'user', 'content': [repeat('x', 1000000)]} AS turn FROM range(2000)",
            "bytes of text",
        ),
        ("SELECT map {repeat('x', 1000000): 1} AS turn FROM range(2000)", "bytes of text"),
        ("SELECT NULL::VARCHAR AS text FROM range(20000000)", "values"),
    ],
    ids=["text", "inside", "map", "nothing"],
)
def test_a_small_parquet_file_that_claims_too_much_is_refused(tmp_path: Path, rows: str, claim: str):
    file = parquet_of(tmp_path, rows)
    assert file.stat().st_size < 20_000
    with pytest.raises(DataError, match=rf"^{file}: (?:claims [\d,]+ {claim} in |one part of it takes more)"):
        next(read_rows(file))


def test_long_rows_of_parquet_are_read_a_few_at_once_and_too_long_ones_left_out(tmp_path: Path):
    """Forty rows of four megabytes are more than is held at once, and one has more than a row may have."""
    long = "SELECT k, repeat(md5(k::VARCHAR), CASE k WHEN 7 THEN 600000 ELSE 125000 END) AS text FROM range(40) t(k)"
    rows = list(read_rows(parquet_of(tmp_path, long)))
    assert [row.number for row in rows] == list(range(1, 41))
    assert [row.number for row in rows if row.problem] == [8]
    assert [row.value["k"] for row in rows if not row.problem] == [*range(7), *range(8, 40)]


def parquet_of(folder: Path, query: str) -> Path:
    import duckdb

    file = folder / "rows.parquet"
    duckdb.sql(f"COPY ({query}) TO '{file}' (FORMAT parquet, COMPRESSION zstd)")
    return file
