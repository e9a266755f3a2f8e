"""What API-Bank's rules say of calls and replies in full: requests, reasons, conversions, mistakes and explanations."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.apibank.apibank_build import (
    DIALOGUE_LEVELS,
    FOUND,
    HEALTH,
    PULSE,
    TOKEN,
    ai,
    api,
    described,
    write_data,
)
from wildtool.benchmark import Check
from wildtool.benchmarks.apibank import APIBANK
from wildtool.benchmarks.apibank.calls import (
    MAX_ARGUMENTS,
    MAX_OPENINGS,
    WrittenCall,
    bracketed_call,
    convert_fixed,
    convert_original,
    read_call,
    read_call_fixed,
)
from wildtool.benchmarks.apibank.rules import target_text
from wildtool.benchmarks.apibank.tools import ArgumentError
from wildtool.toolcall.call_mutants import calls_message, made_call
from wildtool.types import Item, Message

ONE, TWO = "level-1-given-desc/one", "level-2-toolsearcher/one"
STOCK = {"stock_code": "ABC", "date": "2022-01-05"}
RESULT = {"output": 12.5, "exception": None}


@pytest.fixture(scope="module")
def items(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Item]:
    folder = write_data(tmp_path_factory.mktemp("apibank"))
    return {item.id: item for item in APIBANK.load(APIBANK.data.locate(str(folder)))}


def only_item(tmp_path: Path, *turns: dict[str, Any]) -> Item:
    """The item of a dialogue in the small data."""
    folder = write_data(tmp_path)
    line = json.dumps({"file": "a.jsonl", "turns": turns})
    (folder / "level-1-given-desc.jsonl").write_text(f"{line}\n", "utf-8")
    item, _ = APIBANK.load(APIBANK.data.locate(str(folder)))
    return item


def check(profile: str, item: Item, unit: str, text: str) -> Check:
    return APIBANK.rules(profile).check(item, unit, text)


# Reading ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "call"),
    [
        (
            "[A(x='a', y=\"b\", z=c, w=5)] more",
            WrittenCall("A", {"x": "a", "y": "b", "z": "c", "w": "5"}, "[A(x='a', y=\"b\", z=c, w=5)]"),
        ),
        ("no\nyes [A(x='it's')]", WrittenCall("A", {"x": "it"}, "[A(x='it's')]")),
        (
            "[A(x=[1, 2], y='b')] [B()]",
            WrittenCall("A", {"x": "[1, 2], y='b')]"}, "[A(x=[1, 2], y='b')] [B()]"),
        ),
        ("[A(x=[1, 2], y='b')]", WrittenCall("A", {"x": "[1, 2]", "y": "b"}, "[A(x=[1, 2], y='b')]")),
        ("[A(x=[], y='b')]", WrittenCall("A", {"x": "[]", "y": "b"}, "[A(x=[], y='b')]")),
        ("[A(x=[1]yy='b')]", WrittenCall("A", {"x": "[1]", "yy": "b"}, "[A(x=[1]yy='b')]")),
        (")]", None),
        ("[A(x='a', y=[1]", None),
        ("[A(x=[1, y='b')]", WrittenCall("A", {"y": "b"}, "[A(x=[1, y='b')]")),
        ("[A()]", WrittenCall("A", {}, "[A()]")),
        (")] [A(x='1'", None),
        ("[A(\nx='1')]", None),
        ("A(x='1')]", None),
    ],
)
def test_the_original_reads_one_line_up_to_its_last_bracket(text: str, call: WrittenCall | None) -> None:
    assert read_call(text) == call


@pytest.mark.parametrize(
    ("text", "call"),
    [
        (
            "x [A(a='1' , b = 2 , c=\"d\" )] y",
            WrittenCall("A", {"a": "1", "b": "2", "c": "d"}, "[A(a='1' , b = 2 , c=\"d\" )"),
        ),
        ("[A(a='1', a='2')]", WrittenCall("A", {"a": "1"}, "[A(a='1', a='2')")),
        ("[A(a=1 b='2')] [B(a=x)]", WrittenCall("A", {"a": "1 b='2'"}, "[A(a=1 b='2')")),
        ("[A(a='1'; b=2)] [B()]", WrittenCall("B", {}, "[B()")),
        ("[A(a=)] [B()]", WrittenCall("A", {"a": ""}, "[A(a=)")),
        ("[A(a='1)] [B(b='2')]", WrittenCall("A", {"a": "1)] [B(b='2"}, "[A(a='1)] [B(b='2')")),
        ("[A(a='1',bb=2)]", WrittenCall("A", {"a": "1", "bb": "2"}, "[A(a='1',bb=2)")),
        ("[A(a=1", None),
        ("[A(", None),
        ("[A('1')]", None),
    ],
)
def test_fixed_reads_the_first_call_that_ends(text: str, call: WrittenCall | None) -> None:
    assert read_call_fixed(text) == call


def test_fixed_tries_only_so_many_calls_and_arguments() -> None:
    for count, name in ((MAX_OPENINGS - 1, "B"), (MAX_OPENINGS, None)):
        call = read_call_fixed("[A(; " * count + "[B()]")
        assert (call and call.name) == name
    for count, size in ((MAX_ARGUMENTS, MAX_ARGUMENTS), (MAX_ARGUMENTS + 1, None)):
        call = read_call_fixed(f"[A({', '.join(f'a{n}=1' for n in range(count))})]")
        assert (call and len(call.arguments)) == size


BAD = "invalid parameter type. parameter: "


@pytest.mark.parametrize(
    ("text", "declared", "original", "fixed"),
    [
        ("12", "int", 12, 12),
        (" 12", "int", f"{BAD} 12", 12),
        ("1.5", "int", f"{BAD}1.5", f"{BAD}1.5"),
        ("²", "int", f"{BAD}²", f"{BAD}²"),
        ("1.5", "float", 1.5, 1.5),
        ("x", "float", f"{BAD}x", f"{BAD}x"),
        ("True", "bool", True, True),
        ("true", "bool", False, True),
        ("False", "bool", False, False),
        (" FALSE ", "bool", False, False),
        ("yes", "bool", False, f"{BAD}yes"),
        (" x ", "str", " x ", " x "),
        ("[1, 'a']", "list", "[1, 'a']", [1, "a"]),
        (" ['a']", "list(str)", " ['a']", ["a"]),
        ("{'a': 1}", "list", "{'a': 1}", f"{BAD}{{'a': 1}}"),
        ("[", "list", "[", f"{BAD}["),
    ],
)
def test_a_text_becomes_the_declared_type(text: str, declared: str, original: Any, fixed: Any) -> None:
    for convert, value in ((convert_original, original), (convert_fixed, fixed)):
        if isinstance(value, str) and value.startswith(BAD):
            with pytest.raises(ArgumentError) as caught:
                convert(text, declared)
            assert str(caught.value) == value
        else:
            converted = convert(text, declared)
            assert (converted, type(converted)) == (value, type(value))


# Requests --------------------------------------------------------------------------------------------

CALL_TASK = (
    "You help a user and can call tools. Given the dialogue so far and the tools below, write the call that comes"
    " next, in the form [ApiName(key1='value1', key2='value2')], with the name and the parameters of a tool and the"
    " values that the dialogue gives. Write this call alone, without any other text. The current year is 2023.\n"
    "Tools:"
)
REPLY_TASK = (
    "You help a user and can call tools. The dialogue below ends with a call and its response. Write what the"
    " assistant tells the user next, in the form\nAI: the assistant's words\nThe current year is 2023.\nTools:"
)


def system(task: str, *tools: str) -> Message:
    return {
        "role": "system",
        "content": "\n".join((task, *(json.dumps(described()[tool], ensure_ascii=False) for tool in tools))),
    }


def test_a_request_shows_the_tools_and_the_turns_before(items: dict[str, Item]) -> None:
    question = {"role": "user", "content": "What does ABC cost?"}
    search = {"role": "system", "content": f"[ToolSearcher(keywords='stock price')] Response: {FOUND}"}
    stock = {"role": "system", "content": f"{bracketed_call('QueryStock', STOCK)} Response: 12.5"}
    requests = [APIBANK.rules("toleap").episode(items[TWO], unit).request() for unit in "013"]
    assert [request and request.messages for request in requests] == [
        [system(CALL_TASK, "ToolSearcher"), question],
        [system(CALL_TASK, "ToolSearcher"), question, search],
        [system(REPLY_TASK, "QueryStock", "ToolSearcher"), question, search, stock],
    ]
    golds = [request.gold("parallel") for request in requests if request and request.gold]
    assert golds == [
        {"role": "assistant", "content": text}
        for text in ("[ToolSearcher(keywords='stock price')]", bracketed_call("QueryStock", STOCK), "It cost 12.5.")
    ]  # fmt: skip
    tools = ("AddAgenda", "DeleteMeeting", "ForgotPassword", "QueryStock", "RecordHealthData", "TimedSwitch")
    request = APIBANK.rules("toleap").episode(items[ONE], "4").request()
    assert request is not None and request.messages[0] == system(CALL_TASK, *tools)
    assert [message["role"] for message in request.messages] == [
        "system",
        "user",
        "system",
        "system",
        "assistant",
        "user",
    ]


def test_replies_alone_hide_the_translator(items: dict[str, Item]) -> None:
    turns = items[TWO].data.turns
    other = items[TWO].data.__class__(
        "level-1-given-desc",
        "two.jsonl",
        (turns[0], {**turns[2], "api_name": "Translate"}, *turns[2:]),
        items[TWO].data.samples,
        items[TWO].data.library,
    )
    for benchmark, tools in (
        (APIBANK, ("QueryStock", "Translate")),
        (APIBANK.in_mode("replies"), ("QueryStock",)),
    ):
        request = benchmark.rules("toleap").episode(Item("x", ("3",), other), "3").request()
        assert request is not None and request.messages[0] == system(REPLY_TASK, *tools)


# Decisions -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "original", "fixed"),
    [
        (
            bracketed_call("QueryStock", STOCK),
            Check(True, None, "the result is the recorded one", fields={"own_search": False}, detail=RESULT),
            Check(
                True, None, "the result is that of the gold call", fields={"own_search": False}, detail=RESULT
            ),
        ),
        (
            bracketed_call("QueryStock", {**STOCK, "date": "2022-01-06"}),
            *(
                Check(
                    False,
                    "wrong result",
                    f"the result is not {gold}",
                    fields={"own_search": False},
                    detail={"output": None, "exception": "The stock price of this date is not maintained."},
                )
                for gold in ("the recorded one", "that of the gold call")
            ),
        ),
        ("words", *[Check(False, "no call", "no [ApiName(…)] in the reply")] * 2),
        ("[GetToday()]", *[Check(False, "wrong API", "API Name Mismatch: GetToday vs QueryStock")] * 2),
        (
            "[QueryStock(stock_code='ABC', zz='1')]",
            *[Check(False, "wrong arguments", "invalid parameter name. parameter: zz")] * 2,
        ),
        (
            "[QueryStock(stock_code='ABC')]",
            *[
                Check(
                    False,
                    "wrong arguments",
                    "QueryStock.call() missing 1 required positional argument: 'date'",
                )
            ]
            * 2,
        ),
    ],
)
def test_a_decision_about_a_call_has_its_reason(
    items: dict[str, Item], text: str, original: Check, fixed: Check
) -> None:
    assert check("original", items[TWO], "1", text) == check("toleap", items[TWO], "1", text) == original
    assert check("fixed", items[TWO], "1", text) == fixed


def test_a_rule_that_raises_makes_a_call_wrong(items: dict[str, Item]) -> None:
    text = target_text(DIALOGUE_LEVELS["level-1-given-desc"][11])
    assert check("original", items[ONE], "10", text) == Check(
        False,
        "wrong result",
        "KeyError in correctness check",
        detail={"output": "success", "exception": None},
    )


def test_what_is_recorded_decides_how_a_result_is_compared(tmp_path: Path) -> None:
    account = {"username": "Cy", "password": "p", "email": "c@example.org"}
    turns = [
        {**api("QueryStock", 12.5, **STOCK), "result": {"input": None, "output": 12.5, "exception": None}},
        api("RegisterUser", None, **account),
        ai("All done."),
    ]
    item = only_item(tmp_path, *turns)
    read_error = Check(False, "wrong result", "KeyError in correctness check", detail=RESULT)
    assert check("original", item, "0", target_text(turns[0])) == read_error
    # An output where none is recorded is too much, none where one is recorded would do.
    registered = check("original", item, "2", target_text(turns[1]))
    assert (registered.error, registered.reason) == ("wrong result", "the result is not the recorded one")
    assert [kind for kind, *_ in mistakes(item, "3")] == [
        "empty reply",
        "other words",
        "last word left out",
        "words repeated",
        "word changed",
    ]


def test_an_episode_without_a_reply_makes_no_call(items: dict[str, Item]) -> None:
    rules = APIBANK.rules("fixed")
    for reply in ([], [{"content": None}]):
        episode: Any = rules.episode(items[TWO], "1")
        for message in reply:
            episode.advance(message)
        assert rules.verdict(episode, items[TWO], "1") == Check(
            False, "no call", "no [ApiName(…)] in the reply"
        )


def reply_check(score: float, reason: str = "", **fields: Any) -> Check:
    correct = score == 1
    error = None if correct else "other words"
    return Check(correct, error, reason or f"ROUGE-L {score:.4f}", score, {"rouge_l": score, **fields})


@pytest.mark.parametrize(
    ("text", "original", "fixed"),
    [
        ("It cost 12.5.", reply_check(1.0), reply_check(1.0)),
        ("It cost", reply_check(0.6667), reply_check(2 * 2 / 6)),
        ("It costs 12.5.", reply_check(0.75), reply_check(2 * 3 / 8)),
        ("", reply_check(0.0), reply_check(0.0)),
    ],
)
def test_a_decision_about_a_reply_is_its_overlap(
    items: dict[str, Item], text: str, original: Check, fixed: Check
) -> None:
    assert check("original", items[TWO], "3", text) == original
    assert check("fixed", items[TWO], "3", text) == fixed


def test_replies_on_which_the_original_fails_have_its_exception(items: dict[str, Item]) -> None:
    dots = check("toleap", items[TWO], "3", "...")
    assert (dots.score, dots.fields) == (0.0, {"rouge_l": 0.0, "reference_error": "ValueError"})
    long = check("toleap", items[TWO], "3", " ".join(f"w{number}" for number in range(50_000)))
    assert (long.score, long.fields) == (0.0, {"rouge_l": 0.0, "reference_error": "RecursionError"})
    assert (dots.correct, dots.error, bool(dots.reason)) == (False, "other words", True)


# The audit -------------------------------------------------------------------------------------------


def mistakes(item: Item, unit: str, profile: str = "fixed") -> list[tuple[str, str, str, str]]:
    """Kind, text, note and explanation of each mutant of one unit."""
    rules = APIBANK.rules(profile)
    rows: list[tuple[str, str, str, str]] = []
    for mutant in rules.mutants(item):
        if mutant.unit == unit:
            (reply,) = mutant.replies
            assert reply["role"] == "assistant"
            rows.append((mutant.kind, reply["content"], mutant.note, rules.explain(item, mutant)))
    return rows


def test_each_mistake_in_a_call_is_one_change(items: dict[str, Item]) -> None:
    gold = {**HEALTH, "health_data": PULSE}

    def call(**arguments: str) -> str:
        return bracketed_call("RecordHealthData", arguments)

    unread = "Q8: the rule of RecordHealthData does not read health_data"
    pulse = PULSE.replace("70", "71")
    assert mistakes(items[ONE], "0") == [
        ("empty reply", "", "no text", ""),
        ("brackets left out", call(**gold)[1:-1], "no brackets", ""),
        ("other API", bracketed_call("GetToday", gold), "GetToday", ""),
        ("unknown API", bracketed_call("RecordHealthDataV2", gold), "RecordHealthDataV2", ""),
        ("unknown argument", call(**gold, zz="1"), "zz", ""),
        ("argument left out", call(time=HEALTH["time"], health_data=PULSE), "user_id: left out", ""),
        ("value changed", call(**{**gold, "user_id": "A2"}), "user_id: A2", ""),
        ("argument left out", call(user_id="A1", health_data=PULSE), "time: left out", ""),
        ("value changed", call(**{**gold, "time": "2023-05-03 08:00:00"}), "time: 2023-05-03 08:00:00", ""),
        ("argument left out", call(**HEALTH), "health_data: left out", unread),
        ("value changed", call(**{**gold, "health_data": pulse}), f"health_data: {pulse}", unread),
    ]
    assert [(kind, note) for kind, _, note, _ in mistakes(items[ONE], "11")][-2:] == [
        ("argument left out", "on: left out"),
        ("value changed", "on: False"),
    ]
    assert mistakes(items[TWO], "0")[-1] == (
        "argument left out",
        "[ToolSearcher()]",
        "keywords: left out",
        "Q8: the rule of ToolSearcher does not read keywords",
    )
    assert len(mistakes(items[TWO], "0")) == 6
    units = dict.fromkeys(mutant.unit for mutant in APIBANK.rules("original").mutants(items[ONE]))
    assert [*units] == ["1", "2", "3", "4", "5", "7", "8", "13"]


def test_each_mistake_in_a_reply_is_one_change(items: dict[str, Item]) -> None:
    text, sets = (
        "It is noted. ABC cost 12.5 that day.",
        "Q13: ROUGE-L compares sets of words, sentence by sentence",
    )
    assert mistakes(items[ONE], "3") == [
        ("empty reply", "", "no text", ""),
        ("other words", "zzyzx quuxly", "zzyzx quuxly", ""),
        ("last word left out", "It is noted. ABC cost 12.5 that", "day.", sets),
        ("words repeated", f"{text} {text}", "twice", sets),
        ("word changed", "zzyzx is noted. ABC cost 12.5 that day.", "It", ""),
        ("sentences turned round", "ABC cost 12.5 that day. It is noted", "turned", sets),
    ]
    assert [kind for kind, *_ in mistakes(items[ONE], "13")] == ["empty reply", "other words"]


def test_a_refused_gold_answer_is_explained(items: dict[str, Item]) -> None:
    rules = APIBANK.rules("original")
    reasons = {unit: rules.explain_gold(items[ONE], unit) for unit in items[ONE].units}
    shipped = "Q3: the shipped tables are not those that the dialogue was recorded with"
    renamed = "Q6: the recorded call has parameters that the tool no longer has"
    assert reasons == {
        "0": "Q4: a list stays a text, the recorded input has a list",
        **dict.fromkeys(("1", "2", "4", "8"), shipped),
        **dict.fromkeys(("3", "5", "7", "13"), ""),
        "6": "Q1: a value is cut at the first quote, or lost",
        "10": "Q5: its rule reads a field that no meeting has",
        **dict.fromkeys(("11", "12"), renamed),
    }


def test_what_earlier_calls_changed_explains_a_refused_gold_answer(tmp_path: Path) -> None:
    agenda = {"token": TOKEN, "content": "Swim", "time": "2023-05-04 07:00:00", "location": "Pool"}
    turns = [
        api("AddAgenda", None, zz="1"),  # refused, which hides nothing behind it
        api("AddAgenda", **agenda),
        api("QueryAgenda", {**agenda, "username": "ann"}, **agenda),
    ]
    item = only_item(tmp_path, *turns)
    assert APIBANK.rules("original").explain_gold(item, "3") == (
        "Q7: what earlier calls of the dialogue changed is lost in a fresh tool set"
    )
    assert [check(profile, item, "3", target_text(turns[2])).correct for profile in APIBANK.profiles] == [
        False,
        False,
        True,
    ]


@pytest.mark.parametrize(
    ("reply", "calls"),
    [
        ({"content": "[A(x='1')] [B()]"}, [("A", {"x": "1"})]),
        ({"content": "words"}, [("message", "words")]),
        (calls_message([made_call("A", '{"x": 1}', {})]), [("A", {"x": 1})]),
    ],
)
def test_the_call_that_a_reply_makes_is_shown(reply: Message, calls: list[Any]) -> None:
    assert list(APIBANK.rules("fixed").said(reply)) == calls
