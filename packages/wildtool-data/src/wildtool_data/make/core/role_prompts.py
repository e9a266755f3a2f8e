"""Texts for the roles that users bring in place of the shipped ones: a folder of them, checked as a whole."""

import hashlib
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wildtool.data.files import read_text
from wildtool.errors import UsageError, unknown_name
from wildtool.types import Lang
from wildtool_data.make.core.prompts import SESSION_PROMPTS, SESSION_ROLES, SLOT, is_reply_form, templates

SLOTS: Mapping[str, Collection[str]] = {
    "user": ("tools", "now", "conversation", "wanted", "examples", "patterns"),
    "planner": ("tools", "now", "conversation"),
    "tool": ("tools", "now", "conversation", "calls", "facts"),
    "agent": ("tools", "now", "conversation", "missing"),
    "checker": ("tools", "now", "conversation", "decision", "results", "message"),
    "judge": ("tools", "now", "conversation", "wanted", "candidates"),
}
"""What a text of a role may name in double braces: the fields of what the role is shown."""
_TALK = ("tools", "now", "conversation")
PART_SLOTS: Mapping[tuple[str, str], Collection[str]] = {
    ("user", "reply"): _TALK,
    ("user", "vague reply"): _TALK,
    ("agent", "answer"): _TALK,
    ("agent", "chat"): _TALK,
    ("checker", "decision"): (*_TALK, "decision"),
    ("checker", "results"): (*_TALK, "results"),
    ("checker", "alone"): ("tools", "now", "message"),
}
"""By role and part what a text may name where that is less: the other fields are never shown with that part."""
_WANTED = (
    "kind", "candidates", "difficulty", "writer", "tool", "leave_out", "may_give", "subtype", "strategy",
)  # fmt: skip
"""Fields of `wanted`, which can be named, too, such as `wanted.tool`."""
_PART = re.compile(r"= (.+)")
RoleTexts = Mapping[str, Mapping[str, str]]
"""By role the texts of its parts; the text before the first part has an empty name."""


@dataclass(frozen=True, slots=True)
class OwnPrompts:
    """The texts of a folder."""

    texts: Mapping[Lang, RoleTexts] = field(default_factory=dict[Lang, RoleTexts])

    @property
    def digest(self) -> str:
        """Digest of all texts: 12 hex digits."""
        return hashlib.sha256(json.dumps(self.texts, sort_keys=True).encode()).hexdigest()[:12]

    def lines(self) -> list[str]:
        """Which parts are replaced, for people."""
        return [
            f"own texts ({lang}): {role}: {', '.join(part or 'beginning' for part in parts)}"
            for lang, roles in self.texts.items()
            for role, parts in roles.items()
        ]


NO_OWN_PROMPTS = OwnPrompts()


def read_role_prompts(folder: Path, langs: Sequence[Lang]) -> OwnPrompts:
    """The texts of a folder, which has a folder for each language; with one language they may lie in itself.

    Raises:
        UsageError: for a folder, file, part or slot that is none of the known ones, or an empty text.
        DataError: for a file that cannot be read.
    """
    if not folder.is_dir():
        raise UsageError(f"--role-prompts {folder}: there is no such folder")
    texts: dict[Lang, RoleTexts] = {}
    for lang in langs:
        place = folder / lang
        if not place.is_dir():
            if len(langs) > 1 or not any(folder.glob("*.txt")):
                raise UsageError(
                    f"--role-prompts {folder}: there is no folder {lang}; put the texts for --lang {lang} in {place}"
                )
            place = folder
        elif stray := next((path for path in _entries(folder) if path.name not in ("en", "zh")), None):
            raise UsageError(
                f"{stray}: lies beside the folders of the languages; put it in {place}, or take it out"
            )
        texts[lang] = _read_language(place, lang)
    return OwnPrompts(texts)


def _entries(folder: Path) -> list[Path]:
    """What lies in a folder, without hidden files."""
    return sorted(path for path in folder.iterdir() if not path.name.startswith("."))


def _read_language(folder: Path, lang: Lang) -> RoleTexts:
    files = _entries(folder)
    if not any(file.suffix == ".txt" for file in files):
        raise UsageError(f"{folder}: holds no text; name each after its role, such as user.txt")
    shipped = templates(lang, SESSION_PROMPTS)
    for file in files:
        if file.suffix != ".txt":
            raise UsageError(f"{file}: is no text of a role; name each after its role, such as user.txt")
        if file.stem not in SESSION_ROLES:
            raise UsageError(f"{file}: {unknown_name('role', file.stem, SESSION_ROLES)}")
    return {file.stem: dict(_read_parts(file, shipped[file.stem])) for file in files}


def _read_parts(file: Path, shipped: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The parts of a file that have text. Raises UsageError."""
    known = [part for part in shipped if part and not is_reply_form(part)]
    parts: dict[str, list[str]] = {"": []}
    name = ""
    for number, line in enumerate(read_text(file).splitlines(), 1):
        if match := _PART.fullmatch(line):
            name = match[1].strip()
            if is_reply_form(name):
                raise UsageError(
                    f"{file}:{number}: the form of a reply is wildtool's, since it reads it; leave {name!r} out"
                )
            if name not in known:
                raise UsageError(f"{file}:{number}: {unknown_name('part', name, known)}")
            if name in parts:
                raise UsageError(f"{file}:{number}: the part {name!r} is there twice")
            parts[name] = []
            continue
        heading = line.strip("= \t")
        if line.startswith("=") and (heading in known or is_reply_form(heading)):
            raise UsageError(f"{file}:{number}: write the beginning of a part as '= {heading}'")
        _check_slots(file, number, line, name)
        parts[name].append(line)
    for name, lines in parts.items():
        text = "\n".join(lines).strip()
        if text:
            yield name, text
        elif name:
            raise UsageError(f"{file}: the part {name!r} is empty; without its line the shipped text stays")


def _check_slots(file: Path, number: int, line: str, part: str) -> None:
    """Raises UsageError for a slot that a part of a role never has."""
    known = [*PART_SLOTS.get((file.stem, part), SLOTS[file.stem])]
    if "wanted" in known:
        known += [f"wanted.{name}" for name in _WANTED]
    for slot in SLOT.findall(line):
        if slot not in known:
            raise UsageError(f"{file}:{number}: {unknown_name('slot', slot, known)}")
