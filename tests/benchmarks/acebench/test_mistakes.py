"""The mistakes that ACEBench's audit plants: every one of a rich gold answer, as it is written."""

from dataclasses import replace
from typing import Any

from benchmarks.acebench.reply_build import item, normal, special, tool
from wildtool.benchmarks.acebench import ACEBENCH
from wildtool.benchmarks.acebench.audit.argument_mutants import argument_mutants, evenly_spaced
from wildtool.benchmarks.acebench.fixed.calls import is_blank
from wildtool.types import Item, Message

TEXT = {"type": "string"}
NUMBER = {"type": "integer"}
ARGUMENTS = {
    "a": 5,
    "b": "blue sky 17",
    "c": True,
    "d": {"x": 4, "y": "n"},
    "e": ["r", "g"],
    "o": "",
    "p": "low",
    "q": 2.5,
}
SCHEMA = {
    "type": "object",
    "properties": {
        "a": NUMBER,
        "b": TEXT,
        "c": {"type": "boolean"},
        "d": {"type": "object", "properties": {"x": NUMBER, "y": TEXT}},
        "e": {"type": "array", "items": TEXT},
        "o": TEXT,
        "p": {"type": "string", "default": "low"},
        "q": {"type": "number"},
    },
    "required": ["a"],
}
LEGS = {
    "name": "f ",
    "parameters": {
        "properties": {"date": {}, "legs": {"type": "array", "items": {"properties": {"city": {}}}}, "x": {}}
    },
}


LIMITS = '["Due to the limitations of the function, I cannot solve this problem."]'


def missing(parameters: str, functions: str) -> str:
    return f'["Missing necessary parameters ({parameters}) for the api ({functions})"]'


def incorrect(values: str, parameters: str) -> str:
    return f'["There is incorrect value ({values}) for the parameters ({parameters}) in the conversation history."]'


def written(message: Message) -> str:
    assert message["role"] == "assistant"
    calls = [call["function"] for call in message.get("tool_calls", ())]
    texts = "; ".join(call["name"] + call["arguments"] for call in calls)
    return f"{message['content']} + {texts}" if texts else str(message["content"])


def mistakes(of: Item, mode: str = "text", profile: str = "fixed") -> list[tuple[str, str, str]]:
    """Kind, replies and note of each."""
    return [
        (mutant.kind, " / ".join(map(written, mutant.replies)), mutant.note)
        for mutant in ACEBENCH.in_mode(mode).rules(profile).mutants(of)
    ]


def changes(arguments: dict[str, Any], schema: Any) -> list[tuple[str, str, Any]]:
    """Kind, note and what differs from the arguments."""
    return [
        (
            kind,
            note,
            {
                name: mutated.get(name)
                for name in dict.fromkeys((*arguments, *mutated))
                if mutated.get(name) != arguments.get(name)
                or type(mutated.get(name)) is not type(arguments.get(name))
            },
        )
        for kind, mutated, note in argument_mutants(arguments, schema)
    ]


