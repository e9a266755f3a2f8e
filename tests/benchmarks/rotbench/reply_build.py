"""A reply with one call, as a model of RoTBench writes it."""

import json
from typing import Any


def calling(name: str, **arguments: Any) -> str:
    return f"Thought:\nAction: {name}\nAction Input: {json.dumps(arguments)}"
