"""RoTBench's rules: how each profile reads a reply, how far a call goes right, and the mistakes that are planted."""

import json
from typing import Any

import pytest

from benchmarks.rotbench.reply_build import calling
from wildtool.benchmark import Check, Mutant
from wildtool.benchmarks.rotbench import ROTBENCH
from wildtool.benchmarks.rotbench.data import Answer, RotRecord, parse_answer
from wildtool.benchmarks.rotbench.judge import (
    PROFILES,
    EvaluatorError,
    UnreadableError,
    read_by_lines,
    read_leniently,
    read_strictly,
)
from wildtool.types import Item, Request


def tool(name: str, *parameters: str, required: tuple[str, ...] = ()) -> dict[str, Any]:
    properties = {parameter: {"type": "string"} for parameter in parameters}
    return {"name": name, "parameters": {"properties": properties, "required": list(required)}}


TOOLS = (
    tool("hours", "place", "day", required=("place",)),
    tool("joke"),
    tool("ask_to_user", "question"),
    tool("finish", "answer"),
)


def record(*answers: str, tools: tuple[dict[str, Any], ...] = TOOLS) -> RotRecord:
    turns = (("system", "S"), ("user", "U"), ("assistant", "A"), ("function", "F"))
    return RotRecord("clean", "none", "third", "PL", turns, tools, tuple(map(parse_answer, answers)))


HOURS = calling("hours", place="library", day="None")
EMPTY = "the action input is empty, which counts as unreadable (Q1)"
NO_MARKS = "no `Action:` before `Action Input:`"
NO_LINE = "no line `Action: NAME` before `Action Input:`"
NO_OBJECT = "no JSON object after `Action Input:`"
NOT_JSON = "the action input is not JSON (JSONDecodeError)"


def reading(profile: str, text: str | None) -> Any:
    try:
        call = PROFILES[profile][0](text)
    except (UnreadableError, EvaluatorError) as error:
        return str(error)
    return call.name, call.arguments


@pytest.mark.parametrize(
    ("text", "toleap", "original", "fixed"),
    [
        (None, "No Output Error", "AttributeError", "No Output Error"),
        ("", NO_MARKS, "IndexError", NO_LINE),
        (calling("f", a=1), ("f", {"a": 1}), ("f", {"a": 1}), ("f", {"a": 1})),
        (calling("f"), EMPTY, "the action input is empty or a text (Q1)", ("f", {})),
        ('Action: f\nAction Input: "a"', "no balanced braces after `Action Input:`", None, NO_OBJECT),
        ("Action: f\nAction Input: [1]", "no balanced braces after `Action Input:`", ("f", [1]), NO_OBJECT),
        ('Action: f\nAction Input: {"a": 1}}', ("f", {"a": 1}), NOT_JSON, ("f", {"a": 1})),
        ('Action: f\nAction Input: } {"a": {"b": 2}} {', ("f", {"a": {"b": 2}}), NOT_JSON, None),
        ("Action: f\nAction Input: {a}", NOT_JSON, NOT_JSON, NOT_JSON),
        ("Action: f\nAction Input: {{}", "no balanced braces after `Action Input:`", NOT_JSON, NOT_JSON),
        ('Action Input: {"a": 1} Action: f', NO_MARKS, "IndexError", NO_LINE),
        ('Action: \nAction Input: {"a": 1}', "no tool name after `Action:`", None, NO_LINE),
        ('Action: f Action Input: {"a": 1}', ("f", {"a": 1}), ("f ", {"a": 1}), ("f", {"a": 1})),
        ('Action: f\nx\nAction Input: {"a": 1}', ("f\nx", {"a": 1}), ("f\nx", {"a": 1}), NO_LINE),
        (
            'Action: no\nx\n \tAction:  g \n \nAction Input: {"a": 1}',
            ("no\nx\n \tAction:  g", {"a": 1}),
            ("no\nx\n \tAction:  g \n ", {"a": 1}),
            ("g", {"a": 1}),
        ),
        ('Action: {}\nAction Input: {"a": 1}', ("{}", {"a": 1}), ("{}", {"a": 1}), ("{}", {"a": 1})),
        ('my Action: f\nAction Input: {"a": 1}', ("f", {"a": 1}), ("f", {"a": 1}), NO_LINE),
        ("Action: f\n", NO_MARKS, NOT_JSON, NO_LINE),
    ],
)
def test_each_parser_reads_a_reply_or_says_why_not(
    text: str | None, toleap: Any, original: Any, fixed: Any
) -> None:
    if original is None:
        original = {
            'Action: f\nAction Input: "a"': "the action input is empty or a text (Q1)",
            'Action: \nAction Input: {"a": 1}': ("", {"a": 1}),
        }[str(text)]
    fixed = ("f", {"a": {"b": 2}}) if fixed is None else fixed
    assert [reading(name, text) for name in ("toleap", "original", "fixed")] == [toleap, original, fixed]


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ('{"a":' * 100_000 + "1" + "}" * 100_000, "RecursionError"),
        ('{"a": ' + "9" * 5_000 + "}", "ValueError"),
    ],
)
def test_what_no_parser_takes_raises_in_the_published_ones_and_is_unreadable_under_fixed(
    value: str, error: str
) -> None:
    text = f"Action: f\nAction Input: {value}"
    for read in (read_leniently, read_strictly):
        with pytest.raises(EvaluatorError, match=f"^{error}$"):
            read(text)
    with pytest.raises(UnreadableError, match=rf"^the action input is not JSON \({error}\)$"):
        read_by_lines(text)


