"""The records of the contract as they are made with their least values, and what the base classes give by default."""

from collections.abc import Iterator
from typing import Any

from wildtool.benchmark import (
    Benchmark,
    Check,
    Mutant,
    Rules,
    StepCheck,
)
from wildtool.types import (
    Episode,
    Item,
    Message,
    Request,
    Source,
)


class Echoing:
    """An episode of some replies; what it got decides."""

    def __init__(self, unit: str, length: int, gold: str | None = "right") -> None:
        self.unit, self.length, self.gold = unit, length, gold
        self.replies: list[Message] = []

    @property
    def done(self) -> bool:
        return len(self.replies) >= self.length

    def request(self) -> Request | None:
        if self.done:
            return None
        answer: Message = {"content": self.gold}
        messages = [{"role": "user", "content": f"{self.unit}{len(self.replies)}"}]
        return Request(messages, [{"tool": self.unit}], gold=(lambda style: answer) if self.gold else None)

    def advance(self, reply: Message) -> None:
        self.replies.append(reply)


class EchoRules(Rules):
    """A unit is as long as its name; `first` leads where the item has it."""

    def episode(self, item: Item, unit: str) -> Episode:
        return Echoing(f"{item.data}{unit}", len(unit), None if "x" in unit else "right")

    def verdict(self, episode: Echoing, item: Item, unit: str) -> Check:
        right = [reply.get("content") for reply in episode.replies] == ["right"] * episode.length
        detail = {"item": item.data, "unit": unit}
        return Check(right, None if right else "other", "compared", fields={"length": 9}, detail=detail)


class Echo(Benchmark):
    name = "echo"
    title = "echo"
    rules_class: type[Rules] = EchoRules

    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        yield from ()

    def rules(self, profile: str) -> Rules:
        return self.rules_class()

    def fields(self, item: Item, unit: str) -> dict[str, Any]:
        return {"length": 0, "unit": unit}


ITEM = Item("i", ("a", "b", "cc"), "")


def test_rules_give_by_default_what_needs_no_thought():
    rules, episode = EchoRules(), Echoing("a", 1)
    assert rules.leading(ITEM) == ()
    assert rules.after(ITEM, {}) is ITEM
    assert rules.unfinished(episode, ITEM, "a") == Check(False)
    assert rules.step(episode, ITEM, "a") == StepCheck()
    assert rules.explain(ITEM, Mutant("a", "k", (), "n")) == ""
    assert rules.explain_gold(ITEM, "a") == ""
    assert rules.facts(episode, ITEM, "a") == {}
    assert [*rules.said({"content": "a"})] == [("message", "a")]
    recorded = rules.recorded_episode(ITEM, "cc", None)
    assert isinstance(recorded, Echoing) and (recorded.unit, recorded.length) == ("cc", 2)
    assert Echo().summarize.__func__ is Benchmark.summarize
    assert Benchmark.fields(Echo(), ITEM, "a") == {}
