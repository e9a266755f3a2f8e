"""Benchmarks that a Python file defines: reads the file, and remembers by name what it defined.

The file runs like any module, except that nothing is cached beside it; files in its folder can be imported. What was
read stays until the file changes.
"""

import inspect
import os
import sys
import traceback
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from re import fullmatch
from types import ModuleType
from typing import Any

from wildtool.benchmark import Benchmark
from wildtool.errors import UsageError
from wildtool.outputs import is_regular

FILE_SUFFIX = ".py"
"""What a benchmark's name ends with that is the path of a file."""
_HELP = "`wildtool new benchmark NAME` writes one that works"


@dataclass(frozen=True, slots=True)
class BenchmarkFile:
    """A file that was read, and the benchmark that it defines."""

    path: Path
    digest: str
    benchmark: Benchmark


_FILES: dict[Path, BenchmarkFile] = {}
BY_NAME: dict[str, Benchmark] = {}
"""The benchmark of each name that was read from a file last."""


def benchmark_of_file(
    path: Path, fault: Callable[[Any], str | None], reserved: Collection[str] = ()
) -> Benchmark:
    """The benchmark that a file defines.

    Args:
        fault: what is wrong with a benchmark, after what it is called; None for nothing.
        reserved: names that it may not have.

    Raises UsageError where there is no such file, it cannot be run, or it does not define exactly one usable benchmark.
    """
    if not path.is_file():
        raise UsageError(
            f"{path}: there is no such file; give a Python file that defines a benchmark ({_HELP}), or the name of a "
            "benchmark (wildtool list)"
        )
    place = path.resolve()
    source = place.read_bytes()
    digest = sha256(source).hexdigest()
    before = _FILES.get(place)
    if before is None or before.digest != digest:
        benchmark = _defined_benchmark(path, _run(path, place, source, digest))
        if problem := fault(benchmark) or _name_fault(benchmark.name, reserved):
            raise UsageError(f"{path}: its benchmark {type(benchmark).__name__} {problem}")
        before = _FILES[place] = BenchmarkFile(place, digest, benchmark)
    BY_NAME[before.benchmark.name] = before.benchmark
    return before.benchmark


_NAMED = "WILDTOOL_BENCHMARK_FILES"
"""Environment variable with the files that this process or the one that started it was told to run."""


def remember_file(path: Path) -> None:
    """Notes that the user named a file, in the user's data folder where that can be written."""
    line = str(path.resolve())
    if may_run(path):
        return
    os.environ[_NAMED] = os.pathsep.join(filter(None, (os.environ.get(_NAMED), line)))
    with suppress(OSError):
        _list_of_files().parent.mkdir(parents=True, exist_ok=True)
        with _list_of_files().open("a", encoding="utf-8", errors="surrogateescape") as named:
            named.write(f"{line}\n")


def may_run(path: Path) -> bool:
    """Whether the user has named a file before. A record alone must not choose what is executed."""
    line = str(path.resolve())
    if line in os.environ.get(_NAMED, "").split(os.pathsep):
        return True
    try:
        return line in _list_of_files().read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return False


def _list_of_files() -> Path:
    from platformdirs import user_data_path  # loaded only if there is a benchmark file

    return user_data_path("wildtool") / "benchmark-files.txt"


def remember_cases(path: Path, benchmark: Benchmark) -> None:
    """Notes the file or folder whose cases a benchmark runs. It is read and never executed."""
    place = path.resolve()
    for other in [known for known, each in _FILES.items() if each.benchmark.name == benchmark.name]:
        del _FILES[other]
    _FILES[place] = BenchmarkFile(place, "", benchmark)
    BY_NAME[benchmark.name] = benchmark


def file_of(benchmark: Benchmark) -> Path | None:
    """The file that a benchmark was read from, in whatever mode it is, or whose cases it runs; None for others."""
    identity = type(benchmark), benchmark.name
    matches = (
        each.path for each in _FILES.values() if (type(each.benchmark), each.benchmark.name) == identity
    )
    return next(matches, None)


def digest_of_file(path: str | None) -> str | None:
    """SHA-256 of a benchmark file as it is now; None where there is none."""
    if path is None or not path.endswith(FILE_SUFFIX) or not is_regular(Path(path)):
        return None
    return sha256(Path(path).read_bytes()).hexdigest()


def _run(path: Path, place: Path, source: bytes, digest: str) -> ModuleType:
    """The module that a file makes. Raises UsageError with the line where it fails."""
    spec = spec_from_file_location(f"wildtool_benchmark_file_{digest[:16]}", place)
    assert spec is not None
    module = module_from_spec(spec)
    sys.modules[module.__name__] = module  # items are pickled, and dataclasses look for their module
    if str(place.parent) not in sys.path:
        sys.path.append(str(place.parent))
    try:
        exec(compile(source, str(place), "exec"), module.__dict__)
    except (Exception, SystemExit) as error:
        del sys.modules[module.__name__]
        lines = [
            frame.lineno
            for frame in traceback.extract_tb(error.__traceback__)
            if frame.filename == str(place)
        ]
        line = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else None
        raise UsageError(
            f"{path}{f':{line}' if line else ''}: running it fails: {type(error).__name__}: {error}; a benchmark file "
            "must run without errors and without arguments"
        ) from error
    return module


def _defined_benchmark(path: Path, module: ModuleType) -> Benchmark:
    """The one benchmark of a module: an object that it holds, or else one made of a class that it defines."""
    values = [*vars(module).values()]
    classes = [
        value
        for value in values
        if isinstance(value, type) and issubclass(value, Benchmark) and value.__module__ == module.__name__
    ]
    objects = list({id(value): value for value in values if isinstance(value, Benchmark)}.values())
    own = [value for value in objects if type(value).__module__ == module.__name__] or objects
    if len(own) > 1:
        names = ", ".join(f"{type(each).__name__}({getattr(each, 'name', '')!r})" for each in own)
        raise UsageError(f"{path}: defines {len(own)} benchmarks: {names}; keep one in a file")
    if own:
        return own[0]
    candidates = [each for each in classes if not inspect.isabstract(each)] or classes
    if len(candidates) > 1:
        names = ", ".join(each.__name__ for each in candidates)
        raise UsageError(
            f"{path}: defines {len(candidates)} classes of benchmarks: {names}; add an object of the one that is meant, "
            f"such as BENCHMARK = {candidates[-1].__name__}()"
        )
    if not candidates:
        raise UsageError(
            f"{path}: defines no benchmark; expected a class that inherits from wildtool.benchmark.SingleTurn or "
            f"Benchmark, or an object of one; {_HELP}"
        )
    if missing := sorted(candidates[0].__abstractmethods__):
        raise UsageError(
            f"{path}: {candidates[0].__name__} lacks {', '.join(missing)}; write what is missing"
        )
    try:
        return candidates[0]()
    except Exception as error:
        raise UsageError(
            f"{path}: {candidates[0].__name__} cannot be made without arguments ({type(error).__name__}: {error}); add "
            f"an object of it, such as BENCHMARK = {candidates[0].__name__}(…)"
        ) from error


def _name_fault(name: str, reserved: Collection[str]) -> str | None:
    if name in reserved:
        return f"is called {name!r}, as a benchmark of wildtool is; choose another name"
    if not fullmatch("[a-z0-9][a-z0-9_-]*", name):
        return f"is called {name!r}; a name has lower-case letters, digits, - and _"
    return None