def test_the_mistakes_of_arguments_are_of_every_kind_and_none_is_right_by_a_default() -> None:
    assert changes(ARGUMENTS, SCHEMA) == [
        ("required argument left out", "a", {"a": None}),
        ("unknown argument", "zz_unknown", {"zz_unknown": 1}),
        ("wrong number", "a: 5 -> 6", {"a": 6}),
        ("wrong number", "a: 5 -> -5", {"a": -5}),
        ("wrong type", "a: 5 -> '5'", {"a": "5"}),
        ("null for a value", "a: 5 -> None", {"a": None}),
        ("other text", "b: 'blue sky 17' -> 'zzyzx quuxly'", {"b": "zzyzx quuxly"}),
        ("one digit of a text", "b: 'blue sky 17' -> 'blue sky 18'", {"b": "blue sky 18"}),
        (
            "invisible character in a word",
            "b: 'blue sky 17' -> 'bl\\u200bue sky 17'",
            {"b": "bl\u200bue sky 17"},
        ),
        ("wrong type", "b: 'blue sky 17' -> ['blue sky 17']", {"b": ["blue sky 17"]}),
        ("wrong boolean", "c: True -> False", {"c": False}),
        ("wrong type", "c: True -> 'true'", {"c": "true"}),
        ("wrong number", "d.x: 4 -> 5", {"d": {"x": 5, "y": "n"}}),
        ("wrong number", "d.x: 4 -> -4", {"d": {"x": -4, "y": "n"}}),
        ("wrong type", "d.x: 4 -> '4'", {"d": {"x": "4", "y": "n"}}),
        ("null for a value", "d.x: 4 -> None", {"d": {"x": None, "y": "n"}}),
        ("other text", "d.y: 'n' -> 'zzyzx quuxly'", {"d": {"x": 4, "y": "zzyzx quuxly"}}),
        ("empty text", "d.y: 'n' -> ''", {"d": {"x": 4, "y": ""}}),
        ("wrong type", "d.y: 'n' -> ['n']", {"d": {"x": 4, "y": ["n"]}}),
        ("null for a value", "d.y: 'n' -> None", {"d": {"x": 4, "y": None}}),
        ("element dropped", "e: ['r', 'g'] -> ['r']", {"e": ["r"]}),
        ("element repeated", "e: ['r', 'g'] -> ['r', 'g', 'g']", {"e": ["r", "g", "g"]}),
        ("elements reordered", "e: ['r', 'g'] -> ['g', 'r']", {"e": ["g", "r"]}),
        ("other text", "e[0]: 'r' -> 'zzyzx quuxly'", {"e": ["zzyzx quuxly", "g"]}),
        ("empty text", "e[0]: 'r' -> ''", {"e": ["", "g"]}),
        ("wrong type", "e[0]: 'r' -> ['r']", {"e": [["r"], "g"]}),
        ("null for a value", "e[0]: 'r' -> None", {"e": [None, "g"]}),
        ("other text", "e[1]: 'g' -> 'zzyzx quuxly'", {"e": ["r", "zzyzx quuxly"]}),
        ("empty text", "e[1]: 'g' -> ''", {"e": ["r", ""]}),
        ("wrong type", "e[1]: 'g' -> ['g']", {"e": ["r", ["g"]]}),
        ("null for a value", "e[1]: 'g' -> None", {"e": ["r", None]}),
        ("other text", "o: '' -> 'zzyzx quuxly'", {"o": "zzyzx quuxly"}),
        ("wrong type", "o: '' -> ['']", {"o": [""]}),
        ("other text", "p: 'low' -> 'zzyzx quuxly'", {"p": "zzyzx quuxly"}),
        ("wrong type", "p: 'low' -> ['low']", {"p": ["low"]}),
        ("wrong number", "q: 2.5 -> 3.5", {"q": 3.5}),
        ("wrong number", "q: 2.5 -> -2.5", {"q": -2.5}),
        ("wrong type", "q: 2.5 -> '2.5'", {"q": "2.5"}),
        ("swapped values", "b and o", {"b": "", "o": "blue sky 17"}),
        ("swapped values", "b and p", {"b": "low", "p": "blue sky 17"}),
        ("swapped values", "o and p", {"o": "low", "p": ""}),
        ("optional argument left out", "b", {"b": None}),
        ("optional argument left out", "c", {"c": None}),
        ("optional argument left out", "d", {"d": None}),
        ("optional argument left out", "e", {"e": None}),
        ("optional argument left out", "q", {"q": None}),
        ("digit added to a number", "a: 5 -> 51", {"a": 51}),
        ("text negated", "b: 'blue sky 17' -> 'not blue sky 17'", {"b": "not blue sky 17"}),
        (
            "text with something else behind",
            "b: 'blue sky 17' -> 'blue sky 17 and zzyzx'",
            {"b": "blue sky 17 and zzyzx"},
        ),
        ("swapped digits in a text", "b: 'blue sky 17' -> 'blue sky 71'", {"b": "blue sky 71"}),
        ("one word of a text changed", "b: 'blue sky 17' -> 'blue sky zzyzx'", {"b": "blue sky zzyzx"}),
        ("key of an object left out", "d.x", {"d": {"y": "n"}}),
        ("key of an object left out", "d.y", {"d": {"x": 4}}),
        ("key of an object invented", "d.zz_unknown", {"d": {"x": 4, "y": "n", "zz_unknown": 1}}),
        ("digit added to a number", "d.x: 4 -> 41", {"d": {"x": 41, "y": "n"}}),
        ("text negated", "d.y: 'n' -> 'not n'", {"d": {"x": 4, "y": "not n"}}),
        ("text with something else behind", "d.y: 'n' -> 'n and zzyzx'", {"d": {"x": 4, "y": "n and zzyzx"}}),
        ("text negated", "e[0]: 'r' -> 'not r'", {"e": ["not r", "g"]}),
        ("text with something else behind", "e[0]: 'r' -> 'r and zzyzx'", {"e": ["r and zzyzx", "g"]}),
        ("text negated", "e[1]: 'g' -> 'not g'", {"e": ["r", "not g"]}),
        ("text with something else behind", "e[1]: 'g' -> 'g and zzyzx'", {"e": ["r", "g and zzyzx"]}),
        ("text negated", "p: 'low' -> 'not low'", {"p": "not low"}),
        ("text with something else behind", "p: 'low' -> 'low and zzyzx'", {"p": "low and zzyzx"}),
        ("digit added to a number", "q: 2.5 -> 2.51", {"q": 2.51}),
    ]


