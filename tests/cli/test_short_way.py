"""The way of `wildtool run` from the command line to the first request, and how often it reads the data.

A file lies on the way if one of its functions is called after the command has started and before the first HTTP request
is sent; calls that only happen while a module is imported do not count. All files below `src/wildtool` count, those of
the benchmark and small leaves such as `json_codec.py` too. By this measure the way had 52 files before the layout by
nouns, and 55 right after it. FILES is what holds now with some room.

The walk of a plan is the part from `run_plans` on: each function where it is first called. A reader who follows it
comes back to a file that was left at most as often as RETURNS says (47 before functions stood where they are called
from). Why neither is smaller: `docs/decisions/0047-the-way-of-a-request.md`.

The way of the data is what a reader follows who asks what becomes of an option: of the functions that are called from a
verb on, those of the rooms that its work is in, and of these the ones that give something back that is neither None nor
a truth. Checks and what prints are beside the way. WAYS holds how many they are, and how often they turn back to a file.

What each file is for:

The command line
    cli/__init__                the command with its verbs, each imported when it is called
    cli/command                 a verb as a command: values of options, exit status
    cli/commands/run            the verb: from its options to plans, and from results to what is printed
    api/plans                   a run for each model
    api/meaning                 what settings mean to the engine
    api/settings, api/records   settings as records, and the check of a value
    api/values, api/words       values that are texts; how messages name a setting
    config/named_models         models that are named, with rates and prices
    config/config_file          `wildtool.toml`, looked for in each run
    cli/options/run             the options, also those that `generate` has, and the settings that they make
    installed                   entry points: where the verb is
    terminal, terminal/progress what is printed; the display, begun before the first call
    interrupts                  what Ctrl-C and SIGTERM do while a verb works
The run
    engine/plan                 what is run: items, models, rules
    engine/registry             benchmarks by name, and whose prompts they send
    engine/run/runner           a plan in its folder, from start to end
    engine/run/scheduler        items side by side, each reply recorded before it is used
    engine/call/client          cache, budget, turn and attempts of a call
    engine/call/budget          prices and limits
    engine/call/rate_limit      the turn of a call at its endpoint
    engine/record/format        names of the record's files, hashes of requests
    engine/record/reader        what is recorded already, so nothing is sent twice
    engine/record/writer        the new record
    engine/record/run_folder    `run.json` and the lock
The model
    models/resolve              the model that a name stands for
    models/settings             sampling, endpoint, rates
    models/headers              headers that a user adds, as for a gateway
    models/providers/base       what all providers share: settings, call, answer
    models/providers/openai_chat   the request in the provider's shape
    models/http/endpoint        address, key and connections
The benchmark
    data/data_set               where its data lie
    benchmark                   what all benchmarks share
    episode                     the loop that asks and advances
    benchmarks/wildtoolbench/data       its sessions
    benchmarks/wildtoolbench/episode    the messages that a model sees
    benchmarks/wildtoolbench/official/episode    what is asked next
What all parts use
    json_codec                  JSON in and out, with limits
    outputs                     where a run may be written
    redact                      keys, before anything is written
    secret_places               those in the words of the command

To merge further would put two layers, or two of these sentences, into one file.
"""

import json
import subprocess
import sys
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from e2e.surface import typed
from engine.echo_benchmark import EchoBenchmark, EchoData, ScriptedModel, plan_of
from wildtool.benchmarks.wildtoolbench import WILD_MINI, WILDTOOLBENCH
from wildtool.engine.plan import Plan
from wildtool.engine.run.runner import RunJob, RunResult, run_plan, run_plans
from wildtool.errors import DataError
from wildtool.types import Item, Request, Source

FILES = 52
RETURNS = 35
TRACER = """
import json, os, sys
import aiohttp
import wildtool
from wildtool.cli import main

ROOT = os.path.dirname(wildtool.__file__) + os.sep
FUNCTION = 0x1  # the flag CO_OPTIMIZED, which modules and classes have not
called = {}  # in the order of the first calls
giving = set()  # that gave something back

def importing(frame):
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False

def note(frame, event, argument):
    code = frame.f_code
    if code.co_flags & FUNCTION and code.co_filename.startswith(ROOT):
        place = code.co_filename[len(ROOT):], code.co_qualname
        if event == "return" and argument is not None and not isinstance(argument, bool):
            giving.add(place)
        if event == "call" and not importing(frame):
            called[place] = None

def end():
    sys.setprofile(None)
    with open("called.json", "w") as file:
        json.dump([[*place, place in giving] for place in called], file)
    os._exit(0)

async def send(*arguments, **named):
    end()

aiohttp.ClientSession._request = send
sys.setprofile(note)
try:
    main()
finally:
    end()
"""
RUN = "run wild-mini --model m --base-url http://127.0.0.1:9/v1 --out run"
Called = list[tuple[str, str, bool]]
"""File and name of each function of wildtool, in the order in which they are first called, and whether it gave something
back."""


