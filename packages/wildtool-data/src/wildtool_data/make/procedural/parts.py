"""Sets of sessions made by several processes: what each is given, and what it gives for a part."""

import gzip
import io
import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from wildtool import __version__
from wildtool.errors import UsageError
from wildtool.json_codec import as_object, checked
from wildtool_data.make.core.files import json_line
from wildtool_data.make.core.plan import SessionGenerationSpec
from wildtool_data.make.procedural.sessions import PART_SESSIONS, ProceduralSet
from wildtool_data.make.procedural.tool_sets import ToolPart

_QUICK = 1
"""Level of compression; the sessions take a tenth of their size."""
_DAMAGED = "the settings of these parts are damaged, so remove their folder and start the command again"
_FIELDS: Mapping[str, type] = {
    "sessions": int, "tasks": int, "part_sessions": int, "seed": str, "langs": list, "twins": bool, "tools": str,
    "part": dict,
}  # fmt: skip
"""Types of the other settings."""
_OPTIONAL = ("tools", "part")


def set_settings(
    spec: SessionGenerationSpec, part: ToolPart | None, part_sessions: int = PART_SESSIONS
) -> dict[str, Any]:
    """What other processes need to make parts of a set, as JSON; sets of other sessions have other settings."""
    tools = spec.tools and spec.tools.absolute()
    return {
        "version": __version__,
        "sessions": spec.sessions,
        "tasks": spec.tasks,
        "seed": spec.seed,
        "langs": list(spec.langs),
        "twins": spec.paired_languages,
        "tools": tools and str(tools),
        "tools_digest": tools and sha256(tools.read_bytes()).hexdigest(),
        "part": part and {"places": list(part.places), "names": sorted(part.names)},
        "part_sessions": part_sessions,
    }


class SetMaker:
    """Makes parts of a set."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        """Args: settings: of `set_settings`.

        Errors as of `procedural_sessions`; UsageError for a version or tools that differ, DataError for damaged settings.
        """
        version = checked(settings.get("version"), str, f"{_DAMAGED}: field version")
        if version != __version__:
            raise UsageError(
                f"these sessions are made by wildtool {version}; this is {__version__}: use the same version"
            )
        for name, kind in _FIELDS.items():
            if name not in _OPTIONAL or settings.get(name) is not None:
                checked(settings.get(name), kind, f"{_DAMAGED}: field {name}")
        part, tools = settings.get("part"), settings.get("tools")
        for name in ("places", "names") if part is not None else ():
            checked(as_object(part).get(name), list, f"{_DAMAGED}: field part: {name}")
        self._set = ProceduralSet(
            SessionGenerationSpec(
                sessions=settings["sessions"],
                tasks=settings["tasks"],
                seed=settings["seed"],
                langs=tuple(settings["langs"]),
                tools=Path(tools) if tools else None,
                paired_languages=settings["twins"],
            ),
            # Who started the processes says it once.
            note=lambda _: None,
            part=part and ToolPart(tuple(part["places"]), frozenset(part["names"])),
            part_sessions=settings["part_sessions"],
        )
        if tools and sha256(Path(tools).read_bytes()).hexdigest() != settings.get("tools_digest"):
            raise UsageError(
                f"{tools}: the tools are other ones than where the sessions were started; put the same file here"
            )

    def part(self, number: int) -> bytes:
        """The sessions of a part, for `part_lines`."""
        packed, easier_sessions = io.BytesIO(), 0
        with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=_QUICK, mtime=0) as file:
            for record, easier in self._set.part(number):
                easier_sessions += easier
                file.write(json_line(record).encode("utf-8"))
            file.write(json.dumps(easier_sessions).encode())
        return packed.getvalue()


def part_lines(part: bytes) -> Iterator[bytes]:
    """The lines of a part's sessions; behind them, without a line's end, how many are easier than planned."""
    with gzip.GzipFile(fileobj=io.BytesIO(part)) as file:
        yield from file
