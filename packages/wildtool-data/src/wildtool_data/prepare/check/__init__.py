"""Checks training files: rules per record and file, duplicates, and what trainers do with each record."""
