"""What a rule over the rows of a published table is."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from wildtool.published import PublishedRow
from wildtool.published.arithmetic import Claim


@dataclass(frozen=True, slots=True)
class ArithmeticRule:
    """Something that must hold in every row of a table."""

    table: str
    says: str
    claims: Callable[[PublishedRow], Iterable[Claim]]
    tolerance: float
    """How far rounding alone may take a printed number from what follows from the others."""
    relation: Literal["is", "at most"] = "is"
