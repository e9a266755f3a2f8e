"""Tools that we wrote, in English and Chinese: distractors, and those of attackers."""

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from wildtool.types import Tool


def own_records(kind: str, name: str) -> list[dict[str, Any]]:
    """The records of a JSON file beside an alteration."""
    return json.loads(files("wildtool.alter").joinpath(kind, name).read_text("utf-8"))


def bilingual_tool(record: Mapping[str, Any], lang: str) -> Tool:
    """A tool that we wrote, in one language.

    Args:
        record: name, description by language, `parameters` (each with type, descriptions and perhaps `enum`), `required`.
        lang: `zh`; any other gives English.
    """
    lang = "zh" if lang == "zh" else "en"
    properties = {
        name: {
            "description" if key == lang else key: parameter[key]
            for key in ("type", lang, "enum")
            if key in parameter
        }
        for name, parameter in record["parameters"].items()
    }
    return {
        "type": "function",
        "function": {
            "name": record["name"],
            "description": record[lang],
            "parameters": {
                "type": "object",
                "properties": properties,
                "required": record["required"],
            },
        },
    }
