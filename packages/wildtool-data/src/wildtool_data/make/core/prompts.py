"""Prompts of roles: one template file per role and language; a request names the blocks it uses."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from wildtool.data.text_blocks import text_blocks
from wildtool.findings import Finding
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
_MAX_ECHO_CHARACTERS = 6_000
_RETRY_TEXT: Mapping[Lang, str] = {
    "en": "This cannot be used:\n{faults}\nGive it again, whole and mended.",
    "zh": "以上内容无法使用：\n{faults}\n请改正后完整地重新给出。",
}


def role_opening(
    role: str, lang: Lang, blocks: Sequence[str], situation: Mapping[str, Any], folder: Path = SESSION_PROMPTS
) -> list[Message]:
    """The first messages to a role: its instruction with the named blocks, and the situation as JSON.

    Args: folder: of the templates; default: those of sessions.
    """
    parts = templates(lang, folder)[role]
    text = "\n\n".join(parts[block] for block in ("", *blocks))
    context = json.dumps(situation, ensure_ascii=False)
    return [{"role": "system", "content": text}, {"role": "user", "content": context}]


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
