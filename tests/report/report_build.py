"""Runs to make reports of: baselines on the embedded set, and a hostile model on hostile data."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from wildtool.benchmark import Benchmark
from wildtool.benchmarks.wildtoolbench import WILD_MINI, WILDTOOLBENCH
from wildtool.cli import app
from wildtool.data.data_set import data_of
from wildtool.engine.plan import Plan
from wildtool.engine.run.runner import run_plan
from wildtool.models.baselines import make_baseline
from wildtool.report.charts.data import ChartData
from wildtool.report.charts.render import Chart
from wildtool.report.model import ReportRun, read_runs
from wildtool.types import Model, Reply, Request

ATTACK = '</script><script>window.hacked=1</script><img src=x onerror="window.hacked=1">'
"""What must never be more than a text."""
FORGED = "\u202egnp.exe\u2066 =HYPERLINK(1) javascript:window.hacked=1 `|` **bold** {{7*7}} \\input{x}"


TWO_MODES = """
from pathlib import Path
from wildtool.benchmark import Check, SingleTurn
from wildtool.types import Item, Request

class Sums(SingleTurn):
    name = "sums"
    title = "sums: one sum, answered by its result"
    modes = {"chat": "messages", "completion": "one text"}
    data = Path(__file__)

    def load(self, source, *, split=None, lang=None):
        for name in "abcd":
            yield Item(name, ("0",), name)

    def request(self, item):
        # As if a model did better when it continues a text.
        known = item.data < ("c" if self.mode == "chat" else "d")
        gold = {"role": "assistant", "content": "right" if known else "wrong"}
        return Request([{"role": "user", "content": item.data}], gold=lambda style: gold)

    def check(self, item, reply, profile):
        return Check(reply.get("content") == "right", "wrong sum", "compared with the sum")
"""
"""A benchmark with two modes, in the second of which baseline/gold has more right."""


@dataclass
class Scripted:
    """Gives the gold answer where a predicate on the address says so, else the same text."""

    name: str
    right: Any = field(default=lambda address: False)
    text: str = "I would rather not."

    async def complete(self, request: Request) -> Reply:
        assert request.gold is not None
        if self.right(request.address):
            return Reply(request.gold("parallel"))
        return Reply({"role": "assistant", "content": self.text})

    async def close(self) -> None: ...

    def settings(self) -> dict[str, Any]:
        return {}


def undrawn(drawing: ChartData) -> Chart:
    """In place of a chart, for tests that look at none: to draw one takes longer than the rest of its page."""
    return Chart("<svg/>", "<svg/>", b"svg", b"png", "")


def play(
    folder: Path,
    model: Model | str,
    *,
    limit: int = 4,
    data: str | None = None,
    repeats: int = 1,
    lang: str | None = None,
) -> Path:
    """Plays a model on the embedded set, or on other data; its run folder."""
    benchmark: Benchmark = WILD_MINI if data is None else WILDTOOLBENCH
    made = make_baseline(model, None) if isinstance(model, str) else model
    plan = Plan(
        benchmark=benchmark,
        source=data_of(benchmark).locate(data),
        models={"agent": made},
        profile="official",
        limit=limit,
        repeats=repeats,
        lang=lang,
    )
    command = ["wildtool", "run", "wild-mini", "--model", made.name]
    with ThreadPoolExecutor(1) as thread:
        # A browser may have an event loop in this one.
        thread.submit(run_plan, plan, folder, command=command).result()
    return folder


def baselines(folder: Path) -> list[ReportRun]:
    names = ("chat", "gold", "lexical")
    return read_runs([play(folder / name, f"baseline/{name}") for name in names])


def hostile(folder: Path) -> list[ReportRun]:
    """A run whose ids, texts, tool names, arguments, model name and replies are attacks."""
    record = json.loads(WILD_MINI.data.locate(None).path.read_text("utf-8").splitlines()[0])
    text = json.dumps(record)
    tool = record["english_tools"][0]["function"]["name"]
    record = json.loads(text.replace(json.dumps(tool)[1:-1], json.dumps(ATTACK)[1:-1]))
    record["id"] = f"s {ATTACK}"
    record["english_tasks"] = [f"{ATTACK} {FORGED} {task}" for task in record["english_tasks"]]
    record["english_tasks"][0] += "a" * 1_000_000
    folder.mkdir(parents=True, exist_ok=True)
    data = folder / "sessions <b>.jsonl"
    data.write_text(json.dumps(record) + "\n", "utf-8")
    model = Scripted(f"evil {ATTACK} {FORGED}", text=f"{ATTACK} {FORGED} \ud800" + "b" * 1_000_000)
    half = Scripted(f"half {ATTACK}", right=lambda address: address.unit in "02")
    return read_runs([play(folder / str(n), each, data=str(data)) for n, each in enumerate((model, half))])


def runs_of_two_benchmarks(folder: Path) -> Path:
    """One model in two benchmarks, in both modes of one of them; the folder of the runs."""
    runs = folder / "runs"
    (folder / "calc.py").write_text(TWO_MODES, "utf-8")
    for mode in ("chat", "completion"):
        run_sums(mode, runs / f"sums-{mode}")
    type_("run", "wild-mini", "--limit", "3", "-m", "baseline/gold", "-q", "-o", str(runs / "wild-mini"))
    return runs


def run_sums(mode: str, out: Path, *options: str) -> None:
    """A run of the benchmark with two modes, whose file lies beside the folder of the runs."""
    file = str(out.parent.with_name("calc.py").resolve())
    type_("run", file, "--mode", mode, "-m", "baseline/gold", "-q", *options, "-o", str(out))


def type_(*words: str) -> None:
    """A command of wildtool that must succeed."""
    done = CliRunner().invoke(app, list(words), prog_name="wildtool")
    assert done.exit_code == 0, done.output
