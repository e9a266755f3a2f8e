"""The folder of a set that models made: every file of it, and the verdict on each plan, follow from the replies alone."""

import json
from pathlib import Path
from typing import Any

import pytest

import wildtool
from generate.careless import careless, outcome_of, rows_of
from generate.golden import check, digest
from generate.items.players import TOOLS as CLUB
from generate.items.players import ItemPlayers
from generate.scripted import Scripted, say
from generate.sessions.players import TOOLS as LIBRARY
from generate.sessions.players import Players, session_of_players
from generate.tools.players import MARKET, ApiPlayers
from wildtool.engine.plan import Plan
from wildtool.engine.record.reader import LogReader, transcripts
from wildtool.engine.run.runner import run_plan
from wildtool.errors import DataError
from wildtool_data.make.core.files import RECORD_FOLDER
from wildtool_data.make.core.maker import PROFILE, RoleBenchmark
from wildtool_data.make.core.plan import SessionGenerationSpec
from wildtool_data.make.items.maker import ItemGenerationSpec, ItemMaker
from wildtool_data.make.items.output import DECISIONS_FILE, items_from_record, items_run_command, write_items
from wildtool_data.make.sessions.continuation import (
    Continuation,
    ContinuationMaker,
    ContinuationSpec,
    continuation_job,
)
from wildtool_data.make.sessions.maker import SessionMaker
from wildtool_data.make.sessions.output import REFERENCE_FORMATS, sessions_run_command, write_session_set
from wildtool_data.make.sessions.result import ResultMaker
from wildtool_data.make.tools.maker import ApiMaker, ToolGenerationSpec
from wildtool_data.make.tools.output import generate_command, write_apis


def _played(maker: Any, players: Scripted, out: Path) -> Plan:
    """Runs a maker, with replacements of what is lost."""
    names = dict.fromkeys(["agent", *maker.roles], players)
    plan = Plan(benchmark=maker, source=maker.source(), models=names, profile=PROFILE, concurrency=8)
    run_plan(plan, out / RECORD_FOLDER, command=[])
    return plan


def _whole(maker: RoleBenchmark, plan: Plan, out: Path) -> dict[str, Any]:
    """The digest of each file but the record and the table of the yield, and the verdicts."""
    files = {
        path.relative_to(out).as_posix(): digest(path.read_text("utf-8").replace(wildtool.__version__, "0"))
        for path in sorted(out.rglob("*"))
        if path.is_file() and RECORD_FOLDER not in path.parts and path.name != "yield.json"
    }
    with LogReader(out / RECORD_FOLDER) as reader:
        verdicts = [
            f"{v.item} {v.unit} {v.outcome} {v.score} {v.error} {v.reason} {v.steps}"
            for item in plan.selection.items()
            for v in maker.judge(item, transcripts(reader.log(item.id, 0)), PROFILE)
        ]
    return {"files": files, "verdicts": verdicts}


@pytest.mark.long
def test_a_folder_of_sessions_has_the_same_files(tmp_path: Path):
    tools, out = tmp_path / "tools.json", tmp_path / "out"
    tools.write_text(json.dumps(LIBRARY))
    maker = SessionMaker(SessionGenerationSpec(8, 2, langs=("en", "zh"), tools=tools, judges=2))
    plan = _played(maker, Players(careless(0.5)), out)
    made = write_session_set(maker, plan, out, REFERENCE_FORMATS)
    assert maker.replace_lost(made) is bool(made.missing)
    check("folder_sessions", {**_whole(maker, plan, out), "table": rows_of(made.attrition())})
    assert (
        sessions_run_command(Path("my set"))
        == "wildtool run wildtoolbench --data 'my set/sessions.jsonl' --model NAME"
    )


@pytest.mark.long
def test_a_folder_of_items_has_the_same_files(tmp_path: Path):
    tools, out = tmp_path / "tools.json", tmp_path / "out"
    tools.write_text(json.dumps(CLUB))
    maker = ItemMaker(ItemGenerationSpec(20, langs=("en", "zh"), tools=tools, judges=2, agree=2))
    plan = _played(maker, ItemPlayers(careless(0.4)), out)
    first = items_from_record(maker, plan, out)
    write_items(first, out)
    before = _whole(maker, plan, out)
    doubtful = [json.loads(line)["item"] for line in (out / "doubtful.jsonl").read_text().splitlines()]
    lines = [
        json.dumps({"item": name, "keep": k == 0, "reason": f"reason {k}"}) + "\n"
        for k, name in enumerate(doubtful[:2])
    ]
    (out / DECISIONS_FILE).write_text("".join(lines))
    second = items_from_record(maker, plan, out)
    write_items(second, out)
    assert (len(second.doubtful), len(second.kept)) == (len(first.doubtful) - 2, len(first.kept) + 1)
    check(
        "folder_items",
        {"before": before, "after": _whole(maker, plan, out), "table": rows_of(second.attrition())},
    )
    assert items_run_command(Path("my set")) == "wildtool run acebench --data 'my set/items' --model NAME"


