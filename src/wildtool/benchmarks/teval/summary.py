"""T-Eval's numbers: the eleven scores of ToLeaP's table and what they are made of; its pages; the published rows."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from wildtool.benchmarks.teval.rules import TEVAL_ERRORS
from wildtool.benchmarks.teval.scores import EVALUATORS
from wildtool.data.embeddings import REFERENCE_MODEL
from wildtool.published import as_metrics
from wildtool.stats.metrics import Rate, mean_of_rates
from wildtool.stats.tables import Computed, Table, TableNumber, error_table, usual_tables
from wildtool.types import Metric

TABLE, ABILITIES, PARTS = "scores", "abilities", "parts of scores"
COLUMNS: Mapping[str, tuple[str, str, str]] = {
    "Instruct str": ("split = 'instruct' AND form = 'string'", "format", "arguments"),
    "Instruct json": ("split = 'instruct' AND form <> 'string'", "format", "arguments"),
    "Plan str": ("split = 'plan_str'", "f1", ""),
    "Plan json": ("split = 'plan_json'", "f1", ""),
    "Reason str": ("split = 'reason_str'", "thought", ""),
    "Reason json": ("split = 'rru_json'", "thought", ""),
    "Retrieve str": ("split = 'retrieve_str'", "name", ""),
    "Retrieve json": ("split = 'rru_json'", "name", ""),
    "Understand str": ("split = 'understand_str'", "args", ""),
    "Understand json": ("split = 'rru_json'", "args", ""),
    "Review str": ("split = 'review_str'", "quality", ""),
}
"""The eleven scores in ToLeaP's order: which records, and the columns whose mean it is."""
MEAN_OF_COLUMNS, OVERALL = "mean of columns", "overall"


def _scores(verdicts: Any, profile: str) -> Iterator[TableNumber]:
    """The scores that there are records of, and their mean."""
    notes = _notes(verdicts, profile)
    for name, (where, first, second) in COLUMNS.items():
        value = f"COALESCE({first}, 0)" + (f" + COALESCE({second}, 0)" if second else "")
        yield Rate(
            TABLE,
            name,
            where,
            value,
            "2" if second else "1",
            headline=True,
            note=notes[name],
            only_if_any=True,
        )
    yield lambda rates: _mean(TABLE, MEAN_OF_COLUMNS, _scores_there(rates))


def _scores_there(rates: Computed) -> list[Metric]:
    scores = [rates[TABLE, name] for name in COLUMNS]
    return [metric for metric in scores if metric.denominator]


def _parts(verdicts: Any, profile: str) -> Iterator[Rate]:
    """What the scores are made of: format and arguments, precision and recall, and how many answers could be read."""
    notes = _notes(verdicts, profile)
    for name, (where, first, second) in COLUMNS.items():
        columns = (first, second) if second else ("precision", "recall") if first == "f1" else ()
        for column in columns:
            value = f"COALESCE({column}, 0)"
            yield Rate(PARTS, f"{name}: {column}", where, value, note=notes[name], only_if_any=True)
        read = "CAST(COALESCE(parsed, FALSE) AS INTEGER)"
        yield Rate(PARTS, f"{name}: parsed", where, read, only_if_any=True)


def _abilities(rates: Computed) -> list[Metric]:
    """Each ability as the mean of its scores, and the mean of the abilities, as the original's leaderboard has them."""
    scores = _scores_there(rates)
    names = list(dict.fromkeys(metric.name.partition(" ")[0] for metric in scores))
    means = [mean_of_rates(ABILITIES, name, [m for m in scores if m.name.startswith(name)]) for name in names]
    return [*means, *_mean(ABILITIES, OVERALL, means)]


def _mean(group: str, name: str, metrics: Sequence[Metric]) -> list[Metric]:
    return [mean_of_rates(group, name, metrics, headline=True)] if len(metrics) > 1 else []


def _encoders(verdicts: Any, profile: str) -> list[Metric]:
    """How many answers were compared by which encoder."""
    rows = verdicts.filter("encoder IS NOT NULL").aggregate("encoder, COUNT(*)", "encoder").fetchall()
    total = sum(count for _, count in rows)
    return [Metric("encoder", name, None, count, total, kind="count") for name, count in sorted(rows)]


def _notes(verdicts: Any, profile: str) -> Mapping[str, str]:
    """By score what a reader must know of it; only those that depend on the encoder have a note."""
    note, by_meaning = _encoder_note(verdicts), EVALUATORS[profile].by_meaning
    return {name: note if name.partition(" ")[0].lower() in by_meaning else "" for name in COLUMNS}


def _encoder_note(verdicts: Any) -> str:
    """What a reader of plan and reason must know; empty where they were measured like the published ones."""
    rows = verdicts.filter("encoder IS NOT NULL").project("encoder").distinct().fetchall()
    models = sorted(name for (name,) in rows if not name.endswith(REFERENCE_MODEL.rpartition("/")[2]))
    if not models:
        return ""
    return (
        f"not comparable with published numbers, as sentences were compared by the encoder {', '.join(models)} and not by"
        f" {REFERENCE_MODEL}; WILDTOOL_ENCODER names another (docs/benchmarks.md)"
    )


TABLES: Sequence[Table] = (
    Table(
        slug="scores",
        title="Eleven scores",
        about="The columns of ToLeaP's Table 7. str asks for plain text or lines, json for JSON. Instruct is the mean of"
        " keeping a prescribed format and of its action and arguments; Plan is F1 of the steps in order; Reason is how"
        " alike the thought is to the gold one; Retrieve is the API; Understand its arguments; Review judges a tool's"
        " answer by one of five letters.",
        numbers=_scores,
        groups=(TABLE,),
        note="Plan and Reason depend on the encoder that compares sentences; Plan does not under fixed.",
    ),
    Table(
        title="Abilities",
        about="The mean of the str and json score of each ability, and the mean of the abilities, as the original's"
        " leaderboard has them.",
        numbers=lambda verdicts, profile: [_abilities],
        groups=(ABILITIES,),
    ),
    Table(
        slug="parts",
        title="Parts of scores",
        about="What the scores are made of, and the share of answers that could be read. A text is always read, so str"
        " answers are always parsed under the published rules (Q12).",
        numbers=_parts,
        groups=(PARTS, "encoder"),
    ),
    Table(
        numbers=lambda verdicts, profile: [Rate("accuracy", "answer", "TRUE", note=_encoder_note(verdicts))]
    ),
    error_table(TEVAL_ERRORS, "The first thing that is wrong with each wrong answer."),
    Table(numbers=_encoders),
    *usual_tables("answer", "Tokens and seconds of one answer."),
)
"""The numbers, in order, and the pages; the same for every profile."""
_PUBLISHED = {name.lower().replace(" ", "_"): (TABLE, name) for name in COLUMNS}
PUBLISHED = partial(
    as_metrics, "toleap_teval", _PUBLISHED, "toleap", mean=(TABLE, MEAN_OF_COLUMNS), mean_of=tuple(_PUBLISHED)
)
"""ToLeaP's Table 7."""
