"""Which key and which headers arrive where, for each way to name a tested model and a model beside it."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from cli.test_headers import PLAYED, Gateway, alone, gateway, typed

__all__ = ["alone"]  # a fixture: a folder of its own, and no keys of others

KEYS = ("KEY_OF_COMMAND", "KEY_OF_USER", "KEY_OF_TABLE", "OPENAI_API_KEY", "AZURE_OPENAI_API_KEY")
TABLES = """
[models.tested]
model = "m"
base_url = "TABLE"
api_key_env = "KEY_OF_TABLE"
[models.elsewhere]
model = "u"
base_url = "TABLE"
api_key_env = "KEY_OF_TABLE"
headers = {X-Table = "t"}
[models.elsewhere-keyless]
model = "u"
base_url = "TABLE"
[models.keyed]
model = "u"
api_key_env = "KEY_OF_TABLE"
[models.headed]
model = "u"
headers = {X-Table = "t"}
[models.bare]
model = "u"
[models.provided]
model = "azure/u"
[models.provided-keyed]
model = "azure/u"
api_key_env = "KEY_OF_TABLE"
headers = {X-Table = "t"}
"""
OWN_KEY = "--user-api-key-env KEY_OF_USER"
OWN_HEADER = "--user-header X-User=u"
ELSEWHERE = "--user-base-url USER"
GIVEN = "--api-key-env KEY_OF_COMMAND --header X-Team=t"
OWN_PLACES = {
    f"u {ELSEWHERE}": "USER",
    f"u {ELSEWHERE} {OWN_KEY} {OWN_HEADER}": "USER KEY_OF_USER x-user",
    f"azure/u {ELSEWHERE}": "USER",
    f"bare {ELSEWHERE}": "USER",
    f"keyed {ELSEWHERE}": "USER",
    "elsewhere": "TABLE KEY_OF_TABLE x-table",
    "elsewhere-keyless": "TABLE",
    f"elsewhere {OWN_KEY}": "TABLE KEY_OF_USER x-table",
    "provided": "AZURE AZURE_OPENAI_API_KEY",
    "provided-keyed": "AZURE KEY_OF_TABLE x-table",
}
"""What arrives of a user's model that is asked at an address of its own, whatever is tested."""
AT_A_PROVIDER = {
    "azure/u": "AZURE AZURE_OPENAI_API_KEY",
    f"azure/u {OWN_KEY}": "AZURE KEY_OF_USER",
    f"azure/u {OWN_HEADER}": "AZURE AZURE_OPENAI_API_KEY x-user",
}
"""The same, of one that is asked at its provider, where nothing else is tested there."""


def at_place(place: str, key: str = "KEY_OF_COMMAND", *headers: str) -> dict[str, str]:
    """The same, of one that is asked where a plain name is. Args: key, headers: what was given for that place."""
    shared = " ".join([place, key, *headers])
    return {
        "u": shared,
        f"u {OWN_KEY}": " ".join([place, "KEY_OF_USER", *headers]),
        f"u {OWN_HEADER}": f"{place} {key} x-user",
        "bare": shared,
        "keyed": " ".join([place, "KEY_OF_TABLE", *headers]),
        "headed": f"{place} {key} x-table",
    }


TESTED = {
    f"m --base-url COMMAND {GIVEN}": {
        **OWN_PLACES,
        **AT_A_PROVIDER,
        **at_place("COMMAND", "KEY_OF_COMMAND", "x-team"),
    },
    f"baseline/chat --base-url COMMAND {GIVEN}": at_place("COMMAND", "KEY_OF_COMMAND", "x-team"),
    f"baseline/chat {GIVEN}": at_place("ENVIRONMENT", "KEY_OF_COMMAND", "x-team"),
    f"azure/m {GIVEN}": {
        **at_place("ENVIRONMENT", "OPENAI_API_KEY"),
        **{user: f"{sent} x-team".replace("x-user x-team", "x-user") for user, sent in AT_A_PROVIDER.items()},
    },
    f"tested {GIVEN}": {**at_place("ENVIRONMENT", "OPENAI_API_KEY"), **AT_A_PROVIDER},
    f"tested --base-url COMMAND {GIVEN}": at_place("COMMAND", "KEY_OF_COMMAND", "x-team"),
}
"""By the words that name the tested model: by those that name the user's model, what arrives of that."""


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Gateway]]:
    for name in KEYS:
        monkeypatch.setenv(name, value_of(name))
    with ExitStack() as stack:
        places = ("COMMAND", "USER", "TABLE", "ENVIRONMENT", "AZURE")
        its = {place: stack.enter_context(gateway()) for place in places}
        monkeypatch.setenv("OPENAI_BASE_URL", its["ENVIRONMENT"].url)
        monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", its["AZURE"].url)
        Path("mine.toml").write_text(TABLES.replace('"TABLE"', f'"{its["TABLE"].url}"'))
        yield its


def value_of(name: str) -> str:
    return f"sk-{KEYS.index(name)}-of-a-key-7d10a"


def arrived(servers: Mapping[str, Gateway], model: str) -> set[str]:
    """Where a model was asked, each time with the variables of the keys and with the headers that arrived."""
    found: set[str] = set()
    for place, its in servers.items():
        for name, head in zip(its.models, its.heads, strict=True):
            if name == model:
                values = {head.get("authorization", "").removeprefix("Bearer "), head.get("api-key")}
                keys = [key for key in KEYS if value_of(key) in values]
                headers = [name for name in ("x-team", "x-user", "x-table") if name in head]
                found.add(" ".join([place, *keys, *headers]))
    return found


PAIRS = [
    # With the plainest name beside it each runs in the gate, too.
    pytest.param(tested, user, id=f"{tested} -- {user}", marks=() if user == "u" else pytest.mark.long)
    for tested, users in TESTED.items()
    for user in users
]


@pytest.mark.parametrize(("tested", "user"), PAIRS)
def test_a_users_model_gets_what_was_given_for_it_and_for_its_address(
    tested: str, user: str, servers: dict[str, Gateway]
):
    sent = TESTED[tested][user]
    words = f"-m {tested} --user-model {user}"
    for place, its in servers.items():
        words = words.replace(f" {place}", f" {its.url}")
    ended = typed(*PLAYED, *words.split(), "--config", "mine.toml", "-o", "run")
    assert arrived(servers, "u") == {sent}, ended.stderr
    # Whatever is beside it, the tested model gets what was given for it.
    assert all(each.endswith(" KEY_OF_COMMAND x-team") for each in arrived(servers, "m"))
