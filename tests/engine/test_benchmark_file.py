"""What a Python file that defines a benchmark gives, and why another gives none, to the word."""

import hashlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.echo_benchmark import EchoBenchmark
from wildtool.engine import benchmark_file
from wildtool.engine.benchmark_file import benchmark_of_file, digest_of_file, file_of, may_run, remember_file
from wildtool.errors import UsageError

SUMS = """from wildtool.benchmark import Check, SingleTurn
from wildtool.types import Request

class Sums(SingleTurn):
    name, title = "sums", "sums"
    def load(self, source, **selection):
        return iter(())
    def request(self, item):
        return Request(())
    def check(self, item, reply, profile):
        return Check(True)
"""
OTHER = "class Other(Sums):\n    name = 'other'\n"


@pytest.fixture(autouse=True)
def own_state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setattr(benchmark_file, "_FILES", {})
    monkeypatch.setattr(benchmark_file, "BY_NAME", {})
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "user"))
    monkeypatch.delenv("WILDTOOL_BENCHMARK_FILES", raising=False)
    before = [*sys.path]
    yield
    sys.path[:] = before


def read(path: Path, text: str, problem: str | None = None) -> Any:
    path.write_text(text, encoding="utf-8")
    return benchmark_of_file(path, lambda benchmark: problem, {"taken"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "x = 1",
            ": defines no benchmark; expected a class that inherits from wildtool.benchmark.SingleTurn or Benchmark, or"
            " an object of one; `wildtool new benchmark NAME` writes one that works",
        ),
        (
            SUMS.replace("def check", "def other"),
            ": Sums lacks check; write what is missing",
        ),
        (
            SUMS.replace("def check", "def other").replace("def load", "def more"),
            ": Sums lacks check, load; write what is missing",
        ),
        (
            SUMS + "    def __init__(self, n): pass\n",
            ": Sums cannot be made without arguments (TypeError: Sums.__init__() missing 1 required positional argument:"
            " 'n'); add an object of it, such as BENCHMARK = Sums(…)",
        ),
        (
            SUMS + OTHER,
            ": defines 2 classes of benchmarks: Sums, Other; add an object of the one that is meant, such as BENCHMARK ="
            " Other()",
        ),
        (
            SUMS + OTHER + "A, B = Sums(), Other()\n",
            ": defines 2 benchmarks: Sums('sums'), Other('other'); keep one in a file",
        ),
        (
            SUMS + "x = 1\ndef f():\n    1 // 0\nf()\n",
            ":14: running it fails: ZeroDivisionError: integer division or modulo by zero; a benchmark file must run"
            " without errors and without arguments",
        ),
        (
            "x = 1\n\nraise SystemExit(2)\n",
            ":3: running it fails: SystemExit: 2; a benchmark file must run without errors and without arguments",
        ),
        (
            "x = 1\nx = = 2\n",
            ":2: running it fails: SyntaxError: invalid syntax (calc.py, line 2); a benchmark file must run without"
            " errors and without arguments",
        ),
        (
            "\0",
            ": running it fails: SyntaxError: source code string cannot contain null bytes; a benchmark file must run"
            " without errors and without arguments",
        ),
        (
            SUMS.replace('"sums", ', '"taken", '),
            ": its benchmark Sums is called 'taken', as a benchmark of wildtool is; choose another name",
        ),
        (
            SUMS.replace('"sums", ', '"Sums", '),
            ": its benchmark Sums is called 'Sums'; a name has lower-case letters, digits, - and _",
        ),
    ],
)
def test_why_a_file_gives_no_benchmark(tmp_path: Path, text: str, message: str):
    path = tmp_path / "calc.py"
    modules = {*sys.modules}
    with pytest.raises(UsageError) as raised:
        read(path, text)
    problem = str(raised.value).replace(str(tmp_path.resolve()) + "/", "")
    assert problem.replace("ValueError: source", "SyntaxError: source") == f"calc.py{message}"
    if "running it fails" in message:
        assert {*sys.modules} == modules
    assert (benchmark_file.BY_NAME, benchmark_file._FILES) == ({}, {})  # pyright: ignore[reportPrivateUsage]


