"""Noise in tool definitions: the same tasks with tools whose names, parameters, descriptions or order were disturbed."""
