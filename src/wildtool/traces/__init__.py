"""Traces of real libraries as conversations: every form in which they are exported, every convention, every call of a
model accounted for."""

from wildtool.traces.reading import TracedConversation, TraceReading, read_traces

__all__ = ["TraceReading", "TracedConversation", "read_traces"]
