"""Tells by a data file which benchmark it belongs to, so that users need not say what the file itself says."""

from wildtool.engine.registry import benchmark_names, folder_of, load_benchmark
