"""The yield table: where attempts are lost."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from wildtool.types import Metric


def attrition_table(
    noun: str,
    kept: int,
    lost: Iterable[str],
    unfinished: int,
    counters: Mapping[str, int],
    roles: Collection[str],
    aside: Mapping[str, int] | None = None,
    replaced: int | None = None,
) -> list[Metric]:
    """The numbers of a generated set.

    Args:
        noun: what is generated, in the plural.
        lost: the reason of each that was not kept.
        counters: event counts, such as `user asked` or `user refused A5`.
        aside: how many were set aside, by name.
        replaced: how many replace lost ones; None if nothing was lost, or nothing is replaced.
    """
    reasons = Counter(lost)
    others = aside or {}
    planned = kept + reasons.total() + unfinished + sum(others.values())
    found = [
        Metric(noun, name, _share(count, planned), count, planned)
        for name, count in {"kept": kept, **others}.items()
    ]
    if replaced is not None:
        found.append(Metric(noun, "in place of lost ones", None, replaced, 0, kind="count"))
    found += [
        Metric(f"{noun} lost", name, _share(count, planned), count, planned)
        for name, count in reasons.most_common()
    ]
    asked = {role: counters.get(f"{role} asked", 0) for role in roles}
    found += [
        Metric("replies", what, _share(count, asked[role]), count, asked[role])
        for what, count in sorted(counters.items())
        if (role := what.split()[0]) in asked and asked[role] and what != f"{role} asked"
    ]
    return found


def _share(count: int, of: int) -> float | None:
    return count / of if of else None
