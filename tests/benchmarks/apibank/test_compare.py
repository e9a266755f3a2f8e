"""When the result of a call counts as the recorded one: each tool's own rule, and the one of `fixed`."""

from wildtool.benchmarks.apibank.compare import TOOL_RULES, tool_rule
from wildtool.benchmarks.apibank.tools import API_TOOLS


def test_a_rule_says_which_inputs_it_reads() -> None:
    inputs = ("time", "content", "meeting_topic", "location", "token", "name")
    read = {
        tool: [name for name in inputs if tool_rule(tool).reads(name)]
        for tool in (
            "AddAgenda",
            "AddReminder",
            "DeleteAgenda",
            "AddMeeting",
            "CheckToken",
            "Wiki",
            "AddScene",
        )
    }
    assert read == {
        "AddAgenda": ["time", "content", "location"],
        "AddReminder": ["time", "content"],
        "DeleteAgenda": ["time"],
        "AddMeeting": [*inputs],
        "CheckToken": [*inputs],
        "Wiki": [],
        "AddScene": ["name"],
    }
    assert {*TOOL_RULES} <= {*API_TOOLS}
