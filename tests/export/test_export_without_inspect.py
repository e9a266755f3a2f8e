"""What happens where the extra for Inspect is missing."""

import sys
from pathlib import Path
from typing import Any

import pytest

from export.export_build import play, written
from wildtool.errors import UsageError
from wildtool.export.inspect_messages import inspect_message_list, usage_of


def test_a_missing_inspect_is_named_with_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    # None in the table of modules makes Python raise ModuleNotFoundError.
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    with pytest.raises(UsageError, match=r"wildtool\[inspect\]"):
        written("inspect", play(tmp_path / "run"), tmp_path)
    assert not list(tmp_path.glob("*.eval"))


@pytest.mark.parametrize(
    ("reported", "counts"),
    [
        ({}, {}),
        ({"prompt_tokens": "many", "completion_tokens": -1}, {}),
        ({"prompt_tokens": 3}, {"input_tokens": 3, "total_tokens": 3}),
        (
            {"prompt_tokens": 3, "completion_tokens": 4},
            {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7},
        ),
        ({"total_tokens": 9, "prompt_tokens": 3}, {"input_tokens": 3, "total_tokens": 9}),
    ],
)
def test_tokens_in_all_are_summed_only_where_the_endpoint_gave_none(
    reported: dict[str, Any], counts: dict[str, int]
):
    assert usage_of(reported) == counts


def test_messages_of_any_sample_have_names():
    messages = [{"role": "user", "content": "Hi \ud800"}, {"role": "assistant", "content": "Yes?"}]
    one, other = (inspect_message_list(messages, name) for name in ("\ud800", "other"))
    ids = [entry["id"] for entry in (*one, *other)]
    assert len({*ids}) == 4 and {len(name) for name in ids} == {22}
    assert inspect_message_list(messages[:1], "\ud800")[0] == one[0]
