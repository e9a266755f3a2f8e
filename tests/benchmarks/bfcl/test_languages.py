"""Java and JavaScript: the call that is read of a reply, and values of texts, as published and under `fixed`."""

from collections.abc import Callable
from typing import Any

import pytest

from wildtool.benchmarks.bfcl.languages.fixed_values import convert_java_fully, convert_javascript_fully
from wildtool.benchmarks.bfcl.languages.java import convert_java, decode_java
from wildtool.benchmarks.bfcl.languages.javascript import convert_javascript, decode_javascript
from wildtool.benchmarks.bfcl.languages.source_code import DecodeError
from wildtool.toolcall.call_syntax import MAX_CALL_CHARACTERS


def outcome(call: Callable[..., Any], *arguments: Any) -> Any:
    """What a function gives, or `!` and what it raises."""
    try:
        return call(*arguments)
    except (ValueError, NotImplementedError) as error:
        return f"! {type(error).__name__}: {error}"


def same(value: Any, expected: Any) -> bool:
    """Equal, and of one type: True is not 1, and 1.0 is not 1."""
    return repr(value) == repr(expected)


@pytest.mark.parametrize(
    ("word", "text", "nested", "published", "fully"),
    [
        ("integer", "-5", None, -5, -5),
        ("integer", "5x", None, "5x", "5x"),
        ("integer", "x5", None, "x5", "x5"),
        ("long", "5L", None, 5, 5),
        ("long", "-5l", None, -5, -5),
        ("long", "5", None, "5", "5"),
        ("float", "1.5f", None, 1.5, 1.5),
        ("float", "1e3F", None, 1000.0, 1000.0),
        ("float", "1.5", None, "1.5", "1.5"),
        ("double", "1.5e-3", None, 0.0015, 0.0015),
        ("double", "2", None, 2.0, 2.0),
        ("double", "x", None, "x", "x"),
        ("boolean", "true", None, True, True),
        ("boolean", "false", None, False, False),
        ("boolean", "True", None, "True", "True"),
        ("String", "x", None, "x", "x"),
        ("any", "1", None, "1", "1"),
        ("Queue", "x", None, "! NotImplementedError: Queue", "! NotImplementedError: Queue"),
        ("Nope", "x", None, "! ValueError: unsupported type: Nope", "! ValueError: unsupported type: Nope"),
        ("Array", "new int[]{1, 2, }", "integer", [1, 2], [1, 2]),
        ("Array", 'new String[]{"a", b}', "String", ['"a"', "b"], ["a", "b"]),
        (
            "Array",
            'new X[]{true, "a", 5L, 1.5f, 2, 2.5, x}',
            None,
            [True, "a", 5, 1.5, 2, 2.5, "x"],
            [True, "a", 5, 1.5, 2, 2.5, "x"],
        ),
        ("Array", "x", "integer", "x", "x"),
        ("ArrayList", 'new ArrayList<String>(Arrays.asList("a","b"))', "String", ["a", "b"], ["a", "b"]),
        ("ArrayList", "new ArrayList<>(Arrays.asList(1, 2L))", "long", ["1", 2], ["1", 2]),
        ("ArrayList", 'new ArrayList<>(Arrays.asList(1, "x"))', None, [1, "x"], [1, "x"]),
        ("ArrayList", 'new ArrayList<>() {{ add("a"); add(5); }}', None, ["a", 5], ["a", 5]),
        ("ArrayList", "new ArrayList<>() {{ }}", None, [], []),
        ("ArrayList", "new ArrayList<>() {{}}", None, [], []),
        ("ArrayList", "new ArrayList<>()", None, [], []),
        ("ArrayList", "list", None, "list", "list"),
        (
            "ArrayList",
            'new ArrayList<>(Arrays.asList(f("a"), "b"))',
            None,
            ['f("a")', "b"],
            ['f("a")', "b"],
        ),
        (
            "ArrayList",
            "new ArrayList<>(Arrays.asList(1, 2]))",
            None,
            [1, "2]"],
            [1, "2]"],
        ),
        ("ArrayList", "new ArrayList<>() {{ add(1]); }}", None, ["1]"], ["1]"]),
        ("Array", "new int[]{1, 2)}", None, [1, "2)"], [1, "2)"]),
        ("ArrayList", "new ArrayList<>() {{ add(1);", None, [], "new ArrayList<>() {{ add(1);"),
        (
            "HashMap",
            'new HashMap<String, Object>() {{ put("a", 1); put("b", "x"); put("c", true); }}',
            None,
            {"a": 1, "b": "x", "c": True},
            {"a": 1, "b": "x", "c": True},
        ),
        ("HashMap", "new HashMap<>()", None, {}, {}),
        ("HashMap", "map", None, "map", "map"),
        (
            "HashMap",
            'new HashMap<>() {{ put("a, b", 1L); put("c\n", 2); put("d", 3); }}',
            None,
            {"a, b": 1, "d": 3},
            {"a, b": 1, "c ": 2, "d": 3},
        ),
        ("HashMap", 'new HashMap<>() { put("a", 1.5f)}', None, {"a": 1.5}, {"a": 1.5}),
        ("HashMap", 'new HashMap<>() {{ put("a", 1)', None, {}, 'new HashMap<>() {{ put("a", 1)'),
    ],
)
def test_a_text_of_java_has_a_value_by_its_type(
    word: str, text: str, nested: str | None, published: Any, fully: Any
) -> None:
    assert same(outcome(convert_java, text, word, nested), published)
    assert same(outcome(convert_java_fully, text, word, nested), fully)


