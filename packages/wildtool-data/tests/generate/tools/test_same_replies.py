"""The same replies lead to the same requests, tools and trees, whatever rules they break: a record is replayed by it.

A change here is one of `RECIPE_VERSION`, unless only prompts changed.
"""

from pathlib import Path
from typing import Any

import pytest

from generate.careless import careless, outcome_of, rows_of
from generate.golden import check, digest
from generate.tools.players import MARKET, ApiPlayers
from wildtool_data.make.tools.maker import ApiMaker, ToolGenerationSpec
from wildtool_data.make.tools.output import GeneratedTools, grouped_tools


def _outcomes(spec: ToolGenerationSpec, share: float) -> dict[str, Any]:
    growth, players = ApiMaker(spec).growth(), ApiPlayers(careless(share))
    jobs: list[str] = []
    for job in range(growth.jobs):
        if growth.enough or job >= growth.end:
            break
        script = growth.script(job)
        assert script is not None
        result, asked = outcome_of(script, players)
        growth.record_result(job, result)
        jobs.append(f"{job}: {asked}; {growth.end}, {len(growth.apis)}")
    trees = growth.next_snapshot().trees
    nodes = [node for tree in trees.values() for node in tree.nodes.values()]
    made = GeneratedTools(tuple(growth.apis), tuple(growth.losses), 0, nodes, growth.counters)
    return {
        "table": rows_of(made.attrition()),
        "jobs": jobs,
        "tools": [f"{api.name}: {digest(api.row('1'))} {api.place} {api.node}" for api in made.apis],
        "sets": [len(tools) for tools in grouped_tools(made.apis)],
        "losses": [f"{loss.attempt}: {loss.reason}: {loss.detail}" for loss in made.losses],
        "trees": {lang: digest(tree.rows()) for lang, tree in trees.items()},
    }


@pytest.mark.parametrize(
    ("name", "share", "settings"),
    [
        ("careful", 0.02, {"apis": 72, "langs": ("en", "zh")}),
        ("careless", 0.35, {"apis": 48, "seed": "2"}),
        (
            "domains",
            0.1,
            {"apis": 20, "seed": "4", "tree": '{"Markets": null, "Goods": {"Weighing": ["weigh"]}}'},
        ),
        ("documents", 0.2, {"apis": 24, "seed": "3", "documents": True}),
    ],
)
def test_replies_of_careless_players_lead_to_the_same_tools(
    tmp_path: Path, name: str, share: float, settings: dict[str, Any]
):
    if "documents" in settings:
        (tmp_path / "market.md").write_text(MARKET * 2)
        settings = {**settings, "documents": (tmp_path / "market.md",)}
    if "tree" in settings:
        (tmp_path / "tree.json").write_text(settings["tree"])
        settings = {**settings, "tree": tmp_path / "tree.json"}
    check(f"tools_{name}", _outcomes(ToolGenerationSpec(**settings), share))
