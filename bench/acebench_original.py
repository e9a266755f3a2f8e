"""A stand-in for ACEBench's published decoder and checkers of Normal replies, for `acebench.py` where no clone is given.

Typed from the specification of the original (its sections 5 and 6): the same passes in the same order, each with a
dictionary as its result, each text normalised by a pattern when it is compared. It is none of the original's code.
"""

import ast
import re
from collections import Counter
from typing import Any

Result = dict[str, Any]
"""`valid`, `error` and `error_type`, as the original's checkers give them."""

TYPES: dict[str, type] = {
    **dict.fromkeys(("string", "any"), str),
    **dict.fromkeys(("integer", "int", "number"), int),
    "float": float,
    "boolean": bool,
    **dict.fromkeys(("array", "tuple", "list", "list(string)", "list(enum)", "objectArray"), list),
    **dict.fromkeys(("dict", "object"), dict),
    "enum": enumerate,
}
WITH_INNER_TYPE = ["array", "tuple", "list(string)", "list(enum)", "object", "objectArray"]


def decode(text: str) -> list[dict[str, Any]]:
    """The calls of a reply as `{name: arguments}`. Raises for anything else."""
    root = ast.parse("".join(text.split()), mode="eval").body
    calls: list[dict[str, Any]] = []
    for element in root.elts:  # type: ignore[attr-defined]
        assert isinstance(element, ast.Call)
        calls.append(_value(element))
    return calls


def _name(callee: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(callee, ast.Attribute):
        parts.append(callee.attr)
        callee = callee.value
    if isinstance(callee, ast.Name):
        parts.append(callee.id)
    return ".".join(reversed(parts))


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant):
        return "..." if node.value is ... else node.value
    if isinstance(node, ast.UnaryOp):
        return -node.operand.value  # type: ignore[attr-defined]
    if isinstance(node, ast.List):
        return [_value(element) for element in node.elts]
    if isinstance(node, ast.Dict):
        return {_value(key): _value(value) for key, value in zip(node.keys, node.values, strict=True) if key}
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Call):
        arguments: dict[str | None, Any] = {}
        for keyword in node.keywords:
            arguments[keyword.arg] = _value(keyword.value)
        return {_name(node.func): arguments}
    if isinstance(node, ast.Tuple):
        return tuple(_value(element) for element in node.elts)
    raise ValueError(f"unsupported: {type(node).__name__}")


def check_calls(functions: Any, calls: list[dict[str, Any]], gold: dict[str, Any]) -> Result:
    """Section 6.1: numbers and names of the calls, then for each gold call a call that passes."""
    if len(calls) != len(gold):
        return _fault("wrong functions number", "another number of calls than expected")
    plain = [{re.sub(r"_\d+$", "", name): arguments} for name, arguments in gold.items()]
    found, expected = _counted(calls), _counted(plain)
    for name in found:
        if name not in expected:
            return _fault("function_mismatch", f"{name} is not expected")
    for name in expected:
        if name not in found:
            return _fault("function_mismatch", f"{name} is missing")
    for name, count in found.items():
        if count != expected[name]:
            return _fault("function_mismatch", f"{count} calls of {name}, expected {expected[name]}")
    result: Result = {"valid": True}
    for full_name, single in zip(list(gold), plain, strict=True):
        described = _described(functions, full_name)
        for call in calls:
            if next(iter(call)) == next(iter(single)):
                result = _check_call(described, call, next(iter(single.values())))
                if result["valid"]:
                    break
            else:
                result = _fault("simple_function_checker:unclear", "another function")
        if not result["valid"]:
            return result
    return result


