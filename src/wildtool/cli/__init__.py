"""The command `wildtool`: one small module per verb, imported when it is called, since overviews and completion need only
its declaration; the packages below do the work. Other packages add commands by entry points."""

import gc
import re
import sys
import warnings
from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from copy import copy
from functools import cache
from io import TextIOWrapper
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from typer.core import TyperCommand, TyperGroup

from wildtool import __version__
from wildtool.api.words import option_of
from wildtool.cli.command import command_of, report_error, with_exit_status
from wildtool.cli.help import NUMBER_NAMES, WIDTH, PanelCommand
from wildtool.cli.other_words import NOTES, NOTES_OF_RUN, OTHER_WORDS
from wildtool.errors import UsageError
from wildtool.installed import (
    entry_point_files,
    installed_entries,
    is_ours,
    load_entry,
    own_entry,
    own_offer,
    package_of,
)
from wildtool.older_names import GOES_WITH, OLDER_SETTINGS, OlderNameWarning, warn_of_older
from wildtool.other_names import settings_meant
from wildtool.secret_places import register_words
from wildtool.steps import show_steps
from wildtool.terminal import PLAIN_LETTERS, print_err, print_out, redacted_output

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": WIDTH}
"""Settings of every command."""
# Markup mode would import rich, which costs as much as everything else together.
PLAIN: dict[str, Any] = {"rich_markup_mode": None, "context_settings": SETTINGS}
"""What apps and groups of commands are created with."""
ENTRY_POINT_OF_COMMANDS = "wildtool.commands"
"""Entry points of all commands: `NAME = module:function`, and `GROUP.NAME` for a command of a group. Groups of commands
are constants of their modules."""


@cache
def _any_entries() -> bool:
    """Whether a package that is not ours may have such an entry point. To import what reads them takes a fifth of
    `wildtool --help`, and hardly anybody has any."""
    try:
        return any(
            f"[{ENTRY_POINT_OF_COMMANDS}]" in file.read_text("utf-8", "replace")
            for package, file in entry_point_files()
            if not is_ours(package)
        )
    except OSError:
        return True


def added_commands(group: str) -> "Mapping[str, tuple[EntryPoint, ...]]":
    """What other packages add to a group of commands, or to the verbs; several of a name where packages compete."""
    if not _any_entries():
        return {}
    added: dict[str, tuple[EntryPoint, ...]] = {}
    for path, entries in installed_entries(ENTRY_POINT_OF_COMMANDS).items():
        place, _, name = path.rpartition(".")
        if place != group:
            # To find the package of an entry, its whole description is read.
            continue
        others = tuple(entry for entry in entries if not is_ours(package_of(entry)))
        if others:
            added[name] = others
    return added


def load_command(name: str, group: str) -> Any:
    """The function or group of a command that a package adds. Raises UsageError, which names the package."""
    first, *rivals = added_commands(group)[name]
    if rivals:
        packages = " and ".join(map(package_of, (first, *rivals)))
        raise UsageError(f"{packages} both add the command {name!r}; uninstall one of them")
    target, fault = load_entry(first, lambda target: None if callable(target) else "is no function")
    if fault:
        raise UsageError(f"command {name!r} of package {package_of(first)} cannot be used: {fault}")
    return target


class Commands(Mapping[str, Any]):
    """The commands of a group by name, each imported when it is looked up: our own, and those that packages add."""

    def __init__(
        self,
        declarations: Mapping[str, str],
        verb: str | None = None,
        *,
        group: str = "",
        extras: Mapping[str, str] = {},
        older: Mapping[str, str] = {},
    ) -> None:
        """
        Args:
            declarations: by name of our command the line of help for overviews, which is the first sentence of its own.
                Entry points say where it is.
            verb: name of a group whose first command is the default; that command's help lists the others.
            group: name of another group; empty for the verbs.
            extras: by name the extra that brings a command, `data` for one of the package `wildtool-data`.
            older: by name of a command that works until `GOES_WITH`, and that no overview lists, what does the same.
        """
        self.declarations = declarations
        self.older = older
        self._extras = extras
        self._group = verb or group
        first, *more_names = declarations
        more = f"See also: {', '.join(f'wildtool {verb} {name}' for name in more_names)}."
        self._epilogs = {first: more} if verb else {}

    def __getitem__(self, name: str) -> Any:
        target = self.find(name)
        if not isinstance(target, TyperGroup):
            return _declared(target, name, self._epilogs.get(name))
        target.name = name
        return target

    def find(self, name: str) -> Any:
        """The function or group of a name. Raises UsageError for one of a package that cannot be used."""
        if name not in self.declarations and name not in self.older:
            return load_command(name, self._group)
        path = self._path(name)
        command = f"`wildtool {path.replace('.', ' ')}`"
        return own_offer(ENTRY_POINT_OF_COMMANDS, path, self._extras.get(name, ""), command)

    def is_group(self, name: str) -> bool:
        """Whether this is one of our groups of commands; no module is imported to find out."""
        entry = own_entry(ENTRY_POINT_OF_COMMANDS, self._path(name), self._extras.get(name, ""))
        return entry is not None and entry.value.rpartition(":")[2].isupper()

    def _path(self, name: str) -> str:
        return f"{self._group}.{name}" if self._group else name

    def about(self, name: str) -> str | None:
        """The line of help for overviews; None for an unknown name."""
        if name in self.declarations:
            return self.declarations[name]
        if name in self.older:
            return ""
        entries = added_commands(self._group).get(name)
        return f"Of the package {package_of(entries[0])}." if entries else None

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.about(name) is not None

    def __iter__(self) -> Iterator[str]:
        yield from self.declarations
        yield from (name for name in sorted(added_commands(self._group)) if name not in self.declarations)

    def __len__(self) -> int:
        return sum(1 for _ in self)


