"""Judges that are no language model: a Python function, and an endpoint that answers with a verdict or a score."""

import hashlib
import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from wildtool.errors import UsageError
from wildtool.json_codec import as_object
from wildtool.judges.reading import read_typed
from wildtool.models.function import CallableModel
from wildtool.models.http.streams import BrokenStreamError
from wildtool.models.providers.base import HttpModel, WireRequest
from wildtool.models.resolve import own_key
from wildtool.models.settings import EndpointOptions
from wildtool.types import Message, Model, Reply, Request

JudgeFunction = Callable[..., Any]
"""Takes messages and tools in OpenAI's shape, and where the reference is shown the messages of the right turn; as
`start`, if it has a parameter of this name, the index of the first message that is judged. Gives True or False, a score,
or `{"pass": …}` or `{"score": …}`. May be a coroutine function."""
_TYPED = 'True or False, a score, {"pass": true or false} or {"score": number}'


def is_endpoint(judge: str) -> bool:
    """Whether a judge is the address of an endpoint."""
    return judge.startswith(("http://", "https://"))


def is_function_of_file(judge: str) -> bool:
    """Whether a judge is a function of a Python file, `FILE.py:FUNCTION`, or such a file alone."""
    return judge.endswith(".py") or ".py:" in judge


def is_typed(judge: str | JudgeFunction) -> bool:
    """Whether a judge is no language model."""
    return not isinstance(judge, str) or is_endpoint(judge) or is_function_of_file(judge)


def typed_judge(
    judge: str | JudgeFunction, endpoint: EndpointOptions, *, shows_reference: bool
) -> Model | None:
    """The model of a function or an endpoint; None for the name of a language model. Raises UsageError."""
    if not isinstance(judge, str):
        return function_judge(judge, shows_reference=shows_reference)
    if is_endpoint(judge):
        return endpoint_judge(judge, endpoint)
    if is_function_of_file(judge):
        function, digest = _function_of_file(judge)
        return function_judge(function, shows_reference=shows_reference, digest=digest)
    return None


def function_judge(function: JudgeFunction, *, shows_reference: bool, digest: str = "") -> Model:
    """A function as the model of an audit. Raises UsageError where it does not take what it is given.

    Args: digest: of the file that it is in; a change there makes another judge.
    """
    try:
        signature = inspect.signature(function)
        start = {"start": 0} if "start" in signature.parameters else {}
        signature.bind(*([[]] * (3 if shows_reference else 2)), **start)
    except (TypeError, ValueError) as error:
        takes = "messages, tools, reference" if shows_reference else "messages, tools"
        raise UsageError(f"judge={function!r} must be a function of ({takes}): {error}") from None
    # The digest is one of its bound values, from which the model gets its name.
    judged: Any = partial(_judged, function, digest)
    judged.__name__ = getattr(function, "__name__", type(function).__name__)
    return CallableModel(judged)


def _judged(function: JudgeFunction, digest: str, messages: list[Message], tools: list[Any]) -> Any:
    body = json.loads(messages[0]["content"])
    start = {"start": body.pop("start")}
    takes_start = "start" in inspect.signature(function).parameters
    answer = function(*body.values(), **(start if takes_start else {}))
    return _later(answer) if inspect.isawaitable(answer) else _message(answer)


async def _later(answer: Any) -> Message:
    return _message(await answer)


def _message(answer: Any) -> Message:
    message = read_typed(answer)
    if message is None:
        raise ValueError(f"a judge gives {_TYPED}, not {str(answer)[:100]!r}")
    return message


def _function_of_file(judge: str) -> tuple[JudgeFunction, str]:
    """The function that a text names, and the digest of its file. Raises UsageError."""
    place, _, name = judge.rpartition(":") if ".py:" in judge else (judge, "", "judge")
    path = Path(place)
    if not path.is_file():
        raise UsageError(f"{place}: there is no such file; name a function as FILE.py:FUNCTION")
    source = path.read_bytes()
    spec = spec_from_file_location(f"wildtool_judge_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    try:
        exec(compile(source, str(path.resolve()), "exec"), module.__dict__)
    except (Exception, SystemExit) as error:
        raise UsageError(f"{place}: running it fails: {type(error).__name__}: {error}") from error
    function = getattr(module, name, None)
    if not callable(function):
        raise UsageError(f"{place}: has no function {name!r}; name it as {place}:FUNCTION")
    return function, hashlib.sha256(source).hexdigest()


def endpoint_judge(address: str, endpoint: EndpointOptions) -> Model:
    """An endpoint as the model of an audit. Its key is sent only where one is named. Raises UsageError."""
    parts = urlsplit(address)
    above, _, last = parts.path.rstrip("/").rpartition("/")
    base_url = urlunsplit(parts._replace(path=above))
    judge = type("EndpointJudge", (EndpointJudge,), {"path": f"/{last}"})
    key = own_key(base_url, endpoint)
    # Logins and queries may hold keys, so the name has neither.
    name = f"{parts.hostname}{f':{parts.port}' if parts.port else ''}{parts.path}"
    return judge(name, base_url, key, extra_headers=endpoint.headers, timeout_s=endpoint.timeout_s)


class EndpointJudge(HttpModel):
    """POST `{messages, tools, reference?, start}`, answered by `{pass}` or `{score}`."""

    path = "/"
    reserved = ("messages", "tools", "reference", "start")
    has_seed = False
    names_end = False

    def build(self, request: Request) -> WireRequest:
        return WireRequest(json.loads(request.messages[0]["content"]))

    def parse(self, parsed: Any, request: WireRequest) -> Reply | None:
        message = read_typed(as_object(parsed))
        if message is None:
            expected = 'expected {"pass": true or false} or {"score": number}, and one of them only'
            raise self._endpoint.error(
                "wrong shape", f"the answer is no judgement: {expected}", str(parsed)[:200]
            )
        return Reply(message)

    @staticmethod
    def join_stream(parts: Iterable[Any]) -> Any:
        """Nothing: judgements are not streamed."""
        raise BrokenStreamError("the answer is a stream, and a judgement is a JSON object")

    def sampling(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Nothing: how it judges is its own affair."""
        return {}
