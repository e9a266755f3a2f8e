"""How a verb becomes a command: options from the fields of a dataclass and what their values mean, help in panels, and an
exit status with a message that users can act on in place of an exception. In a group a command is imported when it is
called: overviews and completion need only its declaration."""

import errno
import inspect
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields
from functools import wraps
from importlib import import_module
from math import inf
from typing import Any, ParamSpec, TypeVar, cast, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from wildtool.cli.terminal import print_err
from wildtool.errors import DISK_FULL, UsageError, WildtoolError

MODEL, SAMPLING, SELECTION, LIMITS, OUTPUT, MORE = PANELS = (
    *("Model", "Sampling", "Selection", "Limits", "Output", "More"),
)
"""Panels of options, in order; options without a panel come first."""
WIDTH = 84
PANEL_THRESHOLD = 16
"""Number of options from which they are listed in panels."""
MAX_NAME_WIDTH = 26
"""Columns for the names of options; a longer name gets its own line."""
SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": WIDTH}
"""Settings of every command."""
# Markup mode would import rich, which costs as much as everything else together.
PLAIN: dict[str, Any] = {"rich_markup_mode": None, "context_settings": SETTINGS}
"""What apps and groups of commands are created with."""
METAVARS = {"integer": "N", "int": "N", "float": "X", "text": "TEXT", "str": "TEXT", "path": "PATH"}
"""Placeholders for values by type, for options that name none."""


class PanelCommand(TyperCommand):
    """A command whose options are listed in panels. An option with several long names is shown with the first; the
    others are older names that still work.
    """

    def format_options(self, ctx: Any, formatter: Any) -> None:
        every: list[Any] = list(self.get_params(ctx))
        params = [param for param in every if not param.hidden]
        panels: dict[str, list[tuple[str, str]]] = {name: [] for name in ("Arguments", "Options", *PANELS)}
        for param in params:
            panels[_panel(param, many=len(params) >= PANEL_THRESHOLD)].append(
                (_name(param), _help_text(param))
            )
        if panels[MORE]:
            # --help comes last.
            panels[MORE].append(panels["Options"].pop())
        widest = min(max(len(name) for rows in panels.values() for name, _ in rows), MAX_NAME_WIDTH)
        for panel, rows in panels.items():
            if rows:
                with formatter.section(panel):
                    formatter.write_dl([(name.ljust(widest), about) for name, about in rows])

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        pieces = ["[OPTIONS]"]
        for param in self.get_params(ctx):
            if param.param_type_name == "argument":
                name = _name(param)
                pieces.append(name if param.required else f"[{name}]")
        return pieces


def _panel(param: Any, *, many: bool) -> str:
    if param.param_type_name == "argument":
        return "Arguments"
    return getattr(param, "rich_help_panel", None) or "Options" if many else "Options"


def _name(param: Any) -> str:
    if param.param_type_name == "argument":
        return (param.metavar or param.name).strip("[]{}")
    short = next((name for name in param.opts if not name.startswith("--")), None)
    long = next(name for name in param.opts if name.startswith("--"))
    names = f"{short}, {long}" if short else f"    {long}"
    return names if param.is_flag else f"{names} {_metavar(param)}"


def _metavar(param: Any) -> str:
    if param.metavar:
        return param.metavar
    if choices := getattr(param.type, "choices", None):
        return "|".join(str(getattr(choice, "value", choice)) for choice in choices)
    return METAVARS.get(param.type.name.removesuffix(" range"), "VALUE")


def _help_text(param: Any) -> str:
    """The help text, with the default if it is worth showing."""
    default = param.default
    shown = getattr(default, "value", default)
    if param.required and param.param_type_name == "option":
        return f"{param.help} (required)"
    if shown in (None, "", ()) or isinstance(shown, bool) or callable(shown) or not param.show_default:
        return param.help or ""
    number = f"{shown:g}" if isinstance(shown, float) else str(shown)
    return f"{param.help} (default: {number})"


Options = TypeVar("Options")


def split_values(lists: list[str] | None) -> tuple[str, ...]:
    """The values of an option that can be repeated and takes several, separated by commas."""
    return tuple(word.strip() for text in lists or () for word in text.split(",") if word.strip())


def parse_duration(text: str) -> float:
    """The seconds of a duration such as `90`, `45s`, `30m` or `1h30m`. Raises UsageError for anything
    else."""
    found = re.fullmatch(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s?)?", text.strip(), re.ASCII)
    parts = found.groups() if found else ()
    total = sum(float(part or 0) * size for part, size in zip(parts, (86_400, 3600, 60, 1), strict=False))
    if not 0 < total < inf:
        raise UsageError(f"{text!r} is not a duration; examples: 90 (seconds), 30m, 1h30m")
    return total


