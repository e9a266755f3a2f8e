"""The benchmarks, one folder each, all with the same file names."""

from collections.abc import Mapping

OURS: Mapping[str, str] = {
    "wildtoolbench": "wildtool.benchmarks.wildtoolbench:WILDTOOLBENCH",
    "acebench": "wildtool.benchmarks.acebench:ACEBENCH",
    "rotbench": "wildtool.benchmarks.rotbench:ROTBENCH",
    "taskbench": "wildtool.benchmarks.taskbench:TASKBENCH",
    "sealtools": "wildtool.benchmarks.sealtools:SEALTOOLS",
    "teval": "wildtool.benchmarks.teval:TEVAL",
    "wild-mini": "wildtool.benchmarks.wildtoolbench:WILD_MINI",
}
"""By name the module and the benchmark in it, as entry points are written."""
