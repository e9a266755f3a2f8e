"""What a format is: how a model without native calls is told of tools, writes calls, and sees their results."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from wildtool.models.tool_formats.scanner import ParsedReply, Scanner, ToolCall, ToolResult, split_reasoning
from wildtool.types import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFormat:
    """One way of writing tools, calls and results as plain chat text."""

    name: str
    about: str
    """One line: which models write so, and how."""
    source: str
    """Where the shape is documented: model card, chat template, paper's code."""
    system: Callable[[Sequence[Tool]], str]
    """The text that tells a model which tools there are and how to call them; our words around the format's marks."""
    write_calls: Callable[[Sequence[ToolCall]], str]
    """Calls as the model writes them; `read` gives them back."""
    write_results: Callable[[Sequence[ToolResult]], str]
    """What calls gave, as the text of one user message: a plain chat has no other role that every template takes."""
    find: Callable[[Scanner, Sequence[Tool]], None]
    """Finds the calls in a text without reasoning."""
    with_text: Callable[[str, str], str] | None = None
    """A turn of text and written calls, either of which may be empty; None: one below the other."""

    def write(self, text: str, calls: Sequence[ToolCall]) -> str:
        """An assistant turn as the model would have written it."""
        written = self.write_calls(calls) if calls else ""
        if self.with_text is not None:
            return self.with_text(text, written)
        return "\n".join(part for part in (text, written) if part)

    def read(self, text: str, tools: Sequence[Tool] = ()) -> ParsedReply:
        """What a model said. Never raises, whatever the text; takes time in proportion to its length.

        Args:
            tools: the offered tools; only a format that writes values without their type looks at them.
        """
        reasoning, rest, repairs = split_reasoning(text)
        scanner = Scanner(rest, repairs)
        self.find(scanner, tools)
        return scanner.parsed_reply(reasoning)


REPAIRS: Mapping[str, str] = {
    "arguments-as-text": "the arguments were a text that holds JSON, not an object",
    "arguments-key": "`parameters` stood where the format says `arguments`, or the other way round",
    "bad-escape": "a backslash before a character that needs none; both are kept",
    "bare-word": "a word without quotes, read as a text",
    "code-fence": "a Markdown fence around calls",
    "control-character": "a line break or another control character inside a quoted text",
    "empty-list": "an empty list of calls and nothing else: the model said nothing",
    "extra-bracket": "more closing brackets than opening ones",
    "json-in-tag": "a JSON object where the format has its own way to write a call",
    "json-literal": "`true`, `false` or `null` in Python text",
    "list-of-calls": "a list where the format has one call after another",
    "missing-arguments": "a call without arguments, or with null; read as none",
    "missing-bracket": "brackets that were never closed at the end of the text",
    "missing-close-tag": "a closing mark that never came",
    "missing-open-tag": "calls without the mark that opens them",
    "nested-function": 'a call wrapped as `{"function": …}`',
    "own-observation": "the model went on and made up the result of its call; what follows is no call",
    "python-literal": "`True`, `False` or `None` in JSON",
    "single-quotes": "single quotes in JSON",
    "text-around": "other text beside calls where the format has calls alone",
    "trailing-comma": "a comma before a closing bracket",
    "tuple": "round brackets around a list",
    "unclosed-reasoning": "reasoning that never ends: nothing else was said",
    "unopened-reasoning": "`</think>` without `<think>`, as where the prompt opened it",
    "unreadable-arguments": "arguments that could not be read; the call carries their text as it is",
    "unreadable-call": "what looks like a call and could not be read; it stays in the text",
}
"""Everything that reading may mend or remark, by name."""
