"""A folder that somebody else filled: what lies in it sends no byte, starts no program and writes nothing outside,
whatever command is typed there.

The attacker listens at 0.0.0.0, which reaches this machine and is no loopback address. Keys stand in the environment.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import wildtool as wt
from e2e.command import wildtool
from e2e.stores import prepared_job
from faults.attacker import Attacker
from wildtool.errors import UsageError

KEYS = {
    "OPENAI_API_KEY": "sk-canary-openai-0451",
    "ANTHROPIC_API_KEY": "sk-canary-anthropic-0451",
    "AWS_SECRET_ACCESS_KEY": "canary-aws-0451",
    "AZURE_OPENAI_API_KEY": "canary-azure-0451",
}


@pytest.fixture
def attacker() -> Iterator[Attacker]:
    with Attacker().at_work() as peer:
        yield peer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder where the user stands, with a file beside it that leaves a mark if it is executed."""
    place = tmp_path / "cloned"
    place.mkdir()
    (place / "planted.py").write_text("open('../MARK', 'w').close()\n")
    (place / "serve.sh").write_text("touch ../MARK\n")
    (place / "link").symlink_to(tmp_path)
    (place / "inside").mkdir()
    (place / "inside" / "baseline--gold").symlink_to(tmp_path / "MARK")
    (tmp_path / "private.jsonl").write_text('{"a secret": 1}\n')
    return place


RUN = "run wild-mini --limit 1 -q --retries 0"
TYPED = f"{RUN} -m gpt-4o"
PLANTED = {
    "an address": ('[run]\nbase_url = "http://0.0.0.0:PORT/v1"', TYPED),
    "an address on this machine, for a key": ('[run]\nbase_url = "http://127.0.0.1:PORT/v1"', TYPED),
    "an address written otherwise": ('[run]\nbase_url = "http://127.1:PORT/v1"', TYPED),
    "an address with the right name before it": (
        '[run]\nbase_url = "http://localhost.example.0.0.0.0.nip.invalid:PORT/v1"',
        TYPED,
    ),
    "a model": ('[run]\nmodel = "anthropic/claude-x"\nbase_url = "http://0.0.0.0:PORT/v1"', RUN),
    "the address of another role": (
        '[run]\nuser_model = "gpt-4o"\nuser_base_url = "http://0.0.0.0:PORT/v1"',
        f"{RUN} -m baseline/gold",
    ),
    "an address, for a model of another role": (
        '[run]\nbase_url = "http://0.0.0.0:PORT/v1"',
        f"{RUN} -m baseline/gold --user-model gpt-4o",
    ),
    "a table that shadows a name": (
        '[models.gpt-4o]\nmodel = "m"\nbase_url = "http://0.0.0.0:PORT/v1"',
        TYPED,
    ),
    "a table with a key of another service": (
        '[models.gpt-4o]\nmodel = "m"\nbase_url = "http://0.0.0.0:PORT/v1"\napi_key_env = "AWS_SECRET_ACCESS_KEY"',
        TYPED,
    ),
    "a table of a provider whose key follows its address": (
        '[models.gpt-4o]\nmodel = "azure/m"\nbase_url = "http://0.0.0.0:PORT/v1"',
        TYPED,
    ),
    "a table with a key for this machine": (
        '[models.gpt-4o]\nmodel = "m"\nbase_url = "http://127.0.0.1:PORT/v1"\napi_key_env = "AWS_SECRET_ACCESS_KEY"',
        TYPED,
    ),
    "a table with a file as key": (
        '[models.gpt-4o]\nmodel = "m"\nbase_url = "http://127.0.0.1:PORT/v1"\napi_key_file = "key"',
        TYPED,
    ),
    "another key for a typed address": (
        '[run]\napi_key_env = "AWS_SECRET_ACCESS_KEY"',
        f"{TYPED} --base-url http://0.0.0.0:PORT/v1",
    ),
    "a header with a key for a typed address": (
        '[run]\nheader = ["X-Api-Key=env:AWS_SECRET_ACCESS_KEY"]',
        f"{TYPED} --base-url http://0.0.0.0:PORT/v1",
    ),
    "a header that sends a gateway elsewhere": (
        '[run]\nheader = ["x-portkey-custom-host=http://0.0.0.0:PORT"]',
        f"{RUN} -m m --base-url http://127.0.0.1:PORT/v1",
    ),
    "a table with a header": (
        '[models.gpt-4o]\nmodel = "m"\nbase_url = "http://127.0.0.1:PORT/v1"\n'
        'headers = {Cookie = "env:AWS_SECRET_ACCESS_KEY"}',
        TYPED,
    ),
    "a file that is executed": ('[run]\nbenchmark = "planted.py"', "run -m baseline/gold"),
    "a program": (
        '[run]\non = "local:1"\nserver = "sh serve.sh {port}"\nbase_url = "http://127.0.0.1:{port}/v1"',
        TYPED,
    ),
    "workers": ('[run]\non = "local:1"', f"{RUN} -m baseline/gold"),
    "a place elsewhere": ('[run]\nout = "OUTSIDE/MARK"', f"{RUN} -m baseline/gold"),
    "a place above": ('[run]\nout = "../MARK"', f"{RUN} -m baseline/gold"),
    "a place behind a link": ('[run]\nout = "link/MARK"', f"{RUN} -m baseline/gold"),
    "a place with a link in it": ('[run]\nout = "inside"', f"{RUN} -m baseline/gold -m baseline/chat"),
    "a place in a store": ('[run]\nout = "file:///OUTSIDE/MARK"', f"{RUN} -m baseline/gold"),
    "replies that are kept": ('[run]\ncache = "replies"', f"{RUN} -m baseline/gold"),
    "a file of hints elsewhere": ('[run]\nhints = "../private.jsonl"', f"{RUN} -m baseline/gold"),
    "tools that a provider calls": (
        '[run]\nextra_body = {tools = [{type = "mcp", server_url = "http://0.0.0.0:PORT"}]}',
        f"{TYPED} --base-url http://0.0.0.0:PORT/v1",
    ),
    "files that are overwritten": ("[run]\nforce = true", f"{RUN} -m baseline/gold"),
    "a table, to a check": (
        '[models.gpt-4o]\nmodel = "m"\nbase_url = "http://0.0.0.0:PORT/v1"',
        "check -m gpt-4o --quick",
    ),
    "a table, to a list": (
        '[models.gpt-4o]\nmodel = "m"\nbase_url = "http://0.0.0.0:PORT/v1"',
        "list models --check gpt-4o",
    ),
    "a table, to a generator": (
        '[models.gpt-4o]\nmodel = "m"\nbase_url = "http://0.0.0.0:PORT/v1"',
        "generate -m gpt-4o --sessions 1 -o one.jsonl",
    ),
    "a table, to a cluster": (
        '[models.gpt-4o]\nmodel = "m"\nbase_url = "http://0.0.0.0:PORT/v1"',
        "worker slurm wild-mini -m gpt-4o -o file:///OUTSIDE/MARK --workers 1 --print",
    ),
}
"""By what the file plants: its text, and the words that are typed."""


