"""Small classes in place of Inspect's, with what the adapter uses of them."""

from types import SimpleNamespace
from typing import Any


class Record:
    """Fields by name, read and dumped as they are."""

    def __init__(self, **fields: Any) -> None:
        vars(self).update(fields)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def model_validate(cls, fields: Any) -> Any:
        return cls(**fields)

    def model_dump(self, **how: Any) -> Any:
        def plain(value: Any) -> Any:
            if isinstance(value, Record):
                return value.model_dump()
            return [plain(each) for each in value] if isinstance(value, list) else value

        return {name: plain(value) for name, value in vars(self).items() if value is not None}


class ChatMessageSystem(Record): ...


class ChatMessageUser(Record): ...


class ChatMessageTool(Record): ...


class ToolCall(Record):
    parse_error: Any = None


class ToolParams(Record): ...


class ToolInfo(Record): ...


class GenerateConfig(Record): ...


class ChatMessageAssistant(Record):
    content: Any
    tool_calls: Any = None

    @classmethod
    def model_validate(cls, fields: Any) -> Any:
        content = fields["content"]
        parts = [Part(**part) for part in content] if isinstance(content, list) else content
        calls = [ToolCall(**call) for call in fields.get("tool_calls") or ()]
        return cls(content=parts, tool_calls=calls or None)

    @property
    def text(self) -> str:
        if isinstance(self.content, str):
            return self.content
        return "".join(part.text for part in self.content if part.type == "text")


class Part(Record): ...


class Api:
    def __init__(self) -> None:
        self.closed = False

    def should_retry(self, error: Exception) -> bool:
        return "again" in str(error)

    async def aclose(self) -> None:
        self.closed = True


class Inner:
    """Gives these answers in turn, and keeps what it was asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers, self.asked, self.api = list(answers), list[Any](), Api()

    def __str__(self) -> str:
        return "openai/gpt/x"

    async def generate(self, messages: Any, tools: Any, config: Any) -> Any:
        self.asked.append((messages, tools, config))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def modules(made: list[Any]) -> dict[str, Any]:
    """Inspect's modules by name. Args: made: collects what models were asked for."""

    def get_model(name: str, memoize: bool = True) -> Any:
        made.append((name, memoize))
        if "broken" in name:
            error = ValueError("raw words")
            vars(error)["message"] = "no key" if name == "broken" else ""
            raise error
        return Inner()

    chat = SimpleNamespace(
        ChatMessageSystem=ChatMessageSystem,
        ChatMessageUser=ChatMessageUser,
        ChatMessageTool=ChatMessageTool,
        ChatMessageAssistant=ChatMessageAssistant,
        GenerateConfig=GenerateConfig,
        get_model=get_model,
    )
    tool = SimpleNamespace(ToolCall=ToolCall, ToolParams=ToolParams, ToolInfo=ToolInfo)
    return {
        "inspect_ai": SimpleNamespace(__version__="9.9"),
        "inspect_ai.model": chat,
        "inspect_ai.tool": tool,
    }
