"""What users, their scripts and their files rely on is as `tests/golden/surface` says: commands, names, formats, digests,
verdicts.

A change that is meant is written down again, and its difference read before it is committed:

    WILDTOOL_WRITE_GOLDEN=1 pytest tests/e2e/test_stable_surface.py
"""

import csv
import difflib
import hashlib
import json
import os
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from cli.commands.players_endpoint import Gate, served
from e2e import surface
from e2e.command import wildtool
from e2e.surface import Json, json_lines, shape, typed
from faults.batch_server import BatchServer
from generate.items.players import TOOLS as ITEM_TOOLS
from generate.items.players import ItemPlayers
from generate.scripted import Scripted
from generate.sessions.players import TOOLS as SESSION_TOOLS
from generate.sessions.players import Players
from generate.tools.players import ApiPlayers
from wildtool import trust

GOLDEN = Path(__file__).parents[1] / "golden" / "surface"


def check(name: str, found: Any) -> None:
    """Compares what the program says with the file of that name, or writes the file."""
    file = GOLDEN / f"{name}.json"
    text = json.dumps(found, ensure_ascii=False, indent=1) + "\n"
    if os.environ.get("WILDTOOL_WRITE_GOLDEN"):
        file.write_text(text, "utf-8")
    diff = [*difflib.unified_diff(file.read_text("utf-8").splitlines(), text.splitlines(), "golden", "found")]
    assert not diff, f"{file} is no longer what the program says:\n" + "\n".join(diff)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith(("OPENAI_", "WILDTOOL_"))]:
        if name != "WILDTOOL_WRITE_GOLDEN":
            monkeypatch.delenv(name)


def run(out: str, *words: object, benchmark: str = "wild-mini") -> int:
    return typed("run", benchmark, "--out", out, "-q", *words)[0]


# Commands and names ----------------------------------------------------------------------------------


def test_commands_and_options_stay():
    check("commands", surface.commands())


def test_names_stay():
    check("names", surface.names() | {"listed": surface.listed()})


NOBODY = "--base-url http://127.0.0.1:1/v1 --retries 0"
"""An address at which nobody answers."""
STATUSES = (
    "--version",
    "run --help",
    "list",
    "list nothing",
    "list cards nothing",
    "nothing",
    "run wild-mini",
    "run nothing --model baseline/gold",
    "run wild-mini --model baseline/nothing",
    "run wild-mini --model baseline/gold --profile nothing",
    "run wild-mini --model baseline/gold --mode nothing",
    "run wild-mini --model baseline/gold --data nothing.jsonl",
    "run wild-mini --model baseline/gold --limit 1 --out gold",
    "run wild-mini --model baseline/gold --limit 1 --out gold",
    "run wild-mini --model baseline/gold --seed 5 --limit 1 --out gold",
    f"run wild-mini --model m {NOBODY} --limit 1 --out dead",
    f"run wild-mini --model m {NOBODY} --limit 1 --max-tokens-total 1 --out limited",
    f"list models --check m {NOBODY.partition(' --retries')[0]}",
    "score gold",
    "score nowhere",
    "show gold",
    "show nowhere",
    "show gold --json --csv",
    "compare gold",
    "compare gold dead",
    "report gold --format md",
    "report gold --format nothing",
    "export gold --format csv --out gold.csv",
    "export gold --format nothing",
    "audit two.jsonl",
    "audit wild-mini --data two.jsonl --profile fixed",
    "audit wild-mini --data two.jsonl --profile official --strict",
    "audit wild-mini --data two.jsonl --profile nothing",
    "data lint broken.jsonl --benchmark wild-mini",
    "data lint short.jsonl --benchmark wild-mini",
    "data stats nowhere.jsonl",
    "data pull wild-mini",
    "generate --model procedural --sessions 1 --tasks 1 --out one.jsonl",
    "generate --sessions 1 --out no_model.jsonl",
    "generate nothing",
)
"""Command lines, in their order."""


