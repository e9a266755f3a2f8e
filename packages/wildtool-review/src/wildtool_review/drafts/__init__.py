"""Real conversations become draft sessions: read from logs, pseudonymised, with an inferred graph and named gaps."""
