"""What the readers of sessions have in common."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NamedTuple

from wildtool.shapes.keys import MESSAGES_KEYS, RESULT_WRAPPERS
from wildtool.shapes.reading import Reading

MESSAGES = MESSAGES_KEYS[0]
RESULT = RESULT_WRAPPERS[0]
TAKEN_BACK = "message that the user took back"
FAILED_CALL = "failed call of a model"


class SessionForm(NamedTuple):
    """A form in which programs keep a session as one document."""

    name: str
    """What such a document is."""
    fits: Callable[[Mapping[str, Any]], bool]
    records: Callable[[Mapping[str, Any], Reading], Iterable[Mapping[str, Any]]]
    """The conversations of one document as records."""


def other_keys(row: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
    """What stands under keys that a form does not have."""
    return {key: value for key, value in row.items() if key not in known}
