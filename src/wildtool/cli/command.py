"""Commands: options and arguments as verbs declare them, what their values mean and require of each other, and an exit
status with a message that users can act on in place of an exception."""

import errno
import inspect
import os
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import wraps
from typing import Annotated, Any, ParamSpec, TypeVar, dataclass_transform

import typer

from wildtool.errors import DISK_FULL, StorageError, UsageError, WildtoolError
from wildtool.interrupts import EXIT_STATUS, LINE, interruptible, is_interrupt
from wildtool.terminal import print_err
from wildtool.written import COMMAND

CONFIG_KEY = "wildtool.config"
"""Where the context of a command keeps the config file that it read."""
OPTION_RULES = ("not_empty", "not_with", "needs", "needs_together")
"""What an option may require of its value and of others, where it is no setting of a run; messages about
`needs_together` name all options with the same text."""
_LIBRARY_NAMES = {"panel": "rich_help_panel", "complete": "autocompletion", "eager": "is_eager"}


@dataclass(frozen=True, slots=True)
class Declaration:
    """An option or an argument of a verb, as `opt` and `arg` declare it."""

    info: Callable[..., Any]
    """`typer.Option` or `typer.Argument`."""
    names: tuple[str, ...]
    """As they are typed; without a long one, the parameter's comes first."""
    default: Any
    """`...` where a value is required."""
    settings: Mapping[str, Any]
    """What the command-line library is told about it."""
    rules: Mapping[str, str]
    """Texts by names of `OPTION_RULES`."""

    def option(self, name: str) -> str:
        """Its long name, where its parameter has this one."""
        own = f"--{name.replace('_', '-')}"
        return next((word for word in self.names if word.startswith("--")), own)


def opt(*words: str, default: Any = None, **settings: Any) -> Any:
    """Declares an option: the default of a parameter or a field.

    Args:
        words: its names and the placeholder of its value, as one text, and its help. The parameter's own name may be left
            out; a flag and an option of some choices have no placeholder.
        default: `...` where a value is required; None for a flag that is off.
        settings: `panel`, `complete` (a function that completes values), rules, and settings of `typer.Option`.
    """
    *usage, description = words
    usage = " ".join(usage).split()
    names = [word for word in usage if word.startswith("-")]
    its = {
        _LIBRARY_NAMES.get(name, name): value for name, value in settings.items() if name not in OPTION_RULES
    }
    its |= {"help": description, "metavar": " ".join(usage[len(names) :]) or None}
    rules = {name: text for name, text in settings.items() if name in OPTION_RULES}
    return Declaration(typer.Option, tuple(names), default, its, rules)


def arg(*words: str, default: Any = ..., **settings: Any) -> Any:
    """Declares an argument. Args: as of `opt`; it has no names."""
    return replace(opt(*words, default=default, **settings), info=typer.Argument)


Record = TypeVar("Record")


@dataclass_transform(kw_only_default=True, frozen_default=True)
def declared(record: type[Record]) -> type[Record]:
    """A frozen dataclass of options, whose fields have declarations in place of defaults."""
    own = {name: value for name, value in vars(record).items() if isinstance(value, Declaration)}
    for name, declaration in own.items():
        delattr(record, name)
        if (default := _default(declaration, record.__annotations__[name])) is not ...:
            setattr(record, name, default)
    declarations: dict[str, Declaration] = {**getattr(record, "declarations", {}), **own}
    record.declarations = declarations  # pyright: ignore[reportAttributeAccessIssue]
    return dataclass(frozen=True, slots=True, kw_only=True)(record)


def _check_rules(values: Mapping[str, Any], declarations: Mapping[str, Declaration]) -> None:
    """Raises UsageError for an option that is given without what it requires.

    Args:
        values: by the names of parameters, as `declarations`.
    """
    values_set = {name for name, value in values.items() if value is not None and value is not False}
    for name, declaration in declarations.items():
        for rule, text in declaration.rules.items() if name in values_set else ():
            option = declaration.option(name)
            if rule == "not_empty":
                fault = "" if values[name].strip() else f"{option} is empty; {text}"
            elif rule == "not_with":
                fault = (
                    f"give {text} or {option}, not both"
                    if _parameter_of(text, declarations) in values_set
                    else ""
                )
            elif rule in ("needs", "needs_together") and _parameter_of(text, declarations) not in values_set:
                fault = f"{option} needs {text}" if rule == "needs" else _together(text, declarations)
            else:
                continue
            if fault:
                raise UsageError(fault)


def _parameter_of(text: str, declarations: Mapping[str, Declaration]) -> str:
    """The parameter of the option that a text begins with."""
    option = text.split()[0].rstrip(",;")
    return next(name for name, declaration in declarations.items() if declaration.option(name) == option)


def _together(text: str, declarations: Mapping[str, Declaration]) -> str:
    *options, last = [
        declaration.option(name)
        for name, declaration in declarations.items()
        if declaration.rules.get("needs_together") == text
    ]
    return f"{', '.join(options)} and {last} need {text}"


def _default(declaration: Declaration, annotation: Any) -> Any:
    return False if annotation is bool and declaration.default is None else declaration.default


def _parameter(name: str, annotation: Any, declaration: Declaration) -> inspect.Parameter:
    """A parameter of a command from one of a verb."""
    default, names = _default(declaration, annotation), declaration.names
    if declaration.info is typer.Option and declaration.option(name) not in names:
        names = (declaration.option(name), *names)
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if default is ... else default,
        annotation=Annotated[annotation, declaration.info(*names, **declaration.settings)],
    )


