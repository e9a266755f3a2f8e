"""One question to a judge: a conversation whose end is known to be right or wrong."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from wildtool.data.files import read_packed_lines
from wildtool.errors import DataError
from wildtool.json_codec import dumps
from wildtool.types import Message, Tool

Tier = Literal["gold", "near miss", "meaning", "contract", "wire", "policy", "wrong only if"]
"""What a label rests on. `gold` and `near miss` are right; of the others only `meaning` counts for the headline."""
RIGHT_TIERS: Sequence[Tier] = ("gold", "near miss")


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCase:
    """What a judge is asked about, and what is true of it."""

    benchmark: str
    item: str
    unit: str
    lang: str
    """Language of the user's words, such as `en`; empty where the benchmark does not say."""
    tier: Tier
    kind: str
    """`gold`, or what was done to the gold: a kind of mistake, or of a change that leaves it right."""
    right: bool
    """The label."""
    tools: Sequence[Tool]
    messages: Sequence[Message]
    """The whole conversation as a judge sees it, results of calls included."""
    start: int
    """Index of the first message that is judged; those before it are what the model was given."""
    reference: Sequence[Message] = ()
    """The gold from the same place to the same end; for judges that are shown it."""
    note: str = ""
    """What was changed, for people who read the case."""
    bias: str = ""
    """What is tried with a twin, such as `length`; empty for other cases."""
    variant: str = ""
    """Which side of the trial this twin is, such as `longer`."""
    twin_of: str = ""
    """Id of the case that this one differs from in nothing but the variant; empty for other cases."""

    @property
    def id(self) -> str:
        """A name that stays while the case does: of its item and kind, and of its content."""
        digest = hashlib.sha256(dumps(self.as_json())).hexdigest()[:12]
        return "|".join([self.item, self.unit, self.kind, *filter(None, [self.bias, self.variant]), digest])

    def as_json(self) -> dict[str, Any]:
        """Its fields. Their values are JSON already, so nothing is copied."""
        return {each.name: getattr(self, each.name) for each in fields(self)}


def lines_of_cases(cases: Iterable[JudgeCase]) -> bytes:
    """Cases as JSON lines."""
    return b"".join(dumps({"id": case.id, **case.as_json()}) + b"\n" for case in cases)


def read_cases(path: Path) -> Iterator[JudgeCase]:
    """The cases of a file. Raises DataError with file and line for what is none, or was changed since it was written."""
    for place, record in read_packed_lines(path, "case"):
        yield _case(record, place)


def _case(record: Mapping[str, Any], place: str) -> JudgeCase:
    values = {name: value for name, value in record.items() if name != "id"}
    try:
        case = JudgeCase(**values)
    except TypeError as error:
        raise DataError(f"{place}: no case for a judge: {error}; make the file again") from None
    if case.id != record.get("id"):
        raise DataError(f"{place}: the case {record.get('id')!r} was changed by hand; make the file again")
    return case
