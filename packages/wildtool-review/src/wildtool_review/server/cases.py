"""The pages on which one person reads failures of a run: what they ask for, and what they add to the run's labels.

Others may read the same failures meanwhile, in a browser or in the terminal: each request reads `labels.jsonl` as it is.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from aiohttp import web

from wildtool.engine.record.case_labels import CaseKey, CaseReading, LabelledCases, labels_of_run
from wildtool.engine.score.label_metrics import NO_LABEL
from wildtool.errors import UsageError
from wildtool.report.pages.trajectory_data import tool_texts, trace_view
from wildtool_review.bad_cases.label_sets import LABEL_KEYS, ReadCase
from wildtool_review.bad_cases.reading import RunCases, reading_figures, save_reading
from wildtool_review.server.bodies import number_field, text_field, texts_field
from wildtool_review.server.pages import OK, PageServer, body_of
from wildtool_review.server.payloads import PAGE_SIZE, Payload, problem_payload

_QUEUES = ("unread", "read", "all")
_CONFLICT = 409
_MISSING = 404


class CaseService:
    """The failures of a run as one reader's pages use them. What other readers said is not shown. For one thread."""

    def __init__(self, run: RunCases, cases: LabelledCases, reader: str) -> None:
        self._run = run
        self._drawn = cases
        self._keys = [*cases.proposals]
        self._errors = run.failures()
        self._reader = reader

    def close(self) -> None:
        self._run.close()

    def cases(self) -> LabelledCases:
        """The cases with what was said until now. Raises UsageError if others were drawn meanwhile."""
        cases = labels_of_run(self._run.folder)
        if cases is None or not cases.same_sample(self._drawn):
            raise UsageError(
                "Other failures of this run were drawn meanwhile. Start `wildtool review` again."
            )
        return cases

    def overview(self, body: Payload) -> Payload:
        """What a page needs to know of the reading as a whole."""
        cases = self.cases()
        read = len(self._own(cases))
        labels = zip(LABEL_KEYS, cases.labels.items(), strict=False)
        head = f"{self._run.folder.resolve()} {sorted(cases.labels)} {self._keys}"
        return {
            "set": self._run.folder.name,
            "model": self._run.model,
            "profile": cases.profile,
            "who": self._reader,
            # Tells these cases from others that the same browser was shown, for what it keeps.
            "key": hashlib.sha256(head.encode("utf-8", "backslashreplace")).hexdigest(),
            "labels": [[key, name, about] for key, (name, about) in labels],
            "none": NO_LABEL,
            "queues": {"unread": len(self._keys) - read, "read": read, "all": len(self._keys)},
            "failures": cases.failures,
        }

    def queue(self, body: Payload) -> Payload:
        """Cases that fit filters: unread or read by this reader, with a label, with a text in id, unit or class. Raises
        UsageError for a filter that these cases do not have."""
        cases, start = self.cases(), max(0, number_field(body, "start", 0))
        own, wanted = self._own(cases), str(body.get("queue", "all"))
        label, text = str(body.get("label", "")), str(body.get("text", "")).casefold()
        if wanted not in _QUEUES:
            raise UsageError("there is no list of cases {0}", wanted)
        if label:
            _check_label(cases, label, NO_LABEL)
        rows: list[Payload] = []
        for number, case in enumerate(self._keys):
            said = own.get(case)
            given = (said.labels or (NO_LABEL,)) if said else cases.proposals[case]
            row = self._row(number, case)
            is_wanted = wanted == "all" or (wanted == "read") == (said is not None)
            is_found = text in f"{case} {row['error']}".casefold()
            if is_wanted and is_found and (not label or label in given):
                rows.append({**row, "read": said is not None, "labels": given})
        ids = [row["case"] for row in rows] if start == 0 else []
        return {"total": len(rows), "ids": ids, "rows": rows[start : start + PAGE_SIZE]}

    def case(self, body: Payload) -> Payload:
        """A case for its page."""
        cases, number = self.cases(), self._number(body)
        case = self._keys[number]
        read = self._run.read(case)
        return {
            **self._row(number, case),
            **self._said(cases, case),
            "proposed": cases.proposals[case],
            "reason": read.verdict.reason,
            "decided": _deciding_step(read),
            "happened": trace_view(read.trace, read.verdicts),
            "tools": tool_texts(read.trace),
        }

    def figures(self, body: Payload) -> Payload:
        """Shares of labels, agreement of readers, and how many cases each has read."""
        cases = self.cases()
        by_case = cases.by_case.values()
        return {
            "metrics": [asdict(metric) for metric in reading_figures(cases)],
            "readers": [[name, sum(name in said for said in by_case)] for name in cases.readers],
        }

    def label(self, body: Payload) -> tuple[Payload, int]:
        """Adds what the reader says about a case; it is kept once this returns. What they said in another window since
        they opened it is not replaced unseen."""
        cases, case = self.cases(), self._keys[self._number(body)]
        labels, note = texts_field(body, "labels"), text_field(body, "note").strip()
        for name in labels:
            _check_label(cases, name)
        said = self._own(cases).get(case)
        # The answer to an earlier try may have been lost on its way.
        is_saved = said is not None and (set(said.labels), said.note) == (set(labels), note)
        if not is_saved and self._version(cases, case) != number_field(body, "seen", -1):
            error = UsageError("You have said something else of this case in another window.")
            return {**problem_payload(error), **self._said(cases, case)}, _CONFLICT
        if not is_saved:
            save_reading(self._run.folder, cases, self._reader, case, labels, note)
        return self._said(self.cases(), case), OK

    def _own(self, cases: LabelledCases) -> dict[CaseKey, CaseReading]:
        return {case: said[self._reader] for case, said in cases.by_case.items() if self._reader in said}

    def _version(self, cases: LabelledCases, case: CaseKey) -> int:
        """How often the reader has said something about a case."""
        return sum(one.reader == self._reader and one.case == case for one in cases.readings)

    def _said(self, cases: LabelledCases, case: CaseKey) -> Payload:
        said = self._own(cases).get(case)
        own = {"labels": said.labels, "note": said.note} if said else None
        return {"said": own, "seen": self._version(cases, case)}

    def _row(self, number: int, case: CaseKey) -> Payload:
        name = {"name": str(case), "item": case.item, "unit": case.unit}
        return {"case": number, **name, "error": self._errors.get(case, "")}

    def _number(self, body: Payload) -> int:
        number = number_field(body, "case", -1)
        if not 0 <= number < len(self._keys):
            raise UsageError("there is no case {0}", number + 1)
        return number


