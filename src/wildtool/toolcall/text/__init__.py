"""Compares texts by meaning, words or similarity; English and Chinese."""
