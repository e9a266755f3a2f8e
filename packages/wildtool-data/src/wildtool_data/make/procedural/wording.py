"""Puts plans of calls into a user's words, and results into an assistant's, in English and Chinese."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, cast

from wildtool.toolcall.schema import as_schema
from wildtool_data.make.core.plan import Lang
from wildtool_data.make.procedural.requests import PART_MARK, spoken_name
from wildtool_data.make.procedural.tool_sets import ParameterSlot, ToolSpec
from wildtool_data.make.procedural.values import as_spoken, word_list

_FILE = Path(__file__).parent / "data" / "phrases.json"
_SEGMENT = re.compile(r"\[([^\[\]]*)\]")
_PLACE = re.compile(r"\{(\w+)\}")
_ARTICLE = re.compile(r"\b([aA]) (?=[aeio]|u(?!s|ni|rl))")
"""An article that is `an` before this sound."""
_MOST_SHOWN = 5
"""Fields of one object that an answer states."""
_OPENER_WORDS = {
    "first": "first_names", "last": "last_names", "team": "team", "adjective": "adjectives", "noun": "nouns",
}  # fmt: skip
"""The words of an opener, each with the list that it is drawn from."""
_FLAG = re.compile(r"\?(\w+):(.*)", re.DOTALL)


@cache
def phrases(lang: Lang) -> Mapping[str, Any]:
    """The phrases of a language, by purpose."""
    return json.loads(_FILE.read_text(encoding="utf-8"))[lang]


class Wording:
    """Words of one session."""

    def __init__(self, draw: Random, lang: Lang) -> None:
        self.draw = draw
        self.lang: Lang = lang
        self._phrases = phrases(lang)

    def phrase(self, name: str, **words: str) -> str:
        """One of the phrases of a purpose, filled in."""
        phrases = cast("str | list[str]", self._phrases[name])
        phrase = self.draw.choice(phrases) if isinstance(phrases, list) else phrases
        return phrase.format(**words)

    def pair(self, name: str, **words: str) -> tuple[str, str]:
        """A question and its answer."""
        question, answer = self.draw.choice(self._phrases[name])
        return question.format(**words), answer.format(**words)

    def chat(self, kind: str, noun: str, value: str) -> tuple[str, str]:
        """A question that needs no tool, and its answer, about a value."""
        table = self._phrases["chat"]
        spoken = [
            text.format(noun=noun, value=value)
            for text in self.draw.choice(table.get(kind, table["default"]))
        ]
        question, answer = (_ARTICLE.sub(r"\1n ", text) if self.lang == "en" else text for text in spoken)
        return question, answer

    def literal(self, tool: ToolSpec, slot: ParameterSlot, value: Any) -> str:
        """A value as said in a tool's clause: with its noun, unless the clause says what it is."""
        spoken = as_spoken(value, slot.kind, self.lang)
        if slot.kind == "id" or tool.clause_from_name:
            return self.phrase("named" if tool.clause_from_name else "literal", noun=slot.noun, value=spoken)
        return spoken

    def best(self, kind: str, noun: str) -> str:
        return self.draw.choice(self._phrases["best"][kind]).format(noun=noun)

    def has_best(self, kind: str) -> bool:
        return kind in self._phrases["best"]

    def nth(self, index: int) -> str:
        return self._phrases["ordinal"][index]

    def nouns(self, slots: Sequence[ParameterSlot]) -> str:
        first, joint = self._phrases["nouns"]
        return first + joint.join(slot.noun for slot in slots)

    def clause(self, tool: ToolSpec, spoken: Mapping[str, str], referred: Collection[str]) -> str:
        """A clause that asks for a call and says the given values, by key; the others are left out.

        Args:
            referred: keys of which not the value is said but a phrase that refers to it: no unit follows.
        """
        fitting = [c for c in tool.clauses if not (omitted(c) - spoken.keys())] or list(tool.clauses)
        template = self.draw.choice(fitting)

        def segment(match: re.Match[str]) -> str:
            inside = match[1]
            flag = _FLAG.fullmatch(inside)
            if flag:
                return flag[2] if flag[1] in spoken else ""
            return inside if all(key in spoken for key in _PLACE.findall(inside)) else ""

        def place(match: re.Match[str]) -> str:
            if match[1] in spoken:
                return f"\0{spoken[match[1]]}" + ("\1" if match[1] in referred else "\0")
            noun = next((slot.noun for slot in tool.slots if slot.key == match[1]), match[1])
            return self.phrase("some", noun=noun)

        text = _PLACE.sub(place, _SEGMENT.sub(segment, template))
        text = re.sub(rf"\x01 ?(?:{self._phrases['units']})|\x01", "\x00", text)
        # Chinese writes no spaces: two values side by side would become one.
        text = re.sub(r"(?<=[A-Za-z0-9])\x00+(?=[A-Za-z0-9])", " ", text).replace("\0", "")
        text = re.sub(r"\s+", " ", self._with_parts(text)).strip()
        text = re.sub(r" ([,;:])", r"\1", text).replace("on tomorrow", "tomorrow")
        text = re.sub(r"\b([a-z]+) \1\b", r"\1", text)
        return re.sub(r"^[，,；; ]+|[，,；; ]+$", "", text)

    def _with_parts(self, text: str) -> str:
        """A clause with words between its values: `with a, b and c`."""
        clause, *parts = text.split(PART_MARK)
        if not parts:
            return clause
        first, between, last = self._phrases["parts"]
        joined = between.join(parts[:-1]) + last + parts[-1] if len(parts) > 1 else parts[0]
        return clause + first + joined

    def join(self, clauses: Sequence[str], joints: Sequence[str]) -> str:
        """Clauses put together; a joint is `and` or `then`."""
        text = clauses[0]
        for joint, clause in zip(joints, clauses[1:], strict=True):
            text = self.phrase(joint, a=text, b=clause)
        return text

    def request(self, clause: str, tone: str) -> str:
        """A clause as a whole utterance."""
        wrap: str = self.draw.choice(self._phrases["wrap"][tone])
        return wrap.format(c=clause, C=clause[:1].upper() + clause[1:])

    def opener(self) -> str:
        """A sentence that says who it is for or what it is about; hardly ever the same twice."""
        drawn = {word: self.draw.choice(word_list(name, self.lang)) for word, name in _OPENER_WORDS.items()}
        return self.phrase("opener", **drawn)

    def after(self, opener: str, text: str) -> str:
        return f"{opener} {text}" if self.lang == "en" else opener + text

    def summary(self, results: Sequence[tuple[ToolSpec, Any]]) -> str:
        """What an assistant says after its calls; ids are kept, since later tasks refer to them."""
        facts = [self._facts(tool, result) for tool, result in results]
        return self.phrase("answer", facts=(" " if self.lang == "en" else "").join(facts))

    def _facts(self, tool: ToolSpec, result: Any) -> str:
        key = tool.return_semantics.key
        if tool.returns:
            return self._documented(tool, result)
        if tool.return_semantics.is_list:
            rows = cast(list[dict[str, Any]], next(iter(result.values())))
            entries = [self._phrases["entry"].format(id=row[key], fields=_fields(row, key)) for row in rows]
            return self._phrases["found"].format(count=len(rows), entries="; ".join(entries))
        name = "made" if key and key in result else "facts"
        return self._phrases[name].format(
            noun=tool.return_semantics.noun, id=result.get(key, ""), fields=_fields(result, key)
        )

    def _documented(self, tool: ToolSpec, result: Any) -> str:
        """The facts of a result that follows a schema: those of each entity, or else the first ones."""
        gives = tool.return_semantics
        part: Any = result
        for step in gives.place or ():
            part = as_schema(part).get(step, {})
        if not gives.key:
            lists: list[Any] = [child for child in as_schema(part).values() if isinstance(child, list)]
            part = lists[0] if len(lists) == 1 else part
        if isinstance(part, list):
            rows = cast(list[Any], part)
            entries = "; ".join(self._entry(row, gives.name) for row in rows)
            return self._phrases["found"].format(count=len(rows), entries=entries)
        fields, name = self._plain_fields(part, gives.name), as_schema(part).get(gives.name)
        if name is None or not gives.key:
            return self._phrases["facts"].format(fields=fields)
        return self._phrases["made"].format(noun=gives.noun, id=name, fields=fields)

    def _entry(self, row: Any, id_name: str) -> str:
        fields, name = self._plain_fields(row, id_name), as_schema(row).get(id_name)
        return fields if name is None else self._phrases["entry"].format(id=name, fields=fields)

    def _plain_fields(self, part: Any, without: str) -> str:
        if not isinstance(part, dict):
            return as_spoken(part, "", self.lang)
        row = cast(dict[str, Any], part)
        fields = [
            f"{spoken_name(name)} {as_spoken(value, '', self.lang)}"
            for name, value in row.items()
            if name != without and isinstance(value, str | int | float)
        ]
        if not fields:
            below: list[Any] = [child for child in row.values() if isinstance(child, dict) and child]
            return self._plain_fields(below[0], without) if below else "ok"
        return ", ".join(fields[:_MOST_SHOWN])


def omitted(clause: str) -> set[str]:
    """Keys that a clause cannot leave out."""
    return set(_PLACE.findall(_SEGMENT.sub("", clause)))


def can_omit(tool: ToolSpec, key: str) -> bool:
    """True if some clause of the tool can be said without the value."""
    return any(key not in omitted(clause) for clause in tool.clauses)


def _fields(row: Mapping[str, Any], without: str) -> str:
    fields = [
        f"{spoken_name(name)} {value}"
        for name, value in row.items()
        if name != without and not isinstance(value, dict | list)
    ]
    return ", ".join(fields) or "ok"