def plant(folder: Path, text: str, attacker: Attacker) -> None:
    text = text.replace("PORT", str(attacker.port)).replace("OUTSIDE", str(folder.parent))
    (folder / "wildtool.toml").write_text(text)
    (folder / "key").write_text("canary-in-a-file")


def outside(folder: Path) -> list[str]:
    """What lies beside the folder, apart from what was there before."""
    return sorted(
        path.name for path in folder.parent.iterdir() if path.name not in (folder.name, "private.jsonl")
    )


@pytest.mark.parametrize("name", PLANTED)
async def test_a_config_file_that_nobody_named_needs_trust(name: str, folder: Path, attacker: Attacker):
    text, line = PLANTED[name]
    plant(folder, text, attacker)
    words = line.replace("PORT", str(attacker.port)).replace("OUTSIDE", str(folder.parent)).split()
    ended = await wildtool(*words, cwd=folder, **KEYS)
    assert (ended.status, attacker.heard, outside(folder)) == (2, [], []), ended.err
    assert "wildtool.toml would:" in ended.err
    assert "WILDTOOL_TRUST" in ended.err and "canary" not in ended.err


async def test_a_trusted_one_does_what_it_says(folder: Path, attacker: Attacker):
    plant(folder, PLANTED["a table with a key of another service"][0], attacker)
    trusted = wt.trust(folder).digest
    refused = await wildtool(*TYPED.split(), cwd=folder, **KEYS, WILDTOOL_TRUST="0" * 64)
    assert (refused.status, attacker.heard) == (2, [])
    await wildtool(*TYPED.split(), "--trust", trusted, cwd=folder, **KEYS)
    assert b"canary-aws-0451" in attacker.heard[0]


