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
    parent: Api | None = None
    """The API to evolve; None for a new one."""
    operator: str = ""
    """How; empty for a new one."""
    target: str = ""
    """The class of parameter that it must have; empty where any will do."""


def assign(pool: Pool, attempt: int, within: int, seed: str, langs: Sequence[Lang]) -> Assignment | None:
    """What an attempt is to make; None where the tree has no place.

    Args: within: number of the attempt in its generation, so that its places differ.
    """
    draw = Random(f"{seed}/api/{attempt}")
    lang = langs[attempt % len(langs)]
    turn = attempt // len(langs)
    target = Random(f"{seed}/targets/{turn // len(ATOMS)}").sample(ATOMS, len(ATOMS))[turn % len(ATOMS)]
    own = [api for api in pool.apis if api.lang == lang]
    parents = [api for api in own if api.generation < MOST_GENERATIONS]
    if parents and draw.random() < EVOLVED:
        return _evolved(pool, attempt, lang, own, parents, target, draw)
    return _new(pool, attempt, within // len(langs), lang, own, target, seed, draw)


def _evolved(
    pool: Pool,
    attempt: int,
    lang: Lang,
    own: Sequence[Api],
    parents: Sequence[Api],
    target: str,
    draw: Random,
) -> Assignment:
    done = Counter(name for api in own for name in api.parents)
    # What was evolved often already would only be told again.
    parent = draw.choices(parents, [1 / (1 + done[api.name]) ** 2 for api in parents])[0]
    operator = draw.choice([name for name in OPERATORS if applies(name, parent.function)])
    tree = pool.trees[lang]
    place = tree.nodes[parent.place]
    siblings = tuple(api for api in own if api.place == place.id)
    return Assignment(
        attempt,
        lang,
        place,
        tree.path(place.id),
        siblings,
        None,
        parent,
        operator,
        target if operator in AIMED else "",
    )


def _new(
    pool: Pool,
    attempt: int,
    within: int,
    lang: Lang,
    own: Sequence[Api],
    target: str,
    seed: str,
    draw: Random,
) -> Assignment | None:
    tree = pool.trees[lang]
    places = tree.places()
    if not places:
        return None
    made = Counter(api.place for api in own)
    order = Random(f"{seed}/places/{attempt - within}").sample(range(len(places)), len(places))
    # Where least was made comes first.
    ranked = sorted(range(len(places)), key=lambda k: (made[places[k].id], order[k]))
    place = places[ranked[within % len(ranked)]]
    used = {api.node for api in own}
    free = [node for node in tree.children(place.id) if node.depth == DEEPEST and node.id not in used]
    function = (
        draw.choice(free) if free and place.depth == PLACE and draw.random() < _KNOWN_FUNCTION else None
    )
    siblings = tuple(api for api in own if api.place == place.id)
    return Assignment(attempt, lang, place, tree.path(place.id), siblings, function, None, "", target)
