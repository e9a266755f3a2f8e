"""Every verb, as the command line has it: run twice, interrupted in the middle of a query, stopped and killed.

The verbs come from the command line, what is typed of each from `verb_examples`; a verb without an example fails.
"""

import asyncio
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from shutil import copytree, rmtree
from typing import Any

import duckdb
import pytest

from e2e.command import LIMIT_S, Ended, start
from e2e.command import ended as end_of
from e2e.verb_examples import READ_OPTIONS, READING, SERVING, WRITING, build_world, type_, verbs
from kept_values import forget_kept
from long import WHOLE, a_fiftieth_of
from training.procedures.student import teaching
from wildtool.temporary import is_temporary

WRITTEN = [line for lines in WRITING.values() for line in lines]
EVERY = [*WRITTEN, *(line for lines in READING.values() for line in lines)]
VERBS = dict(verbs())
PER_LINE = a_fiftieth_of(50)
"""Queries of each example that are interrupted."""
READS = "wildtool.engine.score"
"""What opens the database, and keeps it and the numbers that it read."""
UNSTEADY = {"run.json", "lock", "job.json", "suite.json", "verdicts-made.parquet"}
"""Files that say when, by which process or how often they were written."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("world") / "here"
    place.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        _of_its_own(patch, place.parent)
        patch.chdir(place)
        build_world()
    yield place


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """An endpoint at which a model answers each request in the same words."""
    with teaching(lambda body: {"role": "assistant", "content": "no"}) as (option, _):
        yield option.split()[1]


@pytest.fixture
def folder(world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "here"
    copytree(world, place)
    _of_its_own(monkeypatch, tmp_path)
    monkeypatch.chdir(place)
    return place


def _of_its_own(patch: pytest.MonkeyPatch, place: Path) -> None:
    """Lets commands keep nothing outside of a folder."""
    (place / "tmp").mkdir()
    patch.setattr(tempfile, "tempdir", None)
    for name, inner in {"TMPDIR": "tmp", "XDG_CACHE_HOME": "cache", "XDG_DATA_HOME": "own"}.items():
        patch.setenv(name, str(place / inner))
    patch.setenv("WILDTOOL_DATA_DIR", str(place / "data"))


@pytest.fixture
def typed(url: str, folder: Path) -> Callable[[str], str]:
    def words(line: str) -> str:
        return line.replace("FOLDER", folder.as_uri()).replace("URL", url).replace("OUT", "out")

    return words


def temporary_files() -> list[str]:
    """The temporary folders that are left beside results."""
    return [str(path) for path in Path().rglob("*") if is_temporary(path.name)]


def steady(folder: Path) -> Mapping[str, bytes]:
    """The files of a folder, those that say who works now left out."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if is_steady(path.name) else b""
        for path in folder.rglob("*")
        if path.is_file() and "control" not in path.parts
    }


def is_steady(name: str) -> bool:
    return name not in UNSTEADY and ".sqlite" not in name


# The table ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_has_an_example(verb: str):
    tables = [table for table in (WRITING, READING, SERVING) if verb in table]
    assert len(tables) == 1, (
        f"`wildtool {verb}` must be in one table of tests/e2e/verb_examples.py: in WRITING or READING with what is"
        " typed, in SERVING with the place of its tests"
    )
    if verb in SERVING:
        return
    words = {word for line in {**WRITING, **READING}[verb] for word in line.split()}
    for param in VERBS[verb].params:
        is_option = any(name.startswith("--") for name in param.opts)
        names_a_place = re.search(r"FILE|FOLDER|PATH", getattr(param, "metavar", None) or "")
        if is_option and names_a_place and not READ_OPTIONS & {*param.opts}:
            assert words & {*param.opts} or verb in READING, (
                f"`wildtool {verb}` {param.opts[0]} names a file: add it to an example in tests/e2e/verb_examples.py"
                " if it is written, else to READ_OPTIONS"
            )
        if "--to" in param.opts and (choices := getattr(param.type, "choices", None)):
            assert {*choices} <= words, (
                f"an example is missing of: {verb} --to {', '.join({*choices} - words)}"
            )


def test_examples_are_of_verbs_that_are_there():
    assert {*WRITING, *READING, *SERVING} <= {*VERBS}


# Second runs --------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("line", WRITTEN)
def test_a_command_that_is_repeated_ends_as_before_and_writes_the_same(
    line: str, typed: Callable[[str], str], folder: Path
):
    ended = [(type_(typed(line)), steady(folder)) for _ in range(2)]
    (first, made), (second, again) = ended
    assert first.exit_code in (0, 1) and "internal error" not in first.stderr, first.output
    assert second.exit_code == first.exit_code, second.output
    assert made == again
    assert temporary_files() == []


# Interrupts ---------------------------------------------------------------------------------------------


