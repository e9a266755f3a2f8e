"""Plans that stand in for lost ones of a set, so that as much is made as is wanted."""

from collections.abc import Collection, Sequence

MOST_TURNS = 3
"""How often something lost is planned anew at most; of all of them, as often as there are wanted."""


class StandIns:
    """What is planned anew; it follows from what was lost, and that from the record, so that it is the same each time."""

    def __init__(self, wanted: int) -> None:
        """Args: wanted: how much is to be made."""
        self._wanted = wanted
        self.planned: list[tuple[int, int]] = []
        """Number and turn of each, in order; the first plans have turn 0."""

    def add(self, missing: Sequence[int], turns: Collection[int]) -> bool:
        """Plans each missing one anew; whether there is anything to be played. Nothing is planned after a round of
        which nothing was kept.

        Args:
            missing: numbers of those of which no plan was kept.
            turns: of the plans that were kept.
        """
        last = max((turn for _, turn in self.planned), default=0)
        if last == MOST_TURNS or last not in turns:
            return False
        more = [(index, last + 1) for index in missing[: self._wanted - len(self.planned)]]
        self.planned += more
        return bool(more)
