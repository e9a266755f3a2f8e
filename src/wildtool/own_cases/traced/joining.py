"""Which case a traced conversation is a try of: by an attribute that has the case's id, else by what the user says."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from wildtool.episode import written_text
from wildtool.json_codec import as_object, as_objects
from wildtool.own_cases.records import Case
from wildtool.own_cases.traced.results import is_redacted
from wildtool.own_cases.traced.turns import words_of_user
from wildtool.traces import TracedConversation
from wildtool.traces.origins import CASE_ATTRIBUTES, SESSION_ATTRIBUTES, SpanTree

SaidWords = tuple[str, ...]
"""What the user says, turn by turn."""


@dataclass(frozen=True, slots=True)
class TriedPart:
    """A conversation that holds turns of a case."""

    conversation: TracedConversation
    shift: int = 0
    """The turn of the conversation that is the first one of the case; below 0 where that came before it."""

    def turn_of(self, turn: int) -> int | None:
        """The number in the conversation of a turn of the case, both from 0; None where it has none."""
        place = turn + self.shift
        return place if 0 <= place < len(words_of_user(self.conversation.messages)) else None


@dataclass(slots=True)
class CaseTry:
    """One time that a case was tried: a conversation, or several that follow each other."""

    pieces: list[TriedPart]
    by_id: bool
    """Whether an attribute names the case; else the user's words do."""


@dataclass(slots=True)
class Joined:
    """What became of the conversations."""

    tries: dict[str, list[CaseTry]] = field(default_factory=lambda: defaultdict[str, list[CaseTry]](list))
    """By id of a case, in order of time."""
    ambiguous: list[tuple[TracedConversation, str]] = field(
        default_factory=list[tuple[TracedConversation, str]]
    )
    """Conversations that fit several cases, with the reason."""
    unmatched: list[tuple[TracedConversation, str]] = field(
        default_factory=list[tuple[TracedConversation, str]]
    )
    """Conversations that fit no case, with the reason."""
    beside: list[TracedConversation] = field(default_factory=list[TracedConversation])
    """Other conversations of a trace that has one of a case, such as those of sub-agents."""
    other_words: list[str] = field(default_factory=list[str])
    """Cases that an attribute names, though the user says something else there."""


