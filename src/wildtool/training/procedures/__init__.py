"""A model on a training file: its turns, replies judged by rule or by a model, and pairs from what it gets wrong."""
