"""The verbs of reports."""
