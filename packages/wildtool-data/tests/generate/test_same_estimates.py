"""What is estimated before anything is sent, by role, for each sort of generation."""

import json
from pathlib import Path
from typing import Any

import pytest

from generate.golden import check
from generate.items.players import TOOLS as CLUB
from generate.sessions.players import session_of_players
from training.procedures.training_files import call, row, wrote
from wildtool_data.make import estimates
from wildtool_data.make.core.files import write_sessions
from wildtool_data.make.core.maker import RoleBenchmark
from wildtool_data.make.core.plan import SessionGenerationSpec
from wildtool_data.make.estimates import estimate_generation
from wildtool_data.make.items.maker import ItemGenerationSpec, ItemMaker
from wildtool_data.make.procedural.sessions import procedural_sessions
from wildtool_data.make.sessions.continuation import Continuation, ContinuationMaker, ContinuationSpec
from wildtool_data.make.sessions.maker import SessionMaker
from wildtool_data.make.sessions.result import ResultMaker
from wildtool_data.make.tools.maker import ApiMaker, ToolGenerationSpec
from wildtool_data.make.training.pairs import PairMaker, PairSpec
from wildtool_data.make.training.rationales import RationaleMaker, RationaleSpec
from wildtool_data.make.training.selection import SelectionMaker, SelectionSpec


def _estimate(maker: RoleBenchmark) -> Any:
    estimate = estimate_generation(maker)
    if estimate is None:
        return None
    rows = [
        f"{role}: {' to '.join(f'{u.calls} {u.prompt_tokens:.1f} {u.reply_tokens:.1f}' for u in (each.low, each.high))}"
        for role, each in estimate.roles.items()
    ]
    return [estimate.basis, estimate.upper_end, *rows]


def test_sessions_and_items_are_estimated_as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(estimates, "_SAMPLED", 8)
    (tmp_path / "club.json").write_text(json.dumps(CLUB))
    sessions = tmp_path / "sessions.jsonl"
    write_sessions(procedural_sessions(SessionGenerationSpec(12, 1), [].append), sessions)
    few = {"single": 1, "error": 1, "incomplete": 1}
    makers: dict[str, RoleBenchmark] = {
        "sessions": SessionMaker(SessionGenerationSpec(9, 3, langs=("en", "zh"), judges=2)),
        "items": ItemMaker(ItemGenerationSpec(20)),
        "items of a club": ItemMaker(
            ItemGenerationSpec(9, few, langs=("zh",), tools=tmp_path / "club.json", judges=1)
        ),
        "items of sessions": ItemMaker(ItemGenerationSpec(9, few, sessions=sessions, judges=0)),
        "tools": ApiMaker(ToolGenerationSpec(4)),
    }
    check("estimates_of_sets", {name: _estimate(maker) for name, maker in makers.items()})


def test_what_is_made_again_is_estimated_as_before(tmp_path: Path):
    record = json.loads(json.dumps(session_of_players(tmp_path, "Clarify Multi-Tool").record))
    start, second = Continuation("s", "d", record, 0), Continuation("s", "d", record, 1)
    makers: dict[str, RoleBenchmark] = {
        "from the start": ContinuationMaker(ContinuationSpec(), [start]),
        "from the second task": ContinuationMaker(
            ContinuationSpec(vote_counts={"judge": 2}), [second, start]
        ),
        "one result": ResultMaker("1", second, 0),
    }
    check("estimates_of_sessions_again", {name: _estimate(maker) for name, maker in makers.items()})


@pytest.mark.parametrize("tries", [1, 3])
def test_procedures_over_training_files_are_estimated_as_before(tmp_path: Path, tries: int):
    husum = call(station="Husum")
    file = wrote(
        tmp_path / "a.jsonl",
        row(husum),
        row(husum, call("tide", station="Kiel"), user="Both at Husum, please?"),
    )
    makers: dict[str, RoleBenchmark] = {
        "pairs": PairMaker(PairSpec(file=file, tries=tries)),
        "pairs with a critic": PairMaker(
            PairSpec(file=file, turns="all", tries=tries, retry="feedback", critic=True)
        ),
        "rating": SelectionMaker(SelectionSpec(files=(file,))),
        "tries": SelectionMaker(SelectionSpec(files=(file,), by="tries", tries=tries)),
        "rationales": RationaleMaker(RationaleSpec(file=file, min_tokens=30, check=True)),
        "long rationales": RationaleMaker(RationaleSpec(file=file, min_tokens=130, check=False)),
    }
    check(f"estimates_of_training_{tries}", {name: _estimate(maker) for name, maker in makers.items()})