class Querying:
    """An object of the database whose every use is a query; one of them is interrupted, as the database tells it."""

    def __init__(self, real: Any, query: Callable[[], None]) -> None:
        self._real, self._query = real, query

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._real, name)
        return self._counted(value) if callable(value) else value

    def __enter__(self) -> "Querying":
        return self

    def __exit__(self, *error: object) -> None:
        self._real.close()

    def __len__(self) -> int:
        return len(self._real)

    def _counted(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            self._query()
            real = [each._real if isinstance(each, Querying) else each for each in given]
            result = method(*real, **named)
            is_of_database = isinstance(result, duckdb.DuckDBPyConnection | duckdb.DuckDBPyRelation)
            return Querying(result, self._query) if is_of_database else result

        return call


def counting_queries(patch: pytest.MonkeyPatch, interrupted: int = 0) -> list[int]:
    """The queries from now on, of which one is interrupted."""
    queries: list[int] = []
    connect = duckdb.connect

    def query() -> None:
        queries.append(len(queries) + 1)
        if len(queries) == interrupted:
            raise RuntimeError("Query interrupted")

    forget_kept(READS)
    patch.setattr(duckdb, "connect", lambda *given, **named: Querying(connect(*given, **named), query))
    return queries


@pytest.mark.long
@pytest.mark.parametrize("line", EVERY)
def test_an_interrupt_in_the_middle_of_a_query_ends_with_130_and_the_same_command_continues(
    line: str, typed: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
):
    type_(typed(line))  # a second time some commands take over what the first one wrote, and ask less
    with monkeypatch.context() as patch:
        queries = counting_queries(patch)
        usual = type_(typed(line))
    forget_kept(READS)
    assert usual.exit_code in (0, 1), usual.output
    for which in sorted(random.Random(line).sample(queries, min(PER_LINE, len(queries)))):
        with monkeypatch.context() as patch:
            counting_queries(patch, interrupted=which)
            ended = type_(typed(line))
        forget_kept(READS)
        assert ended.exit_code == 130, (which, ended.output, ended.exception)
        assert "nterrupted" in ended.stderr
        assert not re.search("internal error|Traceback|Query", ended.stderr)
        assert temporary_files() == []
        assert type_(typed(line)).exit_code == usual.exit_code


# Processes ----------------------------------------------------------------------------------------------

COMMAND = """
import os, sys
process, count, at, sent = os.getpid(), 0, int(sys.argv.pop(1)), int(sys.argv.pop(1))
def heard(event, given):
    global count
    if event in ("open", "os.rename", "os.mkdir", "os.remove", "os.rmdir") and os.getpid() == process:
        count += 1
        if count == at:
            os.kill(process, sent)
from wildtool.__main__ import main
sys.addaudithook(heard)
sys.argv[0] = "wildtool"
try:
    main()
finally:
    if not at:
        os.write(1, f"\\n{count}".encode())
"""
"""The command, which sends itself a signal when it opens, moves, makes or removes its Nth file; without one it says how
many there were."""
SIGNALS = {"Ctrl-C": signal.SIGINT, "SIGTERM": signal.SIGTERM, "a kill": signal.SIGKILL}


def ended(folder: Path, line: str, at: int = 0, sent: int = 0) -> Ended:
    """How the command ended: by `make long` in a Python of its own, which also imports, elsewhere in a fork."""
    words = [str(at), str(sent), *line.split()]
    if not WHOLE:
        program = folder.parent / "stopping.py"
        program.write_text(COMMAND)
        own = {name: value for name, value in os.environ.items() if name.startswith("WILDTOOL_")}
        return asyncio.run(of_fork(program, words, folder, own))
    done = subprocess.run(
        [sys.executable, "-P", "-c", COMMAND, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


async def of_fork(program: Path, words: list[str], folder: Path, variables: Mapping[str, str]) -> Ended:
    return await end_of(await start(*words, cwd=folder, program=program, **variables))


def left_in(folder: Path) -> list[str]:
    """The temporary files beside results, and all in the system's folder of the test."""
    beside = [str(path) for path in folder.rglob("*") if is_temporary(path.name)]
    return beside + [str(path) for path in (folder.parent / "tmp").iterdir()]


@pytest.mark.long
@pytest.mark.parametrize("sent", SIGNALS.values(), ids=SIGNALS)
@pytest.mark.parametrize("line", EVERY)
def test_a_command_that_is_stopped_leaves_no_temporary_file_and_continues(
    line: str, sent: signal.Signals, typed: Callable[[str], str], folder: Path, world: Path
):
    whole = ended(folder, typed(line))
    files = int(whole.out.rpartition("\n")[2])
    assert whole.status in (0, 1), whole
    rmtree(folder)
    copytree(world, folder)
    at = random.Random(f"{line} {sent}").randrange(1, files)
    stopped = ended(folder, typed(line), at, sent)
    if sent == signal.SIGKILL:
        assert stopped.status == -sent
    elif stopped.status == 130:
        assert "nterrupted" in stopped.err, (at, files, stopped)
    else:  # all was done: once the status is decided, a stop comes too late
        assert (stopped.status, stopped.out) == (whole.status, whole.out.rpartition("\n")[0]), (
            at,
            files,
            stopped,
        )
    if sent != signal.SIGKILL:
        assert not re.search("internal error|Traceback|ignored", stopped.err), (at, files, stopped)
        assert left_in(folder) == [], (at, files)
    again = ended(folder, typed(line))
    assert again.status == whole.status, (at, files, again)
    assert left_in(folder) == [], (at, files)
