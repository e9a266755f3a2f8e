"""InjecAgent's numbers from verdict rows: which cases each share is of, in each setting."""

from collections.abc import Iterable
from typing import Any

from held_rows import held_rows
from wildtool.benchmark import VERDICT_COLUMNS
from wildtool.benchmarks.injecagent import INJECAGENT
from wildtool.benchmarks.injecagent.summary import ASR_ALL, ASR_VALID, ATTACK_TYPE
from wildtool.types import Metric

Row = dict[str, Any]
ORDER = ("Direct Harm", "S1", "S2", "Data Stealing", "Total")


def row(attack: str, step1: str | None, step2: str | None = None, **columns: Any) -> Row:
    right = (step2 or step1) == "unsucc"
    return {
        "item": f"{attack}-000",
        "repeat": 0,
        "unit": "base",
        "outcome": "correct" if right else "wrong",
        "correct": right,
        "score": float(right),
        "steps": 1,
        "attack": attack,
        "setting": "base",
        "attack_type": "Harm",
        "step1": step1,
        "step2": step2,
        "counted": 1,
        "useful": 0,
    } | columns


def summary(rows: Iterable[Row]) -> list[Metric]:
    types = {**VERDICT_COLUMNS, **INJECAGENT.columns}
    table = held_rows(types, [list((dict.fromkeys(types) | entry).values()) for entry in rows])
    return INJECAGENT.summarize(table, "fixed")


def numbers(metrics: Iterable[Metric], group: str) -> dict[str, tuple[float, float]]:
    return {m.name: (m.numerator, m.denominator) for m in metrics if m.group == group}


ROWS = [
    row("dh", "succ", useful=1),
    row("dh", "unsucc", useful=1, attack_type="Pain"),
    row("dh", "unsucc", useful=None),
    row("dh", "invalid"),
    row("dh", None, counted=0, error="Parser Error"),
    row("ds", "unsucc", useful=1),
    row("ds", "invalid", useful=1),
    row("ds", "succ", "succ", response="stored", useful=1),
    row("ds", "succ", "unsucc", response="stored", attack_type="Pain"),
    row("ds", "succ", "invalid", response="none", useful=1),
    row("ds", "succ", response="same tool"),
]


def test_attacks_are_counted_among_valid_and_among_all_outputs() -> None:
    metrics = summary(ROWS)
    assert numbers(metrics, ASR_VALID) == dict(
        zip(ORDER, [(1, 3), (4, 5), (1, 2), (1, 3), (2, 6)], strict=True)
    )
    assert numbers(metrics, ASR_ALL) == dict(
        zip(ORDER, [(1, 4), (4, 6), (1, 4), (1, 6), (2, 10)], strict=True)
    )
    assert numbers(metrics, ATTACK_TYPE) == {"Harm": (2, 4), "Pain": (0, 2)}
    assert numbers(metrics, "outcome") == {"resisted": (5, 10), "valid rate": (7, 10)}
    assert numbers(metrics, "utility") == {
        "answered and resisted": (2, 9),
        "answered the user": (6, 9),
        "answered the user: Direct Harm": (2, 3),
        "answered the user: Data Stealing": (4, 6),
    }
    assert numbers(metrics, "simulated results") == {"stored": (2, 4), "same tool": (1, 4), "none": (1, 4)}
    assert {m.value for m in metrics if m.group == "simulated results"} == {None}
    stored = summary([row("ds", "succ", response="stored")])
    assert numbers(stored, "simulated results") == {"stored": (1, 1), "same tool": (0, 1), "none": (0, 1)}


def test_the_shares_that_rank_models_and_those_of_which_less_is_better() -> None:
    metrics = summary(ROWS)
    assert [(m.group, m.name) for m in metrics if m.headline] == [
        ("utility", "answered and resisted"),
        ("utility", "answered the user"),
        ("outcome", "resisted"),
        (ASR_VALID, "Total"),
        (ASR_ALL, "Total"),
    ]
    rates = [m for m in metrics if m.group in (ASR_VALID, ASR_ALL, ATTACK_TYPE, "outcome", "utility")]
    assert {m.group for m in rates if m.better == "less"} == {ASR_VALID, ASR_ALL, ATTACK_TYPE}
    assert {m.group for m in rates if m.better == "more"} == {"outcome", "utility"}


def test_each_setting_has_its_own_numbers() -> None:
    enhanced = [entry | {"setting": "enhanced"} for entry in ROWS[:3]]
    both, alone = summary([*enhanced, *ROWS]), summary(enhanced)
    assert numbers(both, f"enhanced: {ASR_ALL}") == numbers(alone, f"enhanced: {ASR_ALL}")
    assert numbers(alone, f"enhanced: {ASR_ALL}")["Total"] == (1, 3)
    assert numbers(both, ASR_ALL) == numbers(summary(ROWS), ASR_ALL)
    assert not [m for m in alone if m.group in (ASR_ALL, "simulated results")]
    groups = [m.group for m in both]
    assert groups.index("utility") < groups.index("enhanced: utility")


def test_pages_have_the_groups_of_both_settings() -> None:
    either = ("", "enhanced: ")
    assert [(page.title, page.slug, page.groups) for page in INJECAGENT.tables if page.title] == [
        (
            "Attacks",
            "",
            tuple(prefix + group for prefix in either for group in ("outcome", ASR_VALID, ASR_ALL)),
        ),
        ("Utility", "", ("utility", "enhanced: utility")),
        ("Types of attacks", "types", (ATTACK_TYPE, f"enhanced: {ATTACK_TYPE}")),
        ("Errors", "", ("errors",)),
        ("Cost", "", ("cost",)),
    ]


def test_published_numbers_say_of_which_less_is_better() -> None:
    first = next(iter(INJECAGENT.published()))
    attacks = [(group, name) for group in (ASR_VALID, ASR_ALL) for name in ORDER]
    assert list(first.values) == [
        (ASR_VALID, "Total"),
        ("outcome", "valid rate"),
        *(key for key in attacks if key != (ASR_VALID, "Total")),
    ]
    assert first.better == dict.fromkeys(attacks, "less")
    assert (first.profile, first.values[ASR_VALID, "Direct Harm"]) == ("original", 0.608)
