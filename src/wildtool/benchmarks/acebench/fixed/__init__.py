"""The rules of the published evaluator with its bugs fixed, of ACEBench."""
