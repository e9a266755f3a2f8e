"""Named gaps of drafts that were made of real conversations: what people have to add or check by hand."""

from collections.abc import Iterator
from typing import Any

from wildtool.errors import DataError
from wildtool.findings import Finding, fault
from wildtool.json_codec import as_list, as_object, as_objects
from wildtool_data.pointers import ABSENT, content_digest, value_at

_MADE_BY = "made_by"
_GAPS = "gaps"


def gap(kind: str, field: str, message: str) -> dict[str, Any]:
    """A gap as a draft names it.

    Args:
        kind: what it is, such as `missing answer`.
        field: JSON pointer of the part that people have to change.
    """
    return {"kind": kind, "field": field, "message": message}


def with_gaps(record: dict[str, Any], gaps: list[dict[str, Any]]) -> dict[str, Any]:
    """A draft that names its gaps, each with the digest of the part as it is now."""
    rows = [{**row, "was": _digest(record, row["field"])} for row in gaps]
    return {**record, _MADE_BY: {**as_object(record.get(_MADE_BY)), _GAPS: rows}}


def open_gaps(content: Any) -> Iterator[Finding]:
    """The gaps whose part nobody has changed yet. Never raises."""
    record = as_object(content)
    for row in as_objects(as_list(as_object(record.get(_MADE_BY)).get(_GAPS))):
        field = row.get("field")
        if isinstance(field, str) and row.get("was") == _digest(record, field):
            yield fault(str(row.get("kind")), str(row.get("message")), field, "warning")


def _digest(record: Any, field: str) -> str | None:
    try:
        value = value_at(record, field)
    except DataError:
        return None
    return None if value is ABSENT else content_digest(value)[:16]
