"""Numbers of a training file: what the tables of `data stats` count."""

import json
from pathlib import Path
from typing import Any

import pytest

from training.training_rows import write_rows
from wildtool.sets.prepare import stats as stats_module
from wildtool.sets.prepare.record import AssistantTurn, TrainingCall, TrainingRecord, UserTurn
from wildtool.sets.prepare.stats import TrainingStats, training_stats
from wildtool.types import Metric


def told(tools: int, *replies: str) -> dict[str, Any]:
    """A conversation in which the user says something before each reply; `CALL` calls a tool."""
    call = json.dumps({"name": "f0", "arguments": {}})
    turns: list[dict[str, str]] = []
    for reply in replies:
        if reply == "CALL":
            turns += [{"from": "function_call", "value": call}, {"from": "observation", "value": "4 m"}]
        else:
            turns.append({"from": "gpt", "value": reply})
            turns.append({"from": "human", "value": "And now?"})
    listed = [{"name": f"f{k}", "description": "", "parameters": {}} for k in range(tools)]
    start = {"from": "human", "value": "How high?"}
    return {"conversations": [start, *turns][: 1 + len(turns) - 1], "tools": json.dumps(listed)}


def counted(path: Path, *rows: dict[str, Any]) -> dict[tuple[str, str], Metric]:
    found = training_stats(write_rows(path / "train.jsonl", list(rows)))
    return {(metric.group, metric.name): metric for metric in found.metrics}


def test_records_are_counted_by_how_many_tools_are_offered(tmp_path: Path):
    shares = counted(tmp_path, *(told(tools, "High.") for tools in (0, 1, 2, 5, 6, 20, 21, 40)))
    names = {"none": 1, "1": 1, "2 to 5": 2, "6 to 20": 2, "more than 20": 2}
    assert {name: shares["tools offered", name].numerator for name in names} == names


def test_a_text_asks_back_that_ends_in_a_question_before_any_call_of_its_turn(tmp_path: Path):
    rows = [
        told(1, "At which station?", "High."),
        told(1, "CALL", "4 m. Anything else?"),
        told(1, "CALL", "4 m.", "哪个站？ "),
    ]
    metric = counted(tmp_path, *rows)["replies", "texts that ask back, before any call"]
    assert (metric.numerator, metric.denominator) == (2, 5)


def test_records_are_long_from_a_number_of_turns_on(monkeypatch: pytest.MonkeyPatch):
    reached = iter((3, 4, 5))
    monkeypatch.setattr(stats_module, "reach", lambda record: next(reached))
    stats = TrainingStats()
    for _ in range(3):
        stats.add(TrainingRecord(turns=(UserTurn("q"), AssistantTurn("r"))))
    (long,) = (metric for metric in stats.metrics() if "last said 4 turns back" in metric.name)
    assert (long.numerator, long.denominator) == (2, 3)


