"""What a user sets for a model."""

import pytest

from wildtool.errors import UsageError
from wildtool.models.settings import UNSET, EndpointOptions, Rates, Sampling, without_trailing_slash
from wildtool.types import Address, Request


def test_what_is_not_set_is_not_sent():
    assert (
        Sampling(
            temperature=None, max_tokens=None, seed=None, extra_body={}, response_format=None, stream=False
        )
        == UNSET
    )
    assert (UNSET.limits(), UNSET.body) == ({}, {})
    assert Sampling(temperature=0.0, max_tokens=0).limits() == {"temperature": 0.0, "max_tokens": 0}
    assert Sampling(max_tokens=5).limits() == {"max_tokens": 5}
    assert EndpointOptions() == EndpointOptions(
        base_url=None,
        base_url_option="--base-url",
        api_key_env=None,
        api_key_file=None,
        timeout_s=600.0,
        shared=None,
        default_key=True,
    )


def test_a_response_format_is_sent_once():
    extra, form = {"top_k": 1, "response_format": 1}, {"type": "json_object"}
    assert Sampling(extra_body=extra).body == extra
    assert Sampling(extra_body={"top_k": 1}, response_format=form).body == {
        "top_k": 1,
        "response_format": form,
    }
    with pytest.raises(UsageError) as raised:
        _ = Sampling(extra_body=extra, response_format=form).body
    assert str(raised.value) == "response_format is set in the extra body too; leave it out there"


def test_each_repeat_has_a_seed_of_its_own():
    request = Request((), address=Address("i", 3, "u", 0))
    assert (Sampling(seed=5).seed_of(request), Sampling(seed=5).seed_of(Request(()))) == (8, 5)
    assert UNSET.seed_of(request) is None


@pytest.mark.parametrize(
    ("url", "same"),
    [
        ("http://h/v1//", "http://h/v1"),
        ("http://h/v1", "http://h/v1"),
        ("http://h/?a=/", "http://h?a=/"),
        ("http://h/v1/#x/", "http://h/v1#x/"),
    ],
)
def test_slashes_at_the_end_of_a_path_address_the_same(url: str, same: str):
    assert without_trailing_slash(url) == same


def test_rates_are_filled_and_intersected_each():
    low, high = Rates(rpm=1, tpm=20), Rates(rpm=2, tpm=10)
    assert low.intersect(high) == high.intersect(low) == Rates(rpm=1, tpm=10)
    assert Rates(rpm=1).intersect(Rates(tpm=2)) == Rates(rpm=1, tpm=2)
    assert Rates().intersect(Rates()) == Rates()
    assert Rates(rpm=1).or_else(high) == Rates(rpm=1, tpm=10)
    assert Rates(tpm=1).or_else(high) == Rates(rpm=2, tpm=1)
