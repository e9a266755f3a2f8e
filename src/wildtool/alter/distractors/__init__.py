"""Catalogue size: the same tasks with the item's tools among many others (`--catalogue`)."""
