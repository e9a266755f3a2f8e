"""Commands with many options: a dataclass holds them, a field each, and the command line library sees them one by one."""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any, TypeVar, get_type_hints

import typer

Options = TypeVar("Options")


def command_from_dataclass(
    options_class: type[Options],
    verb: Callable[..., int | None],
    signature_of: Callable[..., int | None] | None = None,
) -> Callable[..., int | None]:
    """A command that takes a verb's own options and then the fields of a dataclass.

    Args:
        kind: the dataclass; a field's annotation says what its option is like.
        verb: is given an object of it and the context, then its own options by name.
        like: whose own options and help are meant, behind its first two parameters; the verb's where it is None.
    """
    shown = signature_of or verb
    hints = get_type_hints(options_class, include_extras=True)
    shared = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(options_class)  # pyright: ignore[reportArgumentType]
    ]
    own = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in list(inspect.signature(shown).parameters.values())[2:]
    ]

    def command(context: typer.Context, **given: Any) -> int | None:
        options = options_class(**{parameter.name: given.pop(parameter.name) for parameter in shared})
        return verb(options, context, **given)

    first = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    parameters = [first, *own, *shared]
    command.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportFunctionMemberAccess]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command.__name__, command.__doc__ = shown.__name__, shown.__doc__
    return command
