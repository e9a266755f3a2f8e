"""Exposures: the same tasks with tools that are shown, searched for, or written as code."""
