"""The records of the contract as they are made with their least values, and what the base classes give by default."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from wildtool.benchmark import (
    COMMON_COLUMNS,
    Benchmark,
    Check,
    Mutant,
    Published,
    Rules,
    SingleTurn,
    StepCheck,
    accepts,
    judge_unit,
    part,
    settled_item,
)
from wildtool.data.data_set import DataSet
from wildtool.declared import describe, lint, outdated_member, pages_of
from wildtool.errors import DataError, InfraError
from wildtool.findings import Finding, fault
from wildtool.stats.tables import Table
from wildtool.types import (
    Address,
    Episode,
    Item,
    Message,
    Metric,
    Reply,
    Request,
    Role,
    Source,
    Transcript,
    Verdict,
)


def test_records_with_their_least_values():
    assert Reply({}) == Reply({}, "", None, {}, 0.0, 1, (), False, False, {})
    assert Transcript(()) == Transcript((), None, False)
    assert Request(()) == Request((), (), "agent", None, None, None)
    assert Role("a", "b") == Role("a", "b", False, None)
    assert Item("a", (), None) == Item("a", (), None, "", "en", (), {})
    assert Metric("a", "b", None, 0, 0) == Metric(
        "a", "b", None, 0, 0, None, None, "rate", "", False, None, "", "more", None
    )
    assert Verdict("a", "b", "wrong", 0, None, "", 0) == Verdict("a", "b", "wrong", 0, None, "", 0, {}, {})
    assert Check(True) == Check(True, None, "", None, {}, {}, None)
    assert StepCheck() == StepCheck({}, None, None)
    assert Published("m", "k", "s", "p", {}) == Published("m", "k", "s", "p", {}, "official", {}, {})
    assert Address("a", 0, "b", 1) == Address(item="a", repeat=0, unit="b", step=1)
    assert frozenset({"split", "lang", "error", "steps"}) == COMMON_COLUMNS


class Echoing:
    """An episode of some replies; what it got decides."""

    def __init__(self, unit: str, length: int, gold: str | None = "right") -> None:
        self.unit, self.length, self.gold = unit, length, gold
        self.replies: list[Message] = []

    @property
    def done(self) -> bool:
        return len(self.replies) >= self.length

    def request(self) -> Request | None:
        if self.done:
            return None
        answer: Message = {"content": self.gold}
        messages = [{"role": "user", "content": f"{self.unit}{len(self.replies)}"}]
        return Request(messages, [{"tool": self.unit}], gold=(lambda style: answer) if self.gold else None)

    def advance(self, reply: Message) -> None:
        self.replies.append(reply)


class EchoRules(Rules):
    """A unit is as long as its name; `first` leads where the item has it."""

    def episode(self, item: Item, unit: str) -> Episode:
        return Echoing(f"{item.data}{unit}", len(unit), None if "x" in unit else "right")

    def verdict(self, episode: Echoing, item: Item, unit: str) -> Check:
        right = [reply.get("content") for reply in episode.replies] == ["right"] * episode.length
        detail = {"item": item.data, "unit": unit}
        return Check(right, None if right else "other", "compared", fields={"length": 9}, detail=detail)


class LedRules(EchoRules):
    def leading(self, item: Item) -> list[str]:
        return ["b", "cc"]

    def after(self, item: Item, episodes: Mapping[str, Any]) -> Item | None:
        said = [[reply["content"] for reply in episode.replies] for episode in episodes.values()]
        settled = Item(item.id, item.units, f"{[*episodes]}{said} ")
        return settled if all(episode.done for episode in episodes.values()) else None

    def unfinished(self, episode: Echoing, item: Item, unit: str) -> Check:
        return Check(True, "never", "never", 1.0, {"length": 1}, {"item": item.data}, 7)


class Echo(Benchmark):
    name = "echo"
    title = "echo"
    rules_class: type[Rules] = EchoRules

    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        yield from ()

    def rules(self, profile: str) -> Rules:
        return self.rules_class()

    def fields(self, item: Item, unit: str) -> dict[str, Any]:
        return {"length": 0, "unit": unit}


class LedEcho(Echo):
    rules_class = LedRules


ITEM = Item("i", ("a", "b", "cc"), "")


def says(*texts: str, **more: Any) -> Transcript:
    return Transcript(tuple(Reply({"content": text}) for text in texts), **more)


def test_rules_give_by_default_what_needs_no_thought():
    rules, episode = EchoRules(), Echoing("a", 1)
    assert rules.leading(ITEM) == ()
    assert rules.after(ITEM, {}) is ITEM
    assert rules.unfinished(episode, ITEM, "a") == Check(False)
    assert rules.step(episode, ITEM, "a") == StepCheck()
    assert rules.explain(ITEM, Mutant("a", "k", (), "n")) == ""
    assert rules.explain_gold(ITEM, "a") == ""
    assert rules.facts(episode, ITEM, "a") == {}
    assert [*rules.said({"content": "a"})] == [("message", "a")]
    recorded = rules.recorded_episode(ITEM, "cc", None)
    assert isinstance(recorded, Echoing) and (recorded.unit, recorded.length) == ("cc", 2)
    assert Echo().summarize.__func__ is Benchmark.summarize
    assert Benchmark.fields(Echo(), ITEM, "a") == {}


def test_a_verdict_says_what_rules_and_benchmark_know():
    transcripts = {
        "a": says("right"),
        "b": says("no", "more"),
        "cc": says("right", infra_error="timeout"),
    }
    assert Echo().judge(ITEM, transcripts, "official") == [
        Verdict(
            "i",
            "a",
            "correct",
            1.0,
            None,
            "compared",
            1,
            {"length": 9, "unit": "a"},
            {"item": "", "unit": "a"},
        ),
        Verdict(
            "i",
            "b",
            "wrong",
            0.0,
            "other",
            "compared",
            2,
            {"length": 9, "unit": "b"},
            {"item": "", "unit": "b"},
        ),
        Verdict("i", "cc", "infra_error", 0.0, None, "timeout", 1, {"length": 0, "unit": "cc"}, {}),
    ]


def test_a_reply_whose_end_decides_is_the_last_that_is_judged():
    filtered = Reply({"content": "a"}, finish_reason="content_filter")
    transcript = Transcript((Reply({"content": "right"}), filtered, Reply({"content": "right"})))
    (verdict,) = Echo().judge(Item("i", ("ccc",), ""), {"ccc": transcript}, "official")
    assert verdict == Verdict(
        "i",
        "ccc",
        "wrong",
        0.0,
        "reply filtered",
        "the provider filtered the reply",
        2,
        {"length": 0, "unit": "ccc"},
        {},
    )
    late = Transcript((Reply({"content": "right"}), filtered))
    (verdict,) = Echo().judge(Item("i", ("a",), ""), {"a": late}, "official")
    assert (verdict.outcome, verdict.error, verdict.steps) == ("correct", None, 2)


def test_the_other_units_see_the_item_as_the_leading_ones_left_it():
    led = {"b": says("right"), "cc": says("right", "right")}
    verdicts = LedEcho().judge(ITEM, led | {"a": says("right")}, "official")
    settled = "['b', 'cc'][['right'], ['right', 'right']] "
    assert [verdict.detail["item"] for verdict in verdicts] == [settled] * 3
    assert settled_item(LedRules(), ITEM, led).data == settled
    assert settled_item(LedRules(), ITEM, {"b": says("right")}) is ITEM
    assert settled_item(EchoRules(), ITEM, led) is ITEM


def test_one_unit_is_judged_as_if_it_were_alone():
    led = judge_unit(LedEcho(), ITEM, "b", says("right"), "official")
    assert (led.unit, led.outcome, led.detail) == ("b", "correct", {"item": "", "unit": "b"})
    open_one = judge_unit(LedEcho(), ITEM, "cc", says("right"), "official")
    reason = "the record ends before this profile's episode does"
    assert open_one == Verdict(
        "i", "cc", "unplayed", 0.0, None, reason, 7, {"length": 1, "unit": "cc"}, {"item": ""}
    )

    class OwnJudge(LedEcho):
        def judge(self, item: Item, transcripts: Mapping[str, Transcript], profile: str) -> list[Verdict]:
            assert [*transcripts] == ["cc"]
            return [Verdict(item.id, unit, "wrong", 0, None, profile, 0) for unit in item.units]

    own = judge_unit(OwnJudge(), ITEM, "cc", says("right"), "mine")
    assert own == Verdict("i", "cc", "wrong", 0, None, "mine", 0)


@pytest.mark.parametrize(
    ("unit", "replies", "accepted"),
    [
        ("bb", ["right", "right"], True),
        ("bb", ["right", "right", "more"], True),
        ("bb", ["right"], False),
        ("bb", ["right", "no"], False),
        ("", [], True),
    ],
)
def test_replies_are_accepted_where_they_end_the_unit_rightly(unit: str, replies: list[str], accepted: bool):
    messages: list[Message] = [{"content": text} for text in replies]
    assert accepts(EchoRules(), ITEM, unit, messages) is accepted


class Player:
    """Answers for two units at a time as a model would; notes what was asked."""

    def __init__(self, failing: str = "-") -> None:
        self.asked: list[str] = []
        self._failing = failing

    async def __call__(self, unit: str, request: Request) -> Reply:
        self.asked.append(f"{unit}: {request.messages[0]['content']}")
        await asyncio.sleep(0)
        if unit == self._failing:
            raise InfraError("timeout", "none")
        return Reply({"content": "right"})


async def test_units_are_played_side_by_side_or_in_order():
    beside, ordered = Player(), Player()
    await Echo().play(ITEM, beside, "official")
    await Echo().play(ITEM, ordered, "official", in_order=True)
    assert beside.asked == ["a: a0", "b: b0", "cc: cc0", "cc: cc1"]
    assert ordered.asked == beside.asked
    side = Player()
    await Echo().play(Item("i", ("cc", "a"), ""), side, "official")
    assert side.asked == ["cc: cc0", "a: a0", "cc: cc1"]


async def test_leading_units_are_played_before_the_others_in_order():
    whole, failing = Player(), Player("cc")
    await LedEcho().play(ITEM, whole, "official")
    settled = "['b', 'cc'][['right'], ['right', 'right']] "
    assert whole.asked == ["b: b0", "cc: cc0", "cc: cc1", f"a: {settled}a0"]
    await LedEcho().play(ITEM, failing, "official")
    assert failing.asked == ["b: b0", "cc: cc0"]


def test_mutants_are_made_of_each_unit_with_gold_that_is_accepted():
    item = Item("i", ("x", "a", "cc"), "")
    mutants = [*EchoRules().mutants(item)]
    assert {mutant.unit for mutant in mutants} == {"a", "cc"}
    assert {mutant.unit: len(mutant.replies) for mutant in mutants} == {"a": 1, "cc": 2}


def test_a_trace_shows_the_tools_the_gold_and_what_was_decided():
    trace = EchoRules().trace(ITEM, "cc", says("right", "no"))
    assert trace.tools == [{"tool": "cc"}]
    assert [(call.name, call.arguments, call.status) for call in trace.gold] == [
        ("message", "right", "done"),
        ("message", "right", "wrong"),
    ]
    assert [(step.fulfilled, step.note) for step in trace.steps] == [((0,), ""), ((), "compared")]
    goldless = EchoRules().trace(ITEM, "x", says("a"))
    assert (goldless.gold, goldless.tools, len(goldless.steps)) == ((), [{"tool": "x"}], 1)
    assert EchoRules().trace(ITEM, "", says()).tools == ()


def test_columns_and_modes_follow_from_what_a_class_declares():
    class Grouped(Echo):
        groups = ("lang", "topic", "steps", "kind")
        modes = {"a": "one", "b": "two"}  # noqa: RUF012

    class Named(Grouped):
        groups = ("topic",)
        columns = {"topic": "INTEGER"}  # noqa: RUF012
        modes = {"c": "three", "d": "four"}  # noqa: RUF012
        mode = "d"

    assert (Grouped.columns, Grouped.mode) == ({"topic": "VARCHAR", "kind": "VARCHAR"}, "a")
    assert (Named.columns, Named.mode) == ({"topic": "INTEGER"}, "d")
    assert (Echo.columns, Echo.mode) == ({}, "chat")
    named = Named()
    other = named.in_mode("c")
    assert (named.in_mode("d") is named, other is named, other.mode, named.mode) == (True, False, "c", "d")


def test_a_part_is_itself_where_its_class_is_asked():
    class Parted(Echo):
        card = part("wildtool.benchmark:NATIVE")

    lazy = vars(Parted)["card"]
    assert Parted.card is lazy
    assert (Parted().card, vars(Parted)["card"]) == ("fc", "fc")


class Single(SingleTurn):
    name = title = "single"

    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        yield from ()

    def request(self, item: Item) -> Request:
        return Request([{"role": "user", "content": item.id}], gold=lambda style: {"content": "right"})

    def check(self, item: Item, reply: Message, profile: str) -> Check:
        return Check(reply == {"content": "right"}, "other", f"{item.id} {reply} {profile}")

    def mutants(self, item: Item) -> Iterable[Mutant]:
        return [Mutant(item.units[0], "own", (), "made by hand")]


def test_a_benchmark_of_single_replies_judges_them_under_its_profile():
    item = Item("i", ("0",), None)
    right, wrong = (Single().judge(item, {"0": says(text)}, "strict")[0] for text in ("right", "no"))
    assert (right.outcome, right.score, right.reason) == ("correct", 1.0, "i {'content': 'right'} strict")
    assert (wrong.outcome, wrong.score, wrong.reason) == ("wrong", 0.0, "i {'content': 'no'} strict")
    rules = Single().rules("strict")
    assert rules.verdict(rules.episode(item, "0"), item, "0").reason == "i {} strict"
    mutants = [*rules.mutants(item)]
    assert mutants[-1] == Mutant("0", "own", (), "made by hand")
    assert len(mutants) > 1
    assert [*SingleTurn.mutants(Single(), item)] == []


# What a benchmark declares -----------------------------------------------------------------------------


@pytest.mark.parametrize("member", ["locate", "lint", "views", "judge_unit", "documents"])
def test_a_method_that_has_no_effect_any_more_is_named(member: str):
    instead = {
        "locate": "override it in a subclass of DataSet, and declare one as `data`",
        "documents": "give it to the DataSet declared as `data`",
        "lint": "declare checks of a record as `rules_of_data`",
        "views": "declare `tables` with titles",
        "judge_unit": "override `judge`, which decides on single units, too",
    }[member]
    benchmark = Echo()
    assert outdated_member(benchmark) is None
    vars(benchmark)[member] = None
    assert outdated_member(benchmark) == (
        f"defines `{member}`, which has no effect any more: {instead} (docs/adding-a-benchmark.md)"
    )


def test_the_pages_of_a_report_are_the_tables_with_a_title_under_their_profiles():
    class Tables(Echo):
        tables = (
            Table(title="Task Type", measures={"a": "x", "b": "y"}),
            Table(measures={"c": "z"}),
            Table(title="Own", slug="mine", groups=("g",), measures={"c": "z"}, profiles=("p", "q")),
        )

    named = [(page.title, page.slug, page.groups) for page in pages_of(Tables(), "q")]
    assert named == [("Task Type", "task-type", ("a", "b")), ("Own", "mine", ("g",))]
    assert [page.title for page in pages_of(Tables(), "r")] == ["Task Type"]


class Lines(Echo):
    """Items of a text, each with its units after it."""

    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        for line in source.path.read_text().split():
            if line == "broken":
                raise DataError("line is broken")
            name, *units = line.split(",")
            yield Item(name, tuple(units), {unit: unit for unit in units}, name[:1], lang=name[1:])


def test_repeated_ids_and_what_cannot_be_read_are_findings(tmp_path: Path):
    path = tmp_path / "data"
    path.write_text("aen,1 ben,1 aen,1 aen,1 broken")
    source = Source("data", path, "")
    assert [*lint(Lines(), source)] == [
        Finding(f"{path}: aen", "repeated id", "item 3 has the id of item 1; give each item its own"),
        Finding(f"{path}: aen", "repeated id", "item 4 has the id of item 1; give each item its own"),
        Finding(str(path), "unreadable", "line is broken"),
    ]


def test_data_of_a_benchmark_are_checked_by_its_own_check_or_record_by_record(tmp_path: Path):
    path = tmp_path / "data"
    path.write_text("aen,1,2 ben")
    source = Source("data", path, "")

    class Own(Lines):
        data = DataSet(name="own", lint=lambda source: [fault("own", source.name)])

    class Recorded(Lines):
        rules_of_data = (
            lambda record: [fault("first", f"{record}", "/f", "note")],
            lambda record: [Finding("elsewhere", "second", "x", id="n")],
        )

    assert [*lint(Own(), source)] == [fault("own", "data")]
    assert [*lint(Recorded(), source)] == [
        Finding(f"{path}: aen, 1", "first", "1", "note", "/f"),
        Finding(f"{path}: aen, 1", "second", "x", id="n"),
        Finding(f"{path}: aen, 2", "first", "2", "note", "/f"),
        Finding(f"{path}: aen, 2", "second", "x", id="n"),
    ]


def test_a_record_that_is_no_mapping_by_unit_is_checked_as_a_whole(tmp_path: Path):
    class Whole(Echo):
        rules_of_data = (lambda record: [fault("r", str(record))],)

        def load(
            self, source: Source, *, split: str | None = None, lang: str | None = None
        ) -> Iterator[Item]:
            yield Item("a", ("x", "y"), {"x": 1})
            yield Item("b", ("x",), 5)

    assert [*lint(Whole(), Source("s", Path("s"), ""))] == [
        Finding("s: a", "r", "{'x': 1}"),
        Finding("s: b", "r", "5"),
    ]


def test_data_are_described_by_counts_of_items_units_splits_and_languages(tmp_path: Path):
    path = tmp_path / "data"
    path.write_text("aen,1,2 bzh,1 aen,1,2,3 ,1")
    assert describe(Lines(), Source("data", path, "")) == [
        Metric(group, name, None, number, 4, kind="count")
        for group, name, number in [
            ("size", "items", 4),
            ("size", "units", 7),
            ("split", "a", 2),
            ("split", "b", 1),
            ("split", "none", 1),
            ("language", "en", 2),
            ("language", "zh", 1),
            ("language", "none", 1),
        ]
    ]

    class Own(Lines):
        data = DataSet(
            name="own",
            parts=("x", "y"),
            stats=lambda source, items: [Metric(source.name, "n", None, len([*items]), 1)],
        )

    assert describe(Own(), Source("data", path, "")) == [Metric("data", "n", None, 4, 1)]
