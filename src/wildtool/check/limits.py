"""Requests with many tools or long ones, as large catalogues have them; where one is refused, a smaller one follows."""

from collections.abc import Sequence

from wildtool.check.probe import TEXT, WHOLE, Probe, tool, user

COUNTS = (128, 100, 64, 40, 20, 10)
"""Tools of one request; OpenAI allows the first number."""
KILOBYTES = (300, 200, 100, 50, 20, 10)
"""Size of all schemas of one request."""
_KILOBYTES_OF_A_TOOL = 10
_PARAMETERS_OF_A_LONG_TOOL = 50
_DESCRIPTION = "Says where the letter goes, which of its pages are copied, and who signs them. "


def _count_probe(count: int) -> Probe:
    tools = [tool(f"get_value_{number}", {"key": TEXT}) for number in range(count)]
    return _limit_probe(f"{count} tools", tools)


def _size_probe(kilobytes: int) -> Probe:
    characters = 1_000 * _KILOBYTES_OF_A_TOOL // _PARAMETERS_OF_A_LONG_TOOL - 60
    text = (_DESCRIPTION * 9)[:characters]
    parameters = {
        f"parameter_{number}": {"type": "string", "description": text}
        for number in range(_PARAMETERS_OF_A_LONG_TOOL)
    }
    tools = [tool(f"send_letter_{number}", parameters) for number in range(kilobytes // _KILOBYTES_OF_A_TOOL)]
    return _limit_probe(f"{kilobytes} kB of tools", tools)


def _limit_probe(name: str, tools: Sequence[dict[str, object]]) -> Probe:
    return Probe(
        name=name,
        messages=[user("Hello")],
        tools=tools,
        settings={"max_tokens": 1},
        forms=[WHOLE],
        repeats=1,
    )


LIMITS: Sequence[Sequence[Probe]] = (
    [_count_probe(count) for count in COUNTS],
    [_size_probe(kilobytes) for kilobytes in KILOBYTES],
)
"""Each from the largest to the smallest."""
