"""Finds benchmarks by name, or by their data: our own, those of a Python file (`benchmark_file.py`), and those that other
packages offer under the entry point group below.

A package whose entry point cannot be used is reported once, by `logging`, and passed over.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from shlex import quote
from typing import TYPE_CHECKING, Any, Protocol

from wildtool.alter.kinds import recorded_alterations
from wildtool.alter.variant import Variant
from wildtool.benchmark import VERDICT_COLUMNS, Benchmark, OriginalPrompts
from wildtool.benchmarks import HIDDEN, OF_ANY_FILE, OURS, OWN_CASES, SUITES
from wildtool.data.data_set import data_of
from wildtool.data.files import read_json, read_packed_lines
from wildtool.declared import outdated_member
from wildtool.engine.benchmark_file import (
    BY_NAME,
    FILE_SUFFIX,
    benchmark_of_file,
    may_run,
    remember_cases,
    remember_file,
)
from wildtool.engine.record.bundle import bundle_origin, is_unpacked
from wildtool.engine.versions import RunNames, names_of, played_profile
from wildtool.errors import DataError, RecordError, UsageError, unknown_name
from wildtool.installed import installed_entries, load_entry, package_of
from wildtool.shapes import Reading
from wildtool.shapes.tools import read_tools

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


ENTRY_POINT_GROUP = "wildtool.benchmarks"
_OURS = {**OURS, **OF_ANY_FILE}
ATTRITION_FILE = "yield.json"
"""Lies beside a run folder that holds how something was made, and no answers to a benchmark."""


@dataclass(frozen=True, slots=True)
class BrokenEntry:
    """An entry point of another package that gives no benchmark."""

    name: str
    """What the benchmark would be called."""
    package: str
    reason: str

    def __str__(self) -> str:
        return f"benchmark {self.name!r} of package {self.package} cannot be used: {self.reason}"


def _entries() -> "Mapping[str, tuple[EntryPoint, ...]]":
    """What other packages offer, by name."""
    return installed_entries(ENTRY_POINT_GROUP)


def _load_entry(name: str) -> Benchmark | BrokenEntry:
    """The benchmark that other packages offer under a name, or why there is none."""
    first, *rivals = _entries()[name]
    package = package_of(first)
    if name in _OURS:
        return BrokenEntry(
            name, package, "wildtool has a benchmark of that name; the package must choose another"
        )
    if rivals:
        also = ", ".join(map(package_of, rivals))
        return BrokenEntry(name, package, f"{also} offers that name too; uninstall one of them")
    benchmark, fault = load_entry(first, partial(_fault, name=name))
    return BrokenEntry(name, package, fault) if fault else benchmark


def _fault(benchmark: Any, name: str) -> str | None:
    """What keeps an object from being the benchmark of a name."""
    if isinstance(benchmark, type):
        return "is a class; name an object made of it, such as MY_BENCH = MyBench()"
    if not isinstance(benchmark, Benchmark):
        return f"is {type(benchmark).__name__}; inherit from wildtool.benchmark.Benchmark, which gives what it lacks"
    missing = [
        member for member in ("name", "title") if not isinstance(getattr(benchmark, member, None), str)
    ]
    missing += [member for member in ("profiles", "modes") if not getattr(benchmark, member, None)]
    if missing:
        return f"lacks {', '.join(missing)}"
    if outdated := outdated_member(benchmark):
        return outdated
    if benchmark.name != name:
        return f"calls itself {benchmark.name!r}; both names must be equal, since runs record it"
    if general := replaced_columns(benchmark):
        return f"has columns that every table of verdicts has: {', '.join(general)}; give them other names"
    return None


def replaced_columns(benchmark: Benchmark) -> list[str]:
    """Columns of a benchmark that would replace those of every table of verdicts."""
    return sorted({*VERDICT_COLUMNS, "detail"} & {*benchmark.columns})


_reported: set[BrokenEntry] = set()


def _report(broken: BrokenEntry) -> None:
    """Says once that an entry is passed over; without other settings of `logging` on stderr."""
    if broken not in _reported:
        import logging  # takes a millisecond that only a broken package costs

        _reported.add(broken)
        logging.getLogger("wildtool").warning("%s; it is passed over", broken)


def benchmark_names() -> list[str]:
    """Names of our benchmarks, of those that installed packages offer, usable or not, and of those that were read from
    files; sorted."""
    return sorted({*_OURS, *_entries(), *BY_NAME})


def names_benchmark(name: str) -> bool:
    """Whether this is the name of a benchmark, or the path of a file that should define one."""
    return name.endswith(FILE_SUFFIX) or name in benchmark_names()


def usable_benchmarks() -> list[Benchmark]:
    """All benchmarks that can be used, sorted by name; the others are reported."""
    benchmarks: dict[str, Benchmark] = {name: load_benchmark(name) for name in _OURS}
    for name in _entries():
        entry = _load_entry(name)
        if isinstance(entry, BrokenEntry):
            _report(entry)
        else:
            benchmarks[name] = entry
    return [benchmarks[name] for name in sorted(benchmarks)]


def load_benchmark(name: str, mode: str | None = None) -> Benchmark:
    """The benchmark of that name in a mode (None: its first); of a Python file, the one that it defines. Ours win over
    others of their name, and those of files that were read over those of packages. A path of cases is a benchmark of the
    file's name.

    Raises UsageError listing the known names or modes where there is none of that name, or saying why it cannot be used.
    """
    if name in _OURS:
        return in_mode(resolve_name(_OURS[name]), mode)
    if name.endswith(FILE_SUFFIX):
        benchmark = _load_file(Path(name))
        remember_file(Path(name))
        return in_mode(benchmark, mode)
    if (benchmark := BY_NAME.get(name)) is not None:
        return in_mode(benchmark, mode)
    if name not in _entries():
        if may_hold_cases(name):
            return in_mode(_load_cases(name), mode)
        known = [each for each in benchmark_names() if each not in HIDDEN]
        raise UsageError(unknown_name("benchmark", name, known))
    entry = _load_entry(name)
    if isinstance(entry, BrokenEntry):
        raise UsageError(str(entry))
    return in_mode(entry, mode)


class ImportedTraces(Protocol):
    """A run of traces."""

    folder: Path

    def lines(self) -> Iterable[str]:
        """What became of the traces, for people."""
        ...


class CaseFiles(Protocol):
    """What makes benchmarks of files of own cases; it is built on the engine."""

    def are_in(self, path: Path) -> bool:
        """Whether a file or folder holds cases in our form or in that of another program; not conversations alone."""
        ...

    def benchmark(self, place: str) -> Benchmark:
        """The benchmark of a path, or for `-` of standard input. Raises DataError where there is no such file."""
        ...

    def of_run(self, name: str, path: Path) -> Benchmark:
        """The benchmark of a name over a file that may not be there any more."""
        ...

    def import_traces(
        self, place: Path, traces: Sequence[Path], out: Path | None, settings: Mapping[str, Any]
    ) -> ImportedTraces:
        """Writes what an agent did as a run of cases."""
        ...


def _case_files() -> CaseFiles:
    return resolve_name(OWN_CASES)


STANDARD_INPUT = "-"
_CASE_SUFFIXES = (".yaml", ".yml", ".json", ".jsonl", ".ndjson", ".csv", ".parquet", ".gz", ".zst")


def may_hold_cases(name: str) -> bool:
    """Whether a name that no benchmark has is the path of a file or folder of cases, or `-`."""
    return name == STANDARD_INPUT or name.casefold().endswith(_CASE_SUFFIXES) or Path(name).is_dir()


def cases_in(path: Path) -> Benchmark | None:
    """The benchmark of a file or folder of cases, in wildtool's form or in that of another program; None for any other
    file, and for conversations."""
    return _load_cases(str(path)) if may_hold_cases(str(path)) and _case_files().are_in(path) else None


def import_traces(
    data: Path,
    traces: Sequence[Path],
    out: Path | None = None,
    *,
    id_attribute: str | None = None,
    command: Sequence[str] = (),
    force: bool = False,
) -> ImportedTraces:
    """Writes what an agent did, from its traces, as a run of own cases.

    Args:
        data: the cases.
        out: the folder of the run; None for one below `runs`.
        id_attribute: the attribute whose values are ids of cases; None for those that are usual.
        force: whether to write into a folder that wildtool did not make.

    Raises UsageError where the data hold no cases, DataError for files that cannot be read and where no trace covers a
    case.
    """
    if not data.exists():
        raise DataError(f"{data}: there is no such file; give a file or folder of own cases")
    if cases_in(data) is None:
        raise UsageError(
            f"{data}: holds no own cases, by which alone traces are judged (docs/own-cases.md); `wildtool review import "
            "FILE -o cases.yaml` makes cases of conversations and traces"
        )
    settings = {"id_attribute": id_attribute, "command": command, "force": force}
    return _case_files().import_traces(data, traces, out, settings)


def _load_cases(name: str) -> Benchmark:
    benchmark = _case_files().benchmark(name)
    place = data_of(benchmark).shipped
    assert place is not None
    remember_cases(place, benchmark)
    return benchmark


def _load_file(path: Path) -> Benchmark:
    return benchmark_of_file(path, lambda benchmark: _fault(benchmark, benchmark.name), {*_OURS, *SUITES})


def played_benchmark(folder: Path, run_json: Mapping[str, Any], benchmark: str | None = None) -> Benchmark:
    """The benchmark of a run in a folder, in the mode of the run.

    Args:
        benchmark: what its verdicts say that it is; None for what the run says.

    Raises RecordError where there is none of that name, UsageError where it has no such mode.
    """
    identity, file = run_json["identity"], run_json["data"].get("benchmark_file")
    name, mode = benchmark or identity["benchmark"], identity["mode"]
    if file is not None and (defined := _benchmark_of_run(folder, name, Path(file))) is not None:
        return in_mode(defined, mode)
    if name not in benchmark_names():
        attrition = folder.parent / ATTRITION_FILE
        if attrition.exists():
            raise RecordError(
                f"{folder}: holds how {name} were made, no replies to score. The result is in "
                f"{folder.parent}: {attrition.name} says where attempts were lost; play and check what was made there"
            )
        raise RecordError(
            f"{folder}: a run of {name!r}, which is no benchmark here; known are: {', '.join(benchmark_names())}. "
            "Install the package that it comes from"
        )
    return load_benchmark(name, mode)


def _benchmark_of_run(folder: Path, name: str, file: Path) -> Benchmark | None:
    """What the file of a run defines; None where the name alone decides: the file is gone and another source offers the
    name, or the run was unpacked from a bundle, which must not choose what is executed here."""
    if file.suffix != FILE_SUFFIX:
        benchmark = _case_files().of_run(name, file)
        remember_cases(file, benchmark)
        return benchmark
    if not is_unpacked(folder) and file.is_absolute() and file.is_file():
        if not may_run(file):
            raise RecordError(
                f"{folder}: a run of {name!r}, a benchmark of the file {file}. To read the run executes this file, which "
                f"you have not named yet; look at it, and if you trust it: wildtool list cards {quote(str(file))}"
            )
        try:
            benchmark = _load_file(file)
        except UsageError as error:
            raise RecordError(f"{folder}: its benchmark {name!r} cannot be read: {error}") from error
        if benchmark.name != name:
            raise RecordError(
                f"{folder}: a run of {name!r}, but {file} now defines {benchmark.name!r}; give the benchmark its former "
                "name to score this run"
            )
        return benchmark
    if name in benchmark_names():
        return None
    if is_unpacked(folder):
        raise RecordError(
            f"{bundle_origin(folder)}: a run of {name!r}, a benchmark of the file {file.name}, which a bundle neither "
            "holds nor runs; install the benchmark as a package (docs/adding-a-benchmark.md)"
        )
    raise RecordError(
        f"{folder}: a run of {name!r}, a benchmark of the file {file}, which is not there; put it back, or repeat the "
        "command of the run with the file's new path and --out as before: recorded replies are kept"
    )


def in_mode(benchmark: Benchmark, mode: str | None) -> Benchmark:
    """The benchmark in a mode (None: as it is). Raises UsageError listing its modes where it has none of that name."""
    if mode is None:
        return benchmark
    if mode not in benchmark.modes:
        raise UsageError(unknown_name("mode", mode, benchmark.modes, of=benchmark.name))
    return benchmark.in_mode(mode)


OWN_WORDING, ORIGINAL_WORDING = "own", "original"
"""Whose prompts are sent."""


def choose_prompts(benchmark: Benchmark, which: str | None, split: str | None) -> Benchmark:
    """The benchmark with the prompts that are wanted; None for the original's where they were pulled, else our own.

    Raises UsageError where the original's are wanted and not there, DataError where they are damaged.
    """
    if which not in (None, OWN_WORDING, ORIGINAL_WORDING):
        raise UsageError(f"--prompts is {which!r}; it takes {OWN_WORDING} or {ORIGINAL_WORDING}")
    if which == OWN_WORDING:
        if prompts_of(benchmark):
            raise UsageError(
                f"{benchmark.name} is only put in the original's words; leave --prompts out. A run in wildtool's words,"
                " as earlier versions made it, can be scored but not continued"
            )
        return benchmark
    original = _original(benchmark, split)
    if original is not None or which is None:
        return original or benchmark
    if not isinstance(benchmark, OriginalPrompts):
        raise UsageError(f"{benchmark.name} has no prompts of an original to fetch; leave --prompts out")
    first = next(iter(benchmark.modes))
    words = f" in mode {benchmark.mode}" if benchmark.mode != first else ""
    words += f" for split {split}" if split is not None else ""
    raise UsageError(
        f"no original prompts of {benchmark.name}{words}: there are some for mode {first} of the official data, once "
        f"`wildtool data pull {benchmark.name}` has fetched them; otherwise leave out --prompts"
    )


def as_recorded(benchmark: Benchmark, identity: Mapping[str, Any]) -> Variant:
    """The benchmark as it was run: with the same alterations, and the original's prompts if they were sent.

    Where those prompts are not at hand any more it is the benchmark with our wording, which judges alike.

    Args:
        identity: of the run, from `run.json`.
    """
    worded = _with_recorded_prompts(benchmark, identity.get("prompts", ""))
    return Variant(worded, recorded_alterations(identity), played_profile(benchmark, identity))


def names_in(run_json: Mapping[str, Any]) -> RunNames:
    """The names of a run; those that it wrote where its benchmark is not at hand."""
    identity = run_json["identity"]
    try:
        return names_of(load_benchmark(identity.get("benchmark", "")), identity)
    except UsageError:
        return RunNames((), "")


def _with_recorded_prompts(benchmark: Benchmark, prompts: str) -> Benchmark:
    try:
        original = _original(benchmark, None) if prompts else None
    except DataError:
        original = None
    return original if original is not None and prompts_of(original) == prompts else benchmark


def prompts_of(benchmark: Benchmark) -> str:
    """Digest of the original's prompts that a benchmark sends; empty where it sends our own wording."""
    return benchmark.prompts if isinstance(benchmark, OriginalPrompts) else ""


