"""A small BFCL in its own files: entries that we wrote, one or two of each kind."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wildtool.benchmarks.bfcl.categories import BFCL_CATEGORIES

Schema = dict[str, Any]


def function(called: str, required: Sequence[str] = (), /, **parameters: Schema) -> dict[str, Any]:
    return {
        "name": called,
        "description": f"Does {called}.",
        "parameters": {"type": "dict", "properties": parameters, "required": list(required)},
    }


BOOK = function(
    "hotel.book",
    ["city", "nights"],
    city={"type": "string", "description": "Where."},
    nights={"type": "integer", "description": "How many."},
    price={"type": "float", "description": "At most."},
    extras={"type": "array", "items": {"type": "string"}, "description": "What else."},
)
RING = function("ring", ["name"], name={"type": "string", "description": "Who."})
JAVA = function(
    "Store.put",
    ["keys", "limit"],
    keys={"type": "Array", "items": {"type": "String"}, "description": "Keys."},
    limit={"type": "long", "description": "Limit."},
    options={"type": "HashMap", "description": "Options."},
)
JAVASCRIPT = function(
    "draw", ["points"], points={"type": "array", "items": {"type": "float"}, "description": "Points."}
)

STAY = {"hotel.book": {"city": ["Rome"], "nights": [3], "price": [80.5, ""], "extras": [["sea view"], ""]}}
LATER = {"hotel.book": {"city": ["Oslo", "Rome"], "nights": [3], "price": [""], "extras": [""]}}

Entry = tuple[str, Sequence[dict[str, Any]], Sequence[Mapping[str, Any]] | None]
ENTRIES: Mapping[str, Sequence[Entry]] = {
    "simple_python": [("simple_python_0", [BOOK], [STAY])],
    "simple_java": [
        (
            "simple_java_0",
            [JAVA],
            [{"Store.put": {"keys": [["a", "b"]], "limit": [5], "options": [{"k": ["v"]}, ""]}}],
        )
    ],
    "simple_javascript": [("simple_javascript_0", [JAVASCRIPT], [{"draw": {"points": [[1.5, 2.0]]}}])],
    "multiple": [("multiple_0", [RING, BOOK], [STAY])],
    "parallel": [("parallel_0", [BOOK], [LATER, STAY])],
    "parallel_multiple": [("parallel_multiple_0", [BOOK, RING], [STAY, {"ring": {"name": ["Ann"]}}])],
    "irrelevance": [("irrelevance_0", [RING], None)],
    "live_relevance": [("live_relevance_0-0-0", [RING], None)],
}


def write_data(folder: Path, version: str = "v4", entries: Mapping[str, Sequence[Entry]] = ENTRIES) -> Path:
    """The files of a version in the original's layout; returns their folder."""
    answers = folder / "possible_answer"
    answers.mkdir(parents=True)
    for name, found in entries.items():
        file = BFCL_CATEGORIES[name].file_name(version)
        questions = [
            {"id": key, "question": [[{"role": "user", "content": f"Please, {key}."}]], "function": functions}
            for key, functions, _ in found
        ]
        (folder / file).write_text("\n".join(map(json.dumps, questions)), "utf-8")
        truths = [{"id": key, "ground_truth": truth} for key, _, truth in found if truth is not None]
        if truths:
            (answers / file).write_text("\n".join(map(json.dumps, truths)), "utf-8")
    return folder
