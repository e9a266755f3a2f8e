"""What every public function of Python does: it refuses wrong arguments, and speaks of fields where it fails."""

import inspect
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from inspect import Parameter, Signature
from typing import Any, ParamSpec, TypeVar, cast

from wildtool.api.records import fits, phrase, shown
from wildtool.api.words import words_of_the_caller
from wildtool.errors import DISK_FULL, NoSuchPlaceError, StorageError, UsageError, unknown_name

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Element = TypeVar("Element")


def door(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """A public function, which raises UsageError for arguments that it does not take, and otherwise the errors of
    `wildtool.errors`, with fields in place of options."""
    signature = inspect.signature(function)
    name = function.__qualname__.removesuffix(".__init__")

    def checked(args: tuple[Any, ...], keywords: Mapping[str, Any]) -> None:
        _check_arguments(name, signature, args, keywords)

    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def awaited(*args: Any, **keywords: Any) -> Any:
            with speaking_python():
                checked(args, keywords)
                return await cast(Any, function)(*args, **keywords)

        return cast("Callable[Arguments, Result]", awaited)

    @wraps(function)
    def called(*args: Any, **keywords: Any) -> Any:
        with speaking_python():
            checked(args, keywords)
            return cast(Any, function)(*args, **keywords)

    return cast("Callable[Arguments, Result]", called)


@contextmanager
def speaking_python() -> Generator[None]:
    """Errors that leave it are of `wildtool.errors`, and name fields."""
    with words_of_the_caller():
        try:
            yield
        except OSError as error:
            place = error.filename or "output"
            if error.errno in DISK_FULL:
                raise StorageError(
                    f"{place}: {error.strerror}; make room, and make the call again"
                ) from error
            raise UsageError(f"{place}: {error.strerror or error}") from error


_MANY = (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)


def _check_arguments(
    name: str, signature: Signature, args: tuple[Any, ...], keywords: Mapping[str, Any]
) -> None:
    """Raises UsageError for arguments that a function does not take."""
    kinds = [its.kind for its in signature.parameters.values()]
    parameters = {
        its.name: its for its in signature.parameters.values() if its.name != "self" and its.kind not in _MANY
    }
    unknown = [] if Parameter.VAR_KEYWORD in kinds else [each for each in keywords if each not in parameters]
    if unknown:
        raise UsageError(unknown_name("keyword", unknown[0], parameters, of=name))
    try:
        bound = signature.bind(*args, **keywords)
    except TypeError as error:
        needed = (f"{its.name}=…" for its in parameters.values() if its.default is Parameter.empty)
        raise UsageError(f"{name}: {error}; call it as {name}({', '.join(needed)})") from None
    for its, value in bound.arguments.items():
        if its in parameters and not fits(value, parameters[its].annotation):
            expected = phrase(parameters[its].annotation)
            raise UsageError(f"{its}= is {shown(value)}; it must be {expected}")


def element_at(values: Sequence[Element], place: int | slice, of: str) -> Any:
    """What is at a place, or at several. Raises NoSuchPlaceError. Args: of: what they are, for the message."""
    try:
        return values[place]
    except IndexError:
        raise NoSuchPlaceError(f"there is no place {place}: there are {len(values):,} {of}") from None
    except TypeError:
        raise UsageError(
            f"{place!r} is no place among {len(values):,} {of}; give a number or a name"
        ) from None
