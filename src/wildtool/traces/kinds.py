"""What a span is: a call of a model, a run of a tool, a run of an agent, a step around them, or something else."""

from collections.abc import Mapping
from typing import Any

from wildtool.traces.spans import LANGFUSE_TYPE, LANGSMITH_TYPE, TraceSpan, read_json_text

MODEL, TOOL, AGENT, STEP, OTHER = "model", "tool", "agent", "step", "other"
_KINDS: Mapping[str, Mapping[str, str]] = {
    "openinference.span.kind": {
        "llm": MODEL,
        "tool": TOOL,
        "agent": AGENT,
        "chain": STEP,
        **dict.fromkeys(("embedding", "retriever", "reranker", "guardrail", "evaluator"), OTHER),
    },
    "gen_ai.operation.name": {
        **dict.fromkeys(("chat", "text_completion", "generate_content", "completion"), MODEL),
        "execute_tool": TOOL,
        "invoke_agent": AGENT,
        **dict.fromkeys(("create_agent", "invoke_workflow", "execute_event_loop_cycle"), STEP),
        **dict.fromkeys(("embeddings", "retrieval"), OTHER),
    },
    LANGFUSE_TYPE: {
        "generation": MODEL,
        "tool": TOOL,
        "agent": AGENT,
        **dict.fromkeys(("span", "chain"), STEP),
        **dict.fromkeys(("event", "embedding", "retriever", "evaluator", "guardrail"), OTHER),
    },
    LANGSMITH_TYPE: {
        "llm": MODEL,
        "tool": TOOL,
        "chain": STEP,
        **dict.fromkeys(("retriever", "embedding", "prompt", "parser"), OTHER),
    },
    "mlflow.spantype": {
        **dict.fromkeys(("chat_model", "llm"), MODEL),
        "tool": TOOL,
        "agent": AGENT,
        **dict.fromkeys(("chain", "workflow", "task"), STEP),
        **dict.fromkeys(("embedding", "retriever", "reranker", "parser", "memory", "unknown"), OTHER),
    },
    "traceloop.span.kind": {"agent": AGENT, **dict.fromkeys(("workflow", "task"), STEP), "tool": TOOL},
    "llm.request.type": {
        **dict.fromkeys(("chat", "completion"), MODEL),
        **dict.fromkeys(("embedding", "rerank"), OTHER),
    },
    "ai.operationid": {
        **dict.fromkeys(("ai.generatetext.dogenerate", "ai.streamtext.dostream"), MODEL),
        **dict.fromkeys(("ai.generateobject.dogenerate", "ai.streamobject.dostream"), MODEL),
        "ai.toolcall": TOOL,
        **dict.fromkeys(("ai.generatetext", "ai.streamtext", "ai.generateobject", "ai.streamobject"), STEP),
        **dict.fromkeys(("ai.embed", "ai.embedmany", "ai.embed.doembed", "ai.embedmany.doembed"), OTHER),
    },
}
"""By attribute, in lower case, what its values mean, in lower case."""
_MODEL_KEYS = ("gen_ai.request.model", "gen_ai.response.model", "llm.model_name", "llm.request.model")
"""Attributes that a call of a model has, where nothing says what a span is."""


def span_kind(span: TraceSpan) -> str:
    """What a span says that it is; empty where it says nothing."""
    found: set[str] = set()
    for key, value in span.attributes.items():
        meanings = _KINDS.get(key.lower())
        if meanings and (kind := meanings.get(_word(value))):
            found.add(kind)
    return next((kind for kind in (TOOL, MODEL, OTHER, AGENT, STEP) if kind in found), "")


def names_model(span: TraceSpan) -> bool:
    """Whether a span names a model, as a call of one does."""
    return any(key in span.attributes for key in _MODEL_KEYS)


def _word(value: Any) -> str:
    """A word in lower case; MLflow writes it as a JSON text."""
    text = read_json_text(value) if isinstance(value, str) and value.startswith('"') else value
    return str(text).lower()
