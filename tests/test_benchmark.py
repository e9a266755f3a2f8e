"""The base classes: what a benchmark gets that writes loading, episodes and verdicts alone."""

import json
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from wildtool.benchmark import Benchmark, Check, Rules, SingleTurn, part
from wildtool.benchmarks import OURS
from wildtool.data.data_set import data_of
from wildtool.declared import describe, lint
from wildtool.engine.registry import load_benchmark
from wildtool.episode import gold_replies
from wildtool.errors import DataError
from wildtool.findings import fault
from wildtool.types import Item, Message, Reply, Request, Source, Transcript

TOOL = {
    "type": "function",
    "function": {
        "name": "add",
        "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
    },
}


def call(name: str, **arguments: Any) -> Message:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": function}]}


class Adding(SingleTurn):
    """The one call of `add` with the number of the item."""

    name = "adding"
    title = "adding"
    groups = ("parity",)

    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        for line in source.path.read_text("utf-8").splitlines():
            yield Item(line, ("0",), int(line), split="even" if int(line) % 2 == 0 else "odd")

    def fields(self, item: Item, unit: str) -> dict[str, str]:
        return {"parity": item.split}

    def request(self, item: Item) -> Request:
        message = {"role": "user", "content": f"add {item.data}"}
        return Request([message], [TOOL], gold=lambda style: call("add", n=item.data))

    def check(self, item: Item, reply: Message, profile: str) -> Check:
        return Check(
            reply.get("tool_calls") == call("add", n=item.data)["tool_calls"], "other", "the call", 0.5
        )


ADDING = Adding()
ITEM = Item("4", ("0",), 4, split="even")
GOLD = call("add", n=4)


def said(*messages: Message, **more: Any) -> Transcript:
    return Transcript(tuple(map(Reply, messages)), **more)


def judged(transcript: Transcript | None) -> Any:
    (verdict,) = ADDING.judge(ITEM, {} if transcript is None else {"0": transcript}, "official")
    return verdict


def test_a_verdict_has_what_the_check_says_and_what_is_known_before():
    right, wrong = judged(said(GOLD)), judged(said(call("add", n=5)))
    assert (right.outcome, right.score, right.error, right.reason) == ("correct", 0.5, None, "the call")
    assert (wrong.outcome, wrong.score, wrong.error) == ("wrong", 0.5, "other")
    assert right.fields == {"parity": "even"}
    assert right.steps == 1


def test_a_record_that_ends_early_has_no_verdict():
    unplayed, failed = judged(None), judged(said(infra_error="http 500"))
    assert (unplayed.outcome, unplayed.score, unplayed.fields) == ("unplayed", 0.0, {"parity": "even"})
    assert (failed.outcome, failed.reason) == ("infra_error", "http 500")
    assert judged(said(scripted=True)).outcome == "wrong"


def test_columns_follow_from_groups():
    assert ADDING.columns == {"parity": "VARCHAR"}
    assert (ADDING.mode, list(ADDING.modes)) == ("chat", ["chat"])


def test_a_mode_is_a_copy():
    class TwoModes(Adding):
        modes = {"fc": "calls", "text": "text"}  # noqa: RUF012

    first = TwoModes()
    other = first.in_mode("text")
    assert (first.mode, other.mode, first.in_mode("fc") is first) == ("fc", "text", True)


def test_what_must_be_written_is_missed_when_the_object_is_made():
    class Half(SingleTurn):
        pass

    with pytest.raises(TypeError, match=r"check.*load.*request"):
        Half()  # pyright: ignore[reportAbstractUsage]


def test_default_mutants_have_one_mistake_each_and_none_passes():
    mutants = list(ADDING.rules("official").mutants(ITEM))
    assert {mutant.kind for mutant in mutants} >= {
        "call left out",
        "call renamed",
        "call repeated",
        "text instead of calls",
        "wrong number",
        "required argument left out",
    }
    assert all(judged(said(*mutant.replies, scripted=True)).outcome == "wrong" for mutant in mutants)
    assert all(mutant.replies != (GOLD,) for mutant in mutants)


