"""BFCL's data, requests, profiles and numbers on entries that we wrote."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.bfcl.bfcl_build import BOOK, ENTRIES, JAVA, LATER, RING, STAY, function, write_data
from wildtool.benchmark import Check, accepts
from wildtool.benchmarks.bfcl import BFCL_BENCHMARK
from wildtool.benchmarks.bfcl.categories import BFCL_CATEGORIES
from wildtool.benchmarks.bfcl.gold import first_accepted_calls
from wildtool.benchmarks.bfcl.judge import EntryRules
from wildtool.benchmarks.bfcl.languages.fixed_values import convert_java_fully
from wildtool.benchmarks.bfcl.languages.java import convert_java
from wildtool.benchmarks.bfcl.languages.javascript import convert_javascript
from wildtool.benchmarks.bfcl.languages.source_code import parser_of
from wildtool.benchmarks.bfcl.records import BfclEntry
from wildtool.benchmarks.bfcl.rules import CALLED, CHECKER_RAISED, NOT_DECODED, SingleTurnRules
from wildtool.data.data_set import data_of
from wildtool.declared import lint
from wildtool.engine.registry import choose_prompts
from wildtool.episode import gold_replies
from wildtool.errors import DataError, UsageError
from wildtool.types import Item

RECORDS = {
    key: BfclEntry(
        BFCL_CATEGORIES[name], ({"role": "user", "content": key},), tuple(functions), tuple(truth or ())
    )
    for name, found in ENTRIES.items()
    for key, functions, truth in found
}


def rules(profile: str = "official", mode: str = "prompt") -> SingleTurnRules:
    found = BFCL_BENCHMARK.in_mode(mode).rules(profile)
    assert isinstance(found, EntryRules)
    return found.single


def check(key: str, reply: Any, profile: str = "official", mode: str = "prompt") -> Check:
    message = reply if isinstance(reply, dict) else {"role": "assistant", "content": reply}
    return rules(profile, mode).check(RECORDS[key], message)


def native(name: str, arguments: str) -> dict[str, Any]:
    call = {"id": "1", "type": "function", "function": {"name": name, "arguments": arguments}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


# Data -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["v3", "v4"])
def test_a_folder_of_either_version_is_read(tmp_path: Path, version: str) -> None:
    source = data_of(BFCL_BENCHMARK).locate(str(write_data(tmp_path / "data", version)))
    assert (source.name, source.path) == (str(tmp_path / "data"), tmp_path / "data")
    items = list(BFCL_BENCHMARK.load(source))
    assert [item.split for item in items] == list(ENTRIES)
    assert {item.data.version for item in items} == {version}
    old_name = {"v3": "java", "v4": "simple_java"}[version]
    assert [item.id for item in BFCL_BENCHMARK.load(source, split=old_name)] == ["simple_java_0"]


def test_a_missing_answer_and_a_broken_line_are_named(tmp_path: Path) -> None:
    folder = write_data(tmp_path / "data")
    (folder / "possible_answer" / "BFCL_v4_multiple.json").unlink()
    with pytest.raises(DataError, match=r"BFCL_v4_multiple\.json is missing"):
        list(BFCL_BENCHMARK.load(data_of(BFCL_BENCHMARK).locate(str(folder))))
    (folder / "BFCL_v4_simple_java.json").write_text('{"id": "x", "question": 3}\n', "utf-8")
    with pytest.raises(DataError, match=r"BFCL_v4_simple_java.json:1 \(id 'x'\): field question"):
        list(BFCL_BENCHMARK.load(data_of(BFCL_BENCHMARK).locate(str(folder)), split="simple_java"))


def test_lint_names_what_no_call_can_fulfil(tmp_path: Path) -> None:
    entries = {
        "simple_python": [
            ("a", [RING], [{"ring": {"name": []}}]),
            ("b", [RING], [{"ring": {"who": ["Ann"]}}]),
        ]
    }
    source = data_of(BFCL_BENCHMARK).locate(str(write_data(tmp_path / "data", entries=entries)))
    found = {(finding.where.rpartition(": ")[2], finding.rule) for finding in lint(BFCL_BENCHMARK, source)}
    assert found == {("a", "no accepted value"), ("b", "required without answer"), ("b", "unknown parameter")}


# Requests ---------------------------------------------------------------------------------------------


def test_native_calls_have_names_that_endpoints_take() -> None:
    request = rules(mode="fc").form.request(RECORDS["simple_python_0"])
    tool = request.tools[0]["function"]
    assert tool["name"] == "hotel_book" and tool["parameters"]["properties"]["price"]["type"] == "number"
    assert BOOK["name"] == "hotel.book", "the document itself is unchanged"


def test_values_of_java_are_asked_as_texts() -> None:
    tool = rules(mode="fc").form.request(RECORDS["simple_java_0"]).tools[0]["function"]
    keys = tool["parameters"]["properties"]["keys"]
    assert keys["type"] == "string" and "Array" in keys["description"] and "items" not in keys
    assert JAVA["parameters"]["properties"]["keys"]["type"] == "Array"


def test_gold_in_code_has_quotes_only_where_it_is_written_and_they_do_not_hide_others() -> None:
    put = function(
        "put", ["a", "b"], a={"type": "String", "description": ""}, b={"type": "any", "description": ""}
    )
    accepted = {"put": {"a": ["x"], "b": ['new X("y", 1)']}}
    record = replace(RECORDS["simple_java_0"], functions=(put,), answers=(accepted,))
    assert first_accepted_calls(record, native=False) == [("put", {"a": '"x"', "b": 'new X("y", 1)'})]
    request = rules(mode="fc").form.request(record)
    assert request.gold is not None
    (call,) = request.gold("")["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"a": "x", "b": 'new X("y", 1)'}


def test_the_prompt_holds_the_functions_before_the_entrys_own_system_message() -> None:
    record = RECORDS["simple_python_0"]
    own = BfclEntry(
        record.category, ({"role": "system", "content": "Be brief."}, *record.messages), record.functions
    )
    messages = rules().form.request(own).messages
    assert [message["role"] for message in messages] == ["system", "user"]
    assert messages[0]["content"].endswith("\n\nBe brief.") and '"hotel.book"' in messages[0]["content"]


@pytest.mark.parametrize("mode", ["fc", "prompt"])
def test_a_request_holds_the_messages_of_an_entry_in_their_order(mode: str) -> None:
    said = tuple({"role": role, "content": role.title()} for role in ("system", "user", "assistant"))
    record = replace(RECORDS["simple_python_0"], messages=(*said, {"role": "user", "content": "Go on."}))
    messages = rules(mode=mode).form.request(record).messages
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert [message["content"] for message in messages[1:]] == ["User", "Assistant", "Go on."]
    unled = rules(mode=mode).form.request(replace(record, messages=record.messages[1:])).messages
    assert [message["content"] for message in unled[-3:]] == ["User", "Assistant", "Go on."]


# Rules ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["fc", "prompt"])
@pytest.mark.parametrize("key", list(RECORDS))
def test_gold_is_right_under_fixed_and_every_mistake_is_caught(key: str, mode: str) -> None:
    item, fixed = Item(key, ("0",), RECORDS[key]), rules("fixed", mode)
    gold = gold_replies(fixed.episode(item, "0"))
    assert gold is not None and accepts(fixed, item, "0", gold)
    missed = [mutant for mutant in fixed.mutants(item) if accepts(fixed, item, "0", mutant.replies)]
    assert not missed


def test_the_published_rules_keep_the_quotes_of_javas_texts() -> None:
    call = 'Store.put(keys=new String[]{"a", "b"}, limit=5L)'
    assert check("simple_java_0", call).error == "value_error:list/tuple"
    assert check("simple_java_0", call, "fixed").correct


@pytest.mark.parametrize(
    ("word", "text", "nested", "value"),
    [
        ("Array", 'new String[]{"a, b", "c"}', "String", ["a, b", "c"]),
        ("ArrayList", 'new ArrayList<>(Arrays.asList("a, b", "(c"))', "String", ["a, b", "(c"]),
        (
            "ArrayList",
            'new ArrayList<String>() {{ add("a, b"); add("c); d"); }}',
            "String",
            ["a, b", "c); d"],
        ),
        ("ArrayList", 'new ArrayList<>(Arrays.asList("a, b", 1, true))', "any", ["a, b", 1, True]),
        ("Array", "new int[]{1, 2}", "integer", [1, 2]),
        ("ArrayList", "new ArrayList<>()", "String", []),
        ("ArrayList", "new ArrayList<>(Arrays.asList(first, second))", "String", ["first", "second"]),
    ],
)
def test_lists_of_java_are_cut_outside_of_texts_under_fixed(
    word: str, text: str, nested: str, value: Any
) -> None:
    assert convert_java_fully(text, word, nested) == value


@pytest.mark.parametrize(
    ("word", "text", "value"),
    [
        ("array", "[1, 2].map(twice)", [1, 2]),
        ("array", "[[1], [2]]]", [[1], [2]]),
        ("array", "[1,\n2]", "[1,\n2]"),
        ("dict", "{a: 1,\nb: 2}", "{a: 1,\nb: 2}"),
        ("dict", "{a: {b: 1}}", {"a": "{b: 1"}),
        ("dict", "{a: 'x', b: \"2\"}; more", {"a": "x", "b": 2}),
        ("dict", "{a:1 , b:2 }", {"a": 1, "b": 2}),
        ("String", "'one'", "one"),
    ],
)
def test_values_of_javascript_are_matched_at_the_start_of_a_text_and_on_one_line(
    word: str, text: str, value: Any
) -> None:
    assert convert_javascript(text, word) == value


@pytest.mark.parametrize(
    ("word", "text", "value"),
    [
        ("Array", "twice(new int[]{1, 2})", [1, 2]),
        ("Array", "new int[]{1,\n2}", "new int[]{1,\n2}"),
        ("ArrayList", "x = new ArrayList<>() {{\nadd(1);\nadd(2);\n}};", [1, 2]),
        ("HashMap", '(new HashMap<>() {{ put("a", "}"); put("b", 2); }})', {}),
        ("HashMap", "f(new HashMap<>())", {}),
    ],
)
def test_values_of_java_are_searched_for_anywhere_in_a_text(word: str, text: str, value: Any) -> None:
    assert convert_java(text, word) == value


@pytest.mark.parametrize(
    ("convert", "word", "text", "value"),
    [
        (convert_javascript, "array", "[[" + "1],[" * 4_000, None),
        (convert_javascript, "array", "new Array([" + "1],[" * 4_000, None),
        (convert_javascript, "dict", "{" + "a:1," * 4_000 + "}", None),
        (convert_java, "ArrayList", "new ArrayList<>() {{" + " " * 15_000, []),
        (convert_java, "HashMap", "new HashMap<>() {{" + " " * 15_000, {}),
        (convert_java, "HashMap", "new HashMap<>() {{" + 'put("",' * 2_000 + "}}", {}),
    ],
    ids=["lists", "new lists", "members", "added", "blanks", "puts"],
)
def test_a_hostile_value_comes_to_its_end(convert: Any, word: str, text: str, value: Any) -> None:
    """The published patterns take exponential time on these."""
    assert convert(text, word) == (text if value is None else value)


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        ('[Store.put(keys=new String[]{"a", "b"}, limit=5L); other()]', "value_error:list/tuple"),
        ("[if (x) { Store.put(limit=5L); }]", "simple_function_checker:missing_required"),
        ("Sorry, there is none.", NOT_DECODED),
        ("[]", "ast_decoder:decoder_wrong_output_format"),
    ],
)
def test_java_is_read_by_its_whole_grammar(reply: str, error: str) -> None:
    assert check("simple_java_0", reply).error == error


def test_fixed_takes_bytes_for_characters_nowhere() -> None:
    call = 'Store.put(options=new HashMap<>() {{ put("k", "v"); }} /* é */, keys=new String[]{"a", "b"}, limit=5L)'
    assert not check("simple_java_0", call).correct
    assert check("simple_java_0", call, "fixed").correct


@pytest.mark.parametrize(
    ("points", "official", "fixed"),
    [("[1.5,\n2.0]", False, True), ("[1.5, 2.0].reverse()", True, False), ("[1.5, 2.0]", True, True)],
)
def test_fixed_reads_whole_values_over_any_lines(points: str, official: bool, fixed: bool) -> None:
    for profile, right in (("official", official), ("fixed", fixed)):
        assert check("simple_javascript_0", f"[draw(points={points})]", profile).correct == right


def test_without_the_grammars_the_extra_is_named_before_anything_is_sent(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "tree_sitter", None)
    parser_of.cache_clear()
    folder = str(write_data(tmp_path / "data"))
    with pytest.raises(UsageError, match=r"wildtool\[bfcl\]"):
        data_of(BFCL_BENCHMARK.in_mode("prompt")).locate(folder, "simple_java")
    data_of(BFCL_BENCHMARK.in_mode("prompt")).locate(folder, "simple_python")
    data_of(BFCL_BENCHMARK).locate(folder, "simple_java")


def test_half_of_a_surrogate_pair_in_java_is_judged() -> None:
    assert check("simple_java_0", "Store.put(limit='\ud800')").error == "ast_decoder:decoder_failed"


def test_a_map_of_java_keeps_its_content_under_fixed() -> None:
    wrong = 'Store.put(keys=new String[]{"a", "b"}, limit=5L, options=new HashMap<>() {{ put("k", "w"); }})'
    assert check("simple_java_0", wrong, "fixed").error == "value_error:dict_value"
    assert check("simple_java_0", wrong.replace('"w"', '"v"'), "fixed").correct


def test_an_empty_value_is_no_accepted_one_under_fixed() -> None:
    call = "[hotel.book(city='Rome', nights=3, extras=[])]"
    assert check("simple_python_0", call).correct
    assert not check("simple_python_0", call, "fixed").correct


def test_values_without_names_get_those_of_the_parameters_under_fixed() -> None:
    call = "[hotel.book('Rome', 3)]"
    assert check("simple_python_0", call).error == "simple_function_checker:missing_required"
    assert check("simple_python_0", call, "fixed").correct
    assert check("simple_python_0", "[hotel.book(city='Rome', nights=+3)]", "fixed").correct
    assert not check("simple_python_0", "[hotel.book(city='Rome', nights=+3)]").correct


def test_calls_are_matched_greedily_as_published_and_as_well_as_possible_under_fixed() -> None:
    assert LATER["hotel.book"]["city"] == ["Oslo", "Rome"] and STAY["hotel.book"]["city"] == ["Rome"]
    calls = "[hotel.book(city='Rome', nights=3), hotel.book(city='Oslo', nights=3)]"
    assert check("parallel_0", calls).error == "parallel_function_checker_no_order:cannot_find_match"
    assert check("parallel_0", calls, "fixed").correct


@pytest.mark.parametrize(
    ("description", "right"), [("Password of the user", False), ("Hint for the password", True)]
)
def test_letters_of_a_password_count_under_fixed_alone(description: str, right: bool) -> None:
    schema = {"type": "string", "description": description}
    parameters = {"type": "dict", "properties": {"secret_text": schema}, "required": ["secret_text"]}
    function = {"name": "log_in", "description": "", "parameters": parameters}
    answers = ({"log_in": {"secret_text": ["Open*Sesame"]}},)
    record = BfclEntry(BFCL_CATEGORIES["simple_python"], (), (function,), answers)

    def is_right(profile: str, said: str) -> bool:
        rules = BFCL_BENCHMARK.in_mode("prompt").rules(profile).single  # type: ignore[attr-defined]
        return rules.compare(record, [{"log_in": {"secret_text": said}}]) is None

    assert is_right("official", "open sesame")
    assert is_right("fixed", "Open*Sesame") and is_right("fixed", "open sesame") == right


def test_a_truth_value_is_no_number_and_a_decimal_point_counts_under_fixed() -> None:
    from wildtool.benchmarks.bfcl.fixed import are_equal

    assert not are_equal([True], [1]) and are_equal([1.0], [1])
    assert not are_equal("1.5 km", "15 km") and are_equal("New-York", "new york") and not are_equal("-3", "3")


@pytest.mark.parametrize(
    ("reply", "official", "fixed"),
    [
        ("No function fits.", True, True),
        ("[ring(name='Ann')]", False, False),
        ("```python\n[ring(name='Ann')]\n```", True, False),
        ("find_route(start='here')", False, False),
        ('{"name": "ring", "arguments": {"name": "Ann"}}', True, False),
        ("[{'function': 'find_route', 'parameters': {}}]", True, False),
        ('<tool_call>{"name": "ring", "arguments": {}}</tool_call>', True, False),
        ("I will ring.\n\nring(name='Ann')", True, False),
        (native("ring", "{broken"), True, False),
        ("Sorry(no)", False, True),
        ("ring(name) is for something else.", True, True),
        ("Shall I call ring(name='Ann')?", True, True),
        ("See https://example.com/find(x=1)", True, True),
        ("[]", True, True),
    ],
)
def test_where_no_function_fits_a_call_is_wrong(reply: Any, official: bool, fixed: bool) -> None:
    mode = "prompt" if isinstance(reply, str) else "fc"
    assert check("irrelevance_0", reply, mode=mode).correct == official
    found = check("irrelevance_0", reply, "fixed", mode)
    assert found.correct == fixed and found.error in (None, CALLED)


def test_a_call_in_text_is_a_call_where_native_ones_are_asked_for() -> None:
    reply = '<tool_call>{"name": "ring", "arguments": {}}</tool_call>'
    assert check("irrelevance_0", reply, mode="fc").correct
    assert check("irrelevance_0", reply, "fixed", "fc").error == CALLED


@pytest.mark.parametrize(("keys", "right"), [("allKeys", True), ("allkeys", False), ("all-Keys", False)])
def test_letters_and_signs_of_a_variable_count(keys: str, right: bool) -> None:
    record = replace(
        RECORDS["simple_java_0"],
        answers=({"Store.put": {"keys": ["allKeys"], "limit": [5], "options": [""]}},),
    )
    reply = {"role": "assistant", "content": f"[Store.put(keys={keys}, limit=5L)]"}
    for profile in ("official", "fixed"):
        assert rules(profile).check(record, reply).correct == right


def test_any_call_is_relevant_as_published_and_one_that_is_offered_under_fixed() -> None:
    assert check("live_relevance_0-0-0", native("no_such", "{}"), mode="fc").correct
    assert not check("live_relevance_0-0-0", native("no_such", "{}"), "fixed", "fc").correct
    assert check("live_relevance_0-0-0", native("ring", "{}"), "fixed", "fc").correct


def test_an_entry_that_the_original_cannot_judge_is_wrong_and_says_so() -> None:
    record = RECORDS["simple_python_0"]
    values = native("hotel_book", '{"city": "Rome", "nights": 3}')
    unknown = function_without_type(record)
    found = rules(mode="fc").check(unknown, values)
    assert found.error == CHECKER_RAISED and found.fields["reference_error"]
    assert rules("fixed", "fc").check(unknown, values).error == CHECKER_RAISED


def function_without_type(record: BfclEntry) -> BfclEntry:
    document = json.loads(json.dumps(record.functions[0]))
    document["parameters"]["properties"]["city"]["type"] = "odd"
    return BfclEntry(record.category, record.messages, (document,), record.answers)


TEXTS = st.one_of(
    st.text(),
    st.text(alphabet="[]{}()=,.'\"`;:+-*/ \nnewftA1é", max_size=60),
    st.sampled_from(
        [
            "[" * 5000,
            "f(" * 3000,
            "[f(a=" + "(" * 200 + ")]",
            "[f(a=9**9**9)]",
            "[f(x=" + "-" * 5000 + "1)]",
            "[f(x=new " + "A<" * 400 + ")]",
            "[f(x=" + "1" * 5000 + ")]",
            "[f(x=" + "{" * 3000 + "}" * 3000 + ")]",
            "[f(x=" + "(a) => " * 2000 + "1)]",
            "\ud800",
            "[f(a='\x00')]",
        ]
    ),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(["hotel_book", "ring", "Store_put"]) | JSON
FUNCTIONS = st.fixed_dictionaries({"name": NAMES, "arguments": JSON | TEXTS | JSON.map(json.dumps)})
CALLS = st.lists(st.fixed_dictionaries({"function": FUNCTIONS}) | JSON, max_size=3)


@given(reply=st.fixed_dictionaries({"content": TEXTS | JSON, "tool_calls": st.none() | CALLS | JSON}))
def test_no_reply_makes_the_rules_raise(reply: dict[str, Any]) -> None:
    for key in RECORDS:
        for profile in ("official", "fixed"):
            for mode in ("fc", "prompt"):
                found = rules(profile, mode).check(RECORDS[key], reply)
                assert found.correct == (found.error is None)


@given(
    values=st.fixed_dictionaries({"city": JSON, "nights": JSON, "price": JSON, "extras": JSON}),
    key=st.sampled_from(["simple_python_0", "parallel_0"]),
)
def test_no_argument_makes_the_rules_raise(values: dict[str, Any], key: str) -> None:
    reply = native("hotel_book", json.dumps(values))
    reply["tool_calls"] *= len(RECORDS[key].answers)
    for profile in ("official", "fixed"):
        assert check(key, reply, profile, "fc").reason


def test_unreadable_calls_are_named_as_the_original_names_them() -> None:
    assert check("simple_python_0", "I would book it.").error == NOT_DECODED
    assert check("simple_python_0", native("hotel_book", "{"), mode="fc").error == NOT_DECODED
    assert check("simple_python_0", "[]").error == "simple_function_checker:wrong_count"


# Wording ----------------------------------------------------------------------------------------------


def test_there_is_no_wording_but_the_originals() -> None:
    for which in (None, "original"):
        assert choose_prompts(BFCL_BENCHMARK, which, "irrelevance") is BFCL_BENCHMARK
    with pytest.raises(UsageError, match=r"^bfcl is only put in the original's words; leave --prompts out\."):
        choose_prompts(BFCL_BENCHMARK, "own", "irrelevance")


def test_every_category_has_the_name_of_the_original() -> None:
    names = {f"multi_turn_{each}" for each in ("base", "miss_func", "miss_param", "long_context")}
    assert {each.name for each in BFCL_CATEGORIES.values() if each.name.startswith("multi_turn")} == names
    assert all(name == each.name for name, each in BFCL_CATEGORIES.items())