def _check_label(cases: LabelledCases, name: str, *others: str) -> None:
    """Raises UsageError for a name that is no label. Args: others: names that are meant, too."""
    if name not in (*cases.labels, *others):
        raise UsageError("{0} is no label of this list", name)


def _deciding_step(case: ReadCase) -> int | None:
    """Which step has the reason of the verdict in its note; None where none has."""
    reason = case.verdict.reason
    return next((at for at, step in enumerate(case.trace.steps) if reason and reason in step.note), None)


class CasesApp(PageServer):
    """What the server answers."""

    own_files = ("cases.html", "cases.js")
    shared_files = (
        "site.css",
        "trajectories.css",
        "site.js",
        "trajectory_texts.js",
        "trajectory_graph.js",
        "trajectory_unit.js",
    )

    def __init__(self, service: CaseService) -> None:
        super().__init__()
        self._service = service
        self._reads: Mapping[str, Callable[[Payload], Payload]] = {
            "review": service.overview,
            "cases": service.queue,
            "case": service.case,
            "figures": service.figures,
        }

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/api/{what}", self.read),
            web.post("/api/label", self.label),
            web.get("/{path:.*}", self.page),
        ]

    async def close(self) -> None:
        await self.work(self._service.close)
        await super().close()

    async def read(self, request: web.Request) -> web.StreamResponse:
        operation, query = self._reads.get(request.match_info["what"]), dict(request.query)

        def act() -> tuple[Any, int]:
            if operation is None:
                return problem_payload(UsageError("There is no such thing to ask for.")), _MISSING
            return operation(query), OK

        return await self.told(act)

    async def label(self, request: web.Request) -> web.StreamResponse:
        body = await body_of(request)
        return await self.told(lambda: self._service.label(body))
