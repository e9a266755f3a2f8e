"""BFCL's single-turn entries in full: gold answers as they are written, mistakes of the audit, decisions, decoding."""

import json
from typing import Any

import pytest

from benchmarks.bfcl.bfcl_build import BOOK, JAVA, RING, STAY, function
from wildtool.benchmark import Check, Mutant
from wildtool.benchmarks.bfcl import BFCL_BENCHMARK
from wildtool.benchmarks.bfcl.categories import BFCL_CATEGORIES, GROUPS, SCORED, SPLIT_NAMES, split_categories
from wildtool.benchmarks.bfcl.decode import (
    DecodeError,
    bracketed,
    call_texts,
    decode_native,
    decode_python,
    is_call_list,
    native_call_texts,
    native_result,
    text_to_decode,
)
from wildtool.benchmarks.bfcl.fixed import decode_python_fully
from wildtool.benchmarks.bfcl.gold import NO_CALL, fc_message, first_accepted_calls, written_message
from wildtool.benchmarks.bfcl.judge import EntryRules
from wildtool.benchmarks.bfcl.prompt_forms import PROMPT_FORMS
from wildtool.benchmarks.bfcl.records import BfclEntry
from wildtool.benchmarks.bfcl.rules import SingleTurnRules, call_mistakes
from wildtool.errors import DataError
from wildtool.types import Item, Message

LIST = '{"a": [["b"]]}'


def rules(profile: str, mode: str = "prompt") -> EntryRules:
    own = BFCL_BENCHMARK.in_mode(mode).rules(profile)
    assert isinstance(own, EntryRules)
    return own


def entry(category: str, functions: list[Any], *answers: Any) -> BfclEntry:
    question = {"role": "user", "content": "Please."}
    return BfclEntry(BFCL_CATEGORIES[category], (question,), tuple(functions), answers)


# Gold ------------------------------------------------------------------------------------------------


def gold(record: BfclEntry, *, native: bool = False) -> list[tuple[str, dict[str, Any]]]:
    return first_accepted_calls(record, native=native)


def test_gold_has_the_first_accepted_values_and_leaves_out_what_has_none() -> None:
    shape = {"type": "dict", "properties": {"a": {"type": "string"}}}
    tool = function(
        "f", ["a", "e"], a={"type": "string"}, b={"type": "string"}, c=shape, d={"type": "array", "items": shape},
        e={"type": "string"}, plain={"type": "string"}
    )  # fmt: skip
    accepted = {
        "a": ["", "x", "y"],
        "b": [""],
        "c": ["", {"k": ["", "v"], "l": [""], "m": 5, "n": [1, 2]}],
        "d": [[{"k": [1, 2]}, {"k": [3], "l": [""]}]],
        "e": [""],
        "no_such": ["", 1],
        "other": [7],
        "plain": "z",
    }
    assert gold(entry("simple_python", [tool], {"f": accepted})) == [
        ("f", {"a": "x", "c": {"k": "v", "m": 5, "n": 1}, "d": [{"k": 1}, {"k": 3}], "e": "", "other": 7, "plain": "z"})
    ]  # fmt: skip
    assert gold(entry("simple_python", [RING], STAY)) == [("ring", {"city": "Rome", "nights": 3})]
    assert gold(entry("irrelevance", [RING])) == []
    assert gold(entry("live_relevance", [BOOK, RING])) == [("hotel.book", {})]


JAVA_TOOL = function(
    "f",
    i={"type": "integer"}, l={"type": "long"}, d={"type": "double"}, x={"type": "float"}, b={"type": "boolean"},
    s={"type": "String"}, v={"type": "String"}, a={"type": "Array", "items": {"type": "integer"}},
    n={"type": "ArrayList", "items": {"type": "String"}}, o={"type": "Array", "items": {"type": "any"}},
    m={"type": "HashMap"}, any={"type": "any"},
)  # fmt: skip
JAVA_VALUES = {
    "i": [5], "l": [5], "d": [1.5], "x": [1.5], "b": [True], "s": ["a \"b\" é"], "v": ["name"], "a": [[1, 2]],
    "n": [["a", "b"]], "o": [["a", 1, True]], "m": [{"k": ["v"], "n": [1]}], "any": ["x"],
}  # fmt: skip


