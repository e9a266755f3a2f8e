"""Benchmarks of other packages, through the installed command: the documented one works whole, broken ones do no harm."""

import asyncio
import json
import re
import signal
from importlib.util import find_spec
from pathlib import Path

import pytest

import wildtool as ours
from e2e.command import Ended, lines, recorded, start, verdicts, wildtool
from faults.server import FaultServer

PAGE = Path(__file__).parents[2] / "docs" / "adding-a-benchmark.md"
ITEMS = 40


def page_blocks(language: str) -> list[str]:
    page = PAGE.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.DOTALL | re.MULTILINE)


def install(site: Path, package: str, module: str, *entries: str, group: str = "wildtool.benchmarks") -> None:
    """Puts a package of one module into a folder as an installer does."""
    (site / f"{package}.py").write_text(module, encoding="utf-8")
    info = site / f"{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", encoding="utf-8"
    )
    text = "\n".join([f"[{group}]", *entries, ""])
    (info / "entry_points.txt").write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the documented package is installed."""
    site = tmp_path_factory.mktemp("site")
    install(site, "home_commands", page_blocks("python")[0], "home-commands = home_commands:HOME_COMMANDS")
    (site / "home_commands.jsonl").write_text(page_blocks("json")[0], encoding="utf-8")
    return site


async def ended(site: Path, cwd: Path, *words: object) -> Ended:
    return await wildtool(*words, cwd=cwd, PYTHONPATH=str(site))


async def done(site: Path, cwd: Path, *words: object) -> str:
    """What a command printed that must succeed."""
    found = await ended(site, cwd, *words)
    assert found.status == 0, found.err
    assert "passed over" not in found.err
    return found.out + found.err


def test_the_documented_benchmark_is_one_file_of_at_most_60_lines():
    assert page_blocks("python")[0].count("\n") <= 60


async def test_the_documented_benchmark_has_every_command(example: Path, tmp_path: Path):
    async def run(*words: object) -> str:
        return await done(example, tmp_path, *words)

    assert "home-commands" in await run("list", "benchmarks")
    assert "one call or none" in await run("list", "cards", "home-commands")
    assert "nothing to fetch" in await run("data", "pull", "home-commands")
    assert "no findings" in await run("data", "lint", "home-commands")
    assert "3 of 3" in await run("data", "stats", "home-commands")
    await run("run", "home-commands", "--model", "baseline/gold", "--model", "baseline/chat", "--out", "home")
    gold, chat = Path("home/baseline--gold"), Path("home/baseline--chat")
    assert [row["outcome"] for row in verdicts(tmp_path / gold)] == ["correct"] * 3
    assert [row["error"] for row in verdicts(tmp_path / chat)] == ["wrong calls", "wrong calls", None]
    assert [row["level"] for row in verdicts(tmp_path / chat)] == ["plain", "indirect", "none"]
    assert " 1/3" in await run("score", chat)
    shown = await run("show", gold, chat, "--group", "level")
    assert all(level in shown for level in ("plain", "indirect", "none"))
    assert "baseline/chat" in await run("compare", gold, chat)
    await run("report", "home", "--out", "report")
    pages = [path.read_text("utf-8") for path in (tmp_path / "report").rglob("*.*s*") if path.is_file()]
    assert any("I am cold" in page for page in pages)
    assert (tmp_path / "report" / "trajectories.html").exists()
    for kind in ("parquet", "csv", "openai", "sharegpt", "inspect", "hf-card", "bundle"):
        if kind == "inspect" and find_spec("inspect_ai") is None:
            continue  # an extra that need not be installed
        name = f"export-{kind}{'.eval' if kind == 'inspect' else ''}"
        assert name in await run("export", gold, "--format", kind, "--out", name)
        assert (tmp_path / name).exists()
    assert " 3/3" in await run("score", "export-bundle")


async def test_the_example_catches_every_default_mutant(example: Path, tmp_path: Path):
    found = await ended(example, tmp_path, "audit", "home-commands", "--json")
    (audit,) = json.loads(found.out)
    kinds = {kill["kind"] for kill in audit["kills"]}
    assert {"call left out", "call renamed", "call repeated", "text instead of calls"} <= kinds
    assert {"wrong boolean", "other text", "empty reply", "call instead of text"} <= kinds
    assert audit["survivors"] == []
    assert all(kill["killed"] == kill["mutants"] > 0 for kill in audit["kills"])


async def test_lint_names_file_line_and_field(example: Path, tmp_path: Path):
    (tmp_path / "bad.jsonl").write_text('{"id": "a", "say": 5}\n', encoding="utf-8")
    found = await ended(example, tmp_path, "data", "lint", "bad.jsonl", "--benchmark", "home-commands")
    assert found.status == 1
    assert "bad.jsonl:1: field say: expected a text, found a number" in found.out
    (tmp_path / "twice.jsonl").write_text(page_blocks("json")[0] * 2, encoding="utf-8")
    found = await ended(example, tmp_path, "data", "lint", "twice.jsonl")
    assert (found.status, found.out.count("repeated id")) == (1, 3)


async def test_a_run_of_the_example_that_is_killed_goes_on(example: Path, tmp_path: Path):
    record = json.loads(page_blocks("json")[0].splitlines()[0])
    many = [json.dumps({**record, "id": f"item {number}"}) for number in range(ITEMS)]
    (tmp_path / "many.jsonl").write_text("\n".join(many), encoding="utf-8")
    async with FaultServer("ok", delay_s=0.01) as server:
        words = [
            "run",
            "home-commands",
            "--data",
            "many.jsonl",
            "--model",
            "m",
            "--base-url",
            server.base_url,
        ]
        words += ["--out", "run", "--concurrency", "4", "--quiet"]
        process = await start(*words, cwd=tmp_path, PYTHONPATH=str(example))
        over = asyncio.create_task(process.communicate())
        while lines(tmp_path / "run") < ITEMS // 2:
            assert not over.done(), await over
            await asyncio.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        await over
        kept = recorded(tmp_path / "run")
        assert ITEMS // 2 - 1 <= len(kept) < ITEMS
        await done(example, tmp_path, *words)
        again = recorded(tmp_path / "run")
    assert set(kept) <= set(again)
    assert len(again) == len(set(again)) == ITEMS == len(verdicts(tmp_path / "run"))


# Broken packages -------------------------------------------------------------------------------------

OLD_PROTOCOL = """
class Old:
    name, title = "old", "follows the protocol of 0.1"
    profiles, modes, mode, columns, roles, gold_styles = {"official": ""}, {"fc": ""}, "fc", {}, {}, ()
    def load(self, source, *, split=None, lang=None): return iter(())
    def judge(self, item, transcripts, profile): return []
