"""What a `wildtool.toml` that nobody named may choose: a whitelist, and how anything else is trusted."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

import wildtool as wt
from wildtool.cli import app
from wildtool.config import config_file, whitelist
from wildtool.errors import UsageError
from wildtool.older_names import OLDER_SETTINGS
from wildtool.trust_request import VARIABLE

ROOT: Any = typer.main.get_command(app)
OF_THE_COMMAND = {"help", "trust"}
"""Options that no file can set."""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for variable in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "AZURE_OPENAI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv(VARIABLE, "")


def run(text: str, line: str = "wild-mini -m baseline/gold") -> Result:
    Path("wildtool.toml").write_text(text)
    return CliRunner().invoke(app, ["run", *line.split(), "--limit", "1", "-q"])


def words(result: Result) -> str:
    return " ".join(result.stderr.split())


def commands(group: Any, *names: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name in group.commands:
        command = group.commands[name]
        if hasattr(command, "commands"):
            yield from commands(command, *names, name)
        else:
            yield (*names, name), command


def file_options() -> Iterator[tuple[str, str]]:
    """Each option that a file may set, with the command that takes it."""
    for path, command in commands(ROOT):
        options = {name.lstrip("-").replace("-", "_") for each in command.params for name in each.opts}
        if "config" in options:
            for each in command.params:
                yield from (
                    (" ".join(path), name.lstrip("-").replace("-", "_"))
                    for name in each.opts
                    if name.startswith("--") or not name.startswith("-")
                )


OF_RUNS = {"run", "worker slurm", "worker kubernetes"}
"""Commands whose options the table `[run]` sets; others take only its models."""


def test_every_option_that_a_file_sets_is_classified():
    tables = [
        whitelist.HARMLESS_OPTIONS,
        whitelist.FILE_OPTIONS,
        whitelist.MODEL_OPTIONS,
        whitelist.ENDPOINT_OPTIONS,
        whitelist.CHECKED_OPTIONS,
        whitelist.TRUSTED_OPTIONS,
    ]
    classified = [name for table in tables for name in table]
    assert len(classified) == len(set(classified)), "an option stands in one table"
    found = (
        {name for command, name in file_options() if command == "run"} - OF_THE_COMMAND - {*OLDER_SETTINGS}
    )
    assert found == set(classified)


def test_an_option_that_is_in_no_table_needs_trust():
    unknown = {name for command, name in file_options() if command in OF_RUNS} - OF_THE_COMMAND
    for name in unknown - {"config"}:
        text = "anthropic/x" if name in whitelist.MODEL_OPTIONS else "s3://elsewhere/x.py"
        value = {text: 1} if name == "extra_body" else text
        effects = whitelist.option_effects({name: value}, [name], (), Path())
        assert bool(effects) == (name not in whitelist.HARMLESS_OPTIONS), name
    assert whitelist.option_effects({"later": 1}, ["later"], (), Path()) == ["set --later to 1"]


def test_every_key_of_a_model_is_classified():
    assert set(config_file.MODEL_KEYS) == whitelist.HARMLESS_KEYS | whitelist.CHECKED_KEYS
    assert not whitelist.HARMLESS_KEYS & whitelist.CHECKED_KEYS


@pytest.mark.long
@pytest.mark.parametrize(
    "text",
    [
        '[run]\nprofile = "fixed"\nseed = 3\ntemperature = 0\nmax_cost = 1\ndeadline = "1h"\nconcurrency = 4',
        '[run]\nmodel = "baseline/gold"\nout = "mine/run"\nextra_body = {top_p = 0.9, stop = ["a"]}',
        '[run]\nbenchmark = "wild-mini"\nbase_url = "http://127.0.0.1:1/v1"',
        '[run]\nuser_model = "ollama/qwen3"\nbase_url = "http://localhost:1/v1"',
        '[models.local]\nmodel = "m"\nbase_url = "http://[::1]:1/v1"\nprices = {input = 1, output = 2}',
        '[models.far]\nmodel = "anthropic/x"',  # not used here
    ],
)
def test_what_is_harmless_is_never_asked_about(text: str):
    result = run(text)
    assert "would:" not in result.stderr
    assert result.exit_code == 0 or "has no simulated user" in result.stderr, result.stderr


def test_what_is_typed_replaces_what_needs_trust():
    text = '[run]\nmodel = "anthropic/x"\nout = "/nowhere/at/all"'
    assert run(text, "wild-mini").exit_code == 2
    assert run(text, "wild-mini -m baseline/gold -o here").exit_code == 0


def test_a_named_file_is_trusted():
    Path("mine.toml").write_text(f'[run]\nout = "{Path.cwd().parent / "beside"}"')
    result = CliRunner().invoke(
        app, ["run", "wild-mini", "-m", "baseline/gold", "--config", "mine.toml", "-q"]
    )
    assert result.exit_code == 0, result.stderr


OUTSIDE = '[run]\nout = "../beside"\n'


def test_a_hash_is_remembered_and_any_change_asks_again():
    refused = run(OUTSIDE)
    assert refused.exit_code == 2 and "write to ../beside" in words(refused)
    digest = wt.trust().digest
    assert digest in refused.stderr
    assert run(OUTSIDE).exit_code == 2, "to look at it is not to trust it"
    assert wt.trust("wildtool.toml", digest).is_trusted
    assert run(OUTSIDE).exit_code == 0
    assert run(f"{OUTSIDE}force = true\n").exit_code == 2
    assert run(OUTSIDE).exit_code == 0


def test_what_a_file_executes_belongs_to_its_hash():
    Path("bench.py").write_text("1/0\n")
    Path("beside.py").write_text("\n")
    Path("serve.sh").write_text("true\n")
    text = '[run]\nbenchmark = "bench.py"\non = "local:1"\nserver = "bash ./serve.sh --port {port}"\n'
    text += 'base_url = "http://127.0.0.1:{port}/v1"\n'
    Path("wildtool.toml").write_text(text)
    hashes = [wt.trust().digest]
    for name in ("bench.py", "beside.py", "serve.sh"):
        Path(name).write_text(f"{Path(name).read_text()}# changed\n")
        hashes.append(wt.trust().digest)
    assert len(set(hashes)) == 4
    assert {"execute the Python file bench.py", "start `bash ./serve.sh --port {port}` for each worker"} <= {
        *wt.trust().effects
    }


def test_a_wrong_hash_is_refused_with_what_the_file_would_do():
    Path("wildtool.toml").write_text(OUTSIDE)
    with pytest.raises(UsageError, match="write to"):
        wt.trust("wildtool.toml", "0" * 64)
    refused = CliRunner().invoke(app, ["trust", "--hash", "0" * 64])
    assert refused.exit_code == 2 and "not the one that you gave" in words(refused)
    assert not wt.trust().is_trusted


def test_without_a_terminal_nothing_is_trusted_without_its_hash():
    Path("wildtool.toml").write_text(OUTSIDE)
    digest = wt.trust().digest
    refused = CliRunner().invoke(app, ["trust"], input="y\n")
    assert refused.exit_code == 2 and digest in refused.stderr
    assert not wt.trust().is_trusted
    trusted = CliRunner().invoke(app, ["trust", "--hash", digest])
    assert trusted.exit_code == 0 and wt.trust().is_trusted
    assert "is trusted until it changes" in CliRunner().invoke(app, ["trust"]).stdout


@pytest.mark.parametrize("place", ["variable", "option"])
def test_a_build_gives_the_hash(place: str, monkeypatch: pytest.MonkeyPatch):
    Path("wildtool.toml").write_text(OUTSIDE)
    digest = wt.trust().digest
    if place == "variable":
        monkeypatch.setenv(VARIABLE, f"{'1' * 64}, {digest}")
    more = "" if place == "variable" else f" --trust {digest}"
    assert run(OUTSIDE, f"wild-mini -m baseline/gold{more}").exit_code == 0
    assert run(OUTSIDE + "\n", "wild-mini -m baseline/gold").exit_code == 2


def test_a_text_that_is_no_hash_is_refused():
    refused = run("", "wild-mini -m baseline/gold --trust yes")
    assert refused.exit_code == 2 and "is no hash" in words(refused)


def test_a_file_cannot_trust_itself():
    refused = run(f'[run]\ntrust = "{"0" * 64}"\n')
    assert refused.exit_code == 2 and "run.trust: unknown key" in words(refused)


TEXTS = st.text(max_size=12) | st.sampled_from(
    ["http://[", "azure/m", "replay:", "bench.py", "\x1b[2J", "\n", "a\0b", "replay:a\0b", "\ud800"]
)
VALUES = st.recursive(
    TEXTS | st.integers() | st.booleans(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)
OPTIONS = st.dictionaries(
    st.sampled_from(
        [
            *whitelist.MODEL_OPTIONS,
            *whitelist.ENDPOINT_OPTIONS,
            *whitelist.CHECKED_OPTIONS,
            *whitelist.TRUSTED_OPTIONS,
            *whitelist.FILE_OPTIONS,
        ]
    ),
    VALUES,
    max_size=4,
)


@given(OPTIONS)
def test_any_value_is_told_without_an_error_of_its_own(values: dict[str, Any]):
    effects = whitelist.option_effects(values, values, (), Path())
    assert all(isinstance(effect, str) for effect in effects)


@given(st.dictionaries(TEXTS, VALUES, max_size=3))
def test_fields_that_are_no_sampling_are_named(body: dict[str, Any]):
    effects = whitelist.body_effects(json.dumps(body))
    assert bool(effects) == bool(body.keys() - whitelist.SAMPLING_FIELDS)
