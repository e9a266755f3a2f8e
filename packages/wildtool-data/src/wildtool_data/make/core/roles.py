"""Requests to roles, repeated until a reply keeps the rules (each try is its own request), and scripts that yield them.

Nothing but the replies decides what a script returns.
"""

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from wildtool.findings import Finding
from wildtool.toolcall.schema import as_schema
from wildtool.types import Ask, Reply, Request, Tool, Transcript
from wildtool_data.make.core import prompts
from wildtool_data.make.core.parsing import RefusedReplyError, reply_text
from wildtool_data.make.core.plan import Lang, SessionPlan, date_line

MAX_ROLE_TRIES = 3
"""Replies to one request before the attempt fails."""

Value = TypeVar("Value")
RoleCoroutine = Generator[Request, Reply, Value]
"""Yields requests, is sent the replies, returns the result."""


class AttemptFailedError(Exception):
    """An attempt that cannot succeed any more; the message is the detail."""

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
    """Its text."""
    spoken_text: str = ""
    """Of a user: the words that the session uses."""
    faults: Sequence[Finding] = ()
    """Why it was refused."""
    accepted: bool = False
    """Whether the session uses it, or something that it led to."""

    @property
    def role(self) -> str:
        """The role, of several models in one too."""
        return self.request.role.split()[0]


def voter_names(role: str, count: int) -> list[str]:
    """Names of the models in a role, such as those who vote; the first has the role's own."""
    return [role if number == 1 else f"{role} {number}" for number in range(1, count + 1)]


class RoleSession:
    """The roles of one attempt, with their replies and event counts."""

    def __init__(
        self,
        folder: Path,
        lang: Lang,
        visible: Mapping[str, Any],
        counters: Counter[str],
        own_texts: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        """Args:
        folder: of the roles' templates.
        visible: what every role is shown; what rarely changes comes first, for endpoints with prefix caches.
        own_texts: of the user's own, by role and block.
        """
        self.own_texts = own_texts or {}
        self.folder = folder
        self.lang: Lang = lang
        self.shown = visible
        self.counters = counters
        self.replies: list[RoleReply] = []
        """All replies of this try, in order."""

    def ask(
        self,
        role: str,
        blocks: Sequence[str],
        situation: Mapping[str, Any],
        read: Callable[[str], tuple[Value, Iterable[Finding]]],
        check: Callable[[Value], RoleCoroutine[list[Finding]]] | None = None,
        voter: str = "",
    ) -> RoleCoroutine[Value]:
        """The first reply of a role that keeps the rules.

        Args:
            blocks: the parts of its instruction.
            situation: what it is shown besides `shown`.
            read: parses a reply; gives its value and the rules it breaks, or raises RefusedReplyError.
            check: finds further faults if no rule is broken.
            voter: which of several models in the role is asked; empty if there is one.

        Raises AttemptFailedError after the last try.
        """
        shown, own = {**self.shown, **situation}, self.own_texts.get(role)
        messages = prompts.role_opening(role, self.lang, blocks, shown, self.folder, own)
        faults: list[Finding] = []
        for _ in range(MAX_ROLE_TRIES):
            self.counters["requests"] += 1
            self.counters[f"{role} asked"] += 1
            sent = Request(list(messages), role=voter or role)
            text = reply_text((yield sent).message)
            event = RoleReply(tuple(blocks), sent, text)
            self.replies.append(event)
            value = None
            try:
                value, broken = read(text)
                faults = list(broken)
            except RefusedReplyError as refused:
                faults = refused.faults
            # A rule that a reply breaks twice counts once, so that counts are shares of replies.
            self.counters.update(
                {f"{role} {'warned' if f.level == 'warning' else 'refused'} {f.rule}" for f in faults}
            )
            faults = [finding for finding in faults if finding.level == "error"]
            if not faults and check is not None:
                # A reply that breaks a rule is not checked further.
                faults = yield from check(cast(Value, value))
            event.faults = faults
            event.accepted = not faults
            if not faults:
                return cast(Value, value)
            messages += prompts.retry_messages(text, faults, self.lang)
        first = faults[0]
        raise AttemptFailedError(f"{role} {first.rule}", f"{role}: {first.rule}: {first.message}")


class SessionRoles(RoleSession):
    """The roles of one try of a session over its tools."""

    def __init__(
        self,
        plan: SessionPlan,
        tools: Sequence[Tool],
        counters: Counter[str],
        date: str = "",
        own_texts: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        """Args:
        date: the date line of a session that has one; empty for that of the plan.
        own_texts: of the user's own, by role and block.
        """
        self.plan = plan
        self.tools = tools
        self.date = date or date_line(plan)
        functions = [tool["function"] for tool in tools]
        self.schemas = {function["name"]: as_schema(function.get("parameters")) for function in functions}
        visible = {"tools": [tool["function"] for tool in tools], "now": self.date}
        super().__init__(prompts.SESSION_PROMPTS, plan.lang, visible, counters, own_texts)

    def record_user_words(self, words: str) -> None:
        """Notes which words of the user's last reply the session uses."""
        next(event for event in reversed(self.replies) if event.role == "user").spoken_text = words


@dataclass(frozen=True, slots=True)
class ScriptResult(Generic[Value]):
    """The result of a script."""

    value: Value | None
    """None if no try kept the rules."""
    reason: str = ""
    """Short and stable: role and rule by which the last try failed."""
    detail: str = ""
    """What was wrong, for each try."""
    attempt: int = 0
    """The try that succeeded, from 0."""
    counters: Mapping[str, int] = field(default_factory=dict[str, int])
    """How often each event happened, such as `planner asked` or `planner refused P7`."""

    @property
    def lost(self) -> tuple[str, str] | None:
        """Reason and detail if there is no value."""
        return (self.reason, self.detail) if self.value is None else None


def run_tries(
    tries: int, attempt: Callable[[int, Counter[str]], RoleCoroutine[Value]]
) -> RoleCoroutine[ScriptResult[Value]]:
    """The result of the first try that keeps the rules.

    Args:
        attempt: one try, from its number and the counters of all of them; raises AttemptFailedError.
    """
    counters: Counter[str] = Counter()
    problems: dict[str, None] = {}
    reason = ""
    for number in range(tries):
        try:
            value = yield from attempt(number, counters)
            return ScriptResult(value, attempt=number, counters=dict(counters))
        except AttemptFailedError as error:
            reason = error.reason
            problems[str(error)] = None
    return ScriptResult(None, reason, " | ".join(problems), counters=dict(counters))


async def run_script(script: RoleCoroutine[Value], unit: str, ask: Ask) -> Value:
    """Runs a script to its end: its requests go to the models of their roles."""
    try:
        request = next(script)
        while True:
            request = script.send(await ask(unit, request))
    except StopIteration as stop:
        return cast(Value, stop.value)


def replay_script(script: RoleCoroutine[Value], transcript: Transcript) -> Value | None:
    """What a script returns by its recorded replies alone; None if they end before it does."""
    try:
        next(script)
        for reply in transcript.replies:
            script.send(reply)
    except StopIteration as stop:
        return cast(Value, stop.value)
    return None
