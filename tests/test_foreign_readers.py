"""Every option and argument of every verb that takes a file meets hostile files: each ends in a named error or a result.

What is tried is made from the declared commands, so a verb or an option that comes later is in it by itself.
"""

import gzip
import io
import json
import re
import resource
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

import wildtool
from source_files import source_files, source_name
from wildtool.cli import app

SESSION = (Path(wildtool.__file__).parent / "data" / "wild_mini.jsonl").read_text("utf-8").partition("\n")[0]
ZEROS = 300 << 20
"""More than is read of one file."""
MOST_MEMORY_KB = 2 << 20
SERVES = frozenset(
    [("view",), ("review", "start"), ("review", "regenerate"), ("data", "pull"), ("worker", "start")]
)
"""Verbs that answer until they are stopped, or fetch from the network, whatever they are given."""


ARGUMENTS = {("run",): "wild-mini", ("worker", "slurm"): "wild-mini", ("worker", "kubernetes"): "wild-mini"}
"""Of verbs whose argument is the name of a benchmark."""
BESIDE = {
    ("run",): ["-m", "baseline/gold", "--limit", "1", "--quiet"],
    ("score",): ["--data", "wild-mini"],
    ("generate", "wildtoolbench"): ["--procedural", "--count", "1"],
    ("data", "mix"): ["--out", "mixed"],
    ("data", "recipe"): ["--model", "Qwen/Qwen3-8B", "--out", "recipe"],
    ("data", "refresh"): ["--out", "fresh.jsonl"],
    ("review", "import"): ["--out", "drafts"],
}
"""Words with which a verb comes as far as to read the file."""


@cache
def _gzip_bomb() -> bytes:
    return gzip.compress(bytes(ZEROS), 1)


@cache
def _zip_bomb() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("samples/1.json", bytes(ZEROS))
        archive.writestr("run.json", bytes(ZEROS))
    return packed.getvalue()


@cache
def _zstd_bomb() -> bytes:
    if find_spec("zstandard") is None:
        pytest.skip("needs zstandard")
    import zstandard

    return zstandard.compress(bytes(ZEROS))


@cache
def _parquet_bomb() -> bytes:
    import duckdb

    file = Path("bomb.parquet")
    duckdb.sql(
        f"COPY (SELECT repeat('x', 1000000) AS messages FROM range(3000)) TO '{file}' (FORMAT parquet, COMPRESSION zstd)"
    )
    data = file.read_bytes()
    file.unlink()
    return data


def _yaml_aliases() -> bytes:
    levels = [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9)}]" for k in range(1, 12)]
    return "\n".join(["a0: &a0 [x, x, x, x, x, x, x, x, x]", *levels, ""]).encode()


def _enum() -> bytes:
    colour = {"type": "string", "description": "the colour", "enum": [f"v{k}" for k in range(40_000)]}
    parameters = {"type": "object", "properties": {"colour": colour}, "required": ["colour"]}
    tool = {"name": "pick", "description": "Picks one of many colours", "parameters": parameters}
    session = json.loads(SESSION)
    tools = [*session["english_tools"], {"type": "function", "function": tool}]
    return json.dumps({**session, "english_tools": tools, "tools": tools}).encode() + b"\n"


def _surrogate() -> bytes:
    return (
        json.dumps({**json.loads(SESSION), "id": "odd\ud800", "item": "\ud800", "model": "\udfff"}).encode()
        + b"\n"
    )


HOSTILE: Mapping[str, tuple[str, Callable[[], bytes]]] = {
    "gzip bomb": ("a.jsonl.gz", _gzip_bomb),
    "zip bomb": ("a.zip", _zip_bomb),
    "zstd bomb": ("a.jsonl.zst", _zstd_bomb),
    "Parquet bomb": ("a.parquet", _parquet_bomb),
    "YAML of aliases": ("a.yaml", _yaml_aliases),
    "deep JSON": ("a.json", lambda: b"[" * 100_000),
    "deep objects": ("a.jsonl", lambda: b'{"a":' * 100_000 + b"1" + b"}" * 100_000),
    "long number": ("a.json", lambda: b'{"id": ' + b"9" * 100_000 + b"}"),
    "deep TOML": ("a.toml", lambda: b"a = " + b"[" * 10_000),
    "long number of TOML": ("a.toml", lambda: b"a = " + b"9" * 10_000),
    "lone surrogate": ("a.jsonl", _surrogate),
    "enum of 40,000": ("a.jsonl", _enum),
    "UTF-16": ("a.jsonl", lambda: SESSION.encode("utf-16")),
    "no text": ("a.json", lambda: bytes(range(256)) * 10),
    "empty": ("a.jsonl", bytes),
    "only blanks": ("a.json", lambda: b" \n\n"),
    "a list of lists": ("a.json", lambda: b"[[[]], 5, null, {}]"),
    "no members": ("a.json", lambda: b"{}"),
    "null": ("a.jsonl", lambda: b"null\n5\n[]\n"),
}


