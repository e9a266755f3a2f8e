"""Numbers of replies given by hand, as a run's table of verdicts gives them."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from wildtool.alter.variant import Variant
from wildtool.benchmark import Benchmark
from wildtool.engine.score.judge import safe_judge
from wildtool.engine.score.verdict_table import RunInfo, VerdictTable, relation
from wildtool.types import Item, Metric, Reply, Transcript


def judge_metrics(
    benchmark: Benchmark,
    items: Iterable[Item],
    replies: Mapping[str, str | None] | Mapping[str, Mapping[str, str]] | Mapping[str, Transcript],
    profile: str,
    place: Path,
) -> dict[tuple[str, str], Metric]:
    """The metrics of one text or record for each item, or a text for each of its units, by group and name."""
    player = RunInfo(run="parity", model="oracle", benchmark=benchmark.name, profile=profile)
    with VerdictTable(place / f"{profile}.parquet", Variant(benchmark)) as table:
        for order, item in enumerate(items):
            given = replies[item.id]
            texts = given if isinstance(given, Mapping) else {"0": given}
            transcripts = {
                unit: text
                if isinstance(text, Transcript)
                else Transcript((Reply({"role": "assistant", "content": text}),))
                for unit, text in texts.items()
            }
            verdicts, fault = safe_judge(Variant(benchmark), item, transcripts, profile)
            assert fault is None, (item.id, fault)
            table.add(order, player, item, 0, verdicts, {})
        metrics = benchmark.summarize(relation([table.write()]), profile)
    return {(metric.group, metric.name): metric for metric in metrics}
