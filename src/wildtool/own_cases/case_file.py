"""Reads cases from the records of a file: their defaults, tools, turns and recorded history; and notes what is wrong."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from wildtool.data.files import read_text
from wildtool.errors import DataError
from wildtool.json_codec import as_list, as_object, canonical_json
from wildtool.own_cases.dates import read_day
from wildtool.own_cases.expecting import is_judged, read_expectation, read_name_list
from wildtool.own_cases.form import CASE_KEYS, DEFAULT_KEYS, JUDGED_KEYS, TURN_KEYS, meant_key, unknown_key
from wildtool.own_cases.history import turn_messages
from wildtool.own_cases.matching import show
from wildtool.own_cases.places import CaseDocument, CaseFault, CasePlace, CaseRecord
from wildtool.own_cases.records import Case, CaseUnit, Expectation, case_digest
from wildtool.own_cases.tool_sources import ToolReader, tools_on_offer
from wildtool.own_cases.values import Context
from wildtool.shapes import Reading
from wildtool.shapes.messages import read_messages
from wildtool.types import Message, Tool

MOST_REPEATS = 1_000
_INPUTS = ("input", "messages", "turns")
_TEXTS = ("id", "input", "answer", "system", "date", "note", "skip")
_OF_A_TURN = ("expect", "expect_any", "says", "not_says")
"""Keys that a case of several turns has in its turns alone; `never` is of the case, too."""
_NOT_ASKED = frozenset(
    ["id", "tags", "note", "meta", "must", "repeat", "at_least", "system", "tools", "offer"]
)
"""Keys of a case without which it asks and expects the same."""
_INHERITED = sorted(DEFAULT_KEYS - _NOT_ASKED)
"""Keys of the defaults that change what a case asks or expects."""
_MOST_SYSTEM_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class CaseReader:
    """Reads the cases of one file."""

    document: CaseDocument
    tools: ToolReader
    folder: Path
    """The one of the file."""

    def cases(self) -> list[Case]:
        """The cases that are not skipped; those with faults among them. Faults are noted in the document."""
        defaults = self._defaults()
        cases: list[Case] = []
        lines: dict[str, int] = {}
        for record in self.document.records:
            place = CasePlace(record, self.document.faults)
            if not as_object(record.value):
                place.fail(f"a case is an object, not {show(place.value)}")
                continue
            if not _asks_or_expects(as_object(record.value)):
                place.fail("is no case: it has neither 'input' (or 'messages', or 'turns') nor 'expect'")
                continue
            case = self._case(place, defaults)
            if case.id in lines:
                place.at("id").fail(f"the id {case.id!r} is already that of line {lines[case.id]}")
                continue
            lines[case.id] = record.line
            if "skip" not in as_object(record.value):
                cases.append(case)
        return cases

    def _defaults(self) -> CasePlace | None:
        record = self.document.defaults
        if record is None:
            return None
        place = CasePlace(record, self.document.faults)
        if not as_object(record.value):
            place.fail(f"defaults is an object, not {show(place.value)}")
            return None
        for key in as_object(record.value):
            if key not in DEFAULT_KEYS:
                of_case = f"{key!r} belongs to a case, not to defaults" if key in CASE_KEYS else ""
                place.at(key).fail(of_case or unknown_key(key, DEFAULT_KEYS))
        _check_settings(place)
        return place

    def _case(self, place: CasePlace, defaults: CasePlace | None) -> Case:
        held = as_object(place.value)
        place.check_keys(CASE_KEYS)
        _check_settings(place)
        _check_inputs(place)
        settings = _Settings(place, defaults)
        tools = self._visible_tools(settings)
        today = settings.today()
        ignore = read_name_list(settings.place("ignore"))
        shown = CaseUnit(tuple(self._system(settings, today)), tuple(tools or ()), Expectation())
        context = Context(None if tools is None else shown.parameters, today, ignore)
        read_units = _turns if "turns" in held else _single
        units = read_units(settings, shown, context)
        id_ = held["id"] if isinstance(held.get("id"), str) and held["id"] else made_id(held)
        repeat = settings.number("repeat", 1)
        if not 1 <= repeat <= MOST_REPEATS or repeat != int(repeat):
            settings.place("repeat").fail(f"is a whole number from 1 to {MOST_REPEATS:,}, not {show(repeat)}")
            repeat = 1
        return Case(
            id=id_,
            units=_repeated(units, int(repeat)),
            tags=read_name_list(settings.place("tags")),
            must=settings.value("must") is True,
            at_least=_share(settings),
            digest=case_digest(
                [
                    {key: value for key, value in held.items() if key not in _NOT_ASKED},
                    {key: settings.value(key) for key in _INHERITED},
                ],
                [shown.messages, shown.tools],
            ),
            line=place.record.line,
        )

    def _visible_tools(self, settings: "_Settings") -> list[Tool] | None:
        """The tools that the model is shown; None where they are not known yet."""
        place = settings.place("tools")
        if place.value is None:
            return None
        tools = self.tools.tools(place)
        offer = settings.place("offer")
        if tools is None or offer.value is None:
            return tools
        return tools_on_offer(offer, tools)

    def _system(self, settings: "_Settings", today: datetime | None) -> list[Message]:
        """The system message: the prompt, and the day of the case."""
        text = self.prompt(settings.place("system"))
        day = today.date().isoformat() if today else ""
        if day and day not in text:
            text = f"{text}\n\nToday is {day}.".strip()
        return [{"role": "system", "content": text}] if text else []

    def prompt(self, place: CasePlace) -> str:
        """The text of a prompt, or of the file that it names; empty where there is none."""
        text = place.value if isinstance(place.value, str) else ""
        return self._prompt_file(place, text[1:]) if text.startswith("@") else text

    def _prompt_file(self, place: CasePlace, name: str) -> str:
        path = (self.folder / name).resolve()
        if not path.is_relative_to(self.folder.resolve()):
            # What lies elsewhere may be secret, and the prompt is sent to a model.
            place.fail(f"{name} is outside of the folder of this file; copy it there")
            return ""
        self.tools.files[str(path)] = path
        try:
            return read_text(path, _MOST_SYSTEM_BYTES).strip()
        except DataError as error:
            place.fail(str(error))
            return ""


def faults_of_case(case: Any) -> list[CaseFault]:
    """What is wrong with a case that is in no file yet, so that its tools and its prompt are in it."""
    path = Path("case.jsonl")
    document = CaseDocument(path, [CaseRecord(case, path, 1)])
    CaseReader(document, ToolReader(Path(), {}), Path()).cases()
    return document.faults


@dataclass(frozen=True, slots=True)
class _Settings:
    """The keys of a case, and of the defaults where the case has them not."""

    case: CasePlace
    defaults: CasePlace | None

    def place(self, key: str) -> CasePlace:
        """The place of a key."""
        is_own = key in as_object(self.case.value)
        if is_own or self.defaults is None or key not in as_object(self.defaults.value):
            return self.case.at(key)
        return self.defaults.at(key)

    def value(self, key: str) -> Any:
        """The value of a key; None where there is none."""
        return self.place(key).value

    def number(self, key: str, otherwise: float) -> float:
        """The number of a key; another one where it has none."""
        value = self.value(key)
        if value is None:
            return otherwise
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.place(key).fail(f"takes a number, not {show(value)}")
            return otherwise
        return value

    def today(self) -> datetime | None:
        """The day of the case."""
        value = self.value("date")
        if not isinstance(value, str):
            return None
        day = read_day(value)
        if day is None:
            now = (
                "; the day itself, since a score on another day must be the same"
                if value in ("now", "today")
                else ""
            )
            self.place("date").fail(f"is a day such as 2026-03-30, not {show(value)}{now}")
        return day


def _single(settings: _Settings, shown: CaseUnit, context: Context) -> list[CaseUnit]:
    """The unit of a case of one request or history. Args: shown: the prompt and the tools."""
    place = settings.case
    held = as_object(place.value)
    if not is_judged(held) and not any(_meant(key) in JUDGED_KEYS for key in held):
        place.fail(
            "nothing is judged: give 'expect' ([] or none for no call), 'expect_any', 'says' or 'never'"
        )
    messages = _history(place)
    if not any(message.get("role") == "system" for message in messages):
        messages = [*shown.messages, *messages]
    elif "system" in held:
        place.at("system").fail("the history has a system message already; leave one of them out")
    expectation = read_expectation(place, context, settings.place)
    return [replace(shown, messages=tuple(messages), expectation=expectation)]


def _turns(settings: _Settings, shown: CaseUnit, context: Context) -> list[CaseUnit]:
    """The units of a case of several turns, one for each that is judged. Args: shown: the prompt and the tools."""
    inner = settings.case.at("turns")
    turns = as_list(inner.value)
    if not isinstance(inner.value, list):
        inner.fail(f"is a list of turns, not {show(inner.value)}")
    elif not any(is_judged(turn) for turn in turns):
        inner.fail("nothing is judged in any turn")
    for key in _OF_A_TURN:
        if key in as_object(settings.case.value):
            settings.case.at(key).fail("belongs to a turn: write it beside the turn's 'input'")
    messages = list(shown.messages)
    units: list[CaseUnit] = []
    for number, turn in enumerate(turns):
        at = inner.at(number)
        if not isinstance(turn, dict):
            at.fail("a turn is an object with input")
            continue
        _check_turn(at)
        messages.append({"role": "user", "content": str(as_object(turn).get("input", ""))})
        expectation = read_expectation(at, context, settings.place)
        unit = replace(
            shown,
            messages=tuple(messages),
            expectation=expectation,
            turn=number + 1,
            answer=str(as_object(turn).get("answer", "")),
        )
        if is_judged(turn):
            units.append(unit)
        followers = turn_messages(unit)
        if not followers and number + 1 < len(turns):
            at.warn("later turns show no answer here: give 'returns' on its calls, or 'answer'")
        messages += followers
        context = replace(context, results={**context.results, **_results(expectation)})
    return units


def _check_turn(place: CasePlace) -> None:
    place.check_keys(TURN_KEYS)
    _check_settings(place)
    if not as_object(place.value).get("input"):
        place.fail("has no 'input', a text")


def _share(settings: _Settings) -> float:
    share = settings.number("at_least", 1.0)
    if 0 <= share <= 1:
        return share
    hint = f" ({share / 100:g}?)" if 1 < share <= 100 else ""
    settings.place("at_least").fail(f"is a share from 0 to 1, not {show(share)}{hint}")
    return 1.0


def _check_settings(place: CasePlace) -> None:
    """Notes values of the wrong type."""
    held = as_object(place.value)
    for key in _TEXTS:
        if key in held and not isinstance(held[key], str):
            inner = place.at(key)
            if key == "input" and isinstance(held[key], list):
                inner.fail("a history goes under 'messages'")
            elif key == "id" and isinstance(held[key], int) and inner.source is not None:
                inner.fail(f"takes a text: write '{inner.source}' in quotes")
            elif held[key] is None:
                inner.fail("is empty")
            else:
                inner.fail(f"takes a text, not {show(held[key])}")
    if held.get("skip") == "":
        place.at("skip").fail("is empty: say why the case is left out")
    if "never" in held and held["never"] is None:
        place.at("never").fail("is empty and could never fail; leave it out")
    if "must" in held and not isinstance(held["must"], bool):
        quotes = " (true without quotes)" if isinstance(held["must"], str) else ""
        place.at("must").fail(f"takes true or false, not {show(held['must'])}{quotes}")


def _meant(key: str) -> str:
    """The key of a case that a key is, or is meant to be; empty where none is near."""
    return key if key in CASE_KEYS else meant_key(key, CASE_KEYS)


def _asks_or_expects(held: Mapping[str, Any]) -> bool:
    """Whether a record asks or expects something."""
    return any(_meant(key) in (*_INPUTS, *JUDGED_KEYS) for key in held)


def _check_inputs(place: CasePlace) -> None:
    held = as_object(place.value)
    keys = [key for key in _INPUTS if key in held]
    if not keys and not any(_meant(key) == "input" for key in held):
        place.fail("has no 'input' (or 'messages', or 'turns')")
    if len(keys) > 1:
        place.at(keys[1]).fail(f"{keys[0]!r} and {keys[1]!r} exclude each other")
    if held.get("input") == "":
        place.at("input").fail("is empty")


def _history(place: CasePlace) -> list[Message]:
    """What the model is shown of the conversation."""
    held = as_object(place.value)
    if "messages" not in held:
        return [{"role": "user", "content": str(held.get("input") or "")}]
    inner = place.at("messages")
    try:
        messages = read_messages(held["messages"], Reading())
    except DataError as error:
        inner.fail(f"cannot be read: {error}")
        return []
    if not messages and "input" not in held:
        inner.fail("holds no message")
    elif messages and messages[-1].get("role") == "assistant":
        inner.fail(
            "ends with an assistant message: leave that out (it would be the gold), or leave out 'expect'"
        )
    return messages


def _results(expectation: Expectation) -> dict[str, Any]:
    return {slot.label: slot.returns[0] for slot in expectation.slots if slot.label and slot.returns}


def _repeated(units: Sequence[CaseUnit], times: int) -> dict[str, CaseUnit]:
    """The units by name: the number of the turn, and from the second time on which time it is."""
    return {
        f"{unit.turn}" if time == 1 else f"{unit.turn} #{time}": unit
        for time in range(1, times + 1)
        for unit in units
    }


def made_id(held: Mapping[str, Any]) -> str:
    """The id of a case that has none: its first words, and four digits of what it asks."""
    texts = [held.get(key) for key in _INPUTS if key in held]
    first: Any = texts[0] if texts else held
    text = first if isinstance(first, str) else _first_text(first)
    words = re.sub(r"\W+", "-", text.casefold()).strip("-")[:32].rstrip("-")
    digest = sha256(canonical_json([first, held.get("system"), held.get("expect")])).hexdigest()[:4]
    return f"{words}-{digest}" if words else digest


def _first_text(value: Any) -> str:
    for entry in as_list(value):
        text = as_object(entry).get("input", as_object(entry).get("content"))
        if isinstance(text, str):
            return text
    return ""