def test_a_documented_default_in_place_of_another_value_is_a_mistake() -> None:
    schema = {"properties": {"a": {"type": "integer", "default": 6}}}
    assert ("wrong number", "a: 5 -> 6", {"a": 6}) in changes({"a": 5}, schema)


def test_texts_of_digits_and_of_han_have_mistakes_of_their_own() -> None:
    arguments = {"t": "1 中 55 21", "z": 1e30, "u": "11", "v": 7, "none": None}
    schema = {"properties": {"t": TEXT, "z": {"type": "number"}}}
    own = ["negated", "behind", "digit", "swapped", "word of", "out"]
    of_texts = [change for change in changes(arguments, schema) if any(word in change[0] for word in own)]
    assert of_texts == [
        ("one digit of a text", "t: '1 中 55 21' -> '1 中 55 22'", {"t": "1 中 55 22"}),
        ("last words of a text left out", "t: '1 中 55 21' -> '1 中'", {"t": "1 中"}),
        ("one digit of a text", "u: '11' -> '12'", {"u": "12"}),
        ("swapped values", "t and u", {"t": "11", "u": "1 中 55 21"}),
        ("optional argument left out", "t", {"t": None}),
        ("optional argument left out", "z", {"z": None}),
        ("optional argument left out", "u", {"u": None}),
        ("optional argument left out", "v", {"v": None}),
        ("text negated", "t: '1 中 55 21' -> '不是1 中 55 21'", {"t": "不是1 中 55 21"}),
        (
            "text with something else behind",
            "t: '1 中 55 21' -> '1 中 55 21和zzyzx'",
            {"t": "1 中 55 21和zzyzx"},
        ),
        ("digit put before a text", "t: '1 中 55 21' -> '11 中 55 21'", {"t": "11 中 55 21"}),
        ("swapped digits in a text", "t: '1 中 55 21' -> '1 中 55 12'", {"t": "1 中 55 12"}),
        ("one word of a text changed", "t: '1 中 55 21' -> '1 中 55 zzyzx'", {"t": "1 中 55 zzyzx"}),
        ("digit added to a number", "z: 1e+30 -> 3.0000000000000003e+30", {"z": 3.0000000000000003e30}),
        ("text negated", "u: '11' -> 'not 11'", {"u": "not 11"}),
        ("text with something else behind", "u: '11' -> '11 and zzyzx'", {"u": "11 and zzyzx"}),
        ("digit put before a text", "u: '11' -> '111'", {"u": "111"}),
        ("digit added to a number", "v: 7 -> 71", {"v": 71}),
    ]


