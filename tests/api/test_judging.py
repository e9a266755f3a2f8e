"""Single replies and calls, judged without a run, get the verdict that a run gets."""

import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import wildtool as wt
from wildtool.api import bench as bench_module
from wildtool.errors import UsageError, WildtoolError
from wildtool.types import Item, Message, Reply, Request, Source

TOOL = {
    "type": "function",
    "function": {
        "name": "book",
        "parameters": {
            "type": "object",
            "properties": {
                "day": {"type": "string", "description": "the date"},
                "guests": {"type": "integer"},
            },
            "required": ["day"],
        },
    },
}
GOLD = {"name": "book", "arguments": {"day": "2026-05-01", "guests": 2}}
REPEATS = 4


class Scripted:
    """Answers by address: gold of the unit, or gold with something changed, by a seed."""

    name = "scripted"

    def __init__(self, bench: wt.Bench) -> None:
        self.scripts = {item.id: item.gold for item in bench}

    def replies(self, item: str, unit: str, repeat: int) -> list[Message]:
        draw = random.Random(f"{item}/{unit}/{repeat}")
        script = [dict(reply) for reply in self.scripts[item][unit]]
        for _ in range(draw.randrange(3)):
            place = draw.randrange(len(script))
            calls = script[place].get("tool_calls")
            change = draw.randrange(5)
            if change == 0:
                script[place] = {"role": "assistant", "content": "Which day do you mean?"}
            elif change == 1 and calls:
                script[place] = {**script[place], "tool_calls": [*calls, calls[0]]}
            elif change == 2 and calls:
                script[place] = {**script[place], "tool_calls": calls[1:] or None, "content": "Done."}
            elif change == 3 and calls:
                function = {**calls[0]["function"], "arguments": '{"city": "Oslo"}'}
                script[place] = {
                    **script[place],
                    "tool_calls": [{**calls[0], "function": function}, *calls[1:]],
                }
            elif change == 4:
                draw.shuffle(script)
        return [*script, *({"role": "assistant", "content": "Anything else?"} for _ in range(12))]

    async def complete(self, request: Request) -> Reply:
        address = request.address
        assert address is not None
        return Reply(self.replies(address.item, address.unit, address.repeat)[address.step])

    async def close(self) -> None:
        pass

    def settings(self) -> Mapping[str, Any]:
        return {}


@pytest.mark.long
@pytest.mark.parametrize("profile", ["official", "fixed"])
def test_a_reply_is_judged_as_score_judges_it(tmp_path: Path, profile: str) -> None:
    bench = wt.load("wild-mini")
    model = Scripted(bench)
    run = wt.run(bench, model=model, repeats=REPEATS, profile=profile, out=tmp_path / "run")
    rows = run.verdicts().rows()
    assert len(rows) == REPEATS * sum(len(item.units) for item in bench)
    assert sum(row["steps"] for row in rows) > (1_000 if profile == "official" else 600)
    assert len({row["outcome"] for row in rows}) == 2
    for row in rows:
        replies = model.replies(row["item"], row["unit"], row["repeat"])[: row["steps"]]
        verdict = wt.judge(item=bench[row["item"]], unit=row["unit"], replies=replies, profile=profile)
        judged = (verdict.outcome, verdict.score, verdict.error, verdict.reason, verdict.steps)
        assert judged == (row["outcome"], row["score"], row["error"], row["reason"], row["steps"])


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ({"name": "book", "arguments": {"day": "May 1, 2026", "guests": 2}}, ""),
        ({"name": "book", "arguments": '{"guests": 2, "day": "2026-05-01"}'}, ""),
        ({"id": "1", "function": {"name": "book", "arguments": '{"day": "2026-05-01", "guests": 2}'}}, ""),
        ({"name": "book", "arguments": {"day": "2026-05-02", "guests": 2}}, "day: "),
        ({"name": "book", "arguments": {"day": "2026-05-01"}}, "guests: 2 is missing"),
        ({"name": "cancel", "arguments": {}}, "calls cancel, gold calls book"),
        ({"name": "book", "arguments": '{"day": '}, "the call cannot be read"),
        ({"arguments": {}}, "the call cannot be read"),
    ],
)
def test_a_call_is_compared_by_meaning(call: dict[str, Any], reason: str) -> None:
    check = wt.check_call(tool=TOOL, gold=GOLD, call=call)
    assert bool(check) is check.correct is (reason == "")
    assert check.reason.startswith(reason)


