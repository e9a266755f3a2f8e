"""The chat template of the weights before training: does the model see the tools and calls of the data?"""

import json
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from wildtool.data.files import read_json, read_text
from wildtool.errors import DataError, UsageError
from wildtool.json_codec import as_list, as_object
from wildtool.sets.prepare.record import TrainingRecord
from wildtool.sets.prepare.writers.openai import trl_row
from wildtool.sets.prepare.writers.options import WriteOptions
from wildtool.types import Message

_WITH_TOOLS = "tool_use"
"""The template for requests with tools, of models that have several."""


def check_base_template(model: str, records: Iterable[TrainingRecord]) -> str:
    """Renders the first record with calls, or else with tools, by the chat template of a model's folder.

    Returns why nothing was checked; empty where it was. Raises UsageError where the template leaves out the tools or
    the calls, or does not take the record.
    """
    if not Path(model).is_dir():
        return f"{model} is no folder here, so nobody looked whether its chat template shows the tools and calls."
    template = folder_template(Path(model))
    if template is None:
        return f"{model} has no chat template, so nobody looked whether it shows the tools and calls."
    record = _telling(records)
    if record is None:
        return ""
    row = trl_row(record, WriteOptions())
    messages: list[Message] = row["messages"]
    without_calls = [{key: value for key, value in each.items() if key != "tool_calls"} for each in messages]
    try:
        text = _rendered(template, messages, row["tools"])
        lost = "tools" if row["tools"] and text == _rendered(template, messages, []) else ""
        if not lost and record.calls and text == _rendered(template, without_calls, row["tools"]):
            lost = "calls"
    except ModuleNotFoundError:
        return (
            "jinja2 is not installed, so nobody looked whether the chat template shows the tools and calls."
        )
    except Exception as error:  # a template may raise anything
        raise UsageError(
            f"{record.source}:{record.row}: the chat template of {model} does not take this record: {error}; {_AS_TEXT}"
        ) from error
    if lost:
        raise UsageError(
            f"{record.source}:{record.row}: the chat template of {model} leaves out the {lost} of this record, so "
            f"nothing about them would be learned; {_AS_TEXT}"
        )
    return ""


_AS_TEXT = (
    "every template shows texts: `wildtool data convert FILE --to text --tool-format hermes`, and run with the same "
    "format"
)


def folder_template(folder: Path) -> str | None:
    """The chat template in a folder of weights; None for none."""
    file = folder / "chat_template.jinja"
    if file.is_file():
        return read_text(file)
    try:
        settings = as_object(read_json(folder / "tokenizer_config.json"))
    except DataError:
        return None
    template = settings.get("chat_template")
    if isinstance(template, str):
        return template
    named = {each.get("name"): each.get("template") for each in map(as_object, as_list(template))}
    several = named.get(_WITH_TOOLS, named.get("default"))
    return several if isinstance(several, str) else None


def _telling(records: Iterable[TrainingRecord]) -> TrainingRecord | None:
    with_tools: TrainingRecord | None = None
    for record in records:
        if record.kind == "sft" and record.calls:
            return record
        if record.kind == "sft" and record.tools:
            with_tools = with_tools or record
    return with_tools


def _rendered(template: str, messages: list[Message], tools: list[Any]) -> str:
    """The text of a chat, by jinja's sandbox set up as transformers does."""
    sandbox: Any = import_module("jinja2.sandbox")
    environment = sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = _json_text
    environment.globals["raise_exception"] = _refuse
    environment.globals["strftime_now"] = str
    return environment.from_string(template).render(
        messages=messages, tools=tools or None, add_generation_prompt=False, bos_token="", eos_token=""
    )


def _json_text(value: Any, **options: Any) -> str:
    return json.dumps(value, ensure_ascii=False, **options)


def _refuse(message: str) -> None:
    raise ValueError(message)
