"""Training data by models: preference pairs from failures, selection, reasoning."""
