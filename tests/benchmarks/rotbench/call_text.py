"""A call as a model of RoTBench writes it."""

import json
from typing import Any


def call_text(name: str, **arguments: Any) -> str:
    return f"Thought:\nAction: {name}\nAction Input: {json.dumps(arguments)}"