def command_of(verb: Callable[..., int | None]) -> Callable[..., int | None]:
    """A verb as a command for the command-line library: its own options, then those of the dataclasses that it takes.

    Args:
        verb: its parameters are declared options and arguments, `declared` dataclasses of them, and the context.
    """
    parameters = inspect.signature(verb).parameters.values()
    contexts = [its.name for its in parameters if its.annotation is typer.Context]
    records: dict[str, Any] = {its.name: its.annotation for its in parameters if is_dataclass(its.annotation)}
    own = [its for its in parameters if its.name not in (*contexts, *records)]
    declarations: dict[str, Declaration] = {its.name: its.default for its in own}
    annotations = {its.name: its.annotation for its in own}
    for record in records.values():
        declarations |= record.declarations
        annotations |= {each.name: each.type for each in fields(record)}

    def command(context: typer.Context, **values: Any) -> int | None:
        _check_rules(values, declarations)
        if (config := context.meta.get(CONFIG_KEY)) is not None:
            config.check_options(values, options_of_config(context))
        for name, record in records.items():
            values[name] = record(**{each.name: values.pop(each.name) for each in fields(record)})
        settings = sorted((name, value) for name, value in values.items() if name != "force")
        before = COMMAND.set(f"{context.command_path} {settings}")
        try:
            return verb(**dict.fromkeys(contexts, context), **values)
        finally:
            COMMAND.reset(before)

    first = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    every = [first, *(_parameter(name, annotations[name], its) for name, its in declarations.items())]
    command.__signature__ = inspect.Signature(every)  # pyright: ignore[reportFunctionMemberAccess]
    command.__annotations__ = {its.name: its.annotation for its in every}
    command.__name__, command.__doc__ = verb.__name__, verb.__doc__
    return command


def options_of_config(context: typer.Context) -> set[str]:
    """Parameters whose values a config file chose: it sets them, and nobody typed them."""
    names = {str(option.name) for option in context.command.params}
    sources = {name: context.get_parameter_source(name) for name in names}
    return {name for name, source in sources.items() if source is not None and source.name == "DEFAULT_MAP"}


Verb = ParamSpec("Verb")

WORST_LAST = (0, 3, 2, 1, 130)
"""Exit statuses, the worst last: if several models end differently, the worst counts."""


_USER_FIXABLE_ERRORS = (
    errno.EACCES, errno.EPERM, errno.EROFS, errno.EISDIR, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP,
)  # fmt: skip
"""System errors that only the user can fix: a place that cannot be written or read."""


_SHORT_OF_MEMORY = (
    "can't start new thread",
    "failed to map segment",
    "cannot allocate memory",
    "Out of Memory",
)
"""What Python, the loader of shared libraries and DuckDB say where memory is limited."""
_MORE_MEMORY = (
    "raise the limit (`ulimit -v`, the container's), or give less data; finished files are complete"
)


def worst_status(statuses: list[int]) -> int:
    """The worst of some exit statuses; 0 for none."""
    return max(statuses, key=WORST_LAST.index, default=0)


def with_exit_status(verb: Callable[Verb, int | None]) -> Callable[Verb, None]:
    """The verb as a command that ends with its exit status and never with a traceback."""

    @wraps(verb)
    def command(*args: Verb.args, **kwargs: Verb.kwargs) -> None:
        def work() -> int | None:
            with interruptible():
                return verb(*args, **kwargs)

        raise typer.Exit(run_to_status(work))

    return command


def run_to_status(command: Callable[[], int | None]) -> int:
    """Runs a command; returns its exit status."""
    try:
        status = command() or 0
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        print_err(LINE)
        return EXIT_STATUS
    except BrokenPipeError:
        # The reader of our output has seen enough (`wildtool show … | head`). Buffered output must still go
        # somewhere, or Python complains at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # noqa: BLE001 - the one place where anything left becomes a message
        return report_error(error)


def report_error(error: Exception) -> int:
    """Prints what went wrong; returns the exit status."""
    if isinstance(error, WildtoolError):
        for text in (str(error), *getattr(error, "__notes__", ())):
            print_err(f"wildtool: {text}")
        return error.exit_status
    if is_interrupt(error):
        print_err(LINE)
        return EXIT_STATUS
    if isinstance(error, OSError) and error.errno in DISK_FULL:
        from wildtool.outputs import disk_full_error

        full = disk_full_error(error.filename or "output", error.strerror or str(error))
        print_err(f"wildtool: {full}")
        return full.exit_status
    if isinstance(error, OSError) and (error.errno in _USER_FIXABLE_ERRORS or _no_temporary_folder(error)):
        place = f"{error.filename}: " if error.filename else ""
        print_err(
            f"wildtool: {place}cannot be read or written ({error.strerror}); check its permissions, or name another place"
        )
        return UsageError.exit_status
    if _is_short_of_memory(error):
        # The frames that failed still hold what they read.
        reason = f" ({error.with_traceback(None)})" if str(error) else ""
        print_err(f"wildtool: not enough memory{reason}; {_MORE_MEMORY}")
        return StorageError.exit_status
    if os.environ.get("WILDTOOL_DEBUG"):
        print_err("".join(traceback.format_exception(error)).rstrip())
    place = traceback.extract_tb(error.__traceback__)[-1]
    print_err(f"wildtool: internal error: {type(error).__name__}: {error} ({place.filename}:{place.lineno})")
    print_err(
        "Please report this, with your command and its output with WILDTOOL_DEBUG=1. All recorded replies are intact."
    )
    return 1


def _is_short_of_memory(error: Exception) -> bool:
    """Whether the system gave no more memory: to Python, to a library that is loaded, or to another process."""
    refused = isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM)
    return refused or any(words in str(error) for words in _SHORT_OF_MEMORY)


def _no_temporary_folder(error: OSError) -> bool:
    """Whether there is no folder for temporary files that can be written to."""
    return error.errno == errno.ENOENT and "temporary directory" in (error.strerror or "")
