"""The chat template of the weights before training: does the model see the tools and calls of the data?"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from wildtool.data.files import read_json, read_text
from wildtool.errors import UsageError
from wildtool.json_codec import as_list, as_object
from wildtool.training.record import TrainingRecord
from wildtool.training.writers.openai import trl_row
from wildtool.training.writers.options import WriteOptions
from wildtool.types import Message

_WITH_TOOLS = "tool_use"
"""The template for requests with tools, of models that have several."""
_DEFAULT = "default"
_MORE_TEMPLATES = "additional_chat_templates"
"""The folder of all templates but the default, below that of the weights."""
_SPECIAL_TOKENS = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
_MARKS = re.compile(r"\{%-?\s*generation\s*-?%\}")
"""How TRL finds that a template marks replies."""
_LEAST_JINJA = (3, 1, 6)
"""The sandboxes of earlier versions have holes, and transformers takes no earlier one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseTemplate:
    """What the chat template of the weights does with the data."""

    unchecked: str = ""
    """Why nobody looked; empty where it was rendered."""
    arguments_as_text: bool = False
    """Whether it takes arguments of calls only as JSON text."""
    marks_replies: bool = False
    """Whether it marks what the model says by `{% generation %}`, so that TRL can learn replies alone."""


@dataclass(frozen=True, slots=True)
class FolderTemplates:
    """Chat templates in a folder of weights, and what else they see."""

    named: Mapping[str, str]
    """`default`, and others by their names."""
    special_tokens: Mapping[str, str]
    """Such as `bos_token`."""

    @property
    def with_tools(self) -> str:
        """The template of requests with tools."""
        return self.named.get(_WITH_TOOLS) or self.named[_DEFAULT]

    @property
    def have_marks(self) -> bool:
        """Whether both the template that renders and the one that TRL looks at mark replies."""
        looked_at = self.named.get(_DEFAULT, self.with_tools)
        return all(_MARKS.search(template) for template in (self.with_tools, looked_at))


def check_base_template(model: str, records: Iterable[TrainingRecord]) -> BaseTemplate:
    """Renders the first record with calls, or else with tools, by the chat template of a model's folder.

    Raises UsageError where the template leaves out the tools or the calls, or does not take the record. Pairs and texts
    are never refused. Raises DataError where a file of the folder cannot be read, or nothing can be rendered here.
    """
    if not Path(model).is_dir():
        return BaseTemplate(unchecked=f"{model} is no folder here, {_UNSEEN.format('its chat template')}")
    templates = folder_templates(Path(model))
    if templates is None:
        return BaseTemplate(unchecked=f"{model} has no chat template, {_UNSEEN.format('it')}")
    record = _telling(records)
    if record is None:
        return BaseTemplate()
    if missing := _missing_jinja():
        return BaseTemplate(unchecked=f"{missing}, {_UNSEEN.format('the chat template')}")
    renderings = _renderings(record, templates)
    taken = next((each for each in renderings if not each.refusal), None)
    if record.kind == "sft" and (record.tools or record.calls):
        place = f"{record.source}:{record.row}: the chat template of {model}"
        if taken is None:
            raise UsageError(f"{place} does not take this record: {renderings[0].refusal}; {_AS_TEXT}")
        if taken.lost:
            raise UsageError(
                f"{place} leaves out the {taken.lost} of this record, so nothing about them would be learned; {_AS_TEXT}"
            )
    if taken is None:
        return BaseTemplate()
    return BaseTemplate(
        arguments_as_text=taken.shape.arguments_as_text,
        marks_replies=templates.have_marks and taken.is_marked,
    )


_UNSEEN = "so nobody looked whether {} shows the tools and calls."
_AS_TEXT = (
    "every template shows texts: `wildtool data convert FILE --to text --tool-format hermes`, and run with the same "
    "format"
)


def folder_templates(folder: Path) -> FolderTemplates | None:
    """The chat templates in a folder of weights; None for none. As in transformers, files come before settings.

    Raises DataError where a file of it cannot be read.
    """
    settings = _settings(folder / "tokenizer_config.json")
    more = sorted((folder / _MORE_TEMPLATES).glob("*.jinja"))
    named = {file.stem: read_text(file) for file in more}
    default = folder / "chat_template.jinja"
    if default.is_file():
        named[_DEFAULT] = read_text(default)
    named = named or _named_templates(settings.get("chat_template"))
    # Of processors, as transformers wrote them before 4.52.
    named = named or _named_templates(_settings(folder / "chat_template.json").get("chat_template"))
    if not {_WITH_TOOLS, _DEFAULT} & named.keys():
        return None
    legacy = _settings(folder / "special_tokens_map.json")
    tokens = {name: _token_text(settings.get(name, legacy.get(name))) for name in _SPECIAL_TOKENS}
    return FolderTemplates(named, {name: text for name, text in tokens.items() if text is not None})


