"""What must follow from the papers' printed figures, as rules over the rows of their tables."""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from wildtool.published import PublishedRow, read_table

Claim = tuple[str, float | None, float | None]
"""What is looked at, the printed number, and the number it must be; None where the paper has none."""
Values = Mapping[str, float | None]
TWO_DECIMALS = 0.0051
"""How far a number of two printed decimals may be from the truth (and a little for binary fractions)."""
ONE_DECIMAL = 0.0501

ACCURACY = "wildtoolbench_table6_accuracy"
ORCHESTRATION = "wildtoolbench_table7_orchestration"
ERRORS = "wildtoolbench_table8_errors"
TASKS, SESSIONS = 1024, 256
"""Of WildToolBench; a quarter of the tasks is of each type, and a quarter at each position."""
DENOMINATORS = {
    "acc_parallel": 157, "acc_sequential": 16, "acc_mixed": 84, "acc_multi_overall": SESSIONS, "ap_sequential": 53,
    "ap_mixed": 544, "ap_overall": 597, "op_parallel": 157, "op_mixed": 84, "op_overall": 241,
}  # fmt: skip
TYPES = ("single_tool", "multi_tool", "clarify", "chat")
POSITIONS = ("task_1", "task_2", "task_3", "task_4")
SPELLINGS = {
    "Gemini2.5 pro": "Gemini-2.5-Pro", "GPT4o": "GPT-4o", "Claude-Sonnet 4": "Claude-4-Sonnet",
    "Claude-Opus 4": "Claude-4.1-Opus", "GPT5": "GPT-5", "Grok 4": "Grok-4", "GLM4.5": "GLM-4.5", "K2": "Kimi-K2",
    "DeepSeek R1": "DeepSeek-R1", "DeepSeek V3": "DeepSeek-V3",
}  # fmt: skip
"""Models of Table 5 as Table 6 names them."""
ENVIRONMENTS = {"clean": 105, "slight": 210, "medium": 210, "heavy": 210, "union": 105}
LEVELS = ("tool_selection", "parameter_identification", "content_filling")
DIRECT_HARM, DATA_STEALING = 510, 544
"""Cases of InjecAgent."""

MULTI_TURN, IRRELEVANCE = 800, 240
"""Entries of BFCL."""
ANNOTATED = 200
"""Of them, those whose errors ToLeaP's authors wrote down."""


@dataclass(frozen=True, slots=True)
class ArithmeticRule:
    """Something that must hold in every row of a table."""

    table: str
    says: str
    claims: Callable[[PublishedRow], Iterable[Claim]]
    tolerance: float
    """How far rounding alone may take a printed number from what follows from the others."""
    relation: Literal["is", "at most"] = "is"


def rules(as_printed: bool) -> list[ArithmeticRule]:
    """All rules, by paper and table."""
    return [*wildtoolbench(), *acebench(as_printed), *toleap()]


def wildtoolbench() -> Iterable[ArithmeticRule]:
    accuracy = values_by_model(ACCURACY)
    for what, parts in (("types", TYPES), ("positions", POSITIONS)):
        says = f"task accuracy is the mean of the four {what}"
        yield ArithmeticRule(ACCURACY, says, mean_of("task_accuracy", parts), 2 * TWO_DECIMALS)
    counts = dict.fromkeys((*TYPES, *POSITIONS, "session_accuracy"), SESSIONS) | {"task_accuracy": TASKS}
    yield ArithmeticRule(
        ACCURACY, "rates are whole numbers of 256 (1,024 tasks)", whole_counts(counts), TWO_DECIMALS
    )
    yield ArithmeticRule(
        ACCURACY,
        "no more sessions are right than tasks at any position",
        lambda row: [(p, row.values["session_accuracy"], row.values[p]) for p in POSITIONS],
        TWO_DECIMALS,
        "at most",
    )
    yield from _orchestration(accuracy)
    yield from _errors(accuracy)
    yield ArithmeticRule(
        "wildtoolbench_table5_other_benchmarks",
        "session accuracy is that of Table 6",
        lambda row: [
            (
                "session accuracy",
                row.values["wildtoolbench_session"],
                accuracy[SPELLINGS[row.model]]["session_accuracy"],
            )
        ],
        ONE_DECIMAL,
    )


