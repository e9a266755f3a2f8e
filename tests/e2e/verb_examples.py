"""One example, or more, of each verb that writes: the tests of second runs, interrupts and kills are made of them.

Words: OUT is a new name, FOLDER the address of the current folder, URL that of an endpoint on this machine. The folder is
filled by `build_world`: it has two runs, data of every kind, a submission and a review.
"""

import json
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
import typer
from typer.testing import CliRunner, Result

from review.made_sets import decide
from tools.choice_play import requests_file, tools
from training.training_rows import call_row, text_row, write_rows
from wildtool.cli import app
from wildtool.export import EXPORT_FORMATS
from wildtool_review.sets import open_review

SESSIONS = ("procedural_1_0", "procedural_1_1")
"""Sessions of the review."""
_MODEL = "--model m --base-url URL"
_SHARED = "wild-mini --model baseline/gold --workers 2 --print --out FOLDER/OUT --cache OUT-cache"
WRITING: Mapping[str, tuple[str, ...]] = {
    "run": (
        "run wild-mini --model baseline/gold --limit 1 --out OUT",
        "run wild-mini --model baseline/gold --model baseline/chat --limit 1 --out OUT --cache OUT-cache",
        "run all --model baseline/gold --limit 1 --out OUT",
        "run series.toml --limit 1 -o OUT --cache OUT-cache",
    ),
    "compare": (
        "compare sizes --curve tools -o OUT",
        "compare series.toml --curve data",
        "compare acebench --curve size -o OUT",
    ),
    "show": ("show r/gold r/chat", "show --published wildtoolbench_table6_accuracy --chart OUT.svg"),
    "data stats": (
        "data stats wild-mini",
        "data stats t.jsonl",
        "data stats wild-mini s.jsonl -o OUT",
    ),
    "score": (
        "score r/gold --profile fixed",
        "score --data wild-mini --benchmark wild-mini --replies replies.jsonl --out OUT",
    ),
    "gate": (
        "gate r/gold --against r/chat --markdown OUT",
        "gate r/gold --against r/chat --junit OUT",
        "gate r/gold --against r/chat --json OUT",
    ),
    "tools lint": ("tools lint tools.json -o OUT",),
    "tools try": (
        "tools try tools.json --requests mine.jsonl -m baseline/gold -o OUT --cache OUT-cache",
        "tools try tools.json --requests mine.jsonl -o OUT",
    ),
    "tools compare": (
        "tools compare tools.json tools.json --requests mine.jsonl -m baseline/gold -o OUT --cache OUT-cache",
    ),
    "report": (
        "report r/gold -o OUT",
        "report r/gold --single-file -o OUT",
        "report r/gold --format md -o OUT",
        "report r/gold --format latex -o OUT",
    ),
    "export": tuple(
        f"export {'whole' if name == 'hf-results' else 'r/gold'} --to {name} -o OUT{form.suffix}"
        + {"pairs": " --allow-benchmark-data", "hf-results": " --hub-dataset me/set"}.get(name, "")
        for name, form in EXPORT_FORMATS.items()
        if name != "inspect" or find_spec("inspect_ai")
    ),
    "check": ("check -m m --base-url URL --quick --markdown OUT",),
    "board submit": ("board submit whole -o OUT",),
    "board build": ("board build subs -o OUT",),
    "audit": (
        "audit wildtoolbench --data s.jsonl",
        "audit wild-mini --hints gold -o OUT",
        "audit wild-mini --judge baseline/gold --cases 8 --twins none --cache OUT-cache -o OUT",
    ),
    "new cases": ("new cases OUT/cases.yaml",),
    "new benchmark": ("new benchmark mine -o OUT", "new benchmark mine --package -o OUT"),
    "generate wildtoolbench": (
        "generate --model procedural --sessions 2 -o OUT",
        "generate --model procedural --sessions 4 --hold-out-tools 0.5 -o OUT",
        f"generate {_MODEL} --sessions 1 -o OUT --cache OUT-cache",
    ),
    "generate acebench": (
        "generate acebench --model procedural --items 2 -o OUT",
        f"generate acebench {_MODEL} --items 2 -o OUT --cache OUT-cache",
    ),
    "generate tools": (f"generate tools {_MODEL} --number 2 -o OUT --cache OUT-cache",),
    **{
        f"generate {kind}": tuple(
            f"generate {kind} t.jsonl {_MODEL} --to {form} -o OUT --cache OUT-cache" for form in forms
        )
        for kind, forms in {
            "pairs": ("sharegpt", "openai", "trl", "llamafactory"),
            "select": ("sharegpt", "openai", "trl", "same"),
            "rationales": ("sharegpt", "openai", "trl"),
        }.items()
    },
    "worker slurm": (f"worker slurm {_SHARED}",),
    "worker kubernetes": (f"worker kubernetes --image i {_SHARED}",),
    "review start": (
        "review start s.jsonl --store OUT",
        "review start s.jsonl --store OUT --runs r/gold",
        "review start r/chat --failed --sample 3",
    ),
    "review export": ("review export s.jsonl -o OUT",),
    "review log": ("review log s.jsonl -o OUT", "review log s.jsonl --anonymous -o OUT"),
    "review merge": ("review merge s.jsonl log.jsonl",),
    "review round": ("review round s.jsonl --people ann,bob",),
    "review regenerate": (
        f"review regenerate s.jsonl {_MODEL} --item {SESSIONS[0]} --from 1 -o OUT --cache OUT-cache",
    ),
    "review import": ("review import chats.jsonl --from openai -o OUT",),
    "review people add": ("review people add s.jsonl eve",),
    "review people revoke": ("review people revoke s.jsonl ann",),
    "data pull": ("data pull ledger",),
    "data overlap": ("data overlap t.jsonl --with wild-mini --remove exact,near -o OUT",),
    "data mix": ("data mix a=t.jsonl b=u.jsonl --no-overlap-check --dedupe exact --audit OUT-audit -o OUT",),
    "data recipe": ("data recipe t.jsonl --base Qwen/Qwen3-8B --no-overlap-check -o OUT",),
    "data refresh": ("data refresh wild-mini --skip-unclear -o OUT",),
    "data convert": (
        *(
            f"data convert t.jsonl --to {form} -o OUT"
            for form in ("sharegpt", "openai", "trl", "adp", "tools")
        ),
        "data convert t.jsonl --to llamafactory -o OUT",
        "data convert t.jsonl --to text --tool-format hermes -o OUT",
        "data convert t.jsonl --to verl --tool-format hermes -o OUT",
    ),
}


