"""The verbs `data` and `generate`."""