def test_a_unit_whose_gold_is_refused_has_no_mutants():
    class Refusing(Adding):
        def check(self, item: Item, reply: Message, profile: str) -> Check:
            return Check(False)

    assert list(Refusing().rules("official").mutants(ITEM)) == []


def test_a_trace_sets_the_calls_beside_gold():
    rules = ADDING.rules("official")
    right, wrong = rules.trace(ITEM, "0", said(GOLD)), rules.trace(ITEM, "0", said(call("add", n=5)))
    assert [(c.name, c.arguments, c.status) for c in right.gold] == [("add", {"n": 4}, "done")]
    assert right.steps[0].fulfilled == (0,)
    assert wrong.gold[0].status == "wrong"
    assert [(d.where, d.expected, d.found) for d in wrong.differences] == [("add.n", 4, 5)]
    assert wrong.steps[0].note == "the call"
    assert rules.trace(ITEM, "0", said()).gold[0].status == "missed"


@pytest.mark.parametrize("calls", [5, "x", [None], [{"function": 3}], [{"function": {"name": 1}}], {}])
def test_a_trace_takes_any_reply(calls: Any):
    trace = ADDING.rules("official").trace(ITEM, "0", said({"tool_calls": calls, "content": 7}))
    assert len(trace.steps) == 1


def test_a_check_that_raises_is_shown_and_does_not_end_the_page():
    class Raising(Adding):
        def check(self, item: Item, reply: Message, profile: str) -> Check:
            raise KeyError("bug")

    (step,) = Raising().rules("official").trace(ITEM, "0", said(GOLD)).steps
    assert step.note == "the judge failed: KeyError: 'bug'"


def test_data_are_a_file_that_is_named_or_shipped(tmp_path: Path):
    (tmp_path / "numbers.txt").write_text("1\n2\n4\n4\n", encoding="utf-8")

    class Shipped(Adding):
        data = tmp_path / "numbers.txt"

    shipped = Shipped()
    assert data_of(shipped).locate(None) == data_of(shipped).locate("adding")
    assert data_of(shipped).locate(None).name == "adding"
    assert data_of(shipped).pull(file=None, mirror=None, report=lambda line: None) == Shipped.data
    assert data_of(ADDING).locate(str(Shipped.data)).path == Shipped.data
    assert [finding.rule for finding in lint(shipped, data_of(shipped).locate(None))] == ["repeated id"]
    counts = {
        (metric.group, metric.name): metric.numerator
        for metric in describe(shipped, data_of(shipped).locate(None))
    }
    assert counts["size", "items"] == 4
    assert (counts["split", "odd"], counts["split", "even"]) == (1, 3)
    for asked in (lambda: data_of(ADDING).locate(None), lambda: data_of(ADDING).locate("no such file")):
        with pytest.raises(DataError, match="--data FILE"):
            asked()
    with pytest.raises(DataError, match="has no data to fetch"):
        data_of(ADDING).pull(file=None, mirror=None, report=lambda line: None)


def test_the_default_summary_cuts_by_split_groups_and_error():
    import duckdb

    rows = duckdb.sql(
        "SELECT * FROM (VALUES ('a', 'even', 'x', 'correct', true, 1.0, NULL), ('b', 'odd', 'it''s', 'wrong', false,"
        " 0.5, 'bad'), ('c', 'odd', 'x', 'unplayed', false, 0.0, NULL)) t(item, split, parity, outcome, correct, score,"
        " error), (SELECT 1 AS steps, 5 AS prompt_tokens, 2 AS completion_tokens, 1.0 AS latency_s)"
    )
    found = {(m.group, m.name): (m.numerator, m.denominator) for m in ADDING.summarize(rows, "official")}
    assert found["accuracy", "unit"] == (1, 3)
    assert found["accuracy", "mean score"] == (1.5, 3)
    assert (found["split", "even"], found["split", "odd"]) == ((1, 1), (0, 2))
    assert (found["parity", "x"], found["parity", "it's"]) == ((1, 2), (0, 1))
    assert found["errors", "bad"] == (1, 1)
    assert found["coverage", "unplayed"] == (1, 3)