def test_exit_statuses_stay():
    Path("broken.jsonl").write_text("{\n")
    Path("short.jsonl").write_text("{}\n")
    Path("two.jsonl").write_text(surface.wild_mini(2), "utf-8")
    check("statuses", {f"{n:02} {line}": typed(*line.split())[0] for n, line in enumerate(STATUSES, 1)})


# Digests ---------------------------------------------------------------------------------------------


def test_digests_of_requests_and_wordings_stay(tmp_path: Path):
    check("digests", surface.digests(tmp_path))


# Verdicts --------------------------------------------------------------------------------------------


def test_verdicts_and_metrics_of_wild_mini_stay():
    found: Json = {}
    metrics: Json = {}
    for profile in ("official", "fixed", "paper"):
        for model, limit in (("gold", 32), ("chat", 32), ("random", 12)):
            out = f"{profile}-{model}"
            words = ("--model", f"baseline/{model}", "--profile", profile, "--seed", 1, "--limit", limit)
            assert run(out, *words) == 0
            found[f"{profile}, {model}"] = surface.judged(Path(out), profile)
        shown = json.loads(typed("show", f"{profile}-random", "--json")[1])
        metrics[profile] = surface.grouped(shown["runs"][0]["metrics"])
    check("verdicts_wild_mini", found)
    check("metrics_wild_mini", metrics)


def test_verdicts_of_finance_episodes_stay():
    found: Json = {}
    for profile, mode, model in (
        ("official", "text", "gold"),
        ("official", "text", "chat"),
        ("fixed", "fc", "gold"),
    ):
        out = f"{profile}-{mode}-{model}"
        words = ("--model", f"baseline/{model}", "--profile", profile, "--mode", mode)
        assert run(out, *words, "--split", "agent_finance", benchmark="acebench") == 0
        found[f"{profile}, {mode}, {model}"] = surface.judged(Path(out), profile)
    check("verdicts_finance", found)


def test_verdicts_of_acebench_records_stay():
    """On records of all kinds in both languages that `wildtool generate acebench` once made."""
    with tarfile.open(GOLDEN / "ace_items.tar.gz") as packed:
        packed.extractall(filter="data")
    found: Json = {}
    for profile, mode, model in (
        ("official", "text", "gold"),
        ("official", "condensed", "chat"),
        ("official", "text", "random"),
        ("fixed", "minimal", "gold"),
        ("fixed", "fc", "gold"),
        ("fixed", "fc", "random"),
    ):
        out = f"{profile}-{mode}-{model}"
        words = ("--model", f"baseline/{model}", "--profile", profile, "--mode", mode, "--seed", 3)
        assert run(out, *words, "--data", "ace_items", "--lang", "both", benchmark="acebench") == 0
        found[f"{profile}, {mode}, {model}"] = surface.judged(Path(out), profile)
    found["audit"] = audited("acebench", "ace_items", "--lang", "both")
    check("verdicts_acebench", found)


def test_what_the_audit_of_a_session_finds_stays():
    Path("one.jsonl").write_text(surface.wild_mini(1), "utf-8")
    check("audit_wild_mini", audited("wild-mini", "one.jsonl"))


def audited(benchmark: str, data: str, *words: str) -> Json:
    """Of each profile how many mistakes of which kind it catches, and which known faults let the others pass."""
    profiles = json.loads(typed("audit", benchmark, "--data", data, *words, "--json")[1])
    return {
        found["profile"]: {
            "ceilings": {ceiling["style"]: ceiling["counts"] for ceiling in found["ceilings"]},
            "caught": {kill["kind"]: f"{kill['killed']} of {kill['mutants']}" for kill in found["kills"]},
            "missed": {known["why"].split()[0]: known["count"] for known in found["survivors"]},
        }
        for found in profiles
    }


def test_metrics_of_acebench_stay():
    check("metrics_acebench", surface.metrics_of_acebench())


# Files -----------------------------------------------------------------------------------------------


class Greeter(Scripted):
    """Says the same to everybody."""

    def said(self, role: str, messages: list[Any], request: Any) -> str:
        return '<tool_call>{"name": "list_accounts", "arguments": {}}</tool_call>'


