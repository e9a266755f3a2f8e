"""Data: pinned public files, the folder they are kept in, and the built-in set."""
