"""`static/wordllama`: ranks documents by static embeddings, whose weights and tokenizer lie in the wheel of wordllama.

The files are read directly, since the package's own loader asks the Hugging Face Hub for them.
"""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from wildtool.errors import UsageError
from wildtool.models.extras import import_for
from wildtool.types import Reply, Request

STATIC_MODEL = "static/wordllama"
SEARCH_EXTRA = "search"
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_LONGEST_TEXT = 1_500
"""Characters of a text that are embedded; descriptions of tools are shorter."""
_TEXTS_KEPT = 20_000
"""Texts whose vectors are kept, of 1 kB each."""


class StaticRanker:
    """Ranks the documents that a request holds behind its query, in this process. A text's vector is the mean of those of
    its tokens."""

    name = STATIC_MODEL

    def __init__(self) -> None:
        """Raises UsageError where the extra is not installed, or its wheel has other files."""
        self._numpy = import_for(STATIC_MODEL, "numpy", SEARCH_EXTRA)
        tokenizers = import_for(STATIC_MODEL, "tokenizers", SEARCH_EXTRA)
        safetensors = import_for(STATIC_MODEL, "safetensors.numpy", SEARCH_EXTRA)
        (weights,) = safetensors.load_file(_file(_WEIGHTS)).values()
        self._weights = weights.astype("float32")
        self._tokenizer = tokenizers.Tokenizer.from_file(str(_file(_TOKENIZER)))
        self._tokenizer.no_padding()
        self._vector = lru_cache(maxsize=_TEXTS_KEPT)(self._embedded)

    async def complete(self, request: Request) -> Reply:
        """The names of the documents, the nearest first, as a JSON list."""
        query, *documents = request.messages
        nearness = self._nearness(
            _text(query.get("content")), [_text(each.get("content")) for each in documents]
        )
        places = sorted(range(len(documents)), key=lambda place: -nearness[place])
        names = [str(documents[place].get("name")) for place in places]
        return Reply({"role": "assistant", "content": json.dumps(names, ensure_ascii=False)})

    async def close(self) -> None:
        """Nothing is open."""

    def settings(self) -> Mapping[str, Any]:
        return {"weights": Path(_WEIGHTS).stem, "wordllama": version("wordllama")}

    def _nearness(self, query: str, texts: Sequence[str]) -> list[float]:
        """The cosine of each text to the query."""
        if not texts:
            return []
        vectors = self._numpy.array([self._vector(text) for text in texts])
        return [float(number) for number in vectors @ self._vector(query)]

    def _embedded(self, text: str) -> Any:
        """The unit vector of a text; of one without tokens zeros."""
        tokens = self._tokenizer.encode(text, add_special_tokens=False).ids
        if not tokens:
            return self._numpy.zeros(self._weights.shape[1], "float32")
        mean = self._weights[tokens].mean(0)
        return mean / (self._numpy.linalg.norm(mean) or 1.0)


def _text(value: Any) -> str:
    """What is embedded of a text, whose names are read as words."""
    return str(value)[:_LONGEST_TEXT].replace("_", " ").encode("utf-8", "replace").decode()


def _file(name: str) -> Path:
    """A file of the wheel, which is found without running the package. Raises UsageError."""
    package = find_spec("wordllama")
    folders = (package.submodule_search_locations if package else None) or ()
    for folder in folders:
        path = Path(folder, name)
        if path.is_file():
            return path
    raise UsageError(
        f"model {STATIC_MODEL!r} needs {name} of the package wordllama 0.4; install it with: "
        f"pip install 'wildtool[{SEARCH_EXTRA}]'"
    )
