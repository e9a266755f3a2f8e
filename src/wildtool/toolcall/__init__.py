"""What several benchmarks need to read tool calls: graphs, argument texts, values, text similarity."""