def test_gold_in_java_is_written_as_java() -> None:
    own = entry("simple_java", [JAVA_TOOL], {"f": JAVA_VALUES})
    ((_, written),), ((_, native),) = gold(own), gold(own, native=True)
    assert written == {
        "i": "5", "l": "5L", "d": "1.5", "x": "1.5f", "b": "true", "s": '"a \\"b\\" é"', "v": '"name"',
        "a": "new int[]{1, 2}", "n": 'new ArrayList<>(Arrays.asList("a", "b"))', "o": 'new Object[]{"a", 1, true}',
        "m": 'new HashMap<String, Object>() {{ put("k", "v"); put("n", 1); }}', "any": '"x"',
    }  # fmt: skip
    assert native == {**written, "s": 'a "b" é', "v": "name", "any": "x"}


def test_gold_in_javascript_is_written_as_javascript() -> None:
    tool = function(
        "f", i={"type": "integer"}, n={"type": "Bigint"}, x={"type": "float"}, y={"type": "float"}, b={"type": "Boolean"},
        s={"type": "String"}, a={"type": "array", "items": {"type": "String"}}, d={"type": "dict"},
    )  # fmt: skip
    values = {
        "i": [5],
        "n": [5],
        "x": [2],
        "y": [2.5],
        "b": [False],
        "s": ["é"],
        "a": [["é"]],
        "d": [{"k": ["v"]}],
    }
    own = entry("simple_javascript", [tool], {"f": values})
    ((_, written),), ((_, native),) = gold(own), gold(own, native=True)
    assert written == {
        "i": "5", "n": "5n", "x": "2.0", "y": "2.5", "b": "false", "s": '"é"', "a": '["é"]', "d": '{"k": "v"}',
    }  # fmt: skip
    assert native == {**written, "s": "é"}


def test_a_text_in_place_of_a_list_has_quotes_only_where_calls_are_written() -> None:
    own = entry("simple_java", [JAVA], {"Store.put": {"keys": ["allKeys"], "limit": [5]}})
    assert gold(own) == [("Store.put", {"keys": '"allKeys"', "limit": "5L"})]
    assert gold(own, native=True) == [("Store.put", {"keys": "allKeys", "limit": "5L"})]


def test_calls_are_written_natively_or_in_brackets() -> None:
    calls = [("a.b", {"x": "é", "y": [1]}), ("c", {})]
    assert fc_message([]) == written_message([], "java") == {"role": "assistant", "content": NO_CALL}
    assert fc_message(calls) == {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "call_1",
                "type": "function",
                "function": {"name": "a_b", "arguments": '{"x": "é", "y": [1]}'},
            },
            {"id": "call_2", "type": "function", "function": {"name": "c", "arguments": "{}"}},
        ],
    }
    assert written_message(calls, "python") == {"role": "assistant", "content": "[a.b(x='é', y=[1]), c()]"}
    assert written_message(calls, "java") == {"role": "assistant", "content": "[a.b(x=é, y=[1]), c()]"}


# Mistakes --------------------------------------------------------------------------------------------


def mistakes(record: BfclEntry, profile: str = "fixed") -> list[tuple[str, str, str]]:
    """Kind, text and note of each mutant of an entry."""
    mutants = [*rules(profile).mutants(Item("x", ("0",), record))]
    assert {reply["role"] for mutant in mutants for reply in mutant.replies} <= {"assistant"}
    return [(mutant.kind, *[reply["content"] for reply in mutant.replies], mutant.note) for mutant in mutants]  # type: ignore[misc]


def test_each_mistake_is_one_change_of_the_gold_calls() -> None:
    call = function("call", ["who"], who={"type": "string"}, loud={"type": "boolean"})
    own = entry(
        "parallel", [call, RING], {"call": {"who": ["Bo"], "loud": [True, ""]}}, {"ring": {"name": ["Ann"]}}
    )
    first, last = "call(who='Bo', loud=True)", "ring(name='Ann')"
    rows = mistakes(own)
    assert [row for row in rows if "call" in row[0] or "words" in row[0] or "argument" in row[0]] == [
        ("call repeated", f"[{first}, {last}, {last}]", "ring"),
        ("call left out", f"[{last}]", "call"),
        ("call renamed", f"[call_v2(who='Bo', loud=True), {last}]", "call_v2 for call"),
        ("call renamed", f"[ring(who='Bo', loud=True), {last}]", "ring for call"),
        ("required argument left out", f"[call(loud=True), {last}]", "call: who"),
        ("unknown argument", f"[call(who='Bo', loud=True, zz_unknown=1), {last}]", "call: zz_unknown"),
        ("call left out", f"[{first}]", "ring"),
        ("call renamed", f"[{first}, ring_v2(name='Ann')]", "ring_v2 for ring"),
        ("call renamed", f"[{first}, call(name='Ann')]", "call for ring"),
        ("required argument left out", f"[{first}, ring()]", "ring: name"),
        ("unknown argument", f"[{first}, ring(name='Ann', zz_unknown=1)]", "ring: zz_unknown"),
        ("only words", "Done.", "Done."),
    ]
    assert ("empty text", f"[call(who='', loud=True), {last}]", "call: who: 'Bo' -> ''") in rows


