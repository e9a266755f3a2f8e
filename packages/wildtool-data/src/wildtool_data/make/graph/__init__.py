"""Dependency graphs of calls: inferred, weighed and checked."""