@cache
def _declared(verb: Any, name: str, epilog: str | None) -> Any:
    """The command of a verb, made once in a process that runs several commands."""
    app = typer.Typer(**PLAIN, add_completion=False)
    app.command(name, cls=ParsedCommand, epilog=epilog)(with_exit_status(command_of(verb)))
    command = typer.main.get_command(app)
    command.name = name
    return command


OLDER_OPTIONS = {option_of(older): option_of(name) for older, name in OLDER_SETTINGS.items()}
_LONG_DASHES = re.compile("^-?[\u2010-\u2015\u2212]+-?")


class ParsedCommand(PanelCommand):
    """A command whose messages call numbers by their plain names and know the dashes of editors. An option that takes one
    value is not given two."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        for param in self.params:
            if name := NUMBER_NAMES.get(param.type.name.removesuffix(" range")):
                param.type = copy(param.type)  # click shares it with every other program of this process
                param.type.name = name

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            return self._parse(ctx, args)
        except typer.TyperException as error:
            fault: Any = error
            # The library's class for an unknown option is not public; no other one says what is possible.
            unknown = hasattr(fault, "possibilities") and not ctx.resilient_parsing
            advice = self._advice(ctx, fault.option_name) if unknown else ""
            if advice:
                ctx.fail(f"No such option: {fault.option_name}. {advice}")
            raise

    def _advice(self, ctx: Any, word: str) -> str:
        """What to type instead of an unknown option; empty where only its letters can say."""
        params: list[Any] = self.get_params(ctx)
        names = {name for param in params if not param.hidden for name in param.opts}
        options = [option_of(name) for name in settings_meant(word)]
        if here := [option for option in options if option in names]:
            return f"Did you mean {' or '.join(here)}?"
        notes = {**NOTES, **NOTES_OF_RUN} if ctx.info_name == "run" else NOTES
        if word in notes:
            return notes[word]
        for option in options:
            if commands := list(_with_option(option, ctx)):
                return f"{_enumeration(commands)} {'has' if len(commands) == 1 else 'have'} {option}."
        return ""

    def _parse(self, ctx: Any, args: list[str]) -> list[str]:
        names = {name for param in self.get_params(ctx) for name in param.opts}
        for word in args:
            stem = _LONG_DASHES.sub("", word).partition("=")[0]
            if _LONG_DASHES.match(word) and (meant := names & {f"-{stem}", f"--{stem}"}):
                ctx.fail(f"{word!r} begins with a long dash, as editors write it; type {meant.pop()}")
        if not ctx.resilient_parsing:  # while a shell completes a line, nothing is wrong with it yet
            self._refuse_repeated(ctx, args)
            for older in sorted({word.partition("=")[0] for word in args} & names & OLDER_OPTIONS.keys()):
                warn_of_older(older, OLDER_OPTIONS[older])
        # The library's own message says neither what is taken nor where a value belongs.
        refuse_extra = not (ctx.allow_extra_args or ctx.resilient_parsing)
        ctx.allow_extra_args = True
        extra = super().parse_args(ctx, args)
        if extra and refuse_extra:
            self._refuse_extra(ctx, extra)
        return extra

    def _refuse_extra(self, ctx: Any, extra: list[str]) -> None:
        """Ends the command where it is given more arguments than it takes, mostly a value without its option."""
        arguments = " ".join(self.collect_usage_pieces(ctx)[1:]) or "no arguments"
        option = self.first_option(ctx)
        advice = f"; values of options come after their names, such as {option}" if option else ""
        ctx.fail(f"{ctx.command_path} takes {arguments}, not also {' '.join(map(repr, extra))}{advice}")

    def _refuse_repeated(self, ctx: Any, args: list[str]) -> None:
        """Ends the command where an option would silently lose a value to its second use."""
        occurrences: list[Any] = list(self.make_parser(ctx).parse_args(args=list(args))[2])
        for param, uses in Counter(occurrences).items():
            if uses == 1 or param.param_type_name == "argument" or param.multiple:
                continue
            option = next((name for name in param.opts if name.startswith("--")), param.opts[0])
            if not param.is_flag:
                ctx.fail(f"{option} is given {'twice' if uses == 2 else f'{uses} times'}; it takes one value")
            if {*args} & {*param.opts} and {*args} & {*param.secondary_opts}:
                ctx.fail(f"give {option} or {max(param.secondary_opts, key=len)}, not both")


class CommandGroup(TyperGroup):
    """A group whose commands are declared."""

    def __init__(self, *, commands: Any, **settings: Any) -> None:
        super().__init__(**{**PLAIN, **settings})
        self.commands = commands

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and self.get_command(ctx, args[0]) is None and (places := list(_places_of(args[0], ctx))):
            ctx.fail(f"No such command {args[0]!r}. Did you mean {' or '.join(places)}?")
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        line = cast(Commands, self.commands).about(cmd_name)
        return None if line is None else _DeclaredCommand(cmd_name, line, cast(Commands, self.commands))


class FirstByDefault(CommandGroup):
    """A group that runs its first command if the line starts with an option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        # The shell completes names while nothing is typed.
        has_name = not args[0].startswith("-") if args else ctx.resilient_parsing
        return super().parse_args(ctx, args if has_name else [next(iter(self.commands)), *args])


