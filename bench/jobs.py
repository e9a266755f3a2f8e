"""Two jobs of people with tools of their own, beside promptfoo and deepeval: which checkpoint is better on twenty cases
(C), and whether a build may pass (B); and what each program says of four planted faults.

    python bench/jobs.py [--peers FOLDER]

It starts servers on this machine only (`jobs_server.py`), with two scripted checkpoints: `old` has 18 of 20 cases right,
`new` 13. The peers are installed side by side in FOLDER (default `build/jobs-peers`): promptfoo with npm, deepeval with
pip. What cannot be installed is said, and its rows are left out. Prints a table; figures that were measured are in
docs/own-cases.md.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from loopback import printing_its_port

HERE = Path(__file__).parent
FILES = HERE / "jobs_files"
ROOT = HERE.parent
KILLED_AT = 25
"""Calls, of 40, at which a program is killed."""
LIMIT_S = 300
"""Longest time of one command."""
WRONG = {"old": (1, 5), "new": (1, 3, 4, 5, 7, 8, 12)}
"""By checkpoint the cases, from 0, that it gets wrong: a missing call, or another value."""
FAULTS = {
    "wrong key": "key",
    "no tool parser": "parser",
    "15 % of calls fail": "failures",
    "killed, then again": "slow",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a program did."""

    status: int
    seconds: float
    said: str
    """What it printed."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A program that plays the cases against an address."""

    name: str
    files: tuple[str, ...]
    """What a user writes for it."""
    commands: Sequence[Sequence[str]]
    """For job C: run one after the other; ADDRESS stands for the base URL."""
    environment: Mapping[str, str]


def answers(case_file: Path) -> dict[str, dict[str, Any]]:
    """By checkpoint and request the message of the reply."""
    from wildtool.data.data_set import data_of
    from wildtool.engine.registry import load_benchmark
    from wildtool.episode import gold_replies

    benchmark = load_benchmark(str(case_file))
    rules = benchmark.rules("fixed")
    messages: dict[str, dict[str, Any]] = {model: {} for model in WRONG}
    for number, item in enumerate(benchmark.load(data_of(benchmark).locate(None))):
        (unit,) = item.units
        (gold, *_) = gold_replies(rules.episode(item, unit)) or []
        asked = item.data.units[unit].messages[-1]["content"]
        for model, wrong in WRONG.items():
            messages[model][asked] = spoiled(gold) if number in wrong else gold
    return messages


