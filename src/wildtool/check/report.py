"""What a check found, as records, JSON and Markdown."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from wildtool import __version__
from wildtool.check.answers import RawAnswer
from wildtool.check.defects import DEFECTS, DefectKind
from wildtool.check.ledger import DefectFinding, Ledger, Status
from wildtool.check.probe_rules import check_probes
from wildtool.check.refusals import check_refusals
from wildtool.check.sender import Sender, ask_all
from wildtool.check.wire_rules import check_wire
from wildtool.json_codec import dumps
from wildtool.sanitize import escape_text

MOST_CHARACTERS = 4_000
"""Of a request and of an answer that a report quotes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """The result of one check."""

    model: str
    endpoint: str
    """Its address, without keys."""
    requests: int
    seconds: float
    quick: bool
    demanded: bool
    """Whether calls were demanded by `tool_choice`, since the model made none without."""
    statuses: Mapping[DefectKind, Status]
    """By number of the defect."""
    findings: list[DefectFinding]
    remarks: list[str]
    dropped: list[str]
    """Fields that the endpoint refused, and that the check then left out."""
    agreement: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Comparison with another endpoint; empty without one."""

    def count(self, status: Status) -> int:
        """How many defects of the list, without number 0, have a status."""
        return sum(each == status for kind, each in self.statuses.items() if kind.is_listed)

    @property
    def fit(self) -> bool | None:
        """Whether no defect was found; None if the model made no call, so that little was tested."""
        if "defect" in self.statuses.values():
            return False
        # Any call that is read passes this one.
        return True if self.statuses[DefectKind.ARGUMENTS_NO_JSON_TEXT] == "fit" else None

    @property
    def not_tested(self) -> list[DefectKind]:
        """Numbers of the defects of the list, without number 0, that no reply could show."""
        return [kind for kind, status in self.statuses.items() if kind.is_listed and status == "not tested"]

    @property
    def verdict(self) -> str:
        """One sentence, with what it does not cover."""
        if self.fit is None:
            return "Not tested: the model made no tool call, not even where tool_choice demanded one."
        classes, untested = len(self.statuses) - 1, self.not_tested
        rest = f"{len(untested)} not tested: {', '.join(map(str, untested))}" if untested else ""
        if self.fit:
            covered = f"Fit in {self.count('fit')} of {classes} classes"
            return f"{covered}{', ' if rest else ''}{rest}."
        count = sum(status == "defect" for status in self.statuses.values())
        summary = f"Not fit: {count} defect{'s' * (count != 1)} found"
        return f"{summary}{'; ' if rest else ''}{rest}."

    def as_json(self) -> dict[str, Any]:
        """Everything, as JSON values."""
        findings = {kind: [f for f in self.findings if f.kind == kind] for kind in DEFECTS}
        return {
            "model": self.model,
            "endpoint": self.endpoint,
            "wildtool": __version__,
            "requests": self.requests,
            "seconds": round(self.seconds, 1),
            "quick": self.quick,
            "calls_demanded": self.demanded,
            "fields_left_out": self.dropped,
            "fit": self.fit,
            "verdict": self.verdict,
            "classes": len(self.statuses) - 1,
            "not_tested": self.not_tested,
            "defects": [
                {
                    "number": kind,
                    "name": defect.name,
                    "status": self.statuses[kind],
                    **({"why": defect.untested} if self.statuses[kind] == "not tested" else {}),
                    "probes": defect.probes,
                    "effect": defect.effect,
                    "cause": defect.cause,
                    "remedy": defect.remedy,
                    "software": defect.software,
                    "findings": [_finding_as_json(finding) for finding in findings[kind]],
                }
                for kind, defect in DEFECTS.items()
            ],
            "remarks": self.remarks,
            **({"agreement": self.agreement} if self.agreement else {}),
        }

    def as_markdown(self) -> str:
        """A page to keep or to attach to a pull request; the same endpoint gives the same page, so it has no times."""
        return "\n".join(["<!-- written by wildtool check -->", *self._markdown_lines()]) + "\n"

    def _markdown_lines(self) -> Iterator[str]:
        yield f"# Check of {_code(self.model)} at {_code(self.endpoint)}"
        yield f"\n**{self.verdict}** {self.requests} requests, wildtool {__version__}.\n"
        yield "| # | defect | result |\n|---|---|---|"
        for kind, status in self.statuses.items():
            reason = f": {DEFECTS[kind].untested}" if status == "not tested" else ""
            yield f"| {kind} | {DEFECTS[kind].name} | {status}{reason} |"
        for finding in self.findings:
            defect, answer = DEFECTS[finding.kind], finding.answers[0]
            yield f"\n## {finding.kind}. {defect.name}\n"
            yield f"{_code(finding.problem)}, in {len(finding.answers)} {finding.forms} replies.\n"
            for name in ("effect", "cause", "remedy", "software"):
                yield f"- {name}: {getattr(defect, name)}"
            yield f"\nSent:\n\n````json\n{sent_text(answer)}\n````\n\nReceived:\n\n````\n{received_text(answer)}\n````"
        for remark in self.remarks:
            yield f"\nRemark: {escape_text(remark)}"
        if self.agreement:
            yield f"\n## Agreement\n\n{escape_text(self.agreement['verdict'])}\n"
            yield "| | same | 95 % interval | same when repeated |\n|---|---|---|---|"
            for row in agreement_rows(self.agreement):
                yield f"| {' | '.join(row)} |"


def agreement_rows(agreement: Mapping[str, Any]) -> list[tuple[str, str, str, str]]:
    """What was compared, the share that is the same, its interval, and the share of the first endpoint with itself."""
    pairs = zip(agreement.get("agreement", ()), agreement.get("with_itself", ()), strict=True)
    return [
        (
            share["of"],
            f"{share['same']} of {share['compared']}",
            f"{100 * share['low']:.1f} to {100 * share['high']:.1f} %",
            f"{repeat['same']} of {repeat['compared']}",
        )
        for share, repeat in pairs
    ]


def _code(text: str) -> str:
    """A text as Markdown code, whatever it holds."""
    return f"``{escape_text(text).replace('`', chr(39))}``"


def _finding_as_json(finding: DefectFinding) -> dict[str, Any]:
    answer = finding.answers[0]
    return {
        "problem": finding.problem,
        "replies": len(finding.answers),
        "forms": finding.forms,
        "probe": answer.probe,
        "sent": sent_text(answer),
        "received": received_text(answer),
    }


def sent_text(answer: RawAnswer, most: int = MOST_CHARACTERS) -> str:
    """The body that was sent, without the model, bounded and safe to show."""
    return _bounded(dumps(answer.sent).decode("utf-8", "replace"), most)


def received_text(answer: RawAnswer, most: int = MOST_CHARACTERS) -> str:
    """The raw bytes of an answer, or how the endpoint refused; bounded and safe to show."""
    return _bounded(answer.raw.decode("utf-8", "backslashreplace") or answer.failure, most)


def _bounded(text: str, most: int) -> str:
    safe = escape_text(text.strip())
    return safe if len(safe) <= most else f"{safe[: most // 2]} […] {safe[-most // 2 :]}"


async def check_endpoint(
    sender: Sender, endpoint: str, *, quick: bool, load: int, show: Callable[[int, int], None]
) -> CheckReport:
    """Checks one endpoint. Arguments and errors as of `ask_all`."""
    started = time.monotonic()
    answers, demanded = await ask_all(sender, quick=quick, load=load, show=show)
    ledger = Ledger()
    check_wire((answer for group in answers.values() for answer in group), ledger)
    check_probes(answers, ledger)
    check_refusals(answers, ledger)
    if demanded:
        ledger.remark(
            "The model made no call by itself; tool_choice `required` demanded all calls of this check."
        )
    if sender.dropped:
        ledger.remark(f"The endpoint refuses {', '.join(sender.dropped)}; the check left that out.")
    return CheckReport(
        model=sender.name,
        endpoint=endpoint,
        requests=sender.sent,
        seconds=time.monotonic() - started,
        quick=quick,
        demanded=demanded,
        statuses=ledger.statuses(),
        findings=ledger.findings,
        remarks=ledger.remarks,
        dropped=sender.dropped,
    )