def test_a_call_is_looked_for_only_where_a_reply_is_not_too_long() -> None:
    call = calling("f", a=1)
    begin = call.index("{")
    assert reading("fixed", "x" * (100_000 - begin + 1) + f"\n{call}") == NO_LINE
    assert reading("fixed", "x" * (100_000 - begin) + f"\n{call}") == ("f", {"a": 1})


RENAMED = (tool("x"), tool("4sk", "question"), tool("f1nish", "answer"))


@pytest.mark.parametrize(
    ("answers", "tools", "reply", "levels"),
    [
        # Tool, parameters, values.
        ((HOURS,), TOOLS, calling("zoo", place="library", day="x"), (0, 0, 0)),
        ((HOURS,), TOOLS, calling("hours", place="library", hour="x"), (1, 1, 1)),
        ((HOURS,), TOOLS, calling("hours", place="zoo", day="x"), (2, 2, 2)),
        ((HOURS,), TOOLS, calling("hours", place="library", day="x"), (3, 3, 3)),
        # The best of several answers, whatever their order.
        (
            (calling("hours", place="zoo"), calling("hours", place="a")),
            TOOLS,
            calling("hours", place="a"),
            (3, 3, 3),
        ),
        (
            (calling("hours", place="a"), calling("hours", place="zoo")),
            TOOLS,
            calling("hours", place="a"),
            (3, 3, 3),
        ),
        (
            (calling("joke", a=1), calling("hours", place="zoo")),
            TOOLS,
            calling("hours", place="a"),
            (2, 2, 2),
        ),
        # What is said to the user.
        ((calling("finish", answer="Open."),), TOOLS, calling("finish", answer="Closed."), (3, 3, 3)),
        ((calling("finish", answer="Open."),), TOOLS, calling("finish", answer=["Closed."]), (3, 3, 2)),
        ((calling("finish", answer="Open."),), TOOLS, calling("finish", text="Closed."), (1, 1, 1)),
        ((calling("finish", answer="Open."),), TOOLS, calling("finish", answer="Closed.", x="y"), (1, 1, 1)),
        ((calling("finish", answer="Open."),), TOOLS, calling("hours", answer="Open."), (0, 0, 0)),
        ((calling("4sk", question="?"),), RENAMED, calling("4sk", question="Which?"), (3, 3, 3)),
        ((calling("4sk", question="?"),), RENAMED, calling("ask_to_user", question="Which?"), (0, 0, 0)),
        ((calling("f1nish", answer="a"),), RENAMED, calling("finish", answer="b"), (3, 3, 3)),
        # Once `finish` is taken for the renamed tool, it stays that.
        (
            (calling("f1nish", answer="a"), calling("finish", answer="b", x="c")),
            RENAMED,
            calling("finish", answer="d", x="e"),
            (1, 1, 1),
        ),
        # Another tool that noise has called like one that speaks to the user.
        (
            (calling("finish", place="a"),),
            (tool("finish", "place"), *RENAMED),
            calling("finish", place="b"),
            (3, 3, 2),
        ),
        # A free value that is required must be there, one that is not required need not.
        ((calling("hours", place="None", day="x"),), TOOLS, calling("hours", day="x"), (1, 1, 1)),
        ((calling("hours", place="None", day="x"),), TOOLS, calling("hours", place="", day="x"), (3, 3, 3)),
        # Numbers and truth values as written; only `fixed` knows.
        ((calling("hours", place="true"),), TOOLS, calling("hours", place=True), (2, 2, 3)),
        ((calling("hours", place="1.5"),), TOOLS, calling("hours", place=1.5), (2, 2, 3)),
        ((calling("hours", place=5),), TOOLS, calling("hours", place=5), (3, 3, 3)),
        ((calling("joke", undeclared=5),), TOOLS, calling("joke", undeclared=5), (3, 3, 3)),
        ((calling("hours", place="[1]"),), TOOLS, calling("hours", place=[1]), (2, 2, 2)),
        # Parameters under the declared name, only where value and name say so.
        (
            (calling("run", kode="1"),),
            (tool("run", "code", "other"), *RENAMED),
            calling("run", code="1"),
            (1, 1, 3),
        ),
        (
            (calling("run", kode="1", other="1"),),
            (tool("run", "code", "other"), *RENAMED),
            calling("run", other="1"),
            (1, 1, 1),
        ),
        (
            (calling("run", kode="1", mod="1"),),
            (tool("run", "code", "mode"), *RENAMED),
            calling("run", code="1", mode="1"),
            (1, 1, 3),
        ),
        (
            (calling("run", kode="1", mode="1"),),
            (tool("run", "code"), *RENAMED),
            calling("run", code="1"),
            (1, 1, 1),
        ),
        ((calling("run", kode="1"),), (tool("run", "code"), *RENAMED), calling("run", coda="1"), (1, 1, 1)),
        (
            (calling("run", kode="1"),),
            (tool("run", "code"), *RENAMED),
            calling("run", kode="1", code="1"),
            (1, 1, 1),
        ),
        ((calling("run", code="1"),), (tool("run", "code"), *RENAMED), calling("run", coda="1"), (1, 1, 1)),
    ],
)
def test_how_far_a_call_goes_right(
    answers: tuple[str, ...], tools: tuple[Any, ...], reply: str, levels: tuple[int, ...]
) -> None:
    checks = [
        ROTBENCH.rules(name).check(reply, record(*answers, tools=tools))
        for name in ("toleap", "original", "fixed")
    ]
    assert tuple(check.fields["level"] for check in checks) == levels


