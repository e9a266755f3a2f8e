"""A sample of items that stands for the whole: stratified by the benchmark's own groups, seeded, with weights."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from wildtool.benchmark import Benchmark
from wildtool.draws import seeded_draw
from wildtool.errors import UsageError
from wildtool.types import Item

LEAST_OF_GROUP = 2
"""Items drawn of each group at least, where it has as many: an interval needs two."""


@dataclass(frozen=True, slots=True)
class ItemSample:
    """How many items are drawn, and by which seed."""

    size: int
    seed: int = 0

    def draw(self, benchmark: Benchmark, items: Iterable[Item]) -> "DrawnItems":
        """The same items for the same data and seed. Raises UsageError for a size below 2."""
        if self.size < LEAST_OF_GROUP:
            raise UsageError(f"a sample has at least {LEAST_OF_GROUP} items, not {self.size}")
        traits = {item.id: _traits(benchmark, item) for item in items}
        if len(traits) <= self.size:
            return DrawnItems(dict.fromkeys(traits, 1.0), len(traits))
        groups = _groups(traits, self.size)
        # Where the headline has more parts than leave room for two items of each, it gets one of each.
        minimum = max(1, min(LEAST_OF_GROUP, self.size // len(groups)))
        sizes = _allotted({group: len(ids) for group, ids in groups.items()}, self.size, minimum)
        weights: dict[str, float] = {}
        for group, ids in groups.items():
            weight = len(ids) / sizes[group] * self.size / len(traits)
            weights |= dict.fromkeys(self._spread(ids, traits, sizes[group]), weight)
        return DrawnItems({id_: weights[id_] for id_ in traits if id_ in weights}, len(traits))

    def _spread(
        self, ids: Sequence[str], traits: Mapping[str, Sequence[Hashable]], count: int
    ) -> Iterator[str]:
        """Items at equal distances among those of a group, which are sorted by what else is known of them."""
        ordered = sorted(ids, key=lambda id_: (list(map(str, traits[id_])), self._digest(id_)))
        start = seeded_draw(self._digest(ordered[0])).random()
        return (ordered[int((start + place) * len(ordered) / count)] for place in range(count))

    def _digest(self, id_: str) -> str:
        return sha256(f"{self.seed}/{id_}".encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class DrawnItems:
    """The items of a sample."""

    weights: Mapping[str, float]
    """By id, in the order of the data, how much an item counts, 1 on average: more where less of its group was drawn."""
    of: int
    """Items that it was drawn from."""

    @property
    def weighted(self) -> bool:
        """Whether the weights differ."""
        return len({round(weight, 9) for weight in self.weights.values()}) > 1


def _traits(benchmark: Benchmark, item: Item) -> tuple[Hashable, ...]:
    """What tells kinds of items apart: the part of the headline, split, language, and the values of its units in the
    columns of groups."""
    columns = (_values(benchmark, item, column) for column in benchmark.groups)
    return (headline_part(benchmark, item), item.split, item.lang, *columns)


def headline_part(benchmark: Benchmark, item: Item) -> tuple[str, ...]:
    """The part of the benchmark's headline that an item belongs to: its values of `headline_parts`."""
    return tuple("+".join(_values(benchmark, item, column)) for column in benchmark.headline_parts)


def _values(benchmark: Benchmark, item: Item, column: str) -> tuple[str, ...]:
    """The values of an item's units in a column, `split` and `lang` among them; sorted."""
    of_item = {"split": item.split, "lang": item.lang}
    if column in of_item:
        return (of_item[column],)
    return tuple(sorted({str(benchmark.fields(item, unit).get(column)) for unit in item.units}))


def _groups(traits: Mapping[str, tuple[Hashable, ...]], size: int) -> dict[Hashable, list[str]]:
    """Items by the parts of the headline, if a sample of this size can have one item of each, and by those further traits
    that leave room for two of each group, the first traits first."""
    parts = {its[0] for its in traits.values()}
    used = [0] if len(parts) <= size else []
    most = size // LEAST_OF_GROUP
    for trait in range(1, len(next(iter(traits.values())))):
        if len({tuple(its[each] for each in (*used, trait)) for its in traits.values()}) <= most:
            used.append(trait)
    groups: dict[Hashable, list[str]] = defaultdict(list)
    for id_, its in traits.items():
        groups[tuple(its[each] for each in used)].append(id_)
    return groups


def _allotted(sizes: Mapping[Hashable, int], count: int, minimum: int) -> dict[Hashable, int]:
    """How many items of each group are drawn: in proportion, by the largest remainder, but at least so many of each."""
    total = sum(sizes.values())
    allotted = {group: count * size // total for group, size in sizes.items()}
    for group in sorted(sizes, key=lambda group: -(count * sizes[group] % total))[
        : count - sum(allotted.values())
    ]:
        allotted[group] += 1
    for group, size in sizes.items():
        while allotted[group] < min(minimum, size):
            richest = max(allotted, key=lambda other: (allotted[other] / sizes[other], allotted[other]))
            richest = richest if allotted[richest] > minimum else max(allotted, key=allotted.__getitem__)
            allotted[richest] -= 1
            allotted[group] += 1
    return allotted