@pytest.mark.parametrize(
    ("word", "text", "nested", "published", "fully"),
    [
        ("String", '"a"', None, "a", "a"),
        ("String", "'a'", None, "a", "a"),
        ("String", "`a`", None, "`a`", "`a`"),
        ("String", "a", None, "a", "a"),
        ("integer", "-5", None, -5, -5),
        ("integer", "5.0", None, "5.0", "5.0"),
        ("float", "-1.5", None, -1.5, -1.5),
        ("float", "1", None, 1.0, 1.0),
        ("float", "1.", None, "1.", "1."),
        ("Bigint", "5n", None, 5, 5),
        ("Bigint", "5", None, "5", "5"),
        ("Boolean", "true", None, True, True),
        ("Boolean", "no", None, "no", "no"),
        ("any", "1", None, "1", "1"),
        ("Nope", "1", None, "! ValueError: unsupported type: Nope", "! ValueError: unsupported type: Nope"),
        (
            "dict",
            "{a: 1, 'b': \"x\", c: [1, 2], d: true}",
            None,
            {"a": 1, "b": "x", "c": [1, 2], "d": True},
            {"a": 1, "b": "x", "c": [1, 2], "d": True},
        ),
        ("dict", "{}", None, {}, {}),
        ("dict", " {a: 1} x", None, {"a": 1}, "{a: 1} x"),
        ("dict", "x", None, "x", "x"),
        ("dict", "a: 1}", None, "a: 1}", "a: 1}"),
        ("dict", "{a: [1,2],b: {c: 1}}", None, {"a": [1, 2], "b": "{c: 1"}, {"a": [1, 2], "b": {"c": 1}}),
        ("dict", "{a: x, y, b: 2}", None, {"a": "x, y", "b": 2}, {"a": "x", "y": "", "b": 2}),
        ("dict", "{::a: 1}", None, {"a": 1}, {"": ":a:1"}),
        ("dict", "{a}", None, {}, {"a": ""}),
        ("dict", "{\"a\": '1'}", None, {"a": 1}, {"a": 1}),
        (
            "array",
            "[1, 'a', \"b\", true, 1.5, x]",
            None,
            [1, "a", "b", True, 1.5, "x"],
            [1, "a", "b", True, 1.5, "x"],
        ),
        ("array", "[]", None, [], []),
        ("array", "[ ]", None, [], []),
        ("array", "['1', 2]", "integer", ["'1'", 2], ["'1'", 2]),
        ("array", "['a', 2]", "String", ["a", "2"], ["a", "2"]),
        ("array", "[1, 2]", "float", [1.0, 2.0], [1.0, 2.0]),
        ("array", "[1, 2]", "Nope", "[1, 2]", "! ValueError: unsupported type: Nope"),
        ("array", "new Array(1, 2)", None, [1, 2], [1, 2]),
        ("array", "[[1, 2], [3]]", None, [[1, 2], [3]], [[1, 2], [3]]),
        ("array", "[[1], [2]] x", None, [[1], [2]], "[[1], [2]] x"),
        ("array", "new Array([1], [2])", None, [[1], [2]], [[1], [2]]),
        ("array", "[[1], [2]", None, ["[1"], "[[1], [2]"),
        ("array", "[[1]\n, [2]]", None, [[1], [2]], [[1], [2]]),
        ("array", "[[1,\n2], [3]]", None, "[[1,\n2], [3]]", [[1, 2], [3]]),
        ("array", "[{a: 1}]", None, ["{a: 1}"], ["{a: 1}"]),
        ("array", "[{a: 1}, {b: 2}]", "dict", [{"a": 1}, {"b": 2}], [{"a": 1}, {"b": 2}]),
        ("array", "[[]]", None, [[""]], [[]]),
        ("array", "[[ ]]", None, [[""]], [[]]),
        ("array", "x", None, "x", "x"),
        ("array", "[[1]]", "integer", [[1]], [[1]]),
        ("array", "[[1], x]", None, ["[1"], [[1], "x"]),
        ("array", "[[1],[2],[3]]]", None, [[1], [2], [3]], "[[1],[2],[3]]]"),
        ("array", "[\"a, b\", ['c']]", None, ['"a', 'b"', "['c'"], ["a, b", ["c"]]),
        ("array", "[[1, [2]], 3]", None, [[1, "[2"]], [[1, [2]], 3]),
        (
            "dict",
            "{a: {b: {c: '1'}}, d: [[1]]}",
            None,
            {"a": "{b: {c: '1"},
            {"a": {"b": {"c": 1}}, "d": [[1]]},
        ),
        ("dict", "{a: 1, b}", None, {"a": "1, b"}, {"a": 1, "b": ""}),
        ("dict", "{a: (1}", None, {"a": "(1"}, "{a: (1}"),
        ("array", "[(1]", None, ["(1"], "[(1]"),
    ],
)
def test_a_text_of_javascript_has_a_value_by_its_type(
    word: str, text: str, nested: str | None, published: Any, fully: Any
) -> None:
    assert same(outcome(convert_javascript, text, word, nested), published)
    assert same(outcome(convert_javascript_fully, text, word, nested), fully)


