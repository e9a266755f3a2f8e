"""Own cases judged by what an agent did: its traces in place of a run."""
