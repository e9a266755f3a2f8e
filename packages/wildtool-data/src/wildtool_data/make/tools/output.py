"""The folder of generated tools: the record, and what follows from it."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from wildtool import __version__
from wildtool.engine.plan import Plan
from wildtool.engine.record.reader import LogReader
from wildtool.toolcall.text.similarity import jaccard
from wildtool.types import Metric
from wildtool_data.make.core import prompts
from wildtool_data.make.core.collect import attrition_table
from wildtool_data.make.core.files import (
    RECORD_FOLDER,
    json_line,
    storage_errors,
    write_attrition,
    write_whole_file,
)
from wildtool_data.make.core.plan import Lang
from wildtool_data.make.tools.api import ApiSpec, api_parameter_classes
from wildtool_data.make.tools.growth import FailedAttempt
from wildtool_data.make.tools.maker import ApiMaker, replay_growth
from wildtool_data.make.tools.script import API_PROMPTS, API_ROLES
from wildtool_data.make.tools.tree import DomainTree, TreeNode

APIS_FILE = "apis.jsonl"
API_CHECKS = (
    "N1", "N2", *(f"D{k}" for k in range(1, 10)), *(f"S{k}" for k in range(1, 10)), *(f"K{k}" for k in range(1, 5)),
)  # fmt: skip
_FEWEST = 3
"""Fewest tools of a set, if there are enough."""


@dataclass(frozen=True, slots=True)
class GeneratedTools:
    """The outcome of a record."""

    apis: tuple[ApiSpec, ...]
    losses: tuple[FailedAttempt, ...]
    unfinished: int
    """APIs that are not made since something was cut off; 0 where every attempt was made."""
    nodes: Sequence[TreeNode]
    """Of the trees of all languages."""
    counters: Mapping[str, int]

    def attrition(self) -> list[Metric]:
        """Where attempts are lost, and of what sort what was kept is."""
        reasons = [loss.reason for loss in self.losses]
        table = attrition_table(
            "tools", len(self.apis), reasons, self.unfinished, self.counters, API_ROLES, {}
        )
        classes = Counter(
            atom for api in self.apis for atom in api_parameter_classes(api.parameters).values()
        )
        ways = Counter(api.operator or "designed" for api in self.apis)
        sources = Counter(node.source.split()[0] for node in self.nodes)
        for group, counts in {"parameters": classes, "made by": ways, "nodes of the tree": sources}.items():
            table += [
                Metric(group, name, count / counts.total(), count, counts.total())
                for name, count in counts.most_common()
            ]
        return [*table, *_distances(self.apis)]


def write_apis(maker: ApiMaker, plan: Plan, out: Path) -> GeneratedTools:
    """Writes what follows from the record in a folder: a tools file for each language, the APIs with where they come
    from, the tree, losses with their reasons, and the yield.

    Raises StorageError if there is no room.
    """
    with LogReader(out / RECORD_FOLDER) as reader:
        growth = replay_growth(maker, reader)
    pool = growth.next_snapshot()
    names: dict[Lang, dict[str, list[str]]] = {lang: {} for lang in pool.trees}
    for api in growth.apis:
        names[api.lang].setdefault(api.node, []).append(api.name)
    trees: dict[Lang, DomainTree] = {
        lang: pool.trees[lang].with_apis(names[lang]) for lang in maker.spec.langs
    }
    cut_off = growth.stopped or growth.needs_more
    generated = GeneratedTools(
        tuple(growth.apis),
        tuple(growth.losses),
        max(0, maker.spec.apis - len(growth.apis)) if cut_off else 0,
        [node for tree in trees.values() for node in tree.nodes.values()],
        dict(growth.counters),
    )
    models = {role: model.name for role, model in plan.models.items() if role != "agent"}
    with storage_errors(out):
        for lang, tree in trees.items():
            own = [api for api in generated.apis if api.lang == lang]
            write_whole_file(tools_file(out, lang), map(json_line, grouped_tools(own)))
            rows = json.dumps(tree.rows(), ensure_ascii=False, indent=1)
            write_whole_file(out / f"tree_{lang}.json", [rows + "\n"])
        write_whole_file(
            out / APIS_FILE, (json_line(_row(api, models, maker.spec.seed)) for api in generated.apis)
        )
        write_attrition(out, map(asdict, generated.losses), generated.attrition())
    return generated


def tools_file(out: Path, lang: Lang) -> Path:
    """The tools of a language, a line for each set of them."""
    return out / f"tools_{lang}.jsonl"


def grouped_tools(apis: Sequence[ApiSpec]) -> list[list[dict[str, Any]]]:
    """Sets of tools that belong together: those of a sub-domain, with what is left of small ones by domain."""
    sets: list[list[ApiSpec]] = []
    rest: list[ApiSpec] = list(apis)
    for level in (2, 1):
        groups: dict[tuple[str, ...], list[ApiSpec]] = {}
        for api in rest:
            groups.setdefault(api.tree_path[:level], []).append(api)
        rest = [api for group in groups.values() if len(group) < _FEWEST for api in group]
        sets += [group for group in groups.values() if len(group) >= _FEWEST]
    return [[api.tool for api in group] for group in (*sets, rest) if group]


def generate_command(out: Path, langs: Sequence[Lang]) -> str:
    """The command that makes sessions over the tools."""
    return f"wildtool generate --model NAME --tools {tools_file(out, langs[0])} --lang {langs[0]} --out set"


def _row(api: ApiSpec, models: Mapping[str, str], seed: str) -> dict[str, Any]:
    origin = {
        "models": dict(models),
        "version": __version__,
        "seed": seed,
        "checks": API_CHECKS,
        "reviewed": False,
    }
    return {**api.row(prompts.prompts_digest(API_PROMPTS)), "made_by": origin}


def _distances(apis: Sequence[ApiSpec]) -> Iterator[Metric]:
    """How far APIs are from the sibling that is most like them: 0 the same, 1 nothing in common."""
    places: dict[tuple[Lang, str], list[ApiSpec]] = {}
    for api in apis:
        places.setdefault((api.lang, api.place), []).append(api)
    distances = [
        1 - max(jaccard(api.text, other.text) for other in siblings if other is not api)
        for siblings in places.values()
        if len(siblings) > 1
        for api in siblings
    ]
    if distances:
        name, total = "distance to the nearest sibling", sum(distances)
        yield Metric("diversity", name, total / len(distances), total, len(distances), kind="mean")
