"""The 26 forms of prompts of format sensitivity: how calls are to be written, how functions are documented, and how
the prompt is laid out and worded. The first of the default values is what all other categories use.
"""

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from wildtool.benchmarks.bfcl.decode import DecodeError, bracketed, decode_python
from wildtool.benchmarks.bfcl.gold import PlainCall, written_message
from wildtool.json_codec import as_list, as_object
from wildtool.toolcall.call_syntax import MAX_CALL_CHARACTERS, CallSyntaxError, parse_expression
from wildtool.types import Message

_BRACKETS = re.compile(r"\[.*\]", re.DOTALL)
_FIRST_OBJECT, _LAST_OBJECT = re.compile(r"\[\s*\{"), re.compile(r"\}\s*\]")


def decode_form(form: str, text: str, *, tagged: bool) -> list[Any]:
    """The calls of a text in one of `CALL_FORMS`.

    Args:
        tagged: whether they must be inside of `<TOOLCALL>…</TOOLCALL>`; otherwise they may be.

    Raises:
        DecodeError: they cannot be read.
    """
    if len(text) > MAX_CALL_CHARACTERS:
        raise DecodeError(f"longer than {MAX_CALL_CHARACTERS} characters")
    text = bracketed(text)
    return CALL_FORMS[form](untagged(text).strip() if tagged else text)


def untagged(text: str) -> str:
    """What is inside of `<TOOLCALL>…</TOOLCALL>`. Raises DecodeError."""
    inside = _between(text, "<TOOLCALL>", "</TOOLCALL>")
    if inside is None:
        raise DecodeError("no <TOOLCALL> around the calls")
    return inside


def _between(text: str, start: str, end: str) -> str | None:
    """The text between two signs, each at its first place; None where one is missing. In one pass."""
    _, mark, rest = text.partition(start)
    inside, closed, _ = rest.partition(end)
    return inside if mark and closed else None


def decode_json(text: str) -> list[Any]:
    """The first list of objects with `function` and `parameters`; none where it is no JSON.

    As published, the list ends at the first `}` before a `]`, be it that of an argument (F1).
    """
    match = _BRACKETS.search(text)
    text = match[0] if match else text
    first = _FIRST_OBJECT.search(text)
    last = _LAST_OBJECT.search(text, first.end()) if first else None
    try:
        value = json.loads(text[first.start() : last.end()] if first and last else text)
    except (ValueError, RecursionError):
        return []  # as the original, which takes any other text for a reply without calls
    return _json_calls(value)


def decode_json_fully(text: str) -> list[Any]:
    """As `decode_json`, but a list ends where it does in JSON."""
    start = re.search(r"\[\s*\{", bracketed(text))
    try:
        value, _ = json.JSONDecoder().raw_decode(bracketed(text), start.start() if start else 0)
    except (ValueError, RecursionError):
        return []
    return _json_calls(value)


def _json_calls(value: Any) -> list[Any]:
    if isinstance(value, dict | str):
        return []  # as the original, which looks for calls among the keys or letters
    if not isinstance(value, list):
        raise DecodeError("no list of calls")
    calls: list[Any] = []
    for call in (as_object(element) for element in cast(list[Any], value) if isinstance(element, dict)):
        if not {"function", "parameters"} <= call.keys():
            raise DecodeError("a call without function or parameters")
        if isinstance(call["function"], dict | list):
            raise DecodeError("the name of a function is a list or an object")
        calls.append({call["function"]: call["parameters"]})
    return calls


def _xml_calls(text: str, *, verbose: bool) -> list[Any]:
    """`<functions>`. Args: verbose: whether values are attributes of parameters, not the texts inside."""
    from xml.etree import ElementTree  # few categories need it

    inside = _between(text, "<functions>", "</functions>")
    if inside is None:
        raise DecodeError("no <functions>")
    try:  # entities that expand cannot be declared inside of an element
        root = ElementTree.fromstring(f"<functions>{inside}</functions>")
    except (ElementTree.ParseError, ValueError, RecursionError) as error:
        raise DecodeError(f"no XML ({error})") from error
    calls: list[Any] = []
    for function in root.findall("function"):
        name = function.get("name")
        if name is None:
            raise DecodeError("a function without a name")
        arguments: dict[str | None, Any] = {}
        inner = function.find("params") if verbose else None
        for parameter in (function if inner is None else inner).findall("param"):
            key = parameter.get("name")
            if key is None and not verbose:
                raise DecodeError("a parameter without a name")
            value = parameter.get("value", "") if verbose else (parameter.text or "").strip()
            arguments[key] = _typed(value, parameter.get("type", "string"))
        calls.append({name: arguments})
    return calls


