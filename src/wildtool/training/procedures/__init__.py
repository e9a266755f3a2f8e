"""What is done with training data and a model: playing a file, pairs from failures, selection, rationales."""