def _orchestration(accuracy: Mapping[str, Values]) -> Iterable[ArithmeticRule]:
    yield ArithmeticRule(
        ORCHESTRATION,
        "rates are whole numbers of 157, 16, 84, 256 tasks; 53, 544, 597 nodes; 157, 84, 241 tasks",
        whole_counts(DENOMINATORS),
        TWO_DECIMALS,
    )
    for says, what, overall, parts in (
        (
            "right tasks of the three shapes (157 + 16 + 84 = 257 tasks) are those of the multi-tool type (256 tasks)",
            "right tasks",
            "acc_multi_overall",
            ("acc_parallel", "acc_sequential", "acc_mixed"),
        ),
        ("overall AP counts what its parts count", "count", "ap_overall", ("ap_sequential", "ap_mixed")),
        ("overall OP counts what its parts count", "count", "op_overall", ("op_parallel", "op_mixed")),
    ):
        yield ArithmeticRule(
            ORCHESTRATION,
            says,
            lambda row, what=what, overall=overall, parts=parts: [
                (what, counted(row, overall), sum(counted(row, part) or 0 for part in parts))
            ],
            0.5,
        )
    yield ArithmeticRule(
        ORCHESTRATION,
        "no shape has more optimal than right tasks",
        lambda row: [(s, row.values[f"op_{s}"], row.values[f"acc_{s}"]) for s in ("parallel", "mixed")],
        TWO_DECIMALS,
        "at most",
    )
    yield ArithmeticRule(
        ORCHESTRATION,
        "accuracy of multi-tool tasks is that of Table 6",
        lambda row: [
            ("multi-tool", row.values["acc_multi_overall"], accuracy.get(row.model, {}).get("multi_tool"))
        ],
        0,
    )


def _errors(accuracy: Mapping[str, Values]) -> Iterable[ArithmeticRule]:
    def wrong(row: PublishedRow, column: str, tasks: int) -> int | None:
        right = count_of(accuracy.get(row.model, {}).get(column), tasks)
        return None if right is None else tasks - right

    def refusals(row: PublishedRow) -> Iterable[Claim]:
        found = count_of(row.values["wrong_refusal"], wrong(row, "task_accuracy", TASKS))
        yield "wrong refusals", found, wrong(row, "chat", SESSIONS)

    yield ArithmeticRule(
        ERRORS, "shares sum to 100", lambda row: [("sum", summed(row.values), 100.0)], 9 * TWO_DECIMALS
    )
    yield ArithmeticRule(
        ERRORS,
        "shares are whole numbers of the wrong tasks of Table 6",
        lambda row: whole_counts(dict.fromkeys(row.values, wrong(row, "task_accuracy", TASKS)))(row),
        TWO_DECIMALS,
    )
    yield ArithmeticRule(
        ERRORS,
        "Wrong Refusal counts no more than the wrong chat tasks of Table 6",
        refusals,
        0.5,
        "at most",
    )


def acebench(as_printed: bool) -> Iterable[ArithmeticRule]:
    names = ("acebench_en", "acebench_zh", "acebench_en_zh_average")
    english, chinese, both = (values_by_model(name, as_printed) for name in names)
    sizes = {"atom": 6, "single_turn": 2, "multi_turn": 2, "similar_api": 1, "preference": 1}
    parts = {"normal_summary": 0.578, "special": 0.2676, "agent": 0.1545}
    for name in names:
        for says, what, column, weights in (
            ("Normal is the mean of its 12 categories", "Normal", "normal_summary",
             {category: size / 12 for category, size in sizes.items()}),
            ("Overall is 0.578 Normal + 0.2676 Special + 0.1545 Agent", "Overall", "overall", parts),
        ):  # fmt: skip
            yield ArithmeticRule(
                name,
                says,
                lambda row, what=what, column=column, weights=weights: [
                    (what, row.values[column], weighted([(row.values[c], w) for c, w in weights.items()]))
                ],
                2 * ONE_DECIMAL,
            )
    counts = {"atom": 300, "single_turn": 200, "multi_turn": 100, "similar_api": 50, "preference": 50}
    for name in names[:2]:
        yield ArithmeticRule(
            name,
            "rates are whole numbers of 300, 200, 100, 50, 50 and (Special) 150",
            whole_counts(counts | {"special": 150}),
            ONE_DECIMAL,
        )
    yield ArithmeticRule(
        names[2],
        "each number is the mean of the two languages",
        lambda row: [
            (c, value, average([english[row.model][c], chinese[row.model][c]]))
            for c, value in row.values.items()
        ],
        2 * ONE_DECIMAL,
    )
    yield from _acebench_parts(both)


