"""Sets runs beside each other: leaderboards, paired comparisons, published tables."""
