"""Generates sessions, items, tools and training data; see `docs/generate.md`."""