def test_of_tools_of_one_name_that_with_all_the_keys_is_meant() -> None:
    twins = (tool("run", "a"), tool("run", "b", "c"), tool("x"), tool("y"))
    both = record(HOURS, tools=twins)
    schemas = [tool["parameters"] for tool in twins]
    keys: tuple[dict[str, int], ...] = ({"a": 1}, {"b": 1}, {"b": 1, "c": 2}, {"d": 1})
    assert [both.tool("run", each) for each in keys] == [schemas[0], schemas[1], schemas[1], schemas[0]]
    assert both.tool("gone", {}) == {}
    assert (both.ask, both.finish) == ("x", "y")


CALLED = {"name": "hours", "input": {"place": "library", "day": "x"}}


@pytest.mark.parametrize(
    ("profile", "text", "expected"),
    [
        (
            "fixed",
            calling("hours", place="library", day="x"),
            Check(
                True,
                None,
                "tool, parameters and values of an accepted answer",
                fields={"level": 3, "reference_error": None},
                detail=CALLED,
            ),
        ),
        (
            "fixed",
            calling("z" * 90, day="x"),
            Check(
                False,
                "Tool Selection Error",
                f"called {'z' * 80!r}, which no accepted answer does",
                fields={"level": 0, "reference_error": None},
                detail={"name": "z" * 90, "input": {"day": "x"}},
            ),
        ),
        (
            "toleap",
            calling("hours", day="x"),
            Check(
                False,
                "Parameter Identification Error",
                "the right tool with other parameters than any accepted answer",
                fields={"level": 1, "reference_error": None},
                detail={"name": "hours", "input": {"day": "x"}},
            ),
        ),
        (
            "toleap",
            calling("hours", place="zoo", day="x"),
            Check(
                False,
                "Content Filling Error",
                "the right parameters with other values than any accepted answer",
                fields={"level": 2, "reference_error": None},
                detail={"name": "hours", "input": {"place": "zoo", "day": "x"}},
            ),
        ),
        (
            "fixed",
            "words",
            Check(False, "Parsing Error", NO_LINE, fields={"level": 0, "reference_error": None}),
        ),
        (
            "fixed",
            None,
            Check(False, "No Output Error", "No Output Error", fields={"level": 0, "reference_error": None}),
        ),
        (
            "original",
            "words",
            Check(
                False,
                "Parsing Error",
                "the published evaluator raises IndexError here",
                fields={"level": 0, "reference_error": "IndexError"},
            ),
        ),
        (
            "original",
            None,
            Check(
                False,
                "No Output Error",
                "the published evaluator raises AttributeError here",
                fields={"level": 0, "reference_error": "AttributeError"},
            ),
        ),
        (
            "original",
            "Action: hours\nAction Input: [1]",
            Check(
                False,
                "Parsing Error",
                "the published evaluator raises AttributeError here",
                fields={"level": 0, "reference_error": "AttributeError"},
            ),
        ),
    ],
)
def test_a_verdict_says_how_far_a_call_went(profile: str, text: str | None, expected: Check) -> None:
    assert ROTBENCH.rules(profile).check(text, record(HOURS)) == expected


