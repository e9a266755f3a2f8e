"""The one table of keys by which vendors and programs write tools, calls and results. Readers, writers and the test of
the architecture share it: elsewhere these keys are no literals."""

from collections.abc import Mapping

FUNCTION = "function"
"""Key around a tool or a call in OpenAI's chat shape."""

SCHEMA_KEYS: Mapping[str, str] = {
    "parameters": "OpenAI, Gemini, Mistral, Hugging Face, OTel, Inspect",
    "input_schema": "Anthropic",
    "inputSchema": "MCP, Bedrock Converse, Vercel AI SDK",
    "parametersJsonSchema": "Gemini",
    "parameters_json_schema": "Pydantic AI, google-genai",
    "args_schema": "LangChain",
    "args": "LangChain",
    "parameter_definitions": "Cohere",
    "parameterDefinitions": "Cohere",
    "inputs": "smolagents",
    "arguments": "public training sets",
}
"""Keys of a tool's definition that say which parameters it has, with who writes them: a JSON Schema of the arguments, or
a map from each parameter to what is said of it."""
MAP_KEYS = frozenset(
    {"parameters", "args", "parameter_definitions", "parameterDefinitions", "inputs", "arguments"}
)
"""Those of them that may hold such a map; the others always hold a JSON Schema."""
RESULT_SCHEMA_KEYS = (
    "outputSchema",
    "output_schema",
    "returns",
    "response",
    "responseJsonSchema",
    "return_schema",
)
"""Keys of a definition that say what the tool returns."""
TOOL_WRAPPERS = (FUNCTION, "toolSpec", "tool_spec")
"""Keys around a definition."""
TOOL_LISTS = ("functionDeclarations", "function_declarations")
"""Keys of an object that holds several definitions."""
SCHEMA_WRAPPERS = ("json", "jsonSchema", "json_schema")
"""Keys around the schema itself."""

CALL_WRAPPERS = (FUNCTION, "functionCall", "function_call", "toolUse", "tool_call")
"""Keys around a call."""
NAME_KEYS = ("name", "toolName", "tool_name")
"""Keys of a call that hold the tool's name."""
ARGUMENT_KEYS: Mapping[str, str] = {
    "arguments": "OpenAI, MCP, OTel, Inspect",
    "args": "Gemini, LangChain, Pydantic AI",
    "input": "Anthropic, Bedrock Converse, Vercel AI SDK",
    "parameters": "Cohere, Llama",
}
"""Keys of a call that hold its arguments, with who writes them."""
ID_KEYS = ("call_id", "tool_call_id", "toolCallId", "toolUseId", "tool_use_id", "id")
"""Keys of a call and of a result that tell which belong together; the first that is there counts."""
RESULT_WRAPPERS = ("functionResponse", "function_response", "toolResult")
"""Keys around a result."""

CALL_TYPES = frozenset(
    {
        "tool_use",
        "tool_call",
        "tool-call",
        "function_call",
        "mcp_tool_use",
        "custom_tool_call",
        "functionCall",
        "toolCall",
    }
)
"""Values of `type` or `part_kind` of a part that is a call."""
RESULT_TYPES = frozenset(
    {
        "tool_result",
        "tool_call_response",
        "tool-result",
        "tool-return",
        "retry-prompt",
        "function_call_output",
        "custom_tool_call_output",
        "mcp_tool_result",
    }
)
"""Values of `type` or `part_kind` of a part that is a result."""
TEXT_TYPES = frozenset({"text", "input_text", "output_text", "user-prompt", "system-prompt", "summary_text"})
THOUGHT_TYPES = frozenset({"thinking", "reasoning", "reasoning_text", "redacted_thinking"})
MEDIA_PART_TYPES = frozenset(
    {
        "image",
        "image_url",
        "input_image",
        "audio",
        "input_audio",
        "output_audio",
        "file",
        "input_file",
        "document",
        "video",
        "video_url",
        "media",
        "blob",
        "uri",
        "resource",
        "resource_link",
        "source",
        "source-url",
        "source-document",
        "search_result",
        "step-start",
        "container_upload",
    }
)
"""Values of `type` of parts that are no text, call or result: left out, by name."""
MEDIA_KEYS = (
    "inlineData",
    "inline_data",
    "fileData",
    "file_data",
    "image",
    "document",
    "video",
    "guardContent",
    "cachePoint",
)
"""Keys of parts without a type that are no text, call or result."""

ROLE_WORDS: Mapping[str, str] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "model": "assistant",
    "ai": "assistant",
    "gpt": "assistant",
    "chatbot": "assistant",
    "tool": "tool",
    "function": "tool",
    "environment": "tool",
    "observation": "tool",
    "ipython": "tool",
    "tool response": "tool",
    "toolresult": "tool",
    "tool_response": "tool",
    "function_response": "tool",
    "function-response": "tool",
}
"""What each word for a role means, in lower case."""
ROLES_OF_CALLS = frozenset({"function_call", "function-call", "tool_call", "tool call"})
"""Words for the role of a message that is calls, in lower case."""
MESSAGES_KEYS = ("messages", "conversations", "conversation", "contents", "chat_history", "history")
"""Keys of a record that hold its messages."""
TOOLS_KEYS = ("tools", "functions", "tool_defs", "oai_tools", "tool_definitions", "toolConfig", "tool_config")
"""Keys of a record that hold its tools."""
SYSTEM_KEYS = ("system", "systemInstruction", "system_instruction", "system_prompt", "instructions")
"""Keys of a record that hold its system text."""

VENDOR_KEYS = frozenset(
    {
        *(key for key in SCHEMA_KEYS if key not in ("parameters", "args", "inputs", "arguments")),
        *TOOL_LISTS,
        "toolSpec",
        "functionCall",
        "functionResponse",
        "toolUse",
        "toolResult",
        "toolUseId",
        "toolCallId",
        "toolName",
        "tool_use",
        "tool_use_id",
        "tool_result",
        "tool-call",
        "tool-result",
        "function_call_output",
        "tool_call_response",
    }
)
"""Keys and types that only some vendor has: literals of these stand here, in `models` and in a benchmark's own
evaluator."""
