"""Formats with name and JSON arguments of each call between marks, all calls in one section: DeepSeek, Kimi."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wildtool.tool_formats.format import CallFormat
from wildtool.tool_formats.prompt_text import format_prompt, json_text, results_between
from wildtool.tool_formats.scanner import Scanner, ToolCall, ToolResult, any_of
from wildtool.types import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Section:
    """The marks of one format, and how its calls name their tool."""

    begin: str
    end: str
    open: str
    separator: str
    """Between name and arguments."""
    close: str
    turn_end: str
    write_name: Callable[[str, int], str]
    """From a tool's name and the call's number."""
    read_name: Callable[[Scanner, str], str | None]
    """From the text before the separator; None if that is not a name."""
    ignored_repairs: tuple[str, ...] = ()
    """Not repairs, since models of this family write so."""

    @property
    def unseen(self) -> tuple[str, ...]:
        """Marks that are no part of the text."""
        return (self.begin, self.end, self.turn_end)

    def write(self, calls: Sequence[ToolCall]) -> str:
        """Calls as the model writes them."""
        sections = [
            f"{self.open}{self.write_name(call.name, number)}{self.separator}{json_text(call.arguments)}{self.close}"
            for number, call in enumerate(calls)
        ]
        return f"{self.begin}{''.join(sections)}{self.end}"

    def find(self, scanner: Scanner, tools: Sequence[Tool]) -> None:
        """Takes all calls out of a text."""
        for opening in scanner.each(any_of(self.open)):
            self._take(scanner, opening.start())
        if scanner.calls:
            scanner.repairs += [] if self.begin in scanner.text else ["missing-open-tag"]
            closed = self.end in scanner.text or "missing-close-tag" in scanner.repairs
            scanner.repairs += [] if closed else ["missing-close-tag"]

    def _take(self, scanner: Scanner, start: int) -> None:
        before = scanner.read_until(self.separator, self.close, self.open).strip()
        name = self.read_name(scanner, before) if scanner.accept(self.separator) else None
        if not name:
            scanner.reject(start)
            return
        repairs = len(scanner.repairs)
        scanner.calls.append(ToolCall(name, scanner.value_or_text(self.close, self.open)))
        scanner.repairs[repairs:] = [
            repair for repair in scanner.repairs[repairs:] if repair not in self.ignored_repairs
        ]
        scanner.expect_close(self.close)


def _deepseek_name(scanner: Scanner, before: str) -> str:
    if before == "function" and not scanner.text.startswith("{", scanner.lenient.after_space(scanner.at)):
        # V3 and R1: the kind of tool, then its name on the same line, then fenced arguments.
        return scanner.read_until("\n", _DEEPSEEK.close).strip()
    return before


_DEEPSEEK = _Section(
    begin="<｜tool▁calls▁begin｜>",
    end="<｜tool▁calls▁end｜>",
    open="<｜tool▁call▁begin｜>",
    separator="<｜tool▁sep｜>",
    close="<｜tool▁call▁end｜>",
    turn_end="<｜end▁of▁sentence｜>",
    write_name=lambda name, number: name,
    read_name=_deepseek_name,
    ignored_repairs=("code-fence",),
)


DEEPSEEK = CallFormat(
    name="deepseek",
    about="DeepSeek V3.1, V3 and R1: name and JSON arguments between special tokens",
    source="chat templates of deepseek-ai/DeepSeek-V3.1 and deepseek-ai/DeepSeek-V3-0324",
    prompt=format_prompt("deepseek"),
    write_calls=_DEEPSEEK.write,
    write_results=results_between("<｜tool▁output▁begin｜>", "<｜tool▁output▁end｜>"),
    find=_DEEPSEEK.find,
    ignored_marks=_DEEPSEEK.unseen,
)

_KIMI_ID = re.compile(r"(?:functions\.)?(.+?)(?::\d+)?", re.DOTALL)
"""A call's id is its tool's name and a running number."""


def _kimi_name(scanner: Scanner, before: str) -> str | None:
    call_id = _KIMI_ID.fullmatch(before)
    return call_id[1] if call_id else None


_KIMI = _Section(
    begin="<|tool_calls_section_begin|>",
    end="<|tool_calls_section_end|>",
    open="<|tool_call_begin|>",
    separator="<|tool_call_argument_begin|>",
    close="<|tool_call_end|>",
    turn_end="<|im_end|>",
    write_name=lambda name, number: f"functions.{name}:{number}",
    read_name=_kimi_name,
)


def _kimi_results(results: Sequence[ToolResult]) -> str:
    return "\n".join(
        f"## Return of functions.{result.name}:{number}\n{result.text}"
        for number, result in enumerate(results)
    )


KIMI = CallFormat(
    name="kimi",
    about="Kimi K2: functions.NAME:0 and JSON arguments between special tokens",
    source="MoonshotAI/Kimi-K2, docs/tool_call_guidance.md; chat template of moonshotai/Kimi-K2-Thinking",
    prompt=format_prompt("kimi"),
    write_calls=_KIMI.write,
    write_results=_kimi_results,
    find=_KIMI.find,
    ignored_marks=_KIMI.unseen,
)