def _settings(file: Path) -> dict[str, Any]:
    """An object in a file; empty where there is no such file. Raises DataError for one that cannot be read."""
    return as_object(read_json(file)) if file.exists() else {}


def _named_templates(templates: Any) -> dict[str, str]:
    """The templates of the settings: one, or a list of them with names."""
    if isinstance(templates, str):
        return {_DEFAULT: templates}
    listed = map(as_object, as_list(templates))
    named = {each.get("name"): each.get("template") for each in listed}
    return {
        name: template
        for name, template in named.items()
        if isinstance(name, str) and isinstance(template, str)
    }


def _token_text(token: Any) -> str | None:
    """The text of a token, which settings give alone or with how it is cut."""
    text = as_object(token).get("content", token)
    return text if isinstance(text, str) else None


def _telling(records: Iterable[TrainingRecord]) -> TrainingRecord | None:
    """The first record with calls, else with tools, else the first of all."""
    first: TrainingRecord | None = None
    for record in records:
        if record.calls:
            return record
        if first is None or (record.tools and not first.tools):
            first = record
    return first


@dataclass(frozen=True, slots=True)
class _Shape:
    """How messages are given to a template."""

    arguments_as_text: bool
    content_in_parts: bool
    """As a list of parts, which TRL makes of the texts for models that also see pictures."""

    def messages(self, record: TrainingRecord) -> list[Message]:
        """The messages of a record; of a pair with the better reply."""
        row = trl_row(record, WriteOptions(arguments_as_text=self.arguments_as_text))
        messages: list[Message] = row["messages"] if "messages" in row else [*row["prompt"], *row["chosen"]]
        return list(map(_in_parts, messages)) if self.content_in_parts else messages


_SHAPES = tuple(_Shape(as_text, in_parts) for in_parts in (False, True) for as_text in (False, True))
"""The first that a template takes counts: DeepSeek-V3's joins arguments to a text, that of LLaVA takes only parts."""


def _in_parts(message: Message) -> Message:
    content = message.get("content")
    return (
        {**message, "content": [{"type": "text", "text": content}]} if isinstance(content, str) else message
    )


@dataclass(frozen=True, slots=True)
class _Rendering:
    """What a template does with a record in one shape."""

    shape: _Shape
    refusal: str
    lost: str
    """`tools` or `calls`, if the text is the same without them; else empty."""
    is_marked: bool
    """Whether something lies in `{% generation %}`."""


def _renderings(record: TrainingRecord, templates: FolderTemplates) -> list[_Rendering]:
    """What the template does with a record in each shape."""
    from wildtool_data.prepare.recipe.rendering import RenderedChat, render_apart

    def chat(messages: Sequence[Message], tools: Any) -> dict[str, Any]:
        # Templates of tokenizers without these tokens do not name them.
        tokens = {"bos_token": "", "eos_token": "", **templates.special_tokens}
        return {
            **tokens,
            "messages": messages,
            "tools": tools,
            "documents": None,
            "add_generation_prompt": False,
        }

    def rendering(
        shape: _Shape, whole: RenderedChat, toolless: RenderedChat, callless: RenderedChat
    ) -> _Rendering:
        lost = "tools" if record.tools and whole == toolless else ""
        lost = lost or ("calls" if record.calls and whole == callless else "")
        return _Rendering(shape, whole.refusal, lost, whole.marked > 0)

    tools = list(record.tools)
    chats: list[dict[str, Any]] = []
    for shape in _SHAPES:
        messages = shape.messages(record)
        without_calls = [
            {key: value for key, value in message.items() if key != "tool_calls"} for message in messages
        ]
        chats += [chat(messages, tools), chat(messages, None), chat(without_calls, tools)]
    rendered = iter(render_apart(templates.with_tools, chats))
    return [rendering(shape, next(rendered), next(rendered), next(rendered)) for shape in _SHAPES]


def _missing_jinja() -> str:
    """Why chats cannot be rendered here; empty if they can."""
    try:
        found = version("jinja2")
    except PackageNotFoundError:
        return "jinja2 is not installed (`pip install jinja2`)"
    if tuple(int(part) for part in re.findall(r"\d+", found)[:3]) < _LEAST_JINJA:
        least = ".".join(map(str, _LEAST_JINJA))
        return f"jinja2 {found} has known holes in its sandbox (`pip install 'jinja2>={least}'`)"
    return ""
