"""What a run alters between a benchmark and its models: noise in tools, planted instructions, hints and reasoning."""