@dataclass(frozen=True, slots=True)
class Way:
    """What a verb does with what it was given, from its call on."""

    line: str
    rooms: tuple[str, ...]
    """Packages that its work is in."""
    until: str
    """The function that takes what was made; empty for the end."""
    functions: int
    """At most so many."""
    turns: int
    """Returns to a file that was left, at most."""


WAYS = (
    Way(RUN, ("cli", "api", "config"), "run_plans", 40, 20),
    Way("compare gold chat", ("cli/commands", "cli/options", "engine/compare"), "", 80, 40),
)


def traced(line: str, folder: Path) -> Called:
    """What a command calls, until it sends its first request or ends."""
    words = [sys.executable, "-c", TRACER, *line.split()]
    subprocess.run(
        words, check=True, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300
    )
    return [(file, name, gives) for file, name, gives in json.loads((folder / "called.json").read_text())]


@pytest.fixture(scope="module")
def called(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str]]:
    """File and name of each function on the way to the first request."""
    return [(file, name) for file, name, _ in traced(RUN, tmp_path_factory.mktemp("way"))]


@pytest.mark.long
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.line.split()[0])
def test_the_way_of_the_data_is_short_and_seldom_turns_back(way: Way, tmp_path: Path):
    if way.line != RUN:
        for name in ("gold", "chat"):
            assert typed(*f"run wild-mini -n 2 -q -m baseline/{name} -o {tmp_path / name}".split())[0] == 0
    every = traced(way.line, tmp_path)
    verb = way.line.split()[0]
    begin = next(
        place
        for place, (file, name, _) in enumerate(every)
        if (file, name) == (f"cli/commands/{verb}.py", verb)
    )
    names = [name for _, name, _ in every]
    end = names.index(way.until) if way.until else len(every)
    rooms = tuple(f"{room}/" for room in way.rooms)
    # Comprehensions are a part of the function that they stand in.
    data = [
        file
        for file, name, gives in every[begin:end]
        if gives and file.startswith(rooms) and not name.endswith(">")
    ]
    stays = [file for file, _ in groupby(data)]
    print(len(data), "functions,", len(stays) - len(set(stays)), "turns back")
    assert 10 < len(data) <= way.functions
    assert len(stays) - len(set(stays)) <= way.turns


@pytest.mark.long
def test_the_way_to_the_first_request_is_short(called: list[tuple[str, str]]):
    files = sorted({file for file, _ in called})
    print(len(files), "files on the way:", *files, sep="\n  ")
    assert "models/http/endpoint.py" in files
    assert len(files) <= FILES


def test_the_walk_of_a_plan_seldom_comes_back(called: list[tuple[str, str]]):
    start = called.index(("engine/run/runner.py", "run_plans"))
    # Comprehensions are a part of the function that they stand in.
    named = [file for file, name in called[start:] if not name.endswith(">")]
    stays = [file for file, _ in groupby(named)]
    print(len(stays), "stays:", *stays, sep="\n  ")
    assert stays[-1] == "models/http/endpoint.py"
    assert len(stays) - len(set(stays)) <= RETURNS


def first_sessions() -> list[bytes]:
    return WILD_MINI.data.locate(None).path.read_bytes().splitlines(keepends=True)[:4]


class _Counted:
    """How often a data file was located, which reads it for its digest, and loaded."""

    def __init__(self, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.located = self.loaded = 0
        data_set, owner = type(WILD_MINI.data), type(WILDTOOLBENCH)
        locate, load = data_set.locate, WILD_MINI.load.__func__

        def locate_counted(own: Any, name: str | None, split: str | None = None) -> Any:
            self.located += name == str(data)
            return locate(own, name, split)

        def load_counted(own: Any, *arguments: Any, **named: Any) -> Any:
            self.loaded += 1
            return load(own, *arguments, **named)

        monkeypatch.setattr(data_set, "locate", locate_counted)
        monkeypatch.setattr(owner, "load", load_counted)


@pytest.mark.long
@pytest.mark.parametrize(
    "more", [(), ("--dry-run",), ("--ids", "wild_mini_0,wild_mini_1"), ("--repeats", "2")]
)
def test_a_command_reads_the_data_once_for_all_its_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...]
):
    data = tmp_path / "mine.jsonl"
    data.write_bytes(b"".join(first_sessions()))
    # As a file that has not changed for an hour, which needs no second look.
    monkeypatch.setattr("wildtool.engine.plan._LOADED_NS", data.stat().st_ctime_ns + 3600 * 10**9)
    monkeypatch.chdir(tmp_path)
    models = [word for name in ("gold", "chat", "random") for word in ("--model", f"baseline/{name}")]
    counted = _Counted(data, monkeypatch)
    status, _ = typed("run", "wild-mini", "--data", data, *models, "--out", "runs", "--quiet", *more)
    assert status == 0
    assert (counted.located, counted.loaded) == (1, 1)


