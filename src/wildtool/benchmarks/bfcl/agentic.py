"""The agentic part: questions about earlier conversations, answered from a memory; the answer is looked for in the
last reply.

A scenario is one item: its conversations are run once, in order, and leave a memory with which each question begins.
They belong to the first unit, so that units are questions only.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from wildtool.benchmark import Check, Mutant, Rules
from wildtool.benchmarks.bfcl.answers import has_answer, other_numbers
from wildtool.benchmarks.bfcl.categories import Category
from wildtool.benchmarks.bfcl.decode import native_result
from wildtool.benchmarks.bfcl.multi_turn import MultiTurnRecord
from wildtool.benchmarks.bfcl.multi_turn_episode import MultiTurnEpisode
from wildtool.benchmarks.bfcl.originals import original_texts
from wildtool.benchmarks.bfcl.simulated import SimulatedApis
from wildtool.episode import written_text
from wildtool.json_codec import as_list
from wildtool.types import Episode, Item, Message, Request

NO_LAST_MESSAGE, NOT_FOUND = "agentic:no_last_message", "agentic:answer_not_found"
UNKNOWN = "I do not know"
"""What a model is to answer where it does not know."""

TurnMessages = tuple[Message, ...]
MemoryState = Mapping[str, Any]
"""What a conversation leaves to the next one."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question of an agentic entry."""

    messages: TurnMessages
    answers: tuple[str, ...]
    """Accepted answers; one of them must occur in the last reply."""


@dataclass(frozen=True, slots=True, eq=False)
class MemoryRecord:
    """One scenario with one of the three memories."""

    category: Category
    scenario: str
    conversations: tuple[tuple[TurnMessages, ...], ...]
    """What the user says in each turn of each earlier conversation, in order."""
    questions: Mapping[str, Question]
    """By unit."""
    functions: tuple[dict[str, Any], ...]
    memory: MemoryState | None = field(default=None, repr=False)
    """What the earlier conversations left; None while that is not known."""
    version: str = "v4"


MakeDialogue = Callable[[MultiTurnRecord, SimulatedApis], MultiTurnEpisode]


class MemoryEpisode:
    """One question, in the first unit after the conversations before it."""

    def __init__(self, record: MemoryRecord, unit: str, dialogue: MakeDialogue) -> None:
        """Args: dialogue: makes the episode of one conversation on a memory."""
        self.final: Message | None = None
        """The last reply, which makes no call; None before it, or where there is none."""
        self.memory: MemoryState | None = record.memory
        """What the conversations before the questions left; None before their end."""
        self._record, self._dialogue = record, dialogue
        self._question = record.questions[unit]
        is_first = unit == next(iter(record.questions))
        self._left = list(record.conversations) if is_first else []
        self._begin(None if is_first else record.memory)

    @property
    def done(self) -> bool:
        return self._asked and self._now.done

    def request(self) -> Request | None:
        request = None if self.done else self._now.request()
        if request is None or not self._asked:
            return request
        return replace(request, gold=self._gold)

    def _gold(self, style: str) -> Message:
        return answer_message(self._question.answers[0])

    def advance(self, reply: Message) -> None:
        if self.done:
            return
        self._now.advance(reply)
        if self.done:
            self.final = None if self._now.stopped else reply
        elif self._now.done:
            self._now.settle()
            self._begin(self._apis.memory()[0])

    @property
    def calls(self) -> int:
        """Calls made for the question."""
        return self._now.calls if self._asked else 0

    def _begin(self, memory: MemoryState | None) -> None:
        """Begins the next conversation, or the question. Args: memory: what the last one left; None for nothing."""
        self._asked = not self._left
        turns = (self._question.messages,) if self._asked else self._left.pop(0)
        kind = self._record.category.name.removeprefix("memory_")
        owner, texts = f"MemoryAPI_{kind}", original_texts()
        self._apis = SimulatedApis((owner,), {} if memory is None else {owner: memory})
        kept, shown = self._apis.memory()
        if self._asked and self.memory is None:
            self.memory = kept
        parts = [texts.memory(self._record.scenario, shown, unified=kind == "rec_sum")]
        parts += [texts.answer_form] if self._asked else []
        told = {"role": "system", "content": "\n\n".join(parts)}
        self._now = self._dialogue(
            conversation(self._record.category, ((told, *turns[0]), *turns[1:]), self._record.functions),
            self._apis,
        )


