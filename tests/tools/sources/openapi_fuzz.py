"""Hostile OpenAPI documents, drawn by a seed: rings, fans, wrong types in every place, odd names.

`python tests/tools/sources/openapi_fuzz.py --seconds 3600 --seed 1` reads such documents and makes sessions
over them for an hour: each is read or refused with a reason.
"""

import argparse
import json
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

from wildtool.errors import DataError
from wildtool_data.make.core.plan import SessionGenerationSpec
from wildtool_data.make.procedural.sessions import procedural_sessions
from wildtool_data.make.procedural.tool_sets import read_tool_sets, result_schemas

_ODD: tuple[Any, ...] = (
    None, True, 0, -1, 1e308, "", "x", [], {}, [[]], {"": {}}, ["$ref"], {"$ref": 7}, {"$ref": "#"}, "\x1b[2J", "\ud800",
)  # fmt: skip
_USUAL = ("id", "user_id", "name", "city", "start_date", "page size", "userId", "note", "limit", "email")
_NAMES = (
    *_USUAL, *_USUAL, "properties", "type", "items", "required", "$ref", "a\nb", "\x00", "名", "x" * 300, "filter[a]",
)  # fmt: skip
_TYPES = ("number", "boolean", "file", "null", "date", ["string", "null"])
_PLACES = ("components/schemas", "definitions", "components/parameters", "components/responses", "paths")


def document(draw: Random) -> dict[str, Any]:
    """One document: mostly like a real one, with anything at a few places."""
    old = draw.random() < 0.3
    made: dict[str, Any] = {"swagger": "2.0"} if old else {"openapi": draw.choice(("3.0.3", "3.1.0"))}
    names = [f"S{k}" for k in range(draw.choice((1, 3, 8)))]
    schemas = {name: _schema(draw, names, 3, old=old) for name in names}
    made["definitions" if old else "components"] = schemas if old else {"schemas": schemas}
    made["paths"] = {
        f"/r{k}/{{id}}": {
            draw.choice(("get", "post", "put")): _operation(draw, names, old=old),
            **({"parameters": _parameters(draw, names, old=old)} if draw.random() < 0.2 else {}),
        }
        for k in range(draw.randrange(1, 4))
    }
    for _ in range(draw.choice((0, 0, 1, 3))):
        _spoil(draw, made if draw.random() < 0.1 else made["paths"] if draw.random() < 0.5 else schemas)
    return made


def _operation(draw: Random, names: list[str], *, old: bool) -> dict[str, Any]:
    made: dict[str, Any] = {
        "operationId": draw.choice(("getUser", "list users", "bookStay", "", "\x07", None)),
        "summary": draw.choice(("Gets a <b>user</b>.", "x", "&#0;&lt;i&gt;", None)),
        "parameters": _parameters(draw, names, old=old),
        "responses": {draw.choice(("200", 200, "default", "2XX")): _body(draw, names, old=old)},
    }
    if not old:
        made["requestBody"] = {"required": draw.random() < 0.5, **_body(draw, names, old=old)}
    return made


def _parameters(draw: Random, names: list[str], *, old: bool) -> list[Any]:
    made: list[Any] = []
    for _ in range(draw.randrange(4)):
        entry = {
            "name": draw.choice(_NAMES),
            "in": draw.choice(("path", "query", "header", "body", "formData")),
            "required": draw.choice((True, False, "yes")),
        }
        schema = _schema(draw, names, 2, old=old)
        made.append({**entry, **schema, "schema": schema} if old else {**entry, "schema": schema})
    return made


def _body(draw: Random, names: list[str], *, old: bool) -> dict[str, Any]:
    schema = _schema(draw, names, 3, old=old)
    kind = draw.choice(("application/json", "multipart/form-data", "text/xml"))
    return {"schema": schema} if old else {"content": {kind: {"schema": schema}}}