def _typed(text: str, word: str) -> Any:
    """A value by its type word. Raises DecodeError where the text is none of the type."""
    try:
        match word:
            case "integer":
                return int(text)
            case "float":
                return float(text)
            case "boolean":
                return text.lower() == "true"
            case "null":
                return None
            case "array" | "tuple" | "object" | "dict":
                return ast.literal_eval(parse_expression(text.lstrip(" \t")))
            case _:
                return text
    except (CallSyntaxError, ValueError, TypeError, RecursionError) as error:
        raise DecodeError(f"{text!r:.60} is no {word}") from error


CALL_FORMS: Mapping[str, Callable[[str], list[Any]]] = {
    "json": decode_json,
    "verbose_xml": partial(_xml_calls, verbose=True),
    "concise_xml": partial(_xml_calls, verbose=False),
}

Document = Mapping[str, Any]
Documents = Sequence[Document]


@dataclass(frozen=True, slots=True)
class PromptForm:
    """One form."""

    calls: str = "python"
    """How calls are written: `python`, `json`, `verbose_xml` or `concise_xml`."""
    tagged: bool = False
    """Whether they are inside of `<TOOLCALL>…</TOOLCALL>`."""
    documents: str = "json"
    """How functions are documented: `python`, `xml` or `json`."""
    layout: str = "plaintext"
    """`plaintext` or `markdown`."""
    style: str = "classic"
    """The wording: `classic` or `experimental`."""

    @property
    def name(self) -> str:
        """Its name as a unit of an item."""
        tag = "tag" if self.tagged else "no-tag"
        return "/".join((self.calls, tag, self.documents, self.layout, self.style))

    def parts(self) -> Mapping[str, str]:
        """Its values under the original's names."""
        values = (self.calls, str(self.tagged), self.documents, self.layout, self.style)
        return dict(
            zip(("ret_fmt", "tool_call_tag", "func_doc_fmt", "prompt_fmt", "style"), values, strict=True)
        )

    def decode(self, text: str) -> list[Any]:
        """The calls of a reply. Raises DecodeError."""
        if self.calls != "python":
            return decode_form(self.calls, text, tagged=self.tagged)
        if self.tagged:
            return decode_python(untagged(text).strip().strip("'"), bare=True)
        return decode_python(text)

    def message(self, calls: Sequence[PlainCall]) -> Message:
        """A reply that makes these calls."""
        if not calls:
            return written_message(calls, "python")
        text = _WRITERS[self.calls](calls)
        return {"role": "assistant", "content": f"<TOOLCALL>{text}</TOOLCALL>" if self.tagged else text}


DEFAULT_FORM = PromptForm()
PROMPT_FORMS: Mapping[str, PromptForm] = {
    form.name: form
    for form in (
        *(
            PromptForm(calls, tagged, documents)
            for calls in ("python", "json", "verbose_xml", "concise_xml")
            for tagged in (True, False)
            for documents in ("python", "xml", "json")
        ),
        PromptForm(layout="markdown"),
        PromptForm(style="experimental"),
    )
}
"""By name, in the original's order."""


def with_system(messages: Sequence[Message], text: str) -> list[Message]:
    """Messages with a text before their system message, or as a new one."""
    if messages and messages[0]["role"] == "system":
        first = {**messages[0], "content": f"{text}\n\n{messages[0]['content']}"}
        return [first, *messages[1:]]
    return [{"role": "system", "content": text}, *messages]


# Documents of functions, as the original writes them ------------------------------------------------------


def documents_text(documents: Documents, form: str) -> str:
    """Function documents as the prompt lists them. Args: form: `json`, `python` or `xml`."""
    if form == "json":
        return json.dumps(documents, indent=4)
    if form == "python":
        return "\n\n".join(part for document in documents for part in (_python_document(document), "\n"))
    return "\n".join("".join(_xml_document(document)) for document in documents)


def _python_document(document: Document) -> str:
    properties = as_object(document["parameters"].get("properties"))
    arguments = "".join(
        line for name, schema in properties.items() for line in _python_lines(name, schema, 8)
    )
    head = f'# Function: {document["name"]}\n    """\n    {document.get("description", "")}\n\n'
    return f'{head}{"    Args:" if arguments else ""}{chr(10) if arguments else ""}{arguments}    """\n'


