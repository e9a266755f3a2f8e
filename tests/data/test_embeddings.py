"""Encoders: which one is chosen, how an endpoint is asked, and that vectors are asked for once."""

import json
import math
import sys
import threading
import zlib
from array import array
from collections.abc import Iterator
from hashlib import sha256
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
    ModelEncoder,
    chosen_encoder,
    word_counts,
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
    ("answers", "waited"), [([503, 429], [1, 2]), ([408], [1]), ([500, 599], [1, 2]), ([], [])]
)
def test_a_busy_endpoint_is_asked_again(
    answers: list[int], waited: list[int], endpoint: str, pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, f"{endpoint}/#m")
    Endpoint.answers = list(answers)
    assert chosen_encoder().cosines(["a"], ["a"]) == [[pytest.approx(1)]]
    assert Endpoint.asked == [("/v1/embeddings", None, {"model": "m", "input": ["a"]})] * (len(answers) + 1)
    assert pauses == waited


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


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"{", " gave no embeddings: Expecting property name"),
        (b'{"data": 5}', ": the answer holds no embeddings: {'data': 5}"),
        (b'"' + b"x" * 300 + b'"', f": the answer holds no embeddings: '{'x' * 199}"),
        (b"sk-embedding-key-123456", " gave no embeddings: Expecting value"),
        (
            b'{"data": [{"embedding": [1]}, {"embedding": [2]}]}',
            "#m gave 2 vectors for 1 texts",
        ),
    ],
)
def test_an_answer_that_is_none_is_quoted(
    body: bytes, reason: str, endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, f"{endpoint}#m")
    Endpoint.body = body
    with pytest.raises(UsageError) as error:
        chosen_encoder().cosines(["a"], ["a"])
    start = endpoint if reason[0] == "#" else f"{endpoint}/embeddings"
    assert str(error.value).startswith(start + reason)
    assert len(str(error.value)) < 300


def test_an_endpoint_that_nobody_serves_is_named_without_the_key(
    endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-embedding-key-123456"
    monkeypatch.setenv(VARIABLE, f"http://127.0.0.1:1/{key}#m")
    monkeypatch.setenv(KEY_VARIABLE, key)
    encoder = chosen_encoder()
    with pytest.raises(UsageError, match=r"gave no embeddings: \[Errno \d+\] Connection refused; ") as error:
        encoder.cosines(["a"], ["a"])
    assert key not in str(error.value) + encoder.name


def test_texts_are_sent_128_at_once_and_new_ones_alone(
    endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, f"{endpoint}#m")
    texts = [f"text {n}" for n in range(129)]
    encoder = chosen_encoder()
    encoder.cosines(texts[:128], texts[128:])
    encoder.cosines(["new", *texts], texts)
    assert [body["input"] for _, _, body in Endpoint.asked] == [texts[:128], texts[128:], ["new"]]


def test_vectors_are_kept_by_model_in_the_data_folder(
    endpoint: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    addresses = [f"{endpoint}#m", f"{endpoint}#{'m' * 90}", f"{endpoint}#other"]
    for address in addresses:
        monkeypatch.setenv(VARIABLE, f" {address} ")
        chosen_encoder().cosines(["a"], ["b"])
        assert chosen_encoder() is chosen_encoder()
    digests = [sha256(address.encode()).hexdigest()[:8] for address in addresses]
    host = endpoint.removeprefix("http://").replace("/", "-").replace(":", "-")
    assert sorted(path.name for path in (tmp_path / "embeddings").iterdir()) == sorted(
        [
            f"http-{host}-m-{digests[0]}.sqlite",
            f"{'m' * 80}-{digests[1]}.sqlite",
            f"http-{host}-other-{digests[2]}.sqlite",
        ]
    )
    # Another data folder keeps its own.
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path / "elsewhere"))
    chosen_encoder().cosines(["a"], ["b"])
    assert len(list((tmp_path / "elsewhere" / "embeddings").iterdir())) == 1


def test_vectors_are_units_of_the_precision_that_is_kept(tmp_path: Path) -> None:
    vectors = {"a": [3.0, 4.0], "b": [0.1, 0.3], "none": [0.0, 0.0]}
    encoder = ModelEncoder(
        "m", lambda texts: [vectors[text] for text in texts], tmp_path / "new" / "m.sqlite"
    )
    length = math.sqrt(0.1 * 0.1 + 0.3 * 0.3)
    assert {text: list(vector) for text, vector in encoder.vectors(vectors).items()} == {
        "a": list(array("f", [0.6, 0.8])),
        "b": list(array("f", [0.1 / length, 0.3 / length])),
        "none": [0.0, 0.0],
    }
    assert encoder.cosines(["a", "none"], ["b", "a", "none"]) == [
        [pytest.approx(1.5 / 5 / length), pytest.approx(1), 0],
        [0, 0, 0],
    ]


def test_a_place_that_cannot_keep_vectors_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    encoder = ModelEncoder("m", lambda texts: [[1.0]], tmp_path / "file" / "m.sqlite")
    with pytest.raises(
        UsageError, match=r"file/m\.sqlite: vectors cannot be kept there \(.+\); WILDTOOL_DATA_DIR names"
    ):
        encoder.cosines(["a"], ["a"])


def test_without_a_model_words_are_counted_in_512_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, " lexical ")
    encoder = chosen_encoder()
    assert (encoder.name, encoder.is_reference) == ("lexical", False)
    assert encoder.cosines(["a b B", "c_d", "!"], ["b, a", "", "d C c"]) == [
        [3 / (math.sqrt(5) * math.sqrt(2)), 0.0, 0.0],
        [0.0, 0.0, 3 / (math.sqrt(2) * math.sqrt(5))],
        [0.0, 1.0, 0.0],
    ]
    places = [zlib.crc32(word) % 512 for word in (b"hello", b"w\xc3\xb6rld", b"<none>")]
    assert word_counts("Hello, hello_wörld") == {places[0]: 2, places[1]: 1}
    assert word_counts("") == {places[2]: 1}
    assert sum(word_counts("\ud800").values()) == 1


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


def test_a_model_in_the_cache_is_not_taken_without_its_library(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    (tmp_path / "hub" / "models--sentence-transformers--all-mpnet-base-v2").mkdir(parents=True)
    assert chosen_encoder().name == "lexical"


@pytest.mark.usefixtures("_library")
@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("some/missing", "hf download some/missing fetches it"),
        ("/missing", "name a folder of a sentence-transformers model"),
        ("./missing", "name a folder of a sentence-transformers model"),
        ("~/missing", "name a folder of a sentence-transformers model"),
        ("missing", "name a folder of a sentence-transformers model"),
    ],
)
def test_a_model_that_is_not_there_says_how_to_get_it(
    name: str, advice: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "missing").mkdir()  # a folder that is there and holds no model
    monkeypatch.setenv(VARIABLE, name)
    with pytest.raises(UsageError) as error:
        chosen_encoder().cosines(["a"], ["b"])
    assert str(error.value) == (
        f"WILDTOOL_ENCODER={name}: the model cannot be loaded from a folder or the Hugging Face cache (no such model);"
        f" {advice}"
    )
