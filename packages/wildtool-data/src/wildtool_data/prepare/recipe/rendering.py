"""Renders chats by a chat template as transformers does, in a process of its own: a template is somebody else's program.

The environment is the one that transformers documents for chat templates: Jinja's immutable sandbox, blocks that leave no
line of their own, `break` and `continue`, `{% generation %}` around what the assistant says, `raise_exception`,
`strftime_now`, and `tojson` without HTML escapes. `test_trl_templates.py` compares the two.
"""

import json
import os
import resource
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from subprocess import PIPE, TimeoutExpired
from typing import Any, NoReturn

from jinja2 import Template, TemplateError
from jinja2.exceptions import SecurityError
from jinja2.ext import Extension
from jinja2.nodes import CallBlock, Node
from jinja2.parser import Parser
from jinja2.runtime import Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace

from wildtool.children import Child, python_words
from wildtool.errors import DataError
from wildtool.sanitize import single_line

_PROCESSOR_SECONDS = 10
"""Of a request, which has a few chats."""
_MEMORY_BYTES = 1 << 30
_MOST_CHARACTERS = 20_000_000
"""Longest text of a chat."""
_OUT_OF_MEMORY = 3
"""Exit status of a process that ends at the limit of memory outside the template."""
_WAIT_SECONDS = 300.0
"""Until an answer, also where many processes share a core."""
_VARIABLES = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ")
"""What of the environment the process gets: no keys."""
_REASONING = ("reasoning_content", "thinking", "reasoning")
"""Keys of a message for what the model thought. Templates read the first, those of gpt-oss the second."""


@dataclass(frozen=True, slots=True)
class RenderedChat:
    """A chat as a template writes it, or why it does not."""

    text: str = ""
    marked: int = 0
    """Characters in `{% generation %}` blocks: what TRL learns where it learns replies alone."""
    refusal: str = ""
    """The error of the template; empty if it took the chat."""


def render_apart(
    template: str, chats: Sequence[Mapping[str, Any]], *, seconds: int = _PROCESSOR_SECONDS
) -> list[RenderedChat]:
    """Chats by a template, as `render_chats` gives them, in a process with little time and memory.

    Args:
        seconds: processor time for all chats together.

    Raises DataError where the process ends for another reason than a limit.
    """
    request = json.dumps({"seconds": seconds, "template": template, "chats": chats}).encode()
    words = python_words("-m", __name__)
    environment = {name: os.environ[name] for name in _VARIABLES if name in os.environ}
    with Child(words, grace_s=0.0, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment) as process:
        try:
            answer, log = process.communicate(request, _WAIT_SECONDS)
        except TimeoutExpired:
            return _beyond_limits(chats, seconds)
    # A status below 0 is a signal: that of the limit of time, or of a system that lacks memory.
    if process.returncode < 0 or process.returncode == _OUT_OF_MEMORY:
        return _beyond_limits(chats, seconds)
    if process.returncode:
        reason = log.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise DataError(
            f"the process that renders chat templates ended with exit status {process.returncode}: {single_line(reason)}"
        )
    return [RenderedChat(**chat) for chat in json.loads(answer)]


def _beyond_limits(chats: Sequence[Mapping[str, Any]], seconds: int) -> list[RenderedChat]:
    limits = f"{seconds} s of processor time or {_MEMORY_BYTES >> 30} GiB of memory"
    return [RenderedChat(refusal=f"it takes more than {limits}") for _ in chats]


def render_chats(template: str, chats: Sequence[Mapping[str, Any]]) -> list[RenderedChat]:
    """Chats by a template.

    Args:
        chats: what the template can see of each: `messages`, `tools`, `add_generation_prompt`, special tokens by name.
    """
    environment = template_environment()
    try:
        program = environment.from_string(template)
    except Exception as error:  # noqa: BLE001 - a template may be anything
        return [RenderedChat(refusal=_reason(error)) for _ in chats]
    return [_rendered(program, chat) for chat in chats]


def _rendered(program: Template, chat: Mapping[str, Any]) -> RenderedChat:
    environment: Any = program.environment
    replies: list[str] = environment.replies
    replies.clear()
    parts: list[str] = []
    length = 0
    try:
        for part in program.generate({**chat, "messages": list(map(_message, chat["messages"]))}):
            length += len(part)
            if length > _MOST_CHARACTERS:
                raise TemplateError(f"its text is longer than {_MOST_CHARACTERS:,} characters")
            parts.append(part)
    except Exception as error:  # noqa: BLE001 - a template may raise anything
        return RenderedChat(refusal=_reason(error))
    return RenderedChat("".join(parts), sum(map(len, replies)))


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__


def template_environment() -> ImmutableSandboxedEnvironment:
    """Jinja as transformers sets it up for chat templates."""
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[GenerationBlock, "jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = _json_text  # pyright: ignore[reportUnknownMemberType]
    own = {
        "raise_exception": _refuse,
        "strftime_now": _now,
        "dict": _NewDict(),
        "namespace": _NamedValues,
    }
    environment.globals.update(own)  # pyright: ignore[reportUnknownMemberType]
    return environment


class GenerationBlock(Extension):
    """`{% generation %}…{% endgeneration %}`: the text inside, which the environment's `replies` keep as well."""

    def __init__(self, environment: Any) -> None:
        super().__init__(environment)
        self.tags = {"generation"}
        environment.extend(replies=[])

    def parse(self, parser: Parser) -> Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return CallBlock(self.call_method("_reply"), [], [], body).set_lineno(line)

    def _reply(self, caller: Macro) -> str:
        text = caller()
        self.environment.replies.append(text)  # pyright: ignore
        return text


class _NewDict:
    """`dict` without the class's own attributes."""

    def __call__(self, *values: Any, **named: Any) -> dict[Any, Any]:
        return dict(*values, **named)

    def fromkeys(self, *values: Any) -> dict[Any, Any]:
        return dict.fromkeys(*values)


class _NamedValues(Namespace):
    """`namespace` without names that begin with an underscore. Raises SecurityError for such a name."""

    def __init__(self, /, *values: Any, **named: Any) -> None:
        names: dict[str, Any] = dict(*values, **named)
        for name in names:
            _check_name(name)
        super().__init__(names)

    def __setitem__(self, name: str, value: Any) -> None:
        _check_name(name)
        super().__setitem__(name, value)


def _check_name(name: Any) -> None:
    if str(name).startswith("_"):
        raise SecurityError(f"a namespace has no name with an underscore at its beginning, such as {name!r}")


def _json_text(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | str | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )


def _refuse(message: str) -> NoReturn:
    raise TemplateError(message)


def _now(format: str) -> str:
    return datetime.now().strftime(format)


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message as templates get it: without empty keys, and what the model thought under each name for it."""
    given = {key: value for key, value in message.items() if value is not None}
    thought = next((given[key] for key in _REASONING if key in given), None)
    return given if thought is None else {"thinking": thought, **given, "reasoning_content": thought}


def _limit(seconds: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    with suppress(ValueError, OSError):  # macOS has none: there the limit of time ends a template
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))


def main() -> None:
    """Reads a template and chats from standard input, and writes each chat as it was rendered."""
    request = json.load(sys.stdin)
    _limit(request["seconds"])
    try:
        rendered = render_chats(request["template"], request["chats"])
        json.dump(list(map(asdict, rendered)), sys.stdout)
    except MemoryError:
        sys.exit(_OUT_OF_MEMORY)


if __name__ == "__main__":
    main()
