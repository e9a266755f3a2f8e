"""Reading calls: what becomes a value, what is refused, and that nothing is ever evaluated, however hostile the text."""

import ast
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wildtool.benchmarks.acebench.official import (
    check_error_param,
    check_incomplete,
    check_irrelevant,
    check_normal,
    decode,
)
from wildtool.toolcall.call_syntax import MAX_CALL_CHARACTERS, MAX_EXPRESSION_DEPTH, MAX_WORK, CallSyntaxError
from wildtool.toolcall.expressions import FUNCTIONS, Expressions

_seen: list[str] | None = None
"""Audit events of interest while something is watched; a hook cannot be taken back, so it only looks when told to."""
WATCHED = ("exec", "open", "import", "os.", "subprocess.", "socket.", "ctypes.", "shutil.", "code.__new__")


def _note(event: str, _: Any) -> None:
    if _seen is not None and event.startswith(WATCHED):
        _seen.append(event)


@cache
def _begin_to_watch() -> None:
    sys.addaudithook(_note)


@contextmanager
def nothing_evaluated() -> Iterator[None]:
    """Fails if code is run, a file opened, a module imported or a process started inside."""
    global _seen
    _begin_to_watch()
    _seen = events = []
    try:
        yield
    finally:
        _seen = None
    assert events == []


def value(text: str) -> Any:
    """The value of an argument."""
    (call,) = decode(f"[f(a={text})]")
    return call.arguments["a"]


def python_calls(run: Callable[[], object]) -> int:
    """How many functions are called, whatever they are written in."""
    count = 0

    def note(_frame: Any, event: str, _arg: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count


# Values ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2+3*4", 14),
        ("7//2", 3),
        ("7%4", 3),
        ("2**10", 1024),
        ("(1<<3)|1", 9),
        ("1-+2", -1),
        ("~True+0", -2),
        ("'ab'*2+'c'", "ababc"),
        ("[1]+[2]", [1, 2]),
        ("{'a':1}|{'b':2}", {"a": 1, "b": 2}),
        ("len('abc')-1", 2),
        ("int('4')*2", 8),
    ],
)
def test_arithmetic_on_literals_is_computed(text: str, expected: Any) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    "text", ["x+1", "1+x.y", "f(1)+1", "'a'.format(1)+''", "1+(lambda:1)", "1/0", "len('a','b')+1"]
)
def test_anything_but_arithmetic_on_literals_is_refused(text: str) -> None:
    with pytest.raises(CallSyntaxError):
        value(text)


@pytest.mark.parametrize(
    "text",
    [
        "list(['a'])+['b']",
        "dict({'a':1})|{}",
        "dict(a=1)|{'b':2}",
        "'%s'%'csv'",
        "'%5.1f|'%2",
        "'x'%()",
        "'ab'.upper()+''",
        "'-'.join(['a','b'])+''",
        "{1,2}&{1}",
        "{*'ab'}|{'c'}",
        "chr(97)+''",
        "repr('a')+''",
        "round(2.567,1)+0",
        "max(1,2)+0",
        "(1<2)+1",
        "(1<2<3)+1",
        "[1,2][0]+1",
        "'abc'[1:]+''",
        "int('5',10)+0",
        "sum([[1]],[])+[1]",
        "sorted([2,1],reverse=True)+[]",
        "('a'or'b')+'c'",
        "(1if[]else(2))+0",
        "f'{1:03d}{2!r}'+'x'",
        "{**{'a':1},'b':2}|{}",
        "[*'ab']+[]",
        "str(object=1)+''",
        "0+60**1000",
        "('a'in'abc')+1",
        "list(range(3))+[]",
        "b'a'+b'b'",
        "{'a':1}.get('a')+1",
        "tuple({'a':1})+()",
    ],
)
def test_expressions_over_literals_have_the_value_that_python_gives_them(text: str) -> None:
    found = value(text)
    assert (type(found), found) == (type(eval(text)), eval(text))


