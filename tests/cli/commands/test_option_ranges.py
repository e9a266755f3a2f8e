"""What the options of `data`, `generate` and `review` take: their words, defaults, ranges and places in the help."""

from typing import Any

import pytest
import typer

from wildtool.cli import app

ROOT: Any = typer.main.get_command(app)


def described(param: Any) -> str:
    """An option as a line."""
    least, most = getattr(param.type, "min", None), getattr(param.type, "max", None)
    parts = ["|".join(param.opts), param.metavar or ""]
    parts += [f"= {param.default}"] if param.default not in (None, False, "") else []
    parts += [f"{least}..{'' if most is None else most}"] if least is not None else []
    parts += ["repeatable"] if getattr(param, "multiple", False) or param.nargs == -1 else []
    parts += ["required"] if param.required else []
    parts += ["default unsaid"] if getattr(param, "show_default", True) is False else []
    panel = getattr(param, "rich_help_panel", None)
    return " ".join(filter(None, [*parts, f"({panel})" if panel else ""]))


def options(*path: str) -> list[str]:
    command = ROOT
    for name in path:
        command = command.commands[name]
    return [described(param) for param in command.params]


SHARED = set.intersection(*(set(options("generate", name)) for name in ROOT.commands["generate"].commands))
"""What every command of `generate` takes."""
OPTIONS: dict[str, list[str]] = {
    "data lint": [
        "data FILE|BENCH required",
        "--benchmark NAME",
        "--trainer NAME repeatable",
        "--tokenizer PATH",
        "--cutoff N 1..",
        "--duplicates KIND",
        "--strict",
    ],
    "data stats": [
        "data FILE|BENCH required",
        "--benchmark NAME",
        "--compare FILE",
        "--tokenizer PATH",
        "--json (Output)",
    ],
    "data overlap": [
        "files FILE… repeatable required default unsaid",
        "--with BENCH|FILE repeatable",
        "--remove FLAGS",
        "--out|-o FILE",
        "--from NAME = auto",
        "--json (Output)",
    ],
    "data mix": [
        "sets NAME=FILE[:WEIGHT]… repeatable required default unsaid",
        "--out|-o FOLDER",
        "--total N 1..",
        "--by NAME = size",
        "--cap NAME=N repeatable",
        "--dedupe LEVEL",
        "--similar X = 0.8 0.5..1.0",
        "--audit FILE",
        "--split NAME=SHARE,…",
        "--group-by NAME = near",
        "--seed TEXT = 1",
        "--repeat",
        "--with BENCH|FILE repeatable",
        "--no-overlap-check",
        "--strict",
    ],
    "data recipe": [
        "files FILE… repeatable required default unsaid",
        "--base MODEL",
        "--method NAME = sft-lora",
        "--out|-o FOLDER",
        "--template NAME",
        "--cutoff N = 16384 1..",
        "--tokenizer PATH",
        "--curve SHARE,…",
        "--seeds N = 1 1..100",
        "--fixed epochs|steps = epochs",
        "--set KEY=VALUE repeatable",
        "--trl",
        "--cpu",
        "--adapter FOLDER (More)",
        "--devices N = 1 1.. (More)",
        "--seed N = 42 (More)",
        "--with BENCH|FILE repeatable",
        "--no-overlap-check",
    ],
    "data refresh": [
        "data FILE|BENCH required",
        "--out|-o FILE",
        "--seed TEXT = 1",
        "--skip-unclear",
        "--benchmark NAME",
    ],
    "data convert": [
        "files FILE… repeatable required",
        "--to",
        "--from NAME = auto",
        "--out|-o PATH",
        "--kind",
        "--distance N 2..",
        "--system = clean",
        "--text-with-calls = drop",
        "--think-words OPEN CLOSE = ('<think>', '</think>') (More)",
        "--call-words OPEN CLOSE = ('<tool_call>', '</tool_call>') (More)",
        "--finish = text (More)",
        "--prefixes = longest (More)",
        "--lossless (Output)",
        "--flat (Output)",
        "--for-upload (Output)",
        "--prompt-completion (Output)",
        "--tools-as-text (Output)",
        "--tool-format NAME (Output)",
        "--safe-names (Output)",
        "--drop-weights (Output)",
        "--keep-rejects (Output)",
        "--strict (Output)",
        "--replace (Output)",
        "--allow-benchmark-data",
        "--jobs 1.. (More)",
        "--json (Output)",
    ],
    "generate wildtoolbench": [
        "--out|-o PATH",
        "--tools FILE",
        "--sessions|-n N = 64",
        "--tasks N = 4",
        "--seed TEXT = 1",
        "--lang CODE repeatable default unsaid",
        "--twins",
        "--hold-out-tools SHARE",
        "--on WHERE",
        "--against FILE repeatable",
        "--format|-f NAME repeatable",
    ],
    "generate acebench": [
        "--out|-o FOLDER",
        "--tools FILE",
        "--from FILE",
        "--items|-n N = 60",
        "--kinds KIND[=SHARE] repeatable default unsaid",
        "--seed TEXT = 1",
        "--lang CODE repeatable default unsaid",
        "--judges N = 3 0..9",
        "--agree N 0..",
    ],
    "generate tools": [
        "--out|-o FOLDER",
        "--number|-n N = 100",
        "--tree FILE",
        "--documents FILE repeatable",
        "--seed TEXT = 1",
        "--lang CODE repeatable default unsaid",
    ],
    "generate pairs": [
        "file FILE required",
        "--out|-o FOLDER",
        "--turns = calls",
        "--tries N = 2 1..20",
        "--retry = plain",
        "--critic NAME",
        "--chosen = gold",
        "--solved-only",
        "--keep-broken",
        "--to = sharegpt",
        "--allow-benchmark-data",
    ],
    "generate select": [
        "files FILE… repeatable required",
        "--out|-o FOLDER",
        "--by = rating",
        "--per-set N = 500 1..",
        "--threshold X = 5.0 0..10",
        "--reference = show",
        "--tries N = 4 2..100",
        "--rounds N = 1 1..",
        "--round N = 1 1..",
        "--without-seen",
        "--seed TEXT = 1",
        "--to default unsaid",
        "--allow-benchmark-data",
    ],
    "generate rationales": [
        "file FILE required",
        "--out|-o FOLDER",
        "--min-tokens N = 30 0..",
        "--no-check",
        "--text-with-calls = think",
        "--to = sharegpt",
        "--allow-benchmark-data",
    ],
    "review serve": [
        "set_name SET required default unsaid",
        "--store FILE|URL",
        "--benchmark NAME",
        "--as NAME",
        "--host NAME = 127.0.0.1",
        "--port N = 8643 0..65535",
        "--tls-cert FILE",
        "--tls-key FILE",
        "--behind-proxy ORIGIN",
        "--no-token",
        "--open",
        "--no-check",
        "--runs FOLDER repeatable",
        "--model|-m NAME",
        "--max-cost USD 0..",
    ],
    "review start": [
        "set_name SET required default unsaid",
        "--store FILE|URL",
        "--benchmark NAME",
        "--no-check",
        "--runs FOLDER repeatable",
    ],
    "review export": [
        "set_name SET required default unsaid",
        "--out|-o FOLDER",
        "--store FILE|URL",
        "--allow-findings",
    ],
    "review stats": [
        "set_name SET required default unsaid",
        "--store FILE|URL",
        "--max-error X 0..1",
        "--json (Output)",
    ],
    "review log": [
        "set_name SET required default unsaid",
        "--store FILE|URL",
        "--verify",
        "--last DIGEST",
        "--out|-o FILE (Output)",
        "--anonymous",
    ],
    "review merge": [
        "set_name SET required default unsaid",
        "files FILE... repeatable required",
        "--store FILE|URL",
        "--benchmark NAME",
    ],
    "review round": [
        "set_name SET required default unsaid",
        "--people NAME repeatable",
        "--share X = 0.2 0.0001..1",
        "--reviewers N = 2 1..2",
        "--seed TEXT = 1",
        "--close N 1..",
        "--store FILE|URL",
    ],
    "review agree": [
        "set_name SET required default unsaid",
        "--runs FOLDER repeatable",
        "--min-models N = 2 1..",
        "--profile|-p NAME (Selection)",
        "--store FILE|URL",
        "--json (Output)",
    ],
    "review regenerate": [
        "set_name SET required default unsaid",
        "--item ID repeatable",
        "--from N 1..",
        "--keep-texts",
        "--call N 0..",
        "--as NAME",
        "--seed TEXT = 1",
        "--out|-o FOLDER",
        "--store FILE|URL",
    ],
    "review import": [
        "files FILE... repeatable required default unsaid",
        "--from NAME",
        "--out|-o FILE",
        "--keep-names",
        "--seed TEXT = 1",
        "--skip-unclear",
    ],
    "review people add": [
        "set_name SET required default unsaid",
        "name NAME required",
        "--role ROLE = reviewer",
        "--store FILE|URL",
    ],
    "review people revoke": [
        "set_name SET required default unsaid",
        "name NAME required",
        "--store FILE|URL",
    ],
    "review people list": [
        "set_name SET required default unsaid",
        "--store FILE|URL",
    ],
}
GENERATOR = [
    "--api-key-env VARIABLE (Model)",
    "--header NAME=VALUE repeatable (Model)",
    "--base-url URL (Model)",
    "--cache FOLDER (More)",
    "--concurrency|-j N = 32 1..4096 (Limits)",
    "--config FILE (More)",
    "--deadline TIME (Limits)",
    "--dry-run (Limits)",
    "--extra-body JSON (Sampling)",
    "--force (Output)",
    "--max-cost USD 0.. (Limits)",
    "--max-tokens N 1.. (Sampling)",
    "--max-tokens-total N 1.. (Limits)",
    "--model|-m NAME (Model)",
    "--prices FILE (Limits)",
    "--quiet|-q (Output)",
    "--response-format (Sampling)",
    "--role-model ROLE=NAME repeatable (Model)",
    "--rpm N (Limits)",
    "--temperature X (Sampling)",
    "--timeout SECONDS = 600.0 (Limits)",
    "--tpm N (Limits)",
    "--trust HASH (More)",
]


@pytest.mark.parametrize("name", OPTIONS)
def test_options_and_what_they_take(name: str):
    assert [line for line in options(*name.split()) if line not in SHARED] == OPTIONS[name]


def test_options_of_every_generator():
    assert sorted(SHARED) == sorted(GENERATOR)
