"""What `wildtool audit --judge` and `wildtool compare --judges` do and print."""
