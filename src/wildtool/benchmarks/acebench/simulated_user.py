"""The user of a multi-turn episode: what it is told to be, heard and said, and who speaks for it without a model."""

from typing import TYPE_CHECKING

from wildtool.benchmarks.acebench.agent_prompt import simulator_greeting, simulator_system
from wildtool.benchmarks.acebench.data import AgentRecord
from wildtool.benchmarks.acebench.sandbox_edition import Edition
from wildtool.types import Message, Request

if TYPE_CHECKING:
    from wildtool.benchmarks.acebench.originals import Originals


class SimulatedUser:
    """One side of a dialogue; from where it stands the agent is the user."""

    def __init__(self, record: AgentRecord, edition: Edition, originals: "Originals | None" = None) -> None:
        self._originals = originals
        self._record = record
        self._edition = edition
        self._dialogue: list[Message] = []

    def request(self) -> Request:
        """What the model that plays it sees next."""
        return Request((*self._opening(), *self._dialogue), role="user", gold=self._cooperate)

    def _opening(self) -> tuple[Message, Message]:
        lang, record = self._edition.lang, self._record
        if self._originals is not None:
            return self._originals.user_messages(lang, record.involved_classes, record.question)
        rules = simulator_system(lang, record.involved_classes, record.question)
        return {"role": "system", "content": rules}, {"role": "user", "content": simulator_greeting(lang)}

    def hear(self, text: str) -> None:
        """Takes what the agent said to it."""
        self._dialogue.append({"role": "user", "content": text})

    def say(self, text: str) -> None:
        """Takes what it said itself."""
        # The original gives it the role `system`, which many chat templates allow at the start only.
        self._dialogue.append({"role": "assistant", "content": text})

    def _cooperate(self, style: str) -> Message:
        """What it says without a model."""
        from wildtool.benchmarks.acebench.cooperative_user import cooperative_text, seed_of

        heard, said = (
            [str(message["content"]) for message in self._dialogue if message["role"] == role]
            for role in ("user", "assistant")
        )
        content = cooperative_text(
            seed_of(style), self._edition.lang, self._record.question, heard=heard, said=said
        )
        return {"role": "assistant", "content": content}