def test_a_key_of_an_object_that_says_nothing_may_be_left_out_unless_nothing_declares_it() -> None:
    inside = {
        "type": "object",
        "properties": {"x": TEXT, "y": {"type": "string", "default": "low"}, "z": TEXT},
    }
    arguments = {"d": {"x": "", "y": "low", "z": "n", "own": ""}}
    left_out = [
        note
        for kind, note, _ in changes(arguments, {"properties": {"d": inside}})
        if kind == "key of an object left out"
    ]
    assert left_out == ["d.z", "d.own"]


def test_the_mistakes_of_three_calls() -> None:
    of = item(
        normal(
            {"f_1": {"a": "red", "n": 1}, "g": {"b": True}, "f_2": {"a": "blue", "n": 1}},
            functions=(tool(a=TEXT, n=NUMBER), tool("g", b={"type": "boolean"}), tool("h"), tool("i")),
        )
    )
    assert mistakes(of) == [
        ("other function", "[h(a='red', n=1), g(b=True), f(a='blue', n=1)]", "h for f"),
        ("other function", "[f(a='red', n=1), g(b=True), h(a='blue', n=1)]", "h for f"),
        ("unknown function", "[f_v(a='red', n=1), g(b=True), f(a='blue', n=1)]", "f_v"),
        ("unknown function", "[f(a='red', n=1), g(b=True), f_v(a='blue', n=1)]", "f_v"),
        ("call left out", "[g(b=True), f(a='blue', n=1)]", "f"),
        ("call left out", "[f(a='red', n=1), g(b=True)]", "f"),
        ("call doubled", "[f(a='red', n=1), f(a='red', n=1), g(b=True), f(a='blue', n=1)]", "f"),
        ("call doubled", "[f(a='red', n=1), g(b=True), f(a='blue', n=1), f(a='blue', n=1)]", "f"),
        ("unknown argument", "[f(a='red', n=1, zz_unknown=1), g(b=True), f(a='blue', n=1)]", "f: zz_unknown"),
        ("unknown argument", "[f(a='red', n=1), g(b=True), f(a='blue', n=1, zz_unknown=1)]", "f: zz_unknown"),
        (
            "other text",
            "[f(a='zzyzx quuxly', n=1), g(b=True), f(a='blue', n=1)]",
            "f: a: 'red' -> 'zzyzx quuxly'",
        ),
        (
            "other text",
            "[f(a='red', n=1), g(b=True), f(a='zzyzx quuxly', n=1)]",
            "f: a: 'blue' -> 'zzyzx quuxly'",
        ),
        ("wrong type", "[f(a=['red'], n=1), g(b=True), f(a='blue', n=1)]", "f: a: 'red' -> ['red']"),
        ("wrong type", "[f(a='red', n=1), g(b=True), f(a=['blue'], n=1)]", "f: a: 'blue' -> ['blue']"),
        ("wrong number", "[f(a='red', n=2), g(b=True), f(a='blue', n=1)]", "f: n: 1 -> 2"),
        ("wrong number", "[f(a='red', n=1), g(b=True), f(a='blue', n=2)]", "f: n: 1 -> 2"),
        ("optional argument left out", "[f(n=1), g(b=True), f(a='blue', n=1)]", "f: a"),
        ("optional argument left out", "[f(a='red', n=1), g(b=True), f(n=1)]", "f: a"),
        ("text negated", "[f(a='not red', n=1), g(b=True), f(a='blue', n=1)]", "f: a: 'red' -> 'not red'"),
        ("text negated", "[f(a='red', n=1), g(b=True), f(a='not blue', n=1)]", "f: a: 'blue' -> 'not blue'"),
        (
            "text with something else behind",
            "[f(a='red and zzyzx', n=1), g(b=True), f(a='blue', n=1)]",
            "f: a: 'red' -> 'red and zzyzx'",
        ),
        (
            "text with something else behind",
            "[f(a='red', n=1), g(b=True), f(a='blue and zzyzx', n=1)]",
            "f: a: 'blue' -> 'blue and zzyzx'",
        ),
        ("digit added to a number", "[f(a='red', n=11), g(b=True), f(a='blue', n=1)]", "f: n: 1 -> 11"),
        ("digit added to a number", "[f(a='red', n=1), g(b=True), f(a='blue', n=11)]", "f: n: 1 -> 11"),
        ("wrong boolean", "[f(a='red', n=1), g(b=False), f(a='blue', n=1)]", "g: b: True -> False"),
        (
            "invisible character in a word",
            "[f(a='red', n=1), g(b=True), f(a='bl\\u200bue', n=1)]",
            "f: a: 'blue' -> 'bl\\u200bue'",
        ),
        ("call added", "[f(a='red', n=1), g(b=True), f(a='blue', n=1), h()]", "h"),
        ("one call for two", "[f(a='red', n=1), g(b=True), f(a='red', n=1)]", "f twice alike"),
        (
            "two calls in one",
            "[f(a='red blue', n=1), g(b=True), f(a='zzyzx', n=1)]",
            "f with the texts of both",
        ),
        ("no calls", "I am sorry, I cannot help with that.", "prose"),
        ("empty reply", "", "empty"),
        (
            "prose around the calls",
            "Sure, I will do that: [f(a='red', n=1), g(b=True), f(a='blue', n=1)]",
            "before",
        ),
        (
            "prose around the calls",
            "[f(a='red', n=1), g(b=True), f(a='blue', n=1)] Let me know what else you need.",
            "after",
        ),
    ]