def test_scoring_replies_of_several_models_reads_the_data_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    data, replies = tmp_path / "mine.jsonl", tmp_path / "replies.jsonl"
    data.write_bytes(b"".join(first_sessions()))
    monkeypatch.setattr("wildtool.engine.plan._LOADED_NS", data.stat().st_ctime_ns + 3600 * 10**9)
    first = json.loads(data.read_text("utf-8").splitlines()[0])["id"]
    rows = [{"item": first, "model": model, "tasks": []} for model in ("a", "b", "c")]
    replies.write_text("".join(json.dumps(row) + "\n" for row in rows))
    named = ["--benchmark", "wild-mini", "--data", data]
    counted = _Counted(data, monkeypatch)
    assert typed("score", *named, "--replies", replies, "--out", tmp_path / "runs")[0] == 0
    assert (counted.located, counted.loaded) == (1, 1)
    assert typed("score", tmp_path / "runs/a")[0] == 0
    assert (counted.located, counted.loaded) == (2, 2)


def test_data_that_are_edited_and_restored_meanwhile_do_not_reach_the_run(tmp_path: Path):
    data = tmp_path / "mine.jsonl"
    lines = first_sessions()
    data.write_bytes(b"".join(lines))
    asked: list[str] = []

    def answer(request: Request) -> str:
        # The last session is another while the first ones are run.
        asked.append(json.dumps(request.messages, ensure_ascii=False))
        data.write_bytes(b"".join(lines[:3]) + lines[3].replace(b"tasks", b"tusks"))
        data.write_bytes(b"".join(lines))
        return "no"

    plan = Plan(
        benchmark=WILDTOOLBENCH,
        source=WILDTOOLBENCH.data.locate(str(data)),
        models={"agent": ScriptedModel(answer)},
        profile="official",
        concurrency=1,
    )
    result = run_plan(plan, tmp_path / "run", command=[])
    assert result.counts.units == sum(len(item.units) for item in WILDTOOLBENCH.load(plan.source))


def test_data_that_change_between_their_digest_and_being_read_are_noticed(tmp_path: Path):
    data = tmp_path / "mine.jsonl"
    lines = WILD_MINI.data.locate(None).path.read_bytes().splitlines(keepends=True)
    data.write_bytes(b"".join(lines))
    source = WILDTOOLBENCH.data.locate(str(data))
    data.write_bytes(b"".join(lines[1:]))
    plan = plan_of(WILDTOOLBENCH, source=source)
    with pytest.raises(DataError, match="changed while it was read"):
        plan.read()


def test_data_that_change_while_they_are_read_are_noticed(tmp_path: Path):
    file = tmp_path / "mine.txt"
    file.write_text("two items")

    class InFile(EchoData):
        def locate(self, data: str | None, split: str | None = None) -> Source:
            return replace(super().locate(data, split), path=file)

    class Edited(EchoBenchmark):
        data = InFile(name="echo")

        def load(self, source: Any, **selection: Any) -> Any:
            for item in super().load(source, **selection):
                file.write_text("other items")
                file.write_text("two items")
                yield item

    with pytest.raises(DataError, match="changed while it was read"):
        plan_of(Edited()).read()


def test_items_that_cannot_be_written_down_are_kept_as_they_are(tmp_path: Path):
    class Odd(EchoBenchmark):
        def load(self, source: Any, **selection: Any) -> Any:
            for item in super().load(source, **selection):
                yield Item(item.id, item.units, {**item.data, "odd": lambda: None})

    result = run_plan(plan_of(Odd()), tmp_path, command=[])
    assert result.counts.correct == 4


def test_plans_can_share_their_items(tmp_path: Path):
    class Counting(EchoBenchmark):
        loads = 0

        def load(self, source: Any, **selection: Any) -> Any:
            Counting.loads += 1
            return super().load(source, **selection)

    benchmark = Counting()
    items = plan_of(benchmark).read()
    jobs = [RunJob(plan_of(benchmark, items=items), tmp_path / name) for name in ("a", "b", "c")]
    outcomes = run_plans(jobs, command=[])
    assert [isinstance(outcome, RunResult) and outcome.counts.correct for outcome in outcomes] == [4, 4, 4]
    assert Counting.loads == 1
