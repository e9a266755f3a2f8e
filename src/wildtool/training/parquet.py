"""Reads rows of Parquet files in bounded memory, whatever a file of a few bytes claims to hold, and writes them.

A Parquet file says each repeated value once, so two kilobytes can hold gigabytes of text. How long its rows are is
counted before any is read: that takes no memory, since the texts are not copied.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from wildtool.errors import DataError
from wildtool.interrupts import uninterrupted
from wildtool.outputs import disk_full_error
from wildtool.training.texts import TEXT_LIMITS

_BATCH = 512
"""Rows that are fetched at once where they are short."""
_BLOCK = 2048
"""Rows that the library has in memory at once."""
MAX_BLOCK_BYTES = 256 << 20
"""Bytes of so many rows; where they are longer, fewer are read at once."""
MAX_WINDOW_BYTES = 64 << 20
MAX_EXPANSION = 1_000
"""Bytes of text, or values, for each byte of a file that has more than `MAX_BLOCK_BYTES` or `MAX_VALUES` of them."""
MAX_VALUES = 10_000_000
_OTHER_BYTES = 16
"""Of a value that is no text, and of what holds others."""
_MEMORY = "512MB"
_LONGEST_LINE = 4 * TEXT_LIMITS.bytes
"""Bytes of a line that is written: a row within the limits, with tools as texts and escapes."""

ParquetRow = tuple[int, dict[str, Any] | str]
"""The number of a row from 1, and its values by column, or why it is not read."""


def parquet_rows(path: Path) -> Iterator[ParquetRow]:
    """The rows of a file in order. Raises DataError where it cannot be read, or claims more than its size can mean."""
    with uninterrupted():
        import duckdb

    try:
        with duckdb.connect(config={"threads": 1, "memory_limit": _MEMORY}) as connection:
            connection.execute("SET enable_progress_bar = false")
            connection.execute("SET TimeZone = 'UTC'")
            yield from _rows(connection, path)
    except duckdb.OutOfMemoryException as error:
        raise DataError(
            f"{path}: one part of it takes more than {_MEMORY} unpacked; write it in smaller row groups, or as JSON lines"
        ) from error
    except duckdb.Error as error:
        raise DataError(f"{path}: cannot be read as Parquet ({str(error).splitlines()[0][:200]})") from error


def lines_to_parquet(path: Path, columns: Mapping[str, str]) -> None:
    """Turns a file of JSON lines into a Parquet file with its rows in their order. Holds 2,048 rows at once, as the least
    that the library writes together, in several times their bytes.

    Args:
        columns: with their types, so that none is guessed: a text that looks like a date stays one.

    Raises StorageError if the disk is full, and DataError if the rows take too much memory.
    """
    with uninterrupted():
        import duckdb

    # Names of their own, since the database reads the one and writes the other.
    lines, table = path.with_name("wildtool.lines.part"), path.with_name("wildtool.parquet.part")
    path.replace(lines)
    types = ", ".join(f"{_text(name)}: {_text(type_)}" for name, type_ in columns.items())
    query = (
        f"COPY (SELECT * FROM read_json({_text(str(lines))}, format = 'newline_delimited', compression = 'uncompressed', "
        f"maximum_object_size = {_LONGEST_LINE}, columns = {{{types}}})) "
        f"TO {_text(str(table))} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 2048)"
    )
    try:
        with duckdb.connect(config={"threads": 1}) as connection:
            connection.execute("SET enable_progress_bar = false")
            connection.execute(query)
    except duckdb.IOException as error:
        raise disk_full_error(path, str(error).partition(": {")[0].strip()) from error
    except duckdb.Error as error:
        raise DataError(
            f"{path}: cannot be written as Parquet ({str(error).splitlines()[0][:200]})"
        ) from error
    table.replace(path)
    lines.unlink()


def _rows(connection: Any, path: Path) -> Iterator[ParquetRow]:
    _check_values(connection, path)
    blocks = _block_sizes(connection, path)
    total, most = sum(size for _, size in blocks), MAX_EXPANSION * path.stat().st_size
    if total > max(most, MAX_BLOCK_BYTES):
        raise _bomb(path, f"{total:,} bytes of text")
    # What the library has in memory may begin within a block.
    if all(size <= MAX_BLOCK_BYTES // 2 for _, size in blocks):
        yield from _fetched(connection, path, "", [])
        return
    for first, size in blocks:
        if size <= MAX_WINDOW_BYTES:
            yield from _window(connection, path, first, first + _BLOCK)
        else:
            yield from _long_rows(connection, path, first)


def _check_values(connection: Any, path: Path) -> None:
    """Raises DataError where the file's own account of itself names more values than so many bytes can mean."""
    counted = connection.execute("SELECT sum(num_values) FROM parquet_metadata(?)", [str(path)]).fetchone()
    values = int(counted[0] or 0)
    if values > max(MAX_VALUES, MAX_EXPANSION * path.stat().st_size):
        raise _bomb(path, f"{values:,} values")


def _bomb(path: Path, claim: str) -> DataError:
    return DataError(
        f"{path}: claims {claim} in {path.stat().st_size:,} bytes, more than is read; if that is meant, write the rows "
        "as JSON lines"
    )


