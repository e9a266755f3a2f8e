"""The one form of a training record in memory: what every reader gives and every writer takes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from json import JSONEncoder
from typing import Any, Literal, cast

from wildtool.types import REASONING_KEYS, Tool

RecordKind = Literal["sft", "preference", "tools"]
"""What a record teaches: a conversation, which of two replies is better, or nothing (a list of tools alone)."""
NO_KEYS: Mapping[str, Any] = {}
"""What a message or a row has beyond its own keys: nothing."""


def _no_keys() -> Mapping[str, Any]:
    return NO_KEYS


# JSON text as training files have it: `, ` and `: ` between values, other letters than Latin as they are.
spaced_json = JSONEncoder(ensure_ascii=False, check_circular=False).encode


def observed_text(value: Any) -> str:
    """The text of a result; anything else as JSON text."""
    return value if isinstance(value, str) else spaced_json(value)


@dataclass(frozen=True, slots=True)
class TrainingCall:
    """One call of a tool."""

    name: str
    arguments: Any
    """An object; in a user's own file possibly something else, as it was found."""
    id: str
    """As found, or `call_1`, `call_2`, … through the record."""
    spelling: str | None = None
    """The JSON text of the arguments as found; None where they were no text."""

    @property
    def arguments_text(self) -> str:
        """The arguments as JSON text, byte for byte as found where they were a text."""
        return observed_text(self.arguments) if self.spelling is None else self.spelling


@dataclass(frozen=True, slots=True)
class UserTurn:
    """What the user says."""

    text: str
    extras: Mapping[str, Any] = field(default_factory=_no_keys)
    """Further keys of the message, as in OpenAI's shape."""


@dataclass(frozen=True, slots=True)
class AssistantTurn:
    """What the model learns to say: text, calls, or both."""

    text: str | None
    """None beside calls if there is no text."""
    calls: tuple[TrainingCall, ...] = ()
    """Calls made at once."""
    learned: bool = True
    """False for a turn with weight 0, which is only context."""
    extras: Mapping[str, Any] = field(default_factory=_no_keys)

    @property
    def reasoning(self) -> str:
        """What the model thought first, where the layout has a key of its own for it; else empty."""
        return "\n".join(text for key in REASONING_KEYS if isinstance(text := self.extras.get(key), str))

    def __post_init__(self) -> None:
        # Layouts write no text beside calls as null or as an empty text.
        if self.calls and self.text == "":
            object.__setattr__(self, "text", None)


def says_the_same(first: AssistantTurn, other: AssistantTurn) -> bool:
    """Whether two replies are equal: the same calls in the same order, or the same text up to blanks around it."""
    if first.calls or other.calls:
        return [(call.name, call.arguments) for call in first.calls] == [
            (call.name, call.arguments) for call in other.calls
        ]
    return (first.text or "").strip() == (other.text or "").strip()


@dataclass(frozen=True, slots=True)
class ObservedResult:
    """What one call gave."""

    text: str
    extras: Mapping[str, Any] = field(default_factory=_no_keys)


@dataclass(frozen=True, slots=True)
class ResultTurn:
    """The results of the calls directly before, one for each, in their order."""

    results: tuple[ObservedResult, ...]


