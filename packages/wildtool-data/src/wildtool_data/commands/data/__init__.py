"""The commands of the verb `data`, beside `pull`, which wildtool has itself."""
