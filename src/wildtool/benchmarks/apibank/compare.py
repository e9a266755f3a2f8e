"""When the result of a call counts as the recorded one: each tool's own rule, and one rule for all of them (`fixed`)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from operator import methodcaller
from typing import Any, Literal, cast

from wildtool.benchmarks.apibank.tools import CallResult
from wildtool.benchmarks.apibank.tools.care import plain_devices
from wildtool.benchmarks.apibank.tools.services import month_and_day
from wildtool.benchmarks.apibank.tools.state import MOMENT, padded_time

Normalize = Callable[[Any], Any]
RULE_ERRORS = (LookupError, TypeError, AttributeError, ValueError)
"""What a rule may raise on inputs of other shapes; the call is then wrong."""


@dataclass(frozen=True, slots=True)
class ToolRule:
    """What a tool compares of the found and the recorded result."""

    fields: Mapping[str, Normalize] | None = None
    """Inputs that must be equal once normalised; None for the whole input."""
    words: str = ""
    """An input of which more than half of all words must be shared."""
    any_case: bool = False
    """Whether its words are compared in lower case."""
    others: bool = False
    """Whether all inputs but `words` must be equal."""
    output: Literal["equal", "absence", "presence", "titles"] = "equal"
    """`absence`: only that it is none where none is recorded; `presence`: that there is one; `titles`: in any order."""
    exception: bool = True
    deletion: bool = False
    """Two successes are equal if their field `time` is; inputs do not count otherwise."""

    def accepts(self, result: CallResult, gold: CallResult) -> bool:
        """Whether the found result counts as the recorded one. Raises `RULE_ERRORS`."""
        if self.deletion and result.output == gold.output == "success":
            return result.input["time"] == gold.input["time"]
        return (
            (self.deletion or self._inputs_agree(result.input, gold.input))
            and self._outputs_agree(result.output, gold.output)
            and (not self.exception or result.exception == gold.exception)
        )

    def _inputs_agree(self, inputs: Mapping[str, Any], gold: Mapping[str, Any]) -> bool:
        if self.words:
            spelled = methodcaller("lower") if self.any_case else _identity
            if not share_words(spelled(inputs[self.words]), spelled(gold[self.words])):
                return False
        if self.others:
            return _without(inputs, self.words) == _without(gold, self.words)
        if self.fields is None:
            return inputs == gold
        return all(normal(inputs[name]) == normal(gold[name]) for name, normal in self.fields.items())

    def _outputs_agree(self, output: Any, gold: Any) -> bool:
        match self.output:
            case "equal":
                return output == gold
            case "absence":
                return gold is not None or output is None
            case "presence":
                return output is not None
            case "titles":
                return _by_title(output) == _by_title(gold)

    def reads(self, name: str) -> bool:
        """Whether an input is compared, itself or in a success."""
        if self.deletion:
            return name == "time"
        return self.others or self.fields is None or name in self.fields or name == self.words


def share_words(answer: str, gold: str) -> bool:
    """Whether more than half of the words of both texts are in both, words being split at single blanks."""
    words, gold_words = (set(text.split(" ")) for text in (answer, gold))
    return len(words & gold_words) / len(words | gold_words) > 0.5


def _without(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    return {key: value for key, value in values.items() if key != name}


def _by_title(pages: Any) -> Any:
    return pages and sorted(pages, key=lambda page: page["title"] + page["abstract"])


def _identity(value: Any) -> Any:
    return value


def _lowered(value: Any) -> Any:
    return value.strip().lower()


def _raised(value: Any) -> Any:
    return value.strip().upper()


def _if_given(normal: Normalize) -> Normalize:
    return lambda value: None if value is None else normal(value)


def _time_as(read: Callable[[str], str]) -> Normalize:
    def normal(value: Any) -> Any:
        try:
            return read(value)
        except ValueError:
            return object()  # what is no time equals nothing, not even the same text again

    return normal


_stripped, _spaceless = methodcaller("strip"), methodcaller("replace", " ", "")
_date, _month = _time_as(padded_time), _time_as(month_and_day)
_moment = _time_as(partial(padded_time, format=MOMENT))
_STRICT = ToolRule()
_AGENDA = ToolRule({"time": _identity, "location": _identity}, words="content")
_REMINDER = ToolRule({"time": _identity}, words="content", any_case=True)
_DELETION = ToolRule({}, deletion=True)
_MEETING = ToolRule(words="meeting_topic", others=True)
_SYMPTOM = ToolRule({"symptom": _lowered})
_BY_OUTPUT = ToolRule({})
_SCENE = ToolRule({"name": _lowered, "devices": plain_devices})
TOOL_RULES: Mapping[str, ToolRule] = {
    "RegisterUser": ToolRule(output="absence"),
    "AddAgenda": _AGENDA,
    "ModifyAgenda": _AGENDA,
    "QueryAgenda": _AGENDA,
    "AddReminder": _REMINDER,
    "ModifyReminder": _REMINDER,
    "QueryReminder": _REMINDER,
    "DeleteAgenda": _DELETION,
    "DeleteReminder": _DELETION,
    "DeleteMeeting": _DELETION,  # a meeting has no field `time`, so two successes are never equal
    "AddMeeting": _MEETING,
    "ModifyMeeting": _MEETING,
    "QueryMeeting": _MEETING,
    "AddScene": ToolRule({"name": _lowered, "devices": plain_devices}, output="absence"),
    "ModifyScene": _SCENE,
    "DeleteScene": ToolRule({"name": _lowered}),
    "QueryScene": ToolRule({"name": _lowered}),
    "TimedSwitch": ToolRule({"name": _lowered, "time": _moment, "on": _identity}),
    "CancelTimedSwitch": ToolRule({"name": _lowered, "time": _moment}),
    "AppointmentRegistration": ToolRule(
        {"patient_name": _stripped, "date": _date, "doctor_name": _stripped}, output="absence"
    ),
    "CancelRegistration": ToolRule({"appointment_id": _stripped}),
    "ModifyRegistration": ToolRule(
        {
            "appointment_id": _stripped,
            "new_appointment_date": _if_given(_date),
            "new_appointment_doctor": _if_given(_stripped),
        }
    ),
    "QueryRegistration": ToolRule({"patient_name": _stripped, "date": _date}),
    "QueryBalance": ToolRule({"token": _identity}),
    "QueryHealthData": ToolRule({"user_id": _raised, "start_time": _moment, "end_time": _moment}),
    "RecordHealthData": ToolRule({"user_id": _raised, "time": _moment}),
    "QueryStock": ToolRule({"stock_code": _raised, "date": _date}),
    "QueryHistoryToday": ToolRule({"date": _month}),
    "EmergencyKnowledge": _SYMPTOM,
    "SymptomSearch": _SYMPTOM,
    "Calculator": ToolRule({"formula": _spaceless}),
    "DocumentQA": ToolRule({"url": _stripped, "question": _stripped}),
    "SendEmail": ToolRule({"receiver": _lowered, "subject": _stripped, "content": _stripped}),
    "PlayMusic": ToolRule({}, exception=False),
    "GetToday": ToolRule({}, output="presence", exception=False),
    "Wiki": _BY_OUTPUT,
    "Dictionary": _BY_OUTPUT,
    "SearchEngine": ToolRule({}, output="titles"),
    "Translate": ToolRule({"src": _identity}),
    "ToolSearcher": _BY_OUTPUT,
}
"""Each tool's own rule (section 5 of the specification); input, output and exception must be equal for all others."""