_PARTS = st.recursive(
    st.sampled_from(
        ["0", "1", "-2", "2.5", "3j", "True", "None", "'a'", "'%s'", "'%(a)s'", "''", "b'x'", "[]", "{}", "()", "..."]
    ),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "//", "%", "**", "<<", ">>", "|", "&", "^", "@"]), inner)
        .map("".join).map("({})".format),
        st.tuples(inner, st.sampled_from(["<", "==", " in ", " not in ", ">=", " and ", " or "]), inner)
        .map("".join).map("({})".format),
        # Whether two equal numbers are one object is up to the compiler; what there is only one of is not.
        st.tuples(inner, st.sampled_from(["None", "True", "..."])).map("({0[0]} is {0[1]})".format),
        st.tuples(inner, inner).map("[{0[0]},{0[1]}]".format),
        st.tuples(inner, inner).map("{{{0[0]}:{0[1]}}}".format),
        st.tuples(inner, inner).map("{{{0[0]},*{0[1]}}}".format),
        st.tuples(inner, inner).map("({0[0]})[{0[1]}]".format),
        st.tuples(inner, inner).map("({0[0]})[:{0[1]}]".format),
        st.tuples(st.sampled_from(sorted(FUNCTIONS)), inner).map("{0[0]}({0[1]})".format),
        st.tuples(st.sampled_from(sorted(FUNCTIONS)), inner, inner).map("{0[0]}({0[1]},{0[2]})".format),
        st.tuples(inner, st.sampled_from(["upper", "strip", "split", "copy", "join", "count"]), inner)
        .map("({0[0]}).{0[1]}({0[2]})".format),
    ),
    max_leaves=6,
)  # fmt: skip
_REFUSED = re.compile("too (large|much|wide|many)|nested|no arithmetic|encoding|unpacking")


@settings(report_multiple_bugs=False)
@given(_PARTS)
def test_an_expression_has_the_value_or_the_fault_that_python_gives_it(text: str) -> None:
    try:
        found = Expressions().value(ast.parse(text, mode="eval").body)
    except CallSyntaxError as error:
        if _REFUSED.search(str(error)):
            return
        with warnings.catch_warnings(), pytest.raises(Exception):  # noqa: B017
            warnings.simplefilter("ignore")
            eval(text)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert repr(found) == repr(eval(text))


@pytest.mark.parametrize("text", ["[f(a=1),g()]", "(f(a=1),g())", "{f(a=1),g()}", "f(a=1),g()"])
def test_a_list_a_tuple_a_set_or_a_bare_sequence_holds_the_calls(text: str) -> None:
    assert [(call.name, call.arguments) for call in decode(text)] == [("f", {"a": 1}), ("g", {})]


def test_a_sign_negates_whatever_it_is() -> None:
    assert [value(text) for text in ("-5", "+5", "~5")] == [-5, -5, -5]


def test_the_attributes_of_an_odd_callee_are_its_name() -> None:
    assert [call.name for call in decode("[x[0].g(), 'a'.h(), x[0](), a.b()]")] == ["g", "h", "", "a.b"]


# Limits ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "9**9**9",
        "(2**4000)**4",
        "1<<9999999999",
        "'a'*9999999999",
        "9999999999*[0]",
        "((('a'*9999)*9999)*9999)",
        "[[0]*999]*9999",
        "-9999999999*[0]+[0]*99999",
        "'" + "a" * 9000 + "'" + "+'b'" * 50,
        "+".join(["[0]*999"] * 200),
        "+".join(["1"] * (MAX_EXPRESSION_DEPTH + 2)),
        "0x" + "f" * 4000,
        "1e999+0x" + "f" * 4000,
        "round(5,-999999999)+1",
        "pow(2,999999)+1",
        "pow(exp=2**9000,base=2)+1",
        "bytes(999999999)+b''",
        "str(b'a','punycode')+''",
        "list(range(999999))+[]",
        "sum([[1]*99]*99,[0]*999)+[]",
        "'a'.center(999999999)+''",
        "'a'.replace('a','b'*9999).replace('b','c'*9999)+''",
        "','.join(['a'*999]*999)+''",
        "'%999999999d'%1",
        "'%(a(b)c)999999999d'%{'a(b)c':1}",
        "'%*d'%(999999999,1)",
        "'%s'*9999%(('a'*999,)*9999)",
        "f'{1:999999999}'+''",
        "f'{1:{999999999}}'+''",
        "'{:>999999999}'.format(1)+'a'",
    ],
)
def test_what_would_grow_too_large_is_refused_before_it_is_computed(text: str) -> None:
    with pytest.raises(CallSyntaxError):
        value(text)


def test_deep_nesting_is_refused() -> None:
    depth = MAX_EXPRESSION_DEPTH - 1
    assert value("[" * depth + "]" * depth)
    for opening, closing in (("[", "]"), ("(", ",)"), ("{1:", "}"), ("f(a=", ")"), ("-", ""), ("not(", ")")):
        with pytest.raises(CallSyntaxError):
            value(opening * (MAX_EXPRESSION_DEPTH + 1) + "1" + closing * (MAX_EXPRESSION_DEPTH + 1))


def test_long_texts_are_refused() -> None:
    longest = f"[f(a='{'x' * (MAX_CALL_CHARACTERS - 9)}')]"
    assert decode(longest)
    with pytest.raises(CallSyntaxError, match="longer than"):
        decode(longest + "#")


