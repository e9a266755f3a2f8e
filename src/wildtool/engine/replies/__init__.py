"""Replies that were recorded elsewhere: as runs to score, or to be played again."""