def spoiled(gold: Mapping[str, Any]) -> dict[str, Any]:
    """A reply with its last call left out; with one call another value in it; without any a call that is not wanted."""
    if not gold.get("tool_calls"):
        function = {"name": "get_order", "arguments": '{"order_id": "A-1"}'}
        return {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": function}]}
    calls = [dict(call) for call in gold["tool_calls"]]
    if len(calls) > 1:
        return {**gold, "tool_calls": calls[:-1]}
    function = dict(calls[0]["function"])
    arguments = json.loads(function["arguments"])
    arguments[next(iter(arguments))] = "elsewhere"
    function["arguments"] = json.dumps(arguments)
    return {**gold, "tool_calls": [{**calls[0], "function": function}]}


def serving(answer_file: Path) -> AbstractContextManager[str]:
    """The server while the context is open; gives its address without a path."""
    return printing_its_port([sys.executable, str(HERE / "jobs_server.py"), str(answer_file)])


def played(peer: Peer, folder: Path, address: str, is_due: Callable[[], bool] = lambda: False) -> Outcome:
    """What a program does with an address. Args: is_due: whether it is to be killed now."""
    start, status, said = time.monotonic(), 0, ""
    for words in peer.commands:
        command = [word.replace("ADDRESS", address) for word in words]
        environment = {**os.environ, **peer.environment, "OPENAI_BASE_URL": address, "OPENAI_API_KEY": "sk-x"}
        with subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as process:
            while True:
                try:
                    said, _ = process.communicate(timeout=0.1)
                    break
                except subprocess.TimeoutExpired:
                    if is_due() or time.monotonic() - start > LIMIT_S:
                        os.killpg(process.pid, signal.SIGKILL)
        status = max(status, process.returncode, key=abs)
    return Outcome(status, time.monotonic() - start, said)


def ends(text: str, lines: int = 8) -> str:
    """The first and the last lines of an output."""
    said = [line for line in text.splitlines() if line.strip()]
    return "\n".join(said if len(said) <= 2 * lines else [*said[:lines], "…", *said[-lines:]])


# The programs ---------------------------------------------------------------------------------------------------------


def wildtool_peer(folder: Path) -> Peer:
    for path in FILES.iterdir():
        shutil.copy(path, folder)
    command = str(Path(sys.executable).with_name("wildtool"))
    run = [command, "run", "shop.yaml", "-m", "old", "-m", "new", "--base-url", "ADDRESS"]
    return Peer("wildtool", ("shop.yaml", "tools.json"), [run], {"COLUMNS": "100"})


def promptfoo_peer(folder: Path, installed: Path) -> Peer:
    """Cases as tests of promptfoo: names and arguments by a check in JavaScript, since its F1 knows names only."""
    tools = json.loads((FILES / "tools.json").read_text("utf-8"))
    check = (
        "const made = (Array.isArray(output) ? output : []).map(c => [c.function.name, "
        "JSON.parse(c.function.arguments)]);\n"
        "const key = v => JSON.stringify(v.map(([n, a]) => [n, Object.entries(a).sort()]).sort());\n"
        "return key(made) === key(JSON.parse(context.vars.gold));"
    )
    tests = [
        {"vars": {"q": asked, "gold": json.dumps(gold)}, "assert": [{"type": "javascript", "value": check}]}
        for asked, gold in plain_cases()
    ]
    providers = [
        {"id": f"openai:chat:{model}", "config": {"tools": tools, "temperature": 0}} for model in WRONG
    ]
    config = {"prompts": ["{{q}}"], "providers": providers, "tests": tests}
    (folder / "promptfooconfig.json").write_text(json.dumps(config), encoding="utf-8")
    run = [
        str(installed / "node_modules" / ".bin" / "promptfoo"),
        "eval",
        "-c",
        "promptfooconfig.json",
        "--no-cache",
        "--no-progress-bar",
        "--no-table",
    ]
    quiet = {
        "PROMPTFOO_DISABLE_TELEMETRY": "1",
        "PROMPTFOO_DISABLE_UPDATE": "1",
        "PROMPTFOO_CONFIG_DIR": str(folder / "state"),
    }
    return Peer("promptfoo", ("promptfooconfig.json (with a check in JavaScript)",), [run], quiet)


DEEPEVAL = """
import json, os, sys
from openai import OpenAI
from deepeval import evaluate
from deepeval.metrics import ToolCorrectnessMetric
from deepeval.test_case import LLMTestCase, ToolCall, ToolCallParams

client = OpenAI()
tools = json.load(open("tools.json"))
for model in ("old", "new"):
    cases = []
    for asked, gold in json.load(open("cases.json")):
        message = client.chat.completions.create(
            model=model, messages=[{"role": "user", "content": asked}], tools=tools
        ).choices[0].message
        made = [
            ToolCall(name=c.function.name, input_parameters=json.loads(c.function.arguments))
            for c in message.tool_calls or []
        ]
        expected = [ToolCall(name=name, input_parameters=arguments) for name, arguments in gold]
        cases.append(LLMTestCase(input=asked, actual_output=message.content or "", tools_called=made,
                                 expected_tools=expected))
    metric = ToolCorrectnessMetric(evaluation_params=[ToolCallParams.INPUT_PARAMETERS], should_exact_match=True,
                                   threshold=1.0, **JUDGE)
    passed = 0
    for case in cases:
        passed += metric.measure(case) >= 1.0
    print(model, f"{passed}/{len(cases)}")
"""


def deepeval_peer(folder: Path, installed: Path) -> Peer:
    """A script, since deepeval calls no model itself; its metric makes a judge even where none is asked."""
    shutil.copy(FILES / "tools.json", folder)
    (folder / "cases.json").write_text(json.dumps(plain_cases()), encoding="utf-8")
    script = DEEPEVAL.replace("**JUDGE", "include_reason=False, async_mode=False")
    (folder / "job.py").write_text(script, encoding="utf-8")
    quiet = {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "DEEPEVAL_UPDATE_WARNING_OPT_OUT": "YES"}
    python = str(installed / "venv" / "bin" / "python")
    return Peer("deepeval", ("job.py", "cases.json", "tools.json"), [[python, "job.py"]], quiet)


def plain_cases() -> list[tuple[str, list[tuple[str, Any]]]]:
    """Requests with the calls that are right, as names and values: matchers are beyond the peers' own forms."""
    from wildtool.data.data_set import data_of
    from wildtool.engine.registry import load_benchmark
    from wildtool.episode import gold_replies

    benchmark = load_benchmark(str(FILES / "shop.yaml"))
    cases: list[tuple[str, list[tuple[str, Any]]]] = []
    for item in benchmark.load(data_of(benchmark).locate(None)):
        (unit,) = item.units
        (gold, *_) = gold_replies(benchmark.rules("fixed").episode(item, unit)) or []
        functions = [call["function"] for call in gold.get("tool_calls") or ()]
        calls = [(each["name"], json.loads(each["arguments"])) for each in functions]
        cases.append((item.data.units[unit].messages[-1]["content"], calls))
    return cases


def install_promptfoo(folder: Path) -> str:
    """Installs promptfoo below a folder. Gives why that cannot be done; empty for success."""
    if (folder / "node_modules" / ".bin" / "promptfoo").exists():
        return ""
    if shutil.which("npm") is None:
        return "there is no npm here"
    folder.mkdir(parents=True, exist_ok=True)
    return _installed(["npm", "install", "--no-audit", "--no-fund", "--prefix", ".", "promptfoo"], folder)


def install_deepeval(folder: Path) -> str:
    """As `install_promptfoo`."""
    python = folder / "venv" / "bin" / "python"
    if (folder / "venv" / "bin" / "deepeval").exists():
        return ""
    venv.create(folder / "venv", with_pip=True)
    return _installed([str(python), "-m", "pip", "install", "--quiet", "deepeval", "openai"], folder)


def _installed(command: Sequence[str], folder: Path) -> str:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=900, check=False)
    except subprocess.TimeoutExpired:
        return "the installation took more than 15 minutes"
    return "" if done.returncode == 0 else ends(done.stderr or done.stdout, 1)


