"""Agents that are programs: one of the templates, one that speaks ACP, or any command."""

import asyncio
import os
import re
import shlex
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from shutil import which
from subprocess import DEVNULL, PIPE, TimeoutExpired
from typing import Any

from wildtool.agents.agent import LiveAgent, Place, Traits, TurnEnd
from wildtool.agents.confine import Confinement, confinement_here, names_file
from wildtool.agents.drivers.acp import Acp
from wildtool.agents.drivers.app_server import AppServer
from wildtool.agents.drivers.base import Driver, Start
from wildtool.agents.drivers.once import Once
from wildtool.agents.drivers.process import AgentProcess, Command
from wildtool.agents.drivers.rpc import Rpc
from wildtool.agents.drivers.stream_json import StreamJson
from wildtool.agents.templates import (
    AGENT_SLOTS,
    FILE,
    TURN_SLOTS,
    Template,
    agent_templates,
    filled,
    filled_file,
    filled_value,
    filled_words,
    slots_of,
)
from wildtool.children import Child
from wildtool.errors import UsageError, unknown_name
from wildtool.json_codec import as_object, loads

ACP = "acp:"
"""How the name of an agent begins that is the command of one that speaks the Agent Client Protocol."""
KEY = "wildtool-adds-the-key"
"""What an agent gives as its key. The model door has the real one."""
AGENT_START_S = 300.0
"""How long an agent may take until it can be given a turn; OpenCode takes 20 s, and 16 may start at once."""
_VERSION_S = 20.0
_DRIVERS: Mapping[str, type[Driver]] = {
    "stream-json": StreamJson,
    "app-server": AppServer,
    "rpc": Rpc,
    "acp": Acp,
}
_ENVIRONMENT = {
    "HOME": "{home}",
    "XDG_CONFIG_HOME": "{home}/.config",
    "XDG_DATA_HOME": "{home}/.local/share",
    "XDG_CACHE_HOME": "{home}/.cache",
    "XDG_STATE_HOME": "{home}/.local/state",
    "TMPDIR": "{tmp}",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "TERM": "dumb",
    "NO_COLOR": "1",
    "CI": "1",
    # Nobody is there: programs that keep to it reach nothing but the doors.
    "HTTP_PROXY": "http://127.0.0.1:9",
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "NO_PROXY": "127.0.0.1,localhost",
}
"""The variables of every agent, beside PATH."""
_DOORS = {
    "OPENAI_BASE_URL": "{doors}/v1",
    "OPENAI_API_KEY": "{key}",
    "OPENAI_MODEL": "{model}",
    "ANTHROPIC_BASE_URL": "{doors}",
    "ANTHROPIC_API_KEY": "{key}",
    "ANTHROPIC_MODEL": "{model}",
    "GOOGLE_GEMINI_BASE_URL": "{doors}",
    "GEMINI_API_KEY": "{key}",
    "GEMINI_MODEL": "{model}",
    "WILDTOOL_MCP_URL": "{mcp_url}",
    "WILDTOOL_MODEL": "{model}",
}
"""Where a command that is no template of ours finds the doors, under the names that clients look for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandAgent:
    """An agent that is a program."""

    name: str
    template: Template
    confinement: Confinement
    shown: tuple[Path, ...] = ()
    """Folders and files beside those of its program that it may read in a sandbox."""

    @property
    def traits(self) -> Traits:
        return self.template.traits

    def settings(self) -> dict[str, Any]:
        template = self.template
        return {
            "command": list(template.command),
            "driver": template.driver,
            "wire": template.wire or "any",
            "version": _version(which(template.command[0]), template.npm),
            "tried": template.version or None,
            "own_tools": template.own_tools or "not known",
            "shown": [str(path) for path in self.shown],
            **self.confinement.settings(),
        }

    async def start(self, place: Place) -> LiveAgent:
        values = _values(self.template, place)
        _prepare(self.template, values)
        command = self._command(place, values)
        if self.template.driver == "once":
            live: LiveAgent = Once(command, values)
        else:
            command = replace(command, words=filled_words(command.words, values))
            more = filled_value(dict(self.template.more), values)
            live = await _driven(self.template.driver, Start(command=command, place=place, more=more))
        has_place = "instructions" in _slots(self.template)
        return _Spoken(live, "" if has_place else place.instructions, self.template.slash)

    def _command(self, place: Place, values: Mapping[str, str]) -> Command:
        """How it is started, with the slots in its words still open: what fills them may be the path of a file, which is
        none of the program's."""
        template = self.template
        words = [*template.command, *(template.instructed if place.instructions else ())]
        environment = {"PATH": os.environ.get("PATH", os.defpath), **_ENVIRONMENT, **template.environment}
        variables = {name: filled(text, values) for name, text in environment.items()}
        variables = {name: text for name, text in variables.items() if text}
        confined = self.confinement.confined(words, variables["PATH"], place, self.shown)
        return Command(
            name=self.name,
            words=confined,
            environment=variables,
            folder=Path(values["work"]),
            log=place.folder / "stderr.txt",
        )


