"""Own history (`--history own`): a session goes on from what the model itself said and did in its earlier tasks."""
