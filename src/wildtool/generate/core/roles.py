"""How a role is asked: again and again until its reply keeps the rules, each try a request of its own."""

from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from wildtool.generate.core import prompts
from wildtool.generate.core.parsing import RuleFault, reply_text
from wildtool.generate.core.plan import Lang, SessionPlan, date_line
from wildtool.toolcall.schema import as_schema
from wildtool.types import Message, Request, Tool

MAX_ROLE_TRIES = 3
"""Replies of a role to one request that are looked at."""

Value = TypeVar("Value")
RoleCoroutine = Generator[Request, Message, Value]
"""Yields what to ask, is sent the replies, returns what came of them."""


class AttemptFailedError(Exception):
    """This try of a task leads nowhere."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


@dataclass(slots=True)
class RoleReply:
    """One reply of a role."""

    blocks: tuple[str, ...]
    """Parts of the role's instruction, such as `vague reply`."""
    request: Request
    text: str
    """What it said."""
    spoken_text: str = ""
    """Of a user the words that stand in the session."""
    faults: Sequence[RuleFault] = ()
    """Why it was refused."""
    accepted: bool = False
    """Whether it stands in the session, or led to what stands there."""


def voter_names(role: str, count: int) -> list[str]:
    """Names of those who vote in a role; the first has the role's own."""
    return [role, *(f"{role} {number}" for number in range(2, count + 1))][:count]


class RoleSession:
    """The roles of one thing in the making, and the count of what they do."""

    def __init__(self, folder: Path, lang: Lang, shown: Mapping[str, Any], counters: Counter[str]) -> None:
        """Args:
        folder: where the roles' templates are.
        shown: what every role is shown; what stays the same for long stands first, for endpoints with prefix caches.
        """
        self.folder = folder
        self.lang: Lang = lang
        self.shown = shown
        self.counters = counters
        self.replies: list[RoleReply] = []
        """All replies of this try, in order."""

    def ask(
        self,
        role: str,
        blocks: Sequence[str],
        situation: Mapping[str, Any],
        read: Callable[[str], tuple[Value | None, list[RuleFault]]],
        check: Callable[[Value], RoleCoroutine[list[RuleFault]]] | None = None,
        voter: str = "",
    ) -> RoleCoroutine[Value]:
        """Asks a role until its reply keeps the rules.

        Args:
            blocks: the parts of its instruction.
            situation: what it is shown besides.
            read: what a reply says, and the rules it breaks.
            check: further faults, looked for where no rule is broken.
            voter: which of several in the role is asked; empty where there is one.

        Raises LostError after the last try.
        """
        messages = prompts.role_opening(role, self.lang, blocks, {**self.shown, **situation}, self.folder)
        faults: list[RuleFault] = []
        for _ in range(MAX_ROLE_TRIES):
            self.counters["requests"] += 1
            self.counters[f"{role} asked"] += 1
            sent = Request(list(messages), role=voter or role)
            text = reply_text((yield sent))
            event = RoleReply(tuple(blocks), sent, text)
            self.replies.append(event)
            value, faults = read(text)
            # A rule that is broken twice in a reply counts once, so that shares of replies come out.
            self.counters.update({f"{role} {'warned' if f.warning else 'refused'} {f.rule}" for f in faults})
            faults = [fault for fault in faults if not fault.warning]
            if not faults and value is not None and check is not None:
                # No judge is asked where a rule has failed.
                faults = yield from check(value)
            event.faults = faults
            event.accepted = not faults and value is not None
            if value is not None and not faults:
                return value
            messages += prompts.retry_messages(text, faults, self.lang)
        first = faults[0]
        raise AttemptFailedError(f"{role} {first.rule}", f"{role}: {first.rule}: {first.message}")


class SessionRoles(RoleSession):
    """The roles of one session over its tools."""

    def __init__(self, plan: SessionPlan, tools: Sequence[Tool], counters: Counter[str]) -> None:
        self.plan = plan
        self.tools = tools
        self.date = date_line(plan)
        self.schemas = {tool["function"]["name"]: as_schema(tool["function"]["parameters"]) for tool in tools}
        shown = {"tools": [tool["function"] for tool in tools], "now": self.date}
        super().__init__(prompts.SESSION_PROMPTS, plan.lang, shown, counters)

    def record_user_words(self, words: str) -> None:
        """Says which words of the user's last reply stand in the session."""
        next(event for event in reversed(self.replies) if event.request.role == "user").spoken_text = words