TrainingTurn = UserTurn | AssistantTurn | ResultTurn


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRecord:
    """One conversation with its tools.

    Of an SFT record the first turn is the user's and the last the assistant's; user turns and results alternate with
    assistant turns. Of a preference record `turns` is the prompt, which ends with a user turn or results.
    """

    kind: RecordKind = "sft"
    turns: tuple[TrainingTurn, ...]
    tools: tuple[Tool, ...] = ()
    """In OpenAI's shape: objects with `type` and `function`, which has `name`, `description` and `parameters`."""
    system: str | None = None
    """The system text; None for none."""
    system_extras: Mapping[str, Any] = field(default_factory=_no_keys)
    chosen: AssistantTurn | None = None
    """The better reply of a preference record."""
    rejected: AssistantTurn | None = None
    """The worse one."""
    id: str = ""
    """The record's `id`, if it has one."""
    source: str = ""
    """The file it was read from."""
    row: int = 0
    """Its row in the file, from 1."""
    repairs: tuple[str, ...] = ()
    """What the reader repaired: sorted names, each once."""
    unknown_types: tuple[str, ...] = ()
    """Words for types of parameters that no rule knows."""
    columns: Mapping[str, Any] = field(default_factory=_no_keys)
    """What the row has beyond the conversation."""
    given_tools: tuple[Any, ...] | None = None
    """The tools as found, where the written form has less than they had."""
    renamed: Mapping[str, str] = field(default_factory=_no_keys)
    """New names of tools with their old ones, after `--safe-names`."""
    notes: tuple[str, ...] = ()
    """What a user should know about how it was read."""
    lost: tuple[str, ...] = ()
    """What was left out when it was read, by name, since OpenAI's shape has no place for it."""

    @property
    def told_turns(self) -> tuple[TrainingTurn, ...]:
        """The turns, with the better reply of a pair as the last."""
        return self.turns if self.chosen is None else (*self.turns, self.chosen)

    @property
    def pair(self) -> dict[str, AssistantTurn]:
        """The replies `chosen` and `rejected` of a preference record; none of another."""
        sides = {"chosen": self.chosen, "rejected": self.rejected}
        return {name: reply for name, reply in sides.items() if reply is not None}

    @property
    def replies(self) -> Iterator[AssistantTurn]:
        """Every assistant turn in order, those of a preference pair last."""
        yield from (turn for turn in self.turns if isinstance(turn, AssistantTurn))
        yield from self.pair.values()

    @property
    def user_texts(self) -> list[str]:
        """What the user says, turn by turn."""
        return [turn.text for turn in self.turns if isinstance(turn, UserTurn)]

    @property
    def calls(self) -> list[TrainingCall]:
        """Every call in order, those of a preference pair last."""
        return [call for turn in self.replies for call in turn.calls]

    @property
    def functions(self) -> list[dict[str, Any]]:
        """The bare functions of the tools: `{"name", "description", "parameters"}`."""
        return [cast(dict[str, Any], tool["function"]) for tool in self.tools]

    @property
    def tool_names(self) -> list[str]:
        """The names of the tools in order."""
        return [function["name"] for function in self.functions]


def place_record(record: TrainingRecord, source: str, row: int, columns: Mapping[str, Any]) -> TrainingRecord:
    """A record that was just read, with its place and the row's other columns filled in.

    It has one owner yet, and copying all fields for each row takes a sixth of the time of a conversion.
    """
    object.__setattr__(record, "source", source)
    object.__setattr__(record, "row", row)
    if columns:
        object.__setattr__(record, "columns", {**record.columns, **columns})
        if (name := columns.get("id")) is not None:
            object.__setattr__(record, "id", str(name))
    return record


def up_to_replies(record: TrainingRecord) -> Iterator[TrainingRecord]:
    """A conversation up to each reply that is learned, which is the last of its row; anything else as it is.

    The replies before it lose their weight 0: no trainer learns them, since it learns the last one alone.
    """
    ends = [
        place
        for place, turn in enumerate(record.turns, 1)
        if isinstance(turn, AssistantTurn) and turn.learned
    ]
    if record.kind != "sft" or not ends:
        yield record
        return
    turns = [
        replace(turn, learned=True) if isinstance(turn, AssistantTurn) else turn for turn in record.turns
    ]
    for end in ends:
        yield replace(record, turns=tuple(turns[:end]))


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedRow:
    """A row that no record could be made of."""

    source: str
    row: int
    """Its row in the file, from 1."""
    reason: str
    """One of `training.conversation.REJECT_REASONS`."""
    detail: str
    """What was found, in words."""
    raw: Any = None
    """The row itself; None where not even that could be read."""


TOO_DEEP = "nested too deep, or a number too long"
"""Why a row cannot be read or written whose JSON has no other fault."""


class RowError(ValueError):
    """A row cannot become a training record."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail

    def rejected(self, source: str, row: int, raw: Any) -> RejectedRow:
        """The row that is left out for it."""
        return RejectedRow(source=source, row=row, reason=self.reason, detail=self.detail, raw=raw)