def test_the_types_of_a_tool_decide_what_a_gold_argument_means() -> None:
    gold, call = {"name": "f", "arguments": {"n": "5"}}, {"name": "f", "arguments": {"n": 5}}
    typed = {"name": "f", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}}
    assert wt.check_call(tool=typed, gold=gold, call=call)
    for untyped in ({"name": "f"}, {"name": "f", "parameters": None}):
        assert not wt.check_call(tool=untyped, gold=gold, call=call)


def test_a_gold_call_that_cannot_be_compared_is_refused() -> None:
    with pytest.raises(UsageError, match="gold call is of 'cancel'"):
        wt.check_call(tool=TOOL, gold={"name": "cancel", "arguments": {}}, call=GOLD)
    with pytest.raises(UsageError, match="gold call cannot be read"):
        wt.check_call(tool=TOOL, gold={"name": "book", "arguments": "[1]"}, call=GOLD)
    for tool in ({}, {"function": {"name": 7}}, {"name": 7}):
        with pytest.raises(UsageError, match="a tool has no `name`"):
            wt.check_call(tool=tool, gold=GOLD, call=GOLD)


def test_a_check_of_a_call_names_each_difference() -> None:
    check = wt.check_call(
        tool=TOOL["function"], gold=GOLD, call={"name": "book", "arguments": {"day": "2026-05-02", "x": 1}}
    )  # pyright: ignore
    assert [each.path for each in check.differences] == ["day", "guests", "x"]
    assert check.reason == "\n".join(each.message for each in check.differences)
    assert not check
    assert wt.check_call(tool={"name": "book"}, gold=GOLD, call=GOLD) == wt.CallCheck(True, "", ())
    other = wt.check_call(tool=TOOL, gold=GOLD, call={"name": "cancel", "arguments": {}})
    assert other == wt.CallCheck(False, "calls cancel, gold calls book")


def bad_replies() -> Iterator[tuple[Any, str]]:
    yield "one text", "it must be a list"
    yield {"content": "x"}, "it must be a list"
    yield [7], "reply 1: expected a text or a message"
    yield [{"words": "x"}], "has words"
    yield [{"tool_calls": "book"}], "the text 'book'"
    yield [{"tool_calls": [{"arguments": {}}]}], "a call has no `name`"
    yield [{"tool_calls": [{"name": "book", "argz": {"day": 1}}]}], "`argz` here"