def tool_rule(tool: str) -> ToolRule:
    """The rule of a tool."""
    return TOOL_RULES.get(tool, _STRICT)


# One rule for all ------------------------------------------------------------------------------------

FREE_TEXTS = frozenset({"content", "meeting_topic"})
"""Inputs in a user's own words: more than half of the words must agree."""
SECRETS = frozenset({"token", "password", "old_password", "new_password"})
"""Inputs that must be equal to the letter."""
SEARCHES = frozenset({"Wiki", "Dictionary", "SearchEngine", "ToolSearcher"})
"""Tools whose input is a search: what they find decides."""
_BY_CHANCE = frozenset({"RegisterUser", "AppointmentRegistration"})
"""Tools that give an id drawn by chance."""


_NEW_NAMES: Mapping[str, str] = {"device_id": "name"}
"""Recorded names of parameters that have another name now."""


def renamed(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Recorded arguments under the names that the tool has now."""
    return {_NEW_NAMES.get(name, name): value for name, value in arguments.items()}


def equals_gold(tool: str, result: CallResult, gold: CallResult) -> bool:
    """`fixed`: whether the output is the gold call's, and every argument agrees with it by its kind.

    Args:
        gold: what the recorded call gives on the same tables.
    """
    if result.exception != gold.exception:
        return False
    if tool not in _BY_CHANCE and result.output != gold.output:
        return False
    if tool in SEARCHES:
        return True
    return result.input.keys() == gold.input.keys() and all(
        _agree(name, value, gold.input[name]) for name, value in result.input.items()
    )


def _agree(name: str, value: Any, gold: Any) -> bool:
    if name in SECRETS or not (isinstance(value, str) and isinstance(gold, str)):
        return _in_any_order(value) == _in_any_order(gold)
    mine, theirs = (" ".join(text.split()).casefold() for text in (value, gold))
    if name in FREE_TEXTS:
        return share_words(mine, theirs)
    return mine == theirs or any(normal(mine) == normal(theirs) for normal in (_date, _moment, _month))


def _in_any_order(value: Any) -> Any:
    """A value in which the order of lists does not count, nor case and blanks around texts in them."""
    if isinstance(value, list):
        return sorted(repr(_in_any_order(_plain(element))) for element in cast(list[Any], value))
    if isinstance(value, dict):
        pairs = cast(dict[Any, Any], value).items()
        return sorted((repr(key), repr(_in_any_order(_plain(entry)))) for key, entry in pairs)
    return value


def _plain(value: Any) -> Any:
    return value.strip().casefold() if isinstance(value, str) else value
