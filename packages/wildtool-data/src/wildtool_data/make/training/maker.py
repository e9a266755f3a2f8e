"""What the procedures over training files share: each planned request is an item of a run, driven by a script."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Generic

from wildtool.engine.call.budget import estimate_tokens, tokens_of
from wildtool.engine.run.estimate import RoleEstimate, Usage
from wildtool.errors import DataError
from wildtool.types import Item, Message, Reply, Request, Source
from wildtool_data.make.core.maker import Outcome, ScriptedBenchmark
from wildtool_data.make.core.prompts import templates

TRAINING_PROMPTS = Path(__file__).parent / "prompts"


class TrainingMaker(ScriptedBenchmark[Outcome], Generic[Outcome]):
    """A procedure over training files; a subclass plans its items and says by a script what is asked for each."""

    unit = "replies"
    nothing: ClassVar[str] = "no record is left to ask about"
    """What is said where nothing is planned."""
    prompts = TRAINING_PROMPTS

    def __init__(self, files: Sequence[Path]) -> None:
        self.files = tuple(files)

    @abstractmethod
    def settings(self) -> Sequence[Any]:
        """Whatever else requests depend on, files and prompts aside, as JSON values."""

    @abstractmethod
    def planned(self) -> Iterator[Item]:
        """The items in order."""

    @abstractmethod
    def assumed_reply(self, item: Item, request: Request, *, most: bool) -> Message:
        """A reply for estimates: one after which least is asked, or most."""

    def source(self) -> Source:
        """See RoleBenchmark."""
        return self._source(self.files[0], self.name, [self.name, *self.settings()], self.files)

    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        item = None
        for item in self.planned():
            yield item
        if item is None:
            raise DataError(f"{', '.join(map(str, self.files))}: {self.nothing}")


def role_instruction(role: str, *blocks: str) -> str:
    """The instruction of a role with the named blocks."""
    parts = templates("en", TRAINING_PROMPTS)[role]
    return "\n\n".join(text for block in ("", *blocks) if (text := parts[block]))


TRAINING_BASIS = "this file, with replies as long as its own"


def estimate_training(maker: TrainingMaker[Any]) -> dict[str, RoleEstimate]:
    """Calls and tokens of each role: with replies after which least is asked, and after which most is."""
    lowest, most = (_usage(maker, most=most) for most in (False, True))
    return {
        role: RoleEstimate(lowest.get(role, Usage()), most.get(role, Usage()))
        for role in dict.fromkeys([*lowest, *most])
    }


def _usage(maker: TrainingMaker[Any], *, most: bool) -> dict[str, Usage]:
    totals: dict[str, Usage] = {}
    for item in maker.planned():
        _add_item(maker, item, totals, most=most)
    return totals


def _add_item(maker: TrainingMaker[Any], item: Item, totals: dict[str, Usage], *, most: bool) -> None:
    requests = Counter[str]()
    script = maker.script(item)
    try:
        request = next(script)
        while True:
            message = maker.assumed_reply(item, request, most=most)
            requests[request.role] += 1
            totals[request.role] = totals.get(request.role, Usage()).add_call(
                estimate_tokens(request), tokens_of(message), requests[request.role]
            )
            request = script.send(Reply(message))
    except StopIteration:
        return