def agent_named(name: str, *, sandbox: bool = True, shown: Sequence[Path] = ()) -> CommandAgent:
    """The agent that a user names: a template, `acp:COMMAND`, or a command with `{prompt}`.

    Args:
        sandbox: whether it is put into a sandbox where one works.
        shown: folders and files beside those of its program that it may read there.

    Raises UsageError where there is no such agent, or its program is not installed.
    """
    template = _template(name)
    if which(template.command[0]) is None:
        raise UsageError(_not_installed(template))
    confinement = confinement_here(sandbox=sandbox)
    return CommandAgent(
        name=name, template=template, confinement=confinement, shown=tuple(path.absolute() for path in shown)
    )


def _template(name: str) -> Template:
    """The template of a name, or one for a command. Raises UsageError."""
    if name in agent_templates():
        return agent_templates()[name]
    speaks_acp = name.startswith(ACP)
    words = _words(name.removeprefix(ACP), name)
    slots, known = slots_of(list(words)), AGENT_SLOTS if speaks_acp else AGENT_SLOTS | TURN_SLOTS
    if not speaks_acp and not slots and len(words) == 1:
        others = f"or {ACP}'COMMAND' for one that speaks ACP, or a command with {{prompt}} in it"
        raise UsageError(f"{unknown_name('agent', name, agent_templates())}; {others}")
    for slot in sorted(slots - known):
        raise UsageError(f"{name}: {unknown_name('slot', slot, sorted(known))}")
    if not speaks_acp and "prompt" not in slots:
        hint = f"or give {ACP}'{name}' if it speaks ACP"
        raise UsageError(f"{name}: a command has {{prompt}} where it takes what the user says; {hint}")
    return Template(name=name, command=words, driver="acp" if speaks_acp else "once", environment=_DOORS)


def _words(command: str, name: str) -> tuple[str, ...]:
    """The words of a command; those that name files here as absolute paths, since it is started in another folder.

    Raises UsageError.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"{name}: not a command line ({error})") from error
    if not words:
        raise UsageError(f"{name}: names no command")
    return tuple(str(Path(word).absolute()) if names_file(word) else word for word in words)


def _not_installed(template: Template) -> str:
    if not template.npm:
        return f"{template.name}: there is no program {template.command[0]!r} on PATH"
    return (
        f"{template.name}: its program {template.command[0]!r} is not on PATH; "
        f"install it: npm install -g {template.package} "
        "(the version that it was tried with)"
    )


@cache
def _version(path: str | None, npm: str) -> str | None:
    """The version of the program of an npm package on this machine; None where neither package nor program says it."""
    if path is None or not npm:
        return None
    for folder in Path(path).resolve().parents:
        package = _json_object(folder / "package.json")
        if package.get("name") == npm:
            return str(package.get("version"))
    return _said_version(path)


def _said_version(program: str) -> str | None:
    """The version in what a program answers to `--version`."""
    environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": os.devnull}
    with Child([program, "--version"], stdin=DEVNULL, stdout=PIPE, stderr=PIPE, env=environment) as child:
        try:
            said = child.communicate(timeout=_VERSION_S)[0].decode("utf-8", "replace")
        except TimeoutExpired:
            return None
    found = re.search(r"\d+\.\d+[\w.+-]*", said)
    return found[0] if found else None


def _json_object(path: Path) -> dict[str, Any]:
    try:
        value = loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return as_object(value)


def _values(template: Template, place: Place) -> dict[str, str]:
    folder = place.folder.absolute()
    return {
        "base_url": place.model_url(template.wire or "chat"),
        "doors": place.base_url,
        "mcp_url": place.mcp_url,
        "model": place.model,
        "instructions": place.instructions,
        "key": KEY,
        "session": str(uuid.uuid4()),
        **{name: str(folder / name) for name in ("home", "work", "tmp")},
    }


def _slots(template: Template) -> set[str]:
    return slots_of([*template.command, *template.instructed, *template.files.values(), dict(template.more)])


def _prepare(template: Template, values: Mapping[str, str]) -> None:
    """Makes the folders of a conversation and writes the files of the template."""
    for folder in ("home", "work", "tmp"):
        Path(values[folder]).mkdir(parents=True, exist_ok=True)
    texts = {path: filled_file(path, text, values) for path, text in template.files.items()}
    texts |= {
        path: FILE.with_name(name).read_text(encoding="utf-8") for path, name in template.copies.items()
    }
    for path, text in texts.items():
        file = Path(values["home"], path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


async def _driven(name: str, start: Start) -> Driver:
    """A driver that can be given a turn. Raises AgentFailedError."""
    driver = _DRIVERS[name](start, await AgentProcess.start(start.command))
    try:
        await asyncio.wait_for(driver.ready(), AGENT_START_S)
    except TimeoutError:
        error = await driver.process.failure(f"it was not ready within {AGENT_START_S:g} s")
        await driver.close()
        raise error from None
    except BaseException:
        await driver.close()
        raise
    return driver


class _Spoken:
    """An agent that is given what the user says as it has to be."""

    def __init__(self, live: LiveAgent, instructions: str, slash: str) -> None:
        """
        Args:
            instructions: the system text, where the agent has no other place for it than what the user says first.
            slash: what keeps a message that begins with `/` from being a command.
        """
        self._live = live
        self._instructions = instructions
        self._slash = slash

    async def turn(self, text: str) -> TurnEnd:
        before, self._instructions = self._instructions, ""
        whole = f"{before}\n\n{text}" if before else text
        return await self._live.turn(f"{self._slash}{whole}" if whole.startswith("/") else whole)

    async def close(self) -> None:
        await self._live.close()