def test_every_number_of_a_file(tmp_path: Path):
    two = [{"name": "level", "arguments": {"station": "Husum", "n": 5, "b": True, "l": [1], "x": None}}] * 2
    tide = {"name": "tide", "arguments": {"station": "4 m", "f": 2.5, "o": {}}}
    tools = [
        {"name": name, "description": "", "parameters": {"properties": {}}} for name in ("level", "tide")
    ]
    turns = [
        {"from": "human", "value": "Husum?"},
        {"from": "function_call", "value": json.dumps(two)},
        {"from": "observation", "value": '["4 m", "5 m"]'},
        {"from": "function_call", "value": json.dumps(tide)},
        {"from": "observation", "value": "6 m"},
        {"from": "gpt", "value": "More?"},
    ]
    called = {"conversations": turns, "system": "S", "tools": json.dumps(tools), "source": "a"}
    plain = {
        "conversations": [{"from": "human", "value": "Где? Где?"}, {"from": "gpt", "value": "x" * 7000}],
        "system": "",
        "tools": "",
        "source": "b",
    }
    pair = {
        "conversations": [{"from": "human", "value": "q 1"}],
        "chosen": {"from": "gpt", "value": "Which?"},
        "rejected": turns[1],
        "source": "b",
    }
    single = {**called, "conversations": [turns[0], {"from": "function_call", "value": json.dumps(two[0])}]}
    file = write_rows(tmp_path / "f.jsonl", [called, plain, single])
    pairs = write_rows(tmp_path / "p.jsonl", [pair])
    numbers = training_stats(file, tokens=lambda text: len(text.split()))
    assert list(map(shown, numbers.metrics)) == [
        "size | records | count | 3 / 3",
        "size | results | count | 3 / 3",
        "size | turns: mean | mean | 10 / 3",
        "size | turns: median | mean | 2 / 1",
        "size | turns: 95 % | mean | 6 / 1",
        "size | user turns: mean | mean | 3 / 3",
        "size | user turns: median | mean | 1 / 1",
        "size | user turns: 95 % | mean | 1 / 1",
        "records | without a call | rate | 1 / 3",
        "records | with one call | rate | 1 / 3",
        "records | with several calls in one turn | rate | 1 / 3",
        "records | with calls in several turns | rate | 1 / 3",
        "records | with an argument last said 4 turns back or more | rate | 0 / 3",
        "replies | texts that ask back, before any call | rate | 0 / 2",
        "calls | calls | count | 4 / 4",
        "calls | different tools | count | 2 / 4",
        "calls | calls per tool | mean | 4 / 2",
        "calls | of the ten commonest tools | rate | 4 / 4",
        "tools offered | none | rate | 1 / 3",
        "tools offered | 1 | rate | 0 / 3",
        "tools offered | 2 to 5 | rate | 2 / 3",
        "tools offered | 6 to 20 | rate | 0 / 3",
        "tools offered | more than 20 | rate | 0 / 3",
        "argument types | a number | rate | 4 / 18",
        "argument types | a text | rate | 4 / 18",
        "argument types | a boolean | rate | 3 / 18",
        "argument types | a list | rate | 3 / 18",
        "argument types | null | rate | 3 / 18",
        "argument types | an object | rate | 1 / 18",
        "argument values occur in | a user text | rate | 3 / 8",
        "argument values occur in | an earlier result | rate | 1 / 8",
        "argument values occur in | neither | rate | 4 / 8",
        "length | characters: mean | mean | 7781 / 3",
        "length | characters: median | mean | 447 / 1",
        "length | characters: 95 % | mean | 7009 / 1",
        "length | tokens: mean | mean | 57 / 3",
        "length | tokens: median | mean | 14 / 1",
        "length | tokens: 95 % | mean | 40 / 1",
        "length | more than 2,048 tokens | rate | 0 / 3",
        "length | more than 4,096 tokens | rate | 0 / 3",
        "length | more than 8,192 tokens | rate | 0 / 3",
        "script of the user texts | Latin | rate | 2 / 3",
        "script of the user texts | Cyrillic | rate | 1 / 3",
        "findings | S14 | count | 18 / 18",
    ]
    assert all(m.value == m.numerator / (m.denominator if m.kind != "count" else 1) for m in numbers.metrics)
    assert {group: {m.group for m in metrics} for group, metrics in numbers.sets.items()} == {
        group: {group} for group in ("set a", "set b", "all sets")
    }
    assert [shown(metric) for metrics in numbers.sets.values() for metric in metrics] == [
        "set a | records | rate | 2 / 3",
        "set a | turns: mean | mean | 8 / 2",
        "set a | calls: mean | mean | 4 / 2",
        "set a | tokens: mean | mean | 54 / 2",
        "set a | without a call | rate | 0 / 2",
        "set a | with calls in several turns | rate | 1 / 2",
        "set b | records | rate | 1 / 3",
        "set b | turns: mean | mean | 2 / 1",
        "set b | calls: mean | mean | 0 / 1",
        "set b | tokens: mean | mean | 3 / 1",
        "set b | without a call | rate | 1 / 1",
        "set b | with calls in several turns | rate | 0 / 1",
        "all sets | records | rate | 3 / 3",
        "all sets | turns: mean | mean | 10 / 3",
        "all sets | calls: mean | mean | 4 / 3",
        "all sets | tokens: mean | mean | 57 / 3",
        "all sets | without a call | rate | 1 / 3",
        "all sets | with calls in several turns | rate | 1 / 3",
    ]
    assert (numbers.check.rows, numbers.check.levels) == (3, {"warning": 18})
    alone = training_stats(pairs)
    assert list(map(shown, alone.metrics)) == [
        "size | records | count | 1 / 1",
        "size | results | count | 0 / 1",
        "size | turns: mean | mean | 2 / 1",
        "size | turns: median | mean | 2 / 1",
        "size | turns: 95 % | mean | 2 / 1",
        "size | user turns: mean | mean | 1 / 1",
        "size | user turns: median | mean | 1 / 1",
        "size | user turns: 95 % | mean | 1 / 1",
        "records | without a call | rate | 1 / 1",
        "records | with one call | rate | 0 / 1",
        "records | with several calls in one turn | rate | 0 / 1",
        "records | with calls in several turns | rate | 0 / 1",
        "records | with an argument last said 4 turns back or more | rate | 0 / 1",
        "replies | texts that ask back, before any call | rate | 1 / 1",
        "calls | calls | count | 0 / 0",
        "calls | different tools | count | 0 / 0",
        "calls | calls per tool | mean | 0 / 0",
        "calls | of the ten commonest tools | rate | 0 / 0",
        "tools offered | none | rate | 1 / 1",
        "tools offered | 1 | rate | 0 / 1",
        "tools offered | 2 to 5 | rate | 0 / 1",
        "tools offered | 6 to 20 | rate | 0 / 1",
        "tools offered | more than 20 | rate | 0 / 1",
        "argument values occur in | a user text | rate | 0 / 0",
        "argument values occur in | an earlier result | rate | 0 / 0",
        "argument values occur in | neither | rate | 0 / 0",
        "length | characters: mean | mean | 9 / 1",
        "length | characters: median | mean | 9 / 1",
        "length | characters: 95 % | mean | 9 / 1",
        "length | tokens, estimated: mean | mean | 2 / 1",
        "length | tokens, estimated: median | mean | 2 / 1",
        "length | tokens, estimated: 95 % | mean | 2 / 1",
        "length | more than 2,048 tokens, estimated | rate | 0 / 1",
        "length | more than 4,096 tokens, estimated | rate | 0 / 1",
        "length | more than 8,192 tokens, estimated | rate | 0 / 1",
        "script of the user texts | Latin | rate | 1 / 1",
        "findings | F06 | count | 1 / 1",
    ]
    assert alone.sets == {}


