"""What chat templates are given."""

from typing import Any

import pytest

from environments.random_policy import call
from wildtool.environments.bridges.tokens import rendered


class Template:
    """Goes through arguments as an object, as templates of models do."""

    def apply_chat_template(self, conversation: list[dict[str, Any]], **settings: Any) -> str:
        texts: list[str] = []
        for message in conversation:
            calls = [entry["function"] for entry in message.get("tool_calls", ())]
            values = [f"{name}={value}" for each in calls for name, value in each["arguments"].items()]
            texts.append(f"{message['content']}{values}")
        return "".join(texts)


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [('{"a": 1}', "a=1"), ("not JSON", "malformed_arguments=not JSON"), ("[1]", "malformed_arguments=[1]")],
)
def test_arguments_that_cannot_be_read_do_not_break_the_template(arguments: str, shown: str):
    """In a sandbox they are answered with an error, and the policy goes on."""
    assert rendered(Template(), [call("f", arguments)], [], ask=True) == f"['{shown}']"