def test_two_calls_of_one_function_are_made_one_in_their_places() -> None:
    names = ("g", "f", "h", "i")
    gold: dict[str, Any] = {"g": {}, "f_1": {"a": "red"}, "h": {}, "f_2": {"a": "blue"}, "i": {}}
    found = mistakes(item(normal(gold, functions=(*(tool(name, a=TEXT) for name in names),))))
    assert {kind: calls for kind, calls, _ in found if kind in ("one call for two", "two calls in one")} == {
        "one call for two": "[g(), f(a='red'), h(), f(a='red'), i()]",
        "two calls in one": "[g(), f(a='red blue'), h(), f(a='zzyzx'), i()]",
    }
    pair = mistakes(item(normal({"g": {}, "h": {}}, functions=(tool("g"), tool("h")))))
    assert [calls for kind, calls, _ in pair if kind == "call left out"] == ["[h()]", "[g()]"]


def test_what_another_candidate_leaves_out_may_be_empty() -> None:
    function = tool(a=TEXT, o=TEXT)
    function["parameters"]["required"] = ["o"]
    for candidates, kinds in (((), {"empty text"}), (({"f": {"a": "x"}},), set[str]())):
        found = mistakes(item(normal({"f": {"a": "x", "o": "yes"}}, *candidates, functions=(function,))))
        assert {kind for kind, calls, _ in found if calls == "[f(a='x', o='')]"} == kinds


def test_the_mistakes_of_three_names_keep_their_order() -> None:
    of = item(replace(special("special_incomplete", f=["a", "b", "c"]), functions=(tool("f"),)))
    found = [text for kind, text, _ in mistakes(of) if kind == "missing name not named"]
    assert found == [missing("b, c", "f"), missing("a, c", "f"), missing("a, b", "f")]
    wrong = special("special_error_param", x=["1"], y=["2"], z=["3"])
    question = "user: " + "Do it well. " * 9
    found = mistakes(item(replace(wrong, functions=(tool("g", other=TEXT),), question=question)))
    assert [row[1:] for row in found if row[0] == "wrong value not named"][1] == (
        incorrect("1, 3", "x, y, z"),
        "2",
    )
    assert [row[1:] for row in found if row[0] == "parameter not named"][1] == (
        incorrect("1, 2, 3", "x, z"),
        "y",
    )
    assert [row[1:] for row in found if row[0] == "all parameters listed"] == [
        (incorrect("1, 2, 3", "other"), "1 parameters")
    ]
    assert [row[1:] for row in found if row[0] == "whole request as the value"] == [
        (incorrect(question, "x, y, z"), question[:60])
    ]