def test_what_the_answer_accepts_too_is_no_mistake() -> None:
    own = entry("simple_python", [RING], {"ring": {"name": ["Ann", "zzyzx quuxly", None]}})
    kinds = [kind for kind, _, _ in mistakes(own)]
    assert "other text" not in kinds and "null for a value" not in kinds and "wrong type" in kinds
    members = {"type": "dict", "properties": {"a": {"type": "integer"}}}
    shape = function("f", ["n"], n={"type": "integer"}, d=members, s={"type": "string"})
    own = entry("simple_python", [shape], {"f": {"n": [1, "1"], "d": [{"a": [1, -1]}, ""], "s": ["x", ""]}})
    call, other_name = "f(n=1, d={'a': 1}, s='x')", "f_v2(n=1, d={'a': 1}, s='x')"
    assert mistakes(own) == [
        ("call repeated", f"[{call}, {call}]", "f"),
        ("call renamed", f"[{other_name}]", "f_v2 for f"),
        ("required argument left out", "[f(d={'a': 1}, s='x')]", "f: n"),
        ("unknown argument", "[f(n=1, d={'a': 1}, s='x', zz_unknown=1)]", "f: zz_unknown"),
        ("wrong number", "[f(n=2, d={'a': 1}, s='x')]", "f: n: 1 -> 2"),
        ("wrong number", "[f(n=-1, d={'a': 1}, s='x')]", "f: n: 1 -> -1"),
        ("null for a value", "[f(n=None, d={'a': 1}, s='x')]", "f: n: 1 -> None"),
        ("wrong number", "[f(n=1, d={'a': 2}, s='x')]", "f: d.a: 1 -> 2"),
        ("wrong type", "[f(n=1, d={'a': '1'}, s='x')]", "f: d.a: 1 -> '1'"),
        ("null for a value", "[f(n=1, d={'a': None}, s='x')]", "f: d.a: 1 -> None"),
        ("other text", "[f(n=1, d={'a': 1}, s='zzyzx quuxly')]", "f: s: 'x' -> 'zzyzx quuxly'"),
        ("empty text", "[f(n=1, d={'a': 1}, s='')]", "f: s: 'x' -> ''"),
        ("wrong type", "[f(n=1, d={'a': 1}, s=['x'])]", "f: s: 'x' -> ['x']"),
        ("null for a value", "[f(n=1, d={'a': 1}, s=None)]", "f: s: 'x' -> None"),
        ("only words", "Done.", "Done."),
    ]


def test_names_of_variables_are_also_put_in_other_letters() -> None:
    own = entry("simple_java", [JAVA], {"Store.put": {"keys": ["allKeys"], "limit": [5]}})
    assert mistakes(own)[2] == (
        "other letters in a name",
        '[Store.put(keys="ALLkEYS", limit=5L)]',
        'Store.put: keys: "ALLkEYS" for "allKeys"',
    )
    texts = entry("simple_java", [function("f", s={"type": "String"})], {"f": {"s": ["abc"]}})
    assert "other letters in a name" not in [kind for kind, _, _ in mistakes(texts)]


