"""Local weights, through transformers."""
