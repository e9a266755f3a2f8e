"""Secrets in foreign commands and addresses are told by their places; ordinary words stay as they are."""

import re
import shlex
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool import redact
from wildtool.redact import redacted_text, register_login, register_secrets
from wildtool.secret_places import find_secrets, recordable, recordable_words, register_foreign

KEY = "pK4-w9Zt2Lq8"
DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(autouse=True)
def nothing_registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(redact, "_texts", ())
    monkeypatch.setattr(redact, "_bytes", ())
    monkeypatch.setattr(redact, "_environment_read", True)
    yield


PLACES = [
    "http://me:@KEY@host/v1",
    "https://@KEY@host/v1",
    "http://me:@KEY/with/slashes@host",
    "http://me:@KEY with\ta blank@host/v1",
    "https://host/v1?api_key=@KEY&version=2",
    "https://host/#access_token=@KEY",
    "postgresql://me:@KEY@host:5432/db",
    "postgres://host/db?user=me&password=@KEY",
    "host=h user=me password=@KEY dbname=x",
    "host=h password='@KEY' dbname=x",
    "host=h password = @KEY",
    "mcp:npx -y my-server --token @KEY",
    "mcp:npx -y my-server --token=@KEY --verbose",
    "mcp:npx -y my-server --api-key '@KEY'",
    'mcp:npx -y mcp-remote https://h/mcp --header "Authorization: Bearer @KEY"',
    "mcp:npx -y mcp-remote https://h/mcp --header X-API-Key:@KEY",
    "mcp:env GITHUB_TOKEN=@KEY npx -y server-github",
    "mcp:docker run -i -e API_KEY=@KEY image",
    "mcp:docker run --env=SLACK_TOKEN=@KEY image",
    "mcp:npx -y server sk-proj-@KEY",
    """mcp:server --config '{"api_key": "@KEY"}'""",
    'mcp:server --config "{\\"password\\": \\"@KEY\\"}"',
    "vllm serve m --api-key @KEY --port {port}",
    "Authorization: Bearer @KEY",
    "curl -H 'Cookie: session=@KEY' http://h",
    '{"headers": {"X-Api-Key": "@KEY"}}',
]


@pytest.mark.parametrize("text", PLACES)
def test_a_key_is_found_in_each_place_in_which_one_is_given(text: str):
    given = text.replace("@KEY", KEY)
    assert KEY not in recordable(given)
    assert recordable(recordable(given)) == recordable(given)
    secrets = [given[place.start : place.end] for place in find_secrets(given)]
    register_foreign(given)
    assert KEY not in redacted_text(f"{given} and alone {' '.join(secrets)}")


@pytest.mark.parametrize("text", [text for text in PLACES if "sk-proj" not in text])
def test_a_short_key_is_removed_with_what_proves_it_and_left_elsewhere(text: str):
    given = text.replace("@KEY", "ab3x9")
    register_foreign(given)
    assert "ab3x9" not in recordable(given)
    assert "ab3x9" not in redacted_text(f"error: {given}: no answer")
    assert redacted_text("the word ab3x9 of a reply") == "the word ab3x9 of a reply"


ORDINARY = [
    "runs/demo",
    "s3://bucket/run-1a2b3c4d5e6f7a8b9c0d/x",
    "https://host:8000/v1",
    "https://github.com/a/b@v1.2",
    "serve --at http://host:80 --mail me@example.org",
    "https://raw.host/a/b/0123456789abcdef0123456789abcdef01234567/data.json",
    "http://host/v1#model",
    "mcp:npx -y @modelcontextprotocol/server-everything",
    "mcp:npx -y server --token $GITHUB_TOKEN",
    "mcp:npx -y server --token ${TOKEN} --port 80",
    "vllm serve m --api-key EMPTY --max-num-batched-tokens 8192 --tokenizer m --port {port}",
    "vllm serve m --api-key-file /run/key --tool-call-parser hermes",
    '{"max_tokens": 512, "stop": ["key", "token"], "prompt_cache_key": "x"}',
    "price=3,token-budget",
    "Find the key: then open the door",
]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_commands_and_addresses_hold_no_secret(text: str):
    assert find_secrets(text) == []
    assert recordable(text) == text


def documented_commands() -> list[list[str]]:
    """Every command of wildtool in the documentation."""
    texts = [path.read_text("utf-8") for path in DOCS.rglob("*.md")]
    lines = [line for text in texts for line in re.findall(r"^\s*(wildtool .*[^\\\s])$", text, re.MULTILINE)]
    commands: list[list[str]] = []
    for line in lines:
        try:
            commands.append(shlex.split(line, comments=True))
        except ValueError:
            continue
    return commands


def test_commands_of_the_documentation_are_recorded_as_they_are():
    commands = documented_commands()
    assert len(commands) > 100
    changed = [words for words in commands if recordable_words(words) != words]
    assert all("KEY" in " ".join(words) or "@" in " ".join(words) for words in changed), changed


def test_an_option_of_wildtool_takes_a_name_and_no_key():
    assert recordable_words(["launch", "--secret", "openai-key"]) == ["launch", "--secret", "openai-key"]
    assert recordable_words(["run", "--api-key", "sk-1234567890ab"]) == ["run", "--api-key", "[key]"]


@given(st.text(max_size=300))
def test_any_text_is_read_without_an_error_and_only_loses_secrets(text: str):
    shown = recordable(text)
    if not find_secrets(text):
        assert shown == text


@given(st.binary(max_size=5), st.binary(max_size=5))
def test_a_secret_is_removed_from_base64_wherever_in_it_it_stands(before: bytes, behind: bytes):
    register_secrets(KEY)
    for text in (b64encode(before + KEY.encode() + behind).decode(), (before + KEY.encode()).hex()):
        assert KEY[2:-2] not in _decoded(redacted_text(text))


def _decoded(text: str) -> str:
    from base64 import b64decode

    kept = re.sub("[^A-Za-z0-9+/=]", "", text.replace("[key]", ""))
    return "".join(
        b64decode(kept[start:].rstrip("=")[: len(kept[start:].rstrip("=")) // 4 * 4]).decode("latin-1")
        for start in range(4)
    )


@pytest.mark.parametrize("password", [KEY, "correcthorse", "pw1"])
def test_a_login_is_removed_as_it_is_written_and_as_it_is_sent(password: str):
    register_login(f"me:{password}")
    sent = b64encode(f"me:{password}".encode()).decode()
    assert sent not in redacted_text(f"Proxy-Authorization: Basic {sent}")
    assert redacted_text("a correcthorse pw1") == "a correcthorse pw1"


def test_a_proxy_in_the_environment_is_a_secret(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(redact, "_environment_read", False)
    monkeypatch.setenv("https_proxy", f"me:{KEY}@proxy:3128")
    assert KEY not in redacted_text(f"cannot reach me:{KEY}@proxy:3128")


@pytest.mark.parametrize(
    ("words", "recorded"),
    [
        (["--header", "X-Team=a=b"], ["--header", "X-Team=…"]),
        (["--user-header=X-Team=a b"], ["--user-header=X-Team=…"]),
        (["--mcp-header", "X-Key=env:MY_KEY"], ["--mcp-header", "X-Key=env:MY_KEY"]),
        (["--header", "X-Team=…"], ["--header", "X-Team=…"]),
        (["--headers", "X-Team=a", "X=b"], ["--headers", "X-Team=a", "X=b"]),
    ],
)
def test_a_header_of_a_command_is_recorded_by_its_name(words: list[str], recorded: list[str]):
    assert recordable_words(["wildtool", "run", *words]) == ["wildtool", "run", *recorded]
