"""How much code there is to know. Lines of code are counted without blank lines, comments and docstrings.

Each part has a budget with room in it, so that a change never has to pack a line to save another. Budgets are looked at
before a release: what a part really takes, and 5 % more. A part that needs more in between raises its own.

The core is what one must know to change how wildtool measures. The rest are leaves: nothing of the core uses them, but
the tables that name them. So are benchmarks, alterations and providers, which are behind a table or an entry point, and
what is built on the core: the command line, the tables and comparisons that it prints, reports, workers, checks.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from source_files import ROOT, lines_of_code, read, source_files, source_name
from test_layers import named_module, own_imports

BUDGETS = {
    "": 3150,
    "alter": 7600,
    "benchmarks": 90,
    "benchmarks/acebench": 6340,
    "benchmarks/apibank": 1780,
    "benchmarks/bfcl": 4210,
    "benchmarks/glaive": 450,
    "benchmarks/injecagent": 1090,
    "benchmarks/ledger": 1590,
    "benchmarks/own_tools": 170,
    "benchmarks/rotbench": 650,
    "benchmarks/sealtools": 880,
    "benchmarks/taskbench": 1360,
    "benchmarks/teval": 1060,
    "benchmarks/wildtoolbench": 3800,
    "agents": 5500,
    "api": 1950,
    "blame": 1550,
    "board": 960,
    "gating": 900,
    "own_cases": 5260,
    "check": 2650,
    "cli": 5400,
    "config": 800,
    "data": 1240,
    "engine": 11_100,
    "export": 1750,
    "judges": 3550,
    "models": 5800,
    "published": 130,
    "report": 4100,
    "scale": 2790,
    "shapes": 2400,
    "stats": 1050,
    "table": 400,
    "terminal": 560,
    "tool_formats": 2290,
    "toolcall": 4850,
    "tools": 3750,
    "traces": 1620,
    "training": 3200,
    "wildtool_data": 18_700,
    "wildtool_review": 7500,
    "wildtool_train": 2160,
}
"""Lines of code below each folder of wildtool (its own modules under the empty name), and of each other package."""
MOST_OF_CORE = 25_000
"""Decision 0052."""
LEAVES = (
    "agents",
    "blame",
    "judges",
    "alter/agent",
    "alter/expose",
    "alter/hints",
    "alter/distractors",
    "alter/failures",
    "alter/history",
    "alter/injection",
    "alter/noise",
    "alter/tool_answers",
    "benchmarks",
    "board",
    "gating",
    "own_cases",
    "export",
    "check",
    "models/baselines",
    "models/batch",
    "models/local",
    "models/providers",
    "api/bench",
    "api/gating",
    "api/door",
    "api/keywords",
    "api/notebook",
    "api/results",
    "api/runs",
    "api/scoring",
    "cli",
    "data/embeddings",
    "data/upstream",
    "engine/batch",
    "engine/compare",
    "engine/record/case_labels",
    "engine/record/worker_list",
    "engine/run/estimate",
    "engine/score/audit",
    "engine/score/explain",
    "engine/score/kept_verdicts",
    "engine/score/label_metrics",
    "engine/score/matrix",
    "engine/score/number_units",
    "engine/score/probing",
    "engine/series",
    "engine/suite",
    "models/function",
    "models/probe",
    "models/reread",
    "models/sandbox",
    "published",
    "report",
    "scale",
    "shapes/record_files",
    "shapes/sessions",
    "stats/beta",
    "stats/judged",
    "stats/learning_curve",
    "stats/power",
    "table",
    "terminal",
    "tools",
    "traces",
    "training",
)
"""What is no part of the core, beside the verbs of each package: one of them can be changed by who knows the core and
nothing of the others."""
CONTRACTS = ("models/batch/protocol.py", "models/providers/base.py")
"""What leaves have in common, which is core."""
TABLES: Mapping[str, tuple[str, ...]] = {
    "__init__.py": ("agents/", "api/", "judges/", "stats/judged.py"),
    "__main__.py": ("cli/",),
    "alter/kinds.py": ("alter/",),
    "api/meaning.py": ("alter/", "tools/sources/named.py"),
    "api/plans.py": ("agents/", "alter/agent/"),
    "api/settings.py": ("agents/agent.py",),
    "config/named_models.py": ("models/providers/ranker.py",),
    "config/whitelist.py": ("tools/sources/mcp.py",),
    "engine/registry.py": ("benchmarks/__init__.py",),
    "engine/run/runner.py": ("engine/batch/",),
    "engine/run/scheduler.py": ("engine/batch/",),
    "engine/score/results.py": ("engine/score/label_metrics.py",),
    "models/resolve.py": ("models/baselines/", "models/local/", "models/providers/", "models/sandbox.py"),
    "models/retrievers.py": ("models/providers/embeddings.py",),
}
"""Modules of the core in which a name or a setting becomes the leaf that it is, with those leaves."""
NEW_PART = 500
"""The budget of a folder that has none yet."""


def part(path: Path) -> str:
    parts = source_name(path).split("/")[:-1]
    return "/".join(parts[: 2 if parts[:1] == ["benchmarks"] else 1])


def weights() -> dict[str, int]:
    counted = dict.fromkeys(BUDGETS, 0)
    for path in source_files():
        counted[part(path)] = counted.get(part(path), 0) + read(path).lines
    return counted


def is_core(name: str) -> bool:
    """Whether a module belongs to the core. Args: name: as of `source_name`."""
    is_verb = "commands" in name.removesuffix(".py").split("/")
    is_leaf = any(name == f"{leaf}.py" or name.startswith(f"{leaf}/") for leaf in LEAVES)
    return name in CONTRACTS or not (is_verb or is_leaf)


def core() -> dict[str, Path]:
    paths = {source_name(path): path for path in ROOT.rglob("*.py")}
    return {name: path for name, path in paths.items() if is_core(name)}


def leaves_used_by(path: Path) -> Iterator[str]:
    """The leaves that a module imports, or names in a text `module:name`, and that it is no table of."""
    for used_name in (*own_imports(path), *filter(None, map(named_module, read(path).texts))):
        parts = used_name.split(".")
        places = [ROOT.joinpath(*parts[:length]) for length in range(len(parts), 0, -1)]
        files = (file for place in places for file in (place.with_suffix(".py"), place / "__init__.py"))
        used = source_name(next(file for file in files if file.exists()))
        if not is_core(used) and not used.startswith(TABLES.get(source_name(path), ("-",))):
            yield used


def test_the_core_can_be_learned():
    assert sum(read(path).lines for path in core().values()) <= MOST_OF_CORE


def test_nothing_of_the_core_uses_a_leaf():
    used = {name: leaves for name, path in core().items() if (leaves := [*leaves_used_by(path)])}
    assert not used
    assert TABLES.keys() | {*CONTRACTS} <= core().keys(), "take out what is gone"


def test_what_is_counted():
    text = '"""A\ndocstring."""\n\n# Why.\nx = """two\nlines"""  # here\n\n\ndef f(\n    y,\n):\n    "D"\n    return y\n'
    assert lines_of_code(text) == 6


def test_each_part_keeps_its_budget():
    over = {
        name: (lines, BUDGETS.get(name, NEW_PART))
        for name, lines in weights().items()
        if lines > BUDGETS.get(name, NEW_PART)
    }
    assert not over, "lines of code and budget: raise the budget if the part has to grow"
