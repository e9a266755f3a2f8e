"""Items made by models: right ones are kept, wrong ones never, doubtful ones wait for people; a record suffices."""

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from generate.items.players import TOOLS, ItemPlayers
from generate.scripted import Spoil, edit, say
from long import WHOLE
from wildtool.benchmarks.acebench import ACEBENCH
from wildtool.declared import lint
from wildtool.engine.plan import Plan
from wildtool.engine.replies import replay_source
from wildtool.engine.run.runner import RunResult, run_plan
from wildtool.errors import DataError, RecordError
from wildtool.models.replay import ReplayModel
from wildtool.types import Model, Reply, Request, Transcript
from wildtool_data.make.core.files import LOSSES_FILE, RECORD_FOLDER
from wildtool_data.make.core.maker import PROFILE
from wildtool_data.make.items.acebench_format import acebench_records
from wildtool_data.make.items.collect import GeneratedItems
from wildtool_data.make.items.maker import ItemGenerationSpec, ItemMaker
from wildtool_data.make.items.output import (
    DECISIONS_FILE,
    DOUBTFUL_FILE,
    ITEMS_FOLDER,
    PROVENANCE_FILE,
    items_from_record,
    read_decisions,
    write_items,
)
from wildtool_data.make.items.plan import ITEM_KINDS, parse_shares


def made(
    folder: Path, model: Model, out: str = "out", *, concurrency: int = 32, whole: bool = False, **order: Any
) -> tuple[RunResult, GeneratedItems]:
    """Makes a set; a whole one has others in the place of lost items."""
    tools = folder / "tools.json"
    tools.write_text(json.dumps(TOOLS))
    maker = ItemMaker(ItemGenerationSpec(**{"items": 17, "tools": tools, **order}))
    plan = Plan(
        benchmark=maker,
        source=maker.source(),
        models=dict.fromkeys(["agent", *maker.roles], model),
        profile=PROFILE,
        concurrency=concurrency,
    )
    while True:
        result = run_plan(plan, folder / out / RECORD_FOLDER, command=[])
        found = items_from_record(maker, plan, folder / out)
        if not whole or not maker.replace_lost(found):
            break
    write_items(found, folder / out)
    return result, found


def gold_outcomes(folder: Path, profile: str) -> Counter[str]:
    outcomes: Counter[str] = Counter()
    for item in ACEBENCH.load(ACEBENCH.data.locate(str(folder / ITEMS_FOLDER))):
        for unit in item.units:
            request = ACEBENCH.rules(profile).episode(item, unit).request()
            assert request is not None and request.gold is not None
            said = Transcript((Reply(request.gold("parallel")),))
            position = item.units.index(unit)
            outcomes[ACEBENCH.judge(item, {unit: said}, profile)[position].outcome] += 1
    return outcomes


def findings(folder: Path) -> list[str]:
    return [
        f"{f.where}: {f.rule}: {f.message}"
        for f in lint(ACEBENCH, ACEBENCH.data.locate(str(folder / ITEMS_FOLDER)))
    ]


