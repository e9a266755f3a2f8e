"""The ToLeaP platform, whose evaluators several benchmarks have as their profile `toleap`."""

from wildtool.types import Upstream

TOLEAP_PLATFORM = Upstream("thunlp/ToLeaP", "b95071311ff9a888303f819282e4d0872ce4c3fa", "2025-05-17")
