"""wildtool: measure how well language models use tools when the user talks the way real users do."""

__version__ = "0.2.0"
