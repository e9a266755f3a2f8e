"""The table of defects, and the page that shows it."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.check.answers import read_raw_answer
from wildtool.check.defects import DEFECTS, DefectKind
from wildtool.check.ledger import Ledger
from wildtool.check.probe_rules import check_probes
from wildtool.check.probes import FIRST, probes
from wildtool.check.wire_rules import check_wire, ends_wrong

PAGE = Path(__file__).parents[2] / "docs" / "check.md"


def test_the_file_names_each_class_of_the_enumeration_in_its_order():
    assert list(DEFECTS) == list(DefectKind) == list(range(len(DefectKind)))


def test_the_page_has_every_defect_as_the_table_has_it():
    page = PAGE.read_text("utf-8")
    for defect in list(DEFECTS.values())[1:]:
        assert f"| {defect.kind} | {defect.name} | {defect.probes} | {defect.software} |" in page


def test_a_check_sends_fewer_than_400_requests():
    every = [FIRST, *probes(quick=False, load=32)]
    assert sum(len(probe.forms) * probe.repeats for probe in every) < 400


@pytest.mark.parametrize("text", ['{"a": 1', '{"a": 1}}', '{"a": {"b": 1}', '{"a": "b'])
def test_a_text_that_lacks_or_repeats_its_end_is_noticed(text: str):
    assert ends_wrong(text)


@pytest.mark.parametrize("text", ['{"a": }', "a", '{"a" 1}'])
def test_a_text_that_is_wrong_elsewhere_is_not(text: str):
    assert not ends_wrong(text)


KEYS = [
    "choices",
    "message",
    "delta",
    "tool_calls",
    "function",
    "name",
    "arguments",
    "id",
    "index",
    "usage",
    "finish_reason",
    "content",
    "error",
    "prompt_tokens",
    "completion_tokens",
    "prompt_tokens_details",
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)


@given(
    st.binary(max_size=60)
    | JSON.map(lambda value: _body(value, stream=False))
    | JSON.map(lambda v: _body(v, stream=True))
)
def test_no_answer_makes_a_rule_raise(raw: bytes):
    answers = {
        probe.name: [
            read_raw_answer(probe.name, probe.body(form, forced=False), raw) for form in (False, True)
        ]
        for probe in (FIRST, *probes(quick=False, load=2))
    }
    ledger = Ledger()
    check_wire((answer for group in answers.values() for answer in group), ledger)
    check_probes(answers, ledger)
    assert set(ledger.statuses()) == set(DEFECTS)


def _body(value: object, *, stream: bool) -> bytes:
    choice = value if isinstance(value, dict) else {"message": value, "delta": value}
    key = "delta" if stream else "message"
    text = json.dumps({"choices": [{key: choice, **choice}], "usage": choice.get("usage")})
    return f"data: {text}\n\ndata: [DONE]\n\n".encode() if stream else text.encode()