def _schema(draw: Random, names: list[str], levels: int, *, old: bool) -> dict[str, Any]:
    def below() -> dict[str, Any]:
        return _schema(draw, names, levels - 1, old=old)

    if not levels or draw.random() < 0.3:
        place = draw.choice((*["definitions" if old else "components/schemas"] * 9, draw.choice(_PLACES)))
        if draw.random() < 0.3:
            return {"$ref": f"#/{place}/{draw.choice(names)}"}
        leaf: dict[str, Any] = {"type": draw.choice((*["string", "integer"] * 12, *_TYPES))}
        extra: dict[str, Any] = {
            "enum": draw.choice((["a", "b"], [1, None], [], [[1]])),
            "format": draw.choice(("date", "uuid", "binary", "int64")),
            "pattern": draw.choice(("^a+$", "(", "(?=x)")),
            "minimum": draw.choice((1, 1e400, "3")),
            "maximum": draw.choice((0, 5)),
            "default": deepcopy(draw.choice(_ODD)),
        }
        return leaf | {key: extra[key] for key in draw.sample(sorted(extra), draw.randrange(3))}
    joined: dict[str, Callable[[], Any]] = {
        "allOf": lambda: [below() for _ in range(draw.randrange(4))],
        "oneOf": lambda: [below() for _ in range(draw.randrange(4))],
        "anyOf": lambda: [below() for _ in range(draw.randrange(4))],
        "items": below,
        "additionalProperties": below,
    }
    chosen = draw.choice((*joined, "properties", "properties", "properties"))
    if chosen != "properties":
        return {chosen: joined[chosen]()}
    properties = {draw.choice(_NAMES): below() for _ in range(draw.randrange(4))}
    required = draw.sample([*properties, "missing"], draw.randrange(len(properties) + 1))
    return {"type": "object", "properties": properties, "required": required}


def _spoil(draw: Random, made: Any) -> None:
    """Puts anything at a drawn place."""
    at: Any = made
    while isinstance(at, dict | list) and at:
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        key = draw.choice(keys)
        below = at[key]
        if not isinstance(below, dict | list) or not below or draw.random() < 0.2:
            at[key] = deepcopy(draw.choice(_ODD))
            return
        at = below


def fan(width: int, depth: int) -> dict[str, Any]:
    """Schemas of which each holds the next one `width` times: `width ** depth` when written out."""
    schemas: dict[str, Any] = {
        f"S{k}": {
            "type": "object",
            "properties": {f"p{j}": {"$ref": f"#/components/schemas/S{k + 1}"} for j in range(width)},
        }
        for k in range(depth)
    }
    schemas[f"S{depth}"] = {"type": "string"}
    return _posting({"$ref": "#/components/schemas/S0"}, schemas)


def joined_fan(width: int, depth: int) -> dict[str, Any]:
    """As `fan`, with each schema merged from the next one `width` times."""
    schemas: dict[str, Any] = {
        f"S{k}": {"allOf": [{"$ref": f"#/components/schemas/S{k + 1}"}] * width} for k in range(depth)
    }
    schemas[f"S{depth}"] = {"type": "object", "properties": {"name": {"type": "string"}}}
    return _posting({"$ref": "#/components/schemas/S0"}, schemas)


def ring(size: int, keyword: str) -> dict[str, Any]:
    """Schemas that hold each other all around."""
    return _posting(
        {"$ref": "#/components/schemas/S0"},
        {
            f"S{k}": {keyword: [{"$ref": f"#/components/schemas/S{(k + 1) % size}"}]}
            if keyword != "$ref"
            else {"$ref": f"#/components/schemas/S{(k + 1) % size}"}
            for k in range(size)
        },
    )


def _posting(schema: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    """A document of two operations, one of which takes the schema."""
    body = {"required": True, "content": {"application/json": {"schema": schema}}}
    query = {"name": "city", "in": "query", "required": True, "schema": {"type": "string"}}
    return {
        "openapi": "3.0.0",
        "components": {"schemas": schemas},
        "paths": {
            "/a": {"post": {"operationId": "addThing", "summary": "Add a thing.", "requestBody": body}},
            "/b": {"get": {"operationId": "findPlace", "summary": "Find a place.", "parameters": [query]}},
        },
    }


def outcome(path: Path, seed: int) -> str:
    """What becomes of one document. Raises whatever should not be raised."""
    path.write_text(json.dumps(document(Random(seed))))
    try:
        read_tool_sets(path, "en", [].append)
        result_schemas(path)
        list(procedural_sessions(SessionGenerationSpec(1, 2, str(seed), ("en",), path), [].append))
    except DataError as error:
        assert len(str(error)) < 1_000
        return "refused"
    return "read"


def main() -> int:
    """Goes on for the given time; prints what became of the documents, each fault, and the slowest."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    seed, until, slowest = options.seed * 10_000_000, time.monotonic() + options.seconds, 0.0
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < until:
            began, seed = time.process_time(), seed + 1
            try:
                outcomes[outcome(Path(folder) / "api.json", seed)] += 1
            except Exception:  # noqa: BLE001
                outcomes["exception"] += 1
                print(f"seed {seed}\n{traceback.format_exc()}", flush=True)
            slowest = max(slowest, time.process_time() - began)
    print(f"{outcomes.total():,} documents: {dict(outcomes.most_common())}; the slowest took {slowest:.2f} s")
    return 1 if outcomes["exception"] else 0


if __name__ == "__main__":
    sys.exit(main())
