"""What is made of an agent's run: verdicts as of the bare model, columns, numbers, remarks, exports and replays."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wildtool as wt
from alter.agent.agent_play import CODEX, OWN, PLAIN_STEP, TOOL_DOOR, Played, as_said, play
from long import a_fiftieth_of
from wildtool.alter.agent.agent import AgentAlteration
from wildtool.alter.agent.unit import AGENT_COLUMNS
from wildtool.alter.kinds import recorded_alterations
from wildtool.alter.variant import Variant
from wildtool.benchmark import Benchmark, Check, SingleTurn
from wildtool.benchmarks.wildtoolbench import WILD_MINI
from wildtool.data.data_set import data_of
from wildtool.engine.registry import load_benchmark
from wildtool.engine.score.explain import explain
from wildtool.engine.score.results import ScoreResult, load_result
from wildtool.episode import gold_replies
from wildtool.errors import RecordError, UsageError
from wildtool.export import ExportRequest
from wildtool.export.openai import export
from wildtool.trace import Trace, TraceStep
from wildtool.types import Address, Item, Message, Reply, Request, ResultsInText, Source, Transcript

FATES = ("as said", "altered", "answered by the agent", "never arrived")


def busy(address: Address, reply: Message, before: Sequence[str]) -> Mapping[str, Any]:
    """An agent that does all that can be recorded."""
    calls = [
        {"id": id_, "name": "f", "fate": FATES[(place + address.step) % 2], "arguments": '{"n": 2}'}
        for place, id_ in enumerate(before)
    ]
    record = dict(as_said(address, reply, before))
    if "end" in record and address.unit == "1":
        record["end"] = {"kind": "limit", "said": "what the model said", "detail": "20 turns"}
    first = address.step == 0
    tools = {"offered": 9, "own": ["todo", "look"], "renamed": {"mcp__f": "f"}, "changed_schemas": 1}
    return {
        **record,
        "calls": calls,
        **({"prompt": {"chars": 40, "text": "Today is November 29, 2026, a Sunday."}} if first else {}),
        **({"tools": tools, "sampling": {"temperature": 1}, "own_steps": 2} if first else {}),
        **({"own_calls": ["look", "look"], "side_requests": 3, "retries": 1} if first else {}),
    }


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("agents")
    lacks = {"wild_mini_0": "tools missing"}
    play(
        out / "busy", Played(around=busy, fails=lambda a: lacks.get(a.item, "") * (a.unit == "3")), OWN, CODEX
    )
    play(out / "quiet", Played(), OWN, CODEX)
    play(out / "bare", Played(around=None), OWN)
    play(out / "door", Played(), TOOL_DOOR)
    return out


def rows_of(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    return {(row["item"], row["unit"]): row for row in wt.Run(folder).verdicts().rows()}


def numbers(result: ScoreResult) -> Mapping[str, Any]:
    return {metric.name: metric for metric in result.metrics if metric.group == "harness"}


def test_an_agent_that_changes_nothing_is_judged_like_its_bare_model(runs: Path):
    quiet, bare = (rows_of(runs / name) for name in ("quiet", "bare"))
    told = set(AGENT_COLUMNS) | {"run"}
    for key, row in quiet.items():
        assert {name: value for name, value in row.items() if name not in told} == {
            name: value for name, value in bare[key].items() if name not in told
        }


def test_the_benchmark_never_sees_what_is_recorded_beside_a_reply(runs: Path):
    (record,) = (runs / "quiet").glob("record*")
    lines = record.read_text("utf-8")
    steps = [row for row in map(json.loads, lines.splitlines()) if row["row"] == "step"]
    assert all("harness" in row["message"] for row in steps)
    assert all("harness" not in json.dumps(row["sends"]) for row in steps)


def test_columns_say_what_the_agent_did_in_a_unit(runs: Path):
    rows = rows_of(runs / "busy")
    unit = rows["wild_mini_1", "1"]
    assert unit["agent_dates"] == "2026-11-29"
    assert unit["agent_sampling"] == "temperature 1"
    assert (unit["added_tools"], unit["renamed_tools"], unit["changed_schemas"]) == (2, 1, 1)
    assert (unit["agent_own_steps"], unit["agent_own_calls"], unit["side_requests"]) == (2, 2, 3)
    assert json.loads(unit["agent_called"]) == {"look": 2}
    assert unit["agent_own_tokens"] is None  # the endpoint did not say
    assert {row["agent_own_tokens"] for row in rows_of(runs / "quiet").values()} == {0}
    assert (unit["turn_end"], unit["texts_changed"]) == ("limit", 1)
    assert unit["agent_seconds"] == pytest.approx(0.5 * unit["steps"])


def test_a_unit_that_got_no_reply_has_no_columns_rather_than_zeros(runs: Path):
    row = rows_of(runs / "busy")["wild_mini_0", "3"]
    assert row["outcome"] == "infra_error"
    assert {row[name] for name in AGENT_COLUMNS} == {None}


def test_each_call_is_counted_once_with_what_became_of_it(runs: Path):
    for row in rows_of(runs / "busy").values():
        if row["agent_seconds"] is not None:
            fates = [row[f"calls_{fate.replace(' ', '_')}"] for fate in FATES]
            assert sum(fates) + row["calls_not_known"] == row["calls"]


def test_numbers_of_calls_have_intervals_and_say_what_they_are_of(runs: Path):
    told = numbers(load_result(runs / "busy"))
    altered, said = told["calls altered"], told["calls executed as said"]
    assert altered.numerator + said.numerator == altered.denominator == said.denominator
    assert altered.low < altered.value < altered.high
    assert told["turn ended: limit"].numerator == 4
    assert numbers(load_result(runs / "quiet"))["calls executed as said"].value == 1.0


@pytest.mark.long
def test_the_units_behind_a_share_of_calls_add_up_to_it(runs: Path):
    for name, metric in numbers(load_result(runs / "busy")).items():
        if metric.kind == "rate":
            explained = explain(runs / "busy", f"harness: {name}")
            assert explained.by_unit
            assert sum(unit.numerator for unit in explained.units) == metric.numerator
            assert sum(unit.denominator for unit in explained.units) == metric.denominator


def test_remarks_name_fates_units_without_tools_and_turns_without_answers(runs: Path):
    remarks = {remark.sign: remark.count for remark in load_result(runs / "busy").trust}
    assert remarks["tools missing"] == 1 and remarks["turns not answered"] == 4
    assert remarks["calls not as said"] == numbers(load_result(runs / "busy"))["calls altered"].numerator
    assert not load_result(runs / "quiet").trust


def test_without_a_model_door_the_optimal_path_is_not_measurable(runs: Path):
    metrics = [metric for metric in load_result(runs / "door").metrics if "(OP)" in metric.group]
    assert metrics and all(metric.value is None and metric.note for metric in metrics)
    assert all(
        metric.value is not None
        for metric in load_result(runs / "quiet").metrics
        if metric.group == "accuracy"
    )


def test_without_a_model_door_nothing_is_said_that_only_the_model_could_tell(runs: Path):
    for name in ("calls_as_said", "texts_changed", "agent_own_steps", "calls_not_known"):
        assert {row[name] for row in rows_of(runs / "door").values()} == {None}
    assert all(row["turn_end"] for row in rows_of(runs / "door").values())


def test_what_is_judged_stands_in_the_title_of_a_run(runs: Path):
    assert load_result(runs / "door").disturbances == ("agent service, tool door",)
    assert load_result(runs / "quiet").disturbances[-1] == "agent codex 0.171.0, model door"


def test_exported_conversations_hold_nothing_of_the_agent(runs: Path, tmp_path: Path):
    export(ExportRequest(folder=runs / "busy"), tmp_path / "talk.jsonl")
    export(ExportRequest(folder=runs / "bare"), tmp_path / "bare.jsonl")
    assert "harness" not in (tmp_path / "talk.jsonl").read_text("utf-8")
    assert len((tmp_path / "talk.jsonl").read_text("utf-8").splitlines()) == 15


@pytest.mark.long
def test_a_run_can_be_played_again_as_its_bare_model(runs: Path, tmp_path: Path):
    again = wt.run(
        "wild-mini",
        model=f"replay:{runs / 'quiet'}",
        limit=4,
        profile="fixed",
        history="own",
        out=tmp_path / "again",
    )
    assert [row["outcome"] for row in again.verdicts().rows()] == [
        row["outcome"] for row in wt.Run(runs / "bare").verdicts().rows()
    ]
    assert all("harness" not in path.read_text("utf-8") for path in (tmp_path / "again").glob("record*"))


# What may be recorded ------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = (
    "seconds",
    "prompt",
    "tools",
    "sampling",
    "lost",
    "calls",
    "own_steps",
    "own_calls",
    "own_tokens",
    "end",
)
INNER = {
    "prompt": ("chars", "text"),
    "tools": ("offered", "own", "renamed", "changed_schemas"),
    "end": ("kind", "said", "detail"),
}
FATE = st.fixed_dictionaries({}, optional=dict.fromkeys(("id", "name", "fate", "arguments", "result"), JSON))
RECORD = st.fixed_dictionaries(
    {},
    optional={
        key: JSON | st.fixed_dictionaries({}, optional=dict.fromkeys(INNER[key], JSON))
        if key in INNER
        else JSON | st.lists(FATE, max_size=3)
        for key in KEYS
    },
)


def items() -> Iterator[Item]:
    return WILD_MINI.load(data_of(WILD_MINI).locate(None))


FIRST = next(items())
SOME = [item for item, _ in zip(items(), range(8), strict=False)]
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
ODD: list[Message] = [
    {"role": "assistant", "content": None, "tool_calls": [CALL, CALL]},
    {"role": "assistant", "content": "Which one?"},
    {"role": "assistant", "content": ""},
]


@st.composite
def played_units(draw: st.DrawFn) -> tuple[Item, str, list[Message], list[Any]]:
    """A unit, what a model says in it, right or wrong, and what is recorded beside each reply."""
    item = draw(st.sampled_from(SOME))
    unit = draw(st.sampled_from(item.units))
    gold = gold_replies(WILD_MINI.rules("fixed").episode(item, unit)) or []
    odd = draw(st.lists(st.sampled_from(ODD), max_size=2))
    replies = [*gold[: draw(st.integers(0, len(gold)))], *odd]
    records = draw(st.lists(RECORD | JSON, min_size=len(replies), max_size=len(replies)))
    return item, unit, replies, records


@settings(max_examples=a_fiftieth_of(10_000), deadline=None)
@given(played_units(), st.sampled_from([CODEX, TOOL_DOOR]), st.sampled_from(list(WILD_MINI.profiles)))
def test_whatever_is_recorded_the_verdict_is_that_of_the_replies_alone(
    played: tuple[Item, str, list[Message], list[Any]], agent: AgentAlteration, profile: str
):
    item, unit, replies, records = played
    variant = Variant(WILD_MINI, (agent,), "fixed")
    alone = Transcript(tuple(map(Reply, replies)))
    beside = [{**reply, "harness": record} for reply, record in zip(replies, records, strict=True)]
    around = Transcript(tuple(map(Reply, beside)))
    plain = Variant(WILD_MINI, (), "fixed").judge_unit(item, unit, alone, profile)
    judged = variant.judge_unit(item, unit, around, profile)
    own = {name: value for name, value in judged.fields.items() if name not in AGENT_COLUMNS}
    assert replace(judged, fields=own) == plain
    assert all(type(judged.fields.get(name)) in (int, float, str, type(None)) for name in AGENT_COLUMNS)
    trace = variant.trace(item, unit, around, profile)
    for step in trace.steps:
        assert "harness" not in step.reply
        assert all(isinstance(aside.title, str) and isinstance(aside.text, str) for aside in step.asides)


def test_calls_are_found_by_name_and_order_where_the_history_has_other_ids():
    calls = [
        {"id": f"m{n}", "type": "function", "function": {"name": name, "arguments": "{}"}}
        for n, name in enumerate(("f", "g", "f"))
    ]
    fates = [
        {"id": "h1", "name": "g", "fate": "never arrived"},
        {"id": "h2", "name": "f", "fate": "altered", "arguments": {"n": 1}},
        {"id": "h3", "name": "f", "fate": "as said"},
        {"name": "f", "fate": "discarded", "arguments": {}},
    ]
    replies: list[Message] = [
        {"role": "assistant", "content": None, "tool_calls": calls, "harness": PLAIN_STEP},
        {"role": "assistant", "content": "Done.", "harness": {**PLAIN_STEP, "calls": fates}},
    ]
    unit = CODEX.unit(FIRST, FIRST.units[0])
    for reply in replies:
        next(exchange := unit.exchange(Request([])))
        with pytest.raises(StopIteration):
            exchange.send(reply)
    fields = unit.fields(ended=True)
    counts = [
        fields[f"calls_{fate}"] for fate in ("as_said", "altered", "never_arrived", "discarded", "not_known")
    ]
    assert counts == [1, 1, 1, 1, 0]
    steps = tuple(TraceStep("agent", (), reply) for reply in replies)
    asides = unit.traced(Trace("0", (), steps, ())).steps[0].asides
    titles = [(aside.call, aside.title) for aside in asides if aside.call is not None]
    assert titles == [(0, "altered: what was executed"), (1, "never arrived"), (2, "executed as said")]


def test_a_date_of_the_benchmark_itself_is_none_of_the_agents():
    def around(address: Address, reply: Message, before: Sequence[str]) -> Mapping[str, Any]:
        text = "Current Date: 2026-11-29. It is 2025-01-20, or 20 Jan 2025."
        return {**PLAIN_STEP, "prompt": {"chars": len(text), "text": text}}

    variant = Variant(WILD_MINI, (CODEX,), "fixed")
    item = next(each for each in items() if each.id == "wild_mini_2")
    address = Address(item.id, 0, item.units[0], 0)
    request = variant.episode(item, item.units[0], "fixed").request()
    assert request is not None and "2025-01-20" in str(request.messages)
    reply = {"role": "assistant", "content": "Rest.", "harness": around(address, {}, ())}
    fields = variant.judge_unit(item, item.units[0], Transcript((Reply(reply),)), "fixed").fields
    assert fields["agent_dates"] == "2026-11-29"


# Identity and where an agent can play ------------------------------------------------------------------------


def test_an_agent_is_recorded_with_all_that_it_takes_to_say_what_it_was():
    (again,) = recorded_alterations(CODEX.identity())
    assert again == CODEX and again.label == "codex 0.171.0" and list(again.folder_parts) == ["agent-codex"]
    command = AgentAlteration("./my agent.sh {prompt}", {})
    (part,) = command.folder_parts
    assert (
        part.startswith("agent-")
        and not set(part) & set("/ {}")
        and part != AgentAlteration("my agent.sh {prompt}", {}).folder_parts[0]
    )


@pytest.mark.parametrize(
    "damaged", [7, {}, {"name": ""}, {"name": "a"}, {"name": "a", "settings": {"door": "back"}}]
)
def test_a_damaged_identity_is_refused_by_name(damaged: Any):
    with pytest.raises(RecordError, match=r"identity\.agent"):
        recorded_alterations({"agent": damaged})


def first_items(benchmark: Benchmark) -> list[Item]:
    return list(benchmark.load(data_of(benchmark).locate(None)))[:2]


@pytest.mark.long
def test_an_agent_plays_native_tools():
    assert CODEX.check(WILD_MINI, first_items(WILD_MINI), "fixed") == ""
    ledger = load_benchmark("ledger")
    assert CODEX.check(ledger, first_items(ledger), next(iter(ledger.profiles))) == ""


class Sums(SingleTurn):
    """Sums, with tools inside the text, with none, or as one text to be continued."""

    name = "sums"
    modes: Mapping[str, str] = {"text": "tools in a text", "chat": "without tools", "completion": "one text"}

    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        yield Item("a", ("0",), None)

    def request(self, item: Item) -> Request:
        in_text = ResultsInText((), lambda tools, results: ()) if self.mode == "text" else None
        return Request([{"role": "user", "content": "1 + 1?"}], in_text=in_text)

    def check(self, item: Item, reply: Message, profile: str) -> Check:
        return Check(True)


@pytest.mark.parametrize("mode", Sums.modes)
def test_a_mode_in_which_an_agent_has_no_tools_to_call_is_refused_by_name(mode: str):
    benchmark = Sums().in_mode(mode)
    with pytest.raises(UsageError, match=f"--agent .*sums.*mode {mode}"):
        CODEX.check(benchmark, [Item("a", ("0",), None)], "official")


def test_an_agent_lives_through_whole_turns_or_none(tmp_path: Path):
    with pytest.raises(UsageError, match=r'history="without:tool" .*gold or none'):
        wt.run("wild-mini", model="baseline/gold", agent="pi", history="without:tool", out=tmp_path)
