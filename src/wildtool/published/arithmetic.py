"""What follows from the printed numbers of a row: means, counts behind shares, weighted sums."""

from collections.abc import Callable, Iterable, Mapping

from wildtool.published import PublishedRow

Claim = tuple[str, float | None, float | None]
"""What is looked at, the number printed, and the number that it must be; None where the paper has none."""
TWO_DECIMALS = 0.0051
"""How far a number of two printed decimals may be from the truth (and a little for binary fractions)."""
ONE_DECIMAL = 0.0501

ACCURACY_TABLE = "wildtoolbench_table6_accuracy"
ORCHESTRATION_TABLE = "wildtoolbench_table7_orchestration"
ERRORS_TABLE = "wildtoolbench_table8_errors"
TASK_COUNT = 1024
SESSION_COUNT = 256
"""Also the tasks of each type and at each position."""
DENOMINATORS = {
    "acc_parallel": 157,
    "acc_sequential": 16,
    "acc_mixed": 84,
    "acc_multi_overall": SESSION_COUNT,
    "ap_sequential": 53,
    "ap_mixed": 544,
    "ap_overall": 597,
    "op_parallel": 157,
    "op_mixed": 84,
    "op_overall": 241,
}
TYPE_COLUMNS = ("single_tool", "multi_tool", "clarify", "chat")
POSITION_COLUMNS = ("task_1", "task_2", "task_3", "task_4")
ENVIRONMENTS = {"clean": 105, "slight": 210, "medium": 210, "heavy": 210, "union": 105}
DIRECT_HARM, DATA_STEALING = 510, 544
"""Cases of InjecAgent."""


def mean_of(column: str, parts: Iterable[str]) -> Callable[[PublishedRow], Iterable[Claim]]:
    return lambda row: [(column, row.values[column], average([row.values[part] for part in parts]))]


def whole_counts(counts: Mapping[str, int | None]) -> Callable[[PublishedRow], Iterable[Claim]]:
    """Each number must be a whole count of its denominator; the expected one is the nearest that is."""
    return lambda row: [
        (column, row.values[column], as_share(row.values[column], count)) for column, count in counts.items()
    ]


def as_share(percent: float | None, of: int | None) -> float | None:
    count = count_of(percent, of)
    return None if count is None or not of else 100 * count / of


def count_of(percent: float | None, of: int | None) -> int | None:
    return None if percent is None or of is None else round(percent * of / 100)


def summed_counts(
    row: PublishedRow, kind: str, overall: str, *shapes: str, parallel: bool = True
) -> tuple[float | None, float | None]:
    """The count of an overall rate, and the sum of the counts of its parts."""
    parts = [f"{kind}_{shape}" for shape in (*(("parallel",) if parallel else ()), *shapes, "mixed")]
    counts = [count_of(row.values[part], DENOMINATORS[part]) for part in parts]
    return count_of(row.values[overall], DENOMINATORS[overall]), sum(n for n in counts if n is not None)


def wrong_tasks(accuracy: Mapping[str, float | None] | None) -> int | None:
    right = count_of(accuracy["task_accuracy"], TASK_COUNT) if accuracy else None
    return None if right is None else TASK_COUNT - right


def wrong_refusals(
    row: PublishedRow, accuracy: Mapping[str, float | None] | None
) -> tuple[float | None, float | None]:
    chats = count_of(accuracy["chat"], SESSION_COUNT) if accuracy else None
    found = count_of(row.values["wrong_refusal"], wrong_tasks(accuracy))
    return found, None if chats is None else SESSION_COUNT - chats


SPELLINGS = {
    "Gemini2.5 pro": "Gemini-2.5-Pro",
    "GPT4o": "GPT-4o",
    "Claude-Sonnet 4": "Claude-4-Sonnet",
    "Claude-Opus 4": "Claude-4.1-Opus",
    "GPT5": "GPT-5",
    "Grok 4": "Grok-4",
    "GLM4.5": "GLM-4.5",
    "K2": "Kimi-K2",
    "DeepSeek R1": "DeepSeek-R1",
    "DeepSeek V3": "DeepSeek-V3",
}
"""Models of Table 5 as Table 6 names them."""


def session_accuracy(row: PublishedRow, accuracy: Mapping[str, Mapping[str, float | None]]) -> float | None:
    return accuracy[SPELLINGS[row.model]]["session_accuracy"]


def normal_mean(values: Mapping[str, float | None]) -> float | None:
    heavy = {"atom": 6, "single_turn": 2, "multi_turn": 2, "similar_api": 1, "preference": 1}
    return average([values[column] for column, weight in heavy.items() for _ in range(weight)])


def overall_mean(values: Mapping[str, float | None]) -> float | None:
    weights = {"normal_summary": 0.578, "special": 0.2676, "agent": 0.1545}
    return weighted([(values[column], weight) for column, weight in weights.items()])


def wrong_specials(subtypes: Mapping[str, float | None] | None) -> float | None:
    return (
        None
        if subtypes is None
        else weighted([(subtypes["incomplete"], -1), (subtypes["error"], -1), (200, 1)])
    )


def between_parts(row: PublishedRow, prefix: str) -> Claim:
    total, *parts = (row.values[f"{prefix}_{part}"] for part in ("total", "direct_harm", "data_stealing"))
    low, high = (
        (min(known), max(known)) if len(known := [p for p in parts if p is not None]) == 2 else (None,) * 2
    )
    expected = None if total is None or low is None or high is None else min(max(total, low), high)
    return f"{prefix}_total", total, expected


def weighted_harm(row: PublishedRow) -> float | None:
    cases = DIRECT_HARM + DATA_STEALING
    harm, stealing = row.values["asr_all_direct_harm"], row.values["asr_all_data_stealing"]
    return weighted([(harm, DIRECT_HARM / cases), (stealing, DATA_STEALING / cases)])


def by_files(row: PublishedRow) -> float | None:
    first, second = row.values["level1_given_desc"], row.values["level2_toolsearcher"]
    return weighted([(first, 214 / 264), (second, 50 / 264)])


def product(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first * second / 100


def summed(values: Mapping[str, float | None]) -> float:
    return sum(value for value in values.values() if value is not None)


def average(values: list[float | None]) -> float | None:
    return weighted([(value, 1 / len(values)) for value in values])


def weighted(terms: Iterable[tuple[float | None, float]]) -> float | None:
    """The sum of values times weights; None where one of them is missing."""
    known = list(terms)
    return (
        None if any(v is None for v, _ in known) else sum(v * weight for v, weight in known if v is not None)
    )