def _acebench_parts(both: Mapping[str, Values]) -> Iterable[ArithmeticRule]:
    ends = ("multi_turn_end", "multi_step_end")
    yield ArithmeticRule(
        "acebench_agent_end_process",
        "the end-to-end accuracies average to Agent of Table 2",
        lambda row: [("Agent", both[row.model]["agent"], average([row.values[end] for end in ends]))],
        2 * ONE_DECIMAL,
    )
    yield ArithmeticRule(
        "acebench_special_subtypes",
        "the subtypes average to Special of Table 2",
        lambda row: [("Special", both[row.model]["special"], average(list(row.values.values())))],
        2 * ONE_DECIMAL,
    )
    subtypes = values_by_model("acebench_special_subtypes", as_printed=False)

    def wrong(row: PublishedRow) -> float | None:
        shares = subtypes.get(row.model)
        return shares and weighted([(shares["incomplete"], -1), (shares["error"], -1), (200, 1)])

    yield ArithmeticRule(
        "acebench_special_errors",
        "the errors are the wrong answers to the 200 incomplete and erroneous requests",
        lambda row: [("errors", summed(row.values), wrong(row))],
        0,
    )


def toleap() -> Iterable[ArithmeticRule]:
    yield ArithmeticRule(
        "toleap_rotbench",
        "rates are whole numbers of 105 (clean, union) and 210",
        whole_counts({f"{env}_{level}": count for env, count in ENVIRONMENTS.items() for level in LEVELS}),
        TWO_DECIMALS,
    )
    yield ArithmeticRule(
        "toleap_rotbench",
        "no more parameters than tools are right, and no more values than parameters",
        lambda row: [
            (f"{env}_{deeper}", row.values[f"{env}_{deeper}"], row.values[f"{env}_{level}"])
            for env in ENVIRONMENTS
            for level, deeper in itertools.pairwise(LEVELS)
        ],
        0,
        "at most",
    )
    yield from _injecagent()
    files = {"level1_given_desc": 214 / 264, "level2_toolsearcher": 50 / 264}
    yield ArithmeticRule(
        "toleap_apibank",
        "the average weighs level 1 by 214 dialogue files and level 2 by 50",
        lambda row: [
            (
                "average",
                row.values["weighted_average"],
                weighted([(row.values[level], weight) for level, weight in files.items()]),
            )
        ],
        2 * TWO_DECIMALS,
    )
    yield ArithmeticRule(
        "toleap_autonomous_bfcl",
        "the average is the mean of the five",
        mean_of("average", ("simple", "multiple", "parallel", "parallel_multiple", "irrelevance")),
        2 * TWO_DECIMALS,
    )
    yield ArithmeticRule(
        "toleap_autonomous_bfcl",
        "irrelevance is a whole number of BFCL's 240 entries",
        whole_counts({"irrelevance": IRRELEVANCE}),
        TWO_DECIMALS,
    )
    yield from _findings()


def _findings() -> Iterable[ArithmeticRule]:
    def robustness(row: PublishedRow) -> Iterable[Claim]:
        filled = values_by_model("toleap_rotbench")[row.model]
        right = average([filled[f"{environment}_content_filling"] for environment in ENVIRONMENTS])
        yield "rotbench_failed", row.values["rotbench_failed"], None if right is None else 100 - right

    yield ArithmeticRule(
        "toleap_generalisation",
        "what fails of RoTBench is what is not right in Table 3 (values, mean of the environments)",
        robustness,
        2 * TWO_DECIMALS,
    )
    yield ArithmeticRule(
        "toleap_generalisation",
        "the share of BFCL's REST cases is that of 28 of 70",
        lambda row: [("bfcl_rest_failed", row.values["bfcl_rest_failed"], 100 * 28 / 70)],
        ONE_DECIMAL,
    )
    yield ArithmeticRule(
        "toleap_key_clues",
        "accuracies are whole numbers of the 800 multi-turn entries",
        whole_counts({"accuracy": MULTI_TURN}),
        TWO_DECIMALS,
    )
    yield ArithmeticRule(
        "toleap_key_clues",
        "the types of error are whole numbers of the same bad cases, of 200 examples at most",
        whole_counts_of_one_total(("type_1", "type_2", "type_3"), ANNOTATED),
        ONE_DECIMAL,
    )