@pytest.mark.parametrize("documents", [False, True])
def test_a_folder_of_tools_has_the_same_files(tmp_path: Path, documents: bool):
    market, out = tmp_path / "market.md", tmp_path / "out"
    market.write_text(MARKET)
    maker = ApiMaker(ToolGenerationSpec(40, langs=("en", "zh"), documents=(market,) if documents else ()))
    plan = _played(maker, ApiPlayers(careless(0.1)), out)
    made = write_apis(maker, plan, out)
    name = "documents" if documents else "tree"
    check(
        f"folder_tools_{name}",
        {**_whole(maker, plan, out), "table": rows_of(made.attrition()), "left": made.unfinished},
    )
    assert (
        generate_command(Path("set"), ["zh", "en"])
        == "wildtool generate --model NAME --tools set/tools_zh.jsonl --lang zh --out set"
    )


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    made = session_of_players(tmp_path_factory.mktemp("made"), "Clarify Multi-Tool")
    return json.loads(json.dumps(made.record))


@pytest.mark.parametrize("share", [0.1, 0.6])
def test_sessions_are_continued_as_before(record: dict[str, Any], share: float):
    starts = [Continuation(f"s{k}", "d", record, k % 2) for k in range(6)]
    maker = ContinuationMaker(ContinuationSpec("2", vote_counts={"checker": 2}), starts)
    players, rows, results = Players(careless(share)), [], []
    items = [*maker.planned_items()]
    for item in (*items, maker.replanned_item(items[1], 1)):
        result, asked = outcome_of(maker.script(item), players)
        results.append((item, result))
        rows.append(f"{item.id} {item.lang}: {asked}; {result.attempt} {result.detail}")
    made = maker.collect(results)
    kept = [
        f"{name} {digest([*map(list, (again.texts, again.answers, again.types, again.doubtful))])}"
        for name, again in made.kept
    ]
    sources = [*map(_identity, (maker, ContinuationMaker(ContinuationSpec("2", keep_texts=True), starts)))]
    check(
        f"continued_{share}",
        {
            "asked": rows,
            "kept": kept,
            "losses": made.losses,
            "table": rows_of(made.attrition()),
            "identity": sources,
        },
    )


def _identity(maker: RoleBenchmark) -> list[str]:
    source = maker.source()
    return [source.name, source.path.name, source.sha256]


def _refusal(make: Any) -> str:
    with pytest.raises(DataError) as refused:
        make()
    return str(refused.value)


def test_what_cannot_be_made_again_is_refused_with_the_reason(record: dict[str, Any]):
    def start(changed: dict[str, Any], first: int = 1) -> Continuation:
        return Continuation("s", "d", changed, first)

    types = {**record, "english_task_types": [record["english_task_types"][0], "Song"]}
    subtypes = {**record, "english_turn_subtypes": ["Song"]}
    two = {**record, **{key.replace("english", "chinese"): value for key, value in record.items()}}
    odd = {key.replace("english", "klingon"): value for key, value in record.items()}
    no_result = json.loads(json.dumps(record))
    del no_result["english_answer_list"][1][0]["observation"]
    wrong = json.loads(json.dumps(record))
    wrong["english_answer_list"][1][0]["action"]["arguments"] = {"title": 3}
    unknown = json.loads(json.dumps(record))
    unknown["english_answer_list"][1][0]["action"]["name"] = "fly"
    last = len(record["english_answer_list"][1]) - 1
    spec = ContinuationSpec()
    refusals = {
        "type": _refusal(lambda: continuation_job(start(types), 0, spec)),
        "subtype": _refusal(lambda: continuation_job(start(subtypes), 0, spec)),
        "two languages": _refusal(lambda: continuation_job(start(two), 0, spec)),
        "task 3": _refusal(lambda: continuation_job(start(record, 2), 0, spec)),
        "task -1": _refusal(lambda: continuation_job(start(record, -1), 0, spec)),
        "no call": _refusal(lambda: ResultMaker("1", start(record), last + 1)),
        "answer": _refusal(lambda: ResultMaker("1", start(record), last)),
        "question": _refusal(lambda: ResultMaker("1", start(record, 0), 0)),
        "no result": _refusal(lambda: ResultMaker("1", start(no_result), 0)),
        "wrong": _refusal(lambda: ResultMaker("1", start(wrong), 0)),
        "unknown": _refusal(lambda: ResultMaker("1", start(unknown), 0)),
        "other language": _refusal(lambda: continuation_job(start(odd), 0, spec)),
    }
    check("refused_again", refusals)


def test_a_result_is_made_again_as_before(record: dict[str, Any]):
    maker = ResultMaker("1", Continuation("s", "d", record, 1), 0)
    (item,) = maker.planned_items()
    results = [
        (each, outcome_of(maker.script(each), Players(spoil)))
        for each, spoil in ((item, say("tool", "200 OK")), (maker.replanned_item(item, 2), careless(0.3)))
    ]
    made = maker.collect((each, result) for each, (result, _) in results)
    rows = [
        f"{each.id} {each.roles}: {asked} {result.value} {result.detail}" for each, (result, asked) in results
    ]
    check(
        "result_again",
        {"asked": rows, "kept": made.kept, "losses": made.losses, "identity": _identity(maker)},
    )
