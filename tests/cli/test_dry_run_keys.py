"""A dry run sends nothing, so it needs no key; the run itself does."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from wildtool.cli import app
from wildtool.models.resolve import PRESETS

KEYED = [prefix for prefix, preset in PRESETS.items() if preset.key_env]


@pytest.fixture(autouse=True)
def _without_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for preset in PRESETS.values():
        for variable in (preset.key_env, preset.url_env):
            if variable:
                monkeypatch.delenv(variable, raising=False)
    for preset in PRESETS.values():
        for variable in re.findall(r"\{(\w+)\}", preset.base_url):
            monkeypatch.setenv(
                variable, "https://h.example" if variable.endswith("ENDPOINT") else "somewhere"
            )


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["run", "wild-mini", *words], prog_name="wildtool")


@pytest.mark.long
@pytest.mark.parametrize("prefix", KEYED)
def test_a_dry_run_needs_no_key(prefix: str):
    ended = run("--model", f"{prefix}/some-model", "--dry-run")
    assert ended.exit_code == 0, ended.output
    assert "Nothing is sent" in " ".join(ended.output.split())


def test_a_dry_run_needs_no_key_that_a_variable_or_a_file_should_hold():
    at = ("--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--dry-run")
    assert run(*at, "--api-key-env", "NOT_SET_KEY").exit_code == 0
    assert run(*at, "--api-key-file", "absent.txt").exit_code == 0


def test_a_run_needs_its_key():
    ended = run("--model", "openai/some-model")
    assert ended.exit_code == 2
    assert "needs a key: set OPENAI_API_KEY" in " ".join(ended.output.split())
