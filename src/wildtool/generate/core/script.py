"""Scripts: coroutines that yield requests to roles and are sent the replies. Nothing else decides what they return."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, cast

from wildtool.generate.core.roles import AttemptFailedError, RoleCoroutine, Value
from wildtool.types import Ask, Transcript


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
        except AttemptFailedError as lost:
            reason = lost.reason
            problems[str(lost)] = None
    return ScriptResult(None, reason, " | ".join(problems), counters=dict(counters))


async def run_script(script: RoleCoroutine[Value], unit: str, ask: Ask) -> Value:
    """Runs a script to its end: its requests go to the models of their roles."""
    try:
        request = next(script)
        while True:
            reply = await ask(unit, request)
            request = script.send(reply.message)
    except StopIteration as stop:
        return cast(Value, stop.value)


def replay_script(script: RoleCoroutine[Value], transcript: Transcript) -> Value | None:
    """What a script returns by its recorded replies alone; None if they end before it does."""
    try:
        next(script)
        for reply in transcript.replies:
            script.send(reply.message)
    except StopIteration as stop:
        return cast(Value, stop.value)
    return None