def shown(metric: Metric) -> str:
    """A metric as a line: what is divided by what."""
    return f"{metric.group} | {metric.name} | {metric.kind} | {metric.numerator} / {metric.denominator}"


def test_lengths_are_counted_above_each_limit(tmp_path: Path):
    lengths = iter(sorted([2048, 2049, 4096, 4097, 8192, 8193] * 2))
    file = write_rows(tmp_path / "f.jsonl", [told(0, f"Reply {k}.") for k in range(6)])
    metrics = training_stats(file, tokens=lambda text: next(lengths)).metrics
    longer = [
        metric.numerator
        for metric in metrics
        if metric.name.startswith("more than ") and "tokens" in metric.name
    ]
    assert longer == [5, 3, 1]


@pytest.mark.parametrize(
    ("texts", "script"),
    [
        ([], "none"),
        (["12 ?"], "none"),
        (["abc"], "Latin"),
        (["é"], "Latin"),
        (["漢字 ab"], "Han"),
        (["ひらカ"], "kana"),
        (["한글"], "Hangul"),
        (["где", "ab"], "Cyrillic"),
        (["عرب"], "Arabic"),
        (["αβγ"], "another"),
        (["a" * 200 + "где" * 200], "Latin"),
        (["ab " * 50, "где" * 200], "Latin"),
        (["ab " * 49, "где" * 200], "Cyrillic"),
    ],
)
def test_the_script_is_that_of_the_first_letters(texts: list[str], script: str):
    stats = TrainingStats()
    stats.add(TrainingRecord(turns=tuple(map(UserTurn, texts))))
    shares = [metric.name for metric in stats.metrics() if metric.group == "script of the user texts"]
    assert shares == [script]


def test_the_ten_commonest_tools_and_the_95_percent_point():
    stats = TrainingStats()
    for k in range(20):
        made = tuple(TrainingCall(f"f{n}", {}, "c") for n in range(12 if k == 0 else 1))
        stats.add(
            TrainingRecord(turns=(UserTurn("q"), *[AssistantTurn(None, made), UserTurn("q")] * (k + 1)))
        )
    numbers = {(metric.group, metric.name): metric for metric in stats.metrics()}
    top = numbers["calls", "of the ten commonest tools"]
    assert (top.numerator, top.denominator) == (219, 221)
    assert numbers["size", "turns: 95 %"].value == 41
    assert numbers["size", "turns: median"].value == 22


def test_more_than_fifty_sets_are_no_sets():
    for count, groups in ((1, 0), (2, 3), (50, 51), (51, 0), (60, 0)):
        stats = TrainingStats()
        for k in range(count):
            for name in (f"s{k}", f"s{k}", ""):
                stats.add(TrainingRecord(turns=(UserTurn("q"),)), name)
        assert len(stats.sets()) == groups


def test_far_values_and_replies_without_text():
    def calling(filler: int) -> TrainingRecord:
        talk = (UserTurn("Husum?"), *[AssistantTurn(None), UserTurn("go")] * filler)
        return TrainingRecord(turns=(*talk, AssistantTurn(None, (TrainingCall("f", {"s": "Husum"}, "1"),))))

    for filler, far in ((1, 0), (2, 1)):
        stats = TrainingStats()
        stats.add(calling(filler))
        numbers = {metric.name: metric.numerator for metric in stats.metrics()}
        assert numbers["with an argument last said 4 turns back or more"] == far
        assert numbers["texts that ask back, before any call"] == 0


def test_the_largest_set_comes_first(tmp_path: Path):
    rows = [{**told(0, "High."), "source": name} for name in "accb"]
    assert list(training_stats(write_rows(tmp_path / "a.jsonl", rows)).sets) == [
        "set c",
        "set a",
        "set b",
        "all sets",
    ]
