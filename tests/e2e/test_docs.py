"""The commands of README and docs, run as they are written, and the example benchmark of the docs, played."""

import asyncio
import gzip
import json
import os
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from shutil import copyfile, copytree
from typing import Any, cast

import play_docs
import pytest

from e2e.command import Ended, wildtool
from e2e.forks import in_shells
from parity.cases import oracle_folder
from training.training_rows import call_row, turn, write_rows
from wildtool.benchmarks.acebench import ACEBENCH
from wildtool.benchmarks.acebench.data import ItemData
from wildtool.benchmarks.acebench.gold import gold_text
from wildtool.benchmarks.taskbench.data import DOMAINS
from wildtool.benchmarks.wildtoolbench import WILD_MINI
from wildtool.episode import gold_replies

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "README_ZH.md",
    *sorted(ROOT.glob("packages/*/README.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]
PLAYED = [ROOT / "docs" / f"{name}.md" for name in ("tutorial", "faq", "own-domain")]
"""Their commands follow from each other, and what they print is below them."""
CACHE = "cache"
"""Where official data are pulled to, below the reader's folder."""
ELSEWHERE = (
    "http",
    "--model gpt-",
    "-m gpt-",
    "--model claude-",
    "--model deepseek/",
    "generate tools --model",
    "data pull",
    "--data official",
    "--prompts original",
    "--model NAME",
    "--model anthropic/",
    "--model hf/",
    "--model inspect/",
    "--format inspect",
    "--agent ",
    "--judge ",
    "runs/judge-audit",
    "runs/acebench/gpt-4o",
    "--traces traces.jsonl",
    "runs/bare",
    "wildtool view",
    "s3://",
    "wildtool worker slurm",
    "wildtool worker kubernetes",
    "wildtool review",
    "--data release/",
    "data lint rotbench",
    "data lint shop/",
    "data lint glaive-function",
    "data lint bfcl",
    "data lint apibank",
    "data convert toolace.json",
    "data convert xlam.parquet",
    "data convert runs/mine",
    "data convert train.jsonl --kind long",
    "--format pairs",
    "runs/hinted",
    "tools lint tools.json",
    "tools lint openapi.yaml",
    "mcp:npx",
    "--upstream",
    "runs/august",
    "runs/week-31",
)
"""Commands that need an endpoint, official data or a large extra, that serve, or that find faults: only their options
are checked."""


def blocks(page: Path) -> list[str]:
    """The code blocks of a page."""
    return re.findall(r"^```\w*\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def commands_of(block: str) -> Iterator[str]:
    """Every command line of a code block that starts with wildtool, without its comment."""
    for line in block.replace("\\\n", "").splitlines():
        if line.startswith("wildtool "):
            yield line.split("  #")[0].strip()


def commands(pages: list[Path] = PAGES) -> Iterator[str]:
    """Every command of some pages."""
    for page in pages:
        for block in blocks(page):
            yield from commands_of(block)


OFFICIAL = {
    "run acebench": "acebench",
    "audit acebench": "acebench",
    "stats acebench": "acebench",
    "benchmark acebench": "acebench",
    "runs/gold": "acebench",
    "my_records": "acebench",
    "rotbench": "rotbench",
    "sealtools": "sealtools",
    "runs/bge": "sealtools",
    "taskbench": "taskbench",
    "runs/multimedia": "taskbench",
    "teval": "teval",
    "runs/plans": "teval",
    "glaive": "glaive",
    "injecagent": "injecagent",
    "bfcl": "bfcl",
    "runs/live": "bfcl",
    "apibank": "apibank",
}
"""What commands over official data, or over what is made of them, have in them, and whose data those are."""
PULLED = oracle_folder("acebench").parents[1] / "data" / "acebench"
"""The official data, where they are at hand."""


def needed_parts(command: str) -> set[str]:
    """The benchmarks over whose official data, or over a part of them, a command is."""
    return {of for part, of in OFFICIAL.items() if part in command and "finance" not in command}


MAKES = {
    "wildtool generate --model procedural --sessions 64 --out made.jsonl": "made.jsonl",
    "wildtool data convert train.jsonl --kind long --to sharegpt -o long.jsonl": "long.jsonl",
    "wildtool audit wild-mini --hints gold -o hints.jsonl": "hints.jsonl",
    "wildtool run series.toml --limit 8 -o runs/tide": "runs/tide",
    "wildtool run wild-mini --model baseline/forwards --failures passed-on --out runs/forwards": "runs/forwards",
    "wildtool run wild-mini --model baseline/searcher --among 50 --out runs/direct": "runs/direct",
    "wildtool run wild-mini --model baseline/searcher --among 50 --expose search --out runs/search": "runs/search",
    "wildtool run wild-mini --model baseline/searcher --among 10,50,150 --out runs/direct-sizes": "runs/direct-sizes",
    "wildtool run wild-mini --model baseline/searcher --among 10,50,150 --expose search --out runs/search-sizes": (
        "runs/search-sizes"
    ),
}
"""Commands that make a file which the next one reads, and the file."""
FAR = sorted({c for c in commands() if any(part in c for part in ELSEWHERE)})
PLUGIN = ROOT / "docs" / "adding-a-benchmark.md"
"""Its commands need its example installed: `test_plugin.py` runs them."""
ALONE = {c for c in commands([page for page in PAGES if page not in (*PLAYED, PLUGIN)]) if c not in FAR}
"""Commands that run in any order."""
WITH_DATA = sorted(c for c in ALONE if needed_parts(c))
HERE = sorted(c for c in ALONE if not needed_parts(c))
OF_README = {c for page in PAGES[:2] for c in commands([page])}
"""The commands that a reader of a README sees."""


def marked(lines: list[str]) -> list[Any]:
    """The commands as cases of a test: those of the READMEs run always, the others are long."""
    return [c if c in OF_README else pytest.param(c, marks=pytest.mark.long) for c in lines]


_DEMO = (
    "wildtool run wild-mini --model baseline/gold --model baseline/lexical --model baseline/chat"
    " --out runs/demo --quiet",
)
_MINI = "wildtool run wild-mini --model baseline/lexical --profile fixed --quiet"
BEFORE: Mapping[str, tuple[str, ...]] = {
    "runs/demo": _DEMO,
    "runs(?!/)": _DEMO,
    **{
        f"runs/{out}": (
            f"wildtool run wild-mini --model baseline/{name} --limit 8 --quiet --out runs/{out}/wild-mini",
            f"wildtool run acebench --data finance --model baseline/{name} --limit 8 --quiet"
            f" --out runs/{out}/acebench",
        )
        for out, name in (("old", "chat"), ("new", "lexical"))
    },
    "runs/recorded": (f"{_MINI} --out runs/recorded",),
    "runs/none": (f"{_MINI} --history none --out runs/none",),
    "runs/before": (f"{_MINI} --out runs/before",),
    "runs/after": (f"{_MINI} --out runs/after",),
    "gold.zip": ("wildtool export runs/demo/baseline--gold --to bundle -o gold.zip",),
    "submissions": ("wildtool board submit runs/demo/baseline--gold -o submissions",),
    **{file: (command,) for command, file in MAKES.items()},
}
"""What commands of the pages take for granted, as a pattern, and what makes it: that runs where a command of a test names
it."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as a reader has it, with the files that the pages take for granted; `ready` makes its runs."""
    place = tmp_path_factory.mktemp("docs")
    for name in ("train", "other"):
        rows = [call_row(f"What is the level at {name} {k}?", id=f"{name}-{k}") for k in range(4)]
        # One needs what was said long before.
        far = call_row(f"I am in Kiel, {name}.", "Kiel")
        far["conversations"][1:1] = [turn("gpt", "Good."), turn("human", "Is it?")] * 2
        write_rows(place / f"{name}.jsonl", [*rows, far])
    source = WILD_MINI.data.locate(None)
    for name in ("sessions.jsonl", "set/sessions.jsonl"):
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_bytes(source.path.read_bytes())
    (page,) = re.findall(
        r"```toml\n(.*?)```", (ROOT / "docs" / "compare.md").read_text(encoding="utf-8"), re.DOTALL
    )
    (place / "series.toml").write_text(page, encoding="utf-8")
    for example in (ROOT / "docs" / "harbour").iterdir():
        copyfile(example, place / example.name)
    copytree(ROOT / "docs" / "broker", place / "broker")
    item = next(iter(WILD_MINI.load(source)))
    row = {
        "session": item.id,
        "model": "m",
        "tasks": [gold_replies(WILD_MINI.rules("official").episode(item, unit)) or [] for unit in item.units],
    }
    (place / "replies.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    return place


def ready(command: str, folder: Path) -> str:
    """The command, once there is what it names."""
    for path, making in BEFORE.items():
        if command not in making and re.search(rf"(?<![\w/-]){path}(?![\w-])", command):
            for line in making:
                _made(ready(line, folder), folder)
    return command


@pytest.fixture(scope="module")
def with_data(folder: Path, bfcl_package: Path) -> Callable[[str], Path]:
    """Gives the same folder with the official data that a command needs in its cache, runs of them, and files of one's
    own."""
    if not PULLED.is_dir():
        pytest.skip(
            f"no folder {PULLED}; set WILDTOOL_ORACLE to the folder of oracle cases, which it lies beside"
        )

    @cache
    def pulled(part: str) -> None:
        PARTS[part](folder, bfcl_package)

    def folder_for(command: str) -> Path:
        for part in sorted(needed_parts(command)):
            pulled(part)
        return folder

    return folder_for


def _acebench(folder: Path, _: Path) -> None:
    newest = copytree(PULLED, folder / "newest")
    copytree(PULLED.with_name("acebench_2025_10"), newest, dirs_exist_ok=True)
    assert typed("wildtool data pull acebench --from newest", folder).status == 0
    for questions in (folder / CACHE / "acebench").glob("*/data_*.json"):
        _keep_first(questions, questions.parent / "possible_answer" / questions.name)
    typed("wildtool run acebench --model baseline/gold --out runs/gold --quiet", folder)
    kinds = "agent_finance_multi_step,agent_finance_multi_turn"
    typed(f"wildtool generate acebench --model procedural --kinds {kinds} --items 20 --out agents", folder)
    category = "normal_atom_bool"
    results = folder / "result_all" / "result_en" / "some-model" / f"data_{category}_result.json"
    results.parent.mkdir(parents=True)
    source = ACEBENCH.data.locate(str(folder / CACHE / "acebench"), category)
    items = ACEBENCH.load(source, split=category, lang="en")
    records = [cast(ItemData, item.data).records[0] for item in items]
    rows = [{"id": record.id, "result": gold_text(cast(Any, record))} for record in records]
    results.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    for part in (f"en/data_{category}.json", f"en/possible_answer/data_{category}.json"):
        (folder / "my_records" / part).parent.mkdir(parents=True, exist_ok=True)
        copyfile(folder / CACHE / "acebench" / part, folder / "my_records" / part)


def _as_it_lies(name: str, folder: Path) -> None:
    typed(shlex.join(["wildtool", "data", "pull", name, "--from", str(PULLED.with_name(name))]), folder)
    typed(f"wildtool run {name} --model baseline/gold --limit 30 --out runs/{name}/qwen3 -q", folder)


def _sealtools(folder: Path, _: Path) -> None:
    _as_it_lies("sealtools", folder)
    typed(
        "wildtool run sealtools --retriever bm25 --model baseline/gold --limit 30 --out runs/bge -q", folder
    )


def _rotbench(folder: Path, _: Path) -> None:
    _as_it_lies("rotbench", folder)
    rotbench = PULLED.with_name("rotbench")
    for packed in rotbench.rglob("*.json.gz"):
        plain = folder / "RoTBench" / packed.relative_to(rotbench).with_suffix("")
        plain.parent.mkdir(parents=True, exist_ok=True)
        plain.write_bytes(gzip.decompress(packed.read_bytes()))
    typed("wildtool data pull rotbench --from RoTBench", folder)
    typed("wildtool run rotbench --model baseline/gold --limit 1 --out runs/rotbench/qwen3", folder)


def _taskbench(folder: Path, _: Path) -> None:
    for domain in DOMAINS:
        made = folder / "JARVIS" / f"data_{domain}"
        copytree(PULLED.with_name("taskbench") / f"data_{domain}", made)
        copyfile(PULLED.with_name("taskbench") / f"synthetic_{domain}.jsonl", made / "data.json")
    typed("wildtool data pull taskbench --from JARVIS", folder)
    typed("wildtool run taskbench --split multimedia --model baseline/gold --out runs/multimedia", folder)


def _teval(folder: Path, _: Path) -> None:
    copytree(PULLED.with_name("teval"), folder / "T-Eval")
    typed("wildtool data pull teval --from T-Eval", folder)
    (plans,) = (folder / CACHE / "teval").glob("plan_json*")
    entries = json.loads(plans.read_bytes())
    plans.unlink()
    plans.write_text(json.dumps(dict(islice(entries.items(), 20))), "utf-8")
    typed("wildtool run teval --split plan_json --limit 50 --model baseline/gold --out runs/plans", folder)


def _bfcl(folder: Path, package: Path) -> None:
    typed(shlex.join(["wildtool", "data", "pull", "bfcl", "--from", str(package)]), folder)
    typed("wildtool run bfcl --split live_simple --limit 20 --model baseline/gold --out runs/live", folder)


def _glaive(folder: Path, _: Path) -> None:
    synthetic = str(PULLED.with_name("glaive") / "synthetic_raw.jsonl")
    typed(shlex.join(["wildtool", "data", "pull", "glaive", "--from", synthetic]), folder)
    typed("wildtool run glaive --model baseline/gold --out runs/glaive/qwen3", folder)


def _apibank(folder: Path, _: Path) -> None:
    apibank = str(PULLED.with_name("apibank"))
    typed(shlex.join(["wildtool", "data", "pull", "apibank", "--from", apibank]), folder)
    typed("wildtool run apibank --model baseline/gold --limit 10 --out runs/apibank", folder)


PARTS: Mapping[str, Callable[[Path, Path], None]] = {
    "acebench": _acebench,
    "rotbench": _rotbench,
    "sealtools": _sealtools,
    "injecagent": lambda folder, _: _as_it_lies("injecagent", folder),
    "taskbench": _taskbench,
    "teval": _teval,
    "bfcl": _bfcl,
    "glaive": _glaive,
    "apibank": _apibank,
}
"""What pulls a part of the official data and makes what the pages have of it, in the folder and with BFCL's package."""


def _keep_first(questions: Path, answers: Path, count: int = 8) -> None:
    """Leaves the first entries of a category, which are enough to run a command: tests of parity judge all of them."""
    lines = questions.read_text("utf-8").splitlines()[:count]
    ids = {json.loads(line)["id"] for line in lines}
    kept = [line for line in answers.read_text("utf-8").splitlines() if json.loads(line)["id"] in ids]
    for path, its_lines in ((questions, lines), (answers, kept)):
        path.unlink()
        path.write_text("".join(f"{line}\n" for line in its_lines), "utf-8")


def typed(command: str, place: Path, **environment: str) -> Ended:
    """What a shell does with a line, by forks of one process: only what needs more than `&&` and `>` gets a shell."""
    environment["WILDTOOL_DATA_DIR"] = str(place / CACHE)
    parts = [part.partition(" > ") for part in command.split(" && ")]
    if any(re.search(r"[|&;<>$`*?~\\]", words + file) for words, _, file in parts):
        return shell(command, place, environment)
    done = Ended(0, "", "")
    for words, _, file in parts:
        done = asyncio.run(wildtool(*shlex.split(words)[1:], cwd=place, **environment))
        if done.status != 0:
            break
        if file:
            (place / file).write_text(done.out, encoding="utf-8")
    return done


def shell(command: str, place: Path, environment: dict[str, str]) -> Ended:
    variables = in_shells(os.environ | environment)
    done = subprocess.run(
        ["bash", "-c", command], cwd=place, env=variables, capture_output=True, text=True, check=False
    )
    return Ended(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("command", marked(HERE))
def test_a_command_of_the_docs_runs_as_written(command: str, folder: Path) -> None:
    done = (_made if command in MAKES else typed)(ready(command, folder), folder)
    assert done.status == 0, done.err


@pytest.mark.parametrize("command", marked(WITH_DATA))
def test_a_command_over_official_data_runs_as_written(command: str, with_data: Callable[[str], Path]) -> None:
    folder = with_data(command)
    done = typed(ready(command, folder), folder)
    assert done.status == 0, done.err


@cache
def _made(command: str, folder: Path) -> Ended:
    """How a command ended that makes a file which others read, and which it would refuse to replace."""
    return typed(command, folder)


@cache
def _help(words: tuple[str, ...], folder: Path) -> str:
    return typed(shlex.join([*words, "--help"]), folder).out


@pytest.mark.parametrize("command", FAR)
def test_a_command_that_needs_more_than_this_machine_has_real_options(
    command: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    words = [word for word in shlex.split(command) if not re.match(r"^\d?>", word)]
    has_verbs = words[1] in ("board", "data", "generate", "tools", "worker")
    below = has_verbs and not words[2].startswith("-")
    length = 3 if below else 2
    if words[1] == "review":
        # A set's name is no command.
        length = 4 if words[2] == "people" else 2 if "." in words[2] else 3
    known = _help(tuple(words[:length]), tmp_path_factory.getbasetemp())
    options = [word.partition("=")[0] for word in words if word.startswith("--")]
    assert options or words[1] in ("compare", "data", "list", "review", "tools", "view")
    assert all(option in known for option in options), command


@pytest.mark.parametrize("page", PLAYED, ids=lambda page: page.stem)
def test_a_page_shows_what_its_commands_print(page: Path, tmp_path: Path) -> None:
    """WILDTOOL_WRITE_GOLDEN=1 writes it into the page; `scripts/play_docs.py` plays it with other packages."""
    written = page.read_text(encoding="utf-8")
    played = play_docs.play(written, tmp_path, printed_by)
    if os.environ.get("WILDTOOL_WRITE_GOLDEN"):
        page.write_text(played.text, encoding="utf-8")
    assert page.read_text(encoding="utf-8") == played.text
    ours = {line.split("  #")[0].strip() for line in played.left_out if line.startswith("wildtool ")}
    assert ours <= {*FAR, *NEEDS_A_FILE}, "a command that runs here is said not to"


NEEDS_A_FILE = ("wildtool score --data wild-mini --replies replies.jsonl",)
"""Of the reader, who has recorded replies."""


def printed_by(commands: str, place: Path) -> str:
    """What commands print; only those that need more than `&&` get a shell."""
    lines = commands.splitlines()
    parts = (part for line in lines for part in line.split(" && "))
    simple = all(part.startswith("wildtool ") and not re.search("[|<>]", part) for part in parts)
    printed = ""
    for line in lines if simple else [commands]:
        done = typed(line, place, COLUMNS=play_docs.COLUMNS) if simple else in_shell(line, place)
        assert done.status == 0, (line, done.err)
        printed += done.out
    return printed


def in_shell(commands: str, place: Path) -> Ended:
    own = {"COLUMNS": play_docs.COLUMNS, "WILDTOOL_DATA_DIR": str(place / CACHE)}
    return shell(f"set -e\n{commands}", place, own)


def test_there_are_twenty_questions_each_with_a_short_answer_and_a_command() -> None:
    questions = PLAYED[1].read_text(encoding="utf-8").split("\n## ")[1:]
    assert len(questions) == 20
    for question in questions:
        title, _, answer = question.partition("\n")
        prose = [line for line in re.sub(play_docs.BLOCK, "", answer).splitlines() if line.strip()]
        assert title.endswith("?"), title
        assert 1 <= len(prose) <= 5, title
        assert re.search(r"^(wildtool|python3|ls) (?!.*not run here)", answer, re.MULTILINE), title


def test_every_decision_stands_in_the_list_of_decisions() -> None:
    folder = ROOT / "docs" / "decisions"
    listed = re.findall(r"\]\((\d.*?\.md)\)", (folder / "README.md").read_text(encoding="utf-8"))
    assert listed == sorted(path.name for path in folder.glob("[0-9]*.md"))


def test_every_promise_names_tests_that_are_there():
    named = re.findall(r"`(tests/[^`]+)`", (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8"))
    assert len(named) > 20
    assert [name for name in named if not (ROOT / name).exists()] == []
