"""Sets for wildtool: made, checked, refreshed, converted and mixed."""

__version__ = "0.2.0"
