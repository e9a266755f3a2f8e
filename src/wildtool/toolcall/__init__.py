"""Tool calls: their arguments, schemas, graphs and mutants, and the comparison of values and texts."""