def test_where_no_call_is_right_every_form_of_one_is_a_mistake() -> None:
    spoken = json.dumps({"name": "ring", "arguments": {"value": 1}})
    texts = {
        "call without brackets": "ring(value=1)",
        "call in a fence": "```python\nring(value=1)\n```",
        "call after a sentence": "I will look it up.\n\nring(value=1)",
        "call in JSON": spoken,
        "call in JSON in a tag": f"<tool_call>{spoken}</tool_call>",
    }
    assert mistakes(entry("irrelevance", [RING])) == [
        ("call instead of text", "[ring()]", "ring"),
        *((kind, text, text) for kind, text in texts.items()),
    ]
    assert mistakes(entry("irrelevance", [])) == []
    assert mistakes(entry("live_relevance", [RING])) == [("only words", "Done.", "Done.")]
    own = Item("x", ("0",), entry("irrelevance", [RING]))
    reasons = {
        mutant.kind: rules("official").explain(own, mutant) for mutant in rules("official").mutants(own)
    }
    decoder = "Q12: only what the decoder reads is a call"
    assert reasons == {"call instead of text": "", **dict.fromkeys(texts, decoder)}


def test_each_form_of_the_prompt_has_its_own_mistakes() -> None:
    own = Item("x", tuple(PROMPT_FORMS)[:2], entry("simple_python", [RING], {"ring": {"name": ["Ann"]}}))
    units = [mutant.unit for mutant in rules("fixed").mutants(own)]
    count = units.count(own.units[0])
    assert count > 5 and units == [own.units[0]] * count + [own.units[1]] * count


@pytest.mark.parametrize(
    ("name", "record", "reason"),
    [
        ("x", entry("simple_java", [JAVA]), "Q3: lists of texts keep quotes, maps lose their content"),
        ("x", entry("simple_python", [RING]), "Q2: no call fulfils this entry"),
        ("simple_java_64", entry("simple_java", [JAVA]), "Q14"),
    ],
)
def test_a_refused_gold_answer_is_explained(name: str, record: BfclEntry, reason: str) -> None:
    for mode in ("fc", "prompt"):
        assert rules("official", mode).explain_gold(Item(name, ("0",), record), "0") == reason
    form = next(form for form in PROMPT_FORMS if PROMPT_FORMS[form].calls == "json")
    listed = rules("official").explain_gold(Item("x", (form,), entry("simple_python", [RING])), form)
    assert listed == "F1: a list of objects in an argument ends the calls"


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("empty text", "Q1: the mark of what may be left out is accepted as a value"),
        ("element dropped", "Q1: the mark of what may be left out is accepted as an empty list"),
        ("other enum member", "Q4: case does not count, even where it tells members apart"),
        ("call renamed", ""),
    ],
)
def test_a_mistake_that_passes_is_explained(kind: str, reason: str) -> None:
    mutant = Mutant("0", kind, (), "")
    assert rules("official").explain(Item("x", ("0",), entry("simple_java", [JAVA])), mutant) == reason
    assert rules("official").explain(
        Item("simple_java_64", ("0",), entry("simple_java", [JAVA])), mutant
    ) == ("Q14: an empty map passes, and in mode prompt every map is read as an empty one (Q3)")


# Decisions -------------------------------------------------------------------------------------------


def check(record: BfclEntry, text: str, profile: str = "official") -> Check:
    single: SingleTurnRules = rules(profile).single
    return single.check(record, {"role": "assistant", "content": text})


def test_a_decision_has_the_calls_that_were_read_and_why() -> None:
    own = entry("simple_python", [RING], {"ring": {"name": ["Ann"]}})
    assert check(own, "[ring(name='Ann')]") == Check(True, reason="as expected", fields={"decoded_calls": 1})
    assert check(own, "[ring(name='Bo')]") == Check(
        False, "value_error:string", "'name' is 'Bo', expected ['Ann']", fields={"decoded_calls": 1}
    )
    assert check(own, "words here") == Check(
        False, "ast_decoder:decoder_failed", check(own, "words here").reason, fields={"decoded_calls": None}
    )
    assert check(own, "5") == Check(
        False, "ast_decoder:decoder_failed", "expected a call, found Constant", fields={"decoded_calls": None}
    )
    strange = entry("multiple", [BOOK], {"ring": {}})
    assert check(strange, "[ring()]") == Check(
        False,
        "the original's checker raises",
        "TypeError: no function ring",
        fields={"decoded_calls": 1, "reference_error": "TypeError: no function ring"},
    )


@pytest.mark.parametrize(("category", "calls"), [("live_relevance", 1), ("simple_python", None)])
def test_fixed_finds_a_fenced_call_where_any_is_right(category: str, calls: int | None) -> None:
    record = entry(category, [RING], {"ring": {"name": ["Ann"]}})
    decision = check(record, "Here:\n```python\n[ring(name='Ann')]\n```\nDone.", "fixed")
    assert (decision.correct, decision.fields) == (calls == 1, {"decoded_calls": calls})