@pytest.mark.parametrize("mode", ["chat", "completion"])
def test_a_request_has_the_dialogue_and_the_best_answer(mode: str) -> None:
    item = Item("third-000", ("clean",), {"clean": record(calling("joke"), HOURS)})
    request = ROTBENCH.in_mode(mode).rules("fixed").episode(item, "clean").request()
    assert isinstance(request, Request) and request.gold is not None
    roles = ("system", "user", "assistant", "user")
    messages = [{"role": role, "content": text} for role, text in zip(roles, "SUAF", strict=True)]
    assert request.messages == (messages if mode == "chat" else [{"role": "user", "content": "SUAF"}])
    assert request.gold("any") == {"role": "assistant", "content": HOURS}


def test_an_episode_without_a_reply_has_no_output() -> None:
    item = Item("x", ("clean",), {"clean": record(HOURS)})
    rules = ROTBENCH.rules("fixed")
    for reply in ([], [{"content": None}]):
        episode: Any = rules.episode(item, "clean")
        for message in reply:
            episode.advance(message)
        assert rules.verdict(episode, item, "clean").error == "No Output Error"


def test_without_parameters_anywhere_the_first_answer_is_the_best() -> None:
    assert record(calling("joke"), calling("x")).best_answer() == Answer(calling("joke"), "joke", {})


def test_what_a_reply_calls_is_the_call_that_the_profile_reads_else_its_text() -> None:
    calls = [
        list(ROTBENCH.rules(name).said({"content": text}))
        for name in ("toleap", "original", "fixed")
        for text in (calling("joke"), "words", None)
    ]
    words, nothing = [("message", "words")], [("message", None)]
    unread = [("message", calling("joke"))]
    assert calls == [unread, words, nothing, unread, words, nothing, [("joke", {})], words, nothing]