def _injecagent() -> Iterable[ArithmeticRule]:
    table, cases = "toleap_injecagent", DIRECT_HARM + DATA_STEALING
    for over in ("valid", "all"):
        yield ArithmeticRule(
            table,
            f"ASR-{over} (Total) lies between Direct Harm and Data Stealing",
            lambda row, over=over: [between_parts(row, f"asr_{over}")],
            ONE_DECIMAL,
        )

    def total(row: PublishedRow) -> Iterable[Claim]:
        parts = {"asr_all_direct_harm": DIRECT_HARM, "asr_all_data_stealing": DATA_STEALING}
        expected = weighted([(row.values[part], count / cases) for part, count in parts.items()])
        yield "asr_all_total", row.values["asr_all_total"], expected

    yield ArithmeticRule(
        table,
        "ASR-all (Total) weighs Direct Harm by 510 cases and Data Stealing by 544",
        total,
        2 * ONE_DECIMAL,
    )

    def stealing(row: PublishedRow) -> Iterable[Claim]:
        first, second = row.values["asr_all_s1"], row.values["asr_all_s2"]
        expected = None if first is None or second is None else first * second / 100
        yield "asr_all_data_stealing", row.values["asr_all_data_stealing"], expected

    # The product of two rounded shares, and a rounded share.
    yield ArithmeticRule(table, "ASR-all (Data Stealing) is S1 times S2", stealing, 3 * ONE_DECIMAL)
    yield ArithmeticRule(
        table,
        "no rate over all outputs exceeds that over the readable ones (S2, which is of successes of S1, left out)",
        lambda row: [
            (f"asr_all_{part}", row.values[f"asr_all_{part}"], row.values[f"asr_valid_{part}"])
            for part in ("direct_harm", "s1", "data_stealing", "total")
        ],
        0,
        "at most",
    )


def values_by_model(table: str, as_printed: bool = False) -> dict[str, Values]:
    return {row.model: row.values for row in read_table(table, numbers_as_printed=as_printed).rows}


def mean_of(column: str, parts: Iterable[str]) -> Callable[[PublishedRow], Iterable[Claim]]:
    return lambda row: [(column, row.values[column], average([row.values[part] for part in parts]))]


def whole_counts(counts: Mapping[str, int | None]) -> Callable[[PublishedRow], Iterable[Claim]]:
    """Each number must be a whole count of its denominator; the expected one is the nearest that is."""

    def nearest(percent: float | None, of: int | None) -> float | None:
        count = count_of(percent, of)
        return None if count is None or not of else 100 * count / of

    return lambda row: [(c, row.values[c], nearest(row.values[c], of)) for c, of in counts.items()]


def whole_counts_of_one_total(columns: Sequence[str], most: int) -> Callable[[PublishedRow], Iterable[Claim]]:
    """The numbers must be whole counts of one denominator of at most `most`, by that which fits best."""

    def nearest(row: PublishedRow, of: int) -> list[Claim]:
        return list(whole_counts(dict.fromkeys(columns, of))(row))

    def distance(claims: Iterable[Claim]) -> float:
        return max(abs((printed or 0.0) - (expected or 0.0)) for _, printed, expected in claims)

    return lambda row: min((nearest(row, of) for of in range(1, most + 1)), key=distance)


def count_of(percent: float | None, of: int | None) -> int | None:
    return None if percent is None or of is None else round(percent * of / 100)


def counted(row: PublishedRow, column: str) -> int | None:
    return count_of(row.values[column], DENOMINATORS[column])


def between_parts(row: PublishedRow, prefix: str) -> Claim:
    total, *parts = (row.values[f"{prefix}_{part}"] for part in ("total", "direct_harm", "data_stealing"))
    known = [part for part in parts if part is not None]
    unknown = total is None or len(known) < 2
    return f"{prefix}_total", total, None if unknown else min(max(total, min(known)), max(known))


def summed(values: Values) -> float:
    return sum(value for value in values.values() if value is not None)


def average(values: list[float | None]) -> float | None:
    return weighted([(value, 1 / len(values)) for value in values])


def weighted(terms: list[tuple[float | None, float]]) -> float | None:
    """The sum of values times weights; None where one of them is missing."""
    return None if any(v is None for v, _ in terms) else sum(v * w for v, w in terms if v is not None)
