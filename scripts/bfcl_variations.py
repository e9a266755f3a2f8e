"""Random input for the functions of which BFCL's published evaluator is made; see bfcl_crosscheck.py."""

import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

BLANKS = (*[""] * 4, " ", "  ", "\n", "\t", "\r\n", "\u00a0")
PIECES = (
    "a",
    "b1",
    "key",
    "é",
    "名",
    "value x",
    "it's",
    "a,b",
    "x:y",
    "}",
    "]",
    ")",
    "{",
    "[",
    "(",
    "",
    "A_b",
    "\\n",
    '\\"',
    "//c",
    "/*c*/",
    "😀",
)
NUMBERS = (
    "1",
    "-2",
    "1.5",
    "-1.5e3",
    "1e400",
    "0x1F",
    "1_000",
    "01",
    "+3",
    "12L",
    "-7l",
    "1.5f",
    "2F",
    "1.0d",
    "3n",
    "-4n",
    "5n\n",
    "1.",
    "nan",
    "-inf",
    ".5",
    "１２",
    "9" * 30,
    "1.5F\n",
    "12L\n",
    "true",
    "false",
    "null",
    "None",
    "undefined",
)
CODE = (
    "i++",
    "this.x",
    "a.b.c",
    "x => x",
    "() => { return 1; }",
    "function(a) { return a; }",
    "new Date()",
    "f(1)",
    "f(a=1)",
    "a ? b : c",
    "a + b",
    '"a" + x',
    "(1)",
    "!x",
    "arr[0]",
    "`t ${x}`",
    "/re/g",
    "class A {}",
    "A.class",
    "int.class",
    "(String) x",
    "x -> x",
    "A::b",
    "new A<>(){ }",
    "new int[5]",
    "new int[]{1,2}",
    "a.<T>b()",
    "...r",
    "a?.b",
    "await x",
    "a=b",
    "a==b",
    "a, b",
)
JAVA_WORDS = (
    "byte",
    "short",
    "integer",
    "float",
    "double",
    "long",
    "boolean",
    "char",
    "Array",
    "ArrayList",
    "Set",
    "HashMap",
    "Array",
    "ArrayList",
    "HashMap",
    "Hashtable",
    "Queue",
    "Stack",
    "String",
    "any",
    "dict",
)
JAVASCRIPT_WORDS = (
    "String",
    "integer",
    "float",
    "Bigint",
    "Boolean",
    "dict",
    "array",
    "dict",
    "array",
    "any",
    "object",
)
ELEMENTS = ("int", "String", "long", "Object", "float", "Integer", "")
SHELLS = (
    *["[{}]"] * 8,
    "{}",
    "```\n[{}]\n```",
    "```java\n[{}]\n```",
    " [{}] ",
    "[{}",
    "[{};]",
    "[({})]",
    "[x = {}]",
    "[if (a) { {} }]",
    "[// c\n{}]",
    "Sure: {}",
    "[g({})]",
    "[[{}]]",
    "[new {}]",
    "[class A { void f() { {}; } }]",
    "[{}\nDone.]",
)
PYTHON_VALUES = (
    "1",
    "-1",
    "'x'",
    "None",
    "True",
    "x",
    "[1, 2]",
    "(1,)",
    "{}",
    "{'a': 1}",
    "{'a': {}}",
    "{'a': {'b': 1}}",
    "{'a': {'b': {}}}",
    "{'a': 1, 'b': {'c': {}}}",
    "{1: {'x': 2}}",
    "{None: 3}",
    "{(1, 2): 4}",
    "{'a b': {'c d': 1}}",
    "g()",
    "g(1)",
    "g(x=1)",
    "g(x=h(y=2))",
    "1+2",
    "'a'*3",
    "...",
    "1e3",
    "a.b",
    "a[0]",
    "lambda: 1",
    "{1}",
    "f'{x}'",
    "b'x'",
    "1j",
    "+3",
    "not x",
    "{'a': [1, {'b': {}}]}",
    "{**a}",
    '"a\'b"',
    "'\\n'",
    "x == 1",
)
NATIVE_VALUES = (
    1,
    -1.5,
    "x",
    "it's",
    None,
    True,
    [],
    {},
    {"a": {}},
    {"a": {"b": 2}},
    [1, {"b": "c"}],
    "\n",
    "é",
)
ANSWERS = (
    "38",
    "4.5",
    "-3",
    "1,000",
    "2024-05-17",
    "C++",
    ".NET",
    "New York",
    "it's",
    "(x)",
    "a_b",
    "10%",
    "Straße",
)
REPLIES = ("{'answer': '{}', 'context': 'c'}", "It was {} then", "{}", '```json\n{"answer": "{}"}\n```')
AROUND = (
    *["{}"] * 3,
    "-{}",
    "{}.5",
    "1.{}",
    "{},000",
    "x{}",
    "{}y",
    "({})",
    "{}.",
    "{}'s",
    "~{}",
    "{}-40",
    "{}%",
)