def original_sampling(benchmark: Benchmark) -> Mapping[str, Any]:
    """What the original asks models with. Raises UsageError where that is not known."""
    if not benchmark.original_sampling:
        raise UsageError(
            f"how the original of {benchmark.name} samples is not known here; leave --sampling out"
        )
    return benchmark.original_sampling


def _original(benchmark: Benchmark, split: str | None) -> Benchmark | None:
    return benchmark.in_original_prompts(split) if isinstance(benchmark, OriginalPrompts) else None


def detect_benchmark(name: str | None, data: str | None) -> Benchmark:
    """The benchmark of that name, or the one that the data are called by or whose format they have.

    Raises UsageError where the name is unknown, or where there is none and the data do not decide.
    """
    if name is not None:
        return load_benchmark(name)
    if data is None:
        raise UsageError(
            "give the data with --data FILE, or the name of their benchmark with --benchmark NAME"
        )
    if data in benchmark_names():
        return load_benchmark(data)
    formats = _formats()
    # Data that nothing can read, such as a file to be checked, may still leave only one choice.
    located = [benchmark for benchmark in formats if _locates(benchmark, data)] or formats
    candidates = [candidate for candidate in located if _reads(candidate, data)] or located
    if len(candidates) != 1:
        if other := _other_than_data(Path(data)):
            raise UsageError(f"{data}: {other}")
        names = ", ".join(each.name for each in candidates) or "none is installed"
        reason = "cannot tell which benchmark these data belong to;"
        if not Path(data).exists():
            close = get_close_matches(data, benchmark_names(), 1)
            if close:
                raise UsageError(
                    f"{data}: there is no such file or folder; did you mean the benchmark {close[0]!r}?"
                )
            reason = "there is no such file or folder; if a benchmark has data of that name,"
        elif Path(data).is_dir():
            reason = (
                "a folder of no known benchmark; of training files, name one of them; of a benchmark's data,"
            )
        raise UsageError(f"{data}: {reason} add --benchmark NAME, one of: {names}")
    return candidates[0]


