"""JSON Schemas of tools: checks, constraints and patterns."""
