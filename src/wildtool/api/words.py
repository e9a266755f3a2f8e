"""How messages name a setting: as an option in a terminal, as a field in Python.

A setting has one name. Messages are written with its option, `--max-cost`, since most are read in a terminal; where no
command is at work, they leave this package with the field, `max_cost=`.
"""

import re
from collections.abc import Collection, Generator, Mapping
from contextlib import contextmanager

from wildtool.errors import WildtoolError
from wildtool.written import COMMAND

_KNOWN: dict[str, tuple[bool, Collection[str]]] = {
    **dict.fromkeys(("only_played", "anyway", "all_pairs", "allow_undecided", "update_baseline"), (True, ())),
    **dict.fromkeys(
        ("metric", "model", "against", "worse_than", "at_least", "newly_broken", "burn_in"), (False, ())
    ),
}
"""Names that have a field or a keyword in Python, with whether it is true or false, and the words that it may be."""
_QUOTED = r"(?<!\w)(?:'[^'\n]*'|\"[^\"\n]*\")(?!\w)"
_OPTION = re.compile(
    rf"{_QUOTED}|(?<![\w/-])--(?P<name>[a-z][a-z-]*)(?:[ =](?P<value>'[^']*'|[^\s,;:()`]+(?::[^\s,;:()`]+)*))?"
)
"""An option with its value. A text in quotes is somebody's own, so that nothing in it is taken for one."""
_COMMANDS = re.compile(r"(`[^`]*`)")
_PLACEHOLDER = re.compile(r"[A-Z]+(?:\|[A-Z]+)*")
_TELLING = re.compile(r"\d|[/.:=]")
"""What no plain word of a sentence has."""
_PHRASES = {
    re.compile(r"repeat the option: (?:-m \S+ ?)+"): "give a list: model=[…]",
    re.compile(r"\b(the same|the first|its first) command\b"): r"\1 call",
    re.compile(r"\b(run|start) the command again\b"): "make the call again",
}


def know(names: Mapping[str, tuple[bool, Collection[str]]]) -> None:
    """Adds settings to those that have a field in Python. Args: names: as `_KNOWN`."""
    _KNOWN.update(names)


def option_of(name: str) -> str:
    """The option of a setting."""
    return f"--{name.replace('_', '-')}"


def in_python(text: str) -> str:
    """A message with fields where it names options. Commands between backticks stay as they are."""
    parts = _COMMANDS.split(text)
    for place in range(len(parts)):
        is_quoted = parts[place].startswith("`")
        if is_quoted and not parts[place].startswith("`--"):
            continue
        for pattern, words in _PHRASES.items():
            parts[place] = pattern.sub(words, parts[place])
        parts[place] = _OPTION.sub(_quoted_field if is_quoted else _field, parts[place])
    return "".join(parts)


@contextmanager
def words_of_the_caller() -> Generator[None]:
    """Errors that leave it name options while a command is at work, and fields otherwise."""
    try:
        yield
    except WildtoolError as error:
        if not COMMAND.get():
            error.args = (in_python(str(error.args[0])), *error.args[1:])
        raise


def _quoted_field(match: re.Match[str]) -> str:
    """As `_field`, of an option between backticks, where nothing but its value follows it."""
    return _field(match, has_value=True)


def _field(match: re.Match[str], *, has_value: bool = False) -> str:
    name, value = (match["name"] or "").replace("-", "_"), match["value"]
    if name not in _KNOWN:
        return match[0]
    is_flag, words = _KNOWN[name]
    gap = match[0][len("--") + len(match["name"]) :][:1]
    bare = (value or "").strip("'\"").rstrip(".")
    if is_flag:
        return f"{name}=True" + (f"{gap}{value}" if value else "")
    if value is None:
        return f"{name}="
    if _PLACEHOLDER.fullmatch(bare) or bare.isdecimal():
        return f"{name}={value}"
    if '"' in bare:
        return f"{name}='{bare}'"
    if (
        bare in words
        or bare == "auto"
        or has_value
        or (value[:1] == "'" and value[-1:] == "'")
        or _TELLING.search(bare)
    ):
        return f'{name}="{bare}"' + value[len(value.rstrip(".")) :]
    return f"{name}={gap}{value}"
