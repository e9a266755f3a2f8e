"""WildToolBench: sessions of four tasks by users who talk like real users, and our own small set in its format."""

from collections.abc import Mapping
from pathlib import Path

from wildtool.benchmark import Benchmark, Profile, part
from wildtool.types import Upstream


class WildToolBench(Benchmark):
    """The benchmark, over the official data or over the embedded set."""

    name = "wildtoolbench"
    title = "WildToolBench: 256 sessions of real users' tool use (official data)"
    profiles: Mapping[str, str] = {
        "official": Profile(
            "what the published evaluator computes, verdict for verdict",
            Upstream("yupeijei1997/WildToolBench", "80a5f427fb26c9a14eb419ccb565675671650065", "2026-04-05"),
        ),
        "fixed": "its known faults corrected: calls bound by arguments, values compared by meaning",
        "paper": Profile(
            "the older evaluator behind the paper's tables, with its error taxonomy",
            Upstream("yupeijei1997/WildToolBench", "e16397024e12451534e2e1aa74982961415c4278"),
        ),
    }
    modes: Mapping[str, str] = {"fc": "native tool calls"}
    gold_styles = ("parallel", "serial")
    card = Path(__file__).parent / "card.md"
    columns: Mapping[str, str] = {
        "task_type": "VARCHAR",
        "position": "INTEGER",
        "subtype": "VARCHAR",
        "transitions": "INTEGER",
        "gold_calls": "INTEGER",
        "turns": "INTEGER",
        "topology": "VARCHAR",
        "orchestration": "VARCHAR",
        "optimal": "BOOLEAN",
        "ap_done": "INTEGER",
        "ap_total": "INTEGER",
        "nodes_done": "INTEGER",
        "nodes": "INTEGER",
        "error_label": "VARCHAR",
        "reference_error": "VARCHAR",
        "asked_back": "BOOLEAN",
    }

    data = part("wildtool.benchmarks.wildtoolbench.data:DATA")
    load = part("wildtool.benchmarks.wildtoolbench.data:load")
    rules = part("wildtool.benchmarks.wildtoolbench.judge:rules_of")
    fields = part("wildtool.benchmarks.wildtoolbench.judge:fields")
    tables = part("wildtool.benchmarks.wildtoolbench.summary:TABLES")
    published = part("wildtool.benchmarks.wildtoolbench.summary:PUBLISHED")


class WildMini(WildToolBench):
    """The same over the embedded set."""

    name = "wild-mini"
    title = "wild-mini: 32 sessions we wrote in WildToolBench's format, built in"
    data = part("wildtool.benchmarks.wildtoolbench.data:MINI_DATA")


WILDTOOLBENCH = WildToolBench()
WILD_MINI = WildMini()
