"""Where the log of a review is kept: a SQLite file beside the set, or a PostgreSQL server for teams."""
