"""A series of models trained alike on growing data, as a TOML file names it, to be compared on the same benchmarks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from wildtool.data.files import read_toml
from wildtool.engine.registry import load_benchmark
from wildtool.errors import DataError, UsageError, unknown_name
from wildtool.models.headers import headers_in_table

BASE_SIZE = 0
"""Size of a model before training."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesBenchmark:
    """A benchmark that every point is run on."""

    name: str
    data: str | None = None
    mode: str | None = None
    split: str | None = None
    lang: str | None = None
    profile: str | None = None

    @property
    def label(self) -> str:
        """Name and choices, the same for no two benchmarks of a series; also the name of a folder."""
        parts = (self.mode, self.split, self.lang, self.profile, self.data and Path(self.data).stem)
        return "-".join([self.name, *(part for part in parts if part)])


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesPoint:
    """One model of a series."""

    name: str
    model: str
    size: int
    """Examples it was trained on; 0 for the model before training."""
    arm: str = "all"
    """What its data were: `all`, `selected`, `random`, `pairs`, …; points of one arm are one line of the chart."""
    base_url: str | None = None
    api_key_env: str | None = None
    headers: tuple[str, ...] = ()
    """Each as `--header` takes it."""
    train_seed: int | None = None
    """Seed of its training; points that differ in it alone are repeats of one training."""
    steps: int | None = None
    """Steps that it was trained; points that differ in it alone are checkpoints of one training."""
    tokens: int | None = None
    adapter: str | None = None
    """Where its weights are, for the reader."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """What a file says."""

    path: Path
    benchmarks: tuple[SeriesBenchmark, ...]
    points: tuple[SeriesPoint, ...]
    """The base first, then by arm, size, seed and steps."""
    seed: int | None = None
    repeats: int = 1
    overlap: Path | None = None
    """What `wildtool data overlap --json` found between the training data and the benchmarks."""
    axis: str = "training examples"
    """What the sizes of its points count."""

    @property
    def base(self) -> SeriesPoint:
        """The model before training."""
        return self.points[0]


def by_examples(series: Series) -> Series:
    """The same series with one point of each training: of several checkpoints the last one."""
    last: dict[tuple[str, int, int | None], SeriesPoint] = {}
    for point in series.points:
        key = point.arm, point.size, point.train_seed
        if key not in last or (point.steps or 0) > (last[key].steps or 0):
            last[key] = point
    return replace(series, points=_in_order([*last.values()]))


def by_steps(series: Series) -> Series:
    """The same series with training steps for sizes. Raises DataError where points do not say theirs, or not clearly."""
    points: list[SeriesPoint] = []
    for point in series.points:
        steps = BASE_SIZE if point.size == BASE_SIZE else point.steps
        if steps is None:
            raise DataError(
                f"{series.path}: {point.name} has no `steps`; a curve by steps needs them of each point"
            )
        points.append(replace(point, size=steps))
    _check_points(points, series.path)
    return replace(series, points=_in_order(points), axis="training steps")


def _in_order(points: Sequence[SeriesPoint]) -> tuple[SeriesPoint, ...]:
    """The base first, then by arm, size, seed and steps."""
    return tuple(
        sorted(
            points,
            key=lambda point: (
                point.size > BASE_SIZE,
                point.arm,
                point.size,
                point.train_seed or 0,
                point.steps or 0,
            ),
        )
    )


def read_series(path: Path) -> Series:
    """Reads a series. Raises DataError naming the file, the entry and the key."""
    document = read_toml(path)
    _check_keys(document, ("series", "point"), str(path))
    head = document.get("series")
    if not isinstance(head, dict):
        raise DataError(f"{path}: [series] is missing; it names the benchmarks")
    settings = cast(dict[str, Any], head)
    where = f"{path}: [series]"
    _check_keys(settings, ("benchmarks", "seed", "repeats", "overlap"), where)
    benchmarks = tuple(_benchmark(entry, where) for entry in _list(settings, "benchmarks", where))
    points = [
        _point(table, f"{path}: [[point]] {number}")
        for number, table in enumerate(_list(document, "point", str(path)), 1)
    ]
    _check_points(points, path)
    if len({benchmark.label for benchmark in benchmarks}) < len(benchmarks):
        raise DataError(f"{where}: benchmarks names one benchmark twice")
    overlap = _value(settings, "overlap", str, where)
    return Series(
        path=path,
        benchmarks=benchmarks,
        points=_in_order(points),
        seed=_value(settings, "seed", int, where),
        repeats=_at_least_one(settings, "repeats", where) or 1,
        overlap=None if overlap is None else path.parent / overlap,
    )


def _benchmark(document: Any, where: str) -> SeriesBenchmark:
    entry = {"name": document} if isinstance(document, str) else document
    if not isinstance(entry, dict):
        raise DataError(f'{where}: benchmarks: expected names or tables such as {{name = "…", split = "…"}}')
    keys = [field.name for field in fields(SeriesBenchmark)]
    texts = cast(dict[str, Any], entry)
    _check_keys(texts, keys, f"{where}: benchmarks")
    values = {key: _value(texts, key, str, f"{where}: benchmarks") for key in keys}
    if not values["name"]:
        raise DataError(f"{where}: benchmarks: an entry has no name")
    try:
        load_benchmark(values["name"], values["mode"])
    except UsageError as error:
        hint = '; choices are keys: {name = "…", split = "…"}' if ":" in values["name"] else ""
        raise DataError(f"{where}: benchmarks: {error}{hint}") from error
    return SeriesBenchmark(**cast(Any, values))


def _point(document: Any, where: str) -> SeriesPoint:
    if not isinstance(document, dict):
        raise DataError(f"{where}: expected a table")
    entry = cast(dict[str, Any], document)
    _check_keys(entry, [field.name for field in fields(SeriesPoint)], where)
    texts = {
        key: _value(entry, key, str, where)
        for key in ("name", "model", "arm", "base_url", "api_key_env", "adapter")
    }
    numbers = {key: _value(entry, key, int, where) for key in ("size", "train_seed", "steps", "tokens")}
    headers = _headers(entry, where)
    for key in ("name", "model", "size"):
        if (texts | numbers)[key] in (None, ""):
            raise DataError(
                f"{where}: {key} is missing" + ("; 0 for the model before training" if key == "size" else "")
            )
    if cast(int, numbers["size"]) < 0:
        raise DataError(f"{where}: size is {numbers['size']}; it is a number of examples")
    name = cast(str, texts["name"])
    if name.strip(" .") != name or not name.isprintable() or set(name) & set('/\\:*?"<>|'):
        raise DataError(
            f"{where}: name is {name!r}, and also names its folder; use letters, digits, -, _ and ."
        )
    for key in ("arm", "model"):
        if not (texts[key] or "").isprintable():
            raise DataError(f"{where}: {key} is {texts[key]!r}; it holds characters that cannot be shown")
    if reason := _no_address(texts["base_url"]):
        raise DataError(f"{where}: base_url is {texts['base_url']!r}: {reason}; expected http://HOST:PORT/v1")
    return SeriesPoint(
        **cast(Any, {key: value for key, value in (texts | numbers).items() if value is not None}),
        headers=headers,
    )


def _headers(entry: Mapping[str, Any], where: str) -> tuple[str, ...]:
    try:
        headers = headers_in_table(entry.get("headers", {}))
    except UsageError as error:
        raise DataError(f"{where}: headers: {error}") from error
    return tuple(f"{header.name}={header.value}" for header in headers)


def _no_address(url: str | None) -> str:
    """Why a text is no address of an endpoint; empty if it is one, or there is none."""
    if url is None:
        return ""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        return str(error)
    return "" if parts.scheme in ("http", "https") and parts.hostname else "no address"


def _check_points(points: Sequence[SeriesPoint], path: Path) -> None:
    names = [point.name for point in points]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise DataError(f"{path}: two points are called {twice[0]!r}; give each its own name")
    bases = [point.name for point in points if point.size == BASE_SIZE]
    if len(bases) != 1:
        bases_text = ", ".join(bases) or "none"
        raise DataError(f"{path}: one point must have size 0, the model before training; found {bases_text}")
    if len(points) < 2:
        raise DataError(f"{path}: a series needs a point after training, with size above 0")
    trainings: dict[tuple[str, int, int | None], dict[int | None, str]] = {}
    for point in points:
        checkpoints = trainings.setdefault((point.arm, point.size, point.train_seed), {})
        if point.steps in checkpoints or (checkpoints and None in (point.steps, *checkpoints)):
            other = checkpoints.get(point.steps) or next(iter(checkpoints.values()))
            raise DataError(
                f"{path}: {other} and {point.name} have the same arm, size and train_seed; repeats of a training "
                "differ in train_seed, other data in arm, and checkpoints of one training in steps"
            )
        checkpoints[point.steps] = point.name


def _check_keys(entry: Mapping[str, Any], keys: Sequence[str], where: str) -> None:
    if unknown := [key for key in entry if key not in keys]:
        raise DataError(f"{where}: {unknown_name('key', unknown[0], keys)}")


def _value(entry: Mapping[str, Any], key: str, kind: type, where: str) -> Any:
    value = entry.get(key)
    if value is None or (isinstance(value, kind) and not isinstance(value, bool)):
        return value
    raise DataError(f"{where}: {key} is {value!r}; expected a {'text' if kind is str else 'whole number'}")


def _at_least_one(entry: Mapping[str, Any], key: str, where: str) -> int | None:
    value = _value(entry, key, int, where)
    if value is not None and value < 1:
        raise DataError(f"{where}: {key} is {value}; expected 1 or more")
    return value


def _list(entry: Mapping[str, Any], key: str, where: str) -> list[Any]:
    value = entry.get(key)
    if not isinstance(value, list) or not value:
        raise DataError(f"{where}: {key} is missing; it lists at least one")
    return cast(list[Any], value)
