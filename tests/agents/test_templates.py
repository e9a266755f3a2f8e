"""The templates of agents, and how agents are named."""

import json
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.programs import place
from wildtool.agents.command_agent import agent_named
from wildtool.agents.templates import agent_templates, filled_file, read_templates
from wildtool.errors import DataError, UsageError

READERS = {".json": json.loads, ".toml": tomllib.loads}
TEMPLATE = """
[mine]
command = ["mine", "{model}"]
driver = "rpc"
"""


def texts(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for key, part in value.items() for text in [key, *texts(part)]]
    if isinstance(value, list):
        return [text for part in value for text in texts(part)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize("name", agent_templates())
@given(said=st.text().map(lambda text: f"{text}{{prompt}}"))
def test_whatever_a_system_text_says_config_files_hold_it_to_the_letter(name: str, said: str):
    said = said.encode("utf-8", "ignore").decode()
    for path, text in agent_templates()[name].files.items():
        values = dict.fromkeys(("base_url", "mcp_url", "model", "key", "home"), said) | {"instructions": said}
        written = filled_file(path, text, values)
        reader = READERS.get(Path(path).suffix)
        if reader is None:
            assert said in written
        elif "{" + "instructions}" in text:
            assert said in texts(reader(written))
        else:
            reader(written)


@pytest.mark.parametrize("name", agent_templates())
def test_a_template_says_where_its_program_comes_from_and_with_which_version_it_was_tried(name: str):
    template = agent_templates()[name]
    assert template.npm and template.version and template.tried and template.wire and template.own_tools


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("speed = 3", "unknown key 'speed'"),
        ("filez = {}", "did you mean 'files'"),
        ("wire = 'smoke'", "unknown wire 'smoke'"),
        ("driver = 'rcp'", "did you mean 'rpc'"),
        ("prefixes = 'wt_'", "prefixes must be a list of texts"),
        ("files = {a = 1}", "files must be a table of texts"),
        ("files = {a = '{instructoins}'}", "did you mean 'instructions'"),
        ("tried = 'today'", "tried must be a date"),
        ("traits = {read_only = 1}", "read_only must be true or false"),
        ("known = {smell = 'good'}", "unknown key 'smell'"),
        ("more = {mood = 'good'}", "unknown key 'mood'"),
        ("like = 'yours'", "unknown template 'yours'"),
        ("command = []", "command is missing"),
        ("= 3", "not valid TOML"),
    ],
)
def test_what_a_template_may_not_hold_is_refused_by_name(line: str, says: str):
    key = line.partition(" ")[0]
    rest = "\n".join(each for each in TEMPLATE.splitlines() if not each.startswith(f"{key} "))
    with pytest.raises(DataError, match=rf"^own\.toml: .*{says}"):
        read_templates(f"{rest}\n{line}\n", "own.toml")


def test_an_unknown_agent_is_refused_with_the_nearest_and_all_known(installed: Path):
    with pytest.raises(UsageError) as refused:
        agent_named("claude-cod")
    assert "did you mean 'claude-code'?" in str(refused.value)
    assert all(name in str(refused.value) for name in agent_templates())


def test_a_program_that_is_not_installed_is_named_with_its_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match=r"npm install -g @openai/codex@0\.171\.0"):
        agent_named("codex")
    for name in ("acp:my-agent", "my-agent {prompt}"):
        with pytest.raises(UsageError, match="no program 'my-agent' on PATH"):
            agent_named(name)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("someones --quick", r"\{prompt\}"),
        (f"someones -c '{'pass; ' * 1000}'", r"\{prompt\}"),
        ("someones {prompt} {promt}", "did you mean 'prompt'"),
        ("acp:", "names no command"),
        ("someones '{prompt}", "not a command line"),
        ("acp:someones {prompt}", "unknown slot 'prompt'"),
    ],
)
def test_a_command_that_cannot_be_an_agent_is_refused(name: str, says: str, installed: Path):
    with pytest.raises(UsageError, match=says):
        agent_named(name)


async def test_a_command_is_given_what_it_names(installed: Path, tmp_path: Path):
    command = "someones '!say {prompt} {turn} {model} {base_url} {mcp_url} {session}'"
    live = await agent_named(command, sandbox=False).start(place(tmp_path))
    first, second = [(await live.turn("hi")).text.split() for _ in range(2)]
    base = "http://127.0.0.1:9/c/token"
    assert first[:5] == ["hi", "1", "a-model", f"{base}/v1", f"{base}/mcp"]
    assert second[1] == "2"
    assert first[5] == second[5]


async def test_a_text_is_given_as_it_is_whatever_it_names(installed: Path, tmp_path: Path):
    command = "someones '!say {instructions} {prompt}'"
    its = place(tmp_path, instructions="a {prompt} \ud800 \0")
    live = await agent_named(command, sandbox=False).start(its)
    assert (await live.turn("is {turn} \0")).text == "a {prompt} \ufffd \ufffd is {turn} \ufffd"


async def test_a_system_text_that_is_no_unicode_is_written_into_files(installed: Path, tmp_path: Path):
    live = await agent_named("pi", sandbox=False).start(place(tmp_path, instructions="a \ud800"))
    await live.close()
    assert (tmp_path / "conversation" / "home" / "instructions.md").read_text("utf-8") == "a \ufffd"


def test_settings_say_the_version_that_is_installed_beside_the_one_that_was_tried(installed: Path):
    package = installed.parent / "package.json"
    package.write_text(json.dumps({"name": "@openai/codex", "version": "9.9.9"}))
    settings = agent_named("codex").settings()
    assert (settings["version"], settings["tried"]) == ("9.9.9", agent_templates()["codex"].version)
