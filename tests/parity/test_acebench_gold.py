"""What gold answers score on the official data, and why the published evaluator refuses some."""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from wildtool.benchmarks.acebench import ACEBENCH
from wildtool.engine.score.audit import gold_transcript
from wildtool.types import Item

AUGUST = "official-2025-08"
"""The evaluator that section 10 of the specification describes, with the data of its commit."""


@cache
def refused(official: Path, profile: str) -> Sequence[tuple[Item, str]]:
    """Items with the units whose gold answer is refused."""
    found: list[tuple[Item, str]] = []
    for item in ACEBENCH.load(ACEBENCH.data.locate(str(official))):
        gold = {
            unit: gold_transcript(ACEBENCH, item, unit, profile, "parallel")  # type: ignore[arg-type]
            for unit in item.units
        }
        verdicts = ACEBENCH.judge(item, gold, profile)
        found.extend((item, verdict.unit) for verdict in verdicts if verdict.outcome != "correct")
    return found


def test_fixed_finds_every_gold_answer_right(official: Path):
    assert refused(official, "fixed") == []


def test_official_reaches_the_known_ceilings(official: Path):
    """Section 10, last paragraph, of dialogues and records; episodes as section 12 replays them, but as written."""
    known: dict[tuple[str, str], float] = {
        ("en", "normal_single_turn_single_function"): 0.92,
        ("en", "normal_single_turn_parallel_function"): 0.86,
        ("en", "normal_multi_turn_user_adjust"): 0.76,
        ("en", "normal_multi_turn_user_switch"): 0.74,
        ("en", "normal_similar_api"): 0.96,
        ("en", "normal_preference"): 0.98,
        ("en", "normal_atom_object_deep"): 0.66,
        ("en", "agent_multi_step"): 0.2,
        ("en", "agent_multi_turn"): 0.7,
        ("zh", "normal_single_turn_single_function"): 0.99,
        ("zh", "normal_single_turn_parallel_function"): 0.97,
        ("zh", "normal_multi_turn_user_adjust"): 0.98,
        ("zh", "normal_multi_turn_user_switch"): 0.98,
        ("zh", "normal_similar_api"): 0.96,
        ("zh", "normal_atom_list"): 0.98,
        ("zh", "normal_atom_object_short"): 0.98,
        ("zh", "agent_multi_step"): 0.4,
        ("zh", "agent_multi_turn"): 0.967,
    }
    items = Counter((item.lang, item.split) for item in ACEBENCH.load(ACEBENCH.data.locate(str(official))))
    failing = {item.id: (item.lang, item.split) for item, _ in refused(official, AUGUST)}
    scores = {key: round(1 - count / items[key], 3) for key, count in Counter(failing.values()).items()}
    assert scores == known


def test_every_refused_call_has_its_known_cause(official: Path):
    causes = Counter(
        (item.lang, ACEBENCH.rules(AUGUST).explain_gold(item, unit).partition(" ")[0])
        for item, unit in refused(official, AUGUST)
        if item.split.startswith("normal")
    )
    assert causes == {
        ("en", "Q1"): 67,
        ("en", "Q20"): 1,
        ("en", "Q21"): 1,
        ("zh", "Q1"): 4,
        ("zh", "Q21"): 3,
        ("zh", "Q22"): 1,
        ("zh", "Q27"): 2,
    }


def test_episodes_reach_the_states_that_section_12_counts_once_their_texts_can_be_read(official: Path):
    """Right calls that cannot be read have a blank behind the bracket or an apostrophe in a text; not so these."""
    others = Counter[tuple[str, str]]()
    for item, unit in refused(official, AUGUST):
        if item.split.startswith("agent"):
            why = ACEBENCH.rules(AUGUST).explain_gold(item, unit)
            assert why
            others[item.lang, item.split] += not all(map(_is_unreadable, why.split("; ")))
    assert +others == {
        ("en", "agent_multi_step"): 8,
        ("en", "agent_multi_turn"): 1,
        ("zh", "agent_multi_step"): 6,
        ("zh", "agent_multi_turn"): 1,
    }


def _is_unreadable(cause: str) -> bool:
    return cause.startswith(("a space follows", "an apostrophe ends"))
