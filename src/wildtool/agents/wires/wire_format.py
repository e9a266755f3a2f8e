"""One protocol: reads requests of agents, and writes what the model said."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from wildtool.agents.agent import Wire
from wildtool.agents.wires.answers import AnswerWriter, Said
from wildtool.agents.wires.base import Asked, WireAnswer
from wildtool.episode import said_alone
from wildtool.errors import DataError
from wildtool.shapes import Reading
from wildtool.types import Message


class WireFormat(ABC):
    """One protocol. A subclass reads its requests and forms its answers."""

    wire: ClassVar[Wire]

    def read(self, body: Mapping[str, Any], path: str) -> Asked:
        """What a request asks. Raises ValueError for a body that is no request of this wire.

        Args:
            path: of the request after the address of the doors; Gemini's names the model and whether it streams.
        """
        try:
            return self.asked(body, path, Reading())
        except DataError as error:
            raise ValueError(str(error)) from error

    def write(
        self, message: Message, question: Asked, usage: Mapping[str, Any], reason: str | None
    ) -> WireAnswer:
        """The answer that says a message, whole or as a stream, as `question` wants it.

        Args:
            message: an assistant message in OpenAI's chat shape; its calls have the names by which the agent offers
                its tools, ids, and arguments as JSON text, which may be broken.
            usage: token counts (`prompt_tokens`, `completion_tokens`).
            reason: the model's finish reason, in any provider's word; None where it gave none.
        """
        return self.answer(Said(said_alone(message), usage, reason), question, AnswerWriter())

    @abstractmethod
    def asked(self, body: Mapping[str, Any], path: str, reading: Reading) -> Asked:
        """As `read`. Raises ShapeError."""

    @abstractmethod
    def answer(self, said: Said, question: Asked, writer: AnswerWriter) -> WireAnswer:
        """As `write`."""

    @abstractmethod
    def error(self, status: int, text: str) -> WireAnswer:
        """The answer that says that the model's endpoint failed."""
