"""Keys are found by the names of fields, and told apart by digests."""

import stat
from pathlib import Path
from typing import Any

import pytest

from wildtool.models import secrets
from wildtool.models.secrets import comparable, describe_variable, find_key, keyed_digest
from wildtool.secret_places import is_key_name


@pytest.mark.parametrize(
    ("name", "a_key"),
    [
        ("key", True),
        ("token", True),
        ("keys", True),
        ("myKey", False),
        ("keyName", False),
        ("userKey", True),
        ("primaryToken", False),
        ("", False),
        ("__", False),
        ("APIKey", True),
        ("my_secret_name", True),
        ("tokens", False),
        ("api", False),
        ("x-key", True),
        ("key_2", False),
        ("auth2Token", False),
    ],
)
def test_a_name_of_a_key(name: str, a_key: bool):
    assert is_key_name(name) is a_key


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ({"api_key": "x"}, "api_key"),
        ({"api_key": "  "}, None),
        ({"api_key": 5}, None),
        ({"api_key": None, "b": {"token": ["x"]}}, "token"),
        ({"a": {"b": [{"password": "x"}]}, "token": "y"}, "password"),
        ({"name": "Authorization", "value": "x"}, "Authorization"),
        ({"key": "Authorization", "value": "x"}, "Authorization"),
        ({"name": "max_tokens", "value": "x", "token": "y"}, "token"),
        ({"name": 5, "value": "x"}, None),
        ([["a", "b"], ["api_key", "x"]], "api_key"),
        ([["api_key", " "]], None),
        ([["api_key", "x", "y"]], None),
        ([["a", "b"], {"token": "x"}], "token"),
        (["Bearer 12345678"], "a text"),
        (["Bearer 1234567"], None),
        ({"headers": "basic 12345678 "}, "headers"),
        (("a", ("secret", "x")), "secret"),
        (5, None),
        ("x", None),
    ],
)
def test_the_field_of_a_key_is_named(value: Any, name: str | None):
    assert find_key(value) == name


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("OPENAI_API_KEY", True),
        ("_X", True),
        ("lower", False),
        ("A" * 61, True),
        ("A" * 62, False),
        ("A1B2C3D4E5F6G7H8", False),
    ],
)
def test_a_variable_is_named_unless_it_may_be_a_key(name: str, shown: bool):
    described = (
        f"the environment variable {name}" if shown else "the environment variable named by --api-key-env"
    )
    assert describe_variable(name) == described


def test_digests_of_one_key_can_be_compared():
    assert comparable("a.1", "a.2")
    for digest, other in (("a.1", "b.1"), (None, "a.1"), ("a.1", 5)):
        assert not comparable(digest, other)


@pytest.fixture
def key_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "a"))
    secrets._key.cache_clear()  # pyright: ignore[reportPrivateUsage]
    return tmp_path / "a" / "wildtool" / "digest.key"


def forgotten() -> None:
    secrets._key.cache_clear()  # pyright: ignore[reportPrivateUsage]


def test_digests_are_made_with_a_key_of_the_user(key_file: Path):
    first, second = keyed_digest("a"), keyed_digest("b")
    assert [len(part) for part in first.split(".")] == [8, 32]
    assert (first.partition(".")[0] == second.partition(".")[0], first == second) == (True, False)
    assert (len(key_file.read_bytes()), stat.S_IMODE(key_file.stat().st_mode)) == (32, 0o600)
    assert [path.name for path in key_file.parent.iterdir()] == ["digest.key"]
    forgotten()
    assert keyed_digest("a") == first
    key_file.write_bytes(b"short")
    forgotten()
    other = keyed_digest("a")
    assert other != first
    assert keyed_digest("a") == other
    assert key_file.read_bytes() == b"short"
    forgotten()