def test_where_any_call_or_none_is_right_only_that_counts() -> None:
    for text, calls in (("[ring()]", 1), ("words here", None), ("[]", 0)):
        found = check(entry("irrelevance", [RING]), text)
        wrong = Check(
            False,
            "irrelevance_error:decoder_success",
            "a call, where no function fits",
            fields={"decoded_calls": calls},
        )
        assert found == (
            wrong if calls else Check(True, reason="as expected", fields={"decoded_calls": calls})
        )
        found = check(entry("live_relevance", [RING]), text)
        wrong = Check(
            False,
            "relevance_error:decoder_failed",
            "no call, where a function fits",
            fields={"decoded_calls": calls},
        )
        assert found == (
            Check(True, reason="as expected", fields={"decoded_calls": calls}) if calls else wrong
        )


# Decoding --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("[f(a=1), g.h(b='x')]", [{"f": {"a": 1}}, {"g.h": {"b": "x"}}]),
        ("`f(a=1)\n`", [{"f": {"a": 1}}]),
        ("f(1, b=g(2), c=h(d=1))", [{"f": {"b": "g(2)", "c": {"h": {"d": 1}}}}]),
        ("[]", []),
        ("f(a=1), 5", "expected a call, found Constant"),
        ("{f(a=1)}", "expected a call, found Set"),
    ],
)
def test_calls_are_read_from_a_list_in_python(text: str, calls: Any) -> None:
    if isinstance(calls, str):
        with pytest.raises(DecodeError) as caught:
            decode_python(text)
        assert str(caught.value) == calls
    else:
        assert decode_python(text) == calls


def test_a_bare_text_is_read_as_it_is() -> None:
    assert decode_python("f(a=1)", bare=True) == [{"f": {"a": 1}}]
    assert decode_python("{f(a=1)}", bare=True) == [{"f": {"a": 1}}]
    with pytest.raises(DecodeError, match=r"^no list of calls$"):
        decode_python("f", bare=True)
    assert [bracketed(text) for text in ("a", "[a", "a]", "[a]", " `[a]`\n")] == ["[a]"] * 5


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("[ring('Ann')]", [{"ring": {"name": "Ann"}}]),
        ("ring('Ann', 2, x=3)", [{"ring": {"name": "Ann", "value 2": 2, "x": 3}}]),
        ("other(+1, -2, g(1))", [{"other": {"value 1": 1, "value 2": -2, "value 3": "g(1)"}}]),
        ("ring('Ann', name='Bo')", [{"ring": {"name": "Bo"}}]),
        ("[ring('Ann'), {1}]", "expected a call, found Set"),
    ],
)
def test_fixed_gives_values_the_names_of_parameters(text: str, calls: Any) -> None:
    if isinstance(calls, str):
        with pytest.raises(DecodeError) as caught:
            decode_python_fully(text, [RING])
        assert str(caught.value) == calls
    else:
        assert decode_python_fully(text, [RING]) == calls


def native(*calls: Any) -> Message:
    return {"content": "words", "tool_calls": [{"function": call} for call in calls]}


@pytest.mark.parametrize(
    ("reply", "result", "calls"),
    [
        (
            native({"name": "f", "arguments": LIST}, {"name": "g", "arguments": "5"}),
            [{"f": LIST}, {"g": "5"}],
            [{"f": json.loads(LIST)}, {"g": 5}],
        ),
        (native({"name": 5, "arguments": "{}"}), [{None: "{}"}], [{None: {}}]),
        (
            native({"name": "f", "arguments": {}}),
            [{"f": {}}],
            "the arguments are of type dict, expected a text",
        ),
        (native({"name": "f"}), [{"f": None}], "the arguments are of type NoneType, expected a text"),
        (native(), [], []),
        ({"content": "words"}, "words", "text instead of calls"),
        ({"content": ""}, "", []),
        ({"content": None}, None, "neither calls nor text"),
    ],
)
def test_native_calls_are_read_as_they_are_recorded(reply: Message, result: Any, calls: Any) -> None:
    assert native_result(reply) == result
    if isinstance(calls, str):
        with pytest.raises(DecodeError) as caught:
            decode_native(result)
        assert str(caught.value) == calls
    else:
        assert decode_native(result) == calls