def conversation(
    category: Category, turns: tuple[TurnMessages, ...], functions: tuple[dict[str, Any], ...]
) -> MultiTurnRecord:
    """A conversation as a multi-turn entry in which no calls are expected."""
    return MultiTurnRecord(category, turns, (), {}, functions, ((),) * len(turns))


def answer_message(answer: str, context: str = "") -> Message:
    """A last reply with an answer. Args: context: how it was found."""
    return {"role": "assistant", "content": str({"answer": answer, "context": context or "It was said."})}


@dataclass(frozen=True, slots=True)
class AgenticRules(Rules):
    """The rules of questions whose answers are looked for in the last reply."""

    dialogue: MakeDialogue
    is_right: Callable[[Any, Sequence[str]], bool] = has_answer

    def verdict(self, episode: Any, item: Item, unit: str) -> Check:
        return check_answer(episode.final, self._question(item, unit).answers, self.is_right, episode.calls)

    def _question(self, item: Item, unit: str) -> Question:
        return item.data.questions[unit]

    def mutants(self, item: Item) -> Iterator[Mutant]:
        others = list(dict.fromkeys(one.answers[0] for one in item.data.questions.values()))
        for unit in item.units:
            answers = self._question(item, unit).answers
            before = [answer_message("Noted.")] * self.turns_before(item, unit)
            wrong = next((one for one in others if not has_answer(one, answers)), "nothing at all")
            mistakes = {
                "another answer": (wrong, ""),
                "no answer": (UNKNOWN, ""),
                "answer in the context alone": (UNKNOWN, answers[0]),
                **{kind: (number, "") for kind, number in other_numbers(answers[0])},
            }
            for kind, (text, context) in mistakes.items():
                if text not in answers:
                    yield Mutant(
                        unit, kind, (*before, answer_message(text, context)), f"{text} for {answers[0]}"
                    )

    def explain(self, item: Item, mutant: Mutant) -> str:
        return {"answer in the context alone": "A1", "other sign": "A2", "point left out": "A2"}.get(
            mutant.kind, ""
        )

    def turns_before(self, item: Item, unit: str) -> int:
        """Turns before the question of a unit."""
        return 0


@dataclass(frozen=True, slots=True)
class MemoryRules(AgenticRules):
    """The rules of questions about earlier conversations."""

    def leading(self, item: Item) -> Sequence[str]:
        return item.units[:1]

    def after(self, item: Item, episodes: Mapping[str, Any]) -> Item | None:
        memory: MemoryState | None = episodes[item.units[0]].memory
        return None if memory is None else replace(item, data=replace(item.data, memory=memory))

    def episode(self, item: Item, unit: str) -> Episode:
        return MemoryEpisode(item.data, unit, self.dialogue)

    def turns_before(self, item: Item, unit: str) -> int:
        return sum(map(len, item.data.conversations)) if unit == item.units[0] else 0


def check_answer(
    final: Message | None, answers: Sequence[str], is_right: Callable[[Any, Sequence[str]], bool], calls: int
) -> Check:
    """What the rules decide about a last reply. Pure; never raises."""
    reply = final or {}
    said = native_result(reply) if as_list(reply.get("tool_calls")) else written_text(reply)
    if not said:
        return Check(
            False, NO_LAST_MESSAGE, "there is no last reply without calls", fields={"decoded_calls": calls}
        )
    if is_right(said, answers):
        return Check(True, reason="the last reply has an accepted answer", fields={"decoded_calls": calls})
    reason = f"expected {' or '.join(answers)!r:.200}, found {said!r:.200}"
    return Check(False, NOT_FOUND, reason, fields={"decoded_calls": calls})