@contextmanager
def answered_by(players: Scripted) -> Iterator[str]:
    with served(players, [], Gate()) as address:
        yield address


ASKED = ("--max-tokens", 50, "--temperature", 0.5, "--seed", 4, "--extra-body", '{"top_p": 0.9}')


def play_some() -> None:
    """Runs of each kind, in folders named for them."""
    assert run("gold", "--model", "baseline/gold", "--limit", 1) == 0
    assert run("random", "--model", "baseline/random", "--limit", 1, "--seed", 1) == 0
    with answered_by(Greeter()) as url:
        words = ("--model", "m", "--base-url", url, "--limit", 1, "--cache", "cache", *ASKED)
        assert run("asked", *words) == 0
        assert run("cached", *words, "--tool-format", "hermes") == 0
        assert run("again", *words) == 0
    assert run("dead", "--model", "m", *NOBODY.split(), "--limit", 1) == 3
    words = ("--model", "baseline/gold", "--split", "agent_finance", "--limit", 20, "--repeats", 2)
    assert run("finance", *words, benchmark="acebench") == 0
    tasks = [[{"content": "hello"}], [], [], []]
    Path("replies.jsonl").write_text(json.dumps({"item": "wild_mini_0", "model": "them", "tasks": tasks}))
    assert typed("score", "--data", "wild-mini", "--replies", "replies.jsonl", "--out", "imported")[0] == 0


def record_of(folder: str) -> list[Json]:
    return [row for path in sorted(Path(folder).rglob("record-*.jsonl")) for row in json_lines(path)]


def about(folder: str) -> Json:
    (path,) = Path(folder).rglob("run.json")
    return json.loads(path.read_text("utf-8"))


SOMEBODY_ELSES = ("message", "usage", "sends[].message", "sends[].tools")


def shown(*words: object) -> Any:
    status, out = typed(*words)
    assert status == 0
    return json.loads(out)


def test_run_folders_stay():
    play_some()
    folders = ("gold", "random", "asked", "cached", "again", "dead", "finance", "imported")
    check(
        "run_folders",
        {
            "run.json": {
                folder: shape([about(folder)]) for folder in ("gold", "asked", "finance", "imported")
            },
            "record": {
                folder: surface.rows_by_kind(record_of(folder), content=SOMEBODY_ELSES)
                for folder in ("gold", "asked", "cached", "again", "dead", "finance", "imported")
            },
            "changes": sorted({name for row in record_of("cached") for name in row.get("changes", ())}),
            "verdicts": {
                folder: surface.parquet_columns(Path(folder, "verdicts-official.parquet"))
                for folder in ("gold", "finance")
            },
            "stamp": surface.stamp_shape(Path("gold/verdicts-official.parquet")),
            "detail": {
                folder: shape(map(json.loads, details(folder))) for folder in ("gold", "random", "finance")
            },
            "cache": surface.sqlite_schema(Path("cache/replies.sqlite")),
            "files": {
                folder: sorted(path.relative_to(folder).as_posix() for path in Path(folder).rglob("*"))
                for folder in folders
            },
        },
    )
    check("identities", {folder: identity(folder) for folder in ("gold", "asked", "cached", "finance")})
    check(
        "json_outputs",
        {
            "show": shape([shown("show", "gold", "--json")]),
            "compare": shape([shown("compare", "gold", "random", "--flips", "--anyway", "--json")]),
            "data stats": shape([shown("data", "stats", "wild-mini", "--json")]),
            "show --csv": typed("show", "gold", "--csv")[1].splitlines()[0],
            "compare --csv": typed("compare", "gold", "random", "--anyway", "--csv")[1].splitlines()[0],
        },
    )


