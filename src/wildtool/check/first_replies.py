"""Looks at the first replies of a run for broken tool calls, while the run goes on. It sends nothing."""

from wildtool.check.answers import read_raw_answer
from wildtool.check.defects import DefectKind
from wildtool.check.ledger import Ledger
from wildtool.check.wire_rules import check_wire
from wildtool.types import Reply

MOST = 20
"""Replies that are looked at."""
WORST = (
    DefectKind.SAME_INDEX,
    DefectKind.IDS_WRONG,
    DefectKind.FINISH_REASON_WITHOUT_CALL,
    DefectKind.ARGUMENTS_NO_JSON_TEXT,
    DefectKind.BRACES_UNBALANCED,
    DefectKind.REASONING_LEAKS,
    DefectKind.ARGUMENTS_ENCODED_TWICE,
    DefectKind.NAME_OR_ARGUMENTS_REPEATED,
)
"""Defects that a single reply shows, and that make calls wrong or unreadable."""


class FirstReplies:
    """Says once what the first replies of a run show."""

    def __init__(self) -> None:
        self._count = 0
        self._problems: set[tuple[DefectKind, str]] = set()

    def __call__(self, reply: Reply) -> list[str]:
        """Remarks on a reply; none after the first ones, and for replies in other protocols than chat completions."""
        self._count += 1
        if self._count > MOST:
            return []
        ledger = Ledger()
        check_wire([read_raw_answer("run", {}, reply.raw.encode("utf-8", "replace"))], ledger)
        findings = {(finding.kind, finding.problem) for finding in ledger.findings if finding.kind in WORST}
        new = sorted(findings - self._problems)
        self._problems |= findings
        return [f"in a reply: {problem} (defect {kind}; see `wildtool check`)" for kind, problem in new]
