"""How all verbs of `data` tell whose data a file holds, and the options that several of them have."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from wildtool.cli.command import arg, opt
from wildtool.cli.options import completion
from wildtool.errors import DataError, UsageError

if TYPE_CHECKING:
    from wildtool.benchmark import Benchmark
    from wildtool.types import Source

FILE_OR_BENCHMARK = arg("FILE|BENCH", "Data file, or a benchmark for its own data.")
TRAINING = "training"
"""What `--benchmark` says for training files."""
BENCHMARK_OR_TRAINING = opt(
    "NAME",
    "Benchmark of the data, if it cannot be detected; training for training files.",
    complete=completion.benchmarks,
)
TOKENIZER_OPTION = opt(
    "PATH", "Training files: tokenizer.json or a model's folder, to count tokens (default: characters / 3.5)."
)


def training_file(data: str, benchmark: str | None) -> Path | None:
    """The path of data that are training records; None for a benchmark's. Raises DataError for pipes and devices."""
    from wildtool.data.files import check_regular_file
    from wildtool.engine.registry import cases_in, detect_benchmark, names_benchmark
    from wildtool.training.reading import looks_like_training

    if names_benchmark(data):
        return None
    check_regular_file(Path(data))
    if benchmark is None and cases_in(Path(data)) is not None:
        return None
    is_training = looks_like_training(Path(data)) if benchmark is None else benchmark == TRAINING
    if is_training is None:
        try:
            detect_benchmark(None, data)
        except UsageError:
            is_training = True
    return Path(data) if is_training else None


def resolve_data(data: str, benchmark: str | None) -> "tuple[Benchmark, Source]":
    """The benchmark of the data, and where they are."""
    from wildtool.data.data_set import data_of
    from wildtool.data.files import check_regular_file
    from wildtool.engine.registry import cases_in, detect_benchmark, load_benchmark, names_benchmark
    from wildtool.traces.forms import refuse_log

    if names_benchmark(data):
        owner = load_benchmark(data)
        return owner, data_of(owner).locate(None)
    check_regular_file(Path(data))
    owner = None if benchmark is not None else cases_in(Path(data))
    try:
        owner = owner or detect_benchmark(benchmark, data)
    except UsageError:
        refuse_log(Path(data))
        raise
    return owner, data_of(owner).locate(data)


def refuse_options(options: dict[str, Any], data: str) -> None:
    """Raises UsageError for an option that only training files take."""
    for name, value in options.items():
        if value and not Path(data).exists() and Path(data).suffix:
            raise UsageError(f"{data}: there is no such file")
        if value:
            beside = f"; items are put beside others by `wildtool data stats {data} {value}`"
            raise UsageError(
                f"--{name} is for training files, and {data} is none; add --benchmark training if it is"
                f"{beside if name == 'compare' else ''}"
            )


def check_not_empty(owner: "Benchmark", source: "Source") -> None:
    """Raises DataError if the data contain no item."""
    try:
        empty = next(iter(owner.load(source)), None) is None
    except DataError:
        # Data that cannot be run are not empty; they can still be checked and described.
        return
    if empty:
        raise DataError(f"{source.path}: contains no items")
