"""Planted instructions: the same tasks, with an attacker's instruction hidden in a tool's result (`--inject`)."""