CONFIG = """
[run]
model = "mine"
data = "wild-mini"
mode = "fc"
profile = "fixed"
lang = "en"
limit = 2
ids = ["wild_mini_0", "wild_mini_2"]
repeats = 2
seed = 4
concurrency = 2
order = "prefix"
timeout = 30
retries = 1
deadline = "1h"
max_cost = 5
max_tokens_total = 100000
prices = "prices.toml"
rpm = 60000.5
tpm = 10000000
cache = "cache"
out = "configured"
quiet = true
force = false
dry_run = false

[models.mine]
model = "m"
base_url = "URL"
api_key_env = "KEY_OF_MINE"
format = "hermes"
temperature = 0.5
max_tokens = 50
extra_body = {top_p = 0.9}
stream = false
batch = false
rpm = 60000
tpm = 10000000
prices = {input = 1, output = 2.5, cached_input = 0.5, batch = 0.5}
"""


def test_keys_of_wildtool_toml_stay(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("KEY_OF_MINE", "sk-mine-5b1e")
    Path("prices.toml").write_text("[models.m]\ninput = 3\noutput = 4\ncached_input = 1\nbatch = 0.5\n")
    with answered_by(Greeter()) as url:
        Path("wildtool.toml").write_text(CONFIG.replace("URL", url))
        status, out = typed("run", "wild-mini", "--trust", trust().digest)
    assert status == 0, out
    scope = about("configured")["scope"]
    (sitting,) = about("configured")["sittings"]
    spent = sitting["spent"]
    check("configured", {"identity": identity("configured"), "scope": scope, "spent": spent})


def details(folder: str) -> list[str]:
    return [row["detail"] for row in surface.parquet_rows(Path(folder, "verdicts-official.parquet"))]


def identity(folder: str) -> Json:
    found = about(folder)["identity"]
    for model in found["models"].values():
        if "base_url" in model["settings"]:
            model["settings"]["base_url"] = "URL"
    return found


def test_exports_and_reports_stay():
    assert run("gold", "--model", "baseline/gold", "--limit", 2) == 0
    for form in ("parquet", "csv", "openai", "sharegpt", "hf-card", "bundle"):
        assert typed("export", "gold", "--format", form, "--out", f"out-{form}")[0] == 0
    assert (
        run(
            "episode",
            "--model",
            "baseline/gold",
            "--split",
            "agent_finance",
            "--limit",
            1,
            benchmark="acebench",
        )
        == 0
    )
    assert typed("report", "episode", "--out", "site")[0] == 0
    with Path("out-csv").open(encoding="utf-8-sig", newline="") as file:
        header = next(csv.reader(file))
    with ZipFile("out-bundle") as bundle:
        members = bundle.namelist()
        manifest = json.loads(bundle.read("manifest.json"))
        about_run = json.loads(bundle.read("run.json"))
    card = Path("out-hf-card")
    check(
        "exports",
        {
            "parquet": surface.parquet_columns(Path("out-parquet")),
            "csv": header,
            "openai": shape(json_lines(Path("out-openai")), content=("messages", "tools")),
            "sharegpt": shape(json_lines(Path("out-sharegpt"))),
            "hf-card": {
                "files": sorted(
                    path.relative_to(card).as_posix() for path in card.rglob("*") if path.is_file()
                ),
                "verdicts": {
                    path.name: surface.parquet_columns(path) for path in sorted(card.rglob("*.parquet"))
                },
            },
            "bundle": {
                "members": members,
                "manifest": shape([manifest], by_name=("members",)),
                "run.json": shape([about_run]),
            },
        },
    )
    data = {path.stem: path.read_text("utf-8") for path in sorted(Path("site/data").glob("*.js"))}
    shards = {
        name: json.loads(text.removeprefix(f'wildtool.put("{name}",').removesuffix(");\n"))
        for name, text in data.items()
    }
    check(
        "report",
        {
            "pages": sorted(path.name for path in Path("site").glob("*.html")),
            "assets": sorted(path.name for path in Path("site/assets").iterdir()),
            "tables": sorted(path.name for path in Path("site/files").glob("*.csv")),
            "data": {
                name: sorted(shard) if isinstance(shard, dict) else "list" for name, shard in shards.items()
            },
        },
    )


async def test_batches_stay(tmp_path: Path):
    async with BatchServer("chat", lambda body, digest: {"role": "assistant", "content": "No."}) as server:
        server.polls = 0
        words = (
            "--model",
            server.protocol.prefix,
            "--base-url",
            server.base_url,
            "--api-key-env",
            "PEER_KEY",
        )
        line = ("run", "wild-mini", *words, "--out", "run", "--limit", 1, "--seed", 4, "--batch")
        ended = await wildtool(*line, cwd=tmp_path, PEER_KEY="sk-batch-2c77")
    assert ended.status == 0, ended.err
    rows = json_lines(Path("run/batches.jsonl"))
    steps = [row for row in record_of("run") if row["row"] == "step"]
    bodies = {id_: digest for row in rows if row["row"] == "begun" for id_, digest in row["requests"].items()}
    places = [[row["item"], row["repeat"], row["unit"], row["step"]] for row in steps]
    key: str = rows[0]["key"]
    possible = {custom_id(key, "agent", place, body) for place in places for body in bodies.values()}
    assert len(bodies) == len(places) == 5 and set(bodies) <= possible
    check(
        "batches",
        {
            "rows": surface.rows_by_kind(rows, by_name=("requests",)),
            "record": surface.rows_by_kind(steps, content=SOMEBODY_ELSES),
            "bodies": sorted(bodies.values()),
        },
    )


def custom_id(key: str, role: str, place: list[Any], body: str) -> str:
    """What a request is called in a batch: it follows from the run, the step and the request's bytes."""
    text = json.dumps([key, role, *place, body], ensure_ascii=False, separators=(",", ":"))
    return "wt_" + hashlib.sha256(text.encode()).hexdigest()[:48]


# What is made ----------------------------------------------------------------------------------------

MADE = (
    "function",
    "[].function",
    "parameters",
    "returns",
    "plan",
    "english_tools",
    "english_answer_list[][].action.arguments",
    "english_answer_list[][].observation",
)
"""Keys of whatever was made up."""
MAKINGS: tuple[tuple[str, Scripted, Any, tuple[str, ...], str], ...] = (
    (
        "sessions",
        Players(),
        SESSION_TOOLS,
        ("user", "planner", "tool", "agent", "checker", "judge"),
        "generate --tools tools.json --sessions 4",
    ),
    (
        "items",
        ItemPlayers(),
        ITEM_TOOLS,
        ("user", "writer", "tool", "agent", "judge"),
        "generate acebench --tools tools.json --items 17",
    ),
    ("tools", ApiPlayers(), [], ("reader", "designer", "evolver", "caller"), "generate tools --number 6"),
)
"""What is made, by whom, over which tools, in which roles, and how it is typed."""


def test_what_is_made_by_models_stays():
    found: Json = {}
    for kind, players, tools, roles, line in MAKINGS:
        Path("tools.json").write_text(json.dumps(tools))
        named = " ".join(f"--role-model {role}={role}" for role in roles)
        with answered_by(players) as url:
            words = f"{line} --model agent {named} --base-url {url} --out {kind}".split()
            assert typed(*words)[0] == 0
        rows = {
            path.relative_to(kind).as_posix(): json_lines(path)
            for path in sorted(Path(kind).rglob("*.jsonl"))
            if "record" not in path.parts
        }
        found[kind] = {
            "files": sorted(
                {path.relative_to(kind).as_posix() for path in Path(kind).rglob("*") if path.is_file()}
            ),
            "yield.json": shape(json.loads(Path(kind, "yield.json").read_text("utf-8"))),
            "run.json": shape([about(kind)]),
            "record": surface.rows_by_kind(record_of(kind), content=SOMEBODY_ELSES),
            **{name: shape(found_rows, content=MADE) for name, found_rows in rows.items() if found_rows},
        }
    check("made_by_models", found)


def test_what_is_lost_stays():
    tools = [tool for tool in ITEM_TOOLS if tool["function"]["name"] in ("bookLesson", "rateCourt")]
    Path("few.json").write_text(json.dumps(tools))
    line = "generate acebench --model procedural --tools few.json --items 17 --kinds single,bool --out items"
    assert typed(*line.split())[0] == 0
    check("losses", shape(json_lines(Path("items/losses.jsonl"))))
