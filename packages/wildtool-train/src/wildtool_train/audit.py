"""How good a reward is: gold that a component refuses, mistakes that it does not notice, and what policies without the
ability get."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from wildtool.benchmark import STEP_COMPONENTS, Rules, StepCheck, accepts
from wildtool.episode import gold_replies
from wildtool.types import Item, Message
from wildtool_train.attacks import AttackScore, attack
from wildtool_train.sources import ItemUnits

VERDICT = "verdict"
_WRONG_VALUE = ("arguments",)
_MISTAKES: Mapping[str, Sequence[str]] = {
    "arguments not JSON": ("format",),
    "arguments null": ("format",),
    "arguments a list": ("format", "arguments"),
    "call without id": ("format",),
    "empty reply": ("format",),
    "empty reply instead of calls": ("format",),
    "empty answer": ("format",),
    "empty question": ("format",),
    "text instead of calls": ("refusal",),
    "call instead of answer": ("refusal", "redundancy"),
    "call in text instead of answer": ("refusal", "redundancy"),
    "call in text after answer": ("refusal", "redundancy"),
    "call instead of question": ("refusal",),
    "call in text instead of question": ("refusal",),
    "call in text after question": ("refusal",),
    "question left out": ("refusal",),
    "dropped call": ("refusal", "order"),
    "step left out": ("order", "refusal"),
    "swapped steps": ("order", "arguments"),
    "dependent calls at once": ("order",),
    "wrong name": ("name", "order", "redundancy"),
    "unknown name": ("name",),
    "answer called as a tool": ("name", "refusal"),
    "question called as a tool": ("name", "refusal"),
    "step repeated": ("redundancy",),
    "extra call": ("redundancy", "order"),
    **dict.fromkeys(
        (
            "unknown argument",
            "required argument left out",
            "extra optional argument",
            "other text",
            "empty text",
            "one digit of a text",
            "wrong type",
            "null for a value",
            "wrong number",
            "other enum member",
            "invisible character in a word",
            "swapped values",
            "wrong boolean",
            "element dropped",
            "element repeated",
            "elements reordered",
            "last words of a text left out",
            "content word dropped from a text",
            "content word added to a text",
        ),
        _WRONG_VALUE,
    ),
}
"""Kind of a mistake to the components that it is about, the main one first; any of them may notice it. Other kinds are
for the verdict alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentAudit:
    """One component over all units of a set."""

    component: str
    gold: int
    """Gold messages that put it to the test; of the verdict, gold units."""
    refused: int
    """Those in which it is 0: false negatives."""
    mistakes: int
    """Gold answers with one mistake that it is about."""
    elsewhere: int
    """Mistakes that only another component noticed."""
    missed: int
    """Mistakes that none noticed: false positives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardAudit:
    """How good the reward of one profile is."""

    profile: str
    components: tuple[ComponentAudit, ...]
    missed_kinds: Mapping[str, int]
    """Kinds of mistakes that no component and no verdict noticed."""
    attacks: tuple[AttackScore, ...]


def audit_reward(units: ItemUnits, profile: str) -> RewardAudit:
    """Audits the components, the verdict and the total of a profile."""
    rules = units.benchmark.rules(profile)
    gold: dict[str, Counter[bool]] = defaultdict(Counter)
    mistakes: dict[str, Counter[str]] = defaultdict(Counter)
    missed_kinds: Counter[str] = Counter()
    for item in units.items:
        for unit in item.units:
            _audit_gold(rules, item, unit, gold)
        for mutant in rules.mutants(item):
            is_right = accepts(rules, item, mutant.unit, mutant.replies)
            blamed = _blamed(rules, item, mutant.unit, mutant.replies)
            mistakes[VERDICT]["missed" if is_right else "noticed"] += 1
            expected = _MISTAKES.get(mutant.kind)
            if expected:
                otherwise = "elsewhere" if blamed or not is_right else "missed"
                mistakes[expected[0]]["noticed" if blamed & {*expected} else otherwise] += 1
            if is_right:
                missed_kinds[mutant.kind] += 1
    return RewardAudit(
        profile=profile,
        components=tuple(
            ComponentAudit(
                component=name,
                gold=gold[name].total(),
                refused=gold[name][False],
                mistakes=mistakes[name].total(),
                elsewhere=mistakes[name]["elsewhere"],
                missed=mistakes[name]["missed"],
            )
            for name in (*STEP_COMPONENTS, VERDICT)
            if gold[name] or mistakes[name]
        ),
        missed_kinds=dict(missed_kinds.most_common()),
        attacks=tuple(attack(units, profile)),
    )


def _audit_gold(rules: Rules, item: Item, unit: str, counts: dict[str, Counter[bool]]) -> None:
    replies = gold_replies(rules.episode(item, unit))
    if replies is None:
        return
    counts[VERDICT][accepts(rules, item, unit, replies)] += 1
    for check in _checks(rules, item, unit, replies):
        for name, value in check.components.items():
            counts[name][value == 1] += 1


def _blamed(rules: Rules, item: Item, unit: str, replies: Iterable[Message]) -> set[str]:
    """The components that are 0 at the first message with any."""
    for check in _checks(rules, item, unit, replies):
        if wrong := {name for name, value in check.components.items() if value == 0}:
            return wrong
    return set()


def _checks(rules: Rules, item: Item, unit: str, replies: Iterable[Message]) -> Iterable[StepCheck]:
    episode = rules.episode(item, unit)
    for reply in replies:
        if (request := episode.request()) is None:
            return
        episode.advance(reply)
        if request.role == "agent":
            yield rules.step(episode, item, unit)