# The jobs -------------------------------------------------------------------------------------------------------------


def peers(scratch: Path, installed: Path) -> Iterator[tuple[Peer, Path]]:
    """The programs that can be played, each with its folder; says of the others why not."""
    for name, install, make in (
        ("wildtool", lambda folder: "", lambda folder, at: wildtool_peer(folder)),
        ("promptfoo", install_promptfoo, promptfoo_peer),
        ("deepeval", install_deepeval, deepeval_peer),
    ):
        if reason := install(installed / name):
            print(f"{name}: left out, since it cannot be installed here: {reason}\n")
            continue
        folder = scratch / name
        folder.mkdir(parents=True)
        yield make(folder, installed / name), folder


def shown(title: str, peer: Peer, outcome: Outcome) -> None:
    print(
        f"## {peer.name}: {title}\nstatus {outcome.status}, {outcome.seconds:.1f} s\n{ends(outcome.said)}\n"
    )


def play_all(peer: Peer, folder: Path, server: str) -> list[tuple[str, str]]:
    """Job C, job B and the faults. Gives a row of the table for each."""
    print(f"# {peer.name}\nfiles: {', '.join(peer.files)}")
    print(
        f"command: {' '.join(Path(word).name if word.startswith('/') else word for word in peer.commands[0])}\n"
    )
    outcome = played(peer, folder, f"{server}/ok/v1")
    shown("C, which checkpoint", peer, outcome)
    rows = [
        ("C: old or new", f"{len(peer.commands)} command, {len(peer.files)} files, {outcome.seconds:.1f} s")
    ]
    if peer.name == "wildtool":
        gate = [peer.commands[0][0], "gate", "runs/shop/new", "--against", "runs/shop/old"]
        outcome = played(Peer("wildtool", (), [gate], peer.environment), folder, server)
        shown("B, may the build pass", peer, outcome)
    rows.append(("B: may the build pass", f"status {outcome.status}, {outcome.seconds:.1f} s"))
    for fault, path in FAULTS.items():
        fresh = folder.with_name(f"{folder.name}-{path}")
        shutil.copytree(folder, fresh, ignore=shutil.ignore_patterns("runs", "state"))
        start = asked(server)
        if path == "slow":
            played(peer, fresh, f"{server}/slow/v1", partial(has_asked, server, start + KILLED_AT))
        before = asked(server)
        outcome = played(peer, fresh, f"{server}/{path}/v1")
        shown(fault, peer, outcome)
        calls = (
            f"{before - start} calls before the kill, {asked(server) - before} after"
            if path == "slow"
            else ""
        )
        said = [f"status {outcome.status}", f"{outcome.seconds:.1f} s", calls]
        rows.append((fault, ", ".join(filter(None, said))))
    return rows


def has_asked(server: str, calls: int) -> bool:
    return asked(server) >= calls


def asked(server: str) -> int:
    """How many completions the server was asked for so far."""
    with urlopen(f"{server}/asked") as answer:
        return json.loads(answer.read())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peers", type=Path, default=ROOT / "build" / "jobs-peers")
    installed = parser.parse_args().peers.resolve()
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        answer_file = scratch / "answers.json"
        answer_file.write_text(json.dumps(answers(FILES / "shop.yaml")), encoding="utf-8")
        table: dict[str, list[tuple[str, str]]] = {}
        with serving(answer_file) as server:
            for peer, folder in peers(scratch, installed):
                table[peer.name] = play_all(peer, folder, server)
    print(f"| | {' | '.join(table)} |\n|---{'|---' * len(table)}|")
    for row in zip(*table.values(), strict=True):
        print(f"| {row[0][0]} | " + " | ".join(cell for _, cell in row) + " |")


if __name__ == "__main__":
    main()
