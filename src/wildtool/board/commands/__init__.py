"""The verbs of submissions and of the board."""