def test_odd_escapes_warn_nobody(recwarn: pytest.WarningsRecorder) -> None:
    assert value(r"'\d'") == r"\d"
    assert not recwarn.list


# Hostile texts ---------------------------------------------------------------------------------------

HOSTILE = [
    "[f(a=__import__('os').system('id'))]",
    "[f(a=__import__('os').system('id')+1)]",
    "[f(a=1+eval('1'))]",
    "[f(a=open('/etc/passwd').read()+'')]",
    "[f(a=().__class__.__bases__[0].__subclasses__()+[])]",
    "[f(a=(lambda:exec('x=1'))()+1)]",
    "[f(a=f'{__import__(\"os\").getcwd()}')]",
    "[f(a='x'+f'{__import__(\"os\").getcwd()}')]",
    "[f(a=[__import__('os')for(x)in(1,)])]",
    "[f(a=str(exit)+'')]",
    "[(lambda:__import__('os'))()(a=1)]",
    "[f(a=x[__import__('os').getpid()])]",
    "[f(a={1:1}|{exit():1})]",
    "[f(a=breakpoint()*1)]",
]
FRAGMENTS = [
    *"[](){}:,=+-*/%|&^~#'\".1xf",
    "f(a=",
    "f(",
    "**",
    "<<",
    "//",
    "lambda:",
    "if(1)else",
    "len(",
    "sum(",
    "int(",
    "str(",
    "True",
    "None",
    "__import__('os').system('id')",
    "().__class__.__bases__",
    "9**9**9",
    "'a'*10**9",
    "0x" + "f" * 50,
    "'x'",
    "[1,2]",
    "{'a':1}",
    "\ud800",
    "\\ud800",
    "\x00",
    "f'{",
    "...",
    "1e999",
    "1j",
    "b''",
    "\\N{DASH}",
]
TEXTS = st.one_of(
    st.text(),
    st.lists(st.sampled_from(FRAGMENTS), max_size=60).map("".join),
    st.lists(st.sampled_from(FRAGMENTS), max_size=30).map(lambda parts: f"[f(a={''.join(parts)})]"),
)
FUNCTION = {
    "name": "f",
    "parameters": {
        "type": "object",
        "properties": {"a": {"type": "array"}, "x": {"type": "string"}},
        "required": [],
    },
}


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_expressions_are_not_evaluated(text: str) -> None:
    with nothing_evaluated():
        found = check_normal(text, [FUNCTION], [{"f": {"a": [{"k": 1}]}}])
    assert not found.valid


def test_the_watch_sees_evaluation() -> None:
    with pytest.raises(AssertionError), nothing_evaluated():
        eval("1+1")


@given(TEXTS)
def test_no_text_makes_judging_raise_or_evaluate(text: str) -> None:
    with nothing_evaluated():
        check_normal(text, [FUNCTION], [{"f": {"a": [{"k": 1}]}}])
        check_incomplete(text, {"f": ["a"]})
        check_error_param(text, {"a": ["1"]})
        check_irrelevant(text)


@given(TEXTS)
def test_work_is_bounded_whatever_the_text(text: str) -> None:
    assert python_calls(lambda: check_normal(text, [FUNCTION], [{"f": {"a": [{"k": 1}]}}])) < 2 * MAX_WORK


@pytest.mark.parametrize(
    "part", ["[0]*999+", "1+", "'aaaa'*999+", "[[1]*9]*9+", "a,", "f(),", "-", "{1:2},", "(1)"]
)
def test_work_is_bounded_for_the_longest_texts(part: str) -> None:
    text = f"[f(a={part * (MAX_CALL_CHARACTERS // len(part))}"[: MAX_CALL_CHARACTERS - 3] + "1)]"
    assert python_calls(lambda: check_normal(text, [FUNCTION], [{"f": {"a": [{"k": 1}]}}])) < 2 * MAX_WORK


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.just("true"), st.just("")
)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
)
TYPES = (
    "string",
    "integer",
    "number",
    "float",
    "boolean",
    "array",
    "tuple",
    "list",
    "list(string)",
    "object",
)
SCHEMAS = st.fixed_dictionaries(
    {"type": st.sampled_from((*TYPES, "enum", "objectArray", "null", None, []))},
    optional={"items": st.one_of(st.none(), st.fixed_dictionaries({"type": st.sampled_from(TYPES)}))},
)


@given(JSON, JSON, SCHEMAS)
def test_no_value_gold_or_schema_makes_judging_raise(given_value: Any, gold: Any, schema: Any) -> None:
    function = {"name": "f", "parameters": {"properties": {"a": schema}, "required": ["a"]}}
    found = check_normal(f"[f(a={given_value!r})]", [function], [{"f": {"a": gold}}])
    assert found.valid or found.error
