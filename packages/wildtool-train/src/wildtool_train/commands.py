"""What commands show of environments."""

import json
from collections.abc import Sequence
from dataclasses import asdict

from wildtool.benchmark import Benchmark
from wildtool.engine.plan import Selection, check_profile
from wildtool.terminal import print_wrapped
from wildtool.terminal.tables import print_grid
from wildtool.types import Source
from wildtool_train.attacks import GOLD, AttackScore
from wildtool_train.audit import ComponentAudit, RewardAudit, audit_reward
from wildtool_train.sources import ItemUnits

BOUND = 0.02
"""Reward above which a policy without the ability is named, over units that no text alone solves."""


def audit_rewards(
    benchmark: Benchmark,
    source: Source,
    profiles: Sequence[str],
    *,
    split: str | None,
    lang: str | None,
    as_json: bool,
    every: bool,
) -> bool:
    """Prints how good the rewards of some profiles are; whether gold is never refused, no mistake missed and no policy
    without the ability rewarded. Raises UsageError for a profile that the benchmark has not."""
    for profile in profiles:
        check_profile(benchmark, profile)
    items = Selection(benchmark=benchmark, source=source, split=split, lang=lang).read()
    units = ItemUnits(benchmark, items)
    audits = [audit_reward(units, profile) for profile in profiles]
    if as_json:
        print(json.dumps([asdict(audit) for audit in audits], indent=1))
    else:
        for audit in audits:
            _print(audit, every=every)
    return all(_is_sound(audit) for audit in audits)


def _is_sound(audit: RewardAudit) -> bool:
    return not any(each.refused or each.missed for each in audit.components) and not _rewarded(audit)


def _rewarded(audit: RewardAudit) -> list[str]:
    """Policies without the ability that earn too much. Those that copy do part of the task."""
    return [a.policy for a in audit.attacks if a.policy != GOLD and not a.copies and a.without_free > BOUND]


def _print(audit: RewardAudit, *, every: bool) -> None:
    heads = ["component", "gold refused", "mistakes missed", "noticed by another"]
    print_grid(f"reward, profile {audit.profile}", heads, [*map(_row, audit.components)], keys=1)
    if audit.missed_kinds:
        kinds = ", ".join(f"{kind} {count}" for kind, count in audit.missed_kinds.items())
        print_wrapped(f"{audit.profile} judges right although there is a mistake: {kinds}")
    if not audit.attacks:
        print_wrapped("No unit has a right answer under this profile, so no policy was played.")
        return
    gold, *policies = sorted(audit.attacks, key=lambda a: (a.policy != GOLD, -a.without_free, -a.reward))
    attacks = [each for each in policies if not each.copies]
    title = f"mean reward of {len(attacks)} policies without the ability, {gold.units} units, profile {audit.profile}"
    _print_attacks(title, [gold, *(attacks if every else attacks[:5])])
    if not every:
        print_wrapped(f"{len(attacks) - 5} more policies get no more: --all")
    if copying := [each for each in policies if each.copies]:
        _print_attacks(
            f"the floor: mean reward of {len(copying)} rules that copy values from the text", copying
        )
    if rewarded := _rewarded(audit):
        print_wrapped(f"{audit.profile} rewards {', '.join(rewarded)} by more than {BOUND:g}")


def _print_attacks(title: str, scores: Sequence[AttackScore]) -> None:
    rest = scores[0].units - scores[0].free_units
    heads = ["policy", "all units", f"the {rest} units that\nno text alone solves"]
    print_grid(title, heads, [[a.policy, f"{a.reward:.3f}", f"{a.without_free:.3f}"] for a in scores], keys=1)


def _row(each: ComponentAudit) -> list[str]:
    missed, elsewhere = (_count(number, each.mistakes) for number in (each.missed, each.elsewhere))
    return [each.component, _count(each.refused, each.gold), missed, elsewhere]


def _count(part: int, total: int) -> str:
    return f"{part:,} of {total:,}" if total else "–"
