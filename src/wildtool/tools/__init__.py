"""Definitions of tools: read from files of any kind, and what a schema allows."""
