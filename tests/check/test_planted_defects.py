"""Each planted defect is found, streamed and whole, and a sound endpoint has none."""

import json
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest

from check.faulty_endpoint import Endpoint, Fault, faults, http_error
from check.planted_findings import SAID, Said
from faults.server import Call
from wildtool.check.defects import DEFECTS
from wildtool.check.report import CheckReport, check_endpoint
from wildtool.check.sender import Sender
from wildtool.errors import CallError
from wildtool.models.providers.base import HttpModel


class InProcess:
    """A model whose endpoint is called and not connected to."""

    def __init__(self, fault: Fault | None = None) -> None:
        self.endpoint, self.bodies = Endpoint(fault), list[Mapping[str, Any]]()

    async def answer_to(self, fields: Mapping[str, Any]) -> bytes:
        body = json.loads(json.dumps(fields))
        self.bodies.append(body)
        payload = self.endpoint(cast(Call, SimpleNamespace(body=body))).payload or b""
        head, _, answer = payload.partition(b"\r\n\r\n")
        status = int(head.split()[1])
        if status == 200:
            return answer
        message = json.loads(answer)["error"]["message"]
        raise CallError(f"http {status}", f"HTTP {status}: {message}", final=True)


async def checked(fault: Fault | None = None, *, quick: bool = False) -> CheckReport:
    sender = Sender("m", cast(HttpModel, InProcess(fault)), concurrency=8)
    return await check_endpoint(sender, "http://m/v1", quick=quick, load=16, show=lambda count, of: None)


@pytest.mark.parametrize("quick", [False, True])
async def test_a_sound_endpoint_has_no_defect_and_everything_is_tested(quick: bool):
    report = await checked(quick=quick)
    assert [(f.kind, f.problem) for f in report.findings] == []
    assert "not tested" not in report.statuses.values()
    assert report.verdict == "Fit in 39 of 39 classes."
    assert report.fit and report.requests < 400


@pytest.mark.long
@pytest.mark.parametrize("name", list(faults()))
async def test_a_planted_defect_is_named_with_its_replies_and_no_other(name: str):
    report = await checked(faults()[name])
    findings = [(each.kind, each.problem, len(each.answers), each.forms) for each in report.findings]
    untested = [number for number, status in report.statuses.items() if status == "not tested"]
    assert Said(findings, untested, tuple(report.remarks)) == SAID[name]
    count = len({number for number, *_ in findings})
    assert report.verdict.startswith(f"Not fit: {count} defect{'s' if count > 1 else ''} found")


async def test_fields_that_are_refused_are_left_out_with_a_remark():
    def refuse(body: Mapping[str, Any]) -> Any:
        return http_error(400, "no max_tokens") if "max_tokens" in body else None

    report = await checked(Fault(0, refuse=refuse), quick=True)
    assert (report.fit, report.dropped, report.findings) == (True, ["max_tokens"], [])
    assert report.remarks == ["The endpoint refuses max_tokens; the check left that out."]


def test_every_defect_of_the_list_is_planted():
    assert {fault.number for fault in faults().values()} == set(DEFECTS) - {0}
