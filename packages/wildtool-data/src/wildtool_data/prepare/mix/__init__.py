"""Mixes training files: duplicates, shares, splits and the order of drawing."""
