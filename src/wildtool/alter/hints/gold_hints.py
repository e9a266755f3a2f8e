"""Hints made by rule from the gold answers: the facts of earlier turns that each step needs (ToLeaP's key clues).

They never say what to do, and give no fact that the model was given since its last reply. The gold answers say which
facts count, so what such hints correct is an upper bound of what key clues can.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

from wildtool.alter.base import UNDER_TEST
from wildtool.alter.hints.added_text import TurnCounter
from wildtool.alter.hints.hint_files import CLUE, Hint
from wildtool.benchmark import Benchmark, Rules
from wildtool.episode import COOPERATIVE, GOLD_STYLE, MAX_GOLD_REPLIES, gold_replies, written_text
from wildtool.json_codec import as_object, as_objects
from wildtool.toolcall.text.mentions import mention, spelled, value_words
from wildtool.types import Episode, Item, Message

STATE = "state"
"""The kind of a hint that says where things are, such as the current folder."""
_MOST = 200
"""Characters of a sentence that is quoted."""
_SENTENCE_ENDS = re.compile(r"[.!?]\s|[。！？\n]")


def gold_hints(benchmark: Benchmark, item: Item, profile: str) -> list[Hint]:
    """The hints of an item, by unit, turn and step of the gold answers; none where a unit has no gold answer.

    A `clue` is a value of a gold call that occurs in an earlier result or user text, and not in what came since the
    model's last reply. A `state` is a fact of `Rules.facts` that changed, told where the user speaks next.
    """
    rules = benchmark.rules(profile)
    leading = {unit: rules.episode(item, unit) for unit in rules.leading(item)}
    for episode in leading.values():
        gold_replies(episode)
    after = rules.after(item, leading) if leading else item
    return [] if after is None else [hint for unit in item.units for hint in _unit_hints(rules, after, unit)]


def hint_line(hint: Hint) -> dict[str, Any]:
    """A hint as a line of the file that `run --hints` reads."""
    return {
        "item": hint.item,
        "unit": hint.unit,
        **({} if hint.turn is None else {"turn": hint.turn}),
        "step": hint.step,
        "text": hint.text,
        "kind": hint.kind,
        "by": "gold",
    }


def _gold_steps(rules: Rules, episode: Episode) -> Iterator[tuple[Sequence[Message], Message]]:
    """What the model under test is shown at each of its steps, and its gold reply, given before the episode takes it."""
    for _ in range(MAX_GOLD_REPLIES):
        request = episode.request()
        if request is None or request.gold is None:
            return
        reply = request.gold(GOLD_STYLE if request.role == UNDER_TEST else COOPERATIVE)
        if request.role == UNDER_TEST:
            yield request.messages, reply
        episode.advance(reply)


def _unit_hints(rules: Rules, item: Item, unit: str) -> list[Hint]:
    episode = rules.episode(item, unit)
    facts = dict(rules.facts(episode, item, unit))
    turns, turn = TurnCounter(), 0
    hints: list[Hint] = []
    for step, (messages, reply) in enumerate(_gold_steps(rules, episode)):
        turn, within = turns.place(messages, step)
        fresh = _fresh(messages)
        texts: dict[str, str] = {}
        if step and fresh and fresh[-1].get("role") == "user":
            now = rules.facts(episode, item, unit)
            news = {name: value for name, value in now.items() if facts.get(name) != value}
            texts |= {f"{name} is now {spelled(value)}.": STATE for name, value in news.items()}
            facts |= news
        texts |= dict.fromkeys(_clues(rules.said(reply), messages, fresh), CLUE)
        for text, kind in texts.items():
            hints.append(Hint(item.id, unit, within, " ".join(text.split()), kind, turn))
    # Where the user speaks once, turns say nothing.
    return hints if turn else [replace(hint, turn=None) for hint in hints]


def _fresh(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages since the model's last reply; all of them before its first."""
    replies = [place for place, message in enumerate(messages) if message.get("role") == "assistant"]
    return messages[replies[-1] + 1 :] if replies else messages


def _clues(
    calls: Iterable[tuple[str, Any]], messages: Sequence[Message], fresh: Sequence[Message]
) -> Iterator[str]:
    """Where the values of calls were said that no fresh message has."""
    now = "\n".join(written_text(message) or "" for message in fresh)
    for _, arguments in calls:
        for word in value_words(arguments):
            if mention(word, now) is None:
                clue = _clue(word, messages)
                if clue is not None:
                    yield clue


def _clue(word: str, messages: Sequence[Message]) -> str | None:
    """Where a value was said last, by the user or a tool; None where it was not."""
    for place in reversed(range(len(messages))):
        message = messages[place]
        text = written_text(message) or ""
        at = mention(word, text) if message.get("role") in ("user", "tool") else None
        if at is None:
            continue
        if message.get("role") == "tool":
            return f"Earlier result of {_tool_name(message, messages[:place])}: {_in_result(word, text, at)}"
        return f'Said earlier: "{_sentence(text, at)}"'
    return None


def _tool_name(result: Message, before: Sequence[Message]) -> str:
    call_id = result.get("tool_call_id")
    calls = (call for message in reversed(before) for call in as_objects(message.get("tool_calls")))
    name = next(
        (as_object(call.get("function")).get("name") for call in calls if call.get("id") == call_id), None
    )
    return str(name or result.get("name") or "a tool")


def _in_result(word: str, text: str, place: int) -> str:
    """A value in a result with the key that it has there, alone or in a longer text; else the sentence that it is in."""
    try:
        leaves = list(_named_leaves(json.loads(text)))
    except (ValueError, RecursionError):
        leaves = []
    equal = (leaf for leaf in leaves if leaf[1] == word)
    around = (leaf for leaf in leaves if len(leaf[1]) <= _MOST and mention(word, leaf[1]) is not None)
    path, leaf_text = next(equal, None) or next(around, ("", ""))
    return f"{path} is {leaf_text}." if path else f'"{_sentence(text, place)}"'


def _named_leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every text and number in a result with the keys that lead to it."""
    if isinstance(value, dict):
        for key, inner in as_object(value).items():
            yield from _named_leaves(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for number, inner in enumerate(cast(list[Any], value)):
            yield from _named_leaves(inner, f"{path}[{number}]")
    elif path and value is not None:
        yield path, spelled(value)


def _sentence(text: str, place: int) -> str:
    """The sentence around a place; of a long one the words around it, with `…` where it was cut."""
    ends = [match.end() for match in _SENTENCE_ENDS.finditer(text)]
    start = max((end for end in ends if end <= place), default=0)
    end = next((end for end in ends if end > place), len(text))
    first, last = max(start, place - _MOST // 2), min(end, place + _MOST // 2)
    words = text[first:last]
    if first > start:
        words = "… " + (words.partition(" ")[2] if " " in words[: place - first] else words)
    if last < end:
        words = (words.rpartition(" ")[0] if " " in words[-_MOST // 4 :] else words) + " …"
    return words.strip()