# Mistakes --------------------------------------------------------------------------------------------


def planted(kind: str, note: str, content: str | None, unit: str = "heavy-tools") -> Mutant:
    return Mutant(unit, kind, ({"role": "assistant", "content": content},), note)


def text(name: str, arguments: dict[str, Any]) -> str:
    return f"Thought:\nAction: {name}\nAction Input: {json.dumps(arguments, ensure_ascii=False)}"


def test_the_mistakes_of_an_answer_are_of_every_kind() -> None:
    gold = {"day": "None", "place": "Köln", "hour": "9"}
    tools = (tool("ask_to_user"), tool("hours", *gold), tool("joke"), tool("4sk"), tool("finish"))
    units = {
        "clean": record(calling("joke"), tools=tools),
        "heavy-tools": record(text("hours", gold), calling("4sk", a="b"), tools=tools),
    }
    item = Item("third-000", tuple(units), units)
    assert list(ROTBENCH.rules("toleap").mutants(item)) == [
        planted("other tool", "joke in place of hours", text("joke", gold)),
        planted("unknown tool", "hours_x in place of hours", text("hours_x", gold)),
        planted("extra parameter", "one more", text("hours", {**gold, "no_such_parameter": "1"})),
        planted("missing parameter", "place", text("hours", {"day": "None", "hour": "9"})),
        planted("renamed parameter", "place", text("hours", {"day": "None", "hour": "9", "place_x": "Köln"})),
        planted("other value", "place", text("hours", {**gold, "place": "Köln or another"})),
        planted("only words", "no call can be read", "I cannot help with that."),
        planted("cut off", "no call can be read", text("hours", gold)[:-1]),
        planted("no output", "nothing was said", None),
    ]


@pytest.mark.parametrize("name", ["4sk", "f1nish"])
def test_what_is_said_to_the_user_is_emptied(name: str) -> None:
    item = Item("x", ("union",), {"union": record(calling(name, words="Hi."), tools=RENAMED)})
    mistakes = [
        (mutant.kind, mutant.note, mutant.replies[0]["content"])
        for mutant in ROTBENCH.rules("fixed").mutants(item)
    ]
    assert mistakes[3:6] == [
        ("missing parameter", "words", calling(name)),
        ("renamed parameter", "words", calling(name, words_x="Hi.")),
        ("empty value", "words", calling(name, words="")),
    ]


def test_an_answer_of_free_values_alone_and_without_other_tools_has_fewer_mistakes() -> None:
    tools = (tool("hours", "day"), tool("ask_to_user"), tool("finish"))
    item = Item("x", ("clean",), {"clean": record(calling("hours", day="None"), tools=tools)})
    assert [mutant.kind for mutant in ROTBENCH.rules("fixed").mutants(item)] == [
        "unknown tool",
        "extra parameter",
        "only words",
        "cut off",
        "no output",
    ]


def test_a_mistake_that_lives_and_an_answer_that_is_refused_have_their_quirk() -> None:
    rules = ROTBENCH.rules("toleap")
    units = {
        "ask": record(calling("4sk", question="a"), tools=RENAMED),
        "finish": record(calling("f1nish", answer="a"), tools=RENAMED),
        "other": record(calling("joke"), HOURS),
        "empty": record(calling("joke"), calling("x")),
    }
    item = Item("x", tuple(units), units)
    told = "Q2: what is said to the user is not compared"
    noise = "Q3: noise has named this tool like one whose values are not compared"
    cases = [
        ("ask", "empty value", told),
        ("finish", "other value", told),
        ("other", "other value", noise),
        ("other", "empty value", noise),
        ("other", "cut off", ""),
    ]
    for unit, kind, reason in cases:
        assert rules.explain(item, planted(kind, "", "", unit)) == reason, (unit, kind)
    assert [rules.explain_gold(item, unit) for unit in units] == [
        "",
        "",
        "",
        "Q1: the accepted answer has an empty input, which counts as unreadable",
    ]
