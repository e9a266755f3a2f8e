"""Every chat template that TRL ships is rendered as transformers renders it.

The files are TRL's, so they are not in this repository: `make long` installs them beside the environment
(`scripts/chat-templates.txt`), and an environment that has both projects needs nothing more.
"""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from long import WHOLE

pytest.importorskip("jinja2")
from wildtool_data.prepare.recipe.rendering import RenderedChat, render_chats

BESIDE = Path(sys.prefix) / "chat-templates"
"""Where `make long` puts both."""
PLACES = [str(BESIDE)] if BESIDE.is_dir() else []
INSTALLED = bool(PLACES) or all(map(find_spec, ("trl", "transformers")))
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not WHOLE, reason="for make long"),
    pytest.mark.skipif(not INSTALLED, reason="TRL and transformers are not here; make long installs them"),
]

USER: dict[str, Any] = {"role": "user", "content": "How <high>? \"ü\" & 'x'"}
TEXT: dict[str, Any] = {"role": "assistant", "content": "High."}
SYSTEM: dict[str, Any] = {"role": "system", "content": "Be kind."}
ARGUMENTS = {"station": "S1", "deep": 4, "x": True, "y": None, "z": 1.5, "at": {"x": [1, "ü"]}, "e": {}}
PARAMETERS = {
    "type": "object",
    "properties": {
        "station": {"type": "string", "description": "a <station>", "enum": ["S1", "S2"]},
        "deep": {"type": ["integer", "null"], "default": 3},
        "at": {"type": "object", "properties": {"x": {"type": "array", "items": {"type": "number"}}}},
    },
    "required": ["station"],
}


def tool(name: str, **more: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, **more}}


def calls(*arguments: Any, text: str = "", id_: str = "call_", **more: Any) -> dict[str, Any]:
    made = [
        {"id": f"{id_}{number}", "type": "function", "function": {"name": "level", "arguments": given}}
        for number, given in enumerate(arguments)
    ]
    return {"role": "assistant", "content": text, "tool_calls": made, **more}


def result(number: int = 0, text: str = "3 m", id_: str = "call_") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": f"{id_}{number}", "name": "level", "content": text}


def in_parts(*messages: dict[str, Any]) -> list[dict[str, Any]]:
    return [{**each, "content": [{"type": "text", "text": each["content"]}]} for each in messages]


CONVERSATIONS: dict[str, list[dict[str, Any]]] = {
    "a question alone": [USER],
    "an answer": [USER, TEXT],
    "two turns and a system text": [SYSTEM, USER, TEXT, USER, TEXT],
    "a developer's text": [{"role": "developer", "content": "Be brief."}, USER, TEXT],
    "a call": [USER, calls(ARGUMENTS)],
    "a call after a text": [SYSTEM, USER, calls(ARGUMENTS, text="I look."), result(), TEXT],
    "a call with arguments as text": [USER, calls(json.dumps(ARGUMENTS)), result(), TEXT],
    "a call with a short id": [USER, calls({}, id_="abcdefgh"), result(id_="abcdefgh"), TEXT],
    "calls at once, and later": [
        *(SYSTEM, USER, calls(ARGUMENTS, {}), result(), result(1, '{"a": 1}'), TEXT),
        *(USER, calls({}), result(0, ""), {"role": "assistant", "content": "Done."}),
    ],
    "thoughts under each name": [
        *(
            USER,
            {**TEXT, "reasoning_content": "I think."},
            USER,
            calls(ARGUMENTS, thinking="Well."),
            result(),
        ),
        {**TEXT, "reasoning": "So."},
    ],
    "thoughts in the text": [
        USER,
        {"role": "assistant", "content": "<think>Hm.</think>\n\nHigh."},
        USER,
        TEXT,
    ],
    "empty content and a weight": [USER, {**calls(ARGUMENTS, weight=0), "content": None}, result(), TEXT],
    "parts": in_parts(SYSTEM, USER, TEXT, USER, TEXT),
    "parts with a call": in_parts(USER, calls(ARGUMENTS), result(), TEXT),
    "a picture": [
        {"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "What?"}]},
        *in_parts(TEXT),
    ],
}
TOOLS = (
    None,
    [],
    [tool("level", description="The <level> & 'more' of ü", parameters=PARAMETERS)],
    [tool("level", description="Level.", parameters=PARAMETERS), tool("stop", parameters={"type": "object"})],
)
SETTINGS: tuple[dict[str, Any], ...] = (
    {"bos_token": "", "eos_token": ""},
    {"bos_token": "<s>", "eos_token": "</s>", "enable_thinking": False},
    {"bos_token": "<s>", "eos_token": "</s>", "enable_thinking": True},
    {},
)


def test_every_template_gives_what_transformers_gives():
    folder = next(
        Path(place, "trl", "chat_templates")
        for place in (*PLACES, *sys.path)
        if Path(place, "trl", "chat_templates").is_dir()
    )
    templates = {file.name: file.read_text("utf-8") for file in sorted(folder.glob("*.jinja"))}
    chats = [
        {**settings, "messages": messages, "tools": tools, "documents": None, "add_generation_prompt": asks}
        for messages, tools, settings, asks in product(CONVERSATIONS.values(), TOOLS, SETTINGS, (False, True))
    ]
    reference = subprocess.run(
        [sys.executable, Path(__file__).with_name("reference_chats.py")],
        input=json.dumps(dict.fromkeys(templates.values(), chats)).encode(),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(PLACES), "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        check=True,
    )
    expected = json.loads(reference.stdout)
    assert len(templates) >= 72
    for name, template in templates.items():
        own = render_chats(template, chats)
        assert own == [RenderedChat(*values) for values in expected[template]], name
        shapes = {index for index, chat in enumerate(own) if not chat.refusal}
        assert shapes, f"{name} takes no conversation"
