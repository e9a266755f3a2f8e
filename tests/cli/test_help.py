"""What `--help` says: panels, widths, one name for one thing, and examples that run as written."""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from golden_files import same_as_golden
from training.training_rows import call_row, write_rows
from wildtool.benchmarks.wildtoolbench import WILD_MINI
from wildtool.cli import app
from wildtool.cli.help import PANELS, WIDTH
from wildtool.episode import gold_replies

COMMAND = Path(sys.executable).with_name("wildtool")
KEYS = dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY"), "not-a-real-key")
PARSED = (
    "wildtool worker",
    "wildtool launch",
    "wildtool check",
    "wildtool tools",
    "data pull",
    "wildtool view",
    "review sessions.jsonl",
    "review quick",
    "review merge runs/wild-mini bob/labels.jsonl",
    "review stats runs/wild-mini",
    "review runs/wild-mini --reader",
    "--curve losses",
    "--traces",
    "--modes",
    "--at-least refunds",
    "--check",
    "audit",
    "report",
)
"""Commands that would fetch, serve, ask or call, or that need other data, and slow ones that the tests of the docs run:
they are parsed, no more."""

SERIES = """[series]
benchmarks = ["wild-mini"]
[[point]]
name = "base"
model = "baseline/chat"
size = 0
[[point]]
name = "tide-1000"
model = "baseline/lexical"
size = 1000
"""


