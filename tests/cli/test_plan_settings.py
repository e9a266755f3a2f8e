"""What a plan takes from the command line, from a model's table and from an earlier run, setting by setting."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from wildtool.cli import plans
from wildtool.cli.options.run import RunOptions
from wildtool.errors import UsageError

# The original's settings -------------------------------------------------------------------------------


def with_sampling(
    parameters: dict[str, Any], explicit: list[str] | None = None, **options: Any
) -> RunOptions:
    benchmark: Any = SimpleNamespace(name="b", original_sampling=parameters)
    original: Any = SimpleNamespace(value="original")
    run_options = RunOptions(model=["m"], **{"sampling": original, **options})
    changed = plans._with_sampling(benchmark, run_options, {*(explicit or ())})
    return replace(changed, sampling=None)


def test_the_originals_sampling_becomes_options():
    plain = RunOptions(model=["m"])
    assert with_sampling({"temperature": 0.0, "max_tokens": 9, "attempts": 3, "top_p": 0.5}) == replace(
        plain, temperature=0.0, max_tokens=9, retries=2, extra_body='{"top_p": 0.5}'
    )
    assert with_sampling({"attempts": 1}) == replace(plain, retries=0)
    assert with_sampling({"top_p": 0.5}, extra_body='{"a": 1}').extra_body == '{"a": 1, "top_p": 0.5}'
    assert with_sampling({"temperature": 0.5}, user_model="u") == replace(
        plain, temperature=0.5, user_model="u", user_temperature=0.5
    )
    assert with_sampling({"max_tokens": 1000}, user_model="u") == replace(
        plain, max_tokens=1000, user_model="u", user_max_tokens=1000
    )
    assert with_sampling({"temperature": 0.5}, sampling=None) == plain


@pytest.mark.parametrize(
    ("explicit", "options", "fault"),
    [
        (["max_tokens", "model"], {}, "--sampling original sets --max-tokens; leave one of the two out"),
        (["temperature", "retries"], {}, "--sampling original sets --retries; leave one of the two out"),
        (
            ["user_temperature"],
            {"user_model": "u"},
            "--sampling original sets --user-temperature; leave one of the two out",
        ),
        (
            [],
            {"extra_body": '{"top_p": 1, "seed": 1}'},
            "--sampling original sets seed, and --extra-body does too",
        ),
    ],
)
def test_what_the_originals_sampling_sets_is_set_by_nothing_else(
    explicit: list[str], options: dict[str, Any], fault: str
):
    with pytest.raises(UsageError) as error:
        with_sampling({"temperature": 0.0, "top_p": 0.5, "seed": 3}, explicit, **options)
    assert str(error.value) == fault
