"""Requests are named by hash, and a growing history is stored once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from test_json_codec import ANY_JSON, ANY_TEXT
from wildtool.engine.record.format import new_nodes, rebuild_request, request_hashes
from wildtool.types import Request

MESSAGES = st.lists(st.dictionaries(ANY_TEXT, ANY_JSON, max_size=3), max_size=5)


def test_requests_that_begin_alike_share_the_beginning_of_their_chain():
    one = request_hashes(Request([{"a": 1}, {"b": 2}]))
    other = request_hashes(Request([{"a": 1}, {"b": 3}]))
    assert one[:2] == other[:2]
    assert one[2] != other[2]


def test_the_same_messages_with_other_tools_are_another_request():
    assert request_hashes(Request([{"a": 1}], [{"t": 1}]))[-1] != request_hashes(Request([{"a": 1}]))[-1]


def test_the_order_of_keys_matters_because_it_is_sent():
    assert request_hashes(Request([{"a": 1, "b": 2}])) != request_hashes(Request([{"b": 2, "a": 1}]))


def test_known_links_are_not_given_again():
    first = Request([{"a": 1}], [{"t": 1}])
    then = Request([{"a": 1}, {"b": 2}], [{"t": 1}])
    known = set(request_hashes(first))
    assert [link.get("message") for link in new_nodes(then, request_hashes(then), known)] == [{"b": 2}]


@given(MESSAGES, MESSAGES)
def test_a_request_is_rebuilt_from_its_links(
    messages: list[dict[str, object]], tools: list[dict[str, object]]
):
    request = Request(messages, tools)
    hashes = request_hashes(request)
    assert rebuild_request(hashes[-1], new_nodes(request, hashes, set())) == {
        "messages": messages,
        "tools": tools,
    }


def test_links_that_form_a_ring_are_a_missing_part_and_no_endless_loop():
    ring = [{"hash": "a", "parent": "b", "message": {}}, {"hash": "b", "parent": "a", "message": {}}]
    with pytest.raises(KeyError):
        rebuild_request("a", ring)
