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

    def checked(args: tuple[Any, ...], keywords: Mapping[str, Any]) -> None:
        _check_arguments(function.__name__, signature, args, keywords)

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


def _check_arguments(
    name: str, signature: Signature, args: tuple[Any, ...], keywords: Mapping[str, Any]
) -> None:
    """Raises UsageError for arguments that a function does not take."""
    parameters = {its.name: its for its in signature.parameters.values() if its.name != "self"}
    places = [its for its in signature.parameters.values() if its.kind is not Parameter.KEYWORD_ONLY]
    takes_any = any(its.kind is Parameter.VAR_POSITIONAL for its in places)
    takes_keywords = any(its.kind is Parameter.VAR_KEYWORD for its in places)
    if len(args) > len([its for its in places if its.kind is not Parameter.VAR_KEYWORD]) and not takes_any:
        given = ", ".join(f"{its.name}=…" for its in parameters.values() if _is_needed(its))
        first = f"{places[0].name} and " if places and places[0].name != "self" else ""
        raise UsageError(f"{name} takes {first}keywords: {name}({given})")
    for keyword in keywords:
        if keyword not in parameters and not takes_keywords:
            raise UsageError(unknown_name("keyword", keyword, parameters, of=name))
    try:
        bound = signature.bind(*args, **keywords)
    except TypeError:
        missing = [
            its.name
            for place, its in enumerate(signature.parameters.values())
            if _is_needed(its)
            and its.name not in keywords
            and not (its.kind is Parameter.POSITIONAL_OR_KEYWORD and place < len(args))
        ]
        needs = " and ".join(f"{each}=" for each in missing)
        raise UsageError(f"{name} needs {needs}" if needs else f"{name} gets one argument twice") from None
    for its, value in bound.arguments.items():
        hint = parameters[its].annotation if its in parameters else Any
        if parameters.get(its) and parameters[its].kind in (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL):
            continue
        if not fits(value, hint):
            raise UsageError(f"{its}= is {shown(value)}; it must be {phrase(hint)}")


def _is_needed(its: Parameter) -> bool:
    """Whether a parameter must have a value."""
    many = (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)
    return its.default is Parameter.empty and its.kind not in many


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
