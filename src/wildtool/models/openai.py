"""The chat-completions wire of OpenAI and of every server that speaks it: one call, bytes untouched."""

import math
from collections.abc import Mapping
from typing import Any, cast

from wildtool.errors import CallError, UsageError
from wildtool.models.endpoint import Endpoint
from wildtool.types import Reply, Request
from wildtool.wire import dumps, loads

MAX_BODY_BYTES = 64 * 1024 * 1024
RESERVED = ("model", "messages", "tools", "stream")
"""Body fields that extra settings may not replace: what the record says was asked, and streaming, which is
not read."""


class OpenAIModel:
    """A model behind `POST {base_url}/chat/completions`."""

    def __init__(
        self,
        name: str,
        base_url: str,
        api_key: str | None = None,
        *,
        temperature: float | None = None,
        max_tokens: int | None = None,
        seed: int | None = None,
        extra_body: Mapping[str, Any] | None = None,
        timeout_s: float = 600.0,
        max_body_bytes: int = MAX_BODY_BYTES,
    ) -> None:
        """Checks the settings; nothing is opened before the first call.

        Args:
            name: sent as `model`, letter for letter.
            api_key: sent as bearer token; None sends none.
            temperature, max_tokens: sent only when given.
            seed: sent only when given, plus the number of the repeat, so that repeats differ.
            extra_body: further body fields; none that is reserved or given above.
            timeout_s: for one whole call.
            max_body_bytes: longest answer that is read.

        Raises:
            UsageError: an unusable URL or key, a number that JSON has not, or `extra_body` sets what is set
                elsewhere.
        """
        self.name = name
        extra = dict(extra_body or {})
        given = {"temperature": temperature, "max_tokens": max_tokens}
        self._sampling = {field: value for field, value in given.items() if value is not None}
        self._seed = seed
        _check_extra(extra, {**self._sampling, **({} if seed is None else {"seed": seed})})
        for setting, value in (("temperature", temperature), ("timeout", timeout_s), ("extra body", extra)):
            _check_finite(setting, value)
        self._extra = extra
        self._endpoint = Endpoint(
            base_url,
            "/chat/completions",
            api_key=api_key,
            timeout_s=timeout_s,
            max_body_bytes=max_body_bytes,
        )

    def __repr__(self) -> str:
        return f"OpenAIModel({self.name!r}, {self._endpoint.shown_url!r})"

    def settings(self) -> Mapping[str, Any]:
        """Endpoint, sampling and further body fields; never a key.

        Of a query in the base URL only the names of its parameters are told, since a value may be a key.
        """
        seed = {} if self._seed is None else {"seed": self._seed}
        return {"base_url": self._endpoint.shown_url, **self._sampling, **seed, "extra_body": self._extra}

    def body(self, request: Request) -> bytes:
        """The request's bytes: model, messages, tools if any, sampling, extra fields; nothing else."""
        fields: dict[str, Any] = {"model": self.name, "messages": request.messages}
        if request.tools:
            fields["tools"] = request.tools
        fields |= self._sampling
        if self._seed is not None:
            fields["seed"] = self._seed + (request.address.repeat if request.address else 0)
        return dumps(fields | self._extra)

    async def complete(self, request: Request) -> Reply:
        """Asks once.

        Raises:
            CallError: the call failed, or its answer is not a chat completion.
        """
        try:
            body = self.body(request)
        except (ValueError, TypeError) as error:
            raise CallError("unsendable request", f"the request is no JSON: {error}", final=True) from error
        answer, latency_s = await self._endpoint.post(body)
        parsed = self._parsed(answer)
        choice = _choice(parsed)
        if choice is None:
            raise self._misshapen(parsed, answer)
        finish_reason, usage = choice.get("finish_reason"), parsed.get("usage")
        return Reply(
            message=choice["message"],
            raw=answer.decode(),
            finish_reason=finish_reason if isinstance(finish_reason, str) else None,
            usage=cast(dict[str, Any], usage) if isinstance(usage, dict) else {},
            latency_s=latency_s,
        )

    async def close(self) -> None:
        """Gives the connections back."""
        await self._endpoint.close()

    def _parsed(self, answer: bytes) -> Any:
        try:
            return loads(answer)
        except ValueError as error:
            problem = f"the answer is not JSON ({error})"
        # Raised here, since the parser's exception holds the whole text and must not be attached.
        raise self._endpoint.error("invalid JSON", problem, _text(answer))

    def _misshapen(self, parsed: Any, answer: bytes) -> CallError:
        """The error of an answer without a message; an error object with a status counts as that status."""
        problem = _error_object(parsed)
        if problem is None:
            expected = "the answer has no choices[0].message object"
            return self._endpoint.error("wrong shape", expected, _text(answer))
        quote = problem.get("message")
        quote = quote if isinstance(quote, str) else _text(answer)
        code = str(problem.get("code"))
        if code.isascii() and code.isdigit() and 400 <= int(code[:4]) < 600:
            return self._endpoint.status_error(int(code), quote)
        return self._endpoint.error("wrong shape", "an error came with HTTP 200", quote)


def _check_extra(extra: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Refuses extra fields that would replace others, so that what was sent is what the record says."""
    if reserved := [field for field in RESERVED if field in extra]:
        raise UsageError(f"the extra body may not set {', '.join(reserved)}; leave it out")
    if twice := [field for field in given if field in extra]:
        raise UsageError(
            f"{', '.join(twice)} is given both by its own option and in the extra body; give it only once"
        )


def _check_finite(setting: str, value: Any) -> None:
    """Refuses NaN and infinities, however deep, which JSON cannot say."""
    found: list[Any] = [value]
    # Grows while it is gone through, so that no depth is too deep.
    for one in found:
        if isinstance(one, dict):
            found += cast(dict[Any, Any], one).values()
        elif isinstance(one, list | tuple):
            found += cast(list[Any], one)
        elif isinstance(one, float) and not math.isfinite(one):
            raise UsageError(f"{setting} holds the number {one}; give a finite one")


def _choice(parsed: Any) -> dict[str, Any] | None:
    """The first choice, if it holds a message object."""
    match parsed:
        case {"choices": [{"message": dict()} as choice, *_]}:
            return cast(dict[str, Any], choice)
        case _:
            return None


def _error_object(parsed: Any) -> dict[str, Any] | None:
    """The error that some servers send with HTTP 200, beside or inside the choices."""
    match parsed:
        case {"error": dict()}:
            return cast(dict[str, Any], parsed["error"])
        case {"choices": [{"error": dict()}, *_]}:
            return cast(dict[str, Any], parsed["choices"][0]["error"])
        case {"error": str() as text} if text:
            return {"message": text}
        case _:
            return None


def _text(answer: bytes) -> str:
    return answer.decode("utf-8", "replace")
