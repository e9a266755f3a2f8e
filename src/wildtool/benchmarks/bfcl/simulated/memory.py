"""The three memories of the agentic part: pairs of keys and texts, texts found by their words, and one text."""

import json
import math
import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from wildtool.benchmarks.bfcl.simulated.base import ApiState, ApiTool, SimulatedApi, copied, failed
from wildtool.toolcall.refusals import refuse_if
from wildtool.toolcall.retrieval import LENGTH_WEIGHT, SATURATION, search_words

CORE, ARCHIVE = "core_memory", "archival_memory"
CORE_SIZE, CORE_CHARACTERS = 7, 300
ARCHIVE_SIZE, ARCHIVE_CHARACTERS = 50, 2_000
SUMMARY_CHARACTERS = 10_000
BM25_DELTA = 1.0
"""What BM25+ adds for each word of the query that a text has (Lv and Zhai 2011)."""
_KEY = re.compile(r"[a-z]+(_[a-z0-9]+)*\n?")
_LIMITS = {CORE: (CORE_SIZE, CORE_CHARACTERS), ARCHIVE: (ARCHIVE_SIZE, ARCHIVE_CHARACTERS)}


class Memory(SimulatedApi):
    """What a model keeps from one conversation to the next; its state is the snapshot that the next one begins with."""

    EMPTY: ClassVar[ApiState]
    """The state before the first conversation."""

    def _set_up(self, scenario: Mapping[str, Any]) -> None:
        self.state = copied(dict(scenario) if scenario else self.EMPTY)

    REMOVED = frozenset({"shown"})

    @abstractmethod
    def shown(self) -> str:
        """The part of it that the system message shows; empty for nothing."""


class KeyMemory(Memory):
    """Texts under keys, in a small memory that is always shown and in a large one."""

    NAME = "MemoryAPI_kv"
    DOCUMENTS = "memory_kv"
    EMPTY: ClassVar[ApiState] = {CORE: {}, ARCHIVE: {}}

    def shown(self) -> str:
        return json.dumps(self.state[CORE], indent=4) if self.state[CORE] else ""

    def tools(self) -> Mapping[str, ApiTool]:
        verbs = {
            "add": self._add,
            "remove": self._remove,
            "replace": self._replace,
            "clear": self._clear,
            "retrieve": self._retrieve,
            "list_keys": self._list_keys,
            "key_search": self._key_search,
        }
        return {**_of_both(verbs), f"{CORE}_retrieve_all": lambda: self.state[CORE]}

    def _add(self, part: str, key: Any, value: Any) -> ApiState:
        key, value = str(key), str(value)
        _check_room(part, len(self.state[part]))
        _check_length(part, value)
        refuse_if(not _KEY.fullmatch(key), "the key must be in snake_case, without spaces")
        refuse_if(key in self.state[part], "there is an entry with this key already")
        self.state[part][key] = value
        return {"status": "Added."}

    def _remove(self, part: str, key: Any) -> ApiState:
        self._retrieve(part, key)
        del self.state[part][key]
        return {"status": "Removed."}

    def _replace(self, part: str, key: Any, value: Any) -> ApiState:
        key, value = str(key), str(value)
        self._retrieve(part, key)
        _check_length(part, value)
        self.state[part][key] = value
        return {"status": "Replaced."}

    def _clear(self, part: str) -> ApiState:
        self.state[part] = {}
        return {"status": "Cleared."}

    def _retrieve(self, part: str, key: Any) -> ApiState:
        refuse_if(key not in self.state[part], "there is no entry with this key")
        return {"value": self.state[part][key]}

    def _list_keys(self, part: str) -> ApiState:
        return {"keys": list(self.state[part])}

    def _key_search(self, part: str, query: Any, k: Any = 5) -> ApiState:
        return {"ranked_results": ranked(query, list(self.state[part]))[:k]}


class TextMemory(Memory):
    """Texts with numbers, found by similarity, in a small memory that is always shown and in a large one.

    The original compares sentence embeddings; here texts are compared by their words, so that no model is needed.
    """

    NAME = "MemoryAPI_vector"
    DOCUMENTS = "memory_vector"
    EMPTY: ClassVar[ApiState] = {part: {"next": 0, "texts": {}} for part in (CORE, ARCHIVE)}

    def shown(self) -> str:
        return json.dumps(self.state[CORE]["texts"], indent=4)

    def tools(self) -> Mapping[str, ApiTool]:
        return _of_both(
            {
                "add": self._add,
                "remove": self._remove,
                "update": self._update,
                "clear": self._clear,
                "retrieve": self._retrieve,
                "retrieve_all": self._retrieve_all,
            }
        )

    def _add(self, part: str, text: Any) -> ApiState:
        store = self.state[part]
        _check_length(part, text)
        _check_room(part, len(store["texts"]))
        number = store["next"]
        store["next"] += 1
        store["texts"][number] = text
        return {"id": number}

    def _remove(self, part: str, vec_id: Any) -> ApiState:
        refuse_if(vec_id not in self.state[part]["texts"], f"there is no entry {vec_id!r}")
        del self.state[part]["texts"][vec_id]
        return {"status": f"Entry {vec_id} removed."}

    def _update(self, part: str, vec_id: Any, new_text: Any) -> ApiState:
        refuse_if(vec_id not in self.state[part]["texts"], f"there is no entry {vec_id!r}")
        _check_length(part, new_text)
        self.state[part]["texts"][vec_id] = new_text
        return {"status": f"Entry {vec_id} updated."}

    def _clear(self, part: str) -> ApiState:
        self.state[part] = {"next": 0, "texts": {}}
        return {"status": "Cleared."}

    def _retrieve(self, part: str, query: Any, top_k: Any = 5) -> ApiState:
        wanted = Counter(search_words(query))
        scored = [
            {"id": number, "similarity_score": cosine(wanted, Counter(search_words(text))), "text": text}
            for number, text in self.state[part]["texts"].items()
        ]
        scored.sort(key=lambda one: -one["similarity_score"])
        return {"result": scored[: max(0, top_k)]}

    def _retrieve_all(self, part: str) -> ApiState:
        texts = self.state[part]["texts"].items()
        return {"result": [{"id": number, "text": text} for number, text in texts]}


