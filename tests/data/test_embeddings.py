"""Encoders: which one is chosen, how an endpoint is asked, and that vectors are asked for once."""

import json
import math
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from wildtool.data import embeddings
from wildtool.data.embeddings import (
    KEY_VARIABLE,
    REFERENCE_MODEL,
    VARIABLE,
    chosen_encoder,
)
from wildtool.errors import UsageError


class Endpoint(BaseHTTPRequestHandler):
    """Answers with one vector for each text: its length and its number of blanks."""

    asked: ClassVar[list[tuple[str, str | None, Any]]] = []
    answers: ClassVar[list[int]] = []
    """Statuses to fail with first."""
    body: ClassVar[bytes | None] = None
    """What is answered instead."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append((self.path, self.headers.get("Authorization"), body))
        status = self.answers.pop(0) if self.answers else 200
        vectors = [
            {"index": n, "embedding": [len(text), text.count(" ")]} for n, text in enumerate(body["input"])
        ]
        # In any order: the index says whose vector it is.
        reply = self.body or (json.dumps({"data": vectors[::-1]}).encode() if status == 200 else b"busy")
        self.send_response(status)
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


@pytest.fixture
def endpoint() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Endpoint)
    Endpoint.asked, Endpoint.answers, Endpoint.body = [], [], None
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[float]:
    """Seconds that would be waited; and an environment that names nothing."""
    paused: list[float] = []
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr("time.sleep", paused.append)
    for name in (VARIABLE, KEY_VARIABLE, "HF_HOME", "HF_HUB_CACHE", "SENTENCE_TRANSFORMERS_HOME"):
        monkeypatch.delenv(name, raising=False)
    embeddings._encoder.cache_clear()
    return paused


def test_an_endpoint_is_asked_for_each_text_once(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, f"{endpoint}#some-model")
    monkeypatch.setenv(KEY_VARIABLE, "sk-embedding-key-123456")
    first = chosen_encoder()
    assert first.cosines(["aaa", "b b"], ["aaa"]) == [[pytest.approx(1)], [pytest.approx(3 / 10**0.5)]]
    assert Endpoint.asked == [
        (
            "/v1/embeddings",
            "Bearer sk-embedding-key-123456",
            {"model": "some-model", "input": ["aaa", "b b"]},
        )
    ]
    embeddings._encoder.cache_clear()
    again = chosen_encoder()
    assert again is not first
    assert again.cosines(["aaa", "b b"], ["aaa"]) == first.cosines(["aaa", "b b"], ["aaa"])
    assert len(Endpoint.asked) == 1


def test_its_name_says_the_model_and_whether_it_is_the_references(
    endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, f"{endpoint}#other")
    assert (chosen_encoder().name, chosen_encoder().is_reference) == (f"{endpoint}#other", False)
    monkeypatch.setenv(VARIABLE, f"{endpoint}#sentence-transformers/all-mpnet-base-v2")
    assert chosen_encoder().is_reference


@pytest.mark.parametrize(
    ("status", "calls", "reason"),
    [
        (401, 1, "401 Unauthorized: busy"),
        (499, 1, "499 : busy"),
        (503, 3, "503 Service Unavailable: busy"),
        (500, 3, "500 Internal Server Error: busy"),
    ],
)
def test_an_endpoint_that_gives_nothing_is_named(
    status: int, calls: int, reason: str, endpoint: str, pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, f"{endpoint}#m")
    Endpoint.answers = [status] * 9
    with pytest.raises(UsageError) as error:
        chosen_encoder().cosines(["a"], ["a"])
    assert str(error.value) == (
        f"{endpoint}/embeddings gave no embeddings: {reason}; WILDTOOL_ENCODER names another encoder"
    )
    assert (len(Endpoint.asked), len(pauses)) == (calls, calls - 1)


def test_an_endpoint_without_a_model_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "http://127.0.0.1:1/v1")
    with pytest.raises(UsageError, match=r"write http://127\.0\.0\.1:1/v1#MODEL"):
        chosen_encoder()


def test_a_model_without_its_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, REFERENCE_MODEL)
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(UsageError, match=r"pip install 'wildtool\[embeddings\]'"):
        chosen_encoder().cosines(["a"], ["a"])


class Weights:
    """What sentence-transformers offers, as far as it is used."""

    loaded: ClassVar[list[str]] = []

    def __init__(self, name: str, *, local_files_only: bool) -> None:
        assert local_files_only is True
        self.loaded.append(name)
        if "missing" in name:
            raise OSError("no such model")

    def encode(self, texts: list[str], *, normalize_embeddings: bool) -> list[list[float]]:
        assert normalize_embeddings is True
        return [[float(len(text)), 1.0] for text in texts]


@pytest.fixture
def _library(monkeypatch: pytest.MonkeyPatch) -> None:
    library: Any = SimpleNamespace(SentenceTransformer=Weights, __spec__=SimpleNamespace(name="x"))
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    monkeypatch.setattr(Weights, "loaded", [])


@pytest.mark.usefixtures("_library")
@pytest.mark.parametrize(
    ("variables", "hub"),
    [
        ({}, "home/.cache/huggingface/hub"),
        ({"HF_HOME": "hf"}, "hf/hub"),
        ({"HF_HUB_CACHE": "hub"}, "hub"),
        ({"SENTENCE_TRANSFORMERS_HOME": "st"}, "st"),
        ({"HF_HUB_CACHE": "hub", "SENTENCE_TRANSFORMERS_HOME": "st", "HF_HOME": "hf"}, "hf/hub"),
    ],
)
def test_a_model_in_the_cache_is_taken_where_nothing_is_named(
    variables: dict[str, str], hub: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, folder in variables.items():
        monkeypatch.setenv(name, str(tmp_path / folder))
    assert chosen_encoder().name == "lexical"
    (tmp_path / hub / "models--sentence-transformers--all-mpnet-base-v2").mkdir(parents=True)
    embeddings._encoder.cache_clear()
    encoder = chosen_encoder()
    assert (encoder.name, encoder.is_reference) == (REFERENCE_MODEL, True)
    assert encoder.cosines(["a"], ["b"]) == [[pytest.approx(1)]]
    assert encoder.cosines(["abc"], ["b"]) == [[pytest.approx(4 / math.sqrt(20))]]
    assert Weights.loaded == [REFERENCE_MODEL]