def below(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, command
    for name in getattr(command, "commands", ()):
        yield from below(command.commands[name], (*path, name))


COMMANDS = dict(below(typer.main.get_command(app)))
LEAVES = {path: command for path, command in COMMANDS.items() if not hasattr(command, "commands")}


def type_(*words: str, **environment: str) -> Result:
    return CliRunner().invoke(app, list(words), prog_name="wildtool", env=environment)


def help_of(path: tuple[str, ...], width: int) -> str:
    ended = type_(*path, "--help", COLUMNS=str(width))
    assert ended.exit_code == 0
    return ended.stdout


def options_of(command: Any) -> list[Any]:
    return [param for param in command.params if param.param_type_name == "option"]


def examples() -> list[str]:
    lines = (line.strip() for command in COMMANDS.values() for line in (command.help or "").splitlines())
    return sorted({line for line in lines if line.startswith("wildtool ")})


@pytest.mark.long
@pytest.mark.parametrize("width", [80, 200])
@pytest.mark.parametrize("path", COMMANDS)
def test_help_is_at_most_84_columns_wide_and_never_wider_than_the_terminal(path: tuple[str, ...], width: int):
    assert max(map(len, help_of(path, width).splitlines())) <= min(width, WIDTH)


def test_the_options_of_run_stand_in_panels():
    out = help_of(("run",), 80)
    places = [out.index(f"\n{panel}:\n") for panel in PANELS]
    assert places == sorted(places)
    assert "\nOptions:\n" not in out
    of_model = out[places[0] : places[1]]
    assert ("--base-url" in of_model, "--temperature" in of_model) == (True, False)


def test_options_stand_in_these_panels_in_this_order():
    lines: list[str] = []
    for path, command in LEAVES.items():
        panels: dict[str, list[str]] = {}
        for param in (param for param in options_of(command) if not param.hidden):
            name = f"{'/'.join(param.opts)} {param.metavar or ''}".rstrip()
            panels.setdefault(param.rich_help_panel or "Options", []).append(name)
        lines += [f"{' '.join(path)}: {panel}: {', '.join(names)}\n" for panel, names in panels.items()]
    same_as_golden("panels.txt", "".join(lines))


@pytest.mark.parametrize("path", LEAVES)
def test_every_option_says_what_it_does(path: tuple[str, ...]):
    assert all(param.help for param in LEAVES[path].params if not param.hidden)


def test_a_short_flag_means_the_same_in_every_verb():
    meanings: dict[str, set[str]] = {}
    for command in LEAVES.values():
        for param in options_of(command):
            for name in param.opts:
                if not name.startswith("--"):
                    meanings.setdefault(name, set()).add(next(o for o in param.opts if o.startswith("--")))
    # A number of things to take or to make.
    assert meanings.pop("-n") == {"--limit", "--sessions", "--items", "--number"}
    assert {name: len(them) for name, them in meanings.items()} == dict.fromkeys(meanings, 1)
    assert {"-m", "-o", "-j", "-p", "-d", "-g", "-f", "-q", "-h"} <= {*meanings, "-h"}


def test_an_option_has_its_short_flag_wherever_it_is():
    for name in ("--out", "--model", "--profile", "--data", "--group", "--concurrency", "--quiet"):
        flags = {
            tuple(sorted(o for o in param.opts if not o.startswith("--")))
            for command in LEAVES.values()
            for param in options_of(command)
            if name in param.opts
        }
        assert len(flags) == 1, name


@pytest.mark.parametrize(
    ("path", "old", "new"), [(("run",), "--format", "--tool-format"), (("export",), "--to", "--format")]
)
def test_old_names_still_work_and_are_not_shown(path: tuple[str, ...], old: str, new: str):
    (param,) = (param for param in options_of(LEAVES[path]) if new in param.opts)
    assert old in param.opts
    assert not re.search(rf"{old}\b", help_of(path, 100))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the examples name."""
    folder = tmp_path_factory.mktemp("examples")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        models = [word for name in ("gold", "lexical", "chat") for word in ("--model", f"baseline/{name}")]
        for out in ("runs/demo", "runs/wild-mini", "runs/old"):
            assert type_("run", "wild-mini", "--limit", "2", "--quiet", *models, "-o", out).exit_code == 0
        assert type_("run", "wild-mini", "--quiet", *models[:2], "-o", "runs/gold").exit_code == 0
        assert type_("board", "submit", "runs/gold", "-o", "submissions").exit_code == 0
    copytree(folder / "runs/old", folder / "runs/new")
    Path(folder, "series.toml").write_text(SERIES)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for line in (
            "run series.toml --limit 2 --quiet",
            "run wild-mini -m baseline/gold --limit 2 --among 20,40 --quiet -o runs/sizes",
            "gate runs/new --against baseline.json --update-baseline",
        ):
            ended = type_(*line.split())
            assert ended.exit_code == 0, ended.stderr
    chat = {
        "messages": [{"role": "user", "content": "Hello!"}, {"role": "assistant", "content": "Hi."}],
        "tools": [{"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}],
    }
    for name in ("traces", "a", "b"):
        Path(folder, f"{name}.json").write_text(json.dumps(chat))
    Path(folder, "t.json").write_text(json.dumps(chat["tools"]))
    Path(folder, "cases.yaml").write_text(json.dumps([{"input": "Hello!", "expect": "none"}]))
    Path(folder, "sessions.jsonl").write_bytes(WILD_MINI.data.locate(None).path.read_bytes())
    for name in ("train", "other", "a", "b"):
        rows = [call_row(f"What is the level at {name} {k}?", id=f"{name}-{k}") for k in range(4)]
        write_rows(folder / f"{name}.jsonl", rows)
    item = next(iter(WILD_MINI.load(WILD_MINI.data.locate(None))))
    tasks = [
        [in_text(reply) for reply in gold_replies(WILD_MINI.rules("official").episode(item, unit)) or []]
        for unit in item.units
    ]
    Path(folder, "replies.jsonl").write_text(
        json.dumps({"session": item.id, "model": "m", "tasks": tasks}) + "\n"
    )
    record = json.loads(Path(folder, "sessions.jsonl").read_text(encoding="utf-8").splitlines()[0])
    Path(folder, "tools.json").write_text(json.dumps(record["english_tools"]))
    openapi = {
        "openapi": "3.0.0",
        "info": {"title": "t", "version": "1"},
        "paths": {
            "/words": {
                "get": {
                    "operationId": "look_up",
                    "summary": "Looks a word up.",
                    "parameters": [
                        {"name": "word", "in": "query", "required": True, "schema": {"type": "string"}}
                    ],
                    "responses": {},
                }
            }
        },
    }
    functions = json.dumps([{"name": "look up", "description": "d", "parameters": {}}])
    said = [
        {"from": "user", "value": "What is a ria?"},
        {"from": "assistant", "value": '[look up(word="ria")]'},
    ]
    Path(folder, "toolace.json").write_text(
        json.dumps([{"system": f"Functions: {functions}.", "conversations": said}])
    )
    turns = [{"from": "human", "value": "What is a ria?"}, {"from": "gpt", "value": "A drowned valley."}]
    Path(folder, "train.jsonl").write_text(json.dumps({"conversations": turns}) + "\n")
    held_out = [{"from": "human", "value": "What is a fjord?"}, turns[1]]
    Path(folder, "held-out.jsonl").write_text(json.dumps({"conversations": held_out}) + "\n")
    Path(folder, "openapi.json").write_text(json.dumps(openapi))
    Path(folder, "manual.md").write_text("A word can be looked up.")
    user = {"role": "user", "content": "What is a ria?"}
    Path(folder, "chats.jsonl").write_text(json.dumps({"messages": [user]}) + "\n")
    Path(folder, "log.json").write_text(json.dumps({"samples": [{"messages": [user]}]}))
    for place in (folder, folder / "cloned"):
        place.mkdir(exist_ok=True)
        (place / "wildtool.toml").write_text('[models.local]\nmodel = "ollama/qwen3:8b"\n')
    _review(folder)
    return folder


def in_text(reply: dict[str, Any]) -> dict[str, Any]:
    """A reply with its calls in the text, as a server without a parser of calls gives it."""
    calls = [call["function"] for call in reply.get("tool_calls") or []]
    tags = [
        f"<tool_call>{json.dumps({'name': call['name'], 'arguments': json.loads(call['arguments'])})}</tool_call>"
        for call in calls
    ]
    return {"role": "assistant", "content": "\n".join([reply.get("content") or "", *tags])}


def _review(folder: Path) -> None:
    """Leaves a review of the sessions with one approved item and one with stale tasks, ann among its people, and a log
    to merge."""
    from wildtool_data.pointers import Change
    from wildtool_review.sets import open_review

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert type_("review", "start", "sessions.jsonl", "--no-check").exit_code == 0
        review = open_review("sessions.jsonl")
        first = next(iter(review.state.items.values()))
        review.decide("me", first.id, first.digest, "approve")
        last = review.item(list(review.state.items)[-1])
        text = last.content["english_tasks"][0]
        review.edit("me", last.id, last.digest, [Change("/english_tasks/0", text, f"Please: {text}")])
        review.close()
        for name in ("ann", "bob"):
            assert type_("review", "people", "add", "sessions.jsonl", name).exit_code == 0
        assert type_("review", "log", "sessions.jsonl", "-o", "bob.jsonl").exit_code == 0
        assert type_("review", "export", "sessions.jsonl", "-o", "release").exit_code == 0


@pytest.mark.long
@pytest.mark.usefixtures("no_benchmark_files")
@pytest.mark.parametrize("line", examples())
def test_every_example_of_the_help_runs_as_written(
    line: str, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(copytree(place, tmp_path / "own"))
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    # No official data, if another test has pulled some; of the embedded, `data overlap` and `data mix` look through one.
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setattr("wildtool_data.prepare.overlap.benchmark.usable_benchmarks", lambda: [WILD_MINI])
    words = shlex.split(line)[1:]
    words = words[: words.index(">")] if ">" in words else words
    if any(part in line for part in PARSED):
        if words[0] == "review" and tuple(words[:2]) not in COMMANDS:
            words.insert(1, "serve")  # what a set's own name means
        path = next(
            path for path in sorted(COMMANDS, key=len, reverse=True) if tuple(words[: len(path)]) == path
        )
        assert COMMANDS[path].make_context("wildtool", words[len(path) :])
        return
    if words[:2] == ["new", "cases"]:
        Path("tools.json").unlink()  # one of the files that it writes
    if words[:2] in (["new", "cases"], ["review", "import"]):
        Path("cases.yaml").unlink()
    if any(name in words for name in ("gpt-4o", "claude-sonnet-4-5", "qwen3")):
        # Nothing is sent; the official data may not be here.
        words += ["--dry-run", *(["--data", "wild-mini"] if "wildtoolbench" in words else [])]
        words += ["--split", "agent_finance", "--limit", "1"] if words[:2] == ["run", "acebench"] else []
    ended = type_(*words)
    if "--dry-run cannot estimate " in ended.stderr:
        return
    # So few units cannot show that a run is no worse by some points.
    assert ended.exit_code == (4 if "--worse-than" in words else 0), ended.stderr


def complete(line: str) -> list[str]:
    words = shlex.split(line) + ([""] if line.endswith(" ") else [])
    environment = {
        "_WILDTOOL_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
    }
    done = subprocess.run([COMMAND], env=environment, capture_output=True, text=True, check=False)
    return done.stdout.split()


@pytest.mark.long
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("wildtool sh", ["show"]),
        ("wildtool run acebench --profile ", ["official", "official-2025-08", "fixed"]),
        ("wildtool export --format par", ["parquet"]),
        ("wildtool generate ", ["wildtoolbench", "acebench", "tools", "pairs", "select", "rationales"]),
    ],
)
def test_the_shell_completes_names(line: str, offered: list[str]):
    assert complete(line) == offered


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("shwo", "'show'"),
        ("run wild-mni -m baseline/gold", "did you mean 'wild-mini'?"),
        ("run wild-mini -m baseline/glod", "did you mean 'baseline/gold'?"),
        ("run wild-mini -m baseline/gold -p fixd", "did you mean 'fixed'?"),
        ("run acebench -m baseline/gold --mode txt", "did you mean 'text'?"),
        (
            "run wild-mini -m m --base-url http://127.0.0.1:9/v1 --tool-format hermess",
            "did you mean 'hermes'?",
        ),
        ("run wild-mini --modle baseline/gold", "--model"),
        ("run wild-mini -m gpt-4o,gpt-4", "repeat the option: -m gpt-4o -m gpt-4"),
        ("run wild-mini -m baseline/gold -j ten", "'ten' is not a valid whole number"),
        ("run wild-mini -m baseline/gold -j 4097", "4097 is not in the range 1<=x<=4096"),
        ("export runs --format parqet", "did you mean 'parquet'?"),
        ("show --published wildtoolbench --group errrors", "did you mean 'errors'?"),
    ],
)
def test_a_misspelt_name_is_answered_with_the_one_that_was_meant(line: str, meant: str):
    ended = type_(*shlex.split(line))
    assert ended.exit_code == 2
    assert meant in ended.stderr


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("review runs/gold", "wildtool review start runs/gold --failed"),
        ("data lint tools.json", "wildtool tools lint tools.json"),
    ],
)
def test_what_another_verb_is_for_is_answered_with_that_verb(
    line: str, meant: str, place: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(place)
    ended = type_(*shlex.split(line))
    assert ended.exit_code == 2
    assert meant in ended.stderr
