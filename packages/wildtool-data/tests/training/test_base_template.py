"""A recipe looks whether the base's own chat template shows tools and calls, and how TRL trains with it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wildtool.errors import DataError, UsageError
from wildtool.training.record import AssistantTurn, TrainingCall, TrainingRecord, UserTurn
from wildtool_data.prepare.recipe.base_template import BaseTemplate, check_base_template, folder_templates

pytest.importorskip("jinja2")
TURNS = "{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}"
CALLS = "{% for message in messages %}{{ message.content }}{{ message.tool_calls | default([]) | tojson }}{% endfor %}"
TOOLS = "{% if tools %}{{ tools | tojson }}{% endif %}"
JOINED = (
    "{% for message in messages %}{{ message.content }}{% for call in message.tool_calls or [] %}"
    "{{ call.function.name + ' ' + call.function.arguments }}{% endfor %}{% endfor %}"
)
PARTS = (
    "{% for message in messages %}{% for part in message.content %}{{ raise_exception('no part') if part is string }}"
    "{{ part.text }}{% endfor %}{{ message.tool_calls | default([]) | tojson }}{% endfor %}"
)
MARKED = f"{{% generation %}}{CALLS}{{% endgeneration %}}"
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


@pytest.mark.long
@pytest.mark.parametrize(("template", "lost"), [(TURNS, "tools"), (CALLS, "tools"), (TOOLS + TURNS, "calls")])
def test_a_template_that_leaves_something_out_is_refused(
    base: Callable[[str], str], template: str, lost: str
):
    with pytest.raises(
        UsageError, match=f"train.jsonl:7: .* leaves out the {lost} .* --to text --tool-format"
    ):
        check_base_template(base(template), [TEXTS, RECORD])


@pytest.mark.long
@pytest.mark.parametrize(
    ("template", "found"),
    [
        (TOOLS + CALLS, BaseTemplate()),
        (TOOLS + JOINED, BaseTemplate(arguments_as_text=True)),
        (TOOLS + PARTS, BaseTemplate()),
        (TOOLS + MARKED, BaseTemplate(marks_replies=True)),
        (TOOLS + CALLS + "{% generation %}{% endgeneration %}", BaseTemplate()),
    ],
    ids=["objects", "texts", "parts", "marks", "nothing marked"],
)
def test_a_template_that_shows_both_passes(base: Callable[[str], str], template: str, found: BaseTemplate):
    assert check_base_template(base(template), [RECORD]) == found


def test_texts_pass_any_template(base: Callable[[str], str]):
    for template in (TURNS, "{{ raise_exception('no') }}"):
        assert check_base_template(base(template), [TEXTS]) == BaseTemplate()
    assert check_base_template(base(MARKED), [TEXTS]).marks_replies


@pytest.mark.long
@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("{{ raise_exception('roles must alternate') }}", "roles must alternate"),
        ("{% if %}", "Expected an expression"),
        ("{{ 1 / 0 }}", "division by zero"),
        ("{{ ''.__class__.__mro__ }}", "unsafe"),
    ],
)
def test_a_template_that_fails_is_refused_in_its_words(
    base: Callable[[str], str], template: str, reason: str
):
    with pytest.raises(UsageError, match=f"does not take this record: .*{reason}"):
        check_base_template(base(template), [RECORD])


def test_special_tokens_are_those_of_the_folder(base: Callable[[str], str], tmp_path: Path):
    tokens = {"bos_token": {"content": "<s>"}, "eos_token": "</s>", "pad_token": None}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(tokens), "utf-8")
    (tmp_path / "special_tokens_map.json").write_text('{"bos_token": "old", "unk_token": "?"}', "utf-8")
    found = folder_templates(Path(base(TURNS)))
    assert found is not None
    assert found.special_tokens == {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "?"}
    wrong = "{{ raise_exception(bos_token ~ eos_token) if bos_token ~ eos_token != '<s></s>' }}"
    assert check_base_template(base(wrong + TOOLS + CALLS), [RECORD]) == BaseTemplate()


def test_what_is_not_here_is_not_checked(tmp_path: Path):
    assert "no folder here" in check_base_template("Qwen/Qwen3-8B", [RECORD]).unchecked
    assert "has no chat template" in check_base_template(str(tmp_path), [RECORD]).unchecked


def test_an_earlier_jinja_with_holes_renders_nothing(
    base: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("wildtool_data.prepare.recipe.base_template.version", lambda name: "3.1.5")
    unchecked = check_base_template(base("{{ raise_exception('no') }}"), [RECORD]).unchecked
    assert "jinja2 3.1.5" in unchecked and "jinja2>=3.1.6" in unchecked


@pytest.mark.parametrize(
    ("settings", "template"),
    [
        ({"chat_template": "a"}, "a"),
        (
            {"chat_template": [{"name": "default", "template": "a"}, {"name": "tool_use", "template": "b"}]},
            "b",
        ),
        ({"chat_template": [{"name": "default", "template": "a"}]}, "a"),
        ({"chat_template": [{"name": "rag", "template": "a"}]}, None),
        ({"chat_template": 7}, None),
        ([], None),
    ],
)
@pytest.mark.parametrize("file", ["tokenizer_config.json", "chat_template.json"])
def test_older_folders_have_it_in_their_settings(
    tmp_path: Path, file: str, settings: Any, template: str | None
):
    (tmp_path / file).write_text(json.dumps(settings), "utf-8")
    found = folder_templates(tmp_path)
    assert (found and found.with_tools) == template


@pytest.mark.parametrize("file", ["tokenizer_config.json", "chat_template.json", "special_tokens_map.json"])
def test_a_damaged_file_of_the_folder_is_named_and_not_taken_for_none(tmp_path: Path, file: str):
    if file == "special_tokens_map.json":
        (tmp_path / "chat_template.jinja").write_text(TURNS, "utf-8")
    (tmp_path / file).write_text('{"chat_template": "', "utf-8")
    with pytest.raises(DataError, match=file):
        check_base_template(str(tmp_path), [RECORD])


def test_a_template_for_tools_has_a_file_of_its_own_and_both_must_have_marks(tmp_path: Path):
    (tmp_path / "chat_template.jinja").write_text("a", "utf-8")
    (tmp_path / "additional_chat_templates").mkdir()
    for_tools = tmp_path / "additional_chat_templates" / "tool_use.jinja"
    for_tools.write_text(MARKED, "utf-8")
    found = folder_templates(tmp_path)
    # TRL looks for marks in the default, and renders by the other.
    assert found is not None and (found.with_tools, found.have_marks) == (MARKED, False)
    (tmp_path / "chat_template.jinja").write_text(MARKED, "utf-8")
    found = folder_templates(tmp_path)
    assert found is not None and found.have_marks