READING: Mapping[str, tuple[str, ...]] = {
    "list": ("list", "list models"),
    "trust": ("trust trusted",),
    "board verify": ("board verify subs/whole.bundle.zip",),
    "review stats": ("review stats s.jsonl",),
    "review agree": ("review agree s.jsonl --runs r/gold --runs r/chat",),
    "review people list": ("review people list s.jsonl",),
    "data lint": ("data lint wild-mini", "data lint t.jsonl"),
}
"""Verbs that write nothing but verdicts beside a record."""
SERVING: Mapping[str, str] = {
    "view": "tests/cli/commands/test_view.py and tests/report/server",
    "review serve": "tests/cli/commands/test_review_serve.py",
    "review quick": "packages/wildtool-review/tests/review/test_quick.py",
    "worker start": "tests/e2e/test_workers.py and tests/e2e/test_workers_faults.py",
}
"""Verbs that work until they are stopped, and where that is tested."""
READ_OPTIONS = {
    "--adapter",
    "--against",
    "--api-key-file",
    "--among-tools",
    "--compare",
    "--config",
    "--data",
    "--documents",
    "--examples",
    "--from",
    "--hints",
    "--judge",
    "--labels",
    "--prices",
    "--prompt",
    "--rationale",
    "--replies",
    "--requests",
    "--reviewed",
    "--run",
    "--runs",
    "--role-prompts",
    "--sandbox",
    "--scenarios",
    "--sizes",
    "--store",
    "--tls-cert",
    "--tls-key",
    "--tokenizer",
    "--traces",
    "--tools",
    "--tree",
    "--with",
}
"""Options that name what is read, or the store of a review, in which `review start` writes first."""


def type_(line: str) -> Result:
    return CliRunner().invoke(app, line.split(), prog_name="wildtool")


def verbs() -> Iterator[tuple[str, click.Command]]:
    """Every verb by its full name, from the registry of the command line."""
    yield from _below(typer.main.get_command(app), (), None)


def _below(command: Any, words: tuple[str, ...], parent: Any) -> Iterator[tuple[str, click.Command]]:
    if not hasattr(command, "list_commands"):
        yield " ".join(words), command
        return
    context = click.Context(command, info_name=words[-1] if words else "wildtool", parent=parent)
    for name in command.list_commands(context):
        yield from _below(command.commands[name], (*words, name), context)


def build_world() -> None:
    """Fills the current folder with what the examples read."""
    for line in (
        "run wild-mini --model baseline/gold --out whole --quiet",
        "run wild-mini --model baseline/gold --limit 4 --out r/gold --quiet",
        "run wild-mini --model baseline/chat --limit 4 --out r/chat --quiet",
        "run wild-mini --model baseline/gold --limit 2 --among 20,40 --out sizes --quiet",
        "board submit whole -o subs",
        "generate --model procedural --sessions 2 -o s.jsonl",
        "review start s.jsonl",
        "review people add s.jsonl ann",
        "review people add s.jsonl bob",
        "review log s.jsonl -o log.jsonl",
    ):
        ended = type_(line)
        assert ended.exit_code == 0, (line, ended.output)
    with open_review("s.jsonl") as review:
        for item in SESSIONS:
            decide(review, "ann", item)
    Path("trusted").mkdir()
    Path("trusted/wildtool.toml").write_text("[run]\nlimit = 3\n")
    write_rows(Path("t.jsonl"), [call_row("Husum?"), call_row("Kiel?"), text_row("Sylt?")])
    write_rows(Path("u.jsonl"), [call_row("Husum?"), call_row("Emden?")])
    said = {"session": "wild_mini_0", "model": "m", "tasks": [[{"role": "assistant", "content": "Hi"}]]}
    write_rows(Path("replies.jsonl"), [said])
    points = "".join(
        f'[[point]]\nname = "{name}"\nmodel = "baseline/{model}"\nsize = {size}\n'
        for name, model, size in (("base", "random", 0), ("one", "gold", 9))
    )
    Path("series.toml").write_text(f'[series]\nbenchmarks = ["wild-mini"]\n{points}')
    ended = type_("run series.toml --limit 2 --quiet")
    assert ended.exit_code == 0, ended.output
    Path("tools.json").write_text(
        json.dumps(tools(get_tides="Lists high and low tide by day", get_ports="Lists ports"))
    )
    requests_file(Path(), [{"request": f"High tide {place}?", "tool": "get_tides"} for place in range(2)])
    chat = {
        "messages": [
            {"role": "user", "content": "Tides at Husum?"},
            {"role": "assistant", "content": "None."},
        ],
        "tools": tools(get_tides="Lists high and low tide by day"),
    }
    write_rows(Path("chats.jsonl"), [chat])
