"""The rules of the published evaluator."""
