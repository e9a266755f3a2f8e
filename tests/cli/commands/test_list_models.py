"""`wildtool list models`: models of the config file, and providers with their keys, of which no value is ever shown."""

import asyncio
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from wildtool.cli import app
from wildtool.errors import UsageError
from wildtool.models.resolve import PRESETS

list_command: Any = import_module("wildtool.cli.commands.list")

CONFIG = """
[models.whole]
model = "openai-chat/gpt-4o"
base_url = "http://h/v1?key=secret"
api_key_env = "WHOLE_KEY"
prices = {input = 1, output = 2.5}

[models.filed]
model = "m"
api_key_file = "key.txt"

[models.plain]
model = "baseline/gold"
"""


@pytest.fixture(autouse=True)
def _config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")
    Path("wildtool.toml").write_text(CONFIG, "utf-8")


def listed() -> dict[str, str]:
    """What is said of each name."""
    ended = CliRunner().invoke(app, ["list", "models"], prog_name="wildtool")
    assert (ended.exit_code, ended.stderr) == (0, "")
    lines = [line.partition("  ") for line in ended.stdout.splitlines()]
    return {name: about.strip() for name, _, about in lines}


@pytest.mark.parametrize(("value", "state"), [("secret", "set"), (" ", "not set"), (None, "not set")])
def test_a_model_of_the_config_file_has_its_address_key_and_price(
    monkeypatch: pytest.MonkeyPatch, value: str | None, state: str
) -> None:
    monkeypatch.delenv("WHOLE_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("WHOLE_KEY", value)
    models = listed()
    assert list(models)[:3] == ["whole", "filed", "plain"]
    assert models["whole"] == (
        f"openai-chat/gpt-4o at http://h/v1, key in WHOLE_KEY ({state}), "
        "1 USD in and 2.5 USD out per million tokens (wildtool.toml)"
    )
    assert models["filed"] == "m, key in the file key.txt (wildtool.toml)"
    assert models["plain"] == "baseline/gold (wildtool.toml)"


def test_a_provider_has_its_address_key_and_protocol(monkeypatch: pytest.MonkeyPatch) -> None:
    for preset in PRESETS.values():
        if preset.key_env:
            monkeypatch.delenv(preset.key_env, raising=False)
    models = listed()
    for prefix, preset in PRESETS.items():
        key = f"key in {preset.key_env} (not set)" if preset.key_env else "no key"
        protocol = "" if preset.protocol == "chat completions" else f", {preset.protocol} API"
        assert models[f"{prefix}/NAME"] == f"{preset.base_url}, {key}{protocol}"


def test_an_overview_has_a_head_for_each_kind() -> None:
    ended = CliRunner().invoke(app, ["list"], prog_name="wildtool")
    heads = [line for line in ended.stdout.splitlines() if line and not line.startswith(" ")]
    assert heads == ["benchmarks", "suites", "models", "agents", "profiles", "modes", "formats", "cards"]
    assert ended.stdout.startswith("benchmarks\n  ")
    assert (
        "\n\nsuites\n  toleap  the benchmarks that ToLeaP runs with one click\n  all     every"
        in ended.stdout
    )


# Other kinds -------------------------------------------------------------------------------------------


def test_providers_of_packages_are_described_or_why_they_cannot_be_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(prefix: str) -> None:
        raise UsageError("broken")

    preset = PRESETS["ollama"]
    for provider, line in ((lambda prefix: preset, list_command._preset(preset)), (broken, "broken")):
        monkeypatch.setattr("wildtool.models.resolve.provider_of", provider)
        assert list_command._installed_provider("p") == line
    monkeypatch.setattr("wildtool.models.resolve.provider_of", lambda prefix: object)
    assert list_command._installed_provider("p") == "models of an installed package"


def test_what_works_at_an_endpoint_is_listed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[Any] = []

    async def probe(model: Any) -> dict[str, str]:
        asked.append((model.name, model.settings()["base_url"]))
        return {"calls": "yes\x1b", "streams": "no"}

    monkeypatch.setattr("wildtool.models.probe.probe", probe)
    ended = CliRunner().invoke(
        app, ["list", "models", "--check", "m\x1b", "--base-url", "http://h/v1"], prog_name="wildtool"
    )
    assert (ended.exit_code, ended.stderr) == (0, "")
    assert ended.stdout == "m\\x1b\n  calls: yes\\x1b\n  streams: no\n"
    assert asked == [("m\x1b", "http://h/v1")]
    capsys.readouterr()
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    ended = CliRunner().invoke(app, ["list", "models", "--check", "gpt-4o"], prog_name="wildtool")
    note = "gpt-4o is called at https://api.openai.com/v1 (the same as openai-chat/gpt-4o)"
    assert ended.stderr == f"{note}; for another endpoint give --base-url URL\n"


async def test_on_a_terminal_it_is_said_for_how_long_an_endpoint_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steps: list[str] = []
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            raise asyncio.CancelledError

    monkeypatch.setattr("wildtool.terminal.print_step", steps.append)
    await list_command._show_waiting("m")
    assert steps == []
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr(asyncio, "sleep", sleep)
    with pytest.raises(asyncio.CancelledError):
        await list_command._show_waiting("m")
    assert steps == [
        "Asking m (at most 2 min)",
        "Asking m, 1 s (at most 2 min)",
        "Asking m, 2 s (at most 2 min)",
        "",
    ]
    assert waits == [1, 1, 1]
