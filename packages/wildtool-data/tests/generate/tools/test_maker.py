"""Tools made by models: right ones are kept, wrong ones never; each loss has its reason; the record is all it takes."""

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from generate.scripted import Spoil, edit, say
from generate.tools.players import MARKET, ApiPlayers
from wildtool.engine.call.budget import Budget, SpendingLimits
from wildtool.engine.call.client import Invocation, RetryPolicy
from wildtool.engine.plan import Plan
from wildtool.engine.replies import replay_source
from wildtool.engine.run.runner import RunResult, run_plan
from wildtool.errors import CallError, RecordError, UsageError
from wildtool.models.replay import ReplayModel
from wildtool.tools.schema.definitions import call_problems, definition_faults
from wildtool.types import Model, Reply, Request
from wildtool_data.make.core.files import LOSSES_FILE, RECORD_FOLDER
from wildtool_data.make.core.maker import PROFILE
from wildtool_data.make.procedural.tool_sets import read_tool_sets, result_schemas
from wildtool_data.make.tools.assignments import COMPLEXITIES
from wildtool_data.make.tools.growth import GENERATION_SIZES, generation_span
from wildtool_data.make.tools.maker import ApiMaker, ToolGenerationSpec
from wildtool_data.make.tools.operators import OPERATORS
from wildtool_data.make.tools.output import APIS_FILE, GeneratedTools, write_apis
from wildtool_data.make.tools.script import API_ROLES

FILES = (APIS_FILE, LOSSES_FILE, "tools_en.jsonl", "tree_en.json", "yield.json")


def made(
    folder: Path,
    model: Model,
    out: str = "out",
    *,
    concurrency: int = 32,
    invocation: Invocation | None = None,
    **order: Any,
) -> tuple[RunResult, GeneratedTools]:
    maker = ApiMaker(ToolGenerationSpec(**{"apis": 12, **order}))
    plan = Plan(
        benchmark=maker,
        source=maker.source(),
        models=dict.fromkeys(API_ROLES, model),
        profile=PROFILE,
        concurrency=concurrency,
    )
    maker.resume_from(folder / out / RECORD_FOLDER)
    policy = RetryPolicy(timeout_s=5, max_attempts=1)
    result = run_plan(plan, folder / out / RECORD_FOLDER, command=[], policy=policy, invocation=invocation)
    return result, write_apis(maker, plan, folder / out)


