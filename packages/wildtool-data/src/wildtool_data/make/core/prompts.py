"""Prompts of roles: one template file per role and language; a request names the blocks it uses."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from wildtool.data.text_blocks import text_blocks
from wildtool.findings import Finding
from wildtool.json_codec import as_object
from wildtool.types import Message
from wildtool_data.make.core.plan import Lang

SESSION_PROMPTS = Path(__file__).parents[1] / "sessions" / "prompts"
SESSION_ROLES: Mapping[str, str] = {
    "user": "says the tasks, and replies to questions",
    "planner": "decides what the assistant does next: calls, a question, or the answer",
    "tool": "returns what the tools would",
    "agent": "words the assistant's questions and answers",
    "checker": "checks calls and results for what rules cannot",
    "judge": "chooses the best of several user tasks",
}
SLOT = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")
"""Where a text of a user's own shows a field of the situation."""
_FORM = "form"
_MAX_ECHO_CHARACTERS = 6_000
_RETRY_TEXT: Mapping[Lang, str] = {
    "en": "This cannot be used:\n{faults}\nGive it again, whole and mended.",
    "zh": "以上内容无法使用：\n{faults}\n请改正后完整地重新给出。",
}


def role_opening(
    role: str,
    lang: Lang,
    blocks: Sequence[str],
    situation: Mapping[str, Any],
    folder: Path = SESSION_PROMPTS,
    own: Mapping[str, str] | None = None,
) -> list[Message]:
    """The first messages to a role: its instruction with the named blocks, and the situation as JSON.

    Args:
        folder: of the templates; default: those of sessions.
        own: texts of the user's own in the place of blocks. What they show whole is not shown again.
    """
    parts = templates(lang, folder)[role]
    used = ("", *blocks)
    texts: list[str] = []
    shown_whole: set[str] = set()
    for block in used:
        text = parts[block]
        if own and block in own:
            text, whole = fill_slots(own[block], situation)
            shown_whole |= whole
        texts.append(text)
    texts += [parts[form] for form in map(reply_form, used) if form in parts]
    rest = {name: value for name, value in situation.items() if name not in shown_whole}
    context = json.dumps(rest, ensure_ascii=False)
    return [{"role": "system", "content": "\n\n".join(texts)}, {"role": "user", "content": context}]


def fill_slots(text: str, situation: Mapping[str, Any]) -> tuple[str, set[str]]:
    """A text with its slots, such as `{{tools}}`, filled, and which fields of the situation it shows whole.

    A field that the role is not shown this time leaves its slot empty.
    """
    whole: set[str] = set()

    def filled(match: re.Match[str]) -> str:
        name, _, inner = match[1].partition(".")
        value = situation.get(name)
        if inner:
            value = as_object(value).get(inner)
        else:
            whole.add(name)
        if value is None:
            return ""
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)

    return SLOT.sub(filled, text), whole


def reply_form(block: str) -> str:
    """The name of the block that says which form the reply to another one has; it comes last."""
    return f"{block} {_FORM}".lstrip()


def is_reply_form(block: str) -> bool:
    """Whether a block says which form a reply has."""
    return block.split()[-1:] == [_FORM]


def retry_messages(text: str, faults: Sequence[Finding], lang: Lang) -> list[Message]:
    """Messages added to a request after a reply that broke rules."""
    list_of_faults = "\n".join(f"- {fault.rule}: {fault.message}" for fault in faults)
    return [
        {"role": "assistant", "content": text[:_MAX_ECHO_CHARACTERS] or "-"},
        {"role": "user", "content": _RETRY_TEXT[lang].format(faults=list_of_faults)},
    ]


@cache
def templates(lang: Lang, folder: Path = SESSION_PROMPTS) -> Mapping[str, Mapping[str, str]]:
    """The blocks of each role by name; the text before the first has an empty name."""
    return {file.stem: text_blocks(file) for file in sorted((folder / lang).glob("*.txt"))}


def reply_schemas(folder: Path) -> Mapping[str, dict[str, Any]]:
    """JSON Schema of what each role replies that replies with a JSON object; it is beside the templates."""
    return json.loads((folder / "replies.json").read_bytes())


@cache
def prompts_digest(folder: Path = SESSION_PROMPTS) -> str:
    """Digest of all templates: 12 hex digits."""
    files = sorted(folder.glob("*/*.txt"))
    contents = b"\0".join(file.name.encode() + b"\0" + file.read_bytes() for file in files)
    return hashlib.sha256(contents).hexdigest()[:12]
