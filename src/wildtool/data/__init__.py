"""Where data come from: pinned public files, the cache they are kept in, and the embedded set."""
