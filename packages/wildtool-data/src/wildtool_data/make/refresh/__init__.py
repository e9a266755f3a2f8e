"""Gives a set fresh values and wording while its structure stays."""