def test_the_mistakes_of_a_native_call_without_arguments_and_others() -> None:
    of = item(normal({"f": {}}))
    assert mistakes(of, "fc") == [
        ("unknown function", "None + f_v{}", "f_v"),
        ("call doubled", "None + f{}; f{}", "f"),
        ("unknown argument", 'None + f{"zz_unknown": 1}', "f: zz_unknown"),
        ("no calls", "I am sorry, I cannot help with that.", "prose"),
        ("empty reply", "", "empty"),
        ("calls as text", "[f()]", "the calls written as text"),
    ]


def test_the_mistakes_of_a_message_about_missing_parameters() -> None:
    of = item(replace(special("special_incomplete", f=["date", "due "]), functions=(LEGS, tool("g"))))
    assert mistakes(of) == [
        ("another message", incorrect("date, due ", "f"), incorrect("date, due ", "f")),
        ("another message", LIMITS, LIMITS),
        (
            "all three messages",
            missing("date, due ", "f") + "\n" + incorrect("date, due ", "f") + "\n" + LIMITS,
            "the right one first",
        ),
        ("empty reply", "", "empty"),
        ("no message", "I am sorry, I cannot help with that.", "prose"),
        ("missing name not named", missing("due ", "f"), "date"),
        ("longer name for a missing one", missing("due , date_zz", "f"), "date_zz"),
        ("missing name not named", missing("date", "f"), "due "),
        ("longer name for a missing one", missing("date, due_zz", "f"), "due_zz"),
        ("missing name invented", missing("date, due , zz_unknown", "f"), "zz_unknown"),
        ("function not named", missing("date, due ", ""), "f"),
        ("longer function name", missing("date, due ", "f_zz"), "f_zz"),
        ("other function", missing("date, due ", "g"), "g"),
        ("other function beside", missing("date, due ", "f, g"), "g"),
        ("name and function exchanged", missing("f", "date, due "), "f"),
        ("name only beside the message", missing("zz_unknown", "f") + " date due ", "date"),
        ("all parameters listed", missing("date, legs, city, x", "f"), "legs too"),
        (
            "call in another format beside the message",
            missing("date, due ", "f") + '\n{"name": "f ", "arguments": {"zz": 1}}',
            '{"name": "f ", "arguments": {"zz": 1}}',
        ),
        ("call instead of the message", "[f (zz=1)]", "[f (zz=1)]"),
        ("call beside the message", missing("date, due ", "f") + "\n[f (zz=1)]", "[f (zz=1)]"),
    ]


def test_the_mistakes_of_a_message_about_wrong_values() -> None:
    of = item(
        replace(
            special("special_error_param", team=["Lions#7"], when=["2024-13-01"]),
            functions=(tool("g", team=TEXT, other=TEXT, when=TEXT),),
        )
    )
    assert mistakes(of) == [
        (
            "another message",
            missing("Lions#7, 2024-13-01", "team, when"),
            missing("Lions#7, 2024-13-01", "team, when"),
        ),
        ("another message", LIMITS, LIMITS),
        (
            "all three messages",
            incorrect("Lions#7, 2024-13-01", "team, when")
            + "\n"
            + missing("Lions#7, 2024-13-01", "team, when")
            + "\n"
            + LIMITS,
            "the right one first",
        ),
        ("empty reply", "", "empty"),
        ("no message", "I am sorry, I cannot help with that.", "prose"),
        ("wrong value not named", incorrect("2024-13-01", "team, when"), "Lions#7"),
        ("other value", incorrect("zzyzx, 2024-13-01", "team, when"), "zzyzx for Lions#7"),
        ("longer value", incorrect("Lions#79, 2024-13-01", "team, when"), "Lions#79 for Lions#7"),
        ("wrong value not named", incorrect("Lions#7", "team, when"), "2024-13-01"),
        ("other value", incorrect("Lions#7, zzyzx", "team, when"), "zzyzx for 2024-13-01"),
        ("longer value", incorrect("Lions#7, 2024-13-019", "team, when"), "2024-13-019 for 2024-13-01"),
        ("parameter not named", incorrect("Lions#7, 2024-13-01", "when"), "team"),
        ("other parameter", incorrect("Lions#7, 2024-13-01", "when, zz_unknown"), "zz_unknown for team"),
        (
            "parameter only beside the message",
            incorrect("Lions#7, 2024-13-01", "when, zz_unknown") + " team",
            "team",
        ),
        ("parameter not named", incorrect("Lions#7, 2024-13-01", "team"), "when"),
        ("other parameter", incorrect("Lions#7, 2024-13-01", "team, zz_unknown"), "zz_unknown for when"),
        (
            "parameter only beside the message",
            incorrect("Lions#7, 2024-13-01", "team, zz_unknown") + " when",
            "when",
        ),
        ("value and parameter exchanged", incorrect("team, when", "Lions#7, 2024-13-01"), "Lions#7 for team"),
        ("all parameters listed", incorrect("Lions#7, 2024-13-01", "team, other, when"), "3 parameters"),
        ("whole request as the value", incorrect("user: Do it.", "team, when"), "user: Do it."),
        (
            "call in another format beside the message",
            incorrect("Lions#7, 2024-13-01", "team, when") + '\n{"name": "g", "arguments": {"zz": 1}}',
            '{"name": "g", "arguments": {"zz": 1}}',
        ),
        ("call instead of the message", "[g(zz=1)]", "[g(zz=1)]"),
        (
            "call beside the message",
            incorrect("Lions#7, 2024-13-01", "team, when") + "\n[g(zz=1)]",
            "[g(zz=1)]",
        ),
    ]


