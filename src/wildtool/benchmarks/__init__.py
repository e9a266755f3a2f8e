"""The benchmarks, one folder each, all with the same file names."""

from collections.abc import Mapping

OURS: Mapping[str, str] = {
    "wildtoolbench": "wildtool.benchmarks.wildtoolbench:WILDTOOLBENCH",
    "acebench": "wildtool.benchmarks.acebench:ACEBENCH",
    "apibank": "wildtool.benchmarks.apibank:APIBANK",
    "rotbench": "wildtool.benchmarks.rotbench:ROTBENCH",
    "taskbench": "wildtool.benchmarks.taskbench:TASKBENCH",
    "sealtools": "wildtool.benchmarks.sealtools:SEALTOOLS",
    "glaive": "wildtool.benchmarks.glaive:GLAIVE",
    "injecagent": "wildtool.benchmarks.injecagent:INJECAGENT",
    "teval": "wildtool.benchmarks.teval:TEVAL",
    "bfcl": "wildtool.benchmarks.bfcl:BFCL_BENCHMARK",
    "wild-mini": "wildtool.benchmarks.wildtoolbench:WILD_MINI",
    "ledger": "wildtool.benchmarks.ledger:LEDGER",
}
"""By name the module and the benchmark in it, as entry points are written."""
SHIPPED = "wild-mini"
"""The benchmark whose data are installed with wildtool."""
OF_ANY_FILE: Mapping[str, str] = {
    "training": "wildtool.training.procedures.playing:TRAINING",
    "own-tools": "wildtool.benchmarks.own_tools:OWN_TOOLS",
    "judge-audit": "wildtool.judges.benchmark:JUDGE_AUDIT",
}
"""Also built in, over any file of the user: they are in no suite, and no file is recognised as theirs."""
HIDDEN = ("training", "judge-audit")
"""Names that still work and that lists leave out: `wildtool run FILE` is the way to run a training file, and
`wildtool audit BENCH --judge NAME` that to audit a judge."""
OWN_CASES = "wildtool.own_cases.benchmark:OWN_CASE_FILES"
"""What makes a benchmark of a file of own cases, and tells which files hold some."""

TOLEAP = ("taskbench", "sealtools", "rotbench", "glaive", "injecagent", "teval", "apibank", "bfcl")
"""ToLeaP's one-click set, in its order."""
SUITES: Mapping[str, str] = {
    "toleap": "the benchmarks that ToLeaP runs with one click",
    "all": "every benchmark of wildtool",
}
"""Names under which `wildtool run` runs several benchmarks, each with one line about it."""
