"""What the rules note down: findings with their evidence, and which defects were tested."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from wildtool.check.answers import RawAnswer
from wildtool.check.defects import DEFECTS, DefectKind

Status = Literal["defect", "fit", "not tested"]


@dataclass(slots=True)
class DefectFinding:
    """One thing that is wrong, with the answers that show it."""

    kind: DefectKind
    """Of the defect."""
    problem: str
    answers: list[RawAnswer] = field(default_factory=list[RawAnswer])

    @property
    def forms(self) -> str:
        """In which form of replies it was seen."""
        forms = {answer.streamed for answer in self.answers}
        return "streamed and whole" if len(forms) == 2 else "streamed" if forms == {True} else "whole"


class Ledger:
    """Findings and tested defects."""

    def __init__(self) -> None:
        self._findings: dict[tuple[DefectKind, str], DefectFinding] = {}
        self._tested: set[DefectKind] = set()
        self.remarks: list[str] = []
        """What is unusual and no defect."""

    def passed(self, *kinds: DefectKind) -> None:
        """Notes that replies could have shown these defects."""
        self._tested.update(kinds)

    def add(self, kind: DefectKind, problem: str, *answers: RawAnswer) -> None:
        """Adds answers to a finding."""
        finding = self._findings.setdefault((kind, problem), DefectFinding(kind, problem))
        finding.answers += [answer for answer in answers if answer not in finding.answers]

    def remark(self, text: str) -> None:
        if text not in self.remarks:
            self.remarks.append(text)

    def judge(
        self, kind: DefectKind, problem: str, bad: Iterable[RawAnswer], good: Iterable[RawAnswer]
    ) -> None:
        """A finding if there are bad answers; tested if there are any."""
        bad = list(bad)
        if bad:
            self.add(kind, problem, *bad)
        elif any(True for _ in good):
            self.passed(kind)

    @property
    def findings(self) -> list[DefectFinding]:
        """In the order of their numbers."""
        return [finding for _, finding in sorted(self._findings.items(), key=lambda pair: pair[0][0])]

    def has(self, kind: DefectKind) -> bool:
        return any(key[0] == kind for key in self._findings)

    def statuses(self) -> dict[DefectKind, Status]:
        """By kind of the defect."""
        return {
            kind: "defect" if self.has(kind) else "fit" if kind in self._tested else "not tested"
            for kind in DEFECTS
        }