def test_rules_of_more_turns_need_an_episode_and_a_verdict():
    class Twice:
        def __init__(self) -> None:
            self.replies: list[Message] = []

        @property
        def done(self) -> bool:
            return len(self.replies) == 2

        def request(self) -> Request | None:
            gold = call("add", n=len(self.replies))
            message = {"role": "user", "content": str(len(self.replies))}
            return None if self.done else Request([message], [TOOL], gold=lambda style: gold)

        def advance(self, reply: Message) -> None:
            self.replies.append(reply)

    class TwiceRules(Rules):
        def episode(self, item: Item, unit: str) -> Twice:
            return Twice()

        def verdict(self, episode: Twice, item: Item, unit: str) -> Check:
            return Check(episode.replies == gold_replies(Twice()))

    class TwiceBenchmark(Benchmark):
        name = title = "twice"

        def load(self, source: Source, **selection: str | None) -> Iterator[Item]:
            raise NotImplementedError

        def rules(self, profile: str) -> Rules:
            return TwiceRules()

    gold = gold_replies(Twice()) or []
    (verdict,) = TwiceBenchmark().judge(ITEM, {"0": said(*gold)}, "official")
    assert (verdict.outcome, verdict.steps) == ("correct", 2)
    (cut,) = TwiceBenchmark().judge(ITEM, {"0": said(*gold[:1])}, "official")
    assert (cut.outcome, cut.steps) == ("unplayed", 1)
    mutants = list(TwiceRules().mutants(ITEM))
    assert {len(mutant.replies) for mutant in mutants} == {2}
    assert TwiceRules().trace(ITEM, "0", said(*gold)).steps[1].fulfilled == (1,)


MEMBERS = 42
"""Members of `Benchmark` and `Rules` together, with room for one more."""


def test_the_contract_of_a_benchmark_can_be_learned():
    members = [
        name
        for owner in (Benchmark, Rules)
        for name in {**owner.__annotations__, **vars(owner)}
        if name[0] != "_"
    ]
    assert len(members) <= MEMBERS, sorted(members)


def test_a_part_is_imported_when_a_benchmark_is_asked_for_it_and_a_function_is_a_method():
    class Parted(Adding):
        fields = part("test_benchmark_parts:fields")
        card = part("test_benchmark_parts:CARD")
        published = part("test_benchmark_parts:PUBLISHED")

    assert "test_benchmark_parts" not in sys.modules
    module = ModuleType("test_benchmark_parts")
    vars(module).update(
        fields=lambda benchmark, item, unit: {"of": (benchmark, item, unit)},
        CARD=Path("c"),
        PUBLISHED=partial(dict[str, int], a=1),
    )
    sys.modules["test_benchmark_parts"] = module
    try:
        parted = Parted()
        assert parted.fields(ITEM, "0") == {"of": (parted, ITEM, "0")}
        assert parted.card == Path("c")
        assert parted.published() == {"a": 1}
        assert isinstance(vars(Parted)["published"], staticmethod), (
            "Python 3.14 makes a partial function a method"
        )
    finally:
        del sys.modules["test_benchmark_parts"]
    assert parted.fields(ITEM, "1") == {"of": (parted, ITEM, "1")}, "it is imported once"


@pytest.mark.parametrize("name", sorted(OURS))
def test_every_part_of_ours_is_there(name: str):
    benchmark = load_benchmark(name)
    for owner in type(benchmark).__mro__:
        missing = [member for member in [*vars(owner)] if not hasattr(benchmark, member)]
        assert not missing, owner


def test_rules_of_data_see_each_record_of_an_item():
    class Checked(Adding):
        rules_of_data = (lambda record: [fault("odd", f"{record} is odd")] if record % 2 else [],)

        def load(
            self, source: Source, *, split: str | None = None, lang: str | None = None
        ) -> Iterator[Item]:
            yield Item("a", ("0",), 3)
            yield Item("b", ("x", "y"), {"x": 4, "y": 5})

    found = lint(Checked(), Source("s", Path("s"), ""))
    assert [(finding.where, finding.rule, finding.message) for finding in found] == [
        ("s: a", "odd", "3 is odd"),
        ("s: b, y", "odd", "5 is odd"),
    ]
