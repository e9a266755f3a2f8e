"""Failing tools: the same tasks, with calls that time out, are refused or bring damaged results (`--failures`)."""
