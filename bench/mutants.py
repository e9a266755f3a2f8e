"""Plants one-line faults in modules that changed, runs the tests that execute these lines, and names what lives.

python bench/mutants.py                             # 200 faults anywhere; half an hour on two cores, map and all
python bench/mutants.py --since COMMIT --seed 7     # in modules that changed since then
python bench/mutants.py --count 20 src/wildtool/stats --out live.jsonl
python bench/mutants.py --again live.jsonl --tests tests/stats/test_tables.py   # whether new tests see them: no map

It works on copies of the last commit, so uncommitted changes are not part of it. First the tests are run once under
coverage, to know which tests execute which line; that map is kept in build/mutants for the next run of the same commit. A
fault that no test executes lives. Some faults change nothing that anyone could see: read the survivors before a test is
written for them. Needs `pip install coverage`.
"""

import argparse
import ast
import json
import os
import queue
import random
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

A = TypeVar("A")
R = TypeVar("R")
ROOT = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("WILDTOOL_MUTANTS", ROOT / "build" / "mutants"))
PLUGINS = ROOT / "bench" / "plugins"
COPIES = 2
"""Faults that are tried at once, each in its own copy."""
ROUNDS = ((6, 3.0), (40, 30.0), (10**6, float("inf")))
"""Tests of each file and seconds that one process runs; the next round is only for faults that live."""
NO_TESTS = 5
"""Exit status of pytest where none of the tests is left."""
SETTINGS = """[run]
source_pkgs = wildtool
parallel = true
patch = fork, _exit
context = ${TEST_ID-}
relative_files = true
"""
SWAPS: dict[type[ast.AST], Callable[[], Any]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Break: ast.Continue,
    ast.Continue: ast.Break,
}
COMMUTATIVE = frozenset(["max", "min", "math.gcd", "math.isclose", "suppress"])
CHECKED = "strict"
"""Argument of `zip` that asks for equal lengths once more: no input shows whether it is there."""


@dataclass(frozen=True, slots=True)
class Fault:
    path: str
    """Relative to the project's root."""
    line: int
    statement: int
    """Line on which the statement begins that the fault is in."""
    kind: str
    start: int
    """Offsets in the file, in bytes."""
    end: int
    text: str
    """What replaces the bytes between them."""

    def planted(self, source: bytes) -> bytes:
        return source[: self.start] + self.text.encode() + source[self.end :]


def faults_of(path: str, source: bytes) -> Iterator[Fault]:
    """Every fault that can be planted on one line of a module: in statements and expressions, not in texts or types."""
    starts = [0]
    for line in source.split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    for node, statement in _code(ast.parse(source), 1):
        for kind, replaced, text in _changes(node):
            if replaced.lineno == replaced.end_lineno and replaced.end_col_offset is not None:
                start = starts[replaced.lineno - 1]
                columns = replaced.col_offset, replaced.end_col_offset
                yield Fault(
                    path, replaced.lineno, statement, kind, start + columns[0], start + columns[1], text
                )


