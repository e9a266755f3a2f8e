"""Rows of files of every form, and what cannot be read."""

import json
from pathlib import Path

import pytest

from wildtool.errors import DataError
from wildtool.training.files import FileRow, read_rows


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


@pytest.mark.long
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


@pytest.mark.long
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


@pytest.mark.parametrize("separator", ["\n", "\r\n"])
def test_objects_over_several_lines_are_rows(tmp_path: Path, separator: str):
    objects = [{"messages": [{"role": "user", "content": "Hi\n{"}]}, {"a": {}}]
    text = "\n".join(json.dumps(each, indent=2) for each in objects)
    file = tmp_path / "indented.json"
    file.write_bytes(text.replace("\n", separator).encode())
    assert [(row.number, row.value) for row in read_rows(file)] == list(enumerate(objects, 1))
    file.write_text(text[:-4], "utf-8")
    assert [row.value for row in read_rows(file)] == [objects[0], None]


def test_a_broken_line_of_json_lines_hides_no_other(tmp_path: Path):
    file = tmp_path / "rows.jsonl"
    file.write_text('{"a": 1\n{"b": 2}\n', "utf-8")
    assert [row.value for row in read_rows(file)] == [None, {"b": 2}]