def _places_of(name: str, ctx: Any) -> Iterator[str]:
    """The full commands of a name that is typed in the wrong place: among the verbs, and in their groups."""
    root = ctx.find_root()
    verbs = cast(Commands, root.command.commands)
    if name in verbs.declarations:
        yield f"`{root.info_name} {name}`"
    for verb in filter(verbs.is_group, verbs.declarations):
        with suppress(UsageError):  # the group may not be usable
            if name in verbs.find(verb).commands.declarations:
                yield f"`{root.info_name} {verb} {name}`"


def _with_option(option: str, ctx: Any) -> Iterator[str]:
    """The full commands of the verbs that have an option."""
    root = ctx.find_root()
    verbs = getattr(root.command, "commands", None)
    if not isinstance(verbs, Commands):
        return
    for verb in verbs.declarations:
        with suppress(UsageError):  # what a verb needs may not be installed
            params: list[Any] = [] if verbs.is_group(verb) else verbs[verb].get_params(ctx)
            if any(option in param.opts for param in params if not param.hidden):
                yield f"`{root.info_name} {verb}`"


def _enumeration(commands: list[str], most: int = 3) -> str:
    """The first of several as a text."""
    *first, last = [*commands[:most], "others"] if len(commands) > most else commands
    return f"{', '.join(first)} and {last}" if first else last


class _DeclaredCommand(TyperCommand):
    """What an overview shows of a command. The command itself is imported to parse the rest of the line."""

    def __init__(self, name: str, line: str, commands: Commands) -> None:
        super().__init__(name, help=line, rich_markup_mode=None)
        self._commands = commands

    def make_context(self, info_name: Any, *args: Any, **settings: Any) -> Any:
        name = cast(str, self.name)
        if name in self._commands.older and not settings.get("resilient_parsing"):
            instead = self._commands.older[name]
            print_err(f"`wildtool {name}` is {instead} now; the older name goes with {GOES_WITH}")
        try:
            command = self._commands[name]
        except Exception as error:
            raise typer.Exit(report_error(error)) from error
        return command.make_context(info_name, *args, **settings)


_VERBS = Commands(
    {
        "run": "Run a benchmark on models and score it.",
        "score": "Score recorded replies again, without calling a model.",
        "show": "Show the results of runs side by side, or among published ones.",
        "compare": "Test whether runs are better or worse than the first one.",
        "gate": "Fail if a model got significantly worse.",
        "tools": "Check your own tools, test which are confused, or compare two versions of them.",
        "report": "Make a web report of runs, or Markdown or LaTeX tables.",
        "view": "Browse runs and their reports, and track running ones.",
        "export": "Convert runs to logs, tables, training data or bundles.",
        "list": "List benchmarks, models, agents, profiles, modes, formats or cards.",
        "check": "Check an endpoint for broken tool calls.",
        "board": "Submit runs to a leaderboard, verify submissions, and build its page.",
        "audit": "Check the scorer: score gold answers, with and without mistakes.",
        "trust": "Show what a wildtool.toml would do, and trust it.",
        "new": "Write a first file of own cases, or the files of a new benchmark.",
        "generate": "Generate sessions, items, tools or training data.",
        "worker": "Start workers of a shared run, here or on a cluster.",
        "review": "Review and correct made sets, and release them.",
        "data": "Download, check, describe, refresh, convert and mix data.",
    },
    extras={"generate": "data", "review": "review"},
    older={
        "catalogue": "`wildtool tools`, or `wildtool compare RUN… --curve tools`,",
        "curve": "`wildtool run SERIES`, and then `wildtool compare SERIES --curve data`,",
        "submit": "`wildtool board submit` and `wildtool board verify`",
        "launch": "`wildtool worker`",
    },
)
GC_THRESHOLD = 10_000
"""New objects after which the garbage collector looks for reference cycles."""


