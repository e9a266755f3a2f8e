"""The rules as the paper states them."""
