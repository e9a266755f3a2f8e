"""Statistics of verdicts and data; intervals and tests account for clusters of units."""
