"""Patterns of JSON Schema, read and matched by ourselves: in time that grows with pattern and text, never worse.

Python's `re` goes back and forth, so that one pattern in a tool file could stop a run for ever (`(a+)+$`).
"""
