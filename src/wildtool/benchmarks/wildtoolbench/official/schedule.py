"""Which steps the published evaluator accepts, decided on the set of executed nodes; no path is ever enumerated.

The original lists every execution path and matches replies against the list. The rules below give the same
answers (section "Path enumeration" and quirks Q09 to Q17 of the evaluator's specification; equality is a parity
test): a state is the set of executed nodes plus the rest of a same-name run that was begun one by one.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from wildtool.toolcall.graph import bit_masks, depth, heights, ready

GraphStep = tuple[int, ...]
"""Positions of the nodes executed together, ascending."""
NO_PATH_LENGTH = 99999
"""What the original calls the shortest length of a graph that has no path."""


@dataclass(frozen=True, slots=True)
class ScheduleState:
    """Where a schedule stands."""

    done: int
    """Executed nodes as a bit mask."""
    forced: GraphStep = ()
    """Rest of a same-name run begun one by one: these come next, one per step, nothing in between (Q11)."""


class Schedule:
    """The accepted steps of one gold graph."""

    def __init__(self, names: Sequence[str], deps: Sequence[Sequence[int]]) -> None:
        self.names = tuple(names)
        self._deps = deps
        self._masks = bit_masks(deps)
        self.outside = next((need for needed in deps for need in needed if not 0 <= need < len(deps)), None)
        """The first dependency on a node that is not there: the original raises while it builds the graph."""
        length = depth(deps)
        self.executable = length is not None
        """False for a graph with a cycle or a node that can never be reached: the original finds no path (Q17)."""
        self.min_length = NO_PATH_LENGTH if length is None else length
        """Steps of the shortest path."""

    def start(self) -> list[ScheduleState]:
        """The states before the first step: one, or none where the graph has no path."""
        return [ScheduleState(0)] if self.executable else []

    def finished(self, state: ScheduleState) -> bool:
        return state.done == (1 << len(self.names)) - 1

    def ready(self, state: ScheduleState) -> list[int]:
        """Nodes that may be in the next step, ascending."""
        return list(state.forced[:1]) or ready(self._masks, state.done)

    def match(self, state: ScheduleState, names: Sequence[str]) -> GraphStep | None:
        """The first accepted step whose names are these, in any order; None if there is none.

        Among steps of equal names the original takes the one that comes first in lexicographic order of
        positions after its filter. A step that begins inside a run must begin with the whole run; so the
        first node is tried name by name, and the other nodes are the first of their names after it.
        """
        nodes = self.ready(state)
        counts = Counter(names)
        if state.forced or len(names) == 1:
            match = next((n for n in nodes if self.names[n] == names[0]), None)
            return None if match is None or len(names) > 1 else (match,)
        firsts = [i for i in _firsts(self.names, nodes) if self.names[nodes[i]] in counts]
        for first in firsts:
            step = self._leftmost(nodes[first:], counts)
            if step and counts[self.names[nodes[first]]] >= self._run_length(nodes, first):
                return step
        return None

    def allows(self, state: ScheduleState, step: GraphStep) -> bool:
        """Whether exactly this step is accepted here."""
        nodes = self.ready(state)
        if state.forced:
            return step == state.forced[:1]
        # Rule 4: of steps with the same sequence of names only the leftmost stands.
        position = 0
        for node in step:
            while position < len(nodes) and self.names[nodes[position]] != self.names[node]:
                position += 1
            if position == len(nodes) or nodes[position] != node:
                return False
            position += 1
        # Rule 5: a part of a same-name run may only lead a step if the whole run does.
        first = nodes.index(step[0])
        run = self._run_length(nodes, first)
        return len(step) == 1 or step[:run] == tuple(nodes[first : first + run])

    def after(self, state: ScheduleState, step: GraphStep) -> ScheduleState:
        """The state after an accepted step."""
        fulfilled = state.done
        for node in step:
            fulfilled |= 1 << node
        if state.forced:
            return ScheduleState(fulfilled, state.forced[1:])
        nodes = self.ready(state)
        first = nodes.index(step[0])
        run = self._run_length(nodes, first) if len(step) == 1 else 1
        return ScheduleState(fulfilled, tuple(nodes[first + 1 : first + run]))

    def accepted(self, state: ScheduleState) -> Iterator[GraphStep]:
        """All accepted steps in the original's order: by size, then by positions. Exponential: for tests and Q20 only."""
        nodes = self.ready(state)
        for size in range(1, len(nodes) + 1):
            yield from (step for step in combinations(nodes, size) if self.allows(state, step))

    def first_shortest(self) -> list[GraphStep] | None:
        """The first path of minimum length in the original's order; None where there is no path.

        It is the one replayed as history. At every state the smallest accepted step is taken that contains
        all nodes on a longest remaining chain, since only such a step shortens the rest by one.
        """
        height = heights(self._deps)
        if height is None:
            return None
        state, path = ScheduleState(0), list[GraphStep]()
        while not self.finished(state):
            nodes = self.ready(state)
            top = max(height[node] for node in nodes)
            step = self._smallest_step(nodes, [height[node] == top for node in nodes])
            path.append(step)
            fulfilled = state.done
            for node in step:
                fulfilled |= 1 << node
            state = ScheduleState(fulfilled)
        return path

    def _leftmost(self, nodes: Sequence[int], counts: Counter[str]) -> GraphStep | None:
        """For each name the first nodes of it, as many as wanted; None if there are too few."""
        remaining = Counter(counts)
        step: list[int] = []
        for node in nodes:
            if remaining[self.names[node]] > 0:
                remaining[self.names[node]] -= 1
                step.append(node)
        return tuple(step) if len(step) == counts.total() else None

    def _run_length(self, nodes: Sequence[int], first: int) -> int:
        """Length of the stretch of neighbouring entries with one name that begins at index `first`."""
        end = first + 1
        while end < len(nodes) and self.names[nodes[end]] == self.names[nodes[first]]:
            end += 1
        return end - first

    def _smallest_step(self, nodes: Sequence[int], needed: Sequence[bool]) -> GraphStep:
        """The first accepted step, by size and then positions, that contains all needed nodes.

        `cost[i]` is the least number of nodes of an accepted tail that begins at index i. Index j may follow
        i if no node of j's name stands between them (leftmost rule) and no needed one does.
        """
        names = [self.names[node] for node in nodes]
        size = len(nodes)
        before = [max((k for k in range(j) if names[k] == names[j]), default=-1) for j in range(size)]
        needed_after = [any(needed[i + 1 :]) for i in range(size)]

        def follows(i: int, j: int) -> bool:
            return before[j] <= i and not any(needed[i + 1 : j])

        cost = [0] * size
        for i in reversed(range(size)):
            tails = [cost[j] for j in range(i + 1, size) if follows(i, j)]
            cost[i] = 1 + (min(tails) if needed_after[i] else 0)

        def start_cost(i: int) -> int | None:
            if before[i] >= 0 or any(needed[:i]):
                return None
            run = self._run_length(nodes, i)
            # A run begun by a single node is played one by one, which is never shortest.
            return run - 1 + cost[i + run - 1]

        starts = [(c, i) for i in range(size) if (c := start_cost(i)) is not None]
        index = min(starts)[1]
        run = self._run_length(nodes, index)
        indices = list(range(index, index + run))
        while needed_after[indices[-1]]:
            last = indices[-1]
            indices.append(min((cost[j], j) for j in range(last + 1, size) if follows(last, j))[1])
        return tuple(nodes[i] for i in indices)


def _firsts(names: Sequence[str], nodes: Sequence[int]) -> list[int]:
    """Indices into `nodes` at which a name occurs for the first time."""
    firsts: set[str] = set()
    return [i for i, node in enumerate(nodes) if not (names[node] in firsts or firsts.add(names[node]))]
