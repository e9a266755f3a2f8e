"""Models of another package are used by their prefix, through the installed command; broken ones harm nobody else."""

import asyncio
import json
import re
from pathlib import Path

import pytest

from e2e.command import Ended, wildtool
from e2e.test_plugin import install
from faults.server import FaultServer

PAGE = Path(__file__).parents[2] / "docs" / "models.md"
RUN = ("run", "wild-mini", "--limit", 1, "--quiet")


def documented(language: str) -> str:
    """The example of the page."""
    section = PAGE.read_text(encoding="utf-8").partition("## Your own provider")[2]
    block = re.search(rf"^```{language}\n(.*?)^```", section, re.DOTALL | re.MULTILINE)
    assert block is not None
    return block[1]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder in which the documented package is installed, and one that cannot be used."""
    folder = tmp_path / "site"
    folder.mkdir()
    entries = [line.replace('"', "") for line in documented("toml").splitlines()[1:]]
    install(folder, "house_models", documented("python"), *entries, group="wildtool.providers")
    broken = (
        "broken = broken_models:NOTHING",
        "number = broken_models:NUMBER",
        "ollama = broken_models:NUMBER",
    )
    install(folder, "broken_models", "NUMBER = 3\n", *broken, group="wildtool.providers")
    return folder


async def typed(site: Path, *words: object, **environment: str) -> Ended:
    return await wildtool(*words, cwd=site.parent, PYTHONPATH=str(site), **environment)


async def test_a_documented_function_makes_models(site: Path):
    ended = await typed(site, *RUN, "--model", "polite/butler", "--out", "run")
    assert ended.status == 0, ended.err
    about = json.loads((site.parent / "run" / "run.json").read_text())
    assert about["identity"]["models"]["agent"]["name"] == "polite/butler"
    assert "tools, thank you." in (site.parent / "run" / "record-0001.jsonl").read_text()
    again = await typed(site, *RUN, "--model", "polite/butler", "--out", "run")
    assert (again.status, again.out) == (0, ended.out)


async def test_a_documented_preset_is_called_with_its_key(site: Path):
    async with FaultServer("ok") as server:
        words = (*RUN, "--model", "house/m", "--base-url", server.base_url, "--api-key-env", "HOUSE_API_KEY")
        ended = await typed(site, *words, "--out", "run", HOUSE_API_KEY="k-1")
    assert ended.status == 0, ended.err
    assert b"authorization: bearer k-1" in server.heads[0].lower()
    assert json.loads(server.bodies[0])["model"] == "m"
    missing = await typed(site, *RUN, "--model", "house/m", "--out", "none")
    assert (missing.status, "set HOUSE_API_KEY" in missing.err) == (2, True)


@pytest.mark.long
@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("broken/m", "its entry point broken_models:NOTHING fails: AttributeError"),
        ("number/m", "its entry point broken_models:NUMBER is int; name a Preset"),
        ("polit/m", "did you mean polite/m"),
    ],
)
async def test_a_prefix_that_cannot_be_used_is_reported(site: Path, model: str, reason: str):
    ended = await typed(site, *RUN, "--model", model, "--out", "run")
    assert (ended.status, reason in " ".join(ended.err.split())) == (2, True), ended.err


async def test_the_list_shows_prefixes_of_packages_and_what_is_wrong_with_them(site: Path):
    shown, plain = await asyncio.gather(
        typed(site, "list", "models"), wildtool("list", "models", cwd=site.parent)
    )
    text = " ".join(shown.out.split())
    assert "house/NAME http://127.0.0.1:8100/v1, key in HOUSE_API_KEY (not set)" in text
    assert "polite/NAME" in text
    assert "provider 'number' of package broken_models cannot be used" in text
    # A prefix of wildtool stays what it is.
    assert text.count("ollama/NAME") == " ".join(plain.out.split()).count("ollama/NAME") == 1