class Joiner:
    """Finds the case of each conversation."""

    def __init__(self, cases: Iterable[Case], tree: SpanTree, id_attribute: str | None = None) -> None:
        """Args: id_attribute: whose values are ids of cases; None for those that are usual."""
        self._cases = {case.id: case for case in cases}
        self._words = {id_: case_words(case) for id_, case in self._cases.items()}
        self._by_first: dict[str, list[str]] = defaultdict(list)
        for id_, words in self._words.items():
            self._by_first[words[0] if words else ""].append(id_)
        self._tree = tree
        self._id_attribute = id_attribute

    def join(self, conversations: Sequence[TracedConversation]) -> Joined:
        """Joins conversations to cases."""
        joined = Joined()
        by_name: dict[tuple[str, str], list[TracedConversation]] = defaultdict(list)
        pieces: list[tuple[str, TriedPart, bool]] = []
        for conversation in sorted(conversations, key=_began):
            case, problem = self._named_case(conversation)
            if case:
                by_name[case, _trace(conversation)].append(conversation)
            elif problem:
                joined.unmatched.append((conversation, problem))
            else:
                pieces += self._by_words(conversation, joined)
        for (case, _), group in by_name.items():
            pieces += self._by_id(case, group, joined)
        pieces = self._of_one_agent(pieces, joined)
        for case, piece, by_id in sorted(pieces, key=lambda each: _began(each[1].conversation)):
            self._add(joined.tries[case], case, piece, by_id)
        matched = {_trace(piece.conversation) for _, piece, _ in pieces} - {""}
        joined.beside += [each for each, _ in joined.unmatched if _trace(each) in matched]
        joined.unmatched = [row for row in joined.unmatched if _trace(row[0]) not in matched]
        return joined

    def _named_case(self, conversation: TracedConversation) -> tuple[str, str]:
        """The case that an attribute names, or why what it names is none; both empty where none does."""
        spans = conversation.spans
        if self._id_attribute is not None:
            values = self._tree.values(spans, self._id_attribute)
            ids = [value for value in values if value in self._words]
            if len(values) == 1 and ids:
                return ids[0], ""
            if values:
                listing = ", ".join(map(repr, values[:3]))
                problem = "which is the id of no case" if not ids else "of which one is meant"
                return "", f"{self._id_attribute} is {listing}, {problem}"
            return "", ""
        for name in (*CASE_ATTRIBUTES, *SESSION_ATTRIBUTES):
            ids = [value for value in self._tree.values(spans, name) if value in self._words]
            if len(ids) == 1:
                return ids[0], ""
        return "", ""

    def _by_id(
        self, case: str, group: Sequence[TracedConversation], joined: Joined
    ) -> list[tuple[str, TriedPart, bool]]:
        """The conversations of one trace that an attribute says to be of a case."""
        shifts = [(each, shift_of(self._words[case], words_of_user(each.messages))) for each in group]
        fitting = [(each, shift) for each, shift in shifts if shift is not None]
        if fitting:
            joined.beside += [each for each, shift in shifts if shift is None]
            return [(case, TriedPart(each, shift), True) for each, shift in fitting]
        if len(group) > 1:
            problem = f"its trace is of case {case}, but has {len(group)} conversations, and none says the case's words"
            joined.ambiguous += [(each, problem) for each in group]
            return []
        if group[0].messages:
            joined.other_words.append(case)
        return [(case, TriedPart(group[0]), True)]

    def _by_words(
        self, conversation: TracedConversation, joined: Joined
    ) -> list[tuple[str, TriedPart, bool]]:
        words = words_of_user(conversation.messages)
        alike = (
            [case for case in self._by_first[words[0]] if _begins_alike(self._words[case], words)]
            if words
            else []
        )
        cases = [case for case in alike if self._words[case] == words] or alike
        if len(cases) == 1:
            return [(cases[0], TriedPart(conversation), False)]
        if cases:
            listing = ", ".join(cases[:5]) + (", …" if len(cases) > 5 else "")
            joined.ambiguous.append((conversation, f"the user says the same in the cases {listing}"))
        else:
            joined.unmatched.append((conversation, _why_unmatched(words)))
        return []

    def _of_one_agent(
        self, pieces: Sequence[tuple[str, TriedPart, bool]], joined: Joined
    ) -> list[tuple[str, TriedPart, bool]]:
        """The pieces without those of other agents in the same trace, which another prompt shows: the agent is the one
        that is offered the case's tools."""
        groups: dict[tuple[str, str], list[tuple[str, TriedPart, bool]]] = defaultdict(list)
        for number, entry in enumerate(pieces):
            trace = _trace(entry[1].conversation)
            groups[entry[0], trace or str(number)].append(entry)
        pieces_of_agents: list[tuple[str, TriedPart, bool]] = []
        for (case, _), group in groups.items():
            if len({_prompt(piece.conversation) for _, piece, _ in group}) > 1:
                tools = {name for unit in self._cases[case].units.values() for name in unit.parameters}
                of_agent = [entry for entry in group if tools & _tool_names(entry[1].conversation)]
                helpers = [entry[1].conversation for entry in group if entry not in of_agent]
                if len({_prompt(piece.conversation) for _, piece, _ in of_agent}) != 1:
                    problem = f"several agents of its trace answer the words of case {case}"
                    joined.ambiguous += [(piece.conversation, problem) for _, piece, _ in group]
                    continue
                joined.beside += helpers
                group = of_agent
            pieces_of_agents += group
        return pieces_of_agents

    def _add(self, tries: list[CaseTry], case: str, piece: TriedPart, by_id: bool) -> None:
        """Adds a piece to the last try, if it goes on where that ended; else as a new one."""
        turns = range(len(self._words[case]))
        last = tries[-1] if tries else None
        is_later = last is not None and piece.turn_of(0) is None
        if last is not None and is_later:
            before = {turn for each in last.pieces for turn in turns if each.turn_of(turn) is not None}
            now = {turn for turn in turns if piece.turn_of(turn) is not None}
            if not before & now:
                last.pieces.append(piece)
                return
        tries.append(CaseTry([piece], by_id))


def case_words(case: Case) -> SaidWords:
    """What the user says in a case up to its last turn that is judged."""
    return max((words_of_user(unit.messages) for unit in case.units.values()), key=len)


def shift_of(case: SaidWords, words: SaidWords) -> int | None:
    """The least shift by which a conversation says what a case says, as far as both go; None where none does."""
    shifts = sorted(range(1 - len(case), len(words)), key=lambda shift: (abs(shift), shift))
    for shift in shifts:
        turns = range(max(0, -shift), min(len(case), len(words) - shift))
        if turns and all(case[turn] == words[turn + shift] for turn in turns):
            return shift
    return None


def _begins_alike(first: SaidWords, second: SaidWords) -> bool:
    """Whether one begins with all of the other."""
    shared = min(len(first), len(second))
    return bool(shared) and first[:shared] == second[:shared]


def _why_unmatched(words: SaidWords) -> str:
    if any(map(is_redacted, words)):
        return "what the user says is redacted"
    first = next((each for each in words if each), "")
    return f"no case has its words: {first[:60]!r}"


def _prompt(conversation: TracedConversation) -> str:
    system = (message for message in conversation.messages if message["role"] == "system")
    return "\n".join(written_text(message) or "" for message in system)


def _tool_names(conversation: TracedConversation) -> set[str]:
    """The tools that an agent was offered, or called."""
    offered = {str(as_object(tool.get("function")).get("name")) for tool in conversation.tools}
    calls = (call for message in conversation.messages for call in as_objects(message.get("tool_calls")))
    return offered | {str(as_object(call.get("function")).get("name")) for call in calls}


def _trace(conversation: TracedConversation) -> str:
    return conversation.spans[0].trace if conversation.spans else ""


def _began(conversation: TracedConversation) -> tuple[bool, float]:
    """For sorting by time; those without one keep their order behind the others."""
    when = conversation.when
    return (when is None, when.timestamp() if when else 0.0)
