"""Scores what was recorded: judging, verdict tables, results, and the audit of the judges."""
