"""Rows of the collections of labelled values as arguments, and which labels ask for more than `fixed` promises."""

from typing import Any

POLICY = {"near-synonym", "enum", "negation", "boolean"}
"""Kinds of the third collection."""
POLICY_REASONS = {
    # Rows of the fourth, by kind and reason: docs/fixed-values.md, "What is not accepted, and why".
    "a text for a value of another type": {
        ("bool", "word"), ("bool", "zero"), ("date", "name for number"), ("id", "number as text"), ("list", "joined"),
        ("list", "wrapped"), ("number", "percent of share"), ("number", "scale"), ("number", "separator"), ("object", "text number"),
    },
    "an empty text for none": {("default", "empty optional"), ("null", "empty vs null")},
    "codes and addresses": {
        ("code", "power"), ("html", "tag case"), ("sql", "space"), ("url", "query order"), ("phone", "country of a Chinese mobile"),
    },
    "translations, codes and short names": {
        ("abbrev", "abbrev"), ("enum", "code"), ("place", "translation"), ("place", "abbrev"), ("query", "abbrev"),
        ("translation", "translation"), ("translation", "endonym"),
    },
    "wider and narrower places": {("place", "same city"), ("place", "country added")},
    "paraphrases": {
        ("date", "paraphrase"), ("enum", "inflection"), ("enum", "suffix"), ("message", "emoji"), ("message", "paraphrase"),
        ("query", "paraphrase"), ("query", "synonym"),
    },
    "arrays that no schema calls sets": {("list", "set")},
}  # fmt: skip


def is_policy(row: dict[str, Any]) -> bool:
    """Whether a refusal of a pair is what the page says, although the pair is labelled as the same."""
    if "properties" not in row:
        return row["kind"] in POLICY
    reason = (row["kind"], row["why"])
    return any(reason in reasons for reasons in POLICY_REASONS.values())


def arguments_of(row: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Arguments of gold and of the reply, and the schema of the parameters."""
    properties = row.get("properties", {"v": {"type": "string"}})
    schema = {"properties": properties, "required": row.get("required", list(properties))}
    gold, reply = row["gold"], row["reply"]
    if row["kind"] != "default":
        name = next(iter(properties))
        gold, reply = {name: gold}, {name: reply}
    return gold, reply, schema
