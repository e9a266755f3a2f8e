"""Renders chats as transformers does, in a process that has it: cases from standard input, results to standard output."""

import json
import sys
from typing import Any

from transformers.utils.chat_template_utils import render_jinja_template  # pyright: ignore


def rendered(template: str, seen: dict[str, Any]) -> list[Any]:
    """Text, characters between generation marks, and the reason of a refusal."""
    more = {key: value for key, value in seen.items() if key not in ("messages", "tools", "documents")}
    # As the tokenizer's `apply_chat_template` does before it.
    messages = [{key: value for key, value in each.items() if value is not None} for each in seen["messages"]]
    try:
        texts, spans = render_jinja_template(
            [messages], seen["tools"], chat_template=template, return_assistant_tokens_mask=True, **more
        )
    except Exception as error:  # noqa: BLE001 - a template may raise anything
        return ["", 0, str(error) or type(error).__name__]
    return [texts[0], sum(end - start for start, end in spans[0]), ""]


if __name__ == "__main__":
    cases: dict[str, list[dict[str, Any]]] = json.load(sys.stdin)
    json.dump(
        {template: [rendered(template, seen) for seen in chats] for template, chats in cases.items()},
        sys.stdout,
    )
