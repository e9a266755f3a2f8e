"""Failures of a run that people read and label."""
