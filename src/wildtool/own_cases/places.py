"""Records of a case file with the place of each value in it, and what is wrong at a place."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from wildtool.findings import Finding, FindingLevel
from wildtool.json_codec import as_list, as_object
from wildtool.own_cases.form import unknown_key
from wildtool.toolcall.schema import ValuePath, path_text


@dataclass(frozen=True, slots=True)
class CaseFault:
    """What is wrong at a place of a file."""

    file: Path
    line: int
    field: str
    """The path of the value in its record; empty for the record."""
    message: str
    level: FindingLevel = "error"

    def __str__(self) -> str:
        warning = "warning: " if self.level == "warning" else ""
        return f"{self.file}:{self.line} {self.field or 'case'}: {warning}{self.message}"

    @property
    def finding(self) -> Finding:
        """The fault as `data lint` prints it."""
        return Finding(f"{self.file}:{self.line}", self.field or "case", self.message, self.level)


@dataclass(frozen=True, slots=True)
class CaseRecord:
    """One record as it was written."""

    value: Any
    file: Path
    line: int
    """From 1."""
    lines: Mapping[ValuePath, int] = field(default_factory=dict[ValuePath, int])
    """By path in the file the line of a value, where the file has several lines for a record."""
    sources: Mapping[ValuePath, str] = field(default_factory=dict[ValuePath, str])
    """By path in the file the text of a YAML scalar without quotes, as it was typed."""
    base: ValuePath = ()
    """Its path in the file."""


@dataclass(slots=True)
class CaseDocument:
    """A case file as it was written."""

    path: Path
    records: list[CaseRecord] = field(default_factory=list[CaseRecord])
    defaults: CaseRecord | None = None
    """What `defaults` holds; None where the file has none."""
    faults: list[CaseFault] = field(default_factory=list[CaseFault])
    """What is wrong with the writing itself."""
    reviewers: int | None = None
    """How many people have to review a case, as the file says; None where it says nothing."""

    def fail(self, line: int, field: str, message: str, level: FindingLevel = "error") -> None:
        """Notes what is wrong with the writing."""
        self.faults.append(CaseFault(self.path, line, field, message, level))


class CaseReadError(Exception):
    """A value cannot be read; why is among the faults."""


@dataclass(frozen=True, slots=True)
class CasePlace:
    """A value in a record, and where faults are noted."""

    record: CaseRecord
    faults: list[CaseFault]
    path: ValuePath = ()

    def at(self, *keys: str | int) -> "CasePlace":
        """The place of a value inside."""
        return CasePlace(self.record, self.faults, (*self.path, *keys))

    @property
    def value(self) -> Any:
        """The value there; None where there is none."""
        value = self.record.value
        for key in self.path:
            if isinstance(key, int):
                members = as_list(value)
                value = members[key] if key < len(members) else None
            else:
                value = as_object(value).get(key)
        return value

    @property
    def entries(self) -> list["CasePlace"]:
        """The places of the entries of a list; this place for a value that is none."""
        value: Any = self.value
        if not isinstance(value, list):
            return [self]
        return [self.at(number) for number in range(len(as_list(value)))]

    def check_keys(self, keys: Collection[str]) -> None:
        """Notes the keys of an object that are not known."""
        for key in as_object(self.value):
            if key not in keys:
                self.at(key).fail(unknown_key(key, keys))

    @property
    def source(self) -> str | None:
        """The text of a YAML scalar without quotes; None for any other value."""
        return self.record.sources.get((*self.record.base, *self.path))

    @property
    def line(self) -> int:
        """The line of the value, or of the nearest one around it that is known."""
        path = (*self.record.base, *self.path)
        above = (self.record.lines.get(path[:end]) for end in range(len(path), len(self.record.base) - 1, -1))
        return next((line for line in above if line is not None), self.record.line)

    def fail(self, message: str, level: FindingLevel = "error") -> None:
        """Notes what is wrong here."""
        fault = CaseFault(self.record.file, self.line, path_text(self.path), message, level)
        if fault not in self.faults:
            self.faults.append(fault)

    def refuse(self, message: str) -> NoReturn:
        """Notes what is wrong here, where nothing can be read. Raises CaseReadError."""
        self.fail(message)
        raise CaseReadError

    def warn(self, message: str) -> None:
        """Notes what may be meant otherwise."""
        self.fail(message, "warning")
