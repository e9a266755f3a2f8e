"""What one attempt is to make: where in the tree, a new API or one evolved from another, with which class of parameter.

Everything is drawn from the number of the attempt and from what stood when its generation began, so that neither order
nor concurrency changes it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from wildtool.generate.apis.api import Api
from wildtool.generate.apis.atoms import ATOMS
from wildtool.generate.apis.operators import AIMED, OPERATORS, applies
from wildtool.generate.apis.tree import DEEPEST, PLACE, Node, Tree
from wildtool.generate.plan import Lang

EVOLVED = 0.4
"""Share of attempts that evolve an API, once there are some."""
MOST_GENERATIONS = 3
"""How often something evolved is evolved again."""
FULL = 8
"""APIs of a place before others are begun."""
KINDS: Mapping[Lang, tuple[str, ...]] = {
    "en": (
        "look up one thing", "search or list things", "create or book something", "change something",
        "cancel or remove something", "compare things", "calculate or estimate", "recommend something",
        "plan or schedule", "watch something and report",
    ),
    "zh": (
        "查询一项内容", "搜索或列出", "创建或预订", "修改", "取消或删除", "比较", "计算或估算", "推荐",
        "规划或安排时间", "监测并报告",
    ),
}  # fmt: skip
"""Sorts of functions: designers of one place, who do not see each other, are each given another."""
_KNOWN_FUNCTION = 0.5
"""How often a function of the tree is taken where there is one without an API; else a new one is looked for."""


@dataclass(frozen=True, slots=True)
class Pool:
    """What stands when a generation begins."""

    trees: Mapping[Lang, Tree]
    apis: tuple[Api, ...] = ()


@dataclass(frozen=True, slots=True)
class Assignment:
    """What one attempt is to make."""

    attempt: int
    lang: Lang
    place: Node
    """The sub-domain, or a domain without one."""
    path: tuple[str, ...]
    """Names from the domain down to the place."""
    siblings: tuple[Api, ...]
    """APIs of the same place."""
    function: Node | None = None
    """The function that the API is for; None where one is to be found."""
    kind: str = ""
    """What sort of thing the API does, in words; empty where its function is given."""
    parent: Api | None = None
    """The API to evolve; None for a new one."""
    operator: str = ""
    """How; empty for a new one."""
    target: str = ""
    """The class of parameter that it must have; empty where any will do."""


def assign(pool: Pool, attempt: int, within: int, seed: str, langs: Sequence[Lang]) -> Assignment | None:
    """What an attempt is to make; None where the tree has no place.

    Args: within: number of the attempt in its generation, so that its attempts differ.
    """
    draw = Random(f"{seed}/api/{attempt}")
    lang = langs[attempt % len(langs)]
    turn = attempt // len(langs)
    target = Random(f"{seed}/targets/{turn // len(ATOMS)}").sample(ATOMS, len(ATOMS))[turn % len(ATOMS)]
    task = _Turn(
        attempt, lang, target, within // len(langs), Random(f"{seed}/generation/{attempt - within}"), draw
    )
    own = [api for api in pool.apis if api.lang == lang]
    parents = [api for api in own if api.generation < MOST_GENERATIONS]
    # Further attempts would find the same parents with the same operators.
    if draw.random() < EVOLVED and task.number < len(parents) * len(OPERATORS):
        return _evolved(task, pool.trees[lang], own, parents)
    return _new(task, pool.trees[lang], own)


@dataclass(frozen=True, slots=True)
class _Turn:
    """Which attempt it is."""

    attempt: int
    lang: Lang
    target: str
    number: int
    """Among those of its generation and language."""
    order: Random
    """The same for the whole generation: attempts that take what then stands at their number take different things."""
    draw: Random


def _rank(node: Node, made: int) -> tuple[int, int]:
    """Places that are begun come first, so that the tools of a place are enough for a session; then those of the tree
    that there was, then all others, the emptier before the fuller."""
    if 0 < made < FULL:
        return 0, 0
    if not made and not node.source.startswith("attempt"):
        return 1, 0
    return 2, max(1, made // FULL)


def _evolved(turn: _Turn, tree: Tree, own: Sequence[Api], parents: list[Api]) -> Assignment:
    done = Counter(name for api in own for name in api.parents)
    turn.order.shuffle(parents)
    # What was evolved often already would only be told again.
    parents.sort(key=lambda api: done[api.name])
    parent = parents[turn.number % len(parents)]
    ways = [name for name in OPERATORS if applies(name, parent.function)]
    operator = ways[(_row(turn, len(parents)) + turn.order.randrange(len(ways))) % len(ways)]
    place = tree.nodes[parent.place]
    return Assignment(
        attempt=turn.attempt,
        lang=turn.lang,
        place=place,
        path=tree.path(place.id),
        siblings=tuple(api for api in own if api.place == place.id),
        parent=parent,
        operator=operator,
        target=turn.target if operator in AIMED else "",
    )


def _new(turn: _Turn, tree: Tree, own: Sequence[Api]) -> Assignment | None:
    places = tree.places()
    if not places:
        return None
    made = Counter(api.place for api in own)
    turn.order.shuffle(places)
    places.sort(key=lambda node: _rank(node, made[node.id]))
    place = places[turn.number % len(places)]
    used = {api.node for api in own}
    free = [node for node in tree.children(place.id) if node.depth == DEEPEST and node.id not in used]
    kinds = list(KINDS[turn.lang])
    turn.order.shuffle(kinds)
    known = bool(free) and place.depth == PLACE and turn.draw.random() < _KNOWN_FUNCTION
    return Assignment(
        attempt=turn.attempt,
        lang=turn.lang,
        place=place,
        path=tree.path(place.id),
        siblings=tuple(api for api in own if api.place == place.id),
        function=turn.draw.choice(free) if known else None,
        kind="" if known else kinds[_row(turn, len(places)) % len(kinds)],
        target=turn.target,
    )


def _row(turn: _Turn, width: int) -> int:
    """A number that differs between neighbours, and between attempts that share a place among so many."""
    return turn.number % width + turn.number // width
