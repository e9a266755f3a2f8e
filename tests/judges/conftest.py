"""The folder of recorded cases, beside which the data of others' benchmarks lie."""

from parity.conftest import cases

__all__ = ["cases"]
