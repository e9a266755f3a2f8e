"""Recorded replies beside a set under review: which verdicts an edit changes, and where models agree against gold."""
