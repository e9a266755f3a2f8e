"""Rows of the collections of labelled values as arguments, and which labels ask for more than `fixed` promises."""

from typing import Any

POLICY = {"near-synonym", "enum", "negation", "boolean"}
"""Kinds of the third collection."""
POLICY_REASONS = {
    "bool": ("word", "zero"),
    "date": ("name for number", "paraphrase"),
    "default": ("empty optional",),
    "null": ("empty vs null",),
    "id": ("number as text",),
    "object": ("text number",),
    "number": ("percent of share", "scale", "separator"),
    "list": ("joined", "wrapped", "set"),
    "code": ("power",),
    "html": ("tag case",),
    "sql": ("space",),
    "url": ("query order",),
    "phone": ("country of a Chinese mobile",),
    "abbrev": ("abbrev",),
    "enum": ("code", "inflection", "suffix"),
    "place": ("translation", "abbrev", "same city", "country added"),
    "translation": ("translation", "endonym"),
    "query": ("abbrev", "paraphrase", "synonym"),
    "message": ("emoji", "paraphrase"),
}
"""Reasons of the labels of the fourth, by kind: what the page names under "What is not accepted, and why"."""


def is_policy(row: dict[str, Any]) -> bool:
    """Whether a refusal of a pair is what the page says, although the pair is labelled as the same."""
    if "properties" not in row:
        return row["kind"] in POLICY
    return row["why"] in POLICY_REASONS.get(row["kind"], ())


def arguments_of(row: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Arguments of gold and of the reply, and the schema of the parameters."""
    properties = row.get("properties", {"v": {"type": "string"}})
    schema = {"properties": properties, "required": row.get("required", list(properties))}
    gold, reply = row["gold"], row["reply"]
    if row["kind"] != "default":
        name = next(iter(properties))
        gold, reply = {name: gold}, {name: reply}
    return gold, reply, schema
