"""Encoders of texts for scores that compare sentences by the cosine of their embeddings.

The environment variable `WILDTOOL_ENCODER` names one: `lexical`, an address such as `http://127.0.0.1:8000/v1#MODEL`
whose `/embeddings` is asked, or the name or folder of a sentence-transformers model. Without it, it is the reference's
model if the extra [embeddings] is installed and the model lies in the user's cache, else `lexical`.

The vectors of a model are kept in the cache folder by digest of their text, so that scoring the same replies again asks
no model and gives the same numbers.
"""

import json
import math
import os
import re
import sqlite3
import zlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import cache, lru_cache
from hashlib import sha256
from operator import mul
from pathlib import Path
from typing import Any, Protocol

from wildtool import redact
from wildtool.data.embeddings_api import EMBEDDINGS_PATH, embeddings_body, read_embeddings
from wildtool.data.pinned import cache_folder
from wildtool.errors import UsageError
from wildtool.secret_places import recordable, register_foreign

VARIABLE, KEY_VARIABLE = "WILDTOOL_ENCODER", "WILDTOOL_ENCODER_API_KEY"
REFERENCE_MODEL = "sentence-transformers/all-mpnet-base-v2"
"""The model that T-Eval's evaluators encode English with."""
LEXICAL = "lexical"
EXTRA = "embeddings"
_DIMENSIONS = 512
_WORD = re.compile(r"[^\W_]+")
_NO_WORD = "<none>"
_BATCH = 128
"""Texts in one request to an endpoint."""
_TIMEOUT_S = 60
_ATTEMPTS = 3

Vector = Sequence[float]
Encode = Callable[[Sequence[str]], Sequence[Vector]]


class Encoder(Protocol):
    """Compares texts by the cosine of their vectors."""

    @property
    def name(self) -> str:
        """What a result says it was measured with."""
        ...

    @property
    def is_reference(self) -> bool:
        """Whether it is the model that published numbers were made with."""
        ...

    def cosines(self, rows: Sequence[str], columns: Sequence[str]) -> list[list[float]]:
        """The cosine of each text on the left with each on the right. Raises UsageError where a model fails."""
        ...


class LexicalEncoder:
    """Counts words in 512 places, by CRC-32 modulo 512: the same words give 1, no common word gives 0."""

    name = LEXICAL
    is_reference = False

    def cosines(self, rows: Sequence[str], columns: Sequence[str]) -> list[list[float]]:
        return [[_word_cosine(text, other) for other in columns] for text in rows]


@lru_cache(maxsize=1 << 14)
def word_counts(text: str) -> Mapping[int, int]:
    """Place to count, for each place that a word of the text falls on; a text without words has one of its own."""
    words = _WORD.findall(text.lower()) or [_NO_WORD]
    return Counter(zlib.crc32(word.encode("utf-8", "surrogatepass")) % _DIMENSIONS for word in words)


# An audit compares the same steps of a plan thousands of times.
@lru_cache(maxsize=1 << 14)
def _word_cosine(text: str, other_text: str) -> float:
    counts, other_counts = word_counts(text), word_counts(other_text)
    dot = sum([count * other_counts.get(place, 0) for place, count in counts.items()])
    # Rounded as the documented stand-in is: the last bit decides which of two matchings weighs more.
    return dot / (_length(text) * _length(other_text)) if dot else 0.0


@lru_cache(maxsize=1 << 14)
def _length(text: str) -> float:
    counts = word_counts(text).values()
    return math.sqrt(sum(map(mul, counts, counts)))


class ModelEncoder:
    """Vectors of a model, each asked for once and kept on disk."""

    def __init__(self, name: str, encode: Encode, store: Path) -> None:
        """Args: store: the SQLite file that keeps the vectors of this model."""
        self.name = name
        self.is_reference = Path(name.rpartition("#")[2]).name == Path(REFERENCE_MODEL).name
        self._encode = encode
        self._store = store
        self._known: dict[str, Vector] = {}

    def cosines(self, rows: Sequence[str], columns: Sequence[str]) -> list[list[float]]:
        vectors = self.vectors(dict.fromkeys((*rows, *columns)))
        return [[sum(map(mul, vectors[row], vectors[column])) for column in columns] for row in rows]

    def vectors(self, texts: Mapping[str, Any]) -> dict[str, Vector]:
        """The unit vector of each text. Raises UsageError where the model fails."""
        missing = [text for text in texts if text not in self._known]
        if missing:
            self._known |= self._fetched(missing)
        return {text: self._known[text] for text in texts}

    def _fetched(self, texts: Sequence[str]) -> dict[str, Vector]:
        digests = {text: sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts}
        try:
            self._store.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self._store, timeout=_TIMEOUT_S)) as store:
                with store:
                    store.execute("CREATE TABLE IF NOT EXISTS vectors (digest BLOB PRIMARY KEY, vector BLOB)")
                vectors_of = dict(_stored(store, digests))
                missing = [text for text in texts if text not in vectors_of]
                new = {text: _unit(vector) for text, vector in zip(missing, self._all(missing), strict=True)}
                with store:
                    rows = [(digests[text], array("f", vector).tobytes()) for text, vector in new.items()]
                    store.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows)
                # As they will be read back, so that a second scoring gives the same numbers.
                return vectors_of | dict(_stored(store, {text: digests[text] for text in new}))
        except (OSError, sqlite3.Error) as error:
            raise UsageError(f"{self._store}: vectors cannot be kept there ({error}); WILDTOOL_DATA_DIR names another"
                             " folder") from error  # fmt: skip

    def _all(self, texts: Sequence[str]) -> Iterator[Vector]:
        for begin in range(0, len(texts), _BATCH):
            batch = texts[begin : begin + _BATCH]
            vectors = self._encode(batch)
            if len(vectors) != len(batch):
                raise UsageError(f"{self.name} gave {len(vectors)} vectors for {len(batch)} texts")
            yield from vectors