def compiles(source: bytes) -> bool:
    try:
        compile(source, "", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def _code(node: ast.AST, statement: int) -> Iterator[tuple[ast.AST, int]]:
    """The nodes below one, without those of formatted texts, whose places Python 3.11 does not know, and of types.

    With the line on which the statement begins.
    """
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list") or isinstance(node, ast.JoinedStr):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _is_unseen(node, child):
                begins = child.lineno if isinstance(child, ast.stmt) else statement
                yield child, begins
                yield from _code(child, begins)


def _is_unseen(node: ast.AST, child: ast.AST) -> bool:
    """Whether no input shows a change of a part: it asks for equal lengths once more, or is of a type."""
    match node, child:
        case _, ast.keyword(arg=name):
            return name == CHECKED
        case ast.Subscript(), ast.List():
            return True  # the parameters of a callable
        case _, ast.Call(func=ast.Name(id="TypeVar")):
            return True
        case _:
            return False


def _changes(node: ast.AST) -> Iterator[tuple[str, ast.expr | ast.stmt, str]]:
    """The faults that one node allows: kind, the node whose text is replaced, the new text."""
    match node:
        case ast.Compare(ops=[operator]) if type(operator) in SWAPS:
            other = ast.Compare(node.left, [SWAPS[type(operator)]()], node.comparators)
            yield "comparison", node, f"({ast.unparse(other)})"
        case ast.BoolOp(op=operator):
            yield "and/or", node, f"({ast.unparse(ast.BoolOp(SWAPS[type(operator)](), node.values))})"
            yield "condition lost", node, f"({ast.unparse(node.values[0])})"
        case ast.BinOp(op=operator) if type(operator) in SWAPS:
            yield (
                "operator",
                node,
                f"({ast.unparse(ast.BinOp(node.left, SWAPS[type(operator)](), node.right))})",
            )
        case ast.UnaryOp(op=ast.Not()):
            yield "not lost", node, f"({ast.unparse(node.operand)})"
        case ast.IfExp():
            yield "branches exchanged", node, f"({ast.unparse(ast.IfExp(node.test, node.orelse, node.body))})"
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            pass
        case ast.If() | ast.While() if not isinstance(node.test, ast.Compare | ast.BoolOp | ast.UnaryOp):
            yield "condition turned", node.test, f"not ({ast.unparse(node.test)})"
        case ast.Constant(value=bool(value)):
            yield "boolean", node, str(not value)
        case ast.Constant(value=int(value)):
            yield "number", node, str(value + 1)
        case ast.Return(value=ast.Constant(value=None | False)):
            pass  # `False` is turned already, and as a truth value `None` is the same
        case ast.Return(value=ast.expr()):
            yield "result lost", node, "return None"
        case ast.Expr(value=ast.Call() | ast.Await()):
            yield "call lost", node, "pass"
        case ast.Break() | ast.Continue():
            yield "jump", node, "continue" if isinstance(node, ast.Break) else "break"
        case ast.Call(args=[first, second, *_]) if not isinstance(second, ast.Starred | ast.GeneratorExp):
            same = ast.dump(first) == ast.dump(second) or ast.unparse(node.func) in COMMUTATIVE
            if not same and not isinstance(first, ast.Starred):
                other = ast.Call(node.func, [second, first, *node.args[2:]], node.keywords)
                yield "arguments exchanged", node, ast.unparse(other)
        case ast.Call(keywords=[ast.keyword(arg=str(name)), *_]) if name != CHECKED:
            yield "argument lost", node, ast.unparse(ast.Call(node.func, node.args, node.keywords[1:]))
        case ast.List(elts=[first, second, *rest], ctx=ast.Load()):
            yield "elements exchanged", node, ast.unparse(ast.List([second, first, *rest], ast.Load()))
        case ast.Dict(keys=[_, _, *_]) if node.keys[0] is not None:
            yield "entry lost", node, ast.unparse(ast.Dict(node.keys[1:], node.values[1:]))
        case _:
            pass


class Checkout:
    """A copy of the last commit, in which tests run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if not (folder / "src").exists():
            _git("worktree", "add", "--detach", "--force", str(folder), "HEAD")
        _git("checkout", "--quiet", "--force", "--detach", _commit(), folder=folder)
        oracle = os.environ.get("WILDTOOL_ORACLE", str(ROOT.parent / "shared" / "oracle"))
        self.environment = {**os.environ, "PYTHONPATH": str(folder / "src"), "WILDTOOL_ORACLE": oracle}
        self.server: subprocess.Popen[str] | None = None

    def run(self, words: Sequence[str], *, limit: float, **environment: str) -> int | None:
        """Exit status of a Python command in this copy; None if it took longer than `limit` seconds."""
        started = self._start(words, subprocess.DEVNULL, **environment)
        try:
            return started.wait(limit)
        except subprocess.TimeoutExpired:
            return None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(started.pid, 9)
            started.wait()

    def fails(self, tests: Mapping[str, Sequence[str]], *, limit: float) -> bool | str:
        """Whether tests by file (none named: the whole file) fail or take too long; the first that failed, by its id."""
        if self.server is None:
            # What a fault made Python compile is not kept: two faults can have one size and time.
            words = [str(PLUGINS / "tries.py"), str(self.folder.with_suffix(".tmp"))]
            self.server = self._start(words, subprocess.PIPE, PYTHONDONTWRITEBYTECODE="1")
        assert self.server.stdin is not None
        assert self.server.stdout is not None
        self.server.stdin.write(json.dumps({"tests": tests, "limit": limit}) + "\n")
        self.server.stdin.flush()
        status, failed = json.loads(self.server.stdout.readline())
        return failed or status not in (0, NO_TESTS)

    def source(self, fault: Fault) -> bytes:
        return (self.folder / fault.path).read_bytes()

    def compiled_like(self, other: "Checkout") -> None:
        """What Python made of the other copy's files, so that no try compiles them: it keeps nothing itself."""
        for folder in other.folder.rglob("__pycache__"):
            for file in (*folder.parent.glob("*.py"), *folder.iterdir()):
                twin = self.folder / file.relative_to(other.folder)
                twin.parent.mkdir(exist_ok=True)
                shutil.copy2(file, twin)

    def _start(self, words: Sequence[str], streams: int, **environment: str) -> subprocess.Popen[str]:
        with (BUILD / "errors.log").open("a") as errors:
            return subprocess.Popen(
                [sys.executable, *words],
                cwd=self.folder,
                env={**self.environment, **environment},
                stdin=streams,
                stdout=streams,
                stderr=errors,
                start_new_session=True,
                text=True,
            )


class Executions:
    """Which tests execute each line, in all their processes, and how long each takes: from a run under coverage."""

    def __init__(self, copy: Checkout) -> None:
        data, seconds = BUILD / f"coverage-{_commit()[:12]}.db", BUILD / f"seconds-{_commit()[:12]}.jsonl"
        if not data.exists():
            settings, parts = BUILD / "coveragerc", BUILD / "coverage"
            settings.write_text(SETTINGS)
            # What a run that was broken off has left would be counted.
            shutil.rmtree(parts, ignore_errors=True)
            seconds.unlink(missing_ok=True)
            parts.mkdir()
            environment = {
                "COVERAGE_FILE": str(parts / "data"),
                "COVERAGE_PROCESS_START": str(settings),
                "TEST_ID": "",
            }
            environment |= {"PYTHONPATH": f"{copy.folder / 'src'}:{PLUGINS}", "TEST_SECONDS": str(seconds)}
            print("tests under coverage, for a quarter of an hour", file=sys.stderr, flush=True)
            words = ["-n", "3", "--dist", "worksteal", "-p", "no:cacheprovider", "-p", "contexts"]
            copy.run(["-m", "pytest", *words], limit=7200, **environment)
            environment["COVERAGE_RCFILE"] = environment.pop("COVERAGE_PROCESS_START")
            copy.run(["-m", "coverage", "combine", "--quiet"], limit=3600, **environment)
            (parts / "data").rename(data)
        self.seconds: dict[str, float] = dict(json.loads(line) for line in seconds.read_text().splitlines())
        """By test; those that failed in the sound copy are not among them."""
        self._of_file: dict[str, list[str]] = defaultdict(list)
        for name in self.seconds:
            self._of_file[name.partition("::")[0]].append(name)
        self._data = sqlite3.connect(data, check_same_thread=False)
        self._lock = threading.Lock()
        self._files = {name: number for number, name in self._data.execute("SELECT id, path FROM file")}
        self._tests = dict(self._data.execute("SELECT id, context FROM context"))

    def of(self, fault: "Fault") -> list[str]:
        """The tests that execute a fault's line; of what is executed when a module is loaded, all that use the module.

        A file of tests (a fixture of several) stands for all that are in it. Those that execute the line themselves come
        first, then quick ones.
        """
        with self._lock:
            rows = self._data.execute(
                "SELECT context_id, numbits FROM line_bits WHERE file_id = ?",
                [self._files.get(fault.path, -1)],
            ).fetchall()
        for line in (fault.line, fault.statement):
            executing = {self._tests[test] for test, bits in rows if _holds(bits, line)}
            if "" in executing:
                executing |= {self._tests[test] for test, _ in rows}
            if executing:
                names = {test for name in executing for test in self._of_file.get(name, [name])}
                order = sorted(
                    (name not in executing, self.seconds[name], name) for name in names & self.seconds.keys()
                )
                return [name for _, _, name in order]
        return []


def _holds(bits: bytes, line: int) -> bool:
    byte, bit = divmod(line, 8)
    return byte < len(bits) and bool(bits[byte] >> bit & 1)


def tests_near(path: str) -> list[str]:
    """The test files of a module's folder, or of the nearest folder above it."""
    parts = Path(path).relative_to("src/wildtool").parts
    folder = ROOT / "tests" / Path(*parts[:-1])
    while not folder.is_dir():
        folder = folder.parent
    files = folder.glob("test_*.py") if folder.name == "tests" else folder.rglob("test_*.py")
    return [file.relative_to(ROOT).as_posix() for file in sorted(files)]


@dataclass(frozen=True, slots=True)
class Round:
    tests: dict[str, Sequence[str]]
    """By file; none named: all of the file's."""
    seconds: float
    """What they take where nothing is broken."""


def rounds(fault: Fault, tests: Sequence[str], seconds: Mapping[str, float]) -> Iterator[Round]:
    """The order in which tests are tried: files near the fault and quick ones first, the tests of each as listed."""
    files: dict[str, list[str]] = defaultdict(list)
    for name in tests:
        files[name.partition("::")[0]].append(name)
    near = set(tests_near(fault.path))
    order = sorted(files, key=lambda file: (file not in near, seconds[files[file][0]]))
    for size, most in ROUNDS:
        chosen: dict[str, Sequence[str]] = {}
        spent = 0.0
        for file in order:
            taken = files[file][:size]
            while len(taken) > 1 and sum(seconds[name] for name in taken) > most:
                taken.pop()
            if spent > most:
                break
            chosen[file], files[file] = taken, files[file][len(taken) :]
            spent += sum(seconds[name] for name in taken)
        order = [file for file in order if files[file]]
        if chosen:
            yield Round(chosen, spent)


def dies(copy: Checkout, fault: Fault, rounds: Iterable[Round], spend: float) -> bool:
    """Whether a test fails on the fault that holds without it; no round begins after `spend` seconds of tests."""
    for tried in rounds:
        tests = tried.tests
        while failed := _fails_with(copy, fault, tests, limit=60 + 5 * tried.seconds):
            if failed is True:
                return True
            file = failed.partition("::")[0]
            if not copy.fails({file: [failed]}, limit=300):
                return True
            print(f"{failed} fails without a fault too", file=sys.stderr, flush=True)
            left = [name for name in tests[file] if name != failed]
            tests = {**tests, file: left}
            if not left:
                del tests[file]
        spend -= tried.seconds
        if spend < 0:
            break
    return False


def _fails_with(
    copy: Checkout, fault: Fault, tests: Mapping[str, Sequence[str]], *, limit: float
) -> bool | str:
    path = copy.folder / fault.path
    source, times = path.read_bytes(), path.stat()
    path.write_bytes(fault.planted(source))
    # Not the time of the sound file: what is compiled is known by time and size.
    os.utime(path, (times.st_atime, times.st_mtime - 1000))
    try:
        return bool(tests) and copy.fails(tests, limit=limit)
    finally:
        path.write_bytes(source)
        os.utime(path, (times.st_atime, times.st_mtime))


def planted_in(copy: Checkout, paths: Sequence[str], since: str | None) -> list[Fault]:
    """All faults of the modules below some paths, of those that changed since a commit."""
    words = ["diff", "--name-only", since, "HEAD"] if since else ["ls-files"]
    names = [name for name in _git(*words, "--", *paths).splitlines() if name.endswith(".py")]
    modules = [name for name in names if (copy.folder / name).exists()]
    return [fault for name in modules for fault in faults_of(name, (copy.folder / name).read_bytes())]


def _side_by_side(
    copies: Sequence[Checkout], tasks: Sequence[A], work: Callable[[Checkout, A], R]
) -> Iterator[R]:
    waiting, results = queue.SimpleQueue[A](), queue.SimpleQueue[R]()
    for task in tasks:
        waiting.put(task)

    def loop(copy: Checkout) -> None:
        while True:
            try:
                task = waiting.get_nowait()
            except queue.Empty:
                return
            results.put(work(copy, task))

    for copy in copies:
        threading.Thread(target=loop, args=[copy], daemon=True).start()
    for _ in tasks:
        yield results.get()


def _git(*words: str, folder: Path = ROOT) -> str:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout


def _commit() -> str:
    return _git("rev-parse", "HEAD").strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("paths", nargs="*", default=["src/wildtool"], help="where faults are planted")
    parser.add_argument("--since", help="a commit; only modules that changed since then")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--again", type=Path, help="try the faults of an earlier --out instead")
    parser.add_argument("--out", type=Path, help="JSON lines of the faults that live")
    parser.add_argument(
        "--tests", nargs="*", help="test files to run for every fault, instead of those that execute it"
    )
    parser.add_argument("--spend", type=float, default=60, help="seconds of tests per fault, about; 60")
    options = parser.parse_args()
    BUILD.mkdir(parents=True, exist_ok=True)
    copies = [Checkout(BUILD / f"copy-{number}") for number in range(COPIES)]
    if options.again:
        chosen = [Fault(**json.loads(line)) for line in options.again.read_text().splitlines()]
    else:
        faults = planted_in(copies[0], options.paths, options.since)
        random.Random(options.seed).shuffle(faults)
        print(f"{len(faults):,} faults can be planted", file=sys.stderr)
        chosen = list(
            islice(
                (fault for fault in faults if compiles(fault.planted(copies[0].source(fault)))), options.count
            )
        )
    executions = None if options.tests else Executions(copies[0])
    copies[1].compiled_like(copies[0])

    def attempt(copy: Checkout, fault: Fault) -> tuple[Fault, int, bool]:
        if executions is None:
            listed = Round(dict.fromkeys(options.tests, ()), 600)
            return fault, len(listed.tests), dies(copy, fault, [listed], 600)
        names = executions.of(fault)
        return fault, len(names), dies(copy, fault, rounds(fault, names, executions.seconds), options.spend)

    survivors = 0
    for number, (fault, tests, dead) in enumerate(_side_by_side(copies, chosen, attempt), 1):
        if not dead:
            survivors += 1
            print(f"\n{fault.path}:{fault.line}: {fault.kind}; {tests} tests execute it")
            print("  -", copies[0].source(fault)[fault.start : fault.end].decode())
            print("  +", fault.text, flush=True)
            if options.out:
                with options.out.open("a") as lines:
                    lines.write(json.dumps(asdict(fault)) + "\n")
        print(f"{survivors} of {number} live", file=sys.stderr, flush=True)
    print(f"\n{survivors} of {len(chosen)} faults live ({survivors / max(1, len(chosen)):.1%})")


if __name__ == "__main__":
    main()
