"""`wildtool list models`: models of the config file, and providers with their keys, of which no value is ever shown."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from wildtool.cli import app
from wildtool.models.resolve import PRESETS

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


def test_names_are_side_by_side_with_what_is_said_of_them_within_the_width(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    Path("wildtool.toml").write_text('[models.a-name-longer-than-a-third]\nmodel = "m"\n', "utf-8")
    ended = CliRunner().invoke(app, ["list", "models"], prog_name="wildtool")
    assert ended.stdout.startswith("a-name-longer-than-a-third\n                      m (wildtool.toml)\n")
    assert max(len(line) for line in ended.stdout.splitlines() if "://" not in line) <= 60


def test_an_overview_has_a_head_for_each_kind() -> None:
    ended = CliRunner().invoke(app, ["list"], prog_name="wildtool")
    heads = [line for line in ended.stdout.splitlines() if line and not line.startswith(" ")]
    assert heads == ["benchmarks", "suites", "models", "profiles", "modes", "formats", "cards"]
    assert ended.stdout.startswith("benchmarks\n  ")
    assert (
        "\n\nsuites\n  toleap  the benchmarks that ToLeaP runs with one click\n  all     every"
        in ended.stdout
    )