def parse_json_object(text: str | None, option: str) -> dict[str, Any]:
    """The value of an option that takes a JSON object. Raises UsageError, which never repeats the value."""
    from wildtool import json_codec

    if text is None:
        return {}
    try:
        value = json_codec.loads(text)
    except ValueError as error:
        raise UsageError(f"{option} is not JSON ({error}); example: {option} '{{\"top_p\": 0.9}}'") from None
    if not isinstance(value, dict):
        raise UsageError(f"{option} must be a JSON object; example: {option} '{{\"top_p\": 0.9}}'")
    return value  # pyright: ignore[reportUnknownVariableType]


def command_from_dataclass(
    options_class: type[Options],
    verb: Callable[..., int | None],
    signature_of: Callable[..., int | None] | None = None,
) -> Callable[..., int | None]:
    """A command that takes a verb's own options and then the fields of a dataclass.

    Args:
        options_class: the dataclass; a field's annotation says what its option is like.
        verb: is given an object of it and the context, then its own options by name.
        signature_of: whose own options and help are meant, behind its first two parameters; the verb's where it is None.
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


Verb = ParamSpec("Verb")

WORST_LAST = (0, 3, 2, 1, 130)
"""Exit statuses, the worst last: if several models end differently, the worst counts."""


_USER_FIXABLE_ERRORS = (
    errno.EACCES, errno.EPERM, errno.EROFS, errno.EISDIR, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP,
)  # fmt: skip
"""System errors that only the user can fix: a place that cannot be written or read."""


def worst_status(statuses: list[int]) -> int:
    """The worst of some exit statuses; 0 for none."""
    return max(statuses, key=WORST_LAST.index, default=0)


def with_exit_status(verb: Callable[Verb, int | None]) -> Callable[Verb, None]:
    """The verb as a command that ends with its exit status and never with a traceback."""

    @wraps(verb)
    def command(*args: Verb.args, **kwargs: Verb.kwargs) -> None:
        raise typer.Exit(run_to_status(lambda: verb(*args, **kwargs)))

    return command


def run_to_status(command: Callable[[], int | None]) -> int:
    """Runs a command; returns its exit status."""
    try:
        status = command() or 0
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        print_err("interrupted")
        return 130
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
    if os.environ.get("WILDTOOL_DEBUG"):
        print_err("".join(traceback.format_exception(error)).rstrip())
    place = traceback.extract_tb(error.__traceback__)[-1]
    print_err(f"wildtool: internal error: {type(error).__name__}: {error} ({place.filename}:{place.lineno})")
    print_err(
        "Please report this, with your command and its output with WILDTOOL_DEBUG=1. All recorded replies are intact."
    )
    return 1


def _no_temporary_folder(error: OSError) -> bool:
    """Whether there is no folder for temporary files that can be written to."""
    return error.errno == errno.ENOENT and "temporary directory" in (error.strerror or "")


class Commands(Mapping[str, Any]):
    """The commands of a group by name, each imported when it is looked up."""

    def __init__(self, declarations: Mapping[str, tuple[str, str]], verb: str | None = None) -> None:
        """
        Args:
            declarations: by name the place below `wildtool.cli.commands`, `module:function` or `module:GROUP`, and the
                line of help for overviews, which is the first sentence of the command's own.
            verb: name of a group whose first command is the default; that command's help lists the others.
        """
        self.declarations = declarations
        first, *others = declarations
        more = f"See also: {', '.join(f'wildtool {verb} {name}' for name in others)}."
        self._epilogs = {first: more} if verb else {}

    def __getitem__(self, name: str) -> Any:
        module, _, attribute = self.declarations[name][0].partition(":")
        target = getattr(import_module(f"wildtool.cli.commands.{module}"), attribute)
        if not isinstance(target, TyperGroup):
            app = typer.Typer(**PLAIN, add_completion=False)
            app.command(name, cls=PanelCommand, epilog=self._epilogs.get(name))(with_exit_status(target))
            target = typer.main.get_command(app)
        target.name = name
        return target

    def __iter__(self) -> Iterator[str]:
        return iter(self.declarations)

    def __len__(self) -> int:
        return len(self.declarations)


class CommandGroup(TyperGroup):
    """A group whose commands are declared."""

    def __init__(self, *, commands: Any, **settings: Any) -> None:
        super().__init__(**{**PLAIN, **settings})
        self.commands = commands

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        commands = cast(Commands, self.commands)
        return _DeclaredCommand(cmd_name, commands) if cmd_name in commands.declarations else None


class _DeclaredCommand(TyperCommand):
    """What an overview shows of a command. The command itself is imported to parse the rest of the line."""

    def __init__(self, name: str, commands: Commands) -> None:
        super().__init__(name, help=commands.declarations[name][1], rich_markup_mode=None)
        self._commands = commands

    def make_context(self, info_name: Any, *args: Any, **named: Any) -> Any:
        return self._commands[cast(str, self.name)].make_context(info_name, *args, **named)