OLD = Old()
"""
WITHOUT_CHECK = """
from wildtool.benchmark import SingleTurn
class Half(SingleTurn):
    name = title = "half"
    def load(self, source, *, split=None, lang=None): return iter(())
    def request(self, item): raise NotImplementedError
HALF = Half()
"""
CARELESS = """
from wildtool.benchmark import SingleTurn
class Careless(SingleTurn):
    name, title = "NAME", "trips over every file"
    def load(self, source, *, split=None, lang=None):
        for line in source.path.read_text("utf-8"):
            yield line["no such key"]
    def request(self, item): raise NotImplementedError
    def check(self, item, reply, profile): raise NotImplementedError
CARELESS = Careless()
"""
WITH_VIEWS = CARELESS.replace("NAME", "viewed").replace(
    "    def load", "    def views(self, profile): return ()\n    def load"
)
BROKEN = {
    "viewed": (
        WITH_VIEWS,
        "viewed:CARELESS",
        "defines `views`, which has no effect any more: declare `tables`",
    ),
    "old": (OLD_PROTOCOL, "old:OLD", "inherit from wildtool.benchmark.Benchmark"),
    "half": (WITHOUT_CHECK, "half:HALF", "check"),
    "failing": ("import no_such_module\nX = 1\n", "failing:X", "ModuleNotFoundError: No module named"),
    "leaving": ("raise SystemExit(3)\n", "leaving:X", "SystemExit: 3"),
    "absent": ("X = 1\n", "absent:NOTHING", "AttributeError"),
    "number": ("X = 1\n", "a_number:X", "is int"),
    "class": (CARELESS.replace("NAME", "class"), "a_class:Careless", "is a class; name an object"),
    "renamed": (CARELESS.replace("NAME", "other"), "renamed:CARELESS", "calls itself 'other'"),
    "nameless": (CARELESS.replace('"NAME"', "None"), "nameless:CARELESS", "lacks name"),
    "wild-mini": (CARELESS.replace("NAME", "wild-mini"), "minis:CARELESS", "has a benchmark of that name"),
}
"""By name: module, entry point, what the reason says."""


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a broken package of each kind, two that offer one name, and one that works but reads nothing."""
    site = tmp_path_factory.mktemp("broken")
    for name, (module, entry, _) in BROKEN.items():
        install(site, entry.partition(":")[0], module, f"{name} = {entry}")
    for package in ("first", "second"):
        install(site, package, CARELESS.replace("NAME", "both"), f"both = {package}:CARELESS")
    install(site, "careless", CARELESS.replace("NAME", "careless"), "careless = careless:CARELESS")
    return site


@pytest.mark.parametrize("words", [("list",), ("data", "lint", "mini.jsonl")])
async def test_broken_packages_are_named_once_and_passed_over(
    broken: Path, tmp_path: Path, words: tuple[str, ...]
):
    mini = Path(ours.__file__).parent / "data" / "wild_mini.jsonl"
    (tmp_path / "mini.jsonl").write_bytes(mini.read_bytes())
    found = await ended(broken, tmp_path, *words)
    assert found.status == 0, found.err
    for name, (_, _, reason) in BROKEN.items():
        (line,) = [line for line in found.err.splitlines() if f"benchmark {name!r}" in line]
        assert reason in line
        assert "passed over" in line
    assert found.err.count("uninstall one of them") == 1
    assert "Traceback" not in found.err


async def test_our_own_benchmarks_run_beside_broken_packages(broken: Path, tmp_path: Path):
    words = ("run", "wild-mini", "--model", "baseline/gold", "--limit", "1", "--out", "run", "--quiet")
    found = await ended(broken, tmp_path, *words)
    assert (found.status, len(verdicts(tmp_path / "run"))) == (0, 4)


@pytest.mark.long
@pytest.mark.parametrize("name", sorted({*BROKEN, "both"} - {"wild-mini"}))
async def test_a_broken_benchmark_asked_for_by_name_gives_the_reason(broken: Path, tmp_path: Path, name: str):
    found = await ended(broken, tmp_path, "run", name, "--model", "baseline/gold", "--out", "run")
    assert found.status == 2
    assert (BROKEN[name][2] if name in BROKEN else "uninstall one of them") in found.err
    assert "Traceback" not in found.err