def test_the_mistakes_of_a_message_about_limitations_beside_native_calls() -> None:
    of = item(special("special_irrelevant"))
    assert mistakes(of, "fc") == [
        ("another message", missing("value", "key"), missing("value", "key")),
        ("another message", incorrect("value", "key"), incorrect("value", "key")),
        (
            "all three messages",
            LIMITS + "\n" + missing("value", "key") + "\n" + incorrect("value", "key"),
            "the right one first",
        ),
        ("empty reply", "", "empty"),
        ("no message", "I am sorry, I cannot help with that.", "prose"),
        (
            "call in another format beside the message",
            LIMITS + '\n{"name": "f", "arguments": {"zz": 1}}',
            '{"name": "f", "arguments": {"zz": 1}}',
        ),
        ("call instead of the message", 'None + f{"zz": 1}', "f"),
        ("call beside the message", LIMITS + ' + f{"zz": 1}', "f"),
    ]


def test_calls_that_cannot_be_merged_have_one_mistake_less() -> None:
    golds: list[dict[str, dict[str, Any]]] = [
        {"f_1": {"a": "x"}, "f_2": {"b": "y"}},
        {"f_1": {"a": 1}, "f_2": {"a": 2}},
        {"f_1": {"a": "x"}, "g": {"a": "y"}},
        {"f_1": {"a": "x"}, "f_2": {"a": "x"}},
    ]
    functions = (tool(a={"type": "any"}, b=TEXT), tool("g", a=TEXT))
    kinds = [[kind for kind, _, _ in mistakes(item(normal(gold, functions=functions)))] for gold in golds]
    both = ("one call for two", "two calls in one")
    assert [[kind for kind in each if kind in both] for each in kinds] == [[both[0]], [both[0]], [], []]


def test_the_mistakes_tried_of_each_kind_are_evenly_spread() -> None:
    mutants = [("a", number, "") for number in range(6)] + [("b", 6, "")]
    tried = {most: [number for _, number, _ in evenly_spaced(mutants, most)] for most in (1, 2, 3, 4, 6, 9)}
    assert tried == {
        1: [0, 6],
        2: [0, 3, 6],
        3: [0, 2, 4, 6],
        4: [0, 2, 4, 6],
        6: [0, 1, 2, 3, 4, 5, 6],
        9: [0, 1, 2, 3, 4, 5, 6],
    }
    assert [number for _, number, _ in evenly_spaced(mutants[1:], 2)] == [1, 4, 6]


def test_what_is_blank_says_nothing() -> None:
    values: tuple[Any, ...] = (None, "", [], {}, 0, False, " ", [0])
    assert [is_blank(value) for value in values] == [True] * 4 + [False] * 4
