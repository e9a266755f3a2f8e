"""What must follow from ToLeaP's figures: RoTBench, InjecAgent, averages."""

import itertools
from collections.abc import Iterable

from wildtool.published.arithmetic import (
    ENVIRONMENTS,
    ONE_DECIMAL,
    TWO_DECIMALS,
    between_parts,
    by_files,
    mean_of,
    product,
    weighted_harm,
    whole_counts,
)
from wildtool.published.rule import ArithmeticRule


def toleap() -> Iterable[ArithmeticRule]:
    """Its rules, by table."""
    yield from _rotbench()
    yield from _injecagent()
    yield from _averages()


def _rotbench() -> Iterable[ArithmeticRule]:
    levels = ("tool_selection", "parameter_identification", "content_filling")
    yield ArithmeticRule(
        "toleap_rotbench",
        "rates are whole numbers of 105 (clean, union) and 210",
        whole_counts({f"{env}_{level}": count for env, count in ENVIRONMENTS.items() for level in levels}),
        TWO_DECIMALS,
    )
    yield ArithmeticRule(
        "toleap_rotbench",
        "no more parameters than tools are right, and no more values than parameters",
        lambda row: [
            (f"{env}_{deeper}", row.values[f"{env}_{deeper}"], row.values[f"{env}_{level}"])
            for env in ENVIRONMENTS
            for level, deeper in itertools.pairwise(levels)
        ],
        0,
        "at most",
    )


def _injecagent() -> Iterable[ArithmeticRule]:
    for over in ("valid", "all"):
        yield ArithmeticRule(
            "toleap_injecagent",
            f"ASR-{over} (Total) lies between Direct Harm and Data Stealing",
            lambda row, over=over: [between_parts(row, f"asr_{over}")],
            ONE_DECIMAL,
        )
    yield ArithmeticRule(
        "toleap_injecagent",
        "ASR-all (Total) weighs Direct Harm by 510 cases and Data Stealing by 544",
        lambda row: [("asr_all_total", row.values["asr_all_total"], weighted_harm(row))],
        2 * ONE_DECIMAL,
    )
    yield ArithmeticRule(
        "toleap_injecagent",
        "ASR-all (Data Stealing) is S1 times S2",
        lambda row: [
            (
                "asr_all_data_stealing",
                row.values["asr_all_data_stealing"],
                product(row.values["asr_all_s1"], row.values["asr_all_s2"]),
            )
        ],
        # The product of two rounded shares, and a rounded share.
        3 * ONE_DECIMAL,
    )
    yield ArithmeticRule(
        "toleap_injecagent",
        "no rate over all outputs exceeds that over the readable ones (S2, which is of successes of S1, left out)",
        lambda row: [
            (f"asr_all_{part}", row.values[f"asr_all_{part}"], row.values[f"asr_valid_{part}"])
            for part in ("direct_harm", "s1", "data_stealing", "total")
        ],
        0,
        "at most",
    )


def _averages() -> Iterable[ArithmeticRule]:
    yield ArithmeticRule(
        "toleap_apibank",
        "the average weighs level 1 by 214 dialogue files and level 2 by 50",
        lambda row: [("average", row.values["weighted_average"], by_files(row))],
        2 * TWO_DECIMALS,
    )
    parts = ("simple", "multiple", "parallel", "parallel_multiple", "irrelevance")
    yield ArithmeticRule(
        "toleap_autonomous_bfcl",
        "the average is the mean of the five",
        mean_of("average", parts),
        2 * TWO_DECIMALS,
    )
