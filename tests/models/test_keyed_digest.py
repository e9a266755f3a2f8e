"""Two deployments behind one shown address are told apart, and nothing of their secrets can be guessed."""

import stat
from pathlib import Path
from typing import Any

import pytest

from wildtool.engine.call.cache import model_digest
from wildtool.engine.record.run_folder import RunFolder
from wildtool.errors import RecordError
from wildtool.models import secrets
from wildtool.models.providers.openai_chat import OpenAIModel
from wildtool.types import Source

URL = "http://127.0.0.1:9/v1"
HIDDEN = ["http://u:p1@127.0.0.1:9/v1", "http://u:p2@127.0.0.1:9/v1", f"{URL}?key=abcd1", f"{URL}?key=abcd2"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's home of the test's own."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    secrets._key.cache_clear()
    return tmp_path / "home"


def settings(url: str) -> dict[str, Any]:
    return dict(OpenAIModel("m", url).settings())


def start(folder: Path, model: dict[str, Any]) -> None:
    identity = {
        "benchmark": "echo", "data_sha256": "0", "split": None, "lang": None, "mode": "plain", "profile": "official",
        "models": {"agent": {"name": "m", "settings": model}},
    }  # fmt: skip
    scope = {"limit": None, "ids": [], "repeats": 1}
    RunFolder(
        folder, kind="played", identity=identity, scope=scope, source=Source("d", Path("d"), "0"), command=[]
    ).close()


def test_an_address_without_a_secret_is_as_it_was():
    assert settings(URL) == {"base_url": URL, "extra_body": {}}


def test_addresses_that_differ_in_what_is_not_shown_have_their_own_cache_keys():
    assert len({model_digest(OpenAIModel("m", url)) for url in HIDDEN}) == len(HIDDEN)
    assert settings(HIDDEN[0]) == settings(HIDDEN[0])


def test_a_run_does_not_go_on_at_another_deployment(tmp_path: Path):
    start(tmp_path / "run", settings(HIDDEN[2]))
    start(tmp_path / "run", settings(HIDDEN[2]))
    with pytest.raises(RecordError, match="address_digest"):
        start(tmp_path / "run", settings(HIDDEN[3]))


def test_a_run_of_another_machine_and_of_an_earlier_version_goes_on(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
):
    old = settings(HIDDEN[2])
    del old["address_digest"]
    start(tmp_path / "old", old)
    start(tmp_path / "old", settings(HIDDEN[2]))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "elsewhere"))
    secrets._key.cache_clear()
    start(tmp_path / "old", settings(HIDDEN[2]))
    with pytest.raises(RecordError, match="address_digest"):
        start(tmp_path / "old", settings(HIDDEN[3]))


def test_a_slash_at_the_end_of_an_address_is_no_other_setting(tmp_path: Path):
    assert settings(URL + "/") == settings(URL)
    hidden = HIDDEN[2].replace("?", "/?")
    assert hidden != HIDDEN[2] and settings(hidden) == settings(HIDDEN[2])
    assert settings("http://h/v1?path=a/") != settings("http://h/v1?path=a")


@pytest.mark.parametrize("url", [URL, HIDDEN[2]])
def test_a_run_of_an_earlier_version_that_kept_the_slash_goes_on(url: str, tmp_path: Path):
    now = settings(url)
    path, mark, query = now["base_url"].partition("?")
    old = {**now, "base_url": f"{path}/{mark}{query}"}
    if "address_digest" in now:
        old["address_digest"] = secrets.keyed_digest(url.replace("?", "/?"))
    start(tmp_path / "run", old)
    start(tmp_path / "run", now)
    with pytest.raises(RecordError, match="base_url"):
        start(tmp_path / "run", settings(url.replace("/v1", "/v2")))


def test_the_key_is_the_users_alone_and_kept(home: Path):
    first = secrets.keyed_digest("a secret")
    secrets._key.cache_clear()
    assert secrets.keyed_digest("a secret") == first != secrets.keyed_digest("another")
    assert stat.S_IMODE((home / "wildtool" / "digest.key").stat().st_mode) == 0o600


def test_without_a_place_for_the_key_digests_are_those_of_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    secrets._key.cache_clear()
    first = secrets.keyed_digest("a secret")
    secrets._key.cache_clear()
    assert not secrets.comparable(first, secrets.keyed_digest("a secret"))
