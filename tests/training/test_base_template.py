"""A recipe looks whether the base's own chat template shows tools and calls."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from wildtool.errors import UsageError
from wildtool.sets.prepare.recipe.base_template import _rendered, check_base_template, folder_template  # pyright: ignore[reportPrivateUsage]
from wildtool.sets.prepare.record import AssistantTurn, TrainingCall, TrainingRecord, UserTurn

pytest.importorskip("jinja2")
TURNS = "{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}"
CALLS = "{% for message in messages %}{{ message.content }}{{ message.tool_calls | default([]) | tojson }}{% endfor %}"
TOOLS = "{% if tools %}{{ tools | tojson }}{% endif %}"
TOOL = {"type": "function", "function": {"name": "level", "parameters": {"type": "object"}}}
CALL = AssistantTurn(None, (TrainingCall("level", {"station": "S1"}, "call_1"),))
RECORD = TrainingRecord(turns=(UserTurn("How high?"), CALL), tools=(TOOL,), source="train.jsonl", row=7)
TEXTS = TrainingRecord(turns=(UserTurn("How high?"), AssistantTurn("High.")))


@pytest.fixture
def base(tmp_path: Path) -> Callable[[str], str]:
    """A folder of weights with a chat template."""

    def folder(template: str) -> str:
        (tmp_path / "chat_template.jinja").write_text(template, "utf-8")
        return str(tmp_path)

    return folder


@pytest.mark.parametrize(("template", "lost"), [(TURNS, "tools"), (CALLS, "tools"), (TOOLS + TURNS, "calls")])
def test_a_template_that_leaves_something_out_is_refused(
    base: Callable[[str], str], template: str, lost: str
):
    with pytest.raises(
        UsageError, match=f"train.jsonl:7: .* leaves out the {lost} .* --to text --tool-format"
    ):
        check_base_template(base(template), [TEXTS, RECORD])


def test_a_template_that_shows_both_passes(base: Callable[[str], str]):
    assert check_base_template(base(TOOLS + CALLS), [RECORD]) == ""


def test_json_in_a_template_is_not_escaped():
    text = _rendered("{{ tools | tojson(indent=1) }}", [], [{"a": "ü"}])
    assert text == '[\n {\n  "a": "ü"\n }\n]'


def test_texts_pass_any_template(base: Callable[[str], str]):
    for template in (TURNS, "{{ raise_exception('no') }}"):
        assert check_base_template(base(template), [TEXTS]) == ""


def test_tools_without_calls_are_looked_for_and_pairs_are_not(base: Callable[[str], str]):
    offered = replace(TEXTS, tools=(TOOL,), source="train.jsonl", row=3)
    assert check_base_template(base(TURNS), [replace(offered, kind="preference")]) == ""
    with pytest.raises(UsageError, match=r"train.jsonl:3: .* leaves out the tools"):
        check_base_template(base(TURNS), [offered])


@pytest.mark.parametrize(
    "template", ["{{ raise_exception('roles must alternate') }}", "{% if %}", "{{ 1 / 0 }}"]
)
def test_a_template_that_fails_is_refused_in_its_words(base: Callable[[str], str], template: str):
    with pytest.raises(UsageError, match="does not take this record: "):
        check_base_template(base(template), [RECORD])


def test_a_template_cannot_reach_outside(base: Callable[[str], str]):
    with pytest.raises(UsageError, match="unsafe"):
        check_base_template(base("{{ ''.__class__.__mro__ }}"), [RECORD])


def test_what_is_not_here_is_not_checked(tmp_path: Path):
    assert "no folder here" in check_base_template("Qwen/Qwen3-8B", [RECORD])
    assert "has no chat template" in check_base_template(str(tmp_path), [RECORD])


@pytest.mark.parametrize(
    ("settings", "template"),
    [
        ({"chat_template": "a"}, "a"),
        (
            {"chat_template": [{"name": "default", "template": "a"}, {"name": "tool_use", "template": "b"}]},
            "b",
        ),
        ({"chat_template": [{"name": "default", "template": "a"}]}, "a"),
        ({"chat_template": 7}, None),
        ([], None),
    ],
)
def test_older_folders_have_it_in_their_settings(tmp_path: Path, settings: Any, template: str | None):
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings), "utf-8")
    assert folder_template(tmp_path) == template