@pytest.mark.parametrize(
    ("text", "published", "fully"),
    [
        (
            "[A.f(x=1, y=\"a\", z='c', v=true)]",
            [{"A.f": {"x": "1", "y": "a", "z": "c", "v": "true"}}],
            [{"A.f": {"x": "1", "y": "a", "z": "c", "v": "true"}}],
        ),
        (
            '[f(x=new int[]{1, 2}, y=new A(1, "b"), z=g.h(1), w=-1)]',
            [{"f": {"x": "new int[]{1,2}", "y": 'new A(1, "b")', "z": "g.h(1)", "w": "-1"}}],
            [{"f": {"x": "new int[]{1,2}", "y": 'new A(1, "b")', "z": "g.h(1)", "w": "-1"}}],
        ),
        ("[f(x=1, x=2)]", "! DecodeError: x is given twice", "! DecodeError: x is given twice"),
        (
            "[f(a, b)]",
            "! DecodeError: error of syntax at byte 0",
            "! DecodeError: a value without a name is given twice",
        ),
        ("[f(a)]", "! DecodeError: error of syntax at byte 0", [{"f": {None: "a"}}]),
        ("[new A()]", "! DecodeError: error of syntax at byte 0", {}),
        (
            "[f(x=String.class, y=String)]",
            [{"f": {"x": "String.class", "y": "String"}}],
            [{"f": {"x": "String.class", "y": "String"}}],
        ),
        ("[a = f(x=1)]", "! DecodeError: error of syntax at byte 0", [{"f": {"x": "1"}}]),
        (
            "[f(x=1) g]",
            "! DecodeError: error of syntax at byte 0",
            "! DecodeError: error of syntax at byte 7",
        ),
        ('[f(x="é", y="b")]', [{"f": {"x": 'é"', "=": '"'}}], [{"f": {"x": "é", "y": "b"}}]),
        ("[f(x=new A() { int a; })]", [{"f": {"x": "new A()"}}], [{"f": {"x": "new A() { int a; }"}}]),
        ("f(x=1); g(y=2)", [{"f": {"x": "1"}}], [{"f": {"x": "1"}}]),
        ("[x]", "! DecodeError: error of syntax at byte 0", {}),
        (
            "[f(x=new int[3])]",
            "! DecodeError: an array without its elements",
            "! DecodeError: an array without its elements",
        ),
        (
            '[f(x=new ArrayList<String>(Arrays.asList("a", "b")))]',
            [{"f": {"x": 'new ArrayList<String>(Arrays.asList("a", "b"))'}}],
            [{"f": {"x": 'new ArrayList<String>(Arrays.asList("a", "b"))'}}],
        ),
    ],
)
def test_the_first_call_of_java_is_read(text: str, published: Any, fully: Any) -> None:
    assert outcome(decode_java, text) == published
    assert outcome(lambda: decode_java(text, complete=True)) == fully


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("[f(x=1, y=\"a\", z='b', v=true)]", [{"f": {"x": "1", "y": "a", "z": "b", "v": "true"}}]),
        ("[f(a, true)]", "! DecodeError: a value without a name is given twice"),
        ("[f(x=1, x=2)]", "! DecodeError: x is given twice"),
        ("[a.b(x=[1, 2], y={c: 1}, z=`q`)]", [{"a.b": {"x": "[1, 2]", "y": "{c: 1}", "z": "`q`"}}]),
        ("[f(x=(a) => 1)]", [{"f": {"x": "(a) => 1"}}]),
        ("[x = f(y=1)]", None),
        ("[f(x=1) g]", "! DecodeError: error of syntax at byte 0"),
        ("x", None),
        ("[f(x=1); g(y=2)]", [{"f": {"x": "1"}}]),
        ("[f(true)]", [{"f": {None: "true"}}]),
        ('[f(5, x="é")]', [{"f": {"x": "é"}}]),
    ],
)
def test_the_first_call_of_javascript_is_read(text: str, calls: Any) -> None:
    assert outcome(decode_javascript, text) == calls


