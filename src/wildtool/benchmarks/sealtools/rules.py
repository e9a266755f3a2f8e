"""How a record is put to a model in each mode, what its gold answers are, and its mistakes for the audit."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from wildtool.benchmark import RETRIEVAL, Benchmark, Check, Mutant, Rules
from wildtool.benchmarks.sealtools.data import SealRecord, read_pool
from wildtool.benchmarks.sealtools.judge import SCORERS, Scorer, gold_counts
from wildtool.episode import SingleReply, written_text
from wildtool.json_codec import as_objects
from wildtool.trace import SaidCall, said_calls
from wildtool.types import Episode, Item, Message, Request

RETRIEVER = "retriever"
"""The role that finds tools in the pool."""
LITERAL = "literal"
"""The style of gold answers that writes them as the data do, as a Python literal; any other one is JSON."""


class RetrievedReply:
    """An episode of two requests: the retriever is sent the request, then the model with the tools it found."""

    def __init__(self, record: SealRecord, pool: Path) -> None:
        self._record, self._pool = record, pool
        self.found: list[str] | None = None
        """Names of the tools found, best first; None before."""
        self.reply: Message | None = None

    @property
    def done(self) -> bool:
        return self.reply is not None

    def request(self) -> Request | None:
        if self.reply is not None:
            return None
        if self.found is None:
            query = {"role": "user", "content": self._record.query}
            return Request(
                [query], role=RETRIEVER, gold=lambda _style: found_tools(self._record.candidates())
            )
        pool = _cached_pool(self._pool)
        prompt = self._record.prompt_with([pool[name] for name in self.found if name in pool])
        return _request(self._record, prompt)

    def advance(self, reply: Message) -> None:
        if self.found is None:
            self.found = read_found(reply)
        elif self.reply is None:
            self.reply = reply


@lru_cache(maxsize=2)
def _cached_pool(path: Path) -> dict[str, dict[str, Any]]:
    return read_pool(path)


def found_tools(names: list[str]) -> Message:
    """A retriever's reply."""
    return {"role": "assistant", "content": json.dumps(names, ensure_ascii=False)}


def read_found(reply: Message) -> list[str]:
    """The names in a retriever's reply, each once; none if it cannot be read."""
    try:
        names = json.loads(written_text(reply) or "")
    except (ValueError, RecursionError):
        return []
    entries = cast(list[Any], names) if isinstance(names, list) else []
    return list(dict.fromkeys(name for name in entries if isinstance(name, str)))


def _request(record: SealRecord, prompt: str) -> Request:
    def gold(style: str) -> Message:
        content = record.gold_text if style == LITERAL else json.dumps(record.gold, ensure_ascii=False)
        return {"role": "assistant", "content": content}

    return Request([{"role": "user", "content": prompt}], gold=gold)


@dataclass(frozen=True, slots=True)
class SealRules(Rules):
    """One profile in one mode."""

    scorer: Scorer
    retrieves: bool = False

    def episode(self, item: Item, unit: str) -> Episode:
        record: SealRecord = item.data
        if self.retrieves:
            return RetrievedReply(record, Path(record.pool))
        return SingleReply(lambda: _request(record, record.prompt))

    def verdict(self, episode: Any, item: Item, unit: str) -> Check:
        record: SealRecord = item.data
        check = self.scorer.check(written_text(episode.reply or {}), record)
        if not self.retrieves:
            return check
        return Check(
            check.correct,
            check.error,
            check.reason,
            fields={**check.fields, **_recall(episode.found, record)},
            detail={**check.detail, "retrieved": episode.found},
            steps=1,
        )

    def unfinished(self, episode: Any, item: Item, unit: str) -> Check:
        counts = gold_counts(item.data)
        columns = {"parsed": 0, "gold_api": counts.gold_api, "gold_param": counts.gold_param}
        tools = cast(RetrievedReply, episode).found if self.retrieves else None
        return Check(
            False, fields={**columns, **(_recall(tools, item.data) if tools is not None else {})}, steps=0
        )

    def said(self, reply: Message) -> Iterable[SaidCall]:
        text = written_text(reply)
        if self.retrieves and read_found({"content": text}):
            return ()  # what was retrieved is no call
        calls = as_objects(self.scorer.read(text))
        native_calls = [
            (str(call["api"]), call.get("parameters", call.get("arguments")))
            for call in calls
            if "api" in call
        ]
        return native_calls or said_calls(reply)

    # The audit ----------------------------------------------------------------------------------------

    def mutants(self, item: Item) -> Iterator[Mutant]:
        record: SealRecord = item.data
        if not self.scorer.check(json.dumps(record.gold), record).correct:
            return
        first = [found_tools(record.candidates())] if self.retrieves else []
        for kind, text, note in _mistakes(record):
            yield Mutant("0", kind, (*first, {"role": "assistant", "content": text}), note)

    def explain_gold(self, item: Item, unit: str) -> str:
        record: SealRecord = item.data
        names = [call["api"] for call in record.gold]
        text = record.gold_text
        if len(set(names)) < len(names):
            return "Q1: gold calls one API twice, and both are compared with the first call"
        if "'" in text and '"' in text:
            return "Q4: an apostrophe in a value becomes a double quote, or another sign of Python's breaks the JSON"
        if any(word in text for word in ("True", "False", "None", '"', "\\")):
            return "Q4: every single quote becomes a double one, and True, False and None are not JSON"
        return "Q5: a bracket in a value" if any(sign in text for sign in "[]") else ""


def _recall(names: list[str], record: SealRecord) -> dict[str, int]:
    gold_names = {call["api"] for call in record.gold}
    return {
        "retrieved": len(names),
        "recalled": len(gold_names.intersection(names)),
        "recallable": len(gold_names),
    }


def _mistakes(record: SealRecord) -> Iterator[tuple[str, str, str]]:
    """Kind, text and note of the gold list with one mistake each."""

    def mutated(number: int, **parts: Any) -> str:
        calls = [dict(call) for call in record.gold]
        calls[number].update(parts)
        return json.dumps(calls, ensure_ascii=False)

    gold = [dict(call) for call in record.gold]
    last = len(gold) - 1
    name, parameters = gold[last]["api"], gold[last]["parameters"]
    names = {call["api"] for call in gold}
    other_names = [other for other in record.candidates() if other not in names]
    if other_names:
        yield "other API", mutated(last, api=other_names[0]), f"{other_names[0]} in place of {name}"
    yield "unknown API", mutated(last, api=f"{name}X"), f"{name}X in place of {name}"
    yield "repeated call", json.dumps([*gold, gold[last]], ensure_ascii=False), name
    if last:
        yield "missing call", json.dumps(gold[:-1], ensure_ascii=False), name
    yield "extra parameter", mutated(last, parameters={**parameters, "no_such": "1"}), "no_such"
    if parameters:
        key, value = next(iter(parameters.items()))
        rest = {other: text for other, text in parameters.items() if other != key}
        yield "missing parameter", mutated(last, parameters=rest), key
        yield "renamed parameter", mutated(last, parameters={**rest, f"{key}_x": value}), key
        other = [*cast(list[Any], value), "x"] if isinstance(value, list) else f"not {value}"
        yield "other value", mutated(last, parameters={**rest, key: other}), key
    yield "only words", "None of the listed tools can do this.", "no list"
    yield "cut off", json.dumps(gold, ensure_ascii=False)[:-1], "the last bracket is missing"


def rules(benchmark: Benchmark, profile: str) -> SealRules:
    """The rules of a profile in the mode of the benchmark."""
    return SealRules(SCORERS[profile], retrieves=benchmark.mode == RETRIEVAL)
