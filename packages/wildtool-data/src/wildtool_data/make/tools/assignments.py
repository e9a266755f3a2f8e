"""What one attempt is to make: where in the tree, a new API or one evolved from another, with which class of parameter.

Everything is drawn from the number of the attempt and from what stood when its generation began, so that neither order
nor concurrency changes it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from wildtool.draws import seeded_draw
from wildtool_data.make.core.plan import Lang
from wildtool_data.make.tools.api import API_PARAMETER_CLASSES, ApiSpec
from wildtool_data.make.tools.operators import OPERATORS, TARGETED_OPERATORS, is_applicable
from wildtool_data.make.tools.tree import FUNCTION_DEPTH, SUBDOMAIN_DEPTH, DomainTree, TreeNode

EVOLVED_SHARE = 0.4
"""Share of attempts that evolve an API, once there are some."""
MAX_EVOLUTIONS = 3
"""How often something evolved is evolved again."""
FULL_PLACE_SIZE = 8
"""APIs of a place before others are begun."""
FUNCTION_KINDS: Mapping[Lang, tuple[str, ...]] = {
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
COMPLEXITIES = ((1, 2), (3, 4), (5, 7))
"""Parameters of a new API, from and to."""
_KNOWN_FUNCTION = 0.5
"""How often a function of the tree is taken where there is one without an API; else a new one is looked for."""


@dataclass(frozen=True, slots=True)
class ApiSnapshot:
    """The trees and tools when a generation begins."""

    trees: Mapping[Lang, DomainTree]
    apis: tuple[ApiSpec, ...] = ()


@dataclass(frozen=True, slots=True)
class Assignment:
    """What one attempt is to make."""

    attempt: int
    lang: Lang
    place: TreeNode
    """The sub-domain, or a domain without one."""
    path: tuple[str, ...]
    """Names from the domain down to the place."""
    siblings: tuple[ApiSpec, ...]
    """APIs of the same place."""
    function: TreeNode | None = None
    """The function that the API is for; None if one is to be found."""
    kind: str = ""
    """What sort of thing the API does, in words; empty if its function is given."""
    complexity: tuple[int, int] | None = None
    """How many parameters it takes, from and to; None for an evolved one."""
    parent: ApiSpec | None = None
    """The API to evolve; None for a new one."""
    operator: str = ""
    """How; empty for a new one."""
    target: str = ""
    """The class of parameter that it must have; empty if any will do."""


class Generation:
    """One generation: what its attempts are to make, by what stood when it began."""

    def __init__(self, snapshot: ApiSnapshot, begin: int, seed: str, langs: Sequence[Lang]) -> None:
        """Args: begin: number of its first attempt."""
        self._begin = begin
        self._seed = seed
        self._langs = langs
        self._boards = {
            lang: _LanguageChoices(snapshot, lang, f"{seed}/generation/{begin}/{lang}") for lang in langs
        }

    def assign(self, attempt: int) -> Assignment | None:
        """What an attempt is to make; None if the tree has no place."""
        draw = seeded_draw(f"{self._seed}/api/{attempt}")
        lang = self._langs[attempt % len(self._langs)]
        turn = attempt // len(self._langs)
        count = len(API_PARAMETER_CLASSES)
        order = seeded_draw(f"{self._seed}/targets/{turn // count}").sample(API_PARAMETER_CLASSES, count)
        number = (attempt - self._begin) // len(self._langs)
        task = _Turn(attempt, lang, order[turn % count], number, draw)
        board = self._boards[lang]
        # Further attempts would find the same parents with the same operators.
        if draw.random() < EVOLVED_SHARE and number < len(board.parents) * len(OPERATORS):
            return _evolved(task, board)
        return _new(task, board)


@dataclass(frozen=True, slots=True)
class _Turn:
    """Which attempt it is."""

    attempt: int
    lang: Lang
    target: str
    number: int
    """Among those of its generation and language."""
    draw: Random


class _LanguageChoices:
    """What attempts of one language and generation choose from, in an order of its own: those that take what stands at
    their number take different things."""

    def __init__(self, pool: ApiSnapshot, lang: Lang, seed: str) -> None:
        draw = seeded_draw(seed)
        own = [api for api in pool.apis if api.lang == lang]
        uses = Counter(name for api in own for name in api.parents)
        self.tree = pool.trees[lang]
        self.apis: dict[str, list[ApiSpec]] = {}
        """By place."""
        for api in own:
            self.apis.setdefault(api.place, []).append(api)
        self.used = {api.node for api in own}
        """Functions that have an API."""
        self.parents = [api for api in own if api.generation < MAX_EVOLUTIONS]
        draw.shuffle(self.parents)
        # Evolving the same tool again adds little.
        self.parents.sort(key=lambda api: uses[api.name])
        self.places = self.tree.places()
        draw.shuffle(self.places)
        self.places.sort(key=lambda node: _rank(node, len(self.apis.get(node.id, ()))))
        self.kinds = draw.sample(FUNCTION_KINDS[lang], len(FUNCTION_KINDS[lang]))
        self.first_way = draw.randrange(len(OPERATORS))


def _rank(node: TreeNode, count: int) -> tuple[int, int]:
    """Places that are begun come first, so that the tools of a place are enough for a session; then those of the tree
    that there was, then all others, the emptier before the fuller."""
    if 0 < count < FULL_PLACE_SIZE:
        return 0, 0
    if not count and not node.source.startswith("attempt"):
        return 1, 0
    return 2, max(1, count // FULL_PLACE_SIZE)


def _evolved(turn: _Turn, board: _LanguageChoices) -> Assignment:
    parent = board.parents[turn.number % len(board.parents)]
    ways = [name for name in OPERATORS if is_applicable(name, parent.function)]
    operator = ways[(_row(turn, len(board.parents)) + board.first_way) % len(ways)]
    place = board.tree.nodes[parent.place]
    return Assignment(
        attempt=turn.attempt,
        lang=turn.lang,
        place=place,
        path=board.tree.path(place.id),
        siblings=tuple(board.apis[place.id]),
        parent=parent,
        operator=operator,
        target=turn.target if operator in TARGETED_OPERATORS else "",
    )


def _new(turn: _Turn, board: _LanguageChoices) -> Assignment | None:
    places, kinds = board.places, board.kinds
    if not places:
        return None
    place = places[turn.number % len(places)]
    children = board.tree.children(place.id)
    free = [node for node in children if node.depth == FUNCTION_DEPTH and node.id not in board.used]
    reuses = bool(free) and place.depth == SUBDOMAIN_DEPTH and turn.draw.random() < _KNOWN_FUNCTION
    return Assignment(
        attempt=turn.attempt,
        lang=turn.lang,
        place=place,
        path=board.tree.path(place.id),
        siblings=tuple(board.apis.get(place.id, ())),
        function=turn.draw.choice(free) if reuses else None,
        target=turn.target,
        complexity=turn.draw.choice(COMPLEXITIES),
        kind="" if reuses else kinds[_row(turn, len(places)) % len(kinds)],
    )


def _row(turn: _Turn, width: int) -> int:
    """Row index that spreads attempts evenly over the places."""
    return turn.number % width + turn.number // width
