"""Which units an environment plays: those of a file, or an endless stream made by templates."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from wildtool.benchmark import Benchmark
from wildtool.benchmarks.wildtoolbench import WILDTOOLBENCH
from wildtool.benchmarks.wildtoolbench.data import read_session
from wildtool.data.data_set import data_of
from wildtool.draws import seeded_draw
from wildtool.engine.plan import Selection
from wildtool.engine.registry import load_benchmark
from wildtool.errors import DataError, UsageError
from wildtool.training.procedures.official import check_not_official
from wildtool.types import Item
from wildtool_data.make.core.plan import Lang, SessionGenerationSpec
from wildtool_data.make.procedural.sessions import procedural_sessions
from wildtool_data.make.procedural.tool_sets import ToolPart

BLOCK = 64
"""Sessions of a stream that are made together: within a block types of tasks are balanced and no text occurs twice."""
_BLOCKS_KEPT = 8


class Units(Protocol):
    """Where units come from. All environments of a training run share one, in each process its own."""

    benchmark: Benchmark

    def find(self, name: str) -> tuple[Item, str]:
        """The item and the unit of a name, `ITEM/UNIT`. Raises DataError where there is none."""
        ...

    def draw(self, seed: int | str) -> str:
        """The name that a seed stands for. Whole numbers in order give every unit once before any comes again."""
        ...


class ItemUnits:
    """The units of items that are all there."""

    def __init__(self, benchmark: Benchmark, items: Iterable[Item]) -> None:
        """Raises DataError without items."""
        self.benchmark = benchmark
        self._items = {item.id: item for item in items}
        self.items: Sequence[Item] = [*self._items.values()]
        self.names: Sequence[str] = [f"{item.id}/{unit}" for item in self.items for unit in item.units]
        if not self.names:
            raise DataError(f"{benchmark.name}: no unit to play")
        self._shuffled = lru_cache(2)(self._shuffle)

    def find(self, name: str) -> tuple[Item, str]:
        id_, _, unit = name.rpartition("/")
        item = self._items.get(id_)
        if item is None or unit not in item.units:
            raise DataError(f"no unit {name!r}; there are {len(self.names):,}, such as {self.names[0]!r}")
        return item, unit

    def draw(self, seed: int | str) -> str:
        round_, place = divmod(_number(seed), len(self.names))
        return self._shuffled(round_)[place]

    def _shuffle(self, round_: int) -> list[str]:
        return seeded_draw(round_).sample(self.names, len(self.names))


class ProceduralUnits:
    """An endless stream of sessions in WildToolBench's format. A unit is named `BLOCK-SESSION/TASK`; the same seed and
    name are the same unit in every process."""

    benchmark: Benchmark = WILDTOOLBENCH

    def __init__(
        self,
        seed: str = "1",
        *,
        langs: tuple[Lang, ...] = ("en",),
        tools: Path | None = None,
        part: ToolPart | None = None,
    ) -> None:
        """
        Args:
            tools: a file with tools in place of the built-in ones.
            part: which of the tools are used, so that others can be held out.
        """
        self._spec = SessionGenerationSpec(BLOCK, seed=seed, langs=langs, tools=tools)
        self._part = part
        self._block = lru_cache(_BLOCKS_KEPT)(self._make)

    def find(self, name: str) -> tuple[Item, str]:
        session, _, unit = name.partition("/")
        block, _, place = session.partition("-")
        if not (block.isdecimal() and place.isdecimal() and unit.isdecimal()):
            raise DataError(f"no unit {name!r}; one is named BLOCK-SESSION/TASK, such as 0-0/0")
        items = self._block(int(block))
        if int(place) >= len(items) or unit not in items[int(place)].units:
            raise DataError(f"no unit {name!r}; a block has {BLOCK} sessions of {self._spec.tasks} tasks")
        return items[int(place)], unit

    def draw(self, seed: int | str) -> str:
        session, unit = divmod(_number(seed), self._spec.tasks)
        block, place = divmod(session, BLOCK)
        return f"{block}-{place}/{unit}"

    def _make(self, block: int) -> list[Item]:
        spec = replace(self._spec, seed=f"{self._spec.seed}/{block}")
        items: list[Item] = []
        for place, record in enumerate(procedural_sessions(spec, lambda note: None, self._part)):
            session = read_session(record, f"procedural session {block}-{place}")
            units = tuple(str(number) for number in range(len(session.tasks)))
            items.append(Item(f"{block}-{place}", units, session, session.domain, session.lang))
        return items


def benchmark_units(
    benchmark: str | Benchmark,
    data: str | Path | None = None,
    *,
    mode: str | None = None,
    split: str | None = None,
    lang: str | None = None,
    evaluation: bool = False,
) -> ItemUnits:
    """The units of a made or refreshed set, or of a benchmark's own data.

    Args:
        benchmark: its name, or the object.
        data: a file or folder as `run --data` takes it; None for the benchmark's own.
        mode: how calls are written; by default the benchmark's first mode.
        evaluation: whether a benchmark's own data may be played. Who trains on them can report no score on them.

    Raises:
        UsageError: they are a benchmark's own data, and `evaluation` is off.
        DataError: they cannot be read.
    """
    chosen = load_benchmark(benchmark, mode) if isinstance(benchmark, str) else benchmark
    source = data_of(chosen).locate(None if data is None else str(data), split)
    if not evaluation:
        files = [source.path] if source.path.is_file() else [p for p in source.path.rglob("*") if p.is_file()]
        try:
            check_not_official(files, allow=False)
        except UsageError as error:
            name = chosen.name
            raise UsageError(
                f"{source.path} holds data of a benchmark: who trains on them can report no score on them. Take a made"
                f" set, or procedural units; evaluation=True plays {name} for evaluation alone"
            ) from error
    return ItemUnits(chosen, Selection(benchmark=chosen, source=source, split=split, lang=lang).read())


def _number(seed: int | str) -> int:
    """A seed as a whole number from 0 on; texts are spread over the first million."""
    if isinstance(seed, int):
        return abs(seed)
    return int.from_bytes(sha256(seed.encode("utf-8", "surrogatepass")).digest()[:8]) % 1_000_000