def _block_sizes(connection: Any, path: Path) -> list[tuple[int, int]]:
    """The number of the first row of each block, from 0, and the bytes of text in it."""
    return [
        (int(block) * _BLOCK, int(size))
        for block, size in connection.execute(
            f"SELECT file_row_number // {_BLOCK} AS block, sum({_size_of_row(connection, path)}) FROM {_FILE} "
            "GROUP BY block ORDER BY block",
            [str(path)],
        ).fetchall()
    ]


def _long_rows(connection: Any, path: Path, first: int) -> Iterator[ParquetRow]:
    """The rows of a block in windows of so many as fit, without those that are too long."""
    sizes = connection.execute(
        f"SELECT file_row_number, {_size_of_row(connection, path)} FROM {_FILE} WHERE {_WINDOW} ORDER BY 1",
        [str(path), first, first + _BLOCK],
    ).fetchall()
    begin, size = first, 0
    for row, bytes_ in sizes:
        if bytes_ > TEXT_LIMITS.bytes or size + bytes_ > MAX_WINDOW_BYTES:
            yield from _window(connection, path, begin, row)
            begin, size = row, 0
        if bytes_ > TEXT_LIMITS.bytes:
            yield row + 1, f"longer than {TEXT_LIMITS.bytes:,} bytes"
            begin = row + 1
        else:
            size += bytes_
    yield from _window(connection, path, begin, first + len(sizes))


_FILE = "read_parquet(?, file_row_number = true)"
_WINDOW = "file_row_number >= ? AND file_row_number < ?"


def _window(connection: Any, path: Path, first: int, end: int) -> Iterator[ParquetRow]:
    if first < end:
        yield from _fetched(connection, path, f"WHERE {_WINDOW} ORDER BY file_row_number", [first, end])


def _fetched(connection: Any, path: Path, which: str, bounds: list[int]) -> Iterator[ParquetRow]:
    cursor = connection.execute(
        f"SELECT file_row_number, * EXCLUDE (file_row_number){_zoned_as_texts(connection, path)} FROM {_FILE} {which}",
        [str(path), *bounds],
    )
    names = [column[0] for column in cursor.description or ()][1:]
    while batch := cast(list[tuple[Any, ...]], cursor.fetchmany(_BATCH)):
        for number, *values in batch:
            yield number + 1, {name: _plain(value) for name, value in zip(names, values, strict=True)}


def _columns(connection: Any, path: Path) -> Sequence[tuple[str, Any]]:
    """Name and type of each column."""
    cursor = connection.execute("SELECT * FROM read_parquet(?) LIMIT 0", [str(path)])
    return [(column[0], column[1]) for column in cursor.description or ()]


def _size_of_row(connection: Any, path: Path) -> str:
    """An expression that gives the bytes of a row, without a copy of its texts."""
    sizes = [_size(_quoted(name), type_, 0) for name, type_ in _columns(connection, path)]
    return " + ".join(sizes) or "0"


def _size(value: str, type_: Any, depth: int) -> str:
    """An expression that gives the bytes of a value of a type of DuckDB."""
    match type_.id:
        case "varchar":
            return f"(coalesce(strlen({value}), 0) + {_OTHER_BYTES})"
        case "blob":
            return f"(coalesce(octet_length({value}), 0) + {_OTHER_BYTES})"
        case "struct":
            parts = [
                _size(f"struct_extract({value}, {_text(name)})", child, depth)
                for name, child in type_.children
            ]
            return f"({' + '.join(parts)} + {_OTHER_BYTES})"
        case "list" | "array":
            return _size_of_list(value, type_.children[0][1], depth)
        case "map":
            keys, values = (child for _, child in type_.children)
            return (
                f"({_size_of_list(f'map_keys({value})', keys, depth)}"
                f" + {_size_of_list(f'map_values({value})', values, depth)})"
            )
        case _:
            return str(_OTHER_BYTES)


def _size_of_list(value: str, inner: Any, depth: int) -> str:
    import duckdb

    each = f"element_{depth}"
    # The arrow is the older spelling, which newer versions refuse.
    begins = f"{each} ->" if duckdb.__version__.startswith(("1.2.", "1.1.")) else f"lambda {each}:"
    sizes = f"list_transform({value}, {begins} {_size(each, inner, depth + 1)})"
    return f"(coalesce(list_sum({sizes}), 0) + {_OTHER_BYTES})"


def _quoted(name: str) -> str:
    return '"{}"'.format(name.replace('"', '""'))


def _text(name: str) -> str:
    return "'{}'".format(name.replace("'", "''"))


def _zoned_as_texts(connection: Any, path: Path) -> str:
    """The part of a query that turns times with a zone into texts: as values they need another library."""
    names = [
        _quoted(name) for name, type_ in _columns(connection, path) if str(type_).endswith("WITH TIME ZONE")
    ]
    casts = ", ".join(f"CAST({name} AS VARCHAR) AS {name}" for name in names)
    return f" REPLACE ({casts})" if casts else ""


def _plain(value: Any) -> Any:
    """A value of a Parquet column as JSON. Objects lose keys with null: a column has the keys of all rows in each."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, dict):
        inside = cast(dict[Any, Any], value)
        return {str(key): _plain(part) for key, part in inside.items() if part is not None}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in cast(list[Any], value)]
    return str(value)
