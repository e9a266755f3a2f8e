"""`wildtool.toml`: what it sets, and what it may choose without trust."""
