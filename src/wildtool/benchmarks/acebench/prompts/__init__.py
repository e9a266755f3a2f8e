"""The prompts, in English and Chinese."""