SECTIONS: Mapping[str, tuple[str, ...]] = {
    "Measure": ("run", "score", "check", "tools", "list"),
    "Read results": ("show", "compare", "gate", "report", "view"),
    "Share": ("export", "board"),
    "Data": ("data", "generate", "review", "audit"),
    "Setup": ("new", "trust", "worker"),
}
"""The verbs by what they are for, as `wildtool --help` lists them."""
OTHER_PACKAGES = "Of other packages"
"""The section of verbs that other packages add."""


@contextmanager
def _older_names_said() -> Generator[None]:
    """Meanwhile the use of an older name is printed, once for each."""
    said = set[str]()

    def say(message: Warning | str, category: type[Warning], *more: Any, **settings: Any) -> None:
        if not issubclass(category, OlderNameWarning):
            before(message, category, *more, **settings)
        elif str(message) not in said:
            said.add(str(message))
            print_err(f"wildtool: {message}")

    with warnings.catch_warnings():
        warnings.simplefilter("always", OlderNameWarning)
        before, warnings.showwarning = warnings.showwarning, say
        yield


class _Verbs(CommandGroup):
    """All verbs. Nothing that they print holds a secret that is known, or that the command line holds."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{**settings, "commands": _VERBS})

    def main(self, args: Any = None, *more: Any, **settings: Any) -> Any:
        register_words(sys.argv[1:] if args is None else list(args))
        with redacted_output(), _older_names_said():
            return super().main(args, *more, **settings)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """`wildtool help VERB` and `wildtool version` are what they say, and other programs' words name the verb."""
        word = args[0] if args else ""
        if word == "version":
            _version(True)
        if word == "help":
            args = [*args[1:], "--help"]
        if args == ["--help"]:
            print_out(ctx.get_help())
            raise typer.Exit
        if word in OTHER_WORDS:
            ctx.fail(f"No such command {word!r}. Did you mean `{ctx.info_name} {OTHER_WORDS[word]}`?")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The verbs by section."""
        names = self.list_commands(ctx)
        listed = {name for verbs in SECTIONS.values() for name in verbs}
        widest = max(map(len, names))
        for title, verbs in {
            **SECTIONS,
            OTHER_PACKAGES: [name for name in names if name not in listed],
        }.items():
            commands = [(name, self.get_command(ctx, name)) for name in verbs if name in names]
            if commands:
                with formatter.section(title):
                    rows = [
                        (name.ljust(widest), command.get_short_help_str(WIDTH)) for name, command in commands
                    ]
                    formatter.write_dl(rows)


app = typer.Typer(cls=_Verbs, pretty_exceptions_enable=False, no_args_is_help=True, **PLAIN)


def _version(requested: bool) -> None:
    if requested:
        print(f"wildtool {__version__}")
        raise typer.Exit


@app.callback()
def wildtool(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Measure how well language models use tools in realistic conversations.

    \b
    Start here:
      wildtool run wild-mini --model baseline/gold
      wildtool show runs/wild-mini
      wildtool run --help

    Exit status: 0 success; 1 internal error, or a check failed; 2 wrong usage or data; 3 calls failed or a limit was
    reached (the same command continues); 4 a gate is undecided; 130 interrupted.
    """


def _log_steps(text: str) -> None:
    """Writes steps to a log; what that takes is loaded with the first of them."""
    from wildtool.terminal.progress import StepLog

    log = StepLog()
    show_steps(log)
    log(text)


def main() -> None:
    """Runs the command, after `wildtool.__main__` has said what a stop does."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A terminal with an old encoding shows plain letters, and question marks, instead of ending a run.
            stream.reconfigure(errors=PLAIN_LETTERS)
    # Running and judging make many objects and hardly any reference cycles.
    gc.set_threshold(GC_THRESHOLD, *gc.get_threshold()[1:])
    if sys.stderr.isatty():
        from wildtool.terminal import print_step

        show_steps(print_step)
        if sys.stdin.isatty():
            from wildtool.terminal import ask_trust
            from wildtool.trust_request import ask_by

            ask_by(ask_trust)
    else:
        show_steps(_log_steps)
    app(prog_name="wildtool")