@pytest.mark.parametrize("convert", [convert_javascript, convert_javascript_fully])
@pytest.mark.parametrize(
    ("word", "start", "end", "value"), [("array", "[7", "]", [7]), ("dict", "{a:7", "}", {"a": 7})]
)
def test_a_value_is_read_up_to_the_length_of_the_longest_call(
    convert: Callable[..., Any], word: str, start: str, end: str, value: Any
) -> None:
    longest = start + " " * (MAX_CALL_CHARACTERS - len(start + end)) + end
    assert convert(longest, word) == value
    longer = longest.replace(" ", "  ", 1)
    assert convert(longer, word) == longer


@pytest.mark.parametrize(("decode", "end"), [(decode_java, ";"), (decode_javascript, "")])
def test_a_text_of_a_program_is_read_up_to_the_length_of_the_longest_call(
    decode: Callable[[str], Any], end: str
) -> None:
    longest = f"f({' ' * (MAX_CALL_CHARACTERS - 3 - len(end))}){end}"
    assert decode(longest) == [{"f": {}}]
    with pytest.raises(DecodeError, match=r"^longer than 16000 characters$"):
        decode(longest.replace("(", "( "))


@pytest.mark.parametrize(("word", "start", "end", "key"), [("array", "[", "]", 0), ("dict", "{a:", "}", "a")])
def test_what_is_deeper_than_sixty_levels_stays_a_text(word: str, start: str, end: str, key: Any) -> None:
    for depth, innermost in ((59, 1), (60, 1), (61, f"{start}1{end}"), (62, f"{start * 2}1{end * 2}")):
        value: Any = convert_javascript_fully(f"{start * depth}1{end * depth}", word)
        for _ in range(min(depth, 60)):
            value = value[key]
        assert value == innermost


@pytest.mark.parametrize(
    ("word", "text", "value"),
    [
        ("array", "[[]]", [[""]]),
        ("array", "[[1]]", [[1]]),
        ("array", "[ [1], [2] ]", [[1], [2]]),
        ("array", "new Array( [1], [2] )", [[1], [2]]),
        ("array", "new Array([1])", [[1]]),
        ("array", "[[1],\n[2]]", [[1], [2]]),
        ("array", "[[1], [2,\n3]]", ["[1"]),
        ("array", "[[1]]\n]", [[1]]),
        ("array", "[[\n1]]", "[[\n1]]"),
        ("array", "[[1]\n]", [[1]]),
        ("array", "[[a] b]", ["[a"]),
        ("array", "[[a], b]", ["[a"]),
        ("array", "[[],[]]", [[""], [""]]),
        ("array", "[[1] , [2]] ]", [[1], [2]]),
        ("dict", "{a: 1,b: 2,c: 3}", {"a": 1, "b": 2, "c": 3}),
        ("dict", "{a: [1, 2], b: [3]}", {"a": [1, 2], "b": [3]}),
        ("dict", "{a: 'x, y: z', b: 1}", {"a": "x", "y": "z", "b": 1}),
        ("dict", "{a: 1, , b: 2}", {"a": "1,", "b": 2}),
        ("dict", "{a:,b:1}", {"a": "", "b": 1}),
        ("dict", "{a: 1,, b: 2}", {"a": "1,", "b": 2}),
        ("dict", "{a: x,  b : y }", {"a": "x", "b": "y"}),
        ("dict", "{a: [1, b: 2}", {"a": "[1", "b": 2}),
        ("dict", "{a: 1], b: 2}", {"a": "1]", "b": 2}),
        ("dict", "{a: 'true', b: false, c: 1.50}", {"a": True, "b": False, "c": 1.5}),
        ("dict", "{a: 1,\tb:2}", {"a": 1, "b": 2}),
        ("dict", "{: 1}", {}),
        ("dict", "{a: b: c, d: e}", {"a": "b: c", "d": "e"}),
        ("dict", "{a: 1, b c: 2, d}", {"a": 1, "b c": "2, d"}),
    ],
)
def test_lists_of_lists_and_members_end_where_the_published_patterns_end(
    word: str, text: str, value: Any
) -> None:
    assert same(convert_javascript(text, word), value)