@pytest.mark.parametrize(
    ("result", "message"), [([{}], "a call without a name"), ([5], "a call that is no object")]
)
def test_results_that_are_no_calls_are_named(result: Any, message: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode_native(result)
    assert str(caught.value) == message
    with pytest.raises(DecodeError, match=r"^the arguments are not JSON: .+"):
        decode_native([{"f": "{"}])
    with pytest.raises(DecodeError, match=r"^no text$"):
        text_to_decode({"content": None})


@pytest.mark.parametrize(
    ("decoded", "is_list"),
    [
        ([], True),
        ([{"f": {}}], True),
        ([{"f": {}, "g": {}}], False),
        ([{"f": 5}], False),
        ([{"f": {}}, 5], False),
        ({}, False),
        (None, False),
        ([{}], False),
    ],
)
def test_a_list_of_calls_has_one_name_each(decoded: Any, is_list: bool) -> None:
    assert is_call_list(decoded) is is_list


def test_calls_are_written_as_they_are_executed() -> None:
    calls: Any = [
        {"f": {"a": 1, "b": "it's", "c": {"k": [1], "l": {"m": {"n": 1}}}, "d": {"g": {"x": 1}}}},
        {"h": {}},
    ]
    assert call_texts(calls) == ["f(a=1, b=\"it's\", c={'k': [1], 'l': m(n=1)}, d=g(x=1))", "h()"]
    with pytest.raises(DecodeError, match=r"^an empty object cannot be written$"):
        call_texts([{"f": {"a": {}}}])
    assert native_call_texts([{"f": '{"a": 1, "b": "x"}'}, {"g": {"c": [1]}}]) == ["f(a=1,b='x')", "g(c=[1])"]
    assert native_call_texts({"f": "{}"}) == ["f()"]
    with pytest.raises(DecodeError, match=r"^the arguments are not an object$"):
        native_call_texts([{"f": "[]"}])


# Categories ------------------------------------------------------------------------------------------


def test_splits_name_one_category_or_several() -> None:
    def names(split: str | None) -> tuple[str, ...]:
        return tuple(category.name for category in split_categories(split))

    assert names(None) == SCORED and names("all") == GROUPS["all"]
    assert [names(old) for old in ("simple", "java", "javascript", "multiple")] == [
        ("simple_python",),
        ("simple_java",),
        ("simple_javascript",),
        ("multiple",),
    ]
    assert tuple(BFCL_CATEGORIES) == SPLIT_NAMES
    with pytest.raises(DataError, match="did you mean 'multiple'"):
        split_categories("multiples")
    files = [
        BFCL_CATEGORIES[name].file_name(version)
        for name in ("simple_java", "memory_kv", "multiple")
        for version in ("v3", "v4")
    ]
    assert files == [
        "BFCL_v3_java.json",
        "BFCL_v4_simple_java.json",
        "BFCL_v3_memory.json",
        "BFCL_v4_memory.json",
        "BFCL_v3_multiple.json",
        "BFCL_v4_multiple.json",
    ]
    assert [name for name, each in BFCL_CATEGORIES.items() if not each.runs_in("v3")] == [
        "memory_kv",
        "memory_vector",
        "memory_rec_sum",
        "web_search_base",
        "web_search_no_snippet",
        "format_sensitivity",
    ]
    assert [name for name, each in BFCL_CATEGORIES.items() if not each.has_answers] == [
        "irrelevance",
        "live_irrelevance",
        "live_relevance",
        "format_sensitivity",
    ]


def test_a_call_is_left_out_renamed_twice_and_made_with_other_values() -> None:
    first, second = ("f", {"a": 1}), ("g", {})
    mistakes = [
        *call_mistakes([first, second], ["f", "g", "h"], lambda place: [("kind", {"b": place}, "note")])
    ]
    assert mistakes == [
        ("call left out", [second], "f"),
        ("call renamed", [("f_v2", {"a": 1}), second], "f_v2 for f"),
        ("call renamed", [("g", {"a": 1}), second], "g for f"),
        ("kind", [("f", {"b": 0}), second], "f: note"),
        ("call left out", [first], "g"),
        ("call renamed", [first, ("g_v2", {})], "g_v2 for g"),
        ("call renamed", [first, ("f", {})], "f for g"),
        ("kind", [first, ("g", {"b": 1})], "g: note"),
    ]
    assert [kind for kind, *_ in call_mistakes([first], [], lambda _: ())] == ["call renamed"]
