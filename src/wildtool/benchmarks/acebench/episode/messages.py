"""What an agent episode consists of: messages between the user, the agent and the sandbox."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    pass


END_MARK = "finish conversation"


DialogueRole = Literal["user", "agent", "execution"]


@dataclass(frozen=True, slots=True)
class DialogueMessage:
    """One message of the dialogue."""

    sender: DialogueRole
    recipient: DialogueRole
    message: str | list[Any]
    """Text; of the sandbox mostly the list of results."""