def test_a_file_that_is_missing_and_a_benchmark_with_a_fault(tmp_path: Path):
    with pytest.raises(UsageError) as raised:
        benchmark_of_file(tmp_path, lambda benchmark: None)
    assert str(raised.value) == (
        f"{tmp_path}: there is no such file; give a Python file that defines a benchmark (`wildtool new benchmark NAME`"
        " writes one that works), or the name of a benchmark (wildtool list)"
    )
    with pytest.raises(UsageError) as raised:
        read(tmp_path / "calc.py", SUMS, "lacks a heart")
    assert str(raised.value) == f"{tmp_path}/calc.py: its benchmark Sums lacks a heart"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (SUMS, "Sums"),
        (SUMS + OTHER + "ONE = Other()\nSAME = ONE\n", "Other"),
        (SUMS + "class Half(SingleTurn):\n    pass\n", "Sums"),
        ("from engine.echo_benchmark import ECHO, EchoBenchmark\n", "EchoBenchmark"),
        ("from engine.echo_benchmark import ECHO\n" + SUMS + "MINE = Sums()\n", "Sums"),
    ],
)
def test_the_benchmark_that_a_file_means(tmp_path: Path, text: str, kind: str):
    assert type(read(tmp_path / "calc.py", text)).__name__ == kind


def test_a_file_is_run_once_until_it_changes(tmp_path: Path):
    path = tmp_path / "calc.py"
    first = read(path, SUMS)
    assert read(path, SUMS) is first
    other = read(tmp_path / "more.py", SUMS)
    assert other is not first
    assert {"sums": other} == benchmark_file.BY_NAME
    assert read(path, SUMS) is first
    assert {"sums": first} == benchmark_file.BY_NAME
    changed = read(path, SUMS + OTHER + "MEANT = Other()\n")
    assert {"sums": first, "other": changed} == benchmark_file.BY_NAME
    assert (file_of(changed), file_of(other), file_of(EchoBenchmark())) == (path, tmp_path / "more.py", None)
    assert sys.modules[type(changed).__module__].__file__ == str(path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert type(changed).__module__ == f"wildtool_benchmark_file_{digest[:16]}"
    assert sys.path.count(str(tmp_path)) == 1
    assert sys.path[-1] == str(tmp_path)


def test_a_file_may_run_once_it_was_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    listed = tmp_path / "user" / "wildtool" / "benchmark-files.txt"
    paths = [tmp_path / name for name in ("a.py", "b.py", "c.py")]
    assert not may_run(paths[0])
    for _ in range(2):
        remember_file(paths[0])
    remember_file(tmp_path / "x" / ".." / "b.py")
    assert listed.read_text() == f"{paths[0]}\n{paths[1]}\n"
    assert os.environ["WILDTOOL_BENCHMARK_FILES"] == f"{paths[0]}{os.pathsep}{paths[1]}"
    assert [may_run(path) for path in paths] == [True, True, False]
    monkeypatch.delenv("WILDTOOL_BENCHMARK_FILES")
    assert [may_run(path) for path in paths] == [True, True, False]
    listed.unlink()
    assert [may_run(path) for path in paths] == [False, False, False]
    monkeypatch.setenv("WILDTOOL_BENCHMARK_FILES", f"{paths[2]}")
    assert [may_run(path) for path in paths] == [False, False, True]
    listed.mkdir()
    remember_file(paths[0])
    assert [may_run(path) for path in paths] == [True, False, True]


def test_the_digest_of_a_file_that_is_there(tmp_path: Path):
    (tmp_path / "a.py").write_text("x")
    (tmp_path / "a.txt").write_text("x")
    (tmp_path / "link.py").symlink_to(tmp_path / "a.py")
    assert digest_of_file(str(tmp_path / "a.py")) == hashlib.sha256(b"x").hexdigest()
    for path in (None, str(tmp_path / "a.txt"), str(tmp_path / "link.py"), str(tmp_path / "none.py")):
        assert digest_of_file(path) is None
