"""The folder of made tools: a run folder with the record, and beside it what follows from that."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from wildtool import __version__
from wildtool.engine.plan import Plan
from wildtool.engine.record.reader import RecordReader
from wildtool.generate.core import prompts
from wildtool.generate.core.attrition import yield_table
from wildtool.generate.core.files import RECORD, line, storing, write_lines, write_outcome
from wildtool.generate.core.plan import Lang
from wildtool.generate.tools.api import Api, atoms
from wildtool.generate.tools.growth import Lost
from wildtool.generate.tools.maker import ApiMaker, regrow
from wildtool.generate.tools.script import PROMPTS, ROLES
from wildtool.generate.tools.tree import Node, Tree
from wildtool.toolcall.text.similarity import shared
from wildtool.types import Metric

APIS = "apis.jsonl"
CHECKS = (
    "N1", "N2", *(f"D{k}" for k in range(1, 10)), *(f"S{k}" for k in range(1, 10)), *(f"K{k}" for k in range(1, 5)),
)  # fmt: skip
_FEWEST = 3
"""Tools of a set at least, where there are so many."""


@dataclass(frozen=True, slots=True)
class Harvest:
    """What came of a record."""

    apis: tuple[Api, ...]
    losses: tuple[Lost, ...]
    unfinished: int
    """APIs that are not made since something was cut off; 0 where every attempt was made."""
    nodes: Mapping[Lang, Sequence[Node]]
    tally: Mapping[str, int]

    def yields(self) -> list[Metric]:
        """Where attempts are lost, and of what sort what was kept is."""
        reasons = [lost.reason for lost in self.losses]
        table = yield_table("tools", len(self.apis), reasons, self.unfinished, self.tally, ROLES)
        classes = Counter(atom for api in self.apis for atom in atoms(api.parameters).values())
        ways = Counter(api.operator or "designed" for api in self.apis)
        sources = Counter(n.source.split()[0] for nodes in self.nodes.values() for n in nodes)
        for group, counts in {"parameters": classes, "made by": ways, "nodes of the tree": sources}.items():
            table += [
                Metric(group, name, count / counts.total(), count, counts.total())
                for name, count in counts.most_common()
            ]
        return [*table, *_distances(self.apis)]


def write_apis(maker: ApiMaker, plan: Plan, out: Path) -> Harvest:
    """Writes what follows from the record in a folder: a tools file for each language, the APIs with where they come
    from, the tree, losses with their reasons, and the yield.

    Raises StorageError where there is no room.
    """
    with RecordReader(out / RECORD) as reader:
        growth = regrow(maker, reader)
    pool = growth.standing()
    made: dict[Lang, dict[str, list[str]]] = {lang: {} for lang in pool.trees}
    for api in growth.apis:
        made[api.lang].setdefault(api.node, []).append(api.name)
    trees: dict[Lang, Tree] = {}
    nodes: dict[Lang, Sequence[Node]] = {}
    for lang, tree in pool.trees.items():
        trees[lang] = tree.with_apis(made[lang])
        nodes[lang] = tuple(trees[lang].nodes.values())
    cut_off = growth.stopped or growth.open
    found = Harvest(
        tuple(growth.apis),
        tuple(growth.losses),
        max(0, maker.order.apis - len(growth.apis)) if cut_off else 0,
        nodes,
        dict(growth.tally),
    )
    models = {role: model.name for role, model in plan.models.items() if role != "agent"}
    with storing(out):
        for lang, tree in trees.items():
            own = [api for api in found.apis if api.lang == lang]
            write_lines(tools_file(out, lang), (_list(tools) for tools in tool_lists(own)))
            written = json.dumps(tree.rows(), ensure_ascii=False, indent=1)
            write_lines(out / f"tree_{lang}.json", [written + "\n"])
        write_lines(out / APIS, (line(_row(api, models, maker.order.seed)) for api in found.apis))
        write_outcome(out, map(asdict, found.losses), found.yields())
    return found


def tools_file(out: Path, lang: Lang) -> Path:
    """The tools of a language, a line for each set of them."""
    return out / f"tools_{lang}.jsonl"


def tool_lists(apis: Sequence[Api]) -> list[list[dict[str, Any]]]:
    """Sets of tools that belong together: those of a sub-domain, with what is left of small ones by domain."""
    sets: list[list[Api]] = []
    rest: list[Api] = list(apis)
    for level in (2, 1, 0):
        groups: dict[tuple[str, ...], list[Api]] = {}
        for api in rest:
            groups.setdefault(api.tree_path[:level], []).append(api)
        rest = [api for group in groups.values() if len(group) < _FEWEST and level for api in group]
        sets += [group for group in groups.values() if len(group) >= _FEWEST or not level]
    return [[api.tool for api in group] for group in sets]


def how_to_use(out: Path, langs: Sequence[Lang]) -> str:
    """The command that makes sessions over the tools."""
    return f"wildtool generate --model NAME --tools {tools_file(out, langs[0])} --lang {langs[0]} --out set"


def _list(tools: Sequence[Mapping[str, Any]]) -> str:
    return json.dumps(tools, ensure_ascii=False) + "\n"


def _row(api: Api, models: Mapping[str, str], seed: str) -> dict[str, Any]:
    about = {
        "models": dict(models),
        "version": __version__,
        "seed": seed,
        "checks": CHECKS,
        "reviewed": False,
    }
    return {**api.row(prompts.digest(PROMPTS)), "made_by": about}


def _distances(apis: Sequence[Api]) -> Iterator[Metric]:
    """How far APIs are from the sibling that is most like them: 0 the same, 1 nothing in common."""
    places: dict[tuple[Lang, str], list[Api]] = {}
    for api in apis:
        places.setdefault((api.lang, api.place), []).append(api)
    found = [
        1 - max(shared(api.text, other.text) for other in siblings if other is not api)
        for siblings in places.values()
        if len(siblings) > 1
        for api in siblings
    ]
    if found:
        yield Metric(
            "diversity",
            "distance to the nearest sibling",
            sum(found) / len(found),
            sum(found),
            len(found),
            kind="mean",
        )
