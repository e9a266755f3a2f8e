"""Right answers as a model would write them, natively or in brackets, from the accepted values."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from wildtool.benchmarks.bfcl.categories import Language
from wildtool.benchmarks.bfcl.checker import SYNTAXES
from wildtool.benchmarks.bfcl.decode import DecodeError
from wildtool.benchmarks.bfcl.languages.java import decode_java
from wildtool.benchmarks.bfcl.languages.javascript import decode_javascript
from wildtool.benchmarks.bfcl.records import AcceptedCall, BfclEntry, native_name
from wildtool.json_codec import as_list, as_object, as_objects
from wildtool.toolcall.call_mutants import calls_message, made_call
from wildtool.types import Message

NO_CALL = "None of the functions can be used for this request."
DECODERS: Mapping[Language, Callable[[str], Any]] = {"java": decode_java, "javascript": decode_javascript}
_ARRAYS: Mapping[str, str] = {"integer": "int", "any": "Object"}
"""Java's names for elements of arrays, where the documents have others."""

PlainCall = tuple[str, dict[str, Any]]
"""A function's name and its arguments: values, in Java and JavaScript the texts of values."""


def first_accepted_calls(record: BfclEntry, *, native: bool) -> list[PlainCall]:
    """The expected calls with the first accepted values; where any call is right, one of the first function.

    Args:
        native: whether they are native calls, whose texts of values in Java and JavaScript have no quotes of their own.
    """
    if record.category.kind == "irrelevance":
        return []
    if record.category.kind == "relevance":
        return [(record.functions[0]["name"], {})]
    return [_gold_call(record, answer, native) for answer in record.answers]


def _gold_call(record: BfclEntry, answer: AcceptedCall, native: bool) -> PlainCall:
    ((name, accepted),) = answer.items()
    document = next((each for each in record.functions if each["name"] == name), record.functions[0])
    parameters = as_object(document["parameters"])
    properties, required = as_object(parameters.get("properties")), as_list(parameters.get("required"))
    arguments: dict[str, Any] = {}
    for parameter, values in accepted.items():
        ways = [value for value in as_list(values) if value != ""] if isinstance(values, list) else [values]
        if "" in values and (parameter not in properties or not ways) and parameter not in required:
            continue  # it may be left out
        value = ways[0] if ways else ""
        schema = as_object(properties.get(parameter))
        arguments[parameter] = _gold_value(value, schema, record.language, native)
    return document["name"], arguments


def _gold_value(value: Any, schema: Mapping[str, Any], language: Language, native: bool) -> Any:
    """A value as it is given in a call."""
    if isinstance(value, dict):
        value = _first_of_each(cast(dict[str, Any], value))
    elif isinstance(value, list) and as_object(schema.get("items")).get("type") == "dict":
        value = [_first_of_each(element) for element in as_objects(cast(Any, value))]
    if language == "python":
        return cast(Any, value)
    word, nested = str(schema.get("type")), as_object(schema.get("items")).get("type")
    texts = list(_texts(value, word, nested, language, native))
    return next(
        (text for text in texts if _reads_back(text, value, word, nested, language, native)), texts[0]
    )


def _first_of_each(accepted: Mapping[str, Any]) -> dict[str, Any]:
    """An object with the first accepted value of each of its members."""
    first_choices: dict[str, Any] = {}
    for key, values in accepted.items():
        choices = [value for value in as_list(values) if value != ""]
        if choices or not isinstance(values, list):
            first_choices[key] = choices[0] if choices else values
    return first_choices


def _reads_back(text: str, value: Any, word: str, nested: Any, language: Language, native: bool) -> bool:
    syntax = SYNTAXES[language]
    try:
        if not native:
            decoded: Any = DECODERS[language](f"[function_name(value={text})]")
            text = decoded[0]["function_name"]["value"]
        return syntax.convert is not None and syntax.convert(text, word, nested) == value
    except (DecodeError, ValueError, NotImplementedError, LookupError, TypeError):
        return False  # such as for types that the published rules cannot convert


def _texts(value: Any, word: str, nested: Any, language: Language, native: bool) -> Iterator[str]:
    """The ways to write a value, the likeliest first."""
    if isinstance(value, bool):
        yield str(value).lower()
    elif isinstance(value, int | float | list | dict):
        yield _WRITERS[language](value, word, nested)
    else:
        if not native:
            yield json.dumps(str(value), ensure_ascii=False)
        yield str(value)


def _java_text(value: Any, word: str, nested: Any) -> str:
    match value:
        case int() if word == "long":
            return f"{value}L"
        case int() | float() if word == "float":
            return f"{value}f"
        case list():
            texts = (_texts(element, str(nested), None, "java", False) for element in cast(list[Any], value))
            elements = ", ".join(map(next, texts))
            kind = _ARRAYS.get(str(nested), str(nested))
            is_array = word == "Array"
            return (
                f"new {kind}[]{{{elements}}}" if is_array else f"new ArrayList<>(Arrays.asList({elements}))"
            )
        case dict():
            puts = (
                f"put({json.dumps(key)}, {next(_texts(one, 'any', None, 'java', False))});"
                for key, one in cast(dict[str, Any], value).items()
            )
            return f"new HashMap<String, Object>() {{{{ {' '.join(puts)} }}}}"
        case _:
            return str(value)


def _javascript_text(value: Any, word: str, nested: Any) -> str:
    match value:
        case int() if word == "Bigint":
            return f"{value}n"
        case int() if word == "float":
            return f"{value}.0"
        case _:
            return json.dumps(value, ensure_ascii=False)


_WRITERS = {"java": _java_text, "javascript": _javascript_text}


# Replies ----------------------------------------------------------------------------------------------


def fc_message(calls: Sequence[PlainCall]) -> Message:
    """A reply with native calls; a text where there are none."""
    if not calls:
        return {"role": "assistant", "content": NO_CALL}
    texts = ((native_name(name), json.dumps(arguments, ensure_ascii=False)) for name, arguments in calls)
    tool_calls = (made_call(*text, {"id": f"call_{number}"}) for number, text in enumerate(texts, 1))
    return calls_message([*tool_calls])


def written_message(calls: Sequence[PlainCall], language: Language) -> Message:
    """A reply with calls in brackets; a text where there are none."""
    show = repr if language == "python" else str
    texts = (
        f"{name}({', '.join(f'{key}={show(value)}' for key, value in arguments.items())})"
        for name, arguments in calls
    )
    return {"role": "assistant", "content": f"[{', '.join(texts)}]" if calls else NO_CALL}