def _other_than_data(path: Path) -> str:
    """What a path is that holds no data of a benchmark, with the command for it; empty where that is not known. Raises
    DataError for JSON lines of which the first cannot be read."""
    if (path / "run.json").is_file():
        return f"a run, and no data of a benchmark; to look at it: wildtool view {quote(str(path))}"
    if path.suffix == ".json" and path.is_file() and holds_tools(path):
        return f"definitions of tools, and no data of a benchmark; to check them: wildtool tools lint {quote(str(path))}"
    if path.suffix == ".jsonl" and path.is_file():
        next(read_packed_lines(path), None)  # says why not even the first line can be read
    return ""


def holds_tools(path: Path) -> bool:
    """Whether a JSON file holds definitions of tools."""
    try:
        return bool(read_tools(read_json(path), Reading(anything=True)))
    except DataError:
        return False


def _formats() -> list[Benchmark]:
    """One benchmark for each format: of several names that share one, that which its package is called by; none that
    reads any file."""
    benchmarks: dict[type, Benchmark] = {}
    for benchmark in usable_benchmarks():
        if benchmark.name in OF_ANY_FILE:
            continue
        home, form = type(benchmark).__module__.rpartition(".")[2], _format_of(type(benchmark))
        if form not in benchmarks or home == benchmark.name:
            benchmarks[form] = benchmark
    return list(benchmarks.values())


def _format_of(kind: type) -> type:
    """The class that reads a benchmark's data: of one that declares only other data, the class it is made from."""
    declared = {name for name in vars(kind) if name[0] != "_"}
    return kind.__base__ if kind.__base__ and declared <= {"name", "title", "data"} else kind


def _locates(benchmark: Benchmark, data: str) -> bool:
    try:
        data_of(benchmark).locate(data)
    except Exception:  # noqa: BLE001 - as below
        return False
    return True


def _reads(benchmark: Benchmark, data: str) -> bool:
    try:
        next(iter(benchmark.load(data_of(benchmark).locate(data))), None)
    except Exception:  # noqa: BLE001 - a package of somebody else may trip over data that are not its own
        return False
    return True
