"""The ledger: a live account book, and users who correct themselves, ask, and want each thing written once."""

from collections.abc import Mapping
from pathlib import Path

from wildtool.benchmark import Benchmark, part

_EACH = range(1, 5)
_COUNTS = (
    "ended_right", "writes_too_many", "written_twice", "not_asked_for", "wrong_on_the_way", "earlier_mistakes",
    "corrections_once", "questions_unwritten", "refused_turns", "recovered", "shortest", "tool_calls", "least_calls",
)  # fmt: skip


class LedgerBenchmark(Benchmark):
    """The benchmark, over the set that comes with it, or over sessions of another seed."""

    name = "ledger"
    title = "ledger: 200 sessions of four turns over a live account book, in English and Chinese, built in"
    profiles: Mapping[str, str] = {
        "ledger": "by the book that each turn leaves, by the amount said, and by harm"
    }
    modes: Mapping[str, str] = {"fc": "native tool calls"}
    gold_styles = ("parallel", "serial")
    headline: Mapping[str, tuple[str, str]] = {"ledger": ("accuracy", "task")}
    columns: Mapping[str, str] = {
        **{f"kind_{place}": "VARCHAR" for place in _EACH},
        **{f"right_{place}": "BOOLEAN" for place in _EACH},
        **dict.fromkeys(_COUNTS, "INTEGER"),
    }
    card = Path(__file__).parent / "card.md"
    data = part("wildtool.benchmarks.ledger.sessions:DATA")
    load = part("wildtool.benchmarks.ledger.sessions:load")
    fields = part("wildtool.benchmarks.ledger.judge:fields")
    rules = part("wildtool.benchmarks.ledger.judge:rules")
    tables = part("wildtool.benchmarks.ledger.summary:TABLES")


LEDGER = LedgerBenchmark()