def files(folder: Path) -> dict[str, bytes]:
    """Everything that is made, by its path; the record, which holds times, is left out."""
    paths = (path for path in folder.rglob("*") if path.is_file() and RECORD_FOLDER not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


ITEMS = 68 if WHOLE else 34


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with items of all kinds, half of them Chinese."""
    folder = tmp_path_factory.mktemp("good")
    result, found = made(folder, ItemPlayers(), items=ITEMS, langs=("en", "zh"))
    assert (result.status, len(found.kept), found.losses, found.doubtful) == ("done", ITEMS, (), ())
    return folder


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an item of each kind and two of some."""
    folder = tmp_path_factory.mktemp("few")
    made(folder, ItemPlayers())
    return folder


def test_right_players_make_items_of_all_kinds_in_both_languages(good: Path):
    rows = [json.loads(line) for line in (good / "out" / PROVENANCE_FILE).read_text("utf-8").splitlines()]
    assert {(row["kind"], row["lang"]) for row in rows} == {
        (k, lang) for k in ITEM_KINDS for lang in ("en", "zh")
    }


def test_made_items_pass_lint(good: Path):
    assert findings(good / "out") == []


@pytest.mark.parametrize("profile", ["official", "fixed"])
def test_gold_of_made_items_is_right(good: Path, profile: str):
    outcomes = gold_outcomes(good / "out", profile)
    assert set(outcomes) == {"correct"}
    assert outcomes.total() > ITEMS


def test_an_item_says_how_it_was_made(good: Path):
    first = json.loads((good / "out" / PROVENANCE_FILE).read_text("utf-8").splitlines()[0])
    assert first["models"]["writer"] == "players"
    assert first["plan"]["kind"] == first["kind"]
    assert [vote["judge"] for vote in first["votes"]] == ["judge", "judge 2", "judge 3"]
    assert {"D6", "E8", "L3", "S4", "gold"} <= set(first["checks"])


@pytest.mark.long
def test_more_at_a_time_makes_the_same_items(tmp_path: Path, few: Path):
    made(tmp_path, ItemPlayers(), "one", concurrency=1)
    assert files(tmp_path / "one") == files(few / "out")


@pytest.mark.long
@pytest.mark.parametrize("share", [0.1, 0.5, 0.93])
def test_a_killed_making_goes_on_to_the_same_items(tmp_path: Path, few: Path, share: float):
    shutil.copytree(few / "out", tmp_path / "out")
    (record,) = (tmp_path / "out" / RECORD_FOLDER).glob("*.jsonl*")
    whole = record.read_bytes()
    record.write_bytes(whole[: int(len(whole) * share)])
    shutil.rmtree(tmp_path / "out" / ITEMS_FOLDER)
    result, _ = made(tmp_path, ItemPlayers())
    assert result.calls and result.replayed
    assert files(tmp_path / "out") == files(few / "out")


def test_recorded_replies_make_the_same_items(tmp_path: Path, few: Path):
    shutil.copy(few / "tools.json", tmp_path)
    maker = ItemMaker(ItemGenerationSpec(17, tools=tmp_path / "tools.json"))
    said = replay_source(maker, maker.source())(few / "out" / RECORD_FOLDER, None)
    made(tmp_path, ReplayModel("players", said))
    assert files(tmp_path / "out") == files(few / "out")


def test_other_settings_do_not_go_on_with_a_record(tmp_path: Path):
    made(tmp_path, ItemPlayers(), items=2)
    with pytest.raises(RecordError, match="the settings differ: data_sha256"):
        made(tmp_path, ItemPlayers(), items=2, judges=1, agree=1)


def calls(change: Callable[[dict[str, Any]], Any]) -> Callable[[dict[str, Any]], None]:
    """Changes the first call that a reply makes."""

    def changed(written: dict[str, Any]) -> None:
        if written.get("calls"):
            change(written["calls"][0])

    return changed


def name_tool(written: dict[str, Any]) -> None:
    for message in written.get("messages", ()):
        message["user"] += " Use bookCourt."


def act(action: str) -> Callable[[dict[str, Any]], None]:
    """The assistant always finds something."""

    def changed(written: dict[str, Any]) -> None:
        if "action" in written:
            tool = written.get("tool") or written["calls"][0]["name"]
            name = next(t for t in TOOLS if t["function"]["name"] == tool)["function"]["parameters"][
                "required"
            ][0]
            written.update(action=action, tool=tool, parameter=name, thought=name, text="Hm?")

    return changed


WRITTEN = {"items": 8, "kinds": parse_shares(("single", "parallel", "list", "preference"))}
PLAYED = {"items": 8, "kinds": parse_shares(("adjust", "switch", "incomplete", "error"))}


@pytest.mark.long
@pytest.mark.parametrize(
    ("spoil", "order", "reasons"),
    [
        pytest.param(say("writer", "Sure!"), WRITTEN, {"writer W1"}, id="wrong format"),
        pytest.param(say("writer", ""), WRITTEN, {"writer W1"}, id="empty reply"),
        pytest.param(
            edit("writer", lambda w: w.update(messages=[])), WRITTEN, {"writer W1"}, id="no messages"
        ),
        pytest.param(
            edit("writer", lambda w: w["messages"].append({"assistant": "Done."})),
            WRITTEN,
            {"writer L1"},
            id="assistant last",
        ),
        pytest.param(
            edit("writer", lambda w: w["messages"].insert(0, {"user": ""})),
            WRITTEN,
            {"writer L1"},
            id="two users",
        ),
        pytest.param(
            edit("writer", calls(lambda c: c.update(name="flyAway"))),
            WRITTEN,
            {"writer E1"},
            id="unknown tool",
        ),
        pytest.param(
            edit("writer", calls(lambda c: c.update(arguments="x"))),
            WRITTEN,
            {"writer W2"},
            id="arguments as a text",
        ),
        pytest.param(
            edit("writer", calls(lambda c: c["arguments"].update(extra=1))),
            WRITTEN,
            {"writer E2"},
            id="unknown argument",
        ),
        pytest.param(
            edit("writer", calls(lambda c: c["arguments"].popitem())),
            WRITTEN,
            {"writer E2", "writer E4"},
            id="required left out",
        ),
        pytest.param(
            edit("writer", lambda w: w["calls"].append(w["calls"][0])),
            WRITTEN,
            {"writer E5", "writer E6"},
            id="call twice",
        ),
        pytest.param(
            edit("writer", lambda w: w.update(messages=[{"user": "Do as always, please."}])),
            WRITTEN,
            {"writer E8"},
            id="values nowhere",
        ),
        pytest.param(
            edit("writer", lambda w: w.update(alternatives=[w["calls"]])),
            WRITTEN,
            {"writer S5"},
            id="same twice",
        ),
        pytest.param(
            edit("writer", lambda w: w.update(alternatives=[[]])), WRITTEN, {"writer W2"}, id="no alternative"
        ),
        pytest.param(edit("writer", name_tool), WRITTEN, {"writer A5"}, id="tool named"),
        pytest.param(
            edit("writer", lambda w: w.update(profile={})),
            {"items": 2, "kinds": {"preference": 1}},
            {"writer W4"},
            id="no profile",
        ),
        pytest.param(say("user", ""), PLAYED, {"user U1"}, id="empty user"),
        pytest.param(say("agent", "Sure!"), PLAYED, {"agent G1"}, id="assistant without form"),
        pytest.param(
            edit("agent", calls(lambda c: c.update(name="flyAway"))),
            PLAYED,
            {"agent E1"},
            id="assistant's unknown tool",
        ),
        pytest.param(
            edit("agent", act("missing")),
            PLAYED,
            {"no call", "not error", "not mended", "agent A1"},
            id="endless questions",
        ),
        pytest.param(
            edit("agent", act("wrong")),
            PLAYED,
            {"no call", "not incomplete", "not mended"},
            id="endless doubts",
        ),
        pytest.param(
            edit("agent", lambda a: a.update(action="call", calls=[])),
            PLAYED,
            {"agent G2"},
            id="no call at all",
        ),
        pytest.param(
            say("tool", "200 OK"),
            {"items": 4, "kinds": {"adjust": 1, "switch": 1}},
            {"tool T1"},
            id="results without form",
        ),
        pytest.param(
            say("tool", '{"observations": []}'),
            {"items": 4, "kinds": {"adjust": 1}},
            {"tool T2"},
            id="results missing",
        ),
    ],
)
def test_nothing_wrong_is_kept_and_each_loss_has_its_reason(
    tmp_path: Path, spoil: Spoil, order: dict[str, Any], reasons: set[str]
):
    result, found = made(tmp_path, ItemPlayers(spoil), **order)
    assert result.status == "done"
    assert len(found.kept) + len(found.losses) == order["items"]
    assert found.losses
    assert {loss["reason"] for loss in found.losses} <= reasons
    assert all(loss["detail"] for loss in found.losses)
    assert len((tmp_path / "out" / LOSSES_FILE).read_text("utf-8").splitlines()) == len(found.losses)
    if found.kept:
        assert findings(tmp_path / "out") == []
        assert set(gold_outcomes(tmp_path / "out", "fixed")) == {"correct"}


def test_a_value_that_is_said_as_missing_is_not_taken_for_missing(tmp_path: Path):
    def forgets_nothing(role: str, text: str, request: Request) -> str:
        seen = json.loads(request.messages[1]["content"])
        if role != "agent" or json.loads(text).get("action") != "missing":
            return text
        meant = next(t for t in seen["tools"] if t["name"] == json.loads(text)["tool"])
        return json.dumps({**json.loads(text), "thought": "|".join(meant["parameters"]["required"])})

    _, found = made(tmp_path, ItemPlayers(forgets_nothing), items=6, kinds={"incomplete": 1})
    assert {loss["reason"] for loss in found.losses} == {"item L3"}


def test_a_value_that_breaks_nothing_is_no_wrong_value(tmp_path: Path):
    def right(role: str, text: str, request: Request) -> str:
        seen = json.loads(request.messages[1]["content"])
        if role != "agent" or json.loads(text).get("action") != "wrong":
            return text
        said = seen["conversation"][0]["user"]
        return json.dumps({**json.loads(text), "parameter": "trainer", "thought": said.split()[1]})

    _, found = made(tmp_path, ItemPlayers(right), items=8, kinds={"error": 1})
    assert {loss["reason"] for loss in found.losses} <= {"item L4", "agent G3"}
    assert found.losses and not found.kept


def test_an_irrelevant_item_offers_no_longer_what_would_serve(good: Path):
    rows = [
        json.loads(line)
        for path in sorted((good / "out" / ITEMS_FOLDER).glob("*/data_special_irrelevant.json"))
        for line in path.read_text("utf-8").splitlines()
    ]
    about = {tool["function"]["description"]: tool["function"]["name"] for tool in TOOLS}
    assert rows
    for row in rows:
        needed = next(name for text, name in about.items() if text in row["question"])
        assert needed not in [function["name"] for function in row["function"]]


def test_what_the_judges_do_not_agree_on_waits_for_people_with_all_votes(tmp_path: Path):
    wrong = '{"valid": false, "where": "answer", "reason": "the date is another one"}'
    _, found = made(tmp_path, ItemPlayers(say("judge 2", wrong)), items=4)
    assert (len(found.kept), len(found.doubtful), found.losses) == (0, 4, ())
    rows = [json.loads(line) for line in (tmp_path / "out" / DOUBTFUL_FILE).read_text("utf-8").splitlines()]
    assert [[vote["valid"] for vote in row["votes"]] for row in rows] == [[True, False, True]] * 4
    assert rows[0]["votes"][1]["reason"] == "the date is another one"
    assert {"question", "answer"} == set(rows[0]["records"][0])
    assert not (tmp_path / "out" / ITEMS_FOLDER).exists()


def test_a_majority_is_enough_where_that_is_asked_for(tmp_path: Path):
    wrong = '{"valid": false, "where": "answer", "reason": "no"}'
    _, found = made(tmp_path, ItemPlayers(say("judge 2", wrong)), items=4, agree=2)
    assert len(found.kept) == 4


def test_a_vote_that_cannot_be_read_is_no_vote_for_an_item(tmp_path: Path):
    _, found = made(tmp_path, ItemPlayers(say("judge 3", "yes, fine")), items=3)
    assert [kept.made_by["votes"][2]["valid"] for kept in found.doubtful] == [None] * 3
    assert "V1" in found.doubtful[0].made_by["votes"][2]["reason"]


def test_judges_see_the_answer_and_not_one_another(tmp_path: Path):
    players = ItemPlayers()
    made(tmp_path, players, items=3)
    seen = [json.loads(r.messages[1]["content"]) for r in players.asked if r.role.startswith("judge")]
    assert len(seen) == 9
    assert all(set(entry) == {"kind", "records"} and "answer" in entry["records"][0] for entry in seen)


def test_no_judge_is_asked_where_a_rule_is_broken(tmp_path: Path):
    players = ItemPlayers(edit("writer", calls(lambda call: call.update(name="flyAway"))))
    made(tmp_path, players, items=2, kinds={"single": 1})
    assert {request.role for request in players.asked} == {"writer"}


def test_a_role_is_told_which_rule_it_broke(tmp_path: Path):
    players = ItemPlayers(edit("writer", calls(lambda call: call.update(name="flyAway"))))
    made(tmp_path, players, items=1, kinds={"single": 1})
    second = next(r for r in players.asked if len(r.messages) == 4)
    assert "E1: 'flyAway' is not a tool" in second.messages[3]["content"]


def test_items_alike_are_kept_once(tmp_path: Path):
    def same(role: str, text: str, request: Request) -> str:
        if role != "writer":
            return text
        tools = {t["name"] for t in json.loads(request.messages[1]["content"])["tools"]}
        call = {"name": "bookLesson", "arguments": {"trainer": "Mora", "level": "top"}}
        return (
            json.dumps({"messages": [{"user": "Mora, top, as every week."}], "calls": [call]})
            if call["name"] in tools
            else text
        )

    _, found = made(tmp_path, ItemPlayers(same), items=12, kinds={"single": 1})
    lost = Counter(loss["reason"] for loss in found.losses)
    assert lost["S4"] > 1
    texts = [kept.item.user_texts[0] for kept in found.kept]
    assert texts.count("Mora, top, as every week.") == 1


def test_the_yield_names_where_attempts_are_lost(tmp_path: Path):
    _, found = made(tmp_path, ItemPlayers(say("writer", "")), items=2, kinds={"single": 1})
    shown = {(metric.group, metric.name): metric.numerator for metric in found.attrition()}
    assert shown["items", "kept"] == 0
    assert shown["items lost", "writer W1"] == 2
    assert shown["replies", "writer refused W1"] == 18
    assert shown["kept by kind", "single"] == 0


def test_a_kind_that_no_tool_allows_is_lost_with_its_reason(tmp_path: Path):
    tools = [tool for tool in TOOLS if tool["function"]["name"] in ("bookLesson", "rateCourt")]
    (tmp_path / "few.json").write_text(json.dumps(tools))
    _, found = made(tmp_path, ItemPlayers(), items=2, kinds={"object-deep": 1}, tools=tmp_path / "few.json")
    assert {loss["reason"] for loss in found.losses} == {"tools"}
    assert "no tool of these allows an item of the kind object-deep" in found.losses[0]["detail"]


def only_two_tools(role: str, text: str, request: Request) -> str:
    """A writer that knows no more than two of the tools."""
    wanted = json.loads(request.messages[1]["content"]).get("wanted", {})
    return text if role != "writer" or wanted["tool"] in ("bookLesson", "planTrip") else "Sorry."


@pytest.mark.long
def test_others_stand_in_for_lost_items_and_each_loss_is_told(tmp_path: Path):
    order: dict[str, Any] = {"items": 16, "kinds": {"single": 1, "parallel": 1}, "whole": True}
    _, alone = made(tmp_path, ItemPlayers(only_two_tools), "alone", **{**order, "whole": False})
    _, found = made(tmp_path, ItemPlayers(only_two_tools), **order)
    assert len(alone.kept) < 16
    assert (len(found.kept), found.unreplaced_losses) == (16, [])
    assert found.replaced == 16 - len(alone.kept)
    assert {loss["replaced"] for loss in found.losses} == {True}
    assert Counter(kept.item.plan.kind for kept in found.kept) == {"single": 8, "parallel": 8}


@pytest.mark.long
def test_what_stands_in_is_the_same_when_a_making_goes_on(tmp_path: Path):
    order: dict[str, Any] = {"items": 6, "kinds": {"single": 1}, "whole": True}
    made(tmp_path, ItemPlayers(only_two_tools), "once", **order)
    made(tmp_path, ItemPlayers(only_two_tools), "twice", **{**order, "whole": False})
    players = ItemPlayers(only_two_tools)
    made(tmp_path, players, "twice", **order)
    asked = len(players.asked)
    made(tmp_path, players, "twice", **order)
    assert len(players.asked) == asked > 0
    assert files(tmp_path / "twice") == files(tmp_path / "once")


def test_where_nothing_is_kept_nothing_stands_in(tmp_path: Path):
    players = ItemPlayers(say("writer", ""))
    _, found = made(tmp_path, players, items=2, kinds={"single": 1}, whole=True)
    assert len(players.asked) == 18
    assert len(found.unreplaced_losses) == 2


def test_what_people_decide_of_doubtful_items_is_done_at_the_next_command(tmp_path: Path):
    wrong = '{"valid": false, "where": "answer", "reason": "the date is another one"}'
    players = ItemPlayers(say("judge", wrong))
    made(tmp_path, players, items=4)
    doubtful = [
        json.loads(line)["item"]
        for line in (tmp_path / "out" / DOUBTFUL_FILE).read_text("utf-8").splitlines()
    ]
    assert doubtful == ["0", "1", "2", "3"]
    decisions = [{"item": "1", "keep": True, "reason": "it is right"}, {"item": 2, "keep": False}]
    (tmp_path / "out" / DECISIONS_FILE).write_text("".join(json.dumps(row) + "\n" for row in decisions))
    asked = len(players.asked)
    _, found = made(tmp_path, players, items=4)
    assert len(players.asked) == asked
    assert [kept.made_by["item"] for kept in found.kept] == [1]
    assert found.kept[0].made_by["reviewed"] is True
    assert [kept.made_by["item"] for kept in found.doubtful] == [0, 3]
    assert [(loss["item"], loss["reason"]) for loss in found.losses] == [(2, "refused by people")]
    assert findings(tmp_path / "out") == []


def test_an_item_keeps_its_id_whatever_becomes_of_others(tmp_path: Path):
    _, all_kept = made(tmp_path, ItemPlayers(), "all", items=6)

    def some(role: str, text: str, request: Request) -> str:
        odd = role == "judge" and "Z" in request.messages[1]["content"]
        return '{"valid": false, "where": "answer", "reason": "no"}' if odd else text

    _, few_kept = made(tmp_path, ItemPlayers(some), "few", items=6)
    assert 0 < len(few_kept.kept) < len(all_kept.kept) == 6
    assert {acebench_records(one.item)[0].question["id"] for one in few_kept.kept} < {
        acebench_records(one.item)[0].question["id"] for one in all_kept.kept
    }


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"item": 1.5, "keep": true}', '{"item": 1}', '{"item": "1", "keep": 1}']
)
def test_decisions_without_form_are_named(tmp_path: Path, line: str):
    (tmp_path / DECISIONS_FILE).write_text('{"item": 0, "keep": true}\n' + line)
    with pytest.raises(DataError, match=f"{DECISIONS_FILE}:2: "):
        read_decisions(tmp_path / DECISIONS_FILE)


def test_a_decision_on_a_refused_item_says_nothing_of_what_stands_in_for_it(tmp_path: Path):
    wrong = '{"valid": false, "where": "answer", "reason": "no"}'

    def doubts_lessons(role: str, text: str, request: Request) -> str:
        return wrong if role == "judge" and "lesson with a trainer" in _question(request) else text

    order: dict[str, Any] = {"items": 8, "kinds": {"single": 1}, "whole": True}
    _, before = made(tmp_path, ItemPlayers(doubts_lessons), **order)
    refused = [one.item.plan.name for one in before.doubtful]
    assert refused
    decided = [json.dumps({"item": name, "keep": False, "reason": "no"}) for name in refused]
    (tmp_path / "out" / DECISIONS_FILE).write_text("\n".join(decided))
    _, after = made(tmp_path, ItemPlayers(doubts_lessons), **order)
    assert {loss["reason"] for loss in after.losses} == {"refused by people"}
    assert len(after.kept) + len(after.doubtful) == 8
    assert {one.item.plan.name for one in after.doubtful}.isdisjoint(refused)


def _question(request: Request) -> str:
    return str(json.loads(request.messages[1]["content"])["records"][0]["question"])
