"""Writes a report's files."""