def _counted(calls: list[dict[str, Any]]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for call in calls:
        counts.update(call.keys())
    return dict(counts)


def _described(functions: Any, name: str) -> Any:
    for function in functions:
        if function["name"] in name:
            return function
    return None


def _check_call(function: Any, call: dict[str, Any], gold: dict[str, Any]) -> Result:
    """Section 6.2."""
    arguments, parameters = next(iter(call.values())), function["parameters"]
    if arguments == {} and parameters == {}:
        return _passed()
    if arguments == {} or parameters == {}:
        return _fault("wrong_param")
    if gold == parameters["properties"]:
        return _passed()
    if gold == {}:
        return _fault("wrong_param")
    name = function["name"]
    if name not in call:
        return _fault("wrong_function_name", f"{name} is expected")
    for required in parameters["required"]:
        if required not in arguments:
            return _fault("lack_args", f"{required} is missing")
    for key, value in arguments.items():
        if key not in parameters["properties"] or key not in gold:
            return _fault("addition_args", f"{key} is not expected")
        result = _check_argument(key, value, gold[key], parameters["properties"][key], name)
        if not result["valid"]:
            return {"valid": False, "error": result["error"], "error_type": result["error_type"]}
    return _passed()


def _check_argument(key: str, value: Any, gold: Any, schema: Any, name: str) -> Result:
    declared = schema["type"]
    expected, inner = TYPES[declared], None
    if declared in WITH_INNER_TYPE:
        try:
            inner = TYPES[schema["items"]["type"]]
        except (KeyError, TypeError):
            inner = TYPES["string" if "string" in declared else "enum" if "enum" in declared else "dict"]
    if declared == "tuple" and type(value) is tuple:
        value = list(value)
    if declared == "float" and type(value) is int:
        value = float(value)
    result = _check_type(key, value, gold, declared, expected, inner, name)
    if not result["valid"] or result["is_variable"]:
        return result
    if expected is dict:
        return _check_object(key, value, gold, name)
    if expected is list and inner is dict:
        return _check_objects(key, value, gold, name)
    if expected is str:
        if _normalised(gold) not in _normalised(value):
            return _fault("value_error:string", f"{key} of {name}: expected {gold}, got {value}")
    elif expected is list and _texts_normalised(value) != _texts_normalised(gold):
        return _fault("value_error:list/tuple", f"{key} of {name}: expected {gold}, got {value!r}")
    return _passed()


def _check_type(
    key: str, value: Any, gold: Any, declared: str, expected: type, inner: type | None, name: str
) -> Result:
    """Section 6.3."""
    result = {**_passed(), "is_variable": False}
    gold_type = type(gold) if gold != "" else None
    variable = gold_type is not None and gold_type != expected
    if value == "true":
        value = True
    if value == "false":
        value = False
    if type(value) is expected:
        if inner is None:
            return {**result, "is_variable": variable}
        for item in gold:
            fits = True
            if type(item) is list:
                for element in value:
                    if not _check_type(key, element, item, str(inner), inner, None, name)["valid"]:
                        fits = False
                        break
            if fits:
                return {**result, "is_variable": variable}
        result = {**_fault("type_error", f"{key}: {declared} of {inner}: {value!r}"), "is_variable": False}
    if gold_type is not None and (type(value) is gold_type or gold == value):
        return {**result, "is_variable": True}
    return {
        **_fault("type_error", f"{key} of {name}: expected {expected}, got {type(value)}"),
        "is_variable": False,
    }


def _check_objects(key: str, values: list[Any], gold: list[Any], name: str) -> Result:
    if len(values) != len(gold):
        return _fault("value_error:list_dict_count", f"{key} of {name}: expected {gold}, got {values}")
    for value, expected in zip(values, gold, strict=True):
        result = _check_object(key, value, expected, name)
        if not result["valid"]:
            return result
    return _passed()


def _check_object(key: str, value: Any, gold: dict[str, Any], name: str) -> Result:
    """Section 6.4, compare objects."""
    if not isinstance(value, dict) or len(list(value.keys())) != len(list(gold.keys())):
        return _fault("value_error", f"{key} of {name}: expected {gold}, got {value}")
    for field, element in value.items():
        if element == "true":
            element = True
        if element == "false":
            element = False
        if field not in gold:
            return _fault("value_error", f"{key} of {name}: expected {gold}, got {value}")
        expected = gold[field]
        if isinstance(expected, dict):
            result = _check_object(key, element, expected, name)
            if not result["valid"]:
                return result
            continue
        written = _normalised(element) if type(element) is str else element
        expected = _normalised(expected) if type(expected) is str else expected
        if str(expected) not in str(written):
            return _fault("value_error", f"{key} of {name}: expected {gold}, got {value}")
    return _passed()


def _normalised(text: str) -> str:
    return re.sub(r"[ ,./\-_*^]", "", text).lower().replace("'", '"')


def _texts_normalised(values: list[Any]) -> list[Any]:
    return [_normalised(value) if type(value) is str else value for value in values]


def _passed() -> Result:
    return {"valid": True, "error": [], "error_type": ""}


def _fault(error_type: str, *errors: str) -> Result:
    return {"valid": False, "error": list(errors), "error_type": error_type}