def _python_lines(name: str, schema: Document, indent: int) -> Iterator[str]:
    default = f", default={schema['default']!r}" if "default" in schema else ""
    yield f"{' ' * indent}{name} ({_python_type(schema)}{default}): {_described(schema)}\n"
    for child, inner in as_object(schema.get("properties")).items():
        yield from _python_lines(child, inner, indent + 4)


_PYTHON_TYPES = {"string": "str", "number": "float", "integer": "int", "boolean": "bool"}


def _python_type(schema: Document) -> str:
    word = schema.get("type", "string")
    if word in ("array", "list", "tuple") and "items" in schema:
        return f"list[{_python_type(schema['items'])}]"
    if word in ("object", "dict"):
        more = schema.get("additionalProperties")
        return f"dict[str, {_python_type(as_object(more))}]" if isinstance(more, dict) else "dict"
    return _PYTHON_TYPES.get(word, word)


def _described(schema: Document) -> str:
    members = f" Enum values: {schema['enum']}." if "enum" in schema else ""
    return f"{schema.get('description', '')}{members}"


def _xml_document(document: Document) -> Iterator[str]:
    yield f'<function name="{document["name"]}">\n  <desc>{document.get("description", "")}</desc>\n  <params>\n'
    parameters = document["parameters"]
    for name, schema in as_object(parameters.get("properties")).items():
        yield from _xml_parameter(name, schema, parameters.get("required"), 4)
    yield "  </params>\n</function>\n"


def _xml_parameter(name: str, schema: Document, required: Any, indent: int) -> Iterator[str]:
    """Args: required: names of the required ones beside it; None where all are."""
    space, word = " " * indent, schema.get("type", "string")
    items, more = as_object(schema.get("items")), schema.get("additionalProperties")
    if "type" in items:
        word = f"{word}[{items['type']}]"
    elif isinstance(more, dict):
        word = f"{word}[{cast(Document, more).get('type', 'string')}]"
    needed = "true" if required is None or name in as_list(required) else "false"
    default = f' default="{schema["default"]!r}"' if "default" in schema else ""
    # The original writes no comma in a tag.
    attributes = f'name="{name}" type="{word}" required="{needed}"{default}'.replace(",", "")
    yield f"{space}<param {attributes}>\n{space}  <desc>{_described(schema)}</desc>\n"
    if "properties" in schema:
        yield f"{space}  <params>\n"
        for child, inner in as_object(schema["properties"]).items():
            yield from _xml_parameter(child, inner, schema.get("required"), indent + 4)
        yield f"{space}  </params>\n"
    yield f"{space}</param>\n"


# Calls as a model writes them ---------------------------------------------------------------------------

_WORDS: Mapping[str, str] = {
    "bool": "boolean",
    "int": "integer",
    "float": "float",
    "list": "array",
    "tuple": "tuple",
    "dict": "dict",
    "NoneType": "null",
}


def _xml_text(calls: Sequence[PlainCall], *, verbose: bool) -> str:
    from xml.sax.saxutils import quoteattr  # it brings a client for HTTP

    functions: list[str] = []
    for name, arguments in calls:
        parameters = "".join(_xml_value(key, value, verbose=verbose) for key, value in arguments.items())
        parameters = f"<params>{parameters}</params>" if verbose else parameters
        functions.append(f"<function name={quoteattr(name)}>{parameters}</function>")
    return f"<functions>{''.join(functions)}</functions>"


def _xml_value(key: str, value: Any, *, verbose: bool) -> str:
    from xml.sax.saxutils import escape, quoteattr

    text, head = str(value), f"<param name={quoteattr(key)}"
    word = _WORDS.get(type(value).__name__, "string")
    if verbose:
        entities = {"\n": "&#10;", "\t": "&#9;", "\r": "&#13;"}
        return f'{head} value={quoteattr(text, entities)} type="{word}"/>'
    return f'{head} type="{word}">{escape(text)}</param>'


_WRITERS: Mapping[str, Callable[[Sequence[PlainCall]], str]] = {
    "python": lambda calls: written_message(calls, "python")["content"],
    "json": lambda calls: json.dumps([{"function": name, "parameters": values} for name, values in calls]),
    "verbose_xml": partial(_xml_text, verbose=True),
    "concise_xml": partial(_xml_text, verbose=False),
}