def rows(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def same(one: Path, other: Path) -> bool:
    return all((one / name).read_bytes() == (other / name).read_bytes() for name in FILES)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with 120 tools in three generations, half of them Chinese."""
    folder = tmp_path_factory.mktemp("good")
    result, found = made(folder, ApiPlayers(), apis=120, langs=("en", "zh"))
    assert (result.status, len(found.apis), found.unfinished) == ("done", 120, 0)
    return folder


@pytest.mark.long
def test_every_kept_tool_is_clear_and_has_a_call_that_follows_it(good: Path):
    kept = rows(good / "out" / APIS_FILE)
    assert len(kept) == 120
    for row in kept:
        assert definition_faults(row) == []
        assert call_problems(row["call"], row["parameters"]) == []


def test_names_are_given_once(good: Path):
    names = Counter(row["name"].casefold() for row in rows(good / "out" / APIS_FILE))
    assert len(names) == 120


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_tools_files_are_read_by_whoever_makes_sessions(good: Path, lang: Any):
    path = good / "out" / f"tools_{lang}.jsonl"
    notes: list[str] = []
    sets = read_tool_sets(path, lang, notes.append)
    kept = [row for row in rows(good / "out" / APIS_FILE) if row["lang"] == lang]
    assert notes == []
    assert {tool.name for tools in sets for tool in tools} == {row["name"] for row in kept}
    assert set(result_schemas(path)) == {row["name"] for row in kept}


def test_tools_of_a_line_are_enough_for_a_session(good: Path):
    lines = rows(good / "out" / "tools_en.jsonl")
    assert lines
    assert all(len(tools) >= 3 for tools in lines)


def test_tools_of_all_classes_are_made_and_all_operators_used(good: Path):
    kept = rows(good / "out" / APIS_FILE)
    assert {row["target"] for row in kept} >= {
        "number",
        "enum",
        "list",
        "bool",
        "object_short",
        "object_deep",
    }
    assert {row["operator"] for row in kept} == {"", *OPERATORS}


def test_tools_are_of_all_complexities(good: Path):
    new = [
        len(row["parameters"]["properties"]) for row in rows(good / "out" / APIS_FILE) if not row["parents"]
    ]
    assert all(any(least <= count <= most for count in new) for least, most in COMPLEXITIES)


def test_an_evolved_tool_differs_from_its_parent_as_its_operator_says(good: Path):
    kept = {row["name"]: row for row in rows(good / "out" / APIS_FILE)}
    evolved = [row for row in kept.values() if row["parents"]]
    assert evolved
    for row in evolved:
        parent = kept[row["parents"][0]]
        assert OPERATORS[row["operator"]](parent, row) == ""
        assert row["generation"] == parent["generation"] + 1
        assert row["tree_path"][:2] == parent["tree_path"][:2]


def test_the_tree_grows_with_what_was_found_and_knows_its_tools(good: Path):
    nodes = {node["id"]: node for node in json.loads((good / "out" / "tree_en.json").read_text("utf-8"))}
    kept = [row for row in rows(good / "out" / APIS_FILE) if row["lang"] == "en"]
    assert sum(node["source"] == "seed" for node in nodes.values()) == 8 + 68
    assert sum(node["source"].startswith("attempt") for node in nodes.values()) > len(kept)
    assert sorted(name for node in nodes.values() for name in node["api_ids"]) == sorted(
        row["name"] for row in kept
    )
    for row in kept:
        leaf = next(node for node in nodes.values() if row["name"] in node["api_ids"])
        assert leaf["name"] == row["tree_path"][-1] and nodes[leaf["parent"]]["name"] == row["tree_path"][-2]


def test_a_tool_says_how_it_was_made(good: Path):
    first = rows(good / "out" / APIS_FILE)[0]
    assert first["made_by"]["models"] == dict.fromkeys(("reader", "designer", "evolver", "caller"), "players")
    assert first["made_by"]["seed"] == "1" and len(first["prompt_version"]) == 12
    assert {"D6", "S3", "K2"} <= set(first["made_by"]["checks"])


def test_designers_of_one_place_who_do_not_see_each_other_are_told_different_things(tmp_path: Path):
    (tmp_path / "tree.json").write_text('{"fishing": ["boats"]}')
    players = ApiPlayers()
    made(tmp_path, players, apis=8, tree=tmp_path / "tree.json")
    seen = [r.messages[1]["content"] for r in players.asked if r.role == "designer"]
    assert len(seen) == len(set(seen)) == 8
    assert "API" in players.asked[0].messages[0]["content"]


def test_whoever_makes_up_the_call_sees_the_definition_alone(tmp_path: Path):
    players = ApiPlayers()
    made(tmp_path, players, apis=2)
    seen = [json.loads(r.messages[1]["content"]) for r in players.asked if r.role == "caller"]
    assert [set(entry) for entry in seen] == [{"api", "use"}] * 2
    assert all(set(entry["api"]) == {"name", "description", "parameters"} for entry in seen)


@pytest.mark.long
def test_more_at_a_time_makes_the_same_tools(tmp_path: Path):
    spoil = now_and_then("designer", 0.3, "oops")
    made(tmp_path, ApiPlayers(spoil), "one", concurrency=1, apis=40)
    made(tmp_path, ApiPlayers(spoil), "many", concurrency=64, apis=40)
    assert same(tmp_path / "one", tmp_path / "many")


@pytest.mark.long
@pytest.mark.parametrize("share", [0.05, 0.4, 0.9])
def test_a_killed_making_goes_on_to_the_same_tools(tmp_path: Path, good: Path, share: float):
    shutil.copytree(good / "out", tmp_path / "out")
    (record,) = (tmp_path / "out" / RECORD_FOLDER).glob("*.jsonl*")
    whole = record.read_bytes()
    record.write_bytes(whole[: int(len(whole) * share)])
    (tmp_path / "out" / APIS_FILE).unlink()
    result, _ = made(tmp_path, ApiPlayers(), apis=120, langs=("en", "zh"))
    assert result.calls and result.replayed
    assert same(tmp_path / "out", good / "out")


@pytest.mark.long
def test_recorded_replies_make_the_same_tools(tmp_path: Path, good: Path):
    maker = ApiMaker(ToolGenerationSpec(120, langs=("en", "zh")))
    said = replay_source(maker, maker.source())(good / "out" / RECORD_FOLDER, None)
    made(tmp_path, ReplayModel("players", said), apis=120, langs=("en", "zh"))
    assert same(tmp_path / "out", good / "out")


@pytest.mark.long
def test_a_larger_number_goes_on_and_comes_to_what_it_would_have_from_the_start(tmp_path: Path):
    spoil = now_and_then("designer", 0.5, "oops")
    for number in (3, GENERATION_SIZES[0] + 5, 40):
        made(tmp_path, ApiPlayers(spoil), "steps", apis=number)
    result, found = made(tmp_path, ApiPlayers(spoil), "at once", apis=40)
    assert result.calls and len(found.apis) == 40 and found.losses
    assert same(tmp_path / "steps", tmp_path / "at once")


def test_lost_attempts_are_made_up_for_by_others(tmp_path: Path):
    _, found = made(tmp_path, ApiPlayers(now_and_then("designer", 0.4, "oops")), apis=12)
    assert len(found.apis) == 12
    assert found.losses and {lost.reason for lost in found.losses} == {"designer N1"}


def test_no_more_is_asked_than_the_wanted_number_takes(tmp_path: Path):
    players = ApiPlayers()
    made(tmp_path, players, apis=5)
    assert len(players.asked) == 10


def test_attempts_end_at_twice_the_wanted_number(tmp_path: Path):
    _, found = made(tmp_path, ApiPlayers(say("designer", "no")), apis=5)
    assert (len(found.apis), len(found.losses), found.unfinished) == (0, 10, 0)


def test_other_settings_do_not_go_on_with_a_record(tmp_path: Path):
    made(tmp_path, ApiPlayers(), seed="1", apis=2)
    with pytest.raises(RecordError, match="the settings differ: data_sha256"):
        made(tmp_path, ApiPlayers(), seed="2", apis=2)


@pytest.mark.parametrize("order", [{"apis": 0}, {"apis": 3, "langs": ()}])
def test_nothing_to_make_is_refused(order: dict[str, Any]):
    with pytest.raises(UsageError, match="at least 1"):
        ApiMaker(ToolGenerationSpec(**order))


def now_and_then(role: str, share: float, wrong: str) -> Spoil:
    """Says something else to some requests, again and again to the same."""

    def spoil(played: str, text: str, request: Request) -> str:
        return wrong if played == role and Random(request.messages[1]["content"]).random() < share else text

    return spoil


def api(**changes: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda written: written["api"].update(changes)


def first(**changes: Any) -> Callable[[dict[str, Any]], Any]:
    """Changes the first parameter, a required text."""

    def change(written: dict[str, Any]) -> None:
        next(iter(written["api"]["parameters"]["properties"].values())).update(changes)

    return change


def only_text(written: dict[str, Any]) -> None:
    properties = written["api"]["parameters"]["properties"]
    written["api"]["parameters"]["properties"] = dict([next(iter(properties.items()))])


def no_parameters(written: dict[str, Any]) -> None:
    written["api"]["parameters"] = {"type": "object", "properties": {}, "required": []}


def alike(written: dict[str, Any]) -> None:
    words = {"description": "Finds the weather of a town for a day of the week."}
    written["api"].update(words)


ENDLESS = '{"function": "x", "api": {"name": "a", "description": "' + "long " * 20_000
NO_SCHEMA = {"type": "object", "properties": 7}
DEEP = '{"api": ' + '{"a": ' * 500 + "1" + "}" * 501


@pytest.mark.long
@pytest.mark.parametrize(
    ("spoil", "reasons"),
    [
        pytest.param(say("designer", "Here is an API."), {"designer N1"}, id="no JSON"),
        pytest.param(say("designer", ""), {"designer N1"}, id="empty"),
        pytest.param(say("designer", '{"api": {"name": "x",}}'), {"designer N1"}, id="broken JSON"),
        pytest.param(say("designer", '{"api": ["x"]}'), {"designer N1"}, id="a list for the API"),
        pytest.param(say("designer", ENDLESS), {"designer N1"}, id="endless text"),
        pytest.param(say("designer", DEEP), {"designer N1"}, id="endless depth"),
        pytest.param(edit("designer", api(parameters=NO_SCHEMA)), {"designer D3"}, id="no schema"),
        pytest.param(edit("designer", api(parameters="none")), {"designer D1"}, id="text for a schema"),
        pytest.param(edit("designer", first(type="text")), {"designer D3"}, id="unknown type"),
        pytest.param(edit("designer", api(description="")), {"designer D2"}, id="empty description"),
        pytest.param(edit("designer", first(description=" ")), {"designer D2"}, id="empty description of a parameter"),
        pytest.param(edit("designer", first(pattern="(a+)+$")), {"designer D6"}, id="hostile pattern"),
        pytest.param(edit("designer", first(pattern="^(?=x)x$")), {"designer D6"}, id="pattern that looks around"),
        pytest.param(edit("designer", first(enum=["a", 7])), {"designer D5"}, id="enum of another type"),
        pytest.param(edit("designer", first(minLength=3)), {"designer S1"}, id="what is not checked"),
        pytest.param(edit("designer", first(type="float")), {"designer S1"}, id="no type of JSON Schema"),
        pytest.param(edit("designer", api(name="sameName")), {"taken", "designer S2"}, id="same name"),
        pytest.param(edit("designer", alike), {"near duplicate", "taken"}, id="same description"),
        pytest.param(edit("designer", only_text), {"designer S4"}, id="class missing"),
        pytest.param(edit("designer", no_parameters), {"designer S4", "designer S9"}, id="other complexity"),
        pytest.param(edit("designer", api(returns={})), {"designer S6"}, id="returns nothing"),
        pytest.param(edit("designer", api(description="查询一个城镇的天气。")), {"designer S7"}, id="other language"),
        pytest.param(edit("designer", api(description="Finds\x00 a town.")), {"designer S8"}, id="control character"),
        pytest.param(edit("designer", lambda w: w.update(function="")), {"designer N2"}, id="no function"),
        pytest.param(say("caller", "call it"), {"caller K1"}, id="call without form"),
        pytest.param(say("caller", '{"arguments": {"x": 1}}'), {"caller K2"}, id="unknown argument"),
        pytest.param(
            edit("caller", lambda w: w.update(arguments=dict.fromkeys(w["arguments"], "<value>"))),
            {"caller K2", "caller K4"},
            id="placeholders",
        ),
    ],
)  # fmt: skip
def test_nothing_wrong_is_kept_and_each_loss_has_its_reason(tmp_path: Path, spoil: Spoil, reasons: set[str]):
    # One place, so that all tools are siblings of each other.
    tree = tmp_path / "tree.json"
    tree.write_text('{"weather": ["forecasts"]}')
    result, found = made(tmp_path, ApiPlayers(spoil), apis=6, tree=tree)
    assert result.status == "done"
    assert found.losses and {lost.reason for lost in found.losses} <= reasons
    assert all(lost.detail for lost in found.losses)
    assert len(rows(tmp_path / "out" / LOSSES_FILE)) == len(found.losses)
    assert all(definition_faults(row) == [] for row in rows(tmp_path / "out" / APIS_FILE))


@pytest.mark.long
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda w, parent: w.update(api={**parent, "name": "getOther"}), {"evolver S3", "evolver S5"}),
        (lambda w, parent: w["api"].update(name=parent["name"]), {"evolver S2"}),
        (
            lambda w, parent: w["api"].update(parameters=parent["parameters"], returns=parent["returns"]),
            {"evolver S5", "evolver S4"},
        ),
    ],
)  # fmt: skip
def test_what_is_not_evolved_is_not_kept(
    tmp_path: Path, change: Callable[[dict[str, Any], dict[str, Any]], Any], reason: set[str]
):
    def spoil(role: str, text: str, request: Request) -> str:
        if role != "evolver":
            return text
        written = json.loads(text)
        change(written, json.loads(request.messages[1]["content"])["api"])
        return json.dumps(written)

    _, found = made(tmp_path, ApiPlayers(spoil), apis=40)
    reasons = {lost.reason for lost in found.losses}
    assert reasons and reasons <= reason | {"near duplicate"}
    for evolved in (one for one in found.apis if one.parents):
        parent = next(one for one in found.apis if one.name == evolved.parents[0])
        assert OPERATORS[evolved.operator](parent.function, evolved.function) == ""


def test_a_role_is_told_which_rule_it_broke_and_may_mend_it(tmp_path: Path):
    def spoil(role: str, text: str, request: Request) -> str:
        return "oops" if role == "designer" and len(request.messages) == 2 else text

    players = ApiPlayers(spoil)
    _, found = made(tmp_path, players, apis=4)
    assert len(found.apis) == 4
    again = next(r for r in players.asked if r.role == "designer" and len(r.messages) == 4)
    assert "N1: Give one JSON object" in again.messages[3]["content"]
    assert next(m for m in found.attrition() if m.name == "designer refused N1").value == 0.5


def test_documents_give_the_tree_and_only_what_stands_in_them(tmp_path: Path):
    (tmp_path / "market.md").write_text(MARKET)
    _, found = made(tmp_path, ApiPlayers(), apis=4, documents=(tmp_path / "market.md",))
    read = {node.name for node in found.nodes if node.source == "document market.md"}
    assert read == {"Markets", "Stalls", "Goods", "weigh Stalls", "weigh Goods"}
    assert {api.tree_path[0] for api in found.apis} == {"Markets"}


def test_what_a_document_does_not_say_is_not_taken(tmp_path: Path):
    def invent(written: dict[str, Any]) -> None:
        written["domains"][0]["subdomains"][0]["quote"] = "rockets to the moon"

    (tmp_path / "market.md").write_text(MARKET)
    _, found = made(tmp_path, ApiPlayers(edit("reader", invent)), apis=2, documents=(tmp_path / "market.md",))
    assert found.losses[0].reason == "reader M3"
    assert "market.md, passage 0" in found.losses[0].detail
    assert {lost.reason for lost in found.losses[1:]} == {"no place"}
    assert found.apis == ()


@pytest.mark.parametrize("passages", [0, 5])
def test_generations_follow_each_other_without_gaps(passages: int):
    begins = [generation_span(job, passages)[0] for job in range(1_500)]
    ends = [generation_span(begin, passages)[1] for begin in begins]
    sizes = Counter(begins)
    assert all(begin <= job < end for job, (begin, end) in enumerate(zip(begins, ends, strict=True)))
    first = [passages] * (passages > 0)
    assert [sizes[begin] for begin in sorted(sizes)][:-1] == [*first, *GENERATION_SIZES, 256, 256, 256, 256]


def test_a_record_of_something_else_is_refused(tmp_path: Path):
    made(tmp_path, ApiPlayers(), apis=2)
    (record,) = (tmp_path / "out" / RECORD_FOLDER).glob("*.jsonl*")
    record.write_text(record.read_text().replace('"item":"1"', '"item":"travel 7"'))
    with pytest.raises(RecordError, match="the settings differ"):
        made(tmp_path, ApiPlayers(), apis=2, seed="other")


def test_a_tree_of_ones_own_is_the_only_place(tmp_path: Path):
    tree = tmp_path / "tree.json"
    tree.write_text('{"fishing": {"boats": ["hire a boat"]}, "knitting": {}}')
    _, found = made(tmp_path, ApiPlayers(), apis=6, tree=tree)
    assert {api.tree_path[0] for api in found.apis} == {"fishing", "knitting"}
    assert {len(api.tree_path) for api in found.apis} == {3}


def test_a_written_tree_can_be_begun_with(tmp_path: Path):
    made(tmp_path, ApiPlayers(), "first", apis=4)
    _, found = made(tmp_path, ApiPlayers(), "second", apis=4, tree=tmp_path / "first" / "tree_en.json")
    before = json.loads((tmp_path / "first" / "tree_en.json").read_text("utf-8"))
    assert {node["id"] for node in before} <= {node.id for node in found.nodes}


class Failing(ApiPlayers):
    """Calls of some attempts fail until it is mended."""

    def __init__(self, fails: Callable[[int], bool]) -> None:
        super().__init__()
        self.fails = fails

    async def complete(self, request: Request) -> Reply:
        assert request.address is not None
        if self.fails(int(request.address.item)):
            raise CallError("http 500", "out of order")
        return await super().complete(request)


def test_a_call_that_fails_costs_its_attempt_and_not_the_generations_after_it(tmp_path: Path):
    result, found = made(tmp_path, Failing(lambda job: job in (2, 5)), apis=40)
    assert result.status == "infra errors"
    assert [lost.attempt for lost in found.losses if lost.reason == "infra_error"] == ["2", "5"]
    assert len(found.apis) == 40
    # What followed was made without them, so they are not asked again.
    again, same_ = made(tmp_path, ApiPlayers(), apis=40)
    assert (again.calls, again.status) == (0, "done")
    assert same_.apis == found.apis


@pytest.mark.long
def test_where_most_calls_fail_nothing_is_built_on_the_rest_and_the_same_command_goes_on(tmp_path: Path):
    _, found = made(tmp_path, Failing(lambda job: job % 4 != 0), apis=40)
    assert len(found.apis) == 4 and found.unfinished == 36
    result, whole = made(tmp_path, ApiPlayers(), apis=40)
    assert (result.status, len(whole.apis)) == ("done", 40)
    made(tmp_path, ApiPlayers(), "undisturbed", apis=40)
    assert same(tmp_path / "out", tmp_path / "undisturbed")


class Priced(ApiPlayers):
    async def complete(self, request: Request) -> Reply:
        reply = await super().complete(request)
        return Reply(reply.message, usage={"prompt_tokens": 10, "completion_tokens": 10})


@pytest.mark.long
def test_a_limit_leaves_what_is_made_and_more_room_goes_on_to_the_same_tools(tmp_path: Path):
    invocation = Invocation(Budget(SpendingLimits(max_tokens_total=900)))
    result, found = made(tmp_path, Priced(), apis=40, invocation=invocation, concurrency=4)
    assert result.status == "limit reached"
    assert 0 < len(found.apis) < 40 and found.unfinished == 40 - len(found.apis)
    made(tmp_path, Priced(), apis=40)
    made(tmp_path, Priced(), "undisturbed", apis=40)
    assert same(tmp_path / "out", tmp_path / "undisturbed")


def test_the_yield_names_where_attempts_are_lost_and_what_is_kept(good: Path):
    shown = {(m["group"], m["name"]): m for m in json.loads((good / "out" / "yield.json").read_text("utf-8"))}
    assert shown["tools", "kept"]["numerator"] == 120
    assert shown["parameters", "object_deep"]["numerator"] > 0
    assert 0 < shown["diversity", "distance to the nearest sibling"]["value"] <= 1
