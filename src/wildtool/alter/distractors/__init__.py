"""The number of tools: the same tasks with the item's tools among many others (`--among`)."""
