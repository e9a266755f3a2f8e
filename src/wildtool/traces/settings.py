"""Which setting of a library records what its spans lack."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Setting(NamedTuple):
    """What to set so that spans have messages, and definitions of tools."""

    library: str
    """How its scope begins."""
    content: str
    tools: str


_GIVE_TOOLS = "give the definitions with --tools FILE"
_CAPTURE_CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_CAPTURE = f"{_CAPTURE_CONTENT}=true"
_LATEST = "OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental"
_IN_SPANS = f"{_LATEST} and {_CAPTURE_CONTENT}"
_SETTINGS: Sequence[Setting] = (
    Setting(
        "strands",
        "messages are events of its spans: keep them in the exporter",
        f"{_LATEST},gen_ai_tool_definitions",
    ),
    Setting(
        "opentelemetry.instrumentation.openai_v2",
        f"{_CAPTURE}, and give the file of its log events too; or {_LATEST} with the value span_only",
        _GIVE_TOOLS,
    ),
    Setting("opentelemetry.util.genai", f"{_IN_SPANS}=span_only", _GIVE_TOOLS),
    Setting(
        "openinference", "OPENINFERENCE_HIDE_INPUTS and …_OUTPUTS unset", "OPENINFERENCE_HIDE_INPUTS unset"
    ),
    Setting(
        "pydantic-ai", "InstrumentationSettings(include_content=True)", "InstrumentationSettings(version=4)"
    ),
    Setting("langfuse", "no mask, and input and output captured", "no mask, and input captured"),
    Setting(
        "gcp.vertex.agent",
        f"{_IN_SPANS}=SPAN_ONLY; in ADK 1 ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true",
        f"{_IN_SPANS}=SPAN_ONLY",
    ),
    Setting(
        "ai",
        "experimental_telemetry with recordInputs and recordOutputs",
        "recordInputs of experimental_telemetry",
    ),
    Setting("opentelemetry.instrumentation", "TRACELOOP_TRACE_CONTENT=true", "TRACELOOP_TRACE_CONTENT=true"),
)
"""The first whose library begins the scope of a span counts."""
_OTHERWISE = Setting("", f"for OpenTelemetry's own libraries {_CAPTURE}", _GIVE_TOOLS)


def setting_of(scope: str) -> Setting:
    """The setting of the library that wrote a span. Args: scope: its name; empty where nothing says it."""
    return next((each for each in _SETTINGS if _is_of(scope, each.library)), _OTHERWISE)


def library_of_keys(keys: Iterable[str]) -> str:
    """The library whose name begins a key of a span's attributes; empty for none."""
    names = list(keys)
    return next((each.library for each in _SETTINGS if any(_is_of(key, each.library) for key in names)), "")


def _is_of(scope: str, library: str) -> bool:
    """Whether a scope is a library, or begins with its whole name."""
    return scope.startswith(library) and not scope[len(library) :][:1].isalpha()