def verbs(command: Any, name: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command below one, with its words."""
    below = getattr(command, "commands", None)
    if below is None:
        yield name, command
        return
    # Only what is taken from the mapping has its parameters: the overview shows commands that are not loaded yet.
    for each in below:
        yield from verbs(below[each], (*name, each))


VERBS = dict(verbs(typer.main.get_command(app)))


def takes_file(parameter: Any) -> bool:
    """Whether it names a file or a folder."""
    return parameter.type.name in ("path", "file") or "FILE" in (parameter.metavar or "")


def doors() -> list[tuple[tuple[str, ...], str]]:
    """Each verb with each of its parameters that takes a file."""
    return [
        (words, parameter.name)
        for words, command in VERBS.items()
        if words not in SERVES
        for parameter in command.params
        if takes_file(parameter)
    ]


def words_of(words: tuple[str, ...], name: str, file: str) -> list[str]:
    """A command in which one parameter is a file, as is every other argument that must be there."""
    given: list[str] = []
    for parameter in VERBS[words].params:
        if parameter.param_type_name == "argument":
            wanted = parameter.required or parameter.name == name or words in ARGUMENTS
            given += [ARGUMENTS.get(words, file)] if wanted else []
        elif parameter.name == name:
            given += [parameter.opts[0], file]
        elif parameter.required:
            given += [parameter.opts[0], file if takes_file(parameter) else "x"]
    beside = BESIDE.get(words, [])
    return [*words, *given, *(beside if not set(beside) & set(given) else beside[2:])]


DOORS = doors()


def test_there_are_doors() -> None:
    assert len(DOORS) > 50


@pytest.mark.long
@pytest.mark.parametrize("kind", [*HOSTILE, "folder", "none"])
@pytest.mark.parametrize("door", DOORS, ids=[" ".join((*words, name)) for words, name in DOORS])
def test_a_hostile_file_ends_in_a_named_error_or_a_result(
    door: tuple[tuple[str, ...], str], kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words, name = door
    file = "folder"
    if kind in HOSTILE:
        file, content = HOSTILE[kind]
        Path(file).write_bytes(content())
    elif kind == "folder":
        Path(file).mkdir()
    else:
        file = "none.jsonl"
    before = _memory_kb()
    ended = _typed(words_of(words, name, file))
    assert ended.exit_code in (0, 1, 2, 3, 4), (ended.exit_code, ended.output)
    assert "internal error" not in ended.output, ended.output
    assert "Traceback" not in ended.output, ended.output
    assert _memory_kb() < before + MOST_MEMORY_KB


UNPACKS = re.compile(
    r"\bgzip\.(?:open|GzipFile)\(|\bZipFile\(|\bimport_module\(\"(?:zstandard|yaml)\"|\btomllib\.loads?\(|\bparquet_metadata\("
    r"|\btarfile\b|\bbz2\b|\blzma\b"
)
OPENED_IN = frozenset(
    [
        "benchmarks/bfcl/originals.py",  # a pinned package, checked by its digest
        "benchmarks/bfcl/source.py",  # likewise
        "benchmarks/ledger/records.py",  # part of the package
        "agents/templates.py",  # part of the package
        "check/defects.py",  # part of the package
        "data/files.py",
        "engine/record/bundle.py",  # within MAX_BUNDLE_BYTES
        "engine/score/verdict_table.py",  # its size is asked before it is read
        "engine/record/format.py",  # line by line
        "export/bundle.py",  # written
        "outputs.py",  # a small member of an archive
        "wildtool_data/make/procedural/parts.py",  # wildtool's own
        "tools/sources/tool_files.py",  # each alias counted as what it stands for
        "training/files.py",  # row by row
        "training/parquet.py",
        "wildtool_data/conversations/reading.py",  # members within LINE_LIMITS
    ]
)
"""Where files are opened that can hold more than their size: each has a limit. A new place needs one, and a line here."""


def test_what_can_unpack_to_more_than_its_size_is_opened_in_these_modules() -> None:
    found = {
        source_name(path)
        for path in source_files()
        if "vendor" not in path.parts and UNPACKS.search(path.read_text(encoding="utf-8"))
    }
    assert found == OPENED_IN


def _typed(words: list[str]) -> Any:
    return CliRunner().invoke(app, words, prog_name="wildtool")


def _memory_kb() -> int:
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most // 1024 if sys.platform == "darwin" else most
