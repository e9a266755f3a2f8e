"""DeepSeek: `<｜tool▁call▁begin｜>name<｜tool▁sep｜>{…}<｜tool▁call▁end｜>`, as V3.1 writes; V3 and R1 are read too."""

from collections.abc import Sequence

from wildtool.models.tool_formats.format import CallFormat
from wildtool.models.tool_formats.lenient_json import UnreadableValueError
from wildtool.models.tool_formats.prompt_text import NO_CALL_TEXT, json_text, tool_lines, wrap_results
from wildtool.models.tool_formats.scanner import Scanner, ToolCall
from wildtool.types import Tool

ALL_OPEN, ALL_CLOSE = "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"
OPEN, SEPARATOR, CLOSE = "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>"


def _system(tools: Sequence[Tool]) -> str:
    return (
        f"## Tools\nThese tools can be called, each described by one JSON object:\n{tool_lines(tools)}\n\n"
        "To call tools, end the reply with all calls that can be made now, one behind the other:\n"
        f'{ALL_OPEN}{OPEN}NAME{SEPARATOR}{{"ARGUMENT": "VALUE"}}{CLOSE}{ALL_CLOSE}\n\n'
        "Results come back between <｜tool▁output▁begin｜> and <｜tool▁output▁end｜>. "
        f"{NO_CALL_TEXT}"
    )


def _write_calls(calls: Sequence[ToolCall]) -> str:
    written = [f"{OPEN}{call.name}{SEPARATOR}{json_text(call.arguments)}{CLOSE}" for call in calls]
    return f"{ALL_OPEN}{''.join(written)}{ALL_CLOSE}"


def _find(reading: Scanner, tools: Sequence[Tool]) -> None:
    reading.ignored_marks = (ALL_OPEN, ALL_CLOSE, "<｜end▁of▁sentence｜>")
    while reading.skip_to(OPEN):
        _take(reading, reading.at - len(OPEN))
    if reading.calls:
        before, after = ALL_OPEN in reading.text, ALL_CLOSE in reading.text
        reading.repairs += [] if before else ["missing-open-tag"]
        reading.repairs += [] if after or "missing-close-tag" in reading.repairs else ["missing-close-tag"]


def _take(reading: Scanner, start: int) -> None:
    name = reading.read_until(SEPARATOR, CLOSE, OPEN).strip()
    if not reading.accept(SEPARATOR):
        end, reading.at = reading.at, start
        reading.add_unreadable(end)
        return
    mended = len(reading.repairs)
    if name == "function" and not reading.text.startswith("{", reading.lenient.after_space(reading.at)):
        # V3 and R1: the kind of tool, then its name on the same line, then fenced arguments.
        name = reading.read_until("\n", CLOSE).strip()
    try:
        value = reading.value()
    except UnreadableValueError:
        reading.calls.append(ToolCall(name, reading.read_until(CLOSE, OPEN).strip()))
        reading.repairs.append("unreadable-arguments")
    else:
        reading.calls.append(ToolCall(name, value))
        reading.repairs[mended:] = [found for found in reading.repairs[mended:] if found != "code-fence"]
    reading.expect_close(CLOSE)


DEEPSEEK = CallFormat(
    name="deepseek",
    about="DeepSeek V3.1, V3 and R1: name and JSON arguments between marks of their own",
    source="chat templates of deepseek-ai/DeepSeek-V3.1 and deepseek-ai/DeepSeek-V3-0324",
    system=_system,
    write_calls=_write_calls,
    write_results=lambda results: wrap_results("<｜tool▁output▁begin｜>", "<｜tool▁output▁end｜>", results),
    find=_find,
)
