"""Finds texts and calls of benchmarks in training files."""
