"""What a plan takes from the command line, from a model's table and from an earlier run, setting by setting."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from api.settings_for import settings_for
from wildtool.api import plans
from wildtool.api.keywords import settings_of_call
from wildtool.api.settings import Settings
from wildtool.errors import UsageError

# The original's settings -------------------------------------------------------------------------------


def with_sampling(parameters: dict[str, Any], explicit: list[str] | None = None, **options: Any) -> Settings:
    benchmark: Any = SimpleNamespace(name="b", original_sampling=parameters)
    given = settings_for(explicit=explicit or (), **{"sampling": "original", **options})
    return replace(plans._with_sampling(benchmark, given).changed(sampling=None), explicit=frozenset())


def test_the_originals_sampling_becomes_options():
    plain = settings_for()
    assert with_sampling({"temperature": 0.0, "max_tokens": 9, "attempts": 3, "top_p": 0.5}) == plain.changed(
        temperature=0.0, max_tokens=9, retries=2, extra_body={"top_p": 0.5}
    )
    assert with_sampling({"attempts": 1}) == plain.changed(retries=0)
    assert with_sampling({"top_p": 0.5}, extra_body='{"a": 1}') == plain.changed(
        extra_body={"a": 1, "top_p": 0.5}
    )
    assert with_sampling({"temperature": 0.5}, user_model="u") == plain.changed(
        temperature=0.5, user_model="u", user_temperature=0.5
    )
    assert with_sampling({"max_tokens": 1000}, user_model="u") == plain.changed(
        max_tokens=1000, user_model="u", user_max_tokens=1000
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


# A model's table -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("given", "format"), [({}, "glm"), ({"tool_format": "hermes"}, "hermes")])
def test_a_format_that_python_names_overrides_that_of_the_models_table(
    tmp_path: Path, given: dict[str, Any], format: str
):
    file = tmp_path / "wildtool.toml"
    file.write_text(
        '[models.own]\nmodel = "m"\nbase_url = "http://127.0.0.1:1/v1"\nformat = "glm"\n', "utf-8"
    )
    settings, config = settings_of_call("wild-mini", ["own"], {"config": file, "limit": 1, **given}, {})
    (run,) = plans.plan(settings, config.models)
    assert run.plan.models["agent"].settings()["format"] == format