@pytest.mark.parametrize("name", ["an address", "a table that shadows a name"])
def test_python_raises_the_same_words(
    name: str, folder: Path, attacker: Attacker, monkeypatch: pytest.MonkeyPatch
):
    plant(folder, PLANTED[name][0], attacker)
    monkeypatch.chdir(folder)
    for variable, key in KEYS.items():
        monkeypatch.setenv(variable, key)
    with pytest.raises(UsageError, match="would:") as refused:
        wt.run("wild-mini", model="gpt-4o", limit=1, quiet=True)
    assert "wildtool.trust(" in str(refused.value)
    assert attacker.heard == []


@pytest.mark.parametrize(
    "line",
    ["list", "list models", "show runs", "score runs/m", "compare runs/m runs/m", f"{RUN} -m baseline/gold"],
)
async def test_what_needs_nothing_of_the_file_runs_beside_it(line: str, folder: Path, attacker: Attacker):
    plant(folder, PLANTED["a table that shadows a name"][0], attacker)
    (folder / ".env").write_text(f"OPENAI_BASE_URL=http://0.0.0.0:{attacker.port}/v1\n")
    for module in ("json", "random", "socket", "orjson", "sitecustomize"):
        (folder / f"{module}.py").write_text("open('../MARK', 'w').close()\n")
    (folder / "wildtool").mkdir()
    (folder / "wildtool" / "__init__.py").write_text("open('../MARK', 'w').close()\n")
    planted_run(folder / "runs" / "m", attacker)
    ended = await wildtool(*line.split(), cwd=folder, **KEYS)
    assert (attacker.heard, outside(folder)) == ([], []), ended.err
    assert "internal error" not in ended.err


def planted_run(run: Path, attacker: Attacker) -> None:
    """A run whose `run.json` names an address, a key and a Python file."""
    run.mkdir(parents=True)
    settings = {"base_url": f"http://0.0.0.0:{attacker.port}/v1", "api_key_env": "OPENAI_API_KEY"}
    identity = {"benchmark": "planted", "mode": "x", "models": {"agent": {"name": "m", "settings": settings}}}
    data = {"benchmark_file": str(run.parents[1] / "planted.py")}
    run_json = {"format": 1, "identity": identity, "data": data, "sittings": [], "scope": {}}
    (run / "run.json").write_text(json.dumps(run_json))


@pytest.mark.parametrize("kind", ["pipe", "endless device", "folder"])
async def test_a_config_file_that_is_none_stops_nothing_but_the_command(kind: str, folder: Path):
    path = folder / "wildtool.toml"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero")
    ended = await wildtool(*f"{RUN} -m baseline/gold".split(), cwd=folder)
    assert ended.status == 2 and "wildtool.toml" in ended.err


HOSTILE_JOBS = {
    "an address": {"base_url": "http://0.0.0.0:PORT/v1"},
    "an address on this machine, for a key": {"base_url": "http://127.0.0.1:PORT/v1"},
    "a key of another service": {
        "base_url": "http://0.0.0.0:PORT/v1",
        "api_key_env": "AWS_SECRET_ACCESS_KEY",
    },
    "a file as key": {"base_url": "http://127.0.0.1:PORT/v1", "api_key_file": "key"},
    "models of a file": {"config": "other.toml"},
}


@pytest.mark.parametrize("name", HOSTILE_JOBS)
async def test_the_job_of_a_run_in_a_store_needs_trust(name: str, folder: Path, attacker: Attacker):
    options = {
        option: value.replace("PORT", str(attacker.port)) for option, value in HOSTILE_JOBS[name].items()
    }
    (folder / "key").write_text("canary-in-a-file")
    (folder / "other.toml").write_text(
        f'[models.gpt-4o]\nmodel = "m"\nbase_url = "http://0.0.0.0:{attacker.port}/v1"\n'
    )
    url = prepared_job(folder / "run", model="gpt-4o", options={"limit": 1, **options})
    ended = await wildtool("worker", "--run", url, cwd=folder, **KEYS)
    assert (ended.status, attacker.heard) == (2, []), ended.err
    assert "would:" in ended.err and "--trust" in ended.err


async def test_a_job_with_an_option_of_another_type_ends_its_worker_by_name(folder: Path):
    url = prepared_job(folder / "run", model="baseline/gold", options={"profile": 7})
    ended = await wildtool("worker", "--run", url, cwd=folder)
    assert ended.status == 2 and "option 'profile'" in ended.err, ended.err


async def test_a_job_in_a_store_executes_no_file_of_this_machine(folder: Path):
    url = prepared_job(folder / "run", benchmark="planted.py", model="baseline/gold", options={})
    ended = await wildtool("worker", "--run", url, cwd=folder)
    assert (ended.status, outside(folder)) == (2, []), ended.err
    assert "execute the Python file planted.py" in ended.err
