"""Fixtures of the benchmarks' tests: the official data, where they lie beside the recorded cases."""

from parity.conftest import cases, newest, official

__all__ = ["cases", "newest", "official"]
