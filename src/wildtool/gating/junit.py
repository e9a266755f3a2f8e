"""The outcome of a gate as JUnit's XML, which builds read: a test case for each unit of the new runs."""

import re
from collections.abc import Sequence
from itertools import groupby
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from wildtool.gating.outcome import GatedUnit, GateOutcome
from wildtool.sanitize import escape_text

_MOST = 10_000
"""Characters of a reason."""
_NOT_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_document(outcome: GateOutcome) -> bytes:
    """The document. A wrong unit is a failure; one without a verdict is an error, since it is no wrong answer."""
    root = Element("testsuites", name="wildtool gate")
    for (model, benchmark), units in groupby(outcome.units, lambda unit: (unit.model, unit.benchmark)):
        _add_suite(root, f"{benchmark}: {model}", list(units), outcome)
    _count(root)
    indent(root)
    return b'<?xml version="1.0" encoding="utf-8"?>\n' + tostring(root, encoding="utf-8") + b"\n"


def _add_suite(root: Element, name: str, units: Sequence[GatedUnit], outcome: GateOutcome) -> None:
    suite = SubElement(root, "testsuite", name=_text(name))
    properties = SubElement(suite, "properties")
    for key, value in (("outcome", outcome.outcome), ("verdict", outcome.verdict)):
        SubElement(properties, "property", name=key, value=_text(value))
    for unit in units:
        case = SubElement(
            suite,
            "testcase",
            classname=_text(name),
            name=_text(unit.name),
            time=f"{unit.reasons.seconds:.3f}",
        )
        _add_result(case, unit)
    _count(suite)


def _add_result(case: Element, unit: GatedUnit) -> None:
    tried, its = unit.tried, unit.reasons
    if tried.judged and not tried.passes:
        kind = "newly broken" if unit.is_newly_broken else "flaky" if unit.is_flaky else "wrong"
        failure = SubElement(case, "failure", type=kind, message=_text(its.error or kind))
        failure.text = _text(unit.text)
    elif tried.failed:
        SubElement(case, "error", type="no verdict", message=_text(its.failure or "not played"))


def _count(element: Element) -> None:
    """Writes how many test cases, failures and errors are inside."""
    found = {"tests": "testcase", "failures": "failure", "errors": "error"}
    for name, tag in found.items():
        element.set(name, str(sum(1 for _ in element.iter(tag))))
    seconds = sum(float(case.get("time", "0")) for case in element.iter("testcase"))
    element.set("time", f"{seconds:.3f}")


def _text(text: str) -> str:
    """A text that XML may hold: other characters are written as escapes."""
    safe = escape_text(text[:_MOST])
    return _NOT_XML.sub(lambda match: ascii(match[0])[1:-1], safe)
