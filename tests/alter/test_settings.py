"""What the options and files of alterations may hold, and what is said of anything else, word for word."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from alter.test_alteration import one_item
from wildtool.alter.aid.added_text import TurnCounter, anchor, with_line, with_text
from wildtool.alter.aid.aid import Aid
from wildtool.alter.aid.gold_hints import _in_result, _sentence  # pyright: ignore[reportPrivateUsage]
from wildtool.alter.aid.hints import Hint, read_hints, read_rationales, shuffle_hints
from wildtool.alter.aid.reasoning import with_heading
from wildtool.alter.catalogue.catalogue import Catalogue, catalogue_sizes
from wildtool.alter.failures.failures import Failures
from wildtool.alter.failures.schedule import FailureSchedule
from wildtool.alter.history.history import OwnHistory
from wildtool.alter.history.settings import Unrecorded
from wildtool.alter.injection.injection import Injection
from wildtool.alter.injection.settings import InjectionSetting
from wildtool.alter.noise.noise import Noise
from wildtool.benchmark import Benchmark
from wildtool.data.data_set import data_of
from wildtool.engine.registry import load_benchmark
from wildtool.errors import RecordError, UsageError, WildtoolError
from wildtool.types import Item, Message

OPTIONS: dict[str, tuple[Callable[[], Any], str]] = {
    "noise": (
        lambda: Noise.parse("nams:1"),
        (
            "unknown kind of noise 'nams' of --noise; did you mean 'names'? (known: names, params, "
            "descriptions, order, distractors, missing)"
        ),
    ),
    "level": (
        lambda: Noise.parse("names:4"),
        "unknown level '4' of --noise (known: none, slight, medium, heavy)",
    ),
    "no level": (
        lambda: Noise.parse("names"),
        "--noise names has no level; write names:slight, names:medium or names:heavy",
    ),
    "noise twice": (lambda: Noise.parse("names:1,names:2"), "--noise names names twice; give it one level"),
    "noise without descriptions": (
        lambda: Noise.parse("params:2,missing:1"),
        (
            "--noise missing takes away the descriptions that alone say what a tool or parameter of "
            "another name is; leave it out, or take names and params no further than slight"
        ),
    ),
    "schedule": (
        lambda: FailureSchedule.parse("flakey"),
        (
            "unknown schedule 'flakey' of --failures; did you mean 'flaky'? (known: first-call, "
            "twice-then-well, flaky, down)"
        ),
    ),
    "kind first": (
        lambda: FailureSchedule.parse("timeout"),
        "--failures begins with a schedule, not with a kind; write first-call,timeout or flaky:0.2,timeout",
    ),
    "rate of none": (
        lambda: FailureSchedule.parse("down:0.5"),
        "--failures down takes no rate; write down, or flaky:0.5",
    ),
    "no rate of none": (
        lambda: FailureSchedule.parse("first-call:"),
        "--failures first-call takes no rate; write first-call, or flaky:0.2",
    ),
    "kinds of down": (
        lambda: FailureSchedule.parse("down,empty"),
        "--failures down takes no kinds: all tools are down in the same way; write down",
    ),
    "kind": (
        lambda: FailureSchedule.parse("first-call,emty"),
        (
            "unknown kind of failure 'emty' of --failures; did you mean 'empty'? (known: timeout, "
            "server-error, rate-limit, empty, partial, stale, wrong-type, schema-changed, permission)"
        ),
    ),
    "kind twice": (
        lambda: FailureSchedule.parse("first-call,empty,empty"),
        "--failures names empty twice; name it once",
    ),
    "rate": (
        lambda: FailureSchedule.parse("flaky:1.01"),
        "--failures flaky needs a rate above 0 up to 1, found '1.01'; write flaky:0.2 for one reply in five",
    ),
    "no rate": (
        lambda: FailureSchedule.parse("flaky"),
        "--failures flaky has no rate; write flaky:0.2 for one reply in five",
    ),
    "catalogue": (
        lambda: Catalogue.parse("10", "near,nar"),
        "unknown kind of distractors 'nar' of --catalogue-kinds; did you mean 'near'? (known: random, domain, near)",
    ),
    "catalogue twice": (
        lambda: Catalogue.parse("10", "near,near"),
        "--catalogue-kinds names a kind twice; name each once",
    ),
    "size": (lambda: catalogue_sizes("10,x"), "--catalogue x: give numbers of tools, such as 10,50,200"),
    "no size": (
        lambda: catalogue_sizes(""),
        "--catalogue is empty: give numbers of tools, such as 10,50,200",
    ),
    "size 0": (lambda: catalogue_sizes("0"), "--catalogue 0: give numbers of tools, such as 10,50,200"),
    "long size": (
        lambda: catalogue_sizes("10000000"),
        "--catalogue 10000000: give numbers of tools, such as 10,50,200",
    ),
    "size twice": (lambda: catalogue_sizes("5,10,5"), "--catalogue names a size twice; name each once"),
    "hints of one item": (
        lambda: shuffle_hints([Hint("a", "0", 0, "x")]),
        "--hints shuffled:FILE needs hints of two items or more",
    ),
    "recorded noise": (
        lambda: Noise.recorded({"noise": {"levels": "names:1"}}),
        "run.json: identity.noise is damaged ('seed'); restore it from a copy",
    ),
    "recorded failures": (
        lambda: Failures.recorded({"failures": {"schedule": "down"}}),
        "run.json: identity.failures is damaged ('seed'); restore it from a copy",
    ),
    "recorded injection": (
        lambda: Injection.recorded({"injection": {"setting": "base"}}),
        "run.json: identity.injection is damaged ('seed'); restore it from a copy",
    ),
    "recorded history": (
        lambda: OwnHistory.recorded({"history": {}}),
        "run.json: identity.history is damaged ('own'); restore it from a copy",
    ),
    "recorded hints": (
        lambda: Aid.recorded({"hints": {"shuffled": False}}),
        "run.json: identity.hints or identity.rationale is damaged ('texts'); restore it from a copy",
    ),
    "recorded catalogue": (
        lambda: Catalogue.recorded({"catalogue": {"kinds": []}}),
        "run.json: identity.catalogue is damaged ('pool'); restore it from a copy",
    ),
}


@pytest.mark.parametrize("case", OPTIONS)
def test_what_an_option_does_not_take_is_said(case: str):
    make, text = OPTIONS[case]
    with pytest.raises((UsageError, RecordError)) as refusal:
        make()
    assert str(refusal.value) == text


def test_sizes_and_kinds_are_put_in_order():
    assert catalogue_sizes("200, 10,9999999") == [10, 200, 9999999]
    catalogue = Catalogue.parse("50,10", "near, random", seed=2, retriever="bm25", top_k=3)
    assert (catalogue.size, catalogue.kinds) == (10, ("random", "near"))
    assert catalogue.label == "of 10 tools (random+near), bm25 finds 3, seed 2"
    assert catalogue.folder_parts == ["catalogue-10", "random", "near", "bm25", "3", "seed-2"]
    plain = Catalogue.parse("10", "random", retriever="a/b")
    assert (plain.folder_parts, dict(plain.roles)) == (["catalogue-10", "a-b", "10"], {"ranker": "a/b"})
    assert [dict(Catalogue.parse("10", "random", retriever=name).roles) for name in ("", "bm25", "own")] == [
        {}
    ] * 3
    assert Catalogue.parse("10", "random").folder_parts == ["catalogue-10"]


def items(name: str) -> tuple[Benchmark, list[Item]]:
    benchmark = load_benchmark(name)
    return benchmark, list(benchmark.load(data_of(benchmark).locate(None)))[:2]


NATIVE = ("noise", "catalogue")
"""Alterations of tools, which the items of the example have."""
CHECKS: dict[str, tuple[Any, str]] = {
    "noise": (
        Noise.parse("order:1"),
        (
            "--noise changes native tools, and echo sends none in mode plain; its modes are plain, "
            "loud; choose another mode, or leave --noise out"
        ),
    ),
    "failures": (
        Failures(FailureSchedule.parse("down")),
        (
            "--failures changes the results of native calls, and none of the selected items of echo "
            "shows the model one in mode plain; its modes are plain, loud; choose another mode or "
            "split, or leave --failures out"
        ),
    ),
    "injection": (
        Injection(InjectionSetting.base),
        (
            "--inject plants into the results of calls, and none of the selected items of echo shows "
            "one in mode plain; its modes are plain, loud; choose another mode or split, or leave "
            "--inject out"
        ),
    ),
    "history": (
        OwnHistory(Unrecorded.refuse),
        (
            "--history own is for sessions whose tasks continue each other, and echo has none; leave "
            "it out, or run a benchmark of sessions"
        ),
    ),
    "catalogue": (
        Catalogue.parse("10", "near"),
        (
            "--catalogue adds to native tools, and echo sends none in mode plain; its modes are "
            "plain, loud; choose another mode, or leave --catalogue out"
        ),
    ),
    "hints": (
        Aid((Hint("a", "0", 0, "x"), Hint("b", "0", 0, "x"))),
        "no hint or rationale is for a selected unit; items and units must be named as in the run",
    ),
}


@pytest.mark.parametrize("case", CHECKS)
def test_what_would_change_nothing_is_refused(case: str):
    alteration, text = CHECKS[case]
    benchmark, item = one_item()
    with pytest.raises(UsageError) as refusal:
        alteration.check(benchmark, [item] if case not in NATIVE else [], next(iter(benchmark.profiles)))
    assert str(refusal.value) == text


def test_sizes_that_do_not_fit_are_refused_with_those_that_do():
    benchmark, sample = items("wild-mini")
    refusals: list[str] = []
    for size, kinds in (("6", "near"), ("500", "near"), ("500", "random,domain"), ("8", "near")):
        catalogue = Catalogue.parse(size, kinds).prepared(benchmark, sample, "fixed")
        try:
            refusals.append(catalogue.check(benchmark, sample, "fixed"))
        except UsageError as error:
            refusals.append(str(error))
    assert refusals == [
        "--catalogue 6 is smaller than the 8 tools that item wild_mini_1 has itself; give 8 or more, or other items",
        (
            "--catalogue 500 is more than there are tools: with distractors of kind near item "
            "wild_mini_0 has 217. Give 217 or fewer, add kinds (--catalogue-kinds "
            "near,random,domain; near gives up to 30 for each own tool), or name more tools with "
            "--catalogue-tools FILE, as `wildtool generate tools` writes them"
        ),
        (
            "--catalogue 500 is more than there are tools: with distractors of kind random and "
            "domain item wild_mini_0 has 15. Give 15 or fewer, add kinds (--catalogue-kinds "
            "random,domain,near; near gives up to 30 for each own tool), or name more tools with "
            "--catalogue-tools FILE, as `wildtool generate tools` writes them"
        ),
        "",
    ]


def test_hints_for_other_units_are_counted():
    benchmark, sample = items("wild-mini")
    hints = (Hint("wild_mini_0", "0", 0, "x"), Hint("wild_mini_0", "9", 0, "x"))
    aid = Aid(hints, rationale="given", rationales={("wild_mini_1", "0"): "y", ("none", "0"): "y"})
    assert aid.check(benchmark, sample, "fixed") == "2 of 4 hints and rationales are for no selected unit"
    assert Aid(hints[:1]).check(benchmark, sample, "fixed") == ""
    assert (aid.label, aid.described, aid.folder_parts) == (
        "hints, rationale given", "hints, rationale given", ["hints", "rationale", "given"]
    )  # fmt: skip
    assert Aid(hints, True, "own").label == "hints shuffled, rationale own"
    assert [bool(each) for each in (Aid(), Aid(hints), Aid(rationale="own"))] == [False, True, True]


LINES = {
    '{"item": "a", "unit": "0", "text": "x"}': Hint("a", "0", 0, "x"),
    '{"item": "a", "unit": "0", "text": "x", "step": "*", "turn": 0, "kind": "state"}': Hint(
        "a", "0", None, "x", "state", 0
    ),
    '{"item": "a", "unit": "0", "text": "x", "step": 3, "turn": 2}': Hint("a", "0", 3, "x", "clue", 2),
}
STEP = "/hints.jsonl:2: step must be a number from 0, or '*' for every step"
FAULTS = {
    '{"item": "a", "unit": "0", "text": "x", "step": -1}': STEP,
    '{"item": "a", "unit": "0", "text": "x", "step": true}': STEP,
    '{"item": "a", "unit": "0", "text": "x", "turn": -1}': (
        "/hints.jsonl:2: turn must be a number from 0; leave it out to count the steps of the unit"
    ),
    '{"item": "a", "unit": "0", "text": "x", "kind": 1}': "/hints.jsonl:2: kind must be a text, such as clue",
    '{"item": "a", "unit": "0", "text": " "}': "/hints.jsonl:2: text is empty; a hint tells something",
    '{"item": "a", "unit": "0"}': "/hints.jsonl:2: field text: expected a text, found null",
    "": "/hints.jsonl: holds no hint",
}


def test_a_line_of_hints_has_a_step_and_may_have_a_turn(tmp_path: Path):
    file = tmp_path / "hints.jsonl"
    file.write_text("".join(f"{line}\n" for line in LINES), "utf-8")
    assert read_hints(file) == tuple(LINES.values())
    assert [hint.row() for hint in LINES.values()] == [
        ["a", "0", 0, "x", "clue"], ["a", "0", None, "x", "state", 0], ["a", "0", 3, "x", "clue", 2]
    ]  # fmt: skip


@pytest.mark.parametrize("line", FAULTS)
def test_a_line_that_is_no_hint_is_named(tmp_path: Path, line: str):
    file = tmp_path / "hints.jsonl"
    file.write_text(f"{next(iter(LINES))}\n{line}\n" if line else "", "utf-8")
    with pytest.raises(WildtoolError) as refusal:
        read_hints(file)
    assert str(refusal.value).replace(str(tmp_path), "") == FAULTS[line]


def test_reasoning_is_read_once_for_each_unit(tmp_path: Path):
    file = tmp_path / "reasoning.jsonl"
    file.write_text(
        '{"item": "a", "unit": "0", "text": "x"}\n{"item": "a", "unit": "1", "text": "y"}\n', "utf-8"
    )
    assert read_rationales(file) == {("a", "0"): "x", ("a", "1"): "y"}
    file.write_text('{"item": "a", "unit": "0", "text": "x"}\n' * 2, "utf-8")
    with pytest.raises(WildtoolError) as refusal:
        read_rationales(file)
    assert (
        str(refusal.value).replace(str(tmp_path), "")
        == "/reasoning.jsonl:2: item 'a', unit '0' has reasoning already"
    )


def test_texts_of_other_items_are_used_again_where_there_are_too_few():
    hints = [
        Hint("a", "0", 0, "a0"),
        Hint("b", "0", 0, "b0"),
        Hint("b", "0", 1, "b1"),
        Hint("b", "0", 2, "b2"),
    ]
    assert [hint.text for hint in shuffle_hints(hints)] == ["b0", "a0", "a0", "a0"]


# Texts that are added -----------------------------------------------------------------------------------


def said(*roles: str) -> list[Message]:
    return [{"role": role, "content": f"{role} {k}"} for k, role in enumerate(roles)]


def test_turns_are_counted_from_the_first_request_and_steps_from_their_turn():
    turns = TurnCounter()
    first = ["system", "user", "assistant", "user", "user"]
    later = [
        first,
        [*first, "assistant", "tool"],
        [*first, "assistant", "user"],
        [*first, "assistant", "user", "assistant"],
        [*first, "assistant", "user", "assistant", "user", "user"],
    ]
    assert [turns.place(said(*roles), step) for step, roles in enumerate(later)] == [
        (0, 0),
        (0, 1),
        (1, 0),
        (1, 1),
        (2, 0),
    ]


def test_a_text_is_a_line_of_the_last_message_of_user_or_tool():
    roles = [
        ["system"],
        ["user", "assistant"],
        ["user", "assistant", "tool", "assistant"],
        ["system", "assistant"],
    ]
    assert [anchor(said(*each)) for each in roles] == [0, 0, 2, 1]
    assert with_text(said("user", "assistant"), "added") == [
        {"role": "user", "content": "user 0\nadded"}, {"role": "assistant", "content": "assistant 1"}
    ]  # fmt: skip
    assert with_text(said("system", "user", "assistant"), "added")[:2] == [
        {"role": "system", "content": "system 0"}, {"role": "user", "content": "user 1\nadded"}
    ]  # fmt: skip
    part = {"type": "text", "text": "x"}
    assert with_line({"content": [part]}, "y") == {"content": [part, {"type": "text", "text": "y"}]}
    assert with_line({"role": "user"}, "y") == {"role": "user", "content": "y"}
    assert [with_heading(text) for text in (" ", " a ")] == ["", "\nThoughts on this so far:\na"]


def test_a_value_of_a_result_is_quoted_with_its_key_or_its_sentence():
    assert [_in_result("x", text, text.index("x")) for text in (
        '{"a": {"b": [1, "x"]}}', '["x"]', '{"a": "an x"}', '{"a": "xy"}', '{"a": "%s x"}' % ("w" * 200), "It. An x! No.",
    )] == ['a.b[1] is x.', '[0] is x.', 'a is an x.', '"{"a": "xy"}"', '"… x"}"', '"An x!"']  # fmt: skip


def test_a_long_sentence_is_cut_at_words():
    long = "w " * 120
    cases = [
        ("one. two. three", 6),
        ("one. two", 5),
        (f"a {long}x", 242),
        (f"x {long}", 0),
        ("y" * 300 + "x" + "y" * 300, 300),
    ]
    assert [_sentence(text, place) for text, place in cases] == [
        "two.",
        "two",
        "… w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w x",
        "x w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w w …",
        (
            "… "
            "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"
            "yyyyyyyyyyyyxyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"
            "yyyyyyyyyyyyyyyyyyyyyyyy …"
        ),
    ]