class SummaryMemory(Memory):
    """One text, which is always shown."""

    NAME = "MemoryAPI_rec_sum"
    DOCUMENTS = "memory_rec_sum"
    EMPTY: ClassVar[ApiState] = {"memory": ""}

    def shown(self) -> str:
        return self.state["memory"]

    def memory_append(self, text: Any) -> ApiState:
        return self._set(self.state["memory"] + str(text), "Appended.")

    def memory_update(self, text: Any) -> ApiState:
        return self._set(str(text), "Updated.")

    def memory_clear(self) -> ApiState:
        return self._set("", "Cleared.")

    def memory_replace(self, old_text: Any, new_text: Any) -> ApiState:
        old, new, memory = str(old_text), str(new_text), self.state["memory"]
        refuse_if(old not in memory, f"the memory does not hold {old!r:.200}")
        length = len(memory) + memory.count(old) * (len(new) - len(old))
        is_long = len(new) > SUMMARY_CHARACTERS or length > MAX_SUMMARY_CHARACTERS
        refuse_if(is_long, f"the text is longer than {SUMMARY_CHARACTERS} characters")
        self.state["memory"] = memory.replace(old, new)
        return {"status": "Updated."}

    def memory_retrieve(self) -> ApiState:
        memory = self.state["memory"]
        return {"memory_content": memory} if memory else failed("the memory is empty")

    def _set(self, text: str, status: str) -> ApiState:
        most = SUMMARY_CHARACTERS
        refuse_if(len(text) > most, f"the memory would be longer than {most} characters")
        self.state["memory"] = text
        return {"status": status}


MAX_SUMMARY_CHARACTERS = 1_000_000
"""Where replacing stops: the original only limits the new text, so that repeated replacing could grow without end."""
MEMORY_CLASSES: Mapping[str, type[Memory]] = {
    "memory_kv": KeyMemory,
    "memory_vector": TextMemory,
    "memory_rec_sum": SummaryMemory,
}
"""By category."""


def _of_both(verbs: Mapping[str, ApiTool]) -> dict[str, ApiTool]:
    """Each tool for the small and for the large memory."""
    return {f"{part}_{verb}": partial(tool, part) for part in (CORE, ARCHIVE) for verb, tool in verbs.items()}


def _check_room(part: str, entries: int) -> None:
    size, _ = _LIMITS[part]
    refuse_if(entries >= size, f"the memory is full: it holds {size} entries; remove one first")


def _check_length(part: str, text: Any) -> None:
    _, most = _LIMITS[part]
    refuse_if(not isinstance(text, str), "expected a text")
    refuse_if(len(text) > most, f"the text is longer than {most} characters")


def ranked(query: str, keys: Sequence[str]) -> list[tuple[float, str]]:
    """Keys with their BM25+ scores for a query, best first; `_` parts words."""
    texts = [Counter(_words(key)) for key in keys]
    lengths = [sum(text.values()) for text in texts]
    mean = sum(lengths) / len(lengths) if keys else 1.0
    holding = Counter(word for text in texts for word in text)
    rarity = {word: math.log((len(keys) + 1) / count) for word, count in holding.items()}
    scores: list[tuple[float, str]] = []
    for key, text, length in zip(keys, texts, lengths, strict=True):
        norm = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * length / mean)
        score = 0.0
        for word in _words(query):
            count = text[word]
            score += rarity.get(word, 0.0) * (BM25_DELTA + count * (SATURATION + 1) / (norm + count))
        scores.append((score, key))
    return sorted(scores, key=lambda scored: scored[0], reverse=True)


def _words(text: str) -> list[str]:
    return text.replace("_", " ").lower().split()


def cosine(left: Mapping[str, int], right: Mapping[str, int]) -> float:
    """Cosine of the angle of two counts of words; 0 where one is empty."""
    together = sum(count * right.get(word, 0) for word, count in left.items())
    lengths = math.sqrt(sum(n * n for n in left.values()) * sum(n * n for n in right.values()))
    return together / lengths if lengths else 0.0
