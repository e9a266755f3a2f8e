"""Sends probes to an endpoint and collects the raw answers."""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from wildtool.check.answers import Answers, RawAnswer, read_raw_answer
from wildtool.check.follow_ups import follow_ups
from wildtool.check.limits import LIMITS
from wildtool.check.probe import Probe
from wildtool.check.probes import FIRST, probes
from wildtool.check.run_requests import run_probes
from wildtool.engine.call.client import once_loaded
from wildtool.errors import CallError, InfraError, UsageError
from wildtool.json_codec import dumps
from wildtool.models.providers.base import HttpModel

DROPPABLE = ("temperature", "max_tokens", "stream_options", "parallel_tool_calls")
"""Fields that some endpoints refuse, and that the check can do without."""
LOST_AFTER = 5
"""Connections that fail in a row before the check stops."""
RETRIES, LONGEST_WAIT_S = 3, 20.0
RETRIES_OF_FAULTS = 3
"""Of a request that the server or the connection failed. A fault that is not due to the request rarely comes so often."""
_LONG_BODY = 10_000
"""Bytes of a body that an endpoint may hang up on without being lost."""


class Sender:
    """One endpoint under check."""

    def __init__(
        self,
        name: str,
        model: HttpModel,
        *,
        concurrency: int,
        tell: Callable[[str], None] = lambda text: None,
    ) -> None:
        """Args:
        concurrency: requests in flight, except for the load probes.
        tell: takes what the user should know during the check.
        """
        self._tell = tell
        self.name = name
        self._model = model
        self._slots = asyncio.Semaphore(concurrency)
        self._failures = 0
        self._has_answered = False
        self.sent = 0
        """Requests so far."""
        self.dropped: list[str] = []
        """Fields that the endpoint refused, and that are not sent any more."""

    async def send(self, probe: str, fields: Mapping[str, Any]) -> RawAnswer:
        """The answer on a body; refusals and failures are answers too.

        Raises InfraError if the endpoint is lost.
        """
        retries, retries_of_faults = RETRIES, RETRIES_OF_FAULTS
        while True:
            body = self._adapted(fields)
            self.sent += 1
            try:
                raw = await once_loaded(lambda body=body: self._model.answer_to(body), self._tell)
            except CallError as error:
                if self._drops(error, body):
                    continue
                if error.kind == "http 429" and retries:
                    retries -= 1
                    await asyncio.sleep(min(error.retry_after_s or 2.0, LONGEST_WAIT_S))
                    continue
                if retries_of_faults and self._may_pass(error):
                    retries_of_faults -= 1
                    continue
                return self._failed(probe, body, error)
            self._failures, self._has_answered = 0, True
            return read_raw_answer(probe, body, raw)

    async def first(self) -> tuple[list[RawAnswer], bool]:
        """The answers to the simplest request, and whether calls have to be demanded by `tool_choice`.

        Raises InfraError if none of them is answered.
        """
        answers = await self.run(replace(FIRST, repeats=1), forced=False)
        if not all(answer.timed_out for answer in answers):
            # Of an endpoint that never answers, each of the others would take as long again.
            answers += await self.run(replace(FIRST, repeats=FIRST.repeats - 1), forced=False)
        if all(answer.failure and not answer.error_inside for answer in answers):
            raise InfraError("no answer", f"{self.name}: {answers[0].failure}")
        if any(answer.calls for answer in answers) or any(
            answer.finish == "tool_calls" for answer in answers
        ):
            return answers, False
        demanded = await self.run(FIRST, forced=True)
        if any(answer.calls for answer in demanded):
            return [*answers, *demanded], True
        return answers, False

    async def run(self, probe: Probe, *, forced: bool, free: bool = False) -> list[RawAnswer]:
        """All answers of a probe. Args: free: whether to ignore the limit of requests in flight."""
        bodies = [probe.body(form, forced=forced) for form in probe.forms for _ in range(probe.repeats)]
        if free:
            return list(await asyncio.gather(*(self.send(probe.name, body) for body in bodies)))
        answers: list[RawAnswer] = []
        for body in bodies:
            async with self._slots:
                answers.append(await self.send(probe.name, body))
        return answers

    async def close(self) -> None:
        """Releases the connections."""
        await self._model.close()

    def _adapted(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        body = {name: value for name, value in fields.items() if name not in self.dropped}
        if "max_tokens" in self.dropped and "max_tokens" in fields:
            body["max_completion_tokens"] = fields["max_tokens"]
        return body

    def _may_pass(self, error: CallError) -> bool:
        """Whether it may be no fault of the request: that of a server, or of a connection to one that answers."""
        return error.kind.startswith("http 5") or (error.kind == "network" and self._has_answered)

    def _drops(self, error: CallError, body: Mapping[str, Any]) -> bool:
        """Whether a refusal names a field that can be left out; it is, from now on."""
        if error.kind not in ("http 400", "http 422"):
            return False
        refused = [field for field in DROPPABLE if field in body and re.search(rf"\b{field}\b", str(error))]
        self.dropped += [field for field in refused if field not in self.dropped]
        return bool(refused)

    def _failed(self, probe: str, body: Mapping[str, Any], error: CallError) -> RawAnswer:
        match = re.fullmatch(r"http (\d{3})", error.kind)
        is_long = len(dumps(body)) >= _LONG_BODY
        self._failures = 0 if match else self._failures + (not is_long)
        if error.kind == "network" and self._failures >= LOST_AFTER:
            state = "no longer answers" if self._has_answered else "never answered"
            raise InfraError("network", f"{self.name}: the endpoint {state}: {error}")
        return RawAnswer(
            probe=probe,
            sent=body,
            failure=str(error),
            status=int(match[1]) if match else None,
            timed_out=error.kind == "timeout",
        )


async def ask_all(
    sender: Sender, *, quick: bool, load: int, show: Callable[[int, int], None]
) -> tuple[Answers, bool]:
    """Sends every probe. Returns the answers, and whether calls had to be demanded.

    Args:
        load: requests to send at once, each whole and streamed.
        show: called with the number of probes done and of all that are known by then.

    Raises InfraError if the endpoint does not answer, or no longer.
    """
    first, forced = await sender.first()
    every = [*probes(quick=quick, load=load), *await run_probes(quick=quick)]
    if not any(answer.calls for answer in first):
        every = [probe for probe in every if not probe.calls]
    # Rules find no answers where nothing was sent.
    answers: dict[str, Sequence[RawAnswer]] = {
        probe.name: () for probe in (FIRST, *probes(quick=False, load=load))
    }
    answers[FIRST.name] = first
    count, total = 1, 1 + len(every) + len(LIMITS)

    async def ask(probe: Probe, *, free: bool = False) -> None:
        nonlocal count
        answers[probe.name] = await sender.run(probe, forced=forced, free=free)
        count += 1
        show(count, total)

    async def ask_smaller(family: Sequence[Probe]) -> None:
        """Asks with less and less until the endpoint takes it."""
        nonlocal total
        for number, probe in enumerate(family):
            total += number > 0
            await ask(probe)
            if not answers[probe.name][0].unusable:
                return

    for group in ("serial", "plain", "long", "load"):
        members = [probe for probe in every if probe.group == group]
        if group == "serial":
            for probe in members:
                await ask(probe)
        else:
            await asyncio.gather(*(ask(probe, free=group == "load") for probe in members))
    await asyncio.gather(*(ask_smaller(family) for family in LIMITS))
    more = follow_ups(answers)
    total += len(more)
    await asyncio.gather(*map(ask, more))
    return answers, forced


def chat_model(model: object, name: str) -> HttpModel:
    """The model as one at an endpoint of chat completions. Raises UsageError for any other."""
    if isinstance(model, HttpModel) and model.path == "/chat/completions":
        return model
    raise UsageError(
        f"{name!r} is not reached by chat completions, which is what `wildtool check` checks; for other models try "
        "`wildtool list models --check NAME`"
    )
