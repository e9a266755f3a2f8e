"""What an agent episode consists of: messages between the user, the agent and the sandbox."""

from dataclasses import dataclass
from typing import Any, Literal

END_MARK = "finish conversation"
MAX_MESSAGES = 40
"""Messages of any sender that an episode may take after its first."""
EPISODE_MESSAGES = "max_dialog_turns"
"""Key of an imported episode's first reply: how many messages it could take, where that is more than `MAX_MESSAGES`."""

DialogueRole = Literal["user", "agent", "execution"]


@dataclass(frozen=True, slots=True)
class DialogueMessage:
    """One message of the dialogue."""

    sender: DialogueRole
    recipient: DialogueRole
    message: str | list[Any]
    """Text; of the sandbox mostly the list of results."""