def _stored(store: sqlite3.Connection, digests: Mapping[str, bytes]) -> Iterator[tuple[str, Vector]]:
    for text, digest in digests.items():
        row = store.execute("SELECT vector FROM vectors WHERE digest = ?", (digest,)).fetchone()
        if row is not None:
            yield text, array("f", row[0])


def _unit(vector: Vector) -> list[float]:
    length = math.sqrt(sum(map(mul, vector, vector)))
    return [value / length for value in vector] if length else list(vector)


# Which encoder --------------------------------------------------------------------------------------


def chosen_encoder() -> Encoder:
    """The encoder that the environment names, or that there is. Raises UsageError where the named one cannot be used."""
    # Asked for each item that is judged, so nothing is new here.
    return _encoder(os.environ.get(VARIABLE, ""), os.environ.get("WILDTOOL_DATA_DIR"))


@cache
def _encoder(text: str, _data_folder: str | None) -> Encoder:
    wanted = text.strip()
    if wanted == LEXICAL or (not wanted and not _has_reference_model()):
        return LexicalEncoder()
    name = wanted or REFERENCE_MODEL
    is_local = not re.match("https?://", name)
    encode = local_encode(name) if is_local else endpoint_encode(name)
    name_shown = redact.redacted_text(recordable(name))
    place = re.sub(r"[^\w.-]+", "-", name_shown)[-80:] + f"-{sha256(name.encode()).hexdigest()[:8]}.sqlite"
    return ModelEncoder(name_shown, encode, cache_folder() / "embeddings" / place)


def _has_reference_model() -> bool:
    """Whether the reference's model can be loaded without a network; the library takes seconds to ask."""
    from importlib.util import find_spec

    return find_spec("sentence_transformers") is not None and any(
        (folder / f"models--{REFERENCE_MODEL.replace('/', '--')}").is_dir() for folder in _hub_folders()
    )


def _hub_folders() -> Iterator[Path]:
    folder_name = os.environ.get("HF_HUB_CACHE") or os.environ.get("SENTENCE_TRANSFORMERS_HOME")
    if folder_name:
        yield Path(folder_name)
    yield Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface") / "hub"


def local_encode(name: str) -> Encode:
    """Vectors of a sentence-transformers model from a folder or from the user's cache; nothing is downloaded."""
    model: list[Any] = []

    def encode(texts: Sequence[str]) -> Sequence[Vector]:
        if not model:
            model.append(_load_model(name))
        return [
            list(map(float, vector)) for vector in model[0].encode(list(texts), normalize_embeddings=True)
        ]

    return encode


def _load_model(name: str) -> Any:
    from importlib import import_module

    try:
        library = import_module("sentence_transformers")
    except ImportError as error:
        raise UsageError(
            f"{VARIABLE}={name} needs the extra [{EXTRA}]: pip install 'wildtool[{EXTRA}]'; or name an endpoint,"
            f" {VARIABLE}=http://HOST/v1#MODEL"
        ) from error
    try:
        return library.SentenceTransformer(name, local_files_only=True)
    except Exception as error:
        is_path = name.startswith(("/", ".", "~")) or Path(name).exists()
        what_to_do = (
            "name a folder of a sentence-transformers model" if is_path else f"hf download {name} fetches it"
        )
        raise UsageError(
            f"{VARIABLE}={name}: the model cannot be loaded from a folder or the Hugging Face cache ({error});"
            f" {what_to_do}"
        ) from error


def endpoint_encode(address: str) -> Encode:
    """Vectors from an OpenAI-compatible endpoint, `http://HOST/v1#MODEL`. Raises UsageError where it names no model."""
    register_foreign(address)
    base, _, model = address.partition("#")
    if not model:
        raise UsageError(f"{VARIABLE} names an endpoint without a model; write {base.rstrip('/')}#MODEL")
    key = os.environ.get(KEY_VARIABLE)
    redact.register_secrets(key)

    def encode(texts: Sequence[str]) -> Sequence[Vector]:
        url = base.rstrip("/") + EMBEDDINGS_PATH
        answer = _post(url, json.dumps(embeddings_body(model, texts)).encode(), key)
        try:
            return read_embeddings(answer)
        except ValueError as error:
            raise UsageError(f"{url}: {error}: {answer!r:.200}") from error

    return encode


def _post(url: str, body: bytes, key: str | None) -> Any:
    import time
    from urllib import error as errors
    from urllib import request as requests

    from wildtool.data.unredirected import open_unredirected

    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    reason = ""
    for attempt in range(_ATTEMPTS):
        try:
            with open_unredirected(requests.Request(url, body, headers), _TIMEOUT_S) as response:
                return json.load(response)
        except errors.HTTPError as error:
            reason = f"{error.code} {error.reason}: {error.read(200).decode('utf-8', 'replace')}"
            if error.code not in (408, 429) and error.code < 500:
                break
        except (OSError, ValueError) as error:
            reason = str(getattr(error, "reason", None) or error)
        if attempt + 1 < _ATTEMPTS:
            time.sleep(2**attempt)
    raise UsageError(
        redact.redacted_text(f"{url} gave no embeddings: {reason}; {VARIABLE} names another encoder")
    )
