"""Sets for wildtool: made, checked, refreshed, converted and mixed."""

__version__ = "0.3.0"
