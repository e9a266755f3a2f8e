"""Scripted models for the roles that make tools: they design, evolve and call right, or wrong in one way."""

import copy
from collections.abc import Mapping
from random import Random
from typing import Any

from generate.scripted import Scripted
from wildtool.tools.schema.patterns import sample
from wildtool_data.make.core.prompts import templates
from wildtool_data.make.tools.api import API_PARAMETER_CLASSES
from wildtool_data.make.tools.operators import OPERATORS
from wildtool_data.make.tools.script import API_PROMPTS

MARKET = """# Markets

## Stalls
A stall is let for a day. Stall keepers book a stall and pay for it.

## Goods
Goods are weighed before they are sold.
"""


class ApiPlayers(Scripted):
    """Plays all roles; what it says follows from the request alone."""

    def right(self, role: str, instruction: str, seen: dict[str, Any], draw: Random) -> Any:
        return _PLAYED[role](instruction, seen, draw)


def _word(draw: Random, syllables: int = 4) -> str:
    return "".join(draw.choice("bdfgklmnprstvz") + draw.choice("aeiou") for _ in range(syllables))


def _lang(instruction: str) -> str:
    return "zh" if "只用一个JSON对象回答" in instruction else "en"


def _sentence(draw: Random, lang: str) -> str:
    if lang == "zh":
        return "处理" + "".join(chr(draw.randrange(0x4E00, 0x9FA0)) for _ in range(12)) + "。"
    return f"Deals with {' '.join(_word(draw) for _ in range(6))}."


def parameter(atom: str, about: str, draw: Random) -> dict[str, Any]:
    """A schema of a class, described."""
    text = {"type": "string", "description": about}
    inner = {_word(draw): dict(text), _word(draw): {"type": "integer", "description": about}}
    return {
        "text": text,
        "number": {"type": "number", "description": about, "minimum": 1, "maximum": 90},
        "enum": {"type": "string", "description": about, "enum": [_word(draw) for _ in range(4)]},
        "list": {"type": "array", "description": about, "items": {"type": "string", "pattern": "^[A-Z]{3}$"}},
        "bool": {"type": "boolean", "description": about},
        "object_short": {"type": "object", "description": about, "properties": inner, "required": []},
        "object_deep": {
            "type": "object",
            "description": about,
            "properties": {
                **inner,
                "part": {"type": "object", "description": about, "properties": dict(inner)},
            },
        },
    }[atom]


def design(draw: Random, lang: str, target: str = "text", count: int = 2) -> dict[str, Any]:
    """A right API with a parameter of a class, after as many others."""
    classes = [*["text"] * (count - 1), target]
    properties = {_word(draw): parameter(atom, _sentence(draw, lang), draw) for atom in classes}
    returns = {
        "type": "object",
        "properties": {f"{_word(draw)}_id": parameter("text", _sentence(draw, lang), draw)},
    }
    return {
        "name": f"get{_word(draw).capitalize()}",
        "description": _sentence(draw, lang),
        "parameters": {"type": "object", "properties": properties, "required": list(properties)[:1]},
        "returns": returns,
    }


def evolve(
    api: dict[str, Any], operator: str, draw: Random, lang: str, target: str = "text"
) -> dict[str, Any]:
    """An API evolved in one way, with words of its own."""
    child = copy.deepcopy(api)
    child["name"], child["description"] = f"get{_word(draw).capitalize()}", _sentence(draw, lang)
    properties: dict[str, Any] = child["parameters"]["properties"]
    first = next(iter(properties))
    if operator == "change return":
        child["returns"]["properties"][_word(draw)] = parameter("text", _sentence(draw, lang), draw)
    elif operator == "add parameter":
        properties[_word(draw)] = parameter(target, _sentence(draw, lang), draw)
    elif operator == "add constraint":
        _constrain(properties)
    elif operator == "change type":
        other = target if target != "text" else "list"
        wrong = next(
            (
                n
                for n, s in properties.items()
                if s["type"] != parameter(other, "", draw)["type"] or other == "enum"
            ),
            first,
        )
        properties[wrong] = parameter(other, _sentence(draw, lang), draw)
    elif operator == "add function":
        child["parameters"] = {
            "type": "object",
            "properties": {first: properties[first]},
            "required": [first],
        }
    return child


def _constrain(properties: dict[str, Any]) -> None:
    """Gives a parameter a constraint that it has not."""
    for schema in properties.values():
        if schema["type"] == "string" and "pattern" not in schema:
            schema["pattern"] = "^[a-zA-Z]{2,30}$"
            return
        if schema["type"] == "boolean" and "enum" not in schema:
            schema["enum"] = [True, False]
            return


def call(schema: Mapping[str, Any], draw: Random) -> Any:
    """A value that a schema allows."""
    if "enum" in schema:
        return draw.choice(schema["enum"])
    if "pattern" in schema:
        return sample(schema["pattern"], draw)
    kind = schema["type"]
    if kind == "object":
        return {name: call(child, draw) for name, child in schema.get("properties", {}).items()}
    if kind == "array":
        return [call(schema["items"], draw)]
    return {"string": _word(draw), "boolean": True, "integer": 7, "number": 7.5}[kind]


def _block(instruction: str, role: str, names: Any) -> str:
    """Which of some blocks an instruction ends in."""
    parts = templates("zh" if _lang(instruction) == "zh" else "en", API_PROMPTS)[role]
    return next((name for name in names if parts[name] in instruction), "")


def _designer(instruction: str, seen: dict[str, Any], draw: Random) -> Any:
    lang = _lang(instruction)
    target = _block(instruction, "designer", API_PARAMETER_CLASSES) or "text"
    found = {"functions": [_sentence(draw, lang)[:30]], "subdomains": [_sentence(draw, lang)[:25]]}
    return {
        "function": _sentence(draw, lang)[:40],
        "api": design(draw, lang, target, seen["parameters"][1]),
        "found": found,
    }


def _evolver(instruction: str, seen: dict[str, Any], draw: Random) -> Any:
    lang = _lang(instruction)
    operator = _block(instruction, "evolver", OPERATORS)
    target = _block(instruction, "evolver", API_PARAMETER_CLASSES) or "text"
    return {"function": _sentence(draw, lang)[:40], "api": evolve(seen["api"], operator, draw, lang, target)}


def _caller(instruction: str, seen: dict[str, Any], draw: Random) -> Any:
    return {"arguments": call(seen["api"]["parameters"], draw)}


def _reader(instruction: str, seen: dict[str, Any], draw: Random) -> Any:
    domains: list[dict[str, Any]] = []
    for line in seen["passage"].splitlines():
        if line.startswith("# "):
            domains.append({"name": line[2:], "subdomains": []})
        elif line.startswith("## ") and domains:
            domains[-1]["subdomains"].append(
                {"name": line[3:], "quote": line[3:], "functions": [f"weigh {line[3:]}"]}
            )
    return {"domains": domains}


_PLAYED = {"designer": _designer, "evolver": _evolver, "caller": _caller, "reader": _reader}
