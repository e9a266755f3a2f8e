"""How many records each set of a mixture gives."""

import heapq
from collections.abc import Sequence


def apportion(weights: Sequence[float], limits: Sequence[int], total: int) -> list[int]:
    """Divides `total` rows by weights (Sainte-Laguë); a set gives at most its limit, the others share what is left.

    With a larger total no set gives fewer, so that a smaller mixture is part of a larger one; with largest remainders one
    could. Ties go to the earlier set.
    """
    whole = sum(weights)
    counts = [
        min(limit, max(0, int((total - len(weights)) * weight / whole))) if whole else 0
        for weight, limit in zip(weights, limits, strict=True)
    ]
    left = min(total, sum(limit for limit, weight in zip(limits, weights, strict=True) if weight > 0)) - sum(
        counts
    )
    heap = [
        ((count + 0.5) / weight, place)
        for place, (count, weight, limit) in enumerate(zip(counts, weights, limits, strict=True))
        if weight > 0 and count < limit
    ]
    heapq.heapify(heap)
    for _ in range(left):
        _, place = heapq.heappop(heap)
        counts[place] += 1
        if counts[place] < limits[place]:
            heapq.heappush(heap, ((counts[place] + 0.5) / weights[place], place))
    return counts
