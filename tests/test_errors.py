"""Errors that a user can act on: their texts, exit statuses, and the names that they suggest."""

import errno

import pytest

from wildtool import errors
from wildtool.errors import CallError, InfraError, UsageError, WildtoolError, match_name, unknown_name


def test_a_message_is_made_of_its_text_and_values():
    filled, plain = WildtoolError("{0} of {1}", 2, "a"), WildtoolError("{0} stays")
    assert (str(filled), filled.text, filled.values) == ("2 of a", "{0} of {1}", (2, "a"))
    assert (str(plain), plain.text, plain.values) == ("{0} stays", "{0} stays", ())


def test_each_error_has_its_exit_status():
    statuses = {
        kind.__name__: kind.exit_status
        for kind in (
            WildtoolError,
            UsageError,
            errors.DataError,
            errors.RecordError,
            errors.StorageError,
            InfraError,
        )
    }
    assert statuses == {
        "WildtoolError": 1,
        "UsageError": 2,
        "DataError": 2,
        "RecordError": 2,
        "StorageError": 3,
        "InfraError": 3,
    }
    assert errors.DISK_FULL == (errno.ENOSPC, errno.EDQUOT)


def test_a_failed_call_keeps_what_is_known_of_it():
    ended = InfraError("timeout", "no {answer}", attempts=3, usage={"prompt_tokens": 5})
    assert (str(ended), ended.kind, ended.attempts, ended.usage) == (
        "no {answer}",
        "timeout",
        3,
        {"prompt_tokens": 5},
    )
    plain = InfraError("timeout", "none")
    assert (plain.attempts, plain.usage) == (1, {})
    call = CallError("http 429", "slow down", retry_after_s=2.5, final=True)
    assert (str(call), call.kind, call.retry_after_s, call.final, call.usage) == (
        "slow down",
        "http 429",
        2.5,
        True,
        {},
    )
    once = CallError("timeout", "none")
    assert (once.retry_after_s, once.final) == (None, False)


@pytest.mark.parametrize(
    ("name", "names", "of", "message"),
    [
        (
            "Wild mini",
            ["acebench", "wild-mini"],
            "",
            "unknown benchmark 'Wild mini'; did you mean 'wild-mini'? (known: acebench, wild-mini)",
        ),
        ("x", ["acebench", "b", "b"], "rotbench", "unknown benchmark 'x' of rotbench (known: acebench, b)"),
        ("x", [], "", "unknown benchmark 'x' (known: none)"),
        (
            "A_B",
            ["a b c", "A b"],
            "",
            "unknown benchmark 'A_B'; did you mean 'A b'? (known: a b c, A b)",
        ),
    ],
)
def test_an_unknown_name_is_named_with_the_closest_and_all_that_are_known(
    name: str, names: list[str], of: str, message: str
):
    assert unknown_name("benchmark", name, names, of=of) == message


@pytest.mark.parametrize(
    ("name", "match"),
    [("wild_mini", "wild-mini"), ("WILD MINI", "wild-mini"), ("Wild_Mini", "Wild_Mini"), ("b", "b")],
)
def test_a_name_matches_apart_from_case_and_separators(name: str, match: str):
    assert match_name("set", name, ["b", "wild-mini", "Wild_Mini"]) == match


def test_a_name_that_matches_none_is_a_usage_error():
    with pytest.raises(UsageError) as raised:
        match_name("set", "wildmini", ["b", "wild-mini", "b"])
    assert str(raised.value) == "unknown set 'wildmini'; did you mean 'wild-mini'? (known: b, wild-mini)"