class Variations:
    """Draws inputs for the functions of which the published evaluator is made, most of them damaged."""

    def __init__(self, seed: int) -> None:
        self._draw = Random(seed)

    def of(self, part: str) -> list[Any]:
        """Input of a part, as `bfcl_reference.py` takes it."""
        match part:
            case "convert" if self._draw.random() < 0.5:
                words = JAVA_WORDS
                return [
                    "java",
                    self._damaged(self._java()),
                    self._one(words),
                    self._one((None, None, *words)),
                ]
            case "convert":
                words = JAVASCRIPT_WORDS
                return [
                    "js",
                    self._damaged(self._javascript()),
                    self._one(words),
                    self._one((None, None, *words)),
                ]
            case "java" | "javascript":
                return [part, self._call(self._java if part == "java" else self._javascript)]
            case "python":
                return [part, self._shelled(self._python())]
            case "execute":
                return [self._shelled(self._python())]
            case "execute native":
                return [self._native()]
            case _:
                answers = [self._one(ANSWERS) for _ in range(self._draw.randint(1, 3))]
                text = self._one(AROUND).replace("{}", self._one((*ANSWERS, *answers * 4)))
                return [self._one(REPLIES).replace("{}", text), answers]

    def _one(self, values: Sequence[Any]) -> Any:
        return self._draw.choice(values)

    def _blank(self) -> str:
        return self._one(BLANKS)

    def _some(self, make: Callable[[], str], sign: str = ",", most: int = 4) -> str:
        parts = [make() for _ in range(self._draw.randint(0, most))]
        return self._blank() + (self._blank() + sign + self._blank()).join(parts) + self._blank()

    def _scalar(self) -> str:
        quote = self._one('""\'`')
        text = quote + "".join(self._one(PIECES) for _ in range(self._draw.randint(0, 2))) + quote
        return self._one((text, text, self._one(NUMBERS), self._one(NUMBERS), self._one(CODE)))

    def _javascript(self, level: int = 0) -> str:
        def inner() -> str:
            return self._javascript(level + 1)

        def member() -> str:
            key = self._one(("a", "b", "'c'", '"d"', "e-f", self._scalar(), ""))
            return key + self._one((*[":"] * 9, "::", "=")) + self._blank() + inner()

        def lists() -> str:
            return f"[{self._some(self._scalar)}]"

        kind = self._draw.random()
        if level > 2 or kind < 0.35:
            return self._scalar()
        if kind < 0.75:
            opening, closing = self._one((("[", "]"), ("new Array(", ")")))
            return opening + self._some(lists if kind < 0.45 else inner) + closing
        return f"{{{self._some(member)}}}"

    def _java(self, level: int = 0) -> str:
        def inner() -> str:
            return self._java(level + 1)

        def put() -> str:
            return f"put({self._scalar()},{self._blank()}{inner()});"

        word, kind = self._one(ELEMENTS), self._draw.random()
        if level > 2 or kind < 0.35:
            return self._scalar()
        if kind < 0.5:
            return f"new {word}[]{self._blank()}{{{self._some(inner)}}}"
        if kind < 0.6:
            return f"new ArrayList<{word}>(Arrays.asList({self._some(inner)}))"
        opening, closing = self._one(
            (("{{", "}}"), ("{{", "}}"), ("{ {", "} }"), ("{", "}"), ("{{", "}"), ("", ""))
        )
        added = self._some(put if kind > 0.75 else lambda: f"add({inner()});", "", 3)
        words = f"HashMap<String, {word}>" if kind > 0.75 else f"ArrayList<{word}>"
        return f"new {words}{self._blank()}(){self._blank()}{opening}{added}{closing}"

    def _call(self, value: Callable[[], str]) -> str:
        def argument() -> str:
            name = self._one(("x", "y", "z", "a.b", "é", "x[0]"))
            odd = (value(), "x", "true", "A.class", "/*c*/ x=1", "x=/*c*/1", "...y", "x+=1", "const y=1")
            return (
                f"{name}{self._blank()}={self._blank()}{value()}"
                if self._draw.random() < 0.9
                else self._one(odd)
            )

        name = self._one(("f", "A.b", "a.b.c", "new A().b", "f.g().h", "名.f", "A.<T>b", "é"))
        return self._shelled(f"{name}{self._blank()}({self._some(argument)})")

    def _python(self, level: int = 0) -> str:
        def argument() -> str:
            value = (
                self._python(level + 1)
                if level < 2 and self._draw.random() < 0.1
                else self._one(PYTHON_VALUES)
            )
            return self._one((*[f"{self._one('abcd')}={value}"] * 9, value, f"**{value}"))

        return f"{self._one(('f', 'a.b', 'ls', 'g.h.i'))}({self._some(argument, most=3).strip()})"

    def _native(self) -> Any:
        def arguments() -> Any:
            given = {self._one(("a", "b", "c d", "é", "")): self._one(NATIVE_VALUES) for _ in range(2)}
            odd = ("", "[]", "1", "null", "{", "[1]", None, [], 5, '{"a": NaN}', '{"a":1}{}', " {} ")
            return self._one((given, given, json.dumps(given), json.dumps(given), self._one(odd)))

        calls = [{self._one(("ls", "f", "")): arguments()} for _ in range(self._draw.randint(0, 3))]
        return self._one(
            (*[calls] * 7, calls[0] if calls else {}, None, "", "text", [None], ["x"], True, [{}])
        )

    def _shelled(self, text: str) -> str:
        return self._damaged(self._one(SHELLS).replace("{}", text, 1))

    def _damaged(self, text: str) -> str:
        for _ in range(self._one((0, 0, 0, 1, 2)) if text else 0):
            start, end = sorted((self._draw.randrange(len(text) + 1), self._draw.randrange(len(text) + 1)))
            sign = self._one((*"()[]{},:;\"'\n .-=<>/*L", "}}", "))", "é"))
            text = self._one(
                (
                    text[:start] + text[start + 1 :],
                    text[:start] + sign + text[start:],
                    text[:start] + text[end:],
                )
            )
        return self._one(
            (*[text] * 6, f" {text} ", f"{text};", f"({text})", f"{text}.map(x)", f"foo({text})")
        )