@pytest.mark.parametrize(("replies", "problem"), [*bad_replies()])
def test_what_is_no_reply_is_refused(replies: Any, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        wt.judge(item=wt.load("wild-mini")[0], unit=0, replies=replies)


def test_unknown_units_and_profiles_are_refused_with_the_nearest() -> None:
    item = wt.load("wild-mini")[0]
    with pytest.raises(UsageError, match="unknown unit '9'"):
        item.request(9)
    with pytest.raises(UsageError, match="did you mean 'fixed'"):
        wt.judge(item=item, unit=0, replies=["x"], profile="fixd")


@pytest.mark.parametrize(("data", "named"), [(None, None), (Path("x"), "x"), ("y", "y")])
def test_data_are_located_by_their_name_and_split(
    monkeypatch: pytest.MonkeyPatch, data: str | Path | None, named: str | None
) -> None:
    place = Source("found", Path("f"), "0")
    asked: list[Any] = []

    def locate(*words: Any) -> Source:
        asked.append(words)
        return place

    monkeypatch.setattr(bench_module, "data_of", lambda benchmark: SimpleNamespace(locate=locate))  # pyright: ignore
    bench = wt.load("wild-mini", data=data, split="s", lang="zh")
    assert (bench.name, bench.source, bench.split, bench.lang, asked) == (
        "wild-mini",
        place,
        "s",
        "zh",
        [(named, "s")],
    )


def test_a_benchmark_is_a_sequence_of_items() -> None:
    bench = wt.load("wild-mini")
    assert repr(bench) == f"<{bench.benchmark.title}: 32 items of wild-mini>"
    assert (bench.name, bench.profiles, len(bench)) == ("wild-mini", ["official", "fixed", "paper"], 32)
    assert [item.id for item in bench[:2]] == ["wild_mini_0", "wild_mini_1"]
    assert bench[-1] is bench["wild_mini_31"] is [*bench][31]
    with pytest.raises(
        UsageError, match=r"^unknown item 'wild_mini_x' of wild-mini; did you mean 'wild_mini_\d'"
    ):
        bench["wild_mini_x"]  # pyright: ignore
    chinese = wt.load("wild-mini", lang="zh")
    assert (chinese.lang, {item.item.lang for item in chinese}) == ("zh", {"zh"})


def test_an_item_shows_what_a_model_sees_first_in_each_unit() -> None:
    item = wt.load("wild-mini")[0]
    assert repr(item) == "<wild-mini item 'wild_mini_0': 4 units>"
    assert item.units == ("0", "1", "2", "3")
    assert {unit: len(replies) for unit, replies in item.gold.items()} == {"0": 4, "1": 2, "2": 3, "3": 2}
    assert [message["role"] for message in item.messages] == ["system", "user"]
    assert item.messages[1]["content"].startswith("lunch at Corner Bistro just now")
    names = [
        "list_accounts",
        "add_expense",
        "add_income",
        "update_entry",
        "search_incoming",
        "link_repayment",
        "get_budget_status",
    ]
    assert [tool["function"]["name"] for tool in item.tools] == names
    messages, tools = item.request("1")
    assert (messages[-1]["content"], len(messages), tools) == (
        "ugh misread the slip. make it 47.23, not 42.18",
        11,
        item.tools,
    )
    messages.clear()
    assert item.request(1) == item.request("1") == item.request(-3) != ([], tools)
    assert [item.unit_name(place) for place in (0, 3, -1, -4)] == ["0", "3", "3", "0"]
    for place in (4, -5, "x"):
        with pytest.raises(
            UsageError, match=rf"^unknown unit '{place}' of wild_mini_0 \(known: 0, 1, 2, 3\)$"
        ):
            item.unit_name(place)


def test_a_unit_shows_its_own_request_or_none() -> None:
    requests = {"a": Request([{"content": "A"}], [{"name": "f"}]), "b": None}

    def rules(profile: str) -> Any:
        assert profile == "first"
        return SimpleNamespace(episode=lambda item, unit: SimpleNamespace(request=lambda: requests[unit]))  # pyright: ignore

    stub: Any = SimpleNamespace(rules=rules, profiles={"first": "", "second": ""})
    one, other = (bench_module.BenchItem(stub, Item("i", units, None)) for units in (("a", "b"), ("b", "a")))
    assert (
        (one.messages, one.tools)
        == one.request("a")
        == other.request(1)
        == ([{"content": "A"}], [{"name": "f"}])
    )
    assert (other.messages, other.tools) == one.request(1) == ([], [])


def test_a_verdict_without_a_run_is_whole_and_by_the_first_profile() -> None:
    item = wt.load("wild-mini")[0]
    verdict = wt.judge(item=item, replies=["x"], unit=0)
    assert verdict == wt.judge(item=item, replies=["x"], unit=0, profile="official")
    assert (verdict.item, verdict.unit, verdict.outcome, verdict.error) == (
        "wild_mini_0",
        "0",
        "wrong",
        "Refusal",
    )
    assert verdict.reason == "text although a call was due"


def test_a_unit_that_goes_on_has_no_verdict() -> None:
    item = wt.load("wild-mini")["wild_mini_3"]
    first = item.gold["2"][:1]
    assert wt.judge(item=item, unit=2, replies=first, profile="fixed").outcome == "unplayed"
    assert wt.judge(item=item, unit=-2, replies=item.gold["2"], profile="fixed").outcome == "correct"


def test_a_judge_that_fails_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wildtool.alter.variant.judge_unit", lambda *_: 1 / 0)
    with pytest.raises(WildtoolError, match=r"the judge failed on wild_mini_0.*ZeroDivisionError"):
        wt.judge(item=wt.load("wild-mini")[0], unit=0, replies=["x"])
